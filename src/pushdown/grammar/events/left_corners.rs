//! What each state of the LR automaton has opened: which captures begin where a symbol is read next.

use std::sync::{Mutex, OnceLock};

use smallvec::SmallVec;

use crate::lexeme::CLOSED;
use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::lr_automaton::{Item, LrAutomaton, LrStateId};
use crate::pushdown::grammar::program::GrammarProgram;
use crate::pushdown::grammar::scanner::ScanStateId;
use crate::util::append_vec::AppendVec;
use crate::util::seeded_hash::SeededMap;

/// Captures that begin, the outermost first. With `is_whole` false others may begin behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Begins {
    pub(super) captures: SmallVec<[u32; 2]>,
    pub(super) is_whole: bool,
}

impl Begins {
    fn none() -> Self {
        Begins { captures: SmallVec::new(), is_whole: true }
    }

    fn and(&self, capture: Option<u32>) -> Self {
        let mut out = self.clone();
        if self.is_whole {
            out.captures.extend(capture);
        }
        out
    }

    /// Keeps what both have in common; whether that changed anything.
    fn meet(&mut self, other: &Begins) -> bool {
        let common = self.captures.iter().zip(&other.captures).take_while(|(a, b)| a == b).count();
        let is_whole =
            self.is_whole && other.is_whole && common == self.captures.len() && common == other.captures.len();
        let changed = is_whole != self.is_whole || common != self.captures.len();
        self.captures.truncate(common);
        self.is_whole = is_whole;
        changed
    }
}

/// A symbol that may be read next inside an item of the kernel, and the captures that begin with it.
pub(super) struct Lead {
    pub(super) symbol: Symbol,
    /// The number of the item.
    pub(super) item: u32,
    pub(super) begins: Begins,
}

/// What is known of a state.
pub(super) struct Corners {
    /// By symbol, then by item.
    leads: Box<[Lead]>,
    /// Productions that may end in the state, each with how many parts of it are on the stack.
    pub(super) ends: Box<[(u32, u32)]>,
    /// The symbols below the first nonterminal that may be read next, ascending.
    pub(super) next: Box<[Symbol]>,
}

impl Corners {
    /// The items that a symbol may be read in.
    pub(super) fn leads(&self, symbol: Symbol) -> &[Lead] {
        let first = self.leads.partition_point(|lead| lead.symbol < symbol);
        let len = self.leads[first..].partition_point(|lead| lead.symbol == symbol);
        &self.leads[first..first + len]
    }

    fn from_kernel(productions: &Productions, kernel: &[Item]) -> Corners {
        let mut leads: Vec<Lead> = Vec::new();
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for (number, item) in (0u32..).zip(kernel) {
            let mut found: SeededMap<Symbol, Begins> = SeededMap::default();
            let mut todo: Vec<Symbol> = Vec::new();
            let parts = &productions.all[item.production as usize].parts;
            let dot = usize::from(item.dot);
            step(productions, &parts[dot..], &Begins::none(), &mut found, &mut todo);
            if item.parts > 0 && parts[dot..].iter().all(|&p| productions.nullable[p as usize]) {
                ends.push((item.production, u32::from(item.parts)));
            }
            while let Some(rule) = todo.pop() {
                let begins = found[&rule].and(productions.capture(rule));
                for &production in productions.alternatives(rule) {
                    let parts = &productions.all[production as usize].parts;
                    step(productions, parts, &begins, &mut found, &mut todo);
                }
            }
            leads.extend(found.into_iter().map(|(symbol, begins)| Lead { symbol, item: number, begins }));
        }
        leads.sort_unstable_by_key(|lead| (lead.symbol, lead.item));
        ends.sort_unstable();
        ends.dedup();
        let mut next: Vec<Symbol> =
            leads.iter().map(|lead| lead.symbol).take_while(|&s| s < productions.first_rule).collect();
        next.dedup();
        Corners { leads: leads.into(), ends: ends.into(), next: next.into() }
    }
}

/// Adds the symbols that may come first in `parts`; nonterminals of which more became known go to `todo`.
fn step(
    productions: &Productions,
    parts: &[Symbol],
    begins: &Begins,
    found: &mut SeededMap<Symbol, Begins>,
    todo: &mut Vec<Symbol>,
) {
    for &symbol in parts {
        let changed = match found.get_mut(&symbol) {
            Some(known) => known.meet(begins),
            None => found.insert(symbol, begins.clone()).is_none(),
        };
        if changed && productions.is_rule(symbol) {
            todo.push(symbol);
        }
        if !productions.nullable[symbol as usize] {
            break;
        }
    }
}

/// A state of the scanner: which terminals it may end, and which go on.
pub(super) struct ScanGoing {
    pub(super) going: Box<[u32]>,
    pub(super) only_ends: Box<[u32]>,
}

/// What readers of one grammar's events share, made on use.
#[derive(Default)]
pub struct EventTables {
    corners: AppendVec<Corners>,
    going: AppendVec<ScanGoing>,
    writer: Mutex<()>,
    starts: Mutex<SeededMap<Box<[u32]>, ScanStateId>>,
    reduction_orders: OnceLock<Box<[u32]>>,
}

