//! What a guide may be given when it is made.

/// What a request brings.
#[derive(Clone, Debug, Default)]
pub struct GuideOptions {
    /// The ids that end this request's output; the vocabulary's own by default.
    pub stop_token_ids: Option<Vec<u32>>,
    /// The output is complete within so many tokens, the stop token not counted.
    pub max_tokens: Option<usize>,
    /// The tokens before the output, from the start of the text or at least from a special token on; they matter to
    /// [`Guide::forced_tokens`](crate::Guide::forced_tokens) only. Without them the output begins as after a special
    /// token.
    pub context_ids: Option<Vec<u32>>,
    /// No stop token is allowed before so many tokens, as long as another token may follow. Where none may, the output
    /// ends earlier.
    pub min_tokens: usize,
    /// Where [`Guide::forced_tokens`](crate::Guide::forced_tokens) says which token comes next, only that one is
    /// allowed, though other tokens may spell the same bytes.
    pub canonical_forced: bool,
}
