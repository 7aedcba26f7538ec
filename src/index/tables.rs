//! What one vocabulary contributes to every index over it.
//!
//! * the *whitespace tails*: tokens that begin with JSON whitespace, by what follows it, so that a mask need not visit
//!   five hundred runs of blanks one by one;
//! * the cache of lexemes with their masks, shared by all indexes of the vocabulary, bounded in bytes, evicted by least
//!   recent use. An index keeps its own lexemes alive, so eviction never breaks one.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use super::children::Children;
use super::inner;
use super::rows::ByteRows;
use super::share::Shares;
use super::spelling::Spelling;
use super::submask::{Found, Inner, SubMask, walk};
use super::tails::Tails;
use crate::automaton::append::AppendVec;
use crate::automaton::lexeme::{Kind, Lexeme, StateId};
use crate::automaton::saturate::Reach;
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{ByteSet, ExprId, Exprs, INF};
use crate::limits::{CACHE_BYTES, LATE_MASK_BYTES, Limits, MASK_BYTES, MEASURE_BYTES};
use crate::vocab::{Trie, Vocabulary};
use crate::work::unwatched;

/// Tokens that count as long: few enough to be stepped one by one.
const LONG_TOKENS: usize = 4_000;

/// What a lexeme is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing: it is the whole output.
    Whole,
    /// A JSON document.
    Value,
    /// Nothing either: the keys of an object, as they decode. Their quoted form is asked for next.
    Keys,
}

/// Which trie a mask was walked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Walked {
    /// The vocabulary's own.
    Tokens,
    /// The tails of tokens that begin with whitespace.
    WhitespaceTails,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MaskKey {
    state: StateId,
    room: u32,
    need: u32,
    /// Most less fewest code points, where the bounds matter: lexemes of one expression share masks.
    span: u32,
    walked: Walked,
    node: u32,
}

/// A lexeme and its masks over one vocabulary.
pub struct MaskedLexeme {
    /// The automaton.
    pub lexeme: Arc<Lexeme>,
    masks: Arc<Masks>,
    used: AtomicU64,
}

/// Masks by state; lexemes that share their states share these.
struct Masks {
    /// Masks list crossing tokens: the lexeme is part of something. A whole pattern is not.
    crosses: bool,
    roots: AppendVec<Arc<SubMask>>,
    /// Emptied when full: nobody holds a mask for long.
    others: RwLock<FxHashMap<MaskKey, Arc<SubMask>>>,
    others_bytes: AtomicUsize,
    /// Bytes of masks that are kept.
    most: AtomicUsize,
    /// Of any text between two characters, by room.
    rooms: OnceLock<Vec<Arc<SubMask>>>,
    /// Of any text inside a character or an escape, by state and room.
    inside: RwLock<FxHashMap<StateId, Arc<[Arc<SubMask>]>>>,
    /// Pairs of states whose masks were compared.
    idle: RwLock<FxHashMap<(StateId, StateId), bool>>,
    /// Masks being made right now, each for the sake of the one before.
    making: AtomicU32,
    bytes: AtomicUsize,
}

/// See the module's story.
pub struct Tables {
    /// Words of a mask row.
    pub words: usize,
    /// How far one token can drive a loop.
    pub reach: Reach,
    /// Tokens of whitespace only: length and id, by length.
    pub blanks: Box<[(u32, u32)]>,
    /// Tokens that begin with whitespace, by what follows; only tails that can begin or end something in JSON.
    pub blank_tails: Trie,
    /// The longest run of whitespace in front of a tail.
    pub blank_reach: u32,
    /// Children of the root, by trie, whose byte is one of `"{}[],:`.
    pub brackets: [Box<[u32]>; 2],
    /// The children of the vocabulary's trie.
    children: Children,
    /// The bytes that are tokens of their own.
    pub single: ByteSet,
    /// What narrows JSON documents, where bytes that they contain are no tokens.
    pub spelling: Option<Spelling>,
    /// Any string, unbounded.
    pub any_text: Arc<MaskedLexeme>,
    /// Any text that is the whole output.
    any_raw: Arc<MaskedLexeme>,
    byte_rows: OnceLock<ByteRows>,
    /// A length, and the tokens that are longer: at most a few thousand.
    long: (u32, Trie),
    /// What tokens spell between values.
    pub tails: Tails,
    /// Finished parts of masks.
    pub shares: Shares,
    /// Tokens that contain a quote: the only ones that can end a string.
    quoted: Trie,
    cache: Mutex<Cache>,
    /// Bytes of masks made since the cache was measured.
    unmeasured: AtomicUsize,
    counters: Counters,
}

