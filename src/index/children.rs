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
    /// The children of every node of `trie`: one pass.
    pub fn of(trie: &Trie) -> Self {
        let mut start = Vec::with_capacity(trie.len() + 1);
        let mut of = Vec::with_capacity(trie.len());
        for node in 0..trie.len() as u32 {
            start.push(of.len() as u32);
            of.extend(trie.children(node));
        }
        start.push(of.len() as u32);
        let byte = of.iter().map(|&c: &u32| trie.byte[c as usize]).collect();
        let mut marks = vec![0u8; trie.len()];
        // Children come after their parents.
        for node in (0..trie.len()).rev() {
            for &c in &of[start[node] as usize..start[node + 1] as usize] {
                let c = c as usize;
                marks[node] |= match trie.byte[c] {
                    b'"' => BELOW | QUOTE,
                    b'\\' => BACKSLASH | marks[c] & BELOW,
                    _ => marks[c] & BELOW,
                };
            }
        }
        Children { start: start.into(), of: of.into(), byte, marks: marks.into() }
    }

    /// Whether some token below `node` goes on with a quote, at once or later.
    pub fn is_quoted(&self, node: u32) -> bool {
        self.marks[node as usize] & BELOW != 0
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
