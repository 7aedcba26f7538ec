//! Indentation: what Lark's indenter makes, against the twin, and grammars whose blocks do not fit together.

use std::sync::{Arc, OnceLock};

use interlock::grammar::model::{Grammar, Lexer};
use interlock::grammar::parse;
use interlock::{ErrorKind, GrammarOptions, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

use crate::random_grammars::{Counts, EOS, Tokens, walk};

fn options() -> GrammarOptions {
    GrammarOptions { lexer: Some(Lexer::Contextual), ..GrammarOptions::default() }
}

fn read(text: &str) -> Grammar {
    parse(text, &options(), &Limits::default()).unwrap_or_else(|e| panic!("{}\n{text}", e.message()))
}

/// Single bytes, and tokens that cross the ends of lines.
fn vocabulary() -> &'static (Arc<Vocabulary>, Tokens) {
    static ALL: OnceLock<(Arc<Vocabulary>, Tokens)> = OnceLock::new();
    ALL.get_or_init(|| {
        let more = [
            "\n\n", "\n ", "\n  ", "\n   ", "  ", "   ", "\n\t", "\t ", "a\n", "\na", "\n a", "\n  a", ":\n", ":\n ",
            "\n#", "#\n", "# a", "a #", "(\n", "\n)", ")\n", "()", "a:", "a\n a", "a\n  a\n", "b:\n a", "\n\nb", " b",
            "  b", "(a", "a)\n", "\r\n", "\r\n ", "\\\n", "ab", "(\n  a", "\n \n", "#a\n a", " #", "a\n\n  ",
        ];
        let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
        tokens.push(b"<end>".to_vec());
        tokens.extend((0..20).map(|n| format!("<special {n}>").into_bytes()));
        tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()));
        let options = VocabularyOptions {
            eos_token_ids: vec![EOS],
            special_token_ids: (257..277).collect(),
            ..Default::default()
        };
        let vocabulary = Vocabulary::new(&tokens, options).unwrap();
        let tokens = Tokens::from_vocabulary(&vocabulary);
        (vocabulary, tokens)
    })
}

const DECLARED: &str = "\n%declare _INDENT _DEDENT\n";

/// Grammars with blocks. Those behind the first have terminals that compete with the newline, newlines that can't be
/// repeated, brackets, comments, and ends of the text without a newline.
fn grammars() -> Vec<String> {
    let line = "_NEWLINE: /(\\r?\\n[\\t ]*)+/\n";
    let blanks = "%ignore / +/\n";
    [
        // Lark's own example.
        "start: _NL* tree\ntree: NAME _NL [_INDENT tree+ _DEDENT]\nNAME: /[ab]/\n_NL: /(\\r?\\n[\\t ]*)+/\n".to_owned(),
        format!(
            "start: stmt+\nstmt: \"a\" _NEWLINE | \"b\" \":\" suite\n\
             suite: _NEWLINE _INDENT stmt+ _DEDENT\n{line}"
        ),
        format!(
            "start: stmt+\nstmt: \"a\" _NEWLINE | \"b\" \":\" suite\n\
             suite: _NEWLINE _INDENT stmt+ _DEDENT\n{line}{blanks}"
        ),
        // Newlines in brackets are no terminals.
        format!(
            "start: stmt+\nstmt: e _NEWLINE | \"b\" \":\" suite\nsuite: _NEWLINE _INDENT stmt+ _DEDENT\n\
             e: \"a\" | \"(\" e* \")\"\n{line}{blanks}"
        ),
        // The last line need not end; comments take part in a line's end.
        "start: stmt* [line]\nstmt: line _NEWLINE | \"b\" \":\" suite\n\
         suite: line _NEWLINE | _NEWLINE _INDENT stmt* last _DEDENT\n\
         last: line [_NEWLINE] | \"b\" \":\" suite\nline: \"a\" (\"a\" | \"(\" \"a\" \")\")*\n\
         _NEWLINE: /([ \\t]*(#[^\\n]*)?\\r?\\n)+ */\nCOMMENT: / *#[^\\r\\n]*/\n%ignore / +/\n%ignore COMMENT\n"
            .to_owned(),
        // The same with blanks and comments apart: behind a blank a comment leads to the end of the text only.
        "start: stmt* [line]\nstmt: line _NEWLINE | \"b\" \":\" suite\nsuite: _NEWLINE _INDENT stmt* last _DEDENT\n\
         last: line [_NEWLINE] | \"b\" \":\" suite\nline: \"a\" [\"b\" \"a\"]\n\
         _NEWLINE: /([ \\t]*(#[^\\n]*)?\\r?\\n)+ */\nCOMMENT: /#[^\\r\\n]*/\n%ignore / +/\n%ignore COMMENT\n"
            .to_owned(),
        // Every newline is one terminal: a line without anything closes blocks.
        "start: stmt+\nstmt: \"a\" _NEWLINE | \"b\" _NEWLINE _INDENT stmt+ _DEDENT\n_NEWLINE: /\\n */\n".to_owned(),
        // Indentation by two blanks.
        "start: stmt+\nstmt: \"a\" _NEWLINE | \"b\" _NEWLINE _INDENT stmt+ _DEDENT\n_NEWLINE: /\\n(  )*/\n".to_owned(),
        // As Lark's grammar of Python: newlines may come anywhere between statements.
        format!(
            "start: (_NEWLINE | stmt)*\nstmt: \"a\" _NEWLINE | \"b\" \":\" suite\n\
             suite: \"a\" _NEWLINE | _NEWLINE _INDENT stmt+ _DEDENT\n{line}{blanks}"
        ),
        // Another terminal reads newlines as well.
        format!(
            "start: stmt+\nstmt: (\"a\" | T) _NEWLINE | \"b\" \":\" suite\n\
             suite: _NEWLINE _INDENT stmt+ _DEDENT\nT: /\\(\\n*\\)/\n{line}"
        ),
        // What is ignored ends lines where the parser can't.
        format!(
            "start: stmt+\nstmt: \"a\" \"a\" _NEWLINE | \"b\" _NEWLINE _INDENT stmt+ _DEDENT\n\
             {line}%ignore / +|\\n\\n+ *#/\n"
        ),
        // A block is ended by what another rule opens with.
        format!("start: o \"a\" _NEWLINE c \"b\"\no: \"b\" _NEWLINE _INDENT\nc: _DEDENT\n{line}"),
        // Two blocks may end at once, and must.
        format!("start: \"a\" _NEWLINE _INDENT \"a\" _NEWLINE _INDENT \"a\" _NEWLINE _DEDENT _DEDENT \"b\"\n{line}"),
    ]
    .map(|text| text + DECLARED)
    .to_vec()
}

