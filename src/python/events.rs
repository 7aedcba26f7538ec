//! Events of a guide, its last tokens and text from outside, for `interlock.events`, `interlock.serving` and
//! `Guide.force`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::guide::event_log::EventPart;
use crate::guide::host_text_log::OutsidePart;
use crate::python::errors::to_exception;
use crate::python::guide::PyGuide;

/// The kinds of parts, by the numbers that `interlock.events` knows.
const BEGIN: u8 = 0;
const TEXT: u8 = 1;
const END: u8 = 2;
const FORCED: u8 = 3;
const OUTPUT_END: u8 = 4;

/// A part as a tuple: its kind, the number of a marker or -1, and text.
fn tuple<'py>(py: Python<'py>, part: &EventPart) -> PyResult<Bound<'py, PyTuple>> {
    let text = |bytes: &[u8]| PyBytes::new(py, bytes);
    match part {
        EventPart::Begin { marker } => (BEGIN, i64::from(*marker), text(b"")).into_pyobject(py),
        EventPart::Text { inside, bytes } => (TEXT, inside.map_or(-1, i64::from), text(bytes)).into_pyobject(py),
        EventPart::End { began } => (END, i64::from(*began), text(b"")).into_pyobject(py),
        EventPart::Forced { bytes } => (FORCED, -1, text(bytes)).into_pyobject(py),
        EventPart::OutputEnd => (OUTPUT_END, -1, text(b"")).into_pyobject(py),
    }
}

/// What became certain since the last question: how many events are void, and the parts.
#[pyfunction]
pub fn _new_events<'py>(py: Python<'py>, guide: &Bound<'py, PyGuide>) -> PyResult<(u32, Vec<Bound<'py, PyTuple>>)> {
    let found = guide.get().with_detached(py, |slot| slot.guide.new_events())?;
    let found = found.map_err(|error| to_exception(py, &error))?;
    let parts = found.parts.iter().map(|part| tuple(py, part)).collect::<PyResult<Vec<_>>>()?;
    Ok((found.taken_back, parts))
}

/// The tokens that a guide took behind its first ``count``.
#[pyfunction]
pub fn _tokens_behind(py: Python<'_>, guide: &Bound<'_, PyGuide>, count: usize) -> PyResult<Vec<u32>> {
    guide.get().with_detached(py, |slot| slot.guide.tokens_behind(count))
}

/// Say how many events were made of the last parts.
#[pyfunction]
pub fn _note_events(py: Python<'_>, guide: &Bound<'_, PyGuide>, count: u32) -> PyResult<()> {
    guide.get().with_detached(py, |slot| slot.guide.note_events(count))
}

/// Forget what was given.
#[pyfunction]
pub fn _forget_events(py: Python<'_>, guide: &Bound<'_, PyGuide>) -> PyResult<()> {
    guide.get().with_detached(py, |slot| slot.guide.forget_events())
}

/// Whether the grammar of a guide captures anything.
#[pyfunction]
pub fn _has_captures(py: Python<'_>, guide: &Bound<'_, PyGuide>) -> PyResult<bool> {
    guide.get().with_detached(py, |slot| slot.guide.has_captures())
}

/// A capture as it is now: its name, how many of this name came before, the one around it or -1, its text, and where
/// captures inside begin and end.
type Capture<'py> = (String, u32, i64, Bound<'py, PyBytes>, Vec<(u32, bool, String)>);

/// The capture that began with a marker.
#[pyfunction]
pub fn _capture<'py>(py: Python<'py>, guide: &Bound<'py, PyGuide>, marker: u32) -> PyResult<Option<Capture<'py>>> {
    let found = guide.get().with_detached(py, |slot| slot.guide.capture(marker))?;
    Ok(found.map(|found| {
        let inside = found.inside.map_or(-1, i64::from);
        (found.name, found.ordinal, inside, PyBytes::new(py, &found.bytes), found.markers)
    }))
}

/// A text or a token, as Python hands it over.
#[derive(FromPyObject)]
pub enum Part {
    /// A token.
    Token(u32),
    /// A text.
    Text(Vec<u8>),
}

/// Make these parts what must come next.
#[pyfunction]
pub fn _force(py: Python<'_>, guide: &Bound<'_, PyGuide>, parts: Vec<Part>) -> PyResult<()> {
    let parts: Vec<OutsidePart> = parts
        .into_iter()
        .map(|part| match part {
            Part::Token(id) => OutsidePart::Token(id),
            Part::Text(text) => OutsidePart::Text(text),
        })
        .collect();
    let outcome = guide.get().with_detached(py, |slot| slot.guide.force(&parts))?;
    outcome.map_err(|error| to_exception(py, &error))
}
