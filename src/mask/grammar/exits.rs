//! Exits: where below a node of the tokens' trie a terminal may end and another one begin.
//!
//! They depend on the state of the scanner alone, so they are found once for each state and node.

use std::sync::Arc;

use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{REFUSED, ScanStateId};
use crate::util::bounded_cache::BoundedCache;
use crate::vocab::Trie;

/// Bytes of exits that one index keeps.
const EXIT_BYTES: usize = 6 << 20;

/// A node at which a terminal may end, with the state of the scanner there.
pub type Exit = (u32, ScanStateId);

/// Exits by node and state.
#[derive(Default)]
pub struct Exits {
    known: BoundedCache<(u32, ScanStateId), Arc<[Exit]>, EXIT_BYTES>,
}

impl Exits {
    /// The exits at `node` and below it, if the scanner is in a state at it.
    pub fn of(&self, program: &GrammarProgram, trie: &Trie, node: u32, state: ScanStateId) -> Arc<[Exit]> {
        if let Some(known) = self.known.get(&(node, state)) {
            return known;
        }
        let found: Arc<[Exit]> = find(program, trie, node, state).into();
        self.known.keep((node, state), found.clone(), found.len() * 8 + 64);
        found
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.known.memory_bytes()
    }
}

/// Whether a terminal may end in a state, and one of the bytes below a node may follow it.
fn may_end(program: &GrammarProgram, trie: &Trie, node: u32, state: ScanStateId) -> bool {
    let ends = &program.scanner.state(state).ends;
    !ends.is_empty()
        && trie.children(node).any(|child| {
            let byte = trie.byte[child as usize];
            ends.iter().any(|&(terminal, obligations)| {
                program.follow.bytes(terminal)[usize::from(byte)] && !program.scanner.forbids(obligations, byte)
            })
        })
}

fn find(program: &GrammarProgram, trie: &Trie, node: u32, state: ScanStateId) -> Vec<Exit> {
    let scanner = &program.scanner;
    let mut out = Vec::new();
    if may_end(program, trie, node, state) {
        out.push((node, state));
    }
    let base = trie.depth[node as usize];
    let mut states = vec![state; 32];
    let (mut at, end) = (node + 1, trie.end[node as usize]);
    while at < end {
        let depth = usize::from(trie.depth[at as usize] - base);
        let to = scanner.next(states[depth - 1], trie.byte[at as usize]);
        if to == REFUSED {
            at = trie.end[at as usize];
            continue;
        }
        if depth >= states.len() {
            states.resize(depth * 2, to);
        }
        states[depth] = to;
        if trie.end[at as usize] > at + 1 && may_end(program, trie, at, to) {
            out.push((at, to));
        }
        at += 1;
    }
    out
}
