//! Joins the segments behind the ends of terminals to a mask.

use std::sync::Arc;

use crate::mask::grammar::GrammarMasker;
use crate::mask::grammar::exits::{ENDS_PER_STEP, ROWS_PER_STEP, SMALL};
use crate::mask::grammar::mask_builder::{GrammarMaskBuilder, children};
use crate::mask::grammar::segments::{Beginning, Segment, SegmentEnd, UNIDENTIFIED, VOCABULARY};
use crate::mask::lexeme::lexeme_mask::TokenSet;
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::grammar::parse_stack::NO_COLUMN;
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId};
use crate::pushdown::grammar::succession::outlook::Outlook;
use crate::util::seeded_hash::SeededMap;
use crate::util::work_meter::{charge, is_over};
use crate::vocab::Trie;

/// The segment of a node's subtrees with at least `least` nodes.
fn segment_of(masker: &GrammarMasker, trie: &Trie, (trie_id, node, least, start): Beginning) -> Segment {
    let program = masker.program;
    let scanner = &program.scanner;
    let newline = program.indenter.as_ref().map(|indenter| indenter.newline);
    let mut row: Option<Vec<u32>> = None;
    let mut tokens: Vec<u32> = Vec::new();
    let mut states: Vec<ScanStateId> = Vec::new();
    let mut ends: SeededMap<(u32, ObligationsId), Vec<u32>> = SeededMap::default();
    let mut inside: Vec<(ScanStateId, Vec<u32>)> = Vec::new();
    let mut newlines = Vec::new();
    let mut todo: Vec<(u32, ScanStateId)> = Vec::new();
    for (child, byte) in children(trie, node) {
        let to = scanner.next(start, byte);
        if trie.end[child as usize] - child < least || to == REFUSED {
            continue;
        }
        match scanner.state(to).live.iter().any(|&(terminal, _)| Some(terminal) == newline) {
            true => newlines.push((child, byte)),
            false => todo.push((child, to)),
        }
    }
    while let Some((node, state)) = todo.pop() {
        charge(1);
        if is_over() {
            break;
        }
        if !states.contains(&state) {
            states.push(state);
        }
        tokens.extend_from_slice(trie.tokens(node));
        let size = trie.end[node as usize] - node - 1;
        if size == 0 {
            continue;
        }
        let scan = scanner.state(state);
        if trie_id == VOCABULARY && size >= SMALL && scanner.obligations(scan.obligations).is_empty() {
            charge(scan.live.len() / ROWS_PER_STEP);
            let row = row.get_or_insert_with(|| vec![0; masker.tables.words]);
            for &(terminal, at) in &scan.live {
                let Some(lexeme) = &masker.lexemes[terminal as usize] else { continue };
                let mask = masker.tables.submask(masker.vocabulary, lexeme, at, 0, TrieKind::Tokens, node);
                mask.inner.or_into(row);
            }
            match inside.iter_mut().find(|(known, _)| *known == state) {
                Some((_, nodes)) => nodes.push(node),
                None => inside.push((state, vec![node])),
            }
            continue;
        }
        charge(scan.ends.len() / ENDS_PER_STEP);
        for &(terminal, obligations) in &scan.ends {
            if children(trie, node).any(|(_, byte)| program.may_follow(terminal, obligations, byte)) {
                ends.entry((terminal, obligations)).or_default().push(node);
            }
        }
        for (child, byte) in children(trie, node) {
            let to = scanner.next(state, byte);
            if to != REFUSED {
                todo.push((child, to));
            }
        }
    }
    let inner = match row {
        None => {
            tokens.sort_unstable();
            TokenSet::Sparse(tokens.into())
        }
        Some(mut row) => {
            tokens.iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
            TokenSet::of_row(row.into())
        }
    };
    let mut ends: Vec<SegmentEnd> = ends
        .into_iter()
        .map(|((terminal, obligations), nodes)| SegmentEnd { terminal, obligations, nodes: nodes.into() })
        .collect();
    ends.sort_unstable_by_key(|end| (end.terminal, end.obligations));
    let inside = inside.into_iter().map(|(state, nodes)| (state, nodes.into())).collect();
    Segment { inner, states: states.into(), ends: ends.into(), inside, newlines: newlines.into() }
}

