//! The tree that both dialects parse to.
//!
//! Nodes live in one list in which children come before their parents, so every pass over the tree is a loop and no
//! pass recurses. Groups leave no node behind: a capture has no meaning for the language of a pattern. Flags are
//! resolved by the parsers: case-insensitive letters are sets, `.` is a set, `^` says which kind of `^` it is.
//!
//! A node is *pure* if it contains no assertion: then its language does not depend on what surrounds it.

use std::sync::Arc;

use crate::regex::char_set::CharSet;

/// Names a node of one [`Ast`].
pub(super) type AstId = u32;

/// No upper bound of a repetition.
pub(super) const INF: u32 = u32::MAX;

/// Parts and ranges that take as much as a node.
const PARTS_PER_NODE: usize = 4;

/// Which code points count as parts of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Words {
    /// ASCII letters, digits and underscore.
    Ascii,
    /// ASCII letters, digits and underscore, and the two other characters that fold to them.
    EcmaFolded,
    /// Python's `\w` on text.
    Python,
}

/// An assertion that looks at no more than one code point on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Assert {
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// Python's `$`: the end, or before a newline that ends the text.
    EndOrFinalNewline,
    /// The start of a line; `ecma` adds three more line terminators to the newline.
    LineStart { ecma: bool },
    /// The end of a line.
    LineEnd { ecma: bool },
    /// A word boundary.
    Boundary(Words),
    /// No word boundary. `never_empty`: the empty text has none of these either (Python up to 3.13).
    NotBoundary { words: Words, never_empty: bool },
}

/// One node.
#[derive(Clone, Debug)]
pub(crate) enum AstNode {
    /// The empty string.
    Empty,
    /// These code points in turn.
    Text(Box<str>),
    /// One code point of a set.
    Class(Arc<CharSet>),
    /// All in turn.
    Cat(Box<[AstId]>),
    /// Any one.
    Alt(Box<[AstId]>),
    /// `min` to `max` copies.
    Rep { body: AstId, min: u32, max: u32 },
    /// What matches first decides: a possessive repetition or an atomic group.
    Atomic(AstId),
    /// Looks ahead or behind without consuming.
    Look { body: AstId, behind: bool, negative: bool },
    /// Looks at the neighbouring code points.
    Assert(Assert),
}

/// What is known of a node from its children.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AstFacts {
    /// Holds no assertion.
    pub pure: bool,
    /// A pure node that accepts the empty string; for other nodes, one that might.
    pub nullable: bool,
    /// Fewest and most code points, saturating as Python does.
    pub width: (u64, u64),
    /// Holds a lookahead (not: an assertion that peeks at one code point).
    pub ahead: bool,
    /// Holds an assertion that depends on the next code point.
    pub peeks: bool,
    /// Holds an atomic part.
    pub atomic: bool,
    /// A repetition that prefers few copies.
    pub lazy: bool,
    /// Offset of the construct in the pattern, in code points.
    pub offset: u32,
}

/// The syntax tree of a pattern, as a list of nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ast {
    nodes: Vec<AstNode>,
    facts: Vec<AstFacts>,
    /// Parts and ranges that a few characters of the pattern brought: see [`Ast::weigh`].
    brought: usize,
}

impl Ast {
    /// The node of an id.
    pub fn get(&self, n: AstId) -> &AstNode {
        &self.nodes[n as usize]
    }

    /// The facts of an id.
    pub fn facts(&self, n: AstId) -> AstFacts {
        self.facts[n as usize]
    }

    /// Number of nodes; ids are below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The memory of the tree, counted in nodes. What a pattern spells out in texts takes no more than the pattern.
    pub fn size(&self) -> usize {
        self.nodes.len() + self.brought / PARTS_PER_NODE
    }

    /// Counts parts of a sequence that lie in another one too, or ranges of a set: of both, a short pattern may have
    /// very many.
    pub fn weigh(&mut self, parts: usize) {
        self.brought = self.brought.saturating_add(parts);
    }

    /// Adds a node whose children are in the tree already.
    pub fn push(&mut self, node: AstNode, offset: usize) -> AstId {
        let f = |n: &AstId| self.facts[*n as usize];
        let leaf = AstFacts { pure: true, ..AstFacts::default() };
        let mut facts = match &node {
            AstNode::Empty => AstFacts { nullable: true, ..leaf },
            AstNode::Text(s) => {
                let n = s.chars().count() as u64;
                AstFacts { width: (n, n), nullable: n == 0, ..leaf }
            }
            AstNode::Class(_) => AstFacts { width: (1, 1), ..leaf },
            AstNode::Cat(v) => v.iter().fold(AstFacts { nullable: true, ..leaf }, |a, n| {
                let b = f(n);
                let width = (a.width.0.saturating_add(b.width.0), a.width.1.saturating_add(b.width.1));
                AstFacts { nullable: a.nullable && b.nullable, width, ..a.with(b) }
            }),
            AstNode::Alt(v) => {
                let width = v.iter().map(f).fold((u64::MAX, 0), |w, b| (w.0.min(b.width.0), w.1.max(b.width.1)));
                let nullable = v.iter().any(|n| f(n).nullable);
                v.iter().fold(AstFacts { nullable, width, ..leaf }, |a, n| a.with(f(n)))
            }
            AstNode::Rep { body, min, max } => {
                let b = f(body);
                let most = if *max == INF && b.width.1 > 0 { u64::MAX } else { b.width.1.saturating_mul(*max as u64) };
                let width = (b.width.0.saturating_mul(*min as u64), most);
                AstFacts { nullable: *min == 0 || b.nullable, width, lazy: false, ..b }
            }
            AstNode::Atomic(body) => AstFacts { atomic: true, ..f(body) },
            AstNode::Look { body, behind, .. } => {
                let b = f(body);
                let peeks = b.peeks && *behind;
                AstFacts { pure: false, nullable: true, width: (0, 0), ahead: !behind || b.ahead, peeks, ..b }
            }
            AstNode::Assert(a) => {
                let peeks = !matches!(a, Assert::Start | Assert::LineStart { .. });
                AstFacts { pure: false, nullable: true, peeks, ..leaf }
            }
        };
        facts.offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.nodes.push(node);
        self.facts.push(facts);
        self.nodes.len() as AstId - 1
    }

    /// Says of a repetition whether it prefers few copies.
    pub fn set_lazy(&mut self, n: AstId, lazy: bool) {
        if let Some(f) = self.facts.get_mut(n as usize) {
            f.lazy = lazy;
        }
    }
}

impl AstFacts {
    fn with(self, b: AstFacts) -> AstFacts {
        AstFacts {
            pure: self.pure && b.pure,
            ahead: self.ahead || b.ahead,
            peeks: self.peeks || b.peeks,
            atomic: self.atomic || b.atomic,
            ..self
        }
    }
}
