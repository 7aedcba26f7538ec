//! The JSON program of a schema: rules with lexemes from the vocabulary's cache, names as tries, `dependentRequired` as
//! closed sets.

use smallvec::SmallVec;
use std::sync::Arc;

use crate::compile::united_shapes::{UnitedShape, unite};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{ExprId, Exprs};
use crate::json::rules::{ArrayShape, MAX_WITNESSES, ObjectShape, Rule, RuleId, Rules, StringSet, witness_members};
use crate::json::string_escape::EscapeUse;
use crate::json::whitespace::WhitespaceRule;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::limits::Limits;
use crate::mask::lexeme::masked_lexeme::{LexemeRole, MaskedLexeme};
use crate::mask::vocab_tables::VocabTables;
use crate::pushdown::json::program::{ArrayProgram, ClassProgram, ObjectProgram, Program, RuleProgram};
use crate::pushdown::json::shape_union::RuleSets;
use crate::pushdown::json::unique::compile::{ElementLexemes, UniqueCompiler, check_watched};
use crate::util::seeded_hash::SeededMap;
use crate::vocab::Trie;

/// How the program's places between JSON tokens look.
pub struct ProgramLayout {
    /// Whitespace by gap.
    pub gaps: [WhitespaceRule; 3],
    /// Keys may come in any order.
    pub any_order: bool,
    /// The escapes of named keys and of constants.
    pub name_escapes: EscapeUse,
    /// The escapes of all other strings.
    pub string_escapes: EscapeUse,
    /// The escapes of all other keys.
    pub key_escapes: EscapeUse,
}

struct ProgramBuilder<'a> {
    tables: &'a VocabTables,
    limits: &'a Limits,
    exprs: &'a mut Exprs,
    lexemes: Vec<Arc<MaskedLexeme>>,
    any_text: ExprId,
    name_escapes: EscapeUse,
    string_escapes: EscapeUse,
    key_escapes: EscapeUse,
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
    let has_unique = rules.rules.iter().any(|r| r.arrays.iter().any(|a| a.unique));
    // Elements that differ are counted shape by shape.
    let mut united: Vec<Vec<UnitedShape>> = Vec::new();
    if layout.any_order && !has_unique {
        let Rules { exprs, rules, .. } = &mut *rules;
        united.extend(rules.iter().map(|rule| unite(&rule.objects, exprs, any_text)));
    }
    leave_names_out(rules, any_text);
    rules.exprs.check()?;
    let root = rules.root;
    let Rules { exprs, rules, .. } = rules;
    let rules = rules.as_slice();
    let ProgramLayout { gaps, any_order, name_escapes, string_escapes, key_escapes } = layout;
    let (lexemes, by_content) = (Vec::new(), SeededMap::default());
    let mut b = ProgramBuilder {
        tables,
        limits,
        exprs,
        lexemes,
        any_text,
        name_escapes,
        string_escapes,
        key_escapes,
        by_content,
    };
    let mut unique = UniqueCompiler::new(rules, any_text);
    let (arrays, objects) = rules.iter().fold((0, 0), |n, r| (n.0 + r.arrays.len(), n.1 + r.objects.len()));
    let mut program = Program {
        rules: Vec::with_capacity(rules.len()),
        lexemes: Vec::new(),
        arrays: Vec::with_capacity(arrays),
        objects: Vec::with_capacity(objects),
        any_text: tables.any_text_with(key_escapes).lexeme.clone(),
        gaps,
        any_order,
        name_escapes,
        has_unique,
        has_watched: false,
        unique: Default::default(),
        constants: Default::default(),
        root,
    };
    let mut united = united.into_iter();
    for rule in rules {
        let rule = b.rule(rule, united.next().unwrap_or_default(), &mut unique, &mut program)?;
        program.rules.push(rule);
    }
    unique.add_rules(&mut program);
    program.lexemes = b.lexemes.iter().map(|l| l.lexeme.clone()).collect();
    check_watched(&mut program)?;
    Ok((program, b.lexemes))
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

fn array(a: &ArrayShape, unique: &mut UniqueCompiler<'_>, lexemes: &mut ProgramBuilder<'_>) -> Result<ArrayProgram> {
    let ways = (a.prefix.clone(), a.rest.clone());
    let mut p = ArrayProgram::new(ways, a.contains.clone(), (a.min, a.max.unwrap_or(u64::MAX)), a.unique)?;
    unique.array(&mut p, lexemes)?;
    Ok(p)
}

