//! Sets of numbers as values: a union of points and of *pieces*, closed under union, intersection and complement.
//!
//! A piece is a [`NumberBounds`]: an interval, cut down by what its values must and must not be multiples of. All
//! operations are exact arithmetic on decimals; whether a piece has a value that can be written at all is the question
//! of who has the arena (see [`crate::schema::lower::scalar::numbers`]). Points are kept apart, sorted, because an
//! `enum` may have thousands of them, and because they have more spellings than a piece.

use std::sync::Arc;

use crate::expr::without_tens;
use crate::json::decimal::Decimal;
use crate::schema::number::{NumberBounds, NumberSpelling};

/// A bound and whether it is itself excluded.
type Bound = Option<(Decimal, bool)>;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub value: Decimal,
    pub spelling: NumberSpelling,
}

/// Wider ranges of whole numbers are not counted.
const MANY_WHOLE: i128 = 1_000;

/// A union.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberSet {
    /// Sorted; no value twice.
    pub points: Vec<Point>,
    pub pieces: Vec<Arc<NumberBounds>>,
}

impl NumberSpelling {
    fn meet(self, o: NumberSpelling) -> Option<NumberSpelling> {
        match (self, o) {
            (NumberSpelling::Any, s) | (s, NumberSpelling::Any) => Some(s),
            (a, b) => (a == b).then_some(a),
        }
    }

    fn join(self, o: NumberSpelling) -> NumberSpelling {
        if self == o { self } else { NumberSpelling::Any }
    }

    fn others(self) -> Option<NumberSpelling> {
        match self {
            NumberSpelling::Any => None,
            NumberSpelling::Bare => Some(NumberSpelling::Pointed),
            NumberSpelling::Pointed => Some(NumberSpelling::Bare),
        }
    }
}

/// Whether `d` is a multiple of `m`. `None` where `m` has too many digits to say.
pub(crate) fn is_multiple(d: &Decimal, m: &Decimal) -> Option<bool> {
    if d.is_zero() {
        return Some(true);
    }
    let Ok(zeros) = u64::try_from(d.exponent - m.exponent) else {
        // Neither has trailing zeros, so the finer value is no multiple of the coarser.
        return Some(false);
    };
    let n = m.digits.iter().try_fold(0u128, |n, &c| n.checked_mul(10)?.checked_add(u128::from(c)))?;
    if n == 0 || n >= 1 << 120 {
        return None;
    }
    let n = without_tens(n, zeros);
    Some(d.digits.iter().fold(0, |r, &c| (r * 10 + u128::from(c)) % n) == 0)
}

fn one() -> Decimal {
    Decimal::from(1)
}

/// Lowers an upper bound or raises a lower one.
pub(crate) fn tighten(bound: &mut Bound, d: &Decimal, open: bool, lower: bool) {
    let replace = match bound {
        None => true,
        Some((old, was_open)) => {
            let order = if lower { d.cmp(&*old) } else { (*old).cmp(d) };
            order.is_gt() || (order.is_eq() && open && !*was_open)
        }
    };
    if replace {
        *bound = Some((d.clone(), open));
    }
}

/// Whether everything above `a` is above `b`: both are lower bounds.
fn within_lower(a: &Bound, b: &Bound) -> bool {
    match (a, b) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some((x, open)), Some((y, b_open))) => x > y || (x == y && (*open || !b_open)),
    }
}

/// Whether everything below `a` is below `b`: both are upper bounds.
fn within_upper(a: &Bound, b: &Bound) -> bool {
    match (a, b) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some((x, open)), Some((y, b_open))) => x < y || (x == y && (*open || !b_open)),
    }
}

/// Whether the interval is empty.
pub(crate) fn is_hollow(b: &NumberBounds) -> bool {
    match (&b.min, &b.max) {
        (Some((lo, lo_open)), Some((hi, hi_open))) => lo > hi || (lo == hi && (*lo_open || *hi_open)),
        _ => false,
    }
}

/// Whether only the interval matters.
pub(crate) fn is_interval(b: &NumberBounds) -> bool {
    !b.integer && b.multiple_of.is_empty() && b.not_multiple_of.is_empty() && b.spelling == NumberSpelling::Any
}

