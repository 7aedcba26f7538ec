//! Scalars: null, booleans, numbers and strings, by algebra on sets instead of distribution.
//!
//! Every schema is a boolean function of its assertions; over scalars each of them denotes a set, so union,
//! intersection and complement are computed directly, bottom-up over the applicators, and memoized per node. Strings
//! are a list of *words* (from `enum` and `const`) and of [`StringSet`]s. Words are filtered one by one, which keeps
//! the many discriminators of real schemas free of automata. Numbers stay symbolic (see
//! [`crate::schema::lower::scalar::number_set`]).
//!
//! Complements of numbers are written as plain decimals (no exponent), those of texts as well-formed text.

pub(crate) mod number_set;
pub(crate) mod number_spelling;
pub(crate) mod numbers;
pub(crate) mod string_lengths;
pub(crate) mod strings;

use smallvec::SmallVec;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::expr::{ExprId, Exprs, INF};
use crate::json::rules::StringSet;
use crate::schema::lower::context::{Lit, LoweringContext};
use crate::schema::lower::node::{EnumValues, FALSE, Scalar, SchemaNodeId};
use crate::schema::lower::scalar::number_set::NumberSet;
use crate::schema::lower::scalar::numbers::NumberAssertions;
use crate::schema::model::{Keywords, Types};
use crate::schema::name_table::Name;

/// A set of scalars.
#[derive(Clone, Debug, Default)]
pub(super) struct Scalars {
    pub null: bool,
    pub yes: bool,
    pub no: bool,
    pub numbers: NumberAssertions,
    /// Sorted.
    pub words: Vec<Name>,
    pub sets: Vec<StringSet>,
    /// A format here accepts less than its standard: what is *not* here may belong to it all the same.
    pub narrow: Option<SchemaNodeId>,
    /// Then: strings beyond which no reading of the format goes. Only words and sets count.
    pub most: Option<Rc<Scalars>>,
}

impl Scalars {
    fn may_hold_strings(&self) -> bool {
        !self.sets.is_empty() || !self.words.is_empty() || self.narrow.is_some()
    }

    pub(super) fn union_with(&mut self, x: &mut LoweringContext<'_, '_>, o: &Scalars) -> Result<()> {
        let most = if self.narrow.or(o.narrow).is_some() {
            let mut most = self.strings_at_most();
            most.union_with(x, &o.strings_at_most())?;
            Some(Rc::new(most))
        } else {
            None
        };
        self.null |= o.null;
        self.yes |= o.yes;
        self.no |= o.no;
        self.numbers = x.either(&self.numbers, &o.numbers)?;
        if !o.words.is_empty() {
            self.words.extend_from_slice(&o.words);
            self.words.sort_unstable();
            self.words.dedup();
        }
        for s in &o.sets {
            x.push_set(&mut self.sets, s.clone());
        }
        self.narrow = self.narrow.or(o.narrow);
        self.most = most;
        Ok(())
    }

    /// At most how many values there are, where they can be named one by one.
    pub fn size(&self) -> Option<u64> {
        let numbers = match &self.numbers {
            NumberAssertions::None => 0,
            NumberAssertions::All => return None,
            NumberAssertions::Some(set) => set.count()?,
        };
        let words = self.words.len() as u64 + u64::from(self.null) + u64::from(self.yes) + u64::from(self.no);
        self.sets.is_empty().then_some(words + numbers)
    }

    /// Whether some values may all be used up, of those that can be spelled in more ways than are accepted here.
    pub fn may_run_out(&self) -> bool {
        let numbers = matches!(&self.numbers, NumberAssertions::Some(set) if set.has_few());
        numbers || !self.words.is_empty() || self.sets.iter().any(|set| set.constant)
    }

    /// Whether nothing is accepted.
    pub fn is_empty(&self) -> bool {
        let others = self.null || self.yes || self.no || !self.numbers.is_none();
        !others && self.words.is_empty() && self.sets.is_empty()
    }
}

impl LoweringContext<'_, '_> {
    /// Every scalar.
    pub fn all_scalars(&self) -> Scalars {
        Scalars {
            null: true,
            yes: true,
            no: true,
            numbers: NumberAssertions::All,
            words: Vec::new(),
            sets: vec![StringSet { text: self.any_text, min: 0, max: INF, constant: false }],
            narrow: None,
            most: None,
        }
    }

