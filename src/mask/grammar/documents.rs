//! Masks inside the JSON documents of a grammar.
//!
//! Tokens that stay inside a document, or end with it, are the document's own mask, as an index of its schema would
//! make it. Tokens that run past its end are found by the builder, which follows only what can lead to the end.

use std::sync::Arc;

use crate::mask::grammar::{GrammarMasker, builder};
use crate::mask::json::cache::guide_memo::GuideMemo;
use crate::mask::json::cache::masks::{CacheProbe, MaskCache};
use crate::mask::json::cache::member_values::MemberValues;
use crate::mask::json::masker::MaskBuilder;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::pushdown::grammar::parse_stack::{Branch, NodeId, ParseStack};
use crate::pushdown::grammar::scanner::NO_OBLIGATIONS;
use crate::pushdown::json::frame::FrameId;

/// What the masks of one document are made of.
pub struct DocumentMasks {
    /// The scalars and keys of its schema.
    pub lexemes: Vec<Arc<MaskedLexeme>>,
    /// Masks that were made before.
    pub memo: MaskCache,
    /// What suffixes spell of its members.
    pub members: MemberValues,
}

impl DocumentMasks {
    /// Approximate bytes held, those of lexemes left out.
    pub fn memory_bytes(&self) -> usize {
        self.memo.memory_bytes() + self.members.memory_bytes()
    }
}

impl GrammarMasker<'_> {
    /// Adds the tokens of the documents that a branch is in, or that may begin where it stands.
    pub(super) fn fill_documents(&self, stack: &mut ParseStack, branch: &Branch, row: &mut [u32]) {
        if self.documents.is_empty() {
            return;
        }
        let mark = stack.mark();
        if branch.is_in_document() {
            self.fill_frame(stack, branch, branch.document, branch.frame, row);
        } else if self.program.scanner.state(branch.scan).at_boundary {
            // What must not follow is looked at byte by byte by the builder.
            if self.program.scanner.state(branch.scan).obligations == NO_OBLIGATIONS {
                let tops: Vec<NodeId> = stack.tops(branch.tops).to_vec();
                let found = self.program.closure(stack, &tops);
                for document in found.closure.next.iter().filter_map(|&s| self.program.productions.document(s)) {
                    let start = self.program.machine(stack).frames(document).map(|mut frames| frames.start());
                    if let Some(start) = start {
                        self.fill_frame(stack, branch, document, start, row);
                    }
                }
            }
        }
        stack.truncate(&mark);
    }

    /// Adds the tokens that run past the end of the document that a branch is in.
    pub fn add_tokens_past_document(&self, stack: &mut ParseStack, branch: &Branch, row: &mut [u32]) {
        let mark = stack.mark();
        builder::MaskBuilder::new(self, stack, branch).walk_document(branch, branch.document, branch.frame, false, row);
        stack.truncate(&mark);
    }

    fn fill_frame(&self, stack: &mut ParseStack, branch: &Branch, document: u32, frame: FrameId, row: &mut [u32]) {
        // Few documents begin where a longer match must not go on: there every byte is looked at.
        let walked = branch.is_in_document() && branch.scan != NO_OBLIGATIONS;
        if !walked {
            let masks = &self.documents[document as usize];
            let mut own = vec![0; row.len()];
            let mut known = GuideMemo::default();
            let mut asked = CacheProbe::default();
            if let Some(frames) = self.program.machine(stack).frames(document) {
                let (tables, lexemes) = (self.tables, &masks.lexemes);
                let mut masker =
                    MaskBuilder::new(self.vocabulary, tables, lexemes, &masks.members, frames, &mut known, &mut own);
                if !masker.fill_known(&masks.memo, frame, &mut asked) {
                    masker.fill_asked(&masks.memo, frame, &asked);
                }
            }
            row.iter_mut().zip(&own).for_each(|(to, from)| *to |= from);
        }
        builder::MaskBuilder::new(self, stack, branch).walk_document(branch, document, frame, walked, row);
    }
}
