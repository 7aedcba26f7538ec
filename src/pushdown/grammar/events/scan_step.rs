//! Steps the reader's branches by bytes and special tokens, as the machine of the masks steps its own.

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::events::derivations::{Derivations, OpenNode, Top};
use crate::pushdown::grammar::events::left_corners::EventGrammar;
use crate::pushdown::grammar::events::reader::{EventReader, Group};
use crate::pushdown::grammar::indenter::Effect;
use crate::pushdown::grammar::parse_stack::{self, NO_COLUMN, NO_FRAME, NO_NODE};
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId};
use crate::pushdown::grammar::terminal_token_bounds::Counted;
use crate::pushdown::json::frame::{FrameId, FrameKind};
use crate::pushdown::json::machine::JsonMachine;

/// One reading of the text so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) tops: Group,
    /// What the scanner has read since; inside a document what must not follow.
    pub(super) scan: ScanStateId,
    pub(super) document: u32,
    /// The frame of a document; [`NO_FRAME`] outside of documents.
    pub(super) frame: FrameId,
    /// How many tokens hold a part of what is being read, if some terminal here is bounded in tokens.
    pub(super) tokens: u32,
    /// The open blocks and brackets, nodes of [`EventReader::blocks`].
    pub(super) indents: parse_stack::NodeId,
    /// See [`parse_stack::Branch::column`].
    pub(super) column: u32,
}

impl Branch {
    /// A branch outside of documents.
    fn scanning(tops: Group, scan: ScanStateId, indents: parse_stack::NodeId) -> Self {
        Branch { tops, scan, document: 0, frame: NO_FRAME, tokens: 0, indents, column: NO_COLUMN }
    }
}

/// Branches in the making.
pub(super) type Branches = SmallVec<[Branch; 4]>;

/// What stands behind terminals that ended, with what must not follow.
pub(super) struct Ended {
    pub(super) obligations: ObligationsId,
    pub(super) open: SmallVec<[OpenNode; 2]>,
    /// Tops that an ignored terminal leaves as they are.
    pub(super) kept: SmallVec<[Top; 2]>,
    /// The blocks and brackets behind them.
    pub(super) indents: parse_stack::NodeId,
}

impl Ended {
    /// Nothing yet.
    pub(super) fn new(obligations: ObligationsId, indents: parse_stack::NodeId) -> Self {
        Ended { obligations, open: SmallVec::new(), kept: SmallVec::new(), indents }
    }
}

fn ended_with(
    ended: &mut SmallVec<[Ended; 2]>,
    obligations: ObligationsId,
    indents: parse_stack::NodeId,
) -> &mut Ended {
    let at = match ended.iter().position(|e| (e.obligations, e.indents) == (obligations, indents)) {
        Some(at) => at,
        None => {
            ended.push(Ended::new(obligations, indents));
            ended.len() - 1
        }
    };
    &mut ended[at]
}

impl EventReader {
    /// The first branch.
    pub(super) fn first_branches(&mut self, program: EventGrammar<'_>) -> Branches {
        let bottom = self.stack.push(program.lr.start(), &[]);
        let tops = self.group(&[Top { node: bottom, start: 0 }]);
        let scan = self.scan_start(program, tops, NO_OBLIGATIONS);
        let indents = program.indenter.as_ref().map_or(NO_NODE, |indenter| indenter.bottom(&mut self.blocks));
        smallvec::smallvec![Branch::scanning(tops, scan, indents)]
    }

    /// The state of the scanner where something may be read on top of these.
    fn scan_start(&mut self, program: EventGrammar<'_>, tops: Group, obligations: ObligationsId) -> ScanStateId {
        let mut key: SmallVec<[u32; 8]> = self.tops(tops).iter().map(|top| self.stack.state(top.node)).collect();
        key.sort_unstable();
        key.dedup();
        key.push(obligations);
        program.tables.scan_start(&key, || {
            let states = &key[..key.len() - 1];
            let mut next: Vec<u32> = states
                .iter()
                .flat_map(|&state| program.lr.state(state).terminals(&program.productions).map(|(symbol, _)| symbol))
                .filter(|&symbol| symbol < program.productions.terminals)
                .chain(program.ignored.iter().copied())
                .chain(program.indenter.as_ref().map(|indenter| indenter.newline))
                .collect();
            next.sort_unstable();
            next.dedup();
            program.scanner.oblige_start(program.scanner.start(next.into_iter()), obligations)
        })
    }

