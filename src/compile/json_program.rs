//! The JSON program of a schema: rules with lexemes from the vocabulary's cache, names as tries, implications as closed
//! sets.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{ExprId, Exprs, INF};
use crate::json::rules::{
    ArrayShape, Contains, Element, MAX_WITNESSES, ObjectShape, Rule, RuleId, Rules, StringSet, witness_members,
};
use crate::lexeme::LexemeKind;
use crate::limits::Limits;
use crate::mask::masked_lexeme::LexemeRole;
use crate::mask::masked_lexeme::MaskedLexeme;
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::json::program::{ArrayProgram, ClassProgram, ObjectProgram, Program, RuleProgram, WhitespaceRule};
use crate::util::hash::SeededMap;
use crate::vocab::Trie;

/// How the program's places between JSON tokens look.
pub struct ProgramLayout {
    /// Whitespace by gap.
    pub gaps: [WhitespaceRule; 3],
    /// Keys may come in any order.
    pub any_order: bool,
    /// Named keys are written plainly.
    pub plain_names: bool,
}

struct ProgramBuilder<'a> {
    tables: &'a VocabTables,
    limits: &'a Limits,
    exprs: &'a mut Exprs,
    rules: &'a [Rule],
    lexemes: Vec<Arc<MaskedLexeme>>,
    any_text: ExprId,
    /// Rules as elements of unique arrays, and the rules made for them.
    unique: FxHashMap<RuleId, RuleId>,
    made: Vec<RuleProgram>,
    by_content: SeededMap<(ExprId, LexemeKind), Option<u32>>,
}

/// Compiles `rules`, returning the program and its lexemes with their masks.
pub fn compile(
    rules: &mut Rules,
    layout: ProgramLayout,
    tables: &VocabTables,
    limits: &Limits,
) -> Result<(Program, Vec<Arc<MaskedLexeme>>)> {
    let any_text = rules.exprs.any_text();
    leave_names_out(rules, any_text);
    rules.exprs.check()?;
    let root = rules.root;
    let Rules { exprs, rules, .. } = rules;
    let rules = rules.as_slice();
    let mut b = ProgramBuilder {
        tables,
        limits,
        exprs,
        rules,
        lexemes: Vec::new(),
        any_text,
        unique: FxHashMap::default(),
        made: Vec::new(),
        by_content: SeededMap::default(),
    };
    let (arrays, objects) = rules.iter().fold((0, 0), |n, r| (n.0 + r.arrays.len(), n.1 + r.objects.len()));
    let mut program = Program {
        rules: Vec::with_capacity(rules.len()),
        lexemes: Vec::new(),
        arrays: Vec::with_capacity(arrays),
        objects: Vec::with_capacity(objects),
        any_text: tables.any_text.lexeme.clone(),
        gaps: layout.gaps,
        any_order: layout.any_order,
        plain_names: layout.plain_names,
        has_unique: rules.iter().any(|r| r.arrays.iter().any(|a| a.unique)),
        endings: Default::default(),
        has_watched: false,
        varieties: Default::default(),
        constants: Default::default(),
        root,
    };
    for rule in rules {
        let mut p = RuleProgram::default();
        if let Some(e) = rule.literals {
            p.lexemes.extend(b.lexeme(e, LexemeKind::Raw)?);
        }
        for s in &rule.strings {
            p.lexemes.extend(b.lexeme(s.text, string_kind(s))?);
        }
        for a in &rule.arrays {
            p.arrays.push(program.arrays.len() as u32);
            program.arrays.push(b.array(a, any_text)?);
        }
        for o in &rule.objects {
            if let Some(o) = b.object(o, any_text)? {
                p.objects.push(program.objects.len() as u32);
                program.objects.push(o);
            }
        }
        program.rules.push(p);
    }
    // Rules for elements of unique arrays share the shapes of the rules that they were made from.
    for (&rule, &made) in &b.unique {
        if made == rule {
            continue;
        }
        let shapes = program.rules[rule.0 as usize].clone();
        let p = &mut b.made[made.0 as usize - rules.len()];
        (p.arrays, p.objects) = (shapes.arrays, shapes.objects);
    }
    program.rules.append(&mut b.made);
    program.lexemes = b.lexemes.iter().map(|l| l.lexeme.clone()).collect();
    program.has_watched = program.arrays.iter().any(|a| a.watched);
    program.arrays.iter().try_for_each(|a| check_watched(&program, a))?;
    Ok((program, b.lexemes))
}

