//! What all live derivations have in common.

use smallvec::SmallVec;

use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::events::derivations::Top;
use crate::pushdown::grammar::events::left_corners::EventGrammar;
use crate::pushdown::grammar::events::reader::{EventReader, Group};
use crate::pushdown::grammar::events::scan_step::{Branch, Ended};
use crate::pushdown::grammar::events::trail::{Certain, EMPTY};
use crate::pushdown::grammar::parse_stack::NO_FRAME;
use crate::pushdown::grammar::scanner::NO_OBLIGATIONS;

/// The last answers about a symbol that is being read on top of a group.
const FEW: usize = 4;

/// Answers about symbols that are being read.
#[derive(Clone, Default)]
pub(super) struct LastBefore(SmallVec<[(Group, Symbol, Certain); FEW]>);

impl LastBefore {
    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl EventReader {
    /// What is certain of the output in these branches, which end at `now`.
    pub(super) fn certain_in(&mut self, program: EventGrammar<'_>, branches: &[Branch], now: u32) -> Certain {
        let mut all: Option<Certain> = None;
        for branch in branches {
            if branch.frame != NO_FRAME {
                if self.may_go_on(branch) {
                    let symbol = program.productions.first_document + branch.document;
                    self.meet_symbol(program, branch.tops, symbol, &mut all);
                } else {
                    self.meet_ended(program, branch, None, now, &mut all);
                }
                continue;
            }
            if program.scanner.state(branch.scan).at_boundary {
                self.meet_boundary(program, branch.tops, now, &mut all);
                continue;
            }
            let going = program.going(branch.scan);
            let hides_newlines =
                program.indenter.as_ref().is_some_and(|indenter| indenter.is_in_brackets(&self.blocks, branch.indents));
            for &terminal in &going.going {
                match program.ignored.contains(&terminal) || hides_newlines && program.is_newline(terminal) {
                    true => self.meet_boundary(program, branch.tops, now, &mut all),
                    false => self.meet_symbol(program, branch.tops, terminal, &mut all),
                }
            }
            if !going.only_ends.is_empty() {
                self.meet_ended(program, branch, Some(&going.only_ends), now, &mut all);
            }
        }
        all.unwrap_or(Certain { trail: EMPTY, limit: 0 })
    }

    fn meet(&mut self, all: &mut Option<Certain>, one: Certain) {
        let known = self.given.len() as u32;
        *all = Some(all.map_or(one, |all| self.stack.trails.meet(all, one, known)));
    }

    /// A symbol that is being read, or may be read next.
    fn meet_symbol(&mut self, program: EventGrammar<'_>, tops: Group, symbol: Symbol, all: &mut Option<Certain>) {
        if let Some(&(.., one)) = self.last.0.iter().find(|(group, known, _)| (*group, *known) == (tops, symbol)) {
            return self.meet(all, one);
        }
        let known = self.given.len() as u32;
        let mut found: Option<Certain> = None;
        for top in SmallVec::<[Top; 4]>::from(self.tops(tops)) {
            if let Some(one) = self.stack.before(program, top, symbol, known) {
                self.meet(&mut found, one);
            }
        }
        // A terminal that nothing reads here takes no part.
        let Some(found) = found else { return };
        if self.last.0.len() == FEW {
            self.last.0.remove(0);
        }
        self.last.0.push((tops, symbol, found));
        self.meet(all, found);
    }

    /// All that may be read next on top of a boundary.
    fn meet_boundary(&mut self, program: EventGrammar<'_>, tops: Group, now: u32, all: &mut Option<Certain>) {
        let known = self.given.len() as u32;
        for top in SmallVec::<[Top; 4]>::from(self.tops(tops)) {
            let state = self.stack.state(top.node);
            for &symbol in &program.corners(state).next {
                if let Some(mut one) = self.stack.before(program, top, symbol, known) {
                    // What is ignored may come before: then the next symbol begins later.
                    if !program.ignored.is_empty() {
                        one = self.before_start(one, top.start);
                        one.limit = one.limit.min(now);
                    }
                    self.meet(all, one);
                }
            }
            if program.lr.state(state).accepting {
                let mut items = 0..program.lr.state(state).kernel.len() as u32;
                let start = items.find(|&item| {
                    let production = program.lr.state(state).kernel[item as usize].production;
                    program.productions.all[production as usize].of == program.productions.start
                });
                if let Some(item) = start {
                    let one = self.stack.certain(program, top.node, item, known);
                    self.meet(all, one);
                }
            }
        }
    }

    /// What is certain without the captures that begin at `start` or later.
    fn before_start(&mut self, one: Certain, start: u32) -> Certain {
        let len = self.stack.trails.len(one.trail);
        let mut keep = len;
        let from = len.saturating_sub(64);
        let markers: SmallVec<[_; 64]> = self.stack.trails.walk(one.trail, from).collect();
        while keep > from {
            let marker = &markers[(keep - 1 - from) as usize];
            if !(marker.begins && marker.at >= start) {
                break;
            }
            keep -= 1;
        }
        if keep == len {
            return one;
        }
        Certain { trail: self.stack.trails.prefix(one.trail, keep), limit: one.limit.min(start) }
    }

    /// What stands behind the terminals that end in a branch and can't go on.
    fn meet_ended(
        &mut self,
        program: EventGrammar<'_>,
        branch: &Branch,
        only: Option<&[u32]>,
        now: u32,
        all: &mut Option<Certain>,
    ) {
        let mut ended: SmallVec<[Ended; 2]> = SmallVec::new();
        match only {
            None => self.end_terminals(program, branch, None, now, &mut ended),
            Some(terminals) => {
                for &terminal in terminals {
                    let mut one = SmallVec::new();
                    self.end_terminal(program, branch, (terminal, NO_OBLIGATIONS), now, &mut one);
                    ended.append(&mut one);
                }
            }
        }
        for one in ended {
            if let Some(tops) = self.tops_of(program, one, now) {
                self.meet_boundary(program, tops, now, all);
            }
        }
    }
}