    /// The branches behind a byte, which stands at `at`.
    pub(super) fn step(&mut self, program: EventGrammar<'_>, branches: &[Branch], byte: u8, at: u32) -> Branches {
        let mut out = Branches::new();
        let mut ended: SmallVec<[Ended; 2]> = SmallVec::new();
        for branch in branches {
            if branch.frame != NO_FRAME {
                if let Some(scan) = program.scanner.next_obligations(branch.scan, byte) {
                    let frame = self.step_frame(program, branch.document, branch.frame, byte);
                    if frame != NO_FRAME {
                        out.push(Branch { scan, frame, ..*branch });
                    }
                }
            } else {
                let to = program.scanner.next(branch.scan, byte);
                if to != REFUSED {
                    let tokens = program.terminal_token_bounds.tokens_of(&program.scanner, to, branch.tokens);
                    let column = program.column_behind(&self.blocks, branch.indents, branch.column, byte, to);
                    add(&mut out, Branch { scan: to, tokens, column, ..*branch });
                }
                if !program.documents.is_empty() && program.scanner.state(branch.scan).at_boundary {
                    let obligations = program.scanner.state(branch.scan).obligations;
                    self.begin_documents(program, branch.tops, branch.indents, obligations, byte, &mut out);
                }
            }
            self.end_terminals(program, branch, Some(byte), at, &mut ended);
            if program.scanner.lexer() == Lexer::Contextual {
                self.begin(program, std::mem::take(&mut ended), byte, at, &mut out);
            }
        }
        self.begin(program, ended, byte, at, &mut out);
        if program.scanner.lexer() != Lexer::Contextual && out.len() > 1 {
            self.merge(&mut out);
        }
        out
    }

    /// Makes one branch of those whose scanner is in the same state.
    fn merge(&mut self, branches: &mut Branches) {
        branches.sort_by_key(|b| (b.frame, b.scan, b.tokens));
        let mut out = Branches::new();
        let alike = |a: &Branch, b: &Branch| (a.scan, a.tokens) == (b.scan, b.tokens);
        for group in branches.chunk_by(|a, b| alike(a, b) && a.frame == NO_FRAME && b.frame == NO_FRAME) {
            if let [one] = group {
                out.push(*one);
                continue;
            }
            let all: SmallVec<[Top; 8]> = group.iter().flat_map(|b| self.tops(b.tops).iter().copied()).collect();
            let merged = self.stack.merge(&all);
            out.push(Branch { tops: self.group(&merged), ..group[0] });
        }
        *branches = out;
    }

    /// Ends the terminals that may end in a branch, if `byte` may come next. Their text ends at `at`.
    pub(super) fn end_terminals(
        &mut self,
        program: EventGrammar<'_>,
        branch: &Branch,
        byte: Option<u8>,
        at: u32,
        ended: &mut SmallVec<[Ended; 2]>,
    ) {
        if branch.frame != NO_FRAME {
            if self.may_end(program, branch) {
                let tops: SmallVec<[Top; 4]> = self.tops(branch.tops).into();
                let symbol = program.productions.first_document + branch.document;
                let mut open = SmallVec::new();
                self.stack.shift(program, &tops, symbol, at, &mut open);
                ended.push(Ended { open, ..Ended::new(branch.scan, branch.indents) });
            }
            return;
        }
        let ends = &program.scanner.state(branch.scan).ends;
        if ends.is_empty() {
            return;
        }
        for &(terminal, obligations) in ends {
            if let Some(byte) = byte
                && !program.may_follow(terminal, obligations, byte)
            {
                continue;
            }
            self.end_terminal(program, branch, (terminal, obligations), at, ended);
        }
    }

    /// Ends a terminal in a branch. Its text ends at `at`.
    pub(super) fn end_terminal(
        &mut self,
        program: EventGrammar<'_>,
        branch: &Branch,
        (terminal, obligations): (u32, ObligationsId),
        at: u32,
        ended: &mut SmallVec<[Ended; 2]>,
    ) {
        let tops: SmallVec<[Top; 4]> = self.tops(branch.tops).into();
        let kept = tops.iter().map(|top| Top { node: top.node, start: at });
        let effect = match &program.indenter {
            None => Effect::Taken(branch.indents),
            Some(indenter) => indenter.effect(&mut self.blocks, branch.indents, terminal),
        };
        match effect {
            Effect::Refused => {}
            Effect::Dropped => ended_with(ended, obligations, branch.indents).kept.extend(kept),
            Effect::EndsLine => {
                let made = program.line_end(&mut self.blocks, branch.indents, branch.column, &mut Vec::new());
                let Some((terminals, indents)) = made else { return };
                let open = self.shift_all(program, tops, &terminals, at);
                let into = ended_with(ended, obligations, indents);
                for node in open {
                    for link in node.links {
                        Derivations::add_link(&mut into.open, node.state, link);
                    }
                }
            }
            Effect::Taken(indents) => {
                let into = ended_with(ended, obligations, indents);
                if program.ignored.contains(&terminal) {
                    into.kept.extend(kept);
                }
                self.stack.shift(program, &tops, terminal, at, &mut into.open);
            }
        }
    }

