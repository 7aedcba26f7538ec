//! A grammar and a vocabulary to an index.

use std::sync::Arc;

use crate::compile::source::name_of_grammar;
use crate::compile::{allowed_escapes, why_unsatisfiable, within_limits};
use crate::error::{Error, ErrorKind, Result, SourcePlace};
use crate::expr::{ExprId, Exprs};
use crate::grammar::model::{Grammar, Node, TokenName, TokenSet};
use crate::grammar::{GrammarOptions, limit_at, parse, regular_parts, shown_in};
use crate::index::{Index, IndexEngine, IndexHandle};
use crate::lexeme::LexemeKind;
use crate::limits::Limits;
use crate::mask::grammar::{DocumentMasks, GrammarEngine, GrammarMasks};
use crate::mask::lexeme::masked_lexeme::{LexemeRole, MaskedLexeme};
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::grammar::bnf_rules::check_terminals;
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::END;
use crate::pushdown::grammar::terminal_token_bounds::ends_behind_every_char;
use crate::pushdown::json::program::Program;
use crate::schema::{PropertyOrder, SchemaOptions, Spelling, Whitespace};
use crate::util::cancel::checkpoint_after;
use crate::vocab::{Trie, Vocabulary};

impl Index {
    /// Every text that a grammar derives, in Lark's, llama.cpp's or XGrammar's notation.
    ///
    /// # Errors
    /// `Grammar` for what is not a grammar and `Unsupported` for what has no exact meaning, both with the place;
    /// `Unsatisfiable` if nothing is accepted; `Vocabulary` if the vocabulary lacks a token for a byte that the grammar
    /// reads, or a special token that it names; `Limit`.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{GrammarOptions, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// let grammar = r#"
    ///     start: "(" start ")" | NUMBER
    ///     NUMBER: /[0-9]+/
    /// "#;
    /// let index = Index::from_grammar(grammar, &vocabulary, &GrammarOptions::default(), &Limits::default())?;
    /// let mut guide = index.guide(&GuideOptions::default())?;
    /// assert_eq!(guide.advance_many(&b"((7))".map(u32::from)), 5);
    /// assert!(guide.is_accepting() && guide.must_stop());
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn from_grammar(
        text: &str,
        vocabulary: &Arc<Vocabulary>,
        options: &GrammarOptions,
        limits: &Limits,
    ) -> Result<Index> {
        let compile = || {
            let grammar = parse(text, options, limits)?;
            Index::from_model(grammar, name_of_grammar(text, options), vocabulary, limits)
                .map_err(|error| why_unsatisfiable::of_grammar(error, text, options, limits))
        };
        within_limits(vocabulary, limits, compile).map_err(|error| shown_in(error, text))
    }