/// Both. `None` where that is seen to be empty.
pub(crate) fn meet(p: &NumberBounds, q: &NumberBounds) -> Option<NumberBounds> {
    let mut m = p.clone();
    m.spelling = p.spelling.meet(q.spelling)?;
    if let Some((d, open)) = &q.min {
        tighten(&mut m.min, d, *open, true);
    }
    if let Some((d, open)) = &q.max {
        tighten(&mut m.max, d, *open, false);
    }
    if is_hollow(&m) {
        return None;
    }
    m.integer |= q.integer;
    // A multiple of 6 is one of 3.
    add(&mut m.multiple_of, &q.multiple_of, |new, old| is_multiple(old, new) == Some(true));
    // A value that is no multiple of 3 is no multiple of 6.
    add(&mut m.not_multiple_of, &q.not_multiple_of, |new, old| is_multiple(new, old) == Some(true));
    let whole = m.integer.then(one);
    let refused = |d: &Decimal| m.not_multiple_of.iter().any(|e| is_multiple(d, e) == Some(true));
    if whole.iter().chain(&m.multiple_of).any(refused) {
        return None;
    }
    Some(m)
}

/// Adds to a sorted list what nothing in it makes redundant.
fn add(list: &mut Vec<Decimal>, more: &[Decimal], redundant: impl Fn(&Decimal, &Decimal) -> bool) {
    for d in more {
        if !list.iter().any(|old| redundant(d, old)) {
            list.retain(|old| !redundant(old, d));
            list.push(d.clone());
        }
    }
    list.sort_unstable();
}

/// Whether `q` is seen to hold all of `p`.
fn covers(q: &NumberBounds, p: &NumberBounds) -> bool {
    let divides = |m: &Decimal, d: &Decimal| is_multiple(d, m) == Some(true);
    (q.spelling == NumberSpelling::Any || q.spelling == p.spelling)
        && within_lower(&p.min, &q.min)
        && within_upper(&p.max, &q.max)
        && (!q.integer
            || p.integer
            || p.spelling == NumberSpelling::Bare
            || p.multiple_of.iter().any(Decimal::is_integer))
        && q.multiple_of
            .iter()
            .all(|m| p.multiple_of.iter().any(|d| divides(m, d)) || (p.integer && divides(m, &one())))
        && q.not_multiple_of.iter().all(|m| p.not_multiple_of.iter().any(|e| divides(e, m)))
}

/// One piece for two that differ in their intervals only, if those meet.
fn join(p: &NumberBounds, q: &NumberBounds) -> Option<NumberBounds> {
    let same = p.integer == q.integer
        && p.spelling == q.spelling
        && p.multiple_of == q.multiple_of
        && p.not_multiple_of == q.not_multiple_of;
    // Between the end of the one and the start of the other lies nothing.
    let touch = |hi: &Bound, lo: &Bound| match (hi, lo) {
        (Some((a, a_open)), Some((b, b_open))) => a > b || (a == b && !(*a_open && *b_open)),
        _ => true,
    };
    if !same || !touch(&p.max, &q.min) || !touch(&q.max, &p.min) {
        return None;
    }
    let min = if within_lower(&p.min, &q.min) { &q.min } else { &p.min };
    let max = if within_upper(&p.max, &q.max) { &q.max } else { &p.max };
    Some(NumberBounds { min: min.clone(), max: max.clone(), ..p.clone() })
}

/// Adds a piece to a union.
pub(crate) fn push_piece(pieces: &mut Vec<Arc<NumberBounds>>, mut piece: Arc<NumberBounds>) {
    while !pieces.iter().any(|q| **q == *piece || covers(q, &piece)) {
        pieces.retain(|q| !covers(&piece, q));
        let Some((i, joined)) = pieces.iter().enumerate().find_map(|(i, q)| Some((i, join(q, &piece)?))) else {
            pieces.push(piece);
            return;
        };
        pieces.remove(i);
        piece = Arc::new(joined);
    }
}

/// The values that a piece does not hold, as pieces.
pub(crate) fn complement(p: &NumberBounds) -> Vec<Arc<NumberBounds>> {
    let turn = |b: &Bound| b.as_ref().map(|(d, open)| (d.clone(), !open));
    let mut out = Vec::new();
    let mut part = |b: NumberBounds| out.push(Arc::new(b));
    if p.min.is_some() {
        part(NumberBounds { max: turn(&p.min), ..NumberBounds::default() });
    }
    if p.max.is_some() {
        part(NumberBounds { min: turn(&p.max), ..NumberBounds::default() });
    }
    for d in p.integer.then(one).iter().chain(&p.multiple_of) {
        part(NumberBounds { not_multiple_of: vec![d.clone()], ..NumberBounds::default() });
    }
    for d in &p.not_multiple_of {
        match *d == one() {
            true => part(NumberBounds { integer: true, ..NumberBounds::default() }),
            false => part(NumberBounds { multiple_of: vec![d.clone()], ..NumberBounds::default() }),
        }
    }
    match p.spelling {
        NumberSpelling::Any => {}
        // Without a point there is no fraction, so a value that is not whole is never bare.
        NumberSpelling::Bare => part(NumberBounds { spelling: NumberSpelling::Pointed, ..NumberBounds::default() }),
        NumberSpelling::Pointed => part(NumberBounds { spelling: NumberSpelling::Bare, ..NumberBounds::default() }),
    }
    out
}

