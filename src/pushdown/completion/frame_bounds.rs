//! Bounds of what completes frames: of one frame by itself, and of the frame on top with what is being read in it.

use crate::json::string_escape::EscapeState;
use crate::lexeme::LexemeKind;
use crate::pushdown::completion::completion_bounds::{
    AROUND_KEY, CompletionBound, CompletionBounds, DIGITS, UNBOUNDED, bytes_of,
};
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameKind, ObjectItem, Phase};
use crate::pushdown::json::machine::JsonMachine;

/// Names that a key may become, which are looked at one by one.
const FEW_NAMES: usize = 8;

impl CompletionBounds {
    /// What is left of the output when the value above `node` has ended, but for the frames below `node`, and by how
    /// much a token can raise that.
    pub fn of_frame(&self, frames: &JsonMachine, node: &Frame) -> CompletionBound {
        let mut most = CompletionBound { cost: 0, growth: 0 };
        let mut keep = |cost: u32, growth: u32| {
            most = CompletionBound { cost: most.cost.max(cost), growth: most.growth.max(growth) };
        };
        match node.kind {
            FrameKind::Array => {
                for item in &frames.arena.arrays[node.items()] {
                    keep(self.array_item(frames, node, item), self.elements[item.shape as usize]);
                }
            }
            FrameKind::Object => {
                for item in &frames.arena.objects[node.items()] {
                    keep(self.object_item(frames, node, item), self.objects[item.shape as usize].growth);
                }
            }
            _ => {}
        }
        most
    }

    fn array_item(&self, frames: &JsonMachine, node: &Frame, item: &ArrayItem) -> u32 {
        let shape = &frames.program.arrays[item.shape as usize];
        let counts = &frames.arena.counts[item.counts as usize..][..shape.contains.len()];
        self.array_rest(shape, item.shape, node.count.into(), counts)
    }

    fn object_item(&self, frames: &JsonMachine, node: &Frame, item: &ObjectItem) -> u32 {
        let shape = &frames.program.objects[item.shape as usize];
        let names = (frames.bits(item.seen, shape.words), frames.bits(item.need, shape.words));
        self.object_rest(shape, item.shape, names, node.count.into(), item.witnessed)
    }

    /// What is left of a member whose key is open, outside of escapes.
    fn key(&self, frames: &JsonMachine, item: &ObjectItem) -> u32 {
        let o = &frames.program.objects[item.shape as usize];
        let all = self.objects[item.shape as usize].member;
        let names = if item.name_node == u32::MAX { &[][..] } else { o.names.subtree_tokens(item.name_node) };
        if o.dependent_required.is_some() || names.len() > FEW_NAMES {
            return all;
        }
        let around = AROUND_KEY + 2 * self.gap;
        let allowed = frames.bits(item.allowed, o.words);
        let named = names.iter().filter(|&&n| allowed[n as usize / 64] >> (n % 64) & 1 == 1).map(|&n| {
            let rest = o.rest(item.name_node, n);
            let value = o.rules_of(n as usize).map(|rule| self.values[rule.0 as usize]).max().unwrap_or(UNBOUNDED);
            value.saturating_add((rest.len() as u32).saturating_mul(bytes_of(rest))).saturating_add(around)
        });
        let others = o.others.iter().enumerate().filter(|_| item.others).map(|(i, class)| {
            let united = o.union.iter().flat_map(|union| &union.classes[i]).map(|(rule, _)| rule);
            let value = united.chain([&class.rule]).map(|rule| self.values[rule.0 as usize]).max();
            match &class.keys {
                None => value.unwrap_or(UNBOUNDED).saturating_add(DIGITS + around),
                Some(_) => all,
            }
        });
        named.chain(others).max().unwrap_or(all)
    }

    /// What is left of an element on top, if it is one that must differ from others.
    fn unique_element_of(&self, frames: &JsonMachine, node: &Frame) -> Option<u32> {
        let array = frames.arena.nodes.get(node.parent as usize).filter(|n| n.kind == FrameKind::Array);
        let shapes = array.map(|n| frames.arena.arrays[n.items()].iter().map(|item| item.shape as usize));
        let is_unique = shapes.clone().is_some_and(|mut s| s.any(|s| frames.program.arrays[s].unique));
        if node.trace == u32::MAX && !is_unique {
            return None;
        }
        let is_scalar = matches!(node.kind, FrameKind::Scalar | FrameKind::Value);
        // The first element differs from all others, whatever it becomes, if the array needs no more than that one.
        let is_enough = |s: usize, n: &Frame| frames.program.arrays[s].is_enough(u64::from(n.count) + 1);
        let is_first = |n: &Frame| n.trace == u32::MAX && n.seen == u32::MAX;
        let only = array.filter(|n| is_scalar && is_first(n));
        if only.is_some_and(|n| shapes.clone().is_some_and(|mut s| s.all(|s| is_enough(s, n)))) {
            return None;
        }
        let known = shapes.filter(|_| is_scalar && array.is_some_and(|n| n.trace == u32::MAX));
        Some(known.map_or(UNBOUNDED, |shapes| shapes.map(|s| self.unique[s]).max().unwrap_or(UNBOUNDED)))
    }

