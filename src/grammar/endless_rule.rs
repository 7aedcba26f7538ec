//! Which rule is at fault where a grammar accepts nothing, because a rule never comes to an end.
//!
//! A rule *ends* if one of its alternatives is made of terminals and of rules that end. Where the start does not end,
//! some rule that it leads to has no other way than back to itself: to mend that one is necessary, and the start may
//! have nothing wrong with it.

use crate::grammar::model::{Grammar, Node, Rule, RuleId};
use crate::grammar::regular_parts::{postorder, rules_of};

/// How often all rules are looked through, and how often the search goes on to a rule that is nearer to the fault.
const MOST_STEPS: usize = 64;

/// The first rule on the way from the start that leads to rules only which lead back to it, and never ends; `None` if
/// the start ends, or that takes too long to find out.
pub fn endless_rule(grammar: &Grammar) -> Option<&Rule> {
    let ends = ending_rules(grammar)?;
    if ends[grammar.start as usize] {
        return None;
    }
    let named: Vec<Vec<RuleId>> = grammar
        .rules
        .iter()
        .map(|rule| {
            let mut all = Vec::new();
            rules_of(&rule.body, &mut all);
            all.retain(|&rule| !ends[rule as usize]);
            all
        })
        .collect();
    let mut naming: Vec<Vec<RuleId>> = vec![Vec::new(); named.len()];
    for (rule, all) in (0u32..).zip(&named) {
        all.iter().for_each(|&one| naming[one as usize].push(rule));
    }
    let mut at = grammar.start;
    for _ in 0..MOST_STEPS {
        let (_, leads_back) = reached(&naming, at);
        let (ahead, is_ahead) = reached(&named, at);
        match ahead.iter().rev().find(|&&rule| !leads_back[rule as usize]) {
            Some(&further) => at = further,
            None => {
                let from_start = reached(&named, grammar.start).0;
                let first = from_start.into_iter().find(|&rule| is_ahead[rule as usize]);
                return Some(&grammar.rules[first.unwrap_or(at) as usize]);
            }
        }
    }
    Some(&grammar.rules[at as usize])
}

/// Which rules end, as far as rules decide: each terminal counts as one that has a text. `None` if that takes too long.
fn ending_rules(grammar: &Grammar) -> Option<Vec<bool>> {
    let order = postorder(grammar);
    let mut ends = vec![false; grammar.rules.len()];
    for _ in 0..MOST_STEPS {
        let mut is_done = true;
        for &rule in &order {
            if !ends[rule as usize] && node_ends(&grammar.rules[rule as usize].body, &ends) {
                ends[rule as usize] = true;
                is_done = false;
            }
        }
        if is_done {
            return Some(ends);
        }
    }
    None
}

fn node_ends(node: &Node, ends: &[bool]) -> bool {
    match node {
        Node::Rule(rule) => ends[*rule as usize],
        Node::Sequence(all) => all.iter().all(|one| node_ends(one, ends)),
        Node::Choice(all) => all.iter().any(|one| node_ends(one, ends)),
        Node::Repeat { body, min, .. } => *min == 0 || node_ends(body, ends),
        Node::Capture { body, .. } => node_ends(body, ends),
        Node::Empty | Node::Terminal(_) | Node::Token(_) | Node::Document(_) => true,
    }
}

/// The rules that are reached from one, itself among them, the nearest first; and of each rule whether it is.
fn reached(edges: &[Vec<RuleId>], from: RuleId) -> (Vec<RuleId>, Vec<bool>) {
    let mut seen = vec![false; edges.len()];
    seen[from as usize] = true;
    let mut found = vec![from];
    let mut next = 0;
    while next < found.len() {
        for &one in &edges[found[next] as usize] {
            if !std::mem::replace(&mut seen[one as usize], true) {
                found.push(one);
            }
        }
        next += 1;
    }
    (found, seen)
}
