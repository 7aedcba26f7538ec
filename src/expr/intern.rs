//! Interning: equal nodes are one node.
//!
//! A node is looked up by its hash, first in the base, where it can only lie if its parts do, then among the arena's
//! own. Steps, unions and intersections are most of what is made, and often there already, so they are looked up before
//! they take memory.

use std::hash::{Hash, Hasher};

use crate::expr::arena::{Edge, Edges, Expr, ExprFacts, ExprId, Exprs};
use crate::util::seeded_hash::seeded;

/// Bytes that a node takes: itself, what is known of it, and its place in the table. What it holds elsewhere counts as
/// so many more nodes.
const NODE: usize = 64;

/// What a list of so many bytes counts, in nodes.
pub(super) fn size_of_list(bytes: usize) -> usize {
    bytes / NODE
}

/// What a node holds outside of itself, in nodes.
fn size_beside(e: &Expr) -> usize {
    match e {
        Expr::Step { edges, .. } if edges.spilled() => size_of_list(size_of_val(&**edges)),
        Expr::Alt(parts) | Expr::And(parts) => size_of_list(size_of_val(&**parts)),
        _ => 0,
    }
}

fn hash_of(e: &Expr) -> u64 {
    let mut h = seeded();
    match e {
        Expr::Step { nullable, edges } => return hash_of_step(*nullable, edges),
        Expr::Alt(v) => return hash_of_parts(false, v),
        Expr::And(v) => return hash_of_parts(true, v),
        e => e.hash(&mut h),
    }
    h.finish()
}

fn hash_of_step(nullable: bool, edges: &[Edge]) -> u64 {
    let mut h = seeded();
    h.write_usize(edges.len() * 2 + usize::from(nullable));
    edges.iter().for_each(|e| e.hash(&mut h));
    h.finish()
}

fn hash_of_parts(is_and: bool, parts: &[ExprId]) -> u64 {
    let mut h = seeded();
    h.write_usize(parts.len() * 2 + usize::from(is_and));
    parts.iter().for_each(|p| h.write_u32(p.0));
    h.finish()
}

impl Exprs {
    /// Makes room for `more` nodes.
    pub(crate) fn reserve(&mut self, more: usize) {
        let below = self.below;
        let more = more.min(self.max_nodes.saturating_sub(self.nodes.len()));
        self.nodes.reserve(more);
        self.facts.reserve(more);
        self.hashes.reserve(more);
        let hashes = &self.hashes;
        self.table.reserve(more, |&i| hashes[i as usize - below]);
    }

    /// A node that is there already. `part` is one of its parts, if it has any.
    fn find(&self, hash: u64, part: Option<ExprId>, is: impl Fn(&Expr) -> bool) -> Option<ExprId> {
        let below = self.below;
        let found = match &self.base {
            Some(base) if part.is_none_or(|p| (p.0 as usize) < below) => {
                base.table.find(hash, |&i| base.hashes[i as usize] == hash && is(&base.nodes[i as usize]))
            }
            _ => None,
        };
        let own = |i: &u32| self.hashes[*i as usize - below] == hash && is(&self.nodes[*i as usize - below]);
        found.or_else(|| self.table.find(hash, own)).map(|&i| ExprId(i))
    }

    fn insert(&mut self, hash: u64, e: Expr) -> ExprId {
        if self.own_size() >= self.max_nodes {
            self.over = true;
            return Self::NEVER;
        }
        let facts = self.facts_of(&e);
        self.push(hash, e, facts)
    }

    fn push(&mut self, hash: u64, e: Expr, facts: ExprFacts) -> ExprId {
        let (id, below) = (self.len() as u32, self.below);
        self.beside += size_beside(&e);
        self.nodes.push(e);
        self.facts.push(facts);
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, id, |&i| hashes[i as usize - below]);
        ExprId(id)
    }

    /// Adds a node that is in normal form and certainly not there.
    pub(super) fn insert_new(&mut self, e: Expr, facts: ExprFacts) {
        self.push(hash_of(&e), e, facts);
    }

    /// The id of a node in normal form.
    pub(super) fn intern(&mut self, e: Expr) -> ExprId {
        let part = match &e {
            Expr::Step { edges, .. } => edges.last().map(|e| e.to),
            Expr::Cat(_, b) => Some(*b),
            Expr::Alt(v) | Expr::And(v) => v.last().copied(),
            Expr::Not(a) | Expr::Rep { body: a, .. } => Some(*a),
            Expr::Never | Expr::Eps | Expr::Multiple(_) | Expr::Fix(_) => None,
        };
        let hash = hash_of(&e);
        match self.find(hash, part, |known| *known == e) {
            Some(id) => id,
            None => self.insert(hash, e),
        }
    }

    /// The id of a step in normal form: edges that are sorted, disjoint and lead somewhere, and neighbours to different
    /// places.
    pub(super) fn intern_step(&mut self, nullable: bool, edges: &[Edge]) -> ExprId {
        let hash = hash_of_step(nullable, edges);
        let is =
            |known: &Expr| matches!(known, Expr::Step { nullable: n, edges: e } if *n == nullable && **e == *edges);
        match self.find(hash, edges.last().map(|e| e.to), is) {
            Some(id) => id,
            None => self.insert(hash, Expr::Step { nullable, edges: Edges::from_slice(edges) }),
        }
    }

    /// The id of a union or an intersection of two parts or more, which are in normal form.
    pub(super) fn intern_parts(&mut self, is_and: bool, parts: &[ExprId]) -> ExprId {
        let hash = hash_of_parts(is_and, parts);
        let is = |known: &Expr| match known {
            Expr::Alt(v) => !is_and && **v == *parts,
            Expr::And(v) => is_and && **v == *parts,
            _ => false,
        };
        match self.find(hash, parts.last().copied(), is) {
            Some(id) => id,
            None if is_and => self.insert(hash, Expr::And(parts.into())),
            None => self.insert(hash, Expr::Alt(parts.into())),
        }
    }
}
