//! Copies of expressions in other arenas, and digests of their content.
//!
//! A lexeme outlives the compile that made it, so it takes its own expression along and leaves the rest of the
//! compile's arena behind. Its content, written out as words, is the key under which other compiles find it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::expr::arena::{Edge, Expr, ExprId, Exprs};

/// A hash of what an expression is made of.
pub type Digest = [u8; 16];

/// Which of some nodes, which ascend, a node is. They lie mostly together, so their ids are places of a table; where
/// they do not, they are searched.
struct NodePlaces<'n> {
    nodes: &'n [ExprId],
    table: Vec<u32>,
}

impl<'n> NodePlaces<'n> {
    fn new(nodes: &'n [ExprId]) -> Self {
        let first = nodes.first().map_or(0, |e| e.0);
        let span = nodes.last().map_or(0, |e| (e.0 - first) as usize + 1);
        let mut table = Vec::new();
        if span <= nodes.len() * 8 {
            table.resize(span, u32::MAX);
            nodes.iter().zip(0u32..).for_each(|(e, i)| table[(e.0 - first) as usize] = i);
        }
        NodePlaces { nodes, table }
    }

    fn get(&self, e: ExprId) -> Option<u32> {
        if self.table.is_empty() {
            return self.nodes.binary_search(&e).ok().map(|i| i as u32);
        }
        let first = self.nodes.first()?.0;
        self.table.get(e.0.wrapping_sub(first) as usize).copied().filter(|&n| n != u32::MAX)
    }
}

impl Exprs {
    /// All nodes that `e` is made of, children before parents, definitions of names anywhere. Linear; no recursion.
    pub fn reachable(&self, e: ExprId) -> Vec<ExprId> {
        self.reachable_from(e, 0)
    }

    /// All nodes that `e` is made of, but those of the base, children before parents.
    fn reachable_own(&self, e: ExprId) -> Vec<ExprId> {
        self.reachable_from(e, self.below())
    }

    /// All nodes that `e` is made of whose ids are not below `least`, ascending.
    fn reachable_from(&self, e: ExprId, least: u32) -> Vec<ExprId> {
        if e.0 < least {
            return Vec::new();
        }
        // One bit for every node from the last one down, as far as any was reached: what is reached lies mostly
        // together. Constructors intern children first, so nothing lies behind `e` but definitions of names.
        let last = if self.fixes.is_empty() { e.0 } else { self.len() as u32 - 1 };
        let mut seen: SmallVec<[u64; 32]> = SmallVec::new();
        let mut stack: SmallVec<[ExprId; 64]> = SmallVec::new();
        let mut push = |stack: &mut SmallVec<[ExprId; 64]>, to: ExprId| {
            if to.0 >= least {
                let at = (last - to.0) as usize;
                if seen.len() <= at / 64 {
                    seen.resize(at / 64 + 1, 0);
                }
                if seen[at / 64] >> (at % 64) & 1 == 0 {
                    seen[at / 64] |= 1 << (at % 64);
                    stack.push(to);
                }
            }
        };
        push(&mut stack, e);
        let mut found = 0;
        while let Some(cur) = stack.pop() {
            found += 1;
            match self.get(cur) {
                Expr::Step { edges, .. } => edges.iter().for_each(|e| push(&mut stack, e.to)),
                Expr::Cat(a, b) => {
                    push(&mut stack, *a);
                    push(&mut stack, *b);
                }
                Expr::Alt(v) | Expr::And(v) => v.iter().for_each(|&e| push(&mut stack, e)),
                Expr::Not(a) | Expr::Rep { body: a, .. } => push(&mut stack, *a),
                Expr::Fix(n) => {
                    if let Some((_, Some(d))) = self.fixes.get(*n as usize) {
                        push(&mut stack, *d);
                    }
                }
                Expr::Never | Expr::Eps | Expr::Multiple(_) => {}
            }
        }
        // Ids are a topological order (but for definitions of names).
        let mut out = Vec::with_capacity(found);
        for (word, &bits) in seen.iter().enumerate().rev() {
            let mut bits = bits;
            while bits != 0 {
                let top = 63 - bits.leading_zeros();
                out.push(ExprId(last - (word as u32 * 64 + top)));
                bits ^= 1 << top;
            }
        }
        out
    }

