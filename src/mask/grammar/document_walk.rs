//! Follows a document of a grammar through the trie of tokens, and goes on behind its end.

use smallvec::SmallVec;

use crate::mask::grammar::mask_builder::{GrammarMaskBuilder, Place, children};
use crate::pushdown::grammar::closure::Shifted;
use crate::pushdown::grammar::parse_stack::{Branch, NO_FRAME, NodeId};
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId};
use crate::pushdown::json::frame::FrameId;
use crate::util::work_meter::is_over;
use crate::vocab::Trie;
use crate::vocab::trie_children::MOST_CLOSERS;

/// A document that is followed below a node of the trie.
#[derive(Clone, Copy)]
pub(super) struct DocumentVisit {
    pub(super) node: u32,
    pub(super) place: u32,
    pub(super) document: u32,
    pub(super) frame: FrameId,
    pub(super) obligations: ObligationsId,
    /// Tokens that stay inside are allowed as well.
    pub(super) all: bool,
}

impl GrammarMaskBuilder<'_, '_> {
    /// Adds to `row` the tokens that run past the end of a document; with `all` those that stay inside as well. Returns
    /// the nodes of the stack that decided it.
    pub(super) fn walk_document(
        mut self,
        branch: &Branch,
        document: u32,
        frame: FrameId,
        all: bool,
        row: &mut [u32],
    ) -> Vec<NodeId> {
        let place = self.first_place(branch);
        let obligations = if branch.is_in_document() { branch.scan } else { NO_OBLIGATIONS };
        let visit = DocumentVisit { node: 0, place, document, frame, obligations, all };
        if branch.is_in_document() {
            self.end_document(self.trie, &visit);
        }
        self.documents.push(visit);
        self.run(self.trie);
        self.run_exits();
        self.levels.or_into(row, usize::MAX);
        self.decided()
    }

    /// Follows a document below a node.
    pub(super) fn visit_document(&mut self, trie: &Trie, visit: &DocumentVisit) {
        let program = self.masker.program;
        if visit.all && visit.node != 0 {
            self.end_document(trie, visit);
        }
        let base = trie.depth[visit.node as usize];
        // The document ends where as many brackets were closed as are open.
        let open = match visit.all {
            true => 0,
            false => program.machine(self.stack).open_brackets(visit.document, visit.frame, MOST_CLOSERS),
        };
        let mut states = vec![(visit.frame, visit.obligations, 0); 32];
        let (mut node, end) = (visit.node + 1, trie.end[visit.node as usize]);
        while node < end {
            self.count_visit();
            if is_over() {
                return self.give_up();
            }
            let depth = usize::from(trie.depth[node as usize] - base);
            let (frame, obligations, closed) = states[depth - 1];
            let byte = trie.byte[node as usize];
            let closed = u8::from(matches!(byte, b'}' | b']')).saturating_add(closed);
            if open > 0 && self.masker.tables.children.closers_below(node).saturating_add(closed) < open {
                node = trie.end[node as usize];
                continue;
            }
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
                self.allow_tokens(trie, node, visit.place);
            }
            self.end_document(trie, &DocumentVisit { node, frame: to, obligations, ..*visit });
            // Without a quote the end of a string is not reached.
            let stays = !visit.all
                && !self.masker.tables.children.is_quoted(node)
                && program.machine(self.stack).is_in_string(visit.document, to);
            if stays {
                node = trie.end[node as usize];
                continue;
            }
            if depth >= states.len() {
                states.resize(depth * 2, (to, obligations, closed));
            }
            states[depth] = (to, obligations, closed);
            node += 1;
        }
    }

    /// Goes on behind a document, if it may end at a node.
    pub(super) fn end_document(&mut self, trie: &Trie, visit: &DocumentVisit) {
        let program = self.masker.program;
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
        let Place { level, indents, .. } = self.places[visit.place as usize];
        let to = self.place(None, tops, indents, level);
        let allowed = |&(_, byte): &(u32, u8)| !program.scanner.forbids(visit.obligations, byte);
        let nodes: SmallVec<[(u32, u8); 16]> = children(trie, visit.node).filter(allowed).collect();
        self.begin(trie, to, visit.obligations, &nodes);
    }

    /// Puts off what lies below a node.
    pub(super) fn follow_later(&mut self, trie: &Trie, visit: DocumentVisit) {
        if trie.end[visit.node as usize] > visit.node + 1 {
            self.documents.push(visit);
        }
    }
}
