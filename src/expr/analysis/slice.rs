//! Slices: sets of characters of which any string, up to some length, may pass a state.
//!
//! A mask asks which tokens a state lets through. Most states that let many through do so for a simple reason: a
//! repetition of a class stands in front of them (`[a-z0-9-]{1,63}`, `\S+`), or anything at all may come before what is
//! looked for (a pattern without `^`). Then whole subtrees of the vocabulary's trie need not be walked: the characters
//! below a node are known ([`CharGroups`]), and where they are in a [`Slice`] of the state, every token below passes.
//! Counts need not be counted either, so the states of a long repetition are not made for the sake of a mask.
//! (llguidance uses the word for fixed sets of tokens; here the sets are read off each expression.)
//!
//! The answer is a lower bound: bytes outside of the set, or longer strings, may pass as well. What it says is exact
//! because an expression without intersection and complement accepts nothing only if it *is* `NEVER`, so what follows a
//! repetition does not matter. Intersections are looked into where nothing that they derive to is dead, or where only
//! finitely many texts are taken from an infinite language.
//!
//! Strings over a slice are meant as far as they are text: whether bytes are (the beginning of) well-formed UTF-8 is
//! not asked here, but by whoever knows which tokens are. That all members of a lexeme are text is checked once for
//! each (see `utf8_wellformed`).

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use crate::expr::analysis::byte_lengths::{ByteLengthTable, least};
use crate::expr::analysis::char_groups::{ALL, CONTROLS, CharGroups, group_of, plain_bytes, specials_of};
use crate::expr::analysis::char_lengths::{CharLengthTable, lengths};
use crate::expr::analysis::slice_class::{SliceClass, class, groups_to};
use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

/// Strings that may pass: over characters of `groups`, up to `len` characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The characters.
    pub groups: CharGroups,
    /// The most characters; [`INF`] for any number.
    pub len: u32,
}

impl Slice {
    /// The empty slice: nothing is known to pass.
    pub const NONE: Slice = Slice { groups: 0, len: 0 };
    /// Any text.
    pub const OPEN: Slice = Slice { groups: !0, len: INF };

    /// Whether all text may pass.
    pub fn is_open(&self) -> bool {
        *self == Slice::OPEN
    }

    /// Whether all strings of these characters, of up to so many bytes, may pass.
    #[inline]
    pub fn covers(&self, groups: CharGroups, bytes: u32) -> bool {
        groups & !self.groups == 0 && bytes <= self.len
    }

    /// Up to so many characters of `groups`, and what is free after as many.
    fn after(groups: CharGroups, copies: u32, rest: Slice) -> Slice {
        let common = groups & rest.groups;
        let longer = Slice { groups: common, len: copies.saturating_add(rest.len) };
        let own = Slice { groups, len: copies };
        if common != 0 { own.better(longer) } else { own }
    }

    /// The one that lets more tokens pass, by a guess.
    fn better(self, other: Slice) -> Slice {
        /// Few tokens have more characters.
        const LONG: u32 = 16;
        let worth = |f: &Slice| f.groups.count_ones() * f.len.min(LONG);
        if worth(&other) > worth(&self) || (worth(&other) == worth(&self) && other.len > self.len) {
            other
        } else {
            self
        }
    }

    /// The slice of a JSON string whose decoded text has this one: characters that are not written as they are leave
    /// it, and control characters, which are written in no text, do too. Where any text passes, all that a string
    /// without constraints lets pass does, if there is such a string to compare with (`keeps_open`).
    pub fn encoded(self, keeps_open: bool) -> Slice {
        let escaped = group_of(b'"') | group_of(b'\\');
        match self {
            open if open.is_open() && keeps_open => open,
            Slice { groups, len } => {
                let written = groups & ALL & !escaped & !CONTROLS;
                Slice { groups: if written == 0 { 0 } else { written | CONTROLS }, len }
            }
        }
    }
}

/// Memo of [`free`].
#[derive(Default)]
pub struct SliceTable {
    free: FxHashMap<ExprId, Slice>,
    /// Classes of characters that were read off repeated expressions and off heads.
    classes: FxHashMap<ExprId, Option<SliceClass>>,
}

impl SliceTable {
    fn class(&mut self, x: &Exprs, e: ExprId) -> Option<SliceClass> {
        *self.classes.entry(e).or_insert_with(|| class(x, e))
    }

