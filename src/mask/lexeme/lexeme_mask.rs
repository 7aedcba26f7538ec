//! The mask of one lexeme state: its inner tokens and its crossing tokens.
//!
//! *Inner* tokens stay inside the lexeme and are allowed whatever follows it: a row of bits, or a list where they are
//! few. *Crossing* tokens pass the lexeme's end and are allowed if the rest of their bytes, the *suffix*, fits what
//! follows. They are grouped by suffix in a small trie, since from inside a JSON string a thousand tokens share a
//! hundred suffixes. Both depend on the lexeme state and the vocabulary only, so they are computed once for all schemas
//! in which the lexeme occurs.
//!
//! The computation walks the vocabulary's trie in depth-first order with the lexeme's states on a stack; a byte without
//! successor skips its subtree. Where a string lists its texts, its expression is walked instead of states.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::expr::INF;
use crate::json::string_escape::{EscapeState, decode};
use crate::lexeme::walk_cache::{END, LocalState, QUOTE, WalkCache};
use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::vocab::Trie;
use crate::vocab::trie_children::Children;

/// Lists longer than this are kept as rows: setting so many bits one by one costs more than copying a row.
pub(crate) const SPARSE: usize = 600;

/// Tokens that stay inside the lexeme.
#[derive(Clone, Debug)]
pub enum TokenSet {
    /// Their ids, ascending.
    Sparse(Box<[u32]>),
    /// Their bits.
    Dense(Arc<[u32]>),
}

/// One token that passes the end of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossingToken {
    /// The token.
    pub token: u32,
    /// Code points of the token that belong to the lexeme (text lexemes only).
    pub chars: u32,
}

/// Tokens that pass the end of the lexeme, by what remains of them.
#[derive(Debug)]
pub struct CrossingTokens {
    /// Its id among all of the process.
    pub id: u64,
    /// The suffixes; the ids at its nodes index [`CrossingTokens::crossings`].
    pub suffixes: Trie,
    /// What the ids of the trie stand for.
    pub crossings: Box<[CrossingToken]>,
    /// The tokens that spell part of the lexeme by an escape, ascending, with the text that they spell.
    pub escaped: Box<[(u32, Box<[u8]>)]>,
    /// The fewest and most code points of any crossing.
    pub chars: (u32, u32),
}

/// The inner and crossing tokens of one lexeme state.
#[derive(Debug)]
pub struct LexemeMask {
    /// Tokens that stay inside.
    pub inner: TokenSet,
    /// Tokens that pass the end.
    pub cross: Option<Arc<CrossingTokens>>,
}

/// What one walk finds.
#[derive(Default)]
pub(crate) struct WalkResult {
    /// Token and code points.
    pub inner: Vec<(u32, u32)>,
    suffixes: Vec<u8>,
    crossings: Vec<(usize, usize, CrossingToken)>,
    escaped: Vec<u32>,
}

