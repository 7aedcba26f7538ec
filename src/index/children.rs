//! The children of a big trie's nodes, side by side.
//!
//! A trie finds the children of a node by jumping from one subtree's end to the next, which touches memory all over a
//! trie of a quarter million nodes. Who looks for one byte at many nodes searches these lists instead, and so does a
//! walk that leaves most children out.

use crate::vocab::Trie;

/// See the module's story.
pub struct Children {
    /// `of[start[n]..start[n + 1]]` are the children of node `n`, by ascending byte.
    start: Box<[u32]>,
    of: Box<[u32]>,
    /// Their bytes.
    byte: Box<[u8]>,
    /// What is among the bytes below a node: [`BELOW`], [`QUOTE`], [`BACKSLASH`].
    marks: Box<[u8]>,
}

/// A quote, at once or later.
const BELOW: u8 = 1;
/// A quote at once.
const QUOTE: u8 = 2;
/// A backslash at once.
const BACKSLASH: u8 = 4;

impl Children {
    /// The children of every node of `trie`: three passes in the order of its nodes.
    pub fn of(trie: &Trie) -> Self {
        let n = trie.len();
        let (depths, bytes) = (&trie.depth[..], &trie.byte[..]);
        // How many children each node has, behind it; then where they begin.
        let mut start = vec![0u32; n + 1];
        let mut path: Vec<u32> = vec![0];
        for (node, &depth) in (0u32..).zip(depths).skip(1) {
            let depth = usize::from(depth);
            start[path[depth - 1] as usize + 1] += 1;
            path.truncate(depth);
            path.push(node);
        }
        for node in 0..n {
            start[node + 1] += start[node];
        }
        let mut next = start.clone();
        let mut of = vec![0u32; n - 1];
        let mut byte = vec![0u8; n - 1];
        path.truncate(1);
        for (node, (&depth, &b)) in (0u32..).zip(depths.iter().zip(bytes)).skip(1) {
            let depth = usize::from(depth);
            let place = &mut next[path[depth - 1] as usize];
            (of[*place as usize], byte[*place as usize]) = (node, b);
            *place += 1;
            path.truncate(depth);
            path.push(node);
        }
        let mut marks = vec![0u8; n];
        // Of the children that were met already, by depth.
        let mut open = vec![0u8; usize::from(depths.iter().copied().max().unwrap_or(0)) + 2];
        for node in (0..n).rev() {
            let depth = usize::from(depths[node]);
            let below = std::mem::take(&mut open[depth + 1]);
            marks[node] = below;
            open[depth] |= match bytes[node] {
                b'"' => BELOW | QUOTE,
                b'\\' => BACKSLASH | below & BELOW,
                _ => below & BELOW,
            };
        }
        Children { start: start.into(), of: of.into(), byte: byte.into(), marks: marks.into() }
    }

    /// Whether some token below `node` goes on with a quote, at once or later.
    pub fn is_quoted(&self, node: u32) -> bool {
        self.marks[node as usize] & BELOW != 0
    }

    /// The bytes that the children of `node` are under, ascending.
    #[inline]
    pub fn bytes(&self, node: u32) -> &[u8] {
        &self.byte[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    /// The child of `node` under `byte`.
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let mark = match byte {
            b'"' => QUOTE,
            b'\\' => BACKSLASH,
            _ => 0,
        };
        if mark != 0 && self.marks[node as usize] & mark == 0 {
            return None;
        }
        let (from, to) = (self.start[node as usize] as usize, self.start[node as usize + 1] as usize);
        let at = self.byte[from..to].binary_search(&byte).ok()?;
        Some(self.of[from + at])
    }

    /// Where a walk in the trie's order goes on that leaves out the child of `node` under `byte`, and the children
    /// behind it as long as `leaves_out` says so of their bytes: at the next child, or at `past`, behind all of them.
    #[inline]
    pub fn next_but(&self, node: u32, byte: u8, past: u32, mut leaves_out: impl FnMut(u8) -> bool) -> u32 {
        let (from, to) = (self.start[node as usize] as usize, self.start[node as usize + 1] as usize);
        let bytes = &self.byte[from..to];
        let behind = bytes.partition_point(|&b| b <= byte);
        match bytes[behind..].iter().position(|&b| !leaves_out(b)) {
            Some(at) => self.of[from + behind + at],
            None => past,
        }
    }
}
