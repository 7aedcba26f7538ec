//! The children of a big trie's nodes, side by side.
//!
//! A trie finds the children of a node by jumping from one subtree's end to the next, which touches memory all over a
//! trie of a quarter million nodes. Who looks for one byte at many nodes searches these lists instead, and so does a
//! walk that leaves most children out.

use hashbrown::HashMap;

use crate::util::seeded_hash::Seeded;
use crate::vocab::Trie;

/// The children of trie nodes by their bytes. What one look-up touches lies together, because most nodes are the first
/// in their place for a while, and wait for memory.
pub struct Children {
    /// One for each node, and one behind the last.
    heads: Box<[Head]>,
    /// `listed[start of n..start of n + 1]` are the children of node `n`, by ascending byte: the byte, and in the lower
    /// [`STEPS`] bits how many nodes they come after `n`.
    listed: Box<[u32]>,
    /// Their bytes once more, for who looks at many.
    byte: Box<[u8]>,
    /// The children that come farther behind than `STEPS` bits can say, by node and byte.
    far: HashMap<(u32, u8), u32, Seeded>,
    /// The children of the root, which has the most, by byte; [`NO_CHILD`] is none.
    root: Box<[u32; 256]>,
}

#[derive(Clone, Copy, Default)]
struct Head {
    start: u32,
    /// What ends at the node: the only item, as long as [`ONE`] says so.
    item: u32,
    /// What is among the bytes below a node, and what ends there: [`BELOW`], [`QUOTE`], [`BACKSLASH`], [`ONE`],
    /// [`MANY`], and in the bits from [`CLOSERS`] on how many closing brackets.
    marks: u8,
}

const STEPS: u32 = 24;
/// Stands for a child that is kept in `far`.
const FAR: u32 = (1 << STEPS) - 1;

/// A quote, at once or later.
const BELOW: u8 = 1;
/// A quote at once.
const QUOTE: u8 = 2;
/// A backslash at once.
const BACKSLASH: u8 = 4;
/// One item ends here.
const ONE: u8 = 8;
/// Several do.
const MANY: u8 = 16;
/// The first bit of the count of closing brackets.
const CLOSERS: u32 = 5;
/// The highest count; it stands for more as well.
pub(crate) const MOST_CLOSERS: u8 = 7;
/// No child of the root.
const NO_CHILD: u32 = u32::MAX;

impl Children {
    /// The children of every node of `trie`: three passes in the order of its nodes.
    pub fn from_trie(trie: &Trie) -> Self {
        Children::keeping_far(trie, FAR)
    }

    /// [`from_trie`](Self::from_trie), where children are far from so many nodes behind theirs on.
    fn keeping_far(trie: &Trie, from: u32) -> Self {
        let n = trie.len();
        let (depths, bytes) = (&trie.depth[..], &trie.byte[..]);
        // How many children each node has, behind it; then where they begin.
        let mut heads = vec![Head::default(); n + 1];
        let mut path: Vec<u32> = vec![0];
        for (node, &depth) in (0u32..).zip(depths).skip(1) {
            let depth = usize::from(depth);
            heads[path[depth - 1] as usize + 1].start += 1;
            path.truncate(depth);
            path.push(node);
        }
        for node in 0..n {
            heads[node + 1].start += heads[node].start;
        }
        let mut next: Vec<u32> = heads.iter().map(|head| head.start).collect();
        let mut listed = vec![0u32; n - 1];
        let mut byte = vec![0u8; n - 1];
        let mut far = HashMap::default();
        path.truncate(1);
        for (node, (&depth, &b)) in (0u32..).zip(depths.iter().zip(bytes)).skip(1) {
            let depth = usize::from(depth);
            let parent = path[depth - 1];
            let place = &mut next[parent as usize];
            let steps = match node - parent {
                steps if steps < from => steps,
                _ => {
                    far.insert((parent, b), node);
                    FAR
                }
            };
            (listed[*place as usize], byte[*place as usize]) = (u32::from(b) << STEPS | steps, b);
            *place += 1;
            path.truncate(depth);
            path.push(node);
        }
        // Of the children that were met already, by depth.
        let mut open = vec![0u8; usize::from(depths.iter().copied().max().unwrap_or(0)) + 2];
        let mut closers = open.clone();
        for node in (0..n).rev() {
            let depth = usize::from(depths[node]);
            let closers_below = std::mem::take(&mut closers[depth + 1]);
            // The last byte of a token closes nothing that it runs past.
            let closes = matches!(bytes[node], b'}' | b']') && trie.end[node] as usize > node + 1;
            closers[depth] = closers[depth].max((closers_below + u8::from(closes)).min(MOST_CLOSERS));
            let below = std::mem::take(&mut open[depth + 1]) | closers_below << CLOSERS;
            heads[node].marks = match trie.tokens(node as u32) {
                [] => below,
                &[item] => {
                    heads[node].item = item;
                    below | ONE
                }
                _ => below | MANY,
            };
            open[depth] |= match bytes[node] {
                b'"' => BELOW | QUOTE,
                b'\\' => BACKSLASH | below & BELOW,
                _ => below & BELOW,
            };
        }
        let mut root = Box::new([NO_CHILD; 256]);
        trie.children(0).for_each(|child| root[usize::from(bytes[child as usize])] = child);
        Children { heads: heads.into(), listed: listed.into(), byte: byte.into(), far, root }
    }

