//! The tree that both dialects parse to.
//!
//! Nodes live in one list in which children come before their parents, so every pass over the tree is a loop and no
//! pass recurses. Groups leave no node behind: a capture has no meaning for the language of a pattern. Flags are
//! resolved by the parsers: case-insensitive letters are sets, `.` is a set, `^` says which kind of `^` it is.
//!
//! A node is *pure* if it contains no assertion: then its language does not depend on what surrounds it.

use std::sync::Arc;

use super::set::CharSet;
use super::unicode::{self, Fold};
use crate::error::{Error, Result};

/// Names a node of one [`Ast`].
pub(super) type NodeId = u32;

/// No upper bound of a repetition.
pub(super) const INF: u32 = u32::MAX;

/// Which code points count as parts of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Words {
    /// ASCII letters, digits and underscore.
    Ascii,
    /// The same and the two others that fold to them.
    EcmaFolded,
    /// Python's `\w` on text.
    Python,
}

/// An assertion that looks at no more than one code point on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Assert {
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
pub(super) enum Node {
    /// The empty string.
    Empty,
    /// These code points in turn.
    Text(Box<str>),
    /// One code point of a set.
    Class(Arc<CharSet>),
    /// All in turn.
    Cat(Box<[NodeId]>),
    /// Any one.
    Alt(Box<[NodeId]>),
    /// `min` to `max` copies.
    Rep { body: NodeId, min: u32, max: u32 },
    /// What matches first decides: a possessive repetition or an atomic group.
    Atomic(NodeId),
    /// Looks ahead or behind without consuming.
    Look { body: NodeId, behind: bool, negative: bool },
    /// Looks at the neighbouring code points.
    Assert(Assert),
}

/// What is known of a node from its children.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
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

/// The tree; see the module's story.
#[derive(Clone, Debug, Default)]
pub(super) struct Ast {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
}

impl Ast {
    /// The node of an id.
    pub fn get(&self, n: NodeId) -> &Node {
        &self.nodes[n as usize]
    }

    /// The facts of an id.
    pub fn facts(&self, n: NodeId) -> Facts {
        self.facts[n as usize]
    }

    /// Number of nodes; ids are below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a node whose children are in the tree already.
    pub fn push(&mut self, node: Node, offset: usize) -> NodeId {
        let f = |n: &NodeId| self.facts[*n as usize];
        let leaf = Facts { pure: true, ..Facts::default() };
        let mut facts = match &node {
            Node::Empty => Facts { nullable: true, ..leaf },
            Node::Text(s) => {
                let n = s.chars().count() as u64;
                Facts { width: (n, n), nullable: n == 0, ..leaf }
            }
            Node::Class(_) => Facts { width: (1, 1), ..leaf },
            Node::Cat(v) => v.iter().fold(Facts { nullable: true, ..leaf }, |a, n| {
                let b = f(n);
                let width = (a.width.0.saturating_add(b.width.0), a.width.1.saturating_add(b.width.1));
                Facts { nullable: a.nullable && b.nullable, width, ..a.with(b) }
            }),
            Node::Alt(v) => {
                let width = v.iter().map(f).fold((u64::MAX, 0), |w, b| (w.0.min(b.width.0), w.1.max(b.width.1)));
                let nullable = v.iter().any(|n| f(n).nullable);
                v.iter().fold(Facts { nullable, width, ..leaf }, |a, n| a.with(f(n)))
            }
            Node::Rep { body, min, max } => {
                let b = f(body);
                let most = if *max == INF && b.width.1 > 0 { u64::MAX } else { b.width.1.saturating_mul(*max as u64) };
                let width = (b.width.0.saturating_mul(*min as u64), most);
                Facts { nullable: *min == 0 || b.nullable, width, lazy: false, ..b }
            }
            Node::Atomic(body) => Facts { atomic: true, ..f(body) },
            Node::Look { body, behind, .. } => {
                let b = f(body);
                let peeks = b.peeks && *behind;
                Facts { pure: false, nullable: true, width: (0, 0), ahead: !behind || b.ahead, peeks, ..b }
            }
            Node::Assert(a) => {
                let peeks = !matches!(a, Assert::Start | Assert::LineStart { .. });
                Facts { pure: false, nullable: true, peeks, ..leaf }
            }
        };
        facts.offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.nodes.push(node);
        self.facts.push(facts);
        self.nodes.len() as NodeId - 1
    }
}

