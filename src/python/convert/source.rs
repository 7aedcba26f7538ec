//! What callers hand over as a source, turned into text for the core: patterns with their flags, schemas in any of
//! the forms that Python programs keep them in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyException, PyRecursionError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyMapping, PyString, PyTuple, PyType};

use crate::error::{Error, ErrorKind, SourcePlace};
use crate::python::convert::argument::{Given, text, type_name};
use crate::python::errors::{argument, of_kind, to_exception};
use crate::schema::canonical_text::canonical_text;

/// `re.Pattern.flags`, by the letters that `flags=` takes.
const RE_FLAGS: [(u32, char); 5] = [(2, 'i'), (8, 'm'), (16, 's'), (64, 'x'), (256, 'a')];
/// `re.LOCALE`: what it means depends on the machine.
const RE_LOCALE: u32 = 4;

/// The text of a pattern and all its flags, from a string or a compiled `re.Pattern`.
pub fn pattern(source: &Bound<'_, PyAny>, flags: &str) -> PyResult<(String, String)> {
    let py = source.py();
    let mut letters: Vec<char> = flags.chars().collect();
    let text = match source.cast::<PyString>() {
        Ok(text) => text.clone().into_any(),
        Err(_) => {
            let compiled = py.import("re")?.getattr("Pattern")?;
            if !source.is_instance(&compiled)? {
                let name = source.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "pattern must be a str or a compiled re.Pattern, not {name}"
                )));
            }
            let bits: u32 = source.getattr("flags")?.extract()?;
            if bits & RE_LOCALE != 0 {
                return Err(of_kind(py, ErrorKind::Unsupported, "re.LOCALE depends on the machine; use re.ASCII"));
            }
            letters.extend(RE_FLAGS.iter().filter(|(bit, _)| bits & bit != 0).map(|&(_, letter)| letter));
            source.getattr("pattern")?
        }
    };
    let Ok(text) = text.cast::<PyString>() else {
        return Err(of_kind(py, ErrorKind::Unsupported, "a pattern over bytes is not supported; compile a str"));
    };
    letters.sort_unstable();
    letters.dedup();
    Ok((utf8(text, ErrorKind::Pattern, "the pattern")?, letters.into_iter().collect()))
}

/// The letters that the option `flags` has.
pub fn flags<'a>(given: Given<'a, '_>) -> PyResult<&'a str> {
    given.text("flags", "").map_err(|e| match given.is_integer() {
        true => {
            let way = "re.IGNORECASE is \"i\", and re.compile(pattern, flags) is a pattern with its flags";
            PyTypeError::new_err(format!("flags must be a str of letters, not {}; {way}", given.type_name()))
        }
        false => e,
    })
}

/// A path of a file. As of texts, PyO3 raises `UnicodeEncodeError` for a lone surrogate that stands for no byte.
pub struct FilePath(pub PathBuf);

impl<'a, 'py> FromPyObject<'a, 'py> for FilePath {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        object.extract::<PathBuf>().map(FilePath).map_err(|e| {
            match e.is_instance_of::<PyUnicodeEncodeError>(object.py()) {
                true => argument(object.py(), lone_surrogate(&format!("the path {:?}", *object))),
                false => e,
            }
        })
    }
}

fn lone_surrogate(what: &str) -> String {
    format!("{what} holds a lone surrogate, which is not text")
}

/// UTF-8 text, or an error of `kind`: Python strings may hold lone surrogates.
fn utf8(text: &Bound<'_, PyString>, kind: ErrorKind, what: &str) -> PyResult<String> {
    match text.to_cow() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(of_kind(text.py(), kind, lone_surrogate(what))),
    }
}

/// The texts of a list of choices.
pub fn choices(list: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let one = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item?;
        match item.cast::<PyString>() {
            Ok(text) => utf8(text, ErrorKind::Argument, "a choice"),
            Err(_) => Err(PyTypeError::new_err(format!("choices must be str, not {}", item.get_type().name()?))),
        }
    };
    if list.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("choices must be a sequence of str, not one str"));
    }
    let Ok(items) = list.try_iter() else {
        let name = list.get_type().name()?;
        return Err(PyTypeError::new_err(format!("choices must be a sequence of str, not {name}")));
    };
    let texts = items.map(one).collect::<PyResult<Vec<_>>>()?;
    if texts.is_empty() {
        let message = "choices is empty, so no output is possible: give one string at least";
        return Err(of_kind(list.py(), ErrorKind::Unsatisfiable, message));
    }
    Ok(texts)
}

