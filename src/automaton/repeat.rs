//! What an open element would have to go on with to repeat one that its array has.
//!
//! A byte inside an array of unique elements is refused only where whatever it can lead to is an element that the array
//! has already. So it matters only while what was read of the open element is the beginning, in any spelling and with
//! members in any order, of some element that is there; most elements differ from all others within a few bytes, and
//! then nothing in them is refused until they end. Here the text so far is read beside the canonical texts of the
//! elements. Where it ends inside a string or key, what is left of that string is all that can lead to a repetition.

use smallvec::SmallVec;

use super::arena::{Kind, Node, NodeId, Phase, ScalarItem};
use super::config::Frames;
use super::lexeme::Kind as LexemeKind;
use super::text::{Move, Sub, step};
use super::unique::canonical;

/// Elements that nest deeper are not compared; nor are longer texts.
const MAX_DEPTH: u32 = 48;
const MAX_TEXT: usize = 1 << 12;

/// A string or key that is open, or that may begin here, and what it has to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The decoded bytes that are left of it.
    pub text: Box<[u8]>,
    /// How far the bytes before are into an escape, or that the opening quote is still to come.
    pub sub: Sub,
}

/// How the bytes after a configuration may lead to a repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// By what is left of the string or key.
    pub texts: Vec<Rest>,
    /// By a number or word.
    pub raw: bool,
    /// In a way that was not looked for.
    pub unknown: bool,
    /// The arrays that have such elements.
    pub arrays: SmallVec<[NodeId; 2]>,
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

impl Frames<'_> {
    /// How the bytes after `top` may lead to an element that its array has, for every array of unique elements with one
    /// open. With `keep`, where `top` is where a guide stands, arrays whose elements differ from all others are noted.
    pub fn repeats(&mut self, top: NodeId, keep: bool) -> Repeats {
        let mut out = Repeats::default();
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize) {
            let open = n.kind == Kind::Array && n.phase == Phase::Inside && n.key != u32::MAX && n.seen != u32::MAX;
            let parent = n.parent;
            if open && !self.arena.apart.contains(&at) {
                if self.repeats_of(top, n, &mut out) {
                    out.arrays.push(at);
                } else if keep {
                    self.arena.apart.push(at);
                }
            }
            at = parent;
        }
        out.texts.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        out.texts.dedup();
        out
    }

    /// Whether the element of the array on the node `array` that is open at `top` may become one that the array has.
    pub(super) fn may_repeat(&self, top: NodeId, array: NodeId) -> bool {
        self.repeats_of(top, &self.arena.nodes[array as usize], &mut Repeats::default())
    }

    fn repeats_of(&self, top: NodeId, array: &Node, out: &mut Repeats) -> bool {
        let read = self.arena.bytes_since(self.arena.nodes[top as usize].trace, array.key);
        if read.len() > MAX_TEXT {
            out.unknown = true;
            return true;
        }
        let read = read.trim_ascii_start();
        let plain = read.first() == Some(&b'"') && !read.contains(&b'\\');
        let mut any = false;
        let mut e = array.seen;
        while let Some(element) = self.arena.elements.get(e as usize) {
            e = element.before;
            // Plain text is a beginning of canonical text, which escapes only what must be.
            if plain && !element.value.strip_prefix(b"\"").is_some_and(|text| text.starts_with(read)) {
                continue;
            }
            any |= !matches!(value(read, &element.value, out, 0), End::Apart);
        }
        any
    }
}

/// A JSON string from behind its opening quote: what it decodes to, how far into an escape it is, and, if it is closed, what follows.
fn string(bytes: &[u8]) -> (Vec<u8>, Sub, Option<&[u8]>) {
    let (mut text, mut sub) = (Vec::new(), Sub::Plain);
    for (i, &b) in bytes.iter().enumerate() {
        match step(sub, b) {
            Move::Close => return (text, sub, Some(&bytes[i + 1..])),
            Move::To(s) => sub = s,
            Move::Byte(b) => {
                text.push(b);
                sub = Sub::Plain;
            }
            Move::Char(c) => {
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                sub = Sub::Plain;
            }
            // What was read is JSON.
            Move::Dead => break,
        }
    }
    (text, sub, None)
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
fn members(mut bytes: &[u8]) -> Vec<(Vec<u8>, &[u8])> {
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
fn value<'t>(read: &'t [u8], known: &[u8], out: &mut Repeats, depth: u32) -> End<'t> {
    let read = read.trim_ascii_start();
    if depth > MAX_DEPTH {
        out.unknown = true;
        return End::Open;
    }
    let Some((&first, after)) = read.split_first() else {
        match known.strip_prefix(b"\"\"") {
            Some(text) => out.texts.push(Rest { text: string(text).0.into(), sub: Sub::Open }),
            None => out.raw |= !known.starts_with(b"[") && !known.starts_with(b"{"),
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
            let own = &known[..known.iter().position(|b| *b == b',').unwrap_or(known.len())];
            let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            match read.iter().position(ends) {
                Some(end) if canonical(&read[..end]).is_some_and(|v| *v == *own) => End::Equal(&read[end..]),
                Some(_) => End::Apart,
                None => {
                    let number = matches!(own.first(), Some(b'+' | b'-'));
                    let may = if number { !first.is_ascii_alphabetic() } else { own.starts_with(read) };
                    out.raw |= may;
                    if may { End::Open } else { End::Apart }
                }
            }
        }
    }
}

