//! The parts of a pattern that look around and take no text: which there are, and the pattern without some of them.
//!
//! A pattern that accepts nothing almost always does so because of one of them. Whoever finds that out by leaving them
//! out one after the other can name it.

use crate::error::Result;
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::RegexOptions;
use crate::regex::ast::{Assert, Ast, AstId, AstNode};
use crate::regex::lower_tree;
use crate::regex::parse_tree;

/// A pattern, and the parts of it that take no text or can take none.
pub struct Assertions {
    tree: Ast,
    root: AstId,
    found: Vec<AstId>,
}

impl Assertions {
    /// Those of a pattern, in the order in which they stand. What stands inside a look-around belongs to it.
    ///
    /// # Errors
    ///
    /// Those of reading the pattern.
    pub fn find(pattern: &str, options: &RegexOptions, limits: &Limits) -> Result<Assertions> {
        let (tree, root) = parse_tree(pattern, options, limits)?;
        let mut seen = vec![false; tree.len()];
        let (mut found, mut open) = (Vec::new(), vec![root]);
        while let Some(n) = open.pop() {
            if std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            match tree.get(n) {
                AstNode::Look { .. } | AstNode::Assert(_) => found.push(n),
                AstNode::Class(set) if set.first_scalar().is_none() => found.push(n),
                AstNode::Cat(parts) | AstNode::Alt(parts) => open.extend(parts.iter().copied()),
                AstNode::Rep { body, .. } | AstNode::Atomic(body) => open.push(*body),
                AstNode::Empty | AstNode::Text(_) | AstNode::Class(_) => {}
            }
        }
        found.sort_by_key(|n| (tree.facts(*n).offset, *n));
        Ok(Assertions { tree, root, found })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Where one stands in the pattern, in code points.
    pub fn offset(&self, i: usize) -> usize {
        self.tree.facts(self.found[i]).offset as usize
    }

    /// What one asks for, in words that go on with "can never".
    pub fn name(&self, i: usize) -> &'static str {
        match self.tree.get(self.found[i]) {
            AstNode::Look { behind: false, negative: false, .. } => "what the look-ahead (?=...) asks for",
            AstNode::Look { behind: false, negative: true, .. } => "anything that the look-ahead (?!...) permits",
            AstNode::Look { behind: true, negative: false, .. } => "what the look-behind (?<=...) asks for",
            AstNode::Look { behind: true, negative: true, .. } => "anything that the look-behind (?<!...) permits",
            AstNode::Assert(Assert::Start) => "the start of the text",
            AstNode::Assert(Assert::End | Assert::EndOrFinalNewline) => "the end of the text",
            AstNode::Assert(Assert::LineStart { .. }) => "the start of a line",
            AstNode::Assert(Assert::LineEnd { .. }) => "the end of a line",
            AstNode::Assert(Assert::Boundary(_)) => "a word boundary (\\b)",
            AstNode::Assert(Assert::NotBoundary { .. }) => "anything but a word boundary (\\B)",
            _ => "a character of this empty class",
        }
    }

    /// Its kind: `look` for what must stand beside it, `edge` for the beginning or end of the text, or `other`.
    pub fn kind(&self, i: usize) -> &'static str {
        match self.tree.get(self.found[i]) {
            AstNode::Look { negative: false, .. } => "look",
            AstNode::Assert(Assert::Start | Assert::End | Assert::EndOrFinalNewline) => "edge",
            _ => "other",
        }
    }

    /// The texts of the pattern without those for which `is_left_out` says so.
    ///
    /// # Errors
    ///
    /// Those of [`lower_full`](crate::regex::lower_full) and [`lower_search`](crate::regex::lower_search).
    pub fn lower_without(
        &self,
        x: &mut Exprs,
        is_left_out: impl Fn(usize) -> bool,
        search: bool,
        limits: &Limits,
    ) -> Result<ExprId> {
        let mut tree = Ast::default();
        for n in 0..self.tree.len() as AstId {
            let facts = self.tree.facts(n);
            let left_out = self.found.iter().position(|found| *found == n).is_some_and(&is_left_out);
            let node = if left_out { AstNode::Empty } else { self.tree.get(n).clone() };
            let copy = tree.push(node, facts.offset as usize);
            tree.set_lazy(copy, facts.lazy);
        }
        lower_tree(x, tree, self.root, search, limits)
    }
}