/// Bytes that can follow a JSON value or key.
pub(crate) fn delimits(b: u8) -> bool {
    matches!(b, b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r')
}

/// Walks a trie below `node` from `state`. `count` is the register of a bounded text lexeme, or `None` where no token
/// can reach a bound. `cross` asks for crossing tokens as well.
pub(crate) fn walk(
    lexeme: &Lexeme,
    (trie, children): (&Trie, &Children),
    node: u32,
    state: StateId,
    count: Option<u32>,
    cross: bool,
) -> WalkResult {
    walk_list(lexeme, (trie, children), node, state, cross)
        .unwrap_or_else(|| walk_states(lexeme, (trie, children), node, state, count, cross))
}

/// [`walk`] by the lexeme's states.
fn walk_states(
    lexeme: &Lexeme,
    (trie, children): (&Trie, &Children),
    node: u32,
    state: StateId,
    count: Option<u32>,
    cross: bool,
) -> WalkResult {
    let mut found = WalkResult::default();
    in_parts(lexeme, trie, node, &[state], |lexeme, states, from| {
        walk_from(lexeme, (trie, children), (node, from), states[0], count, cross, &mut found)
    });
    found
}

/// [`walk`] for a string that lists its texts, which are a trie themselves: both are walked side by side, and no state
/// is made. `None` where the expression does not list them.
pub(crate) fn walk_list(
    lexeme: &Lexeme,
    (trie, children): (&Trie, &Children),
    node: u32,
    state: StateId,
    cross: bool,
) -> Option<WalkResult> {
    let (list, place) = lexeme.list(state)?;
    // Most lexemes list nothing at all.
    list.at(place.0)?;
    let base = trie.depth[node as usize];
    let mut found = WalkResult::default();
    // Nodes that are still to be met, the last one first, with the place among the texts that each leads to, or none
    // behind the closing quote; the code points up to there, and whether an escape was read.
    let mut ways = vec![(node, Some(place), 0, false)];
    while let Some((at, place, chars, escaped)) = ways.pop() {
        let Some((expr, sub)) = place else {
            let depth = usize::from(trie.depth[at as usize] - base);
            found.suffix(trie, at, false, depth, base, chars, escaped);
            continue;
        };
        if at != node {
            found.inner.extend(children.tokens(trie, at).iter().map(|&t| (t, chars)));
        }
        let (ends, edges) = list.at(expr)?;
        if children.bytes(at).is_empty() {
            continue;
        }
        let first = ways.len();
        let mut to = |byte: u8, chars: u32| {
            if let Some(child) = children.child(at, byte)
                && let Some(place) = list.step((expr, sub), byte)
            {
                ways.push((child, Some(place), chars, escaped || place.1 != EscapeState::Plain));
            }
        };
        match sub {
            EscapeState::Plain => {
                to(b'\\', chars + 1);
                let stands = |b: &u8| *b >= b' ' && !matches!(b, b'"' | b'\\');
                for byte in edges.iter().flat_map(|e| e.lo..=e.hi).filter(stands) {
                    to(byte, chars + 1);
                }
                if ends && cross {
                    ways.extend(children.child(at, b'"').map(|child| (child, None, chars, escaped)));
                }
            }
            EscapeState::Open => to(b'"', chars),
            EscapeState::Escape => b"\"/\\bfnrtu".iter().for_each(|&byte| to(byte, chars)),
            _ => b"0123456789abcdefABCDEF".iter().for_each(|&byte| to(byte, chars)),
        }
        // In the trie's order, which is that of the bytes.
        ways[first..].sort_unstable_by_key(|way| std::cmp::Reverse(way.0));
    }
    Some(found)
}

/// How many states a walk meets before it looks again at what the lexeme holds.
pub(crate) const LOOK: usize = 1_024;

/// Walks the trie below `node` by calls of `part` with where to begin, each of which answers where it stopped. A part
/// that stops early finds too many states for one lexeme to keep; the next one goes on in a copy, with `states` carried
/// over, which is forgotten in the end.
pub(crate) fn in_parts(
    lexeme: &Lexeme,
    trie: &Trie,
    node: u32,
    states: &[StateId],
    mut part: impl FnMut(&Lexeme, &[StateId], u32) -> u32,
) {
    let mut at = part(lexeme, states, node + 1);
    while at < trie.end[node as usize] {
        let copy = lexeme.copied();
        let states: Vec<StateId> = states.iter().map(|&s| copy.adopt(lexeme, s)).collect();
        at = part(&copy, &states, at);
    }
}

/// The nodes from below `top` down to the parent of `node`, in this order.
pub(crate) fn nodes_above(trie: &Trie, top: u32, node: u32) -> Vec<u32> {
    let mut out = Vec::new();
    // Below a leaf there is no node.
    let Some(&(mut wanted)) = trie.depth.get(node as usize) else { return out };
    for i in (top + 1..node).rev() {
        if trie.depth[i as usize] < wanted {
            wanted = trie.depth[i as usize];
            out.push(i);
        }
    }
    out.reverse();
    out
}

/// A part of [`walk`], from a node on that the parts before came to. Returns where it stopped.
fn walk_from(
    lexeme: &Lexeme,
    (trie, children): (&Trie, &Children),
    (node, begin): (u32, u32),
    state: StateId,
    count: Option<u32>,
    cross: bool,
    found: &mut WalkResult,
) -> u32 {
    let base = trie.depth[node as usize];
    let raw = lexeme.kind() == LexemeKind::Raw;
    let held = lexeme.memory_bytes();
    let mut steps = WalkCache::new(lexeme);
    let first = steps.local(state);
    // State and code points so far, and whether an escape was read, by depth below `node`; and the node.
    let mut stack: Vec<(LocalState, u32, bool, u32)> = vec![(first, 0, false, node); 64];
    for i in nodes_above(trie, node, begin) {
        let depth = (trie.depth[i as usize] - base) as usize;
        let (from, chars, escaped, _) = stack[depth - 1];
        let to = steps.next(from, trie.byte[i as usize]);
        let chars = chars + (!raw && lexeme.starts_char(steps.state(from), trie.byte[i as usize])) as u32;
        stack.resize(stack.len().max(depth + 1), (first, 0, false, node));
        stack[depth] = (to, chars, escaped || (!raw && !steps.state(to).is_plain()), i);
    }
    let mut look = steps.num_states() + LOOK;
    let end = trie.end[node as usize];
    let mut i = begin;
    while i < end {
        if steps.num_states() > look {
            look = steps.num_states() + LOOK;
            if lexeme.has_grown(held) {
                return i;
            }
        }
        let depth = (trie.depth[i as usize] - base) as usize;
        let (from, chars, escaped, above) = stack[depth - 1];
        let byte = trie.byte[i as usize];
        let to = steps.next(from, byte);
        if to == END {
            // At depth 1 the lexeme ends before the token begins; whoever steps the frames sees to that.
            let may_end = cross && raw && depth > 1 && steps.state(from).accepting;
            if may_end && delimits(byte) {
                found.suffix(trie, i, true, depth - 1, base, chars, escaped);
            }
            let ends = |b| steps.next(from, b) == END && !(may_end && delimits(b));
            i = children.next_but(above, byte, trie.end[above as usize], ends);
            continue;
        }
        if to == QUOTE {
            if cross {
                found.suffix(trie, i, false, depth, base, chars, escaped);
            }
            i = trie.end[i as usize];
            continue;
        }
        let next = steps.state(to);
        let chars = chars + (!raw && lexeme.starts_char(steps.state(from), byte)) as u32;
        if let Some(n) = count
            && !lexeme.live_at(next, n.saturating_add(chars))
        {
            i = trie.end[i as usize];
            continue;
        }
        if depth >= stack.len() {
            stack.resize(depth * 2, (first, 0, false, node));
        }
        stack[depth] = (to, chars, escaped || (!raw && !next.is_plain()), i);
        found.inner.extend(trie.tokens(i).iter().map(|&t| (t, chars)));
        i += 1;
    }
    end
}

impl WalkResult {
    /// Records every token at or below node `top` as crossing, with what it spells below `depth` as its suffix; `top`'s
    /// own byte belongs to the suffix where `inclusive` is set.
    #[allow(clippy::too_many_arguments)]
    fn suffix(&mut self, trie: &Trie, top: u32, inclusive: bool, depth: usize, base: u16, chars: u32, escaped: bool) {
        let mut path: Vec<u8> = Vec::new();
        let mut j = top;
        let end = trie.end[top as usize];
        while j < end {
            let d = (trie.depth[j as usize] - base) as usize - depth;
            if j != top || inclusive {
                path.truncate(d - 1);
                path.push(trie.byte[j as usize]);
                if d == 1 && !delimits(path[0]) {
                    j = trie.end[j as usize];
                    continue;
                }
            }
            for &token in trie.tokens(j) {
                let start = self.suffixes.len();
                self.suffixes.extend_from_slice(&path[..d]);
                self.crossings.push((start, self.suffixes.len(), CrossingToken { token, chars }));
                if escaped {
                    self.escaped.push(token);
                }
            }
            j += 1;
        }
    }

    /// Whether there are crossing tokens.
    pub(crate) fn crosses(&self) -> bool {
        !self.crossings.is_empty()
    }

    /// Adds what tells the crossing tokens from others that a walk from the same place may find.
    pub(crate) fn describe(&self, key: &mut Vec<u32>) {
        key.reserve(self.crossings.len() * 2 + self.escaped.len() + 1);
        key.push(self.crossings.len() as u32);
        for (from, to, c) in &self.crossings {
            // No token has more bytes than 16 bits count, and none more code points than bytes.
            key.extend([c.token, c.chars << 16 | (to - from) as u32]);
        }
        key.extend_from_slice(&self.escaped);
    }

    /// The finished mask with these crossing tokens; `words` is the length of a row.
    pub(crate) fn finish(self, words: usize, cross: Option<Arc<CrossingTokens>>) -> LexemeMask {
        let inner = if self.inner.len() <= SPARSE {
            let mut v: Vec<u32> = self.inner.iter().map(|t| t.0).collect();
            v.sort_unstable();
            TokenSet::Sparse(v.into_boxed_slice())
        } else {
            let mut row = vec![0u32; words];
            for &(t, _) in &self.inner {
                row[t as usize >> 5] |= 1 << (t & 31);
            }
            TokenSet::Dense(row.into())
        };
        LexemeMask { inner, cross }
    }

    /// The crossing tokens; `spelled` gives the bytes of a token below the node where the walk began.
    pub(crate) fn cross<'a>(&self, spelled: impl Fn(u32) -> &'a [u8]) -> Option<Arc<CrossingTokens>> {
        let mut escaped: Vec<(u32, Box<[u8]>)> =
            self.escaped.iter().map(|&t| (t, inside(spelled(t)).into_boxed_slice())).collect();
        escaped.sort_unstable();
        CrossingTokens::build(&self.suffixes, &self.crossings, escaped)
    }
}

