//! Inner tokens of a state by its *slice*: by a set of characters of which any string may pass it.
//!
//! In `[a-z]+:\w+` the state at the start has the slice `a-z`. The tokens that are made of such characters alone stay
//! inside without being stepped, and for most slices they are nearly all that does: eighteen thousand tokens of letters
//! here, beside a few hundred with a colon. [`by_set`] finds the mask of such a state in two steps:
//!
//! 1. *The tokens over the set.* They depend on the vocabulary and the set alone. So they are found once for all states
//!    of all lexemes (`slice_sets`, `char_postings`), and a state copies their row. Sources use few sets.
//! 2. *The exits.* An exit is a node of the vocabulary's trie whose byte is not of the set, below a path of characters
//!    of the set. All other tokens of the state pass one, so only what lies below exits is walked. There are hundreds
//!    of exits where a walk of the whole trie meets ten thousand nodes, and most are dead at once.
//!
//! For states that have the slice only behind a token's first characters, such as `[A-Z][a-z]+` behind each capital
//! letter, tokens and exits are kept for the nodes of big subtrees as well.

use crate::mask::lexeme::inner::slice_sets::SliceSet;
use std::sync::Arc;

use crate::expr::ByteSet;
use crate::expr::analysis::char_groups::{ALL, group_of, specials_of};
use crate::expr::analysis::slice::Slice;
use crate::lexeme::walk_cache::{END, LocalState, QUOTE, WalkCache};
use crate::lexeme::{CLOSED, Lexeme, LexemeKind, StateId};
use crate::mask::lexeme::char_postings::{PATH, PostingFollow};
use crate::mask::lexeme::inner::char_prefix::CharPrefixes;
use crate::mask::lexeme::inner::nearby_state::nearly_known;
use crate::mask::lexeme::inner::self_loops::loops;
use crate::mask::lexeme::inner::token_ranges::TokenRanges;
use crate::mask::lexeme::inner::trie_walk::InnerWalk;
use crate::mask::lexeme::lexeme_mask::TokenSet;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::Vocabulary;

/// Sets of fewer groups are walked as fast.
const FEW_GROUPS: u32 = 8;
/// Tokens of more characters than a state is free in that are stepped one by one.
const FEW_TOKENS: usize = 64;

/// The mask of a state that is free in a set of characters, by the tokens over the set. `None` where that is no way to
/// find it.
pub(super) fn by_set(
    tables: &VocabTables,
    vocabulary: &Vocabulary,
    lexeme: &MaskedLexeme,
    state: StateId,
    free: Slice,
    any: &Arc<[u32]>,
) -> Option<TokenSet> {
    /// Sets of more groups are left at thousands of nodes, where these are not few. Another state's mask may be nearer.
    const MANY_GROUPS: u32 = 64;
    let l = &*lexeme.lexeme;
    let trie = vocabulary.trie();
    let by_length = &tables.by_length;
    let at = l.state(state);
    let free = if free.groups.count_ones() < FEW_GROUPS { loops(l, state) } else { free };
    if free.groups.count_ones() < FEW_GROUPS {
        return None;
    }
    let mut row = tables.char_postings.over(any, free.groups, l.kind() == LexemeKind::Raw);
    // Tokens over the set that are longer than what is free are stepped where they are few. Otherwise all must fail.
    let longest = l.longest(state);
    let longer = if free.len >= tables.reach.any { Some(&[][..]) } else { by_length.beyond(free.len) };
    let is_over = |&&(_, t): &&(u32, u32)| row[t as usize >> 5] >> (t & 31) & 1 == 1;
    let longer: Option<Vec<(u32, u32)>> = longer.map(|longer| longer.iter().filter(is_over).copied().collect());
    let too_long = |longer: &[(u32, u32)]| longer.partition_point(|t| t.0 > longest);
    let longer = longer.filter(|longer| longer.len() - too_long(longer) <= FEW_TOKENS);
    let (read, run) = l.beyond(at, free.groups);
    // Elsewhere they are looked for behind what is free.
    let late = match longer.is_some() || run.min(longest) <= free.len {
        true => Vec::new(),
        false => match &goes_on(l, state, free)?[..] {
            [] => Vec::new(),
            follows => tables.char_postings.behind(free.len, follows)?,
        },
    };
    // Of what leaves the set only that matters which some string over the set goes on with.
    let read = read & ALL & !free.groups;
    let mut few = tables.char_postings.exits(vocabulary, free.groups, read);
    if few.is_none()
        && free.groups.count_ones() > MANY_GROUPS
        && let Some(row) = nearly_known(tables, vocabulary, lexeme, state)
    {
        return Some(TokenSet::Dense(row));
    }
    let set = || tables.slice_sets.get(trie, &tables.subtrees, 0, free.groups);
    let set = if few.is_none() { Some(set()) } else { None };
    if !late.is_empty() {
        let few = few.get_or_insert_default();
        few.extend(late);
        few.sort();
        few.dedup();
    }
    let walk = InnerWalk { tables, trie, lexeme: l, count: None, covers: true, most: u32::MAX };
    let mut ranges = TokenRanges::default();
    let mut steps = WalkCache::new(l);
    let first = steps.local(state);
    // What leads back is known of this state only here.
    let mut known = CharPrefixes::new(first, free);
    let held = (l.memory_bytes(), 0);
    if !(set.is_none_or(|set| walk.exits(&mut steps, &mut known, &set, first, &mut ranges, held))
        && few.is_none_or(|few| walk.few_exits(&mut steps, &mut known, (vocabulary, &few), first, &mut ranges)))
    {
        return None;
    }
    if longer.as_ref().is_some_and(Vec::is_empty) && ranges.0.is_empty() {
        return Some(TokenSet::of_row(row));
    }
    let bits = Arc::make_mut(&mut row);
    match longer {
        Some(longer) => {
            for (chars, t) in longer {
                let step = |s: StateId, b: &u8| Some(l.next(s, *b)).filter(|&to| to > CLOSED);
                let passes = |bytes: &[u8]| chars <= longest && bytes.iter().try_fold(state, step).is_some();
                if !vocabulary.token_bytes(t).is_some_and(passes) {
                    bits[t as usize >> 5] &= !(1 << (t & 31));
                }
            }
        }
        None => by_length.cut(bits, free.len),
    }
    ranges.add_to(bits, any, trie, tables.subtrees.most());
    Some(TokenSet::of_row(row))
}