    /// The scalars of a conjunction.
    pub fn scalars_of(&mut self, lits: &[Lit]) -> Result<Rc<Scalars>> {
        // Positive literals first: complements are cut down to what is left.
        let positive = lits.iter().filter(|l| !l.negated);
        let ordered: SmallVec<[Lit; 8]> = positive.chain(lits.iter().filter(|l| l.negated)).copied().collect();
        let mut acc: Option<Rc<Scalars>> = None;
        // A search asks for conjunctions that grow by one literal at a time.
        let mut known = ordered.len();
        while known > 1 && acc.is_none() {
            acc = self.conjunctions.get(&ordered[..known]).cloned();
            known -= usize::from(acc.is_none());
        }
        if acc.is_none() {
            known = 0;
        }
        for (i, &l) in ordered.iter().enumerate().skip(known) {
            let s = if l.negated { self.complement(l.node)? } else { self.scalars(l.node)? };
            acc = Some(match acc {
                None => s,
                Some(a) => {
                    let both = Rc::new(self.intersect(&a, &s)?);
                    self.conjunctions.insert(ordered[..=i].into(), both.clone());
                    both
                }
            });
        }
        Ok(acc.unwrap_or_else(|| Rc::new(self.all_scalars())))
    }

    /// The scalars that a node accepts. Applicators are acyclic (see the nodes), so an explicit stack suffices.
    pub fn scalars(&mut self, node: SchemaNodeId) -> Result<Rc<Scalars>> {
        let node = self.nodes.canon(node);
        if let Some(s) = self.scalars.get(node as usize).and_then(|s| s.clone()) {
            return Ok(s);
        }
        let mut stack = vec![(node, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.scalars.get(id as usize).is_some_and(|s| s.is_some()) {
                continue;
            }
            if !ready {
                stack.push((id, true));
                let nodes = &self.nodes;
                nodes.get(id).in_place(|c| stack.push((nodes.canon(c), false)));
                continue;
            }
            let s = Rc::new(self.scalars_here(id)?);
            // Values that may be there twice are nodes of their own, added when they are asked for.
            if self.scalars.len() <= id as usize {
                self.scalars.resize(id as usize + 1, None);
            }
            self.scalars[id as usize] = Some(s);
        }
        Ok(self.scalars.get(node as usize).and_then(|s| s.clone()).unwrap_or_default())
    }

    fn done(&self, node: SchemaNodeId) -> Rc<Scalars> {
        self.scalars.get(self.nodes.canon(node) as usize).and_then(|s| s.clone()).unwrap_or_default()
    }

    /// The scalars that a node refuses.
    pub fn complement(&mut self, node: SchemaNodeId) -> Result<Rc<Scalars>> {
        let node = self.nodes.canon(node);
        if let Some(s) = self.complements.get(&node) {
            return Ok(s.clone());
        }
        let s = self.scalars(node)?;
        let c = Rc::new(self.not_scalars(&s)?);
        self.complements.insert(node, c.clone());
        Ok(c)
    }

    /// One node, its children being done.
    fn scalars_here(&mut self, id: SchemaNodeId) -> Result<Scalars> {
        const TYPES: u8 = Types::NULL.0 | Types::BOOLEAN.0 | Types::NUMBER.0 | Types::STRING.0;
        let n = self.nodes.get(id);
        if n.mask.0 & TYPES == 0 {
            return Ok(Scalars::default());
        }
        let (types, keywords, values) = (n.types, n.scalar, n.values.clone());
        let (all, any, one, not, cond) = (n.all.clone(), n.any.clone(), n.one.clone(), n.not, n.cond);
        self.work(1)?;
        let mut acc = self.own(id, types, keywords)?;
        for v in &values {
            let v = self.value_set(v)?;
            acc = self.intersect(&v, &acc)?;
        }
        for &c in &all {
            let s = self.done(c);
            acc = self.intersect(&acc, &s)?;
        }
        if let Some(v) = any {
            let mut u = Scalars::default();
            for &c in &v {
                self.work(1)?;
                let s = self.done(c);
                u.union_with(self, &s)?;
            }
            acc = self.intersect(&acc, &u)?;
        }
        if let Some(v) = one {
            let v: Vec<Rc<Scalars>> = v.iter().map(|&c| self.done(c)).collect();
            let s = self.exactly_one(&v)?;
            acc = self.intersect(&acc, &s)?;
        }
        if let Some(c) = not {
            let s = self.complement(c)?;
            acc = self.intersect(&acc, &s)?;
        }
        if let Some((i, t, e)) = cond {
            let (si, st, se) = (self.done(i), self.done(t), self.done(e));
            let mut s = self.intersect(&si, &st)?;
            let otherwise = self.complement(i)?;
            let otherwise = self.intersect(&otherwise, &se)?;
            s.union_with(self, &otherwise)?;
            acc = self.intersect(&acc, &s)?;
        }
        Ok(acc)
    }

    /// `type` and the assertions about numbers and strings.
    fn own(&mut self, id: SchemaNodeId, types: Types, keywords: Option<&Keywords>) -> Result<Scalars> {
        let mut s = Scalars {
            null: types.contains(Types::NULL),
            yes: types.contains(Types::BOOLEAN),
            no: types.contains(Types::BOOLEAN),
            ..Scalars::default()
        };
        if types.0 & Types::NUMBER.0 != 0 {
            s.numbers = self.own_numbers(id, types, keywords)?;
        }
        if types.contains(Types::STRING) {
            s.sets = self.own_strings(id, keywords)?;
            let format = keywords.and_then(|k| k.format.as_deref()).and_then(|f| self.format(f));
            if format.is_some_and(|f| f.narrower.is_some()) {
                s.narrow = Some(id);
            }
            if s.narrow.is_some() {
                s.most = self.most_strings(id, keywords)?;
            }
        }
        Ok(s)
    }

    fn value_set(&mut self, v: &EnumValues) -> Result<Scalars> {
        let mut s = Scalars::default();
        let mut numbers = Vec::new();
        for value in &v.scalars {
            match value {
                Scalar::Null => s.null = true,
                Scalar::Bool(true) => s.yes = true,
                Scalar::Bool(false) => s.no = true,
                Scalar::Number(d) => numbers.push(d.clone()),
                Scalar::Word(w) => s.words.push(*w),
            }
        }
        s.numbers = NumberAssertions::from_set(NumberSet::of_values(numbers));
        s.words.sort_unstable();
        s.words.dedup();
        Ok(s)
    }

    /// Both.
    pub fn intersect(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars> {
        self.work(1 + a.sets.len() * b.sets.len() + a.words.len() + b.words.len())?;
        let mut out = Scalars {
            null: a.null && b.null,
            yes: a.yes && b.yes,
            no: a.no && b.no,
            numbers: self.both(&a.numbers, &b.numbers)?,
            words: self.words_of_both(a, b),
            narrow: if a.may_hold_strings() && b.may_hold_strings() { a.narrow.or(b.narrow) } else { None },
            ..Scalars::default()
        };
        if out.narrow.is_some() {
            let most = self.intersect(&a.strings_at_most(), &b.strings_at_most())?;
            // Without strings nothing is in doubt.
            if most.is_empty() {
                out.narrow = None;
            } else {
                out.most = Some(Rc::new(most));
            }
        }
        for s in &a.sets {
            for t in &b.sets {
                let set = StringSet {
                    text: self.meet(s.text, t.text),
                    min: s.min.max(t.min),
                    max: s.max.min(t.max),
                    constant: false,
                };
                if self.is_inhabited(&set)? {
                    self.push_set(&mut out.sets, set);
                }
            }
        }
        if out.sets.len() > self.limits.max_alternatives {
            return Err(Error::limit(
                "the number of combinations of string keywords",
                self.limits.max_alternatives as u64,
                out.sets.len() as u64,
            )
            .set_by("max_alternatives"));
        }
        Ok(out)
    }

    /// Words of one that the other holds, too, in order.
    fn words_of_both(&mut self, a: &Scalars, b: &Scalars) -> Vec<Name> {
        let mut out: Vec<Name> = a.words.iter().copied().filter(|&w| self.holds_word(b, w)).collect();
        let new = |w: &Name| a.words.binary_search(w).is_err();
        out.extend(b.words.iter().copied().filter(|w| new(w) && self.in_sets(&a.sets, *w)));
        out.sort_unstable();
        out
    }

    /// The words as one expression.
    pub fn words_text(&mut self, words: &[Name]) -> ExprId {
        let texts: Vec<std::sync::Arc<str>> = words.iter().map(|&w| self.nodes.name(w)).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
        self.x.choice(&texts)
    }

    /// The scalars as the rule states them: literals and sets of strings.
    pub fn finish_scalars(&mut self, s: &Scalars) -> Result<(Option<ExprId>, Vec<StringSet>)> {
        let mut parts: SmallVec<[ExprId; 4]> = SmallVec::new();
        for (present, word) in [s.null, s.yes, s.no].into_iter().zip(self.common.words) {
            if present {
                parts.push(word);
            }
        }
        let numbers = self.number_expr(&s.numbers)?;
        self.capped_numbers |= s.numbers.is_capped();
        if numbers != Exprs::NEVER {
            parts.push(numbers);
        }
        let literals = if parts.is_empty() { None } else { Some(self.x.alt(&parts)) };
        let mut sets = s.sets.clone();
        if self.options.has_plain_patterns() {
            let any_text = self.x.any_text();
            sets.iter_mut().for_each(|set| set.constant |= set.text != any_text);
        }
        if !s.words.is_empty() {
            let text = self.words_text(&s.words);
            self.plain_constants |= self.plain;
            let constant = self.options.name_escapes() != self.options.string_escapes();
            self.push_set(&mut sets, StringSet { text, min: 0, max: INF, constant });
        }
        Ok((literals, sets))
    }

    /// Whether a schema accepts a key.
    pub fn accepts_key(&mut self, l: Lit, key: Name) -> Result<bool> {
        if l.node == FALSE {
            return Ok(l.negated);
        }
        let s = self.scalars(l.node)?;
        if l.negated {
            self.refuse_doubt(&s)?;
        }
        Ok(self.holds_word(&s, key) != l.negated)
    }
}
