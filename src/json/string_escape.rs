//! JSON strings over what they decode to.
//!
//! The constraints of a string (pattern, format, enum, …) are stated over decoded text. A text lexeme runs the
//! expression over the decoded bytes while it reads the encoded ones: unescaped characters pass straight through, and
//! an escape is held back in a [`EscapeState`] state until it is complete. Every escape of RFC 8259 is allowed wherever
//! the character that it spells is; a surrogate pair is one character; a lone surrogate is refused.
//!
//! Which escapes are written is a matter of the [`EscapeUse`]. What JSON writers agree on is that a character that
//! needs no escape stands for itself, and one that does has its short escape, or `\u` and lower-case digits where there
//! is none. Characters beyond `~` need none, but some writers escape them.

use crate::expr::{ExprId, Exprs};

/// How far into an escape a text lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EscapeState {
    /// Before the opening quote.
    Open,
    /// Between escapes (perhaps in the middle of a UTF-8 sequence).
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u` and so many hex digits of the given value.
    Hex(u8, u16),
    /// After a high surrogate; the backslash of the low one must follow.
    LowBackslash(u16),
    /// … its `u` …
    LowU(u16),
    /// … and its hex digits.
    LowHex(u16, u8, u16),
}

impl EscapeState {
    /// Bytes that end what was begun, and the most bytes of the character that it spells.
    pub fn missing_and_spelled_bytes(self) -> (u32, u32) {
        match self {
            EscapeState::Open => (1, 0),
            EscapeState::Plain => (0, 0),
            EscapeState::Escape => (1, 1),
            EscapeState::Hex(read, _) => (4 - u32::from(read), 3),
            EscapeState::LowBackslash(_) => (6, 4),
            EscapeState::LowU(_) => (5, 4),
            EscapeState::LowHex(_, read, _) => (4 - u32::from(read), 4),
        }
    }
}

/// What a byte does in a sub-state, before liveness is asked about.
pub enum EscapeMove {
    /// Not JSON.
    Dead,
    /// The closing quote.
    Close,
    /// Another sub-state, with the expression unchanged.
    To(EscapeState),
    /// A byte of decoded text; then plain.
    Byte(u8),
    /// A whole decoded character; then plain.
    Char(char),
}

fn hex(b: u8) -> Option<u16> {
    (b as char).to_digit(16).map(|d| d as u16)
}

/// The transition of the escape layer.
pub fn step(sub: EscapeState, b: u8) -> EscapeMove {
    match sub {
        EscapeState::Open if b == b'"' => EscapeMove::To(EscapeState::Plain),
        EscapeState::Open => EscapeMove::Dead,
        EscapeState::Plain => match b {
            b'"' => EscapeMove::Close,
            b'\\' => EscapeMove::To(EscapeState::Escape),
            0..0x20 => EscapeMove::Dead,
            _ => EscapeMove::Byte(b),
        },
        EscapeState::Escape => match b {
            b'"' | b'\\' | b'/' => EscapeMove::Byte(b),
            b'b' => EscapeMove::Byte(8),
            b'f' => EscapeMove::Byte(12),
            b'n' => EscapeMove::Byte(10),
            b'r' => EscapeMove::Byte(13),
            b't' => EscapeMove::Byte(9),
            b'u' => EscapeMove::To(EscapeState::Hex(0, 0)),
            _ => EscapeMove::Dead,
        },
        EscapeState::Hex(n, v) => {
            let Some(d) = hex(b) else { return EscapeMove::Dead };
            let v = v << 4 | d;
            if n < 3 {
                return EscapeMove::To(EscapeState::Hex(n + 1, v));
            }
            match v {
                0xD800..=0xDBFF => EscapeMove::To(EscapeState::LowBackslash(v)),
                _ => char::from_u32(v as u32).map_or(EscapeMove::Dead, EscapeMove::Char),
            }
        }
        EscapeState::LowBackslash(h) if b == b'\\' => EscapeMove::To(EscapeState::LowU(h)),
        EscapeState::LowU(h) if b == b'u' => EscapeMove::To(EscapeState::LowHex(h, 0, 0)),
        EscapeState::LowBackslash(_) | EscapeState::LowU(_) => EscapeMove::Dead,
        EscapeState::LowHex(h, n, v) => {
            let Some(d) = hex(b) else { return EscapeMove::Dead };
            let v = v << 4 | d;
            if n < 3 {
                return EscapeMove::To(EscapeState::LowHex(h, n + 1, v));
            }
            if !(0xDC00..=0xDFFF).contains(&v) {
                return EscapeMove::Dead;
            }
            let c = 0x10000 + ((h as u32 - 0xD800) << 10) + (v as u32 - 0xDC00);
            char::from_u32(c).map_or(EscapeMove::Dead, EscapeMove::Char)
        }
    }
}

/// What the bytes of a string decode to, from a place in it on: the text up to the closing quote or to a byte that
/// cannot stand there, how far into an escape that is, and, if the string is closed, how many bytes were read.
pub fn decode(mut sub: EscapeState, bytes: impl IntoIterator<Item = u8>) -> (Vec<u8>, EscapeState, Option<usize>) {
    let mut out = Vec::new();
    for (byte, read) in bytes.into_iter().zip(1..) {
        match step(sub, byte) {
            EscapeMove::Dead => break,
            EscapeMove::Close => return (out, sub, Some(read)),
            EscapeMove::To(to) => {
                sub = to;
                continue;
            }
            EscapeMove::Byte(b) => out.push(b),
            EscapeMove::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        sub = EscapeState::Plain;
    }
    (out, sub, None)
}

/// Which escapes the strings of a document are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum EscapeUse {
    /// Any that spells the character.
    #[default]
    Any,
    /// Those that some JSON writer takes: the short ones and `\u` in lower case where an escape is needed; characters
    /// beyond `~` stand for themselves or are escaped, as `json.dumps` does unless it is told otherwise.
    Writers,
    /// Only those that JSON needs: each text is written in one way.
    Needed,
}

/// Characters with a short escape.
const SHORT: [(u32, u32); 4] = [(8, 10), (12, 13), (0x22, 0x22), (0x5C, 0x5C)];
/// Characters that are written as `\u` and digits because they need an escape, and those that writers escape so.
const DIGITS: [(u32, u32); 4] = [(0, 7), (11, 11), (14, 0x1F), (0x7F, 0x10FFFF)];

impl EscapeUse {
    /// Whether any escape may be written.
    #[inline]
    pub fn is_any(self) -> bool {
        self == EscapeUse::Any
    }

    fn digits(self) -> &'static [(u32, u32)] {
        if self == EscapeUse::Needed { &DIGITS[..3] } else { &DIGITS }
    }

    /// Whether reading `byte` in `sub`, which does `to`, keeps to these escapes.
    pub fn allows(self, sub: EscapeState, byte: u8, to: &EscapeMove) -> bool {
        match (sub, to) {
            _ if self.is_any() => true,
            (EscapeState::Open | EscapeState::Plain, _) => true,
            (EscapeState::Escape, _) => byte != b'/',
            (_, _) if byte.is_ascii_uppercase() => false,
            (_, EscapeMove::Char(c)) => self.digits().iter().any(|&(lo, hi)| (lo..=hi).contains(&(*c as u32))),
            _ => true,
        }
    }

    /// The code points that a sub-state can still become by these escapes: inclusive ranges. Plain states return
    /// nothing.
    pub fn pending(self, sub: EscapeState) -> smallvec::SmallVec<[(u32, u32); 3]> {
        if self.is_any() {
            return pending(sub);
        }
        let short: &[(u32, u32)] = if sub == EscapeState::Escape { &SHORT } else { &[] };
        let mut out = smallvec::SmallVec::new();
        for (lo, hi) in pending(sub) {
            let met = short.iter().chain(self.digits()).map(|&(a, z)| (lo.max(a), hi.min(z)));
            out.extend(met.filter(|(a, z)| a <= z));
        }
        out
    }
}

/// The code points that a sub-state can still become by any escapes: up to three inclusive ranges. Plain states return
/// nothing.
fn pending(sub: EscapeState) -> smallvec::SmallVec<[(u32, u32); 3]> {
    match sub {
        EscapeState::Open | EscapeState::Plain => smallvec::SmallVec::new(),
        EscapeState::Escape | EscapeState::Hex(0, _) => smallvec::smallvec![(0, 0xD7FF), (0xE000, 0x10FFFF)],
        EscapeState::Hex(n, v) => {
            let shift = 4 * (4 - n as u32);
            let (lo, hi) = ((v as u32) << shift, ((v as u32) << shift) | ((1 << shift) - 1));
            let mut out = smallvec::SmallVec::new();
            if lo < 0xD800 {
                out.push((lo, hi.min(0xD7FF)));
            }
            let (hlo, hhi) = (lo.max(0xD800), hi.min(0xDBFF));
            if hlo <= hhi {
                out.push((0x10000 + ((hlo - 0xD800) << 10), 0x10000 + ((hhi - 0xD800) << 10) + 0x3FF));
            }
            if hi >= 0xE000 {
                out.push((lo.max(0xE000), hi));
            }
            out
        }
        EscapeState::LowBackslash(h) | EscapeState::LowU(h) | EscapeState::LowHex(h, 0, _) => {
            let base = 0x10000 + ((h as u32 - 0xD800) << 10);
            smallvec::smallvec![(base, base + 0x3FF)]
        }
        EscapeState::LowHex(h, n, v) => {
            let shift = 4 * (4 - n as u32);
            let (lo, hi) = ((v as u32) << shift, ((v as u32) << shift) | ((1 << shift) - 1));
            let (lo, hi) = (lo.max(0xDC00), hi.min(0xDFFF));
            if lo > hi {
                return smallvec::SmallVec::new();
            }
            let base = 0x10000 + ((h as u32 - 0xD800) << 10);
            smallvec::smallvec![(base + lo - 0xDC00, base + hi - 0xDC00)]
        }
    }
}

/// The first byte of a character in UTF-8.
fn lead(c: char) -> u8 {
    let mut buf = [0; 4];
    c.encode_utf8(&mut buf).as_bytes()[0]
}

/// All expressions that `e` may become by one code point out of `lo..=hi`, live ones only.
pub fn after_range(x: &mut Exprs, e: ExprId, lo: u32, hi: u32) -> Vec<ExprId> {
    let (Some(a), Some(b)) = (char::from_u32(lo), char::from_u32(hi)) else { return Vec::new() };
    // Lead bytes ascend with code points: nearly all ranges that a literal is asked about end here.
    let (first, last) = (lead(a), lead(b));
    if !x.row(e).iter().any(|edge| edge.lo <= last && edge.hi >= first && x.finds_live(edge.to)) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for seq in regex_syntax::utf8::Utf8Sequences::new(a, b) {
        let mut front = vec![e];
        for r in seq.as_slice() {
            let mut next = Vec::new();
            for &e in &front {
                for edge in x.row(e).iter() {
                    if edge.lo <= r.end && edge.hi >= r.start && x.finds_live(edge.to) {
                        next.push(edge.to);
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            front = next;
        }
        out.extend(front);
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// All live expressions that `e` may become by one code point out of `lo..=hi`, each with the number of code points
/// that lead to it.
pub fn ways_by_range(x: &mut Exprs, e: ExprId, lo: u32, hi: u32) -> Vec<(ExprId, u64)> {
    let (Some(a), Some(b)) = (char::from_u32(lo), char::from_u32(hi)) else { return Vec::new() };
    let mut out: Vec<(ExprId, u64)> = Vec::new();
    let add = |to: ExprId, ways: u64, all: &mut Vec<(ExprId, u64)>| match all.iter_mut().find(|known| known.0 == to) {
        Some(known) => known.1 += ways,
        None => all.push((to, ways)),
    };
    for seq in regex_syntax::utf8::Utf8Sequences::new(a, b) {
        let mut front = vec![(e, 1)];
        for r in seq.as_slice() {
            let mut next = Vec::new();
            for &(e, ways) in &front {
                for edge in x.row(e).iter() {
                    let (first, last) = (edge.lo.max(r.start), edge.hi.min(r.end));
                    if first <= last && x.finds_live(edge.to) {
                        add(edge.to, ways * (u64::from(last - first) + 1), &mut next);
                    }
                }
            }
            front = next;
        }
        front.into_iter().for_each(|(to, ways)| add(to, ways, &mut out));
    }
    out
}

/// Whether a byte of a key stands for itself between the quotes.
pub(crate) fn spells_itself(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}