/// The bytes that a character of the set in which `state` is free may begin with behind as many of them as are free,
/// by what may stand before them; perhaps some more. `None` where finding them takes too long.
fn goes_on(l: &Lexeme, state: StateId, free: Slice) -> Option<Vec<PostingFollow>> {
    /// Characters, states side by side between these, and steps.
    const MOST_LOOKED: (u32, usize, usize) = (40, 32, 4_000);
    if free.len > MOST_LOOKED.0 {
        return None;
    }
    let missing = |b: u8| match b {
        0..0x80 => 0,
        0x80..0xE0 => 1,
        0xE0..0xF0 => 2,
        _ => 3,
    };
    let mut firsts: Vec<u8> = (0..0x80).chain(0xC2..=0xF4).collect();
    firsts.retain(|&b| (group_of(b) | specials_of(b)) & free.groups != 0);
    // Of bytes that act alike one is stepped.
    let class = |b: u8| l.byte_classes()[usize::from(b)];
    let alike = |b: &mut u8| (class(*b), missing(*b));
    let (mut begin, mut inside) = (firsts.clone(), (0x80..0xC0).collect::<Vec<u8>>());
    begin.dedup_by_key(alike);
    inside.dedup_by_key(alike);
    let mut steps = 0;
    // States between two characters, and the classes of the bytes that lead to them.
    let mut front: Vec<(StateId, ByteSet)> = vec![(state, [false; 256])];
    for _ in 0..free.len {
        let mut next: Vec<(StateId, ByteSet)> = Vec::new();
        // States with so many bytes of a character before them.
        let mut open: Vec<(StateId, u8)> = Vec::new();
        let mut step = |s: StateId, b: u8, left: u8, open: &mut Vec<(StateId, u8)>| match (l.next(s, b), left) {
            (..=CLOSED, _) => {}
            (to, 0) => {
                let place = next.iter().position(|t| t.0 == to).unwrap_or(next.len());
                if place == next.len() {
                    next.push((to, [false; 256]));
                }
                next[place].1[usize::from(class(b))] = true;
            }
            to => {
                if !open.contains(&to) {
                    open.push(to);
                }
            }
        };
        for (s, _) in &front {
            steps += begin.len();
            begin.iter().for_each(|&b| step(*s, b, missing(b), &mut open));
        }
        let mut at = 0;
        while let Some(&(s, left)) = open.get(at).filter(|_| steps <= MOST_LOOKED.2) {
            steps += inside.len();
            inside.iter().for_each(|&b| step(s, b, left - 1, &mut open));
            at += 1;
        }
        if next.len() > MOST_LOOKED.1 || steps > MOST_LOOKED.2 {
            return None;
        }
        front = next;
    }
    let mut follows: Vec<PostingFollow> = Vec::new();
    for alike in firsts.chunk_by(|&a, &b| class(a) == class(b)) {
        let mut classes = [false; 256];
        for (_, led) in front.iter().filter(|(s, _)| l.next(*s, alike[0]) > CLOSED) {
            classes.iter_mut().zip(led).for_each(|(c, led)| *c |= led);
        }
        if classes.contains(&true) {
            let before = std::array::from_fn(|b| classes[usize::from(class(b as u8))]);
            follows.push(PostingFollow { bytes: alike.to_vec(), before });
        }
    }
    Some(follows)
}

