//! Builds a tree from left to right, for both dialects.
//!
//! A stack of open groups of its own takes the place of recursion, so nesting costs no machine stack.
//!
//! A tree may be larger than its pattern, and it is made before any expression is. So it is under the limit on nodes of
//! expressions itself: nearly every node becomes at least one of them. Reading counts as work, whatever comes of it.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::regex::ast::{Ast, AstId, AstNode};
use crate::regex::char_set::CharSet;
use crate::regex::unicode;
use crate::regex::unicode::Fold;
use crate::util::cancel::checkpoint_after;
use crate::util::seeded_hash::SeededSet;

/// Code points that are read in the time of one step.
const CHARS_PER_STEP: usize = 32;

/// Deepest nesting whatever the limits say. What passes over nested expressions does it in loops, or goes so far and no
/// further; ten times as many levels were tried on a stack of 2 MB, without optimization.
const DEPTH_CEILING: usize = 10_000;

/// What the last item of a sequence is, for the rules about quantifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
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
pub(crate) enum Greed {
    /// As many as possible.
    Greedy,
    /// As few as possible.
    Lazy,
    /// As many as possible, and no fewer afterwards.
    Possessive,
}

#[derive(Clone, Copy, Debug)]
enum BuilderItem {
    Char(char),
    Node(AstId),
}

/// A group that is still open; `T` is what the dialect restores or needs when it closes.
struct OpenGroup<T> {
    alternatives: Vec<AstId>,
    items: Vec<BuilderItem>,
    last: Last,
    offset: usize,
    data: T,
}

/// Builds a syntax tree from what a parser of either dialect reads.
pub(crate) struct AstBuilder<T> {
    pub ast: Ast,
    open: Vec<OpenGroup<T>>,
    /// Items of all open groups. Each that is a code point will be at least one node of its own: texts that follow it
    /// all differ in length.
    waiting: usize,
    /// Sets of the tree that nobody else holds, each once.
    sets: SeededSet<Arc<CharSet>>,
    max_depth: usize,
    max_nodes: usize,
    /// Where in the pattern work was counted last.
    counted: usize,
}

impl<T> AstBuilder<T> {
    /// A builder with the whole pattern as its outermost group.
    pub fn new(limits: &Limits, data: T) -> Self {
        let mut b = AstBuilder {
            ast: Ast::default(),
            open: Vec::new(),
            waiting: 0,
            sets: SeededSet::default(),
            max_depth: limits.max_depth.min(DEPTH_CEILING),
            max_nodes: limits.max_expr_nodes,
            counted: 0,
        };
        b.open.push(OpenGroup { alternatives: Vec::new(), items: Vec::new(), last: Last::None, offset: 0, data });
        b
    }

    /// Whether the parser may go on, having read up to code point `at`. Asked for each item.
    ///
    /// # Errors
    /// `Limit` where the tree takes too much; what [`checkpoint_after`] says.
    #[inline]
    pub fn go_on(&mut self, at: usize) -> Result<()> {
        let size = self.ast.size().max(self.waiting);
        if size > self.max_nodes {
            let limit = Error::limit("nodes of a pattern", self.max_nodes as u64, size as u64);
            return Err(limit.set_by("max_expr_nodes").at_offset(at));
        }
        let read = at.saturating_sub(self.counted);
        if read < CHARS_PER_STEP {
            return Ok(());
        }
        self.counted = at;
        checkpoint_after(read / CHARS_PER_STEP)
    }

