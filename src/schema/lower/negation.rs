//! Complements of scalars, and the doubt about formats that are narrower here than their standards.
//!
//! Where such a format is negated, a set of scalars has two bounds: the strings that are accepted, and strings beyond
//! which no reading of the format goes. Union and intersection keep both; a complement exchanges them, so it accepts
//! what certainly is not of the format. A set without doubt is its own upper bound.

use std::rc::Rc;

use crate::error::Result;
use crate::expr::INF;
use crate::json::rules::StringSet;
use crate::schema::lower::context::LoweringContext;
use crate::schema::lower::node::SchemaNodeId;
use crate::schema::lower::scalar::Scalars;
use crate::schema::model::Keywords;

/// Why the negation of some formats of keys is refused.
const NEGATED_FORMAT: &str = "this format is enforced more narrowly than its standard, so what it refuses is not known \
    exactly; take it out of not, oneOf or if, state it as a pattern";

/// What is added to the row of a narrower format that is negated.
const SURELY_NONE: &str = "; where it is negated, only what no reading of the format takes is accepted";

impl Scalars {
    /// The strings, or more.
    pub fn strings_at_most(&self) -> Scalars {
        match &self.most {
            Some(most) => (**most).clone(),
            None => self.strings(),
        }
    }

    pub fn strings(&self) -> Scalars {
        Scalars { words: self.words.clone(), sets: self.sets.clone(), ..Scalars::default() }
    }
}

impl LoweringContext<'_, '_> {
    /// The strings of `own` with the widest reading of the format.
    pub fn most_strings(&mut self, id: SchemaNodeId, keywords: Option<&Keywords>) -> Result<Option<Rc<Scalars>>> {
        let Some((k, format)) = keywords.and_then(|k| Some((k, k.format.as_deref()?))) else { return Ok(None) };
        let text = self.widest_format(format);
        let wide = Scalars { sets: vec![StringSet { text, min: 0, max: INF, constant: false }], ..Scalars::default() };
        let mut others = k.clone();
        others.format = None;
        let rest = Scalars { sets: self.own_strings(id, Some(&others))?, ..Scalars::default() };
        Ok(Some(Rc::new(self.intersect(&rest, &wide)?)))
    }

    /// What `s` refuses. Of a format that is narrower than its standard that is what lies outside of its widest
    /// reading; what may lie outside is then the complement of what is accepted here.
    pub fn not_scalars(&mut self, s: &Scalars) -> Result<Scalars> {
        let (Some(node), Some(most)) = (s.narrow, s.most.clone()) else { return self.not_exact(s) };
        self.note_negated(node);
        let widest = Scalars { words: most.words.clone(), sets: most.sets.clone(), ..s.clone() };
        let mut out = self.not_exact(&widest)?;
        let most = self.not_exact(&s.strings())?.strings();
        if !most.is_empty() {
            (out.narrow, out.most) = (Some(node), Some(Rc::new(most)));
        }
        Ok(out)
    }

    /// Says in the row of a format that it is negated.
    fn note_negated(&mut self, node: SchemaNodeId) {
        self.add_to_row(node, "format", SURELY_NONE);
    }

    /// Refuses a negation of keys whose formats are narrower than their standards.
    pub fn refuse_doubt(&mut self, s: &Scalars) -> Result<()> {
        s.narrow.map_or(Ok(()), |node| self.unsupported(node, "format", NEGATED_FORMAT))
    }

    /// What `s` refuses, if what it accepts is exact.
    fn not_exact(&mut self, s: &Scalars) -> Result<Scalars> {
        let mut out = Scalars {
            null: !s.null,
            yes: !s.yes,
            no: !s.no,
            numbers: self.not_numbers(&s.numbers)?,
            words: Vec::new(),
            sets: vec![StringSet { text: self.any_text, min: 0, max: INF, constant: false }],
            narrow: None,
            most: None,
        };
        if !s.words.is_empty() {
            let text = self.words_text(&s.words);
            let text = self.other_text(text);
            out.sets = vec![StringSet { text, min: 0, max: INF, constant: false }];
        }
        for set in &s.sets {
            let mut refused = Vec::new();
            if set.text != self.any_text {
                let text = self.other_text(set.text);
                refused.push(StringSet { text, min: 0, max: INF, constant: false });
            }
            if let Some(max) = set.min.checked_sub(1) {
                refused.push(StringSet { text: self.any_text, min: 0, max, constant: false });
            }
            if set.max != INF {
                refused.push(StringSet { text: self.any_text, min: set.max + 1, max: INF, constant: false });
            }
            let refused = Scalars { sets: refused, ..Scalars::default() };
            let strings = Scalars { sets: std::mem::take(&mut out.sets), ..Scalars::default() };
            out.sets = self.intersect(&strings, &refused)?.sets;
        }
        out.sets = self.keep_inhabited(std::mem::take(&mut out.sets))?;
        Ok(out)
    }

    fn keep_inhabited(&mut self, sets: Vec<StringSet>) -> Result<Vec<StringSet>> {
        let mut out = Vec::with_capacity(sets.len());
        for s in sets {
            if self.is_inhabited(&s)? {
                out.push(s);
            }
        }
        Ok(out)
    }

    /// What exactly one of `v` accepts.
    pub fn exactly_one(&mut self, v: &[Rc<Scalars>]) -> Result<Scalars> {
        let (mut once, mut twice) = (Scalars::default(), Scalars::default());
        for s in v {
            self.work(1)?;
            let again = self.intersect(&once, s)?;
            twice.union_with(self, &again)?;
            once.union_with(self, s)?;
        }
        if twice.is_empty() && twice.narrow.is_none() {
            return Ok(once);
        }
        let not_twice = self.not_scalars(&twice)?;
        self.intersect(&once, &not_twice)
    }
}
