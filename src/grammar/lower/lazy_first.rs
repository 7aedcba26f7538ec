//! Rules with `lazy`, `suffix` or `stop` beside other terminals: where one of them and another terminal may begin at
//! the same place, the lazy one counts as soon as it ends, as llguidance has it. The others have no texts that begin
//! with one of it there.
//!
//! What may begin at a place is read off the rules: after each symbol the symbols that can come next. A terminal is
//! narrowed where it stands, not everywhere. Where a rule is used in several places, only what all of them share
//! counts.

use crate::error::Result;
use crate::grammar::lower::{Lowering, TerminalKey};
use crate::grammar::model::{Node, RuleId, TerminalId};
use crate::regex::SymbolTexts;
use crate::util::cancel::charge;
use crate::util::seeded_hash::SeededMap;

/// Symbols that are looked at in the time of one step.
const SYMBOLS_PER_STEP: usize = 64;

/// A symbol in the body of a rule, by its number in all bodies.
type Occurrence = u32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Terminal(TerminalId),
    Rule(RuleId),
    Other,
}

/// What is known of a part of a body.
#[derive(Default)]
struct Edges {
    nullable: bool,
    first: Vec<Occurrence>,
    last: Vec<Occurrence>,
}

/// Symbols of all bodies and what follows what.
#[derive(Default)]
struct Neighbours {
    symbols: Vec<Symbol>,
    /// The rule in whose body each stands.
    owners: Vec<RuleId>,
    follow: Vec<Vec<Occurrence>>,
    bodies: Vec<Edges>,
    nullable: Vec<bool>,
    /// Where each rule is used.
    uses: SeededMap<RuleId, Vec<Occurrence>>,
}

impl Neighbours {
    fn find(lowering: &Lowering<'_>) -> Self {
        let mut n = Neighbours { nullable: vec![false; lowering.rules.len()], ..Neighbours::default() };
        loop {
            (n.symbols, n.owners, n.follow, n.bodies) = Default::default();
            n.uses.clear();
            for (rule, r) in lowering.rules.iter().enumerate() {
                let edges = n.read(&r.body, rule as RuleId);
                n.bodies.push(edges);
            }
            let nullable: Vec<bool> = n.bodies.iter().map(|b| b.nullable).collect();
            if nullable == n.nullable {
                return n;
            }
            n.nullable = nullable;
        }
    }

    fn add(&mut self, symbol: Symbol, owner: RuleId) -> Occurrence {
        self.symbols.push(symbol);
        self.owners.push(owner);
        self.follow.push(Vec::new());
        self.symbols.len() as Occurrence - 1
    }

    fn join(&mut self, last: &[Occurrence], first: &[Occurrence]) {
        for &l in last {
            self.follow[l as usize].extend(first);
        }
    }

    /// Reads a part of a body. Symbols get their numbers from left to right.
    fn read(&mut self, node: &Node, owner: RuleId) -> Edges {
        let one = |n: Occurrence, nullable: bool| Edges { nullable, first: vec![n], last: vec![n] };
        match node {
            Node::Empty => Edges { nullable: true, ..Edges::default() },
            Node::Terminal(t) => one(self.add(Symbol::Terminal(*t), owner), false),
            Node::Token(_) | Node::Document(_) => one(self.add(Symbol::Other, owner), false),
            Node::Rule(rule) => {
                let n = self.add(Symbol::Rule(*rule), owner);
                self.uses.entry(*rule).or_default().push(n);
                one(n, self.nullable[*rule as usize])
            }
            Node::Sequence(parts) => {
                let mut all = Edges { nullable: true, ..Edges::default() };
                for part in parts {
                    let e = self.read(part, owner);
                    self.join(&all.last, &e.first);
                    if all.nullable {
                        all.first.extend(&e.first);
                    }
                    if !e.nullable {
                        all.last.clear();
                    }
                    all.last.extend(&e.last);
                    all.nullable &= e.nullable;
                }
                all
            }
            Node::Choice(parts) => {
                let mut all = Edges::default();
                for part in parts {
                    let e = self.read(part, owner);
                    all.first.extend(&e.first);
                    all.last.extend(&e.last);
                    all.nullable |= e.nullable;
                }
                all
            }
            Node::Repeat { body, min, max } => {
                let mut e = self.read(body, owner);
                if *max > 1 {
                    self.join(&e.last, &e.first);
                }
                e.nullable |= *min == 0;
                e
            }
            Node::Capture { body, .. } => self.read(body, owner),
        }
    }