    /// Whether `e` has any text as a member. False where its structure does not say so.
    pub fn takes_all(&mut self, x: &Exprs, e: ExprId) -> bool {
        match x.get(e) {
            Expr::Rep { body, min: 0, max: INF } => self.class(x, *body).is_some_and(|class| !class.groups & ALL == 0),
            // What is optional in front of any text takes nothing from it.
            Expr::Cat(a, b) => x.nullable(*a) && self.takes_all(x, *b),
            Expr::Alt(parts) => parts.iter().any(|&part| self.takes_all(x, part)),
            _ => false,
        }
    }
}

/// How deep an expression is looked into, and how many characters of a literal are.
const DEPTH: u32 = 200;

/// What is free in `e`, every derivative of which that is not `NEVER` accepts something, or which contains
/// intersections or complements; `all_live` says that nothing that `e` derives to is dead at all.
pub fn free(x: &Exprs, memo: &mut SliceTable, table: &mut CharLengthTable, all_live: bool, e: ExprId) -> Slice {
    FreeSearch { x, memo, table, all_live }.at(e, DEPTH)
}

/// The search of [`free`].
struct FreeSearch<'a> {
    x: &'a Exprs,
    memo: &'a mut SliceTable,
    table: &'a mut CharLengthTable,
    all_live: bool,
}

impl FreeSearch<'_> {
    fn at(&mut self, e: ExprId, depth: u32) -> Slice {
        if let Some(&known) = self.memo.free.get(&e) {
            return known;
        }
        let Some(depth) = depth.checked_sub(1) else { return Slice::NONE };
        let x = self.x;
        let found = match x.get(e) {
            Expr::Step { edges, .. } => step(x, edges, &mut |e| self.at(e, depth)),
            // A repetition of nothing but a class; otherwise what its first copy lets pass.
            Expr::Rep { body, max, .. } => match self.repeated_class(*body, *max) {
                Some(class) => Slice { groups: class.groups, len: class.most },
                None if x.is_boolean(e) => Slice::NONE,
                None => self.at(*body, depth),
            },
            Expr::Cat(..) if x.is_boolean(e) => Slice::NONE,
            Expr::Cat(a, b) => self.of_sequence(*a, *b, depth),
            Expr::Alt(parts) => self.of_alternatives(parts, depth),
            Expr::And(parts) => match without(x, self.memo, self.table, parts) {
                Some(free) => free,
                None => self.of_intersection(parts, depth),
            },
            Expr::Never | Expr::Eps | Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => Slice::NONE,
        };
        let found = if found.groups & ALL == ALL && found.len == INF { Slice::OPEN } else { found };
        self.memo.free.insert(e, found);
        found
    }

    /// The class that up to `most` copies of an expression are, if it is one.
    fn repeated_class(&mut self, body: ExprId, most: u32) -> Option<SliceClass> {
        self.memo.class(self.x, body).map(|class| class.times(most))
    }

    fn of_sequence(&mut self, a: ExprId, b: ExprId, depth: u32) -> Slice {
        // What the head of the sequence repeats, and how often at most.
        let repeated = match self.x.get(a) {
            Expr::Rep { body, max, .. } if *max < INF => self.repeated_class(*body, *max),
            _ => self.repeated_class(a, 1),
        };
        let own = self.at(a, depth);
        let first = match repeated {
            Some(class) if own.len < INF => own.better(Slice::after(class.groups, class.most, self.at(b, depth))),
            _ => own,
        };
        if self.x.nullable(a) && !first.is_open() { first.better(self.at(b, depth)) } else { first }
    }

    fn of_alternatives(&mut self, parts: &[ExprId], depth: u32) -> Slice {
        let mut best = Slice::NONE;
        for &p in parts {
            best = best.better(self.at(p, depth));
            if best.is_open() {
                break;
            }
        }
        best
    }

    /// What is free in all parts that are not complemented, if what the others take away does not matter.
    fn of_intersection(&mut self, parts: &[ExprId], depth: u32) -> Slice {
        let (mut all, mut plain, mut finite) = (Slice::OPEN, 0, true);
        for &p in parts {
            if let Expr::Not(inner) = *self.x.get(p) {
                finite &= is_finite(self.x, self.table, inner);
            } else if self.x.is_boolean(p) {
                return Slice::NONE;
            } else {
                plain += 1;
                let f = self.at(p, depth);
                all = Slice { groups: all.groups & f.groups, len: all.len.min(f.len) };
            }
        }
        let complements = plain < parts.len();
        match () {
            // Finitely many texts taken from what goes on for ever.
            () if finite && all.len == INF && (plain == 1 || (plain > 1 && self.all_live)) => all,
            () if !complements && self.all_live => all,
            () => Slice::NONE,
        }
    }
}

/// Long strings that are certainly members: all over `groups`, if they contain a certain word over `word`.
struct Long {
    groups: CharGroups,
    word: CharGroups,
    /// No more characters make a word.
    need: u32,
    /// How many characters members have, fewest and most; [`INF`] for any number.
    counts: (u32, u32),
}