impl Facts {
    fn with(self, b: Facts) -> Facts {
        Facts {
            pure: self.pure && b.pure,
            ahead: self.ahead || b.ahead,
            peeks: self.peeks || b.peeks,
            atomic: self.atomic || b.atomic,
            ..self
        }
    }
}

/// What the last item of a sequence is, for the rules about quantifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// There is none.
    None,
    /// Something that a quantifier may follow.
    Item,
    /// An assertion that takes no quantifier.
    Bare,
    /// Already quantified.
    Quantified,
}

/// Which number of copies a repetition tries first. Only atomic parts can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greed {
    /// As many as possible.
    Greedy,
    /// As few as possible.
    Lazy,
    /// As many as possible, and no fewer afterwards.
    Possessive,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Char(char),
    Node(NodeId),
}

/// A group that is still open; `T` is what the dialect restores or needs when it closes.
struct Open<T> {
    alternatives: Vec<NodeId>,
    items: Vec<Item>,
    last: Last,
    offset: usize,
    data: T,
}

/// Builds a tree from left to right with a stack of open groups of its own, so nesting costs no machine stack.
pub(super) struct Builder<T> {
    pub ast: Ast,
    open: Vec<Open<T>>,
    max_depth: usize,
}

impl<T> Builder<T> {
    /// A builder with the whole pattern as its outermost group.
    pub fn new(max_depth: usize, data: T) -> Self {
        let mut b = Builder { ast: Ast::default(), open: Vec::new(), max_depth };
        b.open.push(Open { alternatives: Vec::new(), items: Vec::new(), last: Last::None, offset: 0, data });
        b
    }

    /// Opens a group.
    pub fn open(&mut self, offset: usize, data: T) -> Result<()> {
        if self.open.len() > self.max_depth {
            let (limit, depth) = (self.max_depth as u64, self.open.len() as u64);
            return Err(Error::limit("nesting of groups", limit, depth).of("max_depth").at_offset(offset));
        }
        self.open.push(Open { alternatives: Vec::new(), items: Vec::new(), last: Last::None, offset, data });
        Ok(())
    }

    /// How many groups are open, not counting the pattern itself.
    pub fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// Offset of the innermost open group.
    pub fn opened_at(&self) -> usize {
        self.open.last().map_or(0, |o| o.offset)
    }

    /// Whether the innermost group has neither items nor finished alternatives.
    pub fn untouched(&self) -> bool {
        self.open.last().is_some_and(|o| o.items.is_empty() && o.alternatives.is_empty())
    }

    /// What the next quantifier would apply to.
    pub fn last(&self) -> Last {
        self.open.last().map_or(Last::None, |o| o.last)
    }

    /// Adds a code point.
    pub fn char(&mut self, c: char) {
        if let Some(o) = self.open.last_mut() {
            o.items.push(Item::Char(c));
            o.last = Last::Item;
        }
    }

    /// Adds a set of code points; a set of one is that code point.
    pub fn set(&mut self, set: Arc<CharSet>, offset: usize) {
        match set.only() {
            Some(c) => self.char(c),
            None => self.node(Node::Class(set), offset, Last::Item),
        }
    }

    /// Adds one code point, with what it folds to; a surrogate becomes a class, which no text matches.
    pub fn literal(&mut self, c: u32, fold: Fold, offset: usize) {
        match char::from_u32(c) {
            Some(ch) if fold == Fold::None || (c < 0x80 && !ch.is_ascii_alphabetic()) => self.char(ch),
            _ => self.set(Arc::new(unicode::close(&CharSet::single(c), fold)), offset),
        }
    }

    /// Adds a node.
    pub fn node(&mut self, node: Node, offset: usize, last: Last) {
        let n = self.ast.push(node, offset);
        self.add(n, last);
    }

