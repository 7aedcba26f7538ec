//! Productions: the rules of a grammar in Backus-Naur form.
//!
//! Choices, options and repetitions become rules of their own. A repetition without an end becomes left recursion,
//! which an LR parser reads in constant space, and so do rules that repeat themselves at their end
//! ([`right_recursion`]). Rules that repeat themselves on both sides are flattened, because they would be ambiguous
//! without changing what is accepted; see [`flatten`].
//!
//! Nothing is done about rules that may be empty: the automaton steps over them (see
//! [`lr_automaton`](crate::pushdown::grammar::lr_automaton)).

use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::grammar::model::{Grammar, Lexer, Node, UNBOUNDED};
use crate::limits::Limits;
use crate::pushdown::grammar::right_recursion;
use crate::util::seeded_hash::SeededMap;

/// A symbol: a terminal, a set of special tokens or a nonterminal, by [`Productions::terminals`] and
/// [`Productions::first_rule`]; between these, sets of special tokens and documents.
pub type Symbol = u32;

/// One alternative of a nonterminal.
pub struct Production {
    /// What it is an alternative of.
    pub of: Symbol,
    /// Its parts, in turn.
    pub parts: Box<[Symbol]>,
}

/// The rules of a grammar in Backus-Naur form.
pub struct Productions {
    /// How many symbols are terminals. Symbols below this number are.
    pub terminals: u32,
    /// The first symbol that is a document. Those between this and the terminals are sets of special tokens.
    pub first_document: u32,
    /// The first symbol that is a nonterminal.
    pub first_rule: u32,
    /// All alternatives.
    pub all: Vec<Production>,
    /// The alternatives of each nonterminal, less [`first_rule`](Self::first_rule).
    pub of: Vec<Vec<u32>>,
    /// Whether a symbol may be empty.
    pub nullable: Vec<bool>,
    /// The whole output, a nonterminal with one alternative of one part.
    pub start: Symbol,
    /// By nonterminal, less [`first_rule`](Self::first_rule): the name that its text is reported under, a number of
    /// [`capture_names`](Self::capture_names), or [`NO_CAPTURE`]. Shorter than the nonterminals: later ones have none.
    pub captures: Vec<u32>,
    /// The names of captures.
    pub capture_names: Vec<String>,
}

/// The text of a nonterminal is not reported.
pub const NO_CAPTURE: u32 = u32::MAX;

/// How many productions a limit of rules allows for each of them.
const PER_RULE: usize = 8;

/// Writes the productions of a grammar.
struct Writer<'g> {
    grammar: &'g Grammar,
    first_rule: u32,
    of: Vec<Vec<Box<[Symbol]>>>,
    captures: Vec<u32>,
    capture_names: Vec<String>,
    capture_ids: SeededMap<String, u32>,
    written: usize,
    most: usize,
}

