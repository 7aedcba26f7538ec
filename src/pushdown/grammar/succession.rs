//! Succession: which terminals the longest match of another one lets follow.
//!
//! A terminal that took its longest match may not be followed by what would make it longer: behind a name no letter may
//! come, so `in` can follow it only behind a blank. A terminal is *free* if all that the grammar puts behind it can
//! come, at once or behind an ignored terminal. Where all that was begun can be completed with free terminals alone, a
//! text that ends in one can be completed, and nothing needs to be searched.

mod ends_ahead;
pub mod outlook;

use std::sync::Arc;

use crate::error::Result;
use crate::expr::ByteSet;
use crate::expr::byte_bits::{ByteBits, bits};
use crate::grammar::model::Lexer;
use crate::pushdown::grammar::bnf_rules::Productions;
use crate::pushdown::grammar::closure::Closure;
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::indenter::Indenter;
use crate::pushdown::grammar::longest_match_bytes::{Rivals, bytes_that_go_on, escapes};
use crate::pushdown::grammar::scanner::{ScanStateId, Scanner};
use crate::pushdown::grammar::succession::ends_ahead::EndsAhead;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::ENDS_AHEAD;
use crate::util::cancel::poll;
use crate::util::work_meter::is_over;

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
    /// `Limit` if too many terminals compete for the same texts, or have many states together.
    pub fn build(
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
        let mut rivals = contextual.then(|| Rivals::find(scanner));
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
                poll()?;
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

    /// The ends that can be reached from a state of the scanner. `None` if there are too many states, or the work is
    /// over.
    fn ends_from(&self, scanner: &Scanner, state: ScanStateId) -> Option<Arc<EndsAhead>> {
        if let Some(known) = self.ends_ahead.get(&state) {
            return known;
        }
        let ends = EndsAhead::find(scanner, state).map(Arc::new);
        if ends.is_some() || !is_over() {
            let size = ends.as_ref().map_or(0, |ends| ends.memory_bytes());
            self.ends_ahead.keep(state, ends.clone(), size + 64);
        }
        ends
    }

    /// Whether a terminal lets all follow that may come behind it.
    fn lets_all(&self, follow: &Follow, terminal: u32) -> bool {
        follow.terminals(terminal).iter().all(|&next| self.leads_to(terminal, next))
            && follow.documents(terminal).iter().all(|first| self.leads_to_begin(terminal, &bits(first)))
    }
}
