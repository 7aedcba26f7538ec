//! Bounds of what completes frames: of one frame by itself, and of the frame on top with what is being read in it.

use crate::json::string_escape::EscapeState;
use crate::lexeme::LexemeKind;
use crate::pushdown::completion::completion_bounds::{
    AROUND_KEY, CompletionBound, CompletionBounds, DIGITS, UNBOUNDED, bytes_of,
};
use crate::pushdown::completion::unique_bounds::UniqueEnd;
use crate::pushdown::json::frame::{ArrayItem, Frame, FrameId, FrameKind, NONE, ObjectItem, Phase};
use crate::pushdown::json::machine::JsonMachine;

/// Names that a key may become, which are looked at one by one.
const FEW_NAMES: usize = 8;
/// Missing elements that completions write one by one.
const FEW_MISSING: u64 = 8;

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

    /// So many tokens complete the output where a completion has written what the missing elements of an array begin
    /// with, all of which must differ. `array` is on top, behind another element. `None` where that is not known, or so
    /// few are missing that they are written faster.
    pub fn of_missing_elements(&self, frames: &JsonMachine, array: &Frame) -> Option<u32> {
        let [item] = &frames.arena.arrays[array.items()] else { return None };
        let missing = frames.program.arrays[item.shape as usize].min.saturating_sub(array.count.into());
        // An element around the array may have to differ as well.
        if missing <= FEW_MISSING || array.trace != u32::MAX {
            return None;
        }
        let elements = self.missing[item.shape as usize].begun(missing);
        let around = |n: &Frame| frames.arena.nodes.get(n.parent as usize);
        let below = std::iter::successors(around(array), |n| around(n));
        let below = below.fold(0, |sum: u32, n| sum.saturating_add(self.of_frame(frames, n).cost));
        let cost = elements.saturating_add(1 + self.gap).saturating_add(below);
        (cost != UNBOUNDED).then_some(cost)
    }

    fn array_item(&self, frames: &JsonMachine, node: &Frame, item: &ArrayItem) -> u32 {
        let shape = &frames.program.arrays[item.shape as usize];
        let counts = &frames.arena.counts[item.counts as usize..][..shape.contains.len()];
        // One that is open has a bound of its own.
        let open = node.phase == Phase::Inside && shape.contains.is_empty();
        self.array_rest(shape, item.shape, u64::from(node.count) + u64::from(open), counts)
    }

    fn object_item(&self, frames: &JsonMachine, node: &Frame, item: &ObjectItem) -> u32 {
        let shape = &frames.program.objects[item.shape as usize];
        let names = (frames.bits(item.seen, shape.words), frames.bits(item.need, shape.words));
        self.object_rest(shape, item.shape, names, node.count.into(), item.witnessed)
    }

    /// What is left of a member whose key is open, outside of escapes.
    fn key(&self, frames: &JsonMachine, item: &ObjectItem) -> u32 {
        let o = &frames.program.objects[item.shape as usize];
        let bounds = &self.objects[item.shape as usize];
        let all = bounds.member;
        let names = if item.name_node == u32::MAX { &[][..] } else { o.names.subtree_tokens(item.name_node) };
        if o.dependent_required.is_some() || names.len() > FEW_NAMES {
            return all;
        }
        // The comma and the first quote are written.
        let around = AROUND_KEY - 2 + 2 * self.gap;
        let allowed = frames.bits(item.allowed, o.words);
        let named = names.iter().filter(|&&n| allowed[n as usize / 64] >> (n % 64) & 1 == 1).map(|&n| {
            let rest = o.rest(item.name_node, n);
            let value = o.rules_of(n as usize).map(|rule| self.values[rule.0 as usize]).max().unwrap_or(UNBOUNDED);
            let key = (rest.len() as u32).saturating_mul(bytes_of(rest)).min(bounds.rests[n as usize]);
            let member = value.saturating_add(key).saturating_add(around);
            // A name that is needed is among what the object lacks.
            member.saturating_sub(bounds.needed[n as usize])
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

    /// What ends the element that is open on top, if it must differ from others.
    fn unique_end_of(&self, frames: &JsonMachine, node: &Frame) -> Option<UniqueEnd> {
        if !frames.program.has_unique {
            return None;
        }
        let nodes = &frames.arena.nodes;
        let is_unique =
            |&at: &FrameId| nodes[at as usize].kind == FrameKind::Array && frames.any_unique(&nodes[at as usize]);
        let around = std::iter::successors(Some(node.parent), |&at| nodes.get(at as usize).map(|n| n.parent));
        let mut around = around.take_while(|&at| at != NONE);
        // Bytes are recorded inside the elements of the outermost one, and from their first bytes on.
        let number = match node.trace {
            u32::MAX => around.next().filter(is_unique)?,
            _ => around.clone().find(|&at| nodes[at as usize].trace == u32::MAX)?,
        };
        let array = &nodes[number as usize];
        if node.trace != u32::MAX && around.take_while(|&at| at != number).any(|at| is_unique(&at)) {
            return Some(UniqueEnd::Unknown);
        }
        // The first element differs from all others, whatever it becomes, and so may what was read of another one.
        if array.seen == u32::MAX || frames.arena.unique.is_distinct(number) {
            return None;
        }
        let ends = frames.arena.arrays[array.items()].iter().map(|item| self.unique[item.shape as usize]);
        ends.reduce(|a, b| match (a, b) {
            (UniqueEnd::Whole(a), UniqueEnd::Whole(b)) => UniqueEnd::Whole(a.max(b)),
            (UniqueEnd::Unknown, _) | (_, UniqueEnd::Unknown) => UniqueEnd::Unknown,
            (UniqueEnd::Whole(a) | UniqueEnd::Added(a), UniqueEnd::Whole(b) | UniqueEnd::Added(b)) => {
                UniqueEnd::Added(a.max(b))
            }
        })
    }

    /// What is left of a text that is open in a node on top, anywhere inside it, and of what it is a part of; `None`
    /// where no text is open, or where it must differ from others.
    pub fn inside_text(&self, frames: &JsonMachine, node: &Frame) -> Option<u32> {
        match self.unique_end_of(frames, node) {
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
        match self.unique_end_of(frames, node) {
            None => self.of_new_top(frames, node),
            Some(UniqueEnd::Whole(cost)) => CompletionBound { cost, growth: 0 },
            Some(UniqueEnd::Added(added)) => {
                let bound = self.of_new_top(frames, node);
                CompletionBound { cost: bound.cost.saturating_add(added), ..bound }
            }
            Some(UniqueEnd::Unknown) => CompletionBound { cost: UNBOUNDED, growth: 0 },
        }
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
