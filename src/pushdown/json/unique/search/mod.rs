//! The search for an unused value of an open element, by trying completions.
//!
//! Where an element can become more values than its array has elements (see `cardinality`), one of them is new. Below
//! that the completions are tried. Each writes a value in one spelling and one order of keys, so that the values
//! differ, and closing the element refuses those that the array has. The array has few elements then, so the search
//! ends after as many refusals at most. It steps the same frames as a guide, so what it finds can be written, also
//! where arrays of unique elements lie inside each other.

mod distinct_completions;
pub(super) mod found_paths;
mod keys;

use smallvec::{SmallVec, smallvec};

use crate::json::canonical::canonical;
use crate::json::whitespace::WhitespaceRule;
use crate::lexeme::{LexemeKind, StateId};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::unique::exhaustible::ExhaustibleArrays;
use crate::pushdown::json::unique::search::distinct_completions::varied_ends;
use crate::pushdown::json::unique::search::found_paths::FoundPath;
use crate::pushdown::json::unique::state::TriedStates;
use crate::util::seeded_hash::SeededSet;

/// Bytes that one search steps, with all searches inside it, beside those of the elements, which it may have to write
/// all. Where they do not suffice the element counts as able to differ: nothing valid is refused, and it is asked again
/// behind the next byte.
const MAX_STEPS: u64 = 1 << 17;

/// Bytes that may be stepped for one of an element's canonical text.
const SPELLED: u64 = 2;

/// So far from where a way was noted it is noted again, or each byte would go back to there.
const FAR: usize = 32;

/// Bytes that lead on.
pub(crate) struct SearchMove {
    pub(super) bytes: Vec<u8>,
    /// A number or word ends behind them.
    pub(super) ends: bool,
    /// They are this key.
    pub(super) key: Option<Box<[u8]>>,
}

/// One search.
pub(crate) struct ValueSearch {
    /// The array whose element is to become a new one.
    array: FrameId,
    /// Whether something that may follow was left out, so that a search which finds nothing says nothing.
    pub(super) is_partial: bool,
}

/// What a search found.
enum SearchResult {
    /// The bytes to a new element, as the trace has them, or to where there are certainly more than the array has.
    New(Vec<u8>),
    /// There is none.
    None,
    /// That takes too long to find out.
    Unknown,
}

/// A configuration of the search and the moves from it that were not tried, the next one last.
struct SearchFrame {
    top: FrameId,
    moves: Vec<SearchMove>,
    /// For each open object of the element, its last key that the search chose: keys come in one order only.
    last: SmallVec<[Option<Box<[u8]>>; 2]>,
}

