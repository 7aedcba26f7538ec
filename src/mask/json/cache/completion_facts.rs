//! What the guides of an index found out about completing one document, for budgets.

use std::sync::OnceLock;

use crate::mask::json::cache::bounds_after_tokens::BoundsAfterTokensCache;
use crate::mask::lexeme::text_end_rows::TextEndCache;
use crate::pushdown::completion::completion_bounds::CompletionBounds;

/// What was found out about one document. Nothing of it depends on a guide's budget, nor on what stands behind the
/// document.
#[derive(Default)]
pub struct CompletionFacts {
    /// In how many tokens its frames are completed, made for the first budget.
    pub(crate) bounds: OnceLock<CompletionBounds>,
    /// What tokens leave to write in strings.
    pub(crate) text_ends: TextEndCache,
    /// What completes the document behind tokens.
    pub(crate) bounds_after_tokens: BoundsAfterTokensCache,
}

impl CompletionFacts {
    /// Bytes held, the bounds left out.
    pub fn memory_bytes(&self) -> usize {
        self.text_ends.memory_bytes() + self.bounds_after_tokens.memory_bytes()
    }
}
