//! Tests whether what was read of an open element agrees with the canonical text of another element.
//!
//! The text so far, in any spelling and with members in any order, is read beside the canonical one. Where it ends
//! inside a string or key, what is left of that string is noted.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use crate::json::canonical::{canonical, may_become};
use crate::json::string_escape::{EscapeState, decode};

/// Elements that nest deeper are not compared.
const MAX_DEPTH: u32 = 48;

/// What is found about one element after the other.
#[derive(Default)]
pub(super) struct RepeatRests {
    /// What is left of the string or key.
    pub(super) texts: Vec<Box<[u8]>>,
    pub(super) sub: Option<EscapeState>,
    pub(super) raw: bool,
    pub(super) unknown: bool,
    /// The canonical texts of the numbers and words that what was read may become, for who asks for them.
    pub(super) numbers: Option<Vec<Box<[u8]>>>,
    /// What was read of these.
    pub(super) begun: Box<[u8]>,
    /// Canonical texts of the numbers and words of what was read, by where they begin and end in memory: they are asked
    /// for beside each element.
    scalars: SmallVec<[ReadScalar; 4]>,
}

/// A number or word: where it lies in memory, and its canonical text if it has one.
type ReadScalar = (Range<*const u8>, Option<Box<[u8]>>);

impl RepeatRests {
    /// From now on other text is read.
    pub(super) fn begin(&mut self) {
        self.scalars.clear();
    }

    /// Whether a number or word of what was read has a canonical text.
    fn is_canonical(&mut self, text: &[u8], own: &[u8]) -> bool {
        let place = text.as_ptr_range();
        let known = self.scalars.iter().position(|(at, _)| *at == place);
        let at = known.unwrap_or_else(|| {
            self.scalars.push((place, canonical(text)));
            self.scalars.len() - 1
        });
        self.scalars[at].1.as_deref() == Some(own)
    }

    /// A number or word of which `read` was read may become `own`.
    fn push_raw(&mut self, read: &[u8], own: &[u8]) {
        self.raw = true;
        if let Some(numbers) = &mut self.numbers {
            numbers.push(own.into());
            if *self.begun != *read {
                self.begun = read.into();
            }
        }
    }

    /// All strings are the same one, so they are as far into an escape.
    fn push(&mut self, text: Box<[u8]>, sub: EscapeState) {
        self.texts.push(text);
        self.sub = Some(sub);
    }
}

/// Where a text ends that is read beside a canonical one.
enum End<'t> {
    /// They differ.
    Apart,
    /// The text goes on behind an equal value.
    Equal(&'t [u8]),
    /// Inside the value, or in front of it. What may come next is noted.
    Open,
}

/// Whether `read` may still become the canonical value `known`; what may come next is added to `out`. `plain` says that
/// it is the beginning of a string without escapes.
#[inline]
pub(super) fn agrees((read, plain): (&[u8], bool), known: &[u8], out: &mut RepeatRests) -> bool {
    // Plain text is a beginning of canonical text, which escapes only what must be.
    (!plain || known.strip_prefix(b"\"").is_some_and(|text| text.starts_with(read)))
        && !matches!(value(read, known, out, 0), End::Apart)
}

/// A JSON string from behind its opening quote: what it decodes to, how far into an escape it is, and, if it is closed,
/// what follows.
pub(super) fn string(bytes: &[u8]) -> (Cow<'_, [u8]>, EscapeState, Option<&[u8]>) {
    // Most strings have no escapes, and stand for themselves.
    let plain = bytes.iter().take_while(|&&byte| byte >= b' ' && byte != b'"' && byte != b'\\').count();
    match bytes.get(plain) {
        None => return (bytes.into(), EscapeState::Plain, None),
        Some(b'"') => return (bytes[..plain].into(), EscapeState::Plain, bytes.get(plain + 1..)),
        Some(_) => {}
    }
    let (text, sub, read) = decode(EscapeState::Plain, bytes.iter().copied());
    (text.into(), sub, read.and_then(|read| bytes.get(read..)))
}

/// What follows the canonical value that `bytes` begin with.
fn behind(bytes: &[u8]) -> &[u8] {
    let mut open: SmallVec<[u8; 16]> = SmallVec::new();
    let mut is_key = false;
    let mut rest = bytes;
    while let Some((&b, after)) = rest.split_first() {
        rest = match b {
            b'[' | b'{' => {
                open.push(b);
                is_key = b == b'{';
                after
            }
            b']' | b'}' => {
                open.pop();
                after
            }
            b',' => {
                is_key = open.last() == Some(&b'{');
                after
            }
            b':' => {
                is_key = false;
                after
            }
            // The text of a value is marked by one more quote in front of it.
            b'"' => string(if is_key { after } else { after.get(1..).unwrap_or_default() }).2.unwrap_or_default(),
            _ => &rest[rest.iter().position(|b| *b == b',').unwrap_or(rest.len())..],
        };
        if open.is_empty() {
            break;
        }
    }
    rest
}

