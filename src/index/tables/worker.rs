//! Mask workers: masks of configurations, made on one thread.
//!
//! A worker has frames of its own, in which each configuration is found by a step from one that came before it, so that
//! several workers can follow one explorer while it goes on.

use std::sync::Arc;

use crate::index::tables::mask_delta::{DeltaEncoder, MaskDelta};
use crate::index::{IndexCore, IndexEngine};
use crate::mask::json::cache::composition::{Ingredient, MaskComposition};
use crate::mask::json::cache::guide_memo::GuideMemo;
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::machine::JsonMachine;
use crate::util::seeded_hash::SeededMap;

/// Deltas that are remembered by what they are made of; all are forgotten when there are more.
const REMEMBERED: usize = 1_024;

/// The names of parts, and single tokens.
type WorkerNames = (Vec<u64>, Vec<u32>);

/// Makes masks of configurations on one thread, in frames of its own.
pub struct MaskWorker<'a> {
    inner: &'a IndexCore,
    arena: Arena,
    /// Configurations by number: a lexeme's state, or a top node of the arena.
    tops: Vec<u32>,
    /// What was found about the frames: configurations stay where they are.
    guide_memo: GuideMemo,
    sketcher: DeltaEncoder,
    row: Vec<u32>,
    /// Deltas by what they are made of, with that itself, so that parts keep their addresses.
    made: SeededMap<WorkerNames, (Arc<MaskDelta>, MaskComposition)>,
}

impl<'a> MaskWorker<'a> {
    /// For configurations that were found: `tops` in `arena`.
    pub fn new(inner: &'a IndexCore, arena: Arena, tops: Vec<u32>) -> Self {
        let words = inner.vocabulary.words();
        let (sketcher, row) = (DeltaEncoder::new(words), vec![0; words]);
        MaskWorker { inner, arena, tops, guide_memo: GuideMemo::default(), sketcher, row, made: SeededMap::default() }
    }

    /// For configurations that are found by [`follow`](Self::follow); it knows the start, number 0.
    pub fn at_start(inner: &'a IndexCore) -> Self {
        let mut arena = Arena::default();
        let start = match &inner.engine {
            IndexEngine::Pattern(lexeme) => lexeme.lexeme.start(),
            IndexEngine::Document { program, .. } => JsonMachine { program, arena: &mut arena }.start(),
            // Grammars have no complete tables.
            IndexEngine::Grammar(_) => 0,
        };
        MaskWorker::new(inner, arena, vec![start])
    }

    /// Configurations that it knows.
    pub fn len(&self) -> usize {
        self.tops.len()
    }

    /// Finds the next configuration, which a byte leads to from number `from`.
    pub fn follow(&mut self, from: u32, byte: u8) {
        let from = self.tops[from as usize];
        let to = match &self.inner.engine {
            IndexEngine::Pattern(lexeme) => lexeme.lexeme.next(from, byte),
            IndexEngine::Document { program, .. } => {
                let mark = self.arena.mark();
                let to = JsonMachine { program, arena: &mut self.arena }.step(from, byte);
                self.arena.compact(&mark, to)
            }
            IndexEngine::Grammar(_) => from,
        };
        self.tops.push(to);
    }

    /// The mask of a configuration.
    pub fn sketch(&mut self, id: u32) -> Arc<MaskDelta> {
        let sketch = self.sketched(id);
        // What was found of the open elements of arrays holds for this configuration, not for others with these arrays.
        self.arena.unique.forget_distinct();
        sketch
    }

    fn sketched(&mut self, id: u32) -> Arc<MaskDelta> {
        let inner = self.inner;
        let top = self.tops[id as usize];
        let (program, lexemes) = match &inner.engine {
            IndexEngine::Pattern(lexeme) => {
                let mask = inner.tables.root_mask(&inner.vocabulary, lexeme, top);
                return Arc::new(self.sketcher.of_inner(&mask.inner));
            }
            IndexEngine::Document { program, lexemes } => (program, lexemes),
            IndexEngine::Grammar(_) => return Arc::new(self.sketcher.of_row(&self.row)),
        };
        let frames = JsonMachine { program, arena: &mut self.arena };
        let (tables, row) = (&inner.tables, &mut self.row[..]);
        let mut builder = JsonMaskBuilder::new(&inner.vocabulary, tables, lexemes, frames, &mut self.guide_memo, row);
        let composition = builder.make_composition(top);
        if composition.is_none() {
            builder.fill_anew(top);
        }
        let Some(composition) = composition else { return Arc::new(self.sketcher.of_row(&self.row)) };
        let ids: Vec<u64> = composition.parts().iter().map(Ingredient::id).collect();
        let key = (ids, composition.tokens().to_vec());
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
