//! Indentation: what Lark's `Indenter` does between the lexer and the parser, as a part of the position.
//!
//! The open blocks and brackets are nodes of the parser's stack beside the rules': a block holds its width, and a
//! bracket hides newlines while it is the top. A newline terminal counts the blanks behind its last newline (the
//! *column*). Where it ends, the column says which terminals the parser reads behind it: `_INDENT` for a deeper line,
//! one `_DEDENT` for each block that is left, and nothing where the column belongs to no block.

use std::sync::Arc;

use crate::grammar::model::{Grammar, Lexer};
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::grammar::obligations::{Obligation, Promise};
use crate::pushdown::grammar::parse_stack::{BRACKET, NO_COLUMN, NodeId, ParseStack};
use crate::util::seeded_hash::SeededMap;

/// A node of a block, with its width below these bits.
const BLOCK: u32 = BRACKET | 1 << 28;
/// The widest block.
const WIDEST: u32 = (1 << 28) - 1;

/// The indenter of a grammar.
pub struct Indenter {
    /// The terminal that ends a line and takes the blanks of the next one.
    pub newline: u32,
    /// The terminal that opens a block.
    pub indent: u32,
    /// The terminal that closes a block.
    pub dedent: u32,
    open: Box<[u32]>,
    close: Box<[u32]>,
    tab_width: u32,
    /// What is known of the newline terminal's states.
    states: SeededMap<StateId, NewlineState>,
    /// No other terminal takes a newline for itself.
    is_alone: bool,
    /// From wherever the newline terminal has come, it can still be ended with a line of any width.
    pub is_free: bool,
    /// It can be begun so.
    is_wide: bool,
}

/// What a newline terminal can do from a state.
#[derive(Clone, Copy, Default)]
struct NewlineState {
    /// It may end before another newline.
    ends_line: bool,
    /// It is behind a newline, and more blanks lead to states that are like this one.
    takes_blanks: bool,
    /// Another newline leads to a line of any width.
    begins_again: bool,
}

/// What becomes of a terminal that ended.
pub enum Effect {
    /// The parser takes it, with these blocks and brackets behind it.
    Taken(NodeId),
    /// The parser takes it, and what its column says.
    EndsLine,
    /// It is a newline inside brackets: no terminal at all.
    Dropped,
    /// A bracket that was not opened.
    Refused,
}

/// What the newline terminal can do at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NewlineUse {
    /// The parser takes it.
    Taken,
    /// Inside brackets it is dropped.
    Dropped,
    /// Nothing: it matches, and no output goes on so.
    Dead,
}

impl Indenter {
    /// The indenter of a grammar; `lexemes` are the automata of its terminals.
    pub fn from_grammar(grammar: &Grammar, lexemes: &[Option<Arc<Lexeme>>]) -> Option<Indenter> {
        let said = grammar.indentation.as_ref()?;
        let mut this = Indenter {
            newline: said.newline,
            indent: said.indent,
            dedent: said.dedent,
            open: said.open.clone().into(),
            close: said.close.clone().into(),
            tab_width: said.tab_width,
            states: SeededMap::default(),
            is_alone: grammar.lexer != Lexer::Contextual || !competes(said.newline, lexemes),
            is_free: false,
            is_wide: false,
        };
        let lexeme = lexemes[said.newline as usize].as_ref()?;
        if grammar.terminals[said.newline as usize].context.is_none() {
            this.look_at(lexeme);
        }
        Some(this)
    }

    /// The terminals that are no texts.
    pub fn silent(&self) -> [u32; 2] {
        [self.indent, self.dedent]
    }