impl JsonMachine<'_> {
    /// Whether the configuration `top` can still be completed as far as unique elements go. `before` is the one that a
    /// byte led from, or [`NONE`].
    #[inline]
    pub fn stays_live(&mut self, before: FrameId, top: FrameId) -> bool {
        !self.program.has_watched || self.arena.unique.tried.on || self.can_differ(before, top)
    }

    /// Whether every element that is open at `top` in an array of unique elements can become one that its array does
    /// not have. `top` is as it was made by a step.
    fn can_differ(&mut self, before: FrameId, top: FrameId) -> bool {
        let scarce = self.scarce(top);
        if scarce.is_empty() {
            return true;
        }
        // It could before the byte, so it can where the byte decided nothing.
        let behind_blank = self.is_behind_blank(before, top);
        if (behind_blank || self.decides_nothing(before, top))
            && self.arena.unique.guessed.binary_search(&before).is_err()
        {
            if behind_blank {
                self.keep_witnesses(before, top, &scarce);
            }
            return true;
        }
        scarce.into_iter().all(|(array, variety)| {
            let may_be_new = |repeats: u64| repeats == 0 || variety > repeats;
            self.has_witness(top, array) || may_be_new(self.may_repeat(top, array)) || self.may_be_unused(top, array)
        })
    }

    /// Whether the element of `array` that is open at `top` can become one that the array does not have, or that takes
    /// too long to find out.
    fn may_be_unused(&mut self, top: FrameId, array: FrameId) -> bool {
        let mark = self.arena.mark();
        let (trace, guesses, asked) = (self.arena.trace, self.arena.unique.guesses, self.arena.unique.searching);
        let outer = self.arena.unique.tried.on;
        if !outer {
            self.arena.unique.tried = TriedStates { on: true, ..TriedStates::default() };
        }
        self.arena.unique.searching = array;
        let found = self.finds_unused(top, array);
        self.arena.unique.searching = asked;
        self.arena.unique.tried.on = outer;
        self.arena.trace = trace;
        self.arena.truncate(&mark);
        let certain = self.arena.unique.guesses == guesses;
        match found {
            SearchResult::None if certain => return false,
            SearchResult::New(way) if certain => {
                if !outer {
                    self.note_witness(top, array, way);
                }
                return true;
            }
            _ => {}
        }
        // What was found, or not, may rest on what was not found inside the element.
        self.arena.unique.guesses += 1;
        self.arena.unique.guessed.push(top);
        !matches!(found, SearchResult::None)
    }

    /// Whether `top` is `before` behind a blank.
    fn is_behind_blank(&self, before: FrameId, top: FrameId) -> bool {
        let blank = |n: &Frame| Frame { blank: 0, trace: 0, ..*n };
        self.arena.nodes.get(before as usize).is_some_and(|b| blank(b) == blank(&self.arena.nodes[top as usize]))
    }

    /// Whether the scalar `top` can become as much as the scalar `before` that a byte led from: the same values then.
    fn decides_nothing(&self, before: FrameId, top: FrameId) -> bool {
        let (Some(before), node) = (self.arena.nodes.get(before as usize), &self.arena.nodes[top as usize]) else {
            return false;
        };
        let scalars =
            (before.kind, node.kind) == (FrameKind::Scalar, FrameKind::Scalar) && before.parent == node.parent;
        let mut old = before.items();
        let mut ends_as_before = |i| self.ends_as_before(&mut old, &self.arena.scalars[i], (before.count, node.count));
        scalars && before.len == node.len && node.items().all(&mut ends_as_before)
    }

    /// A way to end the element of `array` that is open at `top` as one that the array does not have.
    fn finds_unused(&mut self, top: FrameId, array: FrameId) -> SearchResult {
        let open = self.arena.nodes[array as usize];
        let begun = self.arena.nodes[top as usize].trace;
        let mut search = ValueSearch { array, is_partial: false };
        let mut objects = 0;
        let mut at = top;
        while at != array && at != NONE {
            objects += usize::from(self.arena.nodes[at as usize].kind == FrameKind::Object);
            at = self.arena.nodes[at as usize].parent;
        }
        let last: SmallVec<_> = smallvec![None; objects];
        let mut places = vec![SearchFrame { top, moves: self.moves(&mut search, top, &last), last }];
        while let Some(place) = places.last_mut() {
            let Some(next) = place.moves.pop() else {
                places.pop();
                continue;
            };
            let (from, mut last) = (place.top, place.last.clone());
            if !self.may_try(from, next.bytes.len() as u64 + 1) {
                return SearchResult::Unknown;
            }
            let Some(to) = self.take(from, &next) else { continue };
            let node = self.arena.nodes[to as usize];
            // The element is over where its array has one more.
            if node.kind == FrameKind::Array && node.parent == open.parent && node.count > open.count {
                return SearchResult::New(self.arena.bytes_since(self.arena.trace, begun));
            }
            // What is counted holds as long as the arrays inside the element can go on.
            if self.exceeds(array, self.variety(to, array)) && self.can_differ(NONE, to) {
                return SearchResult::New(self.arena.bytes_since(node.trace, begun));
            }
            match (node.kind, node.phase, next.key) {
                (FrameKind::Object, Phase::First, _) if next.bytes.ends_with(b"{") => last.push(None),
                (_, _, Some(key)) => {
                    last.pop();
                    last.push(Some(key));
                }
                _ if next.bytes.ends_with(b"}") && !next.ends => {
                    last.pop();
                }
                _ => {}
            }
            let moves = self.moves(&mut search, to, &last);
            places.push(SearchFrame { top: to, moves, last });
        }
        if search.is_partial { SearchResult::Unknown } else { SearchResult::None }
    }

    /// Whether the search may step so many bytes more, behind `top`.
    fn may_try(&mut self, top: FrameId, bytes: u64) -> bool {
        self.arena.unique.tried.bytes += bytes;
        if self.arena.unique.tried.bytes <= MAX_STEPS {
            return true;
        }
        let most = self.arena.unique.tried.most.unwrap_or_else(|| {
            let mut elements = 0;
            let mut at = top;
            while let Some(n) = self.arena.nodes.get(at as usize) {
                if n.kind == FrameKind::Array && n.key != u32::MAX {
                    let of = self
                        .arena
                        .unique
                        .elements
                        .up_to(n.seen)
                        .into_iter()
                        .filter_map(|e| self.arena.unique.elements.get(e));
                    elements += of.map(|e| e.value.len() as u64).sum::<u64>();
                }
                at = n.parent;
            }
            MAX_STEPS + SPELLED * elements
        });
        self.arena.unique.tried.most = Some(most);
        self.arena.unique.tried.bytes <= most
    }

    /// Steps a move.
    fn take(&mut self, from: FrameId, next: &SearchMove) -> Option<FrameId> {
        let (mut at, mut rest) = (from, next.bytes.as_slice());
        while let Some((&byte, after)) = rest.split_first() {
            let inside = if after.is_empty() { None } else { self.step_inside_traced(at, rest) };
            (at, rest) = inside.map_or_else(|| (self.step(at, byte), after), |(to, read)| (to, &rest[read..]));
            if at == NONE {
                return None;
            }
        }
        if next.ends && self.arena.nodes[at as usize].kind == FrameKind::Scalar {
            at = self.end_scalar(at);
        }
        Some(at).filter(|&n| n != NONE)
    }

    /// How many ways to go on from `top` are enough: each array that is open there may refuse as many values as it has
    /// elements, so of one more one is new to all of them.
    fn enough(&self, top: FrameId, array: FrameId) -> usize {
        let (mut most, mut at) = (1, top);
        while let Some(n) = self.arena.nodes.get(at as usize) {
            if n.kind == FrameKind::Array && n.key != u32::MAX {
                most += n.count as usize;
            }
            if at == array {
                break;
            }
            at = n.parent;
        }
        most
    }

    /// The moves from a configuration, the first one to try last.
    fn moves(&mut self, search: &mut ValueSearch, top: FrameId, last: &[Option<Box<[u8]>>]) -> Vec<SearchMove> {
        let node = self.arena.nodes[top as usize];
        let most = self.enough(top, search.array);
        let plain = |bytes: &[u8]| SearchMove { bytes: bytes.to_vec(), ends: false, key: None };
        let mut out: Vec<SearchMove> = match (node.kind, node.phase) {
            (FrameKind::Scalar, _) => return self.scalar_moves(search, &node, most),
            (FrameKind::Value, _) => self.value_moves(search, &node, most),
            (FrameKind::Array, Phase::First) => {
                let value = self.first_element(node);
                let mut moves = vec![plain(b"]")];
                if value != NONE {
                    let value = self.arena.nodes[value as usize];
                    moves.extend(self.value_moves(search, &value, most));
                }
                moves
            }
            (FrameKind::Array, _) => vec![plain(b"]"), plain(b",")],
            (FrameKind::Object, Phase::First) => {
                std::iter::once(plain(b"}")).chain(self.key_moves(search, &node, last, most)).collect()
            }
            (FrameKind::Object, Phase::After) => vec![plain(b"}"), plain(b",")],
            (FrameKind::Object, Phase::BeforeColon) => vec![plain(b":")],
            (FrameKind::Object, Phase::BeforeKey | Phase::Key) => self.key_moves(search, &node, last, most),
            (FrameKind::Object, Phase::Inside) | (FrameKind::Root | FrameKind::Done, _) => Vec::new(),
        };
        if node.phase != Phase::Key && !self.gap_may_end(&node) {
            let blanks = shortest_blanks(&self.program.gaps[node.gap as usize], node.blank);
            out.iter_mut().for_each(|m| m.bytes = [blanks.as_slice(), &m.bytes].concat());
        }
        out.reverse();
        out
    }

    fn scalar_moves(&self, search: &mut ValueSearch, node: &Frame, most: usize) -> Vec<SearchMove> {
        let items = &self.arena.scalars[node.start as usize..(node.start + node.len) as usize];
        let before = self.word_before(node);
        let places = items.iter().map(|i| (i.lexeme, i.state)).collect::<Vec<_>>();
        let mut out = self.ends(search, &places, node.count, &before, most);
        out.reverse();
        out
    }

    fn value_moves(&self, search: &mut ValueSearch, node: &Frame, most: usize) -> Vec<SearchMove> {
        let rules = &self.arena.rules[node.start as usize..(node.start + node.len) as usize];
        let rules = || rules.iter().map(|r| &self.program.rules[r.0 as usize]);
        let lexemes = rules().flat_map(|r| &r.lexemes);
        let places = lexemes.map(|&l| (l, self.program.lexemes[l as usize].start())).collect::<Vec<_>>();
        let mut out = self.ends(search, &places, 0, b"", most);
        let brackets = [(b'[', rules().any(|r| !r.arrays.is_empty())), (b'{', rules().any(|r| !r.objects.is_empty()))];
        let open = brackets.into_iter().filter(|b| b.1);
        out.extend(open.map(|(b, _)| SearchMove { bytes: vec![b], ends: false, key: None }));
        out
    }

    /// The ends of scalars from states of lexemes, each value once.
    fn ends(
        &self,
        search: &mut ValueSearch,
        places: &[(u32, StateId)],
        count: u32,
        before: &[u8],
        most: usize,
    ) -> Vec<SearchMove> {
        let mut out: Vec<SearchMove> = Vec::new();
        let mut known: SeededSet<Box<[u8]>> = SeededSet::default();
        for &(lexeme, state) in places {
            let l = &self.program.lexemes[lexeme as usize];
            let raw = l.kind() == LexemeKind::Raw;
            let mut add = |value: Box<[u8]>, rest: Box<[u8]>| {
                if known.insert(value) {
                    out.push(SearchMove { bytes: rest.into_vec(), ends: raw, key: None });
                }
            };
            let values = || self.program.values(lexeme, state, count, most as u32, before).filter(|v| !v.is_empty());
            let texts = || self.program.endings(lexeme, state, count, most as u32).filter(|t| !t.is_empty());
            if raw && let Some(values) = values() {
                values.iter().for_each(|v| add(v.value.clone(), v.rest.clone()));
            } else if !raw && let Some(texts) = texts() {
                texts.iter().for_each(|t| add(t.clone(), t.clone()));
            } else {
                // Asked again for each element that a search begins.
                let count = if l.is_bounded() { count } else { 0 };
                let make = || varied_ends(l, (state, count), before, raw, most);
                let key = (lexeme, state, count, most, before.into());
                let some = self.program.unique.completions.varied_ends(key, make);
                search.is_partial |= !some.is_enough;
                for t in &some.ends {
                    let whole = [before, &**t].concat();
                    add(if raw { canonical(&whole) } else { None }.unwrap_or_else(|| t.clone()), t.clone());
                }
            }
        }
        out
    }
}

