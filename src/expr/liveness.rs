//! Liveness: which intersections and complements accept anything.
//!
//! An intersection derives to intersections: its states are *tuples* of the states of its operands. Whether each of
//! them is live is decided here on the tuples alone, without making an expression for any: operands are numbered, their
//! rows are translated once, and a tuple is a few numbers. A complement is an operand like any other, for its row says
//! where it becomes everything, and then it leaves the tuple; an operand that is dead ends the tuple.
//!
//! What was found is kept: [`Exprs::is_live`] looks an intersection's operands up, and later explorations stop at
//! tuples that are known. A tuple may be known to be live while its successors are not decided
//! ([`TupleLiveness::Live`]), where only one text was looked for.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::Hasher;

use crate::error::{Error, Result};
use crate::expr::arena::{Edge, Expr, ExprId, Exprs};
use crate::expr::row_merge::read_together;
use crate::util::cancel::charge;
use crate::util::seeded_hash::seeded;

/// An operand that accepts everything: it says nothing.
const EVERYTHING: u32 = u32::MAX;
/// Set in a number that stands for several operands.
const SEVERAL: u32 = 1 << 31;

/// Tuples that the search for one text looks at depth-first, before it goes on breadth-first.
const DEPTH_FIRST: usize = 2_000;

/// What is known of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TupleLiveness {
    /// Nothing.
    No,
    /// It accepts nothing, so neither does what it derives to.
    Dead,
    /// It accepts something.
    Live,
    /// It accepts something, and all that it derives to is decided.
    All,
    /// It accepts something, all that it derives to is decided, and none of that is dead but what is dead at sight.
    AllLive,
}

#[derive(Clone)]
struct Operand {
    id: ExprId,
    nullable: bool,
    boolean: bool,
    /// Targets are numbers of operands, [`EVERYTHING`], or [`SEVERAL`] of them.
    row: Option<Box<[Edge]>>,
}

/// Tuples and what is known of them.
#[derive(Clone, Default)]
pub(super) struct Products {
    operands: Vec<Operand>,
    /// By operand: the one that it is the complement of; [`EVERYTHING`] where there is none.
    opposite: Vec<u32>,
    numbers: FxHashMap<ExprId, u32>,
    /// Operands that are complements, by what they complement.
    complements: FxHashMap<ExprId, u32>,
    several: Vec<Box<[u32]>>,
    /// Tuple `i` is `pool[start[i]..start[i + 1]]`, ascending.
    pool: Vec<u32>,
    start: Vec<u32>,
    hashes: Vec<u64>,
    table: HashTable<u32>,
    known: Vec<TupleLiveness>,
    /// In which exploration the tuple was met last, and as which of its tuples.
    met: Vec<(u32, u32)>,
    epoch: u32,
    /// Whether some operand is the complement of another.
    some_complement: bool,
    /// Room for the pieces of one tuple.
    pieces: Vec<u32>,
}

type Tuple = SmallVec<[u32; 16]>;

enum TupleStep {
    Dead,
    Live,
    Tuple(u32),
}

fn hash_of(tuple: &[u32]) -> u64 {
    let mut h = seeded();
    tuple.iter().for_each(|&n| h.write_u32(n));
    h.finish()
}

impl Products {
    #[inline]
    fn tuple(&self, i: u32) -> &[u32] {
        &self.pool[self.start[i as usize] as usize..self.start[i as usize + 1] as usize]
    }

    #[inline]
    fn find(&self, tuple: &[u32], hash: u64) -> Option<u32> {
        self.table.find(hash, |&i| self.hashes[i as usize] == hash && self.tuple(i) == tuple).copied()
    }

    fn intern(&mut self, tuple: &[u32]) -> u32 {
        let hash = hash_of(tuple);
        if let Some(i) = self.find(tuple, hash) {
            return i;
        }
        if self.start.is_empty() {
            self.start.push(0);
        }
        let i = self.hashes.len() as u32;
        self.pool.extend_from_slice(tuple);
        self.start.push(self.pool.len() as u32);
        self.hashes.push(hash);
        self.known.push(TupleLiveness::No);
        self.met.push((0, 0));
        let hashes = &self.hashes;
        self.table.insert_unique(hash, i, |&i| hashes[i as usize]);
        i
    }

