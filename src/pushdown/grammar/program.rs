//! A grammar, compiled: its productions, parser, scanner and what is remembered of both.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::ByteSet;
use crate::grammar::model::{Grammar, Lexer};
use crate::lexeme::Lexeme;
use crate::limits::Limits;
use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::closure::{Closures, Found};
use crate::pushdown::grammar::completion::prospects::Prospects;
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::indenter::Indenter;
use crate::pushdown::grammar::lr_automaton::LrAutomaton;
use crate::pushdown::grammar::parse_stack::{NO_FRAME, NodeId, ParseStack};
use crate::pushdown::grammar::scanner::{ObligationsId, ScanStateId, Scanner};
use crate::pushdown::grammar::succession::Succession;
use crate::pushdown::grammar::terminal_token_bounds::TerminalTokenBounds;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Program;
use crate::util::cancel::poll;

/// A grammar, compiled. Threads share it.
pub struct GrammarProgram {
    /// The rules.
    pub productions: Productions,
    /// The parser.
    pub lr: LrAutomaton,
    /// The terminals as one automaton.
    pub scanner: Scanner,
    /// What the parser can do next, as far as it was asked.
    pub closures: Closures,
    /// What may follow each terminal.
    pub follow: Follow,
    /// Terminals that may stand between others.
    pub ignored: Box<[u32]>,
    /// Terminals that are bounded in tokens.
    pub terminal_token_bounds: TerminalTokenBounds,
    /// The special tokens of each set, ascending.
    pub token_sets: Box<[Box<[u32]>]>,
    /// The special tokens behind which the output may end wherever they stand, ascending. As a stop token, such a one
    /// ends the output and belongs to it.
    pub last_tokens: Box<[u32]>,
    /// JSON documents inside the output.
    pub documents: Vec<Box<Program>>,
    /// Which terminals the longest match of another one lets follow.
    pub succession: Succession,
    /// How outputs are completed where longest matches may forbid what follows, as far as it was asked.
    pub prospects: Prospects,
    /// What makes terminals of indentation.
    pub indenter: Option<Indenter>,
}

impl GrammarProgram {
    /// Compiles a grammar. `lexemes` are the automata of its terminals, none for those without texts; `nullable` says
    /// which of them have the empty text.
    ///
    /// # Errors
    /// `Limit`, also where it is not found out whether anything is accepted; `Unsatisfiable` if nothing is.
    pub fn new(
        grammar: &Grammar,
        lexemes: Vec<Option<Arc<Lexeme>>>,
        nullable: &[bool],
        token_sets: Vec<Box<[u32]>>,
        documents: Vec<Box<Program>>,
        limits: &Limits,
    ) -> Result<GrammarProgram> {
        let mut inhabited: Vec<bool> = lexemes.iter().map(Option::is_some).collect();
        let indenter = Indenter::from_grammar(grammar, &lexemes);
        let silent = indenter.as_ref().map(Indenter::silent);
        silent.iter().flatten().for_each(|&t| inhabited[t as usize] = true);
        let productions = Productions::from_grammar(grammar, &inhabited, nullable, limits)?;
        let documents_first: Vec<ByteSet> = documents.iter().map(|program| first_bytes(program)).collect();
        let follow = Follow::compute(
            &productions,
            &lexemes,
            &grammar.ignored,
            &documents_first,
            indenter.as_ref(),
            grammar.lexer == Lexer::Contextual,
        );
        let scanner = Scanner::new(grammar, lexemes, !documents.is_empty());
        let ignored: Box<[u32]> = grammar.ignored.iter().copied().filter(|&t| scanner.lexeme(t).is_some()).collect();
        let succession = match grammar.lexer {
            Lexer::Any => Succession::free(),
            _ => Succession::build(&scanner, &follow, &ignored, &documents_first, indenter.as_ref())?,
        };
        let prospects = Prospects::new(&scanner, documents_first);
        let lr = LrAutomaton::new(&productions, succession.read_freely(&productions));
        let token_sets: Box<[Box<[u32]>]> = token_sets.into();
        let program = GrammarProgram {
            last_tokens: last_tokens(&productions, &token_sets),
            productions,
            lr,
            scanner,
            closures: Closures::default(),
            follow,
            ignored,
            terminal_token_bounds: TerminalTokenBounds::from_grammar(grammar),
            token_sets,
            documents,
            succession,
            prospects,
            indenter,
        };
        let mut stack = program.stack();
        program.machine(&mut stack).start();
        poll()?;
        if stack.branches(0).is_empty() {
            if program.prospects.gave_up.load(Ordering::Relaxed) {
                let message = "whether the grammar ever comes to an end takes too long to find out: a terminal has too \
                               many states, as /.*a.{30}/ has, or too many match the same texts";
                let hint = "write smaller numbers in repetitions, join terminals to one, or choose the lexer any";
                return Err(Error::new(ErrorKind::Limit, message).with_hint(hint));
            }
            let rule = &grammar.rules[grammar.start as usize];
            let message = format!(
                "the grammar accepts nothing: {} never comes to an end, because some terminal in it always has a \
                 longer match",
                rule.name
            );
            return Err(Error::new(ErrorKind::Unsatisfiable, message));
        }
        Ok(program)
    }

