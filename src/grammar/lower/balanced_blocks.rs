//! Whether the blocks of a grammar fit together.
//!
//! An engine that refuses what leads nowhere has to know that every open block can be closed. So blocks and brackets
//! must be closed by the rules as they are opened: each rule opens as many as it closes, or a number that all of its
//! alternatives agree on. And `_INDENT` and `_DEDENT` must stand where the indenter makes them.

use crate::error::{Error, ErrorKind, Result, SourcePlace};
use crate::grammar::model::{Grammar, Indentation, Node, RuleId, TerminalId, UNBOUNDED};

/// What may stand before a place.
const NEWLINE: u8 = 1;
const INDENT: u8 = 2;
const DEDENT: u8 = 4;
const OTHER: u8 = 8;
const BEGINNING: u8 = 16;

/// A part of a rule as it is looked at, with what is known of the place before it.
type Visit<'v, 'g> = &'v mut dyn FnMut(&'g Node, u8);

/// The rules of a grammar with an indenter.
pub(super) struct Check<'g> {
    grammar: &'g Grammar,
    indentation: &'g Indentation,
    /// For each rule the rules that name it.
    users: Vec<Vec<RuleId>>,
    empty: Vec<bool>,
    /// What each rule may end with.
    last: Vec<u8>,
}

impl<'g> Check<'g> {
    /// What is known of the rules.
    pub(super) fn new(grammar: &'g Grammar, indentation: &'g Indentation) -> Self {
        let count = grammar.rules.len();
        let mut users: Vec<Vec<RuleId>> = vec![Vec::new(); count];
        for (rule, r) in (0..).zip(&grammar.rules) {
            each(&r.body, &mut |node| {
                if let Node::Rule(named) = node
                    && users[*named as usize].last() != Some(&rule)
                {
                    users[*named as usize].push(rule);
                }
            });
        }
        let (empty, last) = (vec![false; count], vec![0; count]);
        let mut this = Check { grammar, indentation, users, empty, last };
        this.fixpoint(|this, rule| {
            let empty = this.may_be_empty(&this.grammar.rules[rule as usize].body);
            std::mem::replace(&mut this.empty[rule as usize], empty) != empty
        });
        this.fixpoint(|this, rule| {
            let last = this.passes(&this.grammar.rules[rule as usize].body, 0, &mut |_, _| ());
            std::mem::replace(&mut this.last[rule as usize], last) != last
        });
        this
    }

    /// Looks at all rules, and at those again that name one for which `update` says that it changed.
    fn fixpoint(&mut self, mut update: impl FnMut(&mut Self, RuleId) -> bool) {
        let mut waits = vec![true; self.grammar.rules.len()];
        let mut todo: Vec<RuleId> = (0..self.grammar.rules.len() as RuleId).collect();
        while let Some(rule) = todo.pop() {
            waits[rule as usize] = false;
            if update(self, rule) {
                for &user in &self.users[rule as usize] {
                    if !std::mem::replace(&mut waits[user as usize], true) {
                        todo.push(user);
                    }
                }
            }
        }
    }

    fn error(&self, rule: RuleId, message: String) -> Error {
        let place = SourcePlace::Byte(self.grammar.rules[rule as usize].place);
        Error::new(ErrorKind::Unsupported, message).at(place)
    }

    fn name(&self, rule: RuleId) -> &str {
        &self.grammar.rules[rule as usize].name
    }

    fn kind(&self, terminal: TerminalId) -> u8 {
        match terminal {
            t if t == self.indentation.newline => NEWLINE,
            t if t == self.indentation.indent => INDENT,
            t if t == self.indentation.dedent => DEDENT,
            _ => OTHER,
        }
    }

    fn may_be_empty(&self, node: &Node) -> bool {
        match node {
            Node::Empty => true,
            Node::Rule(rule) => self.empty[*rule as usize],
            Node::Terminal(t) => self.grammar.exprs.nullable(self.grammar.terminals[*t as usize].pattern),
            Node::Token(_) | Node::Document(_) => false,
            Node::Sequence(all) => all.iter().all(|one| self.may_be_empty(one)),
            Node::Choice(all) => all.iter().any(|one| self.may_be_empty(one)),
            Node::Repeat { body, min, .. } => *min == 0 || self.may_be_empty(body),
            Node::Capture { body, .. } => self.may_be_empty(body),
        }
    }

