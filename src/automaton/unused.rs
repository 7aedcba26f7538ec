//! Whether an open element can still become one that its array does not have, by trying.
//!
//! Where an element can become more values than its array has elements (`variety`), one of them is new. Below that the
//! ways to end it are tried: each of them writes a value in one spelling and one order of keys, so that the values
//! differ, and closing the element refuses those that the array has. The array has few elements then, so the search
//! ends soon: after as many refusals at most. It steps the same frames as a guide, so what it finds can be written,
//! also where arrays of unique elements lie inside each other.

use smallvec::{SmallVec, smallvec};

use super::arena::{Kind, NONE, Node, NodeId, Phase};
use super::config::Frames;
use super::lexeme::{CLOSED, Kind as LexemeKind, StateId};
use super::program::{Blanks, ObjectProgram};
use super::text::Sub;
use super::unique::canonical;
use super::varied::varied_ends;
use crate::hash::SeededSet;

/// Bytes that one search steps. Where they do not suffice the element counts as able to differ: nothing valid is
/// refused, and it is asked again behind the next byte.
const MAX_STEPS: u32 = 1 << 17;

/// Bytes that lead on.
struct Move {
    bytes: Vec<u8>,
    /// A number or word ends behind them.
    ends: bool,
    /// They are this key.
    key: Option<Box<[u8]>>,
}

/// Members that an object must still have are looked for up to so many.
const MAX_MEMBERS: u64 = 1 << 10;

/// One search.
struct Search {
    /// The array whose element is to become a new one.
    array: NodeId,
    /// Whether something that may follow was left out, so that a search which finds nothing says nothing.
    is_partial: bool,
}

/// A configuration of the search and the moves from it that were not tried, the next one last.
struct Place {
    top: NodeId,
    moves: Vec<Move>,
    /// For each open object of the element, its last key that the search chose: keys come in one order only.
    last: SmallVec<[Option<Box<[u8]>>; 2]>,
}

