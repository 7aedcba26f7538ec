//! Steps a position of a grammar by bytes and special tokens.

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::parse_stack::{Branch, Group, NO_FRAME, NodeId, ParseStack, PositionId, StackMark};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED};
use crate::pushdown::grammar::succession::Outlook;

/// Branches in the making.
pub type Branches = SmallVec<[Branch; 4]>;

/// Tops behind a terminal that ended, with what must not follow it.
pub(super) struct Ended {
    pub(super) obligations: ObligationsId,
    pub(super) shifted: Shifted,
    /// Tops that an ignored terminal leaves as they are.
    pub(super) kept: SmallVec<[NodeId; 2]>,
}

/// Steps the stack of a request.
pub struct GrammarMachine<'m> {
    /// The grammar.
    pub program: &'m GrammarProgram,
    /// The stack.
    pub stack: &'m mut ParseStack,
}

impl GrammarMachine<'_> {
    /// Makes the first position. It has no branches if nothing is accepted.
    pub fn start(&mut self) -> PositionId {
        let bottom = self.stack.push(self.program.lr.start(), &[]);
        let tops = self.stack.group(&[bottom]);
        let found = self.program.closure(self.stack, &[bottom]);
        let scan = self.program.scan_start(&found, NO_OBLIGATIONS);
        let branch = Branch::scanning(tops, scan);
        let live = self.completes(&branch);
        let all = [branch];
        self.stack.make_position(if live { &all } else { &[] })
    }

    /// The branches behind a byte; none if it is refused. Branches that cannot be completed are among them where
    /// completing takes a search; see [`completes`](Self::completes).
    pub fn step(&mut self, branches: &[Branch], byte: u8) -> Branches {
        let mut out = Branches::new();
        let mut ended: SmallVec<[Ended; 2]> = SmallVec::new();
        for branch in branches {
            if branch.is_in_document() {
                self.step_document(branch, byte, &mut out);
            } else {
                let to = self.program.scanner.next(branch.scan, byte);
                if to != REFUSED {
                    add(&mut out, Branch::scanning(branch.tops, to));
                }
                if !self.program.documents.is_empty() && self.program.scanner.state(branch.scan).at_boundary {
                    let obligations = self.program.scanner.state(branch.scan).obligations;
                    self.begin_documents(branch.tops, obligations, byte, &mut out);
                }
            }
            self.end_terminals(branch, Some(byte), &mut ended);
            if self.program.scanner.lexer() == Lexer::Contextual {
                self.begin(std::mem::take(&mut ended), byte, &mut out);
            }
        }
        self.begin(ended, byte, &mut out);
        if self.program.scanner.lexer() != Lexer::Contextual && out.len() > 1 {
            self.merge(&mut out);
        }
        out
    }

    /// Makes one branch of those whose scanner is in the same state: what they have read since is read alike.
    fn merge(&mut self, branches: &mut Branches) {
        branches.sort_by_key(|b| (b.frame, b.scan));
        let mut out = Branches::new();
        for group in branches.chunk_by(|a, b| a.scan == b.scan && a.frame == NO_FRAME && b.frame == NO_FRAME) {
            let [one] = group else {
                let mut merged = Shifted::default();
                for branch in group {
                    self.stack.tops(branch.tops).iter().for_each(|&top| merged.add_top(self.stack, top));
                }
                let tops = merged.finish(self.stack);
                out.push(Branch::scanning(self.stack.group(&tops), group[0].scan));
                continue;
            };
            out.push(*one);
        }
        *branches = out;
    }

    /// Ends the terminals that may end in a branch, if `byte` may come next.
    fn end_terminals(&mut self, branch: &Branch, byte: Option<u8>, ended: &mut SmallVec<[Ended; 2]>) {
        let program = self.program;
        if branch.is_in_document() {
            return self.end_document(branch, ended);
        }
        let ends = &program.scanner.state(branch.scan).ends;
        if ends.is_empty() {
            return;
        }
        let mut found: Option<Found> = None;
        for &(terminal, obligations) in ends {
            if let Some(byte) = byte
                && !program.may_follow(terminal, obligations, byte)
            {
                continue;
            }
            let at = match ended.iter().position(|e| e.obligations == obligations) {
                Some(at) => at,
                None => {
                    ended.push(Ended { obligations, shifted: Shifted::default(), kept: SmallVec::new() });
                    ended.len() - 1
                }
            };
            if program.ignored.contains(&terminal) {
                self.stack.tops(branch.tops).iter().for_each(|&top| {
                    if !ended[at].kept.contains(&top) {
                        ended[at].kept.push(top);
                    }
                });
            }
            let found = match &found {
                Some(found) => found,
                None => found.insert(program.closure(self.stack, self.stack.tops(branch.tops))),
            };
            found.shift(&program.lr, &program.productions, self.stack, terminal, &mut ended[at].shifted);
        }
    }

    /// The tops of what ended, as one group; `None` if there are none.
    fn tops_of(&mut self, ended: Ended) -> Option<(Group, SmallVec<[NodeId; 2]>)> {
        let mut tops = ended.shifted.finish(self.stack);
        tops.extend(ended.kept);
        if tops.is_empty() {
            return None;
        }
        Some((self.stack.group(&tops), tops))
    }

    /// Begins new terminals with a byte behind those that ended.
    fn begin(&mut self, ended: SmallVec<[Ended; 2]>, byte: u8, out: &mut Branches) {
        for one in ended {
            let obligations = one.obligations;
            let Some((tops, nodes)) = self.tops_of(one) else { continue };
            let found = self.program.closure(self.stack, &nodes);
            let start = self.program.scan_start(&found, obligations);
            let to = self.program.scanner.next(start, byte);
            if to != REFUSED {
                add(out, Branch::scanning(tops, to));
            }
            if found.closure.has_documents {
                self.begin_documents(tops, obligations, byte, out);
            }
        }
    }

    /// The branches at a boundary behind each branch: where something ended, and those that are at one.
    pub fn boundaries(&mut self, branches: &[Branch]) -> Branches {
        let mut out = Branches::new();
        for branch in branches {
            if !branch.is_in_document() && self.program.scanner.state(branch.scan).at_boundary {
                out.push(*branch);
                continue;
            }
            let mut ended = SmallVec::new();
            self.end_terminals(branch, None, &mut ended);
            for one in ended {
                let obligations = one.obligations;
                let Some((tops, nodes)) = self.tops_of(one) else { continue };
                let found = self.program.closure(self.stack, &nodes);
                out.push(Branch::scanning(tops, self.program.scan_start(&found, obligations)));
            }
        }
        out
    }

    /// Whether the output may end behind these branches.
    pub fn accepts(&mut self, branches: &[Branch]) -> bool {
        let boundaries = self.boundaries(branches);
        boundaries.iter().any(|branch| {
            let obligations = self.program.scanner.state(branch.scan).obligations;
            if !self.program.scanner.may_end(obligations) {
                return false;
            }
            let tops = self.stack.tops(branch.tops);
            self.program.closure(self.stack, tops).closure.accepting
        })
    }

    /// The branches behind a special token; none if it is refused.
    pub fn step_special(&mut self, branches: &[Branch], token: u32) -> Branches {
        let program = self.program;
        let mut out = Branches::new();
        if program.token_sets.is_empty() {
            return out;
        }
        let mut shifted = Shifted::default();
        for branch in self.boundaries(branches) {
            let found = program.closure(self.stack, self.stack.tops(branch.tops));
            for &symbol in found.closure.next.iter() {
                let Some(set) = program.productions.token_set(symbol) else { continue };
                let set = &program.token_sets[set];
                if set.binary_search(&token).is_ok() {
                    found.shift(&program.lr, &program.productions, self.stack, symbol, &mut shifted);
                }
            }
        }
        let ended = Ended { obligations: NO_OBLIGATIONS, shifted, kept: SmallVec::new() };
        if let Some((tops, nodes)) = self.tops_of(ended) {
            let found = program.closure(self.stack, &nodes);
            let scan = program.scan_start(&found, NO_OBLIGATIONS);
            out.push(Branch::scanning(tops, scan));
        }
        out
    }

    /// The special tokens that may come next.
    pub fn special_tokens(&mut self, branches: &[Branch], mut allow: impl FnMut(u32)) {
        let program = self.program;
        if program.token_sets.is_empty() {
            return;
        }
        for branch in self.boundaries(branches) {
            let tops = self.stack.tops(branch.tops);
            let found = program.closure(self.stack, tops);
            for set in found.closure.next.iter().filter_map(|&s| program.productions.token_set(s)) {
                let set = &program.token_sets[set];
                set.iter().for_each(|&token| allow(token));
            }
        }
    }

    /// Whether some text completes the output from a branch. Where longest matches may forbid everything that could
    /// follow, that takes a search.
    pub fn completes(&mut self, branch: &Branch) -> bool {
        match self.outlook(branch, &mut Vec::new()) {
            Outlook::Open | Outlook::Completes => true,
            Outlook::Dead => false,
            Outlook::Unknown => self.search_completion(branch, &mut Vec::new()),
        }
    }

    /// The branches that can be completed.
    fn completing(&mut self, branches: Branches) -> Branches {
        if self.program.succession.is_free {
            return branches;
        }
        branches.into_iter().filter(|branch| self.completes(branch)).collect()
    }

    /// The position behind some bytes. `None` if they are refused; then nothing is left behind.
    pub fn step_bytes(&mut self, from: PositionId, bytes: &[u8]) -> Option<PositionId> {
        let mark = self.stack.mark();
        let before = self.stack.branches_of(from);
        let mut branches = self.step_all(before, bytes);
        self.compact(&mut branches, &mark);
        self.settle(branches, &mark)
    }

    /// The branches behind some bytes; none if they are refused.
    fn step_all(&mut self, mut branches: Branches, bytes: &[u8]) -> Branches {
        for &byte in bytes {
            branches = self.step(&branches, byte);
            if branches.is_empty() {
                break;
            }
        }
        branches
    }

    /// The position behind a special token, if it is allowed.
    pub fn step_token(&mut self, from: PositionId, token: u32) -> Option<PositionId> {
        let mark = self.stack.mark();
        let branches = self.stack.branches_of(from);
        let branches = self.step_special(&branches, token);
        self.settle(branches, &mark)
    }

    /// The position behind a token that is read as its bytes or as itself: a set of tokens may name it.
    pub fn step_bytes_or_token(&mut self, from: PositionId, bytes: &[u8], token: u32) -> Option<PositionId> {
        let mark = self.stack.mark();
        let before = self.stack.branches_of(from);
        let mut all = self.step_special(&before, token);
        self.step_all(before, bytes).into_iter().for_each(|branch| add(&mut all, branch));
        self.settle(all, &mark)
    }

    fn settle(&mut self, branches: Branches, mark: &StackMark) -> Option<PositionId> {
        let branches = self.completing(branches);
        if branches.is_empty() {
            self.stack.truncate(mark);
            return None;
        }
        Some(self.stack.make_position(&branches))
    }

    /// Whether the output may end in a position.
    pub fn is_accepting(&mut self, at: PositionId) -> bool {
        let mark = self.stack.mark();
        let branches = self.stack.branches_of(at);
        let accepts = self.accepts(&branches);
        self.stack.truncate(&mark);
        accepts
    }

    /// Whether a special token may come next in a position.
    pub fn takes_special(&mut self, at: PositionId) -> bool {
        let mark = self.stack.mark();
        let branches = self.stack.branches_of(at);
        let mut some = false;
        self.special_tokens(&branches, |_| some = true);
        self.stack.truncate(&mark);
        some
    }

    /// The bytes that may come next in a position: the first byte of each class of the scanner that may.
    pub fn next_bytes(&mut self, at: PositionId) -> SmallVec<[u8; 8]> {
        let mark = self.stack.mark();
        let branches = self.stack.branches_of(at);
        let firsts = self.program.scanner.bytes_of_classes();
        let leads = |machine: &mut Self, byte: u8| {
            let next = machine.step(&branches, byte);
            let leads = !machine.completing(next).is_empty();
            machine.stack.truncate(&mark);
            leads
        };
        firsts.iter().copied().filter(|&byte| leads(self, byte)).collect()
    }
}

/// Adds a branch, unless it is there.
fn add(out: &mut Branches, branch: Branch) {
    let same = |b: &Branch| (b.scan, b.frame, b.tops) == (branch.scan, branch.frame, branch.tops);
    if !out.iter().any(same) {
        out.push(branch);
    }
}
