//! What one vocabulary contributes to every index over it.
//!
//! * The tries that masks are walked on: all tokens, tokens with a quote, and *whitespace suffixes* (tokens that begin
//!   with JSON whitespace, by what follows it, so that a mask need not visit five hundred runs of blanks one by one).
//! * The lexemes that schemas have in common, each with the masks of its states. They are bounded in bytes and evicted
//!   by least recent use; an index keeps its own lexemes alive, so eviction never breaks one.
//! * Caches of parts of masks that all indexes share: crossing sets, patches, finished rows.
//!
//! [`VocabTables::submask`] is the entry for one lexeme state.

use crate::mask::lexeme::inner::slice_sets;
use crate::mask::lexeme::lexeme_cache;
use crate::mask::lexeme::masked_lexeme::{LexemeMaskKey, MaskedLexeme, StateMasks};
use crate::mask::trie_kind::TrieKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

pub use crate::mask::lexeme::lexeme_cache::TableStats;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::expr::{ByteSet, Exprs, INF};
use crate::json::string_escape::EscapeUse;
use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::limits::Limits;
use crate::mask::grammar::end_nodes::NodesByByte;
use crate::mask::json::byte_coverage::ByteCoverage;
use crate::mask::json::cache::patches::PatchCache;
use crate::mask::json::cache::rows::RowCache;
use crate::mask::json::crossing::interner::CrossingInterner;
use crate::mask::json::crossing::past_document;
use crate::mask::json::crossing::suffixes::SuffixTrie;
use crate::mask::json::key::escape_table::AllEscapes;
use crate::mask::json::structural_tokens::StructuralTokens;
use crate::mask::lexeme::char_postings::CharPostings;
use crate::mask::lexeme::inner;
use crate::mask::lexeme::lexeme_mask::{LexemeMask, walk, walk_list};
use crate::mask::lexeme::subtree_summary::SubtreeSummaries;
use crate::mask::token_survey::Survey;
use crate::util::cancel::uninterruptible;
use crate::util::memory_growth::{GrowthMark, KeptBytes, room_of_masks};
use crate::util::work_meter::charge;
use crate::vocab::trie_children::Children;
use crate::vocab::{Trie, Vocabulary};

/// The tries, lexemes and shared parts of masks that one vocabulary contributes to all indexes over it.
pub struct VocabTables {
    /// Words of a mask row.
    pub words: usize,
    /// How far one token can drive a loop.
    pub reach: TokenReach,
    /// Tokens of whitespace only: length and id, by length.
    pub blanks: Box<[(u32, u32)]>,
    /// Tokens that begin with whitespace, by what follows; only suffixes that can begin or end something in JSON.
    pub blank_suffixes: Trie,
    /// The longest run of whitespace in front of a suffix.
    pub blank_reach: u32,
    /// Children of the root, by trie, whose byte is one of `"{}[],:`.
    pub brackets: [Box<[u32]>; 2],
    /// The children of the vocabulary's trie.
    pub(crate) children: Children,
    /// The children of the whitespace suffixes' trie; `quoted_children` are those of the tokens with a quote.
    pub(super) blank_children: Children,
    pub(super) quoted_children: Children,
    /// The bytes that are tokens of their own.
    pub single: ByteSet,
    /// What narrows JSON documents, where bytes that they contain are no tokens.
    pub spelling: Option<ByteCoverage>,
    /// Any string, unbounded, with any escapes.
    pub any_text: Arc<MaskedLexeme>,
    /// Any string, unbounded, with the escapes that it needs. Made for the first document that is written so.
    needed_text: OnceLock<Arc<MaskedLexeme>>,
    /// Any text that is the whole output.
    any_raw: Arc<MaskedLexeme>,
    /// The mask of every state of a text that can only be closed.
    only_closing: OnceLock<Arc<LexemeMask>>,
    /// A length, and the tokens that are longer: at most a few thousand.
    pub(crate) long_tokens: (u32, Trie),
    /// What lies below the nodes of the vocabulary's trie.
    pub(crate) subtrees: SubtreeSummaries,
    /// Tokens by code points.
    pub(crate) by_length: slice_sets::ByLength,
    /// For each character, the tokens that hold it.
    pub(crate) char_postings: CharPostings,
    /// For sets of characters, the tokens that have no others, and where tokens leave the set.
    pub(crate) slice_sets: slice_sets::SliceSets,
    /// What tokens can open, close or leave. Made for the first token budget.
    structural: OnceLock<StructuralTokens>,
    /// What tokens spell between values.
    pub suffixes: SuffixTrie,
    /// See [`past_document`]; found for the first grammar with documents.
    past_documents: OnceLock<bool>,
    /// Made for the first grammar.
    nodes_by_byte: OnceLock<NodesByByte>,
    /// Tokens inside escapes.
    pub(crate) escapes: AllEscapes,
    /// Crossing tokens that walks found.
    pub(super) crosses: CrossingInterner,
    /// Finished parts of masks.
    pub patches: PatchCache,
    /// Finished rows.
    pub finished: RowCache,
    /// Tokens that contain a quote: the only ones that can end a string.
    pub(super) quoted: Trie,
    pub(super) cache: Mutex<lexeme_cache::LexemeCache>,
    /// What the cache held when it was measured last.
    pub(super) kept: KeptBytes,
    /// Up to where the growth of lexemes and masks is in the cache's measure.
    pub(super) measured: GrowthMark,
    pub(super) counters: lexeme_cache::TableCounters,
}

