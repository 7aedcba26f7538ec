//! Random models over a small alphabet: ambiguous, nullable, recursive in every way, with ignored terminals and special
//! tokens.

use interlock::expr::{ExprId, Exprs, INF};
use interlock::grammar::model::{Grammar, Lexer, Node, Rule, Terminal, TokenName, TokenSet, UNBOUNDED};
use interlock::util::rng::Rng;

/// The alphabet, in pieces of well-formed UTF-8.
pub const LETTERS: [&str; 6] = ["a", "b", "c", " ", "\n", "é"];
/// Special tokens are numbered from here.
pub const FIRST_SPECIAL: u32 = 257;
/// How many there are.
pub const SPECIALS: u32 = 3;

fn letter(rng: &mut Rng) -> &'static str {
    LETTERS[[0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5][rng.below(11)]]
}

/// A random pattern that is not empty and has no empty text.
fn pattern(x: &mut Exprs, rng: &mut Rng) -> (ExprId, bool) {
    let count = 1 + rng.below(3);
    let text: String = (0..count).map(|_| letter(rng)).collect();
    let class = |x: &mut Exprs, rng: &mut Rng| {
        let letters: Vec<&str> = (0..1 + rng.below(3)).map(|_| letter(rng)).collect();
        x.choice(&letters)
    };
    match rng.below(10) {
        0..=3 => (x.literal(text.as_bytes()), true),
        4 | 5 => {
            let class = class(x, rng);
            (x.rep(class, 1, INF), false)
        }
        6 => {
            // One letter, then others.
            let (first, more) = (class(x, rng), class(x, rng));
            let more = x.star(more);
            (x.cat(first, more), false)
        }
        7 => {
            // Between delimiters.
            let (open, inner) = (x.literal(letter(rng).as_bytes()), class(x, rng));
            let inner = x.star(inner);
            let close = x.literal(letter(rng).as_bytes());
            (x.cat_all(&[open, inner, close]), false)
        }
        8 => {
            let class = class(x, rng);
            (x.rep(class, 1 + rng.below(2) as u32, 2 + rng.below(2) as u32), false)
        }
        _ => {
            let words: Vec<String> = (0..2).map(|_| (0..1 + rng.below(3)).map(|_| letter(rng)).collect()).collect();
            (x.choice(&words), false)
        }
    }
}

struct Maker<'r> {
    rng: &'r mut Rng,
    rules: u32,
    terminals: u32,
    sets: u32,
}

impl Maker<'_> {
    fn node(&mut self, depth: u32) -> Node {
        let count = [1, 1, 1, 2, 2, 3][self.rng.below(6)];
        let mut all: Vec<Node> = (0..count).map(|_| self.sequence(depth)).collect();
        match all.len() {
            1 => all.remove(0),
            _ => Node::Choice(all),
        }
    }

    fn sequence(&mut self, depth: u32) -> Node {
        let count = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4][self.rng.below(10)];
        let mut all: Vec<Node> = (0..count).map(|_| self.part(depth)).collect();
        match all.len() {
            0 => Node::Empty,
            1 => all.remove(0),
            _ => Node::Sequence(all),
        }
    }

    fn part(&mut self, depth: u32) -> Node {
        match self.rng.below(20) {
            0..=10 => Node::Terminal(self.rng.below(self.terminals as usize) as u32),
            11 if self.sets > 0 => Node::Token(self.rng.below(self.sets as usize) as u32),
            12..=13 if depth < 2 => self.node(depth + 1),
            14..=15 if depth < 2 => {
                let (min, max) =
                    [(0, 1), (0, UNBOUNDED), (1, UNBOUNDED), (2, 3), (0, 2), (2, UNBOUNDED), (6, 7)][self.rng.below(7)];
                Node::Repeat { body: Box::new(self.node(depth + 1)), min, max }
            }
            _ => Node::Rule(self.rng.below(self.rules as usize) as u32),
        }
    }
}

