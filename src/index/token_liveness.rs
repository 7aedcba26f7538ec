//! Liveness by tokens: patterns over vocabularies that lack tokens of single bytes.
//!
//! A state of an automaton is live by bytes if some bytes lead from it to the end. If every byte that the pattern uses
//! is a token of its own, those bytes are tokens and nothing more is to be known. Otherwise a state is *live* only if
//! it accepts, or some token leads from it to a live state: a least fixpoint over the graph whose edges are tokens.
//!
//! It is found once, when an index is compiled. Every state is looked at that bytes reach, but for bytes that no token
//! contains. Backwards from accepting states, tokens of single bytes make most states live at no cost, and states that
//! no bytes lead on from are dead; from each of the others the vocabulary's trie is walked, until a token ends in a
//! live state. What the walks found is followed backwards in turn. A mask keeps the tokens that end in live states,
//! whatever the states are that they pass through.
//!
//! `docs/internals/missing-bytes.md` has an example.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::expr::ByteSet;
use crate::lexeme::{CLOSED, Lexeme, StateId};
use crate::limits::{Limits, MASK_BYTES};
use crate::mask::lexeme::lexeme_mask::TokenSet;
use crate::util::append_vec::AppendVec;
use crate::util::cancel::{checkpoint, poll};
use crate::vocab::{Trie, Vocabulary};

/// What exploring finds.
pub enum Explored {
    /// Every state is live: masks need no filter.
    All,
    /// No sequence of tokens is accepted.
    Nothing,
    /// Some states are dead.
    Some(Box<TokenLive>),
}

/// The dead states of a pattern over a vocabulary that lacks tokens of single bytes, and the masks that avoid them.
pub struct TokenLive {
    dead: Box<[u64]>,
    masks: AppendVec<TokenSet>,
    bytes: AtomicUsize,
    /// Bytes of masks that are kept.
    most: AtomicUsize,
}

struct Graph<'a> {
    lexeme: &'a Lexeme,
    trie: &'a Trie,
    order: Vec<StateId>,
    index: FxHashMap<StateId, u32>,
    /// For each state, those that one token leads to it from, as far as it was looked for.
    parents: Vec<Vec<u32>>,
    /// For each state, those from which one byte that some token contains leads to it.
    near: Vec<Vec<u32>>,
    live: Vec<bool>,
    steps: usize,
    max_steps: usize,
}

/// The error of a search that only vocabularies need which lack bytes.
fn exceeded(what: &str, limit: usize, found: usize) -> Error {
    let (limit, found) = (limit as u64, found as u64);
    Error::limit(what, limit, found).saying(format!(
        "{what} explored by tokens exceeds its limit: {found} > {limit}. The vocabulary has no token for some single \
         bytes, so what its tokens can spell is searched for; with a token for every byte, nothing would be"
    ))
}

