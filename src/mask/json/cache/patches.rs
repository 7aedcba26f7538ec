//! Patches: allowed crossing tokens as sparse masks, shared by every index of a vocabulary.
//!
//! Which crossing tokens a mask allows depends on the lexeme state, which lists them by suffix, and on the viable
//! suffixes, and on nothing else. The second is a set of bits over the vocabulary's [`SuffixTrie`]. Many places of many
//! schemas have equal bits: the inside of a string is followed by the same suffixes in any member that is neither the
//! first nor the last. So the tokens of a pair of crossing set and viable suffixes are put together once, as a *patch*:
//! the words of a row with the bits to set. Whoever meets the pair again only applies the patch.

use crate::mask::row_patch::patch;
use hashbrown::Equivalent;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::mask::json::cache::composition::MaskComposition;
use crate::mask::json::cache::member_values::MemberValues;
use crate::mask::json::cache::patch_base::{PatchBases, SharedPatch};
use crate::mask::json::crossing::plausible::plausible;
use crate::mask::json::crossing::suffixes::SuffixTrie;
use crate::mask::lexeme::lexeme_mask::{CrossingToken, CrossingTokens};
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::{PARTIAL_NAMES, PATCHES};

/// What an entry costs beside its parts.
const OVERHEAD: usize = 96;

pub(crate) struct PatchKey {
    cross: u64,
    bits: Box<[u64]>,
}

struct PatchProbe<'a> {
    cross: u64,
    bits: &'a [u64],
}

fn hash_of<H: Hasher>(cross: u64, bits: &[u64], state: &mut H) {
    state.write_u64(cross);
    bits.iter().for_each(|&w| state.write_u64(w));
}

impl Hash for PatchKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_of(self.cross, &self.bits, state);
    }
}

impl Hash for PatchProbe<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_of(self.cross, self.bits, state);
    }
}

impl PartialEq for PatchKey {
    fn eq(&self, other: &PatchKey) -> bool {
        self.cross == other.cross && self.bits == other.bits
    }
}

impl Eq for PatchKey {}

impl Equivalent<PatchKey> for PatchProbe<'_> {
    fn equivalent(&self, key: &PatchKey) -> bool {
        self.cross == key.cross && *self.bits == *key.bits
    }
}

/// The patches of a vocabulary, by crossing set and viable suffixes, with the masks inside names and the values of
/// members that its indexes share.
#[derive(Default)]
pub struct PatchCache {
    /// `None` where some suffix of the crossing tokens is not among the vocabulary's.
    pub(crate) kept: BoundedCache<PatchKey, Option<SharedPatch>, PATCHES>,
    pub(crate) cores: PatchBases,
    /// Masks of places inside names.
    pub(crate) partial_names: BoundedCache<Box<[u8]>, Arc<MaskComposition>, PARTIAL_NAMES>,
    pub(crate) members: MemberValues,
    made: AtomicU64,
}

impl PatchCache {
    /// What [`patch`](Self::patch) made before.
    pub fn known(&self, cross: &CrossingTokens, bits: &[u64]) -> Option<SharedPatch> {
        self.kept.get(&PatchProbe { cross: cross.id, bits })?
    }

    /// The crossing tokens that `bits` over `suffixes` allow, whatever their lengths. `None` if some suffix of theirs
    /// is not among the vocabulary's, so that the bits do not tell.
    pub fn patch(&self, cross: &CrossingTokens, suffixes: &SuffixTrie, bits: &[u64]) -> Option<SharedPatch> {
        let probe = PatchProbe { cross: cross.id, bits };
        if let Some(known) = self.kept.get(&probe) {
            return known;
        }
        let mut tokens = Vec::new();
        let known = allowed(cross, suffixes, bits, |c| tokens.push(c.token));
        let made = known.then(|| self.cores.split(cross.id, patch(tokens)));
        let bytes = OVERHEAD + bits.len() * 8 + made.as_ref().map_or(0, SharedPatch::memory_bytes);
        self.made.fetch_add(1, Ordering::Relaxed);
        self.kept.keep(PatchKey { cross: cross.id, bits: bits.into() }, made.clone(), bytes);
        made
    }

    /// How many patches were made since the process began.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }
}

/// Calls `each` for the crossing tokens whose suffixes `bits` allow. False if some suffix is not among the
/// vocabulary's; the tokens that were found then are allowed all the same.
pub fn allowed(cross: &CrossingTokens, all: &SuffixTrie, bits: &[u64], mut each: impl FnMut(&CrossingToken)) -> bool {
    let fits = |node: u32| bits[node as usize / 64] >> (node % 64) & 1 == 1;
    if !fits(0) {
        return true;
    }
    let suffixes = &cross.suffixes;
    let mut path: smallvec::SmallVec<[u32; 32]> = smallvec::smallvec![0];
    let mut spelled: Vec<u8> = Vec::new();
    let mut emit = |node: u32| suffixes.tokens(node).iter().for_each(|&i| each(&cross.crossings[i as usize]));
    emit(0);
    let mut i = 1;
    while i < suffixes.len() as u32 {
        let depth = suffixes.depth[i as usize] as usize;
        path.truncate(depth);
        spelled.truncate(depth - 1);
        spelled.push(suffixes.byte[i as usize]);
        let before = path.last().copied().unwrap_or(0);
        match all.trie.child(before, suffixes.byte[i as usize]) {
            Some(same) if fits(same) => {
                emit(i);
                path.push(same);
                i += 1;
            }
            Some(_) => i = suffixes.end[i as usize],
            // The vocabulary's suffixes are all that some document contains, as far as they are known.
            None => {
                let end = suffixes.end[i as usize];
                while i < end {
                    spelled.truncate(suffixes.depth[i as usize] as usize - 1);
                    spelled.push(suffixes.byte[i as usize]);
                    if !suffixes.tokens(i).is_empty() && plausible(&spelled) {
                        return false;
                    }
                    i += 1;
                }
            }
        }
    }
    true
}
