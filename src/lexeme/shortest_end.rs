//! The shortest way from a state to an accepting state.
//!
//! Of most places the structure of the expression tells it. Elsewhere it is searched for. The search is guided by a
//! lower bound of what is missing (A*, Hart, Nilsson and Raphael 1968). Where that bound is exact, which it is for all
//! but look-around, only the states on the way are looked at. Answers are remembered, since a token budget asks of the
//! same states at every mask; for the state that was asked about and not for those on the way, because of several
//! shortest ways the answer must not depend on earlier questions.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use crate::expr::INF;
use crate::lexeme::max_distance::Farthest;
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme, LexemeKind, StateId};
use crate::util::seeded_hash::SeededMap;

/// Places that one search goes on from, and that it finds, beside those of a straight way and their neighbours.
pub(crate) const MAX_SEARCHED: u32 = 8_000;
const MAX_FOUND: usize = 32_000;
/// Places that a search goes on from which is one of many for a mask, beside those of a straight way.
pub(crate) const FEW_SEARCHED: u32 = 128;
/// The longest way that is looked for, in bytes.
const MAX_WAY: u32 = 1 << 18;
/// Bytes of states beyond which a lexeme is searched in a copy, and beyond which that is thrown away: a search in an
/// intersection may find thousands of states.
const MAX_STATES: usize = 4 << 20;
const MAX_COPIED: usize = 16 << 20;
/// Members of a lexeme that are listed, and places that are looked at for them.
pub(crate) const MAX_MEMBERS: usize = 512;
/// Members of a lexeme that are listed where a few will most often do.
pub(crate) const FEW_MEMBERS: usize = 16;
/// Bytes of ways and members that are remembered; all are forgotten when there are more.
const MAX_KNOWN: usize = 1 << 20;
/// What an entry takes beside its way, about.
const ENTRY: usize = 48;

/// A state and a number of code points, as far as any bound depends on it.
type QueueEntry = (StateId, u32);

/// Ways to the end of a lexeme.
pub(crate) type Ways = Arc<[Arc<[u8]>]>;

/// Memo of [`shortest_end`] and [`shortest_members`].
#[derive(Default)]
pub(crate) struct ShortestEnds(Mutex<EndMemo>);

/// What a search for a shortest way found.
#[derive(Clone)]
pub(crate) struct FoundWay {
    /// The way; `None` where the search was too long.
    pub way: Option<Arc<[u8]>>,
    /// Places that the search went on from, beside those of a straight way.
    pub searched: u32,
}

#[derive(Default)]
struct EndMemo {
    /// By place and the length of the searches.
    ways: SeededMap<(QueueEntry, u32), FoundWay>,
    farthest: SeededMap<QueueEntry, Option<Farthest>>,
    members: SeededMap<(QueueEntry, usize), Ways>,
    /// Bytes that both take.
    taken: usize,
    /// A copy of the lexeme to search in.
    copy: Option<Arc<Lexeme>>,
}

impl ShortestEnds {
    /// The farthest end of a place, which is found once.
    pub(super) fn farthest(&self, place: QueueEntry, find: impl FnOnce() -> Option<Farthest>) -> Option<Farthest> {
        let known = || self.0.lock().unwrap_or_else(|p| p.into_inner());
        if let Some(&known) = known().farthest.get(&place) {
            return known;
        }
        let found = find();
        let mut known = known();
        known.take(0);
        known.farthest.insert(place, found);
        found
    }
}

impl EndMemo {
    /// Makes room for an entry that takes so many bytes.
    fn take(&mut self, bytes: usize) {
        if self.taken > MAX_KNOWN {
            *self = EndMemo { copy: self.copy.take(), ..EndMemo::default() };
        }
        self.taken += ENTRY + bytes;
    }
}

/// The bytes that a search tries, likely text first, so that the result is spelled by few tokens.
pub(crate) fn preferred() -> impl Iterator<Item = u8> {
    let rest = (0..=255u8).filter(|b| !b.is_ascii_alphanumeric() && *b != b'"' && *b != b' ');
    std::iter::once(b'"')
        .chain(b'0'..=b'9')
        .chain(b'a'..=b'z')
        .chain(b'A'..=b'Z')
        .chain(std::iter::once(b' '))
        .chain(rest)
}

