//! One lexeme: a lazily determinized automaton over bytes.
//!
//! A state is an expression (and, in a string, how far into an escape it is). Rows are computed whole, on first use,
//! under the builder's mutex, and read without locks ever after: an entry is 0 until it is known. Dead successors are
//! never interned, so every state can still accept something. Where intersection or complement make liveness a
//! question, the whole reachable space is explored when the lexeme is made, under a limit; nothing fails later.
//!
//! A *raw* lexeme reads its own bytes: a pattern, a number. A *text* lexeme is a JSON string whose decoded text is
//! constrained, with a bound on its length in code points. The length is a register of whoever steps the lexeme (see
//! [`Lexeme::live_at`]), so a `maxLength` of 65,535 costs no states.

mod copy;

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::append::AppendVec;
use super::lengths::{LengthTable, Lengths, lengths, meets};
use super::saturate::{Reach, SaturateTable, cut, saturate};
use super::text::{Move, Sub, after_range, is_plain, pending, plain_pending, step};
use crate::error::Result;
use crate::ir::{Expr, ExprId, Exprs, INF};
use crate::limits::Limits;

/// Names a state of one lexeme.
pub type StateId = u32;

/// An entry of a row that was not computed yet.
const UNKNOWN: StateId = 0;
/// No continuation.
pub const DEAD: StateId = 1;
/// After the closing quote of a text lexeme.
pub const CLOSED: StateId = 2;
const FIRST: StateId = 3;

/// What a lexeme reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Its own bytes.
    Raw,
    /// A JSON string with its quotes, of `min` to `max` code points.
    Text {
        /// Fewest code points.
        min: u32,
        /// Most code points.
        max: u32,
    },
    /// A JSON string with its quotes, of any length, in plain spelling only.
    Constant,
}

/// A state's data.
pub struct State {
    row: Box<[AtomicU32]>,
    expr: ExprId,
    sub: Sub,
    /// Raw: the lexeme may end here. Text: a closing quote may follow, lengths permitting.
    pub accepting: bool,
    /// Text: lengths that may still follow, where the lexeme bounds them.
    lengths: Option<Lengths>,
    mask_state: OnceLock<StateId>,
}

impl State {
    /// Whether a text lexeme is between characters or inside an unescaped one.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.sub == Sub::Plain
    }
}

struct Builder {
    exprs: Exprs,
    table: FxHashMap<(ExprId, Sub), StateId>,
    lengths: LengthTable,
    saturated: SaturateTable,
    sizes: super::size::SizeTable,
    digests: copy::Digests,
    next: StateId,
}

impl Builder {
    fn new(exprs: Exprs, lengths: LengthTable) -> Self {
        Builder {
            exprs,
            table: FxHashMap::default(),
            lengths,
            saturated: SaturateTable::default(),
            sizes: Default::default(),
            digests: Default::default(),
            next: FIRST,
        }
    }
}

/// What lexemes of one expression share, whatever their bounds.
struct Shared {
    classes: Box<[u8; 256]>,
    class_count: usize,
    states: AppendVec<State>,
    builder: Mutex<Builder>,
    any_text: ExprId,
    /// The start contains intersection or complement.
    boolean: bool,
    /// Approximate bytes held, as of the last state that was made.
    bytes: AtomicUsize,
    /// Bytes held when only the start was known.
    least: AtomicUsize,
}

/// See the module's story.
pub struct Lexeme {
    kind: Kind,
    shared: Arc<Shared>,
    start: StateId,
    is_any_text: bool,
    bounded: bool,
    /// Bounded text: how it grows. Otherwise nothing depends on it.
    bounds: Growth,
    growth: OnceLock<Growth>,
    reach: Reach,
}

