//! The stack of a parser, which may branch: a graph-structured stack (Tomita 1985).
//!
//! A *node* is a state of the LR automaton on top of others: one where the grammar is deterministic, several where
//! readings of the text that differ so far go on alike. A *branch* is a set of top nodes with a state of the scanner.
//! A *position* is a list of branches: all readings of the text so far.
//!
//! Nodes are only ever appended, and point to older ones. So going back to an earlier position is a truncation, and a
//! copy of the stack is a copy of plain vectors.

use std::hash::Hasher;

use smallvec::SmallVec;

use crate::pushdown::grammar::completion::place_costs::PlaceCosts;
use crate::pushdown::grammar::lr_automaton::{LrAutomaton, LrStateId};
use crate::pushdown::grammar::stack_view::StackView;
use crate::pushdown::json::arena::{Arena, ArenaMark};
use crate::pushdown::json::frame::FrameId;
pub use crate::pushdown::json::frame::NONE as NO_FRAME;
use crate::util::seeded_hash::{SeededSet, seeded};

/// Names a node.
pub type NodeId = u32;
/// Names a position.
pub type PositionId = u32;

/// Top nodes of a stack: a range of the list of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    first: u32,
    len: u32,
}

#[derive(Clone, Copy)]
struct StackNode {
    state: LrStateId,
    /// The only node below, or where those below stand in `links`.
    below: u32,
    /// How many there are below, with [`COMPLETES`].
    count: u32,
}

/// Set in the count of a node from which everything that was begun can be completed with free terminals.
const COMPLETES: u32 = 1 << 31;

/// One reading of the text so far, or several whose last terminal is the same.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The tops of the stack, before the terminal that is being read.
    pub tops: Group,
    /// What the scanner has read since; inside a document what must not follow.
    pub scan: u32,
    /// The document that is being read, and where in it the text is; [`NO_FRAME`] outside of documents.
    pub document: u32,
    /// See `document`.
    pub frame: FrameId,
    /// How many tokens hold a part of the terminal that is being read, if some terminal here is bounded in tokens.
    pub tokens: u32,
    /// The open blocks and brackets, as nodes; [`NO_NODE`] where the grammar has no indenter.
    pub indents: NodeId,
    /// How far the line that the newline terminal ends with is indented so far; see [`NO_COLUMN`].
    pub column: u32,
}

/// No newline was read yet, or another one has to come before the newline terminal ends.
pub const NO_COLUMN: u32 = u32::MAX;

impl Branch {
    /// A branch outside of documents.
    pub fn scanning(tops: Group, scan: u32, indents: NodeId) -> Self {
        Branch { tops, scan, document: 0, frame: NO_FRAME, tokens: 0, indents, column: NO_COLUMN }
    }

    /// Whether the branch is inside a document.
    #[inline]
    pub fn is_in_document(&self) -> bool {
        self.frame != NO_FRAME
    }
}

#[derive(Clone, Copy)]
struct PositionEntry {
    /// The end of the position's branches; they begin where those of the position before end.
    branches: u32,
    /// The lengths of the other lists when the position was made.
    nodes: u32,
    links: u32,
    groups: u32,
}

/// The lengths of a stack's lists, to go back to.
#[derive(Clone)]
pub struct StackMark {
    nodes: u32,
    links: u32,
    groups: u32,
    branches: u32,
    arena: ArenaMark,
}

impl StackMark {
    /// The lengths of the documents' arena.
    pub fn arena(&self) -> &ArenaMark {
        &self.arena
    }
}

/// The stacks of one request, and all that it had before.
#[derive(Clone, Default)]
pub struct ParseStack {
    nodes: Vec<StackNode>,
    links: Vec<NodeId>,
    groups: Vec<NodeId>,
    branches: Vec<Branch>,
    positions: Vec<PositionEntry>,
    /// The frames of documents, where the grammar has any, and its lengths at each position.
    pub arena: Option<Box<Arena>>,
    arena_marks: Vec<ArenaMark>,
    /// Nodes by their content, so that equal ones are one node; see [`push`](Self::push).
    known: NodeTable,
    /// What completes the output from the nodes, as far as it was asked.
    pub place_costs: PlaceCosts,
    /// The same, at most.
    pub largest_costs: PlaceCosts,
}

