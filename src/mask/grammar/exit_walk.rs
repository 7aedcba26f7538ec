//! Goes on behind the terminals that stay open below nodes of the vocabulary's trie.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::mask::grammar::GrammarMasker;
use crate::mask::grammar::exits::{ExitsBelow, SMALL};
use crate::mask::grammar::mask_builder::{GrammarMaskBuilder, Visit};
use crate::mask::grammar::segments::VOCABULARY;
use crate::pushdown::grammar::parse_stack::NO_COLUMN;
use crate::pushdown::grammar::scanner::REFUSED;
use crate::util::work_meter::is_over;

impl GrammarMaskBuilder<'_, '_> {
    /// Sees to what comes behind the terminals that go on below some nodes.
    pub(super) fn run_exits(&mut self) {
        let GrammarMasker { program, vocabulary, tables, masks, .. } = *self.masker;
        while let Some(((place, state, start_column), mut nodes)) = self.inside.pop_first() {
            if is_over() {
                return self.give_up();
            }
            nodes.sort_unstable();
            nodes.dedup();
            let by_byte = tables.nodes_by_byte(vocabulary);
            let mut all: SmallVec<[Arc<ExitsBelow>; 4]> = SmallVec::new();
            // Two places often differ in a few keywords, and then in the nodes below their first letters alone.
            for nodes in self.by_first_byte(&nodes) {
                match masks.exits.find(program, (vocabulary, by_byte), nodes, state, &mut self.end_nodes) {
                    Some(exits) => all.push(exits),
                    // They are too many to be kept together.
                    None => nodes.iter().for_each(|&node| self.walk(self.trie, (node, state, start_column, place))),
                }
            }
            for &(node, to, terminal, obligations) in all.iter().flat_map(|exits| &exits.many) {
                let (mut column, mut least) = (NO_COLUMN, SMALL + 1);
                // What follows a newline depends on its column, so none of it is among the exits of few.
                if program.is_newline(terminal) {
                    column = self.column_below(&nodes, (node, state, start_column, place));
                    least = 0;
                }
                self.end_terminal(self.trie, (node, to, column, place), (terminal, obligations), least);
            }
            self.run(self.trie);
            for exit in all.iter().flat_map(|exits| &exits.few) {
                self.trie_id = exit.trie_id;
                for to in self.ends_of(place, exit.terminal, NO_COLUMN) {
                    self.begin_below(&exit.behind, 0, 0, to, (exit.terminal, exit.obligations));
                }
                self.run(&exit.behind);
            }
            self.trie_id = VOCABULARY;
        }
    }

    /// Nodes in groups by the first byte of what they spell; one group if little is below them.
    fn by_first_byte<'n>(&self, nodes: &'n [u32]) -> SmallVec<[&'n [u32]; 4]> {
        /// Nodes below which all are one group.
        const FEW: u32 = if cfg!(debug_assertions) { 1 } else { 2_000 };
        let trie = self.trie;
        let below: u32 = nodes.iter().map(|&node| trie.end[node as usize] - node).sum();
        let mut groups = SmallVec::new();
        if below < FEW || nodes.first() == Some(&0) {
            groups.push(nodes);
            return groups;
        }
        let mut rest = nodes;
        for child in trie.children(0) {
            let (group, others) = rest.split_at(rest.partition_point(|&node| node < trie.end[child as usize]));
            if !group.is_empty() {
                groups.push(group);
            }
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        groups
    }

    /// The column at a node below one of several at which the column and the state of the scanner are known.
    fn column_below(&self, nodes: &[u32], (to, mut state, mut column, place): Visit) -> u32 {
        let program = self.masker.program;
        if program.indenter.is_none() {
            return NO_COLUMN;
        }
        let indents = self.places[place as usize].indents;
        let at = nodes.partition_point(|&node| node <= to);
        let mut at = nodes[at.max(1) - 1];
        while at != to {
            let next = self.trie.children(at).find(|&child| child <= to && to < self.trie.end[child as usize]);
            let Some(next) = next else { return NO_COLUMN };
            let byte = self.trie.byte[next as usize];
            state = program.scanner.next(state, byte);
            if state == REFUSED {
                return NO_COLUMN;
            }
            column = program.column_behind(self.stack, indents, column, byte, state);
            at = next;
        }
        column
    }
}
