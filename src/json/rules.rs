//! Rules: what a JSON value may be, in the only form that the automaton reads.
//!
//! A [`Rule`] is a union, by the type of the value: one lexeme for all scalars, and any number of array and object
//! *shapes*. A shape is a conjunction with nothing left to decide but what its registers count: all of `allOf`,
//! `anyOf`, `oneOf`, `not`, `if` and references has been distributed away by the schema frontend. Alternatives may
//! overlap: a value is accepted when any of them accepts it.
//!
//! Everything here is *productive*: a rule accepts at least one value, a shape at least one array or object, a key
//! class at least one key. What is not is left out by whoever builds a [`Rules`].

use std::sync::Arc;

use crate::expr::arena::{ExprId, Exprs};

/// Names a rule of one [`Rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u32);

/// A closed set of rules with the arena that their expressions live in.
#[derive(Clone)]
pub struct Rules {
    /// Holds every expression that a rule names.
    pub exprs: Exprs,
    /// Indexed by [`RuleId`].
    pub rules: Vec<Rule>,
    /// What the whole document must be.
    pub root: RuleId,
    /// Whether some number has fewer digits than it could have, so that it ends.
    pub capped_numbers: bool,
    /// Whether some constant has fewer spellings than JSON gives it.
    pub plain_constants: bool,
}

/// What one JSON value may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rule {
    /// `null`, `true`, `false` and numbers, as the JSON text itself: bytes without whitespace around them.
    pub literals: Option<ExprId>,
    /// Strings; a string is accepted when any set accepts it.
    pub strings: Vec<StringSet>,
    /// Arrays.
    pub arrays: Vec<ArrayShape>,
    /// Objects.
    pub objects: Vec<ObjectShape>,
}

/// Strings, stated over what they decode to (never over their escapes).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringSet {
    /// The decoded text as UTF-8, whole string.
    pub text: ExprId,
    /// Fewest code points.
    pub min: u32,
    /// Most code points; [`INF`](crate::expr::INF) for no bound.
    pub max: u32,
    /// Written with the escapes of names and constants, where those differ from what other strings are written with. A
    /// set without bounds then.
    pub constant: bool,
}

/// One way for an element of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// What the element must be.
    pub rule: RuleId,
    /// Bit `i`: an element accepted in this way counts for `contains[i]` of its array.
    pub matches: u32,
}

/// Bounds on how many elements match a `contains`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contains {
    /// Fewest matches.
    pub min: u64,
    /// Most matches. Where this is set, the ways of each position are disjoint, so that counting is exact.
    pub max: Option<u64>,
}

/// A conjunction of array keywords.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// Ways of the elements at fixed positions; an empty list ends the array before that position.
    pub prefix: Vec<Vec<Element>>,
    /// Ways of every further element; empty if there may be none.
    pub rest: Vec<Element>,
    /// Fewest elements.
    pub min: u64,
    /// Most elements.
    pub max: Option<u64>,
    /// At most 32; the bits of [`Element::matches`] index it.
    pub contains: Vec<Contains>,
    /// No two elements are equal as JSON values.
    pub unique: bool,
}

/// A key that an object shape names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Property {
    /// The decoded key.
    pub name: Arc<str>,
    /// What its value must be; `None` forbids the key.
    pub rule: Option<RuleId>,
    /// The object is incomplete without it.
    pub required: bool,
}

/// Keys that are not named, by what they decode to. The classes of a shape without witnesses are disjoint. Those of a
/// shape with witnesses may share keys: a member is then accepted in any one of several ways, which differ in their
/// rules or in what the member counts for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyClass {
    /// Decoded keys as UTF-8, whole key. Named keys never belong to a class, whether or not this says so.
    pub keys: ExprId,
    /// What their values must be.
    pub rule: RuleId,
    /// Bit `i`: a member accepted in this way is witness `i` of its object. A class with bits has as
    /// many keys as its objects may have members, or is the only one that has its keys: so keys for a witness that is
    /// missing never run out.
    pub matches: u32,
}

/// A conjunction of object keywords. Keys are never repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectShape {
    /// Named keys in declared order, each name once.
    pub properties: Vec<Property>,
    /// All other keys that are allowed.
    pub others: Vec<KeyClass>,
    /// Fewest members.
    pub min: u64,
    /// Most members.
    pub max: Option<u64>,
    /// `(i, j)`: where property `i` is present, property `j` is required. Indices into `properties`.
    pub dependent_required: Vec<(u32, u32)>,
    /// Bit `i`: some member is a witness `i` (a bit of [`KeyClass::matches`]). The bits are the lowest ones, at most
    /// [`MAX_WITNESSES`] of them.
    pub witnesses: u32,
}

/// Most witnesses of one object shape.
pub const MAX_WITNESSES: u32 = 6;

/// For each set of witnesses that are still missing, the fewest members that are all of them; `u32::MAX` where no
/// members are. `classes` are the bits of the classes that may be used. Cost: `2^witnesses * classes`.
pub fn witness_members(witnesses: u32, classes: &[u32]) -> Vec<u32> {
    let mut out = vec![u32::MAX; witnesses as usize + 1];
    out[0] = 0;
    for missing in 1..out.len() {
        // A smaller set has a smaller number, so it is known already.
        let rests = classes.iter().map(|c| missing & !(*c as usize)).filter(|&rest| rest != missing);
        out[missing] = rests.map(|rest| out[rest].saturating_add(1)).min().unwrap_or(u32::MAX);
    }
    out
}
