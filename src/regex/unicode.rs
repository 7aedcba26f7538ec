//! Unicode classes and case folding for both dialects.
//!
//! All tables come from the regex-syntax crate and are those of **Unicode 16.0**. CPython 3.11 ships Unicode 14.0, so
//! code points assigned since then may be classified differently there.
//!
//! Python's `\w` is `str.isalnum` or underscore (letters and numbers, no marks) and its `\s` is `str.isspace`; both
//! differ from the classes of the same name in UTS #18. Python folds case by simple lower-casing with a table of
//! equivalences, which is Unicode's simple folding plus `i = İ = ı`. ECMA-262 with the `u` flag is Unicode's simple
//! folding exactly.

use std::sync::{Arc, OnceLock};

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use crate::error::Result;
use crate::regex::char_set::CharSet;
use crate::util::cancel::{checkpoint_after, uninterruptible};
use crate::util::seeded_hash::SeededMap;

/// How letters that differ only in case are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fold {
    /// Not at all.
    None,
    /// ASCII letters only.
    Ascii,
    /// As Python does for `str` patterns.
    Python,
    /// As ECMA-262 does under `iu`.
    Ecma,
}

fn cached(cell: &'static OnceLock<Arc<CharSet>>, make: impl FnOnce() -> CharSet) -> Arc<CharSet> {
    // Whoever asks first pays no more than others, so that what a compile counts does not depend on those before.
    cell.get_or_init(|| Arc::new(uninterruptible(make))).clone()
}

/// The set of a Unicode property as regex-syntax spells it, such as `Lu`, `Greek` or `scx=Greek`; names match loosely.
fn property(name: &str) -> Option<CharSet> {
    let clean = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_=- ".contains(c));
    if !clean {
        return None;
    }
    // The crate's tables leave surrogates out, and with them the category that holds nothing else.
    let value = name.strip_prefix("gc=").or_else(|| name.strip_prefix("General_Category=")).unwrap_or(name);
    if value.eq_ignore_ascii_case("cs") || value.eq_ignore_ascii_case("surrogate") {
        return Some(CharSet::new(vec![(0xD800, 0xDFFF)]));
    }
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(c)) => {
            Some(CharSet::new(c.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect()))
        }
        HirKind::Class(Class::Bytes(c)) => {
            Some(CharSet::new(c.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect()))
        }
        HirKind::Literal(l) => {
            let c = std::str::from_utf8(&l.0).ok()?.chars().next()?;
            Some(CharSet::single(c as u32))
        }
        _ => None,
    }
}

/// Properties that a pattern names, each made once: the tables are in a form that takes some microseconds to read.
#[derive(Default)]
pub(crate) struct Properties(SeededMap<(String, bool, Fold), Arc<CharSet>>);

impl Properties {
    /// Names that are remembered. Names match loosely, so there are any number of them for one property.
    const MOST_NAMES: usize = 64;

    /// The code points that have the property, or those that have not, and what they fold to; `None` if nobody knows
    /// the name.
    pub fn get(&mut self, name: &str, negative: bool, fold: Fold) -> Result<Option<Arc<CharSet>>> {
        /// Ranges of a table that are read in the time of one step.
        const RANGES: usize = 64;
        let key = (name.to_owned(), negative, fold);
        if let Some(known) = self.0.get(&key) {
            return Ok(Some(known.clone()));
        }
        let Some(set) = property(name) else { return Ok(None) };
        checkpoint_after(4 + set.ranges().len() / RANGES)?;
        let set = if negative { set.complement() } else { set };
        let set = Arc::new(close(set, fold)?);
        if self.0.len() < Self::MOST_NAMES {
            self.0.insert(key, set.clone());
        }
        Ok(Some(set))
    }
}

fn known(name: &str) -> CharSet {
    property(name).unwrap_or_default()
}

/// ASCII digits.
pub(super) fn ascii_digit() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || CharSet::new(vec![(0x30, 0x39)]))
}

/// ASCII letters, digits and underscore.
pub(super) fn ascii_word() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || CharSet::new(vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]))
}

/// Python's `\s` under the `a` flag.
pub(super) fn ascii_space() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || CharSet::new(vec![(9, 13), (32, 32)]))
}

/// Python's `\d`: decimal digits of all scripts.
pub(super) fn python_digit() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || known("Nd"))
}

/// Python's `\w`: letters and numbers of all scripts, and underscore.
pub(super) fn python_word() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || known("L").union(&known("N")).union(&CharSet::single(0x5F)))
}

/// Python's `\s`: what `str.isspace` accepts.
pub(super) fn python_space() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || {
        let mut v = vec![(0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)];
        v.extend([(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)]);
        CharSet::new(v)
    })
}

