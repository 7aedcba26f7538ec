//! `interlock.Guide`.
//!
//! A guide sits behind a mutex that is only ever tried: a guide is one request's cursor, so two threads that use it
//! at once have a bug, and get an error instead of waiting or of corrupting the cursor.

mod forced_within;
mod slot;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::error::{ErrorKind, Result, counted};
use crate::guide::Guide;
use crate::guide::GuideOptions;
use crate::guide::history::replay::Past;
use crate::python::convert::argument::{Given, LEFT_OUT, duration, integer};
use crate::python::convert::buffer::MaskRows;
use crate::python::convert::ids::{NO_TOKEN, TokenId, TokenIds, signed_ids};
use crate::python::errors::{busy, internal, of_kind, panic_message, to_exception};
use crate::python::guide::forced_within::{Wanted, forced_within};
use crate::python::index::{PyIndex, state_bytes};
use crate::python::runtime::fork::without_gil;
use crate::python::runtime::process_caches;
use crate::vocab::Vocabulary;

pub(super) use slot::Slot;

/// What is said of an integer that is negative or too large for a token id.
fn not_an_id(index: &PyIndex, id: TokenId<'_, '_>) -> String {
    format!("no token has the id {}: ids lie from 0 to {}", id.given(), index.core().vocabulary().size() - 1)
}

/// Characters of a guide's text that `repr` shows at most.
const SHOWN: usize = 40;

/// One request's cursor over an index.
///
/// It says which tokens may come next, takes the one that was chosen, and can go back. It owns the end of the output:
/// stop tokens are allowed exactly where the output is complete. Made by ``Index.guide``.
///
/// Not for two threads at once: that raises ``GuideBusyError``. Use ``fork`` for a second cursor.
#[pyclass(frozen, module = "interlock", name = "Guide")]
pub struct PyGuide {
    index: Py<PyIndex>,
    options: GuideOptions,
    vocabulary: Arc<Vocabulary>,
    slot: Mutex<Slot>,
}

impl PyGuide {
    /// A guide at the start of `index`.
    pub fn start(index: &Bound<'_, PyIndex>, options: GuideOptions) -> PyResult<PyGuide> {
        let py = index.py();
        let core = index.get().core();
        let guide = crate::python::errors::detached(py, || core.guide(&options))?;
        let vocabulary = core.vocabulary().clone();
        process_caches::count(&process_caches::GUIDES, 1);
        let slot = Mutex::new(Slot::new(guide));
        Ok(PyGuide { index: index.clone().unbind(), options, vocabulary, slot })
    }

    /// Words of a mask row.
    pub fn words(&self) -> usize {
        self.vocabulary.words()
    }

    /// The vocabulary of its index.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The slot, unless it is in use.
    pub fn try_slot(&self) -> Option<MutexGuard<'_, Slot>> {
        match self.slot.try_lock() {
            Ok(slot) => Some(slot),
            // Panics are caught inside the lock, so it cannot be poisoned; if it were, `broken` would still tell.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn lock<'a>(&'a self, py: Python<'_>) -> PyResult<MutexGuard<'a, Slot>> {
        let slot = self.try_slot().ok_or_else(|| busy_guide(py))?;
        slot.check(py)?;
        Ok(slot)
    }