    /// Copies `e` out of another arena; what lies in a base that both have is the same in both.
    pub fn import(&mut self, from: &Exprs, e: ExprId) -> ExprId {
        let shared = if self.has_base_of(from) { from.below() } else { 0 };
        if e.0 < shared {
            return e;
        }
        let nodes = from.reachable_from(e, shared);
        let is_first = shared > 0 && self.nodes.is_empty() && nodes.len() <= self.max_nodes;
        if is_first && !nodes.iter().any(|&n| matches!(from.get(n), Expr::Fix(_))) {
            return self.import_first(from, e, &nodes);
        }
        self.reserve(nodes.len());
        let places = NodePlaces::new(&nodes);
        // What each has become.
        let mut map = vec![None; nodes.len()];
        let set = |map: &mut Vec<Option<ExprId>>, old: ExprId, new: ExprId| {
            if let Some(slot) = places.get(old).and_then(|i| map.get_mut(i as usize)) {
                *slot = Some(new);
            }
        };
        let get = |map: &[Option<ExprId>], old: ExprId| map.get(places.get(old)? as usize).copied().flatten();
        let mut fixes = Vec::new();
        let mut room: Vec<Edge> = Vec::new();
        for &old in &nodes {
            if let Expr::Fix(n) = *from.get(old) {
                let (nullable, definition) = from.fixes.get(n as usize).copied().unwrap_or_default();
                let (name, new) = self.fix(nullable);
                set(&mut map, old, new);
                fixes.push((name, definition));
            }
        }
        for &old in &nodes {
            let at = |i: &ExprId| if i.0 < shared { *i } else { get(&map, *i).unwrap_or(Self::NEVER) };
            let new = match from.get(old) {
                Expr::Never => Self::NEVER,
                Expr::Eps => Self::EPS,
                Expr::Step { nullable, edges } => {
                    // Different nodes stay different, so what is in normal form stays so.
                    room.clear();
                    room.extend(edges.iter().map(|e| Edge { to: at(&e.to), ..*e }));
                    self.intern_step(*nullable, &room)
                }
                Expr::Cat(a, b) => {
                    let (a, b) = (at(a), at(b));
                    self.intern(Expr::Cat(a, b))
                }
                Expr::Alt(v) => {
                    let v: Vec<ExprId> = v.iter().map(at).collect();
                    self.alt(&v)
                }
                Expr::And(v) => {
                    let v: Vec<ExprId> = v.iter().map(at).collect();
                    self.and(&v)
                }
                Expr::Not(a) => {
                    let a = at(a);
                    self.not(a)
                }
                Expr::Rep { body, min, max } => {
                    let body = at(body);
                    self.intern(Expr::Rep { body, min: *min, max: *max })
                }
                Expr::Multiple(m) => self.multiple(m.clone()),
                Expr::Fix(_) => continue,
            };
            set(&mut map, old, new);
        }
        for (name, definition) in fixes {
            let copied = definition.and_then(|d| if d.0 < shared { Some(d) } else { get(&map, d) });
            if let Some(d) = copied {
                self.define(name, d);
            }
        }
        get(&map, e).unwrap_or(Self::NEVER)
    }

    /// [`import`](Self::import) of `e`, which is made of `nodes`, as the first nodes beside those of a base that both
    /// have: different nodes stay different, in the same order and so in normal form, and none is looked up.
    fn import_first(&mut self, from: &Exprs, e: ExprId, nodes: &[ExprId]) -> ExprId {
        let shared = self.below();
        self.reserve(nodes.len());
        let places = NodePlaces::new(nodes);
        let at = |i: &ExprId| match places.get(*i) {
            Some(n) if i.0 >= shared => ExprId(shared + n),
            _ => *i,
        };
        let all = |v: &[ExprId]| v.iter().map(at).collect();
        for &old in nodes {
            let node = match from.get(old) {
                Expr::Step { nullable, edges } => {
                    let edges = edges.iter().map(|e| Edge { to: at(&e.to), ..*e }).collect();
                    Expr::Step { nullable: *nullable, edges }
                }
                Expr::Cat(a, b) => Expr::Cat(at(a), at(b)),
                Expr::Alt(v) => Expr::Alt(all(v)),
                Expr::And(v) => Expr::And(all(v)),
                Expr::Not(a) => Expr::Not(at(a)),
                Expr::Rep { body, min, max } => Expr::Rep { body: at(body), min: *min, max: *max },
                same @ (Expr::Never | Expr::Eps | Expr::Multiple(_) | Expr::Fix(_)) => same.clone(),
            };
            self.insert_new(node, from.facts_at(old));
        }
        at(&e)
    }