impl Graph<'_> {
    /// Finds every state that bytes reach and the edges of single bytes that are tokens.
    fn bytes(&mut self, single: &ByteSet, max_states: usize) -> Result<()> {
        let mut occurs = [false; 256];
        self.trie.byte.iter().skip(1).for_each(|&b| occurs[b as usize] = true);
        let mut at = 0;
        while at < self.order.len() {
            let from = self.order[at];
            let (mut last, mut last_single) = (0, false);
            for byte in 0..=255u8 {
                let to = self.lexeme.next(from, byte);
                let one = single[byte as usize];
                if to <= CLOSED || !occurs[byte as usize] || (to == last && (last_single || !one)) {
                    continue;
                }
                (last, last_single) = (to, one);
                let n = self.order.len() as u32;
                let to = *self.index.entry(to).or_insert_with(|| {
                    self.order.push(to);
                    self.parents.push(Vec::new());
                    self.near.push(Vec::new());
                    n
                });
                let add = |list: &mut Vec<u32>| {
                    if list.last() != Some(&(at as u32)) {
                        list.push(at as u32);
                    }
                };
                add(&mut self.near[to as usize]);
                if one {
                    add(&mut self.parents[to as usize]);
                }
            }
            if self.order.len() > max_states {
                return Err(exceeded("states", max_states, self.order.len()).set_by("max_token_states"));
            }
            checkpoint()?;
            at += 1;
        }
        self.live = vec![false; self.order.len()];
        Ok(())
    }

    fn spread(&mut self, work: Vec<u32>) {
        spread(&self.parents, work, &mut self.live);
    }

    fn check_steps(&self) -> Result<()> {
        poll()?;
        if self.steps > self.max_steps {
            return Err(exceeded("steps", self.max_steps, self.steps).set_by("max_token_steps"));
        }
        Ok(())
    }

    /// Whether a token leads from `from` to a live state; where none does, the states that tokens lead to are
    /// remembered as its successors.
    fn walk(&mut self, from: u32) -> Result<bool> {
        let trie = self.trie;
        let mut stack = vec![self.order[from as usize]; 64];
        let mut ends: Vec<u32> = Vec::new();
        let mut node = 1;
        while node < trie.len() as u32 {
            let depth = trie.depth[node as usize] as usize;
            let to = self.lexeme.next(stack[depth - 1], trie.byte[node as usize]);
            self.steps += 1;
            if to <= CLOSED {
                node = trie.end[node as usize];
                continue;
            }
            if depth >= stack.len() {
                stack.resize(depth * 2, to);
            }
            stack[depth] = to;
            if !trie.tokens(node).is_empty() {
                // Every byte of a token was followed above.
                let end = self.index.get(&to).copied().unwrap_or(from);
                if self.live[end as usize] {
                    return self.check_steps().map(|()| true);
                }
                if end != from && ends.last() != Some(&end) {
                    ends.push(end);
                }
            }
            node += 1;
        }
        self.check_steps()?;
        ends.sort_unstable();
        ends.dedup();
        for end in ends {
            self.parents[end as usize].push(from);
        }
        Ok(false)
    }
}

/// Marks everything that `work` is reached from.
fn spread(parents: &[Vec<u32>], mut work: Vec<u32>, marked: &mut [bool]) {
    while let Some(i) = work.pop() {
        if !std::mem::replace(&mut marked[i as usize], true) {
            work.extend_from_slice(&parents[i as usize]);
        }
    }
}

impl TokenLive {
    /// Decides for every state that `lexeme` can reach whether tokens lead from it to acceptance. `single` are the
    /// bytes that are tokens.
    ///
    /// # Errors
    /// `Limit` where that takes more states or more steps than the limits allow.
    pub fn explore(lexeme: &Lexeme, trie: &Trie, single: &ByteSet, limits: &Limits) -> Result<Explored> {
        let start = lexeme.start();
        let mut g = Graph {
            lexeme,
            trie,
            order: vec![start],
            index: FxHashMap::from_iter([(start, 0)]),
            parents: vec![Vec::new()],
            near: vec![Vec::new()],
            live: Vec::new(),
            steps: 0,
            max_steps: limits.max_token_steps,
        };
        g.bytes(single, limits.max_token_states)?;
        let accepting: Vec<u32> =
            (0..g.order.len() as u32).filter(|&i| lexeme.state(g.order[i as usize]).accepting).collect();
        let mut possible = vec![false; g.order.len()];
        spread(&g.near, accepting.clone(), &mut possible);
        g.spread(accepting);
        // States that were found late are mostly closer to the end.
        for i in (0..g.order.len() as u32).rev() {
            if possible[i as usize] && !g.live[i as usize] && g.walk(i)? {
                g.spread(vec![i]);
            }
        }
        if !g.live[0] {
            return Ok(Explored::Nothing);
        }
        if g.live.iter().all(|&l| l) {
            return Ok(Explored::All);
        }
        let most = g.order.iter().copied().max().unwrap_or(start) as usize;
        let mut dead = vec![0u64; most / 64 + 1];
        for (&s, &live) in g.order.iter().zip(&g.live) {
            dead[s as usize / 64] |= u64::from(!live) << (s % 64);
        }
        let bytes = AtomicUsize::new(dead.len() * 8);
        Ok(Explored::Some(Box::new(TokenLive {
            dead: dead.into(),
            masks: AppendVec::default(),
            bytes,
            most: AtomicUsize::new(MASK_BYTES),
        })))
    }