/// ECMA-262's `\s`: white space and line terminators.
pub(super) fn ecma_space() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || {
        let mut v = vec![(0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)];
        v.extend([(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)]);
        CharSet::new(v)
    })
}

/// ECMA-262's `\w` under `iu`: what folds to an ASCII word character.
pub(super) fn ecma_word_folded() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || ascii_word().union(&CharSet::new(vec![(0x17F, 0x17F), (0x212A, 0x212A)])))
}

/// ECMA-262's line terminators.
pub(super) fn ecma_line() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || CharSet::new(vec![(10, 10), (13, 13), (0x2028, 0x2029)]))
}

/// What Python's identifiers begin with, beside underscore.
pub(super) fn xid_start() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || known("XID_Start"))
}

/// What Python's identifiers go on with.
pub(super) fn xid_continue() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || known("XID_Continue"))
}

/// What ECMA-262's identifiers begin with, beside `$` and underscore.
pub(super) fn id_start() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || known("ID_Start"))
}

/// What ECMA-262's identifiers go on with, beside `$` and the two joiners.
pub(super) fn id_continue() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || known("ID_Continue"))
}

/// The complement of a cached set, cached as well where it is large.
pub(super) fn not(set: &Arc<CharSet>) -> Arc<CharSet> {
    static WORD: OnceLock<Arc<CharSet>> = OnceLock::new();
    static DIGIT: OnceLock<Arc<CharSet>> = OnceLock::new();
    if Arc::ptr_eq(set, &python_word()) {
        return cached(&WORD, || set.complement());
    }
    if Arc::ptr_eq(set, &python_digit()) {
        return cached(&DIGIT, || set.complement());
    }
    Arc::new(set.complement())
}

/// Every code point.
pub(super) fn any() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, CharSet::full)
}

/// What Python's `.` accepts without the `s` flag.
pub(super) fn python_dot() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || CharSet::single(10).complement())
}

/// What ECMA-262's `.` accepts without the `s` flag.
pub(super) fn ecma_dot() -> Arc<CharSet> {
    static CELL: OnceLock<Arc<CharSet>> = OnceLock::new();
    cached(&CELL, || ecma_line().complement())
}

/// Everything that equals a member of `set` up to case.
pub(super) fn close(set: CharSet, fold: Fold) -> Result<CharSet> {
    /// Code points that are looked up in the time of one step, whether they have a case or not.
    const CHARS: usize = 64;
    match fold {
        Fold::None => return Ok(set),
        Fold::Ascii => {}
        Fold::Ecma | Fold::Python => checkpoint_after(set.count() / CHARS)?,
    }
    Ok(closed(&set, fold))
}

/// Everything that equals a member of `set` up to case, for a set of few code points.
pub(super) fn closed(set: &CharSet, fold: Fold) -> CharSet {
    match fold {
        Fold::None => set.clone(),
        Fold::Ascii => {
            let mut v = set.ranges().to_vec();
            for &(lo, hi) in set.ranges() {
                let (a, b) = (lo.max(0x41), hi.min(0x5A));
                if a <= b {
                    v.push((a + 32, b + 32));
                }
                let (a, b) = (lo.max(0x61), hi.min(0x7A));
                if a <= b {
                    v.push((a - 32, b - 32));
                }
            }
            CharSet::new(v)
        }
        Fold::Ecma | Fold::Python => {
            let closed = close_simple(set);
            // Python lower-cases U+0130 to i and counts U+0131 as an i; no other letter is like that.
            const I: [u32; 4] = [0x49, 0x69, 0x130, 0x131];
            if fold == Fold::Python && I.iter().any(|&c| closed.contains(c)) {
                return closed.union(&CharSet::new(I.iter().map(|&c| (c, c)).collect()));
            }
            closed
        }
    }
}

fn close_simple(set: &CharSet) -> CharSet {
    // Plain ASCII letters but k and s (whose orbits leave ASCII) need no table.
    if let [(lo, hi)] = *set.ranges()
        && lo == hi
        && hi < 0x80
        && !matches!(lo | 0x20, 0x6B | 0x73)
    {
        return closed(set, Fold::Ascii);
    }
    let mut class = ClassUnicode::new(set.scalars().iter().map(|&(a, b)| ClassUnicodeRange::new(a, b)));
    class.case_fold_simple();
    let mut v: Vec<(u32, u32)> = class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect();
    v.extend(set.ranges().iter().filter(|r| r.1 >= 0xD800 && r.0 < 0xE000).map(|r| (r.0.max(0xD800), r.1.min(0xDFFF))));
    CharSet::new(v)
}
