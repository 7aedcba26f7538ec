//! Which rules accept anything, and the removal of everything that does not.
//!
//! A rule is productive if it accepts at least one finite value. That is a least fixpoint: scalars first, then shapes
//! whose required parts are productive. A rule that is found productive makes its parents be looked at again, so the
//! cost is linear in the size of all rules, but for the counting of `contains`.

use rustc_hash::FxHashSet;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::INF;
use crate::json::canonical::canonical;
use crate::json::rules::{ArrayShape, Element, ObjectShape, Rule, RuleId, Rules, witness_members};
use crate::schema::lower::context::LoweringContext;
use crate::schema::lower::object::object_shape::MANY_KEYS;
use crate::schema::lower::rule_parents::Parents;
use crate::schema::lower::scalar::string_lengths;
use crate::schema::model::SchemaId;
use crate::util::seeded_hash::SeededSet;

/// A rule before anything is known about its children.
pub(super) struct DraftRules {
    pub rule: Rule,
    /// At most how many scalars it accepts, where that is known to be a small number.
    pub scalars: Option<u64>,
    /// The schema that it was made of.
    pub origin: SchemaId,
    /// A schema that made an alternative of it impossible.
    pub dead: Option<SchemaId>,
}

struct Productive<'c, 'm, 'a> {
    cx: &'c mut LoweringContext<'m, 'a>,
    drafts: Vec<DraftRules>,
    /// Which rules have arrays or objects.
    structured: Vec<bool>,
    yes: Vec<bool>,
}

/// Prunes and numbers the rules in the order in which the root reaches them.
pub(super) fn prune(
    cx: &mut LoweringContext<'_, '_>,
    drafts: Vec<DraftRules>,
    root: RuleId,
) -> Result<(Vec<Rule>, RuleId)> {
    let yes = vec![false; drafts.len()];
    let structured = drafts.iter().map(|d| !d.rule.arrays.is_empty() || !d.rule.objects.is_empty()).collect();
    let mut p = Productive { cx, drafts, structured, yes };
    p.solve()?;
    if !p.is(root) {
        return Err(p.blame(root));
    }
    p.rebuild(root)
}

