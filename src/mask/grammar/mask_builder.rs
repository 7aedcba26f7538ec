//! Builds the mask of a branch that is not known.
//!
//! The trie of tokens is followed with a branch, but not byte by byte: inside a terminal the tokens below a node are a
//! known row, and what tokens spell behind its end is a known trie (`exits`). Small subtrees are walked.

use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use crate::grammar::model::Lexer;
use crate::mask::grammar::GrammarMasker;
use crate::mask::grammar::document_walk::DocumentVisit;
use crate::mask::grammar::end_nodes::LastEndNodes;
use crate::mask::grammar::exits::{ENDS_PER_STEP, ROWS_PER_STEP, SMALL};
use crate::mask::grammar::row_levels::RowLevels;
use crate::mask::grammar::segments::{Beginning, Segment, TrieId, UNIDENTIFIED, VOCABULARY};
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::indenter::Effect;
use crate::pushdown::grammar::parse_stack::{Branch, Group, NO_COLUMN, NO_FRAME, NO_NODE, NodeId, ParseStack};
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId};
use crate::pushdown::grammar::succession::outlook::Outlook;
use crate::util::seeded_hash::{SeededMap, SeededSet};
use crate::util::work_meter::{charge, is_over};
use crate::vocab::Trie;

/// Tops at which the builder arrived, with what the parser can do there.
pub(super) struct Place {
    group: Group,
    tops: SmallVec<[NodeId; 2]>,
    /// The open blocks and brackets.
    pub(super) indents: NodeId,
    pub(super) found: Found,
    starts: SmallVec<[(ObligationsId, ScanStateId); 2]>,
    /// How far down the stack one has to look to know that the builder arrives, and what it finds.
    pub(super) level: usize,
}

/// What was built.
pub(super) struct Built {
    /// The tokens that are allowed.
    pub(super) row: Vec<u32>,
    /// The nodes of the stack that decided it.
    pub(super) decided: Vec<NodeId>,
    /// A level, and what is known of all stacks that are alike down to it, where that is most of the row.
    pub(super) mostly: Option<(usize, Vec<u32>, Trie)>,
}

/// A node of the trie, the state of the scanner, the column of a newline, and a place.
pub(super) type Visit = (u32, ScanStateId, u32, u32);

/// The places behind the end of a terminal: two at most, where it is ignored and named by rules as well, and nothing
/// competes.
type Ends = SmallVec<[u32; 2]>;

pub(super) struct GrammarMaskBuilder<'b, 'a> {
    pub(super) masker: &'b GrammarMasker<'a>,
    pub(super) trie: &'b Trie,
    pub(super) stack: &'b mut ParseStack,
    /// Nodes before this number were there before.
    first_new: u32,
    pub(super) levels: RowLevels,
    pub(super) places: Vec<Place>,
    /// The places behind a terminal that ends at a place, with a column.
    ends: SeededMap<(u32, u32, u32), Ends>,
    by_tops: SeededMap<(NodeId, SmallVec<[NodeId; 2]>), u32>,
    outlooks: SeededMap<(u32, ScanStateId, u32), (Outlook, usize)>,
    /// By node.
    todo: BinaryHeap<Reverse<Visit>>,
    pub(super) documents: Vec<DocumentVisit>,
    /// Nodes below which a terminal goes on, by place, state of the scanner and column: what ends there is still to be
    /// seen to.
    pub(super) inside: BTreeMap<(u32, ScanStateId, u32), Vec<u32>>,
    /// Readings whose scanner is in the same state are one from there on.
    pub(super) merges: bool,
    /// The trie that is being walked.
    pub(super) trie_id: TrieId,
    /// Segments that were begun, each with the place.
    pub(super) begun: SeededSet<(u32, Beginning)>,
    /// Segments whose ends are still to be seen to.
    pub(super) ended: Vec<(u32, Arc<Segment>)>,
    pub(super) end_nodes: LastEndNodes,
    decided: Vec<NodeId>,
    /// Nodes that were visited.
    visits: usize,
}

