//! Short completions: few bytes to the end of the output.
//!
//! From every live configuration some bytes complete the document. The completions here are not always the shortest,
//! which in a conjunction of guards would take a search, but they are certain, because each byte is stepped. Inside a
//! scalar a search finds the shortest end. Between scalars the writer takes the cheapest kind of value, required keys
//! first, and a closing bracket wherever one is accepted, unless the alternative that it ends leaves more to write than
//! another one (see `remaining_cost`), by the costs of rules ([`min_cost`](crate::pushdown::completion::min_cost)).

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use crate::json::string_escape::EscapeState;
use crate::lexeme::shortest_end::{
    FEW_MEMBERS, MAX_MEMBERS, MAX_SEARCHED, preferred, shortest_end_within, shortest_members,
};
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::remaining_cost::{RemainingCosts, lacks_more_names, least_rest};
use crate::pushdown::completion::unused_ends::{EndQuery, Ending, MAX_REFUSED, PassedEnds};
use crate::pushdown::completion::writer::{ByteWriter, spelled};
use crate::pushdown::json::frame::{Frame, FrameId, FrameKind, NONE, Phase, ScalarItem};
use crate::pushdown::json::literal_trie::NO_SET;
use crate::pushdown::json::machine::JsonMachine;
use crate::util::bits::ones;
use crate::util::seeded_hash::SeededMap;
use smallvec::SmallVec;

/// Bytes of a completion; a document that needs more has no known completion.
const MAX_BYTES: usize = 1 << 18;
/// About so many bytes are more than a completion may have, whatever an estimate is wrong by.
const TOO_MANY: u64 = 4 * MAX_BYTES as u64;
/// Bytes of a completion within which it is given up if an estimate says that it takes too many.
const EARLY: usize = 64;
/// Bytes of a completion after which it ends wherever it may, whatever the estimates say.
const MAX_CHOSEN: usize = 1 << 13;
/// Keys that are looked up in vain in one completion, each counted with the keys that it is compared with: some 10 ms.
const MAX_REPEATED: usize = 4_000_000;
/// The rank of keys that are tried after all others that cost as much.
const LAST: u8 = 3;
/// How many of these take as long as a byte that is written.
const REPEATED_A_BYTE: usize = 32;
/// How many keys are listed in the time that a byte takes which is written.
const LISTED_A_BYTE: usize = 2;
/// How many bytes are written in the time that an end takes that is refused.
const REFUSED_BYTES: usize = 4;
/// How many bytes are written in the time that a search for the end of a scalar takes for one place.
const SEARCHED_BYTES: usize = 16;
/// Searches for ends of scalars come to no more places in one completion, in multiples of what one of them may take.
const MAX_SEARCHES: u32 = 2;
/// Of shapes with more names, those that are needed are found without a list of all.
const MANY_NAMES: usize = 32;

/// The keys that a completion tries in one object. Whatever text stands instead of the key that the object has
/// open, or was given last, the completion is the same unless that text is one of them.
pub struct KeyWatch {
    /// The node below the object; [`NONE`](crate::pushdown::json::frame::NONE) watches nothing.
    pub below: FrameId,
    /// The keys that were tried, decoded.
    pub tried: Vec<Arc<str>>,
    /// Some key was looked for byte by byte.
    pub vague: bool,
    /// How much work the completion was, in bytes that it wrote, whether it came to an end or not.
    pub effort: usize,
    /// Places that a search for the end of a scalar goes on from, beside those of a straight way.
    pub max_searched: u32,
    /// Objects that lack more names than this are not completed.
    pub most_names: u64,
    /// The completion was given up at such an object.
    pub is_cut: bool,
}

impl KeyWatch {
    /// A watch of the keys of the object on `below`, of which none was tried yet.
    pub fn new(below: FrameId) -> Self {
        let (tried, max_searched, most_names) = (Vec::new(), MAX_SEARCHED, u64::MAX);
        KeyWatch { below, tried, vague: false, effort: 0, max_searched, most_names, is_cut: false }
    }
}

/// How many characters a string lacks that may be any text but for its length, where it must differ from no other;
/// `None` of other values, and of what is long enough.
pub(crate) fn missing_chars(frames: &JsonMachine, node: &Frame) -> Option<u32> {
    if node.kind != FrameKind::Scalar || node.len != 1 || node.seen != NO_SET || node.trace != u32::MAX {
        return None;
    }
    let lexeme = &frames.program.lexemes[frames.arena.scalars[node.start as usize].lexeme as usize];
    match lexeme.kind() {
        LexemeKind::Text { min, .. } if lexeme.is_any_text() => min.checked_sub(node.count).filter(|&n| n > 0),
        _ => None,
    }
}