impl Writer<'_> {
    fn add(&mut self, of: Symbol, parts: Vec<Symbol>) -> Result<()> {
        self.written += 1 + parts.len() / 16;
        if self.written > self.most {
            return Err(
                Error::limit("alternatives of the grammar", self.most as u64, self.written as u64).set_by("max_rules")
            );
        }
        if parts.len() > usize::from(u16::MAX) {
            return Err(Error::limit("parts of one alternative", u64::from(u16::MAX), parts.len() as u64));
        }
        self.of[(of - self.first_rule) as usize].push(parts.into());
        Ok(())
    }

    fn fresh(&mut self) -> Symbol {
        self.of.push(Vec::new());
        self.first_rule + self.of.len() as u32 - 1
    }

    /// The nonterminal of a part whose text is reported.
    fn captured(&mut self, name: &str, body: &Node) -> Result<Symbol> {
        let number = match self.capture_ids.get(name) {
            Some(&known) => known,
            None => {
                let number = self.capture_names.len() as u32;
                self.capture_names.push(name.to_owned());
                self.capture_ids.insert(name.to_owned(), number);
                number
            }
        };
        let rule = self.fresh();
        self.captures.resize(self.of.len(), NO_CAPTURE);
        self.captures[(rule - self.first_rule) as usize] = number;
        self.alternatives(rule, body)?;
        Ok(rule)
    }

    /// Adds the alternatives that a node says.
    fn alternatives(&mut self, of: Symbol, node: &Node) -> Result<()> {
        match node {
            Node::Choice(all) => all.iter().try_for_each(|one| self.alternatives(of, one)),
            Node::Repeat { body, min: 0, max: 1 } => {
                self.add(of, Vec::new())?;
                self.alternatives(of, body)
            }
            _ => {
                let mut parts = Vec::new();
                self.sequence(node, &mut parts)?;
                self.add(of, parts)
            }
        }
    }

    /// Appends the symbols of a node.
    fn sequence(&mut self, node: &Node, parts: &mut Vec<Symbol>) -> Result<()> {
        match node {
            Node::Empty => {}
            Node::Terminal(t) => parts.push(*t),
            Node::Token(t) => parts.push(self.grammar.terminals.len() as u32 + t),
            Node::Rule(r) => parts.push(self.first_rule + r),
            Node::Document(d) => {
                parts.push((self.grammar.terminals.len() + self.grammar.token_sets.len()) as u32 + d);
            }
            Node::Sequence(all) => all.iter().try_for_each(|one| self.sequence(one, parts))?,
            Node::Capture { name, body } => parts.push(self.captured(name, body)?),
            Node::Choice(_) => {
                let rule = self.fresh();
                self.alternatives(rule, node)?;
                parts.push(rule);
            }
            Node::Repeat { body, min, max } => self.repeat(body, *min, *max, parts)?,
        }
        Ok(())
    }

    /// The symbol of a node.
    fn symbol(&mut self, node: &Node) -> Result<Symbol> {
        match node {
            Node::Terminal(_) | Node::Token(_) | Node::Document(_) | Node::Rule(_) | Node::Capture { .. } => {
                let mut parts = Vec::new();
                self.sequence(node, &mut parts)?;
                Ok(parts[0])
            }
            _ => {
                let rule = self.fresh();
                self.alternatives(rule, node)?;
                Ok(rule)
            }
        }
    }

    fn repeat(&mut self, body: &Node, min: u32, max: u32, parts: &mut Vec<Symbol>) -> Result<()> {
        /// Copies that are written one after the other.
        const FEW: u32 = 4;
        if max == 0 || min > max {
            return Ok(());
        }
        let one = self.symbol(body)?;
        if max == UNBOUNDED {
            let many = self.fresh();
            self.add(many, vec![one])?;
            self.add(many, vec![many, one])?;
            if min <= 1 {
                parts.push(if min == 1 { many } else { self.optional(many)? });
                return Ok(());
            }
            let before = self.copies(one, min - 1, FEW)?;
            parts.extend(before);
            parts.push(many);
            return Ok(());
        }
        if min == max {
            let all = self.copies(one, min, FEW)?;
            parts.extend(all);
            return Ok(());
        }
        // Each count is a nonterminal that the next one is built on.
        let counted = self.fresh();
        if min == 0 {
            self.add(counted, Vec::new())?;
        }
        let mut last = one;
        for count in 1..=max {
            if count > 1 {
                let next = self.fresh();
                self.add(next, vec![last, one])?;
                last = next;
            }
            if count >= min {
                self.add(counted, vec![last])?;
            }
        }
        parts.push(counted);
        Ok(())
    }

    fn optional(&mut self, symbol: Symbol) -> Result<Symbol> {
        let rule = self.fresh();
        self.add(rule, Vec::new())?;
        self.add(rule, vec![symbol])?;
        Ok(rule)
    }

    /// `count` copies of a symbol, in as many symbols as the count has binary digits where it is not small.
    fn copies(&mut self, one: Symbol, count: u32, few: u32) -> Result<Vec<Symbol>> {
        if count <= few {
            return Ok(vec![one; count as usize]);
        }
        let (mut out, mut power, mut left) = (Vec::new(), one, count);
        while left > 0 {
            if left & 1 == 1 {
                out.push(power);
            }
            left >>= 1;
            if left > 0 {
                let twice = self.fresh();
                self.add(twice, vec![power, power])?;
                power = twice;
            }
        }
        Ok(out)
    }
}

