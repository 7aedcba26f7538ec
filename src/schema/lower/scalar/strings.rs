//! Sets of strings of a compile: patterns, formats and lengths, as expressions over decoded text.
//!
//! A set is a text with bounds on its length, which stay bounds. Whether a set has a member is asked once.

use crate::error::{Error, Result, SourcePlace};
use crate::expr::{Expr, ExprId, Exprs, INF};
use crate::json::rules::StringSet;
use crate::regex;
use crate::schema::format::Format;
use crate::schema::lower::context::LoweringContext;
use crate::schema::lower::node::SchemaNodeId;
use crate::schema::lower::scalar::Scalars;
use crate::schema::lower::scalar::string_lengths::has_length;
use crate::schema::model::Keywords;
use crate::schema::name_table::Name;
use crate::schema::report::Enforcement;

impl LoweringContext<'_, '_> {
    pub(crate) fn own_strings(&mut self, id: SchemaNodeId, keywords: Option<&Keywords>) -> Result<Vec<StringSet>> {
        let mut text = self.any_text;
        let Some(k) = keywords else { return Ok(vec![StringSet { text, min: 0, max: INF, constant: false }]) };
        if let Some(p) = &k.pattern
            && let Some(e) = self.pattern_text(id, "pattern", p)?
        {
            text = e;
        }
        if let Some(f) = &k.format
            && let Some(e) = self.format_text(id, f)
        {
            text = self.meet(text, e);
        }
        let clamp = |n: u64| n.min(INF as u64 - 1) as u32;
        let set = StringSet {
            text,
            min: k.min_length.map_or(0, clamp),
            // A bound that no text can reach is none.
            max: k.max_length.map_or(INF, |n| if n >= INF as u64 { INF } else { n as u32 }),
            constant: false,
        };
        Ok(if self.is_inhabited(&set)? { vec![set] } else { Vec::new() })
    }

    /// Texts that contain a match of an ECMA-262 pattern; `None` where it is dropped because it cannot be read.
    pub fn pattern_text(&mut self, node: SchemaNodeId, keyword: &'static str, pattern: &str) -> Result<Option<ExprId>> {
        if let Some(e) = self.pattern_exprs.get(pattern) {
            return Ok(*e);
        }
        let e = match regex::lower_search(&mut self.x, pattern, self.limits) {
            Ok(e) => Some(e),
            Err(e) if e.kind() == crate::ErrorKind::Unsupported => {
                self.unsupported_pattern(node, keyword, e)?;
                None
            }
            Err(e) => {
                let e = match e.limit_values() {
                    Some(_) => e,
                    None => {
                        let message = format!("{} in the pattern {pattern:?}", e.message());
                        e.in_pattern(pattern, regex::Dialect::Ecma).saying(message).moved_to(SourcePlace::Unknown)
                    }
                };
                return Err(self.place(e, node, keyword));
            }
        };
        self.pattern_exprs.insert(pattern.to_string(), e);
        Ok(e)
    }

    /// Texts of a format; `None` if it is unknown.
    fn format_text(&mut self, node: SchemaNodeId, name: &str) -> Option<ExprId> {
        let Format { text, narrower } = self.format(name)?;
        if let Some(reason) = narrower {
            self.row(node, "format", Enforcement::Narrower, reason);
        }
        Some(text)
    }

    fn unsupported_pattern(&mut self, node: SchemaNodeId, keyword: &'static str, e: Error) -> Result<()> {
        let reason = e.message().to_string();
        self.unsupported(node, keyword, &reason)
    }

    /// Texts that belong to both of two sets of texts.
    pub fn meet(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if a == self.any_text || a == b {
            return b;
        }
        if b == self.any_text {
            return a;
        }
        let mut both = self.x.and(&[a, b]);
        for &(narrow, wide) in &self.format_subsets {
            if let Expr::And(parts) = self.x.get(both)
                && parts.contains(&narrow)
                && parts.contains(&wide)
            {
                let parts: Vec<ExprId> = parts.iter().copied().filter(|&p| p != wide).collect();
                both = self.x.and(&parts);
            }
        }
        let any_text = self.any_text;
        let says_text = |x: &Exprs, p: ExprId| p != any_text && !matches!(x.get(p), Expr::Not(_));
        match self.x.get(both) {
            // Another part says already that this is text.
            Expr::And(parts) if parts.contains(&any_text) && parts.iter().any(|&p| says_text(&self.x, p)) => {
                let parts: Vec<ExprId> = parts.iter().copied().filter(|&p| p != any_text).collect();
                self.x.and(&parts)
            }
            _ => both,
        }
    }

    /// The texts that a set of texts does not have. The complement of a complement is the set itself again.
    pub(crate) fn other_text(&mut self, text: ExprId) -> ExprId {
        if let Some(&other) = self.other_texts.get(&text) {
            return other;
        }
        let other = self.x.not_text(text);
        self.other_texts.insert(text, other);
        self.other_texts.insert(other, text);
        other
    }

    pub fn is_inhabited(&mut self, s: &StringSet) -> Result<bool> {
        if s.text == self.any_text {
            return Ok(s.min <= s.max);
        }
        let key = (s.text, s.min, s.max);
        if let Some(&known) = self.inhabited.get(&key) {
            return Ok(known);
        }
        let found = has_length(&mut self.x, s.text, s.min, s.max, self.limits.max_explored_states)?;
        self.inhabited.insert(key, found);
        Ok(found)
    }

    /// Adds a set to a union. Sets without length bounds join into one text.
    pub(crate) fn push_set(&mut self, sets: &mut Vec<StringSet>, s: StringSet) {
        let all = |s: &StringSet, any: ExprId| s.text == any && s.min == 0 && s.max == INF;
        if sets.contains(&s) || sets.iter().any(|t| all(t, self.any_text)) {
            return;
        }
        if all(&s, self.any_text) {
            sets.clear();
        }
        for t in sets.iter_mut() {
            if t.constant != s.constant {
                continue;
            }
            if t.text == s.text && s.min <= t.max.saturating_add(1) && t.min <= s.max.saturating_add(1) {
                (t.min, t.max) = (t.min.min(s.min), t.max.max(s.max));
                return;
            }
            if (t.min, t.max) == (s.min, s.max) {
                t.text = self.x.alt(&[t.text, s.text]);
                return;
            }
        }
        sets.push(s);
    }

    /// Whether a word belongs to a set of strings.
    pub fn holds_word(&mut self, s: &Scalars, w: Name) -> bool {
        s.words.binary_search(&w).is_ok() || self.in_sets(&s.sets, w)
    }

    pub(crate) fn in_sets(&mut self, sets: &[StringSet], w: Name) -> bool {
        if sets.is_empty() {
            return false;
        }
        let word = self.nodes.name(w);
        let length = word.chars().count() as u64;
        sets.iter().any(|s| {
            s.min as u64 <= length
                && (s.max == INF || length <= s.max as u64)
                && (s.text == self.any_text || self.x.accepts(s.text, word.as_bytes()))
        })
    }
}