    /// The terminals that may begin at one of these symbols; with `all`, whatever the place that a rule is used in.
    fn begin(&self, at: &[Occurrence], all: bool) -> Vec<Occurrence> {
        let mut seen = vec![false; self.symbols.len()];
        let mut todo: Vec<Occurrence> = at.to_vec();
        let mut found = Vec::new();
        while let Some(n) = todo.pop() {
            if std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            match self.symbols[n as usize] {
                Symbol::Terminal(_) => found.push(n),
                Symbol::Other => {}
                Symbol::Rule(rule) => {
                    todo.extend(&self.bodies[rule as usize].first);
                    if self.nullable[rule as usize] {
                        todo.extend(self.after(n, all));
                    }
                }
            }
        }
        found
    }

    /// The symbols that may come behind one.
    fn after(&self, n: Occurrence, all: bool) -> Vec<Occurrence> {
        let mut seen = vec![false; self.symbols.len()];
        let mut todo = vec![n];
        let mut found = Vec::new();
        while let Some(n) = todo.pop() {
            if std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            found.extend(&self.follow[n as usize]);
            let owner = self.owners[n as usize];
            if self.bodies[owner as usize].last.contains(&n)
                && let Some(uses) = self.uses.get(&owner)
                && (all || uses.len() == 1)
            {
                todo.extend(uses);
            }
        }
        found
    }
}

impl Lowering<'_> {
    /// Narrows terminals that may begin where a lazy one does.
    pub(super) fn let_lazy_ones_count_first(&mut self, start: RuleId) -> Result<()> {
        if self.lazy.is_empty() {
            return Ok(());
        }
        let n = Neighbours::find(self);
        let terminal = |o: Occurrence| match n.symbols[o as usize] {
            Symbol::Terminal(t) => t,
            _ => TerminalId::MAX,
        };
        // By symbol: the lazy terminals that may begin wherever it may.
        let mut beside: SeededMap<Occurrence, Vec<TerminalId>> = SeededMap::default();
        let read = (0..n.symbols.len() as Occurrence).filter(|&o| !matches!(n.symbols[o as usize], Symbol::Rule(_)));
        let places = std::iter::once(None).chain(read.map(Some));
        for place in places {
            charge(n.symbols.len() / SYMBOLS_PER_STEP);
            let of = |all: bool| match place {
                None => n.begin(&n.bodies[start as usize].first, all),
                Some(o) => n.begin(&n.after(o, all), all),
            };
            let lazy: Vec<TerminalId> = of(false).into_iter().map(terminal).filter(|t| self.lazy.contains(t)).collect();
            for o in of(true) {
                match beside.get_mut(&o) {
                    Some(known) => known.retain(|t| lazy.contains(t)),
                    None => _ = beside.insert(o, lazy.clone()),
                }
            }
            self.x.check()?;
        }
        let mut narrowed: SeededMap<Occurrence, TerminalId> = SeededMap::default();
        for o in 0..n.symbols.len() as Occurrence {
            let Some(lazy) = beside.get(&o) else { continue };
            let id = terminal(o);
            let old = &self.terminals[id as usize];
            let (texts, context, priority) = (old.pattern, old.context, old.priority);
            let (name, at, literal) = (old.name.clone(), old.place, old.literal);
            let mut now = texts;
            for &other in lazy.iter().filter(|&&other| other != id) {
                let first = self.terminals[other as usize].pattern;
                // A lazy one may be as long as another, but not longer.
                let longer = self.x.longer(first);
                now = self.x.minus(now, longer);
                if !self.lazy.contains(&id) {
                    now = self.x.minus(now, first);
                }
            }
            if now == texts || context.is_some() {
                continue;
            }
            let key = TerminalKey::Expr(now);
            let new = match self.terminal_ids.get(&key) {
                Some(&known) => known,
                None => {
                    let texts = SymbolTexts { texts: now, context };
                    let new = self.add_terminal(key, name, Default::default(), texts, priority, literal);
                    self.terminals[new as usize].place = at;
                    new
                }
            };
            narrowed.insert(o, new);
        }
        let mut next = 0;
        for rule in &mut self.rules {
            replace(&mut rule.body, &narrowed, &mut next);
        }
        Ok(())
    }
}

/// Puts other terminals in their places, which are counted from left to right.
fn replace(node: &mut Node, narrowed: &SeededMap<Occurrence, TerminalId>, next: &mut Occurrence) {
    match node {
        Node::Empty => {}
        Node::Terminal(t) => {
            if let Some(&new) = narrowed.get(next) {
                *t = new;
            }
            *next += 1;
        }
        Node::Rule(_) | Node::Token(_) | Node::Document(_) => *next += 1,
        Node::Sequence(parts) | Node::Choice(parts) => parts.iter_mut().for_each(|p| replace(p, narrowed, next)),
        Node::Repeat { body, .. } | Node::Capture { body, .. } => replace(body, narrowed, next),
    }
}