impl GrammarMaskBuilder<'_, '_> {
    /// Goes on at a place with what comes below a node: subtrees of at least `least` nodes, behind the end of a
    /// terminal.
    pub(super) fn begin_below(&mut self, trie: &Trie, node: u32, least: u32, to: u32, end: (u32, ObligationsId)) {
        let program = self.masker.program;
        let (terminal, obligations) = end;
        let may_follow = |&(child, byte): &(u32, u8)| {
            trie.end[child as usize] - child >= least && program.may_follow(terminal, obligations, byte)
        };
        if self.merges || self.trie_id == UNIDENTIFIED || self.places[to as usize].found.closure.has_documents {
            let nodes: smallvec::SmallVec<[(u32, u8); 16]> = children(trie, node).filter(may_follow).collect();
            return self.begin(trie, to, obligations, &nodes);
        }
        let start = self.start_at(to, obligations);
        let beginning = (self.trie_id, node, least, start);
        if !self.begun.insert((to, beginning)) {
            return;
        }
        let segments = &self.masker.masks.segments;
        let segment = segments.get(&beginning).unwrap_or_else(|| {
            let made = segment_of(self.masker, trie, beginning);
            let made = (!made.is_empty()).then(|| Arc::new(made));
            if !is_over() {
                segments.keep(beginning, made.clone(), made.as_ref().map_or(0, |made| made.memory_bytes()) + 48);
            }
            made
        });
        let Some(segment) = segment else { return self.look_below(trie, to, children(trie, node).filter(may_follow)) };
        if !self.is_open(to, &segment) {
            let nodes: smallvec::SmallVec<[(u32, u8); 16]> = children(trie, node).filter(may_follow).collect();
            return self.begin(trie, to, obligations, &nodes);
        }
        self.look_below(trie, to, children(trie, node).filter(may_follow));
        let level = self.places[to as usize].level;
        if !matches!(&segment.inner, TokenSet::Sparse(tokens) if tokens.is_empty()) {
            segment.inner.or_into(self.levels.row_at(level));
        }
        for (state, nodes) in &segment.inside {
            self.inside.entry((to, *state, NO_COLUMN)).or_default().extend_from_slice(nodes);
        }
        for &(child, byte) in &segment.newlines {
            let next = program.scanner.next(start, byte);
            self.enter(trie, (child, next, NO_COLUMN, to), byte);
        }
        if !segment.ends.is_empty() {
            self.ended.push((to, segment));
        }
    }

    /// Notes that what lies below some nodes depends on a place.
    fn look_below(&mut self, trie: &Trie, place: u32, nodes: impl Iterator<Item = (u32, u8)>) {
        let level = self.places[place as usize].level;
        if self.levels.notes(level) {
            nodes.for_each(|(node, _)| self.levels.look_at(trie.subtree_tokens(node), level));
        }
    }

    /// Whether nothing in a segment is dead at a place, wherever its terminals lead.
    fn is_open(&mut self, place: u32, segment: &Segment) -> bool {
        self.masker.program.succession.is_free
            || segment.states.iter().all(|&state| self.outlook(place, state, NO_COLUMN).0 != Outlook::Dead)
                && segment.inside.iter().all(|(state, _)| self.outlook(place, *state, NO_COLUMN).0 == Outlook::Open)
    }

    /// Goes on behind the ends of segments.
    pub(super) fn run_segments(&mut self, trie: &Trie) {
        while let Some((place, segment)) = self.ended.pop() {
            for end in &segment.ends {
                charge(1 + end.nodes.len() / 2);
                if is_over() {
                    return self.give_up();
                }
                for to in self.ends_of(place, end.terminal, NO_COLUMN) {
                    for &node in &end.nodes {
                        self.begin_below(trie, node, 0, to, (end.terminal, end.obligations));
                    }
                }
            }
        }
    }
}
