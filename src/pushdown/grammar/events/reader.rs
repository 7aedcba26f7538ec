//! Reads an output again for its events: the tokens that a guide took, one by one, and back.

use smallvec::SmallVec;

use crate::pushdown::grammar::events::certain::LastBefore;
use crate::pushdown::grammar::events::derivations::{Derivations, Link, StackMark, Top};
use crate::pushdown::grammar::events::left_corners::EventGrammar;
use crate::pushdown::grammar::events::scan_step::{Branch, Branches, Ended};
use crate::pushdown::grammar::events::trail::Marker;
use crate::pushdown::grammar::parse_stack::{self, NO_NODE, ParseStack};
use crate::pushdown::json::arena::{Arena, ArenaMark};

/// No marker.
pub const NO_MARKER: u32 = u32::MAX;

/// Tops of a branch: a range of the list of tops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    first: u32,
    len: u32,
}

/// A marker that is certain.
#[derive(Clone, Copy, Debug)]
pub struct GivenMarker {
    /// The number of the capture's name.
    pub capture: u32,
    /// Whether it begins here.
    pub begins: bool,
    /// Where, in bytes of the output.
    pub at: u32,
    /// Where it ends: the number of the marker where it began. Where it begins: the marker of the capture around it, or
    /// [`NO_MARKER`].
    pub other: u32,
    /// How many captures of this name began before it.
    pub ordinal: u32,
}

#[derive(Clone)]
struct Position {
    branches: u32,
    tops: u32,
    text: u32,
    given: u32,
    open: u32,
    certain_to: u32,
    stack: StackMark,
    arena: ArenaMark,
    blocks: parse_stack::StackMark,
    ended: bool,
}

/// Reads one output.
#[derive(Clone)]
pub struct EventReader {
    pub(super) stack: Derivations,
    pub(super) arena: Option<Box<Arena>>,
    /// Open blocks and brackets, where the grammar has an indenter.
    pub(super) blocks: ParseStack,
    tops: Vec<Top>,
    branches: Vec<Branch>,
    /// One more than tokens read.
    positions: Vec<Position>,
    /// The output's text, special tokens included.
    text: Vec<u8>,
    /// The markers that are certain.
    pub(super) given: Vec<GivenMarker>,
    /// The innermost capture that is open behind the last of them.
    open: u32,
    /// Up to where no other marker can stand.
    certain_to: u32,
    counts: Vec<u32>,
    pub(super) last: LastBefore,
    now_branches: Branches,
}

impl EventReader {
    /// A reader at the start.
    pub fn new(program: EventGrammar<'_>) -> Self {
        let mut reader = EventReader {
            stack: Derivations::default(),
            arena: (!program.documents.is_empty()).then(|| Box::new(Arena::default())),
            blocks: ParseStack::default(),
            tops: Vec::new(),
            branches: Vec::new(),
            positions: Vec::new(),
            text: Vec::new(),
            given: Vec::new(),
            open: NO_MARKER,
            certain_to: 0,
            counts: vec![0; program.productions.capture_names.len()],
            last: LastBefore::default(),
            now_branches: Branches::new(),
        };
        let branches = reader.first_branches(program);
        reader.make_position(branches, false);
        reader
    }

    pub(super) fn group(&mut self, tops: &[Top]) -> Group {
        let first = self.tops.len() as u32;
        self.tops.extend_from_slice(tops);
        Group { first, len: tops.len() as u32 }
    }

    pub(super) fn tops(&self, group: Group) -> &[Top] {
        &self.tops[group.first as usize..(group.first + group.len) as usize]
    }

    fn make_position(&mut self, branches: Branches, ended: bool) {
        self.branches.extend_from_slice(&branches);
        self.now_branches = branches;
        self.positions.push(Position {
            branches: self.branches.len() as u32,
            tops: self.tops.len() as u32,
            text: self.text.len() as u32,
            given: self.given.len() as u32,
            open: self.open,
            certain_to: self.certain_to,
            stack: self.stack.mark(),
            arena: self.arena.as_ref().map(|arena| arena.mark()).unwrap_or_default(),
            blocks: self.blocks.mark(),
            ended,
        });
    }

    /// How many tokens were read.
    pub fn tokens(&self) -> usize {
        self.positions.len() - 1
    }

    /// The text that was read, special tokens included.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The length of the text behind some tokens.
    pub fn text_behind(&self, tokens: usize) -> u32 {
        self.positions.get(tokens).map_or(0, |position| position.text)
    }

    /// The markers that are certain, as of the last [`look`](Self::look).
    pub fn given(&self) -> &[GivenMarker] {
        &self.given
    }

    /// Up to where no marker can stand that isn't given.
    pub fn certain_to(&self) -> u32 {
        self.certain_to
    }

    /// The innermost capture that is open behind the given markers, or [`NO_MARKER`].
    pub fn open(&self) -> u32 {
        self.open
    }

    /// More derivations were met than anybody could compare.
    pub fn is_too_ambiguous(&self) -> bool {
        self.stack.is_too_ambiguous
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.stack.memory_bytes()
            + self.blocks.memory_bytes()
            + self.arena.as_ref().map_or(0, |arena| arena.memory_bytes())
            + self.tops.capacity() * size_of::<Top>()
            + self.branches.capacity() * size_of::<Branch>()
            + self.positions.capacity() * size_of::<Position>()
            + self.given.capacity() * size_of::<GivenMarker>()
            + self.text.capacity()
    }