/// Nodes by a hash of their content. Entries of nodes that were forgotten stay, and are told by the content: it is
/// compared anyway.
#[derive(Clone, Default)]
struct NodeTable {
    slots: Vec<NodeId>,
    used: usize,
}

/// No node.
pub const NO_NODE: NodeId = u32::MAX;
/// What stands for the state of an open bracket among the open blocks. No state of the parser has this bit.
pub const BRACKET: u32 = 1 << 29;

fn hash(state: LrStateId, below: &[NodeId]) -> usize {
    let mut hasher = seeded();
    hasher.write_u32(state);
    below.iter().for_each(|&node| hasher.write_u32(node));
    hasher.finish() as usize
}

impl ParseStack {
    /// The lengths now.
    pub fn mark(&self) -> StackMark {
        StackMark {
            nodes: self.nodes.len() as u32,
            links: self.links.len() as u32,
            groups: self.groups.len() as u32,
            branches: self.branches.len() as u32,
            arena: self.arena.as_ref().map(|arena| arena.mark()).unwrap_or_default(),
        }
    }

    /// Forgets what came after a mark. No position may have been made since.
    pub fn truncate(&mut self, mark: &StackMark) {
        self.nodes.truncate(mark.nodes as usize);
        self.place_costs.truncate(mark.nodes as usize);
        self.largest_costs.truncate(mark.nodes as usize);
        self.links.truncate(mark.links as usize);
        self.groups.truncate(mark.groups as usize);
        self.branches.truncate(mark.branches as usize);
        if let Some(arena) = &mut self.arena {
            arena.truncate(&mark.arena);
        }
    }

    /// How many nodes there are.
    pub fn num_nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The node of a state on top of others; none for the bottom. Equal nodes are one.
    pub fn push(&mut self, state: LrStateId, below: &[NodeId]) -> NodeId {
        if 2 * (self.known.used + 1) > self.known.slots.len() {
            self.rebuild_table();
        }
        let places = self.known.slots.len() - 1;
        let mut at = hash(state, below) & places;
        while self.known.slots[at] != NO_NODE {
            let node = self.known.slots[at];
            if (node as usize) < self.nodes.len() && self.state(node) == state && self.below(node) == below {
                return node;
            }
            at = (at + 1) & places;
        }
        let completes =
            LrAutomaton::completes(state) && (below.is_empty() || below.iter().any(|&node| self.completes(node)));
        let count = below.len() as u32 | if completes { COMPLETES } else { 0 };
        let first = match below {
            [] => 0,
            [one] => *one,
            many => {
                let first = self.links.len() as u32;
                self.links.extend_from_slice(many);
                first
            }
        };
        let node = self.nodes.len() as u32;
        self.nodes.push(StackNode { state, below: first, count });
        self.known.slots[at] = node;
        self.known.used += 1;
        node
    }

    #[cold]
    fn rebuild_table(&mut self) {
        let size = (4 * self.nodes.len()).next_power_of_two().max(32);
        let mut slots = vec![NO_NODE; size];
        for node in 0..self.nodes.len() as u32 {
            let mut at = hash(self.state(node), self.below(node)) & (size - 1);
            while slots[at] != NO_NODE {
                at = (at + 1) & (size - 1);
            }
            slots[at] = node;
        }
        self.known = NodeTable { slots, used: self.nodes.len() };
    }

    /// Whether everything that was begun at a node and below it can be completed with free terminals; see
    /// [`succession`](crate::pushdown::grammar::succession).
    #[inline]
    pub fn completes(&self, node: NodeId) -> bool {
        self.nodes[node as usize].count & COMPLETES != 0
    }

    /// The state of a node.
    #[inline]
    pub fn state(&self, node: NodeId) -> LrStateId {
        self.nodes[node as usize].state
    }

    /// Whether a node is that of an open block or bracket.
    #[inline]
    pub fn is_block(&self, node: NodeId) -> bool {
        self.state(node) & BRACKET != 0
    }

    /// The nodes below a node.
    #[inline]
    pub fn below(&self, node: NodeId) -> &[NodeId] {
        let n = &self.nodes[node as usize];
        match n.count & !COMPLETES {
            0 => &[],
            1 => std::slice::from_ref(&n.below),
            count => &self.links[n.below as usize..(n.below + count) as usize],
        }
    }

