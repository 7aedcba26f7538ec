//! The Python extension module `interlock._core`: thin classes over the core's public items.
//!
//! Everything that can take time runs without the GIL. Errors and panics become exceptions in one place, `errors`;
//! unsafe code stands in two places, `buffer` and `allocator`. The core never names Python, so this folder could become
//! a crate of its own by moving it.

// The macros of pyo3 expand to conversions that are not needed for every type.
#![allow(clippy::useless_conversion)]

mod allocator;
mod buffer;
mod build;
mod cancel;
mod errors;
mod fork;
mod guide;
mod ids;
mod index;
mod language;
mod limits;
mod masks;
mod pool;
mod recipe;
mod registry;
mod source;
mod store;
mod vocabulary;
mod warm;

use std::ffi::CString;

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;

/// The native part of interlock. Import it through the package, which leaves out what only its own modules call.
#[pymodule(name = "_core", gil_used = false)]
mod core_module {
    use super::*;

    #[pymodule_export]
    use super::cancel::PyCancelToken;
    #[pymodule_export]
    use super::guide::{_restore_guide, PyGuide};
    #[pymodule_export]
    use super::index::{PyIndex, PyReportRow};
    #[pymodule_export]
    use super::language::PyAutomaton;
    #[pymodule_export]
    use super::limits::{_restore_limits, PyLimits};
    #[pymodule_export]
    use super::masks::{advance_each, apply_bitmask_cpu, fill_bitmasks, get_num_threads, set_num_threads};
    #[pymodule_export]
    use super::registry::{clear_caches, get_index_cache_bytes, set_index_cache_bytes, stats};
    #[pymodule_export]
    use super::store::{_pattern_text, _schema_text, _store_key, _verify_pack, _verify_vocabulary};
    #[pymodule_export]
    use super::vocabulary::{_load_vocabulary, _restore_vocabulary, _vocabulary_with_model, PyVocabulary};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::allocator::keep_free_pages();
        super::fork::watch_forks(module.py())?;
        if let Err(text) = super::pool::asked() {
            let (name, most) = (super::pool::THREADS_VARIABLE, super::pool::MAX_THREADS);
            let message = CString::new(format!("{name} is ignored: {text:?} is no number from 1 to {most}"))?;
            PyErr::warn(module.py(), &module.py().get_type::<PyRuntimeWarning>(), &message, 1)?;
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::errors::register(module)
    }
}
