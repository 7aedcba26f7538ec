//! The base of a patch: what patches over one crossing set have in common.
//!
//! What may follow a string differs from schema to schema by a few tokens: the names to which a comma may lead, a
//! second closing bracket. The hundreds of others are equal, so each of many patches would be a heavy ingredient of its
//! own, with a finished row of its own in far memory (see `composition`). So a patch is split in two: its *base*, a
//! patch that others over the same crossing set have as well, and the few tokens that are left, its *rest*. Bases are
//! few, and the rows made with them stay near.
//!
//! A base is part of each patch that has it: tokens are only ever added to it, since a token that one ingredient takes
//! back another may allow. A base begins as a whole patch, and shrinks to what later patches share with it.

use hashbrown::HashMap;
use std::sync::Mutex;

use crate::mask::row_patch::LIGHT;
use crate::mask::row_patch::RowPatch;
use crate::util::seeded_hash::Seeded;

/// Bases of the same crossing tokens; of more the oldest is forgotten.
const MOST_BASES: usize = 8;
/// Bytes of all bases together; beyond, all begin anew.
const BYTES: usize = 1 << 20;

/// A patch in two parts, either of which may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedPatch {
    /// What other patches have as well: of more than `LIGHT` words, mostly.
    pub core: Option<RowPatch>,
    /// The rest.
    pub rest: RowPatch,
}

impl SharedPatch {
    /// Bytes of both parts, as if nobody else held the base: a patch may be the last that does.
    pub fn memory_bytes(&self) -> usize {
        self.core.as_deref().map_or(0, size_of_val) + size_of_val(&*self.rest)
    }
}

/// The bases of a vocabulary's patches.
#[derive(Default)]
pub struct PatchBases(Mutex<PatchBase>);

#[derive(Default)]
struct PatchBase {
    /// By the crossing tokens.
    of: HashMap<u64, Vec<RowPatch>, Seeded>,
    bytes: usize,
}

/// What `patch` has beside `core`. `None` if `core` is no part of it, or if that is much.
fn beside(patch: &[(u32, u32)], core: &[(u32, u32)]) -> Option<Vec<(u32, u32)>> {
    let (mut rest, mut left) = (Vec::new(), core);
    for &(word, bits) in patch {
        let mut more = bits;
        if let Some((&(at, of_core), rest)) = left.split_first()
            && at <= word
        {
            if at < word || of_core & !bits != 0 {
                return None;
            }
            more &= !of_core;
            left = rest;
        }
        if more != 0 {
            rest.push((word, more));
            if rest.len() > LIGHT {
                return None;
            }
        }
    }
    left.is_empty().then_some(rest)
}

/// The tokens of both.
fn common(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut other = b.iter().peekable();
    let shared = a.iter().filter_map(|&(word, bits)| {
        while other.next_if(|o| o.0 < word).is_some() {}
        let both = bits & other.next_if(|o| o.0 == word)?.1;
        (both != 0).then_some((word, both))
    });
    shared.collect()
}

fn tokens(patch: &[(u32, u32)]) -> u32 {
    patch.iter().map(|w| w.1.count_ones()).sum()
}

impl PatchBases {
    /// Splits a patch of some crossing tokens.
    pub fn split(&self, cross: u64, patch: RowPatch) -> SharedPatch {
        if patch.len() <= LIGHT {
            return SharedPatch { core: None, rest: patch };
        }
        let mut found = self.0.lock().unwrap_or_else(|p| p.into_inner());
        let PatchBase { of, bytes } = &mut *found;
        if *bytes > BYTES {
            of.clear();
            *bytes = 0;
        }
        let cores = of.entry(cross).or_default();
        let whole = |core: &RowPatch| Some((core.clone(), beside(&patch, core)?));
        if let Some((core, rest)) = cores.iter().find_map(whole) {
            return SharedPatch { core: Some(core), rest: rest.into() };
        }
        let shrunk = cores.iter().enumerate().filter_map(|(i, core)| {
            let core = common(&patch, core);
            let fits = 2 * tokens(&core) >= tokens(&patch);
            let rest = fits.then(|| beside(&patch, &core)).flatten()?;
            Some((i, core, rest))
        });
        // The base that loses least.
        let (at, core, rest): (usize, RowPatch, RowPatch) = match shrunk.max_by_key(|(_, core, _)| tokens(core)) {
            Some((i, core, rest)) => (i, core.into(), rest.into()),
            None => (cores.len(), patch, RowPatch::default()),
        };
        *bytes += size_of_val(&*core);
        let left = match cores.get_mut(at) {
            Some(old) => Some(std::mem::replace(old, core.clone())),
            None => {
                cores.push(core.clone());
                (cores.len() > MOST_BASES).then(|| cores.remove(0))
            }
        };
        *bytes -= left.map_or(0, |left| size_of_val(&*left));
        SharedPatch { core: Some(core), rest }
    }

    /// Forgets all bases; patches that were split keep theirs.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(|p| p.into_inner()) = PatchBase::default();
    }
}

#[cfg(test)]
mod tests;
