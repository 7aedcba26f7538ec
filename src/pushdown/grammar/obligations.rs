//! What terminals that ended promise of the rest of the text, kept byte by byte.
//!
//! A terminal that took its longest match promises that no longer one follows, and one whose look-ahead sees beyond its
//! end that this is met. A list of such promises is a list of *obligations*. It has a number, and goes along with the
//! state of the scanner.

use std::sync::OnceLock;

use crate::expr::ByteSet;
use crate::expr::byte_bits::{ByteBits, bits};
use crate::lexeme::{CLOSED, StateId};
use crate::pushdown::grammar::scanner::{Builder, END, NO_OBLIGATIONS, ObligationsId, Scanner, TerminalState};

/// What a terminal that ended promised of the rest of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// It does not become a longer text of the terminal.
    NoLonger,
    /// It is what the look-ahead at the terminal's end asks for.
    Follows,
    /// It is not what such a look-ahead asks for: then a longer text would have matched.
    FollowsNot,
}

/// A promise, with the state of the terminal's automaton that says whether it is kept.
pub type Obligation = (Promise, u32, StateId);

/// What must be kept of the rest of the text.
pub(super) struct Obligations {
    pub(super) list: Box<[Obligation]>,
    /// The bytes that would break it, made on use.
    forbidden: OnceLock<ByteSet>,
    /// Whether some text keeps all of them, made on use.
    possible: OnceLock<bool>,
    /// The bytes that keep some of them open, or break it, made on use.
    kept: OnceLock<ByteBits>,
}

/// Whether the same is said to follow and not to follow.
fn contradict(list: &[Obligation]) -> bool {
    list.iter().any(|&(promise, terminal, state)| {
        promise == Promise::Follows && list.contains(&(Promise::FollowsNot, terminal, state))
    })
}

impl Scanner {
    /// Whether obligations forbid that this byte comes next.
    pub fn forbids(&self, obligations: ObligationsId, byte: u8) -> bool {
        let Some(obligations) = self.obligations.get(obligations) else { return false };
        let forbidden = obligations.forbidden.get_or_init(|| {
            let breaks = |byte: u8| self.step_obligations(&obligations.list, byte).is_none();
            let by_class: Vec<bool> = self.firsts.iter().map(|&first| breaks(first)).collect();
            std::array::from_fn(|byte| by_class[self.class(byte as u8)])
        });
        forbidden[usize::from(byte)]
    }