    /// What is left of a text that is open in a node on top, anywhere inside it, and of what it is a part of; `None`
    /// where no text is open, or where it must differ from others.
    pub fn inside_text(&self, frames: &JsonMachine, node: &Frame) -> Option<u32> {
        match self.unique_element_of(frames, node) {
            Some(_) => None,
            None => self.inside_new_text(frames, node),
        }
    }

    /// [`inside_text`](Self::inside_text) where the text differs from all others, whatever it becomes.
    pub fn inside_new_text(&self, frames: &JsonMachine, node: &Frame) -> Option<u32> {
        let bound = self.of_new_top(frames, node);
        match (node.kind, node.phase) {
            (FrameKind::Scalar, _) => {
                let mut items = frames.arena.scalars[node.items()].iter();
                let is_text = |l: u32| frames.program.lexemes[l as usize].kind() != LexemeKind::Raw;
                items.all(|item| is_text(item.lexeme)).then_some(bound.growth)
            }
            (FrameKind::Object, Phase::Key) => {
                let members = frames.arena.objects[node.items()].iter();
                let member = members.map(|item| self.objects[item.shape as usize].member).max()?;
                Some(member.saturating_add(self.of_frame(frames, node).cost).saturating_add(self.gap))
            }
            _ => None,
        }
    }

    /// What [`of_frame`](Self::of_frame) says, of the node on top, with all that is open in it.
    pub fn of_top(&self, frames: &JsonMachine, node: &Frame) -> CompletionBound {
        if let Some(element) = self.unique_element_of(frames, node) {
            return CompletionBound { cost: element, growth: 0 };
        }
        self.of_new_top(frames, node)
    }

    /// [`of_top`](Self::of_top) where what is open differs from all other elements, whatever it becomes.
    pub fn of_new_top(&self, frames: &JsonMachine, node: &Frame) -> CompletionBound {
        let mut bound = self.of_frame(frames, node);
        let more = match (node.kind, node.phase) {
            (FrameKind::Value, _) => {
                let rules = || frames.arena.rules[node.items()].iter();
                bound.growth = rules().map(|rule| self.opened[rule.0 as usize]).max().unwrap_or(0);
                rules().map(|rule| self.values[rule.0 as usize]).max().unwrap_or(UNBOUNDED)
            }
            (FrameKind::Scalar, _) => {
                let items = frames.arena.scalars[node.items()].iter();
                let lexeme = |l: u32| (&frames.program.lexemes[l as usize], self.scalars[l as usize]);
                let far = items.map(|item| {
                    let (lexeme, farthest) = lexeme(item.lexeme);
                    let most = lexeme.missing_bytes(node.count).unwrap_or(farthest);
                    (lexeme.most_to_end(item.state, node.count).unwrap_or(most), most)
                });
                let rules = frames.program.constants.get(node.seen).map_or(&[][..], |set| set.rules());
                let lexemes = rules.iter().flat_map(|rule| &frames.program.rules[rule.0 as usize].lexemes);
                let set = lexemes.map(|&l| (lexeme(l).1, lexeme(l).1));
                let most = far.chain(set).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
                let (here, anywhere) = most.unwrap_or((UNBOUNDED, UNBOUNDED));
                bound.growth = anywhere;
                here
            }
            (FrameKind::Object, Phase::Key) if node.sub == EscapeState::Plain => {
                let items = frames.arena.objects[node.items()].iter();
                items.map(|item| self.key(frames, item)).max().unwrap_or(UNBOUNDED)
            }
            (FrameKind::Object, Phase::Key | Phase::BeforeKey) => {
                let items = frames.arena.objects[node.items()].iter();
                items.map(|item| self.objects[item.shape as usize].member).max().unwrap_or(UNBOUNDED)
            }
            (FrameKind::Object, Phase::BeforeColon) => {
                let items = frames.arena.objects[node.items()].iter();
                let values = items.map(|item| self.values[item.child as usize]).max().unwrap_or(UNBOUNDED);
                let opened = frames.arena.objects[node.items()].iter().map(|item| self.opened[item.child as usize]);
                bound.growth = opened.fold(bound.growth, u32::max);
                values.saturating_add(1 + self.gap)
            }
            _ => 0,
        };
        bound.cost = bound.cost.saturating_add(more).saturating_add(self.gap);
        bound
    }
}
