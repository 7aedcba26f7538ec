//! Masks of grammars.
//!
//! The mask of a branch is decided by the state of its scanner and by what can be seen of its stack. So masks are kept
//! by both ([`StackCache`]), and a mask that was made once is found again in every place that is alike.
//!
//! A few tokens, such as a row of closing brackets, look far down the stack. So what all other tokens say is kept as
//! well, for all stacks that are alike as far as *they* look, and elsewhere only those few are tried again.
//!
//! A mask that is not known is put together from parts that belong to the vocabulary and to one state of the scanner:
//! the tokens that stay inside a terminal (the same rows that patterns and schemas use), and the places in the trie of
//! tokens where a terminal may end (`exits`). Only behind those the parser is asked (`mask_builder`).

mod document_walk;
mod documents;
pub(crate) mod end_nodes;
mod exit_walk;
mod exits;
mod mask_builder;
mod row_levels;
mod segment_walk;
mod segments;
mod special_tokens;

use std::sync::{Arc, OnceLock};

use crate::mask::grammar::documents::PastTokens;
pub use crate::mask::grammar::documents::{DocumentMasks, DocumentMemo};
use crate::mask::grammar::exits::Exits;
use crate::mask::grammar::mask_builder::GrammarMaskBuilder;
use crate::mask::grammar::row_levels::Row;
use crate::mask::grammar::segments::Segments;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::mask_identity::MaskIdentity;
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::grammar::events::{EventGrammar, EventTables};
use crate::pushdown::grammar::parse_stack::{Branch, NodeId, ParseStack, PositionId};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::stack_view::{StackCache, StackView};
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::{GRAMMAR_GROWTHS, GRAMMAR_ROWS, PAST_DOCUMENTS, ROW_CONTENTS};
use crate::util::work_meter::is_over;
use crate::vocab::Vocabulary;

/// Set in the first word of a description of a stack at whose top documents may begin. No state of the scanner has it.
const BEGINS_DOCUMENTS: u32 = 1 << 31;

/// What one index remembers of its masks.
#[derive(Default)]
pub struct GrammarMasks {
    rows: StackCache<Row, GRAMMAR_ROWS>,
    /// The rows by what is in them: most are those of many stacks.
    contents: BoundedCache<Arc<[u32]>, Arc<[u32]>, ROW_CONTENTS>,
    exits: Exits,
    segments: Segments,
    /// Tokens that run past the end of a document.
    past_documents: StackCache<PastTokens, PAST_DOCUMENTS>,
    /// The growth of each row, by what decides the row.
    pub growths: BoundedCache<Box<[u32]>, Growth, GRAMMAR_GROWTHS>,
    /// Tokens that may end inside of a character.
    inside_chars: OnceLock<Box<[u32]>>,
}

/// By how many bytes a token of a row can lengthen the way to the end, and the tokens of which that is not known.
pub type Growth = (u64, Arc<[u32]>);

impl GrammarMasks {
    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        let documents = self.past_documents.memory_bytes();
        self.rows.memory_bytes()
            + self.contents.memory_bytes()
            + self.exits.memory_bytes()
            + self.segments.memory_bytes()
            + self.growths.memory_bytes()
            + documents
    }

    /// A row, shared with others of the same content, and the bytes that it takes beside them.
    fn share(&self, row: Vec<u32>) -> (Arc<[u32]>, usize) {
        if let Some(known) = self.contents.get(&*row) {
            return (known, 0);
        }
        let size = row.len() * 4;
        let row: Arc<[u32]> = row.into();
        self.contents.keep(row.clone(), row.clone(), size + 64);
        (row, size)
    }
}

/// A grammar over one vocabulary.
pub struct GrammarEngine {
    /// The grammar.
    pub program: GrammarProgram,
    /// The terminals with the masks of their states; none for those without texts.
    pub lexemes: Vec<Option<Arc<MaskedLexeme>>>,
    /// What is remembered of masks.
    pub masks: GrammarMasks,
    /// The masks of the documents inside the output.
    pub documents: Vec<DocumentMasks>,
    /// Tokens with the byte that separates a terminal from what its look-ahead sees, where there is such a look-ahead.
    pub no_text: Box<[u32]>,
    /// What readers of the output's events share.
    pub events: EventTables,
}

