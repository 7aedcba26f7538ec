//! Masks inside the JSON documents of a grammar.
//!
//! Tokens that stay inside a document, or end with it, are the document's own mask, as an index of its schema would
//! make it, and as well remembered. Tokens that run past its end are found by the builder, which follows only what can
//! lead to the end. They depend on what one token can see of the document and of the parser's stack, and are kept by
//! both.

use std::sync::Arc;

use crate::mask::grammar::GrammarMasker;
use crate::mask::grammar::mask_builder::GrammarMaskBuilder;
use crate::mask::json::cache::completion_facts::CompletionFacts;
use crate::mask::json::cache::guide_memo::GuideMemo;
use crate::mask::json::cache::masks::{CacheProbe, MaskCache};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::mask_identity::MaskIdentity;
use crate::mask::row_patch::{RowPatch, apply};
use crate::pushdown::grammar::parse_stack::{Branch, NodeId, ParseStack};
use crate::pushdown::grammar::scanner::NO_OBLIGATIONS;
use crate::pushdown::grammar::stack_view::StackView;
use crate::pushdown::json::frame::FrameId;
use crate::util::work_meter::is_over;

/// Tokens that run past the end of a document.
pub(super) type PastTokens = RowPatch;

/// What the masks of one document are made of.
pub struct DocumentMasks {
    /// The scalars and keys of its schema.
    pub lexemes: Vec<Arc<MaskedLexeme>>,
    /// Masks that were made before.
    pub memo: MaskCache,
    /// What guides with budgets found out about it.
    pub completion: CompletionFacts,
}

impl DocumentMasks {
    /// Of these lexemes, with nothing found yet.
    pub fn new(lexemes: Vec<Arc<MaskedLexeme>>) -> Self {
        DocumentMasks { lexemes, memo: MaskCache::default(), completion: CompletionFacts::default() }
    }

    /// Approximate bytes held, those of lexemes left out.
    pub fn memory_bytes(&self) -> usize {
        self.memo.memory_bytes() + self.completion.memory_bytes()
    }
}

/// What a guide has found about the document in which it stands. It holds as long as the guide does not go back.
#[derive(Clone, Default)]
pub struct DocumentMemo {
    known: GuideMemo,
    probe: CacheProbe,
    /// Where the tokens past the end were asked for last, and which they are.
    place: DocumentPlace,
    past: Option<RowPatch>,
    /// Room for a description.
    scratch: DocumentPlace,
}

/// A document, what one token can see of it, and the parser's stack below it.
#[derive(Clone, Default, PartialEq)]
struct DocumentPlace {
    document: u32,
    seen: Vec<u8>,
    tops: Vec<NodeId>,
    indents: NodeId,
}

impl DocumentPlace {
    /// The parser's stack as it is seen from this place.
    fn view(&self, stack: &ParseStack, branch: &Branch) -> StackView {
        let mut prefix = Vec::with_capacity(self.seen.len() / 4 + 3);
        prefix.extend([self.document, self.seen.len() as u32]);
        prefix.extend(self.seen.chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        }));
        stack.view_behind(&prefix, branch)
    }
}

impl DocumentMemo {
    /// Forgets everything: the guide goes back.
    pub fn clear(&mut self) {
        self.known.clear();
        self.past = None;
    }
}

