//! Indentation: what Lark's `Indenter` does between the lexer and the parser, as a part of the position.
//!
//! The open blocks and brackets are nodes of the parser's stack beside the rules': a block holds its width, and a
//! bracket hides newlines while it is the top. A newline terminal counts the blanks behind its last newline (the
//! *column*). Where it ends, the column says which terminals the parser reads behind it: `_INDENT` for a deeper line,
//! one `_DEDENT` for each block that is left, and nothing where the column belongs to no block.

use std::sync::Arc;

use crate::grammar::model::{Grammar, Lexer};
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::grammar::parse_stack::{BRACKET, NO_COLUMN, NodeId, ParseStack};
use crate::util::hash::SeededMap;

/// A node of a block, with its width below this bit. States of the parser are smaller.
const BLOCK: u32 = 1 << 30;
/// The widest block.
const WIDEST: u32 = BRACKET - 1;

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
    /// By state of the newline terminal: whether it may end before another newline.
    ends_line: SeededMap<StateId, bool>,
    /// From wherever the newline terminal has come, it can still be ended with a line of any width.
    pub is_free: bool,
    /// Terminals whose beginnings are beginnings of newline terminals: comments.
    pub inside: Box<[u32]>,
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
    pub fn of(grammar: &Grammar, lexemes: &[Option<Arc<Lexeme>>]) -> Option<Indenter> {
        let said = grammar.indentation.as_ref()?;
        let mut this = Indenter {
            newline: said.newline,
            indent: said.indent,
            dedent: said.dedent,
            open: said.open.clone().into(),
            close: said.close.clone().into(),
            tab_width: said.tab_width,
            ends_line: SeededMap::default(),
            is_free: false,
            inside: Box::default(),
        };
        let lexeme = lexemes[said.newline as usize].as_ref()?;
        if grammar.terminals[said.newline as usize].context.is_none() {
            this.look_at(lexeme, &grammar.ignored, lexemes);
            this.is_free &= grammar.lexer != Lexer::Contextual || !competes(said.newline, lexemes);
        }
        Some(this)
    }

    /// The terminals that are no texts.
    pub fn silent(&self) -> [u32; 2] {
        [self.indent, self.dedent]
    }

    /// Finds out what the newline terminal can do from each of its states.
    fn look_at(&mut self, lexeme: &Lexeme, ignored: &[u32], lexemes: &[Option<Arc<Lexeme>>]) {
        let Some(states) = states_of(lexeme) else { return };
        let next = |state: StateId, byte: u8| Some(lexeme.next(state, byte)).filter(|&to| to > CLOSED);
        let accepting = |state: StateId| lexeme.state(state).accepting;
        let bytes: Vec<u8> = lexeme.byte_runs().map(|run| run.0).chain([b'\n']).collect();
        // Backwards from the ends, until nothing changes: an automaton of newlines has a handful of states.
        let mut ends: SeededMap<StateId, bool> = states.iter().map(|&s| (s, accepting(s))).collect();
        let any_width = |&state: &StateId| {
            let mut at = state;
            let mut seen = Vec::new();
            while accepting(at) && !seen.contains(&at) {
                seen.push(at);
                match next(at, b' ') {
                    Some(to) => at = to,
                    None => return false,
                }
            }
            accepting(at)
        };
        let mut free: SeededMap<StateId, bool> =
            states.iter().map(|&state| (state, next(state, b'\n').is_some_and(|behind| any_width(&behind)))).collect();
        let mut grown = true;
        while grown {
            grown = false;
            for &state in &states {
                for to in bytes.iter().filter(|&&b| b != b'\n').filter_map(|&b| next(state, b)) {
                    grown |= ends[&to] && ends.insert(state, true) == Some(false);
                }
                for to in bytes.iter().filter_map(|&b| next(state, b)) {
                    grown |= free[&to] && free.insert(state, true) == Some(false);
                }
            }
        }
        self.is_free = states.iter().all(|state| free[state]);
        self.ends_line = ends;
        let is_inside = |&t: &u32| lexemes[t as usize].as_ref().is_some_and(|other| begins_like(other, lexeme));
        self.inside = ignored.iter().copied().filter(is_inside).collect();
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

    /// Whether a terminal closes a bracket.
    pub fn closes(&self, terminal: u32) -> bool {
        self.close.contains(&terminal)
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
        match self.ends_line.get(&state) {
            Some(false) => NO_COLUMN,
            _ => column,
        }
    }
}

/// All states of an automaton; `None` if they are many.
fn states_of(lexeme: &Lexeme) -> Option<Vec<StateId>> {
    const MOST: usize = 1_000;
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
        if out.len() > MOST {
            return None;
        }
    }
    Some(out)
}

/// Pairs of states that two automata reach by the same text; `visit` says whether to go on behind a pair, and
/// `None` ends the search.
fn side_by_side(a: &Lexeme, b: &Lexeme, mut visit: impl FnMut(StateId, StateId, u8) -> Option<bool>) -> Option<()> {
    const MOST: usize = 4_000;
    let mut seen = vec![(a.start(), b.start())];
    let mut at = 0;
    while let Some(&(x, y)) = seen.get(at) {
        at += 1;
        for byte in 0..=255u8 {
            let to = (a.next(x, byte), b.next(y, byte));
            if to.0 > CLOSED && visit(to.0, to.1, byte)? && !seen.contains(&to) {
                seen.push(to);
                if seen.len() > MOST {
                    return None;
                }
            }
        }
    }
    Some(())
}

/// Whether every beginning of a text of `one` is a beginning of a text of `other`.
fn begins_like(one: &Lexeme, other: &Lexeme) -> bool {
    side_by_side(one, other, |_, to, _| (to > CLOSED).then_some(true)).is_some()
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
