//! Succession: which terminals the longest match of another one lets follow.
//!
//! A terminal that took its longest match may not be followed by what would make it longer: behind a name no letter may
//! come, so `in` can follow it only behind a blank. A terminal is *free* if all that the grammar puts behind it can
//! come, at once or behind an ignored terminal. Where all that was begun can be completed with free terminals alone, a
//! text that ends in one can be completed, and nothing needs to be searched.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Result;
use crate::expr::ByteSet;
use crate::expr::byte_bits::{ByteBits, bits};
use crate::grammar::model::Lexer;
use crate::pushdown::grammar::bnf_rules::Productions;
use crate::pushdown::grammar::closure::{Closure, Found, Shifted};
use crate::pushdown::grammar::ends_ahead::EndsAhead;
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::indenter::{Effect, Indenter, NewlineUse};
use crate::pushdown::grammar::longest_match_bytes::{Rivals, bytes_that_go_on, escapes};
use crate::pushdown::grammar::parse_stack::{Branch, NodeId};
use crate::pushdown::grammar::program::GrammarMachine;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId, Scanner, TerminalState};
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::ENDS_AHEAD;

/// Which terminals the longest match of another one lets follow.
pub struct Succession {
    /// For each terminal the bytes that can begin it.
    first: Box<[ByteBits]>,
    /// For each terminal the bytes that must not come behind it, more rather than fewer. There may be several such
    /// sets: from wherever the terminal has come it can be ended so that each of them holds.
    going_on: Box<[Vec<ByteBits>]>,
    /// For each terminal whether it lets all follow that may come behind it.
    free: Box<[bool]>,
    /// For each terminal whether the output may end with it: nothing must follow.
    may_be_last: Box<[bool]>,
    /// The ignored terminals.
    ignored: Box<[u32]>,
    /// The bytes that begin each document.
    documents: Box<[ByteBits]>,
    /// The ends that can be reached from states of the scanner.
    ends_ahead: BoundedCache<ScanStateId, Option<Arc<EndsAhead>>, ENDS_AHEAD>,
    /// All terminals are free, ignored ones too.
    pub is_free: bool,
}

impl Succession {
    /// Anything may follow anything.
    pub fn free() -> Self {
        Succession {
            first: Box::default(),
            going_on: Box::default(),
            free: Box::default(),
            may_be_last: Box::default(),
            ignored: Box::default(),
            documents: Box::default(),
            ends_ahead: BoundedCache::default(),
            is_free: true,
        }
    }

    /// For terminals that take longest matches.
    ///
    /// # Errors
    /// `Limit` if too many terminals compete for the same texts.
    pub fn of(
        scanner: &Scanner,
        follow: &Follow,
        ignored: &[u32],
        documents: &[ByteSet],
        indenter: Option<&Indenter>,
    ) -> Result<Self> {
        let count = follow.len() as u32;
        let first: Box<[ByteBits]> = (0..count).map(|t| bits(follow.first(t))).collect();
        // All bytes that a terminal reads are more than those that go on, and known at once.
        let read = |t: u32| vec![scanner.lexeme(t).map_or([0; 4], |l| bits(&l.used_bytes()))];
        let going_on: Box<[Vec<ByteBits>]> = (0..count).map(read).collect();
        let known: Vec<u32> = (0..count).filter(|&t| scanner.lexeme(t).is_some()).collect();
        let mut this = Succession {
            first,
            going_on,
            free: Box::default(),
            may_be_last: (0..count).map(|t| !scanner.looks_ahead(t)).collect(),
            ignored: ignored.into(),
            documents: documents.iter().map(bits).collect(),
            ends_ahead: BoundedCache::default(),
            is_free: false,
        };
        let contextual = scanner.lexer() == Lexer::Contextual;
        let mut is_won = vec![true; count as usize];
        let mut rivals = contextual.then(|| Rivals::of(scanner));
        for &terminal in &known {
            if contextual || ignored.contains(&terminal) || !this.lets_all(follow, terminal) {
                let begin_alike = |other: u32| {
                    let both = this.first[terminal as usize].iter().zip(&this.first[other as usize]);
                    other != terminal && both.into_iter().any(|(a, b)| a & b != 0) && follow.together(terminal, other)
                };
                let others = match &mut rivals {
                    Some(rivals) => rivals.of_terminal(terminal, &known, begin_alike)?,
                    None => Vec::new(),
                };
                let sets = bytes_that_go_on(scanner, terminal, &others);
                is_won[terminal as usize] = !sets.is_empty();
                this.may_be_last[terminal as usize] &= !others.iter().any(|&other| scanner.looks_ahead(other));
                this.going_on[terminal as usize] = sets;
            }
        }
        if let Some(indenter) = indenter {
            is_won[indenter.newline as usize] &= indenter.is_certain();
        }
        this.free = (0..count).map(|t| is_won[t as usize] && this.lets_all(follow, t)).collect();
        let lets_any = |&between: &u32| known.iter().all(|&next| next == between || this.leads_to(between, next));
        // Rules may name ignored terminals as well. Where none does, nothing follows them here.
        let rules_are_free = known.iter().all(|t| this.free[*t as usize]);
        let is_plain = documents.is_empty() && indenter.is_none();
        this.is_free = rules_are_free && is_plain && ignored.iter().all(lets_any);
        Ok(this)
    }

