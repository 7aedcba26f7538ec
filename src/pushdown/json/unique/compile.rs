//! Checks of `uniqueItems` when a program is made: which arrays are refused, and what the others need to know.
//!
//! Elements with few values may run out before their array may end. Where that can be counted here, it cannot happen
//! later; what would need a search over several sets of few values is refused by name.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{ExprId, Exprs, INF};
use crate::json::canonical::canonical;
use crate::json::rules::{ArrayShape, Contains, Element, ObjectShape, Rule, RuleId, StringSet};
use crate::lexeme::{Lexeme, LexemeKind};
use crate::pushdown::json::program::{ArrayProgram, Program, RuleProgram};
use crate::pushdown::json::unique::completions::members;

/// What makes the lexemes of a program.
pub trait ElementLexemes {
    /// Where the expressions of the rules stand.
    fn exprs(&mut self) -> &mut Exprs;

    /// The number of a lexeme of the program, made where it is new; `None` if it accepts nothing.
    ///
    /// # Errors
    /// `Limit` where it is too large.
    fn lexeme(&mut self, expr: ExprId, kind: LexemeKind) -> Result<Option<u32>>;

    /// [`lexeme`](Self::lexeme) of a set of strings.
    ///
    /// # Errors
    /// `Limit` where it is too large.
    fn string(&mut self, s: &StringSet) -> Result<Option<u32>>;

    /// The lexeme with a number.
    fn get(&self, index: u32) -> Arc<Lexeme>;

    /// A lexeme of bare texts, which is no part of the program.
    ///
    /// # Errors
    /// `Limit` where it is too large.
    fn whole(&mut self, expr: ExprId) -> Result<Option<Arc<Lexeme>>>;
}

/// The canonical values of a rule, where they are few.
type UniqueValues = Option<Vec<Box<[u8]>>>;

/// What an element of a unique array is counted for in one way, and the values that it may have then.
type ArrayWay = (u32, UniqueValues);

/// The different values of some ways, where those of each are few.
fn values_of<'a>(ways: impl Iterator<Item = &'a ArrayWay>) -> UniqueValues {
    let each: Option<Vec<&Vec<Box<[u8]>>>> = ways.map(|way| way.1.as_ref()).collect();
    let mut all: Vec<Box<[u8]>> = each?.into_iter().flatten().cloned().collect();
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn unsupported(message: &str) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

fn counted_and_few() -> Error {
    unsupported(
        "uniqueItems with few possible values cannot be combined with these bounds on contains; drop uniqueItems, or \
         the bounds",
    )
}

/// Unique elements that `contains` asks for, or that are none of these, must not run out before the array may end.
/// `ways` are those of all positions, with the values of each where they are few; at each position one has many.
///
/// Lower bounds of 1 need no look: a value that the array has was counted for all that it matches. Otherwise the values
/// that match are counted, and what does not match must not be needed.
fn check_counted(p: &ArrayProgram, ways: &[ArrayWay]) -> Result<()> {
    let bounded = p.contains.iter().any(|c| c.max.is_some());
    let small = |c: &Contains| c.max.is_none() && c.min <= 1;
    if ways.iter().all(|way| way.1.is_none()) || p.contains.iter().all(small) {
        return Ok(());
    }
    let enough = |(c, bit): (&Contains, u32)| {
        let matching = ways.iter().filter(|way| way.0 >> bit & 1 == 1);
        values_of(matching).is_none_or(|values| values.len() as u64 >= c.min)
    };
    let others = ways.iter().any(|(matches, values)| *matches == 0 && values.is_none());
    let independent = match p.contains.len() {
        1 => others || !bounded,
        _ => p.max == u64::MAX && !bounded,
    };
    match p.prefix.is_empty() && independent && p.contains.iter().zip(0..).all(enough) {
        true => Ok(()),
        false => Err(counted_and_few()),
    }
}

/// Elements with few values must not run out before the array may end.
fn check_domains(p: &ArrayProgram, domains: &[Option<Vec<Box<[u8]>>>]) -> Result<()> {
    if p.min <= 1 || domains.iter().flatten().all(|d| d.is_empty()) {
        return Ok(());
    }
    // Every required position draws from one and the same set, or from one that cannot run out.
    let needed = usize::try_from(p.min).unwrap_or(usize::MAX).min(p.prefix.len());
    let mut drawn: Vec<&Option<Vec<Box<[u8]>>>> = domains[..needed].iter().collect();
    if p.min > p.prefix.len() as u64 {
        drawn.extend(domains.last());
    }
    let sets: Vec<&Vec<Box<[u8]>>> = drawn.iter().filter_map(|d| d.as_ref()).collect();
    if sets.is_empty() {
        return Ok(());
    }
    if sets.len() < drawn.len() || sets.windows(2).any(|w| w[0] != w[1]) {
        return Err(unsupported(
            "uniqueItems over required positions with different sets of few values would need a matching; \
             give the positions the same set or drop uniqueItems",
        ));
    }
    if (sets[0].len() as u64) < p.min {
        // Where they can be counted in the schema, such an array is no part of it.
        return Err(unsupported("uniqueItems leaves fewer values than minItems asks for; ask for fewer items"));
    }
    Ok(())
}

/// The rules of a program whose arrays of unique elements are being made.
pub struct UniqueCompiler<'a> {
    rules: &'a [Rule],
    any_text: ExprId,
    /// Rules as elements of unique arrays, and the rules made for them.
    unique: FxHashMap<RuleId, RuleId>,
    made: Vec<RuleProgram>,
}

