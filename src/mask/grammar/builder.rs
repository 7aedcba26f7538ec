//! Builds the mask of a branch that is not known.
//!
//! The trie of tokens is followed with a branch, but not byte by byte: inside a terminal the tokens below a node are a
//! known row, and what tokens spell behind its end is a known trie (`exits`). Small subtrees are walked.

use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::grammar::model::Lexer;
use crate::mask::grammar::GrammarMasker;
use crate::mask::grammar::document_walk::DocumentVisit;
use crate::mask::grammar::exits::SMALL;
use crate::mask::grammar::row_levels::{Row, RowLevels};
use crate::mask::grammar::view_of;
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::parse_stack::{Branch, Group, NO_FRAME, NodeId, ParseStack};
use crate::pushdown::grammar::scanner::{ObligationsId, REFUSED, ScanStateId};
use crate::pushdown::grammar::succession::Outlook;
use crate::util::hash::SeededMap;
use crate::vocab::Trie;

/// Tops at which the builder arrived, with what the parser can do there.
pub(super) struct Place {
    group: Group,
    tops: SmallVec<[NodeId; 2]>,
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
    pub(super) mostly: Option<(usize, Row)>,
}

/// A node of the trie, a place, and the state of the scanner.
type Visit = (u32, u32, ScanStateId);

/// The places behind the end of a terminal: two at most, where it is ignored and named by rules as well.
type Ends = SmallVec<[u32; 2]>;

pub(super) struct MaskBuilder<'b, 'a> {
    pub(super) masker: &'b GrammarMasker<'a>,
    pub(super) trie: &'b Trie,
    pub(super) stack: &'b mut ParseStack,
    /// Nodes before this number were there before.
    own: u32,
    pub(super) levels: RowLevels,
    pub(super) places: Vec<Place>,
    /// The places behind a terminal that ends at a place.
    ends: SeededMap<(u32, u32), Ends>,
    by_tops: SeededMap<SmallVec<[NodeId; 2]>, u32>,
    outlooks: SeededMap<(u32, ScanStateId), (Outlook, usize)>,
    /// Node, state of the scanner and place, by node.
    todo: BinaryHeap<Reverse<(u32, ScanStateId, u32)>>,
    pub(super) documents: Vec<DocumentVisit>,
    /// Nodes below which a terminal goes on, by place and state of the scanner: what ends there is still to be seen to.
    inside: SeededMap<(u32, ScanStateId), Vec<u32>>,
    /// Readings whose scanner is in the same state are one from there on.
    merges: bool,
    decided: Vec<NodeId>,
}

impl<'b, 'a> MaskBuilder<'b, 'a> {
    pub(super) fn new(masker: &'b GrammarMasker<'a>, stack: &'b mut ParseStack, branch: &Branch) -> Self {
        let own = stack.num_nodes();
        MaskBuilder {
            trie: masker.vocabulary.trie(),
            levels: RowLevels::new(masker.tables.words, view_of(branch, stack.tops(branch.tops))),
            masker,
            stack,
            own,
            places: Vec::new(),
            ends: SeededMap::default(),
            by_tops: SeededMap::default(),
            outlooks: SeededMap::default(),
            todo: BinaryHeap::new(),
            documents: Vec::new(),
            inside: SeededMap::default(),
            merges: masker.program.scanner.lexer() != Lexer::Contextual,
            decided: Vec::new(),
        }
    }

    /// The row of a branch.
    pub(super) fn build(mut self, branch: &Branch) -> Built {
        let place = self.first_place(branch);
        self.levels.note_beyond(self.places[place as usize].level);
        self.todo.push(Reverse((0, branch.scan, place)));
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
        self.todo.push(Reverse((0, branch.scan, place)));
        self.run(open);
        self.special_tokens(branch);
        self.finish()
    }

    pub(super) fn first_place(&mut self, branch: &Branch) -> u32 {
        let tops = SmallVec::from_slice(self.stack.tops(branch.tops));
        self.place(branch.group_and(tops), 0)
    }

    fn finish(mut self) -> (Vec<u32>, Vec<NodeId>) {
        let row = self.levels.row(self.masker.no_text, usize::MAX);
        let own = self.own;
        self.decided.retain(|&node| node < own);
        self.decided.sort_unstable();
        self.decided.dedup();
        (row, self.decided)
    }

    /// Sees to everything that is still to be visited in a trie.
    pub(super) fn run(&mut self, trie: &Trie) {
        loop {
            self.run_scanner(trie);
            let Some(visit) = self.documents.pop() else { return };
            self.visit_document(trie, &visit);
        }
    }