    /// Shifts terminals one after the other, of which the first one's text ends at `at` and the others have none.
    fn shift_all(
        &mut self,
        program: EventGrammar<'_>,
        mut tops: SmallVec<[Top; 4]>,
        terminals: &[u32],
        at: u32,
    ) -> SmallVec<[OpenNode; 2]> {
        let mut open = SmallVec::new();
        for &terminal in terminals {
            if !open.is_empty() {
                let nodes = self.stack.close(program, std::mem::take(&mut open));
                tops = nodes.iter().map(|&node| Top { node, start: at }).collect();
            }
            self.stack.shift(program, &tops, terminal, at, &mut open);
            if open.is_empty() {
                break;
            }
        }
        open
    }

    /// The tops behind the end of the next block, as the end of the output closes it.
    pub(super) fn close_block(&mut self, program: EventGrammar<'_>, tops: &[Top], at: u32) -> SmallVec<[Top; 4]> {
        let Some(indenter) = &program.indenter else { return SmallVec::new() };
        let open = self.shift_all(program, tops.into(), &[indenter.dedent], at);
        self.stack.close(program, open).iter().map(|&node| Top { node, start: at }).collect()
    }

    /// The tops behind what ended; what is read on top of them begins at `at`.
    pub(super) fn tops_of(&mut self, program: EventGrammar<'_>, ended: Ended, at: u32) -> Option<Group> {
        let nodes = self.stack.close(program, ended.open);
        let mut tops: SmallVec<[Top; 4]> = nodes.iter().map(|&node| Top { node, start: at }).collect();
        if !ended.kept.is_empty() {
            tops.extend(ended.kept);
            tops = self.stack.merge(&tops);
        }
        if tops.is_empty() { None } else { Some(self.group(&tops)) }
    }

    /// Begins new terminals with a byte behind those that ended.
    fn begin(&mut self, program: EventGrammar<'_>, ended: SmallVec<[Ended; 2]>, byte: u8, at: u32, out: &mut Branches) {
        for one in ended {
            let (obligations, indents) = (one.obligations, one.indents);
            let Some(tops) = self.tops_of(program, one, at) else { continue };
            let start = self.scan_start(program, tops, obligations);
            let to = program.scanner.next(start, byte);
            if to != REFUSED {
                let column = program.column_behind(&self.blocks, indents, NO_COLUMN, byte, to);
                add(out, Branch { column, ..Branch::scanning(tops, to, indents) });
            }
            self.begin_documents(program, tops, indents, obligations, byte, out);
        }
    }

    /// The branches at a boundary behind each branch: where something ended, and those that are at one.
    pub(super) fn boundaries(&mut self, program: EventGrammar<'_>, branches: &[Branch], at: u32) -> Branches {
        let mut out = Branches::new();
        for branch in branches {
            if branch.frame == NO_FRAME && program.scanner.state(branch.scan).at_boundary {
                out.push(*branch);
                continue;
            }
            let mut ended = SmallVec::new();
            self.end_terminals(program, branch, None, at, &mut ended);
            for one in ended {
                let (obligations, indents) = (one.obligations, one.indents);
                let Some(tops) = self.tops_of(program, one, at) else { continue };
                let scan = self.scan_start(program, tops, obligations);
                out.push(Branch::scanning(tops, scan, indents));
            }
        }
        out
    }

