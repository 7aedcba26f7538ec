//! Length bounds of a string (`minLength`, `maxLength`): a register of whoever steps the lexeme.
//!
//! A state knows the lengths that may still follow it, as intervals, and whoever steps counts code points. Together
//! they say whether the bounds can still be kept, so a bound makes no states. How the length *grows* from any state,
//! read off the expression's structure once, says how near to a bound a count must be for any one token to notice.

use std::sync::OnceLock;

use crate::expr::INF;
use crate::expr::analysis::branching::bytes_until_many;
use crate::expr::analysis::char_lengths::meets;
use crate::json::string_escape::EscapeState;
use crate::lexeme::length_growth::growth;
use crate::lexeme::shortest_end::ShortestEnds;
use crate::lexeme::{LazyDfa, Lexeme, LexemeKind, LexemeState, StateId};

impl Lexeme {
    /// Any text, with another bound on its length: the states are the same.
    pub fn any_text_of(&self, min: u32, max: u32) -> Option<Lexeme> {
        (self.is_any_text && min <= max).then(|| self.bounded_by(min, max))
    }

    /// Whether the states serve every bound on the length, since each knows the lengths that may follow it.
    pub fn has_lengths(&self) -> bool {
        self.bounded
    }

    /// This string under another bound on its length, sharing its states, for a lexeme that
    /// [`has_lengths`](Self::has_lengths). `None` if no member is as long.
    pub fn with_bounds(&self, min: u32, max: u32) -> Option<Lexeme> {
        let start = self.state(self.start);
        let fits = self.bounded && min <= max && start.lengths.as_ref().is_some_and(|l| meets(l, min, max));
        fits.then(|| self.bounded_by(min, max))
    }

    fn bounded_by(&self, min: u32, max: u32) -> Lexeme {
        Lexeme {
            kind: LexemeKind::Text { min, max, escapes: self.kind.escapes() },
            shared: self.shared.clone(),
            start: self.start,
            is_any_text: self.is_any_text,
            bounded: min > 0 || max < INF,
            bounds: self.bounds,
            growth: OnceLock::new(),
            multiplies: OnceLock::new(),
            farthest: OnceLock::new(),
            exact: OnceLock::new(),
            bytes_around_ends: Default::default(),
            ends: ShortestEnds::default(),
            reach: self.reach,
        }
    }

    /// Whether the length of the text matters.
    pub fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// Whether a text state with `count` code points read can still end within the lexeme's bounds. Always true for
    /// raw lexemes and unbounded ones.
    #[inline]
    pub fn live_at(&self, state: &LexemeState, count: u32) -> bool {
        if !self.bounded {
            return true;
        }
        let LexemeKind::Text { min, max, .. } = self.kind else { return true };
        if count > max {
            return false;
        }
        match &state.lengths {
            Some(l) => meets(l, min.saturating_sub(count), if max == INF { INF } else { max - count }),
            None => true,
        }
    }

    /// `count` as far as any bound depends on it: counts of one value have the same future.
    pub fn significant_count(&self, count: u32) -> u32 {
        match self.kind {
            LexemeKind::Text { min, max: INF, .. } => count.min(min),
            LexemeKind::Text { .. } => count,
            LexemeKind::Raw => 0,
        }
    }

    /// `count` as far as the way to an end depends on it: not at all in any text that is long enough.
    pub fn count_to_end(&self, count: u32) -> Option<u32> {
        match self.kind {
            LexemeKind::Text { min, .. } if self.is_any_text && count >= min => None,
            _ => Some(self.significant_count(count)),
        }
    }

    /// Whether the closing quote may follow a text state after `count` code points.
    #[inline]
    pub fn may_close(&self, count: u32) -> bool {
        match self.kind {
            LexemeKind::Text { min, max, .. } => min <= count && count <= max,
            LexemeKind::Raw => true,
        }
    }

    /// Whether one token can lead to where only few members are left. Conservative: true where that is not known.
    pub fn may_run_out(&self, count: u32) -> bool {
        if self.kind == LexemeKind::Raw {
            return true;
        }
        if self.room(count) == INF {
            return !self.growth().1;
        }
        // What can go on for ever may have one member of each length.
        self.multiplies().is_none_or(|bytes| !self.is_far(count, self.reach.any.saturating_add(bytes)))
    }

    /// The number of bytes behind any prefix of the string, without regard to its bounds, within which there are more
    /// ways to go on than any array uses up. `None` where that is not so, or not known.
    fn multiplies(&self) -> Option<u32> {
        /// States that are looked at.
        const FEW: usize = 64;
        *self.multiplies.get_or_init(|| {
            let mut b = self.lock();
            let LazyDfa { exprs, branching: table, .. } = &mut *b;
            let (mut met, mut at, mut most) = (vec![self.state(self.start).expr], 0, 0);
            while let Some(&expr) = met.get(at) {
                most = most.max(bytes_until_many(exprs, table, expr));
                if most == INF || met.len() > FEW {
                    return None;
                }
                for edge in exprs.row(expr).iter() {
                    if !met.contains(&edge.to) && exprs.finds_live(edge.to) {
                        met.push(edge.to);
                    }
                }
                at += 1;
            }
            Some(most)
        })
    }

