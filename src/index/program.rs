//! Rules to a program: lexemes from the vocabulary's cache, names to tries, implications to closed sets.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::tables::{MaskedLexeme, Role, Tables};
use crate::automaton::lexeme::Kind;
use crate::automaton::program::{ArrayProgram, Blanks, ClassProgram, ObjectProgram, Program, RuleProgram};
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{ArrayShape, ExprId, INF, ObjectShape, Rules};
use crate::limits::Limits;
use crate::vocab::Trie;

/// How the program's places between JSON tokens look.
pub struct Layout {
    /// Whitespace by gap.
    pub gaps: [Blanks; 3],
    /// Keys may come in any order.
    pub any_order: bool,
}

struct Builder<'a> {
    tables: &'a Tables,
    limits: &'a Limits,
    rules: &'a Rules,
    lexemes: Vec<Arc<MaskedLexeme>>,
    by_content: FxHashMap<(ExprId, Kind), Option<u32>>,
}

/// Compiles `rules`, returning the program and its lexemes with their masks.
pub fn compile(rules: &mut Rules, layout: Layout, tables: &Tables, limits: &Limits) -> Result<(Program, Vec<Arc<MaskedLexeme>>)> {
    let any_text = rules.exprs.any_text();
    let rules = &*rules;
    let mut b = Builder { tables, limits, rules, lexemes: Vec::new(), by_content: FxHashMap::default() };
    let mut program = Program {
        rules: Vec::with_capacity(rules.rules.len()),
        lexemes: Vec::new(),
        arrays: Vec::new(),
        objects: Vec::new(),
        any_text: tables.any_text.lexeme.clone(),
        gaps: layout.gaps,
        any_order: layout.any_order,
        root: rules.root,
    };
    for rule in &rules.rules {
        let mut p = RuleProgram::default();
        if let Some(e) = rule.literals {
            p.lexemes.extend(b.lexeme(e, Kind::Raw)?);
        }
        for s in &rule.strings {
            p.lexemes.extend(b.lexeme(s.text, Kind::Text { min: s.min, max: s.max })?);
        }
        for a in &rule.arrays {
            p.arrays.push(program.arrays.len() as u32);
            program.arrays.push(array(a)?);
        }
        for o in &rule.objects {
            if let Some(o) = b.object(o, any_text)? {
                p.objects.push(program.objects.len() as u32);
                program.objects.push(o);
            }
        }
        program.rules.push(p);
    }
    program.lexemes = b.lexemes.iter().map(|l| l.lexeme.clone()).collect();
    Ok((program, b.lexemes))
}

fn array(a: &ArrayShape) -> Result<ArrayProgram> {
    if a.contains.len() > 1 && (a.max.is_some() || a.contains.iter().any(|c| c.max.is_some()) || a.rest.is_empty()) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "several contains keywords on one array, together with an upper bound, cannot be enforced exactly; \
             state the array as prefixItems or drop one of the bounds",
        ));
    }
    Ok(ArrayProgram {
        prefix: a.prefix.clone(),
        rest: a.rest.clone(),
        min: a.min,
        max: a.max.unwrap_or(u64::MAX),
        contains: a.contains.clone(),
        unique: a.unique,
    })
}

impl Builder<'_> {
    fn lexeme(&mut self, expr: ExprId, kind: Kind) -> Result<Option<u32>> {
        if let Some(&l) = self.by_content.get(&(expr, kind)) {
            return Ok(l);
        }
        let any = self.tables.lexeme(&self.rules.exprs, expr, kind, Role::Value, self.limits)?;
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
        let mut possible = vec![0u64; words];
        let mut required = vec![0u64; words];
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
            let cyclic = (0..n).any(|i| (0..n).any(|j| i != j && bit(&implied[i], j) && bit(&implied[j], i)));
            if cyclic && o.others.is_empty() && (o.min > 0 || o.max.is_some()) {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "properties that require each other cannot be combined with a bound on the number of properties",
                ));
            }
        }
        if required.iter().zip(&possible).any(|(r, p)| r & !p != 0) {
            return Ok(None);
        }
        let mut others = Vec::new();
        for c in &o.others {
            if c.keys == any_text {
                others.push(ClassProgram { keys: None, text: u32::MAX, rule: c.rule });
                continue;
            }
            let keys = self.tables.lexeme(&self.rules.exprs, c.keys, Kind::Raw, Role::Whole, self.limits)?;
            let text = self.lexeme(c.keys, Kind::Text { min: 0, max: INF })?;
            if let (Some(keys), Some(text)) = (keys, text) {
                others.push(ClassProgram { keys: Some(keys.lexeme.clone()), text, rule: c.rule });
            }
        }
        let mut items: Vec<(&[u8], u32)> = o.properties.iter().zip(0..).map(|(p, i)| (p.name.as_bytes(), i)).collect();
        let names = Trie::build(&mut items)
            .map_err(|_| Error::limit("bytes of a property name", u64::from(u16::MAX), u64::from(u16::MAX) + 1))?;
        Ok(Some(ObjectProgram {
            names,
            spelled: o.properties.iter().map(|p| p.name.as_str().into()).collect(),
            rules: o.properties.iter().map(|p| p.rule).collect(),
            words,
            required,
            possible,
            implied,
            others,
            min: o.min,
            max: o.max.unwrap_or(u64::MAX),
        }))
    }
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
