//! Nodes of the tokens' trie at which a terminal may end, found without a walk.
//!
//! Inside a comment or a long string nearly every node of the trie is passed, and the terminal ends at few of them:
//! behind a quote, or before a newline. Which bytes stand before and behind an end is told by each terminal that the
//! text may still become. Only the ways to nodes with such bytes are walked.

use std::sync::OnceLock;

use crate::expr::ByteSet;
use crate::expr::byte_bits::{ByteBits, bits, set_of, union};
use crate::lexeme::bytes_around_ends::BytesAroundEnds;
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{END, ScanStateId};
use crate::util::work_meter::is_over;
use crate::vocab::Trie;

/// Fewer nodes are walked sooner than end nodes are found; not in tests, whose vocabularies are small.
const WALKED: u32 = if cfg!(debug_assertions) { 1 } else { 2_000 };
/// Fewer are walked even where end nodes are known.
const FEW: u32 = if cfg!(debug_assertions) { 1 } else { 64 };

/// The nodes of a trie by their bytes.
pub struct NodesByByte {
    /// The nodes, by byte and ascending.
    nodes: Box<[u32]>,
    /// Where those of each byte begin.
    first: Box<[u32]>,
}

impl NodesByByte {
    /// The nodes of a trie, its root left out.
    pub fn from_trie(trie: &Trie) -> NodesByByte {
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

/// For each terminal the bytes that tell where it may end: made on use.
#[derive(Default)]
pub(super) struct BytesAroundEndsOfTerminals(OnceLock<Box<[OnceLock<ByteBits>]>>);

impl BytesAroundEndsOfTerminals {
    /// The bytes of nodes at which a terminal may end, or those of the nodes behind: whichever fewer nodes have.
    fn around_ends(&self, program: &GrammarProgram, terminal: u32, by_byte: &NodesByByte) -> ByteBits {
        let scanner = &program.scanner;
        let all = self.0.get_or_init(|| (0..scanner.len()).map(|_| OnceLock::new()).collect());
        *all[terminal as usize].get_or_init(|| {
            let Some(lexeme) = scanner.lexeme(terminal) else { return [0; 4] };
            let (looks_ahead, is_longest) = (scanner.looks_ahead(terminal), scanner.takes_longest(terminal));
            let follow = program.follow.bytes(terminal);
            let (before, behind) = match (looks_ahead, is_longest) {
                (false, false) => (lexeme.last_bytes(), *follow),
                // Whether a text is longer may depend on what is ahead of it.
                (true, _) => (&lexeme.bytes_around_ends(Some(END)).before, *follow),
                (false, true) => {
                    let BytesAroundEnds { before, behind } = lexeme.bytes_around_ends(None);
                    (before, std::array::from_fn(|byte| follow[byte] && behind[byte]))
                }
            };
            let fewer = if by_byte.count(before) < by_byte.count(&behind) { before } else { &behind };
            bits(fewer)
        })
    }
}

/// A bit for each node on whose subtrees something depends.
pub(super) struct EndNodes(Vec<u64>);

/// The nodes that were asked for last: many states of the scanner have the same.
#[derive(Default)]
pub(super) struct LastEndNodes(Option<(ByteBits, Option<EndNodes>)>);

impl LastEndNodes {
    /// The nodes at which a terminal may end if the scanner is in a state at a node above, or the nodes behind; perhaps
    /// some more. Ends at the node above are not among them. `None` where these are too many for a look at them to save
    /// anything, or not known while `below`, the number of nodes to look at, is small.
    pub(super) fn find(
        &mut self,
        program: &GrammarProgram,
        state: ScanStateId,
        below: u32,
        by_byte: &NodesByByte,
        of_terminals: &BytesAroundEndsOfTerminals,
    ) -> Option<&EndNodes> {
        if below < FEW {
            return None;
        }
        let mut bytes: ByteBits = [0; 4];
        for &(terminal, _) in &program.scanner.state(state).live {
            // They are found from hundreds of states of each terminal.
            if is_over() {
                return None;
            }
            bytes = union(bytes, of_terminals.around_ends(program, terminal, by_byte));
        }
        if self.0.as_ref().is_none_or(|(known, _)| *known != bytes) {
            if below < WALKED {
                return None;
            }
            self.0 = Some((bytes, EndNodes::of_bytes(bytes, by_byte)));
        }
        self.0.as_ref()?.1.as_ref()
    }
}

impl EndNodes {
    fn of_bytes(bytes: ByteBits, by_byte: &NodesByByte) -> Option<EndNodes> {
        let bytes = set_of(bytes);
        if by_byte.count(&bytes) > by_byte.nodes.len() / 3 {
            return None;
        }
        let mut bits = vec![0u64; by_byte.nodes.len() / 64 + 1];
        for byte in (0..256).filter(|&byte| bytes[byte]) {
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