impl CrossingTokens {
    fn build(
        bytes: &[u8],
        crossings: &[(usize, usize, CrossingToken)],
        escaped: Vec<(u32, Box<[u8]>)>,
    ) -> Option<Arc<CrossingTokens>> {
        if crossings.is_empty() {
            return None;
        }
        let mut items: Vec<(&[u8], u32)> = crossings.iter().zip(0u32..).map(|(c, i)| (&bytes[c.0..c.1], i)).collect();
        CrossingTokens::from_suffixes(&mut items, crossings.iter().map(|c| c.2).collect(), escaped)
    }

    /// Crossing tokens by their suffixes: `items` are suffixes and indices of `crossings`. `None` if there are none.
    pub(crate) fn from_suffixes(
        items: &mut Vec<(&[u8], u32)>,
        crossings: Box<[CrossingToken]>,
        escaped: Vec<(u32, Box<[u8]>)>,
    ) -> Option<Arc<CrossingTokens>> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        // Suffixes are parts of tokens, and the tokens' own trie was within its limits.
        let suffixes = Trie::build(items).ok().filter(|_| !crossings.is_empty())?;
        let chars = crossings.iter().fold((INF, 0), |(lo, hi), c| (lo.min(c.chars), hi.max(c.chars)));
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        Some(Arc::new(CrossingTokens { id, suffixes, crossings, escaped: escaped.into_boxed_slice(), chars }))
    }
}

