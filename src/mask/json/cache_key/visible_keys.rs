//! Which of an object's keys a token can tell.
//!
//! Every member that an object gets makes another configuration, and yet hardly any token can tell. A token tells a
//! seen name from an unseen one only by spelling it: to its end where any other key may stand in its place, or as far
//! as the name begins where none may. So a cache key (see `mask_key`) holds only the names *in view*:
//!
//! * From inside a member or behind it: the names that some token spells or begins behind a comma. They are read off
//!   the vocabulary's suffixes; most vocabularies have none.
//! * Before a key: the names that a token spells, quotes included; all of them where only names may stand.
//! * Inside a key: the names with which a token goes on to the closing quote; all that begin so far where only names
//!   may stand. Where they are few, what is left of them and the rule that follows is written, so that members with
//!   equal rules are alike at the end of their names.
//! * Of all names out of view two answers: whether one is missing that the object needs, and whether one may still
//!   come.
//!
//! That is all there is to know where nothing but the names decides what may follow: in any order of keys, without an
//! upper bound on their number, with the lower one met, without witnesses and `dependentRequired`. `declared_order`
//! handles objects in declared order; all other items are written in full. Unnamed keys are left out too where every
//! key is of one class, and so is what was read of a key that can only become an unnamed one.
//!
//! What is in view is found on use and kept: as bits for each shape, and as a short list for each place among its
//! names.

use crate::mask::json::crossing::suffix_keys::{KeyText, KeyTexts};
use smallvec::SmallVec;
use std::sync::{OnceLock, RwLock};

use crate::json::string_escape::{EscapeState, spells_itself};
use crate::mask::json::cache_key::rule_numbers::RuleNumbers;
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, ObjectItem, Phase};
use crate::pushdown::json::program::{ObjectProgram, Program};
use crate::util::seeded_hash::SeededMap;

type VisibleBits = SmallVec<[u64; 4]>;
/// What is left of names.
type KeyRests = SmallVec<[u8; 64]>;

/// Seen keys that are compared with an open one; where there are more, all count as in view.
const COMPARED: usize = 16;
/// Seen keys that are looked at at once.
const LISTED: usize = 1_024;
/// Names in view inside a key that are told by what is left of them; where there are more, by which ones they are.
pub(crate) const SPELLED: usize = 4;
/// Items of an object beyond which they are told by which ones they are, too.
pub(crate) const ITEMS: u32 = 4;
/// Bytes of a key beyond which it counts as in view.
const COMPARED_BYTES: usize = 512;

/// A shape's names in view: from inside or behind a member, and before a key; where only names may stand, and where
/// any other key may.
type OfShape = [[OnceLock<Box<[u64]>>; 2]; 2];
/// The names in view at places among the names of shapes.
type AtPlaces = SeededMap<(u32, u32), Box<[u32]>>;

/// What is in view, as far as it was found.
#[derive(Default)]
pub struct VisibleKeys {
    /// For each shape.
    shapes: OnceLock<Box<[OfShape]>>,
    /// For each shape, whether its classes of keys have no end.
    endless: OnceLock<Box<[bool]>>,
    /// By shape and place among its names: inside a key, where any key may stand.
    inside: RwLock<AtPlaces>,
    /// What can be told of rules.
    pub(crate) rules: RuleNumbers,
}

/// What tokens can tell of the keys without a name that an object has, up to one of them.
#[derive(Clone, Copy, Default)]
pub struct UnnamedKeys {
    /// Index of the last one.
    entry: u32,
    /// Some token spells one behind a comma.
    behind: bool,
    /// Some token spells one behind a comma, or begins with it.
    begun: bool,
    /// Some token spells one with its quotes.
    before: bool,
    /// Some token spells one and its closing quote.
    inside: bool,
    /// The first bytes of all, as bits of their last six.
    first: u64,
}

/// Looks at configurations as the tokens of a vocabulary do.
#[derive(Clone, Copy)]
pub struct KeyEncoder<'a> {
    /// What is stepped.
    pub program: &'a Program,
    /// What the vocabulary contributes.
    pub tables: &'a VocabTables,
    /// What the index has found.
    pub views: &'a VisibleKeys,
}

/// The bytes of a key, unless it is longer than what is worth comparing.
fn short(arena: &Arena, last: u32) -> Option<SmallVec<[u8; 64]>> {
    let mut out = SmallVec::new();
    let mut at = last;
    while let Some(byte) = arena.keys.get(at as usize) {
        if out.len() == COMPARED_BYTES {
            return None;
        }
        out.push(byte.byte);
        at = byte.before;
    }
    out.reverse();
    Some(out)
}