/// The JSON text of a schema, in its canonical spelling: a `str` or `bytes` is such a text; a dict, a bool or a
/// pydantic model class is written as JSON. What is no JSON stays as it is.
pub fn schema(source: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = source.py();
    if let Ok(text) = source.cast::<PyString>() {
        let text = utf8(text, ErrorKind::Schema, "the schema")?;
        return match is_file_name(&text) {
            false => Ok(canonical_text(&text).unwrap_or(text)),
            true => {
                let message = format!("the schema is not JSON: {text:?} looks like the name of a file");
                let error = Error::new(ErrorKind::Schema, message).at(SourcePlace::Byte(0));
                Err(to_exception(
                    py,
                    &error.with_hint(format!("pass what it holds, pathlib.Path({text:?}).read_text()")),
                ))
            }
        };
    }
    if let Ok(bytes) = source.cast::<PyBytes>() {
        let text = std::str::from_utf8(bytes.as_bytes());
        return text.map(|text| canonical_text(text).unwrap_or_else(|| text.to_owned())).map_err(|e| {
            let error = Error::new(ErrorKind::Schema, "the schema is not UTF-8");
            to_exception(py, &error.at(SourcePlace::Byte(e.valid_up_to())))
        });
    }
    if source.is_instance_of::<PyDict>() || source.is_instance_of::<PyBool>() {
        return dump(source);
    }
    if !source.is_instance_of::<PyType>() && source.hasattr("model_json_schema")? {
        let name = type_name(source);
        return Err(PyTypeError::new_err(format!(
            "schema must be a pydantic model class, not an instance of {name}: pass the class {name}"
        )));
    }
    for name in ["model_json_schema", "json_schema"] {
        if let Ok(method) = source.getattr(name)
            && method.is_callable()
        {
            return match method.call0() {
                Ok(made) => dump(&made),
                // Not every model has a schema. Ctrl-C is no `Exception`.
                Err(e) if e.is_instance_of::<PyException>(py) => {
                    let error = of_kind(py, ErrorKind::Schema, format!("{name}() of the model failed: {e}"));
                    error.set_cause(py, Some(e));
                    Err(error)
                }
                Err(e) => Err(e),
            };
        }
    }
    let name = source.get_type().name()?;
    let message =
        format!("schema must be JSON text (str or bytes), a dict, a bool or a pydantic model class, not {name}");
    Err(PyTypeError::new_err(message + way_to_a_schema(source)?))
}

/// What to do with an object that is no schema.
fn way_to_a_schema(source: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let is_type = source.is_instance_of::<PyType>() || source.hasattr("__origin__")?;
    Ok(if is_type {
        "; interlock.index_from_type takes a Python type"
    } else if source.hasattr("__fspath__")? {
        "; pass what the file holds: path.read_text()"
    } else if source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() {
        "; Index.from_choices takes a list of strings, and {\"enum\": [...]} is a schema of any values"
    } else if source.is_none() {
        "; True is the schema of any JSON"
    } else {
        "; what a client sent goes to Index.from_response_format, which refuses it with a place"
    })
}

/// Whether a text that is no JSON is the name of a file.
fn is_file_name(text: &str) -> bool {
    let ends =
        |end: &str| text.get(text.len().saturating_sub(end.len())..).is_some_and(|t| t.eq_ignore_ascii_case(end));
    // JSON text that is a schema ends in a brace or a letter of `true` and `false`, behind at most blanks.
    text.len() <= 4096 && !text.contains(['\n', '{', '"']) && [".json", ".yaml", ".yml"].into_iter().any(ends)
}

