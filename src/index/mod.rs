//! The index: what one source means over one vocabulary.
//!
//! An [`Index`] is shared by any number of guides and read-mostly: states and masks that nobody asked for yet are made
//! on first use and then never change. Its engine is one lexeme for a pattern, or a program with its lexemes for a
//! document; masks are the work of [`crate::mask`].
//!
//! * [`tables`] holds complete tables, made ahead of time ([`Index::build`]). [`from_artifact`] is an index from a
//!   file, whose tables answer before any engine exists.
//! * `language` answers questions about the accepted language (size, members, comparison). [`report`] writes how
//!   exactly keywords are enforced.
//! * `overflow` bounds the states that are found on use, by younger copies of the index.
//! * [`token_liveness`] keeps patterns free of dead ends where a vocabulary lacks tokens of single bytes.

pub mod from_artifact;
mod language;
mod overflow;
pub mod report;
pub mod tables;
pub mod token_liveness;

use crate::mask::json::cache::completion_facts::CompletionFacts;
use crate::mask::json::cache::forced_runs;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::expr::ByteSet;
pub(crate) use crate::index::from_artifact::IndexHandle;
use crate::index::token_liveness::TokenLive;
use crate::limits::Limits;
use crate::mask::grammar::GrammarEngine;
use crate::mask::json::cache::masks::MaskCache;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::json::program::Program;
use crate::schema::ReportRow;
use crate::vocab::Vocabulary;

/// What an index steps.
pub(crate) enum IndexEngine {
    /// A pattern or a choice: one lexeme is the whole output.
    Pattern(Arc<MaskedLexeme>),
    /// A JSON document: frames over lexemes.
    Document { program: Box<Program>, lexemes: Vec<Arc<MaskedLexeme>> },
    /// A grammar: a parser and a scanner.
    Grammar(Box<GrammarEngine>),
}

pub(crate) struct IndexCore {
    pub vocabulary: Arc<Vocabulary>,
    pub tables: Arc<VocabTables>,
    pub engine: IndexEngine,
    /// The dead states of a pattern, where the vocabulary makes some.
    pub live: Option<Box<TokenLive>>,
    pub report: Vec<ReportRow>,
    /// Source and options, for the fingerprint.
    pub source: Arc<String>,
    pub fingerprint: OnceLock<[u8; 32]>,
    /// What completing a document costs, made when a guide first asks.
    pub costs: OnceLock<MinCosts>,
    /// Bytes of which everything can be completed, found for the first budget.
    pub completing: OnceLock<ByteSet>,
    /// Whether each of them is a token.
    pub spells_completing: OnceLock<bool>,
    /// What guides with budgets found out about the document.
    pub completion: CompletionFacts,
    pub memo: MaskCache,
    pub runs: forced_runs::ForcedRuns,
    /// Warming up found nothing left to make.
    pub warm: AtomicBool,
    /// Set when everything was made ahead of time.
    pub built: OnceLock<tables::CompleteIndex>,
    /// What it was compiled under; some of it bounds guides.
    pub limits: Limits,
    /// The index in which guides go on whose lexemes are full here; see `overflow`.
    pub younger: Mutex<Option<Index>>,
}

impl IndexCore {
    /// What stands by an engine, with nothing found, reported or made ahead of time yet.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        tables: Arc<VocabTables>,
        engine: IndexEngine,
        source: Arc<String>,
        limits: Limits,
    ) -> IndexCore {
        IndexCore {
            vocabulary,
            tables,
            engine,
            live: None,
            report: Vec::new(),
            source,
            fingerprint: OnceLock::new(),
            costs: OnceLock::new(),
            completing: OnceLock::new(),
            spells_completing: OnceLock::new(),
            completion: CompletionFacts::default(),
            memo: MaskCache::default(),
            runs: Default::default(),
            warm: Default::default(),
            built: OnceLock::new(),
            limits,
            younger: Mutex::default(),
        }
    }
}

/// What one source means over one vocabulary: the masks and steps of every guide. Cloning shares it.
#[derive(Clone)]
pub struct Index(pub(crate) IndexHandle);

/// An index that is not held by this.
pub(crate) struct WeakIndex(Weak<IndexCore>);

impl WeakIndex {
    /// The index, if anybody holds it.
    pub fn upgrade(&self) -> Option<Index> {
        Some(Index(IndexHandle::Compiled(self.0.upgrade()?)))
    }

    /// Whether anybody holds the index.
    pub fn is_held(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// Builds what all indexes over a vocabulary share, so that the first of them need not; see [`VocabTables`].
pub fn prepare(vocabulary: &Vocabulary) -> crate::error::Result<()> {
    VocabTables::for_vocabulary(vocabulary)?.warm(vocabulary);
    Ok(())
}

impl Index {
    /// A reference to this index that does not hold it. An index from a file is not found again.
    pub(crate) fn downgrade(&self) -> WeakIndex {
        WeakIndex(match &self.0 {
            IndexHandle::Compiled(inner) => Arc::downgrade(inner),
            IndexHandle::Mapped(_) => Weak::new(),
        })
    }

    /// Whether this index was compiled from a source with this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.engine().is_some_and(|inner| *inner.source == name)
    }

    /// States of the complete tables, where [`build`](Index::build) made them or a file holds them; else those found so
    /// far, of the lexeme for a pattern, of all lexemes for a document, or of the beginning that a file holds.
    pub fn num_states(&self) -> usize {
        if let Some(tables) = self.built() {
            return tables.num_states();
        }
        match self.engine().map(|inner| &inner.engine) {
            None => self.stored_tables().map_or(0, |tables| tables.num_states()),
            Some(IndexEngine::Pattern(l)) => l.lexeme.num_states(),
            Some(IndexEngine::Document { lexemes, .. }) => lexemes.iter().map(|l| l.lexeme.num_states()).sum(),
            Some(IndexEngine::Grammar(grammar)) => grammar.program.lr.num_states(),
        }
    }

    /// Approximate bytes held, masks that are shared with other indexes of the vocabulary included.
    pub fn memory_bytes(&self) -> usize {
        let tables = self.built().or(self.stored_tables()).map_or(0, |tables| tables.memory_bytes());
        let Some(inner) = self.engine() else { return tables };
        let lazy = match &inner.engine {
            IndexEngine::Pattern(l) => l.memory_bytes() + inner.live.as_ref().map_or(0, |l| l.memory_bytes()),
            IndexEngine::Document { program, lexemes } => {
                let shapes: usize = program
                    .objects
                    .iter()
                    .map(|o| {
                        o.names.memory_bytes() + o.rules.len() * 40 + o.union.as_ref().map_or(0, |u| u.memory_bytes())
                    })
                    .sum();
                lexemes.iter().map(|l| l.memory_bytes()).sum::<usize>()
                    + shapes
                    + program.rules.len() * 72
                    + inner.memo.memory_bytes()
                    + program.constants.memory_bytes()
            }
            IndexEngine::Grammar(grammar) => grammar.memory_bytes(),
        };
        tables
            + lazy
            + inner.runs.memory_bytes()
            + inner.completion.memory_bytes()
            + inner.costs.get().map_or(0, |costs| costs.memory_bytes())
            + inner.source.len()
            + self.younger_bytes()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("states", &self.num_states()).finish_non_exhaustive()
    }
}
