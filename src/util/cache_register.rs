//! The register of caches: what is kept, by which key, for whom, and in how many bytes.
//!
//! A [`BoundedCache`](crate::util::bounded_cache::BoundedCache) is declared with its row of this table. Whoever wants
//! to know what the engine remembers reads it here; `docs/internals/mask-caches.md` has the same table with what each
//! row brings, measured by taking one cache away at a time (the feature `ablation`,
//! `benches/rust/src/bin/ablation.rs`).

/// Who shares the entries of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBy {
    /// All indexes over a vocabulary.
    Vocabulary,
    /// All guides of an index.
    Index,
}

/// A row of the register.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredCache {
    /// A word or two, as in the docs and in the ablation.
    pub name: &'static str,
    /// What is kept.
    pub value: &'static str,
    /// What it is kept by.
    pub key: &'static str,
    /// Who shares it.
    pub shared_by: SharedBy,
    /// Bytes of entries, at most. A fuller table is set aside and a new one begun.
    pub most_bytes: usize,
    /// Entries that the first table has room for; 0 where it grows from nothing. A table that grows puts all of its
    /// keys in order anew.
    pub first_entries: usize,
}

macro_rules! register {
    ($($id:ident: $name:literal, $value:literal by $key:literal, $shared:ident, $most:expr, $first:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Row { $($id),* }
        $(
            #[doc = concat!("The row of the cache \"", $name, "\": ", $value, ".")]
            pub const $id: usize = Row::$id as usize;
        )*
        /// Every cache that is bounded in bytes.
        pub const CACHES: &[RegisteredCache] = &[$(RegisteredCache {
            name: $name,
            value: $value,
            key: $key,
            shared_by: SharedBy::$shared,
            most_bytes: $most,
            first_entries: $first,
        }),*];
    };
}

/// What a value of a member takes, its suffixes on average.
pub const MEMBER_VALUE_BYTES: usize = 768;

register! {
    // Lexemes.
    CHARACTER_SETS: "character sets", "tokens whose characters lie in a set" by "length and set",
        Vocabulary, 8 << 20, 0;
    CHARACTER_ROWS: "character rows", "lists of tokens that hold a character of a set" by "set",
        Vocabulary, 2 << 20, 0;
    // Documents.
    CROSSING_TOKENS: "crossing tokens", "tokens that cross the end of a lexeme" by "what the walk found",
        Vocabulary, 4 << 20, 0;
    PATCHES: "patches", "allowed crossing tokens" by "crossing tokens and viable suffixes",
        Vocabulary, 32 << 20, 0;
    PARTIAL_NAMES: "partial names", "masks inside the names of members" by "what is left of the names",
        Vocabulary, 1 << 20, 0;
    MEMBER_VALUES: "member values", "suffixes that may follow a name" by "signatures of the value's rules",
        Vocabulary, 1_024 * MEMBER_VALUE_BYTES, 0;
    // A thousand rows for 128,000 tokens.
    FINISHED_ROWS: "finished rows", "rows of masks" by "ingredients of the mask",
        Vocabulary, 16 << 20, 0;
    MASKS: "masks", "compositions of masks" by "what one token can see of a configuration",
        Index, 3 << 20, 56;
    STACK_NUMBERS: "stack numbers", "numbers of stacks" by "description of the frames below",
        Index, 512 << 10, 0;
    SUFFIXES: "suffixes", "suffixes that may follow a value" by "what one token can see of a configuration",
        Index, 512 << 10, 28;
    NAMES: "names", "places among the names of an object" by "names in view and what was spelled",
        Index, 1 << 20, 14;
    FORCED_RUNS: "forced runs", "bytes that must come next" by "description of a configuration",
        Index, 1 << 20, 0;
    // A few hundred rows for 128,000 tokens.
    TEXT_ENDS: "text ends", "tokens by what they leave to write in a string" by "lexeme, state and length",
        Index, 8 << 20, 0;
    BOUNDS_AFTER_TOKENS: "bounds after tokens", "what completes a document behind each of few tokens"
        by "description of a configuration",
        Index, 4 << 20, 0;
    // Grammars.
    GRAMMAR_ROWS: "grammar rows", "masks of grammars" by "scanner state and the symbols in view",
        Index, 16 << 20, 0;
    ROW_CONTENTS: "row contents", "rows of masks of grammars" by "the row itself",
        Index, 8 << 20, 0;
    PAST_DOCUMENTS: "tokens past documents", "tokens that run past the end of a document"
        by "what one token can see of the document and the symbols in view",
        Index, 2 << 20, 0;
    GRAMMAR_GROWTHS: "grammar growths", "how much a token can grow the stack" by "what decides a row",
        Index, 1 << 20, 0;
    EXITS: "exits", "what tokens spell behind the end of a terminal" by "scanner state and terminals that follow",
        Index, 10 << 20, 0;
    SEGMENTS: "segments", "what tokens spell in the next terminal" by "node of a trie and scanner state",
        Index, 4 << 20, 0;
    CLOSURES: "closures", "reductions before a terminal" by "terminal and the symbols in view",
        Index, 4 << 20, 0;
    OBLIGED_STATES: "obliged states", "scanner states with promises" by "state and promises",
        Index, 1 << 20, 0;
    ENDS_AHEAD: "ends ahead", "terminals that can end" by "scanner state",
        Index, 2 << 20, 0;
    SEPARATED_ENDS: "separated ends", "by how many bytes terminals end" by "scanner state",
        Index, 1 << 20, 0;
    COMPLETABLE_BRANCHES: "completable branches", "branches that can be completed"
        by "scanner state and symbols in view",
        Index, 1 << 20, 0;
}

#[cfg(feature = "ablation")]
static ABSENT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Keeps nothing in the caches whose bits are set, from now on and in new indexes.
#[cfg(feature = "ablation")]
pub fn take_away(rows: u64) {
    ABSENT.store(rows, std::sync::atomic::Ordering::Relaxed);
}

/// Whether a cache was taken away for a measurement.
#[inline]
pub(crate) fn is_absent(row: usize) -> bool {
    #[cfg(feature = "ablation")]
    return ABSENT.load(std::sync::atomic::Ordering::Relaxed) >> row & 1 == 1;
    #[cfg(not(feature = "ablation"))]
    {
        let _ = row;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_row() {
        let page = include_str!("../../docs/internals/mask-caches.md");
        for RegisteredCache { name, value, key, shared_by, most_bytes, .. } in CACHES {
            let shared = format!("{shared_by:?}").to_lowercase();
            let size = match most_bytes % (1 << 20) {
                0 => format!("{} MiB", most_bytes >> 20),
                _ => format!("{} KiB", most_bytes >> 10),
            };
            let row = format!("| {name} | {value} | {key} | {shared} | {size} |");
            assert!(page.contains(&row), "docs/internals/mask-caches.md lacks {row}");
        }
        // What each brings stands in a table of its own, as far as it was measured.
        let gains = page.split("| cache | compile p50 |").nth(1).expect("the table of what each cache brings");
        let named = gains.lines().skip(2).map_while(|line| line.strip_prefix("| ")?.split(" |").next());
        let named: Vec<&str> = named.collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            assert!(CACHES.iter().any(|row| row.name == name), "the register lacks {name}");
        }
        // One bit for each in the ablation.
        assert!(CACHES.len() <= 64);
    }
}
