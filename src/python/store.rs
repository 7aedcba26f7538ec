//! Indexes in files.
//!
//! Compiling takes less time than reading tables from a disk would, so a file holds the *recipe*: the source and its
//! options. What the file adds is safety. It names the version, the vocabulary and the index that it was made from, and
//! carries a checksum; loading compiles the recipe again and refuses with `ArtifactError`, saying which, if any of them
//! differs. A file is three parts: a line with the format's name and number, a line of JSON that describes the rest,
//! and the recipe as JSON. It is written under another name, synced and renamed, so that no reader sees half of it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde_json::{Value, json};

use super::errors::{detached, of_kind};
use super::limits::{_restore_limits, PyLimits};
use super::vocabulary::{PyVocabulary, hex};
use crate::error::{Error, ErrorKind, Result};

const MAGIC: &[u8] = b"interlock index 1\n";
const METHODS: [&str; 3] = ["from_regex", "from_json_schema", "from_choices"];

fn artifact(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Artifact, message)
}

fn dumps<'py>(value: &Bound<'py, PyAny>) -> PyResult<String> {
    value.py().import("json")?.getattr("dumps")?.call1((value,))?.extract()
}

/// Write the recipe of an index: `method` called with `arguments`, among them the vocabulary.
pub fn save(
    path: PathBuf,
    method: &str,
    arguments: &Bound<'_, PyTuple>,
    vocabulary: &[u8; 32],
    index: &[u8; 32],
) -> PyResult<()> {
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
    let body = dumps(&(method, list).into_pyobject(py)?.into_any())?;
    let head = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "vocabulary": hex(vocabulary),
        "index": hex(index),
        "bytes": body.len(),
        "checksum": hex(blake3::hash(body.as_bytes()).as_bytes()),
    });
    detached(py, move || {
        let whole = [MAGIC, head.to_string().as_bytes(), b"\n", body.as_bytes()].concat();
        write(&path, &whole).map_err(|e| artifact(format!("cannot write {}: {e}", path.display())))
    })
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    done
}

/// What a file says: the recipe's text and the fingerprint of the index that it makes.
fn read(path: &Path, vocabulary: &str) -> Result<(String, String)> {
    let whole = fs::read(path).map_err(|e| artifact(format!("cannot read {}: {e}", path.display())))?;
    let damaged = |what: &str| artifact(format!("{} {what}", path.display()));
    let rest = whole.strip_prefix(MAGIC).ok_or_else(|| damaged("is not an index of this format"))?;
    let end = rest.iter().position(|&b| b == b'\n').ok_or_else(|| damaged("is cut short"))?;
    let (head, body) = (&rest[..end], &rest[end + 1..]);
    let head: Value = serde_json::from_slice(head).map_err(|_| damaged("has a damaged header"))?;
    let field = |name: &str| head.get(name).and_then(Value::as_str).unwrap_or_default();
    if field("version") != env!("CARGO_PKG_VERSION") {
        let (theirs, ours) = (field("version"), env!("CARGO_PKG_VERSION"));
        return Err(damaged(&format!("was made by version {theirs:?}, this is {ours:?}: compile it again")));
    }
    if head.get("bytes").and_then(Value::as_u64) != Some(body.len() as u64) {
        return Err(damaged("is cut short"));
    }
    if field("checksum") != hex(blake3::hash(body).as_bytes()) {
        return Err(damaged("is damaged: its checksum differs"));
    }
    if field("vocabulary") != vocabulary {
        let theirs = field("vocabulary");
        return Err(damaged(&format!("is for the vocabulary {theirs}, not for {vocabulary}")));
    }
    let body = String::from_utf8(body.to_vec()).map_err(|_| damaged("is damaged: its recipe is not text"))?;
    Ok((body, field("index").to_owned()))
}

/// The index in a file: the class method and its arguments, and the fingerprint that the result must have.
pub fn load<'py>(
    path: PathBuf,
    vocabulary: &Bound<'py, PyVocabulary>,
) -> PyResult<(String, Bound<'py, PyTuple>, String)> {
    let py = vocabulary.py();
    let fingerprint = hex(&vocabulary.get().core.fingerprint());
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
    let last = arguments.len() - 1;
    let limits = arguments.get_item(last)?;
    let limits = limits.cast::<PyDict>().map_err(|_| damaged())?;
    arguments.set_item(last, Py::new(py, _restore_limits(limits).map_err(|_| damaged())?)?)?;
    Ok((method, arguments.to_tuple(), index))
}