    /// The number of an operand, of several where `e` is an intersection.
    fn number(&mut self, x: &Exprs, e: ExprId) -> u32 {
        if e == Exprs::ALL {
            return EVERYTHING;
        }
        if let Some(&n) = self.numbers.get(&e) {
            return n;
        }
        let n = if let Expr::And(parts) = x.get(e) {
            let parts: Box<[u32]> = parts.iter().map(|&p| self.number(x, p)).collect();
            self.several.push(parts);
            (self.several.len() as u32 - 1) | SEVERAL
        } else {
            let (nullable, boolean) = (x.nullable(e), x.is_boolean(e));
            self.operands.push(Operand { id: e, nullable, boolean, row: None });
            self.opposite.push(EVERYTHING);
            self.operands.len() as u32 - 1
        };
        self.numbers.insert(e, n);
        // A complement is built of what it complements, but either may be an operand first.
        if let Expr::Not(inner) = *x.get(e) {
            self.complements.insert(inner, n);
            let inner = self.numbers.get(&inner).copied();
            self.opposite[n as usize] = inner.unwrap_or(EVERYTHING);
            self.some_complement |= inner.is_some();
        }
        if !self.complements.is_empty()
            && let Some(&c) = self.complements.get(&e)
        {
            self.opposite[c as usize] = n;
            self.some_complement = true;
        }
        n
    }

    fn add(&self, tuple: &mut Tuple, n: u32) {
        match n {
            EVERYTHING => {}
            n if n & SEVERAL != 0 => tuple.extend_from_slice(&self.several[(n & !SEVERAL) as usize]),
            n => tuple.push(n),
        }
    }

    /// Makes the row of an operand known.
    fn need_row(&mut self, x: &mut Exprs, n: u32) {
        if self.operands[n as usize].row.is_some() {
            return;
        }
        let id = self.operands[n as usize].id;
        let mut numbered = |x: &Exprs, row: &[Edge]| -> Box<[Edge]> {
            row.iter().map(|edge| Edge { to: ExprId(self.number(x, edge.to)), ..*edge }).collect()
        };
        let row = match x.get(id) {
            // A step is its own row.
            Expr::Step { edges, .. } => {
                charge(edges.len().max(4) / 8);
                numbered(x, edges)
            }
            _ => {
                let row = x.row(id);
                numbered(x, &row)
            }
        };
        self.operands[n as usize].row = Some(row);
    }

    /// What a derivative is: normal, and decided where that takes no exploration.
    fn next(&mut self, tuple: &mut Tuple) -> TupleStep {
        if !tuple.is_sorted_by(|a, b| a < b) {
            tuple.sort_unstable();
            tuple.dedup();
        }
        match tuple.as_slice() {
            [] => return TupleStep::Live,
            [one] if !self.operands[*one as usize].boolean => return TupleStep::Live,
            _ => {}
        }
        let contradicts = self.some_complement
            && tuple.iter().any(|&n| {
                let c = self.opposite[n as usize];
                c != EVERYTHING && tuple.binary_search(&c).is_ok()
            });
        if contradicts { TupleStep::Dead } else { TupleStep::Tuple(self.intern(tuple)) }
    }

    /// What follows the tuple `i`, nearly all of it once: calls `visit` until it answers false.
    fn successors(&mut self, x: &mut Exprs, i: u32, mut visit: impl FnMut(&mut Self, TupleStep) -> bool) {
        let tuple = Tuple::from_slice(self.tuple(i));
        tuple.iter().for_each(|&n| self.need_row(x, n));
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let row = |&n: &u32| self.operands[n as usize].row.as_deref().unwrap_or_default();
        read_together(tuple.iter().map(row), &mut pieces);
        let mut next = Tuple::new();
        for piece in pieces.chunks_exact(tuple.len().max(1)) {
            next.clear();
            for &n in piece {
                if n < SEVERAL {
                    next.push(n);
                } else {
                    self.add(&mut next, n);
                }
            }
            let found = self.next(&mut next);
            if !visit(self, found) {
                break;
            }
        }
        self.pieces = pieces;
    }

    fn is_nullable(&self, i: u32) -> bool {
        self.tuple(i).iter().all(|&n| self.operands[n as usize].nullable)
    }

    fn start(&mut self, x: &Exprs, e: ExprId) -> TupleStep {
        let mut tuple = Tuple::new();
        let n = self.number(x, e);
        self.add(&mut tuple, n);
        self.epoch += 1;
        self.next(&mut tuple)
    }

    /// Meets a tuple in the exploration that is going on: its place in `order`, and whether it is new.
    #[inline]
    fn meet(&mut self, i: u32, order: &mut Vec<u32>) -> (u32, bool) {
        let met = &mut self.met[i as usize];
        if met.0 == self.epoch {
            return (met.1, false);
        }
        *met = (self.epoch, order.len() as u32);
        order.push(i);
        (order.len() as u32 - 1, true)
    }

