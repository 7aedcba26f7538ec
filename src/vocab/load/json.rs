//! Reading JSON documents field by field, with errors that name the field.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode, Result};
use crate::vocab::load::malformed;

/// The object that `data` holds.
pub(super) fn object(data: &[u8]) -> Result<Map<String, Value>> {
    serde_json::from_slice(data).map_err(|e| {
        let error = malformed(format!("not a JSON object: {e}"));
        if e.is_eof() { error.coded(ErrorCode::CutOff) } else { error }
    })
}

fn wrong(field: &str, wanted: &str) -> Error {
    malformed(format!("the field {field:?} is not {wanted}"))
}

/// The field `name`, which must be an object.
pub(super) fn object_field<'a>(of: &'a Map<String, Value>, name: &str) -> Result<&'a Map<String, Value>> {
    of.get(name).and_then(Value::as_object).ok_or_else(|| wrong(name, "an object"))
}

/// The field `name`, which must be a string.
pub(super) fn str_field<'a>(of: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    of.get(name).and_then(Value::as_str).ok_or_else(|| wrong(name, "a string"))
}

/// The field `name`, which must be a whole number that is not negative.
pub(super) fn u64_field(of: &Map<String, Value>, name: &str) -> Result<u64> {
    of.get(name).and_then(Value::as_u64).ok_or_else(|| wrong(name, "a whole number"))
}

/// The field `name`, a list; empty if the field is absent or null.
pub(super) fn list_field<'a>(of: &'a Map<String, Value>, name: &str) -> Result<&'a [Value]> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(wrong(name, "a list")),
    }
}

/// The field `name`, a boolean; `false` if it is absent or null.
pub(super) fn bool_field(of: &Map<String, Value>, name: &str) -> Result<bool> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(wrong(name, "true or false")),
    }
}