/// One completion in the making.
pub struct Completer<'a, 'f> {
    pub(super) pen: ByteWriter<'a, 'f>,
    /// The estimates of the program.
    pub(super) costs: &'a MinCosts,
    prospects: RemainingCosts,
    watch: &'a mut KeyWatch,
    /// Keys that were looked up and that their object had: each counts for all keys that it was compared with.
    repeated: usize,
    /// Ends of elements that were tried and refused.
    pub(super) refused: usize,
    /// Ends of elements of unique arrays: those that an array has are not tried again for each element that follows.
    pub(super) passed: SeededMap<EndQuery, PassedEnds>,
    /// How many of the names of an object, cheapest first, it has or does not need, or how many of the distinct
    /// elements an array has, by the node below.
    pub(super) had: SeededMap<FrameId, usize>,
    /// Keys that were listed, of which one was written.
    listed: usize,
    searches: EndSearches,
}

/// Searches for the ends of scalars and keys in one completion.
struct EndSearches {
    max_searched: u32,
    /// Places that were gone on from beside those of straight ways, whether an answer was remembered or not: what a
    /// completion comes to must not depend on that.
    searched: Cell<u32>,
}

impl EndSearches {
    /// The shortest bytes from a state of a lexeme to its end, if a search of bounded length finds them.
    fn shortest(&self, lexeme: &Lexeme, state: StateId, count: u32) -> Option<Arc<[u8]>> {
        let found = shortest_end_within(lexeme, state, count, self.max_searched);
        self.searched.set(self.searched.get().saturating_add(found.searched));
        found.way
    }

    fn is_exhausted(&self) -> bool {
        self.searched.get() >= self.max_searched.saturating_mul(MAX_SEARCHES)
    }
}