    /// How many texts end a text from a state outside of escapes, after `count` code points, where the bounds on its
    /// length do not matter to that: they leave out none, or more than any array uses up fit between them.
    pub fn num_free(&self, id: StateId, count: u32) -> Option<u64> {
        let state = self.state(id);
        if self.bounded {
            let LexemeKind::Text { min, .. } = self.kind else { return None };
            let (first, last) = state.lengths.as_ref().and_then(|l| Some((l.first()?.0, l.last()?.1)))?;
            let room = self.room(count);
            if min > count.saturating_add(first) || last > room {
                let bytes = {
                    let mut b = self.lock();
                    let LazyDfa { exprs, branching: table, .. } = &mut *b;
                    bytes_until_many(exprs, table, state.expr)
                };
                let many = (room, last) == (INF, INF) || (bytes < INF && self.is_far(count, bytes));
                return many.then_some(u64::MAX);
            }
        }
        Some(self.residual_size(id))
    }

    /// How far any state of a text is from its end at most, and whether every state can go on without bound.
    /// Conservative.
    pub fn growth(&self) -> (u32, bool) {
        let found = self.growth.get_or_init(|| {
            let mut b = self.lock();
            let LazyDfa { exprs, lengths, .. } = &mut *b;
            growth(exprs, lengths, self.state(self.start).expr)
        });
        (found.slack, found.grows)
    }

    /// So many code points lead from any state of a bounded text, after any number of them, to an end within the
    /// bounds. `None` where the possible lengths leave gaps, or there is no bound.
    pub fn farthest_chars(&self) -> Option<u32> {
        let LexemeKind::Text { min, .. } = self.kind else { return None };
        let known = self.bounded && self.bounds.gapless && self.bounds.slack < INF;
        known.then(|| self.bounds.slack.max(min))
    }

    /// Whether every token that stays in a text, from between two of its code points on, leads to where it may end.
    /// Conservative.
    pub fn ends_anywhere(&self) -> bool {
        self.most_later() == 0
    }

    /// The most code points that are needed, to the end of a bounded text, behind any token that stays in it, from
    /// between two of its code points on. Conservative; [`INF`] where that is not known.
    pub fn most_later(&self) -> u32 {
        self.bounds.later
    }

    /// The fewest code points that lead from a state of a bounded text to its end.
    #[inline]
    pub fn fewest_more(&self, state: &LexemeState) -> u32 {
        state.lengths.as_ref().and_then(|l| l.first()).map_or(0, |l| l.0)
    }

    /// How many more code points fit; [`INF`] without a bound.
    #[inline]
    pub fn room(&self, count: u32) -> u32 {
        match self.kind {
            LexemeKind::Text { max, .. } if max != INF => max.saturating_sub(count),
            _ => INF,
        }
    }

    /// Whether neither bound can matter to any one token from `count` on.
    #[inline]
    pub fn length_met(&self, count: u32) -> bool {
        match self.kind {
            LexemeKind::Text { min, .. } => count >= min && self.room_and_need(count) == (INF, 0),
            LexemeKind::Raw => true,
        }
    }

    /// Whether some crossing token of `chars` (fewest, most) more code points may close the text.
    #[inline]
    pub fn may_cross(&self, count: u32, chars: (u32, u32)) -> bool {
        match self.kind {
            LexemeKind::Text { min, max, .. } => {
                count.saturating_add(chars.0) <= max && count.saturating_add(chars.1) >= min
            }
            LexemeKind::Raw => true,
        }
    }

    /// Whether every crossing token of `chars` (fewest, most) more code points may close the text.
    #[inline]
    pub fn all_may_close(&self, count: u32, chars: (u32, u32)) -> bool {
        self.may_close(count.saturating_add(chars.0)) && self.may_close(count.saturating_add(chars.1))
    }

    /// Whether `byte`, read in `state`, starts a new code point of the text.
    #[inline]
    pub fn starts_char(&self, state: &LexemeState, byte: u8) -> bool {
        state.sub == EscapeState::Plain && byte & 0xC0 != 0x80 && byte != b'"'
    }

    /// Whether no bound can matter within `chars` further code points after `count`.
    pub fn is_far(&self, count: u32, chars: u32) -> bool {
        self.room_and_need_within(count, chars) == (INF, 0)
    }

    /// The part of `count` that the mask of a text state depends on: how much room is left and how much is missing.
    /// [`INF`] and 0 where no single token can lead to where a bound forbids anything: only then do states that differ
    /// by far counts share a mask.
    #[inline]
    pub fn room_and_need(&self, count: u32) -> (u32, u32) {
        self.room_and_need_within(count, self.reach.any)
    }

    /// Whether the masks of all rooms of a state differ by the lengths of tokens alone, given a
    /// [`room_and_need`](Self::room_and_need) that says that a bound matters: the text is free but for its length.
    #[inline]
    pub fn has_rooms(&self, (room, need): (u32, u32)) -> bool {
        self.is_any_text && need == 0 && room < INF
    }

    /// [`room_and_need`](Self::room_and_need) for tokens of up to `reach` code points.
    #[inline]
    fn room_and_need_within(&self, count: u32, reach: u32) -> (u32, u32) {
        let LexemeKind::Text { min, max, .. } = self.kind else { return (INF, 0) };
        let room = if max == INF { INF } else { max.saturating_sub(count) };
        let far = |beyond: u32| room == INF || room >= reach.saturating_add(beyond);
        let g = &self.bounds;
        // What is missing can be made up for if every length from some number on is possible.
        let need = if g.gapless { 0 } else { min.saturating_sub(count) };
        let free = (need == 0 && far(g.slack)) || (g.settled < INF && far(g.settled));
        if free { (INF, 0) } else { (room, need) }
    }
}