/// The state and count after a byte, if it leads on; [`CLOSED`] ends the text.
pub(super) fn after(lexeme: &Lexeme, state: StateId, count: u32, byte: u8) -> Option<(StateId, u32)> {
    let data = lexeme.state(state);
    let next = lexeme.next_from(state, data, byte);
    if next == DEAD_STATE || (next == CLOSED && !lexeme.may_close(count)) {
        return None;
    }
    if next == CLOSED || lexeme.kind() == LexemeKind::Raw {
        return Some((next, count));
    }
    let count = count.saturating_add(lexeme.starts_char(data, byte) as u32);
    lexeme.live_at(lexeme.state(next), count).then_some((next, count))
}

/// The shortest bytes from a state of a lexeme to its end, the closing quote of a string included; `None` where the
/// search is too long. `count` is the number of code points read.
pub fn shortest_end(lexeme: &Lexeme, state: StateId, count: u32) -> Option<Arc<[u8]>> {
    shortest_end_within(lexeme, state, count, MAX_SEARCHED).way
}

/// Short bytes from a state of a lexeme to its end: those that a short search finds, or else the shortest.
pub(crate) fn short_end(lexeme: &Lexeme, state: StateId, count: u32) -> Option<Arc<[u8]>> {
    shortest_end_within(lexeme, state, count, FEW_SEARCHED).way.or_else(|| shortest_end(lexeme, state, count))
}

/// Some bytes from a state of a string to its end, the closing quote included, as [`shortest_end`] has them. Strings of
/// all lengths share what is remembered, so a mask can ask of hundreds of states. There is no way where that takes more
/// than a short search.
pub(crate) fn soon_ended(lexeme: &Lexeme, state: StateId, count: u32) -> FoundWay {
    let LexemeKind::Text { min, max, .. } = lexeme.kind() else { return FoundWay { way: None, searched: 0 } };
    let short = |count| shortest_end_within(lexeme, state, count, FEW_SEARCHED);
    // A way has no more characters than bytes.
    let fits = |way: &Arc<[u8]>| count <= min || u64::from(count) + way.len() as u64 <= u64::from(max);
    let found = short(count.min(min));
    if found.way.as_ref().is_some_and(fits) { found } else { short(count) }
}

/// Some bytes from a state of a lexeme to its end, as [`shortest_end`] has them, by searches that go on from no more
/// than `max_searched` places each, beside those of a straight way. Of long searches, the first is one for the shortest
/// bytes; of short ones, one for all parts of an intersection at once, which most often goes straight there.
pub(crate) fn shortest_end_within(lexeme: &Lexeme, state: StateId, count: u32, max_searched: u32) -> FoundWay {
    if lexeme.kind() == LexemeKind::Raw && lexeme.state(state).accepting {
        return FoundWay { way: Some(Arc::from([])), searched: 0 };
    }
    let place = (state, lexeme.significant_count(count));
    if let Some(found) = known(lexeme).ways.get(&(place, max_searched)) {
        return found.clone();
    }
    let orders: &[SearchOrder] = if lexeme.least_bytes_are_exact() {
        &[SearchOrder::ByBound]
    } else if max_searched > FEW_SEARCHED {
        &[SearchOrder::ByBound, SearchOrder::ByAllParts]
    } else {
        &[SearchOrder::ByAllParts, SearchOrder::ByBound]
    };
    let found = in_bounds(lexeme, place, |lexeme, place| {
        let mut searched = 0;
        let found = orders.iter().find_map(|&order| {
            let found = search(lexeme, place, max_searched, order);
            searched += found.searched;
            found.way
        });
        FoundWay { way: found, searched }
    });
    let mut known = known(lexeme);
    known.take(found.way.as_ref().map_or(0, |way| way.len()));
    known.ways.insert((place, max_searched), found.clone());
    found
}

fn known(lexeme: &Lexeme) -> MutexGuard<'_, EndMemo> {
    lexeme.ends().0.lock().unwrap_or_else(|p| p.into_inner())
}

impl Lexeme {
    /// [`memory_bytes`](Lexeme::memory_bytes), and those of the copy that is searched for ends: all that goes with it.
    pub fn held_bytes(&self) -> usize {
        let copy = known(self).copy.as_ref().map_or(0, |copy| copy.memory_bytes());
        self.memory_bytes() + copy
    }
}

/// Searches a lexeme from a place, or a copy of it.
fn in_bounds<T>(lexeme: &Lexeme, place: QueueEntry, search: impl FnOnce(&Lexeme, QueueEntry) -> T) -> T {
    if !lexeme.is_full(MAX_STATES) {
        return search(lexeme, place);
    }
    let held = known(lexeme).copy.clone().filter(|copy| !copy.is_full(MAX_COPIED));
    let copy = held.unwrap_or_else(|| {
        let copy = Arc::new(lexeme.copied());
        known(lexeme).copy = Some(copy.clone());
        copy
    });
    let state = copy.adopt(lexeme, place.0);
    search(&copy, (state, place.1))
}

