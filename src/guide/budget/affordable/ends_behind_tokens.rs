//! What tokens leave to write in a string with a pattern or a format: a walk over a vocabulary with the states of a
//! lexeme.

use crate::guide::budget::completions::ENDLESS;
use crate::lexeme::shortest_end::soon_ended;
use crate::lexeme::walk_cache::{END, LocalState, QUOTE, WalkCache};
use crate::lexeme::{Lexeme, LexemeKind, StateId};
use crate::mask::json::structural_tokens::MarkedText;
use crate::mask::lexeme::text_end_rows::{TextEndRows, TextEndRowsBuilder};
use crate::util::seeded_hash::SeededMap;
use crate::vocab::Trie;

/// Places that searches for ends go on from for one mask, after which it asks for no more ends.
const MAX_SEARCHED: usize = 16_000;

/// The tokens of a trie that are asked about, in a string of a lexeme.
pub(super) struct EndsBehindTokens<'a> {
    pub lexeme: &'a Lexeme,
    pub text: &'a MarkedText,
    pub trie: &'a Trie,
}

impl EndsBehindTokens<'_> {
    /// What those that stay in the string leave to write in it.
    pub fn rows(&self, state: StateId, count: u32) -> TextEndRows {
        let mut ends = TextEnds::new(self.lexeme, state, count);
        let mut found = TextEndRowsBuilder::new(self.text.quoted.len());
        let mut is_far = true;
        let is_complete = self.walk((state, None), count, &mut ends, |t, end| {
            let Some((bytes, is_this_far)) = end else { return };
            is_far &= is_this_far && bytes != ENDLESS;
            if bytes != ENDLESS {
                found.add(bytes, t);
            }
        });
        found.finish(is_far, is_complete, ends.searched)
    }

    /// The same, found by the rows of another state: of text behind which both lead to the same state nothing is asked.
    /// No greatest length may be near. `None` where these rows do not tell it, or not for certain.
    pub fn rows_by(&self, state: StateId, count: u32, (known, rows): (StateId, &TextEndRows)) -> Option<TextEndRows> {
        let mut ends = TextEnds::new(self.lexeme, state, count);
        rows.most_far.filter(|_| rows.is_complete == ends.known.is_none())?;
        let mut found = TextEndRowsBuilder::from_rows(rows, self.text.quoted.len());
        let mut is_far = true;
        self.walk((state, Some(known)), count, &mut ends, |t, end| {
            found.remove(t);
            let Some((bytes, is_this_far)) = end else { return };
            is_far &= is_this_far && bytes != ENDLESS;
            if bytes != ENDLESS {
                found.add(bytes, t);
            }
        });
        // Without these rows no more searches were made than both together, so none was refused either.
        let searched = rows.searched + ends.searched;
        (is_far && searched <= MAX_SEARCHED).then(|| found.finish(true, rows.is_complete, searched))
    }

    /// Calls `f` with each token, and what it leaves to write with whether no greatest length is near, or `None` where
    /// it does not stay in the string. Without those that lead to the same state as from `other`, and mostly without
    /// those that do not stay in the string unless there is an `other`. Returns whether none was left out that stays.
    fn walk(
        &self,
        (state, other): (StateId, Option<StateId>),
        count: u32,
        ends: &mut TextEnds,
        mut f: impl FnMut(u32, Option<(u32, bool)>),
    ) -> bool {
        let EndsBehindTokens { lexeme, text, trie } = *self;
        let mut cache = WalkCache::new(lexeme);
        let mut is_complete = true;
        let begin = (cache.local(state), other.map_or(END, |other| cache.local(other)));
        let mut stack: Vec<(u32, (LocalState, LocalState), u32)> = vec![(trie.len() as u32, begin, count)];
        let mut node = 1;
        while (node as usize) < trie.len() {
            while stack.last().is_some_and(|s| s.0 <= node) {
                stack.pop();
            }
            let Some(&(_, (at, other), count)) = stack.last() else { break };
            let (byte, end) = (trie.byte[node as usize], trie.end[node as usize]);
            // Escapes have many states, and are priced like the tokens that end the string.
            if byte == b'\\' && ends.known.is_some() {
                is_complete = false;
                node = end;
                continue;
            }
            let to = cache.next(at, byte);
            let other = if other <= QUOTE { END } else { cache.next(other, byte) };
            if to == other {
                node = end;
                continue;
            }
            if to <= QUOTE {
                if other > QUOTE {
                    trie.subtree_tokens(node).iter().for_each(|&t| f(t, None));
                }
                node = end;
                continue;
            }
            let count = count.saturating_add(u32::from(lexeme.starts_char(cache.state(at), byte)));
            let inside = trie.tokens(node).iter().filter(|&&t| text.quoted[t as usize >> 5] >> (t & 31) & 1 == 0);
            inside.for_each(|&t| f(t, Some(ends.from(to, cache.id(to), count))));
            node += 1;
            if node < end {
                stack.push((end, (to, other), count));
            }
        }
        is_complete
    }
}