#[derive(Default)]
struct Cache {
    lexemes: FxHashMap<Box<[u32]>, Arc<MaskedLexeme>>,
    clock: u64,
}

/// Monotonic counters of one vocabulary's cache.
#[derive(Default)]
struct Counters {
    lexeme_hits: AtomicU64,
    lexeme_misses: AtomicU64,
    mask_walks: AtomicU64,
    mask_hits: AtomicU64,
    mask_misses: AtomicU64,
    evictions: AtomicU64,
}

/// A reading of the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    /// Lexemes found in the cache.
    pub lexeme_hits: u64,
    /// Lexemes compiled.
    pub lexeme_misses: u64,
    /// Walks of a trie to make a mask.
    pub mask_walks: u64,
    /// Masks that an index remembered.
    pub mask_hits: u64,
    /// Masks that an index put together to remember them.
    pub mask_misses: u64,
    /// Parts of masks put together for all indexes.
    pub parts: u64,
    /// Lexemes evicted.
    pub evictions: u64,
    /// Lexemes held.
    pub lexemes: u64,
    /// Bytes held by lexemes, their masks and parts of masks.
    pub bytes: u64,
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}

fn longest_run(bytes: &[u8], is: impl Fn(u8) -> bool) -> u32 {
    let mut best = 0;
    let mut run = 0;
    for &b in bytes {
        run = if is(b) { run + 1 } else { 0 };
        best = best.max(run);
    }
    best
}

impl Tables {
    /// The tables of a vocabulary, made on first use: some tens of milliseconds for 128,000 tokens.
    pub fn of(vocabulary: &Vocabulary) -> Result<Arc<Tables>> {
        vocabulary
            .extension()
            .get_or_init(|| unwatched(|| Tables::build(vocabulary)))
            .ok_or_else(|| Error::new(ErrorKind::Internal, "the vocabulary's tables have another type"))?
            .as_ref()
            .as_ref()
            .map(Arc::clone)
            .map_err(Error::clone)
    }

    /// Makes what nearly every index needs: the masks of unconstrained strings, at every distance from a bound, and the
    /// rows by byte. Some tens of milliseconds for 128,000 tokens; without it the first indexes pay.
    pub fn warm(&self, vocabulary: &Vocabulary) {
        self.byte_rows(vocabulary);
        for (any, inside) in [(&self.any_text, true), (&self.any_raw, false)] {
            let l = &any.lexeme;
            let state = if inside { l.next(l.start(), b'"') } else { l.start() };
            self.submask(vocabulary, any, state, 0, Walked::Tokens, 0);
            if inside {
                any.masks.rooms.get_or_init(|| self.room_masks(vocabulary, l, state));
                self.submask(vocabulary, any, l.start(), 0, Walked::Tokens, 0);
                self.submask(vocabulary, any, l.start(), 0, Walked::WhitespaceTails, 0);
            }
        }
    }