/// Some ways from a state of a lexeme to its end, shortest first, and no more than `most`. There may be none where
/// even the shortest one is long.
pub(crate) fn shortest_members(lexeme: &Lexeme, state: StateId, count: u32, most: usize) -> Ways {
    let place = (state, lexeme.significant_count(count));
    if let Some(found) = known(lexeme).members.get(&(place, most)) {
        return found.clone();
    }
    let found: Ways = in_bounds(lexeme, place, |lexeme, place| search_members(lexeme, place, most)).into();
    let mut known = known(lexeme);
    known.take(found.iter().map(|text| ENTRY + text.len()).sum());
    known.members.insert((place, most), found.clone());
    found
}

/// Finds some ends, breadth first.
fn search_members(lexeme: &Lexeme, (state, count): QueueEntry, most: usize) -> Vec<Arc<[u8]>> {
    let mut out: Vec<Arc<[u8]>> = Vec::new();
    let mut queue: VecDeque<(StateId, u32, Vec<u8>)> = VecDeque::from([(state, count, Vec::new())]);
    let mut looked = 0;
    while let Some((s, n, text)) = queue.pop_front() {
        looked += 1;
        if out.len() >= most || looked > most {
            break;
        }
        if s == CLOSED || (lexeme.kind() == LexemeKind::Raw && lexeme.state(s).accepting) {
            out.push(Arc::from(text.as_slice()));
        }
        // What is put in line behind so many is never looked at.
        if s == CLOSED || looked + queue.len() >= most {
            continue;
        }
        // One way to each state keeps the search small; several members of one state come from longer ways.
        let mut tried: Vec<StateId> = Vec::new();
        for b in preferred() {
            let Some((next, n)) = after(lexeme, s, n, b) else { continue };
            if tried.len() < 4 || !tried.contains(&next) {
                tried.push(next);
                queue.push_back((next, n, [text.as_slice(), &[b]].concat()));
            }
        }
    }
    out
}

/// Some of the shortest ways from the beginning of a lexeme to its end, no more than `most`: all of one length, those
/// that differ near their ends first. There may be none where the shortest way takes a search.
pub(crate) fn members_of_least_length(lexeme: &Lexeme, most: usize) -> Vec<Vec<u8>> {
    in_bounds(lexeme, (lexeme.start(), 0), |lexeme, (start, count)| {
        let least = lexeme.least_bytes(start, count);
        let mut out = Vec::new();
        if most.saturating_mul(least as usize) > MAX_KNOWN {
            return out;
        }
        let mut text: Vec<u8> = Vec::new();
        // Each place with how many bytes lead to it, and the last of these.
        let mut open = vec![(start, count, 0, 0u8)];
        let mut left = 2 * most + least as usize;
        while let Some((state, count, far, byte)) = open.pop() {
            text.truncate((far as usize).saturating_sub(1));
            text.extend((far > 0).then_some(byte));
            if far == least {
                out.push(text.clone());
            }
            if out.len() == most || left == 0 {
                break;
            }
            if far == least {
                continue;
            }
            left -= 1;
            let before = open.len();
            for byte in preferred() {
                let Some((next, n)) = after(lexeme, state, count, byte) else { continue };
                let is_end = next == CLOSED || lexeme.kind() == LexemeKind::Raw && lexeme.state(next).accepting;
                let missing = if is_end { 0 } else { lexeme.least_bytes(next, n) };
                if missing.saturating_add(far + 1) == least {
                    open.push((next, n, far + 1, byte));
                }
            }
            // What was put in line last is gone on from first.
            open[before..].reverse();
        }
        out
    })
}

