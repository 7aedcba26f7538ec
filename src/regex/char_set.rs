//! Sets of code points, as both dialects' character classes need them.
//!
//! A set is a sorted list of disjoint ranges that do not touch. It may hold surrogates, because both dialects can
//! name them; they vanish when a set becomes an expression, since UTF-8 text contains none.
//!
//! A set of thousands of ranges takes longer than a step of a compile, so what makes one counts its ranges.

use crate::util::cancel::charge;

/// The last code point.
const LAST: u32 = 0x10_FFFF;

/// Ranges that are put in order in the time of one step.
const RANGES_PER_STEP: usize = 64;

/// A set of code points.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct CharSet(Vec<(u32, u32)>);

impl CharSet {
    /// The union of inclusive ranges in any order.
    pub fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        let sorted = ranges.windows(2).all(|w| w[0].1 < u32::MAX && w[0].1 + 1 < w[1].0);
        if !sorted {
            if ranges.len() >= RANGES_PER_STEP {
                charge(ranges.len() / RANGES_PER_STEP);
            }
            ranges.sort_unstable();
            let mut out: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
            for (lo, hi) in ranges {
                match out.last_mut() {
                    Some(p) if lo <= p.1.saturating_add(1) => p.1 = p.1.max(hi),
                    _ => out.push((lo, hi)),
                }
            }
            ranges = out;
        }
        CharSet(ranges)
    }

    /// How many code points there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|&(lo, hi)| (hi - lo) as usize + 1).sum()
    }

    /// One code point.
    pub fn single(c: u32) -> Self {
        CharSet(vec![(c, c)])
    }

    /// Every code point.
    pub fn full() -> Self {
        CharSet(vec![(0, LAST)])
    }

    /// The ranges, sorted and disjoint.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Whether `c` is in the set.
    pub fn contains(&self, c: u32) -> bool {
        let i = self.0.partition_point(|r| r.1 < c);
        self.0.get(i).is_some_and(|r| r.0 <= c)
    }

    /// What either set holds.
    pub fn union(&self, other: &Self) -> Self {
        let mut v = self.0.clone();
        v.extend_from_slice(&other.0);
        Self::new(v)
    }

    /// Everything else.
    pub fn complement(&self) -> Self {
        let mut out = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(lo, hi) in &self.0 {
            if lo > next {
                out.push((next, lo - 1));
            }
            next = hi + 1;
        }
        if next <= LAST {
            out.push((next, LAST));
        }
        CharSet(out)
    }

    /// What both sets hold.
    pub fn intersect(&self, other: &Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        if a.len() + b.len() >= 4 * RANGES_PER_STEP {
            charge((a.len() + b.len()) / (4 * RANGES_PER_STEP));
        }
        let (mut i, mut j) = (0, 0);
        let mut out = Vec::new();
        while i < a.len() && j < b.len() {
            let (lo, hi) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
            if lo <= hi {
                out.push((lo, hi));
            }
            if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
        }
        CharSet(out)
    }

    /// The scalar values of the set, as ranges that do not span the surrogate gap.
    pub fn scalars(&self) -> Vec<(char, char)> {
        let mut out = Vec::with_capacity(self.0.len());
        let mut push = |lo: u32, hi: u32| {
            if let (true, Some(a), Some(b)) = (lo <= hi, char::from_u32(lo), char::from_u32(hi)) {
                out.push((a, b));
            }
        };
        for &(lo, hi) in &self.0 {
            push(lo, hi.min(0xD7FF));
            push(lo.max(0xE000), hi);
        }
        out
    }

    /// The first scalar value, if there is one.
    pub fn first_scalar(&self) -> Option<char> {
        self.0.iter().find_map(|&(lo, hi)| {
            let lo = if (0xD800..0xE000).contains(&lo) { 0xE000 } else { lo };
            if lo <= hi { char::from_u32(lo) } else { None }
        })
    }

    /// The only member, if there is exactly one and it is a scalar value.
    pub fn only(&self) -> Option<char> {
        match self.0[..] {
            [(a, b)] if a == b => char::from_u32(a),
            _ => None,
        }
    }
}

/// A set in the making: ranges in any order, which are merged before they take more than a few times the memory of the
/// set that they make. What repeats itself is no larger than what does not.
#[derive(Default)]
pub(super) struct Union {
    ranges: Vec<(u32, u32)>,
    /// Ranges that were left when they were merged last.
    merged: usize,
}

impl Union {
    /// Ranges that are kept unmerged: more than classes that people write have.
    const UNMERGED: usize = 4_096;

    /// Adds a range.
    pub fn push(&mut self, lo: u32, hi: u32) {
        self.ranges.push((lo, hi));
        self.bound();
    }

    /// Adds a set.
    pub fn add(&mut self, set: &CharSet) {
        self.ranges.extend_from_slice(set.ranges());
        self.bound();
    }

    /// Ranges that are held at the moment.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.ranges.capacity()
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn bound(&mut self) {
        if self.ranges.len() > 2 * self.merged + Self::UNMERGED {
            self.ranges = CharSet::new(std::mem::take(&mut self.ranges)).0;
            self.merged = self.ranges.len();
        }
    }

    /// The set of all that was added.
    pub fn finish(self) -> CharSet {
        let mut set = CharSet::new(self.ranges);
        if set.0.capacity() > 64 {
            set.0.shrink_to_fit();
        }
        set
    }
}