impl Lexeme {
    /// Compiles `expr` of `source`. Fails where liveness takes more than the limits to decide, and returns `None` if
    /// the lexeme accepts nothing.
    pub fn compile(source: &Exprs, expr: ExprId, kind: Kind, reach: Reach, limits: &Limits) -> Result<Option<Lexeme>> {
        let mut exprs = Exprs::beside(source, limits.max_expr_nodes);
        let any_text = exprs.any_text();
        let stated = expr;
        let mut expr = exprs.import(source, stated);
        let mut is_stated = source.is_product(stated) && source.is_decided(stated);
        let mut table = LengthTable::default();
        let mut kind = kind;
        if let Kind::Text { min, max } = kind {
            if max < min {
                return Ok(None);
            }
            if (min > 0 || max < INF) && lengths(&exprs, &mut table, expr).is_none() {
                // Structure does not tell the lengths: count by intersection, within the limits.
                let c = exprs.any_char();
                let counted = exprs.rep(c, min, max);
                expr = exprs.and(&[expr, counted]);
                is_stated = false;
                kind = Kind::Text { min: 0, max: INF };
            }
        }
        exprs.check()?;
        // What the source decided need not be decided again; dead expressions would have to be brought along.
        if is_stated && !source.is_live(stated) {
            return Ok(None);
        }
        let all_live = is_stated && source.is_all_live(stated);
        if !all_live && !exprs.decide_live(expr, limits.max_explored_states)? {
            return Ok(None);
        }
        exprs.forget_live();
        // What is derived from now on is made on use, where nothing may fail.
        exprs.lift_limit();
        let mut borders = [false; 256];
        borders[0] = true;
        exprs.byte_borders(expr, &mut borders);
        if kind != Kind::Raw {
            for b in *b"\"\\/bfnrtu" {
                borders[b as usize] = true;
                borders[b as usize + 1] = true;
            }
            for b in (b'0'..=b'9' + 1).chain(b'A'..=b'G').chain(b'a'..=b'g') {
                borders[b as usize] = true;
            }
            borders[0x20] = true;
            borders[0x80] = true;
            borders[0xC0] = true;
        }
        let mut classes = Box::new([0u8; 256]);
        let mut class = 0u8;
        for b in 0..256usize {
            if b > 0 && borders[b] {
                class += 1;
            }
            classes[b] = class;
        }
        let bounded = matches!(kind, Kind::Text { min, max } if min > 0 || max < INF);
        let bounds = if bounded { growth(&exprs, &mut table, expr) } else { Growth::default() };
        table.keep_all();
        // Nothing may fail from here on, so what is found later is bounded by its bytes instead; see `copy`.
        exprs.lift_limit();
        let lexeme = Lexeme {
            kind,
            start: FIRST,
            is_any_text: expr == any_text && matches!(kind, Kind::Text { .. }),
            bounded,
            bounds,
            growth: OnceLock::new(),
            reach,
            shared: Arc::new(Shared {
                classes,
                class_count: class as usize + 1,
                states: AppendVec::default(),
                any_text,
                boolean: exprs.is_boolean(expr),
                builder: Mutex::new(Builder::new(exprs, table)),
                bytes: AtomicUsize::new(0),
                least: AtomicUsize::new(0),
            }),
        };
        {
            let mut b = lexeme.lock();
            let sub = if kind == Kind::Raw { Sub::Plain } else { Sub::Open };
            lexeme.intern(&mut b, expr, sub);
            if let Kind::Text { min, max } = kind
                && lexeme.bounded
            {
                let l = lexeme.shared.states.get(FIRST).and_then(|s| s.lengths.clone());
                if !l.is_some_and(|l| meets(&l, min, max)) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(lexeme))
    }

    fn lock(&self) -> MutexGuard<'_, Builder> {
        // A panic while building leaves at worst a missing row, which is computed again.
        self.shared.builder.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// Any text, with another bound on its length: the states are the same.
    pub fn any_text_of(&self, min: u32, max: u32) -> Option<Lexeme> {
        (self.is_any_text && min <= max).then(|| self.bounded_by(min, max))
    }

    /// Whether the states serve every bound on the length, since each knows the lengths that may follow it.
    pub fn has_lengths(&self) -> bool {
        self.bounded
    }

    /// The same text with another bound on its length, for a lexeme that [`has_lengths`](Self::has_lengths): the
    /// states are the same. `None` if no member is as long.
    pub fn with_bounds(&self, min: u32, max: u32) -> Option<Lexeme> {
        let start = self.state(self.start);
        let fits = self.bounded && min <= max && start.lengths.as_ref().is_some_and(|l| meets(l, min, max));
        fits.then(|| self.bounded_by(min, max))
    }

    fn bounded_by(&self, min: u32, max: u32) -> Lexeme {
        Lexeme {
            kind: Kind::Text { min, max },
            shared: self.shared.clone(),
            start: self.start,
            is_any_text: self.is_any_text,
            bounded: min > 0 || max < INF,
            bounds: self.bounds,
            growth: OnceLock::new(),
            reach: self.reach,
        }
    }

    /// What the lexeme reads.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The class of every byte: bytes of one class act alike in every state.
    pub fn byte_classes(&self) -> &[u8; 256] {
        &self.shared.classes
    }

    /// The start state.
    pub fn start(&self) -> StateId {
        self.start
    }

    /// Whether this is a string without constraints but length.
    pub fn is_any_text(&self) -> bool {
        self.is_any_text
    }

    /// Whether everything that is text may follow `id`.
    pub fn is_any_from(&self, id: StateId) -> bool {
        let s = self.state(id);
        s.expr == self.shared.any_text && s.sub == Sub::Plain
    }

    /// Whether the length of the text matters.
    pub fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// The reach that masks saturate with.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The class of each byte, and how many classes there are: bytes of one class lead to the same state.
    pub(super) fn classes(&self) -> (&[u8; 256], usize) {
        (&self.shared.classes, self.shared.class_count)
    }

    /// Number of states found so far.
    pub fn num_states(&self) -> usize {
        (self.lock().next - FIRST) as usize + 1
    }

    /// Approximate bytes held by states and expressions.
    #[inline]
    pub fn memory_bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// A state's data. `id` must come from this lexeme and be neither dead nor closed.
    #[inline]
    pub fn state(&self, id: StateId) -> &State {
        match self.shared.states.get(id) {
            Some(s) => s,
            // Ids are only ever handed out after their state was set.
            None => unreachable!("state {id} of a lexeme was never made"),
        }
    }

    /// The successor of `id` under `byte`: a state, [`DEAD`] or [`CLOSED`].
    #[inline]
    pub fn next(&self, id: StateId, byte: u8) -> StateId {
        if id <= CLOSED {
            return DEAD;
        }
        self.next_from(id, self.state(id), byte)
    }

    /// [`next`](Self::next) for a caller that holds the state already.
    #[inline]
    pub fn next_from(&self, id: StateId, state: &State, byte: u8) -> StateId {
        let class = self.shared.classes[byte as usize] as usize;
        let to = state.row[class].load(Ordering::Acquire);
        if to != UNKNOWN { to } else { self.fill_row(id, class) }
    }

    /// Whether a text state with `count` code points read can still end within the lexeme's bounds. Always true for
    /// raw lexemes and unbounded ones.
    #[inline]
    pub fn live_at(&self, state: &State, count: u32) -> bool {
        if !self.bounded {
            return true;
        }
        let Kind::Text { min, max } = self.kind else { return true };
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
            Kind::Text { min, max: INF } => count.min(min),
            Kind::Text { .. } => count,
            Kind::Raw | Kind::Constant => 0,
        }
    }

