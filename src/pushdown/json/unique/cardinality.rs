//! Lower bounds of the number of values that an open element may still become.
//!
//! In an array of unique elements no byte may lead to where every completion is an element that the array has. As long
//! as an open element can become more values than the array has elements, one of them is new. Only below that must
//! completions be tried one by one (see `search`). So a bound may be less than the truth and must never be more: of
//! alternatives that may overlap only the largest counts, members of an object that do not depend on each other
//! multiply, and whatever is not understood counts as one. Rules whose values hold others of the same rule have
//! infinitely many (see `infinite_rules`).

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::json::rules::{Element, RuleId};
use crate::json::string_escape::EscapeState;
use crate::lexeme::{CLOSED, LexemeKind, StateId};
use crate::pushdown::json::frame::{Frame, ObjectItem, Phase};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::{ClassProgram, ObjectProgram, Program};

/// Rules that nest deeper count as one value.
const MAX_DEPTH: u32 = 48;

/// More of an amount, where [`u64::MAX`] stands for "without end".
pub(crate) fn less(n: u64, taken: u64) -> u64 {
    if n == u64::MAX { n } else { n.saturating_sub(taken) }
}

impl Program {
    /// A lower bound of the number of different values of a rule, [`u64::MAX`] for more than any array can use up.
    pub fn variety(&self, rule: RuleId) -> u64 {
        let asked =
            self.unique.cardinalities.asked.get_or_init(|| self.rules.iter().map(|_| AtomicU64::new(0)).collect());
        match asked[rule.0 as usize].load(Ordering::Relaxed) {
            0 => {
                let mut memo = self.unique.cardinalities.known.lock().unwrap_or_else(|p| p.into_inner());
                let n = self.rule_variety(&mut memo, rule, 0);
                asked[rule.0 as usize].store(n, Ordering::Relaxed);
                n
            }
            n => n,
        }
    }

    fn rule_variety(&self, memo: &mut FxHashMap<RuleId, u64>, rule: RuleId, depth: u32) -> u64 {
        if let Some(&n) = memo.get(&rule) {
            return n;
        }
        if self.unique.cardinalities.endless.get_or_init(|| self.endless_rules())[rule.0 as usize] {
            return u64::MAX;
        }
        if depth > MAX_DEPTH {
            return 1;
        }
        // Elsewhere a rule that contains itself counts as one value inside itself.
        memo.insert(rule, 1);
        let r = &self.rules[rule.0 as usize];
        let mut most = 1;
        for &l in &r.lexemes {
            let start = self.lexemes[l as usize].start();
            most = most.max(self.ends_variety(l, start, 0, b""));
        }
        for &a in &r.arrays {
            let shape = &self.arrays[a as usize];
            let mut of =
                |ways: &[Element]| ways.iter().map(|w| self.rule_variety(memo, w.rule, depth + 1)).max().unwrap_or(1);
            let endless = grows(shape, 0) && (!shape.unique || of(&shape.rest) == u64::MAX);
            // If nothing else, the first element makes a difference.
            let one = shape.contains.is_empty() && shape.max > 0;
            most = most.max(if endless {
                u64::MAX
            } else if one {
                of(shape.ways(0))
            } else {
                1
            });
        }
        for &o in &r.objects {
            let p = &self.objects[o as usize];
            let (seen, need): (SmallVec<[u64; 4]>, _) = (smallvec![0; p.words], p.required.clone());
            let at = CardinalityQuery { count: 0, seen: &seen, need: &need, position: 0, witnessed: 0 };
            most = most.max(self.members_variety(p, &at, &mut |r| self.rule_variety(memo, r, depth + 1)));
        }
        memo.insert(rule, most);
        most
    }

    /// The different values that end a scalar from a state; `before` is what a number or word has read.
    pub(crate) fn ends_variety(&self, lexeme: u32, state: StateId, count: u32, before: &[u8]) -> u64 {
        if let Some(n) = self.lexemes[lexeme as usize].num_texts(state) {
            return n;
        }
        if self.lexemes[lexeme as usize].kind() != LexemeKind::Raw {
            return self.num_endings(lexeme, state, count).max(1);
        }
        match self.values(lexeme, state, count, 0, before) {
            Some(values) => values.len() as u64,
            None => self.num_endings(lexeme, state, count),
        }
    }

