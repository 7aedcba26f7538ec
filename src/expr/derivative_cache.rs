//! Known derivative rows, by expression.
//!
//! An arena asks for the rows of expressions that lie together: the derivatives of one pattern. So rows lie in small
//! chunks, found by id without hashing, and chunks of which no row is known take no memory. Nodes of the base are few,
//! and hashed.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::expr::arena::{Edge, ExprId};

/// Nodes of one chunk.
const CHUNK: usize = 16;

type Row = Arc<[Edge]>;

/// The derivative rows that an arena knows, in chunks by expression id.
#[derive(Clone, Default)]
pub(super) struct DerivativeCache {
    /// By number of the node among the arena's own.
    own: Vec<Option<Box<[Option<Row>; CHUNK]>>>,
    below: FxHashMap<ExprId, Row>,
}

impl DerivativeCache {
    /// The row of `e`, if it is known; the arena's own nodes begin at `below`.
    #[inline]
    pub fn get(&self, e: ExprId, below: u32) -> Option<&Row> {
        match e.0.checked_sub(below) {
            None => self.below.get(&e),
            Some(i) => self.own.get(i as usize / CHUNK)?.as_ref()?[i as usize % CHUNK].as_ref(),
        }
    }

    /// Makes a row known.
    pub fn insert(&mut self, e: ExprId, below: u32, row: Row) {
        let Some(i) = e.0.checked_sub(below) else {
            self.below.insert(e, row);
            return;
        };
        let (chunk, place) = (i as usize / CHUNK, i as usize % CHUNK);
        if self.own.len() <= chunk {
            self.own.resize_with(chunk + 1, || None);
        }
        self.own[chunk].get_or_insert_default()[place] = Some(row);
    }
}