    /// Keeps up to `bytes` of masks from now on, where that is more than before.
    pub fn keep_masks(&self, bytes: usize) {
        self.most.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Whether tokens lead from a state to acceptance.
    #[inline]
    pub fn is_live(&self, state: StateId) -> bool {
        self.dead.get(state as usize / 64).is_none_or(|w| w >> (state % 64) & 1 == 0)
    }

    /// The tokens that lead from `state` to a live state. Made on use, by one walk of the trie, and
    /// kept up to [`MASK_BYTES`].
    pub fn mask(&self, lexeme: &Lexeme, vocabulary: &Vocabulary, state: StateId) -> TokenSet {
        if let Some(m) = self.masks.get(state) {
            return m.clone();
        }
        let trie = vocabulary.trie();
        let mut row = vec![0u32; vocabulary.words()];
        let step = |at, byte| Some(lexeme.next(at, byte)).filter(|&to| to > CLOSED);
        trie.walk(state, step, |node, to| {
            if self.is_live(to) {
                for &t in trie.tokens(node) {
                    row[t as usize >> 5] |= 1 << (t & 31);
                }
            }
        });
        let size = row.len() * 4;
        let made = TokenSet::Dense(row.into());
        if self.bytes.load(Ordering::Relaxed) < self.most.load(Ordering::Relaxed) {
            self.bytes.fetch_add(size, Ordering::Relaxed);
            self.masks.set(state, made.clone());
        }
        made
    }

    /// The bytes that every accepted sequence of tokens from the live `state` begins with, at most `max`, up to the
    /// first place where a sequence may end.
    pub fn forced(&self, lexeme: &Lexeme, trie: &Trie, state: StateId, max: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = state;
        // The bytes so far lead to one state; where in a token they end may be open. The root is between tokens.
        let mut nodes = vec![0u32];
        while out.len() < max && !(nodes.contains(&0) && lexeme.state(at).accepting) {
            let mut next: Option<(u8, StateId, Vec<u32>)> = None;
            for &node in &nodes {
                for child in trie.children(node) {
                    let byte = trie.byte[child as usize];
                    let to = lexeme.next(at, byte);
                    if to <= CLOSED {
                        continue;
                    }
                    let ends = !trie.tokens(child).is_empty() && self.is_live(to);
                    let goes_on = self.leads_on(lexeme, trie, child, to);
                    if !ends && !goes_on {
                        continue;
                    }
                    let (only, _, found) = next.get_or_insert_with(|| (byte, to, Vec::new()));
                    if *only != byte {
                        return out;
                    }
                    found.extend(ends.then_some(0));
                    found.extend(goes_on.then_some(child));
                }
            }
            let Some((byte, to, mut found)) = next else { break };
            found.sort_unstable();
            found.dedup();
            out.push(byte);
            (at, nodes) = (to, found);
        }
        out
    }

    /// Whether a token below `node` leads from `state` to a live state.
    fn leads_on(&self, lexeme: &Lexeme, trie: &Trie, node: u32, state: StateId) -> bool {
        let base = trie.depth[node as usize];
        let mut stack = vec![state];
        let mut i = node + 1;
        while i < trie.end[node as usize] {
            stack.truncate((trie.depth[i as usize] - base) as usize);
            let to = stack.last().map_or(state, |&from| lexeme.next(from, trie.byte[i as usize]));
            if to <= CLOSED {
                i = trie.end[i as usize];
                continue;
            }
            if !trie.tokens(i).is_empty() && self.is_live(to) {
                return true;
            }
            stack.push(to);
            i += 1;
        }
        false
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
