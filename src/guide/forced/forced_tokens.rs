//! Forced tokens: those that the tokenizer itself makes of the text, whatever permitted text follows.
//!
//! A forced run says which bytes come; it does not say which tokens a model would spell them with. A model that is
//! given other tokens than its tokenizer makes sees text that it was never trained on. So a token is forced only if
//! it is *canonical* (the tokenizer makes it of the whole text) and *stable* (of every permitted whole text):
//!
//! * The text is what was taken since the last place at which a piece certainly began, and the forced run. Its
//!   certain pieces have certain tokens. Where nothing can follow the run, all of its pieces are certain.
//! * Of the piece that is open at the end of the run, the tokens with which every permitted continuation begins it are
//!   certain, see [`open`](crate::guide::forced::open_piece).
//! * The tokens that were taken since that place must be the first of the certain ones. If they are not, then the
//!   output was spelled in another way, and nothing is forced until a piece begins where a token does.
//! * What follows them, inside the run and allowed by the guide, is forced.
//!
//! The place moves on as text is taken, so the cost does not grow with the length of the output. It counts for as
//! long as the tokens are taken that made it certain. The place at the start is behind the last special or added token
//! of the context; without a context, the output begins a piece.

pub(crate) use crate::guide::last_answers::PieceStart;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::guide::Guide;
use crate::guide::GuideOptions;
use crate::guide::forced::forced_bytes;
use crate::index::{Index, IndexEngine};
use crate::util::bits::has_at_most;
use crate::vocab::NextText;

/// A longer run is used up to here, so that taking it token by token does not take quadratic time.
const MAX_RUN: usize = 4096;
/// With so many certain tokens no special one behind them is looked for.
const MAX_CERTAIN: usize = 1024;
/// The longest text that is cut into pieces at once.
const MAX_TEXT: usize = 1 << 22;

impl Index {
    /// The tokens before a guide's output, all of which must be ids of the vocabulary.
    pub(crate) fn checked_context(&self, options: &GuideOptions) -> Result<Arc<[u32]>> {
        let (context, size) = (options.context_ids.as_deref().unwrap_or_default(), self.vocabulary().size());
        if let Some(at) = context.iter().position(|&id| id as usize >= size) {
            let message = format!("context_ids[{at}] is no id of the vocabulary, whose size is {size}");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(context.into())
    }
}

impl Guide {
    /// The tokens that must come next: the tokenizer makes them of every permitted output, so a model need not be
    /// asked. Exact or empty: empty where there is a choice, where the tokens so far are not those that the tokenizer
    /// makes of the text since the last certain piece, and for a vocabulary without a tokenizer's model. With every
    /// vocabulary a special token is certain that is the only one allowed.
    ///
    /// # Cost
    /// That of the forced run at first, and of encoding it and what follows the last certain piece; and a walk of the
    /// tokens, at most some ten thousand bytes of them, that may pass the end of the run. Where a grammar has special
    /// tokens, a mask as well.
    pub fn forced_tokens(&mut self) -> Vec<u32> {
        if let Some(due) = self.due() {
            return due.to_vec();
        }
        let mut tokens = self.certain_tokens().unwrap_or_default();
        // Going back forgets the run, which is that of this position.
        let (run, canonical) = (self.run.clone(), self.canonical);
        let allowed = tokens.iter().take_while(|&&id| self.take(id)).count();
        let mut is_whole = allowed == tokens.len();
        tokens.truncate(allowed);
        while is_whole
            && tokens.len() < MAX_CERTAIN
            && let Some(special) = self.sole_special().filter(|&id| self.take(id))
        {
            tokens.push(special);
            let more = self.certain_tokens().unwrap_or_default();
            let allowed = more.iter().take_while(|&&id| self.take(id)).count();
            is_whole = allowed == more.len();
            tokens.extend(&more[..allowed]);
        }
        self.back(tokens.len());
        (self.run, self.canonical) = (run, canonical);
        tokens
    }

    /// The special token that must come next, where a grammar allows nothing else.
    fn sole_special(&mut self) -> Option<u32> {
        let index = self.index.clone();
        let IndexEngine::Grammar(grammar) = &index.0.engine else { return None };
        if grammar.program.token_sets.is_empty() || self.is_terminated() {
            return None;
        }
        let mut row = vec![0; index.vocabulary().words()];
        // All that is allowed: where canonical tokens alone are, the mask would ask for the forced tokens again.
        let canonical_forced = std::mem::replace(&mut self.canonical_forced, false);
        let filled = self.fill_mask(&mut row);
        self.canonical_forced = canonical_forced;
        if !filled || !has_at_most(&row, 1) {
            return None;
        }
        let word = row.iter().position(|&word| word != 0)?;
        let id = word as u32 * 32 + row[word].trailing_zeros();
        let is_part = !self.stops.contains(&id) || (!self.is_accepting() && index.is_last_token(id));
        (index.vocabulary().spelling(id).is_none() && is_part).then_some(id)
    }