/// How many bytes end a string from the states of its lexeme that one walk meets; [`ENDLESS`] where none are soon
/// found.
struct TextEnds<'a> {
    lexeme: &'a Lexeme,
    /// The least and greatest length of the string.
    min: u32,
    max: u32,
    /// Of all states that text leads to, where those are few.
    known: Option<SeededMap<(StateId, u32), u32>>,
    /// By state: of a text that is long enough and far from the greatest length.
    far: Vec<Option<u32>>,
    /// By state and number of characters since the begin, of others.
    near: Vec<Vec<Option<u32>>>,
    /// The length of the string where the walk begins.
    begin: u32,
    /// Places that searches went on from, those of straight ways among them.
    searched: usize,
}

impl<'a> TextEnds<'a> {
    fn new(lexeme: &'a Lexeme, state: StateId, count: u32) -> Self {
        let (min, max) = if let LexemeKind::Text { min, max, .. } = lexeme.kind() { (min, max) } else { (0, 0) };
        let known = lexeme.farthest_from(state, count).and_then(|_| lexeme.distances_from(state, count));
        TextEnds { lexeme, min, max, known, far: Vec::new(), near: Vec::new(), begin: count, searched: 0 }
    }

    /// How many bytes end a text of `count` characters from a state, and whether a longer one needs no more.
    fn from(&mut self, local: LocalState, state: StateId, count: u32) -> (u32, bool) {
        if count >= self.min {
            let at = local as usize;
            self.far.resize(self.far.len().max(at + 1), None);
            let bytes = self.far[at].unwrap_or_else(|| self.find(state, self.min));
            self.far[at] = Some(bytes);
            if u64::from(count) + u64::from(bytes) <= u64::from(self.max) || bytes == ENDLESS {
                return (bytes, true);
            }
        }
        let (local, chars) = (local as usize, (count - self.begin) as usize);
        if let Some(&Some(bytes)) = self.near.get(local).and_then(|of_state| of_state.get(chars)) {
            return (bytes, false);
        }
        let bytes = self.find(state, count);
        self.near.resize(self.near.len().max(local + 1), Vec::new());
        let of_state = &mut self.near[local];
        of_state.resize(of_state.len().max(chars + 1), None);
        of_state[chars] = Some(bytes);
        (bytes, false)
    }

    fn find(&mut self, state: StateId, count: u32) -> u32 {
        if count <= self.min
            && let Some(&known) = self.known.as_ref().and_then(|known| known.get(&(state, count)))
            && u64::from(count) + u64::from(known) <= u64::from(self.max)
        {
            return known;
        }
        if self.searched > MAX_SEARCHED {
            return ENDLESS;
        }
        let found = soon_ended(self.lexeme, state, count);
        let way = found.way.map_or(ENDLESS, |way| way.len() as u32);
        self.searched += found.searched as usize + if way == ENDLESS { 0 } else { way as usize };
        way
    }
}

#[cfg(test)]
mod tests;
