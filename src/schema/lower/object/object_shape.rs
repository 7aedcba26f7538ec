//! Facts about an object to shapes: every named key once, all other keys in disjoint classes.
//!
//! Keys that no keyword names are told apart only by which patterns match them. So the texts are split by one pattern
//! after the other; what is left, with its rule, is a class. Empty classes and those without a rule vanish, so that
//! overlapping patterns cost what they need and not `2^n`.
//!
//! A violated keyword may ask that *some* member exists whose key is not known (the negation of
//! `additionalProperties`, say). Named keys are tried one by one; for all others that member is a *witness* of the
//! shape: each class that may have it appears twice, with the rule of any member and with that of the witness.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::json::rules::{KeyClass, MAX_WITNESSES, ObjectShape, Property, RuleId};
use crate::schema::lower::context::{Lit, Lits, LoweringContext};
use crate::schema::lower::distribute::Status;
use crate::schema::lower::node::{FALSE, SchemaNodeId, TRUE};
use crate::schema::lower::object::key_classes::{class_has, class_lits, list_few_keys, partition, splits};
use crate::schema::lower::object::shape_set::Shapes;
use crate::schema::lower::object::{Exists, Keys, ObjectFacts};
use crate::schema::lower::prune_unproductive::settle_implications;
use crate::schema::model::SchemaId;
use crate::schema::name_table::Name;

/// Most classes of one shape.
pub(crate) const MAX_CLASSES: usize = 64;

/// More keys than any object can use up.
pub(crate) const MANY_KEYS: u64 = 1 << 40;

/// Adds the shapes of `facts`. Where there is none, `dead` learns which schema made it so.
pub(crate) fn object_shapes(
    cx: &mut LoweringContext<'_, '_>,
    facts: ObjectFacts,
    out: &mut Shapes,
    dead: &mut Option<SchemaId>,
) -> Result<()> {
    let mut facts = facts;
    if facts.exists.is_empty() {
        cx.work(1)?;
        return build(cx, &facts, &[], out, dead);
    }
    list_few_keys(cx, &mut facts)?;
    let mut work = vec![(facts, Vec::new())];
    while let Some((mut facts, mut others)) = work.pop() {
        cx.work(1)?;
        let Some(e) = facts.exists.pop() else {
            build(cx, &facts, &others, out, dead)?;
            continue;
        };
        match brought(cx, &facts, &e)? {
            Status::Dead => continue,
            Status::Holds => {
                work.push((facts, others));
                continue;
            }
            Status::Open => {}
        }
        let mut with = others.clone();
        with.push(e);
        let names = all_names(cx, &facts, &with);
        for n in names {
            if !has_key(cx, &e, n)? {
                continue;
            }
            let mut f = facts.clone();
            if f.set_presence(n, true) {
                f.values.push((n, e.lit));
                let lits = cx.member_lits(&f, n)?;
                if let Some(mut lits) = lits
                    && !cx.is_empty_scalar(&mut lits)?
                {
                    work.push((f, others.clone()));
                }
            }
        }
        if work.len() + out.len() > cx.limits.max_alternatives {
            let n = (work.len() + out.len()) as u64;
            return Err(Error::limit(
                "the number of alternatives that anyOf, oneOf and if make of one schema",
                cx.limits.max_alternatives as u64,
                n,
            )
            .set_by("max_alternatives"));
        }
        others.push(e);
        work.push((facts, others));
    }
    Ok(())
}

/// Whether a member that is known to be present is one that `e` asks for. Every other way to bring one is then a part
/// of what the facts allow. `Dead` where such a member cannot be.
fn brought(cx: &mut LoweringContext<'_, '_>, facts: &ObjectFacts, e: &Exists) -> Result<Status> {
    for &(name, present) in &facts.presence {
        if !present || !has_key(cx, e, name)? {
            continue;
        }
        let Some(lits) = cx.member_lits(facts, name)? else { return Ok(Status::Dead) };
        if e.lit == Lit::yes(TRUE) || e.lit == Lit::no(FALSE) || lits.contains(&e.lit) {
            return Ok(Status::Holds);
        }
    }
    Ok(Status::Open)
}

