//! The piece that is open at the end of a forced run: which of its tokens hold whatever follows.
//!
//! A tokenizer cuts text into pieces and makes tokens of each. Where a run ends in the middle of a piece, or where its
//! last piece may still grow, the permitted continuations decide how that piece goes on. There are too many to try,
//! but few ways in which they can matter:
//!
//! * The piece may end inside of what is known of it. Only few patterns allow that, and seldom. Then the tokens of
//!   each part in which it may end count, and nothing is known of what follows them.
//! * The piece may end with the run: its tokens are those of a complete piece.
//! * It may go on. Its tokens are then those that merging makes of some beginning of it, followed by one token that
//!   reaches the end of the run or passes it. So each beginning counts for which there is such a token: one that the
//!   vocabulary has, whose bytes beyond the run are permitted, which lies inside one piece, and which merging puts
//!   behind the tokens of that beginning. Where more bytes are forced behind it, and they end the piece, merging has
//!   to put it there in the whole piece too.
//!
//! What all of these have in common is certain. The answer is exact in one direction: a beginning that counts although
//! no permitted continuation brings it about makes the answer shorter, never wrong. Where the search takes too many
//! steps, a beginning counts.

use crate::guide::Guide;
use crate::guide::forced::forced_bytes::ForcedScan;
use crate::vocab::{NextText, TokenizerModel, Vocabulary};

/// The longest piece that is looked at, in bytes: merging takes quadratic time.
const MAX_OPEN: usize = 128;
/// Bytes of tokens that are stepped for one answer.
const MAX_STEPS: usize = 20_000;
/// Tokens that are tried for one answer.
const MAX_TRIED: usize = 400;
/// Forced bytes that are looked for behind a token.
const MAX_BEHIND: usize = 24;
/// Tokens behind which forced bytes are looked for, for one answer: each byte costs a look at every byte.
const MAX_LOOKS: usize = 16;

/// What some lists of tokens have in common.
#[derive(Default)]
struct CommonTokens(Option<Vec<u32>>);

impl CommonTokens {
    fn keep(&mut self, tokens: Vec<u32>) {
        match &mut self.0 {
            None => self.0 = Some(tokens),
            Some(common) => {
                let same = common.iter().zip(&tokens).take_while(|(a, b)| a == b).count();
                common.truncate(same);
            }
        }
    }

    /// Whether a list makes no difference.
    fn is_met_by(&self, tokens: &[u32]) -> bool {
        self.0.as_ref().is_some_and(|common| tokens.starts_with(common))
    }
}

/// A search for a token that passes the end of a run.
struct PieceSearch<'a, 'b> {
    vocabulary: &'a Vocabulary,
    model: &'a TokenizerModel,
    ahead: &'a mut ForcedScan<'b>,
    /// What is known of the piece.
    open: &'a [u8],
    /// The position at the end of the run.
    end: u32,
    steps: usize,
    tried: usize,
    looks: usize,
}

impl Guide {
    /// The tokens with which every permitted continuation begins the piece that begins with `open`. The last bytes of
    /// `open` are those of the run, all of which is known.
    pub(crate) fn open_tokens(&mut self, open: &[u8], run: &[u8]) -> Vec<u32> {
        let index = self.index.clone();
        let vocabulary = index.vocabulary();
        let Some(model) = vocabulary.model().filter(|_| open.len() <= MAX_OPEN) else { return Vec::new() };
        let found = self.look_ahead(|ahead, at| {
            let end = run.iter().try_fold(at, |at, &byte| ahead.step(at, byte))?;
            PieceSearch { vocabulary, model, ahead, open, end, steps: MAX_STEPS, tried: MAX_TRIED, looks: MAX_LOOKS }
                .common()
        });
        found.flatten().unwrap_or_default()
    }
}

impl PieceSearch<'_, '_> {
    fn common(&mut self) -> Option<Vec<u32>> {
        let (model, open) = (self.model, self.open);
        let mut common = CommonTokens::default();
        common.keep(model.piece(open)?);
        if model.may_shrink(open) {
            for end in 1..open.len() {
                common.keep(model.piece(open.get(..end)?)?);
            }
        }
        for start in 0..=open.len() {
            if !model.may_end(open, start) {
                continue;
            }
            let before = model.merge(open.get(..start)?)?;
            if !common.is_met_by(&before) && (start == open.len() || self.is_passed(start, &before)) {
                common.keep(before);
            }
        }
        common.0
    }