impl<'b, 'a> GrammarMaskBuilder<'b, 'a> {
    pub(super) fn new(masker: &'b GrammarMasker<'a>, stack: &'b mut ParseStack, branch: &Branch) -> Self {
        let first_new = stack.num_nodes();
        GrammarMaskBuilder {
            trie: masker.vocabulary.trie(),
            levels: RowLevels::new(masker.tables.words, stack.view(branch)),
            masker,
            stack,
            first_new,
            places: Vec::new(),
            ends: SeededMap::default(),
            by_tops: SeededMap::default(),
            outlooks: SeededMap::default(),
            todo: BinaryHeap::new(),
            documents: Vec::new(),
            inside: BTreeMap::new(),
            merges: masker.program.scanner.lexer() != Lexer::Contextual,
            trie_id: VOCABULARY,
            begun: SeededSet::default(),
            ended: Vec::new(),
            end_nodes: LastEndNodes::default(),
            decided: Vec::new(),
            visits: 0,
        }
    }

    /// The row of a branch.
    pub(super) fn build(mut self, branch: &Branch) -> Built {
        let place = self.first_place(branch);
        self.levels.note_beyond(self.places[place as usize].level);
        self.todo.push(Reverse((0, branch.scan, branch.column, place)));
        self.run(self.trie);
        self.run_exits();
        self.special_tokens(branch);
        let mostly = self.levels.mostly(self.masker.vocabulary, self.masker.no_text);
        let (row, decided) = self.finish();
        Built { row, decided, mostly }
    }

    /// The tokens of a trie that are allowed, and the nodes of the stack that decided it.
    pub(super) fn build_open(mut self, branch: &Branch, open: &Trie) -> (Vec<u32>, Vec<NodeId>) {
        let place = self.first_place(branch);
        self.todo.push(Reverse((0, branch.scan, branch.column, place)));
        self.trie_id = UNIDENTIFIED;
        self.run(open);
        self.special_tokens(branch);
        self.finish()
    }

    pub(super) fn first_place(&mut self, branch: &Branch) -> u32 {
        let tops = SmallVec::from_slice(self.stack.tops(branch.tops));
        self.place(Some(branch.tops), tops, branch.indents, 0)
    }

    fn finish(mut self) -> (Vec<u32>, Vec<NodeId>) {
        let row = self.levels.row(self.masker.no_text, usize::MAX);
        (row, self.decided())
    }

    /// Nodes from this number on were made here.
    pub(super) fn first_new(&self) -> NodeId {
        self.first_new
    }

    /// The nodes of the stack that decided what was found so far.
    pub(super) fn decided(&mut self) -> Vec<NodeId> {
        let first_new = self.first_new;
        self.decided.retain(|&node| node < first_new);
        self.decided.sort_unstable();
        self.decided.dedup();
        std::mem::take(&mut self.decided)
    }

    /// Sees to everything that is still to be visited in a trie.
    pub(super) fn run(&mut self, trie: &Trie) {
        loop {
            self.run_scanner(trie);
            self.run_segments(trie);
            if !self.todo.is_empty() {
                continue;
            }
            let Some(visit) = self.documents.pop() else { return };
            self.visit_document(trie, &visit);
        }
    }

    /// Leaves all that is still to be visited: the work is over, and what was found is not kept.
    pub(super) fn give_up(&mut self) {
        self.todo.clear();
        self.documents.clear();
        self.inside.clear();
        self.ended.clear();
    }

    /// Counts a node of a trie, of which several are passed in a microsecond.
    pub(super) fn count_visit(&mut self) {
        const VISITS_PER_STEP: usize = 4;
        self.visits += 1;
        charge(usize::from(self.visits.is_multiple_of(VISITS_PER_STEP)));
    }

