//! Exits: what tokens spell behind the end of a terminal.
//!
//! Below a node of the tokens' trie a terminal goes on, and may end at many other nodes. What tokens spell behind all
//! of these is one trie for each terminal that ends, since what follows does not depend on the text before. Nodes with
//! many tokens behind an end stay where they are: below them, rows are known. Both belong to the state of the scanner
//! alone, so they are found once for each state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::grammar::model::Lexer;
use crate::mask::grammar::end_nodes::{BytesAroundEndsOfTerminals, EndNodes, LastEndNodes, NodesByByte};
use crate::mask::grammar::segments::{TrieId, VOCABULARY};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId};
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::EXITS;
use crate::util::seeded_hash::SeededMap;
use crate::util::work_meter::{charge, is_over};
use crate::vocab::{Trie, Vocabulary};

/// Subtrees of fewer nodes are walked.
pub const SMALL: u32 = 64;

/// The end of a terminal, and what tokens spell behind it.
pub struct Exit {
    /// The id of the trie `behind`.
    pub(super) trie_id: TrieId,
    /// What ends.
    pub terminal: u32,
    /// What must not follow.
    pub obligations: ObligationsId,
    /// The rest of each token that runs past the end. Rests that begin with a byte that can't follow are left out.
    pub behind: Trie,
}

/// The ends below some nodes.
pub struct ExitsBelow {
    /// Where few tokens follow each end.
    pub few: Vec<Exit>,
    /// Nodes at which terminals may end and many tokens follow, each with the state of the scanner, the terminal and
    /// what must not follow.
    pub many: Vec<(u32, ScanStateId, u32, ObligationsId)>,
}

/// The exits below some nodes; none where they are too many.
type Found = Option<Arc<ExitsBelow>>;

/// Rows below a node that are united in a microsecond.
pub(super) const ROWS_PER_STEP: usize = 16;
/// Terminals that end at a node whose followers are looked at in a microsecond.
pub(super) const ENDS_PER_STEP: usize = 8;
/// Nodes that are passed in a microsecond.
const NODES_PER_STEP: usize = 64;

/// Exits by the state of the scanner and the nodes at which it is in it.
#[derive(Default)]
pub struct Exits {
    known: BoundedCache<(ScanStateId, Box<[u32]>), Found, EXITS>,
    /// How many tries have an id.
    trie_ids: AtomicU32,
    bytes_around_ends: BytesAroundEndsOfTerminals,
}

impl Exits {
    /// The exits at these nodes and below them, if the scanner is in a state at each of them. `None` if they are too
    /// many, or the work is over. Readings that may become one again are not followed in tries of their own: there all
    /// exits are nodes.
    pub fn find(
        &self,
        program: &GrammarProgram,
        (vocabulary, by_byte): (&Vocabulary, &NodesByByte),
        nodes: &[u32],
        state: ScanStateId,
        last: &mut LastEndNodes,
    ) -> Found {
        let key = (state, Box::from(nodes));
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        let below: u32 = nodes.iter().map(|&node| vocabulary.trie().end[node as usize] - node).sum();
        let ends = last.find(program, state, below, by_byte, &self.bytes_around_ends);
        let found: Found = find(program, vocabulary, nodes, state, ends, &self.trie_ids).map(Arc::new);
        if is_over() {
            return None;
        }
        let size = |exits: &Arc<ExitsBelow>| {
            let behind: usize = exits.few.iter().map(|exit| exit.behind.len() * 16 + 96).sum();
            behind + exits.many.len() * 16
        };
        self.known.keep(key, found.clone(), found.as_ref().map_or(0, size) + nodes.len() * 4 + 96);
        found
    }

    /// Approximate bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.known.memory_bytes()
    }
}

/// The rests of tokens behind the end of one terminal.
type Rests<'v> = Vec<(&'v [u8], u32)>;

fn find(
    program: &GrammarProgram,
    vocabulary: &Vocabulary,
    nodes: &[u32],
    state: ScanStateId,
    may_end: Option<&EndNodes>,
    trie_ids: &AtomicU32,
) -> Option<ExitsBelow> {
    /// Rests of tokens that are put into tries.
    const MOST_RESTS: usize = 100_000;
    /// Rests that are copied in a microsecond.
    const RESTS_PER_STEP: usize = 16;
    let (scanner, trie) = (&program.scanner, vocabulary.trie());
    let small = if program.scanner.lexer() == Lexer::Contextual { SMALL } else { 0 };
    let mut rests: SeededMap<(u32, ObligationsId), Rests> = SeededMap::default();
    let (mut count, mut many) = (0, Vec::new());
    let mut add_ends = |node: u32, state: ScanStateId| {
        let ends = &scanner.state(state).ends;
        charge(ends.len() / ENDS_PER_STEP);
        for &(terminal, obligations) in ends {
            for child in trie.children(node) {
                if !program.may_follow(terminal, obligations, trie.byte[child as usize]) {
                    continue;
                }
                if trie.end[child as usize] - child > small || program.is_newline(terminal) {
                    let end = (node, state, terminal, obligations);
                    if many.last() != Some(&end) {
                        many.push(end);
                    }
                    continue;
                }
                let tokens = trie.subtree_tokens(child);
                count += tokens.len();
                charge(tokens.len() / RESTS_PER_STEP);
                let from = usize::from(trie.depth[node as usize]);
                let rest = |&token: &u32| {
                    (vocabulary.spelling(token).unwrap_or_default().get(from..).unwrap_or_default(), token)
                };
                rests.entry((terminal, obligations)).or_default().extend(tokens.iter().map(rest));
            }
        }
        count <= MOST_RESTS && !is_over()
    };
    let mut states = vec![state; 32];
    for &node in nodes {
        if !add_ends(node, state) {
            return None;
        }
        let base = trie.depth[node as usize];
        states[0] = state;
        let (mut at, end) = (node + 1, trie.end[node as usize]);
        charge((end - at) as usize / NODES_PER_STEP);
        while at < end {
            if may_end.is_some_and(|nodes| !nodes.any_in(at, trie.end[at as usize])) {
                at = trie.end[at as usize];
                continue;
            }
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
            if trie.end[at as usize] > at + 1 && !add_ends(at, to) {
                return None;
            }
            at += 1;
        }
    }
    let mut ends: Vec<_> = rests.into_iter().collect();
    ends.sort_unstable_by_key(|(end, _)| *end);
    let exit = |((terminal, obligations), mut rests): ((u32, ObligationsId), Rests)| {
        let trie_id = trie_ids.fetch_add(1, Ordering::Relaxed) + VOCABULARY + 1;
        Some(Exit { trie_id, terminal, obligations, behind: Trie::build(&mut rests).ok()? })
    };
    Some(ExitsBelow { few: ends.into_iter().map(exit).collect::<Option<_>>()?, many })
}