    /// Sees to what comes behind the terminals that go on below some nodes.
    pub(super) fn run_exits(&mut self) {
        let GrammarMasker { program, vocabulary, masks, .. } = *self.masker;
        while let Some(&(place, state)) = self.inside.keys().min() {
            let mut nodes = self.inside.remove(&(place, state)).unwrap_or_default();
            nodes.sort_unstable();
            nodes.dedup();
            let Some(exits) = masks.exits.of(program, vocabulary, &nodes, state) else {
                // They are too many to be kept together.
                nodes.iter().for_each(|&node| self.walk(self.trie, (node, place, state)));
                self.run(self.trie);
                continue;
            };
            for &(node, state) in &exits.many {
                self.end_terminals(self.trie, node, place, state, SMALL);
            }
            self.run(self.trie);
            for exit in &exits.few {
                let nodes: SmallVec<[(u32, u8); 16]> = children(&exit.behind, 0).collect();
                for to in self.ends_of(place, exit.terminal) {
                    self.begin(&exit.behind, to, exit.obligations, &nodes);
                }
                self.run(&exit.behind);
            }
        }
    }

    fn run_scanner(&mut self, trie: &Trie) {
        // Nodes come in their order, so all ways to one are known when its turn comes.
        while let Some(Reverse(visit)) = self.todo.pop() {
            let (node, state, mut place) = visit;
            let mut others: SmallVec<[u32; 4]> = SmallVec::new();
            while let Some(&Reverse((same_node, same_state, other))) = self.todo.peek()
                && (same_node, same_state) == (node, state)
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
                self.visit(trie, (node, place, state));
            } else {
                others.push(place);
                others.into_iter().for_each(|place| self.visit(trie, (node, place, state)));
            }
        }
    }

    /// Begins terminals and documents at a place with the bytes of nodes.
    pub(super) fn begin(&mut self, trie: &Trie, to: u32, obligations: ObligationsId, nodes: &[(u32, u8)]) {
        let program = self.masker.program;
        let level = self.places[to as usize].level;
        nodes.iter().for_each(|&(node, _)| self.levels.look_at(trie.subtree_tokens(node), level));
        let there = &mut self.places[to as usize];
        let start = match there.starts.iter().find(|start| start.0 == obligations) {
            Some(&(_, start)) => start,
            None => {
                let start = program.scan_start(&there.found, obligations);
                there.starts.push((obligations, start));
                start
            }
        };
        for &(node, byte) in nodes {
            let next = program.scanner.next(start, byte);
            if next != REFUSED {
                self.enter(trie, node, to, next);
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
    pub(super) fn place(&mut self, (group, tops): (Option<Group>, SmallVec<[NodeId; 2]>), level: usize) -> u32 {
        if let Some(&known) = self.by_tops.get(&tops) {
            self.deepen(known, level);
            return known;
        }
        let group = group.unwrap_or_else(|| self.stack.group(&tops));
        let found = self.masker.program.closure(self.stack, &tops);
        self.decided.extend_from_slice(found.decided());
        let level = level.max(self.levels.level(self.stack, found.decided(), self.own));
        let number = self.places.len() as u32;
        self.by_tops.insert(tops.clone(), number);
        self.places.push(Place { group, tops, found, starts: SmallVec::new(), level });
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
        self.place((None, tops), level)
    }

    /// Adds the tokens below a node.
    fn visit(&mut self, trie: &Trie, visit: Visit) {
        let (node, place, state) = visit;
        let size = trie.end[node as usize] - node - 1;
        if size == 0 {
            return;
        }
        let program = self.masker.program;
        let scan = program.scanner.state(state);
        let settled = !scan.at_boundary && program.scanner.obligations(scan.obligations).is_empty();
        // Where some of the states that follow are dead, every node below is looked at.
        if !settled || size < SMALL || !std::ptr::eq(trie, self.trie) || self.outlook(place, state).0 != Outlook::Open {
            return self.walk(trie, visit);
        }
        let level = self.places[place as usize].level;
        self.levels.look_at(trie.subtree_tokens(node), level);
        for &(terminal, at) in &scan.live {
            let Some(lexeme) = &self.masker.lexemes[terminal as usize] else { continue };
            let tables = self.masker.tables;
            let mask = tables.submask(self.masker.vocabulary, lexeme, at, 0, TrieKind::Tokens, node);
            mask.inner.or_into(self.levels.row_at(level));
        }
        if !self.merges {
            self.inside.entry((place, state)).or_default().push(node);
            return;
        }
        let exits = self.masker.masks.exits.of(program, self.masker.vocabulary, &[node], state);
        for &(node, state) in exits.iter().flat_map(|exits| &exits.many) {
            self.end_terminals(trie, node, place, state, 0);
        }
    }

    /// Steps to the nodes below one.
    fn walk(&mut self, trie: &Trie, (node, place, state): Visit) {
        let program = self.masker.program;
        for (child, byte) in children(trie, node) {
            let to = program.scanner.next(state, byte);
            if to != REFUSED {
                self.enter(trie, child, place, to);
            }
        }
        if !program.scanner.state(state).ends.is_empty() {
            self.end_terminals(trie, node, place, state, 0);
        }
    }

    /// Adds the tokens that end at a node, and sees to those below it.
    fn enter(&mut self, trie: &Trie, node: u32, place: u32, state: ScanStateId) {
        let (outlook, level) = self.outlook(place, state);
        self.levels.look_at(trie.subtree_tokens(node), level);
        if outlook == Outlook::Dead {
            return;
        }
        self.allow_tokens(trie, node, place);
        if trie.end[node as usize] > node + 1 {
            self.todo.push(Reverse((node, state, place)));
        }
    }

    /// The outlook of a state, and how far down the stack it looks.
    fn outlook(&mut self, place: u32, state: ScanStateId) -> (Outlook, usize) {
        let program = self.masker.program;
        if program.succession.is_free {
            return (Outlook::Open, 0);
        }
        if let Some(&known) = self.outlooks.get(&(place, state)) {
            return known;
        }
        let before = self.decided.len();
        let found = &self.places[place as usize].found;
        let mut outlook = program.machine(self.stack).outlook_at(state, found, &mut self.decided);
        if outlook == Outlook::Unknown {
            let branch = Branch::scanning(self.places[place as usize].group, state);
            outlook = if program.machine(self.stack).search_completion(&branch, &mut self.decided) {
                Outlook::Completes
            } else {
                Outlook::Dead
            };
        }
        let level = self.levels.level(self.stack, &self.decided[before..], self.own);
        self.deepen(place, level);
        self.outlooks.insert((place, state), (outlook, level));
        (outlook, level)
    }

    /// Goes on behind the terminals that may end at a node, where more than `most` nodes follow.
    fn end_terminals(&mut self, trie: &Trie, node: u32, place: u32, state: ScanStateId, most: u32) {
        let program = self.masker.program;
        let mut nodes: SmallVec<[(u32, u8); 16]> = SmallVec::new();
        for &(terminal, obligations) in &program.scanner.state(state).ends {
            // Most nodes have no byte below that could follow.
            nodes.clear();
            nodes.extend(children(trie, node).filter(|&(child, byte)| {
                trie.end[child as usize] - child > most && program.may_follow(terminal, obligations, byte)
            }));
            if nodes.is_empty() {
                continue;
            }
            for to in self.ends_of(place, terminal) {
                self.begin(trie, to, obligations, &nodes);
            }
        }
    }

    /// The places behind the end of a terminal.
    fn ends_of(&mut self, place: u32, terminal: u32) -> Ends {
        let level = self.places[place as usize].level;
        if let Some(known) = self.ends.get(&(place, terminal)).cloned() {
            known.iter().for_each(|&to| self.deepen(to, level));
            return known;
        }
        let program = self.masker.program;
        let mut out = Ends::new();
        if program.ignored.contains(&terminal) {
            out.push(place);
        }
        let mut shifted = Shifted::default();
        let from = &self.places[place as usize];
        from.found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
        let tops = shifted.finish(self.stack);
        if !tops.is_empty() {
            out.push(self.place((None, tops), level));
        }
        self.ends.insert((place, terminal), out.clone());
        out
    }

    /// Adds the special tokens that may come next.
    fn special_tokens(&mut self, branch: &Branch) {
        let program = self.masker.program;
        if program.token_sets.is_empty() {
            return;
        }
        let here = self.first_place(branch);
        let mut places: SmallVec<[u32; 4]> = SmallVec::new();
        if program.scanner.state(branch.scan).at_boundary {
            places.push(here);
        } else {
            for &(terminal, _) in &program.scanner.state(branch.scan).ends {
                places.extend(self.ends_of(here, terminal));
            }
        }
        for place in places {
            let next = self.places[place as usize].found.closure.next.clone();
            for set in next.iter().filter_map(|&s| program.productions.token_set(s)) {
                let row = self.levels.row_at(self.places[place as usize].level);
                program.token_sets[set].iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
            }
        }
    }
}

/// The nodes below one, each with the byte that leads to it.
pub(super) fn children(trie: &Trie, node: u32) -> impl Iterator<Item = (u32, u8)> + '_ {
    trie.children(node).map(|child| (child, trie.byte[child as usize]))
}

impl Branch {
    fn group_and(&self, tops: SmallVec<[NodeId; 2]>) -> (Option<Group>, SmallVec<[NodeId; 2]>) {
        (Some(self.tops), tops)
    }
}