/// A string or key behind its opening quote, beside what it has to be.
fn text<'t>(read: &'t [u8], known: &[u8], out: &mut Repeats) -> End<'t> {
    match string(read) {
        (text, _, Some(after)) if text == known => End::Equal(after),
        (_, _, Some(_)) => End::Apart,
        (text, sub, None) => match known.strip_prefix(text.as_slice()) {
            Some(rest) => {
                out.texts.push(Rest { text: rest.into(), sub });
                End::Open
            }
            None => End::Apart,
        },
    }
}

fn array<'t>(mut read: &'t [u8], mut known: &[u8], out: &mut Repeats, depth: u32) -> End<'t> {
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

fn object<'t>(mut read: &'t [u8], known: &[u8], out: &mut Repeats, depth: u32) -> End<'t> {
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
                    let rests: Vec<Rest> = known
                        .iter()
                        .filter_map(|m| m.0.strip_prefix(key.as_slice()))
                        .map(|rest| Rest { text: rest.into(), sub })
                        .collect();
                    let apart = rests.is_empty();
                    out.texts.extend(rests);
                    return if apart { End::Apart } else { End::Open };
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

impl Frames<'_> {
    /// Whether uniqueness may refuse the byte that leads from `from` to `to`, stepped behind an element that is not known
    /// ([`Arena::unchecked`](super::arena::Arena)): elements that were open before are on nodes below `settled`, and whether they
    /// are repeated is another question ([`repeats`](Self::repeats)). Conservative.
    pub fn is_uncertain(&self, from: NodeId, to: NodeId, settled: NodeId) -> bool {
        let (before, node) = (&self.arena.nodes[from as usize], &self.arena.nodes[to as usize]);
        let Some(parent) = self.arena.nodes.get(node.parent as usize) else { return false };
        let items = node.start as usize..(node.start + node.len) as usize;
        let inside = parent.kind == Kind::Array && parent.key != u32::MAX && self.is_unchecked(parent);
        let count = u64::from(parent.count);
        let uncertain = match node.kind {
            Kind::Value => inside && self.arena.rules[items].iter().any(|r| self.program.variety(*r) <= count),
            Kind::Scalar => {
                let few = |i: &ScalarItem| {
                    let raw = self.program.lexemes[i.lexeme as usize].kind() == LexemeKind::Raw;
                    raw || !self.program.has_many_endings(i.lexeme, i.state, node.count, parent.count)
                };
                inside && self.arena.scalars[items].iter().any(few)
            }
            Kind::Array if node.phase == Phase::After => {
                let blank = before.kind == Kind::Array && before.phase == Phase::After && before.parent == node.parent;
                !blank && before.parent >= settled && self.any_unique(node) && self.is_unchecked(node)
            }
            _ => false,
        };
        uncertain || self.is_watched_since(to, settled, true)
    }

    /// Whether some array on the stack, on a node from `settled` on, watches the element that is open at `top`; with `asked`, only
    /// one whose element may not be able to differ any more.
    pub fn is_watched_since(&self, top: NodeId, settled: NodeId, asked: bool) -> bool {
        if !self.program.has_watched {
            return false;
        }
        let mut at = top;
        while let Some(n) = self.arena.nodes.get(at as usize).filter(|_| at >= settled) {
            let open = n.kind == Kind::Array && n.phase == Phase::Inside && n.key != u32::MAX && n.count > 0;
            if open && !n.spelled && !self.arena.apart.contains(&at) {
                let items = &self.arena.arrays[n.start as usize..(n.start + n.len) as usize];
                let watched = items.iter().any(|i| self.program.arrays[i.shape as usize].watched);
                if watched && !(asked && at != top && self.exceeds(at, self.variety(top, at))) {
                    return true;
                }
            }
            at = n.parent;
        }
        false
    }
}

#[cfg(test)]
mod tests;