    /// A stack without positions.
    pub fn stack(&self) -> ParseStack {
        let mut stack = ParseStack::default();
        stack.arena = (!self.documents.is_empty()).then(|| Box::new(Arena::default()));
        stack
    }

    /// What the parser can do behind these tops.
    pub fn closure(&self, stack: &ParseStack, tops: &[NodeId]) -> Found {
        self.closures.find(&self.lr, &self.productions, stack, tops)
    }

    /// The state of the scanner at a boundary behind these tops. With an indenter it finds newlines everywhere.
    pub fn scan_start(&self, found: &Found, obligations: ObligationsId) -> ScanStateId {
        let start = *found.closure.scan_start.get_or_init(|| {
            let terminals = self.productions.terminals;
            let next = found.closure.next.iter().copied().take_while(|&s| s < terminals);
            let newline = self.indenter.as_ref().map(|indenter| indenter.newline);
            self.scanner.start(next.chain(self.ignored.iter().copied()).chain(newline))
        });
        self.scanner.oblige_start(start, obligations)
    }

    /// Whether a byte may come behind the end of a terminal somewhere in the grammar, and no obligation forbids it.
    #[inline]
    pub fn may_follow(&self, terminal: u32, obligations: ObligationsId, byte: u8) -> bool {
        self.follow.bytes(terminal)[usize::from(byte)] && !self.scanner.forbids(obligations, byte)
    }

    /// The bytes that some terminal reads.
    pub fn used_bytes(&self) -> ByteSet {
        if !self.documents.is_empty() {
            return [true; 256];
        }
        let mut out = [false; 256];
        for terminal in 0..self.productions.terminals {
            let Some(lexeme) = self.scanner.lexeme(terminal) else { continue };
            out.iter_mut().zip(lexeme.used_bytes()).for_each(|(to, used)| *to |= used);
        }
        out
    }