    fn build(vocabulary: &Vocabulary) -> Result<Arc<Tables>> {
        let trie = vocabulary.trie();
        let mut reach = Reach { digits: 1, word: 1, any: 1 };
        let mut blanks = Vec::new();
        let mut tails: Vec<(&[u8], u32)> = Vec::new();
        let mut quoted: Vec<(&[u8], u32)> = Vec::new();
        let mut blank_reach = 0;
        let mut single = [false; 256];
        for &id in trie.subtree_tokens(0) {
            let Some(bytes) = vocabulary.token_bytes(id) else { continue };
            reach.any = reach.any.max(bytes.len() as u32);
            reach.digits = reach.digits.max(longest_run(bytes, |b| b.is_ascii_digit()));
            reach.word = reach.word.max(longest_run(bytes, |b| b.is_ascii_alphanumeric() || b == b'_'));
            if bytes.contains(&b'"') {
                quoted.push((bytes, id));
            }
            if let [b] = bytes {
                single[*b as usize] = true;
            }
            let run = bytes.iter().take_while(|b| is_blank(**b)).count();
            if run == 0 {
                continue;
            }
            match bytes.get(run) {
                None => blanks.push((run as u32, id)),
                Some(b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                    tails.push((&bytes[run..], id));
                    blank_reach = blank_reach.max(run as u32);
                }
                Some(_) => {}
            }
        }
        blanks.sort_unstable();
        let length = |t: u32| vocabulary.token_bytes(t).map_or(0, |b| b.len() as u32);
        let mut by_length: Vec<u32> = trie.subtree_tokens(0).to_vec();
        by_length.sort_unstable_by_key(|&t| std::cmp::Reverse(length(t)));
        let reach_of_most = by_length.get(LONG_TOKENS).map_or(0, |&t| length(t)).max(1);
        by_length.retain(|&t| length(t) > reach_of_most);
        let mut long: Vec<(&[u8], u32)> =
            by_length.iter().filter_map(|&t| vocabulary.token_bytes(t).map(|b| (b, t))).collect();
        let blank_tails = Trie::build(&mut tails)?;
        let brackets = |t: &Trie| t.children(0).filter(|&n| b"\"{}[],:".contains(&t.byte[n as usize])).collect();
        let brackets = [brackets(trie), brackets(&blank_tails)];
        let limits = Limits::default();
        let mut exprs = Exprs::new(limits.max_expr_nodes);
        let any = exprs.any_text();
        let lexeme = Lexeme::compile(&exprs, any, Kind::Text { min: 0, max: INF }, reach, &limits)?
            .ok_or_else(|| Error::new(ErrorKind::Internal, "any text is not empty"))?;
        let raw = Lexeme::compile(&exprs, any, Kind::Raw, reach, &limits)?
            .ok_or_else(|| Error::new(ErrorKind::Internal, "any text is not empty"))?;
        Ok(Arc::new(Tables {
            words: vocabulary.words(),
            reach,
            blanks: blanks.into(),
            blank_tails,
            blank_reach,
            brackets,
            children: Children::of(trie),
            spelling: Spelling::of(vocabulary, &single),
            single,
            any_text: Arc::new(MaskedLexeme::new(lexeme, true)),
            any_raw: Arc::new(MaskedLexeme::new(raw, false)),
            byte_rows: OnceLock::new(),
            long: (reach_of_most, Trie::build(&mut long)?),
            tails: Tails::of(vocabulary)?,
            shares: Shares::default(),
            quoted: Trie::build(&mut quoted)?,
            cache: Mutex::default(),
            unmeasured: AtomicUsize::new(0),
            counters: Counters::default(),
        }))
    }

