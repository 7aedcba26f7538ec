//! The program: rules made ready to step, with names as tries, key classes as lexemes and required keys as bits.

use smallvec::SmallVec;
use std::sync::Arc;

use crate::error::Result;
use crate::expr::ByteSet;
use crate::json::rules::{Contains, Element, RuleId};
use crate::json::string_escape::EscapeUse;
use crate::json::whitespace::WhitespaceRule;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::pushdown::json::contains::ContainsCounting;
use crate::pushdown::json::frame::ArrayItem;
use crate::pushdown::json::literal_trie::LiteralTries;
use crate::pushdown::json::shape_union::ShapeUnion;
use crate::pushdown::json::unique::memo::UniqueMemo;
use crate::vocab::Trie;

/// One rule.
#[derive(Clone, Debug, Default)]
pub struct RuleProgram {
    /// Indices of lexemes.
    pub lexemes: SmallVec<[u32; 4]>,
    /// Indices of array shapes.
    pub arrays: SmallVec<[u32; 4]>,
    /// Indices of object shapes.
    pub objects: SmallVec<[u32; 4]>,
}

/// One array shape.
#[derive(Clone, Debug)]
pub struct ArrayProgram {
    /// Ways of the first elements.
    pub prefix: Vec<Vec<Element>>,
    /// Ways of the others.
    pub rest: Vec<Element>,
    /// Fewest elements.
    pub min: u64,
    /// Most elements.
    pub max: u64,
    /// Match counts.
    pub contains: Vec<Contains>,
    /// Where one `contains` cannot be looked at without the others.
    pub(crate) counting: Option<ContainsCounting>,
    /// No two elements are equal.
    pub unique: bool,
    /// Unique elements may be containers that cannot always grow, so what they may still become is watched.
    pub watched: bool,
}

/// A class of keys that an object shape does not name.
#[derive(Clone)]
pub struct ClassProgram {
    /// Which keys, over decoded bytes; `None` for every key.
    pub keys: Option<Arc<Lexeme>>,
    /// These keys as a JSON string: an index of the program's lexemes, or `u32::MAX` for every key.
    pub text: u32,
    /// What their values must be.
    pub rule: RuleId,
    /// The witnesses that such a member is.
    pub matches: u32,
}

/// One object shape.
#[derive(Clone)]
pub struct ObjectProgram {
    /// Names; ids are property indices.
    pub names: Trie,
    /// The names themselves, in declared order.
    pub spelled: Vec<Arc<str>>,
    /// Rules of the properties; `None` forbids.
    pub rules: Vec<Option<RuleId>>,
    /// Words of a bit set over the properties.
    pub words: usize,
    /// Properties that every object needs, what those require included.
    pub required: SmallVec<[u64; 2]>,
    /// Properties that some object may have.
    pub possible: SmallVec<[u64; 2]>,
    /// For each property, what it needs beside itself, transitively; `None` where no property requires another.
    pub dependent_required: Option<Vec<Vec<u64>>>,
    /// Keys without a name.
    pub others: Vec<ClassProgram>,
    /// Fewest members.
    pub min: u64,
    /// Most members.
    pub max: u64,
    /// Bits of the witnesses that some member must be; where there are none the classes are disjoint.
    pub witnesses: u32,
    /// For each set of missing witnesses, the fewest members that are all of them.
    pub witness_members: SmallVec<[u32; 4]>,
    /// Where the shape stands for several alternatives: what they differ in. The rules above are of some of them then,
    /// and `required` is what one of those needs that need the fewest names.
    pub union: Option<Arc<ShapeUnion>>,
}