impl JsonMachine<'_> {
    /// The way that the element of `array` that is open at `top` is on, and how many bytes ago it was noted.
    fn witness(&self, top: FrameId, array: FrameId) -> Option<(FoundPath, usize)> {
        let (key, top) = (self.arena.nodes[array as usize].key, &self.arena.nodes[top as usize]);
        let found =
            self.arena.unique.found_paths.find(&self.arena.keys, key, top.trace).filter(|_| !self.arena.unchecked)?;
        // A number ends without a byte of its own, and the way may go on with it.
        let (way, read) = (&found.0.way, found.0.read);
        let is_inside = read > 0 && way.get(read - 1..=read).is_some_and(|pair| pair.iter().all(is_of_number));
        (!is_inside || top.kind == FrameKind::Scalar || top.phase == Phase::Key).then_some(found)
    }

    /// Whether the element of `array` that is open at `top` is on a way to a new one.
    pub(crate) fn has_witness(&mut self, top: FrameId, array: FrameId) -> bool {
        // Where the way was just noted, a number that it goes on with may have ended.
        let Some((witness, since)) = self.witness(top, array).filter(|w| w.1 > 0) else { return false };
        if since > FAR {
            self.arena.unique.found_paths.push(witness);
        }
        true
    }

    /// Notes that `way` leads to a new element from `top`.
    pub(crate) fn note_witness(&mut self, top: FrameId, array: FrameId, way: Vec<u8>) {
        let (key, trace) = (self.arena.nodes[array as usize].key, self.arena.nodes[top as usize].trace);
        if !self.arena.unchecked {
            self.arena.unique.found_paths.push(FoundPath { key, trace, way: way.into(), read: 0 });
        }
    }

    /// Keeps ways on from `before` behind a blank, which is on none of them and led to `top`. Of another byte that is
    /// on none, such as one of an escape, nothing follows, whether it decided something or not.
    pub(crate) fn keep_witnesses(&mut self, before: FrameId, top: FrameId, scarce: &ExhaustibleArrays) {
        let trace = self.arena.nodes[top as usize].trace;
        for &(array, _) in scarce {
            if let Some((witness, _)) = self.witness(before, array).filter(|w| w.0.trace != trace) {
                self.arena.unique.found_paths.push(FoundPath { trace, ..witness });
            }
        }
    }
}

/// The fewest blanks after which a gap may end.
fn shortest_blanks(gap: &WhitespaceRule, from: u16) -> Vec<u8> {
    let mut ways: Vec<(u16, Vec<u8>)> = vec![(from, Vec::new())];
    let mut at = 0;
    while at < ways.len() {
        let (state, way) = ways[at].clone();
        if gap.accepting[state as usize] {
            return way;
        }
        for b in *b" \t\n\r" {
            if let Some(to) = gap.step(state, b)
                && ways.iter().all(|w| w.0 != to)
            {
                ways.push((to, [way.as_slice(), &[b]].concat()));
            }
        }
        at += 1;
    }
    Vec::new()
}

/// Whether a number may have the byte.
fn is_of_number(byte: &u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}
