//! What can be seen from the top of a parser's stack, as a key for caches.
//!
//! What a parser does next depends on a few nodes below the top, and rarely on more. A [`StackView`] describes the
//! stack level by level, from the tops down: two stacks whose descriptions agree down to a level are alike down to it.
//! A [`StackCache`] keeps an answer under the shortest description that decides it, and under every shorter one the
//! advice to look deeper. So an answer that was found in one place is found again wherever the stack is alike as far as
//! it matters, which is the idea of GLRMask's automaton over stacks, made on use.

use smallvec::SmallVec;

use crate::pushdown::grammar::parse_stack::{NodeId, ParseStack};
use crate::util::bounded_cache::BoundedCache;
use crate::util::seeded_hash::SeededMap;

/// A state whose node has not exactly one node below that is met for the first time.
const BRANCHING: u32 = 1 << 31;
/// Set in the description of a node that [completes](ParseStack::completes).
const COMPLETES: u32 = 1 << 29;

/// The description of a stack down to some level.
pub struct StackView {
    /// A prefix that says what is asked, and the levels.
    key: SmallVec<[u32; 24]>,
    /// The nodes in the order in which they are met. Those before `read` are described.
    order: SmallVec<[NodeId; 16]>,
    read: usize,
    /// The number of each node, where they are many.
    numbers: SeededMap<NodeId, u32>,
    /// Some node that was described has not exactly one below it.
    branches: bool,
    /// The innermost of the open blocks and brackets that are not described.
    blocks: Option<NodeId>,
    /// Those that are.
    described_blocks: SmallVec<[NodeId; 4]>,
}

impl StackView {
    /// The view of a stack with these tops; nothing of them is described yet but their number.
    pub fn new(prefix: &[u32], tops: &[NodeId]) -> Self {
        let mut key = SmallVec::from_slice(prefix);
        key.push(tops.len() as u32);
        let mut view = StackView {
            key,
            order: SmallVec::new(),
            read: 0,
            numbers: SeededMap::default(),
            branches: tops.len() > 1,
            blocks: None,
            described_blocks: SmallVec::new(),
        };
        tops.iter().for_each(|&top| view.meet(top));
        view
    }

    /// The same view of a stack with these open blocks and brackets. They are described one by one, from the innermost
    /// outwards.
    pub fn with_blocks(self, innermost: NodeId) -> Self {
        StackView { blocks: Some(innermost), ..self }
    }

    /// Describes the next block or bracket. False if there is none.
    pub fn describe_block(&mut self, stack: &ParseStack) -> bool {
        let Some(node) = self.blocks else { return false };
        self.key.push(stack.state(node));
        self.described_blocks.push(node);
        self.blocks = stack.below(node).first().copied();
        true
    }

    /// Describes the next level. False if there is none.
    pub fn deepen(&mut self, stack: &ParseStack) -> bool {
        let end = self.order.len();
        if self.read == end {
            return false;
        }
        for at in self.read..end {
            let node = self.order[at];
            let state = stack.state(node) | if stack.completes(node) { COMPLETES } else { 0 };
            let below = stack.below(node);
            if let [one] = below
                && (!self.branches || self.number(*one).is_none())
            {
                self.key.push(state);
                self.meet(*one);
                continue;
            }
            self.branches = true;
            self.key.push(state | BRANCHING);
            self.key.push(below.len() as u32);
            for &node in below {
                match self.number(node) {
                    Some(known) => self.key.push(known + 1),
                    None => {
                        self.key.push(0);
                        self.meet(node);
                    }
                }
            }
        }
        self.read = end;
        true
    }

    fn meet(&mut self, node: NodeId) {
        /// Nodes that are looked through.
        const FEW: usize = 16;
        let number = self.order.len() as u32;
        self.order.push(node);
        if self.order.len() == FEW + 1 {
            self.numbers = (0..).zip(self.order.iter()).map(|(number, &node)| (node, number)).collect();
        } else if self.order.len() > FEW {
            self.numbers.insert(node, number);
        }
    }

    /// The description so far.
    pub fn key(&self) -> &[u32] {
        &self.key
    }

    /// The nodes that are described, and behind them those that are met next.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The nodes that are described.
    pub fn described(&self) -> &[NodeId] {
        &self.order[..self.read]
    }

