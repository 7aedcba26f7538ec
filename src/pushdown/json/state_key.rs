//! State keys: what the future of a configuration depends on, as bytes.
//!
//! A key holds no index into an arena, so equal keys mean equal configurations of one program, whatever arenas they
//! stand in. [`Detail`] says how much of a configuration is written. Counters, sets of keys and the declared order hold
//! more than the future depends on: whoever numbers configurations wants as few as there are, while whoever remembers
//! one wants all that its user may look at.

use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, ObjectItem, Phase};
use crate::pushdown::json::literal_trie::sub_words;
use crate::pushdown::json::program::Program;

/// What descriptions hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything of a frame.
    Whole,
    /// All but the states of lexemes.
    NoStates,
    /// Everything of a frame, with the elements of an array that must differ by their place in this arena: for
    /// configurations that all stand in it.
    Here,
    /// What the future depends on: counters are cut to what a bound can still tell apart, what the declared order has
    /// left behind is left out. Literal tries are named by their numbers. Not for programs with unique elements,
    /// whose frames are described whole.
    Future,
}

impl Arena {
    /// Writes what the future of `top` depends on, without any index into this arena: equal descriptions mean equal
    /// configurations of one program.
    pub fn describe(&self, program: &Program, top: FrameId, out: &mut Vec<u8>) {
        self.describe_by(program, top, Detail::Whole, out);
    }

    /// [`describe`](Self::describe) for configurations that all stand in this arena. Elements that must differ are not
    /// written, so arrays of thousands of them take no longer than others.
    pub fn describe_here(&self, program: &Program, top: FrameId, out: &mut Vec<u8>) {
        self.describe_by(program, top, Detail::Here, out);
    }

    /// Writes what the future of `top` depends on, with counters and orders cut to what still matters: fewer
    /// configurations have descriptions of their own than by [`describe`](Self::describe).
    pub fn describe_future(&self, program: &Program, top: FrameId, out: &mut Vec<u8>) {
        // Elements and traces are sets of texts; they are described whole.
        let detail = if program.has_unique { Detail::Whole } else { Detail::Future };
        self.describe_by(program, top, detail, out);
    }

    /// Writes what the future of `top` depends on, for programs that differ only in how the states of their lexemes are
    /// numbered: states stand at the end, by their content.
    pub fn describe_content(&self, program: &Program, top: FrameId, out: &mut Vec<u8>) {
        self.describe_by(program, top, Detail::NoStates, out);
        let Some(n) = self.nodes.get(top as usize).filter(|n| n.kind == FrameKind::Scalar) else { return };
        for s in &self.scalars[n.start as usize..(n.start + n.len) as usize] {
            out.extend(program.lexemes[s.lexeme as usize].digest(s.state));
        }
    }

    fn describe_by(&self, program: &Program, top: FrameId, detail: Detail, out: &mut Vec<u8>) {
        let mut at = top;
        while at != NONE {
            let n = &self.nodes[at as usize];
            let open = detail != Detail::Future && (at == top || n.key != u32::MAX);
            self.describe_frame(program, n, open.then(|| self.nodes[top as usize].trace), detail, out);
            at = n.parent;
        }
    }

    /// Writes what is in one frame, without what lies below it. `trace` is where the open element ends, if this is an
    /// array of unique elements with one.
    pub fn describe_frame(&self, program: &Program, n: &Frame, trace: Option<u32>, detail: Detail, out: &mut Vec<u8>) {
        let cut = detail == Detail::Future;
        let mut word = |w: u32| out.extend(w.to_le_bytes());
        word(n.kind as u32 | (n.phase as u32) << 8 | (n.gap as u32) << 16);
        word(u32::from(n.blank));
        word(if cut { self.significant_count(program, n) } else { n.count });
        word(n.len);
        let range = n.start as usize..(n.start + n.len) as usize;
        match n.kind {
            FrameKind::Root | FrameKind::Done => {}
            FrameKind::Value => self.rules[range].iter().for_each(|r| word(r.0)),
            FrameKind::Scalar => {
                for s in &self.scalars[range] {
                    let state = if detail == Detail::NoStates { 0 } else { s.state };
                    [s.tag, s.lexeme, state].into_iter().for_each(&mut word);
                }
                if cut {
                    // Sets have one number each, as long as the program is there.
                    [n.seen, n.text].into_iter().chain(sub_words(n.sub)).for_each(word);
                } else if let Some(set) = program.constants.get(n.seen) {
                    set.describe((n.text, n.sub), word);
                }
            }
            FrameKind::Array => {
                for i in &self.arrays[range] {
                    [i.tag, i.shape, i.child, i.matches].into_iter().for_each(&mut word);
                    let width = program.arrays[i.shape as usize].contains.len();
                    self.counts[i.counts as usize..][..width].iter().for_each(|&c| word(c));
                }
                self.describe_elements(n, trace, detail, out);
            }
            FrameKind::Object => {
                for i in &self.objects[range] {
                    self.describe_members(program, n, i, cut, out);
                }
                self.describe_keys(program, n, out);
            }
        }
    }

