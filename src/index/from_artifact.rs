//! An index from a file, or built apart: its tables answer at once, and its engine is made when something else is
//! asked.
//!
//! What a file holds (see `artifact::index`) is enough for masks and steps: [`DenseTables`], the report, the
//! fingerprint. Everything that tables cannot answer (comparisons, explanations, budgets, forced tokens, and for tables
//! that are only a beginning the way on) needs the compiled source. [`StoredIndex`] makes it from the file's recipe the
//! first time, for all its guides; it belongs to this process, the file stays as it is.
//!
//! A recipe compiled when the file was written, and compiling is deterministic, so making it again fails only for a
//! forged file. Whoever may get there asks [`Index::compiled`] first and hands on its error.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::index::tables::DenseTables;
use crate::index::tables::token_classes::TokenClasses;
use crate::index::{Index, IndexCore};
use crate::schema::{Enforcement, ReportRow};
use crate::util::cancel::{is_watched, poll, uninterruptible};
use crate::vocab::Vocabulary;

/// Makes an index again.
pub type RemakeSource = Box<dyn Fn() -> Result<Index> + Send + Sync>;

/// An index as a file describes it: recipe, report and tables, with the engine once it was asked for.
pub struct StoredIndex {
    /// The vocabulary that it is over.
    pub vocabulary: Arc<Vocabulary>,
    /// The index's fingerprint.
    pub fingerprint: [u8; 32],
    /// The index's tables, complete or a beginning.
    pub tables: DenseTables,
    /// Reads its report; called once, when somebody asks.
    pub read_report: Box<dyn Fn() -> Option<Vec<ReportRow>> + Send + Sync>,
    /// Compiles its recipe.
    pub remake: RemakeSource,
}

/// A stored index and what was made of it since.
pub(crate) struct MappedIndex {
    stored: StoredIndex,
    report: OnceLock<Vec<ReportRow>>,
    engine: OnceLock<Result<Arc<IndexCore>>>,
    classes: OnceLock<TokenClasses>,
}

/// What an [`Index`] shares with its guides.
#[derive(Clone)]
pub(crate) enum IndexHandle {
    /// Compiled in this process.
    Compiled(Arc<IndexCore>),
    /// From a file.
    Mapped(Arc<MappedIndex>),
}

impl Deref for IndexHandle {
    type Target = IndexCore;

    #[inline]
    fn deref(&self) -> &IndexCore {
        match self {
            IndexHandle::Compiled(inner) => inner,
            IndexHandle::Mapped(mapped) => match mapped.engine() {
                Ok(inner) => inner,
                Err(error) => unreachable!("nobody asked whether the stored index compiles: {error}"),
            },
        }
    }
}

impl MappedIndex {
    fn engine(&self) -> Result<&Arc<IndexCore>> {
        if self.engine.get().is_none() && is_watched() {
            // Not in the cell: a stop is of this caller alone, and nobody may wait for whom the watch waits for.
            let made = self.make();
            poll()?;
            return self.engine.get_or_init(|| made).as_ref().map_err(Error::clone);
        }
        self.engine.get_or_init(|| uninterruptible(|| self.make())).as_ref().map_err(Error::clone)
    }

    fn make(&self) -> Result<Arc<IndexCore>> {
        let damaged = |what: String| Err(Error::new(ErrorKind::Artifact, format!("the stored index {what}")));
        match (self.stored.remake)() {
            Err(e) => damaged(format!("cannot be compiled again: {e}")),
            Ok(index) => match index.0 {
                IndexHandle::Compiled(inner) if inner.fingerprint() == self.stored.fingerprint => Ok(inner),
                _ => damaged("is damaged: its recipe makes another index".to_owned()),
            },
        }
    }
}

impl IndexCore {
    fn fingerprint(&self) -> [u8; 32] {
        *self.fingerprint.get_or_init(|| {
            let mut h = blake3::Hasher::new();
            h.update(env!("CARGO_PKG_VERSION").as_bytes());
            h.update(&self.vocabulary.fingerprint());
            h.update(self.source.as_bytes());
            *h.finalize().as_bytes()
        })
    }
}

impl Index {
    /// The index that a file holds.
    pub fn stored(stored: StoredIndex) -> Index {
        Index(IndexHandle::Mapped(Arc::new(MappedIndex {
            stored,
            report: OnceLock::new(),
            engine: OnceLock::new(),
            classes: OnceLock::new(),
        })))
    }

    /// Makes sure that the engine is there. Does nothing unless the index came from a file.
    ///
    /// # Errors
    /// `Artifact` if the file's recipe does not make the index that the file names, and what the watch of the work
    /// says.
    ///
    /// # Cost
    /// The first time, that of compiling the source; of callers that are watched each compiles, if they come at once.
    pub fn compiled(&self) -> Result<()> {
        match &self.0 {
            IndexHandle::Compiled(_) => Ok(()),
            IndexHandle::Mapped(mapped) => mapped.engine().map(drop),
        }
    }

    /// The engine, if it was made.
    pub(crate) fn engine(&self) -> Option<&IndexCore> {
        match &self.0 {
            IndexHandle::Compiled(inner) => Some(inner),
            IndexHandle::Mapped(mapped) => mapped.engine.get().and_then(|e| e.as_deref().ok()),
        }
    }

    /// The tables that the file of a stored index holds.
    pub fn stored_tables(&self) -> Option<&DenseTables> {
        match &self.0 {
            IndexHandle::Compiled(_) => None,
            IndexHandle::Mapped(mapped) => Some(&mapped.stored.tables),
        }
    }

    /// Where the classes of tokens of complete stored tables are kept.
    pub(super) fn stored_classes(&self) -> Option<&OnceLock<TokenClasses>> {
        match &self.0 {
            IndexHandle::Mapped(mapped) if mapped.stored.tables.is_complete() => Some(&mapped.classes),
            _ => None,
        }
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        match &self.0 {
            IndexHandle::Compiled(inner) => &inner.vocabulary,
            IndexHandle::Mapped(mapped) => &mapped.stored.vocabulary,
        }
    }

    /// Identifies source, options and vocabulary. Hashes the source when first asked.
    pub fn fingerprint(&self) -> [u8; 32] {
        match &self.0 {
            IndexHandle::Compiled(inner) => inner.fingerprint(),
            IndexHandle::Mapped(mapped) => mapped.stored.fingerprint,
        }
    }

    /// How each keyword of a schema is enforced; empty for patterns, which are always exact.
    pub fn report(&self) -> &[ReportRow] {
        match &self.0 {
            IndexHandle::Compiled(inner) => &inner.report,
            IndexHandle::Mapped(mapped) => mapped.report.get_or_init(|| {
                // Only a forged file has a report that cannot be read.
                (mapped.stored.read_report)().unwrap_or_else(|| {
                    vec![ReportRow {
                        pointer: String::new(),
                        keyword: String::new(),
                        enforcement: Enforcement::Wider,
                        reason: "the report of the stored index is damaged".to_owned(),
                    }]
                })
            }),
        }
    }

    /// Whether two handles are the same index.
    pub fn is_same(&self, other: &Index) -> bool {
        match (&self.0, &other.0) {
            (IndexHandle::Compiled(a), IndexHandle::Compiled(b)) => Arc::ptr_eq(a, b),
            (IndexHandle::Mapped(a), IndexHandle::Mapped(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// How many indexes and guides share this one, itself included.
    pub(crate) fn num_holders(&self) -> usize {
        match &self.0 {
            IndexHandle::Compiled(inner) => Arc::strong_count(inner),
            IndexHandle::Mapped(mapped) => Arc::strong_count(mapped),
        }
    }
}