/// The shortest way from a place, where the structure of what follows tells one of `least` bytes: not inside of an
/// escape, nor where it has to be spelled with one, or bounds on the length forbid it.
fn by_structure(lexeme: &Lexeme, (state, count): QueueEntry, least: u32) -> Option<Arc<[u8]>> {
    static RANKS: LazyLock<[u8; 256]> = LazyLock::new(|| {
        let mut ranks = [0; 256];
        preferred().zip(0..=255).for_each(|(byte, rank)| ranks[usize::from(byte)] = rank);
        ranks
    });
    let text = lexeme.shortest_text(state, &RANKS, least)?;
    let LexemeKind::Text { min, max, .. } = lexeme.kind() else {
        return (text.len() == least as usize).then_some(text);
    };
    let chars = text.iter().filter(|&&byte| !(0x80..0xC0).contains(&byte)).count() as u64 + u64::from(count);
    if chars < u64::from(min) || (max < INF && chars > u64::from(max)) {
        return None;
    }
    if text.iter().any(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\')) {
        return None;
    }
    let opening = lexeme.is_open(lexeme.state(state)).then_some(b'"');
    let way: Vec<u8> = opening.into_iter().chain(text.iter().copied()).chain([b'"']).collect();
    (way.len() == least as usize).then(|| way.into())
}

/// Where a search goes on first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchOrder {
    /// Where the whole way has the least bound: what is found first is the shortest.
    ByBound,
    /// Where what all parts of an intersection still need, each by itself, is least with the way so far. One byte may
    /// count for several of them, so a shorter way may be passed over.
    ByAllParts,
}

/// Finds a way from a place, looking at so many places beside those of a straight one.
fn search(lexeme: &Lexeme, start: QueueEntry, max_searched: u32, order: SearchOrder) -> FoundWay {
    let least = lexeme.least_bytes(start.0, start.1);
    if least > MAX_WAY {
        return FoundWay { way: None, searched: max_searched };
    }
    match by_structure(lexeme, start, least) {
        Some(way) => FoundWay { way: Some(way), searched: 0 },
        None => search_states(lexeme, start, least, max_searched, order),
    }
}

/// [`search`] over states, for a way of `least` bytes at least.
fn search_states(lexeme: &Lexeme, start: QueueEntry, least: u32, max_searched: u32, order: SearchOrder) -> FoundWay {
    let too_long = FoundWay { way: None, searched: max_searched };
    // Bytes of one class lead to one state: the first of each is enough.
    let classes = lexeme.byte_classes();
    let mut seen = [false; 256];
    let bytes: Vec<u8> =
        preferred().filter(|&b| !std::mem::replace(&mut seen[classes[b as usize] as usize], true)).collect();
    // Each step: where it leads, how far that is, the step before and the byte.
    let mut steps: Vec<(StateId, u32, u32, usize, u8)> = vec![(start.0, start.1, 0, usize::MAX, 0)];
    let mut nearest: SeededMap<QueueEntry, u32> = SeededMap::from_iter([(start, 0)]);
    // The least whole way first, then the one that has come farther, then the older one.
    let mut open = BinaryHeap::from([(Reverse(0u32), 0u32, Reverse(0usize))]);
    // Where the bound is exact, a byte that comes as much nearer begins a shortest way, and no others are looked at.
    let exact = lexeme.least_bytes_are_exact();
    let mut left = max_searched + least;
    let most = MAX_FOUND + bytes.len() * least as usize;
    while let Some((_, far, Reverse(at))) = open.pop() {
        if left == 0 || steps.len() > most {
            return too_long;
        }
        left -= 1;
        let (state, count, ..) = steps[at];
        if nearest.get(&(state, lexeme.significant_count(count))).is_some_and(|&n| n < far) {
            continue;
        }
        let nearest_whole = exact.then(|| lexeme.least_bytes(state, count).saturating_add(far));
        for &byte in &bytes {
            let Some((next, n)) = after(lexeme, state, count, byte) else { continue };
            if next == CLOSED || (lexeme.kind() == LexemeKind::Raw && lexeme.state(next).accepting) {
                let mut way = vec![byte];
                let mut i = at;
                while let Some(&(.., before, read)) = steps.get(i).filter(|step| step.3 != usize::MAX) {
                    way.push(read);
                    i = before;
                }
                way.reverse();
                let searched = max_searched.saturating_sub(left);
                return FoundWay { way: Some(way.into()), searched };
            }
            let place = (next, lexeme.significant_count(n));
            if nearest.get(&place).is_some_and(|&known| known <= far + 1) {
                continue;
            }
            nearest.insert(place, far + 1);
            let missing = match order {
                SearchOrder::ByBound => lexeme.least_bytes(next, n),
                SearchOrder::ByAllParts => lexeme.least_bytes_of_all_parts(next, n),
            };
            let whole = missing.saturating_add(far + 1);
            open.push((Reverse(whole), far + 1, Reverse(steps.len())));
            steps.push((next, n, far + 1, at, byte));
            if nearest_whole == Some(whole) {
                break;
            }
        }
    }
    too_long
}

#[cfg(test)]
mod tests;
