//! The twin where each terminal is taken for itself.
//!
//! A *node* is a place in the text where terminals meet, with what must not follow there: the terminals that ended and
//! took their longest match, each with the state from which a longer one would be found. Earley's algorithm runs over
//! the nodes instead of over places. Whether a beginning can be completed is decided exactly: what must not follow has
//! finitely many values, and which value leads to which through a terminal or a nonterminal is a finite relation.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::twin::SPECIAL;
use crate::twin::bnf::{Bnf, Sym};
use crate::twin::terminal::{DEAD_STATE, representatives};

type Obligations = Vec<(u16, u16)>;
type ObligationsId = u32;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Item {
    production: u16,
    dot: u16,
    origin: u32,
}

struct Node {
    uid: u64,
    obligations: ObligationsId,
    items: Vec<Item>,
    set: HashSet<Item>,
}

/// A terminal that is being read, from the node where it began.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Scan {
    node: u32,
    terminal: u16,
    state: u16,
    obligations: ObligationsId,
}

struct Level {
    scans: Vec<Scan>,
    /// The nodes of this place begin here.
    first_node: usize,
}

/// Which obligations lead to which.
struct Relations {
    lists: Vec<Obligations>,
    numbers: HashMap<Obligations, ObligationsId>,
    /// Through a terminal from one of its states, by at least one symbol.
    scans: HashMap<(u16, u16, ObligationsId), BTreeSet<ObligationsId>>,
    /// Through a nonterminal. Those before `settled` of `demanded` are final.
    rules: HashMap<(u16, ObligationsId), BTreeSet<ObligationsId>>,
    demanded: Vec<(u16, ObligationsId)>,
    settled: usize,
    symbols: Vec<u32>,
    longest: bool,
}

/// The twin of a guide where each terminal is taken for itself.
pub struct Lattice {
    bnf: Bnf,
    relations: Relations,
    nodes: Vec<Node>,
    levels: Vec<Level>,
    next_uid: u64,
    /// Whether an item can be completed, by the node where it began.
    memo: HashMap<(u16, u16, u64, ObligationsId), bool>,
}

impl Relations {
    fn id(&mut self, mut list: Obligations) -> ObligationsId {
        list.sort_unstable();
        list.dedup();
        let fresh = self.lists.len() as ObligationsId;
        *self.numbers.entry(list).or_insert_with_key(|list| {
            self.lists.push(list.clone());
            fresh
        })
    }

    /// What must not follow behind a symbol; `None` if the symbol must not come.
    fn step(&mut self, bnf: &Bnf, id: ObligationsId, symbol: u32) -> Option<ObligationsId> {
        let mut out = Vec::new();
        for &(terminal, state) in &self.lists[id as usize].clone() {
            let automaton = &bnf.terminals[terminal as usize];
            let to = automaton.next(state, symbol);
            if to == DEAD_STATE {
                continue;
            }
            if automaton.accepts(to) {
                return None;
            }
            out.push((terminal, to));
        }
        Some(self.id(out))
    }

    /// What must not follow behind a terminal that ends in a state.
    fn end(&mut self, bnf: &Bnf, id: ObligationsId, terminal: u16, state: u16) -> ObligationsId {
        let mut list = self.lists[id as usize].clone();
        if self.longest && bnf.terminals[terminal as usize].goes_on(state) {
            list.push((terminal, state));
        }
        self.id(list)
    }

    fn through_scan(&mut self, bnf: &Bnf, terminal: u16, state: u16, id: ObligationsId) -> BTreeSet<ObligationsId> {
        if let Some(known) = self.scans.get(&(terminal, state, id)) {
            return known.clone();
        }
        let mut out = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut todo = vec![(state, id)];
        while let Some((state, id)) = todo.pop() {
            for symbol in self.symbols.clone() {
                let to = bnf.terminals[terminal as usize].next(state, symbol);
                if to == DEAD_STATE {
                    continue;
                }
                let Some(obligations) = self.step(bnf, id, symbol) else { continue };
                if seen.insert((to, obligations)) {
                    if bnf.terminals[terminal as usize].accepts(to) {
                        out.insert(self.end(bnf, obligations, terminal, to));
                    }
                    todo.push((to, obligations));
                }
            }
        }
        self.scans.insert((terminal, state, id), out.clone());
        out
    }

    fn through_terminal(&mut self, bnf: &Bnf, terminal: u16, id: ObligationsId) -> BTreeSet<ObligationsId> {
        let mut out = self.through_scan(bnf, terminal, 0, id);
        if bnf.terminals[terminal as usize].accepts(0) {
            out.insert(self.end(bnf, id, terminal, 0));
        }
        out
    }

    fn demand(&mut self, rule: u16, id: ObligationsId) -> bool {
        if self.rules.contains_key(&(rule, id)) {
            return false;
        }
        self.rules.insert((rule, id), BTreeSet::new());
        self.demanded.push((rule, id));
        true
    }