    /// Decides a tuple and all that it derives to. `spent` counts the tuples of one question.
    fn decide(&mut self, x: &mut Exprs, e: ExprId, spent: &mut usize, limit: usize) -> Result<bool> {
        let root = match self.start(x, e) {
            TupleStep::Dead => return Ok(false),
            TupleStep::Live => return Ok(true),
            TupleStep::Tuple(i) => i,
        };
        match self.known[root as usize] {
            TupleLiveness::Dead => return Ok(false),
            TupleLiveness::All | TupleLiveness::AllLive => return Ok(true),
            TupleLiveness::No | TupleLiveness::Live => {}
        }
        let mut order = Vec::new();
        self.meet(root, &mut order);
        let mut all_live = true;
        // Pairs of a successor and whom it succeeds, as places in the order.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut live = Vec::new();
        let mut at = 0;
        while at < order.len() {
            let i = order[at];
            let mut alive = self.known[i as usize] == TupleLiveness::Live || self.is_nullable(i);
            self.successors(x, i, |all, next| {
                match next {
                    TupleStep::Dead => {}
                    TupleStep::Live => alive = true,
                    TupleStep::Tuple(j) => match all.known[j as usize] {
                        TupleLiveness::Dead => all_live = false,
                        TupleLiveness::All => (alive, all_live) = (true, false),
                        TupleLiveness::AllLive => alive = true,
                        TupleLiveness::No | TupleLiveness::Live => edges.push((all.meet(j, &mut order).0, at as u32)),
                    },
                }
                true
            });
            live.push(alive);
            if *spent + order.len() > limit {
                return Err(Error::limit("explored states", limit as u64, (*spent + order.len()) as u64)
                    .set_by("max_explored_states"));
            }
            x.check()?;
            at += 1;
        }
        *spent += order.len();
        spread(&edges, &mut live);
        all_live &= live.iter().all(|&l| l);
        let found = if all_live { TupleLiveness::AllLive } else { TupleLiveness::All };
        for (&i, &l) in order.iter().zip(&live) {
            self.known[i as usize] = if l { found } else { TupleLiveness::Dead };
        }
        Ok(live[0])
    }

    /// Looks for one text, depth-first or breadth-first. `None` where `most` tuples do not decide it.
    fn search(&mut self, x: &mut Exprs, e: ExprId, depth_first: bool, most: usize) -> Result<Option<bool>> {
        let root = match self.start(x, e) {
            TupleStep::Dead => return Ok(Some(false)),
            TupleStep::Live => return Ok(Some(true)),
            TupleStep::Tuple(i) => i,
        };
        match self.known[root as usize] {
            TupleLiveness::Dead => return Ok(Some(false)),
            TupleLiveness::Live | TupleLiveness::All | TupleLiveness::AllLive => return Ok(Some(true)),
            TupleLiveness::No => {}
        }
        let mut order = Vec::new();
        self.meet(root, &mut order);
        // By place in the order: whom the tuple was found from.
        let mut from = vec![0u32];
        let mut work = std::collections::VecDeque::from([0u32]);
        while let Some(at) = if depth_first { work.pop_back() } else { work.pop_front() } {
            let i = order[at as usize];
            let mut alive = self.is_nullable(i);
            let waiting = work.len();
            if !alive {
                self.successors(x, i, |all, next| {
                    if let TupleStep::Tuple(j) = next {
                        match all.known[j as usize] {
                            TupleLiveness::Dead => {}
                            TupleLiveness::Live | TupleLiveness::All | TupleLiveness::AllLive => alive = true,
                            TupleLiveness::No => {
                                let (place, new) = all.meet(j, &mut order);
                                if new {
                                    from.push(at);
                                    work.push_back(place);
                                }
                            }
                        }
                    }
                    alive |= matches!(next, TupleStep::Live);
                    !alive
                });
            }
            if depth_first {
                // The lowest bytes first: nearly all patterns have text in ASCII, which takes fewer bytes.
                work.make_contiguous()[waiting..].reverse();
            }
            if alive {
                let mut at = at;
                loop {
                    self.known[order[at as usize] as usize] = TupleLiveness::Live;
                    if at == 0 {
                        return Ok(Some(true));
                    }
                    at = from[at as usize];
                }
            }
            if order.len() > most {
                return Ok(None);
            }
            x.check()?;
        }
        order.iter().for_each(|&i| self.known[i as usize] = TupleLiveness::Dead);
        Ok(Some(false))
    }
}