impl GrammarMasker<'_> {
    /// Writes the mask of a branch inside a document to a row that holds anything, if it is known.
    pub(super) fn fill_known_document(
        &self,
        stack: &mut ParseStack,
        branch: &Branch,
        row: &mut [u32],
        memo: &mut DocumentMemo,
    ) -> bool {
        // Where a longer match must not go on, every byte is looked at.
        if branch.scan != NO_OBLIGATIONS {
            return false;
        }
        let masks = &self.documents[branch.document as usize];
        let mut machine = self.program.machine(stack);
        let Some(frames) = machine.frames(branch.document) else { return false };
        let (tables, lexemes) = (self.tables, &masks.lexemes);
        let mut builder = JsonMaskBuilder::new(self.vocabulary, tables, lexemes, frames, &mut memo.known, row);
        if !builder.fill_known(&masks.memo, branch.frame, &mut memo.probe) || !self.find_past(stack, branch, memo) {
            return false;
        }
        memo.past.as_ref().is_some_and(|past| {
            apply(row, past);
            true
        })
    }

    /// Adds what the row is made of that [`fill_known_document`](Self::fill_known_document) would write. False, with
    /// anything added, if that is not known, or too much for an identity.
    pub(super) fn identify_known_document(
        &self,
        stack: &mut ParseStack,
        branch: &Branch,
        identity: &mut MaskIdentity,
        memo: &mut DocumentMemo,
    ) -> bool {
        if branch.scan != NO_OBLIGATIONS {
            return false;
        }
        let masks = &self.documents[branch.document as usize];
        let mut machine = self.program.machine(stack);
        let Some(frames) = machine.frames(branch.document) else { return false };
        let (tables, lexemes) = (self.tables, &masks.lexemes);
        let mut builder = JsonMaskBuilder::new(self.vocabulary, tables, lexemes, frames, &mut memo.known, &mut []);
        builder.identify_known(&masks.memo, branch.frame, &mut memo.probe, identity)
            && self.find_past(stack, branch, memo)
            && memo.past.as_ref().is_some_and(|past| {
                identity.patch(past);
                true
            })
    }

    /// Adds the mask of a branch inside a document.
    pub(super) fn fill_document(
        &self,
        stack: &mut ParseStack,
        branch: &Branch,
        row: &mut [u32],
        memo: &mut DocumentMemo,
    ) {
        let mark = stack.mark();
        if branch.scan != NO_OBLIGATIONS {
            GrammarMaskBuilder::new(self, stack, branch).walk_document(
                branch,
                branch.document,
                branch.frame,
                true,
                row,
            );
            let allow = |token: u32| row[token as usize >> 5] |= 1 << (token & 31);
            self.program.machine(stack).special_tokens(&[*branch], &mut Vec::new(), allow);
        } else {
            self.fill_frame(stack, branch.document, branch.frame, row, memo);
            if !self.find_past(stack, branch, memo) {
                self.make_past(stack, branch, memo);
            }
            if let Some(past) = &memo.past {
                apply(row, past);
            }
        }
        stack.truncate(&mark);
    }

    /// Adds the tokens of the documents that may begin where a branch stands.
    pub(super) fn fill_beginning_documents(&self, stack: &mut ParseStack, branch: &Branch, row: &mut [u32]) {
        // What must not follow is looked at byte by byte by the builder.
        if self.program.scanner.state(branch.scan).obligations != NO_OBLIGATIONS {
            return;
        }
        let tops: Vec<NodeId> = stack.tops(branch.tops).to_vec();
        let found = self.program.closure(stack, &tops);
        let mark = stack.mark();
        for document in found.closure.next.iter().filter_map(|&s| self.program.productions.document(s)) {
            let start = self.program.machine(stack).frames(document).map(|mut frames| frames.start());
            if let Some(start) = start {
                // Its frame is forgotten below, so nothing is remembered of it.
                self.fill_frame(stack, document, start, row, &mut DocumentMemo::default());
                GrammarMaskBuilder::new(self, stack, branch).walk_document(branch, document, start, false, row);
            }
        }
        stack.truncate(&mark);
    }

    /// The row of the tokens that run past the end of the document that a branch is in, or are named by the grammar.
    pub fn tokens_past_document(&self, stack: &mut ParseStack, branch: &Branch) -> Vec<u32> {
        let mark = stack.mark();
        let mut row = vec![0; self.tables.words];
        let walk = GrammarMaskBuilder::new(self, stack, branch);
        walk.walk_document(branch, branch.document, branch.frame, false, &mut row);
        let mut machine = self.program.machine(stack);
        machine.special_tokens(&[*branch], &mut Vec::new(), |t| row[t as usize >> 5] |= 1 << (t & 31));
        stack.truncate(&mark);
        row
    }

    /// Adds a document's own mask.
    fn fill_frame(
        &self,
        stack: &mut ParseStack,
        document: u32,
        frame: FrameId,
        row: &mut [u32],
        memo: &mut DocumentMemo,
    ) {
        let masks = &self.documents[document as usize];
        let mut own = vec![0; row.len()];
        let mut machine = self.program.machine(stack);
        let Some(frames) = machine.frames(document) else { return };
        let (tables, lexemes) = (self.tables, &masks.lexemes);
        let mut builder = JsonMaskBuilder::new(self.vocabulary, tables, lexemes, frames, &mut memo.known, &mut own);
        if !builder.fill_known(&masks.memo, frame, &mut memo.probe) {
            builder.fill_asked(&masks.memo, frame, &memo.probe);
        }
        row.iter_mut().zip(&own).for_each(|(to, from)| *to |= from);
    }

    /// Sees to it that `memo` has the tokens past the end of the document of a branch, if they are known.
    fn find_past(&self, stack: &mut ParseStack, branch: &Branch, memo: &mut DocumentMemo) -> bool {
        if !self.describe_past(stack, branch, memo) {
            memo.past = None;
            return false;
        }
        if memo.past.is_some() && memo.place == memo.scratch {
            return true;
        }
        std::mem::swap(&mut memo.place, &mut memo.scratch);
        memo.past = self.masks.past_documents.find(&mut memo.place.view(stack, branch), stack);
        memo.past.is_some()
    }

    /// Finds the tokens past the end of the document of a branch, and keeps them if [`find_past`](Self::find_past) has
    /// described the branch.
    fn make_past(&self, stack: &mut ParseStack, branch: &Branch, memo: &mut DocumentMemo) {
        let mut row = vec![0; self.tables.words];
        let walk = GrammarMaskBuilder::new(self, stack, branch);
        let first_new = walk.first_new();
        let mut decided = walk.walk_document(branch, branch.document, branch.frame, false, &mut row);
        let allow = |token: u32| row[token as usize >> 5] |= 1 << (token & 31);
        self.program.machine(stack).special_tokens(&[*branch], &mut decided, allow);
        decided.retain(|&node| node < first_new);
        decided.sort_unstable();
        decided.dedup();
        let past: RowPatch = (0..).zip(row).filter(|&(_, bits)| bits != 0).collect();
        if !is_over() && self.describe_past(stack, branch, memo) {
            std::mem::swap(&mut memo.place, &mut memo.scratch);
            let mut view = memo.place.view(stack, branch);
            self.masks.past_documents.keep(&mut view, stack, &decided, past.clone(), past.len() * 8);
        } else {
            memo.place = DocumentPlace::default();
        }
        memo.past = Some(past);
    }

    /// Writes the place of a branch to `memo.scratch`. False if nothing is remembered of such places.
    fn describe_past(&self, stack: &mut ParseStack, branch: &Branch, memo: &mut DocumentMemo) -> bool {
        if !self.tables.tells_no_more_past_documents(self.vocabulary) {
            return false;
        }
        let DocumentMemo { known, scratch, .. } = memo;
        scratch.document = branch.document;
        scratch.indents = branch.indents;
        scratch.tops.clear();
        scratch.tops.extend_from_slice(stack.tops(branch.tops));
        let mut machine = self.program.machine(stack);
        let Some(frames) = machine.frames(branch.document) else { return false };
        let place = (frames.program, &*frames.arena);
        // Elements that must differ are not described.
        let is_unique = frames.program.has_unique;
        let cache = &self.documents[branch.document as usize].memo;
        !is_unique && cache.describe_place(place, self.tables, branch.frame, &mut known.levels, &mut scratch.seen)
    }
}