    /// [`forced_tokens`](Self::forced_tokens) as they will be once `ids` were taken, a draft for instance. The guide
    /// stays where it is. Empty where some of `ids` is refused.
    ///
    /// # Cost
    /// That of taking `ids` and going back, and that of the forced tokens there.
    pub fn forced_tokens_after(&mut self, ids: &[u32]) -> Vec<u32> {
        self.found_after(ids, Guide::forced_tokens)
    }

    /// What `find` will say once `ids` were taken. The guide stays where it is. Empty where some of `ids` is refused.
    pub(crate) fn found_after(&mut self, ids: &[u32], find: impl FnOnce(&mut Guide) -> Vec<u32>) -> Vec<u32> {
        let (run, canonical) = (self.run.clone(), self.canonical);
        let taken = self.advance_many(ids);
        let found = if taken == ids.len() { find(self) } else { Vec::new() };
        self.back(taken);
        (self.run, self.canonical) = (run, canonical);
        found
    }

    /// After tokens were taken back: forgets the places that they made certain.
    pub(crate) fn forget_places(&mut self) {
        while self.places.last().is_some_and(|p| p.taken > self.history.len()) {
            self.places.pop();
        }
    }

    /// Bytes of the text that this position is in, the run excepted.
    fn bytes_since_special(&self) -> usize {
        let vocabulary = self.index.vocabulary();
        let taken = self.history.iter().rev().map(|step| step.token);
        let spelled = taken.chain(self.context.iter().rev().copied()).map_while(|id| vocabulary.spelling(id));
        spelled.map(<[u8]>::len).sum()
    }

    fn certain_tokens(&mut self) -> Option<Vec<u32>> {
        let index = self.index.clone();
        let vocabulary = index.vocabulary();
        let model = vocabulary.model()?;
        if !self.leave_tables() {
            return None;
        }
        let (run, taken) = self.find_run()?;
        let rest = run.bytes.get(taken..).filter(|rest| !rest.is_empty())?;
        let cut = rest.len() > MAX_RUN || run.bytes.len() >= forced_bytes::MAX_RUN;
        let next = match run.next[..] {
            _ if cut => NextText::Any,
            [] => NextText::Nothing,
            _ if run.next.is_ascii() => NextText::Ascii,
            _ => NextText::Any,
        };
        let rest = rest.get(..MAX_RUN).unwrap_or(rest);

        if model.max_text() < usize::MAX && self.bytes_since_special() > model.max_text() {
            return None;
        }
        let mut place = self.places.last().map_or(0, |p| p.tokens);
        let taken = self.history.iter().map(|s| s.token);
        let ids: Vec<u32> = self.context.iter().copied().chain(taken).collect();
        // An added token ends a text, and so does what the tokenizer makes of none: what follows it begins a piece.
        // Another one that was made special spells nothing in an output, and in a prompt it may be part of a text: then
        // below nothing is certain.
        let merged = |id: u32| vocabulary.token_bytes(id).is_some_and(|bytes| model.makes(id, bytes));
        let fresh = |&id: &u32| model.is_added(id) || vocabulary.spelling(id).is_none() && !merged(id);
        place = ids.get(place..)?.iter().rposition(fresh).map_or(place, |at| place + at + 1);
        let mut text = Vec::new();
        // Where each token since the place begins.
        let mut starts = Vec::new();
        for &id in ids.get(place..)? {
            starts.push(text.len());
            text.extend_from_slice(vocabulary.spelling(id)?);
        }
        let written = text.len();
        if written > MAX_TEXT {
            return None;
        }
        starts.push(written);
        text.extend_from_slice(rest);

        let pieces = model.pieces(&text, next);
        let last = pieces.ends.iter().rev().find_map(|end| starts.binary_search(end).ok()).unwrap_or(0);
        let begin = *starts.get(last)?;
        place += last;
        self.places.push(PieceStart { tokens: place, taken: self.history.len() });
        self.places.dedup_by_key(|p| p.tokens);

        let text = text.split_off(begin);
        let ends: Vec<usize> = pieces.ends.iter().filter_map(|end| end.checked_sub(begin)).filter(|&e| e > 0).collect();
        let (mut certain, all) = model.encode(&text, &ends);
        let open = text.get(ends.last().copied().unwrap_or(0)..).unwrap_or_default();
        if all && pieces.known && !cut && !open.is_empty() {
            certain.extend(self.open_tokens(open, rest));
        }
        let certain = certain.strip_prefix(ids.get(place..)?)?;
        // Tokens that reach beyond the run depend on what is chosen after it.
        let mut left = text.len() - (written - begin);
        let inside = certain.iter().take_while(|&&id| {
            let length = vocabulary.spelling(id).map(<[u8]>::len).filter(|&n| n <= left);
            left -= length.unwrap_or(0);
            length.is_some()
        });
        Some(inside.copied().collect())
    }
}