impl<'a> UniqueCompiler<'a> {
    /// Nothing was made yet of `rules`, in which `any_text` is any string.
    pub fn new(rules: &'a [Rule], any_text: ExprId) -> Self {
        UniqueCompiler { rules, any_text, unique: FxHashMap::default(), made: Vec::new() }
    }

    /// Gives the elements of an array that must differ rules that can be counted.
    ///
    /// # Errors
    /// `Unsupported` where they may run out before the array may end, and `Limit` where a lexeme is too large.
    pub fn array(&mut self, p: &mut ArrayProgram, lexemes: &mut impl ElementLexemes) -> Result<()> {
        if !p.unique || p.max <= 1 {
            return Ok(());
        }
        let mut domains = Vec::new();
        let mut counted: Vec<ArrayWay> = Vec::new();
        for (ways, position) in p.prefix.iter_mut().chain([&mut p.rest]).zip(0..) {
            let before = counted.len();
            // Where an element need not come, its values cannot be too few.
            let matters = !p.contains.is_empty() || (p.min > 1 && p.min > position);
            for w in ways.iter_mut() {
                p.watched |= self.is_watched(w.rule);
                let (rule, values) = self.unique_rule(w.rule, matters, lexemes)?;
                w.rule = rule;
                counted.push((w.matches, values));
            }
            let domain = values_of(counted[before..].iter());
            if !p.contains.is_empty() && domain.as_ref().is_some_and(|values| !values.is_empty()) {
                return Err(counted_and_few());
            }
            domains.push(domain);
        }
        check_domains(p, &domains)?;
        check_counted(p, &counted)
    }

    /// Adds the rules that were made to those of the program, which stand in front of them.
    pub fn add_rules(mut self, program: &mut Program) {
        // They share the shapes of the rules that they were made from.
        for (&rule, &made) in &self.unique {
            if made == rule {
                continue;
            }
            let shapes = program.rules[rule.0 as usize].clone();
            let p = &mut self.made[made.0 as usize - self.rules.len()];
            (p.arrays, p.objects) = (shapes.arrays, shapes.objects);
        }
        program.rules.append(&mut self.made);
    }

    /// Whether an element of a rule may be a container that cannot always grow.
    fn is_watched(&self, rule: RuleId) -> bool {
        let r = &self.rules[rule.0 as usize];
        let open = |o: &ObjectShape| o.max.is_none() && o.others.iter().any(|c| c.keys == self.any_text);
        let grows = |a: &ArrayShape| a.max.is_none() && !a.rest.is_empty() && !a.unique;
        !r.objects.iter().all(open) || !r.arrays.iter().all(grows)
    }