/// Writes what is left of a shape's name `i` behind the place `at` among the names, and what it leads to: so names with
/// equal rules are told alike. The last of the `flags` says that tokens tell of the name behind a comma, too, by its
/// number.
fn tell(p: &ObjectProgram, at: u32, i: u32, flags: [bool; 4], out: &mut KeyRests) {
    let rest = p.rest(at, i);
    let rule = p.rules[i as usize].map_or(u32::MAX, |r| r.0);
    let number = if flags[3] { i } else { u32::MAX };
    out.push(flags.iter().fold(0, |all, &flag| all << 1 | flag as u8));
    out.extend_from_slice([rule, number, rest.len() as u32].map(u32::to_le_bytes).as_flattened());
    out.extend_from_slice(rest);
}

/// Whether a shape allows every key beside those that it names.
pub(crate) fn is_open(p: &ObjectProgram) -> bool {
    p.others.iter().any(|c| c.keys.is_none())
}

impl KeyEncoder<'_> {
    fn texts(&self) -> &KeyTexts {
        &self.tables.suffixes.keys
    }

    /// Whether some token spells `rest`, from inside of a key on, and the closing quote.
    pub(crate) fn ends_key(&self, rest: &[u8]) -> bool {
        self.texts().ends.contains(rest)
    }

    /// Whether nothing but names decides how the item may go on, in any order.
    fn is_simple(&self, n: &Frame, p: &ObjectProgram) -> bool {
        self.program.any_order && self.is_plain(n, p)
    }

    /// Whether nothing but names and their order decides how the item may go on.
    pub(crate) fn is_plain(&self, n: &Frame, p: &ObjectProgram) -> bool {
        p.max == u64::MAX && u64::from(n.count) >= p.min && p.witnesses == 0 && p.dependent_required.is_none()
    }

    /// Whether nothing was read of the open key but whole characters that stand for themselves or are decoded.
    pub(crate) fn is_between_chars(&self, n: &Frame) -> bool {
        n.sub == EscapeState::Plain && self.program.any_text.state(n.text).accepting
    }

    /// Writes what tokens can tell of an item's keys, and of the open key's names. Returns whether that is all that
    /// they can tell of what was read of the open key, as far as its names go.
    pub fn item(&self, arena: &Arena, n: &Frame, item: &ObjectItem, out: &mut Vec<u8>) -> bool {
        let p = &self.program.objects[item.shape as usize];
        let bits = |at: u32| &arena.bits[at as usize..][..p.words];
        let (seen, need) = (bits(item.seen), bits(item.need));
        let in_key = n.phase == Phase::Key;
        if let Some(union) = &p.union {
            // Which alternatives are open decides what may follow a name.
            let open = &arena.bits[item.alternatives as usize..][..union.words()];
            out.push(0);
            out.extend_from_slice(&item.position.to_le_bytes());
            open.iter().chain(seen).chain(need).for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
            if in_key {
                out.push(bits(item.allowed).iter().any(|w| *w != 0) as u8);
            }
            return in_key && item.name_node == u32::MAX && is_open(p) && self.is_between_chars(n);
        }
        if self.is_ordered(n, p) && (!in_key || self.is_between_chars(n)) {
            return self.ordered_item(arena, n, item, out);
        }
        if !self.is_simple(n, p) || (in_key && !self.is_between_chars(n)) {
            out.push(0);
            [item.position, item.witnessed].iter().for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
            seen.iter().chain(need).for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
            if in_key {
                // Whether it may still become a key with a name.
                out.push(bits(item.allowed).iter().any(|w| *w != 0) as u8);
            }
            return false;
        }
        let open = is_open(p);
        let shape = self.of_shape(item.shape, n.phase, open);
        let (mut named, mut told, mut rests, mut more) = (false, open, KeyRests::new(), VisibleBits::new());
        if in_key && item.name_node != u32::MAX {
            more.extend_from_slice(shape);
            let mut look = |ids: &[u32]| {
                told = ids.len() <= if n.len <= ITEMS { SPELLED } else { 0 };
                for &i in ids {
                    let has = |of: &[u64]| of[i as usize / 64] >> (i % 64) & 1 == 1;
                    more[i as usize / 64] |= 1 << (i % 64);
                    named |= has(bits(item.allowed));
                    if told {
                        let left = |of: &[u64]| !has(seen) && has(of);
                        let flags = [has(bits(item.allowed)), left(need), left(&p.possible), has(shape)];
                        tell(p, item.name_node, i, flags, &mut rests);
                    }
                }
            };
            if open { self.inside(item, look) } else { look(p.names.subtree_tokens(item.name_node)) }
        }
        let view = if more.is_empty() { shape } else { &more };
        let out_of_view = |of: &[u64]| of.iter().zip(seen).zip(view).any(|((o, s), v)| o & !s & !v != 0);
        let (missing, left) = (out_of_view(need), !open && out_of_view(&p.possible));
        let flags = [told, left, missing, named, true];
        out.push(flags.iter().fold(0, |all, &flag| all << 1 | flag as u8));
        let by_bits = if told { shape } else { view };
        for (s, v) in seen.iter().zip(by_bits).filter(|(_, v)| **v != 0) {
            out.extend_from_slice(&(s & v).to_le_bytes());
        }
        if in_key && told {
            out.extend_from_slice(&(rests.len() as u32).to_le_bytes());
            out.extend_from_slice(&rests);
        }
        told
    }

    /// Whether no token can tell which keys without a name `n`, an object, has.
    pub fn hides_seen(&self, arena: &Arena, n: &Frame, told: &mut Vec<UnnamedKeys>) -> bool {
        if n.seen == u32::MAX {
            return true;
        }
        let items = &arena.objects[n.start as usize..(n.start + n.len) as usize];
        let behind = matches!(n.phase, Phase::Inside | Phase::After | Phase::BeforeColon);
        let any = |i: &ObjectItem| self.program.objects[i.shape as usize].others.iter().all(|c| c.keys.is_none());
        let simple = items.iter().all(|i| {
            // Classes of few keys may run out.
            let left = any(i) || (behind && self.is_endless(i.shape));
            left && self.is_plain(n, &self.program.objects[i.shape as usize])
        });
        simple
            && (n.phase != Phase::Key || self.is_between_chars(n))
            && !self.sees_unnamed(arena, n, items.iter().all(any), told)
    }

    /// Whether there are always more keys of a shape's classes.
    fn is_endless(&self, shape: u32) -> bool {
        let endless = |p: &ObjectProgram| {
            p.others.iter().filter_map(|c| c.keys.as_ref()).all(|k| k.residual_size(k.start()) == u64::MAX)
        };
        self.views.endless.get_or_init(|| self.program.objects.iter().map(endless).collect())[shape as usize]
    }

    /// Whether no token can tell what was read of the key that `n` is in, where its names and keys are out of view.
    pub fn hides_text(&self, arena: &Arena, n: &Frame) -> bool {
        let items = &arena.objects[n.start as usize..(n.start + n.len) as usize];
        let any = |i: &ObjectItem| self.program.objects[i.shape as usize].others.iter().all(|c| c.keys.is_none());
        !self.texts().two_keys && items.iter().all(any)
    }

    /// Whether a token can tell that the object has one of its keys without a name; `any` says that every key may stand
    /// instead of another.
    fn sees_unnamed(&self, arena: &Arena, n: &Frame, any: bool, told: &mut Vec<UnnamedKeys>) -> bool {
        let Some(mut view) = self.unnamed(arena, n.seen, told) else { return true };
        // How many keys are left that begin alike matters to classes only.
        view.behind |= !any && view.begun;
        if n.phase != Phase::Key {
            return view.behind || (view.before && matches!(n.phase, Phase::First | Phase::BeforeKey));
        }
        let Some(open) = short(arena, n.key) else { return true };
        match open.first() {
            None => return view.behind || view.inside,
            Some(first) if view.behind || view.first >> (first & 63) & 1 == 1 => {}
            Some(_) => return false,
        }
        let mut s = n.seen;
        for _ in 0..COMPARED {
            let Some(seen) = arena.seen.get(s as usize) else { return view.behind };
            s = seen.before;
            let Some(text) = short(arena, seen.key) else { return true };
            if text.strip_prefix(open.as_slice()).is_some_and(|rest| self.texts().ends.contains(rest)) {
                return true;
            }
        }
        view.behind || s != u32::MAX
    }

    /// What can be told of the keys without a name from `last` on; `None` if they are more, or longer, than is worth
    /// looking at. `known` holds what was found before.
    fn unnamed(&self, arena: &Arena, last: u32, known: &mut Vec<UnnamedKeys>) -> Option<UnnamedKeys> {
        // Chains of objects that are closed come after those of the objects that are open.
        while known.last().is_some_and(|k| k.entry > last) {
            known.pop();
        }
        let mut unknown: SmallVec<[u32; 8]> = SmallVec::new();
        let mut view = UnnamedKeys::default();
        let mut s = last;
        while let Some(seen) = arena.seen.get(s as usize) {
            if let Ok(i) = known.binary_search_by_key(&s, |k| k.entry) {
                view = known[i];
                break;
            }
            if unknown.len() == LISTED {
                return None;
            }
            unknown.push(s);
            s = seen.before;
        }
        let texts = self.texts();
        for &s in unknown.iter().rev() {
            let text = short(arena, arena.seen[s as usize].key)?;
            view = UnnamedKeys {
                entry: s,
                behind: view.behind || texts.candidates(&text).any(|t| t.may_be(&text)),
                begun: view.begun || texts.candidates(&text).any(|t| t.may_begin(&text)),
                before: view.before || texts.whole.contains(text.as_slice()),
                inside: view.inside || texts.ends.contains(text.as_slice()),
                first: view.first | text.first().map_or(0, |b| 1 << (b & 63)),
            };
            while known.last().is_some_and(|k| k.entry >= s) {
                known.pop();
            }
            known.push(view);
        }
        Some(view)
    }

    /// The names in view from a phase, those of an open key left aside; `open` says that any other key may stand in the
    /// place of a name.
    pub(crate) fn of_shape(&self, shape: u32, phase: Phase, open: bool) -> &[u64] {
        let program = self.program;
        let shapes = self.views.shapes.get_or_init(|| program.objects.iter().map(|_| Default::default()).collect());
        let before = matches!(phase, Phase::First | Phase::BeforeKey);
        shapes[shape as usize][before as usize][open as usize].get_or_init(|| {
            let p = &program.objects[shape as usize];
            if before && !open {
                return vec![u64::MAX; p.words].into();
            }
            let mut view = vec![0u64; p.words];
            for (i, name) in p.spelled.iter().enumerate() {
                let name = name.as_bytes();
                let told = (before && self.texts().whole.contains(name)) || self.suffixes_tell(name, open);
                view[i / 64] |= u64::from(told) << (i % 64);
            }
            view.into()
        })
    }

    /// Whether a token that spells something behind a comma can tell whether the key `name` is there.
    fn suffixes_tell(&self, name: &[u8], open: bool) -> bool {
        let begins = |t: &KeyText| {
            let (before, escaped) = t.plain();
            if !name.starts_with(before) {
                return false;
            }
            match (escaped, &*t.text) {
                // Any name may go on with an escape that has only begun, but for those that are spelled plainly;
                // whether there is one is told of all names together.
                (true, b"\\") => {
                    !self.program.name_escapes.is_any() && !name.first().is_some_and(|&b| b < 0x7F && spells_itself(b))
                }
                (true, _) => true,
                (false, _) => !t.complete,
            }
        };
        let empty = !open && name.is_empty();
        empty || self.texts().candidates(name).any(|t| t.may_be(name) || (!open && begins(t)))
    }

    /// Shows `look` the names that a token goes on with to their end, from what was read of a key by an open item. They
    /// are lent, not cloned: threads that share an index would count references on one line of memory.
    pub(crate) fn inside<T>(&self, item: &ObjectItem, look: impl FnOnce(&[u32]) -> T) -> T {
        let place = (item.shape, item.name_node);
        if let Some(known) = self.views.inside.read().unwrap_or_else(|p| p.into_inner()).get(&place) {
            return look(known);
        }
        let p = &self.program.objects[item.shape as usize];
        let told = |i: &u32| self.ends_key(p.rest(item.name_node, *i));
        let found: Box<[u32]> = p.names.subtree_tokens(item.name_node).iter().copied().filter(told).collect();
        look(self.views.inside.write().unwrap_or_else(|p| p.into_inner()).entry(place).or_insert(found))
    }
}

impl VisibleKeys {
    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        let shapes = self.shapes.get().map_or(0, |s| s.len() * size_of_val(&s[..1.min(s.len())]));
        let bits =
            self.shapes.get().into_iter().flatten().flatten().flatten().filter_map(|v| v.get()).map(|v| v.len() * 8);
        let inside = self.inside.read().unwrap_or_else(|p| p.into_inner());
        self.rules.memory_bytes()
            + shapes
            + bits.sum::<usize>()
            + inside.values().map(|ids| 48 + ids.len() * 4).sum::<usize>()
    }
}