impl VocabTables {
    /// The tables of a vocabulary, made on first use: some tens of milliseconds for 128,000 tokens.
    pub fn for_vocabulary(vocabulary: &Vocabulary) -> Result<Arc<VocabTables>> {
        vocabulary
            .extension()
            .get_or_init(|| uninterruptible(|| VocabTables::build(vocabulary)))
            .ok_or_else(|| Error::new(ErrorKind::Internal, "the vocabulary's tables have another type"))?
            .as_ref()
            .as_ref()
            .map(Arc::clone)
            .map_err(Error::clone)
    }

    /// Says that a compile over a vocabulary has ended. Its cache of lexemes is measured then, if they have grown.
    pub fn end_compile_of(vocabulary: &Vocabulary) {
        if let Some(Ok(tables)) = vocabulary.extension().get::<Result<Arc<VocabTables>>>().as_deref() {
            tables.end_compile();
        }
    }

    /// What token budgets know of the vocabulary, made on first use.
    pub fn structural_tokens(&self, vocabulary: &Vocabulary) -> &StructuralTokens {
        self.structural.get_or_init(|| StructuralTokens::from_vocabulary(vocabulary))
    }

    /// Whether tokens that run past the end of a document can tell no more of it than those that stay inside.
    pub(crate) fn tells_no_more_past_documents(&self, vocabulary: &Vocabulary) -> bool {
        *self.past_documents.get_or_init(|| past_document::tells_no_more(vocabulary, &self.suffixes))
    }

    /// The nodes of the vocabulary's trie by their bytes.
    pub(crate) fn nodes_by_byte(&self, vocabulary: &Vocabulary) -> &NodesByByte {
        self.nodes_by_byte.get_or_init(|| NodesByByte::from_trie(vocabulary.trie()))
    }

    /// Makes what nearly every index needs: the masks of unconstrained strings, at every distance from a bound. Some
    /// tens of milliseconds for 128,000 tokens; without it the first indexes pay.
    pub fn warm(&self, vocabulary: &Vocabulary) {
        let needed = self.any_text_with(EscapeUse::Needed);
        for (any, inside) in [(&self.any_text, true), (needed, true), (&self.any_raw, false)] {
            let l = &any.lexeme;
            let state = if inside { l.next(l.start(), b'"') } else { l.start() };
            self.submask(vocabulary, any, state, 0, TrieKind::Tokens, 0);
            if inside {
                self.rooms(vocabulary, l.kind());
                self.submask(vocabulary, any, l.start(), 0, TrieKind::Tokens, 0);
                self.submask(vocabulary, any, l.start(), 0, TrieKind::WhitespaceSuffixes, 0);
            }
        }
    }