    fn through(&mut self, bnf: &Bnf, part: Sym, id: ObligationsId) -> BTreeSet<ObligationsId> {
        let rule = match part {
            Sym::T(t) => return self.through_terminal(bnf, t, id),
            Sym::N(rule) => rule,
        };
        if !self.demand(rule, id) {
            return self.rules[&(rule, id)].clone();
        }
        let mut grown = true;
        while grown {
            grown = false;
            let mut at = self.settled;
            while at < self.demanded.len() {
                let (rule, id) = self.demanded[at];
                at += 1;
                for &production in &bnf.of[rule as usize] {
                    let mut now = BTreeSet::from([id]);
                    for &part in &bnf.productions[production as usize].1 {
                        let mut next = BTreeSet::new();
                        for &from in &now {
                            match part {
                                Sym::T(t) => next.extend(self.through_terminal(bnf, t, from)),
                                Sym::N(n) => {
                                    grown |= self.demand(n, from);
                                    next.extend(&self.rules[&(n, from)]);
                                }
                            }
                        }
                        now = next;
                    }
                    let known = self.rules.entry((rule, id)).or_default();
                    let before = known.len();
                    known.extend(now);
                    grown |= known.len() > before;
                }
            }
        }
        self.settled = self.demanded.len();
        self.rules[&(rule, id)].clone()
    }
}

impl Lattice {
    /// The twin at the beginning. `longest`: each terminal takes its longest match.
    pub fn new(bnf: Bnf, longest: bool) -> Lattice {
        let bnf = bnf.with_ignored();
        let relations = Relations {
            lists: vec![Vec::new()],
            numbers: HashMap::from([(Vec::new(), 0)]),
            scans: HashMap::new(),
            rules: HashMap::new(),
            demanded: Vec::new(),
            settled: 0,
            symbols: representatives(&bnf.terminals),
            longest,
        };
        let mut lattice =
            Lattice { bnf, relations, nodes: Vec::new(), levels: Vec::new(), next_uid: 0, memo: HashMap::new() };
        let start = lattice.bnf.of[lattice.bnf.start as usize].clone();
        let items = start.into_iter().map(|production| Item { production, dot: 0, origin: 0 });
        lattice.level(Vec::new(), vec![(0, items.collect())]);
        lattice
    }

    /// How many lists of obligations were met.
    pub fn size(&self) -> usize {
        self.relations.lists.len()
    }

    /// Makes a place: the scans that go on, and the items at its nodes, closed under Earley's rules.
    fn level(&mut self, mut scans: Vec<Scan>, begin: Vec<(ObligationsId, Vec<Item>)>) {
        let first_node = self.nodes.len();
        let mut by_obligations: HashMap<ObligationsId, u32> = HashMap::new();
        let mut todo: Vec<(u32, Item)> = Vec::new();
        // Nonterminals that were read from a node of this place to one of this place: nothing, but for obligations.
        let mut empty: HashMap<(u32, u16), Vec<u32>> = HashMap::new();
        for (obligations, items) in begin {
            for item in items {
                let node = self.node(&mut by_obligations, obligations);
                todo.push((node, item));
            }
        }
        while let Some((at, item)) = todo.pop() {
            let node = &mut self.nodes[at as usize];
            if !node.set.insert(item) {
                continue;
            }
            node.items.push(item);
            let obligations = node.obligations;
            let (of, parts) = &self.bnf.productions[item.production as usize];
            let past = Item { dot: item.dot + 1, ..item };
            match parts.get(item.dot as usize) {
                Some(&Sym::N(rule)) => {
                    for &production in &self.bnf.of[rule as usize] {
                        todo.push((at, Item { production, dot: 0, origin: at }));
                    }
                    todo.extend(empty.get(&(at, rule)).into_iter().flatten().map(|&to| (to, past)));
                }
                Some(&Sym::T(terminal)) => {
                    if self.bnf.terminals[terminal as usize].accepts(0) {
                        let behind = self.relations.end(&self.bnf, obligations, terminal, 0);
                        let to = self.node(&mut by_obligations, behind);
                        todo.push((to, past));
                    }
                }
                None => {
                    let of = *of;
                    if item.origin as usize >= first_node {
                        let known = empty.entry((item.origin, of)).or_default();
                        if !known.contains(&at) {
                            known.push(at);
                        }
                    }
                    for &parent in &self.nodes[item.origin as usize].items {
                        let parts = &self.bnf.productions[parent.production as usize].1;
                        if parts.get(parent.dot as usize) == Some(&Sym::N(of)) {
                            todo.push((at, Item { dot: parent.dot + 1, ..parent }));
                        }
                    }
                }
            }
        }
        for at in first_node..self.nodes.len() {
            let node = &self.nodes[at];
            let mut waited: Vec<u16> = node.items.iter().filter_map(|i| self.waits(i)).collect();
            waited.sort_unstable();
            waited.dedup();
            let obligations = node.obligations;
            scans.extend(waited.into_iter().map(|terminal| Scan { node: at as u32, terminal, state: 0, obligations }));
        }
        self.levels.push(Level { scans, first_node });
    }