    /// Reads a token that the guide took. `spelling` are its bytes if it spells any, `shown` the text of a special
    /// token. False if it can't be read, which is a bug.
    pub fn read(&mut self, program: EventGrammar<'_>, token: u32, spelling: Option<&[u8]>, shown: &[u8]) -> bool {
        let before = std::mem::take(&mut self.now_branches);
        let at = self.text.len() as u32;
        let mut all = Branches::new();
        if spelling.is_none() || !program.token_sets.is_empty() {
            all = self.step_special(program, &before, token, at, at + spelling.unwrap_or(shown).len() as u32);
        }
        match spelling {
            None => self.text.extend_from_slice(shown),
            Some(bytes) => {
                let mut branches = before.clone();
                for (&byte, at) in bytes.iter().zip(at..) {
                    branches = self.step(program, &branches, byte, at);
                }
                self.text.extend_from_slice(bytes);
                let now = self.text.len() as u32;
                all.extend(self.count_token(program, branches, now));
            }
        }
        let is_read = !all.is_empty();
        self.make_position(all, false);
        is_read
    }

    /// Takes note of a token that stands outside of the grammar.
    pub fn pass(&mut self) {
        let branches = std::mem::take(&mut self.now_branches);
        self.make_position(branches, false);
    }

    /// Reads the end of the output: from the derivations that are whole the preferred one is chosen.
    pub fn end(&mut self) {
        let branches = std::mem::take(&mut self.now_branches);
        self.make_position(branches, true);
    }

    /// Takes the token that was read last for the end of the output as well.
    pub fn end_here(&mut self) {
        if let Some(last) = self.positions.last_mut() {
            last.ended = true;
        }
    }

    /// Goes back to where fewer tokens were read.
    pub fn go_back_to(&mut self, tokens: usize) {
        if tokens >= self.tokens() {
            return;
        }
        self.positions.truncate(tokens + 1);
        let position = self.positions[tokens].clone();
        self.branches.truncate(position.branches as usize);
        let first = if tokens == 0 { 0 } else { self.positions[tokens - 1].branches };
        self.now_branches = SmallVec::from_slice(&self.branches[first as usize..]);
        self.tops.truncate(position.tops as usize);
        self.text.truncate(position.text as usize);
        self.stack.truncate(&position.stack);
        self.blocks.truncate(&position.blocks);
        if let Some(arena) = &mut self.arena {
            arena.truncate(&position.arena);
        }
        for marker in self.given.drain(position.given as usize..) {
            if marker.begins {
                self.counts[marker.capture as usize] -= 1;
            }
        }
        self.open = position.open;
        self.certain_to = position.certain_to;
        self.last.clear();
    }

    /// Finds what became certain.
    pub fn look(&mut self, program: EventGrammar<'_>) {
        let now = self.text.len() as u32;
        let at = self.positions.len() - 1;
        let mark = (self.stack.mark(), self.tops.len());
        let certain = match self.positions[at].ended {
            true => self.whole(program, now),
            false => {
                let branches = self.now_branches.clone();
                self.certain_in(program, &branches, now)
            }
        };
        let new: SmallVec<[Marker; 8]> = self.stack.trails.walk(certain.trail, self.given.len() as u32).collect();
        for marker in new {
            self.give(marker);
        }
        self.certain_to = self.certain_to.max(certain.limit.min(now));
        let position = &mut self.positions[at];
        (position.given, position.open, position.certain_to) = (self.given.len() as u32, self.open, self.certain_to);
        // What was made to look is kept only as far as answers about it are.
        if self.stack.mark().nodes_since(&mark.0) > 0 {
            self.stack.truncate(&mark.0);
            self.tops.truncate(mark.1);
            self.last.clear();
        }
    }

    fn give(&mut self, marker: Marker) {
        let Marker { capture, begins, at } = marker;
        let (other, ordinal) = match begins {
            true => {
                let count = &mut self.counts[capture as usize];
                *count += 1;
                (self.open, *count - 1)
            }
            false => (self.open, self.given.get(self.open as usize).map_or(0, |begin| begin.ordinal)),
        };
        self.open = match begins {
            true => self.given.len() as u32,
            false => self.given.get(self.open as usize).map_or(NO_MARKER, |begin| begin.other),
        };
        self.given.push(GivenMarker { capture, begins, at, other, ordinal });
    }

    /// The preferred one of the derivations that are whole.
    fn whole(&mut self, program: EventGrammar<'_>, now: u32) -> crate::pushdown::grammar::events::trail::Certain {
        use crate::pushdown::grammar::events::trail::{Certain, EMPTY};
        let branches = self.now_branches.clone();
        let mut all = Ended::new(0, NO_NODE);
        for branch in &branches {
            if branch.frame == crate::pushdown::grammar::parse_stack::NO_FRAME
                && program.scanner.state(branch.scan).at_boundary
            {
                all.kept.extend_from_slice(self.tops(branch.tops));
                continue;
            }
            let mut ended = SmallVec::new();
            self.end_terminals(program, branch, None, now, &mut ended);
            for one in ended {
                if !program.scanner.may_end(one.obligations) {
                    continue;
                }
                all.kept.extend(one.kept);
                for node in one.open {
                    for link in node.links {
                        Derivations::add_link(&mut all.open, node.state, link);
                    }
                }
            }
        }
        let Some(tops) = self.tops_of(program, all, now) else { return Certain::exactly(EMPTY) };
        let mut tops: SmallVec<[Top; 4]> = self.tops(tops).into();
        let mut best: Option<Link> = None;
        // The end closes all blocks.
        while !tops.is_empty() {
            let whole = tops.iter().filter(|top| program.lr.state(self.stack.state(top.node)).accepting);
            let links = whole.flat_map(|top| self.stack.links(top.node)).copied();
            best = best.into_iter().chain(links).max_by_key(|link| link.end);
            tops = self.close_block(program, &tops, now);
        }
        Certain::exactly(best.map_or(EMPTY, |link| link.trail))
    }
}