    /// The rule to use for an element of a unique array, and its values where they are `wanted` and few: strings with
    /// few members and bounds on their length are listed, so that what is left of them can be counted.
    fn unique_rule(
        &mut self,
        rule: RuleId,
        wanted: bool,
        lexemes: &mut impl ElementLexemes,
    ) -> Result<(RuleId, UniqueValues)> {
        let rules = self.rules;
        let r = &rules[rule.0 as usize];
        let mut p = RuleProgram::default();
        let mut changed = false;
        let mut values: UniqueValues = (wanted && r.arrays.is_empty() && r.objects.is_empty()).then(Vec::new);
        for s in &r.strings {
            let Some(index) = lexemes.string(s)? else { continue };
            let listed = if s.text == self.any_text { None } else { listed(s, lexemes)? };
            let bounded = !s.constant && (s.min, s.max) != (0, INF);
            let index = match &listed {
                Some(texts) if bounded => {
                    changed = true;
                    let expr = lexemes.exprs().choice(texts);
                    lexemes.string(&StringSet { text: expr, min: 0, max: INF, constant: false })?
                }
                _ => Some(index),
            };
            p.lexemes.extend(index);
            values = values.zip(listed).map(|(mut v, texts)| {
                let written = texts.iter().filter_map(|t| serde_json::to_vec(&String::from_utf8_lossy(t)).ok());
                v.extend(written.filter_map(|t| canonical(&t)));
                v
            });
        }
        if let Some(literals) = r.literals {
            let lexeme = lexemes.lexeme(literals, LexemeKind::Raw)?;
            if let Some(index) = lexeme {
                let l = lexemes.get(index);
                p.lexemes.push(index);
                values = values.and_then(|mut values| {
                    let texts = members(&l, l.start(), 0)?;
                    values.extend(texts.iter().filter_map(|t| canonical(t)));
                    Some(values)
                });
            }
        }
        if !changed {
            return Ok((rule, values));
        }
        if let Some(&made) = self.unique.get(&rule) {
            return Ok((made, values));
        }
        p.lexemes.dedup();
        let made = RuleId((self.rules.len() + self.made.len()) as u32);
        self.made.push(p);
        self.unique.insert(rule, made);
        Ok((made, values))
    }
}

/// The members of a string set, if they are few.
fn listed(s: &StringSet, lexemes: &mut impl ElementLexemes) -> Result<Option<Vec<Box<[u8]>>>> {
    let x = lexemes.exprs();
    let mut e = s.text;
    if (s.min, s.max) != (0, INF) {
        let c = x.any_char();
        let counted = x.rep(c, s.min, s.max);
        e = x.and(&[e, counted]);
    }
    let Some(l) = lexemes.whole(e)? else { return Ok(None) };
    Ok(members(&l, l.start(), 0).map(|t| t.to_vec()))
}

/// Checks the arrays whose elements are watched, once the program is whole.
///
/// # Errors
/// `Unsupported` where elements may run out before their array may end.
pub fn check_watched(program: &mut Program) -> Result<()> {
    program.has_watched = program.arrays.iter().any(|a| a.watched);
    program.arrays.iter().try_for_each(|a| check_watched_array(program, a))
}

/// Elements that are watched must not run out before the array may end.
fn check_watched_array(program: &Program, a: &ArrayProgram) -> Result<()> {
    if !a.watched || (a.min <= 1 && a.contains.is_empty()) {
        return Ok(());
    }
    let most = |ways: &[Element]| ways.iter().map(|w| program.variety(w.rule)).max().unwrap_or(0);
    let prefix = usize::try_from(a.min).unwrap_or(usize::MAX).min(a.prefix.len());
    let rest = (a.min > a.prefix.len() as u64).then_some(&a.rest);
    if a.prefix[..prefix].iter().chain(rest).any(|ways| most(ways) < a.min) {
        return Err(unsupported(
            "uniqueItems with minItems over containers with few possible values would need to count them; list the \
             values, or drop one of the two",
        ));
    }
    let mut counted = a.prefix.iter().chain([&a.rest]).flatten();
    if !a.contains.is_empty() && counted.any(|w| program.variety(w.rule) != u64::MAX) {
        return Err(unsupported("uniqueItems with few possible values cannot be combined with contains"));
    }
    Ok(())
}