    fn run_scanner(&mut self, trie: &Trie) {
        // Nodes come in their order, so all ways to one are known when its turn comes.
        while let Some(Reverse(visit)) = self.todo.pop() {
            self.count_visit();
            if is_over() {
                return self.give_up();
            }
            let (node, state, column, mut place) = visit;
            let mut others: SmallVec<[u32; 4]> = SmallVec::new();
            while let Some(&Reverse((same_node, same_state, same_column, other))) = self.todo.peek()
                && (same_node, same_state, same_column) == (node, state, column)
            {
                self.todo.pop();
                if other != place && !others.contains(&other) {
                    others.push(other);
                }
            }
            if self.merges {
                if !others.is_empty() {
                    others.push(place);
                    place = self.merged(&others);
                }
                self.visit(trie, (node, state, column, place));
            } else {
                others.push(place);
                others.into_iter().for_each(|place| self.visit(trie, (node, state, column, place)));
            }
        }
    }

    /// Begins terminals and documents at a place with the bytes of nodes.
    pub(super) fn begin(&mut self, trie: &Trie, to: u32, obligations: ObligationsId, nodes: &[(u32, u8)]) {
        let program = self.masker.program;
        let level = self.places[to as usize].level;
        nodes.iter().for_each(|&(node, _)| self.levels.look_at(trie.subtree_tokens(node), level));
        let start = self.start_at(to, obligations);
        for &(node, byte) in nodes {
            let next = program.scanner.next(start, byte);
            if next != REFUSED {
                self.enter(trie, (node, next, NO_COLUMN, to), byte);
            }
        }
        if !self.places[to as usize].found.closure.has_documents {
            return;
        }
        let next = self.places[to as usize].found.closure.next.clone();
        for document in next.iter().filter_map(|&symbol| program.productions.document(symbol)) {
            for &(node, byte) in nodes {
                let Some(obligations) = program.scanner.next_obligations(obligations, byte) else { continue };
                let mut machine = program.machine(self.stack);
                let Some(start) = machine.frames(document).map(|mut frames| frames.start()) else { continue };
                let frame = machine.step_frame(document, start, byte);
                if frame != NO_FRAME {
                    self.allow_tokens(trie, node, to);
                    let visit = DocumentVisit { node, place: to, document, frame, obligations, all: true };
                    self.follow_later(trie, visit);
                }
            }
        }
    }

    /// The state of the scanner at a place, with obligations.
    pub(super) fn start_at(&mut self, place: u32, obligations: ObligationsId) -> ScanStateId {
        let there = &mut self.places[place as usize];
        if let Some(&(_, start)) = there.starts.iter().find(|start| start.0 == obligations) {
            return start;
        }
        let start = self.masker.program.scan_start(&there.found, obligations);
        there.starts.push((obligations, start));
        start
    }

    pub(super) fn allow_tokens(&mut self, trie: &Trie, node: u32, place: u32) {
        let tokens = trie.tokens(node);
        if !tokens.is_empty() {
            let level = self.places[place as usize].level;
            let row = self.levels.row_at(level);
            tokens.iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
            // The place may have looked less far when the node was begun.
            self.levels.look_at(tokens, level);
        }
    }

    /// The place with these tops, to which one that looks down to `level` leads.
    pub(super) fn place(
        &mut self,
        group: Option<Group>,
        tops: SmallVec<[NodeId; 2]>,
        indents: NodeId,
        level: usize,
    ) -> u32 {
        let key = (indents, tops);
        if let Some(&known) = self.by_tops.get(&key) {
            self.deepen(known, level);
            return known;
        }
        let tops = key.1.clone();
        let group = group.unwrap_or_else(|| self.stack.group(&tops));
        let found = self.masker.program.closure(self.stack, &tops);
        self.decided.extend_from_slice(found.decided());
        let mut level = level.max(self.levels.level(self.stack, found.decided(), self.first_new));
        // Whether newlines are hidden at the branch itself is said beforehand.
        if indents != NO_NODE && self.places.first().is_some_and(|first| first.indents != indents) {
            self.decided.push(indents);
            level = level.max(self.levels.level(self.stack, &[indents], self.first_new));
        }
        let number = self.places.len() as u32;
        self.by_tops.insert(key, number);
        self.places.push(Place { group, tops, indents, found, starts: SmallVec::new(), level });
        number
    }

