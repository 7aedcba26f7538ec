//! What the tokens of a vocabulary spell of keys: behind a comma, and from inside a key to its end.

use crate::json::string_escape::{EscapeState, decode};
use crate::json::whitespace::is_whitespace;
use crate::mask::json::crossing::plausible::ends_object_behind_key;
use crate::util::seeded_hash::SeededSet;

/// What some suffix spells of a key behind a comma.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyText {
    /// The text as it is written, without the quotes.
    pub(crate) text: Box<[u8]>,
    /// The closing quote is part of the suffix.
    pub(crate) complete: bool,
}

impl KeyText {
    /// What stands in front of the first escape, and whether there is one.
    pub(crate) fn plain(&self) -> (&[u8], bool) {
        match self.text.iter().position(|&b| b == b'\\') {
            Some(at) => (&self.text[..at], true),
            None => (&self.text, false),
        }
    }

    /// Whether it may be the whole of the key `name`. True for more where it has escapes.
    pub(crate) fn may_be(&self, name: &[u8]) -> bool {
        let (before, escaped) = self.plain();
        self.complete && if escaped { name.starts_with(before) } else { name == before }
    }
}

impl KeyText {
    /// Whether the key `name` may be it or begin like that, so that a token can tell how many of them are left. Any key
    /// may begin with a backslash, and of classes without end there are always more.
    pub(crate) fn may_begin(&self, name: &[u8]) -> bool {
        match self.complete {
            true => self.may_be(name),
            false => &*self.text != b"\\" && name.starts_with(self.plain().0),
        }
    }
}

/// What the tokens of a vocabulary spell of keys.
#[derive(Default)]
pub struct KeyTexts {
    /// Behind a comma.
    behind_comma: Box<[KeyText]>,
    /// Some token ends a key and spells another one of the same object.
    pub two_keys: bool,
    /// Some token ends a key and its object.
    pub(crate) ends_object: bool,
    /// What tokens spell from inside of a key on to its end, as it decodes.
    pub(crate) ends: SeededSet<Box<[u8]>>,
    /// What they spell from the quote of a key on to its end.
    pub(crate) whole: SeededSet<Box<[u8]>>,
}

impl KeyTexts {
    /// The texts of `suffixes` and of `tokens`, which are all that hold a quote.
    pub fn new<'t>(suffixes: impl Iterator<Item = &'t [u8]>, tokens: impl Iterator<Item = &'t [u8]>) -> KeyTexts {
        let mut texts = KeyTexts::default();
        let mut found = Vec::new();
        for suffix in suffixes {
            texts.ends_object |= ends_object_behind_key(suffix);
            for (at, _) in suffix.iter().enumerate().filter(|(_, b)| **b == b'"') {
                let before = suffix[..at].trim_ascii_end();
                if before.last() != Some(&b',') {
                    continue;
                }
                let (text, complete) = key_text(&suffix[at + 1..]);
                // No key has a control character, and nothing is told where a key has only begun.
                if text.iter().all(|&b| b >= b' ') && (complete || !text.is_empty()) {
                    texts.two_keys |= complete && before.contains(&b':');
                    found.push(KeyText { text: text.into(), complete });
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        texts.behind_comma = found.into();
        for token in tokens {
            let mut quotes = token.iter().enumerate().filter(|(_, b)| **b == b'"');
            texts.ends_object |= quotes.any(|(at, _)| ends_object_behind_key(&token[at + 1..]));
            texts.ends.extend(spelled(token));
            let quoted = token.iter().position(|b| !is_whitespace(*b)).filter(|&at| token[at] == b'"');
            texts.whole.extend(quoted.and_then(|at| spelled(&token[at + 1..])));
        }
        texts
    }

    /// Whether these texts tell nothing that others do not tell as well.
    pub(crate) fn is_among(&self, others: &KeyTexts) -> bool {
        self.behind_comma.iter().all(|text| others.behind_comma.binary_search(text).is_ok())
            && (others.two_keys || !self.two_keys)
            && (others.ends_object || !self.ends_object)
    }

    /// The texts behind a comma that may be the key `name` or its beginning: they begin as it does, with an escape or
    /// not at all.
    pub(crate) fn candidates(&self, name: &[u8]) -> impl Iterator<Item = &KeyText> {
        let all = &self.behind_comma;
        [None, Some(&b'\\'), name.first().filter(|b| **b != b'\\')].into_iter().flat_map(move |first| {
            // They are sorted by their texts.
            let begin = all.partition_point(|t| t.text.first() < first);
            all[begin..].iter().take_while(move |t| t.text.first() == first)
        })
    }
}

/// The text of a key up to its closing quote, if that is there.
pub(crate) fn key_text(bytes: &[u8]) -> (&[u8], bool) {
    let mut escape = false;
    for (i, &b) in bytes.iter().enumerate() {
        match b {
            b'"' if !escape => return (&bytes[..i], true),
            _ => escape = b == b'\\' && !escape,
        }
    }
    (bytes, false)
}

/// What `bytes`, inside a key, decode to up to the closing quote, if they have one.
pub(crate) fn spelled(bytes: &[u8]) -> Option<Box<[u8]>> {
    let (text, _, read) = decode(EscapeState::Plain, bytes.iter().copied());
    read.map(|_| text.into())
}

#[cfg(test)]
mod tests;
