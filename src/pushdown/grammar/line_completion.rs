//! Whether the output can be completed where an indenter makes terminals.
//!
//! The rules alone don't say it: under `lexer="contextual"` a newline is found even where the parser can't take one, and
//! ends the output there. So `x = # note` leads nowhere, since the end of the comment is the end of the line. Blocks can
//! always be closed, because the rules were checked for that.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::closure::Closure;
use crate::pushdown::grammar::indenter::NewlineUse;
use crate::pushdown::grammar::parse_stack::{Branch, NO_COLUMN, NodeId};
use crate::pushdown::grammar::program::{GrammarMachine, GrammarProgram};
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId};
use crate::util::bounded_cache::BoundedCache;

/// Bytes of ends that one index keeps.
const END_BYTES: usize = 1 << 20;

/// A terminal that ends, with what must not follow it.
type End = (u32, ObligationsId);

/// The ends that the scanner can reach from a state.
struct Reachable {
    ends: Box<[End]>,
    /// None is missing.
    all: bool,
}

/// The ends that the scanner can reach from its states, made on use.
#[derive(Default)]
pub struct ReachableEnds {
    known: BoundedCache<ScanStateId, Arc<Reachable>, END_BYTES>,
}

impl ReachableEnds {
    fn of(&self, program: &GrammarProgram, from: ScanStateId) -> Arc<Reachable> {
        if let Some(known) = self.known.get(&from) {
            return known;
        }
        /// States that are looked at.
        const MOST: usize = 200;
        let scanner = &program.scanner;
        let mut states = vec![from];
        let mut ends: Vec<End> = Vec::new();
        let mut at = 0;
        while let Some(&state) = states.get(at).filter(|_| states.len() <= MOST) {
            at += 1;
            ends.extend(scanner.state(state).ends.iter());
            for &byte in scanner.bytes_of_classes() {
                let to = scanner.next(state, byte);
                if to != REFUSED && !states.contains(&to) {
                    states.push(to);
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        let found = Arc::new(Reachable { ends: ends.into(), all: states.len() <= MOST });
        self.known.keep(from, found.clone(), found.ends.len() * 8 + 64);
        found
    }
}

impl GrammarProgram {
    /// Whether everything that a terminal may become can be completed behind tops with this closure.
    pub fn lets(&self, terminal: u32, closure: &Closure, newline: NewlineUse) -> bool {
        let behind = |t: u32| self.succession.completes_behind(t, closure, self.productions.terminals);
        let Some(indenter) = &self.indenter else { return behind(terminal) };
        let lets_newline = || match newline {
            NewlineUse::Taken => indenter.is_free,
            NewlineUse::Dropped => behind(indenter.newline),
            NewlineUse::Dead => false,
        };
        match terminal == indenter.newline {
            true => lets_newline(),
            false => behind(terminal) || indenter.inside.contains(&terminal) && lets_newline(),
        }
    }

    /// Whether one of the symbols begins with a byte that `allows`.
    fn begins_with(&self, next: &[u32], allows: impl Fn(u8) -> bool) -> bool {
        let mut terminals = next.iter().take_while(|&&symbol| symbol < self.productions.terminals);
        terminals.any(|&t| {
            let first = self.follow.first(t);
            (0..=255u8).any(|byte| first[usize::from(byte)] && allows(byte))
        })
    }
}

impl GrammarMachine<'_> {
    /// Blocks, brackets and column of a branch, columns that act alike made one.
    pub(super) fn line_of(&self, branch: &Branch) -> (NodeId, u32) {
        let column = match &self.program.indenter {
            Some(indenter) if branch.column != NO_COLUMN => {
                branch.column.min(indenter.width(self.stack, branch.indents).saturating_add(1))
            }
            _ => branch.column,
        };
        (branch.indents, column)
    }

    /// Whether the output can be completed from a branch of a grammar with an indenter. `looked` gets the nodes that
    /// decided it, beside whether newlines are hidden.
    pub fn completes_with_indents(&mut self, branch: &Branch, looked: &mut Vec<NodeId>) -> bool {
        if branch.is_in_document() {
            return true;
        }
        let program = self.program;
        let scan = program.scanner.state(branch.scan);
        let tops: SmallVec<[NodeId; 4]> = SmallVec::from_slice(self.stack.tops(branch.tops));
        let found = program.closure(self.stack, &tops);
        looked.extend_from_slice(found.decided());
        let newline = program.newline_use(self.stack, branch.indents, &found.closure.next);
        let contextual = program.scanner.lexer() == Lexer::Contextual;
        let rules_are_free = program.succession.rules_are_free;
        if rules_are_free && program.scanner.obligations(scan.obligations).is_empty() {
            let mut live = scan.live.iter().map(|&(terminal, _)| terminal);
            let lets = |terminal| program.lets(terminal, &found.closure, newline);
            // At a boundary any of them may still be chosen.
            let any = scan.at_boundary || !contextual;
            if any && live.clone().any(lets) || !any && live.all(lets) {
                return true;
            }
        }
        let answer = self.completes_at_ends(branch, &tops, &found.closure, newline, looked);
        answer.unwrap_or_else(|| {
            self.stack.below_all(&tops, looked);
            self.stack.below_all(&[branch.indents], looked);
            self.search_completion(branch)
        })
    }

    /// Whether something that the scanner can still end at can be followed; `None` if that can't be told.
    fn completes_at_ends(
        &mut self,
        branch: &Branch,
        tops: &[NodeId],
        closure: &Closure,
        newline: NewlineUse,
        looked: &mut Vec<NodeId>,
    ) -> Option<bool> {
        let program = self.program;
        let indenter = program.indenter.as_ref()?;
        let (scanner, follow) = (&program.scanner, &program.follow);
        let reachable = program.reachable_ends.of(program, branch.scan);
        let contextual = scanner.lexer() == Lexer::Contextual;
        let rules_are_free = program.succession.rules_are_free;
        // Where such a byte comes next, only terminals of the rules are begun.
        let is_plain = |byte: u8| {
            !program.ignored.iter().any(|&t| follow.first(t)[usize::from(byte)])
                && !(contextual && follow.first(indenter.newline)[usize::from(byte)])
        };
        let mut possible = !reachable.all;
        for &(terminal, obligations) in &reachable.ends {
            let next_behind = |byte: u8| scanner.next_obligations(obligations, byte);
            let is_quiet = |byte: u8| is_plain(byte) && next_behind(byte) == Some(NO_OBLIGATIONS);
            let is_newline = terminal == indenter.newline;
            if is_newline && newline == NewlineUse::Dead {
                continue;
            }
            if program.ignored.contains(&terminal) || is_newline && newline == NewlineUse::Dropped {
                if rules_are_free && program.begins_with(&closure.next, is_quiet) {
                    return Some(true);
                }
                if scanner.may_end(obligations) {
                    let mark = self.stack.mark();
                    let accepts = program.accepts_behind(self.stack, tops, branch.indents, looked);
                    self.stack.truncate(&mark);
                    if accepts {
                        return Some(true);
                    }
                }
                let more = closure.next.iter().any(|&symbol| symbol >= program.productions.terminals);
                let is_open = |byte: u8| next_behind(byte).is_some();
                possible |= more
                    || program.begins_with(&closure.next, is_open)
                    || program.begins_with(&program.ignored, is_open)
                    || program.begins_with(&[indenter.newline], is_open) && newline != NewlineUse::Dead;
                continue;
            }
            possible = true;
            let all_follow = rules_are_free
                && (!is_newline || indenter.is_free)
                && scanner.may_end(obligations)
                && follow.terminals(terminal).iter().all(|&t| program.begins_with(&[t], is_quiet))
                && follow.documents(terminal).iter().all(|set| (0..=255u8).any(|b| set[usize::from(b)] && is_quiet(b)));
            if all_follow {
                return Some(true);
            }
        }
        (!possible).then_some(false)
    }
}