    /// Run `work` on the guide with the GIL held.
    #[inline]
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Guide) -> T) -> PyResult<T> {
        let mut slot = self.lock(py)?;
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut slot.guide)));
        slot.settle(py, outcome)
    }

    /// Read what is known of the guide, though it failed.
    fn read<T>(&self, py: Python<'_>, look: impl FnOnce(&Guide) -> T) -> PyResult<T> {
        let slot = self.try_slot().ok_or_else(|| busy_guide(py))?;
        catch_unwind(AssertUnwindSafe(|| look(&slot.guide))).map_err(|panic| internal(py, &panic_message(&*panic)))
    }

    /// Fill one row that is wide enough. What is known takes less than releasing the GIL and taking it again.
    #[inline]
    fn fill_row(&self, py: Python<'_>, words: &mut [u32]) -> PyResult<bool> {
        let mut slot = self.lock(py)?;
        process_caches::count(&process_caches::MASKS, 1);
        let inner = &mut *slot;
        let known = catch_unwind(AssertUnwindSafe(|| inner.guide.fill_known_mask(words)));
        let outcome = match known {
            Ok(Some(masked)) => return Ok(masked),
            Ok(None) => {
                let began = Instant::now();
                let filled = without_gil(py, || inner.guide.fill_asked_mask(words));
                inner.took = began.elapsed();
                filled
            }
            Err(panic) => Err(panic),
        };
        slot.settle(py, outcome)
    }

    /// Run `work` on the guide without the GIL.
    pub(super) fn with_detached<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Slot) -> T + Send,
    ) -> PyResult<T> {
        self.lock(py)?.detached(py, work)
    }
}

fn busy_guide(py: Python<'_>) -> PyErr {
    busy(py, "this guide is in use by another thread; fork it, or give each thread its own")
}

/// A core result as a Python one.
fn convert<T>(py: Python<'_>, result: Result<T>) -> PyResult<T> {
    result.map_err(|error| to_exception(py, &error))
}

#[pymethods]
impl PyGuide {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<PyGuide> {
        Err(PyTypeError::new_err(
            "a Guide is made by its index: index.guide(), with max_tokens and stop_token_ids if any",
        ))
    }

    /// Write the mask of allowed tokens into one row of ``bits``: bit ``t & 31`` of word ``t >> 5`` is 1 for allowed.
    ///
    /// ``bits`` is a C-contiguous ``int32`` NumPy array or torch CPU tensor of shape ``[rows, words]``, or one row,
    /// with at least ``ceil(size / 32)`` words. Words beyond the vocabulary become 0. ``ArgumentError`` for any other
    /// array or row: then nothing is written. Returns False, with a row of all ones, when nothing is masked because the
    /// output has ended.
    #[pyo3(signature = (bits, row=LEFT_OUT), text_signature = "($self, bits, row=0)")]
    fn fill_bitmask(&self, py: Python<'_>, bits: &Bound<'_, PyAny>, row: Given<'_, '_>) -> PyResult<bool> {
        let row = row.integer("row", 0)?;
        let mut mask = MaskRows::<true>::new(bits)?;
        mask.check_width(self.words(), || "the vocabulary".into())?;
        let words = mask.row_mut(row)?;
        self.fill_row(py, words)
    }

    /// Take one token. Raises ``TokenRejected``, and changes nothing, if it is not allowed.
    fn advance(&self, py: Python<'_>, id: TokenId<'_, '_>) -> PyResult<()> {
        let mut slot = self.lock(py)?;
        if slot.step(py, |guide| guide.try_advance(id.id))? {
            return Ok(());
        }
        let reason = match id.id {
            NO_TOKEN => not_an_id(self.index.get(), id),
            id => slot.detached(py, |slot| slot.guide.explain(id))?,
        };
        Err(of_kind(py, ErrorKind::TokenRejected, reason))
    }

    /// Take one token if it is allowed; return whether it was.
    fn try_advance(&self, py: Python<'_>, id: TokenId<'_, '_>) -> PyResult<bool> {
        self.lock(py)?.step(py, |guide| guide.try_advance(id.id))
    }

    /// Take the longest allowed prefix of ``ids`` and return its length, which is what ``rollback`` would undo.
    fn advance_many(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let ids = TokenIds::several(ids, "ids")?;
        self.with_detached(py, |slot| slot.guide.advance_many(&ids.ids))
    }

    /// The length of the longest allowed prefix of ``ids``, a stop token included; the guide stays where it is.
    fn validate(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let ids = TokenIds::several(ids, "ids")?;
        self.with_detached(py, |slot| slot.guide.validate(&ids.ids))
    }

