//! Builds the mask of a branch that is not known.
//!
//! The trie of tokens is followed with a branch, but not byte by byte: inside a terminal the tokens below a node are a
//! known row, and the nodes where the terminal may end are a known list. Small subtrees are walked.

use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::grammar::model::Lexer;
use crate::mask::grammar::GrammarMasker;
use crate::mask::trie_kind::TrieKind;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::parse_stack::{Branch, Group, NO_FRAME, NodeId, ParseStack};
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId};
use crate::pushdown::json::frame::FrameId;
use crate::util::hash::SeededMap;
use crate::vocab::Trie;

/// Subtrees of fewer nodes are walked.
const SMALL: u32 = 64;

/// Tops at which the builder arrived, with what the parser can do there.
struct Place {
    group: Group,
    tops: SmallVec<[NodeId; 2]>,
    found: Found,
    starts: SmallVec<[(ObligationsId, ScanStateId); 2]>,
}

/// A document that is followed below a node of the trie.
#[derive(Clone, Copy)]
struct DocumentVisit {
    node: u32,
    place: u32,
    document: u32,
    frame: FrameId,
    obligations: ObligationsId,
    /// Tokens that stay inside are allowed as well.
    all: bool,
}

/// A node of the trie, a place, and the state of the scanner.
type Visit = (u32, u32, ScanStateId);

/// The places behind the end of a terminal: two at most, where it is ignored and named by rules as well.
type Ends = SmallVec<[u32; 2]>;

pub(super) struct MaskBuilder<'b, 'a> {
    masker: &'b GrammarMasker<'a>,
    trie: &'b Trie,
    stack: &'b mut ParseStack,
    /// Nodes before this number were there before.
    own: u32,
    row: Vec<u32>,
    places: Vec<Place>,
    ends: SeededMap<(u32, ScanStateId, u32), Ends>,
    by_tops: SeededMap<SmallVec<[NodeId; 2]>, u32>,
    completes: SeededMap<(u32, ScanStateId), bool>,
    /// Node, state of the scanner and place, by node.
    todo: BinaryHeap<Reverse<(u32, ScanStateId, u32)>>,
    documents: Vec<DocumentVisit>,
    /// Readings whose scanner is in the same state are one from there on.
    merges: bool,
    decided: Vec<NodeId>,
}

impl<'b, 'a> MaskBuilder<'b, 'a> {
    pub(super) fn new(masker: &'b GrammarMasker<'a>, stack: &'b mut ParseStack) -> Self {
        let own = stack.num_nodes();
        MaskBuilder {
            trie: masker.vocabulary.trie(),
            row: vec![0; masker.tables.words],
            masker,
            stack,
            own,
            places: Vec::new(),
            ends: SeededMap::default(),
            by_tops: SeededMap::default(),
            completes: SeededMap::default(),
            todo: BinaryHeap::new(),
            documents: Vec::new(),
            merges: masker.program.scanner.lexer() != Lexer::Contextual,
            decided: Vec::new(),
        }
    }

    /// The row, and the nodes of the stack that decided it.
    pub(super) fn build(mut self, branch: &Branch) -> (Vec<u32>, Vec<NodeId>) {
        let tops = SmallVec::from_slice(self.stack.tops(branch.tops));
        let place = self.place(branch.group_and(tops));
        self.todo.push(Reverse((0, branch.scan, place)));
        self.run();
        // Rows of terminals that look ahead hold tokens with the byte that separates what is ahead; no text has it.
        self.masker.no_text.iter().for_each(|&t| self.row[t as usize >> 5] &= !(1 << (t & 31)));
        self.special_tokens(branch);
        let own = self.own;
        self.decided.retain(|&node| node < own);
        self.decided.sort_unstable();
        self.decided.dedup();
        (self.row, self.decided)
    }

    /// Adds to `row` the tokens that run past the end of a document; with `all` those that stay inside as well.
    pub(super) fn walk_document(mut self, branch: &Branch, document: u32, frame: FrameId, all: bool, row: &mut [u32]) {
        let tops = SmallVec::from_slice(self.stack.tops(branch.tops));
        let place = self.place(branch.group_and(tops));
        let obligations = if branch.is_in_document() { branch.scan } else { NO_OBLIGATIONS };
        let visit = DocumentVisit { node: 0, place, document, frame, obligations, all };
        if branch.is_in_document() {
            self.end_document(&visit);
        }
        self.documents.push(visit);
        self.run();
        row.iter_mut().zip(&self.row).for_each(|(to, from)| *to |= from);
    }

    /// Sees to everything that is still to be visited.
    fn run(&mut self) {
        loop {
            self.run_scanner();
            let Some(visit) = self.documents.pop() else { return };
            self.visit_document(&visit);
        }
    }

