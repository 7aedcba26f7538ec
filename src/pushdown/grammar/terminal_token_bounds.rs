//! Terminals that are bounded in tokens: so many tokens, at most, hold a part of their text.
//!
//! Such a text may end behind each of its characters, so a bound says nothing about the bytes of the next token until
//! it is reached. Then the terminal ends there. A character that takes several tokens must be whole by then: a token
//! that begins one is refused where its other bytes might not find enough tokens.

use smallvec::SmallVec;

use crate::grammar::model::Grammar;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::pushdown::grammar::machine::{Branches, Ended, GrammarMachine, add};
use crate::pushdown::grammar::parse_stack::{Branch, ParseStack, PositionId};
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId, Scanner, TerminalState};

/// The most bytes that a character has behind its first one.
const MOST_REST: u32 = 3;
/// The most states of a terminal that are looked at.
const MOST_STATES: usize = 20_000;

/// The bounds of a grammar's terminals.
#[derive(Default)]
pub struct TerminalTokenBounds {
    /// For each terminal; empty where no terminal has one.
    most: Box<[Option<u32>]>,
    least: u32,
}

impl TerminalTokenBounds {
    /// The bounds of a grammar's terminals.
    pub fn from_grammar(grammar: &Grammar) -> TerminalTokenBounds {
        let most: Box<[Option<u32>]> = grammar.terminals.iter().map(|t| t.max_tokens).collect();
        match most.iter().flatten().min() {
            None => TerminalTokenBounds::default(),
            Some(&least) => TerminalTokenBounds { most, least },
        }
    }

    /// Whether no terminal has a bound.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.most.is_empty()
    }

    fn bound(&self, terminal: u32) -> Option<u32> {
        self.most.get(terminal as usize).copied().flatten()
    }

    /// The least bound of the terminals that are being read in a state of the scanner.
    fn least_in(&self, scanner: &Scanner, scan: ScanStateId) -> Option<u32> {
        let state = scanner.state(scan);
        state.live.iter().filter_map(|&(terminal, _)| self.bound(terminal)).min().filter(|_| !state.at_boundary)
    }

    /// The tokens that are counted in a state of the scanner: none where nothing that is being read has a bound.
    #[inline]
    pub(super) fn tokens_of(&self, scanner: &Scanner, scan: ScanStateId, tokens: u32) -> u32 {
        if self.is_empty() || self.least_in(scanner, scan).is_none() { 0 } else { tokens }
    }

    /// Counts a token that was read up to a state of the scanner; `None` where nothing that is being read has a bound.
    pub(super) fn count(&self, scanner: &Scanner, scan: ScanStateId, tokens: u32) -> Option<Counted> {
        self.least_in(scanner, scan)?;
        let tokens = tokens + 1;
        let mut over: SmallVec<[TerminalState; 2]> = SmallVec::new();
        let mut ends: SmallVec<[(u32, ObligationsId); 1]> = SmallVec::new();
        for &own in &scanner.state(scan).live {
            let Some(most) = self.bound(own.0) else { continue };
            let left = most.saturating_sub(tokens);
            let missing = scanner.lexeme(own.0).map_or(0, |lexeme| rest_of_char(lexeme, own.1));
            if left == 0 || missing > left {
                over.push(own);
            }
            if (left, missing) == (0, 0) && tokens <= most {
                let obligations = scanner.ended(own, scanner.state(scan).obligations);
                ends.extend(obligations.map(|obligations| (own.0, obligations)));
            }
        }
        let rest = match over.is_empty() {
            true => scan,
            false => scanner.restricted(scan, |own| !over.contains(own)),
        };
        let tokens = if rest == REFUSED { 0 } else { self.tokens_of(scanner, rest, tokens) };
        Some(Counted { rest, tokens, ends })
    }
}

/// What a token has left of a branch of which something has a bound.
pub(super) struct Counted {
    /// The state of the scanner with what may go on, or [`REFUSED`].
    pub(super) rest: ScanStateId,
    /// The tokens that hold a part of that.
    pub(super) tokens: u32,
    /// The terminals that end, with what must not follow.
    pub(super) ends: SmallVec<[(u32, ObligationsId); 1]>,
}