impl Exprs {
    /// Whether an intersection or a complement accepts anything, deciding all that it derives to as well.
    pub(super) fn decide_product(&mut self, e: ExprId, spent: &mut usize, limit: usize) -> Result<bool> {
        let mut products = std::mem::take(&mut self.products);
        let found = products.decide(self, e, spent, limit);
        self.products = products;
        found
    }

    /// Whether `e` accepts anything, found by looking for one text: unlike [`Exprs::decide_live`] this ends with the
    /// first one and decides nothing about other expressions. Cost: at most `limit` states.
    ///
    /// # Errors
    /// `Limit` where more states would have to be looked at.
    pub fn is_inhabited(&mut self, e: ExprId, limit: usize) -> Result<bool> {
        if !self.is_boolean(e) {
            return Ok(e != Self::NEVER);
        }
        if let Expr::Alt(parts) = self.get(e) {
            for &p in &parts.clone() {
                if self.is_inhabited(p, limit)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let mut products = std::mem::take(&mut self.products);
        let mut found = products.search(self, e, true, DEPTH_FIRST.min(limit));
        if matches!(found, Ok(None)) {
            found = products.search(self, e, false, limit);
        }
        let looked = products.start.len() as u64;
        self.products = products;
        found?.ok_or_else(|| {
            Error::limit("explored states", limit as u64, looked.max(limit as u64 + 1)).set_by("max_explored_states")
        })
    }

    /// What explorations found out about an intersection or a complement.
    pub(super) fn known_product(&self, e: ExprId) -> Option<bool> {
        match self.known(e) {
            TupleLiveness::No => None,
            TupleLiveness::Dead => Some(false),
            TupleLiveness::Live | TupleLiveness::All | TupleLiveness::AllLive => Some(true),
        }
    }

    fn known(&self, e: ExprId) -> TupleLiveness {
        let products = &self.products;
        let parts = match self.get(e) {
            Expr::And(parts) => parts,
            _ => &[e][..],
        };
        let mut tuple = Tuple::new();
        for p in parts {
            let Some(&n) = products.numbers.get(p) else { return TupleLiveness::No };
            products.add(&mut tuple, n);
        }
        tuple.sort_unstable();
        products.find(&tuple, hash_of(&tuple)).map_or(TupleLiveness::No, |i| products.known[i as usize])
    }

    /// Whether [`decide_live`](Self::decide_live) found nothing dead in `e` and all that it derives to, so that every
    /// state of its automaton is live. False where that is not known.
    pub fn is_all_live(&self, e: ExprId) -> bool {
        match self.get(e) {
            _ if !self.is_boolean(e) => e != Self::NEVER,
            Expr::Alt(parts) => self.is_product(e) && parts.iter().all(|&p| self.is_all_live(p)),
            _ => self.known(e) == TupleLiveness::AllLive,
        }
    }

    /// Whether [`decide_live`](Self::decide_live) was asked about this product.
    pub fn is_decided(&self, e: ExprId) -> bool {
        match self.get(e) {
            Expr::Alt(parts) => parts.iter().all(|&p| !self.is_boolean(p) || self.is_decided(p)),
            _ => matches!(self.known(e), TupleLiveness::Dead | TupleLiveness::All | TupleLiveness::AllLive),
        }
    }

    /// From now on liveness is looked for on use; see [`finds_live`](Self::finds_live).
    pub fn search_live(&mut self) {
        self.searches = true;
    }

    /// Forgets what was decided where nothing was found dead: what is not known counts as live.
    pub fn forget_live(&mut self) {
        if !self.products.known.contains(&TupleLiveness::Dead) {
            self.products = Products::default();
        }
        self.live.retain(|_, l| !*l);
    }
}

/// Makes all live from which something live is reached. `edges` are pairs of a successor and whom it succeeds.
fn spread(edges: &[(u32, u32)], live: &mut [bool]) {
    // Whom each succeeds, by its place: a count, then the places in the list where its own begin.
    let mut start = vec![0u32; live.len() + 2];
    edges.iter().for_each(|e| start[e.0 as usize + 2] += 1);
    for i in 2..start.len() {
        start[i] += start[i - 1];
    }
    let mut before = vec![0u32; edges.len()];
    for &(to, from) in edges {
        let place = &mut start[to as usize + 1];
        before[*place as usize] = from;
        *place += 1;
    }
    let mut work: Vec<u32> = (0..live.len() as u32).filter(|&i| live[i as usize]).collect();
    while let Some(i) = work.pop() {
        let (from, to) = (start[i as usize] as usize, start[i as usize + 1] as usize);
        for &i in &before[from..to] {
            if !std::mem::replace(&mut live[i as usize], true) {
                work.push(i);
            }
        }
    }
}
