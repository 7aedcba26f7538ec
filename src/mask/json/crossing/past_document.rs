//! Tokens that run past the end of a document inside the output of a grammar.
//!
//! The cache key of a mask (see `cache_key`) leaves out what no token can tell, and the tables behind it are read off
//! suffixes that a document may contain. A token that runs past a document's end need not spell such a suffix: behind
//! the end anything may follow. What it spells of the document is the part in front.

use crate::mask::json::crossing::plausible::{ends_object_behind_key, implausible_from, string_end};
use crate::mask::json::crossing::signature_scope::SignatureScope;
use crate::mask::json::crossing::suffix_keys::KeyTexts;
use crate::mask::json::crossing::suffixes::SuffixTrie;
use crate::vocab::{Trie, Vocabulary};

/// Bytes of a token.
const LONGEST: usize = 1_024;

/// The part of a suffix that may be the end of a document: as much as a document may contain, without a string that
/// does not end.
pub(crate) fn end_of_document(rest: &[u8]) -> &[u8] {
    let (part, mut at) = (&rest[..implausible_from(rest).unwrap_or(rest.len())], 0);
    while let Some(quote) = part[at..].iter().position(|&byte| byte == b'"') {
        match string_end(&part[at + quote + 1..]) {
            Some(Some(length)) => at += quote + 1 + length,
            _ => return &part[..at + quote],
        }
    }
    part
}

/// Whether tokens that run past the end of a document can tell no more of it than those that stay inside.
pub(crate) fn tells_no_more(vocabulary: &Vocabulary, suffixes: &SuffixTrie) -> bool {
    let mut more: Vec<(&[u8], u32)> = Vec::new();
    let mut ends_object = false;
    for bytes in (0..vocabulary.len() as u32).filter_map(|id| vocabulary.spelling(id)) {
        // All suffixes of very long tokens would take long.
        if bytes.len() > LONGEST {
            return false;
        }
        for at in 0..bytes.len() {
            // A suffix begins where something ends or nothing has begun; all others cost nothing but time.
            if !matches!(bytes[at], b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"') {
                continue;
            }
            let (rest, part) = (&bytes[at..], end_of_document(&bytes[at..]));
            if part.len() > 1 && part.len() < rest.len() {
                more.push((part, 0));
            }
        }
        for at in (0..bytes.len()).filter(|&at| bytes[at] == b'"') {
            ends_object |= ends_object_behind_key(end_of_document(&bytes[at + 1..]));
        }
    }
    let all = KeyTexts::new(more.iter().map(|&(part, _)| part), std::iter::empty());
    let known = &suffixes.keys;
    let Ok(trie) = Trie::build(&mut more) else { return false };
    let (scope, insight) = (SignatureScope::from_suffixes(&trie), suffixes.insight);
    all.is_among(known)
        && (known.ends_object || !ends_object)
        && scope.brackets <= insight.brackets
        && (insight.keys || !scope.keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_whole_strings_only() {
        for (rest, part) in [
            (&b"}}</tool>"[..], &b"}}"[..]),
            (b",\"a\":1}<", b",\"a\":1}"),
            (b",\"a", b","),
            (b"]x\"", b"]"),
            (b"<", b""),
            (b"}\n\n<", b"}\n\n"),
        ] {
            assert_eq!(end_of_document(rest), part, "{rest:?}");
        }
    }
}