fn dump(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let options = PyDict::new(py);
    // NaN is not JSON; the default would write it. Text stays as it is, which keeps offsets short.
    options.set_item("allow_nan", false)?;
    options.set_item("ensure_ascii", false)?;
    // As the canonical spelling of a text has it.
    options.set_item("separators", (",", ":"))?;
    match py.import("json")?.getattr("dumps")?.call((value,), Some(&options)) {
        Ok(text) => {
            check_keys(value)?;
            match text.cast::<PyString>()?.to_cow() {
                Ok(text) => Ok(text.into_owned()),
                Err(_) => Err(to_exception(py, &no_text(value)?)),
            }
        }
        Err(e) if e.is_instance_of::<PyRecursionError>(py) => Err(to_exception(py, &too_deep(value)?)),
        Err(e) => {
            let said = e.value(py).to_string();
            let error = match () {
                () if said.contains("Out of range float") => {
                    let (message, found) = match first(value, |one| is_float(one, f64::is_infinite))? {
                        // Python reads 1e999 as one.
                        Some(found) => {
                            ("the number is beyond the largest double, 1.8e308, or is infinite", Some(found))
                        }
                        None => {
                            ("NaN and infinities are no JSON numbers", first(value, |one| is_float(one, f64::is_nan))?)
                        }
                    };
                    let pointer = found.map(|(pointer, _)| pointer);
                    Error::new(ErrorKind::Schema, message).at_pointer(pointer.unwrap_or_default(), "")
                }
                () if said.contains("Circular reference") => {
                    Error::new(ErrorKind::Schema, "the schema contains itself")
                }
                () => Error::new(ErrorKind::Schema, format!("the schema cannot be written as JSON: {said}")),
            };
            Err(to_exception(py, &error))
        }
    }
}

/// Whether a value is a float of a kind.
fn is_float(value: &Bound<'_, PyAny>, is_such: fn(f64) -> bool) -> bool {
    value.cast::<PyFloat>().is_ok_and(|number| is_such(number.value()))
}

/// The error for a value that is nested too deeply for `json.dumps`.
fn too_deep(value: &Bound<'_, PyAny>) -> PyResult<Error> {
    let most: u64 = value.py().import("sys")?.getattr("getrecursionlimit")?.call0()?.extract()?;
    let depth = depth_of(value)?;
    let message = format!(
        "the schema is nested {depth} levels deep, too deeply to be written as JSON; its deep parts can stand in \
         $defs"
    );
    let error = match depth > most {
        true => Error::limit("depth of schema", most, depth).saying(message),
        // Python's stack was not empty.
        false => Error::new(ErrorKind::Limit, message),
    };
    Ok(error.with_hint(
        "a schema that is passed as JSON text is read without Python, and Limits.max_depth bounds its depth",
    ))
}

/// How deep objects and arrays nest. What is shared or contains itself is looked at a bounded number of times.
fn depth_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    const MOST_VALUES: usize = 1_000_000;
    let (mut todo, mut deepest) = (vec![(value.clone(), 1)], 0);
    for _ in 0..MOST_VALUES {
        let Some((value, depth)) = todo.pop() else { break };
        let items = if let Ok(object) = value.cast::<PyDict>() {
            object.values().into_any()
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            value
        } else {
            continue;
        };
        deepest = deepest.max(depth);
        for item in items.try_iter()? {
            todo.push((item?, depth + 1));
        }
    }
    Ok(deepest)
}

/// The error for a schema that holds a lone surrogate, at the text or the object that does.
fn no_text(value: &Bound<'_, PyAny>) -> PyResult<Error> {
    let is_none = |one: &Bound<'_, PyAny>| one.cast::<PyString>().is_ok_and(|text| text.to_cow().is_err());
    let (what, pointer) = match first(value, is_none)? {
        Some((pointer, true)) => ("a key", pointer),
        Some((pointer, false)) => ("the text", pointer),
        None => ("the schema", String::new()),
    };
    Ok(Error::new(ErrorKind::Schema, lone_surrogate(what)).at_pointer(pointer, ""))
}

/// The pointer of the first value for which `is_wrong` holds, or of the object that has it as a key, and whether it is
/// a key.
fn first(value: &Bound<'_, PyAny>, is_wrong: impl Fn(&Bound<'_, PyAny>) -> bool) -> PyResult<Option<(String, bool)>> {
    /// Deeper ones are not looked for: a value may contain itself.
    const DEEPEST: usize = 100;
    let mut todo = vec![(value.clone(), String::new(), 0)];
    while let Some((value, pointer, depth)) = todo.pop() {
        if is_wrong(&value) {
            return Ok(Some((pointer, false)));
        }
        if depth == DEEPEST {
            continue;
        }
        // The first one last.
        let from = todo.len();
        if let Ok(object) = value.cast::<PyDict>() {
            for (key, item) in object.iter() {
                if is_wrong(&key) {
                    return Ok(Some((pointer, true)));
                }
                let name = key.str()?.to_string_lossy().replace('~', "~0").replace('/', "~1");
                todo.push((item, format!("{pointer}/{name}"), depth + 1));
            }
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            for (i, item) in value.try_iter()?.enumerate() {
                todo.push((item?, format!("{pointer}/{i}"), depth + 1));
            }
        }
        todo[from..].reverse();
    }
    Ok(None)
}

