//! Costs of places of a parser's stack, kept with the nodes that they stand on; see
//! [`stack_costs`](crate::pushdown::grammar::completion::stack_costs).

use smallvec::SmallVec;

use crate::pushdown::grammar::lr_automaton::LrStateId;

/// Names a node of the stack.
type NodeId = u32;

/// The cost of a state on top of a node.
#[derive(Clone, Copy)]
pub struct PlaceCost {
    /// The state.
    pub state: LrStateId,
    /// The item of the state's kernel that is read to its end.
    pub item: u32,
    /// What completes the output.
    pub cost: u64,
    /// The largest cost of this place and all that it leads to.
    pub most: u64,
}

/// Costs of the places on each node, by its number.
#[derive(Clone, Default)]
pub struct PlaceCosts(Vec<SmallVec<[PlaceCost; 1]>>);

impl PlaceCosts {
    /// What is known of a state on top of a node.
    pub fn get(&self, node: NodeId, state: LrStateId) -> Option<PlaceCost> {
        self.0.get(node as usize)?.iter().find(|known| known.state == state).copied()
    }

    /// Keeps the cost of a state on top of a node.
    pub fn keep(&mut self, node: NodeId, cost: PlaceCost) {
        let at = node as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, SmallVec::new);
        }
        self.0[at].push(cost);
    }

    /// Forgets what stands on nodes from this number on.
    pub fn truncate(&mut self, nodes: usize) {
        self.0.truncate(nodes);
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<SmallVec<[PlaceCost; 1]>>()
    }
}