impl GrammarMachine<'_> {
    /// Counts a token that was read: it holds a part of the terminals that are still being read. Those for which it was
    /// the last one end.
    pub(super) fn count_token(&mut self, branches: Branches) -> Branches {
        let program = self.program;
        if program.terminal_token_bounds.is_empty() {
            return branches;
        }
        let mut out = Branches::new();
        let mut ended: SmallVec<[Ended; 2]> = SmallVec::new();
        for branch in branches {
            let counted = match branch.is_in_document() {
                true => None,
                false => program.terminal_token_bounds.count(&program.scanner, branch.scan, branch.tokens),
            };
            let Some(Counted { rest, tokens, ends }) = counted else {
                add(&mut out, branch);
                continue;
            };
            if rest != REFUSED {
                add(&mut out, Branch { scan: rest, tokens, ..branch });
            }
            for (terminal, obligations) in ends {
                let found = program.closure(self.stack, self.stack.tops(branch.tops));
                // Texts that are bounded in tokens are no newlines and no brackets.
                let mut one = Ended::new(obligations, branch.indents);
                found.shift(&program.lr, &program.productions, self.stack, terminal, &mut one.shifted);
                ended.push(one);
            }
        }
        for one in ended {
            let (obligations, indents) = (one.obligations, one.indents);
            let Some((tops, nodes)) = self.tops_of(one) else { continue };
            let found = program.closure(self.stack, &nodes);
            add(&mut out, Branch::scanning(tops, program.scan_start(&found, obligations), indents));
        }
        out
    }

    /// Whether a bound may forbid a token in a position that a mask, which knows of no bounds, allows: one that ends
    /// inside of a character.
    pub fn is_near_bound(&self, at: PositionId) -> bool {
        let bounds = &self.program.terminal_token_bounds;
        if bounds.is_empty() {
            return false;
        }
        let near = |branch: &Branch| {
            // Inside a document nothing has a bound, and `scan` is no state of the scanner.
            !branch.is_in_document()
                && bounds
                    .least_in(&self.program.scanner, branch.scan)
                    .is_some_and(|least| branch.tokens + 1 + MOST_REST > least)
        };
        bounds.least <= MOST_REST || self.stack.branches(at).iter().any(near)
    }

    /// Whether a token of these bytes may come next in a position. Nothing is left behind.
    pub fn takes_bytes(&mut self, at: PositionId, bytes: &[u8], token: u32) -> bool {
        let taken = self.step_bytes_or_token(at, bytes, token).is_some();
        if taken {
            ParseStack::go_back_to(self.stack, at);
        }
        taken
    }
}

/// How many bytes are missing in a state of a terminal until it may end, which it may behind every character.
fn rest_of_char(lexeme: &Lexeme, state: StateId) -> u32 {
    let mut states: SmallVec<[StateId; 8]> = SmallVec::from_slice(&[state]);
    for missing in 0..=MOST_REST {
        if states.iter().any(|&state| lexeme.state(state).accepting) {
            return missing;
        }
        let mut next: SmallVec<[StateId; 8]> = SmallVec::new();
        for &state in &states {
            next.extend((0x80..=0xBF).map(|byte| lexeme.next(state, byte)).filter(|&to| to > CLOSED));
        }
        next.sort_unstable();
        next.dedup();
        states = next;
    }
    MOST_REST + 1
}

/// Whether the texts of a terminal may end behind each of their characters but before the first. False as well where
/// that is not found out in reasonable time.
pub fn ends_behind_every_char(lexeme: &Lexeme) -> bool {
    let bytes = lexeme.bytes_of_classes();
    let mut all = vec![lexeme.start()];
    let mut seen = vec![false; lexeme.start() as usize + 1];
    seen[lexeme.start() as usize] = true;
    let mut at = 0;
    while let Some(&state) = all.get(at) {
        let is_between = !lexeme.state(state).accepting && at > 0;
        at += 1;
        for &byte in &bytes {
            let to = lexeme.next(state, byte);
            if to <= CLOSED {
                continue;
            }
            // What goes on with another byte is inside of a text, not of a character.
            if is_between && !(0x80..=0xBF).contains(&byte) {
                return false;
            }
            // Ids count the states.
            seen.resize(seen.len().max(to as usize + 1), false);
            if !std::mem::replace(&mut seen[to as usize], true) {
                all.push(to);
            }
        }
        if all.len() > MOST_STATES {
            return false;
        }
    }
    true
}