    /// The different ways to go on with the members of an object.
    fn members_variety(&self, p: &ObjectProgram, at: &CardinalityQuery<'_>, of: &mut dyn FnMut(RuleId) -> u64) -> u64 {
        let is = |bits: &[u64], i: usize| bits[i / 64] >> (i % 64) & 1 == 1;
        let names = 0..p.rules.len();
        let missing: Vec<usize> = names.clone().filter(|&i| is(at.need, i) && !is(at.seen, i)).collect();
        let needed = at.count + missing.len() as u64;
        let taken = needed + p.missing_members(at.witnessed);
        let endless = |c: &ClassProgram| match &c.keys {
            None => true,
            Some(keys) => keys.residual_size(keys.start()) == u64::MAX,
        };
        // Declared order leaves the keys without a name for the end.
        let with_room = || p.others.iter().filter(|c| p.has_room(c, needed, at.witnessed));
        if with_room().any(endless) {
            return u64::MAX;
        }
        // One more key of a class; the one that is open may be of it.
        let keys = |c: &ClassProgram| c.keys.as_ref().map_or(u64::MAX, |k| k.residual_size(k.start()));
        let of_class = |c, of: &mut dyn FnMut(RuleId) -> u64| p.class_variety(c, keys(c), at, needed, of);
        let in_class = with_room().map(|c| of_class(c, of)).max().unwrap_or(0);
        let value = |i: usize, of: &mut dyn FnMut(RuleId) -> u64| p.rules[i].map_or(1, |r| of(r).max(1));
        let mut n = missing.iter().fold(1u64, |n, &i| n.saturating_mul(value(i, of)));
        let free = |i: &usize| {
            is(&p.possible, *i) && !is(at.seen, *i) && !is(at.need, *i) && (self.any_order || *i >= at.position)
        };
        let mut optional: Vec<u64> = Vec::new();
        // Of members that ask for others none is counted.
        for i in names.filter(free).filter(|_| p.dependent_required.is_none()) {
            optional.push(value(i, of));
            if optional.last() == Some(&u64::MAX) && taken < p.max {
                return u64::MAX;
            }
        }
        // The largest ones that there is room for; where the object still needs members, they all come.
        optional.sort_unstable_by(|a, b| b.cmp(a));
        optional.truncate(usize::try_from(p.max.saturating_sub(taken)).unwrap_or(usize::MAX));
        let short = taken < p.min;
        for v in optional {
            n = n.saturating_mul(if short { v } else { v.saturating_add(1) });
        }
        n.max(in_class)
    }
}

impl ObjectProgram {
    /// The different ways to go on with one of `keys` keys of a class where `needed` members are there or asked for:
    /// with the same other members each of these keys makes another object, and with the same key each of its values.
    fn class_variety(
        &self,
        class: &ClassProgram,
        keys: u64,
        at: &CardinalityQuery<'_>,
        needed: u64,
        of: &mut dyn FnMut(RuleId) -> u64,
    ) -> u64 {
        let witnesses = self.missing_members(at.witnessed | class.matches);
        let beside = witnesses.max(self.min.saturating_sub(needed + 1));
        match less(keys, (at.count + 1).saturating_add(beside)) {
            0 => 0,
            left => left.saturating_mul(of(class.rule).max(1)),
        }
    }
}

/// Where in an object the members go on.
struct CardinalityQuery<'a> {
    count: u64,
    seen: &'a [u64],
    need: &'a [u64],
    position: usize,
    witnessed: u32,
}

/// Whether an array of `len` elements can always take another one.
fn grows(shape: &crate::pushdown::json::program::ArrayProgram, len: u64) -> bool {
    let open = |p: u64| !shape.ways(p).is_empty();
    shape.max == u64::MAX
        && !shape.rest.is_empty()
        && shape.contains.iter().all(|c| c.max.is_none())
        && (len..shape.prefix.len() as u64).all(open)
}