/// A compiled set of rules.
pub struct Program {
    /// Indexed by [`RuleId`].
    pub rules: Vec<RuleProgram>,
    /// All lexemes.
    pub lexemes: Vec<Arc<Lexeme>>,
    /// All array shapes.
    pub arrays: Vec<ArrayProgram>,
    /// All object shapes.
    pub objects: Vec<ObjectProgram>,
    /// Any string, with the escapes that the document has: what keys are made of.
    pub any_text: Arc<Lexeme>,
    /// Whitespace by [`Gap`](crate::json::whitespace::Gap).
    pub gaps: [WhitespaceRule; 3],
    /// Keys may come in any order.
    pub any_order: bool,
    /// The escapes of named keys; with other ones a name is no key at all.
    pub name_escapes: EscapeUse,
    /// Some array's elements must be unique.
    pub has_unique: bool,
    /// Some array's elements are watched.
    pub has_watched: bool,
    /// What is remembered about unique elements.
    pub unique: UniqueMemo,
    /// Constants that are read side by side; copies of a program number them alike.
    pub constants: Arc<LiteralTries>,
    /// What the document is.
    pub root: RuleId,
}

impl Program {
    /// Bytes of which whatever was begun of a document can be completed. If each of them is a token, no completion
    /// needs more tokens than bytes.
    ///
    /// Strings of any text need no character beyond ASCII, but the rest of one that was begun.
    pub fn completing_bytes(&self) -> ByteSet {
        let mut out = [false; 256];
        out[0x20..0x7F].fill(true);
        let mut use_bytes = |used: ByteSet, least: usize| {
            out.iter_mut().zip(used).skip(least).for_each(|(to, used)| *to |= used);
        };
        let rest_of_char: ByteSet = std::array::from_fn(|b| b & 0xC0 == 0x80);
        for lexeme in &self.lexemes {
            match lexeme.kind() {
                LexemeKind::Raw => use_bytes(lexeme.used_bytes(), 0),
                LexemeKind::Text { .. } if lexeme.is_any_text() => use_bytes(rest_of_char, 0),
                LexemeKind::Text { .. } => use_bytes(lexeme.completing_bytes(), 0x7F),
            }
        }
        for object in &self.objects {
            for class in &object.others {
                use_bytes(class.keys.as_ref().map_or(rest_of_char, |keys| keys.completing_bytes()), 0x7F);
            }
            let names = object.spelled.iter().flat_map(|name| name.bytes());
            names.for_each(|b| use_bytes(std::array::from_fn(|other| other == usize::from(b)), 0x7F));
        }
        out
    }

    /// The escapes of keys that have no name.
    #[inline]
    pub fn key_escapes(&self) -> EscapeUse {
        self.any_text.kind().escapes()
    }
}

impl ObjectProgram {
    /// How many names every object needs.
    pub(crate) fn num_required(&self) -> u64 {
        self.required.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The fewest members that are all witnesses which `witnessed` does not have.
    #[inline]
    pub fn missing_members(&self, witnessed: u32) -> u64 {
        match self.witnesses & !witnessed {
            0 => 0,
            missing => self.witness_members[missing as usize].into(),
        }
    }

    /// Whether there is room for a member of the class beside `taken` others and what is needed for the witnesses that
    /// are missing then, where those in `witnessed` are there.
    pub fn has_room(&self, class: &ClassProgram, taken: u64, witnessed: u32) -> bool {
        taken + 1 + self.missing_members(witnessed | class.matches) <= self.max
    }

    /// The rules that members may have, in any alternative.
    pub(crate) fn member_rules(&self) -> impl Iterator<Item = RuleId> + '_ {
        let united = self.union.iter().flat_map(|union| union.named.iter().chain(&union.classes).flatten());
        let own = self.rules.iter().flatten().copied().chain(self.others.iter().map(|class| class.rule));
        own.chain(united.map(|(rule, _)| *rule))
    }

    /// The rules that a property may have.
    pub(crate) fn rules_of(&self, property: usize) -> impl Iterator<Item = RuleId> + '_ {
        let united = self.union.iter().flat_map(move |union| &union.named[property]);
        self.rules[property].into_iter().chain(united.map(|(rule, _)| *rule))
    }

    /// The name of a property.
    pub fn name(&self, index: u32) -> &str {
        &self.spelled[index as usize]
    }

    /// What is left of the name of a property behind the place `at` among the names.
    pub fn rest(&self, at: u32, index: u32) -> &[u8] {
        let read = self.names.depth[at as usize] as usize;
        self.name(index).as_bytes().get(read..).unwrap_or_default()
    }
}