    /// What may stand before the place behind a node, if `before` is what may stand before the node. `visit` is told of
    /// rules and terminals.
    fn passes(&self, node: &'g Node, before: u8, visit: Visit<'_, 'g>) -> u8 {
        match node {
            Node::Empty => before,
            Node::Rule(rule) => {
                visit(node, before);
                let kept = if self.empty[*rule as usize] { before } else { 0 };
                self.last[*rule as usize] | kept
            }
            Node::Terminal(t) => {
                visit(node, before);
                let kept = if self.may_be_empty(node) { before } else { 0 };
                self.kind(*t) | kept
            }
            Node::Token(_) | Node::Document(_) => OTHER,
            Node::Sequence(all) => all.iter().fold(before, |before, one| self.passes(one, before, visit)),
            Node::Choice(all) => all.iter().fold(0, |out, one| out | self.passes(one, before, visit)),
            Node::Repeat { body, min, max } => {
                let mut behind = if *max > 0 { self.passes(body, before, visit) } else { before };
                if *max > 1 {
                    behind |= self.passes(body, behind, visit);
                }
                behind | if *min == 0 { before } else { 0 }
            }
            Node::Capture { body, .. } => self.passes(body, before, visit),
        }
    }

    /// What every rule adds to the number of what is open. Each rule must have one answer, and none may close what was
    /// not opened.
    pub(super) fn balance(&self, weight: impl Fn(TerminalId) -> i32 + Copy, of: &str, below: &str) -> Result<Vec<i32>> {
        let count = self.grammar.rules.len();
        let mut net: Vec<Option<i32>> = vec![None; count];
        let mut waits = vec![true; count];
        let mut todo: Vec<RuleId> = (0..count as RuleId).collect();
        let unequal = |rule: RuleId| {
            let message = format!(
                "{} does not open as many {of} in each of its alternatives; with _INDENT and _DEDENT every alternative \
                 of a rule must",
                self.name(rule)
            );
            self.error(rule, message)
        };
        while let Some(rule) = todo.pop() {
            waits[rule as usize] = false;
            let found = net_of(&self.grammar.rules[rule as usize].body, &net, weight).map_err(|()| unequal(rule))?;
            let Some(found) = found else { continue };
            match net[rule as usize] {
                Some(known) if known == found => continue,
                Some(_) => return Err(unequal(rule)),
                None => net[rule as usize] = Some(found),
            }
            for &user in &self.users[rule as usize] {
                if !std::mem::replace(&mut waits[user as usize], true) {
                    todo.push(user);
                }
            }
        }
        // Rules without an answer never come to an end.
        let net: Vec<i32> = net.into_iter().map(Option::unwrap_or_default).collect();
        let mut low = vec![0i32; count];
        let mut todo: Vec<RuleId> = (0..count as RuleId).collect();
        while let Some(rule) = todo.pop() {
            let (_, lowest) = range_of(&self.grammar.rules[rule as usize].body, &net, &low, weight);
            if lowest < low[rule as usize] {
                if lowest < -(count as i32).saturating_add(1_000) {
                    return Err(self.error(rule, format!("{}: {below}", self.name(rule))));
                }
                low[rule as usize] = lowest;
                todo.extend(&self.users[rule as usize]);
            }
        }
        let start = self.grammar.start;
        if low[start as usize] < 0 || of == "blocks" && net[start as usize] != 0 {
            let message = if low[start as usize] < 0 { below } else { "a block that is opened is never closed" };
            return Err(self.error(start, format!("{}: {message}", self.name(start))));
        }
        Ok(net)
    }

    /// Inside brackets newlines are no terminals, so rules must not ask for them there.
    pub(super) fn brackets_hold_no_lines(&self, weight: impl Fn(TerminalId) -> i32 + Copy, net: &[i32]) -> Result<()> {
        let mut inside = vec![false; net.len()];
        let mut todo: Vec<(RuleId, bool)> = vec![(self.grammar.start, false)];
        let mut outside = vec![false; net.len()];
        while let Some((rule, is_inside)) = todo.pop() {
            let seen = if is_inside { &mut inside } else { &mut outside };
            if std::mem::replace(&mut seen[rule as usize], true) {
                continue;
            }
            let mut bad = false;
            let mut visit = |node: &Node, depth: i32| match node {
                Node::Rule(named) => todo.push((*named, is_inside || depth > 0)),
                Node::Terminal(t) => bad |= self.kind(*t) != OTHER && (is_inside || depth > 0),
                _ => {}
            };
            walk_depth(&self.grammar.rules[rule as usize].body, 0, net, weight, &mut visit);
            if bad {
                let message = format!(
                    "{} asks for the end of a line inside brackets, where newlines are no terminals",
                    self.name(rule)
                );
                return Err(self.error(rule, message));
            }
        }
        Ok(())
    }

