//! Classes of keys: the texts that no keyword names, split by one pattern after the other.
//!
//! Keys are told apart only by which patterns match them. Each class is inside or outside of every split; classes
//! without a key vanish, so that overlapping patterns cost what they need and not `2^n`.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::expr::{ExprId, Exprs, INF};
use crate::json::rules::ObjectShape;
use crate::schema::lower::context::{Lit, Lits, LoweringContext};
use crate::schema::lower::node::{SchemaNodeId, TRUE};
use crate::schema::lower::object::object_shape::{MANY_KEYS, MAX_CLASSES};
use crate::schema::lower::object::{Exists, Keys, ObjectFacts};
use crate::schema::lower::scalar::string_lengths;
use crate::schema::name_table::Name;

/// Keys of a class that a witness may have are named instead where they are no more than these.
const MAX_LISTED: u64 = 32;

/// Something that tells keys apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeySplit {
    Pattern(Name),
    Refused(SchemaNodeId),
}

/// Keys that match exactly some of the splits.
pub(crate) struct KeyClass {
    pub keys: ExprId,
    pub matched: SmallVec<[bool; 16]>,
}

/// The keys that the facts allow, and their classes: disjoint, and each inside or outside of every split.
pub(crate) fn partition(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ObjectFacts,
    splits: &[(KeySplit, ExprId)],
) -> Result<(ExprId, SmallVec<[KeyClass; 2]>)> {
    let mut base = cx.any_text;
    for &l in &facts.names {
        let keys = cx.key_language(l)?;
        base = cx.meet(base, keys);
    }
    let mut found: SmallVec<[KeyClass; 2]> = SmallVec::from_iter([KeyClass { keys: base, matched: SmallVec::new() }]);
    for (i, &(_, e)) in splits.iter().enumerate() {
        let mut next = SmallVec::with_capacity(found.len() * 2);
        for c in found {
            let inside = cx.meet(c.keys, e);
            let outside = cx.x.minus(c.keys, e);
            for (keys, m) in [(inside, true), (outside, false)] {
                // One split needs no check: a class without a rule vanishes before its keys matter.
                if i == 0 || cx.x.is_inhabited(keys, cx.limits.max_explored_states)? {
                    let mut matched = c.matched.clone();
                    matched.push(m);
                    next.push(KeyClass { keys, matched });
                }
            }
        }
        found = next;
        if found.len() > MAX_CLASSES {
            return Err(Error::limit(
                "the number of groups of property names that keywords tell apart",
                MAX_CLASSES as u64,
                found.len() as u64,
            ));
        }
    }
    Ok((base, found))
}

/// Where some member must exist among few keys, names them: then they are tried one by one, and cannot be used up.
pub(crate) fn list_few_keys(cx: &mut LoweringContext<'_, '_>, facts: &mut ObjectFacts) -> Result<()> {
    if facts.exists.is_empty() || facts.max == Some(0) {
        return Ok(());
    }
    let splits = splits(cx, facts, &facts.exists)?;
    let (_, found) = partition(cx, facts, &splits)?;
    for c in &found {
        if c.keys == cx.any_text || !facts.exists.iter().any(|e| class_has(cx, e, &splits, &c.matched)) {
            continue;
        }
        let limit = cx.limits.max_explored_states;
        if string_lengths::count(&mut cx.x, c.keys, MAX_LISTED + 1, limit)? <= MAX_LISTED {
            for key in string_lengths::members(&mut cx.x, c.keys, limit)? {
                cx.work(1)?;
                let name = cx.nodes.intern(&key);
                facts.listed.push(name);
            }
        }
    }
    Ok(())
}

/// Everything that tells keys apart in these facts, with the keys it stands for.
pub(crate) fn splits(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ObjectFacts,
    others: &[Exists],
) -> Result<Vec<(KeySplit, ExprId)>> {
    let mut out: Vec<(KeySplit, ExprId)> = Vec::new();
    let mut nodes: SmallVec<[SchemaNodeId; 8]> = SmallVec::from_slice(&facts.groups);
    nodes.extend(facts.scopes.iter().flat_map(|s| s.by.iter().copied()));
    for e in others {
        match e.keys {
            Keys::Additional(n) | Keys::Pattern(n, _) => nodes.push(n),
            Keys::Refused(n) => {
                let keys = cx.key_language(Lit::no(n))?;
                out.push((KeySplit::Refused(n), keys));
            }
        }
    }
    for n in nodes {
        let patterns: SmallVec<[Name; 8]> =
            cx.nodes.get(n).object.iter().flat_map(|o| o.patterns.iter().map(|p| p.0)).collect();
        for p in patterns {
            if out.iter().any(|o| o.0 == KeySplit::Pattern(p)) {
                continue;
            }
            let text = cx.nodes.name(p);
            let e = cx.pattern_text(n, "patternProperties", &text)?.unwrap_or(Exprs::NEVER);
            out.push((KeySplit::Pattern(p), e));
        }
    }
    Ok(out)
}