impl ArrayProgram {
    /// A shape of these ways, of the first elements and of the others, and of lengths from `min` to `max`.
    ///
    /// # Errors
    /// `Limit` where too many counts of several `contains` would have to be told apart.
    pub fn new(
        (prefix, rest): (Vec<Vec<Element>>, Vec<Element>),
        contains: Vec<Contains>,
        (min, max): (u64, u64),
        unique: bool,
    ) -> Result<ArrayProgram> {
        let counting = ContainsCounting::build((&prefix, &rest), &contains, (max < u64::MAX).then_some(max))?;
        Ok(ArrayProgram { prefix, rest, min, max, contains, counting, unique, watched: false })
    }

    /// The ways of the element at `index`.
    pub fn ways(&self, index: u64) -> &[Element] {
        match usize::try_from(index).ok().and_then(|i| self.prefix.get(i)) {
            Some(w) => w,
            None => &self.rest,
        }
    }

    /// Whether an array of `len` elements needs no further one, whatever they are.
    pub(crate) fn is_enough(&self, len: u64) -> bool {
        self.contains.is_empty() && self.min <= len
    }

    /// Whether an array of `len` elements with these match counts can still be completed.
    pub fn feasible(&self, len: u64, counts: &[u32]) -> bool {
        if len > self.max {
            return false;
        }
        if let Some(counting) = &self.counting {
            return counting.feasible(len, counts, (self.min, self.max));
        }
        for (i, c) in self.contains.iter().enumerate() {
            let have = counts[i] as u64;
            let bit = 1u32 << i;
            if c.max.is_some_and(|m| have > m) {
                return false;
            }
            let position = |p: u64| self.ways(p);
            let prefix = self.prefix.len() as u64;
            if have < c.min {
                let need = c.min - have;
                let open = (len..prefix.min(self.max)).filter(|&p| position(p).iter().any(|w| w.matches & bit != 0));
                let mut room = open.count() as u64;
                if self.rest.iter().any(|w| w.matches & bit != 0) && self.prefix.iter().all(|w| !w.is_empty()) {
                    room = room.saturating_add(self.max.saturating_sub(len.max(prefix)));
                }
                if room < need {
                    return false;
                }
            }
            if let Some(max) = c.max {
                let forced = |ways: &[Element]| !ways.is_empty() && ways.iter().all(|w| w.matches & bit != 0);
                let mut must = (len..prefix.min(self.min)).filter(|&p| forced(position(p))).count() as u64;
                if forced(&self.rest) {
                    must += self.min.saturating_sub(len.max(prefix));
                }
                if have + must > max {
                    return false;
                }
            }
        }
        true
    }

    /// Whether `item` may go on with all that `other` may go on with: one with the same counts, and where no `contains`
    /// has an upper bound, one with higher counts. Both stand in one node, and `other` may be of another shape.
    pub(crate) fn goes_on_as(&self, item: &ArrayItem, other: &ArrayItem, counts: &[u32]) -> bool {
        let open = self.contains.iter().all(|c| c.max.is_none());
        let of = |item: &ArrayItem| counts[item.counts as usize..][..self.contains.len()].iter();
        (item.tag, item.shape) == (other.tag, other.shape)
            && of(item).zip(of(other)).all(|(a, b)| a == b || (open && a > b))
    }

    /// Whether an array of these counts may end at `len` elements.
    pub fn may_end(&self, len: u64, counts: &[u32]) -> bool {
        len >= self.min
            && len <= self.max
            && self.contains.iter().zip(counts).all(|(c, &n)| n as u64 >= c.min && c.max.is_none_or(|m| n as u64 <= m))
    }
}