impl Frames<'_> {
    /// Whether the configuration `top` can still be completed as far as unique elements go. `before` is the one that a
    /// byte led from, or [`NONE`].
    #[inline]
    pub fn stays_live(&mut self, before: NodeId, top: NodeId) -> bool {
        !self.program.has_watched || self.can_differ(before, top)
    }

    /// Whether every element that is open at `top` in an array of unique elements can become one that its array does
    /// not have. `top` is as it was made by a step.
    fn can_differ(&mut self, before: NodeId, top: NodeId) -> bool {
        let scarce = self.scarce(top);
        // It could before the byte, so it can where the byte decided nothing.
        if scarce.is_empty()
            || (self.decides_nothing(before, top) && self.arena.guessed.binary_search(&before).is_err())
        {
            return true;
        }
        let asked = self.arena.searching;
        scarce.into_iter().all(|(array, variety)| {
            let may_be_new = |repeats: u64| repeats == 0 || variety > repeats;
            may_be_new(self.may_repeat(top, array)) || {
                let mark = self.arena.mark();
                let (trace, guesses) = (self.arena.trace, self.arena.guesses);
                self.arena.searching = array;
                let found = self.finds_unused(top, array);
                self.arena.searching = asked;
                self.arena.trace = trace;
                self.arena.truncate(&mark);
                // What was found may rest on what was not found inside the element.
                if found.is_none() || self.arena.guesses != guesses {
                    self.arena.guesses += 1;
                    self.arena.guessed.push(top);
                }
                found.unwrap_or(true)
            }
        })
    }

    /// Whether the scalar `top` can become as much as the scalar `before` that a byte led from: the same values then.
    fn decides_nothing(&self, before: NodeId, top: NodeId) -> bool {
        let (Some(before), node) = (self.arena.nodes.get(before as usize), &self.arena.nodes[top as usize]) else {
            return false;
        };
        let scalars = (before.kind, node.kind) == (Kind::Scalar, Kind::Scalar) && before.parent == node.parent;
        let items = |n: &Node| &self.arena.scalars[n.start as usize..(n.start + n.len) as usize];
        scalars
            && before.len == node.len
            && items(node).iter().all(|item| self.ends_as_before(before, item, node.count))
    }

    /// Whether the element of `array` that is open at `top` can become one that the array does not have; `None` where
    /// that takes too long to find out.
    fn finds_unused(&mut self, top: NodeId, array: NodeId) -> Option<bool> {
        let open = self.arena.nodes[array as usize];
        let mut search = Search { array, is_partial: false };
        let mut objects = 0;
        let mut at = top;
        while at != array && at != NONE {
            objects += usize::from(self.arena.nodes[at as usize].kind == Kind::Object);
            at = self.arena.nodes[at as usize].parent;
        }
        let last: SmallVec<_> = smallvec![None; objects];
        let mut steps = 0;
        let mut places = vec![Place { top, moves: self.moves(&mut search, top, &last), last }];
        while let Some(place) = places.last_mut() {
            let Some(next) = place.moves.pop() else {
                places.pop();
                continue;
            };
            let (from, mut last) = (place.top, place.last.clone());
            steps += next.bytes.len() as u32 + 1;
            if steps > MAX_STEPS {
                return None;
            }
            let Some(to) = self.take(from, &next) else { continue };
            let node = self.arena.nodes[to as usize];
            // The element is over where its array has one more.
            if node.kind == Kind::Array && node.parent == open.parent && node.count > open.count {
                return Some(true);
            }
            if self.exceeds(array, self.variety(to, array)) {
                return Some(true);
            }
            match (node.kind, node.phase, next.key) {
                (Kind::Object, Phase::First, _) if next.bytes.ends_with(b"{") => last.push(None),
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
            places.push(Place { top: to, moves, last });
        }
        (!search.is_partial).then_some(false)
    }

    /// Steps a move.
    fn take(&mut self, from: NodeId, next: &Move) -> Option<NodeId> {
        let (mut at, mut rest) = (from, next.bytes.as_slice());
        while let Some((&byte, after)) = rest.split_first() {
            let inside = if after.is_empty() { None } else { self.step_inside_traced(at, rest) };
            (at, rest) = inside.map_or_else(|| (self.step(at, byte), after), |(to, read)| (to, &rest[read..]));
            if at == NONE {
                return None;
            }
        }
        if next.ends && self.arena.nodes[at as usize].kind == Kind::Scalar {
            at = self.end_scalar(at);
        }
        Some(at).filter(|&n| n != NONE)
    }

    /// How many ways to go on from `top` are enough: each array that is open there may refuse as many values as it has
    /// elements, so of one more one is new to all of them.
    fn enough(&self, top: NodeId, array: NodeId) -> usize {
        let (mut most, mut at) = (1, top);
        while let Some(n) = self.arena.nodes.get(at as usize) {
            if n.kind == Kind::Array && n.key != u32::MAX {
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
    fn moves(&mut self, search: &mut Search, top: NodeId, last: &[Option<Box<[u8]>>]) -> Vec<Move> {
        let node = self.arena.nodes[top as usize];
        let most = self.enough(top, search.array);
        let plain = |bytes: &[u8]| Move { bytes: bytes.to_vec(), ends: false, key: None };
        let mut out: Vec<Move> = match (node.kind, node.phase) {
            (Kind::Scalar, _) => return self.scalar_moves(search, &node, most),
            (Kind::Value, _) => self.value_moves(search, &node, most),
            (Kind::Array, Phase::First) => {
                let value = self.first_element(node);
                let mut moves = vec![plain(b"]")];
                if value != NONE {
                    let value = self.arena.nodes[value as usize];
                    moves.extend(self.value_moves(search, &value, most));
                }
                moves
            }
            (Kind::Array, _) => vec![plain(b"]"), plain(b",")],
            (Kind::Object, Phase::First) => {
                std::iter::once(plain(b"}")).chain(self.key_moves(search, &node, last, most)).collect()
            }
            (Kind::Object, Phase::After) => vec![plain(b"}"), plain(b",")],
            (Kind::Object, Phase::BeforeColon) => vec![plain(b":")],
            (Kind::Object, Phase::BeforeKey | Phase::Key) => self.key_moves(search, &node, last, most),
            (Kind::Object, Phase::Inside) | (Kind::Root | Kind::Done, _) => Vec::new(),
        };
        if node.phase != Phase::Key && !self.gap_may_end(&node) {
            let blanks = shortest_blanks(&self.program.gaps[node.gap as usize], node.blank);
            out.iter_mut().for_each(|m| m.bytes = [blanks.as_slice(), &m.bytes].concat());
        }
        out.reverse();
        out
    }

    fn scalar_moves(&self, search: &mut Search, node: &Node, most: usize) -> Vec<Move> {
        let items = &self.arena.scalars[node.start as usize..(node.start + node.len) as usize];
        let before = self.word_before(node);
        let places = items.iter().map(|i| (i.lexeme, i.state)).collect::<Vec<_>>();
        let mut out = self.ends(search, &places, node.count, &before, most);
        out.reverse();
        out
    }

    fn value_moves(&self, search: &mut Search, node: &Node, most: usize) -> Vec<Move> {
        let rules = &self.arena.rules[node.start as usize..(node.start + node.len) as usize];
        let rules = || rules.iter().map(|r| &self.program.rules[r.0 as usize]);
        let lexemes = rules().flat_map(|r| &r.lexemes);
        let places = lexemes.map(|&l| (l, self.program.lexemes[l as usize].start())).collect::<Vec<_>>();
        let mut out = self.ends(search, &places, 0, b"", most);
        let brackets = [(b'[', rules().any(|r| !r.arrays.is_empty())), (b'{', rules().any(|r| !r.objects.is_empty()))];
        let open = brackets.into_iter().filter(|b| b.1);
        out.extend(open.map(|(b, _)| Move { bytes: vec![b], ends: false, key: None }));
        out
    }

    /// The ends of scalars from states of lexemes, each value once.
    fn ends(
        &self,
        search: &mut Search,
        places: &[(u32, StateId)],
        count: u32,
        before: &[u8],
        most: usize,
    ) -> Vec<Move> {
        let mut out: Vec<Move> = Vec::new();
        let mut known: SeededSet<Box<[u8]>> = SeededSet::default();
        for &(lexeme, state) in places {
            let l = &self.program.lexemes[lexeme as usize];
            let raw = l.kind() == LexemeKind::Raw;
            let mut add = |value: Box<[u8]>, rest: Box<[u8]>| {
                if known.insert(value) {
                    out.push(Move { bytes: rest.into_vec(), ends: raw, key: None });
                }
            };
            let values = || self.program.values(lexeme, state, count, most as u32, before).filter(|v| !v.is_empty());
            let texts = || self.program.endings(lexeme, state, count, most as u32).filter(|t| !t.is_empty());
            if raw && let Some(values) = values() {
                values.iter().for_each(|v| add(v.value.clone(), v.rest.clone()));
            } else if !raw && let Some(texts) = texts() {
                texts.iter().for_each(|t| add(t.clone(), t.clone()));
            } else {
                let some = varied_ends(l, (state, count), before, raw, most);
                search.is_partial |= !some.is_enough;
                for t in some.ends {
                    let whole = [before, &*t].concat();
                    add(if raw { canonical(&whole) } else { None }.unwrap_or_else(|| t.clone()), t);
                }
            }
        }
        out
    }

    /// The keys that may come, behind those that the search chose before.
    fn key_moves(&self, search: &mut Search, node: &Node, last: &[Option<Box<[u8]>>], most: usize) -> Vec<Move> {
        if node.phase == Phase::Key && node.sub != Sub::Plain {
            // In the middle of an escape.
            let bytes = b"0123456789abcdef\"\\/bfnrtu";
            return bytes.iter().map(|&b| Move { bytes: vec![b], ends: false, key: None }).collect();
        }
        let any_order = self.program.any_order;
        let inside = node.phase == Phase::Key;
        let prefix = if inside { self.key_bytes(node.key) } else { Vec::new() };
        let last = last.last().and_then(|k| k.as_deref());
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        for i in &self.arena.objects[node.start as usize..(node.start + node.len) as usize] {
            let p = &self.program.objects[i.shape as usize];
            let bit = |at: u32, k: usize| self.arena.bits[at as usize + k / 64] >> (k % 64) & 1 == 1;
            let unseen = (0..p.rules.len()).filter(|&k| p.possible[k / 64] >> (k % 64) & 1 == 1 && !bit(i.seen, k));
            let mut names: Vec<(&str, bool)> = unseen
                .map(|k| (p.name(k as u32), bit(i.need, k)))
                .filter(|n| n.0.as_bytes().starts_with(&prefix))
                .collect();
            if any_order {
                // A needed key that is passed over could not come any more.
                names.sort_unstable();
                let needed = names.iter().position(|n| n.1).map_or(names.len(), |n| n + 1);
                names.truncate(needed);
                names.retain(|n| last.is_none_or(|l| n.0.as_bytes() > l));
            }
            keys.extend(names.iter().map(|n| n.0.as_bytes().into()));
            let others = self.other_keys(search, node, p, &prefix, most);
            keys.extend(others.into_iter().filter(|k| last.is_none_or(|l| **k > *l)));
        }
        let mut out: Vec<Move> = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            if keys[..i].contains(key) {
                continue;
            }
            let mut bytes = if inside { Vec::new() } else { vec![b'"'] };
            key[prefix.len()..].iter().for_each(|&b| spell(b, &mut bytes));
            bytes.push(b'"');
            // A key that was begun before the search says nothing about those that may come.
            let ordered = !inside && (any_order || !self.is_named(node, key));
            out.push(Move { bytes, ends: false, key: ordered.then(|| key.clone()) });
        }
        out
    }

    fn is_named(&self, node: &Node, key: &[u8]) -> bool {
        let items = &self.arena.objects[node.start as usize..(node.start + node.len) as usize];
        let names = items.iter().map(|i| &self.program.objects[i.shape as usize].names);
        names.into_iter().any(|n| n.find(0, key).is_some_and(|m| !n.tokens(m).is_empty()))
    }

    /// Keys without a name that begin with `prefix`.
    fn other_keys(
        &self,
        search: &mut Search,
        node: &Node,
        p: &ObjectProgram,
        prefix: &[u8],
        most: usize,
    ) -> Vec<Box<[u8]>> {
        let mut out: Vec<Box<[u8]>> = Vec::new();
        // Those that the object has already are refused, and it may need more than one.
        search.is_partial |= p.min > MAX_MEMBERS;
        let missing = p.min.saturating_sub(node.count.into()).min(MAX_MEMBERS);
        let most = most + node.count as usize + missing as usize + p.missing_members(0) as usize;
        for c in &p.others {
            match &c.keys {
                None => {
                    let keys = (0u64..).map(|n| [prefix, n.to_string().as_bytes()].concat());
                    out.extend(keys.filter(|k| !self.is_named(node, k)).take(most).map(Box::from));
                }
                Some(l) => {
                    let state = prefix.iter().fold(l.start(), |s, &b| l.next(s, b));
                    if state <= CLOSED {
                        continue;
                    }
                    let some = varied_ends(l, (state, 0), b"", false, most);
                    search.is_partial |= !some.is_enough;
                    out.extend(some.ends.iter().map(|e| Box::from([prefix, e].concat())));
                }
            }
        }
        out
    }
}

/// A byte of a key between quotes.
fn spell(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend([b'\\', byte]),
        0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
        _ => out.push(byte),
    }
}

/// The fewest blanks after which a gap may end.
fn shortest_blanks(gap: &Blanks, from: u16) -> Vec<u8> {
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