#[test]
fn masks_with_blocks_are_those_of_the_twin() {
    let walks: u64 = std::env::var("WALKS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let mut counts = Counts::default();
    for (number, text) in grammars().iter().enumerate() {
        for seed in 0..walks {
            if let Err(error) = walk(&|| read(text), vocabulary(), 100 * number as u64 + seed, 14, &mut counts) {
                panic!("grammar {number}, walk {seed}: {error}\n{text}");
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.is_decided(), "{counts:?}");
}

/// Whether a text is accepted.
fn accepts(grammar: &str, text: &str) -> bool {
    let index = Index::from_grammar(grammar, &vocabulary().0, &options(), &Limits::default()).unwrap();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let ids: Vec<u32> = text.bytes().map(u32::from).collect();
    guide.advance_many(&ids) == ids.len() && guide.is_accepting()
}

#[test]
fn widths_say_which_blocks_end() {
    let grammar = &grammars()[3];
    for (text, expected) in [
        ("a\n", true),
        ("a\n\n\na\n", true),
        ("b:\n a\n", true),
        ("b:\na\n", false),
        // Only newlines say how far a line is indented.
        (" a\n", true),
        ("a\n a\n", false),
        ("b:\n  b:\n    a\n  a\na\n", true),
        ("b:\n  b:\n    a\n a\n", false),
        ("b:\n  a\n   a\n", false),
        ("b:\n\t a\n         a\n", true),
        ("(\n\n   a)\n", true),
        ("b:\n  (a\na)\n  a\n", true),
        ("b:\n  (a\na)\na\n", true),
        ("b:\n  a", false),
        ("b:\n  a\n   ", false),
        ("b:\n  a\n  ", true),
    ] {
        assert_eq!(accepts(grammar, text), expected, "{text:?}");
    }
}

#[test]
fn many_blocks_are_closed_at_once() {
    let index = Index::from_grammar(&grammars()[1], &vocabulary().0, &options(), &Limits::default()).unwrap();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let mut text: String = (0..300).map(|level| format!("{}b:\n", " ".repeat(level))).collect();
    text += &format!("{}a\na\n", " ".repeat(300));
    let ids: Vec<u32> = text.bytes().map(u32::from).collect();
    assert_eq!(guide.advance_many(&ids), ids.len());
    assert!(guide.is_accepting());
}

#[test]
fn blocks_that_do_not_fit_are_refused_with_their_place() {
    let line = "_NEWLINE: /(\\r?\\n[\\t ]*)+/\n";
    for (rules, expected) in [
        ("start: \"a\" _NEWLINE _INDENT \"a\" | \"b\" _DEDENT", "as many blocks"),
        ("start: \"a\" _NEWLINE _INDENT \"a\" x\nx: _DEDENT | \"b\"", "as many blocks"),
        ("start: \"a\" _NEWLINE _DEDENT \"b\" _NEWLINE _INDENT", "no block is open"),
        ("start: \"a\" _NEWLINE _INDENT \"b\" | x _DEDENT _NEWLINE _INDENT _INDENT\nx: \"a\"", "no block is open"),
        ("start: \"a\" _INDENT \"b\" _NEWLINE _DEDENT", "_INDENT may come where no _NEWLINE"),
        ("start: \"a\" _NEWLINE _INDENT \"b\" _DEDENT \"a\"", "_DEDENT may come where no _NEWLINE"),
        ("start: \"a\" _NEWLINE _INDENT \"(\" \"b\" _NEWLINE \")\" _NEWLINE _DEDENT", "inside brackets"),
        ("start: \")\" _NEWLINE _INDENT \"b\" _NEWLINE _DEDENT", "a closing bracket may come"),
    ] {
        let text = format!("{rules}\n{line}{DECLARED}");
        let error = parse(&text, &options(), &Limits::default()).err().unwrap_or_else(|| panic!("taken: {text}"));
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{text}");
        assert!(error.message().contains(expected), "{}\n{text}", error.message());
    }
    let dynamic = GrammarOptions { lexer: Some(Lexer::Dynamic), ..GrammarOptions::default() };
    let error = parse(&grammars()[1], &dynamic, &Limits::default()).err().unwrap();
    assert!(error.message().contains("contextual"), "{}", error.message());
}
