//! Classes of configurations with one future, and where their bytes lead.

use smallvec::SmallVec;

use crate::guide::budget::affordable::different_part::DifferentPart;
use crate::guide::budget::affordable::new_text::New;
use crate::guide::budget::affordable::{ALONE, AffordableTokens, DEAD_CONFIG};
use crate::guide::budget::completions::PlainPrices;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::machine::JsonMachine;

/// With so many classes no more are numbered: a class takes a kilobyte.
const MAX_CLASSES: usize = 30_000;
/// Bytes that are refused for as much work as a step.
const REFUSED_A_STEP: usize = 16;
/// Words of bits of names that a step copies, for as much work of a search as a step: they are what it holds.
const WORDS_A_STEP: usize = 32;
/// Not stepped yet.
const UNKNOWN_CONFIG: u32 = u32::MAX;

/// Where the bytes of a class lead, as far as they were stepped: few as a list, many as a table.
#[derive(Default)]
pub(super) struct NextClasses {
    few: SmallVec<[(u8, u32); 6]>,
    all: Option<Box<[u32; 256]>>,
}

impl NextClasses {
    pub fn get(&self, byte: u8) -> Option<u32> {
        match &self.all {
            Some(all) => Some(all[usize::from(byte)]).filter(|&to| to != UNKNOWN_CONFIG),
            None => self.few.iter().find(|next| next.0 == byte).map(|next| next.1),
        }
    }

    pub fn set(&mut self, byte: u8, to: u32) {
        if self.all.is_none() && self.few.len() < self.few.inline_size() {
            return self.few.push((byte, to));
        }
        let few = &self.few;
        let all = self.all.get_or_insert_with(|| {
            let mut all = Box::new([UNKNOWN_CONFIG; 256]);
            few.iter().for_each(|&(byte, to)| all[usize::from(byte)] = to);
            all
        });
        all[usize::from(byte)] = to;
    }
}

/// A class of configurations with one future: how it is completed, and where its bytes lead.
pub(super) struct ConfigClass {
    pub node: FrameId,
    /// One new text stands in for all.
    pub is_new: bool,
    /// Behind such a text, in the same token.
    pub is_behind: bool,
    /// Inside or behind such a text, of an element that differs from all others because of it.
    pub differs: bool,
    /// There: what completes it depends on the text, as further elements are needed that must differ from this one. Its
    /// bounds hold for all texts.
    pub is_bound_only: bool,
    /// The node below the object whose new key this is in or behind, where it matters for other keys; else [`NONE`].
    pub below: FrameId,
    /// Keys that are not completed like the one that stands for all: what was read of them here.
    pub except: Box<[Box<[u8]>]>,
    /// Tokens that complete the output, `ENDLESS` where none are known; `None` if that was not asked.
    pub price: Option<u32>,
    /// So many tokens complete it at most, by the bounds of its frames; `None` if that was not asked.
    pub bound: Option<u32>,
    /// What plain text costs from here; `None` if that was not asked.
    pub plain: Option<Option<PlainPrices>>,
    pub next: NextClasses,
}

impl ConfigClass {
    pub fn at(node: FrameId) -> ConfigClass {
        ConfigClass {
            node,
            is_new: false,
            is_behind: false,
            differs: false,
            is_bound_only: false,
            below: NONE,
            except: Box::default(),
            price: None,
            bound: None,
            plain: None,
            next: NextClasses::default(),
        }
    }
}