    /// `_INDENT` and `_DEDENT` stand behind the terminal of newlines only; `_DEDENT` also at the end of the output.
    pub(super) fn neighbours(&self) -> Result<()> {
        let count = self.grammar.rules.len();
        let mut before = vec![0u8; count];
        before[self.grammar.start as usize] = BEGINNING;
        let mut todo = vec![self.grammar.start];
        while let Some(rule) = todo.pop() {
            let at = before[rule as usize];
            self.passes(&self.grammar.rules[rule as usize].body, at, &mut |node, reached| {
                if let Node::Rule(named) = node
                    && before[*named as usize] | reached != before[*named as usize]
                {
                    before[*named as usize] |= reached;
                    todo.push(*named);
                }
            });
        }
        let ends_lines = self.ends_lines();
        for (rule, r) in (0..).zip(&self.grammar.rules) {
            if before[rule as usize] == 0 {
                continue;
            }
            let mut wrong = None;
            self.passes(&r.body, before[rule as usize], &mut |node, reached| {
                let Node::Terminal(t) = node else { return };
                if self.kind(*t) == INDENT && reached & !NEWLINE != 0 {
                    wrong = Some("_INDENT");
                }
                if self.kind(*t) == DEDENT && reached & (INDENT | BEGINNING) != 0 {
                    wrong = Some("_DEDENT");
                }
            });
            self.loose_ends(&r.body, before[rule as usize], &ends_lines, &mut wrong);
            if let Some(what) = wrong {
                let terminal = &self.grammar.terminals[self.indentation.newline as usize].name;
                let message = format!(
                    "in {} {what} may come where no {terminal} was read before it; let {terminal} come first",
                    r.name
                );
                return Err(self.error(rule, message));
            }
        }
        Ok(())
    }

    /// Finds a `_DEDENT` behind something that can't be followed by a newline in its place. At the end of the output
    /// blocks are closed without one.
    fn loose_ends(&self, node: &'g Node, before: u8, ends: &[bool], wrong: &mut Option<&'static str>) -> u8 {
        match node {
            Node::Sequence(all) => {
                let mut before = before;
                for (at, one) in all.iter().enumerate() {
                    let is_dedent = matches!(one, Node::Terminal(t) if self.kind(*t) == DEDENT);
                    let loose = before & OTHER != 0;
                    before = match is_dedent && loose && self.ends_line(&all[..at], ends) {
                        true => DEDENT,
                        false => self.loose_ends(one, before, ends, wrong),
                    };
                }
                before
            }
            Node::Choice(all) => all.iter().fold(0, |out, one| out | self.loose_ends(one, before, ends, wrong)),
            Node::Repeat { body, min, max } => {
                let mut behind = if *max > 0 { self.loose_ends(body, before, ends, wrong) } else { before };
                if *max > 1 {
                    behind |= self.loose_ends(body, behind, ends, wrong);
                }
                behind | if *min == 0 { before } else { 0 }
            }
            Node::Capture { body, .. } => self.loose_ends(body, before, ends, wrong),
            _ => {
                if let Node::Terminal(t) = node
                    && self.kind(*t) == DEDENT
                    && before & OTHER != 0
                {
                    *wrong = Some("_DEDENT");
                }
                self.passes(node, before, &mut |_, _| ())
            }
        }
    }

    /// By rule: whether all that it derives ends with a newline or a `_DEDENT`, or is the beginning of what it derives
    /// and does.
    fn ends_lines(&self) -> Vec<bool> {
        let mut out = vec![true; self.grammar.rules.len()];
        let mut todo: Vec<RuleId> = (0..out.len() as RuleId).collect();
        while let Some(rule) = todo.pop() {
            let body = std::slice::from_ref(&self.grammar.rules[rule as usize].body);
            if out[rule as usize] && !self.ends_line(body, &out) {
                out[rule as usize] = false;
                todo.extend(&self.users[rule as usize]);
            }
        }
        out
    }

    fn ends_line(&self, parts: &[Node], rules: &[bool]) -> bool {
        let Some(last) = parts.last() else { return false };
        match last {
            Node::Terminal(t) => self.kind(*t) & (NEWLINE | DEDENT) != 0,
            Node::Rule(rule) => rules[*rule as usize],
            Node::Sequence(all) => self.ends_line(all, rules),
            Node::Capture { body, .. } | Node::Repeat { body, max: 1.., .. } => {
                self.ends_line(std::slice::from_ref(body), rules)
            }
            Node::Choice(all) => {
                let ends = |one: &Node| self.ends_line(std::slice::from_ref(one), rules);
                all.iter()
                    .all(|one| ends(one) || all.iter().any(|longer| begins(flat(longer), flat(one)) && ends(longer)))
            }
            _ => false,
        }
    }
}

fn flat(node: &Node) -> &[Node] {
    match node {
        Node::Sequence(all) => all,
        Node::Empty => &[],
        one => std::slice::from_ref(one),
    }
}

/// Whether a sequence is longer than another one and begins with it.
fn begins(longer: &[Node], with: &[Node]) -> bool {
    longer.len() > with.len() && longer.starts_with(with)
}