/// Rewrites the alternatives of a nonterminal `A` that has one of the form `A … A`.
///
/// Such a rule says the same text in many ways. What it accepts is a row of units, separated by what stands between the
/// two `A`: with `B` for the alternatives that neither begin nor end with `A`, `A: A x A | A y | z A | w` accepts what
/// `A: A x B | B`, `B: B y | z B | w` accepts.
fn flatten(of: &mut Vec<Vec<Box<[Symbol]>>>, rule: usize, first_rule: u32) {
    let this = first_rule + rule as u32;
    let both = |parts: &[Symbol]| parts.len() > 1 && parts[0] == this && parts[parts.len() - 1] == this;
    if !of[rule].iter().any(|parts| both(parts)) {
        return;
    }
    let unit = first_rule + of.len() as u32;
    let (mut rows, mut units) = (vec![vec![unit].into_boxed_slice()], Vec::new());
    for mut parts in std::mem::take(&mut of[rule]) {
        let last = parts.len().wrapping_sub(1);
        if *parts == [this] {
            continue;
        }
        if both(&parts) {
            // A row of nothing but itself is as long as it says, in units.
            match parts.iter().all(|&part| part == this) {
                true => parts[1..].fill(unit),
                false => parts[last] = unit,
            }
            rows.push(parts);
            continue;
        }
        if parts.first() == Some(&this) {
            parts[0] = unit;
        } else if parts.last() == Some(&this) {
            parts[last] = unit;
        }
        units.push(parts);
    }
    of[rule] = rows;
    of.push(units);
}

/// Whether a grammar has no more terminals than the limits allow.
///
/// # Errors
/// `Limit` if it has more.
pub fn check_terminals(grammar: &Grammar, limits: &Limits) -> Result<()> {
    // How many rules a limit of rules allows for each terminal. Where terminals compete, each is compared with others.
    let per_terminal = if grammar.lexer == Lexer::Contextual { 20 } else { 8 };
    let most = limits.max_rules / per_terminal;
    let count = grammar.terminals.len();
    if count <= most {
        return Ok(());
    }
    Err(Error::limit("terminals of the grammar", most as u64, count as u64).set_by("max_rules"))
}

impl Productions {
    /// The productions of a grammar. `inhabited` says of each terminal whether it has any text; alternatives that can
    /// never be completed are left out.
    ///
    /// # Errors
    /// `Limit` for more alternatives than the limits allow; `Unsatisfiable` if nothing is accepted.
    pub fn from_grammar(
        grammar: &Grammar,
        inhabited: &[bool],
        may_be_empty: &[bool],
        limits: &Limits,
    ) -> Result<Productions> {
        let terminals = grammar.terminals.len() as u32;
        let first_document = terminals + grammar.token_sets.len() as u32;
        let first_rule = first_document + grammar.documents.len() as u32;
        let rules = grammar.rules.len();
        let mut writer = Writer {
            grammar,
            first_rule,
            of: vec![Vec::new(); rules],
            captures: Vec::new(),
            capture_names: Vec::new(),
            capture_ids: SeededMap::default(),
            written: 0,
            most: limits.max_rules.saturating_mul(PER_RULE),
        };
        for (number, rule) in (0u32..).zip(&grammar.rules) {
            writer.alternatives(first_rule + number, &rule.body)?;
        }
        let Writer { mut of, captures, capture_names, .. } = writer;
        for rule in 0..of.len() {
            flatten(&mut of, rule, first_rule);
        }
        right_recursion::remove(&mut of, first_rule, first_rule + grammar.start, &captures);
        let start = first_rule + of.len() as u32;
        of.push(vec![vec![first_rule + grammar.start].into()]);

        let holds = |terminal: bool, symbol: Symbol| match symbol {
            t if t < terminals => match terminal {
                true => inhabited[t as usize] || may_be_empty[t as usize],
                false => may_be_empty[t as usize],
            },
            _ => terminal,
        };
        let productive = fixpoint(&of, first_rule, |symbol| holds(true, symbol));
        if !productive[start as usize] {
            let rule = &grammar.rules[grammar.start as usize];
            let message = format!("the grammar accepts nothing: {} never comes to an end", rule.name);
            let e = Error::new(ErrorKind::Unsatisfiable, message);
            return Err(e.coded_about(ErrorCode::EndlessRule, &rule.name));
        }
        let nullable = fixpoint(&of, first_rule, |symbol| holds(false, symbol));
        // What no text can need is left out: it would count among what may come next.
        for alternatives in &mut of {
            alternatives.retain(|parts| parts.iter().all(|&part| productive[part as usize]));
        }
        let reached = reached_from(&of, first_rule, start);
        let mut all = Vec::new();
        let numbers = (first_rule..)
            .zip(of)
            .map(|(symbol, alternatives)| {
                let kept = alternatives.into_iter().filter(|_| reached[(symbol - first_rule) as usize]);
                kept.map(|parts| {
                    all.push(Production { of: symbol, parts });
                    all.len() as u32 - 1
                })
                .collect()
            })
            .collect();
        Ok(Productions {
            terminals,
            first_document,
            first_rule,
            all,
            of: numbers,
            nullable,
            start,
            captures,
            capture_names,
        })
    }

