//! A model as plain productions, as simple as they can be made.

use interlock::grammar::model::{Grammar, Node, TokenName, UNBOUNDED};

use crate::twin::terminal::Terminal;

/// A part of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sym {
    /// A terminal.
    T(u16),
    /// A nonterminal.
    N(u16),
}

/// Productions and terminals.
pub struct Bnf {
    /// The terminals, and behind them the sets of special tokens.
    pub terminals: Vec<Terminal>,
    /// Alternatives with what they are alternatives of.
    pub productions: Vec<(u16, Vec<Sym>)>,
    /// The alternatives of each nonterminal.
    pub of: Vec<Vec<u16>>,
    /// What the whole output is.
    pub start: u16,
    /// Terminals that may stand between others.
    pub ignored: Vec<u16>,
    /// Lark's indenter.
    pub indenter: Option<Indenter>,
}

/// The terminals that an indenter reads and makes.
#[derive(Clone)]
pub struct Indenter {
    pub newline: u16,
    pub indent: u16,
    pub dedent: u16,
    pub open: Vec<u16>,
    pub close: Vec<u16>,
    pub tab_width: u32,
}

struct Writer<'g> {
    grammar: &'g Grammar,
    productions: Vec<(u16, Vec<Sym>)>,
    names: u16,
}

impl Writer<'_> {
    fn fresh(&mut self) -> u16 {
        self.names += 1;
        self.names - 1
    }

    fn add(&mut self, of: u16, parts: Vec<Sym>) {
        self.productions.push((of, parts));
    }

    fn node(&mut self, node: &Node) -> Option<Sym> {
        Some(match node {
            Node::Terminal(t) => Sym::T(*t as u16),
            Node::Token(t) => Sym::T((self.grammar.terminals.len() + *t as usize) as u16),
            Node::Rule(r) => Sym::N(*r as u16),
            Node::Capture { body, .. } => self.node(body)?,
            Node::Document(_) => return None,
            Node::Empty => {
                let name = self.fresh();
                self.add(name, Vec::new());
                Sym::N(name)
            }
            Node::Sequence(all) => {
                let name = self.fresh();
                let parts = all.iter().map(|one| self.node(one)).collect::<Option<_>>()?;
                self.add(name, parts);
                Sym::N(name)
            }
            Node::Choice(all) => {
                let name = self.fresh();
                for one in all {
                    let part = self.node(one)?;
                    self.add(name, vec![part]);
                }
                Sym::N(name)
            }
            Node::Repeat { body, min, max } => {
                let name = self.fresh();
                let one = self.node(body)?;
                if *max == UNBOUNDED {
                    let more = self.fresh();
                    self.add(more, Vec::new());
                    self.add(more, vec![one, Sym::N(more)]);
                    let mut parts = vec![one; *min as usize];
                    parts.push(Sym::N(more));
                    self.add(name, parts);
                } else {
                    (*min..=*max).for_each(|count| self.add(name, vec![one; count as usize]));
                }
                Sym::N(name)
            }
        })
    }
}

impl Bnf {
    /// The productions of a model; `None` if its terminals are large. Alternatives that never come to an end are left
    /// out, so every beginning of a parse can be completed as far as the productions go.
    pub fn from_grammar(grammar: &mut Grammar) -> Option<Bnf> {
        let mut terminals = Vec::new();
        let indenter = grammar.indentation.as_ref().map(|i| Indenter {
            newline: i.newline as u16,
            indent: i.indent as u16,
            dedent: i.dedent as u16,
            open: i.open.iter().map(|&t| t as u16).collect(),
            close: i.close.iter().map(|&t| t as u16).collect(),
            tab_width: i.tab_width,
        });
        for (number, t) in (0u16..).zip(&grammar.terminals) {
            if indenter.as_ref().is_some_and(|i| number == i.indent || number == i.dedent) {
                terminals.push(Terminal::silent());
                continue;
            }
            if t.context.is_some() {
                return None;
            }
            terminals.push(Terminal::compile(&mut grammar.exprs, t.pattern, t.priority, t.literal)?);
        }
        for set in &grammar.token_sets {
            let mut ids = Vec::new();
            for name in &set.tokens {
                match name {
                    TokenName::Id(id) => ids.push(*id),
                    _ => return None,
                }
            }
            if set.complement {
                return None;
            }
            terminals.push(Terminal::of_tokens(&ids));
        }
        let mut writer = Writer { grammar, productions: Vec::new(), names: grammar.rules.len() as u16 };
        for (number, rule) in (0u16..).zip(&grammar.rules) {
            let body = writer.node(&rule.body)?;
            writer.add(number, vec![body]);
        }
        let start = writer.fresh();
        writer.add(start, vec![Sym::N(grammar.start as u16)]);
        let names = writer.names;
        let mut productions = writer.productions;
        let mut productive = vec![false; names as usize];
        let mut grown = true;
        while grown {
            grown = false;
            for (of, parts) in &productions {
                let holds = parts.iter().all(|part| match part {
                    Sym::T(t) => terminals[*t as usize].is_inhabited(),
                    Sym::N(n) => productive[*n as usize],
                });
                if holds && !productive[*of as usize] {
                    productive[*of as usize] = true;
                    grown = true;
                }
            }
        }
        productions.retain(|(_, parts)| {
            parts.iter().all(|part| match part {
                Sym::T(t) => terminals[*t as usize].is_inhabited(),
                Sym::N(n) => productive[*n as usize],
            })
        });
        let mut of = vec![Vec::new(); names as usize];
        (0u16..).zip(&productions).for_each(|(number, (name, _))| of[*name as usize].push(number));
        let ignored = grammar.ignored.iter().map(|&t| t as u16).collect();
        Some(Bnf { terminals, productions, of, start, ignored, indenter })
    }

    /// The productions with ignored terminals written before every other one and at the end.
    pub fn with_ignored(mut self) -> Bnf {
        if self.ignored.is_empty() {
            return self;
        }
        let between = self.of.len() as u16;
        let whole = between + 1;
        for (_, parts) in &mut self.productions {
            *parts = parts
                .iter()
                .flat_map(|&part| match part {
                    Sym::T(_) => vec![Sym::N(between), part],
                    other => vec![other],
                })
                .collect();
        }
        let mut add = |of: u16, parts: Vec<Sym>| {
            self.productions.push((of, parts));
            self.of.resize(whole as usize + 1, Vec::new());
            self.of[of as usize].push(self.productions.len() as u16 - 1);
        };
        add(between, Vec::new());
        for &t in &self.ignored {
            add(between, vec![Sym::N(between), Sym::T(t)]);
        }
        add(whole, vec![Sym::N(self.start), Sym::N(between)]);
        self.start = whole;
        self
    }
}