fn is_matched(splits: &[(KeySplit, ExprId)], matched: &[bool], s: KeySplit) -> bool {
    splits.iter().zip(matched).any(|(o, &m)| m && o.0 == s)
}

pub(crate) fn class_has(
    cx: &LoweringContext<'_, '_>,
    e: &Exists,
    splits: &[(KeySplit, ExprId)],
    matched: &[bool],
) -> bool {
    match e.keys {
        Keys::Pattern(_, p) => is_matched(splits, matched, KeySplit::Pattern(p)),
        Keys::Refused(n) => is_matched(splits, matched, KeySplit::Refused(n)),
        Keys::Additional(n) => {
            let o = cx.nodes.get(n).object.as_deref();
            !o.is_some_and(|o| o.patterns.iter().any(|p| is_matched(splits, matched, KeySplit::Pattern(p.0))))
        }
    }
}

/// What the members of a class must satisfy.
pub(crate) fn class_lits(
    cx: &LoweringContext<'_, '_>,
    facts: &ObjectFacts,
    splits: &[(KeySplit, ExprId)],
    matched: &[bool],
) -> Lits {
    let describe = |g: SchemaNodeId, lits: &mut Lits| -> bool {
        let Some(o) = cx.nodes.get(g).object.as_deref() else { return false };
        let before = lits.len();
        let hits = o.patterns.iter().filter(|p| is_matched(splits, matched, KeySplit::Pattern(p.0)));
        lits.extend(hits.map(|p| Lit::yes(p.1)));
        if lits.len() == before {
            lits.extend(o.additional.map(Lit::yes));
        }
        lits.len() > before
    };
    let mut lits = Lits::new();
    for &g in &facts.groups {
        describe(g, &mut lits);
    }
    for s in facts.scopes.iter().filter(|s| !s.all) {
        if !s.by.iter().any(|&g| describe(g, &mut Lits::new())) {
            lits.push(Lit::yes(s.schema));
        }
    }
    lits
}

impl LoweringContext<'_, '_> {
    /// The keys that a schema under `propertyNames` accepts, or refuses.
    pub fn key_language(&mut self, l: Lit) -> Result<ExprId> {
        if l.node == TRUE {
            return Ok(if l.negated { Exprs::NEVER } else { self.any_text });
        }
        let s = if l.negated { self.complement(l.node)? } else { self.scalars(l.node)? };
        if l.negated {
            self.refuse_doubt(&s)?;
        }
        let mut parts = Vec::new();
        for set in &s.sets {
            let mut e = set.text;
            if set.min > 0 || set.max != INF {
                let c = self.x.any_char();
                let length = self.x.rep(c, set.min, set.max);
                e = if e == self.any_text { length } else { self.x.and(&[e, length]) };
            }
            parts.push(e);
        }
        if !s.words.is_empty() {
            parts.push(self.words_text(&s.words));
        }
        Ok(self.x.alt(&parts))
    }

    /// How many keys of a class are not named. More than `enough` are not told apart: `enough` stands for all of them.
    pub fn class_size(&mut self, keys: ExprId, shape: &ObjectShape, enough: u64) -> Result<u64> {
        let enough = enough.min(MANY_KEYS);
        if keys == self.any_text {
            return Ok(enough);
        }
        let most = enough.saturating_add(shape.properties.len() as u64);
        let n = match self.sizes.get(&keys) {
            // All were counted, or so many that more do not matter.
            Some(&(n, counted)) if n < counted || most <= counted => n,
            _ => {
                let n = string_lengths::count(&mut self.x, keys, most, self.limits.max_explored_states)?;
                self.sizes.insert(keys, (n, most));
                n
            }
        };
        if n >= most {
            return Ok(enough);
        }
        let named = shape.properties.iter().filter(|p| self.x.accepts(keys, p.name.as_bytes())).count() as u64;
        Ok(n.saturating_sub(named).min(enough))
    }
}