    fn build(vocabulary: &Vocabulary) -> Result<Arc<VocabTables>> {
        let trie = vocabulary.trie();
        let Survey { reach, single, mut blanks, mut suffixes, blank_reach, mut quoted, mut long } =
            Survey::new(vocabulary);
        blanks.sort_unstable();
        let blank_suffixes = Trie::build(&mut suffixes)?;
        let brackets = |t: &Trie| t.children(0).filter(|&n| b"\"{}[],:".contains(&t.byte[n as usize])).collect();
        let brackets = [brackets(trie), brackets(&blank_suffixes)];
        let quoted = Trie::build(&mut quoted)?;
        let limits = Limits::default();
        let mut exprs = Exprs::new(limits.max_expr_nodes);
        let any = exprs.any_text();
        let lexeme = Lexeme::compile(&exprs, any, LexemeKind::text(EscapeUse::Any), reach, &limits)?
            .ok_or_else(|| Error::new(ErrorKind::Internal, "any text is not empty"))?;
        let raw = Lexeme::compile(&exprs, any, LexemeKind::Raw, reach, &limits)?
            .ok_or_else(|| Error::new(ErrorKind::Internal, "any text is not empty"))?;
        Ok(Arc::new(VocabTables {
            words: vocabulary.words(),
            kept: KeptBytes::default(),
            reach,
            blanks: blanks.into(),
            blank_children: Children::from_trie(&blank_suffixes),
            blank_suffixes,
            blank_reach,
            brackets,
            children: Children::from_trie(trie),
            quoted_children: Children::from_trie(&quoted),
            spelling: ByteCoverage::from_vocabulary(vocabulary, &single),
            single,
            any_text: Arc::new(MaskedLexeme::new(lexeme, true)),
            needed_text: OnceLock::new(),
            any_raw: Arc::new(MaskedLexeme::new(raw, false)),
            only_closing: OnceLock::new(),
            long_tokens: (long.0, Trie::build(&mut long.1)?),
            subtrees: SubtreeSummaries::from_trie(trie),
            by_length: slice_sets::ByLength::from_vocabulary(vocabulary, long.0),
            char_postings: CharPostings::from_vocabulary(vocabulary),
            slice_sets: slice_sets::SliceSets::default(),
            structural: OnceLock::new(),
            suffixes: SuffixTrie::from_vocabulary(vocabulary)?,
            past_documents: OnceLock::new(),
            nodes_by_byte: OnceLock::new(),
            escapes: AllEscapes::default(),
            crosses: CrossingInterner::default(),
            patches: PatchCache::default(),
            finished: RowCache::default(),
            quoted,
            cache: Mutex::default(),
            measured: GrowthMark::default(),
            counters: Default::default(),
        }))
    }

    /// Any string with these escapes. What is written with those of writers is no more than a part of any string.
    pub(crate) fn any_text_with(&self, escapes: EscapeUse) -> &Arc<MaskedLexeme> {
        if escapes != EscapeUse::Needed {
            return &self.any_text;
        }
        self.needed_text.get_or_init(|| {
            let limits = Limits::default();
            let mut exprs = Exprs::new(limits.max_expr_nodes);
            let any = exprs.any_text();
            let kind = LexemeKind::text(EscapeUse::Needed);
            // The same expression as that of `any_text`, which was compiled.
            match uninterruptible(|| Lexeme::compile(&exprs, any, kind, self.reach, &limits)) {
                Ok(Some(lexeme)) => Arc::new(MaskedLexeme::new(lexeme, true)),
                _ => unreachable!("any text is compiled within the default limits"),
            }
        })
    }

    /// Strings without constraints but length: all bounds share states and masks.
    pub fn any_text_of(&self, min: u32, max: u32, escapes: EscapeUse) -> Option<Arc<MaskedLexeme>> {
        let any = self.any_text_with(escapes);
        if (min, max) == (0, INF) {
            return Some(any.clone());
        }
        let lexeme = Arc::new(any.lexeme.any_text_of(min, max)?);
        Some(Arc::new(MaskedLexeme { lexeme, masks: any.masks.clone(), used: AtomicU64::new(0) }))
    }

