//! The Python extension module `interlock._core`: thin classes over the core's public items.
//!
//! Everything that can take time runs without the GIL. Errors and panics become exceptions in one place, `errors`;
//! unsafe code stands in one place, `buffer`. The core never names Python, so this folder could become a crate of its
//! own by moving it.

// The macros of pyo3 expand to conversions that are not needed for every type.
#![allow(clippy::useless_conversion)]

mod buffer;
mod build;
mod cancel;
mod errors;
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

use pyo3::prelude::*;

/// Compiling a schema makes and drops thousands of small nodes; the C library's allocator took a third of its time.
/// Built without transparent huge pages (`no_thp`): the first touch of one clears two megabytes at once, which stalled
/// single masks for milliseconds where the host had to find the memory first.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native part of interlock; import it through the package.
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
    use super::registry::{clear_caches, stats};
    #[pymodule_export]
    use super::store::{_pattern_text, _schema_text, _store_key, _verify_pack, _verify_vocabulary};
    #[pymodule_export]
    use super::vocabulary::{_load_vocabulary, _restore_vocabulary, _vocabulary_with_model, PyVocabulary};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::errors::register(module)
    }
}
