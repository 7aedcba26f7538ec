//! What this process has: its vocabularies, whose caches `stats` sums up and `clear_caches` empties, and counters.
//!
//! Vocabularies are held weakly. The lock is only tried, never waited for: after a fork it could be held by a thread
//! that no longer exists, and nothing that depends on it is needed for a right answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::cancel::{PyCancelToken, interruptible};
use super::errors::detached;
use crate::error::Result;
use crate::index::tables::Tables;
use crate::vocab::{Recipe, Vocabulary};

struct Known {
    fingerprint: [u8; 32],
    vocabulary: Weak<Vocabulary>,
    /// An index was compiled for it, so it has tables.
    used: bool,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Indexes compiled, sources refused, guides started and mask rows filled, since the process began.
pub static COMPILES: AtomicU64 = AtomicU64::new(0);
pub static REFUSALS: AtomicU64 = AtomicU64::new(0);
pub static GUIDES: AtomicU64 = AtomicU64::new(0);
pub static MASKS: AtomicU64 = AtomicU64::new(0);

/// Add to a counter.
pub fn count(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

/// A live vocabulary with this fingerprint and, if `model` is given, its model; so that a hundred unpickled indexes
/// share one.
pub fn find(fingerprint: &[u8], model: Option<&Recipe>) -> Option<Arc<Vocabulary>> {
    let known = KNOWN.try_lock().ok()?;
    known.iter().filter(|k| k.fingerprint[..] == *fingerprint).find_map(|k| {
        let vocabulary = k.vocabulary.upgrade()?;
        (model.is_none() || vocabulary.model().map(|m| m.recipe()) == model).then_some(vocabulary)
    })
}

/// Remember a vocabulary; `used` says that an index was compiled for it.
pub fn remember(vocabulary: &Arc<Vocabulary>, used: bool) {
    let Ok(mut known) = KNOWN.try_lock() else { return };
    if let Some(k) = known.iter_mut().find(|k| std::ptr::eq(k.vocabulary.as_ptr(), Arc::as_ptr(vocabulary))) {
        k.used |= used;
        return;
    }
    known.retain(|k| k.vocabulary.strong_count() > 0);
    known.push(Known { fingerprint: vocabulary.fingerprint(), vocabulary: Arc::downgrade(vocabulary), used });
}

/// Compile, unless that is cancelled, count, and remember the vocabulary.
pub fn compile<T: Send>(
    py: Python<'_>,
    vocabulary: &Arc<Vocabulary>,
    cancel: Option<&Bound<'_, PyCancelToken>>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let outcome = interruptible(py, cancel, work);
    remember(vocabulary, true);
    count(if outcome.is_ok() { &COMPILES } else { &REFUSALS }, 1);
    outcome
}

/// The tables of all vocabularies that have been compiled for.
fn tables() -> Vec<Arc<Tables>> {
    let Ok(known) = KNOWN.try_lock() else { return Vec::new() };
    let used: Vec<_> = known.iter().filter(|k| k.used).filter_map(|k| k.vocabulary.upgrade()).collect();
    drop(known);
    used.iter().filter_map(|vocabulary| Tables::of(vocabulary).ok()).collect()
}

/// Counters of this process: what was compiled and filled, and what the caches of the live vocabularies did.
///
/// ``mask_hits`` and ``mask_misses`` count masks that an index remembered and those that it put together to remember;
/// ``mask_walks`` counts walks of the vocabulary for a lexeme's state, ``mask_parts`` what was put together for all
/// indexes. ``lexemes`` and ``cache_bytes`` say what the caches hold now; everything else only grows while the
/// vocabularies live.
#[pyfunction]
pub fn stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let sums = detached(py, || {
        let mut sums = [0u64; 9];
        for tables in tables() {
            let s = tables.stats();
            let masks = [s.mask_walks, s.mask_hits, s.mask_misses, s.parts];
            let now = [&[s.lexeme_hits, s.lexeme_misses], &masks[..], &[s.evictions, s.lexemes, s.bytes]].concat();
            sums.iter_mut().zip(now).for_each(|(sum, n)| *sum += n);
        }
        Ok(sums)
    })?;
    let names = [
        "lexeme_hits",
        "lexeme_misses",
        "mask_walks",
        "mask_hits",
        "mask_misses",
        "mask_parts",
        "evictions",
        "lexemes",
        "cache_bytes",
    ];
    let counters = PyDict::new(py);
    for (name, counter) in [("compiles", &COMPILES), ("refusals", &REFUSALS), ("guides", &GUIDES), ("masks", &MASKS)] {
        counters.set_item(name, counter.load(Ordering::Relaxed))?;
    }
    for (name, sum) in names.into_iter().zip(sums) {
        counters.set_item(name, sum)?;
    }
    Ok(counters)
}

/// Forget what is cached for the process. Indexes and guides that exist keep what they need.
#[pyfunction]
pub fn clear_caches(py: Python<'_>) -> PyResult<()> {
    detached(py, || {
        tables().iter().for_each(|tables| tables.clear());
        Ok(())
    })
}