    /// What ends at a node of `trie`, which these are the children of.
    #[inline]
    pub fn tokens<'a>(&'a self, trie: &'a Trie, node: u32) -> &'a [u32] {
        let head = &self.heads[node as usize];
        match head.marks & (ONE | MANY) {
            0 => &[],
            ONE => std::slice::from_ref(&head.item),
            _ => trie.tokens(node),
        }
    }

    /// Where the children of `node` are listed.
    #[inline]
    fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.heads[node as usize].start as usize..self.heads[node as usize + 1].start as usize
    }

    /// The child of `node` that is listed so.
    #[inline]
    fn listed(&self, node: u32, listed: u32) -> Option<u32> {
        match listed & FAR {
            FAR => self.far.get(&(node, (listed >> STEPS) as u8)).copied(),
            steps => Some(node + steps),
        }
    }

    /// Whether some token below `node` goes on with a quote, at once or later.
    pub fn is_quoted(&self, node: u32) -> bool {
        self.heads[node as usize].marks & BELOW != 0
    }

    /// How many closing brackets of JSON a token has below `node` and in front of its last byte: the most of all
    /// tokens, [`MOST_CLOSERS`] where it is more.
    pub(crate) fn closers_below(&self, node: u32) -> u8 {
        self.heads[node as usize].marks >> CLOSERS
    }

    /// The bytes that the children of `node` are under, ascending.
    #[inline]
    pub fn bytes(&self, node: u32) -> &[u8] {
        &self.byte[self.range(node)]
    }

    /// The child of `node` under `byte`.
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == 0 {
            return Some(self.root[usize::from(byte)]).filter(|&child| child != NO_CHILD);
        }
        let mark = match byte {
            b'"' => QUOTE,
            b'\\' => BACKSLASH,
            _ => 0,
        };
        if mark != 0 && self.heads[node as usize].marks & mark == 0 {
            return None;
        }
        let listed = &self.listed[self.range(node)];
        let at = listed.partition_point(|child| child >> STEPS < u32::from(byte));
        let &child = listed.get(at).filter(|child| **child >> STEPS == u32::from(byte))?;
        self.listed(node, child)
    }

    /// Where a walk in the trie's order goes on that leaves out the child of `node` under `byte`, and the children
    /// behind it as long as `leaves_out` says so of their bytes: at the next child, or at `past`, behind all of them.
    #[inline]
    pub fn next_but(&self, node: u32, byte: u8, past: u32, mut leaves_out: impl FnMut(u8) -> bool) -> u32 {
        let range = self.range(node);
        let bytes = &self.byte[range.clone()];
        let behind = bytes.partition_point(|&b| b <= byte);
        match bytes[behind..].iter().position(|&b| !leaves_out(b)) {
            Some(at) => self.listed(node, self.listed[range.start + behind + at]).unwrap_or(past),
            None => past,
        }
    }
}

#[cfg(test)]
mod tests;
