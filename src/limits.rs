//! Every bound on work, in one place, with its default and the reason for it.
//!
//! Limits count work, never time, so that the same input gives the same answer on every machine. They belong to one
//! compile: one request cannot spend another's budget. They fire while compiling, with the limit and the value.

/// Bounds on the work of one compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Bytes of a source text. 64 MiB: the largest schema of MaskBench has 1.9 MB.
    pub max_source_bytes: usize,
    /// Nesting of groups in a pattern or of values in a schema.
    pub max_depth: usize,
    /// Nodes of the expression arena. 1.5 million nodes are about 100 MB.
    pub max_expr_nodes: usize,
    /// States explored eagerly to decide which states are live, where intersection or complement make that
    /// necessary. A state costs about 2 us.
    pub max_explored_states: usize,
    /// States of a pattern explored where the vocabulary lacks tokens of single bytes that the pattern uses: from every
    /// state a path of tokens must lead to the end. A state costs about 2 us, and a walk of the trie where single
    /// bytes do not lead on.
    pub max_token_states: usize,
    /// Bytes of tokens stepped by those walks. 50 million take about a second.
    pub max_token_steps: usize,
    /// Configurations explored to flatten an index, to search its language or to compare it with another; pairs of them
    /// where two are compared. One costs about 5 us and 300 bytes.
    pub max_flat_states: usize,
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
            max_source_bytes: 64 << 20,
            max_depth: 1_000,
            max_expr_nodes: 1_500_000,
            max_explored_states: 30_000,
            max_token_states: 200_000,
            max_token_steps: 50_000_000,
            max_flat_states: 200_000,
            max_alternatives: 12_288,
            max_rules: 100_000,
            max_algebra_steps: 3_000_000,
        }
    }
}