    fn run_scanner(&mut self) {
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
                self.visit((node, place, state));
            } else {
                others.push(place);
                others.into_iter().for_each(|place| self.visit((node, place, state)));
            }
        }
    }

    /// Follows a document below a node.
    fn visit_document(&mut self, visit: &DocumentVisit) {
        let (trie, program) = (self.trie, self.masker.program);
        if visit.all && visit.node != 0 {
            self.end_document(visit);
        }
        let base = trie.depth[visit.node as usize];
        let mut states = vec![(visit.frame, visit.obligations); 32];
        let (mut node, end) = (visit.node + 1, trie.end[visit.node as usize]);
        while node < end {
            let depth = usize::from(trie.depth[node as usize] - base);
            let (frame, obligations) = states[depth - 1];
            let byte = trie.byte[node as usize];
            let kept = program.scanner.next_obligations(obligations, byte);
            let to = match kept {
                Some(_) => program.machine(self.stack).step_frame(visit.document, frame, byte),
                None => NO_FRAME,
            };
            let (Some(obligations), true) = (kept, to != NO_FRAME) else {
                node = trie.end[node as usize];
                continue;
            };
            if visit.all {
                self.allow_tokens(node);
            }
            self.end_document(&DocumentVisit { node, frame: to, obligations, ..*visit });
            // Without a quote the end of a string is not reached.
            let stays = !visit.all
                && !self.masker.tables.children.is_quoted(node)
                && program.machine(self.stack).is_in_string(visit.document, to);
            if stays {
                node = trie.end[node as usize];
                continue;
            }
            if depth >= states.len() {
                states.resize(depth * 2, (to, obligations));
            }
            states[depth] = (to, obligations);
            node += 1;
        }
    }

    /// Goes on behind a document, if it may end at a node.
    fn end_document(&mut self, visit: &DocumentVisit) {
        let (trie, program) = (self.trie, self.masker.program);
        if trie.end[visit.node as usize] == visit.node + 1
            || !program.machine(self.stack).may_end_at(visit.document, visit.frame)
        {
            return;
        }
        let mut shifted = Shifted::default();
        let symbol = program.productions.first_document + visit.document;
        let from = &self.places[visit.place as usize];
        from.found.shift(&program.lr, &program.productions, self.stack, symbol, &mut shifted);
        let tops = shifted.finish(self.stack);
        if tops.is_empty() {
            return;
        }
        let to = self.place((None, tops));
        let below = trie.children(visit.node).map(|child| (child, trie.byte[child as usize]));
        let bytes: SmallVec<[(u32, u8); 16]> =
            below.filter(|&(_, byte)| !program.scanner.forbids(visit.obligations, byte)).collect();
        self.begin(to, visit.obligations, &bytes);
    }

    /// Begins terminals and documents at a place with the bytes of nodes.
    fn begin(&mut self, to: u32, obligations: ObligationsId, nodes: &[(u32, u8)]) {
        let program = self.masker.program;
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
                self.enter(node, to, next);
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
                    self.allow_tokens(node);
                    let visit = DocumentVisit { node, place: to, document, frame, obligations, all: true };
                    self.follow_later(visit);
                }
            }
        }
    }

    /// Puts off what lies below a node.
    fn follow_later(&mut self, visit: DocumentVisit) {
        if self.trie.end[visit.node as usize] > visit.node + 1 {
            self.documents.push(visit);
        }
    }

    fn allow_tokens(&mut self, node: u32) {
        self.trie.tokens(node).iter().for_each(|&t| self.row[t as usize >> 5] |= 1 << (t & 31));
    }

    fn place(&mut self, (group, tops): (Option<Group>, SmallVec<[NodeId; 2]>)) -> u32 {
        if let Some(&known) = self.by_tops.get(&tops) {
            return known;
        }
        let group = group.unwrap_or_else(|| self.stack.group(&tops));
        let found = self.masker.program.closure(self.stack, &tops);
        self.decided.extend_from_slice(found.decided());
        let number = self.places.len() as u32;
        self.by_tops.insert(tops.clone(), number);
        self.places.push(Place { group, tops, found, starts: SmallVec::new() });
        number
    }

    /// One place for several.
    fn merged(&mut self, places: &[u32]) -> u32 {
        let mut all = Shifted::default();
        for &place in places {
            self.places[place as usize].tops.iter().for_each(|&top| all.add_top(self.stack, top));
        }
        let tops = all.finish(self.stack);
        self.place((None, tops))
    }

    /// Adds the tokens below a node.
    fn visit(&mut self, (node, place, state): Visit) {
        let program = self.masker.program;
        let (trie, end) = (self.trie, self.trie.end[node as usize]);
        if end == node + 1 {
            return;
        }
        let scan = program.scanner.state(state);
        let settled = !scan.at_boundary && program.scanner.obligations(scan.obligations).is_empty();
        let lets = |terminal: u32| {
            let closure = &self.places[place as usize].found.closure;
            program.succession.completes_behind(terminal, closure, program.productions.terminals)
        };
        // Where it can't be told at once whether a terminal can be completed, every node below is looked at.
        let told = program.succession.rules_are_free && scan.live.iter().all(|&(t, _)| lets(t));
        if settled && told && end - node > SMALL {
            for &(terminal, at) in &scan.live {
                let Some(lexeme) = &self.masker.lexemes[terminal as usize] else { continue };
                let tables = self.masker.tables;
                let mask = tables.submask(self.masker.vocabulary, lexeme, at, 0, TrieKind::Tokens, node);
                mask.inner.or_into(&mut self.row);
            }
            let exits = self.masker.masks.exits.of(program, trie, node, state);
            for &(at, state) in exits.iter() {
                self.end_terminals(at, place, state);
            }
            return;
        }
        for child in trie.children(node) {
            let to = program.scanner.next(state, trie.byte[child as usize]);
            if to != REFUSED {
                self.enter(child, place, to);
            }
        }
        if !scan.ends.is_empty() {
            self.end_terminals(node, place, state);
        }
    }

    /// Adds the tokens that end at a node, and sees to those below it.
    fn enter(&mut self, node: u32, place: u32, state: ScanStateId) {
        if !self.completes(place, state) {
            return;
        }
        self.allow_tokens(node);
        if self.trie.end[node as usize] > node + 1 {
            self.todo.push(Reverse((node, state, place)));
        }
    }

    fn completes(&mut self, place: u32, state: ScanStateId) -> bool {
        if self.masker.program.succession.is_free {
            return true;
        }
        // Behind a terminal of the rules something may always follow.
        let program = self.masker.program;
        let scan = program.scanner.state(state);
        if self.merges
            && program.succession.rules_are_free
            && program.scanner.obligations(scan.obligations).is_empty()
            && scan.live.iter().any(|(terminal, _)| !program.ignored.contains(terminal))
        {
            return true;
        }
        if let Some(&known) = self.completes.get(&(place, state)) {
            return known;
        }
        let branch = Branch::scanning(self.places[place as usize].group, state);
        let answer = match self.masker.program.machine(self.stack).completes_nearby(&branch) {
            Some(decided) => {
                self.decided.extend(decided);
                true
            }
            None => self.masker.program.machine(self.stack).search_completion(&branch, &mut self.decided),
        };
        self.completes.insert((place, state), answer);
        answer
    }

    /// Goes on behind the terminals that may end at a node.
    fn end_terminals(&mut self, node: u32, place: u32, state: ScanStateId) {
        let program = self.masker.program;
        let trie = self.trie;
        let ends = &program.scanner.state(state).ends;
        let mut bytes: SmallVec<[(u32, u8); 16]> = SmallVec::new();
        for (number, &(terminal, obligations)) in (0u32..).zip(ends.iter()) {
            // Most nodes have no byte below that could follow.
            let follow = program.follow.bytes(terminal);
            bytes.clear();
            let below = trie.children(node).map(|child| (child, trie.byte[child as usize]));
            bytes.extend(below.filter(|&(_, byte)| follow[usize::from(byte)]));
            if obligations != NO_OBLIGATIONS {
                bytes.retain(|&mut (_, byte)| !program.scanner.forbids(obligations, byte));
            }
            if bytes.is_empty() {
                continue;
            }
            for to in self.ends_of(place, state, number) {
                self.begin(to, obligations, &bytes);
            }
        }
    }

    /// The places behind the end of a terminal, by its number among those that may end in a state.
    fn ends_of(&mut self, place: u32, state: ScanStateId, number: u32) -> Ends {
        if let Some(known) = self.ends.get(&(place, state, number)) {
            return known.clone();
        }
        let program = self.masker.program;
        let (terminal, _) = program.scanner.state(state).ends[number as usize];
        let mut out = Ends::new();
        if program.ignored.contains(&terminal) {
            out.push(place);
        }
        let mut shifted = Shifted::default();
        let from = &self.places[place as usize];
        from.found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
        let tops = shifted.finish(self.stack);
        if !tops.is_empty() {
            out.push(self.place((None, tops)));
        }
        self.ends.insert((place, state, number), out.clone());
        out
    }

    /// Adds the special tokens that may come next.
    fn special_tokens(&mut self, branch: &Branch) {
        let program = self.masker.program;
        if program.token_sets.is_empty() {
            return;
        }
        let tops = SmallVec::from_slice(self.stack.tops(branch.tops));
        let here = self.place(branch.group_and(tops));
        let mut places: SmallVec<[u32; 4]> = SmallVec::new();
        if program.scanner.state(branch.scan).at_boundary {
            places.push(here);
        } else {
            for number in 0..program.scanner.state(branch.scan).ends.len() as u32 {
                places.extend(self.ends_of(here, branch.scan, number));
            }
        }
        for place in places {
            let next = self.places[place as usize].found.closure.next.clone();
            for set in next.iter().filter_map(|&s| program.productions.token_set(s)) {
                let set = &program.token_sets[set];
                set.iter().for_each(|&t| self.row[t as usize >> 5] |= 1 << (t & 31));
            }
        }
    }
}

impl Branch {
    fn group_and(&self, tops: SmallVec<[NodeId; 2]>) -> (Option<Group>, SmallVec<[NodeId; 2]>) {
        (Some(self.tops), tops)
    }
}