    /// Whether a token may begin at `start` in the open piece, behind the tokens `before`, and pass the end of the run.
    fn is_passed(&mut self, start: usize, before: &[u32]) -> bool {
        let trie = self.vocabulary.trie();
        let Some(node) = self.open.get(start..).and_then(|known| trie.find(0, known)) else { return false };
        if self.may_compose(self.end) {
            return true;
        }
        let mut text = self.open.to_vec();
        let mut places = vec![self.end];
        let base = trie.depth[node as usize];
        let mut i = node + 1;
        while i < trie.end[node as usize] {
            let depth = usize::from(trie.depth[i as usize] - base);
            places.truncate(depth);
            text.truncate(self.open.len() + depth - 1);
            let Some(&from) = places.last() else { return true };
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 {
                return true;
            }
            let byte = trie.byte[i as usize];
            let Some(to) = self.ahead.step(from, byte) else {
                i = trie.end[i as usize];
                continue;
            };
            if self.may_compose(to) {
                return true;
            }
            places.push(to);
            text.push(byte);
            if depth == 1 && self.is_cut(&text, start) {
                i = trie.end[i as usize];
                continue;
            }
            if trie
                .tokens(i)
                .iter()
                .any(|&id| self.fits(id, &text, start, before) && !self.is_refuted(id, &text, before, to))
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether the token `id`, which spells `text` from `start` on, lies inside one piece and is what merging puts
    /// behind `before`.
    fn fits(&mut self, id: u32, text: &[u8], start: usize, before: &[u32]) -> bool {
        let Some(bytes) = text.get(start..).filter(|bytes| self.model.makes(id, bytes)) else { return false };
        self.tried = self.tried.saturating_sub(1);
        if self.tried == 0 {
            return true;
        }
        if self.is_cut(text, start) {
            return false;
        }
        // A piece that is a token as a whole need not be what merging makes.
        let whole = start == 0 && self.model.takes_whole() && !bytes.is_empty();
        whole || self.model.merge(text).is_none_or(|all| all.split_last() == Some((&id, before)))
    }

    /// Whether a piece certainly ends inside of what follows `start`.
    fn is_cut(&self, text: &[u8], start: usize) -> bool {
        self.model.pieces(text, NextText::Any).ends.iter().any(|&end| start < end && end < text.len())
    }

    /// Whether what is forced behind `text`, which ends with the token `id` and leads to `at`, ends its piece, and
    /// merging makes other tokens of that.
    fn is_refuted(&mut self, id: u32, text: &[u8], before: &[u32], mut at: u32) -> bool {
        self.looks = self.looks.saturating_sub(1);
        let mut known = text.to_vec();
        while self.looks > 0 && known.len() < text.len() + MAX_BEHIND && !self.ahead.is_accepting(at) {
            let mut live = (0..=255u8).filter_map(|b| Some((b, self.ahead.step(at, b)?)));
            let (Some((byte, to)), None) = (live.next(), live.next()) else { break };
            known.push(byte);
            at = to;
        }
        let ends = self.model.pieces(&known, NextText::Any).ends;
        let piece = ends.first().filter(|&&end| end >= text.len()).and_then(|&end| known.get(..end));
        let Some(all) = piece.and_then(|piece| self.model.piece(piece)) else { return false };
        all.strip_prefix(before).is_none_or(|behind| behind.first() != Some(&id))
    }

    /// Whether what may follow a position may be changed by normal form C: then its bytes are not those of the text.
    fn may_compose(&mut self, at: u32) -> bool {
        if !self.model.composes() {
            return false;
        }
        self.steps = self.steps.saturating_sub(256);
        (0..=255u8).any(|byte| {
            let Some(to) = self.ahead.step(at, byte) else { return false };
            !byte.is_ascii()
                || self.model.may_compose(byte) && (0x80..=255).any(|mark| self.ahead.step(to, mark).is_some())
        })
    }
}
