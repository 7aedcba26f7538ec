//! Folds the regular parts of a grammar into terminals.
//!
//! Where a terminal may take any text that it matches, it makes no difference whether a part of a rule is read by the
//! parser or by the scanner. The scanner is faster, so every part that is a regular language becomes one terminal:
//! rules that name no rule but regular ones, and rules that repeat themselves at one end (`ws: " " ws | ""`).

use crate::expr::{ExprId, Exprs, INF};
use crate::grammar::model::{Grammar, Lexer, Node, RuleId, Terminal, UNBOUNDED};
use crate::util::seeded_hash::SeededMap;

/// Folds what is regular into terminals, if the grammar's lexer allows it. Rules that are bounded in tokens become
/// terminals that are; what is no terminal stays as it is, with its bound, for the caller to see.
pub fn fold(grammar: &mut Grammar) {
    fold_all(grammar);
    // Terminals that compete for a text are cut by what the others match, not by a bound.
    if grammar.lexer != Lexer::Contextual {
        bound_rules(grammar);
    }
}

/// Moves the bounds of rules that are one terminal, or one of several, to terminals of their own.
fn bound_rules(grammar: &mut Grammar) {
    for rule in &mut grammar.rules {
        let Some(most) = rule.max_tokens else { continue };
        let Some(alternatives) = terminals_of(&rule.body) else { continue };
        let bounded: Option<Vec<Node>> = alternatives
            .into_iter()
            .map(|terminal| {
                let terminals = &mut grammar.terminals;
                let whole = &terminals[terminal as usize];
                if most == 0 || whole.context.is_some() || whole.max_tokens.is_some() {
                    return None;
                }
                let own = Terminal {
                    name: rule.name.clone(),
                    place: rule.place,
                    pattern: whole.pattern,
                    context: None,
                    priority: whole.priority,
                    literal: whole.literal,
                    max_tokens: Some(most),
                };
                terminals.push(own);
                Some(Node::Terminal(terminals.len() as u32 - 1))
            })
            .collect();
        let Some(bounded) = bounded else { continue };
        let inner = Node::Choice(bounded);
        rule.body = match std::mem::replace(&mut rule.body, Node::Empty) {
            Node::Capture { name, .. } => Node::Capture { name, body: Box::new(inner) },
            _ => inner,
        };
        rule.max_tokens = None;
    }
}

/// The terminals that a node is one of.
fn terminals_of(node: &Node) -> Option<Vec<u32>> {
    match node {
        Node::Terminal(terminal) => Some(vec![*terminal]),
        Node::Choice(all) => Some(all.iter().map(terminals_of).collect::<Option<Vec<_>>>()?.concat()),
        Node::Capture { body, .. } if !matches!(**body, Node::Capture { .. }) => terminals_of(body),
        _ => None,
    }
}

fn fold_all(grammar: &mut Grammar) {
    if grammar.lexer != Lexer::Any || !grammar.ignored.is_empty() || grammar.indentation.is_some() {
        return;
    }
    let mut folder = Folder {
        exprs: std::mem::replace(&mut grammar.exprs, Exprs::new(0)),
        regular: vec![None; grammar.rules.len()],
        patterns: grammar.terminals.iter().map(|t| (t.pattern, t.context.is_some())).collect(),
        made: SeededMap::default(),
        new: Vec::new(),
        first_new: grammar.terminals.len() as u32,
        new_name: String::new(),
        place: 0,
    };
    for rule in postorder(grammar) {
        let this = &grammar.rules[rule as usize];
        if this.max_tokens.is_none() {
            folder.regular[rule as usize] = folder.rule(rule, &this.body);
        }
    }
    let needed = folder.needed(grammar);
    for (number, rule) in (0u32..).zip(&mut grammar.rules) {
        if !needed[number as usize] && rule.max_tokens.is_none() {
            // A terminal of its own would be as large as all that it is made of, and nothing would read it.
            rule.body = Node::Empty;
            continue;
        }
        folder.name(rule.name.clone(), rule.place);
        if let Some(most) = rule.max_tokens {
            if let Some(e) = folder.language(&rule.body) {
                rule.body = folder.bounded_terminal(e, Some(most));
                rule.max_tokens = None;
            }
        } else if let Some(e) = folder.regular[number as usize] {
            rule.body = folder.terminal(e);
        } else {
            let body = std::mem::replace(&mut rule.body, Node::Empty);
            rule.body = folder.rewrite(body);
        }
    }
    grammar.exprs = folder.exprs;
    grammar.terminals.extend(folder.new);
}

