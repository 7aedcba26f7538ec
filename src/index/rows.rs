//! Rows "token has this byte", the raw material of masks of class loops.
//!
//! The tokens that keep a loop over a byte class going are those without any other byte: one AND per byte outside the
//! class instead of a walk over a hundred thousand trie nodes. Bytes that usually go together have a joint row.

use crate::vocab::Vocabulary;

/// Joint rows: control characters, digits, letters in two halves (hex and not), and everything beyond ASCII.
const GROUPS: [(u8, u8); 7] =
    [(0x00, 0x1F), (b'0', b'9'), (b'A', b'F'), (b'G', b'Z'), (b'a', b'f'), (b'g', b'z'), (0x80, 0xFF)];

/// See the module's story.
pub struct ByteRows {
    words: usize,
    /// For each ASCII byte, the tokens that contain it.
    has: Vec<Box<[u32]>>,
    groups: Vec<Box<[u32]>>,
}

impl ByteRows {
    /// The rows of a vocabulary: 135 rows, some milliseconds for 128,000 tokens.
    pub fn build(vocabulary: &Vocabulary) -> Self {
        let words = vocabulary.words();
        let mut has: Vec<Box<[u32]>> = (0..128).map(|_| vec![0; words].into_boxed_slice()).collect();
        let mut high: Box<[u32]> = vec![0; words].into();
        for &t in vocabulary.trie().subtree_tokens(0) {
            let (word, bit) = (t as usize >> 5, 1 << (t & 31));
            for &b in vocabulary.token_bytes(t).unwrap_or_default() {
                match has.get_mut(b as usize) {
                    Some(row) => row[word] |= bit,
                    None => high[word] |= bit,
                }
            }
        }
        let mut groups: Vec<Box<[u32]>> = Vec::new();
        for (lo, hi) in GROUPS {
            if lo == 0x80 {
                groups.push(high.clone());
                continue;
            }
            let mut joint: Box<[u32]> = vec![0; words].into();
            for b in lo..=hi {
                or(&mut joint, &has[b as usize]);
            }
            groups.push(joint);
        }
        ByteRows { words, has, groups }
    }

    /// Clears from `row` the tokens that contain any byte of `bytes` (ASCII one by one; all beyond ASCII or none).
    pub fn remove(&self, row: &mut [u32], bytes: &[bool; 256]) {
        let mut single = *bytes;
        for (&(lo, hi), joint) in GROUPS.iter().zip(&self.groups) {
            if (lo..=hi).all(|b| bytes[b as usize]) {
                row.iter_mut().zip(joint.iter()).for_each(|(w, m)| *w &= !m);
                (lo..=hi).for_each(|b| single[b as usize] = false);
            }
        }
        for (b, joint) in self.has.iter().enumerate() {
            if single[b] {
                row.iter_mut().zip(joint.iter()).for_each(|(w, m)| *w &= !m);
            }
        }
    }

    /// The tokens that contain any ASCII byte of `bytes`, ascending, or `None` if there are more than `most`.
    pub fn containing(&self, bytes: &[bool; 256], most: usize) -> Option<Vec<u32>> {
        let mut joint = vec![0u32; self.words];
        for (b, row) in self.has.iter().enumerate() {
            if bytes[b] {
                or(&mut joint, row);
            }
        }
        let n: usize = joint.iter().map(|w| w.count_ones() as usize).sum();
        if n > most {
            return None;
        }
        let mut out = Vec::with_capacity(n);
        for (i, &w) in joint.iter().enumerate() {
            let mut w = w;
            while w != 0 {
                out.push(i as u32 * 32 + w.trailing_zeros());
                w &= w - 1;
            }
        }
        Some(out)
    }
}

fn or(row: &mut [u32], other: &[u32]) {
    row.iter_mut().zip(other).for_each(|(w, m)| *w |= m);
}