    /// Notes how far down one looks to arrive at a place. Another way to it may have looked less far.
    fn deepen(&mut self, place: u32, level: usize) {
        let known = &mut self.places[place as usize].level;
        *known = level.max(*known);
    }

    /// One place for several.
    fn merged(&mut self, places: &[u32]) -> u32 {
        let mut all = Shifted::default();
        for &place in places {
            self.places[place as usize].tops.iter().for_each(|&top| all.add_top(self.stack, top));
        }
        let tops = all.finish(self.stack);
        let level = places.iter().map(|&place| self.places[place as usize].level).max().unwrap_or_default();
        // There is no indenter where readings are merged.
        self.place(None, tops, NO_NODE, level)
    }

    /// Adds the tokens below a node.
    fn visit(&mut self, trie: &Trie, visit: Visit) {
        /// Terminals at a boundary whose rows are united. Of more, most begin with few bytes.
        const FEW: usize = 64;
        let (node, state, column, place) = visit;
        let size = trie.end[node as usize] - node - 1;
        if size == 0 {
            return;
        }
        let program = self.masker.program;
        let scan = program.scanner.state(state);
        let few = !scan.at_boundary || scan.live.len() <= FEW;
        let settled = few && program.scanner.obligations(scan.obligations).is_empty();
        // Where some of the states that follow are dead, every node below is looked at.
        if !settled
            || size < SMALL
            || !std::ptr::eq(trie, self.trie)
            || self.outlook(place, state, column).0 != Outlook::Open
        {
            return self.walk(trie, visit);
        }
        let level = self.places[place as usize].level;
        self.levels.look_at(trie.subtree_tokens(node), level);
        charge(scan.live.len() / ROWS_PER_STEP);
        for &(terminal, at) in &scan.live {
            let Some(lexeme) = &self.masker.lexemes[terminal as usize] else { continue };
            let tables = self.masker.tables;
            let mask = tables.submask(self.masker.vocabulary, lexeme, at, 0, TrieKind::Tokens, node);
            mask.inner.or_into(self.levels.row_at(level));
        }
        if !self.merges {
            self.inside.entry((place, state, column)).or_default().push(node);
            return;
        }
        let GrammarMasker { vocabulary, tables, masks, .. } = *self.masker;
        let by_byte = tables.nodes_by_byte(vocabulary);
        let exits = masks.exits.find(program, (vocabulary, by_byte), &[node], state, &mut self.end_nodes);
        for &(node, state, terminal, obligations) in exits.iter().flat_map(|exits| &exits.many) {
            self.end_terminal(trie, (node, state, NO_COLUMN, place), (terminal, obligations), 0);
        }
    }

    /// Steps to the nodes below one.
    pub(super) fn walk(&mut self, trie: &Trie, (node, state, column, place): Visit) {
        let program = self.masker.program;
        for (child, byte) in children(trie, node) {
            let to = program.scanner.next(state, byte);
            if to != REFUSED {
                self.enter(trie, (child, to, column, place), byte);
            }
        }
        let ends = &program.scanner.state(state).ends;
        charge(ends.len() / ENDS_PER_STEP);
        for &(terminal, obligations) in ends {
            // Most nodes have no byte below that could follow.
            if children(trie, node).any(|(_, byte)| program.may_follow(terminal, obligations, byte)) {
                self.end_terminal(trie, (node, state, column, place), (terminal, obligations), 0);
            }
        }
    }

