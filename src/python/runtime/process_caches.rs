//! What this process has: its vocabularies, whose caches `stats` sums up and `clear_caches` empties, and counters.
//!
//! Vocabularies are held weakly. The lock is held for moments, and only waited for that long: after a fork it could be
//! held by a thread that no longer exists, and nothing that depends on it is needed for a right answer.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::compile::index_cache::{CacheStats, CompileCache};
use crate::limits::{self, INDEX_BYTES};
use crate::mask::vocab_tables::VocabTables;
use crate::python::convert::argument::count as count_argument;
use crate::python::errors::detached;
use crate::python::runtime::allocator::release_free_pages;
use crate::util::memory_growth;
use crate::vocab::{ModelParts, Vocabulary};

struct KnownVocabulary {
    fingerprint: [u8; 32],
    vocabulary: Weak<Vocabulary>,
    /// The vocabulary's indexes. Whoever hands the vocabulary to Python holds them.
    compiled: Weak<CompileCache>,
    /// An index was compiled for it, so it has tables.
    used: bool,
}

static KNOWN: Mutex<Vec<KnownVocabulary>> = Mutex::new(Vec::new());

/// Bytes of indexes that every vocabulary may keep.
static MOST_BYTES: AtomicUsize = AtomicUsize::new(INDEX_BYTES);

/// Indexes compiled, sources refused, guides started and mask rows filled, since the process began.
pub static COMPILES: AtomicU64 = AtomicU64::new(0);
pub static REFUSALS: AtomicU64 = AtomicU64::new(0);
pub static GUIDES: AtomicU64 = AtomicU64::new(0);
pub static MASKS: AtomicU64 = AtomicU64::new(0);
/// Rows that were late for a step of their batch.
pub static LATE_MASKS: AtomicU64 = AtomicU64::new(0);
/// Indexes that a store had, and those that were asked of one in vain.
static STORE_HITS: AtomicU64 = AtomicU64::new(0);
static STORE_MISSES: AtomicU64 = AtomicU64::new(0);

/// Add to a counter.
pub fn count(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

/// What is known, unless a thread held it that a forked child does not have.
fn known() -> Option<MutexGuard<'static, Vec<KnownVocabulary>>> {
    /// Looks at the lock.
    const TRIES: usize = 1_000;
    (0..TRIES).find_map(|_| match KNOWN.try_lock() {
        Ok(known) => Some(known),
        Err(TryLockError::Poisoned(known)) => Some(known.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::yield_now();
            None
        }
    })
}

/// A live vocabulary with this fingerprint whose tokenizer encodes as `model` says, so that a hundred unpickled indexes
/// share one.
pub fn find(fingerprint: &[u8], model: impl FnOnce() -> Option<ModelParts>) -> Option<Arc<Vocabulary>> {
    let known = known()?;
    let same = known.iter().filter(|k| k.fingerprint[..] == *fingerprint);
    let same: Vec<_> = same.filter_map(|k| k.vocabulary.upgrade()).collect();
    // Comparing models takes long, and so may letting go of a vocabulary.
    drop(known);
    if same.is_empty() {
        return None;
    }
    let model = model();
    same.into_iter().find(|vocabulary| vocabulary.model_parts() == model)
}

/// What is known of a vocabulary, which is from now on.
fn entry<'a>(known: &'a mut Vec<KnownVocabulary>, vocabulary: &Arc<Vocabulary>) -> &'a mut KnownVocabulary {
    let at = known.iter().position(|k| std::ptr::eq(k.vocabulary.as_ptr(), Arc::as_ptr(vocabulary)));
    let at = at.unwrap_or_else(|| {
        known.retain(|k| k.vocabulary.strong_count() > 0);
        let (fingerprint, vocabulary) = (vocabulary.fingerprint(), Arc::downgrade(vocabulary));
        known.push(KnownVocabulary { fingerprint, vocabulary, compiled: Weak::new(), used: false });
        known.len() - 1
    });
    &mut known[at]
}

/// Remember a vocabulary. The cache of its indexes, one for all who hand it to Python.
pub fn remember(vocabulary: &Arc<Vocabulary>) -> Arc<CompileCache> {
    let fresh = || Arc::new(CompileCache::new(MOST_BYTES.load(Ordering::Relaxed)));
    let Some(mut known) = known() else { return fresh() };
    let known = entry(&mut known, vocabulary);
    let compiled = known.compiled.upgrade().unwrap_or_else(fresh);
    known.compiled = Arc::downgrade(&compiled);
    compiled
}

/// Count a compile that succeeded or not, and that its vocabulary has tables.
pub fn compiled(vocabulary: &Arc<Vocabulary>, succeeded: bool) {
    count(if succeeded { &COMPILES } else { &REFUSALS }, 1);
    if let Some(mut known) = known() {
        entry(&mut known, vocabulary).used = true;
    }
}

/// The tables of all vocabularies that have been compiled for.
fn tables() -> Vec<Arc<VocabTables>> {
    let Some(known) = known() else { return Vec::new() };
    let used: Vec<_> = known.iter().filter(|k| k.used).filter_map(|k| k.vocabulary.upgrade()).collect();
    drop(known);
    used.iter().filter_map(|vocabulary| VocabTables::for_vocabulary(vocabulary).ok()).collect()
}

/// The indexes of all vocabularies.
fn caches() -> Vec<Arc<CompileCache>> {
    let Some(known) = known() else { return Vec::new() };
    known.iter().filter_map(|k| k.compiled.upgrade()).collect()
}