    /// A set of special tokens that no output can be completed without once it has begun, if tokens of these sets never
    /// come; perhaps one that other parts of the output make up for.
    pub fn needs_token_set(&self, is_missing: impl Fn(usize) -> bool) -> Option<usize> {
        let productions = &self.productions;
        let missing = |symbol: Symbol| productions.token_set(symbol).filter(|&set| is_missing(set));
        // A rule can be read if one of its alternatives can.
        let mut is_readable: Vec<bool> = (0..productions.symbols() as u32)
            .map(|symbol| {
                productions.nullable[symbol as usize] || !productions.is_rule(symbol) && missing(symbol).is_none()
            })
            .collect();
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for production in &productions.all {
                if !is_readable[production.of as usize]
                    && production.parts.iter().all(|&part| is_readable[part as usize])
                {
                    is_readable[production.of as usize] = true;
                    has_grown = true;
                }
            }
        }
        let needed = || (0..productions.symbols() as u32).find_map(missing);
        if !is_readable[productions.start as usize] {
            return needed();
        }
        let (mut todo, mut seen) = (vec![productions.start], vec![false; productions.symbols()]);
        while let Some(rule) = todo.pop() {
            let alternatives =
                || productions.alternatives(rule).iter().map(|&one| &productions.all[one as usize].parts);
            let is_whole = |parts: &[Symbol]| parts.iter().all(|&part| is_readable[part as usize]);
            for parts in alternatives() {
                let unreadable = parts.iter().position(|&part| !is_readable[part as usize]);
                // What is begun must be gone on with by another alternative; a rule that repeats itself, by who asked.
                let goes_on = |other: &[Symbol], at: usize| is_whole(other) && other.starts_with(&parts[..at]);
                let ends =
                    |at: usize| at == 0 || parts[..at] == [rule] || alternatives().any(|other| goes_on(other, at));
                if unreadable.is_some_and(|at| !ends(at)) {
                    return needed();
                }
                // Of one that cannot be read to its end, the first part that cannot may be begun all the same.
                let begun = unreadable.map_or(&parts[..], |at| &parts[at..=at]);
                let rules = begun.iter().filter(|&&part| productions.is_rule(part));
                todo.extend(rules.filter(|&&part| !std::mem::replace(&mut seen[part as usize], true)));
            }
        }
        None
    }

    /// Whether a special token ends the output where it is a stop token, and belongs to it.
    #[inline]
    pub fn is_last(&self, token: u32) -> bool {
        !self.last_tokens.is_empty() && self.last_tokens.binary_search(&token).is_ok()
    }

    /// Bytes of which whatever was begun of an output can be completed, where the fewest bytes always do that
    /// ([`costs_are_exact`](Self::costs_are_exact)): if each of them is a token, no completion needs more tokens than
    /// bytes. Elsewhere the bytes that some terminal reads.
    pub fn completing_bytes(&self) -> ByteSet {
        if !self.costs_are_exact() || self.indenter.is_some() {
            return self.used_bytes();
        }
        let lexemes = (0..self.productions.terminals).filter_map(|terminal| self.scanner.lexeme(terminal));
        let all = lexemes.map(|lexeme| lexeme.ending_bytes());
        let all = all.chain(self.documents.iter().map(|document| document.completing_bytes()));
        all.fold([false; 256], |out, bytes| std::array::from_fn(|b| out[b] || bytes[b]))
    }

    /// All bytes of the classes that these are the first of.
    pub fn bytes_like(&self, firsts: &[u8]) -> impl Iterator<Item = u8> {
        let classes: SmallVec<[usize; 16]> = firsts.iter().map(|&b| self.scanner.class(b)).collect();
        (0..=255u8).filter(move |&byte| classes.contains(&self.scanner.class(byte)))
    }

    /// What steps a stack.
    pub fn machine<'m>(&'m self, stack: &'m mut ParseStack) -> GrammarMachine<'m> {
        GrammarMachine { program: self, stack }
    }

    /// Approximate bytes held, the terminals' own automata left out.
    pub fn memory_bytes(&self) -> usize {
        let productions: usize = self.productions.all.iter().map(|p| p.parts.len() * 4 + 48).sum();
        productions
            + self.lr.memory_bytes()
            + self.scanner.memory_bytes()
            + self.closures.memory_bytes()
            + self.follow.memory_bytes()
    }
}

/// The special tokens behind which the output may end wherever they stand: all that the rules put behind them may be
/// left out.
fn last_tokens(productions: &Productions, token_sets: &[Box<[u32]>]) -> Box<[u32]> {
    if token_sets.is_empty() {
        return Box::default();
    }
    // Whether the output may end behind each symbol: where what follows in an alternative may be left out, or another
    // alternative begins alike and ends there, and the output may end behind the rule.
    let mut ends = vec![true; productions.symbols()];
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for production in &productions.all {
            let (parts, rule) = (&production.parts, production.of);
            for at in 0..parts.len() {
                let ends_there = |&one: &u32| {
                    let other = &productions.all[one as usize].parts;
                    other.starts_with(&parts[..=at])
                        && other[at + 1..].iter().all(|&part| productions.nullable[part as usize])
                };
                // A rule that repeats itself ends where who asked for it lets it end.
                let may_end = (at == 0 && parts[at] == rule)
                    || (ends[rule as usize] && productions.alternatives(rule).iter().any(ends_there));
                has_changed |= !may_end && std::mem::replace(&mut ends[parts[at] as usize], false);
            }
        }
    }
    let set_ends = |set: usize| {
        (0..productions.symbols() as u32).all(|s| productions.token_set(s) != Some(set) || ends[s as usize])
    };
    let (last, others): (Vec<usize>, Vec<usize>) = (0..token_sets.len()).partition(|&set| set_ends(set));
    let elsewhere = |id: &u32| others.iter().any(|&set| token_sets[set].binary_search(id).is_ok());
    let mut ids: Vec<u32> = last.iter().flat_map(|&set| token_sets[set].iter().copied()).collect();
    ids.retain(|id| !elsewhere(id));
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}

/// The bytes that can begin a document.
fn first_bytes(program: &Program) -> ByteSet {
    let mut arena = Arena::default();
    let mut machine = JsonMachine { program, arena: &mut arena };
    let start = machine.start();
    std::array::from_fn(|byte| machine.step(start, byte as u8) != NO_FRAME)
}

pub use crate::pushdown::grammar::machine::GrammarMachine;
