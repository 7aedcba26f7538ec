//! Hash-consed regular expressions over bytes.
//!
//! Expressions live in an arena, [`Exprs`], and are named by [`ExprId`]. Only the smart constructors build them, so
//! every node is in normal form: unions and intersections are flat, sorted and free of duplicates, concatenations
//! nest to the right, identities are absorbed, and an expression that contains neither intersection nor complement
//! accepts nothing only if it *is* [`Exprs::NEVER`]. Equal ids mean equal languages; the converse holds often enough
//! to keep the derivative automata small (Brzozowski 1964; Owens, Reppy and Turon 2009).
//!
//! The alphabet is bytes: text is UTF-8, and complement is relative to *all* byte strings. A frontend that wants
//! "any text but e" intersects: `and(&[not(e), any_text()])`.
//!
//! An arena may stand on a *base*, a finished arena that many arenas share and none of them changes: what every
//! compile needs is built once for the process.
//!
//! Constructors never fail. When the arena is over its node limit they answer `NEVER` and set a flag that
//! [`Exprs::check`] turns into an error, so a stage builds freely and asks once.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::expr::decimal_multiple::Multiple;
use crate::expr::derivative_cache::DerivativeCache;
use crate::expr::liveness::Products;
use crate::util::cancel::{charge, checkpoint, poll};
use crate::util::seeded_hash::SeededMap;

/// Names an expression of one arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

/// No upper bound of a repetition.
pub const INF: u32 = u32::MAX;

/// All bytes of `lo..=hi` lead to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// First byte.
    pub lo: u8,
    /// Last byte.
    pub hi: u8,
    /// What must follow.
    pub to: ExprId,
}

impl Hash for Edge {
    /// One word of it all, since edges are most of what is hashed.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.lo) | u64::from(self.hi) << 8 | u64::from(self.to.0) << 16);
    }
}

/// The edges of one node. Most have one, since most text is literal, and take no memory of their own.
pub type Edges = SmallVec<[Edge; 2]>;

/// One node. Read it through [`Exprs::get`]; only constructors build it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// The empty language.
    Never,
    /// The empty string.
    Eps,
    /// A deterministic choice by one byte; `nullable` adds the empty string. Edges are sorted and disjoint.
    Step {
        /// The empty string is accepted too.
        nullable: bool,
        /// Sorted and disjoint.
        edges: Edges,
    },
    /// Concatenation; the left part is never itself a concatenation.
    Cat(ExprId, ExprId),
    /// Union of two or more.
    Alt(Box<[ExprId]>),
    /// Intersection of two or more.
    And(Box<[ExprId]>),
    /// Complement relative to all byte strings.
    Not(ExprId),
    /// `min` to `max` copies; `max == INF` is unbounded.
    Rep {
        /// What is repeated.
        body: ExprId,
        /// Fewest copies.
        min: u32,
        /// Most copies.
        max: u32,
    },
    /// Decimal digits whose value is a multiple of something.
    Multiple(Multiple),
    /// A named expression, for recursion that every cycle guards with at least one byte; see [`Exprs::fix`].
    Fix(u32),
}

#[derive(Clone, Copy, Default)]
pub(super) struct ExprFacts {
    pub nullable: bool,
    /// Contains intersection or complement, so it may be empty without being `NEVER`.
    pub boolean: bool,
}

/// An arena of interned expressions, with their derivative rows and the limit on its nodes.
#[derive(Clone)]
pub struct Exprs {
    pub(super) base: Option<Arc<Exprs>>,
    /// Number of nodes of the base; ids below it are its own.
    pub(super) below: usize,
    pub(super) nodes: Vec<Expr>,
    pub(super) facts: Vec<ExprFacts>,
    /// The hash of every node, so that a growing table need not hash again.
    pub(super) hashes: Vec<u64>,
    pub(super) table: HashTable<u32>,
    pub(super) rows: DerivativeCache,
    pub(super) live: FxHashMap<ExprId, bool>,
    pub(super) products: Products,
    pub(super) classes: SeededMap<Box<[(u32, u32)]>, ExprId>,
    /// Definitions of the recursive names: whether each is nullable, and what it stands for once that is known.
    pub(super) fixes: Vec<(bool, Option<ExprId>)>,
    /// Whether liveness is looked for when it is asked about; see [`Exprs::finds_live`].
    pub(super) searches: bool,
    pub(super) max_nodes: usize,
    /// Whether whoever watches the work at hand may end a row.
    pub(super) belongs_to_compile: bool,
    /// What long nodes and rows hold beside the nodes, in nodes; see [`Exprs::own_size`].
    pub(super) beside: usize,
    pub(super) over: bool,
    /// How many rows are being made, each for another one.
    pub(super) row_depth: u32,
}

