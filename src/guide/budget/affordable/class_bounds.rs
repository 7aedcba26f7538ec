//! What the bounds of frames say of classes of configurations: no completion is needed to know it.

use smallvec::SmallVec;

use crate::guide::budget::affordable::AffordableTokens;
use crate::guide::budget::affordable::config_class::ConfigClass;
use crate::guide::budget::completions::ENDLESS;
use crate::pushdown::json::frame::{FrameId, FrameKind, NONE, ScalarItem};
use crate::pushdown::json::machine::JsonMachine;

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// So many tokens complete the output after a class at most; [`ENDLESS`] where that is not known.
    pub(super) fn bound(&mut self, class: u32) -> u32 {
        let Some(&ConfigClass { bound, node, differs, .. }) = self.classes.get(class as usize) else { return ENDLESS };
        bound.unwrap_or_else(|| {
            let mut bound = self.bound_of(node);
            if differs {
                bound = bound.min(self.bound_of_different(node));
            }
            self.classes[class as usize].bound = Some(bound);
            bound
        })
    }

    /// The same of a configuration: no completion is needed to know it.
    pub(super) fn bound_of(&mut self, node: FrameId) -> u32 {
        let Some(bounds) = self.bounds else { return ENDLESS };
        let frames = JsonMachine { program: self.program, arena: self.arena };
        let n = frames.arena.nodes[node as usize];
        let mut here = bounds.of_top(&frames, &n).cost;
        if n.kind == FrameKind::Scalar && n.trace == u32::MAX && bounds.inside_text(&frames, &n).is_some() {
            here = self.end_of_text(n.items(), n.count).map_or(here, |end| here.min(end.saturating_add(bounds.gap)));
        }
        here.saturating_add(self.bound_below(n.parent))
    }

    /// The same inside or behind an element that differs from all others.
    pub(super) fn bound_of_different(&mut self, node: FrameId) -> u32 {
        let Some(bounds) = self.bounds else { return ENDLESS };
        let frames = JsonMachine { program: self.program, arena: self.arena };
        let n = frames.arena.nodes[node as usize];
        bounds.of_new_top(&frames, &n).cost.saturating_add(self.bound_below(n.parent))
    }

    /// The most that text costs by which an element differs from all others, whatever whole characters of plain text it
    /// goes on with.
    pub(super) fn bound_inside_different(&mut self, node: FrameId) -> u32 {
        let Some(bounds) = self.bounds else { return ENDLESS };
        let frames = JsonMachine { program: self.program, arena: self.arena };
        let n = frames.arena.nodes[node as usize];
        // Any text needs the characters that it lacks, and a quote: it is in no escape.
        let lacks = |item: &ScalarItem| frames.program.lexemes[item.lexeme as usize].missing_characters(n.count);
        let items = &frames.arena.scalars[n.items()];
        let most = items.iter().map(lacks).try_fold(0, |most: u32, lacks| Some(most.max(lacks?)));
        let plain = most.map(|most| most.saturating_add(1 + bounds.gap));
        let inside = plain.or_else(|| bounds.inside_new_text(&frames, &n));
        inside.map_or(ENDLESS, |inside| inside.saturating_add(self.bound_below(n.parent)))
    }

    /// The same of a node with a value above it that has ended, and of all below it.
    pub(super) fn bound_below(&mut self, node: FrameId) -> u32 {
        let Some(bounds) = self.bounds else { return ENDLESS };
        let frames = JsonMachine { program: self.program, arena: self.arena };
        let mut chain: SmallVec<[FrameId; 8]> = SmallVec::new();
        let mut at = node;
        let mut cost = loop {
            match self.below.get(&at) {
                _ if at == NONE => break 0,
                Some(&known) => break known,
                None => chain.push(at),
            }
            at = frames.arena.nodes[at as usize].parent;
        };
        for at in chain.into_iter().rev() {
            cost = cost.saturating_add(bounds.of_frame(&frames, &frames.arena.nodes[at as usize]).cost);
            // Nodes above the guide's own come and go.
            if at < self.base {
                self.below.insert(at, cost);
            }
        }
        cost
    }
}
