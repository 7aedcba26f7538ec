//! Indexes in files.
//!
//! A file is an index pack (see `crate::artifact`) with a recipe (see `crate::python::convert::pickle_recipe`). Loading
//! one that holds tables maps them; loading one that does not compiles the recipe again. `ArtifactError` says if
//! version, vocabulary, checksum or the index that comes out differ.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::artifact::format::{FORMAT_VERSION, LIBRARY_VERSION};
use crate::artifact::index::IndexPack;
use crate::artifact::{Pack, PackKind};
use crate::error::{ErrorCode, ErrorKind, Result};
use crate::index::from_artifact::StoredIndex;
use crate::index::{Index, report};
use crate::python::convert::limits::{_restore_limits, PyLimits};
use crate::python::convert::source::FilePath;
use crate::python::convert::{pickle_recipe, source};
use crate::python::errors::{detached, of_kind};
use crate::python::runtime::cancel::interruptible;
use crate::python::vocabulary::{PyVocabulary, hex};
use crate::vocab::Vocabulary;

/// `value` as JSON.
pub fn dumps<'py>(value: &Bound<'py, PyAny>) -> PyResult<String> {
    value.py().import("json")?.getattr("dumps")?.call1((value,))?.extract()
}

/// The recipe of an index as JSON: `method` and its arguments, with nothing for the vocabulary.
pub fn recipe_of(method: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<String> {
    let py = arguments.py();
    let list = PyList::empty(py);
    for argument in arguments.iter() {
        if argument.is_instance_of::<PyVocabulary>() {
            list.append(py.None())?;
        } else if let Ok(limits) = argument.cast::<PyLimits>() {
            list.append(limits.get().to_dict(py)?)?;
        } else {
            list.append(argument)?;
        }
    }
    dumps(&(method, list).into_pyobject(py)?.into_any())
}

/// Write an index of which `recipe` is the recipe, with tables if there are any or `make` says how many states they may
/// have.
pub fn save(py: Python<'_>, path: PathBuf, index: &Index, recipe: String, make: Option<usize>) -> PyResult<()> {
    interruptible(py, None, move || IndexPack::from_index(index, recipe, make)?.save(&path))
}

/// The index in a file, and its recipe: its tables where the file holds some, else compiled again.
pub fn load(py: Python<'_>, path: &Path, vocabulary: &Arc<Vocabulary>) -> PyResult<(Index, String)> {
    interruptible(py, None, || open(path, vocabulary))
}

fn open(path: &Path, vocabulary: &Arc<Vocabulary>) -> Result<(Index, String)> {
    let pack = Pack::open(path, PackKind::Index)?;
    let ours = vocabulary.fingerprint();
    if pack.vocabulary() != ours {
        let (theirs, ours) = (hex(&pack.vocabulary()), hex(&ours));
        let e = pack.error(format_args!("is for the vocabulary {theirs}, not for {ours}"));
        return Err(e.coded_about(ErrorCode::OtherVocabulary, theirs));
    }
    let IndexPack { index: fingerprint, recipe, size, built, .. } = IndexPack::unpack(&pack)?;
    let Some((tables, report)) = built else {
        let index = pickle_recipe::compile(&recipe, vocabulary)?;
        if index.fingerprint() != fingerprint {
            return Err(pack.error("is damaged: it does not make the index that it names"));
        }
        return Ok((index, recipe));
    };
    if size != vocabulary.size() {
        return Err(pack.error("is damaged: its tables are for a vocabulary of another size"));
    }
    if pickle_recipe::method_of(&recipe).is_none() {
        return Err(pack.error("is damaged: its recipe has no sense"));
    }
    let (again, over) = (recipe.clone(), vocabulary.clone());
    let index = Index::stored(StoredIndex {
        vocabulary: vocabulary.clone(),
        fingerprint,
        tables,
        read_report: Box::new(move || report::read(&report)),
        remake: Box::new(move || pickle_recipe::compile(&again, &over)),
    });
    Ok((index, recipe))
}

/// Check every section of an index pack. The fingerprints of its vocabulary and its index, and its recipe.
#[pyfunction]
pub fn _verify_pack(py: Python<'_>, path: FilePath) -> PyResult<(String, String, String)> {
    let pack = detached(py, || {
        let pack = Pack::open(&path.0, PackKind::Index)?;
        pack.verify()?;
        IndexPack::unpack(&pack)
    })?;
    Ok((hex(&pack.vocabulary), hex(&pack.index), pack.recipe))
}

/// Check a vocabulary pack from its first byte to its last, and that it is true. Its fingerprint.
#[pyfunction]
pub fn _verify_vocabulary(py: Python<'_>, path: FilePath) -> PyResult<String> {
    Ok(hex(&detached(py, || crate::artifact::vocabulary::verify(&path.0))?))
}

/// The key under which a store keeps the index of a recipe: BLAKE3 over it, the vocabulary's fingerprint, the format
/// and the version.
#[pyfunction]
pub fn _store_key(recipe: &str, vocabulary: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"interlock store 1\0");
    hasher.update(&FORMAT_VERSION.to_le_bytes());
    // Lengths go before texts, so that no two keys hash the same bytes.
    for text in [LIBRARY_VERSION, vocabulary, recipe] {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hex(hasher.finalize().as_bytes())
}

/// The text and all flags of a pattern, as an index keeps them.
#[pyfunction]
pub fn _pattern_text(pattern: &Bound<'_, PyAny>, flags: &str) -> PyResult<(String, String)> {
    source::pattern(pattern, flags)
}

/// The text of a schema, as an index keeps it.
#[pyfunction]
pub fn _schema_text(schema: &Bound<'_, PyAny>) -> PyResult<String> {
    source::schema(schema)
}

/// The method and the arguments that a recipe's text names, for `vocabulary`.
pub fn arguments<'py>(
    recipe: &str,
    vocabulary: &Bound<'py, PyVocabulary>,
) -> PyResult<(&'static str, Bound<'py, PyTuple>)> {
    let py = vocabulary.py();
    let damaged = || of_kind(py, ErrorKind::Artifact, "the recipe of the index has no sense");
    let method = pickle_recipe::method_of(recipe).ok_or_else(damaged)?;
    let value = py.import("json")?.getattr("loads")?.call1((recipe,)).map_err(|_| damaged())?;
    let [_, arguments]: [Bound<'_, PyAny>; 2] = value.extract().map_err(|_| damaged())?;
    let arguments = arguments.cast_into::<PyList>().map_err(|_| damaged())?;
    if arguments.len() < 2 {
        return Err(damaged());
    }
    arguments.set_item(1, vocabulary)?;
    let at = pickle_recipe::limits_at(method);
    let limits = arguments.get_item(at).map_err(|_| damaged())?;
    let limits = limits.cast::<PyDict>().map_err(|_| damaged())?;
    arguments.set_item(at, Py::new(py, _restore_limits(limits).map_err(|_| damaged())?)?)?;
    Ok((method, arguments.to_tuple()))
}
