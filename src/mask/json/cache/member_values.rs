//! What suffixes may spell of a member's value, remembered by the rules of the value: for one index by rule, for all
//! indexes of a vocabulary by rule signature.

use crate::mask::json::crossing::suffixes::SuffixSet;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::{MEMBER_VALUES, SHARED_MEMBER_VALUES};
use smallvec::SmallVec;
use std::sync::Arc;

/// What suffixes may spell of a member's value, from its colon on: the same for all members of an index with the same
/// rules.
#[derive(PartialEq)]
pub(crate) struct MemberValue {
    /// Nodes that can be stepped while the value is open.
    pub(crate) bits: SuffixSet,
    /// Nodes that end it, or where a number or word may end, and the rules that accept it then.
    pub(crate) ends: Vec<(u32, Box<[u32]>)>,
    /// Some of them are places where a number or word may end.
    pub(crate) raw: bool,
}

/// The members that an index knows, by the rules of their values.
#[derive(Default)]
pub struct MemberValues(BoundedCache<RuleSet, Arc<MemberValue>, MEMBER_VALUES>);

/// The rules that a value may follow.
pub(crate) type RuleSet = SmallVec<[u32; 4]>;

pub(crate) const ENTRY: usize = 768;

impl MemberValues {
    pub(crate) fn get(&self, rules: &RuleSet) -> Option<Arc<MemberValue>> {
        self.0.get(rules)
    }

    pub(crate) fn keep(&self, rules: RuleSet, member: Arc<MemberValue>) -> Arc<MemberValue> {
        self.0.keep(rules, member.clone(), ENTRY);
        member
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// What suffixes may spell of a member's value, for all indexes of a vocabulary, by the signatures of the value's
/// rules.
#[derive(Default)]
pub(crate) struct SharedMemberValues(pub(crate) BoundedCache<Box<[u64]>, Arc<MemberValue>, SHARED_MEMBER_VALUES>);
