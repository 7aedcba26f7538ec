//! The Python extension module `interlock._core`: thin classes over the core's public items.
//!
//! Everything that can take time runs without the GIL. Errors and panics become exceptions in one place, `errors`;
//! unsafe code stands in two places, `buffer` and `allocator`. The core never names Python, so this folder could become
//! a crate of its own by moving it.

// The macros of pyo3 expand to conversions that are not needed for every type.
#![allow(clippy::useless_conversion)]

mod advance_each;
mod batch;
mod build;
mod compile;
pub mod convert;
mod errors;
mod events;
mod fill_within;
mod flat_rules;
mod guide;
mod index;
mod index_file;
mod language;
mod report;
mod row_slots;
pub mod runtime;
mod token_tables;
mod vocabulary;
mod warm_up;

use std::ffi::CString;

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;

/// The native part of interlock. Import it through the package, which leaves out what only its own modules call.
#[pymodule(name = "_core", gil_used = false)]
mod core_module {
    use super::*;

    #[pymodule_export]
    use crate::python::advance_each::advance_each;
    #[pymodule_export]
    use crate::python::batch::{apply_bitmask_cpu, fill_bitmasks, get_num_threads, set_num_threads};
    #[pymodule_export]
    use crate::python::compile::{_metaschema, check_choices, check_grammar, check_json_schema, check_regex};
    #[pymodule_export]
    use crate::python::convert::limits::{_restore_limits, PyLimits};
    #[pymodule_export]
    use crate::python::events::{
        _capture, _force, _forget_events, _has_captures, _new_events, _note_events, _tokens_behind,
    };
    #[pymodule_export]
    use crate::python::fill_within::fill_bitmasks_within;
    #[pymodule_export]
    use crate::python::flat_rules::_flat_rules;
    #[pymodule_export]
    use crate::python::guide::{_restore_guide, PyGuide};
    #[pymodule_export]
    use crate::python::index::PyIndex;
    #[pymodule_export]
    use crate::python::language::PyAutomaton;

    #[pymodule_export]
    use crate::python::index_file::{_pattern_text, _schema_text, _store_key, _verify_pack, _verify_vocabulary};
    #[pymodule_export]
    use crate::python::report::{_may_have_slips, _restore_report_row, PyReportRow};
    #[pymodule_export]
    use crate::python::row_slots::PyRowSlots;
    #[pymodule_export]
    use crate::python::runtime::cancel::PyCancelToken;
    #[pymodule_export]
    use crate::python::runtime::process_caches::{
        _count_store, clear_caches, get_index_cache_bytes, get_mask_cache_bytes, set_index_cache_bytes,
        set_mask_cache_bytes, stats,
    };
    #[pymodule_export]
    use crate::python::token_tables::token_tables;
    #[pymodule_export]
    use crate::python::vocabulary::{
        _load_vocabulary, _restore_vocabulary, _vocabulary_of_document, _vocabulary_with_model, PyVocabulary,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::python::runtime::allocator::keep_free_pages();
        crate::python::runtime::fork::watch_forks(module.py())?;
        if let Err(text) = crate::python::runtime::thread_pool::asked() {
            let (name, most) = (
                crate::python::runtime::thread_pool::THREADS_VARIABLE,
                crate::python::runtime::thread_pool::MAX_THREADS,
            );
            let message = CString::new(format!("{name} is ignored: {text:?} is no number from 1 to {most}"))?;
            PyErr::warn(module.py(), &module.py().get_type::<PyRuntimeWarning>(), &message, 1)?;
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // A checksum of the sources, by which tests see whether this build is older than they: `build.rs`.
        module.add("_sources", env!("INTERLOCK_SOURCES"))?;
        crate::python::errors::register(module)
    }
}
