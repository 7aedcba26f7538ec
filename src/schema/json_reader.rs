//! The JSON reader behind [`Tape::read`]: RFC 8259 and nothing else, in one pass without recursion.

use crate::error::{Error, ErrorKind, Result, SourcePlace};
use crate::schema::json_tape::{Tape, TapeId, TapeKind, TapeNode, WIDE};
use crate::util::cancel::checkpoint;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Reads a document whose size has been checked.
///
/// # Errors
/// `Schema` with a byte offset, or `Limit` where containers nest deeper than `max_depth` or the work at hand may read
/// no more values.
pub fn read(text: &str, max_depth: usize) -> Result<Tape<'_>> {
    let nodes = Vec::with_capacity(text.len() / 8 + 4);
    let mut reader = JsonReader {
        text,
        bytes: text.as_bytes(),
        pos: if text.starts_with('\u{feff}') { 3 } else { 0 },
        max_depth,
        tape: Tape { nodes, wide: FxHashMap::default(), names_schemas: false },
    };
    reader.document()?;
    Ok(reader.tape)
}

struct JsonReader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    max_depth: usize,
    tape: Tape<'t>,
}

/// How many bytes, up to less than eight before the end, come before the first quote, backslash or control character.
fn plain_run(bytes: &[u8]) -> usize {
    // Keys and words are short. What goes on beyond them is prose, of which blocks are looked at as a whole.
    const SHORT: usize = 16;
    let short = plain_words(bytes.get(..SHORT).unwrap_or(bytes));
    if short < SHORT {
        return short;
    }
    let (blocks, _) = bytes.as_chunks::<32>();
    let is_plain = |block: &&[u8; 32]| {
        block.iter().fold(0, |ends, &b| ends | u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\')) == 0
    };
    let run = (blocks.iter().take_while(is_plain).count() * 32).max(short);
    run + plain_words(bytes.get(run..).unwrap_or_default())
}

/// How many bytes come before the first quote, backslash or control character, found eight bytes at a time.
fn plain_words(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let mut run = 0;
    for word in bytes.chunks_exact(8) {
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        // The top bits of bytes that are less than `n`. A borrow may set the bit of a byte above one that is found, so
        // the lowest is true.
        let less = |w: u64, n: u8| w.wrapping_sub(ONES * u64::from(n)) & !w & TOPS;
        let is = |b: u8| less(word ^ (ONES * u64::from(b)), 1);
        let found = less(word, 0x20) | is(b'"') | is(b'\\');
        if found != 0 {
            return run + found.trailing_zeros() as usize / 8;
        }
        run += 8;
    }
    run
}

/// Equal for equal keys, and mostly for no others: the length and bytes of both ends and of the middle.
fn sight(key: &[u8]) -> u32 {
    let at = |i: usize| key.get(i).copied().map_or(0, u32::from);
    key.len() as u32 & 0xff | at(0) << 8 | at(key.len() / 2) << 16 | at(key.len().wrapping_sub(1)) << 24
}

impl<'t> JsonReader<'t> {
    fn document(&mut self) -> Result<()> {
        // Open containers, as node numbers.
        let mut open: Vec<u32> = Vec::new();
        loop {
            checkpoint()?;
            if !self.opens_container(&mut open)? && self.ends_document(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Reads a value, or the begin of a container. Whether its first value comes next: of an empty container, the
    /// closing bracket does.
    #[inline]
    fn opens_container(&mut self, open: &mut Vec<u32>) -> Result<bool> {
        match self.skip_space() {
            Some(first @ (b'{' | b'[')) => {
                if open.len() >= self.max_depth {
                    let (limit, found) = (self.max_depth as u64, open.len() as u64 + 1);
                    return Err(Error::limit("depth of schema", limit, found)
                        .set_by("max_depth")
                        .at(SourcePlace::Byte(self.pos)));
                }
                self.pos += 1;
                let is_object = first == b'{';
                open.push(self.push(if is_object { TapeKind::Object(0) } else { TapeKind::Array(0) }));
                let close = if is_object { b'}' } else { b']' };
                let is_empty = self.skip_space() == Some(close);
                if is_object && !is_empty {
                    self.key(open.len())?;
                }
                return Ok(!is_empty);
            }
            Some(b'"') => {
                let s = self.quoted()?;
                self.push(TapeKind::String(s));
                self.count(open);
            }
            Some(b'-' | b'0'..=b'9') => {
                let n = self.number()?;
                self.push(TapeKind::Number(n));
                self.count(open);
            }
            Some(b't') => self.word("true", TapeKind::Bool(true), open)?,
            Some(b'f') => self.word("false", TapeKind::Bool(false), open)?,
            Some(b'n') => self.word("null", TapeKind::Null, open)?,
            _ => return Err(self.invalid("a value is expected")),
        }
        Ok(false)
    }

    /// Reads what stands behind a value: the brackets that close containers, and the comma before the next value.
    /// Whether the document ended instead.
    #[inline]
    fn ends_document(&mut self, open: &mut Vec<u32>) -> Result<bool> {
        loop {
            let Some(&container) = open.last() else {
                return match self.skip_space() {
                    None => Ok(true),
                    Some(_) => Err(self.invalid("text follows the document")),
                };
            };
            let is_object = matches!(self.tape.nodes[container as usize].kind, TapeKind::Object(_));
            let close = if is_object { b'}' } else { b']' };
            match self.skip_space() {
                Some(b',') => {
                    self.pos += 1;
                    if is_object {
                        self.skip_space();
                        self.key(open.len())?;
                    }
                    return Ok(false);
                }
                Some(b) if b == close => {
                    self.pos += 1;
                    self.close(container)?;
                    open.pop();
                    self.count(open);
                }
                _ if is_object => return Err(self.invalid("',' or '}' is expected")),
                _ => return Err(self.invalid("',' or ']' is expected")),
            }
        }
    }

    fn push(&mut self, kind: TapeKind<'t>) -> u32 {
        let id = self.tape.nodes.len() as u32;
        self.tape.nodes.push(TapeNode { kind, end: id + 1 });
        id
    }

    /// One more value in the innermost container.
    fn count(&mut self, open: &[u32]) {
        if let Some(&c) = open.last() {
            match &mut self.tape.nodes[c as usize].kind {
                TapeKind::Array(n) | TapeKind::Object(n) => *n += 1,
                _ => {}
            }
        }
    }

    fn word(&mut self, word: &str, kind: TapeKind<'t>, open: &[u32]) -> Result<()> {
        if !self.bytes[self.pos..].starts_with(word.as_bytes()) {
            return Err(self.invalid("a value is expected"));
        }
        self.pos += word.len();
        self.push(kind);
        self.count(open);
        Ok(())
    }

    /// A key and its colon.
    fn key(&mut self, depth: usize) -> Result<()> {
        if self.bytes.get(self.pos) != Some(&b'"') {
            return Err(self.invalid("a key in double quotes is expected"));
        }
        let key = self.quoted()?;
        self.tape.names_schemas |= match &*key {
            "$id" | "id" => depth > 1,
            "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" => true,
            _ => false,
        };
        self.push(TapeKind::String(key));
        if self.skip_space() != Some(b':') {
            return Err(self.invalid("':' is expected"));
        }
        self.pos += 1;
        Ok(())
    }

    /// Ends a container and, in an object, looks for duplicate keys.
    fn close(&mut self, container: u32) -> Result<()> {
        let end = self.tape.nodes.len() as u32;
        self.tape.nodes[container as usize].end = end;
        let n = match self.tape.nodes[container as usize].kind {
            TapeKind::Object(n) => n,
            TapeKind::Array(n) if n > WIDE => {
                let items = self.tape.items(TapeId(container)).map(|i| i.0).collect();
                self.tape.wide.insert(container, items);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let keys = || {
            let mut next = container + 1;
            let tape = &self.tape;
            std::iter::from_fn(move || {
                (next < end).then(|| {
                    let key = next;
                    next = tape.nodes[key as usize + 1].end;
                    key
                })
            })
        };
        let mut twice = None;
        if n <= WIDE {
            // Keys that differ at sight need not be compared.
            let mut seen: SmallVec<[(u32, u32); WIDE as usize]> = SmallVec::new();
            for k in keys() {
                let key = self.tape.key(k);
                let sight = sight(key.as_bytes());
                if seen.iter().any(|s| s.0 == sight && self.tape.key(s.1) == key) {
                    twice = Some(k);
                    break;
                }
                seen.push((sight, k));
            }
        } else {
            let mut sorted: Box<[u32]> = keys().collect();
            sorted.sort_by(|a, b| self.tape.key(*a).cmp(self.tape.key(*b)));
            twice = sorted.windows(2).find(|w| self.tape.key(w[0]) == self.tape.key(w[1])).map(|w| w[1]);
            self.tape.wide.insert(container, sorted);
        }
        match twice {
            None => Ok(()),
            Some(k) => {
                Err(Error::new(ErrorKind::Schema, format!("key {:?} occurs twice in one object", self.tape.key(k)))
                    .at(SourcePlace::Byte(self.place_of(k))))
            }
        }
    }

    /// Where a node of the tape begins in the text that was read so far. Nodes stand in the order of the text, one for
    /// each container, key and scalar.
    fn place_of(&self, node: u32) -> usize {
        let (mut at, mut before) = (if self.bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }, 0);
        while let Some(&b) = self.bytes.get(at) {
            let begins = !matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' | b']' | b'}');
            if begins && before == node {
                break;
            }
            before += u32::from(begins);
            let rest = &self.bytes[at + 1..];
            let length = match b {
                b'"' => {
                    let mut escaped = false;
                    let end = rest.iter().position(|&b| {
                        let ends = b == b'"' && !escaped;
                        escaped = b == b'\\' && !escaped;
                        ends
                    });
                    end.map_or(rest.len(), |end| end + 1)
                }
                b'{' | b'[' => 0,
                _ if begins => rest.iter().position(|b| b" \n\r\t,:]}".contains(b)).unwrap_or(rest.len()),
                _ => 0,
            };
            at += 1 + length;
        }
        at
    }

    fn skip_space(&mut self) -> Option<u8> {
        while let Some(&b) = self.bytes.get(self.pos) {
            if !matches!(b, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(b);
            }
            self.pos += 1;
        }
        None
    }

    /// A string, from its opening quote.
    fn quoted(&mut self) -> Result<Cow<'t, str>> {
        self.pos += 1;
        let mut from = self.pos;
        let mut unescaped: Option<String> = None;
        loop {
            self.pos += plain_run(self.bytes.get(self.pos..).unwrap_or_default());
            match self.bytes.get(self.pos) {
                Some(b'"') => {
                    // Quotes and backslashes are ASCII, so both ends are character boundaries.
                    let tail = self.text.get(from..self.pos).unwrap_or_default();
                    self.pos += 1;
                    return Ok(match unescaped {
                        None => Cow::Borrowed(tail),
                        Some(s) => Cow::Owned(s + tail),
                    });
                }
                Some(b'\\') => {
                    // What is escaped once mostly is again.
                    let s = unescaped.get_or_insert_with(|| String::with_capacity((self.pos - from) * 2 + 32));
                    s.push_str(self.text.get(from..self.pos).unwrap_or_default());
                    let c = self.escape()?;
                    unescaped.get_or_insert_default().push(c);
                    from = self.pos;
                }
                Some(0x00..=0x1f) => return Err(self.invalid("a control character in a string must be escaped")),
                Some(_) => self.pos += 1,
                None => return Err(self.invalid("a string is not closed")),
            }
        }
    }

    /// An escape, from its backslash.
    fn escape(&mut self) -> Result<char> {
        let c = match self.bytes.get(self.pos + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.escaped_unit(),
            _ => return Err(self.invalid("an escape is not known")),
        };
        self.pos += 2;
        Ok(c)
    }

    /// `\uXXXX`, or two of them for a character beyond the basic plane.
    fn escaped_unit(&mut self) -> Result<char> {
        let Some(high) = self.hex4(self.pos + 2) else { return Err(self.invalid("an escape needs four hex digits")) };
        let is_pair = (0xd800..0xdc00).contains(&high) && self.bytes[self.pos + 6..].starts_with(b"\\u");
        let low = if is_pair { self.hex4(self.pos + 8).filter(|l| (0xdc00..0xe000).contains(l)) } else { None };
        let code = match low {
            Some(low) => 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
            None => high,
        };
        let Some(c) = char::from_u32(code) else {
            return Err(self.invalid("a lone surrogate is not a character"));
        };
        self.pos += if low.is_some() { 12 } else { 6 };
        Ok(c)
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |n, b| Some(n * 16 + (*b as char).to_digit(16)?))
    }

    fn number(&mut self) -> Result<&'t str> {
        let from = self.pos;
        if self.bytes.get(self.pos) == Some(&b'-') {
            self.pos += 1;
        }
        let leading_zero = self.bytes.get(self.pos) == Some(&b'0');
        if self.digits()? > 1 && leading_zero {
            self.pos = from;
            return Err(self.invalid("a number must not start with 0"));
        }
        if self.bytes.get(self.pos) == Some(&b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.pos), Some(b'e' | b'E')) {
            self.pos += 1;
            if matches!(self.bytes.get(self.pos), Some(b'+' | b'-')) {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(self.text.get(from..self.pos).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<usize> {
        let from = self.pos;
        while matches!(self.bytes.get(self.pos), Some(b'0'..=b'9')) {
            self.pos += 1;
        }
        if self.pos == from { Err(self.invalid("a digit is expected")) } else { Ok(self.pos - from) }
    }

    fn invalid(&self, what: &str) -> Error {
        Error::new(ErrorKind::Schema, format!("the schema is not JSON: {what}")).at(SourcePlace::Byte(self.pos))
    }
}

#[cfg(test)]
mod tests;
