//! Nodes of the tokens' trie at which a terminal may end, found without a walk.
//!
//! Inside a comment or a long string nearly every node of the trie is passed, and the terminal ends at few of them:
//! behind a quote, or before a newline. Which bytes stand before and behind an end is told by the states that the
//! scanner can still reach. Only the ways to nodes with such bytes are walked.

use crate::expr::ByteSet;
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId};
use crate::vocab::Trie;

/// States of the scanner that are looked at.
const MOST_STATES: usize = 48;

/// The nodes of a trie by their bytes.
pub struct NodesByByte {
    /// The nodes, by byte and ascending.
    nodes: Box<[u32]>,
    /// Where those of each byte begin.
    first: Box<[u32]>,
}

impl NodesByByte {
    /// The nodes of a trie, its root left out.
    pub fn of(trie: &Trie) -> NodesByByte {
        let mut first = vec![0u32; 257];
        trie.byte.iter().skip(1).for_each(|&byte| first[usize::from(byte) + 1] += 1);
        (0..256).for_each(|byte| first[byte + 1] += first[byte]);
        let mut at = first.clone();
        let mut nodes = vec![0; trie.byte.len().saturating_sub(1)];
        for (node, &byte) in (0..).zip(trie.byte.iter()).skip(1) {
            let place = &mut at[usize::from(byte)];
            nodes[*place as usize] = node;
            *place += 1;
        }
        NodesByByte { nodes: nodes.into(), first: first.into() }
    }

    fn of_byte(&self, byte: usize) -> &[u32] {
        &self.nodes[self.first[byte] as usize..self.first[byte + 1] as usize]
    }

    fn count(&self, bytes: &ByteSet) -> usize {
        (0..256).filter(|&byte| bytes[byte]).map(|byte| self.of_byte(byte).len()).sum()
    }
}

/// The bytes before the ends of terminals, and those behind them, from a state of the scanner on; perhaps some more.
/// Ends in the state itself have any byte before them. `None` where too many states follow.
fn bytes_at_ends(program: &GrammarProgram, from: ScanStateId) -> Option<(ByteSet, ByteSet)> {
    let scanner = &program.scanner;
    let (mut classes_before, mut behind) = ([false; 256], [false; 256]);
    let mut states = vec![from];
    let mut ends: Vec<(u32, ObligationsId)> = Vec::new();
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        for &end in scanner.state(state).ends.iter().filter(|end| !ends.contains(end)).collect::<Vec<_>>() {
            ends.push(end);
            behind.iter_mut().zip(0..=255).for_each(|(behind, byte)| *behind |= program.may_follow(end.0, end.1, byte));
        }
        let (mut last, mut last_ends) = (REFUSED, false);
        for (class, next) in scanner.successors(state).enumerate() {
            if next != last {
                (last, last_ends) = (next, next != REFUSED && !scanner.state(next).ends.is_empty());
                if next != REFUSED && !states.contains(&next) {
                    if states.len() == MOST_STATES {
                        return None;
                    }
                    states.push(next);
                }
            }
            classes_before[class] |= last_ends;
        }
        at += 1;
    }
    let before = std::array::from_fn(|byte| classes_before[scanner.class(byte as u8)]);
    Some((before, behind))
}

/// A bit for each node on whose subtrees something depends.
pub(super) struct EndNodes(Vec<u64>);

impl EndNodes {
    /// The nodes at which a terminal may end if the scanner is in a state at a node above, or the nodes behind; perhaps
    /// some more. `None` where these are too many for a look at them to save anything.
    pub(super) fn of(program: &GrammarProgram, state: ScanStateId, by_byte: &NodesByByte) -> Option<EndNodes> {
        let (before, behind) = bytes_at_ends(program, state)?;
        let fewer = if by_byte.count(&before) < by_byte.count(&behind) { &before } else { &behind };
        if by_byte.count(fewer) > by_byte.nodes.len() / 3 {
            return None;
        }
        let mut bits = vec![0u64; by_byte.nodes.len() / 64 + 1];
        for byte in (0..256).filter(|&byte| fewer[byte]) {
            by_byte.of_byte(byte).iter().for_each(|&node| bits[node as usize / 64] |= 1 << (node % 64));
        }
        Some(EndNodes(bits))
    }

    /// Whether one of the nodes from `first` on and before `end` is among them.
    pub(super) fn any_in(&self, first: u32, end: u32) -> bool {
        let (word, last) = (first as usize / 64, (end as usize - 1) / 64);
        let head = u64::MAX << (first % 64);
        let suffix = u64::MAX >> (63 - (end - 1) % 64);
        if word == last {
            return self.0[word] & head & suffix != 0;
        }
        self.0[word] & head != 0 || self.0[last] & suffix != 0 || self.0[word + 1..last].iter().any(|&bits| bits != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::Rng;

    #[test]
    fn ranges_are_looked_at_bit_by_bit() {
        let mut rng = Rng(5);
        for _ in 0..300 {
            let bits: Vec<u64> =
                (0..4).map(|_| if rng.chance(60) { 0 } else { rng.bits() & rng.bits() & rng.bits() }).collect();
            let nodes = EndNodes(bits.clone());
            let first = rng.below(255) as u32;
            let end = first + 1 + rng.below(255 - first as usize) as u32;
            let one_by_one = (first..end).any(|node| bits[node as usize / 64] >> (node % 64) & 1 == 1);
            assert_eq!(nodes.any_in(first, end), one_by_one, "{first} {end}");
        }
    }
}