    /// The name that the text of a nonterminal is reported under, as a number.
    #[inline]
    pub fn capture(&self, rule: Symbol) -> Option<u32> {
        let name = *self.captures.get((rule - self.first_rule) as usize)?;
        (name != NO_CAPTURE).then_some(name)
    }

    /// The set of special tokens that a symbol is.
    pub fn token_set(&self, symbol: Symbol) -> Option<usize> {
        (self.terminals..self.first_document).contains(&symbol).then(|| (symbol - self.terminals) as usize)
    }

    /// The document that a symbol is.
    pub fn document(&self, symbol: Symbol) -> Option<u32> {
        (self.first_document..self.first_rule).contains(&symbol).then(|| symbol - self.first_document)
    }

    /// Whether a symbol is a nonterminal.
    #[inline]
    pub fn is_rule(&self, symbol: Symbol) -> bool {
        symbol >= self.first_rule
    }

    /// The numbers of the alternatives of a nonterminal.
    #[inline]
    pub fn alternatives(&self, rule: Symbol) -> &[u32] {
        &self.of[(rule - self.first_rule) as usize]
    }

    /// How many symbols there are.
    pub fn symbols(&self) -> usize {
        self.first_rule as usize + self.of.len()
    }
}

/// Whether each nonterminal is a part of what one of them may become.
fn reached_from(of: &[Vec<Box<[Symbol]>>], first_rule: Symbol, start: Symbol) -> Vec<bool> {
    let mut reached = vec![false; of.len()];
    let mut todo = vec![start];
    while let Some(symbol) = todo.pop() {
        let at = (symbol - first_rule) as usize;
        if !std::mem::replace(&mut reached[at], true) {
            let parts = of[at].iter().flat_map(|parts| parts.iter().copied());
            todo.extend(parts.filter(|&part| part >= first_rule));
        }
    }
    reached
}

/// The symbols of which some alternative has only parts that hold, terminals by `holds`. Linear in the productions.
fn fixpoint(of: &[Vec<Box<[Symbol]>>], first_rule: u32, holds: impl Fn(Symbol) -> bool) -> Vec<bool> {
    let mut known = vec![false; first_rule as usize + of.len()];
    let mut todo: Vec<Symbol> = Vec::new();
    // For each symbol the alternatives that wait for it, and for each alternative how many parts it waits for.
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); known.len()];
    let (mut missing, mut owner) = (Vec::new(), Vec::new());
    for (rule, alternatives) in of.iter().enumerate() {
        for parts in alternatives {
            let number = missing.len() as u32;
            missing.push(parts.len());
            owner.push(first_rule + rule as u32);
            parts.iter().for_each(|&part| waiting[part as usize].push(number));
            if parts.is_empty() {
                todo.push(first_rule + rule as u32);
            }
        }
    }
    todo.extend((0..first_rule).filter(|&symbol| holds(symbol)));
    while let Some(symbol) = todo.pop() {
        if std::mem::replace(&mut known[symbol as usize], true) {
            continue;
        }
        for number in std::mem::take(&mut waiting[symbol as usize]) {
            missing[number as usize] -= 1;
            if missing[number as usize] == 0 {
                todo.push(owner[number as usize]);
            }
        }
    }
    known
}