    /// Whether the closing quote may follow a text state after `count` code points.
    #[inline]
    pub fn may_close(&self, count: u32) -> bool {
        match self.kind {
            Kind::Text { min, max } => min <= count && count <= max,
            Kind::Raw | Kind::Constant => true,
        }
    }

    /// Whether one token can lead to where only few members are left. Conservative: true where that is not known.
    pub fn may_run_out(&self, count: u32) -> bool {
        let (slack, grows) = self.growth();
        self.kind == Kind::Raw || !grows || self.room(count) <= self.reach.any.saturating_add(slack)
    }

    /// Whether a state is just after a backslash.
    pub fn is_escape(&self, state: &State) -> bool {
        state.sub == Sub::Escape
    }

    /// How far any state of a text is from its end at most, and whether every state can go on without bound.
    /// Conservative.
    pub fn growth(&self) -> (u32, bool) {
        let found = self.growth.get_or_init(|| {
            let mut b = self.lock();
            let Builder { exprs, lengths, .. } = &mut *b;
            growth(exprs, lengths, self.state(self.start).expr)
        });
        (found.slack, found.grows)
    }

    /// So many code points lead from any state of a bounded text, after any number of them, to an end within the bounds.
    /// `None` where the possible lengths leave gaps, or there is no bound.
    pub fn farthest_chars(&self) -> Option<u32> {
        let Kind::Text { min, .. } = self.kind else { return None };
        let known = self.bounded && self.bounds.gapless && self.bounds.slack < INF;
        known.then(|| self.bounds.slack.max(min))
    }