/// A `SchemaError` for a key that is no string: `json.dumps` would write `1` as `"1"`, and `True` as `"true"`. The
/// value could be written as JSON, so it holds no circle.
fn check_keys<'py>(value: &Bound<'py, PyAny>) -> PyResult<()> {
    let py = value.py();
    // What is still to be looked at, each with its place: where the one that holds it stands in `places`, and a name.
    let mut places: Vec<(usize, String)> = vec![(0, String::new())];
    let mut todo = vec![(value.clone(), 0)];
    while let Some((value, at)) = todo.pop() {
        let mut enter = |name: String, item: Bound<'py, PyAny>| {
            if item.is_instance_of::<PyDict>() || item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
                places.push((at, name));
                todo.push((item, places.len() - 1));
            }
        };
        if let Ok(object) = value.cast::<PyDict>() {
            for (key, item) in object.iter() {
                if let Ok(name) = key.cast::<PyString>() {
                    enter(name.to_string_lossy().into_owned(), item);
                    continue;
                }
                let mut pointer = String::new();
                let mut place = at;
                while let Some((above, name)) = places.get(place).filter(|_| place > 0) {
                    pointer = format!("/{}{pointer}", name.replace('~', "~0").replace('/', "~1"));
                    place = *above;
                }
                let (shown, kind) = (key.repr()?, key.get_type().name()?);
                let message = format!("the key {shown} is {kind}: keys of a JSON object are str");
                let place = SourcePlace::Pointer { pointer, keyword: String::new() };
                return Err(to_exception(py, &Error::new(ErrorKind::Schema, message).at(place)));
            }
        } else if let Ok(items) = value.try_iter() {
            for (i, item) in items.enumerate() {
                enter(i.to_string(), item?);
            }
        }
    }
    Ok(())
}

/// The text of a grammar.
pub fn grammar(source: &Bound<'_, PyAny>) -> PyResult<String> {
    match source.cast::<PyString>() {
        Ok(text) => utf8(text, ErrorKind::Grammar, "the grammar"),
        Err(_) => {
            let name = source.get_type().name()?;
            let way = if source.hasattr("__fspath__")? { "; pass what the file holds: path.read_text()" } else { "" };
            Err(PyTypeError::new_err(format!("grammar must be a str, not {name}{way}")))
        }
    }
}

/// The option `lexer`, or that of the text where it is left out: the texts of ``interlock.grammars`` bring theirs.
pub fn lexer_of<'py>(
    grammar: &Bound<'py, PyAny>,
    lexer: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match lexer {
        Some(lexer) => Ok(Some(lexer.clone())),
        None if grammar.is_exact_instance_of::<PyString>() => Ok(None),
        None => grammar.getattr_opt("lexer"),
    }
}

/// A mapping from names to texts, as the option `what` has it.
pub fn named_texts(mapping: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<BTreeMap<String, String>> {
    let Some(mapping) = mapping else { return Ok(BTreeMap::new()) };
    let Ok(mapping) = mapping.cast::<PyMapping>() else {
        let name = mapping.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{what} must map names to texts, and {name} is no mapping")));
    };
    let text = |item: &Bound<'_, PyAny>| match item.cast::<PyString>() {
        Ok(text) => utf8(text, ErrorKind::Grammar, what),
        Err(_) => Err(PyTypeError::new_err(format!("{what} must map str to str, not {}", item.get_type().name()?))),
    };
    mapping
        .items()?
        .try_iter()?
        .map(|item| {
            let (name, given): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
            Ok((text(&name)?, text(&given)?))
        })
        .collect()
}

/// URI and JSON text of every document, in the order of the URIs. That of the mapping says nothing, and keys of stores
/// are made of all that is said.
pub fn documents(mapping: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(mapping) = mapping else { return Ok(Vec::new()) };
    let Ok(mapping) = mapping.cast::<PyMapping>() else {
        let name = mapping.get_type().name()?;
        return Err(PyTypeError::new_err(format!("documents must map URIs to schemas, and {name} is no mapping")));
    };
    let mut documents = mapping
        .items()?
        .try_iter()?
        .map(|item| {
            let (uri, document): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
            Ok((text(&uri, "a URI of documents")?.to_owned(), schema(&document)?))
        })
        .collect::<PyResult<Vec<_>>>()?;
    documents.sort();
    Ok(documents)
}