/// The rules, each behind those that it names where they don't name it in turn.
pub(super) fn postorder(grammar: &Grammar) -> Vec<RuleId> {
    let named: Vec<Vec<RuleId>> = grammar
        .rules
        .iter()
        .map(|rule| {
            let mut out = Vec::new();
            rules_of(&rule.body, &mut out);
            out
        })
        .collect();
    let mut out = Vec::new();
    let mut seen = vec![false; named.len()];
    for start in 0..named.len() as u32 {
        let mut path: Vec<(RuleId, usize)> = Vec::new();
        if !std::mem::replace(&mut seen[start as usize], true) {
            path.push((start, 0));
        }
        while let Some((rule, at)) = path.last_mut() {
            match named[*rule as usize].get(*at) {
                Some(&next) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        path.push((next, 0));
                    }
                }
                None => {
                    out.push(*rule);
                    path.pop();
                }
            }
        }
    }
    out
}

/// The rules that a node names, each as often as it does.
pub(super) fn rules_of(node: &Node, out: &mut Vec<RuleId>) {
    match node {
        Node::Rule(rule) => out.push(*rule),
        Node::Sequence(all) | Node::Choice(all) => all.iter().for_each(|one| rules_of(one, out)),
        Node::Repeat { body, .. } | Node::Capture { body, .. } => rules_of(body, out),
        Node::Empty | Node::Terminal(_) | Node::Token(_) | Node::Document(_) => {}
    }
}

/// What a rule says that names itself at one end: `x this`, `y` and `this z`, of which `x* y z*` is made.
#[derive(Default)]
struct SelfNaming {
    /// The languages `x`.
    before: Vec<ExprId>,
    /// The languages `y`.
    ends: Vec<ExprId>,
    /// The languages `z`.
    behind: Vec<ExprId>,
    /// Whether it may be itself and nothing else.
    itself: bool,
}

struct Folder {
    exprs: Exprs,
    /// The language of each rule that is known to be regular.
    regular: Vec<Option<ExprId>>,
    /// The language of each terminal, and whether it says something of what follows.
    patterns: Vec<(ExprId, bool)>,
    /// Terminals by their language and their bound in tokens.
    made: SeededMap<(ExprId, Option<u32>), u32>,
    new: Vec<Terminal>,
    first_new: u32,
    new_name: String,
    place: usize,
}

impl Folder {
    /// What later terminals are called.
    fn name(&mut self, name: String, place: usize) {
        self.new_name = name;
        self.place = place;
    }

    /// The language of a node, if it is regular.
    fn language(&mut self, node: &Node) -> Option<ExprId> {
        Some(match node {
            Node::Empty => Exprs::EPS,
            Node::Rule(rule) => self.regular[*rule as usize]?,
            Node::Terminal(t) => Some(self.patterns[*t as usize]).filter(|p| !p.1)?.0,
            Node::Token(_) | Node::Document(_) | Node::Capture { .. } => return None,
            Node::Sequence(all) => {
                let parts = all.iter().map(|one| self.language(one)).collect::<Option<Vec<_>>>()?;
                self.exprs.cat_all(&parts)
            }
            Node::Choice(all) => {
                let parts = all.iter().map(|one| self.language(one)).collect::<Option<Vec<_>>>()?;
                self.exprs.alt(&parts)
            }
            Node::Repeat { body, min, max } => {
                let one = self.language(body)?;
                self.exprs.rep(one, *min, if *max == UNBOUNDED { INF } else { *max })
            }
        })
    }

    /// The language of a rule, which may name itself at one end of an alternative.
    fn rule(&mut self, this: RuleId, body: &Node) -> Option<ExprId> {
        let SelfNaming { before, ends, behind, .. } = self.self_naming(this, body)?;
        let ends = self.exprs.alt(&ends);
        let mut around = |parts: Vec<ExprId>| {
            let one = self.exprs.alt(&parts);
            self.exprs.star(one)
        };
        let (before, behind) = (around(before), around(behind));
        Some(self.exprs.cat_all(&[before, ends, behind]))
    }