    /// How many more code points fit; [`INF`] without a bound.
    #[inline]
    pub fn room(&self, count: u32) -> u32 {
        match self.kind {
            Kind::Text { max, .. } if max != INF => max.saturating_sub(count),
            _ => INF,
        }
    }

    /// Whether neither bound can matter to any one token from `count` on.
    #[inline]
    pub fn length_met(&self, count: u32) -> bool {
        match self.kind {
            Kind::Text { min, .. } => count >= min && self.count_key(count) == (INF, 0),
            Kind::Raw | Kind::Constant => true,
        }
    }

    /// Whether some crossing token of `chars` (fewest, most) more code points may close the text.
    #[inline]
    pub fn may_cross(&self, count: u32, chars: (u32, u32)) -> bool {
        match self.kind {
            Kind::Text { min, max } => count.saturating_add(chars.0) <= max && count.saturating_add(chars.1) >= min,
            Kind::Raw | Kind::Constant => true,
        }
    }

    /// Whether every crossing token of `chars` (fewest, most) more code points may close the text.
    #[inline]
    pub fn all_may_close(&self, count: u32, chars: (u32, u32)) -> bool {
        self.may_close(count.saturating_add(chars.0)) && self.may_close(count.saturating_add(chars.1))
    }

    /// Whether `byte`, read in `state`, starts a new code point of the text.
    #[inline]
    pub fn starts_char(&self, state: &State, byte: u8) -> bool {
        state.sub == Sub::Plain && byte & 0xC0 != 0x80 && byte != b'"'
    }

    /// The part of `count` that the mask of a text state depends on: how much room is left and how much is missing.
    /// [`INF`] and 0 where no single token can lead to where a bound forbids anything: only then do states that differ
    /// by far counts share a mask.
    #[inline]
    pub fn count_key(&self, count: u32) -> (u32, u32) {
        let Kind::Text { min, max } = self.kind else { return (INF, 0) };
        let room = if max == INF { INF } else { max.saturating_sub(count) };
        let far = |beyond: u32| room == INF || room >= self.reach.any.saturating_add(beyond);
        let g = &self.bounds;
        // What is missing can be made up for if every length from some number on is possible.
        let need = if g.gapless { 0 } else { min.saturating_sub(count) };
        let free = (need == 0 && far(g.slack)) || (g.settled < INF && far(g.settled));
        if free { (INF, 0) } else { (room, need) }
    }

    /// Whether the masks of all rooms of a state differ by the lengths of tokens alone, given a
    /// [`count_key`](Self::count_key) that says that a bound matters: the text is free but for its length.
    #[inline]
    pub fn has_rooms(&self, (room, need): (u32, u32)) -> bool {
        self.is_any_text && need == 0 && room < INF
    }