    /// Finds out what the newline terminal can do from each of its states.
    fn look_at(&mut self, lexeme: &Lexeme) {
        let Some(states) = states_of(lexeme) else { return };
        let next = |state: StateId, byte: u8| Some(lexeme.next(state, byte)).filter(|&to| to > CLOSED);
        let accepting = |state: StateId| lexeme.state(state).accepting;
        let bytes: Vec<u8> = lexeme.byte_runs().map(|run| run.0).chain([b'\n']).collect();
        let mut found: SeededMap<StateId, NewlineState> = states
            .iter()
            .map(|&state| (state, NewlineState { ends_line: accepting(state), ..NewlineState::default() }))
            .collect();
        // Any number of blanks may come where they lead to states that go on alike.
        for behind in states.iter().filter_map(|&state| next(state, b'\n')).filter(|&behind| accepting(behind)) {
            let mut chain = vec![behind];
            while let Some(to) = chain.last().and_then(|&last| next(last, b' ')) {
                if chain.contains(&to) || !are_alike(lexeme, behind, to) {
                    break;
                }
                chain.push(to);
            }
            let to = chain.last().and_then(|&last| next(last, b' '));
            if to.is_some_and(|to| chain.contains(&to)) {
                chain.iter().for_each(|state| found.entry(*state).or_default().takes_blanks = true);
            }
        }
        for &state in &states {
            let behind = next(state, b'\n');
            found.entry(state).or_default().begins_again = behind.is_some_and(|behind| found[&behind].takes_blanks);
        }
        // Backwards from the ends, until nothing changes: an automaton of newlines has a handful of states.
        let mut grown = true;
        while grown {
            grown = false;
            for &state in &states {
                let mut here = found[&state];
                for to in bytes.iter().filter_map(|&b| next(state, b)) {
                    here.begins_again |= found[&to].begins_again;
                }
                for to in bytes.iter().filter(|&&b| b != b'\n').filter_map(|&b| next(state, b)) {
                    here.ends_line |= found[&to].ends_line;
                }
                let before = found[&state];
                if (here.begins_again, here.ends_line) != (before.begins_again, before.ends_line) {
                    found.insert(state, here);
                    grown = true;
                }
            }
        }
        self.is_wide = self.is_alone && found[&lexeme.start()].begins_again;
        self.is_free = self.is_alone && found.values().all(|state| state.begins_again);
        self.states = found;
    }

    /// Whether the newline terminal, once it is begun, can end with a line of any width.
    pub fn is_certain(&self) -> bool {
        self.is_wide
    }

    /// Whether the newline terminal that made these promises may as well have ended with a wider line.
    pub fn ends_with_any_width(&self, promises: &[Obligation]) -> bool {
        let takes_blanks = |state: &StateId| self.states.get(state).is_some_and(|state| state.takes_blanks);
        self.is_wide
            && promises
                .iter()
                .any(|(promise, t, state)| (*promise, *t) == (Promise::NoLonger, self.newline) && takes_blanks(state))
    }

    /// How far the line is indented at least that the newline terminal ends with, from a state and a column.
    pub fn least_width(&self, state: StateId, column: u32) -> u32 {
        let begins_again = self.is_free || self.states.get(&state).is_some_and(|state| state.begins_again);
        if column == NO_COLUMN || begins_again { 0 } else { column }
    }

    /// The node of the outermost block.
    pub fn bottom(&self, stack: &mut ParseStack) -> NodeId {
        stack.push(BLOCK, &[])
    }

    /// The width of the innermost block, if no bracket is open in it.
    pub fn width(&self, stack: &ParseStack, indents: NodeId) -> u32 {
        stack.state(indents).saturating_sub(BLOCK)
    }

    /// The node of a block in others.
    pub fn block(&self, stack: &mut ParseStack, indents: NodeId, width: u32) -> NodeId {
        stack.push(BLOCK | width, &[indents])
    }

    /// Whether newlines are hidden by a bracket.
    pub fn is_in_brackets(&self, stack: &ParseStack, indents: NodeId) -> bool {
        stack.state(indents) == BRACKET
    }

    /// Whether a terminal opens a bracket, or closes one.
    pub fn bracket(&self, terminal: u32) -> Option<bool> {
        match self.open.contains(&terminal) {
            true => Some(true),
            false => self.close.contains(&terminal).then_some(false),
        }
    }