impl ElementLexemes for ProgramBuilder<'_> {
    fn exprs(&mut self) -> &mut Exprs {
        self.exprs
    }

    fn lexeme(&mut self, expr: ExprId, kind: LexemeKind) -> Result<Option<u32>> {
        ProgramBuilder::lexeme(self, expr, kind)
    }

    fn string(&mut self, s: &StringSet) -> Result<Option<u32>> {
        let escapes = if s.constant { self.name_escapes } else { self.string_escapes };
        self.lexeme(s.text, LexemeKind::Text { min: s.min, max: s.max, escapes })
    }

    fn get(&self, index: u32) -> Arc<Lexeme> {
        self.lexemes[index as usize].lexeme.clone()
    }

    fn whole(&mut self, expr: ExprId) -> Result<Option<Arc<Lexeme>>> {
        let found = self.tables.lexeme(self.exprs, expr, LexemeKind::Raw, LexemeRole::Whole, self.limits)?;
        Ok(found.map(|l| l.lexeme.clone()))
    }
}

impl ProgramBuilder<'_> {
    /// A rule, whose arrays and objects become those of the program. The shapes that are `united` are one object each.
    fn rule(
        &mut self,
        rule: &Rule,
        united: Vec<UnitedShape>,
        unique: &mut UniqueCompiler<'_>,
        program: &mut Program,
    ) -> Result<RuleProgram> {
        let any_text = self.any_text;
        let mut p = RuleProgram::default();
        if let Some(e) = rule.literals {
            p.lexemes.extend(self.lexeme(e, LexemeKind::Raw)?);
        }
        for s in &rule.strings {
            p.lexemes.extend(self.string(s)?);
        }
        for a in &rule.arrays {
            p.arrays.push(program.arrays.len() as u32);
            program.arrays.push(array(a, unique, self)?);
        }
        let mut apart = vec![true; rule.objects.len()];
        for shape in united {
            let shapes = shape.shapes.clone();
            if let Some(o) = self.united(shape, any_text)? {
                shapes.iter().for_each(|&i| apart[i] = false);
                p.objects.push(program.objects.len() as u32);
                program.objects.push(o);
            }
        }
        for o in rule.objects.iter().zip(apart).filter_map(|(o, apart)| apart.then_some(o)) {
            if let Some(o) = self.object(o, any_text)? {
                p.objects.push(program.objects.len() as u32);
                program.objects.push(o);
            }
        }
        Ok(p)
    }

    fn lexeme(&mut self, expr: ExprId, kind: LexemeKind) -> Result<Option<u32>> {
        if let Some(&l) = self.by_content.get(&(expr, kind)) {
            return Ok(l);
        }
        let any = match kind {
            LexemeKind::Text { min, max, escapes } if expr == self.any_text && escapes != EscapeUse::Writers => {
                self.tables.any_text_of(min, max, escapes)
            }
            _ => self.tables.lexeme(self.exprs, expr, kind, LexemeRole::Value, self.limits)?,
        };
        let index = any.map(|l| {
            self.lexemes.push(l);
            self.lexemes.len() as u32 - 1
        });
        self.by_content.insert((expr, kind), index);
        Ok(index)
    }

    /// A class of keys; `None` if there are none.
    fn class(
        &mut self,
        keys: ExprId,
        any_text: ExprId,
        (rule, matches): (RuleId, u32),
    ) -> Result<Option<ClassProgram>> {
        if keys == any_text {
            return Ok(Some(ClassProgram { keys: None, text: u32::MAX, rule, matches }));
        }
        let lexeme = self.tables.lexeme(self.exprs, keys, LexemeKind::Raw, LexemeRole::Keys, self.limits)?;
        let text = self.lexeme(keys, LexemeKind::text(self.key_escapes))?;
        Ok(lexeme.zip(text).map(|(keys, text)| ClassProgram { keys: Some(keys.lexeme.clone()), text, rule, matches }))
    }

    /// `None` if the alternatives have to be stepped one by one, because keys of some class may run out.
    fn united(&mut self, shape: UnitedShape, any_text: ExprId) -> Result<Option<ObjectProgram>> {
        let UnitedShape { names: spelled, classes, union, min, max, .. } = shape;
        let rules_of = |sets: &RuleSets| sets.first().map(|(rule, _)| *rule);
        let mut others = Vec::with_capacity(classes.len());
        for (keys, rules) in classes.into_iter().zip(&union.classes) {
            let Some(rule) = rules_of(rules) else { return Ok(None) };
            let Some(class) = self.class(keys, any_text, (rule, 0))? else { return Ok(None) };
            if class.keys.as_ref().is_some_and(|keys| !keys.every_prefix_is_infinite(keys.start())) {
                return Ok(None);
            }
            others.push(class);
        }
        let words = spelled.len().div_ceil(64);
        let rules: Vec<Option<RuleId>> = union.named.iter().map(rules_of).collect();
        let mut possible: SmallVec<[u64; 2]> = SmallVec::from_elem(0, words);
        rules.iter().enumerate().for_each(|(i, rule)| possible[i / 64] |= (rule.is_some() as u64) << (i % 64));
        let required = SmallVec::from_slice(union.nearest(&union.all(), &vec![0; words]));
        Ok(Some(ObjectProgram {
            names: name_trie(&spelled)?,
            spelled,
            rules,
            words,
            required,
            possible,
            dependent_required: None,
            others,
            min,
            max,
            witnesses: 0,
            witness_members: SmallVec::from_slice(&[0]),
            union: Some(Arc::new(union)),
        }))
    }

    /// `None` if the shape cannot be completed.
    fn object(&mut self, o: &ObjectShape, any_text: ExprId) -> Result<Option<ObjectProgram>> {
        let n = o.properties.len();
        let words = n.div_ceil(64);
        let NameSets { possible, required, dependent_required } = NameSets::from_shape(o, words);
        if required.iter().zip(&possible).any(|(r, p)| r & !p != 0) {
            return Ok(None);
        }
        let mut others = Vec::with_capacity(o.others.len());
        for c in &o.others {
            others.extend(self.class(c.keys, any_text, (c.rule, c.matches))?);
        }
        // Where names come together or not at all, some numbers of members cannot be had. Keys without a name and
        // without end fill every gap; of a few, those that there are may be used up.
        let is_endless =
            |class: &ClassProgram| class.keys.as_ref().is_none_or(|k| k.residual_size(k.start()) == u64::MAX);
        let cyclic = dependent_required.as_ref().is_some_and(|dependent_required| {
            (0..n).any(|i| (0..n).any(|j| i != j && bit(&dependent_required[i], j) && bit(&dependent_required[j], i)))
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
        let spelled: Vec<Arc<str>> = o.properties.iter().map(|p| p.name.clone()).collect();
        Ok(Some(ObjectProgram {
            names: name_trie(&spelled)?,
            spelled,
            rules: o.properties.iter().map(|p| p.rule).collect(),
            words,
            required,
            possible,
            dependent_required,
            others,
            min: o.min,
            max: o.max.unwrap_or(u64::MAX),
            witnesses: o.witnesses,
            witness_members,
            union: None,
        }))
    }
}

/// The names of a shape that may come, those that must, and what each requires: a bit for each name.
struct NameSets {
    possible: SmallVec<[u64; 2]>,
    required: SmallVec<[u64; 2]>,
    dependent_required: Option<Vec<Vec<u64>>>,
}

impl NameSets {
    fn from_shape(o: &ObjectShape, words: usize) -> Self {
        let mut possible: SmallVec<[u64; 2]> = SmallVec::from_elem(0, words);
        let mut required = possible.clone();
        for (i, p) in o.properties.iter().enumerate() {
            possible[i / 64] |= (p.rule.is_some() as u64) << (i % 64);
            required[i / 64] |= (p.required as u64) << (i % 64);
        }
        let dependent_required = if o.dependent_required.is_empty() { None } else { Some(closure(o, words)) };
        if let Some(dependent_required) = &dependent_required {
            for i in 0..o.properties.len() {
                if (0..words).any(|w| dependent_required[i][w] & !possible[w] != 0) {
                    possible[i / 64] &= !(1 << (i % 64));
                }
            }
            let direct = required.clone();
            for i in (0..o.properties.len()).filter(|&i| bit(&direct, i)) {
                required.iter_mut().zip(&dependent_required[i]).for_each(|(r, m)| *r |= m);
            }
        }
        NameSets { possible, required, dependent_required }
    }
}

fn bit(bits: &[u64], i: usize) -> bool {
    bits[i / 64] >> (i % 64) & 1 == 1
}

/// The names of a shape as a trie.
fn name_trie(names: &[Arc<str>]) -> Result<Trie> {
    let mut items: Vec<(&[u8], u32)> = names.iter().zip(0..).map(|(name, i)| (name.as_bytes(), i)).collect();
    let limit = u64::from(u16::MAX);
    Trie::build(&mut items).map_err(|_| Error::limit("bytes of a property name", limit, limit + 1))
}

/// For each property, everything that its presence requires, without itself unless it requires itself.
fn closure(o: &ObjectShape, words: usize) -> Vec<Vec<u64>> {
    let n = o.properties.len();
    let mut direct = vec![Vec::new(); n];
    for &(i, j) in &o.dependent_required {
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