impl JsonMachine<'_> {
    /// The ways in which the rest of an array may differ.
    pub(crate) fn array_variety(&self, node: &Frame, shape: u32) -> u64 {
        let shape = &self.program.arrays[shape as usize];
        let begun = u64::from(node.count) + u64::from(node.phase == Phase::Inside);
        let endless = || shape.rest.iter().any(|w| self.program.variety(w.rule) == u64::MAX);
        if grows(shape, begun) && (!shape.unique || endless()) {
            return u64::MAX;
        }
        if shape.unique || !shape.contains.is_empty() {
            return 1;
        }
        // Elements that must come.
        let most = |i: u64| shape.ways(i).iter().map(|w| self.program.variety(w.rule)).max().unwrap_or(1);
        (begun..shape.min.min(begun + 64)).fold(1u64, |n, i| n.saturating_mul(most(i)))
    }

    /// The ways in which the rest of an object may differ.
    pub(crate) fn object_variety(&self, node: &Frame, item: &ObjectItem) -> u64 {
        let p = &self.program.objects[item.shape as usize];
        let bits = |at: u32| &self.arena.bits[at as usize..at as usize + p.words];
        let (seen, need) = (bits(item.seen), bits(item.need));
        let mut of = |r: RuleId| self.program.variety(r);
        let at = CardinalityQuery {
            count: u64::from(node.count),
            seen,
            need,
            position: item.position as usize,
            witnessed: item.witnessed,
        };
        match node.phase {
            Phase::First | Phase::After | Phase::Inside => self.program.members_variety(p, &at, &mut of),
            Phase::BeforeColon => {
                let value = self.program.variety(RuleId(item.child));
                value.saturating_mul(self.program.members_variety(p, &at, &mut of))
            }
            Phase::BeforeKey => {
                let all = self.program.members_variety(p, &at, &mut of);
                let missing = need.iter().zip(seen).any(|(n, s)| n & !s != 0);
                if missing { all } else { less(all, 1) }
            }
            Phase::Key => self.key_variety(node, p, item, &at),
        }
    }

    /// The number of values of an object with an open key, at least: the best of the keys that it may become.
    fn key_variety(&self, node: &Frame, p: &ObjectProgram, item: &ObjectItem, at: &CardinalityQuery<'_>) -> u64 {
        let mut of = |r: RuleId| self.program.variety(r);
        // A key of a class without end can go on in any way, whatever room is left behind it. An escape that was begun
        // may leave few.
        let mut most = 0;
        if item.others {
            let missing = at.need.iter().zip(at.seen).map(|(n, s)| u64::from((n & !s).count_ones())).sum::<u64>();
            for (c, i) in p.others.iter().zip(0..) {
                let state = self.arena.states[(item.classes + i) as usize];
                let keys = match &c.keys {
                    _ if state <= CLOSED => 0,
                    None => u64::MAX,
                    Some(keys) if node.sub == EscapeState::Plain => keys.residual_size(state),
                    Some(_) => 0,
                };
                if keys == u64::MAX {
                    return keys;
                }
                most = most.max(p.class_variety(c, keys, at, at.count + missing, &mut of));
            }
        }
        if item.name_node != u32::MAX {
            let allowed = &self.arena.bits[item.allowed as usize..item.allowed as usize + p.words];
            let escaped = self.escaped_in_name(node);
            for &i in p.names.subtree_tokens(item.name_node) {
                let (word, bit) = (i as usize / 64, 1u64 << (i % 64));
                let (true, Some(rule)) = (allowed[word] & bit != 0, p.rules[i as usize]) else { continue };
                if !escaped(p.name(i)) {
                    continue;
                }
                let mut seen: SmallVec<[u64; 4]> = at.seen.into();
                let mut need: SmallVec<[u64; 4]> = at.need.into();
                seen[word] |= bit;
                if let Some(dependent_required) = &p.dependent_required {
                    need.iter_mut().zip(&dependent_required[i as usize]).for_each(|(n, m)| *n |= m);
                }
                let after = CardinalityQuery {
                    count: at.count + 1,
                    seen: &seen,
                    need: &need,
                    position: i as usize + 1,
                    witnessed: at.witnessed,
                };
                let rest = self.program.members_variety(p, &after, &mut of);
                most = most.max(self.program.variety(rule).saturating_mul(rest));
                if most == u64::MAX {
                    break;
                }
            }
        }
        most
    }

    /// Whether a name may go on with the escape that was begun in the key `node`, if one was.
    fn escaped_in_name(&self, node: &Frame) -> impl Fn(&str) -> bool {
        let ranges = self.program.name_escapes.pending(node.sub);
        let read = if node.sub == EscapeState::Plain { 0 } else { self.key_bytes(node.key).len() };
        let sub = node.sub;
        move |name| {
            let next = name.get(read..).and_then(|rest| rest.chars().next());
            let spelled = |c: char| ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&c.into()));
            sub == EscapeState::Plain || next.is_some_and(spelled)
        }
    }

    /// What a number or word at the top has read; of a string nothing.
    pub(crate) fn word_before(&self, node: &Frame) -> Vec<u8> {
        let mut out = Vec::new();
        let mut k = if self.is_raw(node) { node.trace } else { u32::MAX };
        while let Some(b) = self.arena.keys.get(k as usize) {
            if !b.byte.is_ascii_alphanumeric() && !matches!(b.byte, b'+' | b'-' | b'.') {
                break;
            }
            out.push(b.byte);
            k = b.before;
        }
        out.reverse();
        out
    }
}
