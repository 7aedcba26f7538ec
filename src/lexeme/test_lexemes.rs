//! Lexemes of patterns, for tests.

use crate::expr::Exprs;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

/// The lexeme of a pattern in Python's dialect.
pub(crate) fn lexeme(pattern: &str, kind: LexemeKind) -> Lexeme {
    let limits = Limits::default();
    let mut exprs = Exprs::new(limits.max_expr_nodes);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let expr = lower_full(&mut exprs, pattern, &options, &limits).expect("the pattern is fine");
    let reach = TokenReach { digits: 3, word: 8, any: 16 };
    Lexeme::compile(&exprs, expr, kind, reach, &limits).expect("within limits").expect("accepts something")
}