    /// For each symbol whether it can be read with free terminals alone.
    pub fn read_freely(&self, productions: &Productions) -> Box<[bool]> {
        let mut free: Box<[bool]> = (0..productions.symbols() as u32)
            .map(|s| match s < productions.terminals {
                true => self.is_free || self.free[s as usize] || productions.nullable[s as usize],
                false => !productions.is_rule(s) || productions.nullable[s as usize],
            })
            .collect();
        let mut grown = true;
        while grown {
            grown = false;
            for production in &productions.all {
                if !free[production.of as usize] && production.parts.iter().all(|&part| free[part as usize]) {
                    free[production.of as usize] = true;
                    grown = true;
                }
            }
        }
        free
    }

    /// Sets of bytes that must not come behind a terminal. From wherever the terminal has come it can be ended so that
    /// each of them holds.
    pub fn bytes_that_go_on(&self, terminal: u32) -> &[[u64; 4]] {
        self.going_on.get(terminal as usize).map_or(&[], |sets| sets)
    }

    /// Whether `next` can come at once behind a terminal.
    fn lets(&self, terminal: u32, next: u32) -> bool {
        self.lets_begin(terminal, &self.first[next as usize])
    }

    /// Whether what begins with one of these bytes can come at once behind a terminal.
    fn lets_begin(&self, terminal: u32, first: &ByteBits) -> bool {
        self.going_on[terminal as usize].iter().any(|set| escapes(set, first))
    }

    /// Whether `next` can come behind a terminal, at once or behind an ignored one.
    fn leads_to(&self, terminal: u32, next: u32) -> bool {
        let between = |&t: &u32| t != next && self.lets(terminal, t) && self.lets(t, next);
        self.lets(terminal, next) || self.ignored.iter().any(between)
    }

    /// Whether what begins with these bytes can come behind a terminal, at once or behind an ignored one.
    fn leads_to_begin(&self, terminal: u32, first: &ByteBits) -> bool {
        let between = |&t: &u32| self.lets(terminal, t) && self.lets_begin(t, first);
        self.lets_begin(terminal, first) || self.ignored.iter().any(between)
    }

    /// Whether something may come behind a terminal, of which `sets` say what must not follow, behind which everything
    /// can be completed.
    fn leads_on(&self, sets: &[ByteBits], closure: &Closure, productions: &Productions) -> bool {
        let lets_begin = |first: &ByteBits| sets.iter().any(|set| escapes(set, first));
        let leads_to = |first: &ByteBits| {
            let between = |&t: &u32| lets_begin(&self.first[t as usize]) && self.lets_begin(t, first);
            lets_begin(first) || self.ignored.iter().any(between)
        };
        closure.next_completes.iter().any(|&next| match productions.document(next) {
            _ if next < productions.terminals => self.free[next as usize] && leads_to(&self.first[next as usize]),
            Some(document) => leads_to(&self.documents[document as usize]),
            None => true,
        })
    }

    /// The ends that can be reached from a state of the scanner. `None` if there are too many states.
    fn ends_from(&self, scanner: &Scanner, state: ScanStateId) -> Option<Arc<EndsAhead>> {
        if let Some(known) = self.ends_ahead.get(&state) {
            return known;
        }
        let ends = EndsAhead::of(scanner, state).map(Arc::new);
        let size = ends.as_ref().map_or(0, |ends| ends.memory_bytes());
        self.ends_ahead.keep(state, ends.clone(), size + 64);
        ends
    }

    /// Whether a terminal lets all follow that may come behind it.
    fn lets_all(&self, follow: &Follow, terminal: u32) -> bool {
        follow.terminals(terminal).iter().all(|&next| self.leads_to(terminal, next))
            && follow.documents(terminal).iter().all(|first| self.leads_to_begin(terminal, &bits(first)))
    }
}

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
        let mut answer = Some(false);
        if program.ignored.contains(&terminal) {
            answer = self.completes_behind(obligations, found, indents, decided, looks);
        }
        if answer == Some(true) || found.closure.next.binary_search(&terminal).is_err() {
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
        let program = self.program;
        let mut shifted = Shifted::default();
        found.shift(&program.lr, &program.productions, self.stack, terminal, &mut shifted);
        let tops = shifted.finish(self.stack);
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
