//! Numbers of rules that suffixes cannot tell apart, for one index.

use crate::json::rules::RuleId;
use crate::mask::json::cache_key::rule_signature::{RuleSignature, profile_within};
use crate::mask::json::crossing::signature_scope::SignatureScope;
use crate::pushdown::json::program::Program;
use crate::util::seeded_hash::SeededMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, RwLock};

/// Added to a signature's number, to tell it from a rule's.
pub(crate) const PROFILE: u32 = 1 << 31;

/// What suffixes behind a colon can tell of the rules of an index, as numbers.
#[derive(Default)]
pub(crate) struct RuleNumbers {
    /// By rule; 0 is not known yet.
    known: OnceLock<Box<[AtomicU32]>>,
    profiles: RwLock<SeededMap<RuleSignature, u32>>,
}

impl RuleNumbers {
    /// The number of a rule, equal for rules that no suffix tells apart.
    pub(super) fn number(&self, program: &Program, insight: SignatureScope, rule: RuleId) -> u32 {
        let known = self.known.get_or_init(|| program.rules.iter().map(|_| AtomicU32::new(0)).collect());
        let known = &known[rule.0 as usize];
        match known.load(Ordering::Relaxed) {
            0 => {}
            number => return number,
        }
        let number = match profile_within(program, insight, rule) {
            // No signature is that of a single rule.
            None => rule.0 + 1,
            Some(profile) => {
                let mut profiles = self.profiles.write().unwrap_or_else(|p| p.into_inner());
                let next = profiles.len() as u32;
                PROFILE | *profiles.entry(profile).or_insert(next)
            }
        };
        known.store(number, Ordering::Relaxed);
        number
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        let profiles = self.profiles.read().unwrap_or_else(|p| p.into_inner());
        self.known.get().map_or(0, |k| size_of_val(&**k)) + profiles.len() * (size_of::<RuleSignature>() + 8)
    }
}
