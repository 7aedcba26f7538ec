//! The transitions of a lexeme during one walk of a trie.
//!
//! A walk asks for the same few transitions a hundred thousand times. [`Lexeme::next`] finds a state by its number in a
//! vector that other threads may extend, which takes several loads that depend on each other. Here the states that the
//! walk meets are numbered anew, and their rows lie in one table: a known transition is one load.

use rustc_hash::FxHashMap;

use crate::lexeme::{CLOSED, Lexeme, LexemeState, StateId};

/// A state of one walk. [`END`] and [`QUOTE`] stand for no state. Walks compare with `<=` [`QUOTE`]: states of the
/// lexeme are numbered above both.
pub type LocalState = u32;

/// No continuation.
pub const END: LocalState = 1;
/// After the closing quote.
pub const QUOTE: LocalState = 2;
const UNKNOWN_LOCAL_STATE: LocalState = 0;
const FIRST: LocalState = 3;

/// The states of a lexeme that one walk has met, numbered anew, with their rows in one table.
pub struct WalkCache<'a> {
    lexeme: &'a Lexeme,
    classes: &'a [u8; 256],
    width: usize,
    rows: Vec<LocalState>,
    states: Vec<(StateId, &'a LexemeState)>,
    locals: FxHashMap<StateId, LocalState>,
}

impl<'a> WalkCache<'a> {
    /// Knows no transition yet.
    pub fn new(lexeme: &'a Lexeme) -> Self {
        let (classes, width) = lexeme.classes();
        let (rows, states) = (Vec::new(), Vec::new());
        WalkCache { lexeme, classes, width, rows, states, locals: FxHashMap::default() }
    }

    /// The walk's name of a state of the lexeme, of [`DEAD_STATE`](crate::lexeme::DEAD_STATE) or of [`CLOSED`].
    pub fn local(&mut self, id: StateId) -> LocalState {
        if id <= CLOSED {
            return id;
        }
        *self.locals.entry(id).or_insert_with(|| {
            self.states.push((id, self.lexeme.state(id)));
            self.rows.resize(self.states.len() * self.width, UNKNOWN_LOCAL_STATE);
            self.states.len() as LocalState - 1 + FIRST
        })
    }

    /// How many states the walk has met.
    #[inline]
    pub fn num_states(&self) -> usize {
        self.states.len()
    }

    /// The data of a state; neither [`END`] nor [`QUOTE`].
    #[inline]
    pub fn state(&self, local: LocalState) -> &'a LexemeState {
        self.states[(local - FIRST) as usize].1
    }

    /// The lexeme's name of a state; neither [`END`] nor [`QUOTE`].
    #[inline]
    pub fn id(&self, local: LocalState) -> StateId {
        self.states[(local - FIRST) as usize].0
    }

    /// The successor of a state under `byte`. `local` is neither [`END`] nor [`QUOTE`].
    #[inline]
    pub fn next(&mut self, local: LocalState, byte: u8) -> LocalState {
        let slot = (local - FIRST) as usize * self.width + self.classes[byte as usize] as usize;
        let to = self.rows[slot];
        if to != UNKNOWN_LOCAL_STATE { to } else { self.fill(local, byte, slot) }
    }

    #[cold]
    fn fill(&mut self, local: LocalState, byte: u8, slot: usize) -> LocalState {
        let (id, state) = self.states[(local - FIRST) as usize];
        let to = self.lexeme.next_from(id, state, byte);
        if to > CLOSED {
            let to = self.local(to);
            self.rows[slot] = to;
            return to;
        }
        // Most bytes end most walks, and the lexeme makes a row whole.
        let row = (local - FIRST) as usize * self.width;
        for (slot, end) in self.rows[row..row + self.width].iter_mut().zip(state.ends()) {
            *slot = if *slot == UNKNOWN_LOCAL_STATE { end.unwrap_or(UNKNOWN_LOCAL_STATE) } else { *slot };
        }
        to
    }
}