/// Whether a piece holds a value, in whatever spelling. `None` where a divisor has too many digits to say.
pub(crate) fn holds(b: &NumberBounds, d: &Decimal) -> Option<bool> {
    let above = b.min.as_ref().is_none_or(|(lo, open)| d > lo || (d == lo && !open));
    let below = b.max.as_ref().is_none_or(|(hi, open)| d < hi || (d == hi && !open));
    if !above || !below || (b.integer && !d.is_integer()) {
        return Some(false);
    }
    for m in &b.multiple_of {
        if !is_multiple(d, m)? {
            return Some(false);
        }
    }
    for m in &b.not_multiple_of {
        if is_multiple(d, m)? {
            return Some(false);
        }
    }
    Some(true)
}

impl NumberSet {
    /// The set of these values.
    pub fn of_values(mut values: Vec<Decimal>) -> Self {
        values.sort_unstable();
        values.dedup();
        let points = values.into_iter().map(|value| Point { value, spelling: NumberSpelling::Any }).collect();
        NumberSet { points, pieces: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty() && self.pieces.is_empty()
    }

    /// At most how many values there are, where they are listed or few whole numbers between bounds.
    pub fn count(&self) -> Option<u64> {
        let mut n = self.points.len() as u64;
        for p in &self.pieces {
            let (Some((lo, _)), Some((hi, _)), true) = (&p.min, &p.max, p.integer) else { return None };
            let whole = |d: &Decimal| {
                let size = |d: &Decimal| d.to_u64().map(i128::from);
                if d.negative { size(&d.negate()).map(|n| -n) } else { size(d) }
            };
            let (lo, hi) = (whole(&lo.ceil())?, whole(&hi.floor())?);
            if hi - lo > MANY_WHOLE {
                return None;
            }
            let here = |i: &i128| Decimal::parse(&i.to_string()).is_none_or(|d| holds(p, &d) != Some(false));
            n += (lo..=hi).filter(here).count() as u64;
        }
        Some(n)
    }

    /// Whether some are listed, or lie at a distance from each other between two bounds.
    pub fn has_few(&self) -> bool {
        let few = |p: &NumberBounds| (p.integer || !p.multiple_of.is_empty()) && p.min.is_some() && p.max.is_some();
        !self.points.is_empty() || self.pieces.iter().any(|p| few(p))
    }

    /// Whether every number is here.
    pub fn is_all(&self) -> bool {
        self.pieces.iter().any(|p| is_interval(p) && p.min.is_none() && p.max.is_none())
    }

    /// Adds points.
    pub fn push_points(&mut self, more: &[Point]) {
        if more.is_empty() {
            return;
        }
        self.points.extend_from_slice(more);
        self.points.sort();
        self.points.dedup_by(|b, a| {
            let same = a.value == b.value;
            if same {
                a.spelling = a.spelling.join(b.spelling);
            }
            same
        });
    }

    /// How a value may be written here, if at all. The outer `None`: a divisor has too many digits to say.
    fn spelling_of(&self, d: &Decimal) -> Option<Option<NumberSpelling>> {
        let at = self.points.binary_search_by(|p| p.value.cmp(d)).ok();
        let mut found = at.and_then(|i| self.points.get(i)).map(|p| p.spelling);
        for p in &self.pieces {
            let bare = p.spelling == NumberSpelling::Bare && !d.is_integer();
            if !bare && holds(p, d)? {
                found = Some(found.map_or(p.spelling, |s| s.join(p.spelling)));
            }
        }
        Some(found)
    }

    /// The points of this set that are also in the other.
    pub fn points_in(&self, other: &NumberSet) -> Option<Vec<Point>> {
        let mut out = Vec::new();
        for p in &self.points {
            if let Some(s) = other.spelling_of(&p.value)?
                && let Some(spelling) = p.spelling.meet(s)
            {
                out.push(Point { value: p.value.clone(), spelling });
            }
        }
        Some(out)
    }

    /// All but the points.
    pub fn without_points(&self) -> NumberSet {
        let open = |p: &Point| Some((p.value.clone(), true));
        let ends = std::iter::once(None).chain(self.points.iter().map(open));
        let starts = self.points.iter().map(open).chain([None]);
        let pieces = ends.zip(starts).map(|(min, max)| Arc::new(NumberBounds { min, max, ..NumberBounds::default() }));
        let rest = self.points.iter().filter_map(|p| {
            let spelling = p.spelling.others()?;
            Some(Point { value: p.value.clone(), spelling })
        });
        NumberSet { points: rest.collect(), pieces: pieces.collect() }
    }
}

#[cfg(test)]
mod tests;