/// What a token spells up to the closing quote, from the middle of a JSON string. A walk may begin in front of the
/// opening quote.
fn inside(bytes: &[u8]) -> Vec<u8> {
    decode(EscapeState::Plain, bytes.strip_prefix(b"\"").unwrap_or(bytes).iter().copied()).0
}

impl LexemeMask {
    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let inner = self.inner.bytes();
        let cross = self.cross.as_ref().map_or(0, |c| c.suffixes.memory_bytes() + c.crossings.len() * 8);
        inner + cross + 64
    }
}

impl TokenSet {
    /// The tokens, ascending.
    pub fn tokens(&self) -> Vec<u32> {
        match self {
            TokenSet::Sparse(v) => v.to_vec(),
            TokenSet::Dense(r) => {
                let mut out = Vec::with_capacity(r.iter().map(|w| w.count_ones() as usize).sum());
                for (i, &word) in (0u32..).zip(r.iter()) {
                    let mut left = word;
                    while left != 0 {
                        out.push(i * 32 + left.trailing_zeros());
                        left &= left - 1;
                    }
                }
                out
            }
        }
    }

    /// A row of so many words.
    pub(crate) fn row(&self, words: usize) -> Arc<[u32]> {
        let mut row: Arc<[u32]> = std::iter::repeat_n(0, words).collect();
        self.or_into(Arc::make_mut(&mut row));
        row
    }

    /// The tokens of a row: few are a list, however they were found.
    pub(crate) fn of_row(row: Arc<[u32]>) -> TokenSet {
        let mut left = SPARSE;
        let is_long = row.iter().any(|w| match left.checked_sub(w.count_ones() as usize) {
            Some(fewer) => {
                left = fewer;
                false
            }
            None => true,
        });
        let dense = TokenSet::Dense(row);
        if is_long { dense } else { TokenSet::Sparse(dense.tokens().into()) }
    }

    /// Bytes of its numbers.
    pub fn bytes(&self) -> usize {
        match self {
            TokenSet::Sparse(v) => v.len() * 4,
            TokenSet::Dense(r) => r.len() * 4,
        }
    }

    /// ORs the tokens into a row.
    pub fn or_into(&self, row: &mut [u32]) {
        match self {
            TokenSet::Sparse(v) => {
                for &t in v.iter() {
                    row[t as usize >> 5] |= 1 << (t & 31);
                }
            }
            TokenSet::Dense(r) => row.iter_mut().zip(r.iter()).for_each(|(w, m)| *w |= m),
        }
    }

    /// About how many microseconds it took to find them by a walk of the trie.
    pub(crate) fn steps(&self) -> usize {
        match self {
            TokenSet::Sparse(tokens) => 1 + tokens.len() / 32,
            TokenSet::Dense(row) => row.len() / 16,
        }
    }

    /// Takes the tokens out of a row.
    pub(crate) fn take_out(&self, row: &mut [u32]) {
        match self {
            TokenSet::Sparse(v) => v.iter().for_each(|&t| row[t as usize >> 5] &= !(1 << (t & 31))),
            TokenSet::Dense(r) => row.iter_mut().zip(r.iter()).for_each(|(w, m)| *w &= !m),
        }
    }
}

#[cfg(test)]
mod tests;