    /// Adds the tokens that end at a node, and sees to those below it. The column is the one before the node's byte.
    pub(super) fn enter(&mut self, trie: &Trie, (node, state, column, place): Visit, byte: u8) {
        let indents = self.places[place as usize].indents;
        let column = self.masker.program.column_behind(self.stack, indents, column, byte, state);
        let (outlook, level) = self.outlook(place, state, column);
        self.levels.look_at(trie.subtree_tokens(node), level);
        if outlook == Outlook::Dead {
            return;
        }
        self.allow_tokens(trie, node, place);
        if trie.end[node as usize] > node + 1 {
            self.todo.push(Reverse((node, state, column, place)));
        }
    }

    /// The outlook of a state, and how far down the stack it looks.
    pub(super) fn outlook(&mut self, place: u32, state: ScanStateId, column: u32) -> (Outlook, usize) {
        let program = self.masker.program;
        if program.succession.is_free {
            return (Outlook::Open, 0);
        }
        let there = &self.places[place as usize];
        let line = program.line_of(state, there.indents, column);
        let key = (place, state, line.least);
        if let Some(&known) = self.outlooks.get(&key) {
            return known;
        }
        let before = self.decided.len();
        let mut outlook = program.machine(self.stack).outlook_at(state, &there.found, line, &mut self.decided);
        if outlook == Outlook::Unknown {
            let branch = Branch { column, ..Branch::scanning(there.group, state, there.indents) };
            outlook = if program.machine(self.stack).search_completion(&branch, &mut self.decided) {
                Outlook::Completes
            } else {
                Outlook::Dead
            };
        }
        let level = self.levels.level(self.stack, &self.decided[before..], self.first_new);
        self.deepen(place, level);
        self.outlooks.insert(key, (outlook, level));
        (outlook, level)
    }

    /// Goes on behind a terminal that ends at a node, with subtrees of at least `least` nodes.
    pub(super) fn end_terminal(&mut self, trie: &Trie, visit: Visit, end: (u32, ObligationsId), least: u32) {
        let (node, _, column, place) = visit;
        for to in self.ends_of(place, end.0, column) {
            self.begin_below(trie, node, least, to, end);
        }
    }

    /// The places behind the end of a terminal. The column matters to newlines alone.
    pub(super) fn ends_of(&mut self, place: u32, terminal: u32, column: u32) -> Ends {
        let program = self.masker.program;
        let level = self.places[place as usize].level;
        let key = (place, terminal, if program.is_newline(terminal) { column } else { NO_COLUMN });
        if let Some(known) = self.ends.get(&key).cloned() {
            known.iter().for_each(|&to| self.deepen(to, level));
            return known;
        }
        let mut out = Ends::new();
        let from = &self.places[place as usize];
        let indents = from.indents;
        let effect = match &program.indenter {
            None => Effect::Taken(indents),
            Some(indenter) => indenter.effect(self.stack, indents, terminal),
        };
        match effect {
            Effect::Refused => {}
            Effect::Dropped => out.push(place),
            Effect::EndsLine => {
                let before = self.decided.len();
                let tops = from.tops.clone();
                let line = program.end_line(self.stack, &tops, indents, column, &mut self.decided);
                let level = level.max(self.levels.level(self.stack, &self.decided[before..], self.first_new));
                if let Some((tops, indents)) = line {
                    out.push(self.place(None, tops, indents, level));
                }
            }
            Effect::Taken(indents) => {
                let is_ignored = program.ignored.contains(&terminal);
                let mut shifted = Shifted::default();
                from.found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
                let mut tops = shifted.finish(self.stack);
                if is_ignored && (self.merges || tops.is_empty()) {
                    out.push(place);
                } else if is_ignored {
                    // All that may come next competes, whether the rules took the terminal or not.
                    tops.extend_from_slice(&from.tops);
                }
                if !tops.is_empty() {
                    out.push(self.place(None, tops, indents, level));
                }
            }
        }
        self.ends.insert(key, out.clone());
        out
    }
}

/// The nodes below one, each with the byte that leads to it.
pub(super) fn children(trie: &Trie, node: u32) -> impl Iterator<Item = (u32, u8)> + '_ {
    trie.children(node).map(|child| (child, trie.byte[child as usize]))
}