    /// Every text that a grammar derives. `source` is what the index's fingerprint names.
    ///
    /// # Errors
    /// As [`from_grammar`](Self::from_grammar).
    pub fn from_model(
        mut grammar: Grammar,
        source: String,
        vocabulary: &Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Index> {
        regular_parts::fold(&mut grammar);
        if let Some(rule) = grammar.rules.iter().find(|rule| rule.max_tokens.is_some()) {
            let message = format!(
                "max_tokens of {} can't be enforced: that takes lexer \"any\" or \"dynamic\", and a rule that is one \
                 terminal",
                rule.name
            );
            return Err(Error::new(ErrorKind::Unsupported, message).at(SourcePlace::Byte(rule.place)));
        }
        grammar.exprs.check()?;
        if let Some((pattern, place)) = whole_as_pattern(&grammar) {
            return Index::from_expr(&mut grammar.exprs, pattern, &source, vocabulary, limits).map_err(|error| {
                match error.kind() {
                    ErrorKind::Unsatisfiable => {
                        Error::new(ErrorKind::Unsatisfiable, error.message().replace("the pattern", "the grammar"))
                    }
                    _ => limit_at(error, place),
                }
            });
        }
        check_terminals(&grammar, limits)?;
        let tables = VocabTables::for_vocabulary(vocabulary)?;
        let (lexemes, may_be_empty) = lexemes_of(&mut grammar, &tables, vocabulary.trie(), limits)?;
        grammar.exprs.check()?;
        let token_sets = grammar.token_sets.iter().map(|set| tokens_of(set, vocabulary)).collect::<Result<Vec<_>>>()?;
        let automata = lexemes.iter().map(|l| l.as_ref().map(|l| l.lexeme.clone())).collect();
        let (mut programs, mut documents) = (Vec::new(), Vec::new());
        for document in &grammar.documents {
            let place = SourcePlace::Byte(document.place);
            let (program, lexemes) =
                document_of(&document.schema, vocabulary, limits).map_err(|error| match error.place() {
                    // A byte of the schema's text, which is no byte of the grammar.
                    SourcePlace::Byte(_) if error.kind() == ErrorKind::Limit => error.moved_to(place),
                    _ => error.at(place),
                })?;
            programs.push(program);
            documents.push(DocumentMasks::new(lexemes));
        }
        let program = GrammarProgram::new(&grammar, automata, &may_be_empty, token_sets, programs, limits)?;
        check_ends(&program, &grammar, vocabulary)?;
        let no_text = match program.scanner.any_looks_ahead() {
            true => tokens_with(vocabulary.trie(), END),
            false => Box::default(),
        };
        let engine = GrammarEngine {
            program,
            lexemes,
            masks: GrammarMasks::default(),
            documents,
            no_text,
            events: Default::default(),
        };
        let engine = IndexEngine::Grammar(Box::new(engine));
        Ok(Index::new(vocabulary, tables, engine, None, Vec::new(), source, limits))
    }
}

/// Whether outputs can be completed though some special tokens that the grammar names end an output.
fn check_ends(program: &GrammarProgram, grammar: &Grammar, vocabulary: &Vocabulary) -> Result<()> {
    let ends_too_soon = |id: &u32| vocabulary.is_eos(*id) && !program.is_last(*id);
    // Sets are empty where a grammar is checked without a vocabulary.
    let is_missing = |set: usize| {
        let ids = &program.token_sets[set];
        !ids.is_empty() && ids.iter().all(ends_too_soon)
    };
    let Some(set) = program.needs_token_set(is_missing) else { return Ok(()) };
    let named = &grammar.token_sets[set];
    let id = program.token_sets[set].first().copied().unwrap_or_default();
    let name = String::from_utf8_lossy(vocabulary.token_bytes(id).unwrap_or_default()).into_owned();
    let message = format!(
        "special token {id} ({name:?}) is a stop token of the vocabulary, so the output ends with it, and something \
         must still follow here"
    );
    let hint = "leave it out of eos_token_ids, or name a token that ends no output";
    Err(at_token(Error::new(ErrorKind::Vocabulary, message), named).with_hint(hint))
}

/// An error about special tokens, at their place in the grammar: those that an import brought have none.
fn at_token(error: Error, set: &TokenSet) -> Error {
    if set.place > 0 { error.at(SourcePlace::Byte(set.place)) } else { error }
}

/// The pattern that a grammar is, if it is one terminal and nothing else, and where the terminal stands.
fn whole_as_pattern(grammar: &Grammar) -> Option<(ExprId, usize)> {
    let Node::Terminal(terminal) = grammar.rules[grammar.start as usize].body else { return None };
    let terminal = &grammar.terminals[terminal as usize];
    let is_plain = grammar.ignored.is_empty() && terminal.context.is_none() && terminal.max_tokens.is_none();
    is_plain.then_some((terminal.pattern, terminal.place))
}

/// The lexeme of each terminal, `None` for those without a text.
type TerminalLexemes = Vec<Option<Arc<MaskedLexeme>>>;

/// The lexeme of each terminal, and whether its text may be empty.
fn lexemes_of(
    grammar: &mut Grammar,
    tables: &VocabTables,
    trie: &Trie,
    limits: &Limits,
) -> Result<(TerminalLexemes, Vec<bool>)> {
    let mut lexemes = TerminalLexemes::with_capacity(grammar.terminals.len());
    let mut may_be_empty = Vec::with_capacity(grammar.terminals.len());
    let mut writable = None;
    for terminal in &mut grammar.terminals {
        let exprs = &mut grammar.exprs;
        let text = terminal.context.unwrap_or(terminal.pattern);
        // Each terminal has a copy of what it is made of, and many may share their parts.
        checkpoint_after(exprs.reachable(text).len()).map_err(|error| limit_at(error, terminal.place))?;
        let mut lexeme = tables
            .lexeme(exprs, text, LexemeKind::Raw, LexemeRole::Whole, limits)
            .map_err(|error| limit_at(error, terminal.place))?;
        if terminal.context.is_none() && lexeme.as_ref().is_some_and(|lexeme| missing_byte(lexeme, tables).is_some()) {
            // What no token holds can never be written: the terminal's other texts are what it can be.
            let texts = *writable.get_or_insert_with(|| writable_texts(exprs, trie));
            terminal.pattern = exprs.and(&[terminal.pattern, texts]);
            lexeme = tables
                .lexeme(exprs, terminal.pattern, LexemeKind::Raw, LexemeRole::Whole, limits)
                .map_err(|error| limit_at(error, terminal.place))?;
            if let Some(byte) = lexeme.as_ref().and_then(|lexeme| missing_byte(lexeme, tables)) {
                return Err(no_single(byte, &terminal.name));
            }
        }
        may_be_empty.push(lexeme.is_some() && exprs.nullable(terminal.pattern));
        if terminal.max_tokens.is_some() && lexeme.as_ref().is_some_and(|l| !ends_behind_every_char(&l.lexeme)) {
            let message = format!(
                "max_tokens of {} can't be enforced: its text may not end behind each of its characters",
                terminal.name
            );
            return Err(Error::new(ErrorKind::Unsupported, message).at(SourcePlace::Byte(terminal.place)));
        }
        lexemes.push(lexeme);
    }
    Ok((lexemes, may_be_empty))
}

/// How the documents of a schema are written: as llguidance writes them, with what `x-guidance` of the schema's root
/// says. The schema is returned with what the options say of its strings.
fn document_options(schema: &str) -> Result<(SchemaOptions, String)> {
    let mut options = SchemaOptions { spelling: Some(Spelling::PlainValues), ..SchemaOptions::default() };
    let mut schema = schema.to_owned();
    // What is no JSON is refused when it is read as a schema.
    let Ok(serde_json::Value::Object(root)) = serde_json::from_str(&schema) else { return Ok((options, schema)) };
    let Some(serde_json::Value::Object(asked)) = root.get("x-guidance") else { return Ok((options, schema)) };
    let escapes = asked.get("json_allowed_escapes").and_then(|value| value.as_str());
    let has_fewer_escapes = escapes.is_some_and(|escapes| !allowed_escapes::are_all(escapes));
    if has_fewer_escapes {
        options.spelling = Some(Spelling::Plain);
    }
    for (name, value) in asked {
        match (name.as_str(), value) {
            ("json_allow_general_unicode_escapes", serde_json::Value::Bool(allowed)) => {
                if *allowed && !has_fewer_escapes {
                    options.spelling = Some(Spelling::PlainPatterns);
                }
            }
            ("json_allowed_escapes", serde_json::Value::String(allowed)) => {
                schema = allowed_escapes::narrowed(&schema, allowed)?;
            }
            ("whitespace_flexible", serde_json::Value::Bool(flexible)) => {
                options.whitespace = if *flexible { Whitespace::Flexible } else { Whitespace::Compact };
            }
            ("whitespace_pattern", serde_json::Value::String(pattern)) => {
                options.whitespace = Whitespace::Pattern(pattern.clone());
            }
            ("property_order", serde_json::Value::String(order)) if matches!(&**order, "any" | "schema") => {
                let any = order == "any";
                options.property_order = if any { PropertyOrder::Any } else { PropertyOrder::Schema };
            }
            ("lenient" | "coerce_one_of", serde_json::Value::Bool(false)) => {}
            _ => {
                let message = format!(
                    "x-guidance: {name} is not supported; json_allow_general_unicode_escapes, json_allowed_escapes, \
                     property_order, whitespace_flexible and whitespace_pattern are"
                );
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        }
    }
    Ok((options, schema))
}

/// The tokens with a byte in them.
fn tokens_with(trie: &Trie, byte: u8) -> Box<[u32]> {
    let (mut out, mut node) = (Vec::new(), 1);
    while let Some(next) = trie.byte[node..].iter().position(|&b| b == byte) {
        out.extend_from_slice(trie.subtree_tokens((node + next) as u32));
        node = trie.end[node + next] as usize;
    }
    out.into()
}

/// What steps the documents of a schema, and their scalars and keys.
fn document_of(
    schema: &str,
    vocabulary: &Arc<Vocabulary>,
    limits: &Limits,
) -> Result<(Box<Program>, Vec<Arc<MaskedLexeme>>)> {
    let (options, schema) = document_options(schema)?;
    let index = Index::schema(&schema, vocabulary, &options, limits)?;
    let IndexHandle::Compiled(core) = index.0 else {
        return Err(Error::new(ErrorKind::Internal, "a schema was not compiled"));
    };
    match Arc::into_inner(core).map(|core| core.engine) {
        Some(IndexEngine::Document { program, lexemes }) => Ok((program, lexemes)),
        _ => Err(Error::new(ErrorKind::Internal, "a schema became no document")),
    }
}

/// A byte that a lexeme reads and that is no token by itself.
fn missing_byte(lexeme: &MaskedLexeme, tables: &VocabTables) -> Option<usize> {
    lexeme.lexeme.used_bytes().iter().zip(&tables.single).position(|(&used, &single)| used && !single)
}

/// Where a byte stands in longer tokens only, a grammar may have positions that no tokens lead out of.
fn no_single(byte: usize, name: &str) -> Error {
    let message = format!("the vocabulary has no token for the single byte 0x{byte:02X}, which terminal {name} reads");
    Error::new(ErrorKind::Vocabulary, message)
}

/// The texts of characters whose first bytes stand in some token of a vocabulary. Many vocabularies lack some control
/// characters, and the first bytes of characters that nobody has assigned.
fn writable_texts(exprs: &mut Exprs, trie: &Trie) -> ExprId {
    let mut used = [false; 256];
    for &byte in trie.byte.get(1..).unwrap_or_default() {
        used[byte as usize] = true;
    }
    let ranges: Vec<(char, char)> =
        (0..=255u8).filter(|&byte| used[byte as usize]).filter_map(characters_from).collect();
    let one = exprs.class(&ranges);
    exprs.star(one)
}

/// The first and the last character whose UTF-8 form begins with a byte.
fn characters_from(byte: u8) -> Option<(char, char)> {
    let byte = u32::from(byte);
    let (from, to) = match byte {
        0..=0x7F => (byte, byte),
        0xC2..=0xDF => ((byte & 0x1F) << 6, (byte & 0x1F) << 6 | 0x3F),
        0xE0 => (0x800, 0xFFF),
        // Surrogates follow, which are no characters.
        0xED => (0xD000, 0xD7FF),
        0xE1..=0xEF => ((byte & 0xF) << 12, (byte & 0xF) << 12 | 0xFFF),
        0xF0 => (0x1_0000, 0x3_FFFF),
        0xF1..=0xF4 => ((byte & 7) << 18, ((byte & 7) << 18 | 0x3_FFFF).min(0x10_FFFF)),
        _ => return None,
    };
    Some((char::from_u32(from)?, char::from_u32(to)?))
}

/// The ids of a set of special tokens, ascending.
fn tokens_of(set: &TokenSet, vocabulary: &Vocabulary) -> Result<Box<[u32]>> {
    let size = vocabulary.size() as u32;
    let unknown = |what: String| at_token(Error::new(ErrorKind::Vocabulary, what), set);
    let mut ids: Vec<u32> = Vec::new();
    for token in &set.tokens {
        match token {
            TokenName::Id(id) if *id < size => ids.push(*id),
            TokenName::Range(first, last) if first <= last && *last < size => ids.extend(*first..=*last),
            TokenName::Id(id) | TokenName::Range(_, id) => {
                return Err(unknown(format!("token id {id} is out of range: the vocabulary's size is {size}")));
            }
            TokenName::Text(text) => {
                let named = vocabulary
                    .special_token_ids()
                    .iter()
                    .chain(vocabulary.eos_token_ids())
                    .find(|&&id| vocabulary.token_bytes(id) == Some(text.as_bytes()));
                match named {
                    Some(&id) => ids.push(id),
                    None => return Err(unknown(format!("the vocabulary has no special token {text:?}"))),
                }
            }
        }
    }
    ids.sort_unstable();
    ids.dedup();
    if set.complement {
        let others = (0..size).filter(|id| ids.binary_search(id).is_err() && !vocabulary.is_eos(*id));
        return Ok(others.collect());
    }
    Ok(ids.into())
}