    /// Undo the last ``n`` tokens, a stop token included. ``ArgumentError``, and nothing is undone, if there are fewer.
    fn rollback(&self, py: Python<'_>, n: &Bound<'_, PyAny>) -> PyResult<()> {
        let n = integer(n, "n")?;
        let n = usize::try_from(n)
            .map_err(|_| crate::python::errors::argument(py, format!("cannot roll back {n} tokens")))?;
        let mut slot = self.lock(py)?;
        let outcome = match slot.guide.may_return_long() {
            true => slot.detached(py, |slot| slot.guide.rollback(n))?,
            false => slot.step(py, |guide| guide.rollback(n))?,
        };
        convert(py, outcome)
    }

    /// Go back to the start.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Guide::reset)
    }

    /// A second guide in the same state, history included.
    fn fork(&self, py: Python<'_>) -> PyResult<PyGuide> {
        let mut slot = self.lock(py)?;
        let guide = catch_unwind(AssertUnwindSafe(|| slot.guide.clone()));
        let fork = Slot { took: slot.took, ..Slot::new(slot.settle(py, guide)?) };
        Ok(PyGuide {
            index: self.index.clone_ref(py),
            options: self.options.clone(),
            vocabulary: self.vocabulary.clone(),
            slot: Mutex::new(fork),
        })
    }

    /// Whether the output may stop here: a stop token is allowed.
    #[getter]
    fn is_accepting(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, Guide::is_accepting)
    }

    /// Whether only a stop token can follow.
    #[getter]
    fn must_stop(&self, py: Python<'_>) -> PyResult<bool> {
        let mut slot = self.lock(py)?;
        // Most places are none where the output may end. Elsewhere a mask may have to be made.
        if !slot.step(py, Guide::is_accepting)? {
            return Ok(false);
        }
        slot.detached(py, |slot| slot.guide.must_stop())
    }

    /// Whether a stop token was taken. A guide that failed still answers.
    #[getter]
    fn is_terminated(&self, py: Python<'_>) -> PyResult<bool> {
        self.read(py, Guide::is_terminated)
    }

    /// How many tokens were taken, a stop token included. Of a guide that failed, those until then.
    #[getter]
    fn num_tokens(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, Guide::num_tokens)
    }

    /// About how many bytes this guide holds, most of them for rolling back (see ``Limits.max_guide_bytes``). Forks
    /// share pieces of that, which count for each of them.
    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |guide| guide.memory_bytes())
    }

    /// The tokens that were taken. A guide that failed still answers: with those until then.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.read(py, Guide::tokens)
    }

    /// The state as a hashable value. Guides of one index in equal states allow the same continuations, as far as these
    /// do not depend on ``max_tokens`` and ``stop_token_ids``, which are not part of it.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.with_detached(py, |slot| slot.guide.state_key())?;
        Ok(state_bytes(py, self.index.get(), &key))
    }

    /// The index that this guide walks.
    #[getter]
    fn index(&self, py: Python<'_>) -> Py<PyIndex> {
        self.index.clone_ref(py)
    }

    /// The tokens that are allowed now, ascending, as an ``int32`` array; stop tokens included, and empty after one was
    /// taken.
    fn allowed_token_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let ids = self.with_detached(py, |slot| slot.guide.allowed_token_ids())?;
        // Ids lie below `MAX_SIZE`, 2^22.
        Ok(PyArray1::from_iter(py, ids.into_iter().map(|id| id as i32)))
    }

    /// Why a token is refused, in words: the byte at fault, the place in the source, and what was allowed.
    fn explain(&self, py: Python<'_>, id: TokenId<'_, '_>) -> PyResult<String> {
        match id.id {
            NO_TOKEN => Ok(not_an_id(self.index.get(), id)),
            id => self.with_detached(py, |slot| slot.guide.explain(id)),
        }
    }

    /// The bytes that must come next, whatever tokens spell them. They may end inside a character. At most 65,536 of
    /// them: what must follow these, the guide says once they were taken.
    fn forced_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with_detached(py, |slot| slot.guide.forced_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The whole characters of ``forced_bytes``.
    fn forced_text(&self, py: Python<'_>) -> PyResult<String> {
        let bytes = self.with_detached(py, |slot| slot.guide.forced_bytes())?;
        let whole = match std::str::from_utf8(&bytes) {
            Ok(text) => text.len(),
            Err(e) => e.valid_up_to(),
        };
        Ok(String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default()).into_owned())
    }

    /// The tokens that must come next: the tokenizer makes them of every permitted output, whatever follows them.
    ///
    /// Exact or empty. Empty as well where the tokens so far are not those that the tokenizer itself makes, and without
    /// ``Vocabulary.knows_tokenizer``: known are byte-level BPE with a known pattern, sentencepiece BPE and unigram
    /// models. ``context_ids`` of ``Index.guide`` decide how the output begins.
    ///
    /// ``after`` are tokens that are taken as if they had been sampled, a draft for instance; the guide stays where it
    /// is. The answer is empty where one of them is refused.
    ///
    /// With ``canonical=False`` the answer goes on, or begins, where the tokenizer's own tokens are not known: the rest
    /// of ``forced_bytes`` is spelled with the longest tokens that fit. They are permitted, and what they spell is
    /// certain, but the tokenizer might have made others of it.
    ///
    /// Nothing bounds what a call takes: where 25,000 choices are open it is up to half a second. With ``within``, a
    /// number of seconds, it waits no longer, as ``fill_bitmasks_within``: the answer is empty where the tokens are not
    /// found by then. A thread goes on meanwhile, and a later call at the same place takes what it has found.
    #[pyo3(signature = (after=None, canonical=LEFT_OUT, within=None),
           text_signature = "($self, after=None, canonical=True, within=None)")]
    fn forced_tokens(
        &self,
        py: Python<'_>,
        after: Option<&Bound<'_, PyAny>>,
        canonical: Given<'_, '_>,
        within: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<u32>> {
        let after = after.map(|ids| TokenIds::several(ids, "after")).transpose()?.map(|after| after.ids);
        let wanted = Wanted { after, canonical: canonical.flag("canonical", true)? };
        let Some(within) = within else { return self.with_detached(py, |slot| wanted.find(&mut slot.guide)) };
        let time = duration(within, "within")?;
        self.with_detached(py, |slot| forced_within(&mut slot.guide, &mut slot.forced, &wanted, time))
    }

    /// A number of tokens that complete the output from here, the stop token not counted; 0 where it may end.
    ///
    /// So many tokens do complete it. It is the least number if ``build`` made complete tables of the index (then
    /// ``Index.num_transitions`` is a number); elsewhere fewer may do. ``BudgetError`` if no short way to the end was
    /// found.
    fn min_tokens_to_finish(&self, py: Python<'_>) -> PyResult<usize> {
        let outcome = self.with_detached(py, |slot| slot.guide.min_tokens_to_finish())?;
        convert(py, outcome)
    }

    /// Write ``len(ids) + 1`` rows of ``bits`` from ``row`` on: the first is the mask here, row ``i + 1`` after it the
    /// mask after draft ``i``. ``bits`` is as for ``fill_bitmask``.
    ///
    /// ``parents`` makes a tree of the drafts: ``parents[i]`` is the draft before ``i``, or -1. Rows after a refused
    /// draft, and after a stop token, are all ones; an id of -1 is padding. Returns how many drafts were accepted, a
    /// stop token included. The guide stays where it is.
    #[pyo3(signature = (ids, bits, row=LEFT_OUT, parents=None),
           text_signature = "($self, ids, bits, row=0, parents=None)")]
    fn fill_draft_bitmasks(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        bits: &Bound<'_, PyAny>,
        row: Given<'_, '_>,
        parents: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let (ids, row) = (signed_ids(ids, "ids")?, row.integer("row", 0)?);
        let parents = parents.map(|ids| signed_ids(ids, "parents")).transpose()?;
        let mut mask = MaskRows::<true>::new(bits)?;
        mask.check_width(self.words(), || "the vocabulary".into())?;
        let rows = mask.span_mut(row, ids.len() + 1)?;
        let outcome = self.with_detached(py, |slot| slot.guide.fill_draft_masks(&ids, parents.as_deref(), rows))?;
        process_caches::count(&process_caches::MASKS, ids.len() as u64 + 1);
        convert(py, outcome)
    }

    /// How many tokens were taken, and the end of what they spell.
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let seen = |guide: &Guide| (guide.tokens(), guide.is_terminated(), guide.failure().is_some());
        let (tokens, ended, failed) = self.read(py, seen)?;
        let core = self.index.get().core();
        let spelled = |id: &u32| core.vocabulary().spelling(*id).unwrap_or_default().to_vec();
        // A token is mostly several bytes, and few of them have none.
        let last = tokens.get(tokens.len().saturating_sub(4 * SHOWN)..).unwrap_or_default();
        let bytes: Vec<u8> = last.iter().flat_map(spelled).collect();
        let text = String::from_utf8_lossy(&bytes);
        let all = last.len() == tokens.len() && text.chars().count() <= SHOWN;
        let skipped = if all { 0 } else { text.chars().count().saturating_sub(SHOWN) };
        let shown: String = text.chars().skip(skipped).collect();
        let dots = if all { "" } else { "..." };
        let count = counted(tokens.len() as u64, "token");
        let end = if ended {
            ", terminated"
        } else if failed {
            ", failed"
        } else {
            ""
        };
        Ok(format!("<interlock.Guide after {count}, text {dots}{shown:?}{end}>"))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<PyGuide> {
        self.fork(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyDict>) -> PyResult<PyGuide> {
        self.fork(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Past { tokens, outside, asked, taken_back } = self.with(py, |guide| guide.past())?;
        let GuideOptions { stop_token_ids, max_tokens, context_ids, min_tokens, canonical_forced } =
            self.options.clone();
        let restore = py.import("interlock._core")?.getattr("_restore_guide")?;
        // What complete tables say of a budget is exact, and more than an index without them promises.
        let built = max_tokens.is_some() && self.index.get().core().built().is_some();
        let request = (self.index.clone_ref(py), tokens, stop_token_ids, max_tokens, context_ids, built, min_tokens);
        let arguments = request
            .into_pyobject(py)?
            .as_sequence()
            .concat((canonical_forced, outside, asked, taken_back).into_pyobject(py)?.as_sequence())?;
        (restore, arguments.to_tuple()?).into_pyobject(py)
    }
}

/// Rebuild a pickled guide; ``pickle`` calls it.
#[pyfunction]
#[pyo3(signature = (index, tokens, stop_token_ids, max_tokens, context_ids=None, built=false, min_tokens=0,
                    canonical_forced=false, outside=Vec::new(), asked=Vec::new(), taken_back=0))]
