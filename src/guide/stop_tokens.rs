//! Stop tokens: which tokens end an output.
//!
//! They are the vocabulary's, or those that a request names. A request may name tokens that spell text, and a token
//! that ends the output is no text any more. That every output can be completed was decided for the whole vocabulary:
//! it holds as long as what the token spells is spelled without it, by another token or by tokens of its single bytes.
//! Otherwise a guide might come to where nothing but the stop token spells what must follow, so such ids are refused.
//! So are special tokens that a grammar needs before the end. One behind which the output may always end belongs to the
//! output and ends it.

use crate::error::{Error, ErrorKind, Result};
use crate::guide::GuideOptions;
use crate::index::{Index, IndexEngine};
use crate::mask::grammar::GrammarEngine;
use crate::vocab::Vocabulary;
use std::sync::Arc;

/// The bytes that are tokens of their own, `stops` left out.
fn singles(vocabulary: &Vocabulary, stops: &[u32]) -> [bool; 256] {
    let trie = vocabulary.trie();
    let mut single = [false; 256];
    for child in trie.children(0) {
        single[trie.byte[child as usize] as usize] = trie.tokens(child).iter().any(|t| !stops.contains(t));
    }
    single
}

impl Index {
    /// The ids that end an output, ascending.
    pub(super) fn stop_tokens(&self, options: &GuideOptions) -> Result<Arc<[u32]>> {
        let vocabulary = self.vocabulary();
        let Some(ids) = &options.stop_token_ids else { return Ok(vocabulary.eos_token_ids().into()) };
        if ids.is_empty() {
            return Err(Error::new(ErrorKind::Argument, "stop_token_ids is empty: the output could never end"));
        }
        if let Some(id) = ids.iter().find(|&&id| id as usize >= vocabulary.size()) {
            return Err(Error::new(
                ErrorKind::Argument,
                format!("stop token id {id} is out of range: the vocabulary's size is {}", vocabulary.size()),
            ));
        }
        let mut ids = ids.clone();
        ids.sort_unstable();
        ids.dedup();
        self.check_stops(&ids)?;
        Ok(ids.into())
    }

    /// Whether a stop token may come as a part of the output that ends it, where the output may not end before.
    #[inline]
    pub(crate) fn is_last_token(&self, id: u32) -> bool {
        match &self.0.engine {
            IndexEngine::Grammar(grammar) => grammar.program.is_last(id) && self.vocabulary().spelling(id).is_none(),
            IndexEngine::Pattern(_) | IndexEngine::Document { .. } => false,
        }
    }

    /// Whether outputs can be completed without the special tokens that a grammar names and that end the output here.
    fn check_named_stops(&self, grammar: &GrammarEngine, stops: &[u32]) -> Result<()> {
        let program = &grammar.program;
        let is_missing =
            |set: usize| program.token_sets[set].iter().all(|id| stops.contains(id) && !program.is_last(*id));
        let Some(set) = program.needs_token_set(is_missing) else { return Ok(()) };
        let own = self.vocabulary().eos_token_ids();
        let Some(id) = program.token_sets[set].iter().find(|id| !own.contains(id)) else { return Ok(()) };
        let message = format!(
            "stop token id {id} is a special token that the output may need, and a token that ends the output cannot \
             stand in the middle of it"
        );
        Err(Error::new(ErrorKind::Argument, message))
    }

    /// Whether outputs can be completed without the text that the stop tokens spell.
    fn check_stops(&self, stops: &[u32]) -> Result<()> {
        let vocabulary = self.vocabulary();
        let spells_nothing = stops.iter().all(|&id| vocabulary.spelling(id).is_none());
        if spells_nothing && stops.iter().all(|id| vocabulary.eos_token_ids().contains(id)) {
            return Ok(());
        }
        self.compiled()?;
        if let IndexEngine::Grammar(grammar) = &self.0.engine {
            self.check_named_stops(grammar, stops)?;
        }
        if spells_nothing {
            return Ok(());
        }
        let used = match &self.0.engine {
            IndexEngine::Pattern(l) => l.lexeme.used_bytes(),
            IndexEngine::Grammar(grammar) => grammar.program.used_bytes(),
            IndexEngine::Document { .. } => {
                // Whitespace between tokens may be written in other ways or not at all, and in strings it is escaped.
                let mut used = [true; 256];
                b"\t\n\r".iter().for_each(|&b| used[b as usize] = false);
                used
            }
        };
        // A token with a byte that no output has would never have been taken.
        let spells = |id: u32| vocabulary.spelling(id).filter(|s| s.iter().all(|&b| used[b as usize]));
        let (before, after) = (singles(vocabulary, &[]), singles(vocabulary, stops));
        let trie = vocabulary.trie();
        let has_twin =
            |text: &[u8]| trie.find(0, text).is_some_and(|node| trie.tokens(node).iter().any(|id| !stops.contains(id)));
        // The id that is missing, and a byte that keeps others from spelling it.
        let missing = stops.iter().find_map(|&id| {
            let text = spells(id)?;
            let lacks = |&b: &u8| match &self.0.engine {
                IndexEngine::Pattern(_) | IndexEngine::Grammar(_) => !after[b as usize],
                // Documents were narrowed to what tokens of single bytes spell.
                IndexEngine::Document { .. } => before[b as usize] && !after[b as usize],
            };
            let byte = text.iter().copied().find(lacks).filter(|_| !has_twin(text))?;
            Some((id, text, byte))
        });
        let Some((id, text, byte)) = missing else { return Ok(()) };
        let text = String::from_utf8_lossy(text);
        let message = format!(
            "stop token id {id} spells {text:?}, which the output may need, and no token of a single byte is left for \
             0x{byte:02X}; a stop token should be one that is not text"
        );
        Err(Error::new(ErrorKind::Argument, message))
    }
}
