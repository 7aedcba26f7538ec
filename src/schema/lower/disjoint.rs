//! Which schemas are seen, cheaply, to have no value in common.
//!
//! Most alternatives of real schemas exclude each other by their types, or by a required member whose constants differ
//! (a *discriminator*). Seeing that early keeps `oneOf` and negations linear: alternatives that have nothing in common
//! need not be refused one by one. An answer `false` decides nothing.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::error::Result;
use crate::schema::lower::context::LoweringContext;
use crate::schema::lower::node::{FALSE, Scalar, SchemaNodeId};
use crate::schema::model::Types;
use crate::schema::name_table::Name;
use crate::util::seeded_hash::SeededMap;

/// Most pairs of constants that are compared.
const MOST_PAIRS: usize = 4_096;

/// Most constants that are tried on a schema that is no enumeration.
const MOST_WORDS: usize = 256;

/// Parts of a schema. Most have few.
type Certain = SmallVec<[SchemaNodeId; 8]>;

/// What is known about pairs of schemas. A choice among many alternatives asks about all of their pairs, again and
/// again, so the answers of not too many schemas are bits that are found without hashing.
pub(super) struct DisjointPairs {
    /// Two bits for each other schema, of the schemas that were asked about: known, and disjoint.
    rows: Vec<Option<Box<[u64]>>>,
    /// The number of schemas that have bits, once something is known of one.
    few: usize,
    others: SeededMap<(SchemaNodeId, SchemaNodeId), bool>,
}

impl DisjointPairs {
    /// The most schemas of which bits are kept: a megabyte holds the bits of these.
    const MOST_SCHEMAS: usize = 2_048;

    /// The pairs of `n` schemas, of which nothing is known yet.
    pub fn new(n: usize) -> Self {
        DisjointPairs {
            rows: Vec::new(),
            few: if n <= Self::MOST_SCHEMAS { n } else { 0 },
            others: SeededMap::default(),
        }
    }

    #[inline]
    fn get(&self, a: SchemaNodeId, b: SchemaNodeId) -> Option<bool> {
        match self.rows.get(b as usize) {
            Some(row) if (a as usize) < self.rows.len() => {
                let bits = row.as_ref()?.get(a as usize / 32)? >> (a % 32 * 2);
                (bits & 1 == 1).then_some(bits & 2 == 2)
            }
            _ => self.others.get(&(a.min(b), a.max(b))).copied(),
        }
    }

    fn insert(&mut self, a: SchemaNodeId, b: SchemaNodeId, disjoint: bool) {
        let n = self.few;
        if a.max(b) as usize >= n {
            self.others.insert((a.min(b), a.max(b)), disjoint);
            return;
        }
        self.rows.resize(n, None);
        for (a, b) in [(a, b), (b, a)] {
            let row = self.rows[b as usize].get_or_insert_with(|| vec![0; n.div_ceil(32)].into());
            let (word, at) = (&mut row[a as usize / 32], a % 32 * 2);
            *word = *word & !(3 << at) | (1 | u64::from(disjoint) << 1) << at;
        }
    }
}

impl LoweringContext<'_, '_> {
    /// Whether two schemas are seen, cheaply, to have no value in common. `false` decides nothing.
    pub fn is_disjoint(&mut self, a: SchemaNodeId, b: SchemaNodeId) -> bool {
        self.disjoint_within(a, b, 6)
    }

    fn disjoint_within(&mut self, a: SchemaNodeId, b: SchemaNodeId, depth: u8) -> bool {
        let (a, b) = (self.nodes.canon(a), self.nodes.canon(b));
        if a == b {
            return a == FALSE;
        }
        let both = self.nodes.mask(a).0 & self.nodes.mask(b).0;
        if both == 0 {
            return true;
        }
        if let Some(d) = self.disjoint.get(a, b) {
            return d;
        }
        if depth == 0 || both & !(Types::OBJECT.0 | Types::STRING.0 | Types::NUMBER.0) != 0 {
            return false;
        }
        if both & !Types::OBJECT.0 != 0 {
            return both & Types::OBJECT.0 == 0 && self.constants_disjoint(a, b, Types(both));
        }
        // A recursive question answers "not seen to be".
        self.disjoint.insert(a, b, false);
        let d = self.objects_disjoint(a, b, depth - 1) || self.objects_disjoint(b, a, depth - 1);
        self.disjoint.insert(a, b, d);
        d
    }

    /// No value of the one, which is an enumeration of scalars, is a value of the other.
    fn constants_disjoint(&mut self, a: SchemaNodeId, b: SchemaNodeId, both: Types) -> bool {
        match (self.constants(a), self.constants(b)) {
            (Some(a), Some(b)) => a.len() * b.len() <= MOST_PAIRS && !a.iter().any(|s| b.contains(s)),
            (Some(_), None) => self.refuses_constants(a, b, both),
            (None, Some(_)) => self.refuses_constants(b, a, both),
            (None, None) => false,
        }
    }