fn each<'g>(node: &'g Node, visit: &mut impl FnMut(&'g Node)) {
    visit(node);
    match node {
        Node::Sequence(all) | Node::Choice(all) => all.iter().for_each(|one| each(one, visit)),
        Node::Repeat { body, .. } | Node::Capture { body, .. } => each(body, visit),
        _ => {}
    }
}

/// What a node adds; `None` if that is not known yet.
fn net_of(node: &Node, rules: &[Option<i32>], weight: impl Fn(TerminalId) -> i32 + Copy) -> Result<Option<i32>, ()> {
    Ok(match node {
        Node::Rule(rule) => rules[*rule as usize],
        Node::Terminal(t) => Some(weight(*t)),
        Node::Empty | Node::Token(_) | Node::Document(_) => Some(0),
        Node::Sequence(all) => {
            let mut sum = Some(0i32);
            for one in all {
                let more = net_of(one, rules, weight)?;
                sum = sum.zip(more).map(|(a, b)| a.saturating_add(b));
            }
            sum
        }
        Node::Choice(all) => {
            let mut known = None;
            for one in all {
                known = same_net(known, net_of(one, rules, weight)?)?;
            }
            known
        }
        Node::Repeat { max: 0, .. } => Some(0),
        Node::Repeat { body, min, max } => repeated_net(net_of(body, rules, weight)?, *min, *max)?,
        Node::Capture { body, .. } => net_of(body, rules, weight)?,
    })
}

/// What two alternatives add, as far as that is known: it must be the same.
fn same_net(a: Option<i32>, b: Option<i32>) -> Result<Option<i32>, ()> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(()),
        _ => Ok(b.or(a)),
    }
}

/// What a repetition adds: what adds anything must have a fixed number of copies.
fn repeated_net(one: Option<i32>, min: u32, max: u32) -> Result<Option<i32>, ()> {
    Ok(match one {
        Some(0) => Some(0),
        Some(_) if min != max || max == UNBOUNDED => return Err(()),
        Some(one) => Some(one.saturating_mul(min as i32)),
        None if min == 0 => Some(0),
        None => None,
    })
}

/// What a node adds, and the lowest number on the way.
fn range_of(node: &Node, net: &[i32], low: &[i32], weight: impl Fn(TerminalId) -> i32 + Copy) -> (i32, i32) {
    match node {
        Node::Rule(rule) => (net[*rule as usize], low[*rule as usize]),
        Node::Terminal(t) => (weight(*t), weight(*t).min(0)),
        Node::Empty | Node::Token(_) | Node::Document(_) => (0, 0),
        Node::Sequence(all) => {
            let (mut sum, mut lowest) = (0i32, 0);
            for one in all {
                let (more, below) = range_of(one, net, low, weight);
                lowest = lowest.min(sum.saturating_add(below));
                sum = sum.saturating_add(more);
            }
            (sum, lowest)
        }
        Node::Choice(all) => {
            let ranges: Vec<(i32, i32)> = all.iter().map(|one| range_of(one, net, low, weight)).collect();
            let lowest = ranges.iter().map(|r| r.1).min().unwrap_or(0);
            (ranges.iter().map(|r| r.0).find(|&n| n != 0).unwrap_or(0), lowest)
        }
        Node::Repeat { max: 0, .. } => (0, 0),
        Node::Repeat { body, min, .. } => {
            let (one, below) = range_of(body, net, low, weight);
            let copies = *min as i32;
            let sum = one.saturating_mul(copies);
            // What closes closes most in its last copy.
            let lowest = if one < 0 { sum.saturating_sub(one).saturating_add(below) } else { below };
            (sum, lowest.min(below))
        }
        Node::Capture { body, .. } => range_of(body, net, low, weight),
    }
}

/// Tells `visit` of rules and terminals, with how many brackets are open that this rule opened.
fn walk_depth(
    node: &Node,
    depth: i32,
    net: &[i32],
    weight: impl Fn(TerminalId) -> i32 + Copy,
    visit: &mut impl FnMut(&Node, i32),
) -> i32 {
    match node {
        Node::Rule(rule) => {
            visit(node, depth);
            depth.saturating_add(net[*rule as usize])
        }
        Node::Terminal(t) => {
            visit(node, depth);
            depth + weight(*t)
        }
        Node::Empty | Node::Token(_) | Node::Document(_) => depth,
        Node::Sequence(all) => all.iter().fold(depth, |depth, one| walk_depth(one, depth, net, weight, visit)),
        Node::Choice(all) => {
            let behind: Vec<i32> = all.iter().map(|one| walk_depth(one, depth, net, weight, visit)).collect();
            behind.into_iter().find(|&b| b != depth).unwrap_or(depth)
        }
        Node::Repeat { body, .. } | Node::Capture { body, .. } => walk_depth(body, depth, net, weight, visit),
    }
}
