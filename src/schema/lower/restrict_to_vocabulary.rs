//! Rules narrowed to what a vocabulary can spell.
//!
//! Where a vocabulary lacks tokens of single bytes, an [`Alphabet`] says what of a document can still be written. It
//! narrows the rules before those that accept nothing are pruned, so that what depends on a narrowed rule is judged by
//! what is left of it: a required name that cannot be written makes its object impossible, and so on upwards.

use crate::error::Result;
use crate::expr::{Alphabet, INF};
use crate::json::rules::StringSet;
use crate::schema::lower::context::LoweringContext;
use crate::schema::lower::prune_unproductive::DraftRules;
use crate::schema::lower::scalar::string_lengths::{count, has_length};

impl LoweringContext<'_, '_> {
    /// Narrows a rule; answers whether anything changed.
    pub(super) fn narrow(&mut self, draft: &mut DraftRules, alphabet: &Alphabet) -> Result<bool> {
        let limit = self.limits.max_explored_states;
        let rule = &mut draft.rule;
        let mut scalars_changed = false;
        if let Some(e) = rule.literals {
            let r = self.x.restrict(e, &alphabet.raw);
            if r != e {
                scalars_changed = true;
                rule.literals = self.x.decide_live(r, limit)?.then_some(r);
            }
        }
        if !alphabet.strings {
            scalars_changed |= !rule.strings.is_empty();
            rule.strings.clear();
        } else {
            let mut kept = Vec::with_capacity(rule.strings.len());
            for s in &rule.strings {
                let bytes = if s.constant { Some(&alphabet.plain) } else { alphabet.text.as_ref() };
                let r = bytes.map_or(s.text, |bytes| self.x.restrict(s.text, bytes));
                if r == s.text {
                    kept.push(s.clone());
                    continue;
                }
                scalars_changed = true;
                if self.x.decide_live(r, limit)? && has_length(&mut self.x, r, s.min, s.max, limit)? {
                    kept.push(StringSet { text: r, ..*s });
                }
            }
            rule.strings = kept;
        }
        if scalars_changed {
            // Counts decide whether unique elements can be found: too few is safe, too many is not.
            let most = 1 << 40;
            let mut n = 0u64;
            if let Some(e) = rule.literals {
                n = n.saturating_add(count(&mut self.x, e, most, limit)?);
            }
            for s in rule.strings.iter().filter(|s| s.min == 0 && s.max == INF) {
                n = n.max(count(&mut self.x, s.text, most, limit)?);
            }
            draft.scalars = (n < most).then_some(n);
        }
        Ok(self.narrow_shapes(draft, alphabet)? || scalars_changed)
    }

    fn narrow_shapes(&mut self, draft: &mut DraftRules, alphabet: &Alphabet) -> Result<bool> {
        let rule = &mut draft.rule;
        let mut changed = false;
        match alphabet.elements {
            None => {
                changed |= !rule.arrays.is_empty();
                rule.arrays.clear();
            }
            Some(u64::MAX) => {}
            Some(most) => {
                for a in rule.arrays.iter_mut().filter(|a| a.max.is_none_or(|m| m > most)) {
                    a.max = Some(most);
                    changed = true;
                }
            }
        }
        match alphabet.members {
            None => {
                changed |= !rule.objects.is_empty();
                rule.objects.clear();
            }
            Some(u64::MAX) => {}
            Some(most) => {
                for o in rule.objects.iter_mut().filter(|o| o.max.is_none_or(|m| m > most)) {
                    o.max = Some(most);
                    changed = true;
                }
            }
        }
        let names = if self.plain { Some(&alphabet.plain) } else { alphabet.text.as_ref() };
        for o in &mut rule.objects {
            for p in o.properties.iter_mut().filter(|p| p.rule.is_some()) {
                if names.is_some_and(|names| !p.name.bytes().all(|b| names[b as usize])) {
                    p.rule = None;
                    changed = true;
                }
            }
            let Some(text) = &alphabet.text else { continue };
            let mut kept = Vec::with_capacity(o.others.len());
            for c in &o.others {
                let r = self.x.restrict(c.keys, text);
                changed |= r != c.keys;
                if r == c.keys || self.x.decide_live(r, self.limits.max_explored_states)? {
                    kept.push(crate::json::rules::KeyClass { keys: r, ..c.clone() });
                }
            }
            o.others = kept;
        }
        Ok(changed)
    }
}