/// Long strings that are members of `e`: of a repetition of a class all, of what may begin and end with any of a class
/// those that contain what lies between.
fn long_members(x: &Exprs, memo: &mut SliceTable, e: ExprId) -> Option<Long> {
    let mut repeated = |e: ExprId| match x.get(e) {
        Expr::Rep { body, max: INF, .. } => memo.class(x, *body).map(|class| class.groups),
        _ if e == Exprs::ALL => Some(ALL),
        _ => None,
    };
    match x.get(e) {
        Expr::Alt(parts) => {
            let found = parts.iter().filter_map(|&p| long_members(x, memo, p));
            found.min_by_key(|l| (l.counts.1 < INF, l.groups != ALL, l.word.count_ones(), l.groups.count_zeros()))
        }
        Expr::Cat(first, _) if repeated(*first).is_some() => {
            let before = repeated(*first)?;
            let groups = |b: u8| group_of(b) | specials_of(b);
            let (mut word, mut need, mut rest) = (0, 0u32, e);
            let mut shortest = ByteLengthTable::default();
            for _ in 0..DEPTH {
                rest = match x.get(rest) {
                    Expr::Cat(a, _) if x.is_boolean(*a) => return None,
                    Expr::Cat(a, b) => {
                        if rest != e {
                            need = need.saturating_add(least(x, &mut shortest, *a));
                            let used = x.used_bytes(*a);
                            word |= (0..=255).filter(|&b| used[b as usize]).fold(0, |all, b| all | groups(b));
                        }
                        *b
                    }
                    Expr::Step { nullable: false, edges } if edges.len() == 1 => {
                        need = need.saturating_add(1);
                        word |= (edges[0].lo..=edges[0].hi).fold(0, |all, b| all | groups(b));
                        edges[0].to
                    }
                    _ => break,
                };
            }
            Some(Long { groups: before & repeated(rest)?, word, need, counts: (0, INF) })
        }
        Expr::Rep { body, min, max } => {
            let groups = memo.class(x, *body)?.groups;
            Some(Long { groups, word: 0, need: 0, counts: (*min, *max) })
        }
        _ => repeated(e).map(|groups| Long { groups, word: 0, need: 0, counts: (0, INF) }),
    }
}

fn is_finite(x: &Exprs, table: &mut CharLengthTable, e: ExprId) -> bool {
    !x.is_boolean(e) && e != Exprs::ALL && lengths(x, table, e).is_some_and(|l| l.last().is_none_or(|r| r.1 < INF))
}

/// The characters of which any string may pass an intersection, whatever its complements say: where all that is not
/// complemented accepts long strings over some set, a text remains that none of the complemented has as a member.
/// That holds of strings without a byte that all members contain, of strings with a byte that none contains, and of
/// strings that are long enough where members are not. Where a part bounds the number of characters, what is needed for
/// such a text is left room for.
fn without(x: &Exprs, memo: &mut SliceTable, table: &mut CharLengthTable, parts: &[ExprId]) -> Option<Slice> {
    let is_not = |p: &&ExprId| matches!(x.get(**p), Expr::Not(_));
    let (mut all, mut word) = (ALL, 0);
    let (mut need, mut counts) = (0u32, (0, INF));
    for &p in parts.iter().filter(|p| !is_not(p)) {
        let long = long_members(x, memo, p)?;
        all &= long.groups;
        word |= long.word;
        need = need.saturating_add(long.need);
        counts = (long.counts.0.max(counts.0), long.counts.1.min(counts.1));
    }
    let mut lacking: Vec<CharGroups> = Vec::new();
    for &p in parts {
        let Expr::Not(inner) = *x.get(p) else { continue };
        let one = [inner];
        let taken = match x.get(inner) {
            Expr::Alt(parts) => parts,
            _ => &one[..],
        };
        for &q in taken {
            if is_finite(x, table, q) {
                if counts.1 < INF {
                    return None;
                }
                continue;
            }
            // Nothing is lost by a byte that no member has, as long as it stays.
            let used = x.used_bytes(q);
            let unused = plain_bytes(ALL).chain(*b"\t\n\r").filter(|&b| !used[b as usize]);
            let unused = unused.fold(0, |all, b| all | group_of(b));
            if unused & all != 0 {
                lacking.push(unused);
                continue;
            }
            let needed = required(x, q, DEPTH);
            if needed & !all != 0 {
                continue;
            }
            let one = rarest(needed & all & !word).map(|(b, _)| group_of(b));
            all &= !one.or_else(|| one_of(x, q, all & !word, DEPTH).map(|found| found.0))?;
        }
    }
    let whole = all != 0 && word & !all == 0 && lacking.iter().all(|unused| unused & all != 0);
    let len = if counts.1 == INF { INF } else { counts.1.saturating_sub(need.saturating_add(lacking.len() as u32)) };
    (whole && len > 0 && counts.0 <= counts.1).then_some(Slice { groups: all, len })
}

