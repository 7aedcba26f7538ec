//! Ends of scalars inside arrays of unique elements.
//!
//! The shortest end of a number or string may make an element that the array has already. So its members are listed,
//! shortest first, and the next one is written that no element was. A list is as long as the array is to become and is
//! gone through once, by all elements together, so thousands of elements take one look at each member.

use crate::lexeme::LexemeKind;
use crate::lexeme::StateId;
use crate::lexeme::shortest_end::{FEW_MEMBERS, MAX_MEMBERS, preferred, shortest_members};
use crate::pushdown::completion::distinct_elements::DistinctElement;
use crate::pushdown::completion::shortest::Completer;
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, Phase, ScalarItem};
use crate::pushdown::json::machine::JsonMachine;

/// Ends of elements that are tried in vain in one completion, each of which is stepped: about a second.
pub(super) const MAX_REFUSED: usize = 100_000;
/// The most members that are listed for an array that needs so many elements.
const MOST_LISTED: usize = 1 << 15;
/// How long a list is for each element: several members spell one value, and beginnings of members count as well.
const LISTED_AN_ELEMENT: usize = 8;
/// How many members are listed in the time that an end takes that is refused.
const LISTED_A_REFUSAL: usize = 16;
/// With more ends than this not all are listed where the nearest are used up.
const MANY_ENDS: u32 = 1 << 14;

/// Where an end of an element is looked for: the node below its array, the item's lexeme and state with its count, and
/// among which ends.
pub(super) type EndQuery = (FrameId, (u32, StateId, u32), EndFilter);

/// The ends of an item that are tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum EndFilter {
    /// All ends, where they are few.
    All,
    /// So many of the nearest.
    Nearest(usize),
    /// All ends, where the nearest are used up.
    Many,
}

/// What must be possible behind the end of a scalar in an array of unique elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// That the array or object around it ends too, if it has all that it needs: elements stay short so.
    Closing,
    /// Anything.
    Any,
}

/// Ends that are tried in turn, and how many of them were.
pub(super) struct PassedEnds {
    passed: usize,
    /// All were tried, and none was left.
    is_used_up: bool,
    ends: Box<[Box<[u8]>]>,
}

/// Whether an array or object has all that it needs, in some alternative.
fn has_all_it_needs(frames: &JsonMachine, node: &Frame) -> bool {
    let items = node.start as usize..(node.start + node.len) as usize;
    match node.kind {
        FrameKind::Array => frames.arena.arrays[items].iter().any(|item| {
            let shape = &frames.program.arrays[item.shape as usize];
            let counts = &frames.arena.counts[item.counts as usize..][..shape.contains.len()];
            shape.may_end(node.count.into(), counts)
        }),
        FrameKind::Object => frames.arena.objects[items].iter().any(|item| frames.object_may_close(node, item)),
        _ => false,
    }
}

