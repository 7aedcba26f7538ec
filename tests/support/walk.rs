//! Walks under a mask: at random, or along a text cut into tokens at random.

use interlock::util::rng::Rng;
use interlock::{Guide, Vocabulary};

use super::twin::{difference, tried_row};

/// How the next token of a walk is chosen.
pub struct Walker {
    rng: Rng,
    /// What is left of a text that the walk follows as long as it is allowed.
    text: Vec<u8>,
    /// Texts that a walk tries now and then: names of keys, in several spellings.
    hints: Vec<&'static str>,
}

impl Walker {
    /// A walk that follows `text` as far as it can and goes on at random.
    pub fn new(seed: u64, text: &[u8]) -> Self {
        Walker { rng: Rng(seed), text: text.to_vec(), hints: Vec::new() }
    }

    /// The same walk, which tries one of `hints` now and then.
    pub fn with_hints(mut self, hints: &[&'static str]) -> Self {
        self.hints = hints.to_vec();
        self
    }

    /// A token out of `allowed`, the ids that the guide's mask allows. Stop tokens are only chosen where nothing else
    /// is.
    pub fn next(&mut self, guide: &Guide, allowed: &[u32]) -> Option<u32> {
        let v = guide.index().vocabulary().clone();
        if self.text.is_empty() && !self.hints.is_empty() && self.rng.chance(30) {
            self.text = self.hints[self.rng.below(self.hints.len())].as_bytes().to_vec();
        }
        if !self.text.is_empty() {
            let fits: Vec<u32> = prefixes(&v, &self.text).into_iter().filter(|t| allowed.contains(t)).collect();
            if !fits.is_empty() && !self.rng.chance(3) {
                let id = if self.rng.chance(50) { fits[fits.len() - 1] } else { *self.rng.pick(&fits) };
                let n = v.spelling(id)?.len();
                self.text.drain(..n);
                return Some(id);
            }
            self.text.clear();
        }
        let spelled: Vec<u32> = allowed.iter().copied().filter(|&t| v.spelling(t).is_some()).collect();
        if spelled.is_empty() {
            return None;
        }
        let structural: Vec<u32> = match self.rng.below(10) {
            0..4 => Vec::new(),
            4..7 => spelled.iter().copied().filter(|&t| has(&v, t, b"\"{}[],:\\")).collect(),
            7 => spelled.iter().copied().filter(|&t| has(&v, t, b"}]\"") && len(&v, t) == 1).collect(),
            8 => spelled.iter().copied().filter(|&t| len(&v, t) == 1).collect(),
            _ => {
                let longest = spelled.iter().map(|&t| len(&v, t)).max().unwrap_or(0);
                spelled.iter().copied().filter(|&t| len(&v, t) * 2 > longest).collect()
            }
        };
        Some(*self.rng.pick(if structural.is_empty() { &spelled } else { &structural }))
    }

    /// The walk's own random numbers.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }
}

fn len(v: &Vocabulary, id: u32) -> usize {
    v.spelling(id).map_or(0, <[u8]>::len)
}

fn has(v: &Vocabulary, id: u32, any: &[u8]) -> bool {
    v.spelling(id).is_some_and(|s| s.iter().any(|b| any.contains(b)))
}

/// The tokens that begin `text`, shortest first.
fn prefixes(v: &Vocabulary, text: &[u8]) -> Vec<u32> {
    let trie = v.trie();
    let (mut node, mut out) = (0, Vec::new());
    for &b in text {
        let Some(child) = trie.child(node, b) else { break };
        node = child;
        out.extend_from_slice(trie.tokens(node));
    }
    out
}

/// Checks that every one of a few allowed tokens leads somewhere: to an end, or to a mask that is not empty. Returns
/// the token that does not.
pub fn dead_end(guide: &Guide, allowed: &[u32], rng: &mut Rng, tries: usize) -> Option<u32> {
    let mut fork = guide.clone();
    for _ in 0..tries.min(allowed.len()) {
        let id = *rng.pick(allowed);
        if !fork.try_advance(id) {
            return Some(id);
        }
        let stuck = !fork.is_terminated() && !fork.is_accepting() && fork.allowed_token_ids().is_empty();
        fork.rollback(1).unwrap();
        if stuck {
            return Some(id);
        }
    }
    None
}

/// Takes tokens of a text at random, as far as some go on with it, and compares every mask on the way with what each
/// token does; `what` is being followed. How many masks that were.
pub fn follow_compared(mut guide: Guide, text: &str, rng: &mut Rng, what: &str) -> usize {
    let v = guide.index().vocabulary().clone();
    let mut row = vec![0; v.words()];
    let mut rest = text.as_bytes();
    for compared in 1.. {
        row.fill(rng.bits() as u32);
        assert!(guide.fill_mask(&mut row));
        if let Some(wrong) = difference(&v, &row, &tried_row(&guide)) {
            panic!("{what}, {text:?}, before {:?}: {wrong}", String::from_utf8_lossy(rest));
        }
        let fits = |t: &u32| v.token_bytes(*t).is_some_and(|b| !b.is_empty() && rest.starts_with(b));
        let tokens: Vec<u32> = guide.allowed_token_ids().into_iter().filter(fits).collect();
        if tokens.is_empty() {
            return compared;
        }
        let token = tokens[rng.below(tokens.len())];
        assert!(guide.try_advance(token));
        rest = &rest[v.token_bytes(token).unwrap().len()..];
    }
    unreachable!("a text has an end")
}