/// Letters by how many tokens lack them.
const COMMON: [u8; 26] = *b"etaoinsrhlducmfpgwybvkxjqz";

/// The byte of a set that most tokens lack, and by how much: less is rarer.
fn rarest(groups: CharGroups) -> Option<(u8, u32)> {
    let common = |b: u8| COMMON.iter().position(|&c| c == b).map_or(0, |p| 26 - p as u32);
    plain_bytes(groups).map(|b| (b, common(b))).min_by_key(|found| found.1)
}

/// Bytes of a set of which every member of `e` contains one, and how common they are together. `None` where none are
/// found, or more than a few.
fn one_of(x: &Exprs, e: ExprId, among: CharGroups, depth: u32) -> Option<(CharGroups, u32)> {
    /// Bytes at most: what lacks all of them should be most of what there is.
    const MOST_BYTES: u32 = 4;
    let depth = depth.checked_sub(1)?;
    let of = |e: ExprId| one_of(x, e, among, depth);
    let rarer = |a: Option<(CharGroups, u32)>, b: Option<(CharGroups, u32)>| match (a, b) {
        (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
        (a, b) => a.or(b),
    };
    let all = |a: (CharGroups, u32), b: Option<(CharGroups, u32)>| {
        let b = b?;
        let groups = a.0 | b.0;
        (groups.count_ones() <= MOST_BYTES).then_some((groups, a.1 + b.1))
    };
    match x.get(e) {
        Expr::Step { nullable: false, edges } => edges.iter().try_fold((0, 0), |found, edge| {
            let own = if edge.lo == edge.hi { rarest(group_of(edge.lo) & among) } else { None };
            let own = own.map(|(b, common)| (group_of(b), common + 1));
            all(found, rarer(own, of(edge.to)))
        }),
        Expr::Cat(a, b) => rarer(of(*a), of(*b)),
        Expr::Alt(parts) => parts.iter().try_fold((0, 0), |found, &p| all(found, of(p))),
        Expr::And(parts) => parts.iter().fold(None, |found, &p| rarer(found, of(p))),
        Expr::Rep { body, min: 1.., .. } => of(*body),
        _ => None,
    }
}

/// Bytes of ASCII that every member of `e` contains; some of them.
fn required(x: &Exprs, e: ExprId, depth: u32) -> CharGroups {
    let Some(depth) = depth.checked_sub(1) else { return 0 };
    let of = |e: ExprId| required(x, e, depth);
    match x.get(e) {
        Expr::Never => ALL,
        Expr::Step { nullable: false, edges } => edges.iter().fold(ALL, |all, edge| {
            let own = if edge.lo == edge.hi && (0x20..0x7F).contains(&edge.lo) { group_of(edge.lo) } else { 0 };
            if all == 0 { 0 } else { all & (own | of(edge.to)) }
        }),
        Expr::Cat(a, b) => of(*a) | of(*b),
        Expr::Alt(parts) => parts.iter().fold(ALL, |all, &p| if all == 0 { 0 } else { all & of(p) }),
        Expr::And(parts) => parts.iter().fold(0, |all, &p| all | of(p)),
        Expr::Rep { body, min: 1.., .. } => of(*body),
        _ => 0,
    }
}

/// What is free in a choice by one byte: the characters that lead to the target that most of them do, and what is free
/// there.
fn step(x: &Exprs, edges: &[Edge], of: &mut impl FnMut(ExprId) -> Slice) -> Slice {
    let mut best: Option<(u32, ExprId)> = None;
    for e in edges.iter().filter(|e| e.hi < 0x80) {
        let width: u32 = edges.iter().filter(|o| o.to == e.to).map(|o| u32::from(o.hi - o.lo) + 1).sum();
        if best.is_none_or(|b| width > b.0) {
            best = Some((width, e.to));
        }
    }
    // A single character lets hardly a token pass, and behind it stands the rest of a word, character by character.
    let Some((_, target)) = best.filter(|b| b.0 > 1 && !x.is_boolean(b.1)) else { return Slice::NONE };
    let groups = groups_to(x, edges, target);
    match groups {
        0 => Slice::NONE,
        _ if target == Exprs::EPS => Slice { groups, len: 1 },
        _ => Slice::after(groups, 1, of(target)),
    }
}
