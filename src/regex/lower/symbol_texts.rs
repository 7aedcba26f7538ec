//! What a pattern between other text is lowered to.

use crate::expr::ExprId;

/// The texts of a pattern that stands between other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolTexts {
    /// The texts.
    pub texts: ExprId,
    /// Where look-ahead sees beyond the end of a text: a text, the byte 0xFF, and all the rest of the output.
    pub context: Option<ExprId>,
}