/// Whether a named key is one of those that `e` speaks of.
fn has_key(cx: &mut LoweringContext<'_, '_>, e: &Exists, name: Name) -> Result<bool> {
    match e.keys {
        Keys::Pattern(node, p) => cx.pattern_matches(node, p, name),
        Keys::Refused(node) => cx.accepts_key(Lit::no(node), name),
        Keys::Additional(node) => {
            let Some(o) = cx.nodes.get(node).object.as_deref() else { return Ok(false) };
            if o.prop(name).is_some() {
                return Ok(false);
            }
            let patterns: Vec<Name> = o.patterns.iter().map(|p| p.0).collect();
            for p in patterns {
                if cx.pattern_matches(node, p, name)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Every name that the facts mention, in declared order.
fn all_names(cx: &mut LoweringContext<'_, '_>, facts: &ObjectFacts, others: &[Exists]) -> Vec<Name> {
    let props = |g: SchemaNodeId| cx.nodes.get(g).object.as_ref().map_or(0, |o| o.props.len());
    let mut out = Vec::with_capacity(facts.groups.iter().map(|&g| props(g)).sum::<usize>() + facts.presence.len());
    let violated = facts.exists.iter().chain(others).filter_map(|e| match e.keys {
        Keys::Additional(n) => Some(n),
        _ => None,
    });
    for g in facts.groups.iter().copied().chain(violated) {
        out.extend(cx.nodes.get(g).object.iter().flat_map(|o| o.props.iter().map(|p| p.0)));
    }
    out.extend(facts.presence.iter().map(|p| p.0));
    out.extend(facts.values.iter().map(|v| v.0));
    out.extend_from_slice(&facts.listed);
    out.extend(facts.dependent_required.iter().flat_map(|&(a, b)| [a, b]));
    if out.len() > 16 {
        cx.keep_once(&mut out);
    } else {
        let mut i = 0;
        while i < out.len() {
            if out[..i].contains(&out[i]) {
                out.remove(i);
            } else {
                i += 1;
            }
        }
    }
    out
}

fn build(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ObjectFacts,
    others: &[Exists],
    out: &mut Shapes,
    dead: &mut Option<SchemaId>,
) -> Result<()> {
    let names = all_names(cx, facts, others);
    let mut properties = Vec::with_capacity(names.len());
    for &n in &names {
        let presence = facts.presence_of(n);
        let required = presence == Some(true);
        let mut rule = None;
        if presence != Some(false)
            && let Some(lits) = cx.member_lits(facts, n)?
        {
            let origin = cx.origin(&lits);
            rule = cx.rule(lits)?;
            if rule.is_none() && required {
                *dead = dead.or(Some(origin));
            }
        }
        if rule.is_none() && required {
            return Ok(());
        }
        properties.push(Property { name: cx.nodes.name(n), rule, required });
    }
    let mut shape = ObjectShape {
        properties,
        others: Vec::new(),
        min: facts.min,
        max: facts.max,
        dependent_required: Vec::new(),
        witnesses: 0,
    };
    if !facts.dependent_required.is_empty() {
        let index: rustc_hash::FxHashMap<Name, u32> = names.iter().enumerate().map(|(i, &n)| (n, i as u32)).collect();
        let pairs = facts.dependent_required.iter().filter_map(|(a, b)| Some((*index.get(a)?, *index.get(b)?)));
        shape.dependent_required = pairs.collect();
    }
    if !settle_implications(&mut shape) {
        return Ok(());
    }
    let mut found = None;
    if facts.max == Some(0) {
        // A key that is required has no room.
        if others.is_empty() && !shape.properties.iter().any(|p| p.required) {
            shape.properties.clear();
            shape.dependent_required.clear();
            found = Some(shape);
        }
    } else {
        found = classes(cx, facts, others, shape)?;
    }
    if let Some(mut s) = found {
        if s.others.is_empty() {
            drop_forbidden(&mut s);
        }
        out.add(s);
    }
    Ok(())
}

/// Where no other keys are allowed, a forbidden name needs no mention.
pub(crate) fn drop_forbidden(s: &mut ObjectShape) {
    if s.properties.iter().all(|p| p.rule.is_some()) {
        return;
    }
    let mut kept = Vec::with_capacity(s.properties.len());
    let mut to = vec![u32::MAX; s.properties.len()];
    for (i, p) in std::mem::take(&mut s.properties).into_iter().enumerate() {
        if p.rule.is_some() {
            to[i] = kept.len() as u32;
            kept.push(p);
        }
    }
    s.properties = kept;
    for (a, b) in &mut s.dependent_required {
        (*a, *b) = (to[*a as usize], to[*b as usize]);
    }
    s.dependent_required.retain(|p| p.0 != u32::MAX && p.1 != u32::MAX);
}

fn classes(
    cx: &mut LoweringContext<'_, '_>,
    facts: &ObjectFacts,
    others: &[Exists],
    mut shape: ObjectShape,
) -> Result<Option<ObjectShape>> {
    if others.len() > MAX_WITNESSES as usize {
        return Err(Error::limit("members that must exist", MAX_WITNESSES.into(), others.len() as u64));
    }
    let splits = splits(cx, facts, others)?;
    let (base, found) = partition(cx, facts, &splits)?;
    let mut all: SmallVec<[(KeyClass, usize); 2]> = SmallVec::new();
    let mut unstated = 0u32;
    for c in &found {
        let lits = class_lits(cx, facts, &splits, &c.matched);
        let Some(any) = cx.rule(lits.clone())? else { continue };
        // Where nobody asks for members, it matters only whether there are keys.
        let size = cx.class_size(c.keys, &shape, if others.is_empty() { 1 } else { MANY_KEYS })?;
        if size == 0 {
            continue;
        }
        let class_others = others.iter().enumerate().filter(|(_, e)| class_has(cx, e, &splits, &c.matched)).collect();
        let can = possible_witnesses(cx, class_others, &lits)?;
        let mut ways = witness_ways(cx, others, &can, &lits, any)?;
        if ways.len() > 1 && size < shape.max.unwrap_or(MANY_KEYS).min(MANY_KEYS) {
            // Members that are no witness could use the few keys up.
            can.iter().filter(|&i| ways[0].1 >> i & 1 == 0).for_each(|i| unstated |= 1 << i);
            ways.truncate(1);
        }
        for (rule, matches) in ways {
            match all.iter_mut().find(|(c, _)| (c.rule, c.matches) == (rule, matches)) {
                Some((k, n)) => (k.keys, *n) = (cx.x.alt(&[k.keys, c.keys]), *n + 1),
                None => all.push((KeyClass { keys: c.keys, rule, matches }, 1)),
            }
        }
        if all.len() > MAX_CLASSES {
            return Err(Error::limit(
                "the number of groups of property names that keywords tell apart",
                MAX_CLASSES as u64,
                all.len() as u64,
            ));
        }
    }
    for (_, e) in others.iter().enumerate().filter(|(i, _)| unstated >> i & 1 == 1) {
        let (node, keyword) = keyword_of(e);
        let reason = "its negation asks for some member among few keys that are not named; name the keys, or make \
                      the alternatives differ in a required constant";
        cx.unsupported(node, keyword, reason)?;
    }
    shape.others.reserve_exact(all.len());
    for (mut c, n) in all {
        if n == found.len() && n > 1 {
            c.keys = base;
        }
        c.matches = renumbered(c.matches, unstated);
        shape.others.push(c);
    }
    let stated = others.len() as u32 - unstated.count_ones();
    shape.witnesses = (1 << stated) - 1;
    let witnessed = !shape.others.iter().fold(0, |m, c| m | c.matches) & shape.witnesses == 0;
    Ok(witnessed.then_some(shape))
}

/// Which of the conditions that apply to a class some member of it can satisfy.
fn possible_witnesses(
    cx: &mut LoweringContext<'_, '_>,
    applying: SmallVec<[(usize, &Exists); 2]>,
    lits: &Lits,
) -> Result<Vec<usize>> {
    let mut can = Vec::new();
    for (i, e) in applying {
        let mut with = lits.clone();
        with.push(e.lit);
        if cx.rule(with)?.is_some() {
            can.push(i);
        }
    }
    Ok(can)
}

/// The rules of a class with the conditions that a member of each satisfies: `any` for none, and one for each set of
/// conditions that members can satisfy together.
fn witness_ways(
    cx: &mut LoweringContext<'_, '_>,
    others: &[Exists],
    can: &[usize],
    lits: &Lits,
    any: RuleId,
) -> Result<SmallVec<[(RuleId, u32); 2]>> {
    let mut ways: SmallVec<[(RuleId, u32); 2]> = SmallVec::from_iter([(any, 0)]);
    for chosen in 1..1u32 << can.len() {
        cx.work(1)?;
        let mut with = lits.clone();
        let mut matches = 0;
        for (_, &i) in can.iter().enumerate().filter(|(k, _)| chosen >> k & 1 == 1) {
            with.push(others[i].lit);
            matches |= 1 << i;
        }
        let Some(rule) = cx.rule(with)? else { continue };
        match ways.iter_mut().find(|w| w.0 == rule) {
            // One rule that says both: what it accepts is all of these witnesses.
            Some(w) => w.1 |= matches,
            None => ways.push((rule, matches)),
        }
    }
    Ok(ways)
}

/// The bits of `matches` without those of `gone`, moved together.
fn renumbered(matches: u32, gone: u32) -> u32 {
    let kept = (0..32).filter(|i| gone >> i & 1 == 0);
    kept.zip(0..32).fold(0, |m, (from, to)| m | (matches >> from & 1) << to)
}

fn keyword_of(e: &Exists) -> (SchemaNodeId, &'static str) {
    let keyword = match e.keys {
        Keys::Additional(_) => "additionalProperties",
        Keys::Pattern(..) => "patternProperties",
        Keys::Refused(_) => "propertyNames",
    };
    (e.node, keyword)
}
