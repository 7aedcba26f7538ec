//! The keys that the search for an unused value tries.
//!
//! Members may come in any order, and a search that tried each order would find the same values again and again. So it
//! writes keys in one order only: ascending, or, where names come as declared, unnamed keys ascending behind them. That
//! alone would lead it astray: from a key that passes over too many others no object can be completed in this order,
//! which the frames, that know no such order, see at the closing bracket only. There are as many such ways as sets of
//! keys, so each key is asked whether enough keys can come behind it.

use crate::json::canonical::escape;
use crate::json::string_escape::EscapeState;
use crate::lexeme::CLOSED;
use crate::pushdown::json::frame::{Frame, ObjectItem, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::ObjectProgram;
use crate::pushdown::json::unique::search::distinct_completions::varied_ends;
use crate::pushdown::json::unique::search::{SearchMove, ValueSearch};
use crate::util::seeded_hash::SeededSet;

/// Members that an object must still have are looked for up to so many.
const MAX_MEMBERS: u64 = 1 << 10;

type Key = Box<[u8]>;

/// A key that may come, and its index if it is a name.
struct Candidate {
    key: Key,
    name: Option<usize>,
    /// The witnesses that a member of this key may be.
    matches: u32,
}

impl JsonMachine<'_> {
    /// The keys that may come, behind those that the search chose before.
    pub(crate) fn key_moves(
        &self,
        search: &mut ValueSearch,
        node: &Frame,
        last: &[Option<Key>],
        most: usize,
    ) -> Vec<SearchMove> {
        if node.phase == Phase::Key && node.sub != EscapeState::Plain {
            // In the middle of an escape.
            let bytes = b"0123456789abcdef\"\\/bfnrtu";
            return bytes.iter().map(|&b| SearchMove { bytes: vec![b], ends: false, key: None }).collect();
        }
        let inside = node.phase == Phase::Key;
        let prefix = if inside { self.key_bytes(node.key) } else { Vec::new() };
        let last = last.last().and_then(|k| k.as_deref());
        let mut keys: Vec<Key> = Vec::new();
        for i in &self.arena.objects[node.start as usize..(node.start + node.len) as usize] {
            let p = &self.program.objects[i.shape as usize];
            let mut all = self.candidates(search, (node, i), &prefix, most);
            all.retain(|c| last.is_none_or(|l| *c.key > *l || (c.name.is_some() && !self.program.any_order)));
            if !inside {
                self.keep_completable((node, i), last, &mut all);
            } else if self.program.any_order
                && let Some(needed) = all.iter().position(|c| c.name.is_some_and(|k| self.is_needed(p, i, k)))
            {
                // It must come in any case.
                all.truncate(needed + 1);
            }
            keys.extend(all.into_iter().map(|c| c.key));
        }
        let mut out: Vec<SearchMove> = Vec::new();
        let mut known: SeededSet<&[u8]> = SeededSet::default();
        for key in &keys {
            if !known.insert(key) {
                continue;
            }
            let mut bytes = if inside { Vec::new() } else { vec![b'"'] };
            escape(&key[prefix.len()..], &mut bytes);
            bytes.push(b'"');
            // A key that was begun before the search says nothing about those that may come.
            let ordered = !inside && (self.program.any_order || !self.is_named(node, key));
            out.push(SearchMove { bytes, ends: false, key: ordered.then(|| key.clone()) });
        }
        out
    }

    fn is_needed(&self, p: &ObjectProgram, item: &ObjectItem, name: usize) -> bool {
        let bit = |at: u32| self.arena.bits[at as usize..at as usize + p.words][name / 64] >> (name % 64) & 1 == 1;
        bit(item.need) && !bit(item.seen)
    }

    /// The keys beginning with `prefix` that a shape allows and the object does not have, in the order in which the
    /// search writes them.
    fn candidates(
        &self,
        search: &mut ValueSearch,
        (node, item): (&Frame, &ObjectItem),
        prefix: &[u8],
        most: usize,
    ) -> Vec<Candidate> {
        let p = &self.program.objects[item.shape as usize];
        let any_order = self.program.any_order;
        let is = |bits: &[u64], k: usize| bits[k / 64] >> (k % 64) & 1 == 1;
        let seen = &self.arena.bits[item.seen as usize..item.seen as usize + p.words];
        let comes = |k: &usize| is(&p.possible, *k) && !is(seen, *k) && (any_order || *k >= item.position as usize);
        let names = (0..p.rules.len()).filter(comes);
        let mut out: Vec<Candidate> = names
            .filter(|&k| p.name(k as u32).as_bytes().starts_with(prefix))
            .map(|k| Candidate { key: p.name(k as u32).as_bytes().into(), name: Some(k), matches: 0 })
            .collect();
        let mut others = self.other_keys(search, node, p, prefix, most);
        if !others.is_empty() {
            let seen: SeededSet<Vec<u8>> = self.arena.seen_from(node.seen).map(|s| self.seen_key(s)).collect();
            others.retain(|c| !seen.contains(&*c.key));
        }
        others.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        others.dedup_by(|b, a| {
            let same = a.key == b.key;
            a.matches |= if same { b.matches } else { 0 };
            same
        });
        out.append(&mut others);
        if any_order {
            out.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        }
        out
    }

    fn seen_key(&self, number: u32) -> Vec<u8> {
        self.key_bytes(self.arena.seen[number as usize].key)
    }

    /// Keeps, of the keys that may come behind `last`, those behind which the object can be completed by later ones:
    /// what it needs comes later, and enough keys do.
    fn keep_completable(&self, (node, item): (&Frame, &ObjectItem), last: Option<&[u8]>, all: &mut Vec<Candidate>) {
        let p = &self.program.objects[item.shape as usize];
        let any_order = self.program.any_order;
        let mut bound = all.len();
        if any_order {
            let needed =
                (0..p.rules.len()).filter(|&k| self.is_needed(p, item, k)).map(|k| p.name(k as u32).as_bytes());
            if needed.clone().any(|n| last.is_some_and(|l| n < l)) {
                return all.clear();
            }
            // It could not come any more behind a greater one.
            let first = needed.min();
            bound = all.iter().position(|c| first.is_some_and(|n| *c.key > *n)).unwrap_or(all.len());
        }
        let missing = p.witnesses & !item.witnessed;
        for bit in (0..u32::BITS).map(|b| 1 << b).filter(|b| missing & b != 0) {
            let last = all.iter().rposition(|c| c.matches & bit != 0);
            bound = bound.min(last.map_or(0, |at| at + 1));
        }
        let asked = p.min.saturating_sub(u64::from(node.count) + 1);
        let keys = all.len();
        let mut at = 0;
        let enough: Vec<bool> = (0..keys)
            .map(|i| {
                i < bound && (asked == 0 || (keys - 1 - i) as u64 >= asked && self.num_behind(p, item, all, i) >= asked)
            })
            .collect();
        all.retain(|_| {
            at += 1;
            enough[at - 1]
        });
    }

    /// How many of `all` may come behind the one at `at`, at most: names that ask for one which was passed over do not.
    fn num_behind(&self, p: &ObjectProgram, item: &ObjectItem, all: &[Candidate], at: usize) -> u64 {
        let behind = &all[at + 1..];
        let Some(dependent_required) = p.dependent_required.as_ref().filter(|_| self.program.any_order) else {
            return behind.len() as u64;
        };
        let mut there = self.arena.bits[item.seen as usize..item.seen as usize + p.words].to_vec();
        for k in all[at..].iter().filter_map(|c| c.name) {
            there[k / 64] |= 1 << (k % 64);
        }
        let comes = |k: usize| dependent_required[k].iter().zip(&there).all(|(asked, there)| asked & !there == 0);
        behind.iter().filter(|c| c.name.is_none_or(comes)).count() as u64
    }

    fn is_named(&self, node: &Frame, key: &[u8]) -> bool {
        let items = &self.arena.objects[node.start as usize..(node.start + node.len) as usize];
        let names = items.iter().map(|i| &self.program.objects[i.shape as usize].names);
        names.into_iter().any(|n| n.find(0, key).is_some_and(|m| !n.tokens(m).is_empty()))
    }

    /// Keys without a name that begin with `prefix`.
    fn other_keys(
        &self,
        search: &mut ValueSearch,
        node: &Frame,
        p: &ObjectProgram,
        prefix: &[u8],
        most: usize,
    ) -> Vec<Candidate> {
        let mut out: Vec<Candidate> = Vec::new();
        // Those that the object has already are refused, and it may need more than one.
        search.is_partial |= p.min > MAX_MEMBERS;
        let missing = p.min.saturating_sub(node.count.into()).min(MAX_MEMBERS);
        let most = most + node.count as usize + missing as usize + p.missing_members(0) as usize;
        for c in &p.others {
            let mut add = |key: Key| out.push(Candidate { key, name: None, matches: c.matches });
            match &c.keys {
                None => {
                    let keys = (0u64..).map(|n| [prefix, n.to_string().as_bytes()].concat());
                    keys.filter(|k| !self.is_named(node, k)).take(most).for_each(|k| add(k.into()));
                }
                Some(l) => {
                    let state = prefix.iter().fold(l.start(), |s, &b| l.next(s, b));
                    if state <= CLOSED {
                        continue;
                    }
                    let some = varied_ends(l, (state, 0), b"", false, most);
                    search.is_partial |= !some.is_enough;
                    some.ends.iter().for_each(|e| add(Box::from([prefix, e].concat())));
                }
            }
        }
        out
    }
}