    /// The lexeme of any text of a kind.
    pub(crate) fn any(&self, kind: LexemeKind) -> &MaskedLexeme {
        if kind == LexemeKind::Raw { &self.any_raw } else { self.any_text_with(kind.escapes()) }
    }

    /// Whether the masks of two states are the same, decided once.
    pub(crate) fn count_is_idle(
        &self,
        l: &MaskedLexeme,
        low: StateId,
        high: StateId,
        decide: impl FnOnce() -> bool,
    ) -> bool {
        let known = l.masks.idle.read().unwrap_or_else(|p| p.into_inner()).get(&(low, high)).copied();
        known.unwrap_or_else(|| {
            /// Pairs that are remembered.
            const MOST_PAIRS: usize = 1 << 16;
            let same = decide();
            let mut idle = l.masks.idle.write().unwrap_or_else(|p| p.into_inner());
            if idle.len() >= MOST_PAIRS {
                idle.clear();
            }
            idle.insert((low, high), same);
            same
        })
    }

    /// Takes a mask into the lexeme's own, where there is room for it, or into those that are forgotten when they fill
    /// theirs; `root` says that no register bounds it at the root of the vocabulary's trie.
    pub(super) fn keep(
        &self,
        masks: &StateMasks,
        key: LexemeMaskKey,
        root: bool,
        made: Arc<LexemeMask>,
    ) -> Arc<LexemeMask> {
        let size = made.memory_bytes();
        let (most_others, keeps) = room_of_masks();
        let room = masks.grow(size) < masks.most.load(Ordering::Relaxed) && keeps;
        if root && room {
            masks.roots.set(key.state, made.clone());
            return masks.roots.get(key.state).cloned().unwrap_or(made);
        }
        let mut others = masks.others.write().unwrap_or_else(|p| p.into_inner());
        let held = masks.others_bytes.load(Ordering::Relaxed);
        if held > most_others && !room {
            others.clear();
            masks.needs.write().unwrap_or_else(|p| p.into_inner()).clear();
            masks.others_bytes.store(0, Ordering::Relaxed);
            masks.shrink(held);
        }
        masks.others_bytes.fetch_add(size, Ordering::Relaxed);
        others.entry(key).or_insert(made).clone()
    }

    /// The mask of a state that no register bounds, at the root.
    pub(super) fn far_mask(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Arc<LexemeMask> {
        let masks = &lexeme.masks;
        if let Some(m) = masks.roots.get(state) {
            return m.clone();
        }
        let key = LexemeMaskKey { state, room: INF, need: 0, span: INF, walked: TrieKind::Tokens, node: 0 };
        // With room left it would be among the roots.
        if masks.others_bytes.load(Ordering::Relaxed) > 0
            && let Some(m) = masks.other(&key)
        {
            return m;
        }
        // The ends of all texts have the same mask, and no patch or row of their own.
        if masks.crosses && lexeme.lexeme.only_closes(state) {
            let made = self.only_closing.get_or_init(|| Arc::new(self.root(vocabulary, lexeme, state, None)));
            return self.keep(masks, key, true, made.clone());
        }
        self.counters.mask_walks.fetch_add(1, Ordering::Relaxed);
        let made = Arc::new(self.root(vocabulary, lexeme, state, None));
        charge(made.inner.steps());
        self.keep(masks, key, true, made)
    }

    /// A mask at the root; `count` is the register, or `None` where it bounds nothing.
    fn root(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId, count: Option<u32>) -> LexemeMask {
        let l = &*lexeme.lexeme;
        let text = l.kind() != LexemeKind::Raw;
        let crosses = lexeme.masks.crosses;
        let whole = |t| vocabulary.token_bytes(t).unwrap_or_default();
        // Raw lexemes inside a document end at any accepting state, so their suffixes need the full walk; they are
        // numbers and words, and sparse.
        if !text && crosses {
            let trie = self.with_children(vocabulary, TrieKind::Tokens);
            let found = walk(l, trie, 0, state, count, crosses);
            let cross = self.crosses.intern(&found, (TrieKind::Tokens, 0), whole);
            return found.finish(self.words, cross);
        }
        if text && let Some(found) = walk_list(l, self.with_children(vocabulary, TrieKind::Tokens), 0, state, crosses) {
            let cross = self.crosses.intern(&found, (TrieKind::Tokens, 0), whole);
            return found.finish(self.words, cross);
        }
        let inner = inner::inner(self, vocabulary, lexeme, state, count);
        if !text {
            return LexemeMask { inner, cross: None };
        }
        let counted = if count.is_none() { inner::counted_cross(self, vocabulary, lexeme, state) } else { None };
        let cross = counted.unwrap_or_else(|| self.text_cross(vocabulary, l, state, count));
        LexemeMask { inner, cross }
    }

    /// The mask of a state of a whole pattern.
    pub fn root_mask(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Arc<LexemeMask> {
        self.submask(vocabulary, lexeme, state, 0, TrieKind::Tokens, 0)
    }

    /// The mask of a lexeme state at the root, if it was made before and no register bounds it, or only the length of
    /// any text.
    #[inline]
    pub fn known_mask<'l>(&self, lexeme: &'l MaskedLexeme, state: StateId, count: u32) -> Option<&'l Arc<LexemeMask>> {
        let l = &*lexeme.lexeme;
        match l.room_and_need(count) {
            (INF, 0) => lexeme.masks.roots.get(l.known_mask_state(state)?),
            (room, 0) if room < INF && l.is_any_text() && l.state(state).accepting => {
                lexeme.masks.rooms.get()?.get(room as usize)
            }
            _ => None,
        }
    }