impl<'a> Completer<'a, '_> {
    /// Writes an element that an array needs whose elements must differ: the first of the
    /// [distinct elements](crate::pushdown::completion::distinct_elements) that it does not have. `None` where none
    /// were made. `array` is on top.
    pub(super) fn distinct_element(&mut self, array: &Frame) -> Option<()> {
        let distinct = self.costs.missing_elements(self.pen.frames, array)?;
        let number = self.next_distinct(array, &distinct.elements)?;
        let comma = if array.phase == Phase::First { &b""[..] } else { &distinct.separator };
        self.had.insert(array.parent, number + 1);
        self.pen.try_all(|pen| pen.take_all(&[comma, &distinct.elements[number].text].concat()))
    }

    /// Goes on with the first of the distinct elements that an array does not have, where the open element is the
    /// beginning of all of them.
    pub(super) fn end_distinct(&mut self) -> Option<()> {
        let (number, array) = self.outermost_unique().map(|(number, array)| (number, *array))?;
        // One that differs from all others, whatever it becomes, as the first one does, ends as is shortest.
        let differs = array.seen == u32::MAX || self.pen.frames.arena.unique.is_distinct(number);
        let distinct = self.costs.missing_elements(self.pen.frames, &array).filter(|_| !differs)?;
        let node = self.pen.node();
        let read = self.pen.frames.arena.bytes_since(node.trace, array.key);
        let (read, beginning) = (read.trim_ascii_start(), distinct.beginning());
        if beginning.is_empty() && node.kind != FrameKind::Value || !beginning.starts_with(read) {
            return None;
        }
        let number = self.next_distinct(&array, &distinct.elements)?;
        self.pen.try_all(|pen| pen.take_all(&distinct.elements[number].text[read.len()..]))
    }

    /// The first of the distinct elements that an array does not have.
    fn next_distinct(&mut self, array: &Frame, elements: &[DistinctElement]) -> Option<usize> {
        // What the array has it has from now on.
        let first = self.had.get(&array.parent).copied().unwrap_or(0);
        let unique = &mut self.pen.frames.arena.unique;
        (first..elements.len()).find(|&number| !unique.has(array.seen, &elements[number].canonical))
    }

    /// Writes the rest of a scalar, or nothing where that makes a value that a unique array has, for instance.
    pub(super) fn end_with(&mut self, end: &[u8], ending: Ending) -> Option<()> {
        let is_among_unique = self.is_among_unique();
        self.pen.try_all(|pen| {
            pen.take_all(end)?;
            if pen.node().kind == FrameKind::Scalar {
                pen.end_scalar()?;
            }
            if !is_among_unique {
                return Some(());
            }
            // A repetition is refused at the bracket that closes the value, unless more may follow that makes the value
            // different.
            let node = pen.node();
            if !matches!(node.kind, FrameKind::Object | FrameKind::Array) || !pen.frames.gap_may_end(&node) {
                return Some(());
            }
            let close = if node.kind == FrameKind::Object { b'}' } else { b']' };
            let goes_on = ending == Ending::Any || !has_all_it_needs(pen.frames, &node);
            (pen.accepts(close) || goes_on && pen.accepts(b',')).then_some(())
        })
    }

    /// Whether what is open lies in an array of unique elements.
    pub(super) fn is_among_unique(&self) -> bool {
        self.pen.frames.program.has_unique && self.pen.frames.is_unique_inside(self.pen.top)
    }

    /// Writes another end of a scalar item than the shortest one, which makes an element that a unique array has: or a
    /// byte that the item goes on with, since what else goes on may be a value that `contains` does not count.
    pub(super) fn other_end(&mut self, item: &ScalarItem, count: u32) -> Option<()> {
        if !self.is_among_unique() {
            return None;
        }
        let program = self.pen.frames.program;
        let listed = |used: u32| program.endings(item.lexeme, item.state, count, used);
        let all = |ends: &[Box<[u8]>]| -> Vec<Box<[u8]>> {
            let mut all = ends.to_vec();
            all.sort_by_key(|end| end.len());
            all
        };
        let most = self.pen.frames.most_elements(self.pen.top);
        if let Some(ends) = listed(most) {
            return self.one_of((item, count), EndFilter::All, || all(&ends));
        }
        let lexeme = &program.lexemes[item.lexeme as usize];
        let nearest = |most| shortest_members(lexeme, item.state, count, most).iter().map(|e| e[..].into()).collect();
        // A list as long as the array is to become is gone through once, by all of its elements together.
        let longest = self.elements_to_be().saturating_mul(LISTED_AN_ELEMENT).next_power_of_two().min(MOST_LISTED);
        let lists: &[usize] = if longest > MAX_MEMBERS { &[longest] } else { &[FEW_MEMBERS, MAX_MEMBERS] };
        let near = lists.iter().find_map(|&most| {
            // Where none of a list was left for an element before this one, none is.
            let place = self.place((item, count), EndFilter::Nearest(most));
            let is_used_up = place.and_then(|place| self.passed.get(&place)).is_some_and(|known| known.is_used_up);
            if is_used_up { None } else { self.one_of((item, count), EndFilter::Nearest(most), || nearest(most)) }
        });
        // Of numbers those that are few were listed above: many spell one value.
        let most = if lexeme.kind() == LexemeKind::Raw { most } else { MANY_ENDS };
        near.or_else(|| listed(most).and_then(|ends| self.one_of((item, count), EndFilter::Many, || all(&ends))))
            .or_else(|| preferred().find_map(|b| self.take_towards(b, item.tag)))
    }

    /// Where an item's ends are looked for: in the outermost array of unique elements.
    fn place(&self, (item, count): (&ScalarItem, u32), ends: EndFilter) -> Option<EndQuery> {
        Some((self.outermost_unique()?.1.parent, (item.lexeme, item.state, count), ends))
    }

    /// The array of unique elements around all that is open in one.
    fn outermost_unique(&self) -> Option<(FrameId, &Frame)> {
        self.unique_arrays().last()
    }

    /// The arrays of unique elements that are open, from the top down.
    fn unique_arrays(&self) -> impl Iterator<Item = (FrameId, &Frame)> {
        let nodes = &self.pen.frames.arena.nodes;
        let node = |number: FrameId| nodes.get(number as usize).map(|node| (number, node));
        let open = std::iter::successors(node(self.pen.top), move |(_, above)| node(above.parent));
        open.filter(|(_, node)| node.kind == FrameKind::Array && node.key != u32::MAX)
    }

    /// How many elements an open array of unique elements must have, or has with the one that is open: the most.
    fn elements_to_be(&self) -> usize {
        let frames = &*self.pen.frames;
        let elements = self.unique_arrays().map(|(_, array)| {
            let items = &frames.arena.arrays[array.start as usize..(array.start + array.len) as usize];
            let least = items.iter().map(|item| frames.program.arrays[item.shape as usize].min).min().unwrap_or(0);
            least.max(u64::from(array.count) + 1)
        });
        usize::try_from(elements.max().unwrap_or(0)).unwrap_or(MOST_LISTED).min(MOST_LISTED)
    }

    /// Writes one of the ends of an item: where it is an element itself, the first one behind those that were passed
    /// over for elements before it, which the array has, if there is such a one.
    fn one_of(
        &mut self,
        item: (&ScalarItem, u32),
        kind: EndFilter,
        ends: impl FnOnce() -> Vec<Box<[u8]>>,
    ) -> Option<()> {
        let place = self.place(item, kind);
        let known = place.and_then(|place| self.passed.remove(&place));
        let PassedEnds { passed, ends, .. } = known.unwrap_or_else(|| {
            let ends = ends();
            self.refused += ends.len() / LISTED_A_REFUSAL;
            PassedEnds { passed: 0, is_used_up: false, ends: ends.into() }
        });
        let mut order = (passed..ends.len()).chain(0..passed);
        let found = order.find(|&i| {
            let ended = self.refused < MAX_REFUSED && self.end_with(&ends[i], Ending::Closing).is_some();
            self.refused += usize::from(!ended);
            ended
        });
        if let Some(place) = place {
            let passed = found.map_or(ends.len(), |i| i + 1);
            self.passed.insert(place, PassedEnds { passed, is_used_up: found.is_none(), ends });
        }
        found.map(|_| ())
    }

    /// Writes a byte of a scalar if an item of this tag goes on behind it.
    fn take_towards(&mut self, byte: u8, tag: u32) -> Option<()> {
        let place = self.pen.place();
        self.pen.take(byte)?;
        let node = self.pen.node();
        let items = node.start as usize..(node.start + node.len) as usize;
        let goes_on =
            node.kind == FrameKind::Scalar && self.pen.frames.arena.scalars[items].iter().any(|i| i.tag == tag);
        if !goes_on {
            self.pen.back(place);
        }
        goes_on.then_some(())
    }
}