    /// The state whose mask this state shares: the same but for counts that no token can exhaust.
    pub fn mask_state(&self, id: StateId) -> StateId {
        let state = self.state(id);
        *state.mask_state.get_or_init(|| {
            let mut b = self.lock();
            let reach = self.reach;
            let Builder { exprs, saturated, .. } = &mut *b;
            let e = saturate(exprs, saturated, &reach, state.expr);
            if e == state.expr || exprs.is_over() { id } else { self.intern(&mut b, e, state.sub) }
        })
    }

    /// How many byte strings lead from a raw state to acceptance; `u64::MAX` is without end, or too many to matter.
    pub fn residual_size(&self, id: StateId) -> u64 {
        if id <= CLOSED {
            return 0;
        }
        let mut b = self.lock();
        let Builder { exprs, sizes, .. } = &mut *b;
        super::size::size(exprs, sizes, self.state(id).expr)
    }

    /// How many texts end an unbounded text lexeme from a state outside of escapes; `None` for other lexemes and states.
    pub fn num_texts(&self, id: StateId) -> Option<u64> {
        let plain = id > CLOSED && self.kind != Kind::Raw && !self.bounded && self.state(id).sub == Sub::Plain;
        plain.then(|| self.residual_size(id))
    }

    /// The live states of a raw lexeme after one character of `lo..=hi`, each with one character that leads there.
    pub fn after_chars(&self, id: StateId, lo: u32, hi: u32) -> Vec<(StateId, Vec<u8>)> {
        let (Some(a), Some(z)) = (char::from_u32(lo), char::from_u32(hi)) else { return Vec::new() };
        let mut out: Vec<(StateId, Vec<u8>)> = Vec::new();
        for seq in regex_syntax::utf8::Utf8Sequences::new(a, z) {
            let mut front: Vec<(StateId, Vec<u8>)> = vec![(id, Vec::new())];
            for r in seq.as_slice() {
                let mut next: Vec<(StateId, Vec<u8>)> = Vec::new();
                for (s, text) in &front {
                    for byte in r.start..=r.end {
                        let to = self.next(*s, byte);
                        if to > CLOSED && next.iter().all(|n| n.0 != to) {
                            let mut t = text.clone();
                            t.push(byte);
                            next.push((to, t));
                        }
                    }
                }
                front = next;
            }
            out.extend(front);
        }
        out
    }

    /// A state that accepts at most, and one that accepts at least, what `id` does, with counts of `reach` and more cut
    /// off or made unbounded. `None` where there is no such count.
    pub fn around(&self, id: StateId, reach: u32) -> Option<(StateId, StateId)> {
        let state = self.state(id);
        let mut b = self.lock();
        let uniform = Reach { digits: reach, word: reach, any: reach };
        let high = saturate(&mut b.exprs, &mut SaturateTable::default(), &uniform, state.expr);
        let low = cut(&mut b.exprs, &mut SaturateTable::default(), reach, state.expr);
        if high == state.expr || b.exprs.is_over() {
            return None;
        }
        Some((self.intern(&mut b, low, state.sub), self.intern(&mut b, high, state.sub)))
    }

    fn intern(&self, b: &mut Builder, expr: ExprId, sub: Sub) -> StateId {
        let sub = self.canonical_sub(expr, sub);
        if let Some(&id) = b.table.get(&(expr, sub)) {
            return id;
        }
        let id = b.next;
        b.next += 1;
        let accepting = match sub {
            Sub::Plain => b.exprs.nullable(expr),
            _ => false,
        };
        let lengths = if self.bounded { self.lengths_of(b, expr, sub) } else { None };
        let row = (0..self.shared.class_count).map(|_| AtomicU32::new(UNKNOWN)).collect();
        self.shared.states.set(id, State { row, expr, sub, accepting, lengths, mask_state: OnceLock::new() });
        b.table.insert((expr, sub), id);
        let bytes =
            b.next as usize * (self.shared.class_count * 4 + 160) + b.exprs.own_len() * 96 + b.digests.len() * 32;
        self.shared.bytes.store(bytes, Ordering::Relaxed);
        if id == FIRST {
            self.shared.least.store(bytes, Ordering::Relaxed);
        }
        id
    }

