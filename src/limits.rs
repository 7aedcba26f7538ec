//! The bounds on work that a caller may set, and the sizes of the caches, with their defaults and the reasons for them.
//! Bounds of single algorithms stand beside these.
//!
//! Limits count work, never time, so that the same input gives the same answer on every machine. They belong to one
//! compile: one request cannot spend another's budget. What is found in a cache costs nothing, whoever made it. They
//! fire while compiling or answering a question about a language, with the limit, the value and the field;
//! `max_guide_bytes` never does, `max_mask_steps` does at masks and `max_scanner_bytes` at those of grammars, and
//! `max_state_bytes` does where the states that follow a single one are a quarter of it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of lexemes and their masks that one vocabulary's cache holds on to, whoever compiled them, unless
/// [`set_mask_cache_bytes`] says otherwise. Indexes keep their own lexemes alive, so what is forgotten is only compiled
/// again.
pub const CACHE_BYTES: usize = 256 << 20;

static MASK_CACHE_BYTES: AtomicUsize = AtomicUsize::new(CACHE_BYTES);

/// Bounds the bytes of lexemes and their masks that each vocabulary of the process keeps for the indexes to come. It
/// holds from the next compile on. Sources that run may hold as much again, or 128 MiB if that is more; beyond that,
/// what patterns and schemas find is not kept, and compiles and guides of grammars that took much themselves end with
/// `Limit`.
pub fn set_mask_cache_bytes(most: usize) {
    MASK_CACHE_BYTES.store(most, Ordering::Relaxed);
}

/// See [`set_mask_cache_bytes`].
pub fn mask_cache_bytes() -> usize {
    MASK_CACHE_BYTES.load(Ordering::Relaxed)
}

/// Bytes of indexes that one vocabulary's cache holds on to after their compile; see `CompileCache`.
pub const INDEX_BYTES: usize = 64 << 20;

/// Bytes of masks that one lexeme keeps for good: two thousand rows of a vocabulary of 128,000 tokens. Guides hold no
/// masks, so those beyond are kept until [`LATE_MASK_BYTES`] of them are there, and then all made again on demand.
pub const MASK_BYTES: usize = 32 << 20;

/// See [`MASK_BYTES`].
pub const LATE_MASK_BYTES: usize = 8 << 20;

/// Bytes that lexemes and masks take between two times that a vocabulary's cache is measured, and emptied in part if it
/// is too large: an eighth of what it may hold, so that it never holds much more.
pub fn measure_bytes() -> usize {
    mask_cache_bytes() / 8
}

/// Bounds on the work of one compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Bytes of a source text. 16 MiB take about a second; the largest schema of MaskBench has 1.9 MB.
    pub max_source_bytes: usize,
    /// Nesting of groups in a pattern or of values in a schema. Groups nest no deeper than 10,000, values no deeper
    /// than 2,000, whatever this says.
    pub max_depth: usize,
    /// Nodes of the expression arena, and before it of the tree that a pattern is read to. Long lists that nodes and
    /// their rows hold count as more nodes, of 64 bytes; so does what is still to come of a pattern around assertions.
    /// 1.2 million are about 100 MB, and as many bytes again where an index takes along nearly all of them.
    pub max_expr_nodes: usize,
    /// States explored eagerly to decide which states are live, where intersection or complement make that
    /// necessary. Most cost 0.3 us and 80 bytes, the most expensive ones 2 us and 300 bytes: a pattern that needs more
    /// ends within half a second and 100 MB, where passwords of 8 to 64 characters with four look-aheads take 64 ms.
    pub max_explored_states: usize,
    /// States of a pattern explored where the vocabulary lacks tokens of single bytes that the pattern uses: from every
    /// state a path of tokens must lead to the end. A state costs about 2 us, and a walk of the trie where single
    /// bytes do not lead on.
    pub max_token_states: usize,
    /// Bytes of tokens stepped by those walks. 50 million take about a second.
    pub max_token_steps: usize,
    /// Configurations explored to flatten an index, to search its language or to compare it with another; pairs of them
    /// where two are compared. One costs about 5 us and 300 bytes. They are told apart by a description that grows with
    /// nesting, so its bytes are bounded as well: 400 are kept for each configuration that this allows, and 4,000 are
    /// looked at.
    pub max_flat_states: usize,
    /// Steps of one compile in all: values read, states explored, rows merged, lexemes made, steps of algebra. A step
    /// costs about 1 us.
    pub max_compile_steps: usize,
    /// Bytes of states that one lexeme of an index finds on use. When it holds more, it takes no new ones: guides move
    /// to a new, empty copy of it. 16 MiB are some 40,000 states. A guide is lost where the states that follow a single
    /// one take more than a quarter of this, or than eight times the source.
    pub max_state_bytes: usize,
    /// Bytes of history that one guide holds for rolling back, beside what its position needs. When there is more, the
    /// guide lets go of the oldest; rolling back to there takes the tokens again from the start. 16 MiB are the history
    /// of some 30,000 tokens of an everyday schema.
    pub max_guide_bytes: usize,
    /// Steps that one guide may take for masks that nobody has made before, of half a microsecond to one. Each token
    /// gives a fiftieth back. The masks of a program in C take some thousand steps each at first, those of a thousand
    /// tools some ten thousand, and the first ones of Python some hundred thousand; those of schemas and patterns take
    /// fewer, but for counts inside of counts. Masks of grammars end where they have none left, others behind that.
    pub max_mask_steps: usize,
    /// Bytes of states that the terminals of a grammar have side by side in one index, found on use. The grammars that
    /// come with the library take up to 10 MiB, terminals that match each other's texts more.
    pub max_scanner_bytes: usize,
    /// Alternatives of one rule after distribution of `anyOf`, `oneOf`, `not` and the like.
    pub max_alternatives: usize,
    /// Rules (interned conjunctions of schemas) of one index.
    pub max_rules: usize,
    /// Steps of schema algebra in one compile.
    pub max_algebra_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_source_bytes: 16 << 20,
            max_depth: 1_000,
            max_expr_nodes: 1_200_000,
            max_explored_states: 300_000,
            max_token_states: 200_000,
            max_token_steps: 50_000_000,
            max_flat_states: 200_000,
            max_compile_steps: 1_500_000,
            max_state_bytes: 16 << 20,
            max_guide_bytes: 16 << 20,
            max_mask_steps: 1_000_000,
            max_scanner_bytes: 128 << 20,
            max_alternatives: 12_288,
            max_rules: 100_000,
            max_algebra_steps: 3_000_000,
        }
    }
}