/// The members of a canonical object behind its opening brace: keys, decoded, with what their values begin.
fn members(mut bytes: &[u8]) -> Vec<(Cow<'_, [u8]>, &[u8])> {
    let mut out = Vec::new();
    while let Some(text) = bytes.strip_prefix(b"\"") {
        let (key, _, after) = string(text);
        let Some(of) = after.and_then(|a| a.strip_prefix(b":")) else { break };
        bytes = behind(of).strip_prefix(b",").unwrap_or_default();
        out.push((key, of));
    }
    out
}

/// Reads the JSON text `read`, which may end anywhere, beside the canonical value that `known` begins with.
fn value<'t>(read: &'t [u8], known: &[u8], out: &mut RepeatRests, depth: u32) -> End<'t> {
    let read = read.trim_ascii_start();
    if depth > MAX_DEPTH {
        out.unknown = true;
        return End::Open;
    }
    let Some((&first, after)) = read.split_first() else {
        match known.strip_prefix(b"\"\"") {
            Some(text) => out.push(string(text).0.into_owned().into(), EscapeState::Open),
            None if known.starts_with(b"[") || known.starts_with(b"{") => {}
            None => out.push_raw(read, scalar(known)),
        }
        return End::Open;
    };
    match (first, known.split_first()) {
        (b'"', _) => {
            let Some(whole) = known.strip_prefix(b"\"\"") else { return End::Apart };
            text(after, &string(whole).0, out)
        }
        (b'{', Some((b'{', members))) => object(after, members, out, depth),
        (b'[', Some((b'[', elements))) => array(after, elements, out, depth),
        (b'{' | b'[', _) => End::Apart,
        _ => {
            let own = scalar(known);
            let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            match read.iter().position(ends) {
                Some(end) if out.is_canonical(&read[..end], own) => End::Equal(&read[end..]),
                Some(_) => End::Apart,
                None if may_become_raw(read, own) => {
                    out.push_raw(read, own);
                    End::Open
                }
                None => End::Apart,
            }
        }
    }
}

/// The number or word that a canonical text begins with.
fn scalar(known: &[u8]) -> &[u8] {
    &known[..known.iter().position(|b| *b == b',').unwrap_or(known.len())]
}

/// Whether a number or word of which `read` was read may become the one whose canonical text is `own`.
pub(super) fn may_become_raw(read: &[u8], own: &[u8]) -> bool {
    match own.first() {
        Some(b'+' | b'-') => !read.first().is_some_and(u8::is_ascii_alphabetic) && may_become(read, own),
        _ => own.starts_with(read),
    }
}

/// A string or key behind its opening quote, beside what it has to be.
fn text<'t>(read: &'t [u8], known: &[u8], out: &mut RepeatRests) -> End<'t> {
    match string(read) {
        (text, _, Some(after)) if text == known => End::Equal(after),
        (_, _, Some(_)) => End::Apart,
        (text, sub, None) => match known.strip_prefix(&*text) {
            Some(rest) => {
                out.push(rest.into(), sub);
                End::Open
            }
            None => End::Apart,
        },
    }
}

fn array<'t>(mut read: &'t [u8], mut known: &[u8], out: &mut RepeatRests, depth: u32) -> End<'t> {
    loop {
        read = read.trim_ascii_start();
        read = match read.split_first() {
            Some((b']', after)) => return if known.starts_with(b"]") { End::Equal(after) } else { End::Apart },
            Some((b',', after)) => after,
            _ => read,
        };
        if known.starts_with(b"]") {
            // In front of a bracket the arrays are equal so far.
            return if read.trim_ascii_start().is_empty() { End::Open } else { End::Apart };
        }
        match value(read, known, out, depth + 1) {
            End::Equal(after) => read = after,
            end => return end,
        }
        known = behind(known).strip_prefix(b",").unwrap_or_default();
        if read.trim_ascii_start().is_empty() {
            return End::Open;
        }
    }
}

fn object<'t>(mut read: &'t [u8], known: &[u8], out: &mut RepeatRests, depth: u32) -> End<'t> {
    let mut known = members(known);
    loop {
        read = read.trim_ascii_start();
        let (first, after) = match read.split_first() {
            None => return End::Open,
            Some((first, after)) => (first, after),
        };
        match first {
            b'}' => return if known.is_empty() { End::Equal(after) } else { End::Apart },
            b',' => read = after,
            b'"' => {
                let (key, sub, behind) = string(after);
                let Some(behind) = behind else {
                    let mut end = End::Apart;
                    for rest in known.iter().filter_map(|m| m.0.strip_prefix(&*key)) {
                        out.push(rest.into(), sub);
                        end = End::Open;
                    }
                    return end;
                };
                let Some(at) = known.iter().position(|m| m.0 == key) else { return End::Apart };
                let (_, of) = known.swap_remove(at);
                let behind = behind.trim_ascii_start();
                if behind.is_empty() {
                    return End::Open;
                }
                match value(behind.strip_prefix(b":").unwrap_or(behind), of, out, depth + 1) {
                    End::Equal(after) => read = after,
                    end => return end,
                }
            }
            _ => return End::Apart,
        }
    }
}

#[cfg(test)]
mod tests;
