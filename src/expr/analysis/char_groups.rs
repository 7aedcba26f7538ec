//! Character groups: sets of characters as two words.
//!
//! What a state lets pass and what lies below a node of the vocabulary's trie are compared a hundred thousand times, so
//! both are sets that fit two words: a bit for every character of ASCII that is written in strings, and a bit for all
//! letters that begin with one byte, or with one of a few that usually go together. Spaces and line ends beyond ASCII
//! are apart, because classes such as `.` and `\S` lack them and nothing else of their neighbourhood; so are numbers,
//! marks and symbols, which `\w` and `\p{L}` lack.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// A set of groups. A group is in it only if all of its characters are.
pub type CharGroups = u128;

/// First bytes beyond ASCII that share a group.
const LEADS: [(u8, u8); 20] = [
    (0xC2, 0xC2),
    (0xC3, 0xC3),
    (0xC4, 0xCA),
    (0xCB, 0xCF),
    (0xD0, 0xD1),
    (0xD2, 0xD7),
    (0xD8, 0xDF),
    (0xE0, 0xE0),
    (0xE1, 0xE1),
    (0xE2, 0xE2),
    (0xE3, 0xE3),
    (0xE4, 0xE4),
    (0xE5, 0xE8),
    (0xE9, 0xE9),
    (0xEA, 0xEA),
    (0xEB, 0xEC),
    (0xED, 0xED),
    (0xEE, 0xEF),
    (0xF0, 0xF0),
    (0xF1, 0xF4),
];
const TAB: u8 = 96;
const NEWLINE: u8 = 97;
const RETURN: u8 = 98;
/// All other control characters of JSON.
const OTHER_CONTROLS: u8 = 99;
const FIRST_LEAD: u8 = 100;
const LINES: u8 = FIRST_LEAD + LEADS.len() as u8;
const SPACES: u8 = LINES + 1;
const NUMBERS: u8 = SPACES + 1;
/// What is neither letter, number, space nor line end, by the first byte.
const OTHERS: [(u8, u8); 4] = [(0xC2, 0xCF), (0xD0, 0xE1), (0xE2, 0xE3), (0xE4, 0xEF)];
const FIRST_OTHER: u8 = NUMBERS + 1;
const INVALID: u8 = FIRST_OTHER + OTHERS.len() as u8;
/// Inside of a character.
const INSIDE: u8 = 255;

const fn group_table() -> [u8; 256] {
    let mut out = [INVALID; 256];
    let mut b = 0;
    while b < 256 {
        let mut lead = 0;
        while lead < LEADS.len() && !(LEADS[lead].0 as usize <= b && b <= LEADS[lead].1 as usize) {
            lead += 1;
        }
        out[b] = match b {
            0x09 => TAB,
            0x0A => NEWLINE,
            0x0D => RETURN,
            0..0x20 => OTHER_CONTROLS,
            0x20..0x80 => b as u8 - 0x20,
            0x80..0xC0 => INSIDE,
            _ if lead < LEADS.len() => FIRST_LEAD + lead as u8,
            _ => INVALID,
        };
        b += 1;
    }
    out
}

static GROUP: [u8; 256] = group_table();

/// All characters.
pub const ALL: CharGroups = (1 << INVALID) - 1;
/// All of ASCII.
pub const ASCII: CharGroups = (1 << FIRST_LEAD) - 1;
/// All of ASCII, and the letters beyond it.
pub const LETTERS: CharGroups = (1 << LINES) - 1;
/// The control characters of JSON, which no string contains as they are.
pub const CONTROLS: CharGroups = 1 << TAB | 1 << NEWLINE | 1 << RETURN | 1 << OTHER_CONTROLS;
/// The line ends beyond ASCII, a group of its own.
pub const LINE_ENDS: CharGroups = 1 << LINES;
/// The spaces beyond ASCII, a group of its own.
pub const WIDE_SPACES: CharGroups = 1 << SPACES;

/// The groups of what begins with a byte, but for line ends and spaces beyond ASCII. Bytes inside of characters have
/// none.
#[inline]
pub fn group_of(byte: u8) -> CharGroups {
    match GROUP[byte as usize] {
        INSIDE => 0,
        g => 1 << g,
    }
}