impl<'a, 'f> Completer<'a, 'f> {
    /// Bytes that complete the document from `top`, or lead to where `known` says so, which is told the top of the
    /// configuration and how many bytes led there; `None` where none were found. The arena is as it was.
    pub fn complete_until(
        frames: &'a mut JsonMachine<'f>,
        costs: &'a MinCosts,
        top: FrameId,
        watch: &'a mut KeyWatch,
        mut known: impl FnMut(&JsonMachine<'f>, FrameId, usize) -> bool,
    ) -> Option<Vec<u8>> {
        let max_searched = watch.max_searched;
        let mut c = Completer {
            pen: ByteWriter::new(frames, |_| top),
            costs,
            prospects: RemainingCosts::default(),
            watch,
            repeated: 0,
            refused: 0,
            passed: SeededMap::default(),
            had: SeededMap::default(),
            listed: 0,
            searches: EndSearches { max_searched, searched: Cell::new(0) },
        };
        let mut done = false;
        let most_names = c.watch.most_names;
        let is_limited = costs.has_more_names(most_names);
        if is_limited {
            let below = |&at: &FrameId| Some(c.pen.frames.arena.nodes[at as usize].parent).filter(|&at| at != NONE);
            let mut open = std::iter::successors(Some(top), below);
            c.watch.is_cut =
                open.any(|at| lacks_more_names(c.pen.frames, &c.pen.frames.arena.nodes[at as usize], most_names));
        }
        if c.watch.below == NONE && c.pen.frames.program.has_unique {
            let _ = c.end_distinct();
        }
        while !c.watch.is_cut && c.is_within_bounds() {
            let node = c.pen.node();
            if node.kind == FrameKind::Done || known(c.pen.frames, c.pen.top, c.pen.len()) {
                done = true;
                break;
            }
            if is_limited && node.phase == Phase::First && lacks_more_names(c.pen.frames, &node, most_names) {
                c.watch.is_cut = true;
                break;
            }
            // Writing so much, to find that it is too much, would take seconds.
            let is_endless = c.pen.len() < EARLY && least_rest(c.pen.frames, costs, &node) > TOO_MANY;
            if is_endless || c.go_on(node).is_none() {
                break;
            }
        }
        c.watch.effort +=
            c.pen.len() + c.repeated / REPEATED_A_BYTE + c.listed / LISTED_A_BYTE + c.refused * REFUSED_BYTES;
        c.watch.effort += c.searches.searched.get() as usize * SEARCHED_BYTES;
        let out = c.pen.lift();
        done.then_some(out)
    }

    /// Whether the work so far leaves room for more.
    fn is_within_bounds(&self) -> bool {
        let is_short = self.pen.len() < MAX_BYTES && self.repeated < MAX_REPEATED && self.refused < MAX_REFUSED;
        is_short && !self.searches.is_exhausted()
    }

    /// The first of `candidates` that is accepted.
    fn first_of(&mut self, candidates: &[&[u8]]) -> Option<()> {
        candidates.iter().find_map(|c| self.pen.take_all(c))
    }

    fn go_on(&mut self, node: Frame) -> Option<()> {
        if !matches!(node.kind, FrameKind::Scalar | FrameKind::Root)
            && node.phase != Phase::Key
            && !self.pen.frames.gap_may_end(&node)
        {
            return self.first_of(&[b" ", b"\n", b"\t", b"\r"]);
        }
        match (node.kind, node.phase) {
            (FrameKind::Scalar, _) => self.scalar(node),
            (FrameKind::Value, _) => self.value(node),
            (FrameKind::Array, phase) => {
                let ends = self.should_end(&node);
                if ends && self.pen.take(b']').is_some() {
                    return Some(());
                }
                if self.distinct_element(&node).is_some() {
                    return Some(());
                }
                let on = match phase {
                    Phase::After => self.pen.take(b','),
                    _ => self.pen.open_first(node),
                };
                on.or_else(|| if ends { None } else { self.pen.take(b']') })
            }
            (FrameKind::Object, Phase::Key) => self.key(node),
            (FrameKind::Object, Phase::BeforeColon) => self.pen.take(b':'),
            (FrameKind::Object, Phase::BeforeKey) => self.pen.take(b'"'),
            (FrameKind::Object, phase) => {
                let on: &[u8] = if phase == Phase::First { b"\"" } else { b"," };
                if self.should_end(&node) { self.first_of(&[b"}", on]) } else { self.first_of(&[on, b"}"]) }
            }
            (FrameKind::Root | FrameKind::Done, _) => None,
        }
    }

    /// Whether an array or object had better end here than go on, if it may.
    fn should_end(&mut self, node: &Frame) -> bool {
        self.pen.len() > MAX_CHOSEN || self.prospects.should_end(self.pen.frames, self.costs, node)
    }

    fn scalar(&mut self, node: Frame) -> Option<()> {
        if let Some(missing) = missing_chars(self.pen.frames, &node) {
            return self.lengthen(node, missing);
        }
        let rest = self.prospects.cost_above(self.pen.frames, self.costs, node.parent);
        let mut ends: Vec<(u64, Arc<[u8]>, Option<ScalarItem>)> = Vec::new();
        for i in node.start..node.start + node.len {
            let item = self.pen.frames.arena.scalars[i as usize];
            let lexeme = &self.pen.frames.program.lexemes[item.lexeme as usize];
            let end = self.searches.shortest(lexeme, item.state, node.count);
            ends.extend(end.map(|end| (rest.after(item.tag).saturating_add(end.len() as u64), end, Some(item))));
        }
        let set = self.pen.frames.program.constants.get(node.seen).filter(|_| node.sub == EscapeState::Plain);
        for (text, tags) in set.map(|set| set.ends(node.text)).unwrap_or_default() {
            // Inside of a character its other bytes come first.
            let whole = text.iter().position(|byte| byte & 0xC0 != 0x80).unwrap_or(text.len());
            let Ok(plain) = std::str::from_utf8(&text[whole..]) else { continue };
            let end: Arc<[u8]> = [&text[..whole], spelled(plain).get(1..).unwrap_or_default()].concat().into();
            let least = tags.iter().map(|&tag| rest.after(tag)).min().unwrap_or(u64::MAX);
            ends.push((least.saturating_add(end.len() as u64), end, None));
        }
        ends.sort_by_key(|&(cost, ..)| cost);
        let other = |c: &mut Self, item: Option<ScalarItem>| item.and_then(|item| c.other_end(&item, node.count));
        ends.iter()
            .find_map(|(_, end, item)| self.end_with(end, Ending::Closing).or_else(|| other(self, *item)))
            .or_else(|| ends.iter().find_map(|(_, end, _)| self.end_with(end, Ending::Any)))
            .or_else(|| preferred().find_map(|b| self.pen.take(b)))
    }

    /// Writes the next character of a string of any text that is too short yet: completions meet behind each.
    fn lengthen(&mut self, node: Frame, missing: u32) -> Option<()> {
        let item = self.pen.frames.arena.scalars[node.start as usize];
        let lexeme = &self.pen.frames.program.lexemes[item.lexeme as usize];
        // What ends a text that is long enough ends what was begun of a character, and is a quote behind that.
        let begun = self.searches.shortest(lexeme, item.state, node.count.saturating_add(missing))?;
        match &begun[..] {
            [] | [_] => self.pen.take(b'0'),
            [begun @ .., _] => self.pen.take_all(begun),
        }
    }

    fn value(&mut self, node: Frame) -> Option<()> {
        let program = self.pen.frames.program;
        let rest = self.prospects.cost_above(self.pen.frames, self.costs, node.parent);
        let unique = self.is_among_unique();
        let mut kinds: Vec<(u64, u8, Option<ScalarItem>)> = Vec::new();
        for tag in 0..node.len {
            let rule = self.pen.frames.arena.rules[(node.start + tag) as usize];
            let rest = rest.after(tag);
            let r = &program.rules[rule.0 as usize];
            for &l in &r.lexemes {
                let lexeme = &program.lexemes[l as usize];
                let cost = self.costs.lexemes[l as usize];
                let first = self.searches.shortest(lexeme, lexeme.start(), 0).and_then(|b| b.first().copied());
                let item = Some(ScalarItem { tag, lexeme: l, state: lexeme.start() }).filter(|_| unique);
                kinds.extend(first.map(|b| (rest.saturating_add(cost), b, item)));
            }
            let arrays = r.arrays.iter().map(|&a| (self.costs.array(program, a), b'['));
            let objects = r.objects.iter().map(|&o| (self.costs.object(program, o), b'{'));
            kinds.extend(arrays.chain(objects).map(|(cost, first)| (rest.saturating_add(cost), first, None)));
        }
        kinds.sort_by_key(|&(cost, first, _)| (cost, first));
        let shortest =
            |c: &Self, item: &ScalarItem| c.searches.shortest(&program.lexemes[item.lexeme as usize], item.state, 0);
        let begin = |c: &mut Self, first: u8, item: &Option<ScalarItem>| match item {
            None => c.pen.take(first),
            // What begins as it may go on as an element that does not count where the array has all that do.
            Some(item) => {
                let nearest = shortest(c, item).and_then(|end| c.end_with(&end, Ending::Closing));
                nearest.or_else(|| c.other_end(item, 0))
            }
        };
        let any = |c: &mut Self, item: &ScalarItem| shortest(c, item).and_then(|end| c.end_with(&end, Ending::Any));
        kinds
            .iter()
            .find_map(|(_, first, item)| begin(self, *first, item))
            .or_else(|| kinds.iter().filter_map(|(.., item)| item.as_ref()).find_map(|item| any(self, item)))
            .or_else(|| preferred().find_map(|b| self.pen.take(b)))
    }

    /// Completes a key: one that is needed, then one that is cheap, then any other.
    fn key(&mut self, node: Frame) -> Option<()> {
        if node.sub != EscapeState::Plain {
            let digits = b"0123456789abcdefABCDEF\"\\/bfnrtu";
            return digits.iter().find_map(|&b| self.pen.take(b));
        }
        // Most often the shortest key of a class will do; a list of its members takes a search.
        let texts = |ends: &[Arc<[u8]>]| -> Vec<String> {
            ends.iter().filter_map(|end| std::str::from_utf8(end).ok()).map(String::from).collect()
        };
        self.needed_key(&node)
            .or_else(|| self.key_of(node, |searches, keys, state| texts(searches.shortest(keys, state, 0).as_slice())))
            .or_else(|| self.key_of(node, |_, keys, state| texts(&shortest_members(keys, state, 0, FEW_MEMBERS))))
            .or_else(|| self.key_of(node, |_, keys, state| texts(&shortest_members(keys, state, 0, MAX_MEMBERS))))
            .or_else(|| {
                self.watch.vague |= node.parent == self.watch.below && node.key == u32::MAX;
                preferred().find_map(|b| self.pen.take(b))
            })
    }

    /// Writes the name of the cheapest member that is needed, where a key begins in an object of one shape with many
    /// names: the same that a list of all names begins with.
    fn needed_key(&mut self, node: &Frame) -> Option<()> {
        let program = self.pen.frames.program;
        let arena = &self.pen.frames.arena;
        let item = arena.objects.get(node.start as usize).filter(|item| node.len == 1 && item.name_node == 0)?;
        let shape = &program.objects[item.shape as usize];
        if shape.spelled.len() <= MANY_NAMES
            || shape.witnesses != 0
            || shape.union.is_some()
            || shape.dependent_required.is_some()
            || node.key != u32::MAX
        {
            return None;
        }
        let need = self.pen.frames.bits(item.need, shape.words);
        let allowed = self.pen.frames.bits(item.allowed, shape.words);
        let takes = |n: usize| need[n / 64] & allowed[n / 64] & 1 << (n % 64) != 0;
        let name = if program.any_order {
            let names = self.costs.cheapest_first(program, item.shape);
            let had = self.had.entry(node.parent).or_insert(0);
            // What an object has, or does not need, it never needs again.
            *had += names.get(*had..)?.iter().position(|&n| takes(n as usize))?;
            names[*had]
        } else {
            // Only the first one of those that are missing may come.
            let both: SmallVec<[u64; 4]> = need.iter().zip(allowed).map(|(need, allowed)| need & allowed).collect();
            ones(&both).find(|&n| shape.rules[n].is_some())? as u32
        };
        let name = shape.name(name);
        if self.pen.frames.arena.is_seen(node.seen, name.as_bytes()) {
            return None;
        }
        if node.parent == self.watch.below {
            self.watch.tried.push(name.into());
        }
        self.pen.take_text(name)
    }

    /// Completes a key by a name, or by one of the ends that `ends` knows of a class.
    fn key_of(&mut self, node: Frame, ends: impl Fn(&EndSearches, &Lexeme, StateId) -> Vec<String>) -> Option<()> {
        let program = self.pen.frames.program;
        let prefix = self.pen.frames.key_bytes(node.key);
        let mut keys: Vec<(u64, u8, u64, Cow<'f, str>)> = Vec::new();
        for i in node.start..node.start + node.len {
            let item = self.pen.frames.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let member = self.prospects.member(self.pen.frames, self.costs, &node, &item);
            let bits = |at: u32, i: u32| self.pen.frames.arena.bits[at as usize + i as usize / 64] >> (i % 64) & 1 == 1;
            if item.name_node != u32::MAX {
                for &n in p.names.subtree_tokens(item.name_node) {
                    let Some(rule) = p.rules[n as usize].filter(|_| bits(item.allowed, n)) else { continue };
                    let rest = p.name(n).get(prefix.len()..).unwrap_or_default();
                    let (cost, needed) = (self.costs.rules[rule.0 as usize], bits(item.need, n));
                    keys.push((member.named(needed, cost), u8::from(!needed), cost, Cow::Borrowed(rest)));
                }
            }
            for (c, j) in p.others.iter().zip(0..).filter(|_| item.others) {
                let state = self.pen.frames.arena.states[(item.classes + j) as usize];
                let rank = if c.matches & p.witnesses & !item.witnessed != 0 { 1 } else { 2 };
                let cost = self.costs.rules[c.rule.0 as usize];
                let whole = member.of_class(c, cost);
                match &c.keys {
                    _ if state <= CLOSED => {}
                    None => {
                        keys.extend(["", "0", "1", "2", "3"].map(|k| (whole, rank, cost, k.into())));
                        // The number of the member is a key that an object with many of them is likely not to have
                        // yet; shorter ones come first.
                        keys.push((whole, LAST, cost, node.count.to_string().into()));
                    }
                    Some(l) => {
                        keys.extend(ends(&self.searches, l, state).into_iter().map(|k| (whole, rank, cost, k.into())))
                    }
                }
            }
        }
        self.listed += keys.len();
        keys.sort();
        // Not what goes on with the text that others stand instead of.
        let watched = node.parent == self.watch.below && prefix.is_empty();
        let mut whole = prefix.clone();
        keys.iter().find_map(|(.., key)| {
            if watched {
                self.watch.tried.push(key.as_ref().into());
            }
            // Looking a key up takes less than writing one that the object has.
            whole.truncate(prefix.len());
            whole.extend_from_slice(key.as_bytes());
            if node.sub == EscapeState::Plain && self.pen.frames.arena.is_seen(node.seen, &whole) {
                self.repeated += node.count as usize + 1;
                return None;
            }
            self.pen.take_text(key)
        })
    }
}
