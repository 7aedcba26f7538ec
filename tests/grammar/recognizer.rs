//! A slow twin: does a grammar's model accept a text? By brute force over positions, with nothing of the engine.

use std::collections::{BTreeSet, HashMap};

use interlock::expr::{ExprId, Exprs};
use interlock::grammar::model::{Grammar, Lexer, Node, RuleId, TerminalId, UNBOUNDED};

type Positions = BTreeSet<usize>;

/// Where a rule that begins at a position may end, as far as it is known.
type Key = (RuleId, usize);

/// One text that is read.
pub struct Recognizer<'a> {
    grammar: &'a mut Grammar,
    text: &'a [u8],
    terminals: HashMap<(TerminalId, usize), Positions>,
    ends: HashMap<Key, Positions>,
    /// Who asked for what.
    users: HashMap<Key, BTreeSet<Key>>,
    todo: Vec<Key>,
}

/// Whether the grammar accepts a text, as its lexer reads it. Special tokens and JSON documents match nothing here.
pub fn accepts(grammar: &mut Grammar, text: &[u8]) -> bool {
    let start = grammar.start;
    let mut r = Recognizer {
        grammar,
        text,
        terminals: HashMap::new(),
        ends: HashMap::new(),
        users: HashMap::new(),
        todo: Vec::new(),
    };
    let begin = r.pass_ignored(&Positions::from([0]));
    let keys: Vec<Key> = begin.iter().map(|&at| (start, at)).collect();
    for &key in &keys {
        r.ask(key, None);
    }
    while let Some(key) = r.todo.pop() {
        // The rules live in the grammar, which patterns change on the way.
        let body = std::mem::replace(&mut r.grammar.rules[key.0 as usize].body, Node::Empty);
        let found = r.node(&body, &Positions::from([key.1]), key);
        r.grammar.rules[key.0 as usize].body = body;
        let known = r.ends.entry(key).or_default();
        let before = known.len();
        known.extend(found);
        if known.len() > before {
            r.todo.extend(r.users.get(&key).into_iter().flatten());
        }
    }
    let ends: Positions = keys.iter().flat_map(|k| r.ends[k].clone()).collect();
    r.pass_ignored(&ends).contains(&text.len())
}

impl Recognizer<'_> {
    fn ask(&mut self, key: Key, user: Option<Key>) -> Positions {
        if let Some(user) = user {
            self.users.entry(key).or_default().insert(user);
        }
        if let Some(known) = self.ends.get(&key) {
            return known.clone();
        }
        self.ends.insert(key, Positions::new());
        self.todo.push(key);
        Positions::new()
    }

    fn node(&mut self, node: &Node, from: &Positions, user: Key) -> Positions {
        match node {
            Node::Empty => from.clone(),
            Node::Rule(rule) => from.iter().flat_map(|&at| self.ask((*rule, at), Some(user))).collect(),
            Node::Terminal(t) => {
                let from = if from.is_empty() { from.clone() } else { self.pass_ignored(from) };
                from.iter().flat_map(|&at| self.terminal(*t, at)).collect()
            }
            Node::Token(_) | Node::Document(_) => Positions::new(),
            Node::Sequence(parts) => parts.iter().fold(from.clone(), |from, part| self.node(part, &from, user)),
            Node::Choice(parts) => parts.iter().flat_map(|part| self.node(part, from, user)).collect(),
            Node::Repeat { body, min, max } => {
                let mut now = from.clone();
                let mut ends = if *min == 0 { now.clone() } else { Positions::new() };
                for copies in 1..=*max {
                    let next = self.node(body, &now, user);
                    let settled = next == now && copies > *min;
                    now = next;
                    if copies >= *min {
                        let before = ends.len();
                        ends.extend(&now);
                        // More copies only lead to where others led.
                        if *max == UNBOUNDED && ends.len() == before && copies > *min {
                            break;
                        }
                    }
                    if now.is_empty() || settled {
                        break;
                    }
                }
                ends
            }
            Node::Capture { body, .. } => self.node(body, from, user),
        }
    }

    /// Where one may be after any number of ignored texts.
    fn pass_ignored(&mut self, from: &Positions) -> Positions {
        let ignored = self.grammar.ignored.clone();
        let mut found = from.clone();
        let mut todo: Vec<usize> = from.iter().copied().collect();
        while let Some(at) = todo.pop() {
            for &t in &ignored {
                let new: Vec<usize> = self.terminal(t, at).into_iter().filter(|end| found.insert(*end)).collect();
                todo.extend(new);
            }
        }
        found
    }

    /// Where a terminal that begins at a position may end.
    fn terminal(&mut self, t: TerminalId, at: usize) -> Positions {
        if let Some(known) = self.terminals.get(&(t, at)) {
            return known.clone();
        }
        let (pattern, context) = {
            let t = &self.grammar.terminals[t as usize];
            (t.pattern, t.context)
        };
        let x = &mut self.grammar.exprs;
        let mut ends = Positions::new();
        let mut state = pattern;
        for end in at..=self.text.len() {
            if x.nullable(state) && context.is_none_or(|c| fits(x, c, &self.text[at..end], &self.text[end..])) {
                ends.insert(end);
            }
            if end == self.text.len() || state == Exprs::NEVER {
                break;
            }
            state = x.derive(state, self.text[end]);
        }
        if self.grammar.lexer != Lexer::Any {
            ends = ends.last().copied().into_iter().collect();
        }
        self.terminals.insert((t, at), ends.clone());
        ends
    }
}

/// Whether a terminal's text may be followed by the rest.
fn fits(x: &mut Exprs, context: ExprId, text: &[u8], rest: &[u8]) -> bool {
    let whole = [text, &[0xFF], rest].concat();
    x.accepts(context, &whole)
}