impl Productive<'_, '_, '_> {
    fn is(&self, r: RuleId) -> bool {
        self.yes.get(r.0 as usize).copied().unwrap_or(false)
    }

    fn solve(&mut self) -> Result<()> {
        let n = self.drafts.len();
        let parents = Parents::from_drafts(&self.drafts);
        // Children mostly have larger numbers than their parents.
        let mut work: Vec<u32> = (0..n as u32).collect();
        while let Some(i) = work.pop() {
            let i = i as usize;
            if self.yes[i] || !self.accepts_something(i)? {
                continue;
            }
            self.yes[i] = true;
            work.extend(parents.get(i).iter().copied().filter(|&p| !self.yes[p as usize]));
        }
        Ok(())
    }

    fn accepts_something(&mut self, i: usize) -> Result<bool> {
        self.cx.work(1)?;
        let rule = std::mem::take(&mut self.drafts[i].rule);
        let mut found = rule.literals.is_some() || !rule.strings.is_empty();
        for a in &rule.arrays {
            found = found || self.array_possible(a)?;
        }
        for o in &rule.objects {
            found = found || self.object_possible(o)?;
        }
        self.drafts[i].rule = rule;
        Ok(found)
    }

    fn object_possible(&mut self, o: &ObjectShape) -> Result<bool> {
        if o.properties.iter().any(|p| p.required && !p.rule.is_some_and(|r| self.is(r))) {
            return Ok(false);
        }
        let witnesses = self.witness_members(o);
        if witnesses == u32::MAX {
            return Ok(false);
        }
        if !o.dependent_required.is_empty() {
            return self.members_possible_with_implications(o, witnesses);
        }
        let required = o.properties.iter().filter(|p| p.required).count() as u64 + u64::from(witnesses);
        if o.max.is_some_and(|m| required > m || o.min > m) {
            return Ok(false);
        }
        if o.min <= required {
            return Ok(true);
        }
        let named = o.properties.iter().filter(|p| p.rule.is_some_and(|r| self.is(r))).count() as u64;
        Ok(o.min <= named || o.min <= named.saturating_add(self.other_keys(o)?))
    }

    /// Whether enough members can stand in an object where some names bring others with them, and not too many.
    fn members_possible_with_implications(&mut self, o: &ObjectShape, witnesses: u32) -> Result<bool> {
        let mut s = o.clone();
        for p in &mut s.properties {
            p.rule = p.rule.filter(|&r| self.is(r));
        }
        if !settle_implications(&mut s) {
            return Ok(false);
        }
        let mut present: Vec<bool> = s.properties.iter().map(|p| p.required).collect();
        let members = |present: &[bool]| present.iter().filter(|&&p| p).count() as u64 + u64::from(witnesses);
        let others = self.other_keys(&s)?;
        let most = s.max.unwrap_or(u64::MAX);
        if members(&present) > most || s.min > most {
            return Ok(false);
        }
        while members(&present).saturating_add(others) < s.min {
            let Some(more) = self.cheapest_addition(&s, &present)? else { return Ok(false) };
            if members(&more) > most {
                let message = "conditions on the presence of properties that require each other, together with a \
                               number of members, are too many to decide";
                return Err(Error::new(ErrorKind::Limit, message));
            }
            present = more;
        }
        Ok(true)
    }

    /// The names that are present with one more, which brings the fewest others with it. `None` if there is none.
    fn cheapest_addition(&mut self, s: &ObjectShape, present: &[bool]) -> Result<Option<Vec<bool>>> {
        let mut best: Option<(usize, Vec<bool>)> = None;
        for i in 0..present.len() {
            if present[i] || s.properties[i].rule.is_none() {
                continue;
            }
            self.cx.work(1 + s.dependent_required.len())?;
            let with = closed(s, present, i);
            let size = with.iter().filter(|&&p| p).count();
            if best.as_ref().is_none_or(|b| size < b.0) {
                best = Some((size, with));
            }
        }
        Ok(best.map(|b| b.1))
    }

    /// The fewest members that are all witnesses of a shape; `u32::MAX` if no members are.
    fn witness_members(&self, o: &ObjectShape) -> u32 {
        if o.witnesses == 0 {
            return 0;
        }
        let classes: Vec<u32> = o.others.iter().filter(|c| self.is(c.rule)).map(|c| c.matches).collect();
        witness_members(o.witnesses, &classes).last().copied().unwrap_or(0)
    }

    /// How many keys that are not named there can be.
    fn other_keys(&mut self, o: &ObjectShape) -> Result<u64> {
        let mut n = 0u64;
        for c in &o.others {
            if self.is(c.rule) {
                n = n.saturating_add(self.cx.class_size(c.keys, o, MANY_KEYS)?);
            }
        }
        Ok(n)
    }

    fn usable<'e>(&self, ways: &'e [Element]) -> impl Iterator<Item = &'e Element> + use<'e, '_> {
        let yes = &self.yes;
        ways.iter().filter(move |e| yes.get(e.rule.0 as usize).copied().unwrap_or(false))
    }

    fn array_possible(&mut self, a: &ArrayShape) -> Result<bool> {
        if a.max.is_some_and(|m| a.min > m) {
            return Ok(false);
        }
        let ended = a.prefix.iter().position(|w| self.usable(w).next().is_none());
        let available = match ended {
            Some(i) => i as u64,
            None if self.usable(&a.rest).next().is_none() => a.prefix.len() as u64,
            None => u64::MAX,
        };
        let available = available.min(a.max.unwrap_or(u64::MAX));
        if a.min > available {
            return Ok(false);
        }
        if a.unique && a.prefix.is_empty() && a.min > 1 && !self.has_different_elements(a)? {
            return Ok(false);
        }
        if a.contains.iter().all(|c| c.min == 0 && c.max.is_none()) {
            return Ok(true);
        }
        if a.unique && a.prefix.is_empty() {
            for (c, bit) in a.contains.iter().zip(0..).filter(|(c, _)| c.min > 1) {
                let matching = self.usable(&a.rest).filter(|e| e.matches >> bit & 1 == 1);
                let rules: Vec<RuleId> = matching.map(|e| e.rule).collect();
                if !self.has_values(&rules, c.min)? {
                    return Ok(false);
                }
            }
        }
        self.counts_possible(a, available)
    }

    /// Whether the elements of an array without prefix have as many different values as it needs.
    fn has_different_elements(&mut self, a: &ArrayShape) -> Result<bool> {
        let mut rules: Vec<RuleId> = self.usable(&a.rest).map(|e| e.rule).collect();
        rules.dedup();
        let domain = rules.iter().try_fold(0u64, |n, r| {
            let d = &self.drafts[r.0 as usize];
            if self.structured[r.0 as usize] { None } else { d.scalars.map(|k| n.saturating_add(k)) }
        });
        Ok(domain.is_none_or(|d| d >= a.min) && self.has_values(&rules, a.min)?)
    }

    /// Whether `rules` accept at least `wanted` different values, as far as they are scalars and not too many to list:
    /// a number may have several spellings, and rules may have values in common.
    fn has_values(&mut self, rules: &[RuleId], wanted: u64) -> Result<bool> {
        /// More than this are not listed.
        const MOST_VALUES: u64 = 1 << 12;
        /// No number has more spellings; see the automaton's unique elements.
        const SPELLINGS: u64 = 66;
        if wanted > MOST_VALUES {
            return Ok(true);
        }
        let limit = self.cx.limits.max_explored_states;
        let mut values: SeededSet<Box<[u8]>> = SeededSet::default();
        for r in rules {
            let rule = &self.drafts[r.0 as usize].rule;
            if self.structured[r.0 as usize] {
                return Ok(true);
            }
            let strings: Vec<_> = rule.strings.iter().map(|s| (s.text, s.min, s.max)).collect();
            let literals = rule.literals;
            let mut texts: Vec<Vec<u8>> = Vec::new();
            if let Some(e) = literals {
                let most = wanted * SPELLINGS;
                if string_lengths::count(&mut self.cx.x, e, most + 1, limit)? > most {
                    return Ok(true);
                }
                texts.extend(string_lengths::members(&mut self.cx.x, e, limit)?.into_iter().map(String::into_bytes));
            }
            for (text, min, max) in strings {
                let x = &mut self.cx.x;
                let any = x.any_char();
                let counted = x.rep(any, min, max);
                let e = if (min, max) == (0, INF) { text } else { x.and(&[text, counted]) };
                if string_lengths::count(x, e, wanted, limit)? >= wanted {
                    return Ok(true);
                }
                let found = string_lengths::members(x, e, limit)?;
                texts.extend(found.into_iter().map(|t| serde_json::Value::from(t).to_string().into_bytes()));
            }
            self.cx.work(texts.len())?;
            values.extend(texts.iter().filter_map(|t| canonical(t)));
        }
        Ok(values.len() as u64 >= wanted)
    }

    /// Whether some length up to `available` reaches all counts: every vector of counts, length by length.
    fn counts_possible(&mut self, a: &ArrayShape, available: u64) -> Result<bool> {
        let mut now: SeededSet<Vec<u64>> = SeededSet::default();
        now.insert(vec![0; a.contains.len()]);
        let mut n = 0u64;
        let mut looked = 0usize;
        loop {
            let good = |v: &Vec<u64>| v.iter().zip(&a.contains).all(|(&k, c)| k >= c.min);
            if n >= a.min && now.iter().any(good) {
                return Ok(true);
            }
            if n >= available {
                return Ok(false);
            }
            let ways: Vec<u32> = self.usable(a.prefix.get(n as usize).unwrap_or(&a.rest)).map(|e| e.matches).collect();
            let mut next: SeededSet<Vec<u64>> = SeededSet::default();
            for v in &now {
                for w in &ways {
                    looked += 1;
                    let mut v = v.clone();
                    let mut fits = true;
                    for (bit, c) in a.contains.iter().enumerate() {
                        if w >> bit & 1 == 1 {
                            match c.max {
                                Some(m) => {
                                    v[bit] += 1;
                                    fits &= v[bit] <= m;
                                }
                                None => v[bit] = (v[bit] + 1).min(c.min),
                            }
                        }
                    }
                    if fits {
                        next.insert(v);
                    }
                }
            }
            let limit = self.cx.limits.max_explored_states;
            if looked > limit {
                return Err(Error::limit("counts of contains explored", limit as u64, looked as u64)
                    .set_by("max_explored_states"));
            }
            self.cx.work(0)?;
            if next.is_empty() {
                return Ok(false);
            }
            if n >= a.prefix.len() as u64 && next == now {
                return Ok(next.iter().any(good));
            }
            now = next;
            n += 1;
        }
    }

    /// Follows what makes the root empty as deep as it goes.
    fn blame(&self, root: RuleId) -> Error {
        let mut seen = FxHashSet::default();
        let mut at = root;
        let mut origin = self.drafts[root.0 as usize].origin;
        'down: while seen.insert(at) {
            let d = &self.drafts[at.0 as usize];
            origin = d.origin;
            for o in &d.rule.objects {
                let needed = o.properties.iter().filter(|p| p.required);
                if let Some(r) = needed.filter_map(|p| p.rule).find(|&r| !self.is(r)) {
                    at = r;
                    continue 'down;
                }
            }
            for a in &d.rule.arrays {
                let all = a.prefix.iter().flatten().chain(&a.rest);
                if let Some(e) = all.into_iter().find(|e| !self.is(e.rule)) {
                    at = e.rule;
                    continue 'down;
                }
            }
            origin = d.dead.unwrap_or(d.origin);
            break;
        }
        unsatisfiable(self.cx, origin)
    }

    fn rebuild(mut self, root: RuleId) -> Result<(Vec<Rule>, RuleId)> {
        const NEW: u32 = u32::MAX;
        let mut number = vec![NEW; self.drafts.len()];
        let mut order = Vec::with_capacity(self.drafts.len());
        order.push(root);
        let unique = self.drafts.iter().any(|d| d.rule.arrays.iter().any(|a| a.unique));
        number[root.0 as usize] = 0;
        let mut out = Vec::with_capacity(self.drafts.len());
        let mut i = 0;
        while i < order.len() {
            let at = order[i].0 as usize;
            // Arrays of unique elements ask for scalars of other rules.
            let drafted = &mut self.drafts[at].rule;
            let (mut arrays, mut objects) = (std::mem::take(&mut drafted.arrays), std::mem::take(&mut drafted.objects));
            let mut rule = if unique { drafted.clone() } else { std::mem::take(drafted) };
            keep(&mut arrays, |a| {
                let possible = self.array_possible(a)?;
                if possible {
                    self.prune_array(a);
                }
                Ok(possible)
            })?;
            keep(&mut objects, |o| {
                let possible = self.object_possible(o)?;
                if possible {
                    self.prune_object(o);
                }
                Ok(possible)
            })?;
            let mut visit = |r: &mut RuleId| {
                let n = &mut number[r.0 as usize];
                if *n == NEW {
                    *n = order.len() as u32;
                    order.push(*r);
                }
                r.0 = *n;
            };
            for a in &mut arrays {
                a.prefix.iter_mut().flatten().for_each(|e| visit(&mut e.rule));
                a.rest.iter_mut().for_each(|e| visit(&mut e.rule));
            }
            for o in &mut objects {
                o.properties.iter_mut().filter_map(|p| p.rule.as_mut()).for_each(&mut visit);
                o.others.iter_mut().for_each(|c| visit(&mut c.rule));
            }
            (rule.arrays, rule.objects) = (arrays, objects);
            out.push(rule);
            i += 1;
        }
        Ok((out, RuleId(0)))
    }

    fn prune_array(&self, a: &mut ArrayShape) {
        for w in a.prefix.iter_mut().chain([&mut a.rest]) {
            w.retain(|e| self.is(e.rule));
        }
        if let Some(i) = a.prefix.iter().position(Vec::is_empty) {
            a.prefix.truncate(i);
            a.rest.clear();
        }
    }

    fn prune_object(&self, o: &mut ObjectShape) {
        for p in &mut o.properties {
            p.rule = p.rule.filter(|&r| self.is(r));
        }
        settle_implications(o);
        o.others.retain(|c| self.is(c.rule));
        if o.others.is_empty() {
            crate::schema::lower::object::object_shape::drop_forbidden(o);
        }
    }
}