/// The group of a character beyond ASCII that is not in that of its first byte; 0 where it is, as all letters are and
/// whatever has four bytes.
#[inline]
pub fn special(c: u32) -> CharGroups {
    match TABLE.special.get(c as usize) {
        Some(&g @ 1..) => 1 << g,
        _ => 0,
    }
}

/// The special groups with characters that begin with a byte.
#[inline]
pub fn specials_of(lead: u8) -> CharGroups {
    match lead {
        0xC2..=0xEF => TABLE.leads[usize::from(lead)] & !group_of(lead),
        _ => 0,
    }
}

/// The groups of the characters of three bytes that begin with two.
#[inline]
pub fn groups_behind(lead: u8, second: u8) -> CharGroups {
    TABLE.seconds[usize::from(lead & 0xF) << 6 | usize::from(second & 0x3F)]
}

/// The groups of some of the 64 characters of two or three bytes that differ in their last byte only. `common` is
/// what they have in common, the code point without its last six bits; `which` has a bit for each by these.
#[inline]
pub fn groups_of_some(common: u32, which: u64) -> CharGroups {
    let Some(&(from, to)) = TABLE.blocks.get(common as usize) else { return 0 };
    let parts = TABLE.parts[usize::from(from)..usize::from(to)].iter();
    parts.fold(0, |all, &(group, chars)| if chars & which != 0 { all | group } else { all })
}

/// The bytes inside of a character that lie in a range, as [`groups_of_some`] has them.
#[inline]
pub fn last_bytes(lo: u8, hi: u8) -> u64 {
    if hi < 0x80 || lo > 0xBF {
        return 0;
    }
    let (lo, hi) = (lo.max(0x80) & 0x3F, hi.min(0xBF) & 0x3F);
    u64::MAX >> (63 - (hi - lo)) << lo
}

/// The group that the beginning of a character of three bytes counts as, by its two bytes; see
/// [`PartialChar::partial`].
#[inline]
pub fn begun_by(lead: u8, second: u8) -> CharGroups {
    one_of(group_of(lead), groups_behind(lead, second))
}

/// The group that the beginning of a character counts as, out of the groups of characters that begin alike; `own` is
/// that of letters.
#[inline]
fn one_of(own: CharGroups, some: CharGroups) -> CharGroups {
    if some & own != 0 || some == 0 { own } else { some & some.wrapping_neg() }
}

/// What the characters of two and three bytes are.
struct GroupTable {
    /// The group of each that is in a special one; 0 for others.
    special: Box<[u8; 0x1_0000]>,
    /// All groups by first byte, and by four and six bits of the first and the second of three.
    leads: [CharGroups; 256],
    seconds: Box<[CharGroups]>,
    /// Where the parts lie of each 64 characters that differ in their last byte, and these: characters of one group.
    blocks: Box<[(u16, u16)]>,
    parts: Box<[(CharGroups, u64)]>,
}

static TABLE: LazyLock<GroupTable> = LazyLock::new(|| {
    let first = |c: usize| if c < 0x800 { 0xC0 | (c >> 6) as u8 } else { 0xE0 | (c >> 12) as u8 };
    let mut special = Box::new([0u8; 0x1_0000]);
    for (c, special) in special.iter_mut().enumerate().skip(0x80) {
        let other = OTHERS.iter().position(|o| (o.0..=o.1).contains(&first(c)));
        *special = other.map_or(0, |o| FIRST_OTHER + o as u8);
    }
    for (class, group) in [(r"\p{L}", 0), (r"\p{N}", NUMBERS)] {
        let hir = regex_syntax::parse(class).ok();
        if let Some(HirKind::Class(Class::Unicode(class))) = hir.as_ref().map(|hir| hir.kind()) {
            for range in class.ranges() {
                let all = (range.start() as usize).max(0x80)..=(range.end() as usize).min(0xFFFF);
                all.for_each(|c| special[c] = group);
            }
        }
    }
    for c in [0x85, 0x2028, 0x2029] {
        special[c] = LINES;
    }
    for c in [0xA0, 0x1680, 0x202F, 0x205F, 0x3000, 0xFEFF].into_iter().chain(0x2000..=0x200A) {
        special[c] = SPACES;
    }
    let (mut leads, mut seconds) = ([0; 256], vec![0; 1 << 10]);
    for (c, &special) in special.iter().enumerate().skip(0x80) {
        let group = if special == 0 { group_of(first(c)) } else { 1 << special };
        leads[usize::from(first(c))] |= group;
        if c >= 0x800 {
            seconds[c >> 6] |= group;
        }
    }
    let (mut blocks, mut parts) = (vec![(0, 0); 2], Vec::<(CharGroups, u64)>::new());
    for (block, chars) in special.chunks_exact(64).enumerate().skip(2) {
        let from = parts.len();
        for (bit, &special) in chars.iter().enumerate() {
            let group = if special == 0 { group_of(first(block << 6)) } else { 1 << special };
            match parts[from..].iter_mut().find(|part| part.0 == group) {
                Some(part) => part.1 |= 1 << bit,
                None => parts.push((group, 1 << bit)),
            }
        }
        blocks.push((from as u16, parts.len() as u16));
    }
    GroupTable { special, leads, seconds: seconds.into(), blocks: blocks.into(), parts: parts.into() }
});

