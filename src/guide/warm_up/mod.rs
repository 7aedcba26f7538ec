//! Warm-up: masks that a request is likely to need, made before it does.
//!
//! An index makes masks when they are asked for, which is the least work in all; but a server that waits for a prompt
//! to be read has time before the first token and none afterwards. So documents that a model may write are walked ahead
//! of it ([`sample_documents`](crate::pushdown::completion::sample_documents)), each in the few styles of blanks that
//! models use, token by token, and every mask on the way is made. What is made is what the guide would have made, kept
//! where it would be kept: a warm index answers the same, only sooner.
//!
//! `docs/internals/warm-up.md` has an example.

pub mod background;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind};
use crate::guide::Guide;
use crate::guide::position::Position;
use crate::index::{Index, IndexEngine};
use crate::pushdown::completion::sample_documents::{SampleLayout, SampleStyle, SampleWriter, TakenItems, likely_text};
use crate::pushdown::json::machine::JsonMachine;
use crate::util::cancel::also_watched;

/// Bytes of one document.
const MOST_BYTES: usize = 16 << 10;
/// Documents at most.
const MOST_DOCUMENTS: usize = 256;
/// Documents one after the other that brought nothing new, after which there is nothing to be expected of another.
const IDLE: usize = 3;

/// The style of a document by its number.
fn style(number: usize) -> SampleStyle {
    let (blanks, all) = match number {
        0 => (SampleLayout::Spaced, true),
        1 => (SampleLayout::Lines, true),
        2 => (SampleLayout::Spaced, false),
        3 => (SampleLayout::Compact, true),
        n if n % 3 == 1 => (SampleLayout::Lines, true),
        _ => (SampleLayout::Spaced, true),
    };
    SampleStyle { blanks, all }
}

impl Index {
    /// Compiles the source of an index whose file holds a beginning of its tables, unless that takes longer than
    /// `until`; whether [`warm_up`](Self::warm_up) has nothing left to compile.
    pub fn compile_until(&self, until: Option<Instant>) -> bool {
        let is_late = move || until.is_some_and(|until| Instant::now() >= until);
        let late = move || if is_late() { Err(Error::new(ErrorKind::Cancelled, "the time is over")) } else { Ok(()) };
        self.built().is_some() || also_watched(Arc::new(late), || self.compiled()).is_ok()
    }

    /// Makes masks that requests are likely to need, as long as `go_on` says so, which is asked before each token and
    /// each choice in a document; how many were made. An index of complete tables has nothing to make, nor has one that
    /// was warmed up to the end before. One whose file holds a beginning of the tables is compiled first.
    pub fn warm_up(&self, mut go_on: impl FnMut() -> bool) -> usize {
        if self.built().is_some() || self.compiled().is_err() || self.0.warm.load(Ordering::Relaxed) {
            return 0;
        }
        let Ok(mut guide) = self.guide(&Default::default()) else { return 0 };
        let mut row = vec![0; self.vocabulary().words()];
        let mut taken = TakenItems::default();
        let (mut made, mut idle) = (0, 0);
        for number in 0..MOST_DOCUMENTS {
            if idle == IDLE {
                break;
            }
            if !go_on() {
                return made;
            }
            guide.reset();
            guide.go_to_engine();
            let text = guide.likely(&mut taken, style(number), &mut go_on);
            let new = guide.rehearse(&text, &mut row, &mut go_on);
            idle = if new == 0 { idle + 1 } else { 0 };
            made += new;
        }
        self.0.warm.store(true, Ordering::Relaxed);
        made
    }
}

impl Guide {
    fn likely(&mut self, taken: &mut TakenItems, style: SampleStyle, go_on: &mut impl FnMut() -> bool) -> Vec<u8> {
        match (&self.index.0.engine, &mut self.position) {
            (IndexEngine::Pattern(l), _) => likely_text(&l.lexeme, taken, MOST_BYTES, go_on),
            (IndexEngine::Document { program, .. }, Position::Document { arena, .. }) => {
                SampleWriter::document(&mut JsonMachine { program, arena }, taken, style, MOST_BYTES, go_on)
            }
            _ => Vec::new(),
        }
    }

    /// Takes `text` by its longest tokens, and makes the mask at each; how many were not known.
    fn rehearse(&mut self, text: &[u8], row: &mut [u32], go_on: &mut impl FnMut() -> bool) -> usize {
        let mut made = 0;
        let mut rest = text;
        // A full lexeme has no room for what requests do not ask for.
        while !self.is_full() && go_on() {
            made += usize::from(self.table_state().is_none() && self.make_mask(row));
            let Some(len) = self.advance_longest(rest) else { break };
            rest = &rest[len..];
        }
        made
    }

    /// Takes the longest token that `text` begins with; how many bytes it has.
    fn advance_longest(&mut self, text: &[u8]) -> Option<usize> {
        let index = self.root.clone();
        let trie = index.vocabulary().trie();
        let mut ways: SmallVec<[(u32, usize); 16]> = SmallVec::new();
        let mut node = 0;
        for (&byte, len) in text.iter().zip(1..) {
            let Some(child) = trie.child(node, byte) else { break };
            node = child;
            ways.extend(trie.tokens(node).first().map(|&token| (token, len)));
        }
        ways.iter().rev().find(|(token, _)| self.try_advance(*token)).map(|way| way.1)
    }
}