    /// What a node of rule `this` says, if the rule is named only at its ends and all else is regular.
    fn self_naming(&mut self, this: RuleId, node: &Node) -> Option<SelfNaming> {
        let names = |node: &Node| {
            let mut named = Vec::new();
            rules_of(node, &mut named);
            named.contains(&this)
        };
        let mut out = SelfNaming::default();
        match node {
            node if !names(node) => out.ends.push(self.language(node)?),
            Node::Rule(_) => out.itself = true,
            Node::Choice(all) => {
                for one in all {
                    let one = self.self_naming(this, one)?;
                    out.before.extend(one.before);
                    out.ends.extend(one.ends);
                    out.behind.extend(one.behind);
                    out.itself |= one.itself;
                }
            }
            Node::Repeat { body, min, max: 1 } => {
                out = self.self_naming(this, body)?;
                if *min == 0 {
                    out.ends.push(Exprs::EPS);
                }
            }
            Node::Sequence(all) => {
                let (first, last) = (all.first()?, all.last()?);
                let at_end = !all[..all.len() - 1].iter().any(names);
                let others = if at_end { &all[..all.len() - 1] } else { &all[1..] };
                if others.iter().any(names) {
                    return None;
                }
                let others = self.language(&Node::Sequence(others.to_vec()))?;
                let inner = self.self_naming(this, if at_end { last } else { first })?;
                // What stands around it on both sides counts pairs.
                if !(if at_end { &inner.behind } else { &inner.before }).is_empty() {
                    return None;
                }
                let mut joined = |e: ExprId| match at_end {
                    true => self.exprs.cat_all(&[others, e]),
                    false => self.exprs.cat_all(&[e, others]),
                };
                out.ends = inner.ends.into_iter().map(&mut joined).collect();
                let mut around: Vec<ExprId> =
                    if at_end { inner.before } else { inner.behind }.into_iter().map(joined).collect();
                around.extend(inner.itself.then_some(others));
                *(if at_end { &mut out.before } else { &mut out.behind }) = around;
            }
            Node::Repeat { .. } | Node::Empty | Node::Terminal(_) => return None,
            Node::Token(_) | Node::Document(_) | Node::Capture { .. } => return None,
        }
        Some(out)
    }

    /// Which rules are still named when all that is regular is a terminal.
    fn needed(&mut self, grammar: &Grammar) -> Vec<bool> {
        let mut needed = vec![false; grammar.rules.len()];
        let mut open = vec![grammar.start];
        while let Some(rule) = open.pop() {
            if !std::mem::replace(&mut needed[rule as usize], true) && self.regular[rule as usize].is_none() {
                self.rules_left(&grammar.rules[rule as usize].body, &mut open);
            }
        }
        needed
    }

    /// The rules that a node names outside of its regular parts.
    fn rules_left(&mut self, node: &Node, out: &mut Vec<RuleId>) {
        if self.language(node).is_some() {
            return;
        }
        match node {
            Node::Rule(rule) => out.push(*rule),
            Node::Sequence(all) | Node::Choice(all) => all.iter().for_each(|one| self.rules_left(one, out)),
            Node::Repeat { body, .. } | Node::Capture { body, .. } => self.rules_left(body, out),
            Node::Empty | Node::Terminal(_) | Node::Token(_) | Node::Document(_) => {}
        }
    }

    fn terminal(&mut self, e: ExprId) -> Node {
        self.bounded_terminal(e, None)
    }

    fn bounded_terminal(&mut self, e: ExprId, max_tokens: Option<u32>) -> Node {
        if e == Exprs::EPS || (max_tokens == Some(0) && self.exprs.nullable(e)) {
            return Node::Empty;
        }
        if let Some(&known) = self.made.get(&(e, max_tokens)) {
            return Node::Terminal(known);
        }
        let number = self.first_new + self.new.len() as u32;
        self.new.push(Terminal {
            name: self.new_name.clone(),
            place: self.place,
            pattern: e,
            context: None,
            priority: 0,
            literal: false,
            max_tokens,
        });
        self.made.insert((e, max_tokens), number);
        Node::Terminal(number)
    }

    /// A node with its regular parts as terminals.
    fn rewrite(&mut self, node: Node) -> Node {
        if let Some(e) = self.language(&node) {
            return self.terminal(e);
        }
        match node {
            Node::Sequence(all) => {
                let mut out = Vec::new();
                let mut run: Vec<ExprId> = Vec::new();
                for one in all {
                    match self.language(&one) {
                        Some(e) => run.push(e),
                        None => {
                            self.end_run(&mut run, &mut out);
                            out.push(self.rewrite(one));
                        }
                    }
                }
                self.end_run(&mut run, &mut out);
                Node::Sequence(out)
            }
            Node::Choice(all) => {
                let mut out = Vec::new();
                let mut regular: Vec<ExprId> = Vec::new();
                for one in all {
                    match self.language(&one) {
                        Some(e) => regular.push(e),
                        None => out.push(self.rewrite(one)),
                    }
                }
                if !regular.is_empty() {
                    let e = self.exprs.alt(&regular);
                    out.push(self.terminal(e));
                }
                Node::Choice(out)
            }
            Node::Repeat { body, min, max } => Node::Repeat { body: Box::new(self.rewrite(*body)), min, max },
            Node::Capture { name, body } => Node::Capture { name, body: Box::new(self.rewrite(*body)) },
            other => other,
        }
    }

    fn end_run(&mut self, run: &mut Vec<ExprId>, out: &mut Vec<Node>) {
        if !run.is_empty() {
            let e = self.exprs.cat_all(run);
            run.clear();
            out.push(self.terminal(e));
        }
    }
}
