//! Which obligations lead to which, through the symbols of a grammar.
//!
//! What must not follow behind a text has finitely many values: lists of obligations. A terminal that is read under one
//! of them leaves others ([`terminal_ways`](crate::pushdown::grammar::completion::terminal_ways)), a sequence leads
//! from the first to what the last one leaves, and a nonterminal to what any of its alternatives does: a least
//! fixpoint, of which only what is asked for is found. Of two lists the one that forbids more is left out, since
//! whatever may follow it may follow the other. So most sets have one element: that nothing is forbidden.
//!
//! Everything that is found exists. Where terminals are taken each for themselves, and nothing was cut short,
//! everything that exists is found as well.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::expr::ByteSet;
use crate::grammar::model::Lexer;
use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::completion::terminal_ways::{Reach, TerminalWays, Way, must_end};
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::indenter::Indenter;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, Scanner};
use crate::util::seeded_hash::SeededMap;

/// Lists of obligations of which none forbids more than another.
pub type Least = SmallVec<[ObligationsId; 2]>;

/// What relations are made of.
#[derive(Clone, Copy)]
pub struct RelationParts<'p> {
    /// The rules.
    pub productions: &'p Productions,
    /// The terminals.
    pub scanner: &'p Scanner,
    /// What may follow each terminal, and which begin at one place.
    pub follow: &'p Follow,
    /// Terminals that may stand between others.
    pub ignored: &'p [u32],
    /// The special tokens of each set.
    pub token_sets: &'p [Box<[u32]>],
    /// The bytes that can begin each document.
    pub documents: &'p [ByteSet],
    /// What makes terminals of indentation.
    pub indenter: Option<&'p Indenter>,
}

/// A nonterminal and the obligations that it is read under.
type Key = (Symbol, ObligationsId);

#[derive(Default)]
struct RuleEntry {
    to: Least,
    /// Those that were found out with this one.
    users: Vec<Key>,
    queued: bool,
}

/// Relations that were found.
pub struct ObligationRelations {
    /// Ways through terminals.
    pub ways: TerminalWays,
    between: SeededMap<ObligationsId, Arc<[Way]>>,
    terminals: SeededMap<Key, Least>,
    rules: SeededMap<Key, RuleEntry>,
    queue: Vec<Key>,
    /// Something may exist that was not found.
    pub cut: bool,
    work: usize,
    /// Who asked last could not wait for the answer, so what is here may be half of it.
    was_stopped: bool,
}

/// Parts of alternatives that are followed for one question.
const MOST_WORK: usize = 200_000;
/// Answers that are remembered: all are forgotten when there are more.
const MOST_KNOWN: usize = 100_000;

/// Lists of obligations behind one symbol. Grammars of languages have one or two; look-aheads of many terminals that
/// compete have thousands, each of which would be followed through all of the grammar.
const MOST_LISTS: usize = 16;

impl ObligationRelations {
    /// No relations yet.
    pub fn new(scanner: &Scanner, reach: Reach) -> Self {
        ObligationRelations {
            ways: TerminalWays::new(scanner, reach),
            between: SeededMap::default(),
            terminals: SeededMap::default(),
            rules: SeededMap::default(),
            queue: Vec::new(),
            cut: scanner.lexer() == Lexer::Contextual,
            work: 0,
            was_stopped: false,
        }
    }

    /// Begins a question.
    pub fn begin(&mut self, parts: RelationParts<'_>, reach: Reach) {
        let was_stopped = self.was_stopped || self.ways.was_stopped;
        if was_stopped || self.ways.num_searches() + self.terminals.len() + self.rules.len() > MOST_KNOWN {
            *self = Self::new(parts.scanner, reach);
        }
        self.work = 0;
    }

    /// How many parts of alternatives were followed for the last question.
    pub fn work(&self) -> usize {
        self.work
    }

    /// Whether the last question took long.
    pub fn is_costly(&self) -> bool {
        /// Parts that are followed in no time.
        const FEW: usize = 2_000;
        self.work > FEW
    }

    /// Whether the question took too long; what was found holds.
    fn is_tired(&mut self, work: usize) -> bool {
        self.work += work;
        self.was_stopped |= self.ways.was_stopped || must_end();
        let is_tired = self.was_stopped || self.work > MOST_WORK;
        self.cut |= is_tired;
        is_tired
    }

    /// Adds a list, unless a weaker one is there, or many that are not.
    fn add_least(&mut self, scanner: &Scanner, to: &mut Least, one: ObligationsId) -> bool {
        if to.iter().any(|&known| scanner.is_weaker(known, one)) {
            return false;
        }
        to.retain(|known| !scanner.is_weaker(one, *known));
        if to.len() >= MOST_LISTS {
            self.cut = true;
            return false;
        }
        to.push(one);
        true
    }

    /// What holds behind any number of ignored terminals, with their texts.
    pub fn between(&mut self, parts: RelationParts<'_>, from: ObligationsId) -> Arc<[Way]> {
        if let Some(known) = self.between.get(&from) {
            return known.clone();
        }
        let mut out = vec![Way { to: from, text: Arc::from([]) }];
        let mut at = 0;
        while at < out.len() && from != NO_OBLIGATIONS {
            let before = out[at].clone();
            at += 1;
            for &terminal in parts.ignored {
                let ways = self.ways.from_start(parts.scanner, parts.follow, terminal, before.to);
                self.cut |= ways.cut;
                for way in ways.all {
                    if !out.iter().any(|known| parts.scanner.is_weaker(known.to, way.to)) {
                        out.push(Way { to: way.to, text: [&*before.text, &*way.text].concat().into() });
                    }
                }
            }
        }
        let out: Arc<[Way]> = out.into();
        self.between.insert(from, out.clone());
        out
    }

