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
use crate::pushdown::grammar::indenter::{Effect, NewlineUse};
use crate::pushdown::grammar::parse_stack::{Branch, Group, NO_COLUMN, NO_FRAME, NO_NODE, NodeId, ParseStack};
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
    /// The open blocks and brackets.
    indents: NodeId,
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

/// A node of the trie, the state of the scanner, the column of a newline, and a place.
type Visit = (u32, ScanStateId, u32, u32);

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
    ends: SeededMap<(u32, ScanStateId, u32, u32), Ends>,
    by_tops: SeededMap<(NodeId, SmallVec<[NodeId; 2]>), u32>,
    completes: SeededMap<(u32, ScanStateId, u32), bool>,
    /// By node.
    todo: BinaryHeap<Reverse<Visit>>,
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
        let place = self.place_of(branch);
        self.todo.push(Reverse((0, branch.scan, branch.column, place)));
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
        let place = self.place_of(branch);
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
            let (node, state, column, mut place) = visit;
            let mut others: SmallVec<[u32; 4]> = SmallVec::new();
            let indents = self.places[place as usize].indents;
            while let Some(&Reverse((same_node, same_state, same_column, other))) = self.todo.peek()
                && (same_node, same_state, same_column) == (node, state, column)
                && (!self.merges || self.places[other as usize].indents == indents)
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
                self.visit((node, state, column, place));
            } else {
                others.push(place);
                others.into_iter().for_each(|place| self.visit((node, state, column, place)));
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
        let indents = from.indents;
        let to = self.place(None, tops, indents);
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
                let newlines = program.reads_newlines(self.stack, there.indents);
                let start = program.scan_start(&there.found, obligations, newlines);
                there.starts.push((obligations, start));
                start
            }
        };
        for &(node, byte) in nodes {
            let next = program.scanner.next(start, byte);
            if next != REFUSED {
                self.enter((node, next, NO_COLUMN, to), byte);
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

    /// The place of a branch.
    fn place_of(&mut self, branch: &Branch) -> u32 {
        let tops = SmallVec::from_slice(self.stack.tops(branch.tops));
        self.place(Some(branch.tops), tops, branch.indents)
    }

    fn place(&mut self, group: Option<Group>, tops: SmallVec<[NodeId; 2]>, indents: NodeId) -> u32 {
        let key = (indents, tops);
        if let Some(&known) = self.by_tops.get(&key) {
            return known;
        }
        let tops = key.1.clone();
        let group = group.unwrap_or_else(|| self.stack.group(&tops));
        let found = self.masker.program.closure(self.stack, &tops);
        self.decided.extend_from_slice(found.decided());
        let number = self.places.len() as u32;
        self.by_tops.insert(key, number);
        self.places.push(Place { group, tops, indents, found, starts: SmallVec::new() });
        number
    }

    /// One place for several with the same blocks.
    fn merged(&mut self, places: &[u32]) -> u32 {
        let mut all = Shifted::default();
        for &place in places {
            self.places[place as usize].tops.iter().for_each(|&top| all.add_top(self.stack, top));
        }
        let tops = all.finish(self.stack);
        self.place(None, tops, self.places[places[0] as usize].indents)
    }

    /// Adds the tokens below a node.
    fn visit(&mut self, (node, state, column, place): Visit) {
        let program = self.masker.program;
        let (trie, end) = (self.trie, self.trie.end[node as usize]);
        if end == node + 1 {
            return;
        }
        let scan = program.scanner.state(state);
        let settled = !scan.at_boundary && program.scanner.obligations(scan.obligations).is_empty();
        let newline = self.newline_use(place);
        let lets = |terminal: u32| program.lets(terminal, &self.places[place as usize].found.closure, newline);
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
            for &(at, to) in exits.iter() {
                let column = self.column_below((node, state, column, place), at);
                self.end_terminals((at, to, column, place));
            }
            return;
        }
        for child in trie.children(node) {
            let byte = trie.byte[child as usize];
            let to = program.scanner.next(state, byte);
            if to != REFUSED {
                self.enter((child, to, column, place), byte);
            }
        }
        if !scan.ends.is_empty() {
            self.end_terminals((node, state, column, place));
        }
    }

    /// What a newline can do at a place.
    fn newline_use(&mut self, place: u32) -> NewlineUse {
        let program = self.masker.program;
        if program.indenter.is_none() {
            return NewlineUse::Dead;
        }
        let place = &self.places[place as usize];
        // The view of the branch says of its own place whether a bracket hides newlines.
        if place.indents != self.places[0].indents {
            self.decided.push(place.indents);
        }
        program.newline_use(self.stack, place.indents, &place.found.closure.next)
    }

    /// The column at a node below another one where the scanner stays inside one terminal.
    fn column_below(&self, (node, mut state, mut column, place): Visit, to: u32) -> u32 {
        let program = self.masker.program;
        if program.indenter.is_none() {
            return NO_COLUMN;
        }
        let indents = self.places[place as usize].indents;
        let mut at = node;
        while at != to {
            let next = self.trie.children(at).find(|&child| child <= to && to < self.trie.end[child as usize]);
            let Some(next) = next else { return NO_COLUMN };
            let byte = self.trie.byte[next as usize];
            state = program.scanner.next(state, byte);
            column = program.column_behind(self.stack, indents, column, byte, state);
            at = next;
        }
        column
    }

    /// Adds the tokens that end at a node, and sees to those below it. The column is the one before the node's byte.
    fn enter(&mut self, (node, state, column, place): Visit, byte: u8) {
        let indents = self.places[place as usize].indents;
        let column = self.masker.program.column_behind(self.stack, indents, column, byte, state);
        if !self.completes(place, state, column) {
            return;
        }
        self.allow_tokens(node);
        if self.trie.end[node as usize] > node + 1 {
            self.todo.push(Reverse((node, state, column, place)));
        }
    }

    fn completes(&mut self, place: u32, state: ScanStateId, column: u32) -> bool {
        let program = self.masker.program;
        if program.is_free() {
            return true;
        }
        if program.indenter.is_some() {
            return self.completes_with_indents(place, state, column);
        }
        // Behind a terminal of the rules something may always follow.
        let scan = program.scanner.state(state);
        if self.merges
            && program.succession.rules_are_free
            && program.scanner.obligations(scan.obligations).is_empty()
            && scan.live.iter().any(|(terminal, _)| !program.ignored.contains(terminal))
        {
            return true;
        }
        if let Some(&known) = self.completes.get(&(place, state, column)) {
            return known;
        }
        let branch = Branch::scanning(self.places[place as usize].group, state, NO_NODE);
        let answer = match self.masker.program.machine(self.stack).completes_nearby(&branch) {
            Some(decided) => {
                self.decided.extend(decided);
                true
            }
            None => self.search(place, &branch),
        };
        self.completes.insert((place, state, column), answer);
        answer
    }

    fn completes_with_indents(&mut self, place: u32, state: ScanStateId, column: u32) -> bool {
        if let Some(&known) = self.completes.get(&(place, state, column)) {
            return known;
        }
        let there = &self.places[place as usize];
        if there.indents != self.places[0].indents {
            self.decided.push(there.indents);
        }
        let branch = Branch { column, ..Branch::scanning(there.group, state, there.indents) };
        let answer = self.masker.program.machine(self.stack).completes_with_indents(&branch, &mut self.decided);
        self.completes.insert((place, state, column), answer);
        answer
    }

    fn search(&mut self, place: u32, branch: &Branch) -> bool {
        // A search may look at all of the stack.
        let mut below: Vec<NodeId> = self.places[place as usize].tops.to_vec();
        let mut at = 0;
        while let Some(&node) = below.get(at) {
            at += 1;
            for &next in self.stack.below(node) {
                if !below.contains(&next) {
                    below.push(next);
                }
            }
        }
        self.decided.extend(below);
        self.masker.program.machine(self.stack).completes(branch)
    }

    /// Goes on behind the terminals that may end at a node.
    fn end_terminals(&mut self, (node, state, column, place): Visit) {
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
            for to in self.ends_of(place, state, column, number) {
                self.begin(to, obligations, &bytes);
            }
        }
    }

    /// The places behind the end of a terminal, by its number among those that may end in a state.
    fn ends_of(&mut self, place: u32, state: ScanStateId, column: u32, number: u32) -> Ends {
        if let Some(known) = self.ends.get(&(place, state, column, number)) {
            return known.clone();
        }
        let program = self.masker.program;
        let (terminal, _) = program.scanner.state(state).ends[number as usize];
        let mut out = Ends::new();
        let from = &self.places[place as usize];
        let indents = from.indents;
        let effect = match &program.indenter {
            None => Effect::Taken(indents),
            Some(indenter) => {
                if indenter.closes(terminal) {
                    self.decided.push(indents);
                }
                indenter.effect(self.stack, indents, terminal)
            }
        };
        match effect {
            Effect::Refused => {}
            Effect::Dropped => out.push(place),
            Effect::EndsLine => {
                let tops = from.tops.clone();
                let line = program.end_line(self.stack, &tops, indents, column, &mut self.decided);
                out.extend(line.map(|(tops, indents)| self.place(None, tops, indents)));
            }
            Effect::Taken(indents) => {
                if program.ignored.contains(&terminal) {
                    out.push(place);
                }
                let mut shifted = Shifted::default();
                from.found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
                let tops = shifted.finish(self.stack);
                if !tops.is_empty() {
                    out.push(self.place(None, tops, indents));
                }
            }
        }
        self.ends.insert((place, state, column, number), out.clone());
        out
    }

    /// Adds the special tokens that may come next.
    fn special_tokens(&mut self, branch: &Branch) {
        let program = self.masker.program;
        if program.token_sets.is_empty() {
            return;
        }
        let here = self.place_of(branch);
        let mut places: SmallVec<[u32; 4]> = SmallVec::new();
        if program.scanner.state(branch.scan).at_boundary {
            places.push(here);
        } else {
            for number in 0..program.scanner.state(branch.scan).ends.len() as u32 {
                places.extend(self.ends_of(here, branch.scan, branch.column, number));
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