impl InnerWalk<'_> {
    /// The tokens below `node`, whose subtree is big, where most of what the state `to` lets pass there is over one
    /// set. False, and nothing is found, where that is not so.
    pub(super) fn leaps(
        &self,
        steps: &mut WalkCache<'_>,
        passing: &mut CharPrefixes,
        (node, to): (u32, LocalState),
        ranges: &mut TokenRanges,
        (held, nested): (usize, u32),
    ) -> bool {
        /// Subtrees of fewer nodes are walked.
        const BIG: u32 = 128;
        /// Leaps within each other, which take the stack.
        const MOST_LEAPS: u32 = 8;
        /// What is free for less than the longest tokens of a subtree may be so for those over the set, if it is long.
        const LONG: u32 = 32;
        if self.count.is_some() || nested >= MOST_LEAPS || self.trie.end[node as usize] - node < BIG {
            return false;
        }
        let known = self.free_in(steps, passing, to);
        let height = self.tables.subtrees.below(node).1;
        if known.groups.count_ones() < FEW_GROUPS || known.len < height.min(LONG) {
            return false;
        }
        let set = self.tables.slice_sets.get(self.trie, &self.tables.subtrees, node, known.groups);
        if known.len < set.height {
            return false;
        }
        let before = ranges.mark();
        ranges.0.extend_from_slice(&set.ranges.0);
        let found = self.exits(steps, passing, &set, to, ranges, (held, nested + 1));
        if !found {
            ranges.reset(before);
        }
        found
    }

    /// The tokens that pass an exit of `set`, from `first` where the set begins. False where the lexeme has grown too
    /// much.
    fn exits(
        &self,
        steps: &mut WalkCache<'_>,
        passing: &mut CharPrefixes,
        set: &SliceSet,
        first: LocalState,
        ranges: &mut TokenRanges,
        (held, nested): (usize, u32),
    ) -> bool {
        let trie = self.trie;
        let read = self.lexeme.read_bytes();
        let mut path: Vec<u8> = Vec::new();
        // The states along the path, as far as it was stepped; none after the first that is dead.
        let mut states: Vec<LocalState> = vec![first];
        let mut from = 0usize;
        for exit in &set.exits {
            path.truncate(exit.common as usize);
            path.extend_from_slice(&set.spelled[from..exit.end as usize]);
            from = exit.end as usize;
            states.truncate(exit.common as usize + 1);
            if !read[trie.byte[exit.node as usize] as usize] {
                continue;
            }
            if !self.exit(steps, passing, (exit.node, &path), &mut states, ranges, (held, nested)) {
                return false;
            }
        }
        true
    }

    /// The tokens that pass an exit of `set`, for nodes below the root at which strings over the set end, in the trie's
    /// order.
    fn few_exits(
        &self,
        steps: &mut WalkCache<'_>,
        passing: &mut CharPrefixes,
        (vocabulary, nodes): (&Vocabulary, &[u32]),
        first: LocalState,
        ranges: &mut TokenRanges,
    ) -> bool {
        let held = (self.lexeme.memory_bytes(), 0);
        let mut states: Vec<LocalState> = vec![first];
        let (mut path, mut room): (Vec<u8>, _) = (Vec::new(), [0; PATH]);
        nodes.iter().all(|&node| {
            let next = self.tables.char_postings.path(vocabulary, self.trie, node, &mut room);
            let common = next.iter().zip(&path).take_while(|(a, b)| a == b).count();
            states.truncate(common + 1);
            path.truncate(common);
            path.extend_from_slice(&next[common..]);
            self.exit(steps, passing, (node, &path), &mut states, ranges, held)
        })
    }

    /// The tokens at and below `node`, to which `path` leads from the first of `states`. These are the states along the
    /// path, as far as they are known.
    fn exit(
        &self,
        steps: &mut WalkCache<'_>,
        passing: &mut CharPrefixes,
        (node, path): (u32, &[u8]),
        states: &mut Vec<LocalState>,
        ranges: &mut TokenRanges,
        (held, nested): (usize, u32),
    ) -> bool {
        let trie = self.trie;
        while let Some(&last) = states.last()
            && last > QUOTE
            && let Some(&byte) = path.get(states.len() - 1)
        {
            let to = steps.next(last, byte);
            states.push(if to > QUOTE { to } else { END });
        }
        let to = match states.last() {
            Some(&to) if to > QUOTE => to,
            _ => return true,
        };
        if self.lexeme.has_grown(held) {
            return false;
        }
        ranges.push(trie.places(node));
        let end = trie.end[node as usize];
        node + 1 == end
            || self.tables.children.bytes(node).iter().all(|&b| steps.next(to, b) <= QUOTE)
            || self.leaps(steps, passing, (node, to), ranges, (held, nested))
            || self.below(steps, passing, (node, to), node + 1, ranges, (held, nested)) >= end
    }
}

#[cfg(test)]
mod tests;