    /// The lexeme of `expr`, from the cache if any index compiled it before. `None` if it accepts nothing.
    pub fn lexeme(
        &self,
        source: &mut Exprs,
        expr: ExprId,
        kind: Kind,
        role: Role,
        limits: &Limits,
    ) -> Result<Option<Arc<MaskedLexeme>>> {
        let mut key = match kind {
            Kind::Raw => vec![if role == Role::Value { 0 } else { 2 }, 0, 0],
            Kind::Text { min, max } => vec![1, min, max],
            Kind::Constant => vec![4, 0, 0],
        };
        source.content(expr, &mut key);
        // Bounded text whose states know their lengths is kept once for all bounds, under a key without them.
        let bounds = match kind {
            Kind::Text { min, max } if min > 0 || max < INF => Some((min, max)),
            _ => None,
        };
        let unbounded = |key: &[u32]| -> Box<[u32]> { [&[3, 0, 0], &key[3..]].concat().into() };
        {
            let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
            cache.clock += 1;
            let hit = |l: &Arc<MaskedLexeme>| {
                l.used.store(cache.clock, Ordering::Relaxed);
                self.counters.lexeme_hits.fetch_add(1, Ordering::Relaxed);
            };
            if let Some((min, max)) = bounds
                && let Some(l) = cache.lexemes.get(&unbounded(&key))
            {
                hit(l);
                return Ok(l.with_bounds(min, max));
            }
            if let Some(l) = cache.lexemes.get(key.as_slice()) {
                hit(l);
                return Ok(Some(l.clone()));
            }
        }
        self.counters.lexeme_misses.fetch_add(1, Ordering::Relaxed);
        if role == Role::Keys && source.is_product(expr) {
            source.decide_live(expr, limits.max_explored_states)?;
        }
        let Some(lexeme) = Lexeme::compile(source, expr, kind, self.reach, limits)? else { return Ok(None) };
        let made = Arc::new(MaskedLexeme::new(lexeme, role == Role::Value));
        made.masks.bytes.store(key.len() * 4, Ordering::Relaxed);
        let shares = bounds.is_some() && made.lexeme.has_lengths();
        let key = if shares { unbounded(&key).into_vec() } else { key };
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        made.used.store(cache.clock, Ordering::Relaxed);
        let kept = cache.lexemes.entry(key.into_boxed_slice()).or_insert(made).clone();
        if cache.lexemes.len().is_multiple_of(64) || self.unmeasured.load(Ordering::Relaxed) > MEASURE_BYTES {
            self.unmeasured.store(0, Ordering::Relaxed);
            self.evict(&mut cache, CACHE_BYTES);
        }
        match bounds {
            // Another thread may have made it first, with bounds of its own.
            Some((min, max)) if shares => Ok(kept.with_bounds(min, max)),
            _ => Ok(Some(kept)),
        }
    }