    /// Adds these nodes and all that are below them, each once.
    pub fn below_all(&self, nodes: &[NodeId], out: &mut Vec<NodeId>) {
        let mut at = out.len();
        let mut seen: SeededSet<NodeId> = SeededSet::default();
        out.extend(nodes.iter().filter(|&&node| seen.insert(node)));
        while let Some(&node) = out.get(at) {
            at += 1;
            out.extend(self.below(node).iter().filter(|&&below| seen.insert(below)));
        }
    }

    /// A group of these nodes.
    pub fn group(&mut self, nodes: &[NodeId]) -> Group {
        let first = self.groups.len() as u32;
        self.groups.extend_from_slice(nodes);
        Group { first, len: nodes.len() as u32 }
    }

    /// The nodes of a group.
    #[inline]
    pub fn tops(&self, group: Group) -> &[NodeId] {
        &self.groups[group.first as usize..(group.first + group.len) as usize]
    }

    /// Makes a position of these branches.
    pub fn make_position(&mut self, branches: &[Branch]) -> PositionId {
        self.branches.extend_from_slice(branches);
        self.positions.push(PositionEntry {
            branches: self.branches.len() as u32,
            nodes: self.nodes.len() as u32,
            links: self.links.len() as u32,
            groups: self.groups.len() as u32,
        });
        if let Some(arena) = &self.arena {
            self.arena_marks.push(arena.mark());
        }
        self.positions.len() as u32 - 1
    }

    /// The branches of a position.
    #[inline]
    pub fn branches(&self, position: PositionId) -> &[Branch] {
        let first = match position {
            0 => 0,
            later => self.positions[later as usize - 1].branches,
        };
        &self.branches[first as usize..self.positions[position as usize].branches as usize]
    }

    /// The branches of a position, to be kept while the stack grows.
    pub fn branches_of(&self, position: PositionId) -> SmallVec<[Branch; 4]> {
        SmallVec::from_slice(self.branches(position))
    }

    /// Forgets all positions after one, and what was made for them.
    pub fn go_back_to(&mut self, position: PositionId) {
        let entry = self.positions[position as usize];
        self.positions.truncate(position as usize + 1);
        self.arena_marks.truncate(position as usize + 1);
        let arena = self.arena_marks.last().copied().unwrap_or_default();
        self.truncate(&StackMark {
            arena,
            nodes: entry.nodes,
            links: entry.links,
            groups: entry.groups,
            branches: entry.branches,
        });
    }

    /// What is seen of a branch's stack, blocks and brackets included. It says first where the scanner is.
    pub fn view(&self, branch: &Branch) -> StackView {
        let tops = self.tops(branch.tops);
        if branch.indents == NO_NODE {
            return StackView::new(&[branch.scan], tops);
        }
        let hides_newlines = u32::from(self.state(branch.indents) == BRACKET);
        StackView::new(&[branch.scan, branch.column, hides_newlines], tops).with_blocks(branch.indents)
    }

    /// What is seen of a branch's stack, blocks and brackets included, behind a prefix that says what is asked.
    pub fn view_behind(&self, prefix: &[u32], branch: &Branch) -> StackView {
        let tops = self.tops(branch.tops);
        if branch.indents == NO_NODE {
            return StackView::new(prefix, tops);
        }
        let hides_newlines = u32::from(self.state(branch.indents) == BRACKET);
        StackView::new(&[prefix, &[hides_newlines]].concat(), tops).with_blocks(branch.indents)
    }

    /// All that the future of a position depends on: equal within one grammar exactly when the futures are.
    pub fn describe(&self, position: PositionId, mut write: impl FnMut(u32)) {
        for branch in self.branches(position) {
            write(u32::from(branch.is_in_document()));
            write(branch.tokens);
            let mut view = self.view(branch);
            while view.describe_block(self) || view.deepen(self) {}
            view.key().iter().for_each(|&word| write(word));
        }
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.arena.as_ref().map_or(0, |arena| arena.memory_bytes())
            + self.arena_marks.capacity() * size_of::<ArenaMark>()
            + self.nodes.capacity() * size_of::<StackNode>()
            + self.place_costs.memory_bytes()
            + self.largest_costs.memory_bytes()
            + self.known.slots.capacity() * 4
            + (self.links.capacity() + self.groups.capacity()) * 4
            + self.branches.capacity() * size_of::<Branch>()
            + self.positions.capacity() * size_of::<PositionEntry>()
    }
}