    /// What holds behind a terminal, those ignored before it included.
    fn through_terminal(&mut self, parts: RelationParts<'_>, terminal: u32, from: ObligationsId) -> Least {
        if let Some(known) = self.terminals.get(&(terminal, from)) {
            return known.clone();
        }
        let mut out = Least::new();
        if let Some(indenter) = parts.indenter {
            if indenter.silent().contains(&terminal) {
                return smallvec![from];
            }
            if indenter.newline == terminal && !indenter.is_certain() {
                self.cut = true;
                return out;
            }
        }
        if parts.productions.nullable[terminal as usize] {
            out.push(from);
        }
        for before in self.between(parts, from).iter() {
            let ways = self.ways.from_start(parts.scanner, parts.follow, terminal, before.to);
            self.cut |= ways.cut;
            for way in &ways.all {
                self.add_least(parts.scanner, &mut out, way.to);
            }
        }
        self.terminals.insert((terminal, from), out.clone());
        out
    }

    fn through_document(&mut self, parts: RelationParts<'_>, document: u32, from: ObligationsId) -> Least {
        let first = &parts.documents[document as usize];
        for at in self.between(parts, from).iter().map(|before| before.to) {
            // A promise that does not end with the first byte is not followed any further.
            let keeps = |byte: u8| parts.scanner.next_obligations(at, byte) == Some(NO_OBLIGATIONS);
            if at == NO_OBLIGATIONS || (0..=255u8).any(|byte| first[usize::from(byte)] && keeps(byte)) {
                return smallvec![NO_OBLIGATIONS];
            }
            self.cut = true;
        }
        Least::new()
    }

    /// What holds behind a symbol, as far as it is known.
    fn through(&mut self, parts: RelationParts<'_>, symbol: Symbol, from: ObligationsId, user: Option<Key>) -> Least {
        let productions = parts.productions;
        if symbol < productions.terminals {
            return self.through_terminal(parts, symbol, from);
        }
        if let Some(set) = productions.token_set(symbol) {
            // What must not follow is said of text; a special token ends it.
            return parts.token_sets[set].iter().take(1).map(|_| NO_OBLIGATIONS).collect();
        }
        if let Some(document) = productions.document(symbol) {
            return self.through_document(parts, document, from);
        }
        let key = (symbol, from);
        let entry = self.rules.entry(key).or_insert_with(|| {
            self.queue.push(key);
            RuleEntry { queued: true, ..RuleEntry::default() }
        });
        if let Some(user) = user
            && *entry.to != [NO_OBLIGATIONS]
            && !entry.users.contains(&user)
        {
            entry.users.push(user);
        }
        entry.to.clone()
    }

    fn through_all(
        &mut self,
        parts: RelationParts<'_>,
        symbols: &[Symbol],
        from: ObligationsId,
        user: Option<Key>,
    ) -> Least {
        let mut now: Least = smallvec![from];
        for &symbol in symbols {
            let mut next = Least::new();
            let mut work = 0;
            for from in now {
                let through = self.through(parts, symbol, from, user);
                work += through.len().max(1);
                for to in through {
                    self.add_least(parts.scanner, &mut next, to);
                }
            }
            now = next;
            work += self.ways.take_work();
            if now.is_empty() || self.is_tired(work) {
                break;
            }
        }
        if self.was_stopped || self.work > MOST_WORK { Least::new() } else { now }
    }

    /// What holds behind these symbols, one after the other, if they are read under obligations.
    pub fn behind(&mut self, parts: RelationParts<'_>, symbols: &[Symbol], from: ObligationsId) -> Least {
        loop {
            let found = self.through_all(parts, symbols, from, None);
            // Nothing is weaker than no obligations, so nothing can be added to that.
            if self.queue.is_empty() || *found == [NO_OBLIGATIONS] {
                return found;
            }
            self.settle(parts);
            if self.is_tired(1) {
                return self.through_all(parts, symbols, from, None);
            }
        }
    }

    /// Sees to all nonterminals that were asked for.
    fn settle(&mut self, parts: RelationParts<'_>) {
        while let Some(key) = self.queue.pop() {
            let mut out = match self.rules.get_mut(&key) {
                Some(entry) => {
                    entry.queued = false;
                    entry.to.clone()
                }
                None => continue,
            };
            let mut grown = false;
            for &production in parts.productions.alternatives(key.0) {
                if *out == [NO_OBLIGATIONS] {
                    break;
                }
                let symbols = &parts.productions.all[production as usize].parts;
                for to in self.through_all(parts, symbols, key.1, Some(key)) {
                    grown |= self.add_least(parts.scanner, &mut out, to);
                }
            }
            if self.was_stopped || self.work > MOST_WORK {
                // Asked again, this goes on.
                self.queue.push(key);
                return;
            }
            if !grown {
                continue;
            }
            let Some(entry) = self.rules.get_mut(&key) else { continue };
            entry.to = out;
            let users =
                if *entry.to == [NO_OBLIGATIONS] { std::mem::take(&mut entry.users) } else { entry.users.clone() };
            for user in users {
                if let Some(user_entry) = self.rules.get_mut(&user)
                    && !std::mem::replace(&mut user_entry.queued, true)
                {
                    self.queue.push(user);
                }
            }
        }
    }
}