/// The first and the last byte that go on a character of several bytes, which begins with `lead`, and how many bytes
/// follow that one (RFC 3629, section 4). `None` where no such character does.
pub fn second_of(lead: u8) -> Option<((u8, u8), u32)> {
    match lead {
        0xC2..=0xDF => Some(((0x80, 0xBF), 0)),
        0xE0 => Some(((0xA0, 0xBF), 1)),
        0xED => Some(((0x80, 0x9F), 1)),
        0xE1..=0xEF => Some(((0x80, 0xBF), 1)),
        0xF0 => Some(((0x90, 0xBF), 2)),
        0xF4 => Some(((0x80, 0x8F), 2)),
        0xF1..=0xF3 => Some(((0x80, 0xBF), 2)),
        _ => None,
    }
}

/// The bytes of ASCII that have a group of their own, and all the world writes, in a set.
pub fn plain_bytes(groups: CharGroups) -> impl Iterator<Item = u8> {
    (0x20..0x7F).filter(move |&b| groups & group_of(b) != 0)
}

/// How far the bytes before a place make a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartialChar {
    /// Bytes that are missing.
    missing: u8,
    lead: u8,
    /// The bits of the code point so far.
    so_far: u32,
}

impl PartialChar {
    /// The place after one more byte, and the groups of the character that it completes. A character that is begun has
    /// no group yet; see [`partial`](Self::partial).
    #[inline]
    pub fn after(self, byte: u8) -> (PartialChar, CharGroups) {
        if self.missing == 0 && byte < 0x80 {
            return (PartialChar::default(), group_of(byte));
        }
        if self.missing > 0 && byte & 0xC0 == 0x80 {
            let so_far = self.so_far << 6 | u32::from(byte & 0x3F);
            if self.missing > 1 {
                return (PartialChar { missing: self.missing - 1, so_far, ..self }, 0);
            }
            let group = special(so_far);
            return (PartialChar::default(), if group != 0 { group } else { group_of(self.lead) });
        }
        let missing = match byte {
            0xC2..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xF4 => 3,
            _ => 0,
        };
        // A character that is broken off is in no set of characters.
        let broken = if self.missing > 0 { 1 << INVALID } else { 0 };
        match missing {
            0 => (PartialChar::default(), group_of(byte) | broken),
            n => (PartialChar { missing: n, lead: byte, so_far: u32::from(byte) & (0x3F >> n) }, broken),
        }
    }

    /// The group of a character that is begun here: that of some character that goes on so, of a letter if there is
    /// one.
    #[inline]
    pub fn partial(self) -> CharGroups {
        if self.missing == 0 {
            return 0;
        }
        let own = group_of(self.lead);
        let some = match (self.lead, self.missing) {
            (0xC2..=0xDF, _) | (0xE0..=0xEF, 2) => TABLE.leads[usize::from(self.lead)],
            (0xE0..=0xEF, _) => TABLE.seconds.get(self.so_far as usize).copied().unwrap_or(own),
            _ => own,
        };
        one_of(own, some)
    }
}

/// The groups that a token's characters are of, one that is broken off at its end included.
pub fn groups_in(bytes: &[u8]) -> CharGroups {
    let (place, groups) = bytes.iter().fold((PartialChar::default(), 0), |(place, all), &b| {
        let (place, group) = place.after(b);
        (place, all | group)
    });
    groups | place.partial()
}

#[cfg(test)]
mod tests;