    /// Whether a node is described.
    pub fn describes(&self, node: NodeId) -> bool {
        self.number(node).is_some_and(|number| (number as usize) < self.read) || self.described_blocks.contains(&node)
    }

    /// The number of a node in the order, described or met next.
    pub fn number(&self, node: NodeId) -> Option<u32> {
        match self.numbers.is_empty() {
            true => self.order.iter().position(|&known| known == node).map(|at| at as u32),
            false => self.numbers.get(&node).copied(),
        }
    }
}

/// What a cache says of a description.
#[derive(Clone)]
enum Known<V> {
    /// The answer.
    Answer(V),
    /// The next level decides.
    Deeper,
    /// The next block or bracket decides.
    Block,
    /// The next level decides, and most of the answer is this.
    Mostly(V),
}

impl<V> Known<V> {
    /// Describes what decides. False if nothing is left.
    fn lead_on(&self, view: &mut StackView, stack: &ParseStack) -> bool {
        match self {
            Known::Answer(_) => false,
            Known::Block => view.describe_block(stack) || view.deepen(stack),
            Known::Deeper | Known::Mostly(_) => view.deepen(stack) || view.describe_block(stack),
        }
    }
}

/// What a cache says of a stack.
pub struct LookUp<V> {
    /// The answer.
    pub answer: Option<V>,
    /// Most of it, where the answer itself is not known.
    pub mostly: Option<V>,
}

/// Answers by what can be seen from the top of a stack, in the cache of row `ID` of the register.
pub struct StackCache<V, const ID: usize> {
    known: BoundedCache<Box<[u32]>, Known<V>, ID>,
}

impl<V, const ID: usize> Default for StackCache<V, ID> {
    fn default() -> Self {
        StackCache { known: BoundedCache::default() }
    }
}

impl<V: Clone, const ID: usize> StackCache<V, ID> {
    /// The answer for a stack, if it is known. The view is described down to the level that decides, or as far as
    /// something is known.
    pub fn find(&self, view: &mut StackView, stack: &ParseStack) -> Option<V> {
        self.look_up(view, stack).answer
    }

    /// The answer for a stack, or most of it, as far as they are known.
    pub fn look_up(&self, view: &mut StackView, stack: &ParseStack) -> LookUp<V> {
        let mut found = LookUp { answer: None, mostly: None };
        loop {
            let Some(known) = self.known.get(view.key()) else { return found };
            let leads_on = known.lead_on(view, stack);
            match known {
                Known::Answer(answer) => found.answer = Some(answer),
                Known::Mostly(answer) => found.mostly = Some(answer),
                Known::Deeper | Known::Block => {}
            }
            if !leads_on {
                return found;
            }
        }
    }

    /// Keeps most of an answer, for all stacks of which a view describes as much. `size` are its bytes.
    pub fn keep_mostly(&self, view: &StackView, answer: V, size: usize) {
        self.known.keep(view.key().into(), Known::Mostly(answer), view.key().len() * 4 + 64 + size);
    }

    /// Keeps an answer that these nodes decided, those with at least the number `own` not counted: they are made from
    /// others. `size` are the bytes of the answer. The view is described down to the level that decides.
    pub fn keep(&self, view: &mut StackView, stack: &ParseStack, decided: &[NodeId], answer: V, size: usize) {
        const ENTRY: usize = 64;
        while !decided.iter().all(|&node| view.describes(node)) {
            // What is known of a description leads on, whatever it was that decided there.
            let known = self.known.with(view.key(), |known| match known {
                Known::Answer(_) => None,
                Known::Block => Some(Known::Block),
                Known::Deeper | Known::Mostly(_) => Some(Known::Deeper),
            });
            let step = known.flatten().unwrap_or_else(|| {
                let by_levels = decided.iter().any(|&node| !view.describes(node) && !stack.is_block(node));
                let step = if by_levels { Known::Deeper } else { Known::Block };
                self.known.keep(view.key().into(), step.clone(), view.key().len() * 4 + ENTRY);
                step
            });
            if !step.lead_on(view, stack) {
                break;
            }
        }
        self.known.keep(view.key().into(), Known::Answer(answer), view.key().len() * 4 + ENTRY + size);
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.known.memory_bytes()
    }
}