    /// Whether `b` refuses every constant of `a`, in any reading of its formats.
    fn refuses_constants(&mut self, a: SchemaNodeId, b: SchemaNodeId, both: Types) -> bool {
        let mut words: SmallVec<[Name; 8]> = SmallVec::new();
        for s in self.constants(a).unwrap_or_default() {
            match s {
                Scalar::Word(w) => words.push(*w),
                Scalar::Number(_) if both.0 & Types::NUMBER.0 != 0 => return false,
                // Of types that the two do not share.
                _ => {}
            }
        }
        // What fails here fails again where the schema itself is lowered.
        let d = words.len() <= MOST_WORDS
            && self.scalars(b).is_ok_and(|s| {
                let most = s.strings_at_most();
                !words.iter().any(|&w| self.holds_word(&most, w))
            });
        self.disjoint.insert(a, b, d);
        d
    }

    /// The values of a schema that is an enumeration of scalars, possibly among other assertions, or a pattern that
    /// spells one word.
    pub fn constants(&self, n: SchemaNodeId) -> Option<&[Scalar]> {
        let node = self.nodes.get(n);
        let parts = || std::iter::once(node).chain(node.all.iter().map(|&c| self.nodes.get(c)));
        match parts().find_map(|p| p.values.first()) {
            Some(v) => v.composites.is_empty().then_some(v.scalars.as_slice()),
            None => parts().find_map(|p| p.spelled.as_ref()).map(std::slice::from_ref),
        }
    }

    /// Parts of an object schema that certainly hold: its own and those of `allOf` and references, to a small depth.
    pub fn certain(&self, n: SchemaNodeId) -> Certain {
        let mut out = Certain::from_iter([self.nodes.canon(n)]);
        let mut i = 0;
        while i < out.len() && out.len() < 16 {
            for &c in &self.nodes.get(out[i]).all {
                let c = self.nodes.canon(c);
                if !out.contains(&c) {
                    out.push(c);
                }
            }
            i += 1;
        }
        out
    }

    /// Some name that `a` requires has values in `a` and `b` that exclude each other.
    fn objects_disjoint(&mut self, a: SchemaNodeId, b: SchemaNodeId, depth: u8) -> bool {
        let (pa, pb) = (self.certain(a), self.certain(b));
        let mut required: SmallVec<[Name; 16]> = SmallVec::new();
        for &n in &pa {
            required.extend(self.nodes.get(n).object.iter().flat_map(|o| o.required.iter().copied()));
        }
        for name in required {
            let va: Certain = pa.iter().filter_map(|&n| self.member(n, name)).collect();
            let vb: Certain = pb.iter().filter_map(|&n| self.member(n, name)).collect();
            for &x in &va {
                for &y in &vb {
                    if self.disjoint_within(x, y, depth) {
                        return true;
                    }
                }
            }
            if vb.contains(&FALSE) {
                return true;
            }
        }
        false
    }

    /// What a node says of one member, where no pattern is needed to know it.
    fn member(&self, n: SchemaNodeId, name: Name) -> Option<SchemaNodeId> {
        let o = self.nodes.get(n).object.as_deref()?;
        o.prop(name).or(if o.patterns.is_empty() { o.additional } else { None })
    }

    /// Which pairs of `branches` may have a value in common. Branches with a common required constant member (a
    /// discriminator) are sorted by it first, so that only equal constants are compared.
    pub fn overlaps(&mut self, branches: &[SchemaNodeId]) -> Result<Vec<Vec<usize>>> {
        let mut out = vec![Vec::new(); branches.len()];
        let groups = self.discriminated(branches);
        for group in groups {
            for (k, &i) in group.iter().enumerate() {
                for &j in &group[..k] {
                    self.work(1)?;
                    if !self.is_disjoint(branches[i], branches[j]) {
                        out[i].push(j);
                        out[j].push(i);
                    }
                }
            }
        }
        out.iter_mut().for_each(|v| v.sort_unstable());
        Ok(out)
    }

    fn discriminated(&mut self, branches: &[SchemaNodeId]) -> Vec<Vec<usize>> {
        let all = || vec![(0..branches.len()).collect()];
        if branches.len() < 8 {
            return all();
        }
        let parts: Vec<Certain> = branches.iter().map(|&b| self.certain(b)).collect();
        let constant = |i: usize, name: Name| -> Option<Name> {
            let required =
                parts[i].iter().any(|&n| self.nodes.get(n).object.as_ref().is_some_and(|o| o.required.contains(&name)));
            let member = parts[i].iter().find_map(|&n| self.nodes.get(n).object.as_ref().and_then(|o| o.prop(name)))?;
            match self.constants(member)? {
                [Scalar::Word(w)] if required => Some(*w),
                _ => None,
            }
        };
        let mut candidates: Vec<Name> = Vec::new();
        for &n in parts.first().into_iter().flat_map(|p| p.iter()) {
            candidates.extend(self.nodes.get(n).object.iter().flat_map(|o| o.required.iter().copied().take(16)));
        }
        for name in candidates {
            if branches.iter().any(|&b| self.nodes.get(b).mask.0 & !Types::OBJECT.0 != 0) {
                break;
            }
            let Some(words) = (0..branches.len()).map(|i| constant(i, name)).collect::<Option<Vec<Name>>>() else {
                continue;
            };
            let mut index: FxHashMap<Name, usize> = FxHashMap::default();
            let mut groups: Vec<Vec<usize>> = Vec::new();
            for (i, w) in words.into_iter().enumerate() {
                let g = *index.entry(w).or_insert(groups.len());
                if g == groups.len() {
                    groups.push(Vec::new());
                }
                groups[g].push(i);
            }
            return groups;
        }
        all()
    }
}