    /// Where any character may follow, the hex digits of an escape matter only for telling surrogates apart.
    fn canonical_sub(&self, expr: ExprId, sub: Sub) -> Sub {
        if expr != self.shared.any_text {
            return sub;
        }
        match sub {
            Sub::Hex(n @ 1..=3, v) => {
                let top = v >> (4 * (n - 1) as u16);
                if top != 0xD {
                    return Sub::Hex(n, 0);
                }
                if n == 1 {
                    return sub;
                }
                match v >> (4 * (n - 2) as u16) & 0xF {
                    0..8 => Sub::Hex(n, 0),
                    8..12 => Sub::Hex(n, 0xD80 >> (4 * (3 - n) as u16)),
                    _ => Sub::Hex(n, 0xDC0 >> (4 * (3 - n) as u16)),
                }
            }
            Sub::LowBackslash(_) => Sub::LowBackslash(0xD800),
            Sub::LowU(_) => Sub::LowU(0xD800),
            Sub::LowHex(_, n, v) => {
                let v = match n {
                    0 | 1 => v,
                    2 => 0xDC,
                    _ => 0xDC0,
                };
                Sub::LowHex(0xD800, n, v)
            }
            other => other,
        }
    }

    fn lengths_of(&self, b: &mut Builder, expr: ExprId, sub: Sub) -> Option<Lengths> {
        let ranges = pending(sub);
        if ranges.is_empty() {
            return lengths(&b.exprs, &mut b.lengths, expr);
        }
        // The pending character was counted at its backslash.
        let mut all = Vec::new();
        for (lo, hi) in ranges {
            for e in after_range(&mut b.exprs, expr, lo, hi) {
                all.extend_from_slice(&lengths(&b.exprs, &mut b.lengths, e)?);
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all.into_boxed_slice())
    }

    #[cold]
    fn fill_row(&self, id: StateId, class: usize) -> StateId {
        let mut b = self.lock();
        let state = self.state(id);
        let known = state.row[class].load(Ordering::Acquire);
        if known != UNKNOWN {
            return known;
        }
        let mut targets = vec![DEAD; self.shared.class_count];
        match self.kind {
            Kind::Raw => {
                for edge in b.exprs.row(state.expr).iter() {
                    if !b.exprs.is_live(edge.to) {
                        continue;
                    }
                    let to = self.intern(&mut b, edge.to, Sub::Plain);
                    let (lo, hi) = (self.shared.classes[edge.lo as usize], self.shared.classes[edge.hi as usize]);
                    targets[lo as usize..=hi as usize].fill(to);
                }
            }
            Kind::Text { .. } | Kind::Constant => {
                let mut byte = 0usize;
                while byte < 256 {
                    let c = self.shared.classes[byte] as usize;
                    targets[c] = self.text_target(&mut b, state.expr, state.sub, byte as u8);
                    while byte < 256 && self.shared.classes[byte] as usize == c {
                        byte += 1;
                    }
                }
            }
        }
        for (slot, to) in state.row.iter().zip(&targets) {
            slot.store(*to, Ordering::Release);
        }
        targets[class]
    }

    fn text_target(&self, b: &mut Builder, expr: ExprId, sub: Sub, byte: u8) -> StateId {
        let moved = step(sub, byte);
        let plain = self.kind == Kind::Constant;
        if plain && !is_plain(sub, byte, &moved) {
            return DEAD;
        }
        let to = match moved {
            Move::Dead => return DEAD,
            Move::Close => return if b.exprs.nullable(expr) { CLOSED } else { DEAD },
            Move::To(next) => {
                let live = match next {
                    Sub::Plain => true,
                    // Any character can be spelled: one live edge at a character border is enough.
                    Sub::Escape | Sub::Hex(0, _) if !plain => {
                        let row = b.exprs.row(expr);
                        row.iter().any(|e| (e.lo < 0x80 || e.hi >= 0xC0) && b.exprs.is_live(e.to))
                    }
                    _ => {
                        let ranges = if plain { plain_pending(next) } else { pending(next) };
                        ranges.into_iter().any(|(lo, hi)| !after_range(&mut b.exprs, expr, lo, hi).is_empty())
                    }
                };
                return if live { self.intern(b, expr, next) } else { DEAD };
            }
            Move::Byte(d) => b.exprs.derive(expr, d),
            Move::Char(c) => {
                let mut buf = [0; 4];
                c.encode_utf8(&mut buf).bytes().fold(expr, |e, d| b.exprs.derive(e, d))
            }
        };
        if b.exprs.is_live(to) { self.intern(b, to, Sub::Plain) } else { DEAD }
    }
}

/// How a text grows from any of its states. Conservative where the structure is not telling.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// No state is further than this many code points from its end.
    slack: u32,
    /// Every state can go on for ever.
    grows: bool,
    /// Whatever the state, every number of further code points from this one on is possible; [`INF`] if that is false.
    settled: u32,
    /// Whatever the state, all numbers of further code points from the least possible one on are possible.
    gapless: bool,
}