    /// The content of `e` as words: equal words mean equal expressions, in whatever arenas that live at the same time.
    /// Nodes of a base are named by their ids in it, and the base by where it lies.
    pub fn content(&self, e: ExprId, out: &mut Vec<u32>) {
        /// Set in the id of a node of the base.
        const BASE: u32 = 1 << 31;
        let base = self.base.as_ref().map_or(0, |b| std::sync::Arc::as_ptr(b) as u64);
        out.extend([base as u32, (base >> 32) as u32]);
        let nodes = self.reachable_own(e);
        // The end of the list is `e` unless `e` is a name; say which node it is.
        let at = NodePlaces::new(&nodes);
        let below = self.below();
        let id = |e: &ExprId| if e.0 < below { e.0 | BASE } else { at.get(*e).unwrap_or(u32::MAX) };
        out.push(id(&e));
        for n in &nodes {
            match self.get(*n) {
                Expr::Never => out.push(0),
                Expr::Eps => out.push(1),
                Expr::Step { nullable, edges } => {
                    out.extend([2 | (*nullable as u32) << 8, edges.len() as u32]);
                    for e in edges.iter() {
                        out.extend([e.lo as u32 | (e.hi as u32) << 8, id(&e.to)]);
                    }
                }
                Expr::Cat(a, b) => out.extend([3, id(a), id(b)]),
                Expr::Alt(v) => {
                    out.extend([4, v.len() as u32]);
                    out.extend(v.iter().map(id));
                }
                Expr::And(v) => {
                    out.extend([5, v.len() as u32]);
                    out.extend(v.iter().map(id));
                }
                Expr::Not(a) => out.extend([6, id(a)]),
                Expr::Rep { body, min, max } => out.extend([7, id(body), *min, *max]),
                Expr::Multiple(m) => {
                    out.push(8);
                    m.content(out);
                }
                Expr::Fix(n) => {
                    let (nullable, definition) = self.fixes.get(*n as usize).copied().unwrap_or_default();
                    out.extend([9, nullable as u32, definition.map_or(u32::MAX, |d| id(&d))]);
                }
            }
        }
    }

    /// A hash of the content of `e`, the same in whatever arena and order its parts were made. Names of recursion count
    /// by their number, so of expressions with recursion it is comparable within one arena only. Linear in the nodes
    /// that `memo` does not know.
    pub fn digest(&self, memo: &mut FxHashMap<ExprId, Digest>, e: ExprId) -> Digest {
        let mut stack = vec![(e, false)];
        while let Some((cur, ready)) = stack.pop() {
            if memo.contains_key(&cur) {
                continue;
            }
            let node = self.get(cur);
            if !ready {
                stack.push((cur, true));
                match node {
                    Expr::Step { edges, .. } => stack.extend(edges.iter().map(|e| (e.to, false))),
                    Expr::Cat(a, b) => stack.extend([(*a, false), (*b, false)]),
                    Expr::Alt(v) | Expr::And(v) => stack.extend(v.iter().map(|&e| (e, false))),
                    Expr::Not(a) | Expr::Rep { body: a, .. } => stack.push((*a, false)),
                    Expr::Never | Expr::Eps | Expr::Multiple(_) | Expr::Fix(_) => {}
                }
                continue;
            }
            let of = |e: &ExprId| memo.get(e).copied().unwrap_or_default();
            let mut h = blake3::Hasher::new();
            let mut words = |w: &[u32]| w.iter().for_each(|w| _ = h.update(&w.to_le_bytes()));
            let mut parts: Vec<Digest> = Vec::new();
            match node {
                Expr::Never => words(&[0]),
                Expr::Eps => words(&[1]),
                Expr::Step { nullable, edges } => {
                    words(&[2, u32::from(*nullable)]);
                    for e in edges.iter() {
                        words(&[u32::from(e.lo) | u32::from(e.hi) << 8]);
                        parts.push(of(&e.to));
                    }
                }
                Expr::Cat(a, b) => {
                    words(&[3]);
                    parts.extend([of(a), of(b)]);
                }
                Expr::Alt(v) | Expr::And(v) => {
                    words(&[if matches!(node, Expr::Alt(_)) { 4 } else { 5 }]);
                    parts.extend(v.iter().map(of));
                    parts.sort_unstable();
                }
                Expr::Not(a) => {
                    words(&[6]);
                    parts.push(of(a));
                }
                Expr::Rep { body, min, max } => {
                    words(&[7, *min, *max]);
                    parts.push(of(body));
                }
                Expr::Multiple(m) => {
                    let mut content = vec![8];
                    m.content(&mut content);
                    words(&content);
                }
                Expr::Fix(n) => words(&[9, *n]),
            }
            parts.iter().for_each(|p| _ = h.update(p));
            let mut out = Digest::default();
            out.copy_from_slice(&h.finalize().as_bytes()[..16]);
            memo.insert(cur, out);
        }
        memo.get(&e).copied().unwrap_or_default()
    }

    /// The borders between bytes that some node of `e` tells apart: `borders[b]` is set where `b` and `b - 1` differ.
    pub fn byte_borders(&self, e: ExprId, borders: &mut [bool; 256]) {
        for n in self.reachable(e) {
            match self.get(n) {
                Expr::Step { edges, .. } => {
                    for e in edges.iter() {
                        borders[e.lo as usize] = true;
                        if e.hi < 255 {
                            borders[e.hi as usize + 1] = true;
                        }
                    }
                }
                Expr::Multiple(_) => {
                    for b in b'.'..=b':' {
                        borders[b as usize] = true;
                    }
                }
                _ => {}
            }
        }
    }
}