    /// Counts a token whose text ends at `at`, as the machine of the masks does.
    pub(super) fn count_token(&mut self, program: EventGrammar<'_>, branches: Branches, at: u32) -> Branches {
        if program.terminal_token_bounds.is_empty() {
            return branches;
        }
        let mut out = Branches::new();
        for branch in branches {
            let counted = match branch.frame {
                NO_FRAME => program.terminal_token_bounds.count(&program.scanner, branch.scan, branch.tokens),
                _ => None,
            };
            let Some(Counted { rest, tokens, ends }) = counted else {
                add(&mut out, branch);
                continue;
            };
            if rest != REFUSED {
                add(&mut out, Branch { scan: rest, tokens, ..branch });
            }
            for (terminal, obligations) in ends {
                let tops: SmallVec<[Top; 4]> = self.tops(branch.tops).into();
                // Texts that are bounded in tokens are no newlines and no brackets.
                let mut one = Ended::new(obligations, branch.indents);
                self.stack.shift(program, &tops, terminal, at, &mut one.open);
                let Some(tops) = self.tops_of(program, one, at) else { continue };
                let scan = self.scan_start(program, tops, obligations);
                add(&mut out, Branch::scanning(tops, scan, branch.indents));
            }
        }
        out
    }

    /// The branches behind a special token, whose text stands from `at` to `end`.
    pub(super) fn step_special(
        &mut self,
        program: EventGrammar<'_>,
        branches: &[Branch],
        token: u32,
        at: u32,
        end: u32,
    ) -> Branches {
        let mut out = Branches::new();
        let mut ended: SmallVec<[Ended; 2]> = SmallVec::new();
        for branch in self.boundaries(program, branches, at) {
            let tops: SmallVec<[Top; 4]> = self.tops(branch.tops).into();
            for top in tops {
                let corners = program.corners(self.stack.state(top.node));
                for &symbol in &corners.next {
                    let Some(set) = program.productions.token_set(symbol) else { continue };
                    if program.token_sets[set].binary_search(&token).is_ok() {
                        let one = [Top { node: top.node, start: at.max(top.start) }];
                        let into = ended_with(&mut ended, NO_OBLIGATIONS, branch.indents);
                        self.stack.shift(program, &one, symbol, end, &mut into.open);
                    }
                }
            }
        }
        for one in ended {
            let indents = one.indents;
            if let Some(tops) = self.tops_of(program, one, end) {
                let scan = self.scan_start(program, tops, NO_OBLIGATIONS);
                out.push(Branch::scanning(tops, scan, indents));
            }
        }
        out
    }

    // --- documents ----------------------------------------------------------------------------------------------

    fn step_frame(&mut self, program: EventGrammar<'_>, document: u32, frame: FrameId, byte: u8) -> FrameId {
        let Some(arena) = self.arena.as_deref_mut() else { return NO_FRAME };
        JsonMachine { program: &program.documents[document as usize], arena }.step(frame, byte)
    }

    /// Whether the document of a branch may end here.
    pub(super) fn may_end(&mut self, program: EventGrammar<'_>, branch: &Branch) -> bool {
        let Some(arena) = self.arena.as_deref_mut() else { return false };
        JsonMachine { program: &program.documents[branch.document as usize], arena }.is_accepting(branch.frame)
    }

    /// Whether the document of a branch may go on here.
    pub(super) fn may_go_on(&self, branch: &Branch) -> bool {
        self.arena.as_ref().is_some_and(|arena| arena.nodes[branch.frame as usize].kind != FrameKind::Done)
    }

    /// Begins the documents that may come on top with a byte.
    fn begin_documents(
        &mut self,
        program: EventGrammar<'_>,
        tops: Group,
        indents: parse_stack::NodeId,
        obligations: ObligationsId,
        byte: u8,
        out: &mut Branches,
    ) {
        if program.documents.is_empty() {
            return;
        }
        let mut documents: SmallVec<[u32; 4]> = SmallVec::new();
        for top in self.tops(tops) {
            let corners = program.corners(self.stack.state(top.node));
            documents.extend(corners.next.iter().filter_map(|&symbol| program.productions.document(symbol)));
        }
        if documents.is_empty() {
            return;
        }
        let Some(obligations) = program.scanner.next_obligations(obligations, byte) else { return };
        documents.sort_unstable();
        documents.dedup();
        for document in documents {
            let Some(arena) = self.arena.as_deref_mut() else { continue };
            let mut frames = JsonMachine { program: &program.documents[document as usize], arena };
            let start = frames.start();
            let frame = frames.step(start, byte);
            if frame != NO_FRAME {
                out.push(Branch { document, frame, ..Branch::scanning(tops, obligations, indents) });
            }
        }
    }
}

/// Adds a branch, unless it is there.
fn add(out: &mut Branches, branch: Branch) {
    if !out.contains(&branch) {
        out.push(branch);
    }
}