impl GrammarEngine {
    /// What fills masks.
    pub fn masker<'a>(&'a self, tables: &'a VocabTables, vocabulary: &'a Vocabulary) -> GrammarMasker<'a> {
        let GrammarEngine { program, lexemes, masks, documents, no_text, .. } = self;
        GrammarMasker { program, lexemes, tables, vocabulary, masks, documents, no_text }
    }

    /// The grammar, for a reader of events.
    pub fn events(&self) -> EventGrammar<'_> {
        EventGrammar { program: &self.program, tables: &self.events }
    }

    /// Approximate bytes held, those included that are shared with other indexes of the vocabulary.
    pub fn memory_bytes(&self) -> usize {
        let lexemes: usize = self.lexemes.iter().flatten().map(|l| l.memory_bytes()).sum();
        let documents: usize = self.documents.iter().map(DocumentMasks::memory_bytes).sum();
        lexemes + self.program.memory_bytes() + self.masks.memory_bytes() + documents
    }
}

/// What masks of a grammar are made of.
pub struct GrammarMasker<'a> {
    /// The grammar.
    pub program: &'a GrammarProgram,
    /// The terminals with the masks of their states.
    pub lexemes: &'a [Option<Arc<MaskedLexeme>>],
    /// What the vocabulary contributes.
    pub tables: &'a VocabTables,
    /// The vocabulary.
    pub vocabulary: &'a Vocabulary,
    /// What the index remembers.
    pub masks: &'a GrammarMasks,
    /// The masks of the documents.
    pub documents: &'a [DocumentMasks],
    /// See [`GrammarEngine::no_text`].
    pub no_text: &'a [u32],
}