impl<U: Fn(u32) -> bool> AffordableTokens<'_, U> {
    /// Where a byte leads from a class.
    pub(super) fn step(&mut self, at: u32, byte: u8) -> u32 {
        let Some(class) = self.classes.get(at as usize) else { return at };
        if let Some(known) = class.next.get(byte) {
            return known;
        }
        let to = self.find(at, byte);
        self.classes[at as usize].next.set(byte, to);
        to
    }

    fn find(&mut self, at: u32, byte: u8) -> u32 {
        if self.is_exhausted() {
            return ALONE;
        }
        self.made += 1;
        self.work += usize::from(self.made.is_multiple_of(REFUSED_A_STEP));
        let &ConfigClass { node, is_behind, is_new, .. } = &self.classes[at as usize];
        let n = self.arena.nodes[node as usize];
        if byte == b',' && (is_behind || is_new && n.kind == FrameKind::Scalar && self.frames().is_raw(&n)) {
            return ALONE;
        }
        let mark = self.arena.mark();
        let to = self.frames().step(node, byte);
        if to == NONE {
            self.arena.truncate(&mark);
            return DEAD_CONFIG;
        }
        self.work += self.step;
        self.made += self.words_of(to) / WORDS_A_STEP;
        let mut class = ConfigClass::at(to);
        if b" \t\n\r".contains(&byte) {
            class.price = self.price_before_blank(at, to);
        }
        let number = self.add(class, Some(at));
        if self.classes.get(number as usize).is_none_or(|p| p.node != to) {
            self.arena.truncate(&mark);
        }
        number
    }

    /// Words of bits that an object on top has for its names.
    fn words_of(&self, node: FrameId) -> usize {
        let n = &self.arena.nodes[node as usize];
        let item = (n.kind == FrameKind::Object).then(|| self.arena.objects[n.items()].first()).flatten();
        item.map_or(0, |item| self.program.objects[item.shape as usize].words)
    }

    /// What a class costs that whitespace leads to: as much as without, where it may end.
    fn price_before_blank(&mut self, at: u32, to: FrameId) -> Option<u32> {
        let &ConfigClass { node, is_new, .. } = &self.classes[at as usize];
        let (from, to) = (self.arena.nodes[node as usize], self.arena.nodes[to as usize]);
        let is_text = |n: &Frame| n.kind == FrameKind::Scalar || n.phase == Phase::Key;
        let same = Frame { gap: from.gap, blank: from.blank, ..to } == from;
        let frames = self.frames();
        let ends = frames.gap_may_end(&from) && frames.gap_may_end(&to);
        (same && ends && !is_new && !is_text(&from)).then(|| self.price(at))
    }

    /// Numbers a class, or finds the number that it has. `from` is the class before it.
    pub(super) fn add(&mut self, mut class: ConfigClass, from: Option<u32>) -> u32 {
        let before = from.and_then(|from| self.classes.get(from as usize));
        let (was_new, was_behind) = before.map_or((false, false), |from| (from.is_new, from.is_behind));
        let (differed, was_bound_only) = before.map_or((false, false), |from| (from.differs, from.is_bound_only));
        let below = before.map_or(NONE, |from| from.below);
        // Where the guide is a number stands for itself, so that what ends it is stepped once.
        let is_own = from.is_none() && self.element.as_ref().is_some_and(DifferentPart::is_number);
        let new = if was_behind || is_own { New::No } else { self.describe_new(class.node) };
        if new == New::No {
            class.is_behind = was_behind || was_new;
            self.describe(class.node, class.is_behind);
        }
        if let Some(&known) = self.numbers.get(&self.key) {
            return known;
        }
        if self.classes.len() >= MAX_CLASSES {
            return ALONE;
        }
        class.is_new = new != New::No;
        let is_inside = self.arena.nodes[class.node as usize].trace != u32::MAX;
        class.differs = class.is_new && is_inside || class.is_behind && differed;
        class.is_bound_only = new == New::Element { matters: true } || class.is_behind && was_bound_only;
        class.below = match new {
            New::Key { matters: true } => self.arena.nodes[class.node as usize].parent,
            New::No if class.is_behind => below,
            _ => NONE,
        };
        if class.below != NONE && !self.complete_for_all(&mut class) {
            if was_new || was_behind {
                return ALONE;
            }
            // This text is like no other, and stands for itself only.
            (class.is_new, class.below) = (false, NONE);
            self.describe(class.node, false);
            if let Some(&known) = self.numbers.get(&self.key) {
                return known;
            }
        }
        let number = self.classes.len() as u32;
        self.exceptions.extend(class.except.iter().cloned());
        self.classes.push(class);
        self.numbers.insert(self.key.clone(), number);
        number
    }

    /// Writes what the future of a configuration depends on into `key`, all of it.
    fn describe(&mut self, node: FrameId, is_behind: bool) {
        self.key.clear();
        self.key.push(u8::from(is_behind));
        let n = self.arena.nodes[node as usize];
        let frames = JsonMachine { program: self.program, arena: self.arena };
        if !self.rests.describe(&frames, &n, &mut self.key) {
            self.key.truncate(1);
            self.arena.describe_here(self.program, node, &mut self.key);
        }
    }
}