    /// The obligations behind a byte; `None` if it breaks one.
    pub fn next_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        if id == NO_OBLIGATIONS {
            return Some(id);
        }
        let list = self.step_obligations(self.obligations(id), byte)?;
        Some(self.oblige(&mut self.lock(), list))
    }

    /// Whether the text may end under obligations.
    pub fn may_end(&self, id: ObligationsId) -> bool {
        self.obligations(id).iter().all(|&(promise, terminal, state)| {
            let kept = || self.lexeme(terminal).is_some_and(|lexeme| lexeme.state(state).accepting);
            match promise {
                Promise::NoLonger => true,
                Promise::Follows => kept(),
                Promise::FollowsNot => !kept(),
            }
        })
    }

    /// The promises behind a byte; `None` if it breaks one.
    pub(super) fn step_obligations(&self, list: &[Obligation], byte: u8) -> Option<Vec<Obligation>> {
        let mut out = Vec::with_capacity(list.len());
        for &(promise, terminal, from) in list {
            let Some(lexeme) = self.lexeme(terminal) else { continue };
            let to =
                if promise == Promise::NoLonger { self.step(terminal, from, byte) } else { lexeme.next(from, byte) };
            let lives = to > CLOSED;
            match promise {
                Promise::NoLonger if !lives => {}
                Promise::NoLonger => {
                    if self.accepts(terminal, to) {
                        // A longer text would match, at once or if its look-ahead were met.
                        let rest = self.looks_ahead[terminal as usize].then(|| lexeme.next(to, END));
                        match rest {
                            Some(rest) if !lexeme.accepts_any_text(rest) => {
                                out.push((Promise::FollowsNot, terminal, rest));
                            }
                            _ => return None,
                        }
                    }
                    out.push((promise, terminal, to));
                }
                Promise::Follows if !lives => return None,
                Promise::FollowsNot if !lives => {}
                Promise::Follows | Promise::FollowsNot => match (lexeme.accepts_any_text(to), promise) {
                    (true, Promise::FollowsNot) => return None,
                    (true, _) => {}
                    (false, _) => out.push((promise, terminal, to)),
                },
            }
        }
        Some(out)
    }

    /// Whether all that may follow under obligations may follow under others as well.
    pub(super) fn is_weaker(&self, weaker: ObligationsId, than: ObligationsId) -> bool {
        let all = self.obligations(than);
        weaker == than || self.obligations(weaker).iter().all(|one| all.binary_search(one).is_ok())
    }

    /// Whether some text keeps obligations. True as well where that is not found out in reasonable time.
    pub(super) fn may_be_kept(&self, builder: &mut Builder, id: ObligationsId) -> bool {
        /// Lists that are looked at.
        const MOST_LISTS: usize = 1_000;
        let Some(obligations) = self.obligations.get(id) else { return true };
        if obligations.list.iter().all(|&(promise, ..)| promise == Promise::NoLonger) {
            return true;
        }
        if let Some(&known) = obligations.possible.get() {
            return known;
        }
        let mut seen = vec![id];
        let mut at = 0;
        let mut answer = false;
        while let Some(&one) = seen.get(at).filter(|_| !answer) {
            at += 1;
            if contradict(self.obligations(one)) {
                continue;
            }
            answer = seen.len() > MOST_LISTS || self.may_end(one);
            for &byte in self.firsts.iter().filter(|_| !answer) {
                let Some(list) = self.step_obligations(self.obligations(one), byte) else { continue };
                let next = self.oblige(builder, list);
                if !seen.contains(&next) {
                    seen.push(next);
                }
            }
        }
        *obligations.possible.get_or_init(|| answer)
    }

    /// What a terminal that ends in a state promises of the rest.
    pub(super) fn promises(&self, &(terminal, state): &TerminalState) -> impl Iterator<Item = Obligation> {
        let lexeme = self.lexeme(terminal).filter(|_| self.looks_ahead[terminal as usize]);
        let rest = lexeme.map(|lexeme| (lexeme, lexeme.next(state, END)));
        let rest = rest.filter(|(lexeme, rest)| *rest > CLOSED && !lexeme.accepts_any_text(*rest));
        rest.map(|(_, rest)| (Promise::Follows, terminal, rest)).into_iter()
    }

    /// The bytes that keep some promise open, or break it, behind the end of a terminal in a state.
    pub fn bytes_that_matter(&self, own: TerminalState) -> ByteSet {
        let list: Vec<Obligation> = self.promises(&own).chain(self.longest(&own)).collect();
        self.bytes_that_leave(&list)
    }

    /// The bytes that tell whether the look-ahead of a terminal that ends in a state is met; `None` if it is, whatever
    /// follows.
    pub fn bytes_that_decide(&self, own: TerminalState) -> Option<ByteSet> {
        let (_, terminal, rest) = self.promises(&own).next()?;
        Some(self.bytes_that_leave(&[(Promise::FollowsNot, terminal, rest)]))
    }

    /// The bytes that keep some obligation open, or break it, as bits.
    pub fn bytes_that_keep(&self, obligations: ObligationsId) -> ByteBits {
        let Some(obligations) = self.obligations.get(obligations) else { return [0; 4] };
        *obligations.kept.get_or_init(|| bits(&self.bytes_that_leave(&obligations.list)))
    }

    /// The bytes that keep some promise open, or break it.
    fn bytes_that_leave(&self, list: &[Obligation]) -> ByteSet {
        let by_class: Vec<bool> =
            self.firsts.iter().map(|&byte| self.step_obligations(list, byte).is_none_or(|l| !l.is_empty())).collect();
        std::array::from_fn(|byte| by_class[self.class(byte as u8)])
    }

    /// What a terminal promises that takes its longest match and ends in a state from which it could go on.
    pub(super) fn longest(&self, own: &TerminalState) -> Option<Obligation> {
        let is_promised = self.takes_longest[own.0 as usize] && self.goes_on(own);
        is_promised.then_some((Promise::NoLonger, own.0, own.1))
    }

    /// Whether some text leads on from a state of a terminal.
    fn goes_on(&self, &(terminal, state): &TerminalState) -> bool {
        self.firsts.iter().any(|&byte| self.step(terminal, state, byte) > CLOSED)
    }

    /// The number of a list of obligations, those left out that nothing can break.
    pub(super) fn oblige(&self, builder: &mut Builder, mut list: Vec<Obligation>) -> ObligationsId {
        list.sort_unstable();
        list.dedup();
        let list: Box<[Obligation]> = list.into();
        if let Some(&id) = builder.by_obligations.get(&list) {
            return id;
        }
        let id = builder.by_obligations.len() as ObligationsId;
        let bytes = list.len() * 16 + 400;
        builder.bytes.grow(bytes);
        self.obligations.set(
            id,
            Obligations {
                list: list.clone(),
                forbidden: OnceLock::new(),
                possible: OnceLock::new(),
                kept: OnceLock::new(),
            },
        );
        builder.by_obligations.insert(list, id);
        id
    }
}