    /// The terminal that an item waits for.
    fn waits(&self, item: &Item) -> Option<u16> {
        match self.bnf.productions[item.production as usize].1.get(item.dot as usize) {
            Some(&Sym::T(terminal)) => Some(terminal),
            _ => None,
        }
    }

    fn node(&mut self, known: &mut HashMap<ObligationsId, u32>, obligations: ObligationsId) -> u32 {
        *known.entry(obligations).or_insert_with(|| {
            self.next_uid += 1;
            self.nodes.push(Node { uid: self.next_uid, obligations, items: Vec::new(), set: HashSet::new() });
            self.nodes.len() as u32 - 1
        })
    }

    /// Reads a symbol.
    pub fn push(&mut self, symbol: u32) -> bool {
        let before = self.levels[self.levels.len() - 1].scans.clone();
        let mut scans = Vec::new();
        let mut begin: Vec<(ObligationsId, Vec<Item>)> = Vec::new();
        let mut seen = HashSet::new();
        for scan in before {
            let to = self.bnf.terminals[scan.terminal as usize].next(scan.state, symbol);
            if to == DEAD_STATE {
                continue;
            }
            // What must not follow is said of text; a special token ends it.
            let obligations = match symbol {
                byte if byte < SPECIAL => self.relations.step(&self.bnf, scan.obligations, byte),
                _ => Some(0),
            };
            let Some(obligations) = obligations else { continue };
            let next = Scan { state: to, obligations, ..scan };
            if !seen.insert(next) {
                continue;
            }
            scans.push(next);
            if self.bnf.terminals[scan.terminal as usize].accepts(to) {
                let items = self.nodes[scan.node as usize].items.iter();
                let waiting = items.filter(|item| self.waits(item) == Some(scan.terminal));
                let items = waiting.map(|item| Item { dot: item.dot + 1, ..*item }).collect();
                begin.push((self.relations.end(&self.bnf, obligations, scan.terminal, to), items));
            }
        }
        let lives = !scans.is_empty();
        self.level(scans, begin);
        lives
    }

    /// Takes back the last symbol.
    pub fn pop(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.nodes.truncate(level.first_node);
        }
    }

    fn last(&self) -> &Level {
        &self.levels[self.levels.len() - 1]
    }

    /// Whether what was read is accepted.
    pub fn accepts(&self) -> bool {
        self.nodes[self.last().first_node..].iter().flat_map(|node| &node.items).any(|item| {
            let (of, parts) = &self.bnf.productions[item.production as usize];
            *of == self.bnf.start && item.dot as usize == parts.len()
        })
    }

    /// Whether something accepted begins with what was read.
    pub fn viable(&mut self) -> Option<bool> {
        if self.accepts() {
            return Some(true);
        }
        for scan in self.last().scans.clone() {
            let ends = self.relations.through_scan(&self.bnf, scan.terminal, scan.state, scan.obligations);
            let items = self.nodes[scan.node as usize].items.clone();
            for item in items {
                if self.waits(&item) != Some(scan.terminal) {
                    continue;
                }
                let past = Item { dot: item.dot + 1, ..item };
                if ends.iter().any(|&obligations| self.completes(past, obligations)) {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Whether an item can be read to the end of the output, where these obligations hold behind what it has read.
    fn completes(&mut self, item: Item, obligations: ObligationsId) -> bool {
        let key = |nodes: &[Node], (item, obligations): (Item, ObligationsId)| {
            (item.production, item.dot, nodes[item.origin as usize].uid, obligations)
        };
        let mut seen = HashSet::from([key(&self.nodes, (item, obligations))]);
        let mut todo = vec![(item, obligations)];
        let mut answer = false;
        while let Some((item, obligations)) = todo.pop() {
            match self.memo.get(&key(&self.nodes, (item, obligations))) {
                Some(true) => {
                    answer = true;
                    break;
                }
                Some(false) => continue,
                None => {}
            }
            let (of, parts) = &self.bnf.productions[item.production as usize];
            let mut next: Vec<(Item, ObligationsId)> = Vec::new();
            match parts.get(item.dot as usize) {
                Some(&part) => {
                    let ends = self.relations.through(&self.bnf, part, obligations);
                    next.extend(ends.into_iter().map(|to| (Item { dot: item.dot + 1, ..item }, to)));
                }
                None if *of == self.bnf.start => {
                    answer = true;
                    break;
                }
                None => {
                    for &parent in &self.nodes[item.origin as usize].items {
                        let parts = &self.bnf.productions[parent.production as usize].1;
                        if parts.get(parent.dot as usize) == Some(&Sym::N(*of)) {
                            next.push((Item { dot: parent.dot + 1, ..parent }, obligations));
                        }
                    }
                }
            }
            for one in next {
                if seen.insert(key(&self.nodes, one)) {
                    todo.push(one);
                }
            }
        }
        match answer {
            true => {
                self.memo.insert(key(&self.nodes, (item, obligations)), true);
            }
            false => seen.into_iter().for_each(|key| {
                self.memo.insert(key, false);
            }),
        }
        answer
    }
}