    /// Opens a group.
    pub fn open(&mut self, offset: usize, data: T) -> Result<()> {
        if self.open.len() > self.max_depth {
            let (limit, depth) = (self.max_depth as u64, self.open.len() as u64);
            return Err(Error::limit("nesting of groups", limit, depth).set_by("max_depth").at_offset(offset));
        }
        self.open.push(OpenGroup { alternatives: Vec::new(), items: Vec::new(), last: Last::None, offset, data });
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
            o.items.push(BuilderItem::Char(c));
            o.last = Last::Item;
            self.waiting += 1;
        }
    }

    /// Adds a set of code points; a set of one is that code point.
    pub fn set(&mut self, set: Arc<CharSet>, offset: usize) {
        match set.only() {
            Some(c) => self.char(c),
            None => {
                let set = self.once(set);
                self.node(AstNode::Class(set), offset, Last::Item);
            }
        }
    }

    /// The equal set that is in the tree already, or this one.
    fn once(&mut self, set: Arc<CharSet>) -> Arc<CharSet> {
        // Whoever made a set for many places keeps it as well.
        if Arc::strong_count(&set) > 1 {
            return set;
        }
        if let Some(known) = self.sets.get(&set) {
            return known.clone();
        }
        self.ast.weigh(set.ranges().len());
        self.sets.insert(set.clone());
        set
    }

    /// Adds one code point, with what it folds to; a surrogate becomes a class, which no text matches.
    pub fn literal(&mut self, c: u32, fold: Fold, offset: usize) {
        match char::from_u32(c) {
            Some(ch) if fold == Fold::None || (c < 0x80 && !ch.is_ascii_alphabetic()) => self.char(ch),
            _ => self.set(Arc::new(unicode::closed(&CharSet::single(c), fold)), offset),
        }
    }

    /// Adds a node.
    pub fn node(&mut self, node: AstNode, offset: usize, last: Last) {
        let n = self.ast.push(node, offset);
        self.add(n, last);
    }

    /// Adds a finished node.
    pub fn add(&mut self, n: AstId, last: Last) {
        if let Some(o) = self.open.last_mut() {
            o.items.push(BuilderItem::Node(n));
            o.last = last;
            self.waiting += 1;
        }
    }

    /// Repeats the last item.
    pub fn repeat(&mut self, min: u32, max: u32, greed: Greed, offset: usize) {
        let Some(item) = self.open.last_mut().and_then(|o| o.items.pop()) else { return };
        self.waiting -= 1;
        let body = self.node_of(item, offset);
        let f = self.ast.facts(body);
        // What consumes nothing need not be asked twice at one place.
        let (min, max) = if f.width.1 == 0 { (min.min(1), max.min(1)) } else { (min, max) };
        let mut n = match (min, max) {
            (1, 1) => body,
            (_, 0) => self.ast.push(AstNode::Empty, offset),
            (0, _) if f.width.1 == 0 => self.ast.push(AstNode::Empty, offset),
            _ => {
                let n = self.ast.push(AstNode::Rep { body, min, max }, offset);
                self.ast.set_lazy(n, greed == Greed::Lazy);
                n
            }
        };
        if greed == Greed::Possessive {
            n = self.ast.push(AstNode::Atomic(n), offset);
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
    pub fn close(&mut self) -> Option<(AstId, usize, T)> {
        let o = self.open.pop()?;
        let last = self.sequence(&o.items);
        let n = if o.alternatives.is_empty() {
            last
        } else {
            let mut v = o.alternatives;
            v.push(last);
            self.ast.push(AstNode::Alt(v.into()), o.offset)
        };
        Some((n, o.offset, o.data))
    }

    fn node_of(&mut self, item: BuilderItem, offset: usize) -> AstId {
        match item {
            BuilderItem::Node(n) => n,
            BuilderItem::Char(c) => self.ast.push(AstNode::Text(c.to_string().into()), offset),
        }
    }

    /// One node for a sequence. Runs of code points become one text, runs of pure nodes one node.
    fn sequence(&mut self, items: &[BuilderItem]) -> AstId {
        self.waiting -= items.len();
        // A group around one node is that node: groups around groups copy nothing.
        if let [BuilderItem::Node(n)] = *items {
            return n;
        }
        let mut parts: Vec<AstId> = Vec::new();
        // Start in `parts` of the current run of pure nodes.
        let mut pure_from = 0;
        let mut text = String::new();
        let mut copied = 0;
        for item in items {
            match *item {
                BuilderItem::Char(c) => text.push(c),
                BuilderItem::Node(n) => {
                    self.flush(&mut text, &mut parts);
                    if !self.ast.facts(n).pure {
                        self.join_pure(&mut parts, pure_from);
                        parts.push(n);
                        pure_from = parts.len();
                    } else {
                        match self.ast.get(n) {
                            AstNode::Empty => {}
                            AstNode::Cat(inner) => {
                                parts.extend_from_slice(inner);
                                copied += inner.len();
                            }
                            _ => parts.push(n),
                        }
                    }
                }
            }
        }
        self.ast.weigh(copied);
        self.flush(&mut text, &mut parts);
        if pure_from > 0 {
            self.join_pure(&mut parts, pure_from);
        }
        match parts.len() {
            0 => self.ast.push(AstNode::Empty, 0),
            1 => parts[0],
            _ => self.ast.push(AstNode::Cat(parts.into()), 0),
        }
    }

    fn flush(&mut self, text: &mut String, parts: &mut Vec<AstId>) {
        if !text.is_empty() {
            let n = self.ast.push(AstNode::Text(std::mem::take(text).into()), 0);
            parts.push(n);
        }
    }

    fn join_pure(&mut self, parts: &mut Vec<AstId>, from: usize) {
        if parts.len() > from + 1 {
            let run: Vec<AstId> = parts.drain(from..).collect();
            let n = self.ast.push(AstNode::Cat(run.into()), 0);
            parts.push(n);
        }
    }
}
