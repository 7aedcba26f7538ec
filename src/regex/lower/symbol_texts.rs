//! What a pattern between other text is lowered to.

use crate::expr::ExprId;
use crate::regex::ast::{Ast, AstId, AstNode};

/// The texts of a pattern that stands between other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolTexts {
    /// The texts.
    pub texts: ExprId,
    /// Where look-ahead sees beyond the end of a text: a text, the byte 0xFF, and all the rest of the output.
    pub context: Option<ExprId>,
}

/// Whether a pattern has a repetition that prefers few copies.
pub(crate) fn is_lazy(ast: &Ast) -> bool {
    (0..ast.len() as AstId).any(|n| prefers_few(ast, n))
}

/// Whether a node is a repetition that prefers few copies, and may have more.
pub(crate) fn prefers_few(ast: &Ast, n: AstId) -> bool {
    ast.facts(n).lazy && matches!(ast.get(n), AstNode::Rep { min, max, .. } if min < max)
}