fn string_kind(s: &StringSet) -> LexemeKind {
    if s.plain { LexemeKind::Constant } else { LexemeKind::Text { min: s.min, max: s.max } }
}

/// Takes the named keys of each shape out of its key classes, so that what is left of a class is what a key without a
/// name may still become: in `^(a|b)$` beside a property `a`, nothing begins with `a`.
fn leave_names_out(rules: &mut Rules, any_text: ExprId) {
    let Rules { exprs, rules, .. } = rules;
    for o in rules.iter_mut().flat_map(|r| &mut r.objects) {
        for c in o.others.iter_mut().filter(|c| c.keys != any_text) {
            let named = o.properties.iter().map(|p| &*p.name);
            let named: Vec<&str> = named.filter(|n| exprs.accepts(c.keys, n.as_bytes())).collect();
            if !named.is_empty() {
                let names = exprs.choice(&named);
                c.keys = exprs.minus(c.keys, names);
            }
        }
    }
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

impl ProgramBuilder<'_> {
    fn array(&mut self, a: &ArrayShape, any_text: ExprId) -> Result<ArrayProgram> {
        let ways = (a.prefix.clone(), a.rest.clone());
        let mut p = ArrayProgram::new(ways, a.contains.clone(), (a.min, a.max.unwrap_or(u64::MAX)), a.unique)?;
        if a.unique && p.max > 1 {
            let mut domains = Vec::new();
            let mut counted: Vec<ArrayWay> = Vec::new();
            for (ways, position) in p.prefix.iter_mut().chain([&mut p.rest]).zip(0..) {
                let before = counted.len();
                // Where an element need not come, its values cannot be too few.
                let matters = !p.contains.is_empty() || (p.min > 1 && p.min > position);
                for w in ways.iter_mut() {
                    p.watched |= self.is_watched(w.rule, any_text);
                    let (rule, values) = self.unique_rule(w.rule, any_text, matters)?;
                    w.rule = rule;
                    counted.push((w.matches, values));
                }
                let domain = values_of(counted[before..].iter());
                if !p.contains.is_empty() && domain.as_ref().is_some_and(|values| !values.is_empty()) {
                    return Err(counted_and_few());
                }
                domains.push(domain);
            }
            self.check_domains(&p, &domains)?;
            check_counted(&p, &counted)?;
        }
        Ok(p)
    }

    /// Elements with few values must not run out before the array may end.
    fn check_domains(&self, p: &ArrayProgram, domains: &[Option<Vec<Box<[u8]>>>]) -> Result<()> {
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

    /// Whether an element of a rule may be a container that cannot always grow.
    fn is_watched(&self, rule: RuleId, any_text: ExprId) -> bool {
        let r = &self.rules[rule.0 as usize];
        let open = |o: &ObjectShape| o.max.is_none() && o.others.iter().any(|c| c.keys == any_text);
        let grows = |a: &ArrayShape| a.max.is_none() && !a.rest.is_empty() && !a.unique;
        !r.objects.iter().all(open) || !r.arrays.iter().all(grows)
    }

    /// The rule to use for an element of a unique array, and its values where they are `wanted` and few: strings with
    /// few members and bounds on their length are listed, so that what is left of them can be counted.
    fn unique_rule(&mut self, rule: RuleId, any_text: ExprId, wanted: bool) -> Result<(RuleId, UniqueValues)> {
        let rules = self.rules;
        let r = &rules[rule.0 as usize];
        let mut p = RuleProgram::default();
        let mut changed = false;
        let mut values: UniqueValues = (wanted && r.arrays.is_empty() && r.objects.is_empty()).then(Vec::new);
        for s in &r.strings {
            let Some(index) = self.lexeme(s.text, string_kind(s))? else { continue };
            let listed = if s.text == any_text { None } else { self.listed(s)? };
            let bounded = !s.plain && (s.min, s.max) != (0, INF);
            let index = match &listed {
                Some(texts) if bounded => {
                    changed = true;
                    let expr = self.exprs.choice(texts);
                    self.lexeme(expr, LexemeKind::Text { min: 0, max: INF })?
                }
                _ => Some(index),
            };
            p.lexemes.extend(index);
            values = values.zip(listed).map(|(mut v, texts)| {
                let written = texts.iter().filter_map(|t| serde_json::to_vec(&String::from_utf8_lossy(t)).ok());
                v.extend(written.filter_map(|t| crate::json::canonical::canonical(&t)));
                v
            });
        }
        if let Some(literals) = r.literals {
            let lexeme = self.lexeme(literals, LexemeKind::Raw)?;
            if let Some(index) = lexeme {
                let l = self.lexemes[index as usize].lexeme.clone();
                p.lexemes.push(index);
                values = values.and_then(|mut values| {
                    let texts = crate::pushdown::json::unique::completions::members(&l, l.start(), 0)?;
                    values.extend(texts.iter().filter_map(|t| crate::json::canonical::canonical(t)));
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

    /// The members of a string set, if they are few.
    fn listed(&mut self, s: &StringSet) -> Result<Option<Vec<Box<[u8]>>>> {
        let x = &mut *self.exprs;
        let mut e = s.text;
        if (s.min, s.max) != (0, INF) {
            let c = x.any_char();
            let counted = x.rep(c, s.min, s.max);
            e = x.and(&[e, counted]);
        }
        let Some(l) = self.tables.lexeme(x, e, LexemeKind::Raw, LexemeRole::Whole, self.limits)? else {
            return Ok(None);
        };
        Ok(crate::pushdown::json::unique::completions::members(&l.lexeme, l.lexeme.start(), 0).map(|t| t.to_vec()))
    }

    fn lexeme(&mut self, expr: ExprId, kind: LexemeKind) -> Result<Option<u32>> {
        if let Some(&l) = self.by_content.get(&(expr, kind)) {
            return Ok(l);
        }
        let any = match kind {
            LexemeKind::Text { min, max } if expr == self.any_text => self.tables.any_text_of(min, max),
            _ => self.tables.lexeme(self.exprs, expr, kind, LexemeRole::Value, self.limits)?,
        };
        let index = any.map(|l| {
            self.lexemes.push(l);
            self.lexemes.len() as u32 - 1
        });
        self.by_content.insert((expr, kind), index);
        Ok(index)
    }

    /// `None` if the shape cannot be completed.
    fn object(&mut self, o: &ObjectShape, any_text: ExprId) -> Result<Option<ObjectProgram>> {
        let n = o.properties.len();
        let words = n.div_ceil(64);
        let bit = |bits: &[u64], i: usize| bits[i / 64] >> (i % 64) & 1 == 1;
        let mut possible: SmallVec<[u64; 2]> = SmallVec::from_elem(0, words);
        let mut required = possible.clone();
        for (i, p) in o.properties.iter().enumerate() {
            possible[i / 64] |= (p.rule.is_some() as u64) << (i % 64);
            required[i / 64] |= (p.required as u64) << (i % 64);
        }
        let implied = if o.implications.is_empty() { None } else { Some(closure(o, words)) };
        if let Some(implied) = &implied {
            for i in 0..n {
                if (0..words).any(|w| implied[i][w] & !possible[w] != 0) {
                    possible[i / 64] &= !(1 << (i % 64));
                }
            }
            let direct = required.clone();
            for i in (0..n).filter(|&i| bit(&direct, i)) {
                required.iter_mut().zip(&implied[i]).for_each(|(r, m)| *r |= m);
            }
        }
        if required.iter().zip(&possible).any(|(r, p)| r & !p != 0) {
            return Ok(None);
        }
        let mut others = Vec::with_capacity(o.others.len());
        for c in &o.others {
            if c.keys == any_text {
                others.push(ClassProgram { keys: None, text: u32::MAX, rule: c.rule, matches: c.matches });
                continue;
            }
            let keys = self.tables.lexeme(self.exprs, c.keys, LexemeKind::Raw, LexemeRole::Keys, self.limits)?;
            let text = self.lexeme(c.keys, LexemeKind::Text { min: 0, max: INF })?;
            if let (Some(keys), Some(text)) = (keys, text) {
                others.push(ClassProgram { keys: Some(keys.lexeme.clone()), text, rule: c.rule, matches: c.matches });
            }
        }
        // Where names come together or not at all, some numbers of members cannot be had. Keys without a name and
        // without end fill every gap; of a few, those that there are may be used up.
        let is_endless =
            |class: &ClassProgram| class.keys.as_ref().is_none_or(|k| k.residual_size(k.start()) == u64::MAX);
        let cyclic = implied.as_ref().is_some_and(|implied| {
            (0..n).any(|i| (0..n).any(|j| i != j && bit(&implied[i], j) && bit(&implied[j], i)))
        });
        if cyclic && (o.min > 0 || o.max.is_some()) && !others.iter().any(is_endless) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "properties that require each other cannot be combined with a bound on the number of properties",
            ));
        }
        if o.witnesses >> MAX_WITNESSES != 0 || o.witnesses & (o.witnesses + 1) != 0 {
            return Err(Error::limit(
                "witnesses of an object",
                u64::from(MAX_WITNESSES),
                o.witnesses.count_ones().into(),
            ));
        }
        let classes: SmallVec<[u32; 8]> = others.iter().map(|c: &ClassProgram| c.matches).collect();
        let witness_members: SmallVec<[u32; 4]> =
            if o.witnesses == 0 { SmallVec::from_slice(&[0]) } else { witness_members(o.witnesses, &classes).into() };
        if witness_members.last() == Some(&u32::MAX) {
            return Ok(None);
        }
        let mut items: Vec<(&[u8], u32)> = o.properties.iter().zip(0..).map(|(p, i)| (p.name.as_bytes(), i)).collect();
        let names = Trie::build(&mut items)
            .map_err(|_| Error::limit("bytes of a property name", u64::from(u16::MAX), u64::from(u16::MAX) + 1))?;
        Ok(Some(ObjectProgram {
            names,
            spelled: o.properties.iter().map(|p| p.name.clone()).collect(),
            rules: o.properties.iter().map(|p| p.rule).collect(),
            words,
            required,
            possible,
            implied,
            others,
            min: o.min,
            max: o.max.unwrap_or(u64::MAX),
            witnesses: o.witnesses,
            witness_members,
        }))
    }
}

/// Elements that are watched must not run out before the array may end.
fn check_watched(program: &Program, a: &ArrayProgram) -> Result<()> {
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

/// For each property, everything that its presence requires, without itself unless it requires itself.
fn closure(o: &ObjectShape, words: usize) -> Vec<Vec<u64>> {
    let n = o.properties.len();
    let mut direct = vec![Vec::new(); n];
    for &(i, j) in &o.implications {
        if let Some(d) = direct.get_mut(i as usize) {
            d.push(j as usize);
        }
    }
    let mut out = vec![vec![0u64; words]; n];
    for (i, reached) in out.iter_mut().enumerate() {
        let mut stack = direct[i].clone();
        while let Some(j) = stack.pop() {
            if j < n && reached[j / 64] >> (j % 64) & 1 == 0 {
                reached[j / 64] |= 1 << (j % 64);
                stack.extend_from_slice(&direct[j]);
            }
        }
    }
    out
}