impl Exprs {
    /// Accepts nothing.
    pub const NEVER: ExprId = ExprId(0);
    /// Accepts the empty string only.
    pub const EPS: ExprId = ExprId(1);
    /// Accepts every byte string.
    pub const ALL: ExprId = ExprId(2);

    /// No node of its own yet.
    fn empty(base: Option<Arc<Exprs>>, below: usize, max_nodes: usize) -> Self {
        Exprs {
            base,
            below,
            nodes: Vec::new(),
            facts: Vec::new(),
            hashes: Vec::new(),
            table: HashTable::new(),
            rows: DerivativeCache::default(),
            live: FxHashMap::default(),
            products: Products::default(),
            classes: SeededMap::default(),
            fixes: Vec::new(),
            searches: false,
            max_nodes: max_nodes.max(16),
            belongs_to_compile: max_nodes != usize::MAX,
            beside: 0,
            over: false,
            row_depth: 0,
        }
    }

    /// An arena that holds at most `max_nodes` nodes.
    pub fn new(max_nodes: usize) -> Self {
        let mut x = Self::empty(None, 0, max_nodes);
        x.intern(Expr::Never);
        x.intern(Expr::Eps);
        x.intern(Expr::Not(Self::NEVER));
        x
    }

    /// An arena that holds all of `base`, and at most `max_nodes` nodes besides. `base` must have neither a base nor
    /// recursive names of its own; otherwise the answer is an arena without base.
    pub fn on(base: &Arc<Exprs>, max_nodes: usize) -> Self {
        if base.base.is_some() || !base.fixes.is_empty() || base.over {
            return Exprs::new(max_nodes);
        }
        Self::empty(Some(base.clone()), base.nodes.len(), max_nodes)
    }

    /// An arena for expressions of `other`, of at most `max_nodes` nodes besides those of the base that it shares with
    /// it.
    pub fn beside(other: &Exprs, max_nodes: usize) -> Self {
        match &other.base {
            Some(base) => Exprs::on(base, max_nodes),
            None => Exprs::new(max_nodes),
        }
    }

    /// Ids below this are those of the base.
    pub(super) fn below(&self) -> u32 {
        self.below as u32
    }

    /// Whether both arenas stand on one base.
    pub(super) fn has_base_of(&self, other: &Exprs) -> bool {
        match (&self.base, &other.base) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// From now on any number of nodes is made, and nobody's stop ends a row: for an arena whose later nodes belong to
    /// no compile.
    pub fn lift_limit(&mut self) {
        self.max_nodes = usize::MAX;
        self.belongs_to_compile = false;
    }

    /// Until the limit is [lifted](Self::lift_limit) no more than the memory of `more` nodes is taken. An arena that
    /// needs more is [over](Self::is_over) its limit for good.
    pub fn allow(&mut self, more: usize) {
        self.max_nodes = self.own_size().saturating_add(more);
    }

    /// An error if the arena ran over its limit since it was made; everything built since is meaningless then. An error
    /// too if whoever watches the work has stopped it.
    pub fn check(&self) -> Result<()> {
        if self.over {
            // The end of the compile makes an arena over as well.
            poll()?;
            return Err(Error::limit(
                "the size of the compiled source",
                self.max_nodes as u64,
                self.max_nodes as u64 + 1,
            )
            .set_by("max_expr_nodes"));
        }
        checkpoint()
    }

    /// Whether the arena ran over its limit.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.below + self.nodes.len()
    }

    /// Number of nodes beside those of the base.
    pub fn own_len(&self) -> usize {
        self.nodes.len()
    }

    /// What the limit on nodes is about: the nodes beside those of the base, and as many more as would take the memory
    /// of their long lists of edges and operands, and of the rows that are known: one for each, and its edges.
    pub fn own_size(&self) -> usize {
        self.nodes.len() + self.beside
    }

    /// Never true: the arena holds `NEVER` from the start.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node of an id.
    pub fn get(&self, e: ExprId) -> &Expr {
        let at = e.0 as usize;
        match &self.base {
            Some(base) if at < self.below => &base.nodes[at],
            _ => &self.nodes[at - self.below],
        }
    }