    /// What becomes of a terminal that ended.
    pub fn effect(&self, stack: &mut ParseStack, indents: NodeId, terminal: u32) -> Effect {
        if terminal == self.newline {
            return if self.is_in_brackets(stack, indents) { Effect::Dropped } else { Effect::EndsLine };
        }
        if self.open.contains(&terminal) {
            return Effect::Taken(stack.push(BRACKET, &[indents]));
        }
        if !self.close.contains(&terminal) {
            return Effect::Taken(indents);
        }
        match stack.below(indents) {
            &[below] if self.is_in_brackets(stack, indents) => Effect::Taken(below),
            _ => Effect::Refused,
        }
    }

    /// How far the line is indented behind a byte of the newline terminal, which is then in this state.
    pub fn column_behind(&self, column: u32, byte: u8, state: StateId) -> u32 {
        let column = match byte {
            b'\n' => 0,
            _ if column == NO_COLUMN => NO_COLUMN,
            b' ' => column.saturating_add(1).min(WIDEST),
            b'\t' => column.saturating_add(self.tab_width).min(WIDEST),
            _ => column,
        };
        match self.states.get(&state) {
            Some(state) if !state.ends_line => NO_COLUMN,
            _ => column,
        }
    }
}

/// All states of an automaton; `None` if they are many.
fn states_of(lexeme: &Lexeme) -> Option<Vec<StateId>> {
    const MOST_STATES: usize = 1_000;
    let mut out = vec![lexeme.start()];
    let mut at = 0;
    while let Some(&state) = out.get(at) {
        at += 1;
        for (lo, _) in lexeme.byte_runs() {
            let to = lexeme.next(state, lo);
            if to > CLOSED && !out.contains(&to) {
                out.push(to);
            }
        }
        if out.len() > MOST_STATES {
            return None;
        }
    }
    Some(out)
}

/// Pairs of states that two automata reach by the same text; `visit` says whether to go on behind a pair, and
/// `None` ends the search.
fn side_by_side(a: &Lexeme, b: &Lexeme, mut visit: impl FnMut(StateId, StateId, u8) -> Option<bool>) -> Option<()> {
    const MOST_PAIRS: usize = 4_000;
    let mut seen = vec![(a.start(), b.start())];
    let mut at = 0;
    while let Some(&(x, y)) = seen.get(at) {
        at += 1;
        for byte in 0..=255u8 {
            let to = (a.next(x, byte), b.next(y, byte));
            if to.0 > CLOSED && visit(to.0, to.1, byte)? && !seen.contains(&to) {
                seen.push(to);
                if seen.len() > MOST_PAIRS {
                    return None;
                }
            }
        }
    }
    Some(())
}

/// Whether the same texts lead from two states to an end.
fn are_alike(lexeme: &Lexeme, one: StateId, other: StateId) -> bool {
    const MOST_PAIRS: usize = 1_000;
    let accepts = |state: StateId| state > CLOSED && lexeme.state(state).accepting;
    let mut seen = vec![(one, other)];
    let mut at = 0;
    while let Some(&(x, y)) = seen.get(at) {
        at += 1;
        if accepts(x) != accepts(y) || (x > CLOSED) != (y > CLOSED) || seen.len() > MOST_PAIRS {
            return false;
        }
        if x == y || x <= CLOSED {
            continue;
        }
        for (lo, _) in lexeme.byte_runs() {
            let to = (lexeme.next(x, lo), lexeme.next(y, lo));
            if !seen.contains(&to) {
                seen.push(to);
            }
        }
    }
    true
}

/// Whether another terminal may match a text with a newline that the newline terminal begins as well.
fn competes(newline: u32, lexemes: &[Option<Arc<Lexeme>>]) -> bool {
    let Some(own) = &lexemes[newline as usize] else { return false };
    let mut others = (0u32..).zip(lexemes).filter(|(t, _)| *t != newline).filter_map(|(_, l)| l.as_ref());
    others.any(|other| {
        let visit = |_, to: StateId, byte: u8| match to > CLOSED {
            true if byte == b'\n' => None,
            lives => Some(lives),
        };
        side_by_side(own, other, visit).is_none()
    })
}