/// A grammar with what readers of its events share.
#[derive(Clone, Copy)]
pub struct EventGrammar<'g> {
    /// The grammar.
    pub program: &'g GrammarProgram,
    /// What was found so far.
    pub tables: &'g EventTables,
}

impl std::ops::Deref for EventGrammar<'_> {
    type Target = GrammarProgram;

    fn deref(&self) -> &GrammarProgram {
        self.program
    }
}

impl<'g> EventGrammar<'g> {
    /// What is known of a state of the LR automaton.
    pub(super) fn corners(self, state: LrStateId) -> &'g Corners {
        self.tables.corners(self.program, state)
    }

    /// Which terminals go on in a state of the scanner.
    pub(super) fn going(self, scan: ScanStateId) -> &'g ScanGoing {
        self.tables.going(self.program, scan)
    }

    /// For each nonterminal how late it is reduced among those with the same text: behind all that it may consist of.
    pub(super) fn reduction_order(self, rule: Symbol) -> u32 {
        let productions = &self.program.productions;
        self.tables.reduction_orders.get_or_init(|| reduction_orders(productions))
            [(rule - productions.first_rule) as usize]
    }
}

/// States of the scanner at boundaries that are remembered.
const MOST_STARTS: usize = 1 << 14;

impl EventTables {
    /// What is known of a state of the LR automaton.
    fn corners(&self, program: &GrammarProgram, state: LrStateId) -> &Corners {
        if let Some(known) = self.corners.get(LrAutomaton::number(state)) {
            return known;
        }
        let made = Corners::from_kernel(&program.productions, &program.lr.state(state).kernel);
        {
            let _writer = self.writer.lock().unwrap_or_else(|p| p.into_inner());
            self.corners.set(LrAutomaton::number(state), made);
        }
        match self.corners.get(LrAutomaton::number(state)) {
            Some(known) => known,
            None => unreachable!("it was just set"),
        }
    }

    /// Which terminals go on in a state of the scanner.
    fn going(&self, program: &GrammarProgram, scan: ScanStateId) -> &ScanGoing {
        if let Some(known) = self.going.get(scan) {
            return known;
        }
        let state = program.scanner.state(scan);
        let goes_on = |terminal: u32, at: u32| {
            let Some(lexeme) = program.scanner.lexeme(terminal) else { return false };
            program.scanner.bytes_of_classes().iter().any(|&byte| lexeme.next(at, byte) > CLOSED)
        };
        let mut going: Vec<u32> =
            state.live.iter().filter(|&&(terminal, at)| goes_on(terminal, at)).map(|&(t, _)| t).collect();
        going.dedup();
        let ends = state.ends.iter().map(|&(terminal, _)| terminal);
        let only_ends = ends.filter(|terminal| !going.contains(terminal)).collect();
        {
            let _writer = self.writer.lock().unwrap_or_else(|p| p.into_inner());
            self.going.set(scan, ScanGoing { going: going.into(), only_ends });
        }
        match self.going.get(scan) {
            Some(known) => known,
            None => unreachable!("it was just set"),
        }
    }

    /// The state of the scanner where any of these states of the parser may read. `key` are the states, ascending, and
    /// the obligations.
    pub(super) fn scan_start(&self, key: &[u32], make: impl FnOnce() -> ScanStateId) -> ScanStateId {
        let lock = || self.starts.lock().unwrap_or_else(|p| p.into_inner());
        if let Some(&known) = lock().get(key) {
            return known;
        }
        let made = make();
        let mut starts = lock();
        if starts.len() < MOST_STARTS {
            starts.insert(key.into(), made);
        }
        made
    }
}

/// Numbers the nonterminals so that each comes behind those that may be all of its text, as far as that goes in a
/// circle.
fn reduction_orders(productions: &Productions) -> Box<[u32]> {
    let count = productions.of.len();
    let wholes: Vec<Vec<u32>> = (0..count)
        .map(|rule| {
            let mut out = Vec::new();
            for &production in &productions.of[rule] {
                let parts = &productions.all[production as usize].parts;
                let solid = parts.iter().filter(|&&p| !productions.nullable[p as usize]).count();
                let may_be_all = |p: Symbol| solid == 0 || solid == 1 && !productions.nullable[p as usize];
                let rules = parts.iter().filter(|&&p| productions.is_rule(p) && may_be_all(p));
                out.extend(rules.map(|&p| p - productions.first_rule));
            }
            out.sort_unstable();
            out.dedup();
            out
        })
        .collect();
    let mut order = vec![u32::MAX; count];
    let mut seen = vec![false; count];
    let mut next = 0;
    for first in 0..count {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if !std::mem::replace(&mut seen[first], true) {
            path.push((first, 0));
        }
        while let Some((rule, at)) = path.last_mut() {
            if let Some(&inner) = wholes[*rule].get(*at) {
                *at += 1;
                if !std::mem::replace(&mut seen[inner as usize], true) {
                    path.push((inner as usize, 0));
                }
                continue;
            }
            order[*rule] = next;
            next += 1;
            path.pop();
        }
    }
    order.into()
}