    pub(super) fn facts_at(&self, e: ExprId) -> ExprFacts {
        let at = e.0 as usize;
        match &self.base {
            Some(base) if at < self.below => base.facts[at],
            _ => self.facts[at - self.below],
        }
    }

    /// Whether `e` accepts the empty string.
    pub fn nullable(&self, e: ExprId) -> bool {
        self.facts_at(e).nullable
    }

    /// Whether `e` contains intersection or complement; only then can it be empty without being `NEVER`.
    pub fn is_boolean(&self, e: ExprId) -> bool {
        self.facts_at(e).boolean
    }

    pub(super) fn facts_of(&self, e: &Expr) -> ExprFacts {
        let f = |i: &ExprId| self.facts_at(*i);
        match e {
            Expr::Never => ExprFacts::default(),
            Expr::Eps => ExprFacts { nullable: true, boolean: false },
            Expr::Step { nullable, edges } => {
                ExprFacts { nullable: *nullable, boolean: edges.iter().any(|e| f(&e.to).boolean) }
            }
            Expr::Cat(a, b) => {
                ExprFacts { nullable: f(a).nullable && f(b).nullable, boolean: f(a).boolean || f(b).boolean }
            }
            Expr::Alt(v) => {
                ExprFacts { nullable: v.iter().any(|i| f(i).nullable), boolean: v.iter().any(|i| f(i).boolean) }
            }
            Expr::And(v) => ExprFacts { nullable: v.iter().all(|i| f(i).nullable), boolean: true },
            // The complement of nothing accepts everything and stays live under every byte.
            Expr::Not(a) => {
                if *a == Self::NEVER {
                    return ExprFacts { nullable: true, boolean: false };
                }
                ExprFacts { nullable: !f(a).nullable, boolean: true }
            }
            Expr::Rep { body, min, .. } => {
                ExprFacts { nullable: *min == 0 || f(body).nullable, boolean: f(body).boolean }
            }
            Expr::Multiple(m) => ExprFacts { nullable: m.accepts(), boolean: false },
            // Recursion may have no way out, so a name may be empty without being `NEVER`.
            Expr::Fix(n) => ExprFacts { nullable: self.fixes.get(*n as usize).is_some_and(|f| f.0), boolean: true },
        }
    }

    /// One byte out of `ranges` (any order, may overlap); then nothing.
    pub fn byte_set(&mut self, ranges: &[(u8, u8)]) -> ExprId {
        let mut set = [false; 256];
        for &(lo, hi) in ranges {
            for b in lo..=hi {
                set[b as usize] = true;
            }
        }
        let mut edges = Vec::new();
        let mut b = 0usize;
        while b < 256 {
            if set[b] {
                let lo = b;
                while b + 1 < 256 && set[b + 1] {
                    b += 1;
                }
                edges.push(Edge { lo: lo as u8, hi: b as u8, to: Self::EPS });
            }
            b += 1;
        }
        self.step(false, edges)
    }

    /// A deterministic choice by the next byte. `edges` must be disjoint; edges to `NEVER` vanish, neighbours that
    /// lead to the same place join.
    pub fn step(&mut self, nullable: bool, mut edges: Vec<Edge>) -> ExprId {
        edges.retain(|e| e.to != Self::NEVER);
        edges.sort_unstable();
        edges.dedup_by(|e, before| {
            let joins = before.to == e.to && before.hi as u16 + 1 == e.lo as u16;
            if joins {
                before.hi = e.hi;
            }
            joins
        });
        if edges.is_empty() {
            return if nullable { Self::EPS } else { Self::NEVER };
        }
        self.intern_step(nullable, &edges)
    }

    /// Exactly these bytes.
    pub fn literal(&mut self, bytes: &[u8]) -> ExprId {
        self.literal_then(bytes, Self::EPS)
    }

    /// The expression of these bytes followed by `tail`.
    pub fn literal_then(&mut self, bytes: &[u8], tail: ExprId) -> ExprId {
        let mut e = tail;
        for &b in bytes.iter().rev() {
            if e != Self::NEVER {
                e = self.intern_step(false, &[Edge { lo: b, hi: b, to: e }]);
            }
        }
        e
    }