#[allow(clippy::too_many_arguments)]
pub fn _restore_guide(
    py: Python<'_>,
    index: &Bound<'_, PyIndex>,
    tokens: Vec<u32>,
    stop_token_ids: Option<Vec<u32>>,
    max_tokens: Option<usize>,
    context_ids: Option<Vec<u32>>,
    built: bool,
    min_tokens: usize,
    canonical_forced: bool,
    outside: Vec<(usize, Vec<u32>)>,
    asked: Vec<(usize, u32)>,
    taken_back: u32,
) -> PyResult<PyGuide> {
    if built && index.get().core().built().is_none() {
        index.call_method1("build", (1,))?;
    }
    let guide =
        PyGuide::start(index, GuideOptions { stop_token_ids, max_tokens, context_ids, min_tokens, canonical_forced })?;
    let past = Past { tokens, outside, asked, taken_back };
    let taken = guide.with_detached(py, |slot| slot.guide.replay(&past))?;
    if taken != past.tokens.len() {
        let took = counted(past.tokens.len() as u64, "token");
        let message = format!("the pickled guide took {took}, its index allows {taken}");
        return Err(of_kind(py, ErrorKind::Artifact, message));
    }
    Ok(guide)
}

// Every id that Python hands over and that cannot be one is refused like any other token that is not allowed.
const _: () = assert!(NO_TOKEN as usize > crate::vocab::MAX_SIZE);