/// Leaves what is to be kept, in place.
fn keep<T>(list: &mut Vec<T>, mut keeps: impl FnMut(&mut T) -> Result<bool>) -> Result<()> {
    let mut failed = Ok(());
    list.retain_mut(|t| {
        failed.is_ok()
            && keeps(t).unwrap_or_else(|e| {
                failed = Err(e);
                false
            })
    });
    failed
}

/// The error for a schema that accepts nothing.
fn unsatisfiable(cx: &LoweringContext<'_, '_>, origin: SchemaId) -> Error {
    let pointer = cx.nodes.model.pointer(origin);
    Error::new(ErrorKind::Unsatisfiable, "no value satisfies the schema: this part of it accepts nothing")
        .at_pointer(pointer, "")
}

/// The present names, the name `i` and what they imply.
fn closed(s: &ObjectShape, present: &[bool], i: usize) -> Vec<bool> {
    let mut out = present.to_vec();
    out[i] = true;
    loop {
        let mut changed = false;
        for &(a, b) in &s.dependent_required {
            if out[a as usize] && !out[b as usize] {
                out[b as usize] = true;
                changed = true;
            }
        }
        if !changed {
            return out;
        }
    }
}

/// Draws the conclusions of `dependentRequired`: what a required name needs is required, what needs a forbidden name is
/// forbidden. `false` if that is a contradiction. Pairs that say nothing any more go.
pub(super) fn settle_implications(s: &mut ObjectShape) -> bool {
    let mut changed = true;
    while changed {
        changed = false;
        for k in 0..s.dependent_required.len() {
            let (a, b) = (s.dependent_required[k].0 as usize, s.dependent_required[k].1 as usize);
            if s.properties[a].required && !s.properties[b].required {
                s.properties[b].required = true;
                changed = true;
            }
            if s.properties[b].rule.is_none() && s.properties[a].rule.is_some() {
                s.properties[a].rule = None;
                changed = true;
            }
        }
    }
    let p = &s.properties;
    s.dependent_required.retain(|&(a, b)| p[a as usize].rule.is_some() && !p[b as usize].required);
    s.dependent_required.sort_unstable();
    s.dependent_required.dedup();
    !p.iter().any(|p| p.required && p.rule.is_none())
}

/// The rules of a finished arena.
pub(super) fn finish(cx: LoweringContext<'_, '_>, rules: Vec<Rule>, root: RuleId) -> Rules {
    let (capped_numbers, plain_constants) = (cx.capped_numbers, cx.plain_constants);
    Rules { capped_numbers, plain_constants, exprs: cx.x, rules, root }
}