    fn evict(&self, cache: &mut Cache, limit: usize) {
        let size = |l: &MaskedLexeme| l.masks.bytes.load(Ordering::Relaxed) + l.lexeme.memory_bytes();
        let mut total: usize = cache.lexemes.values().map(|l| size(l)).sum();
        if total <= limit {
            return;
        }
        let mut by_age: Vec<(u64, Box<[u32]>)> =
            cache.lexemes.iter().map(|(k, l)| (l.used.load(Ordering::Relaxed), k.clone())).collect();
        by_age.sort_unstable();
        for (_, key) in by_age {
            // Leave room, so that the next insertions do not evict again.
            if total <= limit / 4 * 3 {
                break;
            }
            if let Some(l) = cache.lexemes.remove(&key) {
                total -= size(&l).min(total);
                self.counters.evictions.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Forgets every cached lexeme. Indexes keep their own.
    pub fn clear(&self) {
        let mut cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        self.counters.evictions.fetch_add(cache.lexemes.len() as u64, Ordering::Relaxed);
        cache.lexemes.clear();
        self.shares.clear();
    }

    /// The counters now.
    pub fn stats(&self) -> TableStats {
        let cache = self.cache.lock().unwrap_or_else(|p| p.into_inner());
        let c = &self.counters;
        TableStats {
            lexeme_hits: c.lexeme_hits.load(Ordering::Relaxed),
            lexeme_misses: c.lexeme_misses.load(Ordering::Relaxed),
            mask_walks: c.mask_walks.load(Ordering::Relaxed),
            mask_hits: c.mask_hits.load(Ordering::Relaxed),
            mask_misses: c.mask_misses.load(Ordering::Relaxed),
            parts: self.shares.made(),
            evictions: c.evictions.load(Ordering::Relaxed),
            lexemes: cache.lexemes.len() as u64,
            bytes: cache
                .lexemes
                .values()
                .map(|l| (l.masks.bytes.load(Ordering::Relaxed) + l.lexeme.memory_bytes()) as u64)
                .sum::<u64>()
                + self.shares.memory_bytes() as u64,
        }
    }

    /// Counts a mask that an index remembered, or did not.
    pub(super) fn count_mask(&self, remembered: bool) {
        let counter = if remembered { &self.counters.mask_hits } else { &self.counters.mask_misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The bytes of a token below a node of a trie.
    pub fn rest_of<'v>(&self, vocabulary: &'v Vocabulary, token: u32, walked: Walked, node: u32) -> &'v [u8] {
        let bytes = vocabulary.token_bytes(token).unwrap_or_default();
        let blanks = match walked {
            Walked::Tokens => 0,
            Walked::WhitespaceTails => bytes.iter().take_while(|b| is_blank(**b)).count(),
        };
        let depth = self.trie(vocabulary, walked).depth[node as usize] as usize;
        bytes.get(blanks + depth..).unwrap_or_default()
    }

    /// The trie of a [`Walked`].
    pub fn trie<'a>(&'a self, vocabulary: &'a Vocabulary, walked: Walked) -> &'a Trie {
        match walked {
            Walked::Tokens => vocabulary.trie(),
            Walked::WhitespaceTails => &self.blank_tails,
        }
    }

    /// The child of a node of the trie of a [`Walked`].
    pub fn child(&self, vocabulary: &Vocabulary, walked: Walked, node: u32, byte: u8) -> Option<u32> {
        match walked {
            Walked::Tokens => self.children.child(node, byte),
            Walked::WhitespaceTails => self.trie(vocabulary, walked).child(node, byte),
        }
    }

    /// Whether a token below a node of the vocabulary's trie may go on with a quote.
    pub fn is_quoted(&self, node: u32) -> bool {
        self.children.is_quoted(node)
    }

    /// Strings without constraints but length: all bounds share states and masks.
    pub fn any_text_of(&self, min: u32, max: u32) -> Option<Arc<MaskedLexeme>> {
        if (min, max) == (0, INF) {
            return Some(self.any_text.clone());
        }
        let lexeme = Arc::new(self.any_text.lexeme.any_text_of(min, max)?);
        Some(Arc::new(MaskedLexeme { lexeme, masks: self.any_text.masks.clone(), used: AtomicU64::new(0) }))
    }

    /// The lexeme of any text of a kind.
    pub(super) fn any(&self, kind: Kind) -> &MaskedLexeme {
        if kind == Kind::Raw { &self.any_raw } else { &self.any_text }
    }

    /// A length and the tokens that are longer.
    pub(super) fn long_tokens(&self) -> &(u32, Trie) {
        &self.long
    }

    /// Whether the masks of two states are the same, decided once.
    pub(super) fn count_is_idle(
        &self,
        l: &MaskedLexeme,
        low: StateId,
        high: StateId,
        decide: impl FnOnce() -> bool,
    ) -> bool {
        let known = l.masks.idle.read().unwrap_or_else(|p| p.into_inner()).get(&(low, high)).copied();
        known.unwrap_or_else(|| {
            /// Pairs that are remembered.
            const MOST: usize = 1 << 16;
            let same = decide();
            let mut idle = l.masks.idle.write().unwrap_or_else(|p| p.into_inner());
            if idle.len() >= MOST {
                idle.clear();
            }
            idle.insert((low, high), same);
            same
        })
    }

    /// Takes a mask into the lexeme's own, where there is room for it, or into those that are forgotten when they fill
    /// theirs; `root` says that no register bounds it at the root of the vocabulary's trie.
    fn keep(&self, masks: &Masks, key: MaskKey, root: bool, made: Arc<SubMask>) -> Arc<SubMask> {
        let size = made.memory_bytes();
        self.unmeasured.fetch_add(size, Ordering::Relaxed);
        let room = masks.bytes.fetch_add(size, Ordering::Relaxed) < masks.most.load(Ordering::Relaxed);
        if root && room {
            masks.roots.set(key.state, made.clone());
            return masks.roots.get(key.state).cloned().unwrap_or(made);
        }
        let mut others = masks.others.write().unwrap_or_else(|p| p.into_inner());
        let held = masks.others_bytes.load(Ordering::Relaxed);
        if held > LATE_MASK_BYTES && !room {
            others.clear();
            masks.others_bytes.store(0, Ordering::Relaxed);
            masks.bytes.fetch_sub(held, Ordering::Relaxed);
        }
        masks.others_bytes.fetch_add(size, Ordering::Relaxed);
        others.entry(key).or_insert(made).clone()
    }

    /// Rows by byte, made on first use.
    pub(super) fn byte_rows(&self, vocabulary: &Vocabulary) -> &ByteRows {
        self.byte_rows.get_or_init(|| ByteRows::build(vocabulary))
    }

    /// A mask at the root that no register bounds.
    fn root(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> SubMask {
        let l = &*lexeme.lexeme;
        let text = l.kind() != Kind::Raw;
        let whole = |t| vocabulary.token_bytes(t).unwrap_or_default();
        // Raw lexemes inside a document end at any accepting state, so their tails need the full walk; they are
        // numbers and words, and sparse.
        if text || !lexeme.masks.crosses {
            if let Some(row) =
                inner::row(self, vocabulary, lexeme, state, lexeme.masks.making.fetch_add(1, Ordering::Relaxed))
            {
                lexeme.masks.making.fetch_sub(1, Ordering::Relaxed);
                let crossing = if text { walk(l, &self.quoted, 0, state, None, true) } else { Found::default() };
                return crossing.finish_with(row, whole);
            }
            lexeme.masks.making.fetch_sub(1, Ordering::Relaxed);
        }
        walk(l, vocabulary.trie(), 0, state, None, lexeme.masks.crosses).finish(self.words, whole)
    }

    /// The mask of a state of a whole pattern.
    pub fn root_mask(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Arc<SubMask> {
        self.submask(vocabulary, lexeme, state, 0, Walked::Tokens, 0)
    }

    /// The mask of a lexeme state (with its register) below a trie node.
    pub fn submask(
        &self,
        vocabulary: &Vocabulary,
        lexeme: &MaskedLexeme,
        state: StateId,
        count: u32,
        walked: Walked,
        node: u32,
    ) -> Arc<SubMask> {
        let l = &lexeme.lexeme;
        let (room, need) = l.count_key(count);
        let free = room == INF && need == 0;
        // A count that is out of a token's reach is not out of a length's.
        let key_state = if free { l.mask_state(state) } else { state };
        let root = walked == Walked::Tokens && node == 0;
        if free
            && root
            && let Some(m) = lexeme.masks.roots.get(key_state)
        {
            return m.clone();
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
            Kind::Text { min, max } if !free && max < INF => max.saturating_sub(min),
            _ => INF,
        };
        let key = MaskKey { state: key_state, room, need, span, walked, node };
        let all_kept = lexeme.masks.bytes.load(Ordering::Relaxed) < lexeme.masks.most.load(Ordering::Relaxed);
        if !(free && root && all_kept) {
            let others = lexeme.masks.others.read().unwrap_or_else(|p| p.into_inner());
            if let Some(m) = others.get(&key) {
                return m.clone();
            }
        }
        self.counters.mask_walks.fetch_add(1, Ordering::Relaxed);
        if free && root {
            let made = Arc::new(self.root(vocabulary, lexeme, key_state));
            return self.keep(&lexeme.masks, key, true, made);
        }
        let trie = self.trie(vocabulary, walked);
        let found = walk(l, trie, node, key_state, (!free).then_some(count), lexeme.masks.crosses);
        let made = Arc::new(found.finish(self.words, |t| self.rest_of(vocabulary, t, walked, node)));
        self.keep(&lexeme.masks, key, false, made)
    }

    /// [`room_masks`](Self::room_masks) of a state inside a character or an escape, made once: there are some dozens.
    fn inside_masks(&self, vocabulary: &Vocabulary, lexeme: &MaskedLexeme, state: StateId) -> Arc<[Arc<SubMask>]> {
        let inside = &lexeme.masks.inside;
        if let Some(known) = inside.read().unwrap_or_else(|p| p.into_inner()).get(&state) {
            return known.clone();
        }
        self.counters.mask_walks.fetch_add(1, Ordering::Relaxed);
        let made: Arc<[Arc<SubMask>]> = self.room_masks(vocabulary, &lexeme.lexeme, state).into();
        inside.write().unwrap_or_else(|p| p.into_inner()).entry(state).or_insert(made).clone()
    }

    /// Masks of "any text, at most r more code points" for every r that a token can tell from infinity: a row per r,
    /// each the one before plus the tokens of r code points.
    fn room_masks(&self, vocabulary: &Vocabulary, l: &Lexeme, state: StateId) -> Vec<Arc<SubMask>> {
        let found = walk(l, vocabulary.trie(), 0, state, None, true);
        let mut inner = found.inner.clone();
        inner.sort_unstable_by_key(|t| (t.1, t.0));
        let template = found.finish(self.words, |t| vocabulary.token_bytes(t).unwrap_or_default());
        let mut row = vec![0u32; self.words];
        let mut next = 0;
        let mut out: Vec<Arc<SubMask>> = Vec::new();
        for r in 0..=self.reach.any {
            let before = next;
            while next < inner.len() && inner[next].1 <= r {
                let t = inner[next].0;
                row[t as usize >> 5] |= 1 << (t & 31);
                next += 1;
            }
            if r > 0
                && next == before
                && let Some(last) = out.last().cloned()
            {
                out.push(last);
                continue;
            }
            out.push(Arc::new(SubMask { inner: Inner::of_row(&row), cross: template.cross.clone() }));
        }
        out
    }
}

impl MaskedLexeme {
    /// Approximate bytes held by states and masks.
    pub fn memory_bytes(&self) -> usize {
        self.masks.bytes.load(Ordering::Relaxed) + self.lexeme.memory_bytes()
    }

    /// The same text with other bounds on its length, sharing states and masks. `None` if no member is as long.
    fn with_bounds(&self, min: u32, max: u32) -> Option<Arc<MaskedLexeme>> {
        if self.lexeme.kind() == (Kind::Text { min, max }) {
            let (lexeme, masks) = (self.lexeme.clone(), self.masks.clone());
            return Some(Arc::new(MaskedLexeme { lexeme, masks, used: AtomicU64::new(0) }));
        }
        let lexeme = Arc::new(self.lexeme.with_bounds(min, max)?);
        Some(Arc::new(MaskedLexeme { lexeme, masks: self.masks.clone(), used: AtomicU64::new(0) }))
    }

    /// Keeps up to `bytes` of masks from now on, where that is more than before.
    pub(super) fn keep_masks(&self, bytes: usize) {
        self.masks.most.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Names its masks while it lives: lexemes that share them have one name.
    pub(super) fn masks_at(&self) -> usize {
        Arc::as_ptr(&self.masks) as usize
    }

    /// The same over a copy of its states, with no masks yet.
    pub(super) fn over(&self, lexeme: Arc<Lexeme>) -> Self {
        let masks = MaskedLexeme::masks(self.masks.crosses);
        MaskedLexeme { lexeme, masks: Arc::new(masks), used: AtomicU64::new(0) }
    }

    fn new(lexeme: Lexeme, crosses: bool) -> Self {
        let masks = Arc::new(MaskedLexeme::masks(crosses));
        MaskedLexeme { lexeme: Arc::new(lexeme), masks, used: AtomicU64::new(0) }
    }

    fn masks(crosses: bool) -> Masks {
        Masks {
            crosses,
            roots: AppendVec::default(),
            others: RwLock::default(),
            others_bytes: AtomicUsize::new(0),
            most: AtomicUsize::new(MASK_BYTES),
            rooms: OnceLock::new(),
            inside: RwLock::default(),
            idle: RwLock::default(),
            making: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
        }
    }
}
