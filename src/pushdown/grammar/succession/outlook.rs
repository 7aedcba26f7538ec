//! Outlook: whether a branch can be completed, as far as that can be told from what may come next.
//!
//! Where all terminals that may come are free, nothing is to be asked. Else the ends are looked at that the scanner's
//! state leads to, and what may begin behind each: terminal by terminal, and not many.

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::closure::{Found, Shifted};
use crate::pushdown::grammar::indenter::{Effect, Indenter, NewlineUse};
use crate::pushdown::grammar::parse_stack::{Branch, NodeId};
use crate::pushdown::grammar::program::GrammarMachine;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId, TerminalState};

/// What is known of a branch without following it byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Wherever the terminals lead that are being read, the output can be completed.
    Open,
    /// The output can be completed.
    Completes,
    /// It cannot.
    Dead,
    /// That takes a search.
    Unknown,
}

/// What a newline means for a branch.
#[derive(Clone, Copy)]
pub struct Line {
    /// The open blocks and brackets.
    pub indents: NodeId,
    /// How far the line is indented at least that a newline terminal which is being read ends with.
    pub least: u32,
}

impl GrammarMachine<'_> {
    /// Whether a branch can be completed, as far as that can be told from what may come next. Adds the nodes of the
    /// stack that tell, beside whether newlines are hidden.
    pub fn outlook(&mut self, branch: &Branch, decided: &mut Vec<NodeId>) -> Outlook {
        if self.program.succession.is_free || branch.is_in_document() {
            return Outlook::Open;
        }
        let tops: SmallVec<[NodeId; 4]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let found = self.program.closure(self.stack, &tops);
        decided.extend_from_slice(found.decided());
        let line = self.program.line_of(branch.scan, branch.indents, branch.column);
        self.outlook_at(branch.scan, &found, line, decided)
    }

    /// The outlook of a state of the scanner where `found` says what may come.
    pub fn outlook_at(&mut self, state: ScanStateId, found: &Found, line: Line, decided: &mut Vec<NodeId>) -> Outlook {
        let program = self.program;
        let scan = program.scanner.state(state);
        let mut looks = Looks { depth: 0, left: LOOKS };
        let newline = program.newline_use(self.stack, line.indents, &found.closure.next);
        if scan.at_boundary {
            let answer =
                looks.deepen(|looks| self.completes_behind(scan.obligations, found, line.indents, decided, looks));
            return match answer {
                Some(true) => Outlook::Completes,
                Some(false) => Outlook::Dead,
                None => Outlook::Unknown,
            };
        }
        if line.least == 0 && scan.live.iter().all(|&(terminal, _)| self.is_well(state, terminal, found, newline)) {
            return Outlook::Open;
        }
        let Some(ends) = program.succession.ends_from(&program.scanner, state) else { return Outlook::Unknown };
        let answers: SmallVec<[Option<bool>; 8]> = ends
            .all
            .iter()
            .map(|&end| looks.deepen(|looks| self.completes_with(end, found, line, decided, looks)))
            .collect();
        if answers.contains(&Some(true)) {
            // Where a newline can't be begun again, what comes behind it depends on its column.
            let begins_again = |indenter: &Indenter| {
                newline != NewlineUse::Taken
                    || indenter.is_free
                    || !ends.all.iter().any(|&(terminal, _)| terminal == indenter.newline)
            };
            let is_open = program.indenter.as_ref().is_none_or(begins_again)
                && ends.are_reached_from_everywhere(|end| answers[end as usize] == Some(true));
            match is_open {
                true => Outlook::Open,
                false => Outlook::Completes,
            }
        } else if answers.contains(&None) {
            Outlook::Unknown
        } else {
            Outlook::Dead
        }
    }

    /// Whether it is known beforehand that a terminal which is live in a state can be ended, and the output be
    /// completed.
    fn is_well(&self, state: ScanStateId, terminal: u32, found: &Found, newline: NewlineUse) -> bool {
        let program = self.program;
        let succession = &program.succession;
        let closure = &found.closure;
        let obliged = program.scanner.state(state).obligations != NO_OBLIGATIONS;
        let leads_on = || {
            let may_be_last = closure.accepting && succession.may_be_last[terminal as usize];
            let sets = &succession.going_on[terminal as usize];
            may_be_last || succession.leads_on(sets, closure, &program.productions)
        };
        if let Some(indenter) = program.indenter.as_ref().filter(|indenter| indenter.newline == terminal) {
            match newline {
                NewlineUse::Dead => return false,
                NewlineUse::Dropped => return !obliged && leads_on(),
                NewlineUse::Taken if !indenter.is_free => return false,
                NewlineUse::Taken => {}
            }
        }
        let is_next = closure.next.binary_search(&terminal).is_ok();
        let may_be_next =
            || succession.free[terminal as usize] && closure.next_completes.binary_search(&terminal).is_ok();
        !obliged && (!is_next || may_be_next()) && (!program.ignored.contains(&terminal) || leads_on())
    }

    /// Whether the output can be completed behind an end; `None` if that can't be told.
    fn completes_with(
        &mut self,
        (terminal, obligations): (u32, ObligationsId),
        found: &Found,
        line: Line,
        decided: &mut Vec<NodeId>,
        looks: &mut Looks,
    ) -> Option<bool> {
        let program = self.program;
        let indents = match &program.indenter {
            None => line.indents,
            Some(indenter) => match indenter.effect(self.stack, line.indents, terminal) {
                Effect::Refused => return Some(false),
                Effect::Dropped => return self.completes_behind(obligations, found, line.indents, decided, looks),
                Effect::EndsLine => return self.completes_lines(obligations, found, line, decided, looks),
                Effect::Taken(indents) => indents,
            },
        };
        if program.indenter.is_some() && indents != line.indents {
            decided.push(indents);
        }
        let is_ignored = program.ignored.contains(&terminal);
        let is_next = found.closure.next.binary_search(&terminal).is_ok();
        if is_ignored && is_next && program.scanner.lexer() == Lexer::Contextual {
            // All that may come next competes, whether the rules took the terminal or not.
            if program.scanner.may_end(obligations) && program.accepts_behind(self.stack, found, decided) {
                return Some(true);
            }
            let behind = self.behind_or_ignored(found, terminal, decided);
            return self.completes_behind(obligations, &behind, indents, decided, looks);
        }
        let mut answer = Some(false);
        if is_ignored {
            answer = self.completes_behind(obligations, found, indents, decided, looks);
        }
        if answer == Some(true) || !is_next {
            return answer;
        }
        let behind = self.behind(found, terminal, decided);
        match (answer, self.completes_behind(obligations, &behind, indents, decided, looks)) {
            (None, Some(false)) => None,
            (_, answer) => answer,
        }
    }

    /// What may come behind a terminal.
    fn behind(&mut self, found: &Found, terminal: u32, decided: &mut Vec<NodeId>) -> Found {
        self.behind_all(found, terminal, SmallVec::new(), decided)
    }

    /// What may come behind an ignored terminal that may be one of the rules here as well. Whether the output may end
    /// is said of the rules' alone.
    fn behind_or_ignored(&mut self, found: &Found, terminal: u32, decided: &mut Vec<NodeId>) -> Found {
        let before = found.tops(self.stack);
        self.behind_all(found, terminal, before, decided)
    }

    /// What may come behind a terminal, and on more tops.
    fn behind_all(
        &mut self,
        found: &Found,
        terminal: u32,
        more: SmallVec<[NodeId; 2]>,
        decided: &mut Vec<NodeId>,
    ) -> Found {
        let program = self.program;
        let mut shifted = Shifted::default();
        found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
        let mut tops = shifted.finish(self.stack);
        tops.extend(more);
        let behind = program.closure(self.stack, &tops);
        decided.extend_from_slice(behind.decided());
        behind
    }

    /// Whether the output can be completed behind a newline terminal, however far it indents the next line, though no
    /// less than it does already.
    fn completes_lines(
        &mut self,
        obligations: ObligationsId,
        found: &Found,
        line: Line,
        decided: &mut Vec<NodeId>,
        looks: &mut Looks,
    ) -> Option<bool> {
        let program = self.program;
        let indenter = program.indenter.as_ref()?;
        if found.closure.next.binary_search(&indenter.newline).is_err() {
            return Some(false);
        }
        let mut at = self.behind(found, indenter.newline, decided);
        if !indenter.ends_with_any_width(program.scanner.obligations(obligations)) {
            return None;
        }
        let mut answer = Some(false);
        if at.closure.next.binary_search(&indenter.indent).is_ok() {
            let behind = self.behind(&at, indenter.indent, decided);
            let width = indenter.width(self.stack, line.indents).max(line.least) + 1;
            let indents = indenter.block(self.stack, line.indents, width);
            answer = self.completes_behind(obligations, &behind, indents, decided, looks);
        }
        // The rules close no more blocks than are open, so widths matter only where the line is indented already.
        let mut indents = line.indents;
        loop {
            if line.least > 0 {
                decided.push(indents);
                if indenter.width(self.stack, indents) < line.least {
                    return answer;
                }
            }
            match self.completes_behind(obligations, &at, indents, decided, looks) {
                _ if answer == Some(true) => return answer,
                Some(true) => return Some(true),
                None => answer = None,
                Some(false) => {}
            }
            let Some(&below) = self.stack.below(indents).first() else { return answer };
            if at.closure.next.binary_search(&indenter.dedent).is_err() {
                return answer;
            }
            at = self.behind(&at, indenter.dedent, decided);
            indents = below;
        }
    }

    /// Whether the output can be completed at a boundary where `found` says what may come next.
    fn completes_behind(
        &mut self,
        obligations: ObligationsId,
        found: &Found,
        indents: NodeId,
        decided: &mut Vec<NodeId>,
        looks: &mut Looks,
    ) -> Option<bool> {
        let program = self.program;
        let succession = &program.succession;
        let closure = &found.closure;
        if program.scanner.may_end(obligations) && program.accepts_behind(self.stack, found, decided) {
            return Some(true);
        }
        let set = program.scanner.bytes_that_keep(obligations);
        if succession.leads_on(&[set], closure, &program.productions) {
            return Some(true);
        }
        // Nothing is known to lead on, so all that may begin is looked at.
        if looks.depth == 0 {
            return None;
        }
        let mut answer = Some(false);
        if closure.next.last().is_some_and(|&next| next >= program.productions.terminals) {
            answer = None;
        }
        let newline = program.newline_use(self.stack, indents, &closure.next);
        let start = program.scan_start(found, obligations);
        // What leads out of all that was begun is looked at first.
        let mut leads_out = [0; 4];
        for &next in closure.next_completes.iter().take_while(|&&next| next < program.productions.terminals) {
            let first = &succession.first[next as usize];
            leads_out.iter_mut().zip(first).for_each(|(out, first)| *out |= first);
        }
        let is_out = |byte: u8| leads_out[usize::from(byte) / 64] >> (byte % 64) & 1 == 1;
        let bytes = program.scanner.bytes_of_classes();
        let others = bytes.iter().filter(|&&byte| !is_out(byte));
        for &byte in bytes.iter().filter(|&&byte| is_out(byte)).chain(others) {
            let state = program.scanner.next(start, byte);
            if state == REFUSED {
                continue;
            }
            if looks.left == 0 {
                return None;
            }
            looks.left -= 1;
            let live = &program.scanner.state(state).live;
            let is_well = |&(terminal, _): &TerminalState| {
                let is_passed_by = program.ignored.contains(&terminal)
                    || newline == NewlineUse::Dropped
                        && program.indenter.as_ref().is_some_and(|indenter| indenter.newline == terminal);
                !is_passed_by && self.is_well(state, terminal, found, newline)
            };
            if live.iter().any(is_well) {
                return Some(true);
            }
            let Some(ends) = succession.ends_from(&program.scanner, state) else {
                answer = None;
                continue;
            };
            looks.depth -= 1;
            let mut good = false;
            for &end in &ends.all {
                match self.completes_with(end, found, Line { indents, least: 0 }, decided, looks) {
                    Some(true) => good = true,
                    Some(false) => {}
                    None => answer = None,
                }
                if good {
                    break;
                }
            }
            looks.depth += 1;
            if good {
                return Some(true);
            }
        }
        answer
    }
}

/// How many terminals may still be looked at for one answer.
struct Looks {
    /// How many of them one after the other.
    depth: u32,
    left: u32,
}

/// Terminals that are looked at for one answer.
const LOOKS: u32 = 120;
/// How many of them stand one behind the other.
const DEEPEST: u32 = 3;

impl Looks {
    /// Asks, each time further ahead: what is near is found without looking at what is far.
    fn deepen(&mut self, mut ask: impl FnMut(&mut Looks) -> Option<bool>) -> Option<bool> {
        for depth in 0..=DEEPEST {
            self.depth = depth;
            let answer = ask(self);
            if answer.is_some() || self.left == 0 {
                return answer;
            }
        }
        None
    }
}
