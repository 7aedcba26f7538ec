//! Possessive repetitions and atomic groups: which of them change nothing.
use super::ast::{Ast, NodeId};
use super::pure::Pure;
use super::reader::unsupported;
use crate::error::Result;
use crate::ir::Exprs;
use crate::limits::Limits;

pub(super) fn check(_x: &mut Exprs, ast: &Ast, _p: &Pure, root: NodeId, _s: bool, _l: &Limits) -> Result<()> {
    Err(unsupported("an atomic part", ast.facts(root).offset as usize))
}
