//! State overflow at a guide: going on in a younger index where the states of this one are full.
//!
//! A guide checks before each token and mask whether the lexemes in which it stands are full, and if so carries its
//! position over to the index's younger one (see `index::overflow`). Its history stays where it was made: positions
//! from before a move are numbered by the index that was left. The guide holds on to the index that it left last, so
//! that rolling back the usual few tokens costs nothing. It lets go of indexes that it left earlier; rolling back to
//! them takes the tokens again from the last position in the index in which it began, or from the start where that
//! piece of the history was let go.

use crate::guide::Guide;
use crate::guide::position::Position;
use crate::index::{Index, IndexEngine};
use crate::pushdown::json::arena::ArenaMark;
use crate::util::memory_growth::room_of_states;

/// A change of index.
#[derive(Clone)]
pub(super) struct OverflowMove {
    /// How many tokens had been taken.
    since: usize,
    /// The position then, in the index that was left, and the arena's lengths.
    before: u32,
    mark: ArenaMark,
    /// The index that was left: the first one and the last one only.
    from: Option<Index>,
}

impl Guide {
    /// Makes room for new states: moves on if the lexemes here are full. A guide of a grammar is lost instead.
    #[inline]
    pub(super) fn make_room(&mut self) {
        if self.is_full() {
            self.move_on();
        }
    }

    /// Whether the lexemes here are full, so that the guide has to move on.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        match &self.position {
            Position::Pattern(_) => match &self.index.0.engine {
                IndexEngine::Pattern(l) => {
                    l.lexeme.is_full(room_of_states(self.index.0.limits.max_state_bytes)) && self.index.0.live.is_none()
                }
                IndexEngine::Document { .. } | IndexEngine::Grammar(_) => false,
            },
            Position::Document { arena, top } => self.index.is_full_at(arena, *top),
            Position::Grammar { .. } => match &self.index.0.engine {
                IndexEngine::Grammar(grammar) => grammar.program.scanner.has_given_up(),
                IndexEngine::Pattern(_) | IndexEngine::Document { .. } => false,
            },
            // Tables do not grow.
            Position::Tables(_) | Position::Lost(_) => false,
        }
    }

    #[cold]
    fn move_on(&mut self) {
        // Nothing is left to find in an index that was built.
        if self.index.built().is_some() {
            return;
        }
        if let Position::Grammar { .. } = self.position {
            // What is known of a grammar is not known of a copy.
            self.index.given_up().into_iter().for_each(|error| self.lose(error));
            return;
        }
        let younger = self.root.younger_than(&self.index);
        let (before, mark) = self.position_and_mark();
        match (&younger.0.engine, &self.index.0.engine, &mut self.position) {
            (IndexEngine::Pattern(new), IndexEngine::Pattern(old), Position::Pattern(state)) => {
                *state = new.lexeme.adopt(&old.lexeme, *state);
            }
            (_, _, Position::Document { arena, top }) => *top = younger.adopt(&self.index, arena, *top),
            _ => {}
        }
        self.last = Default::default();
        // States of lexemes are numbered anew.
        self.rests = None;
        self.forget_bounds();
        if let Some(last) = self.moves.last_mut().filter(|m| !m.from.as_ref().is_some_and(|i| i.is_same(&self.root))) {
            last.from = None;
        }
        let from = Some(std::mem::replace(&mut self.index, younger));
        self.moves.push(OverflowMove { since: self.history.len(), before, mark, from });
    }

    /// Whether going back may take many tokens again.
    pub fn may_return_long(&self) -> bool {
        self.moves.len() > 1 || self.history.has_let_go()
    }

    /// Goes back to where `keep` tokens had been taken: the history beyond is forgotten, the position is what it was.
    pub(super) fn return_to(&mut self, keep: usize) {
        if keep >= self.history.len() {
            return;
        }
        let valid = self.moves.iter().take_while(|m| m.since <= keep).count();
        let left = self.moves.get(valid).cloned();
        let is_there = left.as_ref().is_none_or(|left| left.from.is_some());
        if is_there && self.open_piece_of(keep) {
            let Some((before, mark)) = self.history.place(keep) else { return };
            if let Some(from) = left.and_then(|left| left.from) {
                self.index = from;
                self.rests = None;
                self.moves.truncate(valid);
            }
            self.history.truncate(keep);
            return self.go_back_to(before, &mark);
        }
        // The index or the frames of that position are gone: take the tokens again from where the first index was left,
        // or from the start.
        let again = |from: usize| self.history[from..keep].iter().map(|s| s.token).collect::<Vec<u32>>();
        let first = self.moves.first().filter(|first| first.since <= keep).cloned();
        let tokens = again(first.as_ref().map_or(0, |first| first.since));
        let all = again(0);
        self.index = self.root.clone();
        self.rests = None;
        self.moves.clear();
        let tokens = match first.filter(|first| self.open_piece_of(first.since)) {
            Some(first) => {
                self.history.truncate(first.since);
                self.go_back_to(first.before, &first.mark);
                tokens
            }
            None => {
                self.history = Default::default();
                self.last = Default::default();
                self.run = None;
                self.go_to_engine();
                all
            }
        };
        for token in tokens {
            let taken = self.take_again(token);
            debug_assert!(taken, "what was taken before is taken now");
        }
    }

    /// Whether the guide has changed its index behind `taken` tokens.
    pub(super) fn has_moved_at(&self, taken: usize) -> bool {
        self.moves.last().is_some_and(|last| last.since == taken)
    }

    /// Takes a token of an earlier history again. False, and nothing was done, if it is refused: only where the history
    /// comes from the tables of a damaged file.
    pub(super) fn take_again(&mut self, token: u32) -> bool {
        self.make_room();
        self.seal_history();
        let place = self.position_and_mark();
        let root = self.root.clone();
        if self.is_forced_from_outside(self.history.len()) {
            self.history.push(token, place);
            return true;
        }
        // Stop tokens end a history and lead nowhere.
        if let Some(bytes) = root.vocabulary().spelling(token).filter(|_| !self.stops.contains(&token)) {
            if !self.step_bytes(bytes) {
                return false;
            }
            self.settle_down(&place.1);
        }
        self.history.push(token, place);
        true
    }

    /// Keeps of what a token made only what its end needs.
    pub(super) fn settle_down(&mut self, mark: &ArenaMark) {
        if let Position::Document { arena, top } = &mut self.position {
            *top = arena.compact(mark, *top);
        }
    }
}