    /// The count of a frame, cut to what some bound depends on.
    fn significant_count(&self, program: &Program, n: &Frame) -> u32 {
        let range = n.start as usize..(n.start + n.len) as usize;
        let bound = |min: u64, max: u64| if max == u64::MAX { min } else { max };
        let most = match n.kind {
            FrameKind::Scalar => {
                let counts = self.scalars[range].iter();
                let counts = counts.map(|s| program.lexemes[s.lexeme as usize].significant_count(n.count));
                return counts.max().unwrap_or(0);
            }
            FrameKind::Array => {
                let shapes = self.arrays[range].iter().map(|i| &program.arrays[i.shape as usize]);
                shapes.map(|shape| bound(shape.min, shape.max).max(shape.prefix.len() as u64)).max()
            }
            FrameKind::Object => {
                let shapes = self.objects[range].iter().map(|i| &program.objects[i.shape as usize]);
                shapes.map(|shape| bound(shape.min, shape.max)).max()
            }
            FrameKind::Root | FrameKind::Done | FrameKind::Value => None,
        };
        u64::from(n.count).min(most.unwrap_or(0)) as u32
    }

    /// Writes the elements that an array has, which must differ, and what was read of the open one.
    fn describe_elements(&self, n: &Frame, trace: Option<u32>, detail: Detail, out: &mut Vec<u8>) {
        let mut seen: Vec<&[u8]> = Vec::new();
        match detail {
            Detail::Here => out.extend(n.seen.to_le_bytes()),
            _ => seen.extend(self.unique.values(n.seen)),
        }
        seen.sort_unstable();
        if n.key != u32::MAX {
            out.extend(u32::MAX.to_le_bytes());
        }
        for v in seen {
            out.extend((v.len() as u32).to_le_bytes());
            out.extend(v);
        }
        if let Some(last) = trace {
            let trace = self.bytes_since(last, n.key);
            out.extend((trace.len() as u32).to_le_bytes());
            out.extend(trace);
        }
    }

    /// Writes one item of an object: which named keys it has, and which it still needs.
    fn describe_members(&self, program: &Program, n: &Frame, i: &ObjectItem, cut: bool, out: &mut Vec<u8>) {
        let mut word = |w: u32| out.extend(w.to_le_bytes());
        let p = &program.objects[i.shape as usize];
        let ordered = cut && !program.any_order;
        // Of the declared order, a key that is open depends on no more than which names it may still become.
        let named = ordered && n.phase == Phase::Key && !i.others && i.name_node != u32::MAX;
        let position = if named { u32::MAX } else { i.position };
        [i.tag, i.shape, i.child, position, i.witnessed].into_iter().for_each(&mut word);
        if named {
            let allowed = |name: &&u32| self.bits[i.allowed as usize + **name as usize / 64] >> (**name % 64) & 1 == 1;
            p.names.subtree_tokens(i.name_node).iter().filter(allowed).for_each(|&name| word(name));
            word(u32::MAX);
        }
        if let Some(union) = &p.union {
            let open = &self.bits[i.alternatives as usize..][..union.words()];
            open.iter().flat_map(|&bits| [bits as u32, (bits >> 32) as u32]).for_each(&mut word);
        }
        for w in 0..p.words {
            let (mut seen, mut need) = (self.bits[i.seen as usize + w], self.bits[i.need as usize + w]);
            if cut {
                need &= !seen;
            }
            if ordered {
                // What lies behind is gone, seen or not, unless something ahead asks for it.
                seen &= p
                    .dependent_required
                    .as_ref()
                    .map_or(0, |dependent_required| dependent_required.iter().fold(0, |all, bits| all | bits[w]));
            }
            for bits in [seen, need] {
                word(bits as u32);
                word((bits >> 32) as u32);
            }
        }
    }

    /// Writes the keys without a name that an object has, and inside a key what was read of it and whether it may still
    /// be a named one. The keys are a set: their order does not matter.
    fn describe_keys(&self, program: &Program, n: &Frame, out: &mut Vec<u8>) {
        let mut put = |bytes: &[u8]| {
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(bytes);
        };
        let text = |last: u32| self.bytes_since(last, u32::MAX);
        let mut keys = Vec::new();
        let mut s = n.seen;
        while s != u32::MAX {
            keys.push(text(self.seen[s as usize].key));
            s = self.seen[s as usize].before;
        }
        keys.sort_unstable();
        keys.iter().for_each(|key| put(key));
        if n.phase == Phase::Key {
            put(&text(n.key));
            out.extend(sub_words(n.sub).into_iter().flat_map(u32::to_le_bytes));
            out.extend(self.objects[n.start as usize..(n.start + n.len) as usize].iter().map(|i| {
                let words = program.objects[i.shape as usize].words;
                self.bits[i.allowed as usize..][..words].iter().any(|w| *w != 0) as u8
            }));
        }
    }
}
