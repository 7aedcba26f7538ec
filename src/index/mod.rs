//! The index: automaton states to allowed tokens.
//!
//! An [`Index`] is what one source means over one vocabulary. It is shared by any number of guides and read-mostly:
//! states and masks that nobody asked for yet are made on first use and then never change.
//!
//! [`tables`] holds what one vocabulary contributes, shared by all its indexes: derived tries, the cache of lexemes.
//! [`submask`] is what one lexeme state contributes to a mask; `inner` and `rows`
//! make most of them without a walk. [`mask`] puts a mask together, with `key` for keys and [`after`] for what follows
//! values; `memo` remembers whole masks. [`token_live`] and [`spelling`] keep patterns and
//! documents free of dead ends where a vocabulary lacks tokens of single bytes.

pub mod after;
pub mod built;
mod children;
mod inner;
mod key;
mod language;
pub mod mask;
mod memo;
pub mod program;
mod rows;
pub mod spelling;
pub mod submask;
pub mod tables;
pub mod token_live;

use std::sync::{Arc, OnceLock};

use crate::automaton::complete::Costs;
use crate::automaton::program::Program;
use crate::frontend::schema::ReportRow;
use crate::vocab::Vocabulary;
pub(crate) use memo::Memo;
use tables::{MaskedLexeme, Tables};
use token_live::TokenLive;

/// What an index steps.
pub(crate) enum Engine {
    /// A pattern or a choice: one lexeme is the whole output.
    Pattern(Arc<MaskedLexeme>),
    /// A JSON document: frames over lexemes.
    Document { program: Box<Program>, lexemes: Vec<Arc<MaskedLexeme>> },
}

pub(crate) struct Inner {
    pub vocabulary: Arc<Vocabulary>,
    pub tables: Arc<Tables>,
    pub engine: Engine,
    /// Of a pattern: its dead states, where the vocabulary makes some.
    pub live: Option<Box<TokenLive>>,
    pub report: Vec<ReportRow>,
    /// Source and options, for the fingerprint.
    pub source: Box<str>,
    pub fingerprint: OnceLock<[u8; 32]>,
    /// What completing a document costs, made when a guide first asks.
    pub costs: OnceLock<Costs>,
    pub memo: Memo,
    /// Set when everything was made ahead of time.
    pub built: OnceLock<built::Built>,
}

/// A compiled source over a vocabulary; see the module's story. Cloning shares it.
#[derive(Clone)]
pub struct Index(pub(crate) Arc<Inner>);

/// Builds what all indexes over a vocabulary share, so that the first of them need not; see [`tables`].
pub fn prepare(vocabulary: &Vocabulary) -> crate::error::Result<()> {
    Tables::of(vocabulary)?.warm(vocabulary);
    Ok(())
}

impl Index {
    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.0.vocabulary
    }

    /// How each keyword of a schema is enforced; empty for patterns, which are always exact.
    pub fn report(&self) -> &[ReportRow] {
        &self.0.report
    }

    /// Identifies source, options and vocabulary. Hashes the source when first asked.
    pub fn fingerprint(&self) -> [u8; 32] {
        *self.0.fingerprint.get_or_init(|| {
            let mut h = blake3::Hasher::new();
            h.update(env!("CARGO_PKG_VERSION").as_bytes());
            h.update(&self.0.vocabulary.fingerprint());
            h.update(self.0.source.as_bytes());
            *h.finalize().as_bytes()
        })
    }

    /// Whether two handles are the same index.
    pub fn is_same(&self, other: &Index) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// States of the complete tables, where [`build`](Index::build) made them; else those found so far, of the lexeme for
    /// a pattern, of all lexemes for a document.
    pub fn num_states(&self) -> usize {
        if let Some(tables) = self.built() {
            return tables.num_states();
        }
        match &self.0.engine {
            Engine::Pattern(l) => l.lexeme.num_states(),
            Engine::Document { lexemes, .. } => lexemes.iter().map(|l| l.lexeme.num_states()).sum(),
        }
    }

    /// Approximate bytes held, masks that are shared with other indexes of the vocabulary included.
    pub fn memory_bytes(&self) -> usize {
        let built = self.built().map_or(0, |tables| tables.memory_bytes());
        let lazy = match &self.0.engine {
            Engine::Pattern(l) => l.memory_bytes() + self.0.live.as_ref().map_or(0, |l| l.memory_bytes()),
            Engine::Document { program, lexemes } => {
                let shapes: usize = program.objects.iter().map(|o| o.names.memory_bytes() + o.rules.len() * 40).sum();
                lexemes.iter().map(|l| l.memory_bytes()).sum::<usize>()
                    + shapes
                    + program.rules.len() * 72
                    + self.0.memo.memory_bytes()
            }
        };
        built + lazy + self.0.source.len()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("states", &self.num_states()).finish_non_exhaustive()
    }
}
