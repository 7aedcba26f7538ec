//! Text from outside: what the host gives a guide as the next part of its output.
//!
//! A tool's result stands in the output between what the model wrote, and is no part of the grammar. While such text is
//! due, it is the only one allowed, token by token; the position in the grammar stays what it was. Its tokens are in
//! the history like all others, so going back, forks and drafts need no knowledge of it.

use crate::error::{Error, ErrorKind, Result};
use crate::guide::Guide;
use crate::guide::host_text_log::{HostText, OutsidePart};
use crate::vocab::{NextText, Vocabulary};

impl Guide {
    /// Makes these parts the text that must come next. Text is spelled as the tokenizer spells it where the vocabulary
    /// has one of a known kind, and by as few tokens as there are elsewhere. A stop token, given by its id, ends
    /// nothing. Behind it the output goes on where it stood; it may come wherever the guide is, also where the output
    /// could end. Going back before this place drops it.
    ///
    /// # Errors
    /// `Argument` if a text cannot be spelled, a token does not exist, or the guide is terminated. Then nothing is
    /// changed.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{GuideOptions, Index, Limits, OutsidePart, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// let mut guide = index.guide(&GuideOptions::default())?;
    /// guide.advance_many(&[97, 98]);
    /// guide.force(&[OutsidePart::Text(b"!?".to_vec())])?;
    /// assert_eq!(guide.allowed_token_ids(), [33]);
    /// assert_eq!(guide.advance_many(&[33, 63, 97]), 3, "behind it the pattern goes on");
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn force(&mut self, parts: &[OutsidePart]) -> Result<()> {
        let argument = |message: String| Err(Error::new(ErrorKind::Argument, message));
        if self.terminated {
            return argument("nothing can be forced: the output has ended".to_owned());
        }
        let vocabulary = self.root.vocabulary().clone();
        let mut tokens: Vec<u32> = Vec::new();
        if let Some(due) = self.due() {
            tokens.extend_from_slice(due);
        }
        for part in parts {
            match part {
                OutsidePart::Token(id) if *id as usize >= vocabulary.size() => {
                    return argument(format!("token id {id} is out of range: the size is {}", vocabulary.size()));
                }
                OutsidePart::Token(id) => tokens.push(*id),
                OutsidePart::Text(text) => match spell(&vocabulary, text) {
                    Some(spelled) if spelled.iter().any(|id| self.stops.contains(id)) => {
                        return argument("the text is spelled with a token that ends the output".to_owned());
                    }
                    Some(spelled) => tokens.extend(spelled),
                    None => return argument("no tokens of the vocabulary spell this text".to_owned()),
                },
            }
        }
        if tokens.is_empty() {
            return Ok(());
        }
        let since = self.history.len();
        // What is due already is due with it.
        if let Some(last) = self.outside.last_mut()
            && last.since + last.tokens.len() > since
        {
            let taken = since - last.since;
            last.tokens = last.tokens[..taken].iter().copied().chain(tokens).collect();
        } else {
            self.outside.push(HostText { since, tokens: tokens.into() });
        }
        self.last_changed();
        Ok(())
    }

    /// What must come next of a text from outside.
    #[inline]
    pub(super) fn due(&self) -> Option<&[u32]> {
        let last = self.outside.last()?;
        let taken = self.history.len().checked_sub(last.since)?;
        last.tokens.get(taken..).filter(|due| !due.is_empty())
    }

    /// The token that must come next by a text from outside.
    #[inline]
    pub(super) fn due_token(&self) -> Option<u32> {
        self.due().map(|due| due[0])
    }

    /// The tokens that must come next by a text from outside, as bytes. Empty if there are none.
    pub(super) fn due_bytes(&self) -> Vec<u8> {
        let vocabulary = self.root.vocabulary();
        let due = self.due().unwrap_or_default();
        due.iter().flat_map(|&id| vocabulary.spelling(id).unwrap_or_default().to_vec()).collect()
    }

    /// How many tokens were taken that did not come from outside.
    #[inline]
    pub(super) fn own_tokens(&self) -> usize {
        let taken = self.history.len();
        let outside: usize = self.outside.iter().map(|one| one.tokens.len().min(taken.saturating_sub(one.since))).sum();
        taken - outside
    }

    /// Takes the token that is due.
    pub(super) fn take_due(&mut self, id: u32) {
        let place = self.position_and_mark();
        self.history.push(id, place);
        // It costs nothing of a budget.
        if let Some(budget) = &mut self.budget
            && let Some(last) = budget.reserves.last().cloned()
        {
            budget.reserves.push(last);
        }
        self.last_changed();
    }

    /// Whether a token of the history came from outside.
    pub(super) fn is_forced_from_outside(&self, at: usize) -> bool {
        let before = self.outside.partition_point(|one| one.since <= at);
        before > 0 && at < self.outside[before - 1].since + self.outside[before - 1].tokens.len()
    }

    /// Drops what was asked for behind more tokens than are left.
    pub(super) fn drop_outside(&mut self, keep: usize) {
        while self.outside.pop_if(|one| one.since > keep).is_some() {}
    }

    /// The texts from outside that were taken as a whole, from one on, each with the number of tokens before it.
    pub(super) fn forced_pieces(&self, from: usize) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let vocabulary = self.root.vocabulary();
        let whole = self.outside.iter().filter(|one| one.since + one.tokens.len() <= self.history.len());
        whole.skip(from).map(|one| {
            let shown = one.tokens.iter().flat_map(|&id| vocabulary.token_bytes(id).unwrap_or_default().to_vec());
            (one.since, shown.collect())
        })
    }

    /// What was kept of the last mask and the last run does not hold any more.
    fn last_changed(&mut self) {
        self.canonical = None;
        self.run = None;
    }
}

/// Tokens that spell a text as the tokenizer does, or as few as there are where it is of no known kind.
fn spell(vocabulary: &Vocabulary, text: &[u8]) -> Option<Vec<u32>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    if let Some(model) = vocabulary.model() {
        let cut = model.pieces(text, NextText::Nothing);
        let (tokens, whole) = model.encode(text, &cut.ends);
        let spelled: Vec<u8> =
            tokens.iter().flat_map(|&id| vocabulary.spelling(id).unwrap_or_default().to_vec()).collect();
        if whole && spelled == text {
            return Some(tokens);
        }
    }
    fewest(vocabulary, text)
}

/// The fewest tokens that spell a text.
fn fewest(vocabulary: &Vocabulary, text: &[u8]) -> Option<Vec<u32>> {
    let trie = vocabulary.trie();
    let prefixes = |text: &[u8]| {
        let (mut out, mut node) = (Vec::new(), 0);
        for (&byte, len) in text.iter().zip(1..) {
            let Some(next) = trie.child(node, byte) else { break };
            node = next;
            out.extend(trie.tokens(node).first().map(|&token| (len, token)));
        }
        out
    };
    // By place the token that leads to the end from there, found from the end on.
    let mut best: Vec<Option<(u32, u32, usize)>> = vec![None; text.len() + 1];
    best[text.len()] = Some((0, 0, 0));
    for at in (0..text.len()).rev() {
        for (len, token) in prefixes(&text[at..]) {
            let Some((count, ..)) = best[at + len] else { continue };
            if best[at].is_none_or(|(fewest, ..)| count + 1 < fewest) {
                best[at] = Some((count + 1, token, len));
            }
        }
    }
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let (_, token, len) = best[at]?;
        out.push(token);
        at += len;
    }
    Some(out)
}