/// The model of a seed.
pub fn random_grammar(seed: u64) -> Grammar {
    let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    (0..4).for_each(|_| {
        rng.bits();
    });
    let lexer = [Lexer::Any, Lexer::Dynamic, Lexer::Contextual][rng.below(3)];
    let mut exprs = Exprs::new(1_000_000);
    let terminals: Vec<Terminal> = (0..2 + rng.below(4))
        .map(|number| {
            let (pattern, literal) = pattern(&mut exprs, &mut rng);
            let priority = if rng.chance(15) { rng.below(3) as i32 - 1 } else { 0 };
            Terminal {
                name: format!("T{number}"),
                place: 0,
                pattern,
                context: None,
                priority,
                literal,
                max_tokens: None,
            }
        })
        .collect();
    let mut ignored: Vec<u32> = Vec::new();
    let mut terminals = terminals;
    if rng.chance(45) {
        for _ in 0..1 + rng.below(5) / 4 {
            let pattern = match rng.below(5) {
                0 => exprs.literal(b" "),
                1 | 2 => {
                    let class = exprs.byte_set(&[(b' ', b' '), (b'\n', b'\n')]);
                    exprs.rep(class, 1, INF)
                }
                3 => {
                    let (open, close) = (exprs.literal(b" "), exprs.literal(b"\n"));
                    let inner = exprs.byte_set(&[(b'a', b'b')]);
                    let inner = exprs.star(inner);
                    exprs.cat_all(&[open, inner, close])
                }
                _ => pattern(&mut exprs, &mut rng).0,
            };
            let number = terminals.len() as u32;
            ignored.push(number);
            terminals.push(Terminal {
                name: format!("IGNORED{number}"),
                place: 0,
                pattern,
                context: None,
                priority: if rng.chance(15) { 1 } else { 0 },
                literal: false,
                max_tokens: None,
            });
        }
        if rng.chance(10) {
            ignored.push(rng.below(terminals.len() - 1) as u32);
            ignored.sort_unstable();
            ignored.dedup();
        }
    }
    let token_sets: Vec<TokenSet> = (0..if rng.chance(25) { 1 + rng.below(2) } else { 0 })
        .map(|_| {
            let tokens = (0..1 + rng.below(2))
                .map(|_| TokenName::Id(FIRST_SPECIAL + rng.below(SPECIALS as usize) as u32))
                .collect();
            TokenSet { place: 0, tokens, complement: false }
        })
        .collect();
    let mut maker = Maker {
        rules: 1 + rng.below(4) as u32,
        terminals: (terminals.len() - if ignored.is_empty() || rng.chance(20) { 0 } else { 1 }) as u32,
        sets: token_sets.len() as u32,
        rng: &mut rng,
    };
    let rules = (0..maker.rules)
        .map(|number| Rule { name: format!("r{number}"), place: 0, body: maker.node(0), max_tokens: None })
        .collect();
    Grammar { exprs, rules, terminals, token_sets, documents: Vec::new(), start: 0, ignored, lexer, indentation: None }
}

/// A model as text, its terminals by some of their texts.
pub fn shown(grammar: &mut Grammar) -> String {
    let mut out = String::new();
    for (number, rule) in grammar.rules.iter().enumerate() {
        out += &format!("  r{number}: {:?}\n", rule.body);
    }
    for (number, t) in grammar.terminals.iter().enumerate() {
        let mut texts: Vec<String> = Vec::new();
        let mut todo: Vec<(String, ExprId)> = vec![(String::new(), t.pattern)];
        while let Some((text, at)) = todo.pop() {
            if grammar.exprs.nullable(at) {
                texts.push(text.clone());
            }
            if text.chars().count() < 4 {
                for letter in LETTERS {
                    let to = letter.bytes().fold(at, |at, byte| grammar.exprs.derive(at, byte));
                    if to != Exprs::NEVER {
                        todo.push((text.clone() + letter, to));
                    }
                }
            }
        }
        texts.sort_by_key(|t| (t.len(), t.clone()));
        texts.truncate(14);
        out += &format!(
            "  T{number}{}{}: {texts:?}\n",
            if t.literal { " literal" } else { "" },
            match t.priority {
                0 => String::new(),
                p => format!(" priority {p}"),
            }
        );
    }
    out + &format!(
        "  {:?}, ignored {:?}, sets {:?}\n",
        grammar.lexer,
        grammar.ignored,
        grammar.token_sets.iter().map(|s| &s.tokens).collect::<Vec<_>>()
    )
}
