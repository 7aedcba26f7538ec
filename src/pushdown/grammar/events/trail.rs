//! Trails: rows of markers, as trees that share their parts.

use smallvec::SmallVec;

/// Names a trail.
pub type TrailId = u32;
/// The trail without markers.
pub const EMPTY: TrailId = 0;
/// Nothing bounds what follows a trail.
pub const UNLIMITED: u32 = u32::MAX;

/// Here a capture begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The number of its name.
    pub capture: u32,
    /// Whether it begins here.
    pub begins: bool,
    /// Where, in bytes of the output.
    pub at: u32,
}

/// What some derivations have in common: the markers of a trail, and that the next one stands nowhere before `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certain {
    /// The common markers.
    pub trail: TrailId,
    /// Where the derivations part; [`UNLIMITED`] where they don't.
    pub limit: u32,
}

impl Certain {
    /// A trail that is the only one.
    pub fn exactly(trail: TrailId) -> Self {
        Certain { trail, limit: UNLIMITED }
    }
}

#[derive(Clone, Copy)]
enum Node {
    Marker(Marker),
    Pair(TrailId, TrailId),
}

/// Trails of one output. They are only ever appended, so going back is a truncation.
#[derive(Clone, Default)]
pub struct Trails {
    nodes: Vec<(Node, u32)>,
}

impl Trails {
    /// How many there are.
    pub fn count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Forgets all but the first ones.
    pub fn truncate(&mut self, count: u32) {
        self.nodes.truncate(count as usize);
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<(Node, u32)>()
    }

    /// How many markers a trail has.
    #[inline]
    pub fn len(&self, trail: TrailId) -> u32 {
        match trail {
            EMPTY => 0,
            some => self.nodes[some as usize - 1].1,
        }
    }

    fn push(&mut self, node: Node, len: u32) -> TrailId {
        self.nodes.push((node, len));
        self.nodes.len() as TrailId
    }

    /// A trail of one marker.
    pub fn marker(&mut self, marker: Marker) -> TrailId {
        self.push(Node::Marker(marker), 1)
    }

    /// One trail behind the other.
    #[inline]
    pub fn pair(&mut self, first: TrailId, second: TrailId) -> TrailId {
        match (first, second) {
            (EMPTY, only) | (only, EMPTY) => only,
            (first, second) => {
                let len = self.len(first) + self.len(second);
                self.push(Node::Pair(first, second), len)
            }
        }
    }

    /// The trail of a capture's begin, behind another one.
    pub fn begin(&mut self, trail: TrailId, capture: u32, at: u32) -> TrailId {
        let marker = self.marker(Marker { capture, begins: true, at });
        self.pair(trail, marker)
    }

    /// The first `count` markers of a trail.
    pub(super) fn prefix(&mut self, mut trail: TrailId, mut count: u32) -> TrailId {
        let mut out = EMPTY;
        loop {
            if count == 0 {
                return out;
            }
            if count >= self.len(trail) {
                return self.pair(out, trail);
            }
            // It has more than one marker, so it is a pair.
            let (Node::Pair(first, second), _) = self.nodes[trail as usize - 1] else { return out };
            let before = self.len(first);
            if count >= before {
                out = self.pair(out, first);
                count -= before;
                trail = second;
            } else {
                trail = first;
            }
        }
    }

    /// The markers of a trail from one on.
    pub fn walk(&self, trail: TrailId, from: u32) -> Walk<'_> {
        let mut walk = Walk { trails: self, left: SmallVec::new() };
        let (mut at, mut skip) = (trail, from);
        while at != EMPTY && skip < self.len(at) {
            let (Node::Pair(first, second), _) = self.nodes[at as usize - 1] else {
                walk.left.push(at);
                break;
            };
            let before = self.len(first);
            if skip >= before {
                skip -= before;
                at = second;
            } else {
                walk.left.push(second);
                at = first;
            }
        }
        walk
    }

    /// What two sets of derivations have in common. Their first `known` markers are.
    pub fn meet(&mut self, a: Certain, b: Certain, known: u32) -> Certain {
        if a.trail == b.trail {
            return Certain { trail: a.trail, limit: a.limit.min(b.limit) };
        }
        let mut common = known.min(self.len(a.trail)).min(self.len(b.trail));
        let (next_a, next_b) = {
            let (mut left, mut right) = (self.walk(a.trail, common), self.walk(b.trail, common));
            loop {
                match (left.next(), right.next()) {
                    (Some(x), Some(y)) if x == y => common += 1,
                    ends => break ends,
                }
            }
        };
        let limit = next_a.map_or(a.limit, |m| m.at).min(next_b.map_or(b.limit, |m| m.at));
        let trail = match (next_a, next_b) {
            (None, _) => a.trail,
            (_, None) => b.trail,
            _ => self.prefix(a.trail, common),
        };
        Certain { trail, limit }
    }

    /// A trail behind what is certain. What is only in part certain stays as it is.
    #[inline]
    pub fn follow(&mut self, before: Certain, trail: TrailId) -> Certain {
        match before.limit {
            UNLIMITED => Certain { trail: self.pair(before.trail, trail), limit: UNLIMITED },
            _ => before,
        }
    }
}

/// The markers of a trail in turn.
pub struct Walk<'t> {
    trails: &'t Trails,
    left: SmallVec<[TrailId; 16]>,
}

impl Iterator for Walk<'_> {
    type Item = Marker;

    fn next(&mut self) -> Option<Marker> {
        let mut at = self.left.pop()?;
        loop {
            match self.trails.nodes[at as usize - 1].0 {
                Node::Marker(marker) => return Some(marker),
                Node::Pair(first, second) => {
                    self.left.push(second);
                    at = first;
                }
            }
        }
    }
}