    /// The mask of a state that no register bounds, if it was made before and is kept.
    pub(crate) fn known_root(&self, lexeme: &MaskedLexeme, state: StateId) -> Option<Arc<LexemeMask>> {
        lexeme.masks.roots.get(state).cloned()
    }

    /// The mask of a lexeme state (with its register) below a trie node.
    pub fn submask(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
        count: u32,
        walked: TrieKind,
        node: u32,
    ) -> Arc<LexemeMask> {
        let l = &lexeme.lexeme;
        let (room, need) = l.room_and_need(count);
        let free = room == INF && need == 0;
        // A count that is out of a token's reach is not out of a length's.
        let key_state = if free { l.mask_state(state) } else { state };
        let root = walked == TrieKind::Tokens && node == 0;
        if free && root {
            return self.far_mask(vocabulary, lexeme, key_state);
        }
        if root && l.has_rooms((room, need)) {
            if l.state(state).accepting {
                let rooms = lexeme.masks.rooms.get_or_init(|| self.room_masks(vocabulary, l, state));
                if let Some(m) = rooms.get(room as usize) {
                    return m.clone();
                }
            } else if let Some(m) = self.inside_masks(vocabulary, lexeme, state).get(room as usize) {
                return m.clone();
            }
        }
        let span = match l.kind() {
            LexemeKind::Text { min, max, .. } if !free && max < INF => max.saturating_sub(min),
            _ => INF,
        };
        let key = LexemeMaskKey { state: key_state, room, need, span, walked, node };
        if let Some(m) = lexeme.masks.other(&key) {
            return m;
        }
        self.counters.mask_walks.fetch_add(1, Ordering::Relaxed);
        if root {
            let near = self.near_bound(vocabulary, lexeme, state, count);
            let made = near.unwrap_or_else(|| self.root(vocabulary, lexeme, state, Some(count)));
            return self.keep(&lexeme.masks, key, false, Arc::new(made));
        }
        let trie = self.with_children(vocabulary, walked);
        let found = walk(l, trie, node, key_state, (!free).then_some(count), lexeme.masks.crosses);
        let cross = self.crosses.intern(&found, (walked, node), |t| self.rest_of(vocabulary, t, walked, node));
        let made = Arc::new(found.finish(self.words, cross));
        charge(made.inner.steps());
        self.keep(&lexeme.masks, key, false, made)
    }
}
