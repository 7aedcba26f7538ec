//! What suffixes may spell of a member's value, remembered for all indexes of a vocabulary by the signatures of the
//! value's rules.

use crate::mask::json::crossing::suffixes::SuffixSet;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::MEMBER_VALUES;
use std::sync::Arc;

/// What suffixes may spell of a member's value, from its colon on: the same for all members whose rules have one
/// signature.
#[derive(PartialEq)]
pub(crate) struct MemberValue {
    /// Nodes that can be stepped while the value is open.
    pub(crate) bits: SuffixSet,
    /// Nodes that end it, or where a number or word may end, and the rules that accept it then.
    pub(crate) ends: Vec<(u32, Box<[u32]>)>,
    /// Some of them are places where a number or word may end.
    pub(crate) raw: bool,
}

pub(crate) const ENTRY: usize = 768;

/// Values of members, by the signatures of their rules.
#[derive(Default)]
pub(crate) struct MemberValues(pub(crate) BoundedCache<Box<[u64]>, Arc<MemberValue>, MEMBER_VALUES>);