/// Counters of this process: what was compiled and filled, and what the caches of the live vocabularies did.
///
/// ``compiles`` counts indexes that were made, ``compile_hits`` those that were found again by their source,
/// ``refusals`` sources that ended in an error: no compile that was cancelled or met its deadline, and no request
/// that was refused before its source was compiled. ``guides`` counts guides that were started and ``masks`` rows that
/// were filled. ``lexeme_hits`` and ``lexeme_misses`` count strings, numbers and keys of a source that were found among
/// those of other indexes, and those that were made; ``evictions`` those that the cache let go. ``mask_hits`` and
/// ``mask_misses`` count masks that an index remembered and those that it put together to remember; ``mask_walks``
/// counts walks of the vocabulary for a lexeme's state, ``mask_parts`` what was put together for all indexes.
/// ``indexes`` and ``index_bytes`` say how many indexes are kept to be found and what they hold; a source that came
/// once is none of the former, and half a kilobyte of the latter until it comes again or has to go. ``lexemes`` and
/// ``cache_bytes`` say the same of their parts. ``held_bytes`` are those of all states and masks, whether they are kept
/// or in use, but for parts of masks that all sources share, and ``most_held_bytes`` what they may be: see
/// ``set_mask_cache_bytes``. ``late_masks`` counts rows that ``fill_bitmasks_within`` called late. Everything else only
/// grows while the vocabularies live.
/// ``store_hits`` counts indexes that a ``Store`` had, and ``store_misses`` those that were asked of one in vain.
#[pyfunction]
pub fn stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let sums = detached(py, || {
        let mut sums = [0u64; 12];
        for cache in caches() {
            let CacheStats { hits, indexes, bytes } = cache.stats();
            sums.iter_mut().skip(9).zip([hits, indexes, bytes]).for_each(|(sum, n)| *sum += n);
        }
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
        "compile_hits",
        "indexes",
        "index_bytes",
    ];
    let counters = PyDict::new(py);
    let of_process = [
        ("compiles", &COMPILES),
        ("refusals", &REFUSALS),
        ("guides", &GUIDES),
        ("masks", &MASKS),
        ("late_masks", &LATE_MASKS),
        ("store_hits", &STORE_HITS),
        ("store_misses", &STORE_MISSES),
    ];
    for (name, counter) in of_process {
        counters.set_item(name, counter.load(Ordering::Relaxed))?;
    }
    for (name, sum) in names.into_iter().zip(sums) {
        counters.set_item(name, sum)?;
    }
    counters.set_item("held_bytes", memory_growth::held())?;
    counters.set_item("most_held_bytes", memory_growth::most_held())?;
    Ok(counters)
}

/// Count an index that was asked of a store.
#[pyfunction]
#[pyo3(signature = (found), text_signature = "(found)")]
pub fn _count_store(found: bool) {
    count(if found { &STORE_HITS } else { &STORE_MISSES }, 1);
}

/// Forget what is cached for the process, and hand memory that is free back to the system; otherwise that happens some
/// seconds after its last use. Indexes and guides that exist keep what they need. Python's collector of garbage
/// runs first: an error and its traceback may hold each other, and with them the guide of a request that is over.
#[pyfunction]
pub fn clear_caches(py: Python<'_>) -> PyResult<()> {
    // An error holds the frames that it passed, and these may hold it: guides are let go of only then.
    py.import("gc")?.call_method0("collect")?;
    detached(py, || {
        caches().iter().for_each(|cache| cache.clear());
        tables().iter().for_each(|tables| tables.clear());
        release_free_pages();
        Ok(())
    })
}

/// Bound the bytes of compiled indexes that every vocabulary keeps, to be found again by their source; 64 MiB unless
/// this is called. With 0 nothing is kept, and every compile starts anew.
///
/// An index is kept from its second compile on; the least recently used leaves first. Indexes and guides that exist are
/// not touched.
#[pyfunction]
#[pyo3(signature = (n), text_signature = "(n)")]
pub fn set_index_cache_bytes(py: Python<'_>, n: &Bound<'_, PyAny>) -> PyResult<()> {
    let n = count_argument(n, "the number of bytes")?;
    detached(py, || {
        MOST_BYTES.store(n, Ordering::Relaxed);
        caches().iter().for_each(|cache| cache.set_most(n));
        Ok(())
    })
}

/// How many bytes of compiled indexes every vocabulary keeps at most.
#[pyfunction]
pub fn get_index_cache_bytes() -> usize {
    MOST_BYTES.load(Ordering::Relaxed)
}

/// Bound the bytes of masks, and of the strings, numbers and terminals that they belong to, which every vocabulary
/// keeps for the sources to come; 256 MiB unless this is called.
///
/// What was used longest ago leaves first. Indexes that exist keep what they use, at most some 40 MiB for each of their
/// patterns. ``stats()["cache_bytes"]`` says how many bytes are kept, and ``stats()["held_bytes"]`` how many there are
/// with those that running sources hold.
///
/// Running sources may hold as many bytes again, or 128 MiB if that is more. Beyond that, what patterns and
/// schemas find is not kept, and a grammar that took much itself ends at its next mask with ``LimitError`` (``code``
/// is ``"too_little_memory"``): 16 MiB at first, less the more is held, and 2 MiB at last. So does a compile of more
/// than 16 MiB, or 4 at last. All others go on.
#[pyfunction]
#[pyo3(signature = (n), text_signature = "(n)")]
pub fn set_mask_cache_bytes(py: Python<'_>, n: &Bound<'_, PyAny>) -> PyResult<()> {
    let n = count_argument(n, "the number of bytes")?;
    detached(py, || {
        limits::set_mask_cache_bytes(n);
        tables().iter().for_each(|tables| tables.evict());
        Ok(())
    })
}

/// How many bytes of masks, and of what they belong to, every vocabulary keeps at most.
#[pyfunction]
pub fn get_mask_cache_bytes() -> usize {
    limits::mask_cache_bytes()
}