    /// Adds a finished node.
    pub fn add(&mut self, n: NodeId, last: Last) {
        if let Some(o) = self.open.last_mut() {
            o.items.push(Item::Node(n));
            o.last = last;
        }
    }

    /// Repeats the last item.
    pub fn repeat(&mut self, min: u32, max: u32, greed: Greed, offset: usize) {
        let Some(item) = self.open.last_mut().and_then(|o| o.items.pop()) else { return };
        let body = self.node_of(item, offset);
        let f = self.ast.facts(body);
        // What consumes nothing need not be asked twice at one place.
        let (min, max) = if f.width.1 == 0 { (min.min(1), max.min(1)) } else { (min, max) };
        let mut n = match (min, max) {
            (1, 1) => body,
            (_, 0) => self.ast.push(Node::Empty, offset),
            (0, _) if f.width.1 == 0 => self.ast.push(Node::Empty, offset),
            _ => {
                let n = self.ast.push(Node::Rep { body, min, max }, offset);
                if let Some(f) = self.ast.facts.last_mut() {
                    f.lazy = greed == Greed::Lazy;
                }
                n
            }
        };
        if greed == Greed::Possessive {
            n = self.ast.push(Node::Atomic(n), offset);
        }
        self.add(n, Last::Quantified);
    }

    /// Ends an alternative of the innermost group.
    pub fn bar(&mut self) {
        let Some(o) = self.open.last_mut() else { return };
        let items = std::mem::take(&mut o.items);
        o.last = Last::None;
        let n = self.sequence(&items);
        if let Some(o) = self.open.last_mut() {
            o.alternatives.push(n);
        }
    }

    /// Closes the innermost group: its content and what was attached to it.
    pub fn close(&mut self) -> Option<(NodeId, usize, T)> {
        let o = self.open.pop()?;
        let last = self.sequence(&o.items);
        let n = if o.alternatives.is_empty() {
            last
        } else {
            let mut v = o.alternatives;
            v.push(last);
            self.ast.push(Node::Alt(v.into()), o.offset)
        };
        Some((n, o.offset, o.data))
    }

    fn node_of(&mut self, item: Item, offset: usize) -> NodeId {
        match item {
            Item::Node(n) => n,
            Item::Char(c) => self.ast.push(Node::Text(c.to_string().into()), offset),
        }
    }

    /// One node for a sequence. Runs of code points become one text, runs of pure nodes one node.
    fn sequence(&mut self, items: &[Item]) -> NodeId {
        let mut parts: Vec<NodeId> = Vec::new();
        // Start in `parts` of the current run of pure nodes.
        let mut pure_from = 0;
        let mut text = String::new();
        for item in items {
            match *item {
                Item::Char(c) => text.push(c),
                Item::Node(n) => {
                    self.flush(&mut text, &mut parts);
                    if !self.ast.facts(n).pure {
                        self.join_pure(&mut parts, pure_from);
                        parts.push(n);
                        pure_from = parts.len();
                    } else {
                        match self.ast.get(n) {
                            Node::Empty => {}
                            Node::Cat(inner) => parts.extend_from_slice(&inner.clone()),
                            _ => parts.push(n),
                        }
                    }
                }
            }
        }
        self.flush(&mut text, &mut parts);
        if pure_from > 0 {
            self.join_pure(&mut parts, pure_from);
        }
        match parts.len() {
            0 => self.ast.push(Node::Empty, 0),
            1 => parts[0],
            _ => self.ast.push(Node::Cat(parts.into()), 0),
        }
    }

    fn flush(&mut self, text: &mut String, parts: &mut Vec<NodeId>) {
        if !text.is_empty() {
            let n = self.ast.push(Node::Text(std::mem::take(text).into()), 0);
            parts.push(n);
        }
    }

    fn join_pure(&mut self, parts: &mut Vec<NodeId>, from: usize) {
        if parts.len() > from + 1 {
            let run: Vec<NodeId> = parts.drain(from..).collect();
            let n = self.ast.push(Node::Cat(run.into()), 0);
            parts.push(n);
        }
    }
}
