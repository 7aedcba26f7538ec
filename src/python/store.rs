//! Indexes in files.
//!
//! A file is a grammar pack (see `crate::artifact`) whose recipe is JSON: the class method that makes the index and its
//! arguments. Loading compiles the recipe again and refuses with `ArtifactError` if version, vocabulary, checksum or
//! the index that comes out differ.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::errors::{detached, of_kind};
use super::limits::{_restore_limits, PyLimits};
use super::source;
use super::vocabulary::{PyVocabulary, hex};
use crate::artifact::format::{FORMAT_VERSION, LIBRARY_VERSION};
use crate::artifact::grammar::Grammar;
use crate::artifact::{Kind, Pack};
use crate::error::{Error, ErrorKind, Result};

const METHODS: [&str; 3] = ["from_regex", "from_json_schema", "from_choices"];

fn dumps<'py>(value: &Bound<'py, PyAny>) -> PyResult<String> {
    value.py().import("json")?.getattr("dumps")?.call1((value,))?.extract()
}

/// The recipe of an index as JSON: `method` and its arguments, with nothing in the place of the vocabulary.
pub fn recipe(method: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<String> {
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

/// Write the recipe of an index: `method` called with `arguments`, among them the vocabulary.
pub fn save(
    path: PathBuf,
    method: &str,
    arguments: &Bound<'_, PyTuple>,
    vocabulary: &[u8; 32],
    index: &[u8; 32],
) -> PyResult<()> {
    let recipe = recipe(method, arguments)?;
    let grammar = Grammar { vocabulary: *vocabulary, index: *index, recipe };
    detached(arguments.py(), move || grammar.save(&path))
}

/// What a file says: the recipe's text and the fingerprint of the index that it makes.
fn read(path: &Path, vocabulary: &[u8; 32]) -> Result<(String, String)> {
    let grammar = Grammar::load(path)?;
    if grammar.vocabulary != *vocabulary {
        let (theirs, ours) = (hex(&grammar.vocabulary), hex(vocabulary));
        let message = format!("{} is for the vocabulary {theirs}, not for {ours}", path.display());
        return Err(Error::new(ErrorKind::Artifact, message));
    }
    Ok((grammar.recipe, hex(&grammar.index)))
}

/// Check every section of a grammar pack. The fingerprints of its vocabulary and its index, and its recipe.
#[pyfunction]
pub fn _verify_pack(py: Python<'_>, path: PathBuf) -> PyResult<(String, String, String)> {
    let grammar = detached(py, || {
        let pack = Pack::open(&path, Kind::Grammar)?;
        pack.verify()?;
        Grammar::unpack(&pack)
    })?;
    Ok((hex(&grammar.vocabulary), hex(&grammar.index), grammar.recipe))
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

/// The index in a file: the class method and its arguments, and the fingerprint that the result must have.
pub fn load<'py>(
    path: PathBuf,
    vocabulary: &Bound<'py, PyVocabulary>,
) -> PyResult<(String, Bound<'py, PyTuple>, String)> {
    let py = vocabulary.py();
    let fingerprint = vocabulary.get().core.fingerprint();
    let (body, index) = detached(py, || read(&path, &fingerprint))?;
    let damaged =
        || of_kind(py, ErrorKind::Artifact, format!("{} is damaged: its recipe has no sense", path.display()));
    let recipe = py.import("json")?.getattr("loads")?.call1((body,)).map_err(|_| damaged())?;
    let [method, arguments]: [Bound<'_, PyAny>; 2] = recipe.extract().map_err(|_| damaged())?;
    let method: String = method.extract().map_err(|_| damaged())?;
    let arguments = arguments.cast_into::<PyList>().map_err(|_| damaged())?;
    if !METHODS.contains(&method.as_str()) || arguments.len() < 2 {
        return Err(damaged());
    }
    arguments.set_item(1, vocabulary)?;
    // Limits are the last argument that is a mapping.
    let limits = (0..arguments.len()).rev().filter_map(|at| Some((at, arguments.get_item(at).ok()?)));
    let (at, limits) = limits.into_iter().find(|(_, a)| a.is_instance_of::<PyDict>()).ok_or_else(damaged)?;
    let limits = limits.cast::<PyDict>().map_err(|_| damaged())?;
    arguments.set_item(at, Py::new(py, _restore_limits(limits).map_err(|_| damaged())?)?)?;
    Ok((method, arguments.to_tuple(), index))
}
