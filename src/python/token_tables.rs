//! The complete tables of an index as arrays, for a device that steps by whole tokens.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::python::index::PyIndex;
use crate::python::runtime::cancel::interruptible;

/// No next state.
const REFUSED: i32 = -1;

type Numbers<'py> = Bound<'py, PyArray1<i32>>;

/// Classes, next states, masks, numbers of masks, accepting states.
type Arrays<'py> = (Numbers<'py>, Numbers<'py>, Numbers<'py>, Numbers<'py>, Numbers<'py>);

/// The arrays of complete tables, each flat: per token its class; per state and class the next state, -1 where the
/// class is refused; the words of the distinct masks, without stop tokens; per state the number of its mask; per state
/// 1 where the output may end.
///
/// ``None`` where ``Index.num_transitions`` is.
#[pyfunction]
#[pyo3(name = "_token_tables")]
pub fn token_tables<'py>(py: Python<'py>, index: &Bound<'py, PyIndex>) -> PyResult<Option<Arrays<'py>>> {
    let core = index.get().core();
    let made = interruptible(py, None, || {
        let (Some(tables), Some(classes)) = (core.built(), core.token_classes()) else { return Ok(None) };
        let states = tables.num_states();
        let of: Vec<i32> = classes.of.iter().map(|&class| class as i32).collect();
        let mut next = vec![REFUSED; states * classes.count];
        for (row, to) in classes.rows.iter().zip(next.chunks_mut(classes.count)) {
            row.iter().for_each(|&(class, state)| to[class as usize] = state.into());
        }
        let words = core.vocabulary().words();
        let mut masks = vec![0u32; tables.num_masks() * words];
        if words > 0 {
            for (number, row) in masks.chunks_mut(words).enumerate() {
                tables.parts().masks.read(number, row);
            }
        }
        let masks = masks.into_iter().map(u32::cast_signed).collect();
        let mask_of: Vec<i32> = tables.parts().mask_of.iter().map(|&mask| mask.into()).collect();
        let accepting = (0..states as u16).map(|state| tables.is_accepting(state).into()).collect();
        Ok(Some((of, next, masks, mask_of, accepting)))
    })?;
    let array = |numbers: Vec<i32>| numbers.into_pyarray(py);
    Ok(made.map(|(of, next, masks, mask_of, accepting): (_, _, Vec<i32>, _, Vec<i32>)| {
        (array(of), array(next), array(masks), array(mask_of), array(accepting))
    }))
}