    /// Any one of `strings`, as a trie with shared prefixes and suffixes. Cost: linear in their total length after
    /// sorting.
    pub fn choice<S: AsRef<[u8]>>(&mut self, strings: &[S]) -> ExprId {
        /// Strings that are sorted in the time of one step.
        const STRINGS_PER_STEP: usize = 8;
        /// A trie node on the path of the current string; it closes when the next string leaves its prefix.
        #[derive(Default)]
        struct Open {
            byte: u8,
            nullable: bool,
            edges: SmallVec<[Edge; 2]>,
        }
        let mut sorted: Vec<&[u8]> = strings.iter().map(|s| s.as_ref()).collect();
        charge(sorted.len() / STRINGS_PER_STEP);
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.is_empty() {
            return Self::NEVER;
        }
        // Every byte of one string is a node: what is left of it has a length of its own. And the path holds all of
        // one.
        if sorted.iter().any(|s| s.len() > self.max_nodes.saturating_add(self.below)) {
            self.over = true;
        }
        let mut path = vec![Open::default()];
        let mut previous: &[u8] = &[];
        // The empty string at the end closes every node but the root.
        for s in sorted.into_iter().map(Some).chain([None]) {
            if self.over {
                return Self::NEVER;
            }
            let common = s.map_or(0, |s| previous.iter().zip(s).take_while(|(a, b)| a == b).count());
            while path.len() > common + 1 {
                let Some(node) = path.pop() else { break };
                let to = self.closed(node.nullable, &node.edges);
                if let Some(parent) = path.last_mut() {
                    parent.edges.push(Edge { lo: node.byte, hi: node.byte, to });
                }
            }
            let Some(s) = s else { break };
            path.extend(s[common..].iter().map(|&byte| Open { byte, ..Open::default() }));
            if let Some(node) = path.last_mut() {
                node.nullable = true;
            }
            previous = s;
        }
        let root = path.swap_remove(0);
        self.closed(root.nullable, &root.edges)
    }

    /// A node of a trie, whose edges were made in order. Most have one.
    fn closed(&mut self, nullable: bool, edges: &[Edge]) -> ExprId {
        match edges {
            [one] if one.to != Self::NEVER => self.intern_step(nullable, edges),
            _ => self.step(nullable, edges.to_vec()),
        }
    }

    /// A new name for an expression that may contain itself, and its number for [`define`](Self::define). Whether it
    /// accepts the empty string must be known beforehand. Every path from a name back to itself must read at least
    /// one byte, and no row of an expression that begins with the name may be asked for before the definition.
    pub fn fix(&mut self, nullable: bool) -> (u32, ExprId) {
        if self.over {
            // Nothing that is built now has a meaning, so a name would only take memory.
            return (u32::MAX, Self::NEVER);
        }
        let n = self.fixes.len() as u32;
        self.fixes.push((nullable, None));
        (n, self.intern(Expr::Fix(n)))
    }

    /// Says what a name stands for.
    pub fn define(&mut self, fix: u32, e: ExprId) {
        debug_assert!(self.over || self.fixes.get(fix as usize).is_none_or(|f| f.0 == self.nullable(e)));
        if let Some(f) = self.fixes.get_mut(fix as usize) {
            f.1 = Some(e);
        }
    }

    /// What a name stands for.
    pub fn definition(&self, fix: u32) -> Option<ExprId> {
        self.fixes.get(fix as usize).and_then(|f| f.1)
    }

    /// Whether the row of `e` can be computed: no undefined name is at its front. Looks `depth` levels deep and says
    /// no beyond.
    pub fn has_row(&self, e: ExprId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.rows.get(e, self.below()).is_some() {
            return true;
        }
        match self.get(e) {
            Expr::Never | Expr::Eps | Expr::Step { .. } | Expr::Multiple(_) => true,
            Expr::Cat(a, b) => self.has_row(*a, depth) && (!self.nullable(*a) || self.has_row(*b, depth)),
            Expr::Alt(v) | Expr::And(v) => v.iter().all(|&i| self.has_row(i, depth)),
            Expr::Not(a) => self.has_row(*a, depth),
            Expr::Rep { body, .. } => self.has_row(*body, depth),
            Expr::Fix(n) => match self.fixes.get(*n as usize) {
                Some((_, Some(d))) => self.has_row(*d, depth),
                _ => false,
            },
        }
    }

    /// Digits that spell a multiple; see [`Multiple`].
    pub fn multiple(&mut self, m: Multiple) -> ExprId {
        if m.is_live() { self.intern(Expr::Multiple(m)) } else { Self::NEVER }
    }
}

#[cfg(test)]
mod tests;