impl Default for Growth {
    fn default() -> Self {
        Growth { slack: 0, grows: true, settled: 0, gapless: true }
    }
}

fn growth(x: &Exprs, table: &mut LengthTable, e: ExprId) -> Growth {
    let unknown = Growth { slack: INF, grows: false, settled: INF, gapless: false };
    let mut memo: FxHashMap<ExprId, Growth> = FxHashMap::default();
    let shortest =
        |table: &mut LengthTable, e| lengths(x, table, e).and_then(|l| l.first().map(|r| r.0)).unwrap_or(INF);
    for n in x.reachable(e) {
        let of = |e: &ExprId| memo.get(e).copied().unwrap_or(unknown);
        let worse = |a: Growth, b: Growth| Growth {
            slack: a.slack.max(b.slack),
            grows: a.grows && b.grows,
            settled: a.settled.max(b.settled),
            gapless: a.gapless && b.gapless,
        };
        // From where on every length of `n` itself is possible.
        let own = lengths(x, table, n);
        let tail = |l: &Option<Lengths>| {
            l.as_ref().and_then(|l| l.last().copied()).filter(|r| r.1 == INF).map_or(INF, |r| r.0)
        };
        let one_run = own.as_ref().is_some_and(|l| matches!(**l, [(_, INF)]));
        let value = match x.get(n) {
            Expr::Never | Expr::Eps => Growth { slack: 0, ..unknown },
            Expr::Step { edges, .. } => {
                let start = Growth { settled: tail(&own), gapless: one_run, ..Growth::default() };
                edges.iter().fold(start, |all, e| {
                    let to = of(&e.to);
                    worse(all, Growth { slack: to.slack.saturating_add(1), ..to })
                })
            }
            Expr::Cat(a, b) => {
                let (slack, rest) = (of(a).slack, of(b));
                let settled = slack.saturating_add(tail(&lengths(x, table, *b)));
                let first = Growth { slack: slack.saturating_add(shortest(table, *b)), settled, ..Growth::default() };
                worse(first, rest)
            }
            Expr::Alt(v) => v.iter().map(of).fold(Growth::default(), worse),
            Expr::Rep { body, min, max } => {
                let slack = of(body).slack;
                let rest = (min.saturating_sub(1)).saturating_mul(shortest(table, *body));
                // A body of one code point: any number of copies from the minimum on leaves no gap.
                let unit = lengths(x, table, *body).is_some_and(|l| meets(&l, 1, 1));
                Growth {
                    slack: slack.saturating_add(rest),
                    grows: *max == INF,
                    settled: slack.saturating_add(tail(&own)),
                    gapless: *max == INF && unit && one_run,
                }
            }
            _ => unknown,
        };
        memo.insert(n, value);
    }
    memo.get(&e).copied().unwrap_or(unknown)
}
