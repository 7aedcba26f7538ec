//! Masks of configurations, made on one thread.
//!
//! A maker has frames of its own, in which each configuration is found by a step from one that came before it, so that
//! several makers can follow one explorer while it goes on.

use std::sync::Arc;

use crate::index::tables::mask_delta::{Sketch, Sketcher};
use crate::index::{Engine, Inner};
use crate::mask::cache::recipe::{Composition, Part};
use crate::mask::crossing::viable::Known;
use crate::mask::masker::Masker;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::machine::Frames;
use crate::util::hash::SeededMap;

/// Sketches that are remembered by what they are made of; all are forgotten when there are more.
const REMEMBERED: usize = 1_024;

/// The names of parts, and single tokens.
type Names = (Vec<u64>, Vec<u32>);

/// See the module's story.
pub struct Maker<'a> {
    inner: &'a Inner,
    arena: Arena,
    /// Configurations by number: a lexeme's state, or a top node of the arena.
    tops: Vec<u32>,
    /// What was found about the frames: configurations stay where they are.
    known: Known,
    sketcher: Sketcher,
    row: Vec<u32>,
    /// Sketches by what they are made of, with that itself, so that parts keep their addresses.
    made: SeededMap<Names, (Arc<Sketch>, Composition)>,
}

impl<'a> Maker<'a> {
    /// For configurations that were found: `tops` in `arena`.
    pub fn new(inner: &'a Inner, arena: Arena, tops: Vec<u32>) -> Self {
        let words = inner.vocabulary.words();
        let (sketcher, row) = (Sketcher::new(words), vec![0; words]);
        Maker { inner, arena, tops, known: Known::default(), sketcher, row, made: SeededMap::default() }
    }

    /// For configurations that are found by [`follow`](Self::follow); it knows the start, number 0.
    pub fn at_start(inner: &'a Inner) -> Self {
        let mut arena = Arena::default();
        let start = match &inner.engine {
            Engine::Pattern(lexeme) => lexeme.lexeme.start(),
            Engine::Document { program, .. } => Frames { program, arena: &mut arena }.start(),
        };
        Maker::new(inner, arena, vec![start])
    }

    /// Configurations that it knows.
    pub fn len(&self) -> usize {
        self.tops.len()
    }

    /// Finds the next configuration, which a byte leads to from number `from`.
    pub fn follow(&mut self, from: u32, byte: u8) {
        let from = self.tops[from as usize];
        let to = match &self.inner.engine {
            Engine::Pattern(lexeme) => lexeme.lexeme.next(from, byte),
            Engine::Document { program, .. } => {
                let mark = self.arena.mark();
                let to = Frames { program, arena: &mut self.arena }.step(from, byte);
                self.arena.compact(&mark, to)
            }
        };
        self.tops.push(to);
    }

    /// The mask of a configuration.
    pub fn sketch(&mut self, id: u32) -> Arc<Sketch> {
        let sketch = self.sketched(id);
        // What was found of the open elements of arrays holds for this configuration, not for others with these arrays.
        self.arena.apart.clear();
        sketch
    }

    fn sketched(&mut self, id: u32) -> Arc<Sketch> {
        let inner = self.inner;
        let top = self.tops[id as usize];
        let (program, lexemes) = match &inner.engine {
            Engine::Pattern(lexeme) => {
                let mask = inner.tables.root_mask(&inner.vocabulary, lexeme, top);
                return Arc::new(self.sketcher.of_inner(&mask.inner));
            }
            Engine::Document { program, lexemes } => (program, lexemes),
        };
        let frames = Frames { program, arena: &mut self.arena };
        let (tables, row) = (&inner.tables, &mut self.row[..]);
        let mut masker = Masker::new(&inner.vocabulary, tables, lexemes, &inner.members, frames, &mut self.known, row);
        let composition = masker.compose(top);
        if composition.is_none() {
            masker.fill_anew(top);
        }
        let Some(composition) = composition else { return Arc::new(self.sketcher.of_row(&self.row)) };
        let names: Vec<u64> = composition.parts().iter().map(Part::name).collect();
        let key = (names, composition.tokens().to_vec());
        if let Some((known, _)) = self.made.get(&key) {
            return known.clone();
        }
        if self.made.len() >= REMEMBERED {
            self.made.clear();
        }
        let sketch = Arc::new(self.sketcher.of_parts(&composition, &tables.blanks));
        self.made.insert(key, (sketch.clone(), composition));
        sketch
    }
}
