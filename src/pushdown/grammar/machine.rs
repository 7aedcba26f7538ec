//! Steps a position of a grammar by bytes and special tokens.

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::indenter::Effect;
use crate::pushdown::grammar::parse_stack::{
    Branch, Group, NO_COLUMN, NO_FRAME, NO_NODE, NodeId, ParseStack, PositionId, StackMark,
};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId};
use crate::pushdown::grammar::succession::outlook::Outlook;

/// Branches in the making.
pub type Branches = SmallVec<[Branch; 4]>;

/// Tops behind a terminal that ended, with what must not follow it.
pub(super) struct Ended {
    pub(super) obligations: ObligationsId,
    pub(super) shifted: Shifted,
    /// Tops that an ignored terminal leaves as they are.
    pub(super) kept: SmallVec<[NodeId; 2]>,
    /// The blocks and brackets behind it.
    pub(super) indents: NodeId,
}

impl Ended {
    pub(super) fn new(obligations: ObligationsId, indents: NodeId) -> Self {
        Ended { obligations, shifted: Shifted::default(), kept: SmallVec::new(), indents }
    }
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
        let indents = self.program.indenter.as_ref().map_or(NO_NODE, |indenter| indenter.bottom(self.stack));
        let scan = self.scan_start(&[bottom], NO_OBLIGATIONS);
        let branch = Branch::scanning(tops, scan, indents);
        let live = self.completes(&branch);
        let all = [branch];
        self.stack.make_position(if live { &all } else { &[] })
    }

    /// The state of the scanner at a boundary.
    fn scan_start(&mut self, tops: &[NodeId], obligations: ObligationsId) -> ScanStateId {
        let found = self.program.closure(self.stack, tops);
        self.program.scan_start(&found, obligations)
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
                    let tokens = self.program.terminal_token_bounds.tokens_of(&self.program.scanner, to, branch.tokens);
                    let column = self.program.column_behind(self.stack, branch.indents, branch.column, byte, to);
                    add(&mut out, Branch { scan: to, tokens, column, ..*branch });
                }
                if !self.program.documents.is_empty() && self.program.scanner.state(branch.scan).at_boundary {
                    let obligations = self.program.scanner.state(branch.scan).obligations;
                    self.begin_documents(branch.tops, branch.indents, obligations, byte, &mut out);
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
        let key = |b: &Branch| (b.frame, b.scan, b.tokens, b.indents, b.column);
        branches.sort_by_key(key);
        let mut out = Branches::new();
        for group in branches.chunk_by(|a, b| a.frame == NO_FRAME && key(a) == key(b)) {
            let [one] = group else {
                let mut merged = Shifted::default();
                for branch in group {
                    self.stack.tops(branch.tops).iter().for_each(|&top| merged.add_top(self.stack, top));
                }
                let tops = merged.finish(self.stack);
                out.push(Branch { tops: self.stack.group(&tops), ..group[0] });
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
            let effect = match &program.indenter {
                None => Effect::Taken(NO_NODE),
                Some(indenter) => indenter.effect(self.stack, branch.indents, terminal),
            };
            let indents = match effect {
                Effect::Refused => continue,
                Effect::EndsLine => {
                    let tops: SmallVec<[NodeId; 4]> = SmallVec::from_slice(self.stack.tops(branch.tops));
                    let (indents, column) = (branch.indents, branch.column);
                    let line = program.end_line(self.stack, &tops, indents, column, &mut Vec::new());
                    if let Some((tops, indents)) = line {
                        let at = place_of(ended, obligations, indents);
                        tops.iter().for_each(|&top| ended[at].shifted.add_top(self.stack, top));
                    }
                    continue;
                }
                Effect::Dropped => branch.indents,
                Effect::Taken(indents) => indents,
            };
            let at = place_of(ended, obligations, indents);
            if matches!(effect, Effect::Dropped) || program.ignored.contains(&terminal) {
                self.stack.tops(branch.tops).iter().for_each(|&top| {
                    if !ended[at].kept.contains(&top) {
                        ended[at].kept.push(top);
                    }
                });
            }
            if matches!(effect, Effect::Dropped) {
                continue;
            }
            let found = match &found {
                Some(found) => found,
                None => found.insert(program.closure(self.stack, self.stack.tops(branch.tops))),
            };
            found.shift(&program.lr, &program.productions, self.stack, terminal, &mut ended[at].shifted);
        }
    }

    /// The tops of what ended, as one group; `None` if there are none.
    pub(super) fn tops_of(&mut self, ended: Ended) -> Option<(Group, SmallVec<[NodeId; 2]>)> {
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
            let (obligations, indents) = (one.obligations, one.indents);
            let Some((tops, nodes)) = self.tops_of(one) else { continue };
            let found = self.program.closure(self.stack, &nodes);
            let start = self.program.scan_start(&found, obligations);
            let to = self.program.scanner.next(start, byte);
            if to != REFUSED {
                let column = self.program.column_behind(self.stack, indents, NO_COLUMN, byte, to);
                add(out, Branch { column, ..Branch::scanning(tops, to, indents) });
            }
            if found.closure.has_documents {
                self.begin_documents(tops, indents, obligations, byte, out);
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
                let (obligations, indents) = (one.obligations, one.indents);
                let Some((tops, nodes)) = self.tops_of(one) else { continue };
                let scan = self.scan_start(&nodes, obligations);
                out.push(Branch::scanning(tops, scan, indents));
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
            let found = self.program.closure(self.stack, self.stack.tops(branch.tops));
            self.program.accepts_behind(self.stack, &found, &mut Vec::new())
        })
    }

    /// The branches behind a special token; none if it is refused.
    pub fn step_special(&mut self, branches: &[Branch], token: u32) -> Branches {
        let program = self.program;
        let mut out = Branches::new();
        if program.token_sets.is_empty() {
            return out;
        }
        let mut ended: SmallVec<[Ended; 2]> = SmallVec::new();
        for branch in self.boundaries(branches) {
            let found = program.closure(self.stack, self.stack.tops(branch.tops));
            for &symbol in found.closure.next.iter() {
                let Some(set) = program.productions.token_set(symbol) else { continue };
                let set = &program.token_sets[set];
                if set.binary_search(&token).is_ok() {
                    let at = place_of(&mut ended, NO_OBLIGATIONS, branch.indents);
                    found.shift(&program.lr, &program.productions, self.stack, symbol, &mut ended[at].shifted);
                }
            }
        }
        for one in ended {
            let indents = one.indents;
            if let Some((tops, nodes)) = self.tops_of(one) {
                let scan = self.scan_start(&nodes, NO_OBLIGATIONS);
                out.push(Branch::scanning(tops, scan, indents));
            }
        }
        out
    }

    /// The special tokens that may come next. Adds the nodes of the stack that decide whether the output can be
    /// completed behind them.
    pub fn special_tokens(&mut self, branches: &[Branch], decided: &mut Vec<NodeId>, mut allow: impl FnMut(u32)) {
        let program = self.program;
        if program.token_sets.is_empty() {
            return;
        }
        for branch in self.boundaries(branches) {
            let tops = self.stack.tops(branch.tops);
            let found = program.closure(self.stack, tops);
            for &symbol in found.closure.next.iter() {
                let Some(set) = program.productions.token_set(symbol) else { continue };
                if self.completes_behind_special(&branch, &found, symbol, decided) {
                    program.token_sets[set].iter().for_each(|&token| allow(token));
                }
            }
        }
    }

    /// Whether some text completes the output behind the special tokens of a set, at a boundary.
    fn completes_behind_special(
        &mut self,
        branch: &Branch,
        found: &Found,
        symbol: Symbol,
        decided: &mut Vec<NodeId>,
    ) -> bool {
        let program = self.program;
        if program.succession.is_free {
            return true;
        }
        let mut one = Ended::new(NO_OBLIGATIONS, branch.indents);
        found.shift(&program.lr, &program.productions, self.stack, symbol, &mut one.shifted);
        let Some((tops, nodes)) = self.tops_of(one) else { return false };
        let scan = self.scan_start(&nodes, NO_OBLIGATIONS);
        self.completes_deciding(&Branch::scanning(tops, scan, branch.indents), decided)
    }

    /// Whether some text completes the output from a branch. Where longest matches may forbid everything that could
    /// follow, that takes a search.
    pub fn completes(&mut self, branch: &Branch) -> bool {
        self.completes_deciding(branch, &mut Vec::new())
    }

    /// The same, with the nodes of the stack that decide it.
    fn completes_deciding(&mut self, branch: &Branch, decided: &mut Vec<NodeId>) -> bool {
        match self.outlook(branch, decided) {
            Outlook::Open | Outlook::Completes => true,
            Outlook::Dead => false,
            Outlook::Unknown => self.search_completion(branch, decided),
        }
    }

    /// The branches that can be completed.
    fn completing(&mut self, branches: Branches) -> Branches {
        if self.program.succession.is_free {
            return branches;
        }
        branches.into_iter().filter(|branch| self.completes(branch)).collect()
    }

    /// The position behind the bytes of a token. `None` if they are refused; then nothing is left behind.
    pub fn step_bytes(&mut self, from: PositionId, bytes: &[u8]) -> Option<PositionId> {
        let mark = self.stack.mark();
        let before = self.stack.branches_of(from);
        let branches = self.step_all(before, bytes);
        let mut branches = self.count_token(branches);
        self.compact(&mut branches, &mark);
        self.settle(branches, &mark)
    }

    /// The position behind a byte of a token that goes on. `None` if it is refused.
    pub fn step_byte(&mut self, from: PositionId, byte: u8) -> Option<PositionId> {
        let mark = self.stack.mark();
        let before = self.stack.branches_of(from);
        let mut branches = self.step_all(before, &[byte]);
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
        let read = self.step_all(before, bytes);
        self.count_token(read).into_iter().for_each(|branch| add(&mut all, branch));
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
        self.special_tokens(&branches, &mut Vec::new(), |_| some = true);
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

/// The number of what ended with these obligations, blocks and brackets.
pub(super) fn place_of(ended: &mut SmallVec<[Ended; 2]>, obligations: ObligationsId, indents: NodeId) -> usize {
    let same = |e: &Ended| (e.obligations, e.indents) == (obligations, indents);
    ended.iter().position(same).unwrap_or_else(|| {
        ended.push(Ended::new(obligations, indents));
        ended.len() - 1
    })
}

/// Adds a branch, unless it is there. Of two that differ in tokens only, the one with fewer may do more.
pub(super) fn add(out: &mut Branches, branch: Branch) {
    let key = |b: &Branch| (b.scan, b.frame, b.tops, b.indents, b.column);
    match out.iter_mut().find(|b| key(b) == key(&branch)) {
        Some(known) => known.tokens = known.tokens.min(branch.tokens),
        None => out.push(branch),
    }
}