impl GrammarMasker<'_> {
    /// Writes the mask of a position to `row` if it is known. Otherwise `row` holds anything.
    pub fn fill_known(
        &self,
        stack: &mut ParseStack,
        position: PositionId,
        row: &mut [u32],
        memo: &mut DocumentMemo,
    ) -> bool {
        let branches = stack.branches_of(position);
        let mut is_first = true;
        // A document writes its mask over what the row holds.
        for branch in branches.iter().filter(|branch| branch.is_in_document()) {
            if std::mem::replace(&mut is_first, false) {
                if !self.fill_known_document(stack, branch, row, memo) {
                    return false;
                }
                continue;
            }
            let mut own = vec![0; row.len()];
            if !self.fill_known_document(stack, branch, &mut own, memo) {
                return false;
            }
            row.iter_mut().zip(own).for_each(|(to, from)| *to |= from);
        }
        for branch in branches.iter().filter(|branch| !branch.is_in_document()) {
            let Some(known) = self.find_row(stack, branch) else { return false };
            match std::mem::replace(&mut is_first, false) {
                true => row.copy_from_slice(&known),
                false => row.iter_mut().zip(known.iter()).for_each(|(to, from)| *to |= from),
            }
        }
        if is_first {
            row.fill(0);
        }
        true
    }

    /// Adds what [`fill_known`](Self::fill_known) would unite. False, with anything added, if some of it is not known.
    pub fn identify_known(
        &self,
        stack: &mut ParseStack,
        position: PositionId,
        identity: &mut MaskIdentity,
        memo: &mut DocumentMemo,
    ) -> bool {
        let branches = stack.branches_of(position);
        branches.iter().all(|branch| {
            if branch.is_in_document() {
                return self.identify_known_document(stack, branch, identity, memo);
            }
            self.find_row(stack, branch).is_some_and(|known| {
                identity.row(&known);
                true
            })
        })
    }

    /// The row of a branch outside of documents, if it is known.
    fn find_row(&self, stack: &ParseStack, branch: &Branch) -> Option<Arc<[u32]>> {
        let mut view = match self.begins_documents(stack, branch) {
            true => self.whole_view(stack, branch),
            false => stack.view(branch),
        };
        self.masks.rows.find(&mut view, stack).map(|row| row.tokens)
    }

    /// Whether documents may begin where a branch stands.
    fn begins_documents(&self, stack: &ParseStack, branch: &Branch) -> bool {
        !self.documents.is_empty()
            && self.program.scanner.state(branch.scan).at_boundary
            && self.program.closure(stack, stack.tops(branch.tops)).closure.has_documents
    }

    /// All of a stack at whose top documents may begin: what comes behind them in one token is part of the row.
    fn whole_view(&self, stack: &ParseStack, branch: &Branch) -> StackView {
        let mut view = stack.view_behind(&[branch.scan | BEGINS_DOCUMENTS, branch.column], branch);
        while view.describe_block(stack) || view.deepen(stack) {}
        view
    }

    /// Writes the mask of a position.
    pub fn fill(&self, stack: &mut ParseStack, position: PositionId, row: &mut [u32], memo: &mut DocumentMemo) {
        row.fill(0);
        for branch in stack.branches_of(position) {
            if branch.is_in_document() {
                self.fill_document(stack, &branch, row, memo);
                continue;
            }
            let known = if self.begins_documents(stack, &branch) {
                self.row_with_documents(stack, &branch)
            } else {
                self.row_of(stack, &branch)
            };
            row.iter_mut().zip(known.iter()).for_each(|(to, from)| *to |= from);
        }
    }

    /// The row of a branch at which documents may begin.
    fn row_with_documents(&self, stack: &mut ParseStack, branch: &Branch) -> Arc<[u32]> {
        let mut view = self.whole_view(stack, branch);
        if let Some(Row { tokens, .. }) = self.masks.rows.find(&mut view, stack) {
            return tokens;
        }
        let mut row = self.row_of(stack, branch).to_vec();
        self.fill_beginning_documents(stack, branch, &mut row);
        if is_over() {
            return row.into();
        }
        let (tokens, size) = self.masks.share(row);
        let row = Row { tokens: tokens.clone(), open: None };
        self.masks.rows.keep(&mut view, stack, &[], row, size);
        tokens
    }

    /// Takes the tokens out of a position's mask that a terminal's bound in tokens has no room for.
    pub fn keep_within_bounds(&self, stack: &mut ParseStack, position: PositionId, row: &mut [u32]) {
        if !self.program.machine(stack).is_near_bound(position) {
            return;
        }
        let inside = self.masks.inside_chars.get_or_init(|| tokens_inside_chars(self.vocabulary));
        for &token in inside.iter() {
            let (word, bit) = (token as usize >> 5, 1 << (token & 31));
            if row[word] & bit != 0
                && let Some(bytes) = self.vocabulary.spelling(token)
                && !self.program.machine(stack).takes_bytes(position, bytes, token)
            {
                row[word] &= !bit;
            }
        }
    }

    /// What decides the tokens that may come next in a branch outside of documents, if its row is known.
    pub fn decides(&self, stack: &mut ParseStack, branch: &Branch) -> Option<Box<[u32]>> {
        let tops: Vec<NodeId> = stack.tops(branch.tops).to_vec();
        let mut view = stack.view(branch);
        if self.program.closure(stack, &tops).closure.has_documents {
            // What comes behind a document is not part of the row.
            while view.describe_block(stack) || view.deepen(stack) {}
            return Some(view.key().into());
        }
        self.masks.rows.find(&mut view, stack)?;
        Some(view.key().into())
    }

    fn row_of(&self, stack: &mut ParseStack, branch: &Branch) -> Arc<[u32]> {
        let mut view = stack.view(branch);
        let known = self.masks.rows.look_up(&mut view, stack);
        if let Some(Row { tokens, .. }) = known.answer {
            self.tables.count_mask(true);
            return tokens;
        }
        self.tables.count_mask(false);
        let mark = stack.mark();
        let (tokens, decided) = match known.mostly {
            Some(Row { tokens, open: Some(open) }) => {
                let (mut row, decided) = GrammarMaskBuilder::new(self, stack, branch).build_open(branch, &open);
                row.iter_mut().zip(tokens.iter()).for_each(|(to, from)| *to |= from);
                (row, decided)
            }
            _ => {
                let built = GrammarMaskBuilder::new(self, stack, branch).build(branch);
                if let Some((level, row, open)) = built.mostly.filter(|_| !is_over()) {
                    let mut view = stack.view(branch);
                    (0..level).for_each(|_| {
                        view.deepen(stack);
                    });
                    let size = open.len() * 16;
                    let (tokens, own) = self.masks.share(row);
                    let row = Row { tokens, open: Some(Arc::new(open)) };
                    self.masks.rows.keep_mostly(&view, row, own + size);
                }
                (built.row, built.decided)
            }
        };
        stack.truncate(&mark);
        if is_over() {
            return tokens.into();
        }
        let (tokens, size) = self.masks.share(tokens);
        let row = Row { tokens: tokens.clone(), open: None };
        self.masks.rows.keep(&mut view, stack, &decided, row, size);
        tokens
    }
}

/// The tokens that may end inside of a character: those whose last bytes are the first ones of it, and those that are
/// bytes in its middle.
fn tokens_inside_chars(vocabulary: &Vocabulary) -> Box<[u32]> {
    let ends_inside = |bytes: &[u8]| match bytes.iter().rposition(|byte| !(0x80..=0xBF).contains(byte)) {
        None => !bytes.is_empty(),
        Some(first) => {
            let length = [(0xF0, 4), (0xE0, 3), (0xC0, 2)].iter().find(|&&(least, _)| bytes[first] >= least);
            length.is_some_and(|&(_, length)| bytes.len() - first < length)
        }
    };
    let tokens = 0..vocabulary.len() as u32;
    tokens.filter(|&token| vocabulary.spelling(token).is_some_and(ends_inside)).collect()
}
