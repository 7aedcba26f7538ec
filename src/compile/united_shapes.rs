//! United shapes: which alternatives of a rule's objects are stepped as one.
//!
//! Independent conditions multiply: twelve of them are 4,096 shapes of one rule, each of which a guide would carry
//! along through every key. Where keys come in any order, shapes without witnesses and `dependentRequired` and with
//! equal bounds differ only in the rules of names and in which of them are needed. Those that agree in their classes of
//! keys become one shape with a [`ShapeUnion`]. What it holds is about as large as the shapes are together.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::expr::{ExprId, Exprs};
use crate::json::rules::{ObjectShape, RuleId};
use crate::pushdown::json::shape_union::{RuleSets, ShapeUnion};
use crate::util::cancel::charge;
use crate::util::seeded_hash::SeededMap;

/// Alternatives below which each is stepped by itself: objects of most schemas have fewer, and their masks are shared
/// with other schemas as long as nothing but their names tells them apart.
const LEAST: usize = 16;
/// Bytes of one union's sets: 100,000 rules of names in 1,024 alternatives. Beyond that the alternatives stay apart.
const BYTES: usize = 16 << 20;

/// [`LEAST`], unless a test sets another.
fn least() -> usize {
    #[cfg(test)]
    if let Some(least) = tests::LEAST_HERE.get() {
        return least;
    }
    LEAST
}

/// Several shapes of a rule as one.
pub(super) struct UnitedShape {
    /// The shapes' numbers in their rule.
    pub(super) shapes: Vec<usize>,
    /// All names.
    pub(super) names: Vec<Arc<str>>,
    /// The keys of each class, without the names.
    pub(super) classes: Vec<ExprId>,
    /// What the alternatives differ in.
    pub(super) union: ShapeUnion,
    /// Fewest members.
    pub(super) min: u64,
    /// Most members.
    pub(super) max: u64,
}

/// The shapes of a rule that can be united, for keys in any order.
pub(super) fn unite(objects: &[ObjectShape], exprs: &mut Exprs, any_text: ExprId) -> Vec<UnitedShape> {
    if objects.len() < least() {
        return Vec::new();
    }
    // By the classes of keys and the numbers of members, in the order of the first of each.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: SeededMap<(u64, u64, SmallVec<[ExprId; 2]>), usize> = SeededMap::default();
    for (i, o) in objects.iter().enumerate() {
        let free = o.witnesses == 0 && o.dependent_required.is_empty();
        // With a class that has no end there are always enough members.
        if !free || (o.min > 0 && o.others.is_empty()) {
            continue;
        }
        let group = *known
            .entry((o.min, o.max.unwrap_or(u64::MAX), o.others.iter().map(|c| c.keys).collect()))
            .or_insert(groups.len());
        groups.resize(groups.len().max(group + 1), Vec::new());
        groups[group].push(i);
    }
    let large = groups.into_iter().filter(|group| group.len() >= least());
    large.filter_map(|group| united(objects, group, exprs, any_text)).collect()
}

fn united(objects: &[ObjectShape], shapes: Vec<usize>, exprs: &mut Exprs, any_text: ExprId) -> Option<UnitedShape> {
    let words = shapes.len().div_ceil(64);
    let first = &objects[shapes[0]];
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut numbers: SeededMap<Arc<str>, usize> = SeededMap::default();
    // For each name, the alternatives that say something of it.
    let mut own: Vec<Vec<(usize, Option<RuleId>)>> = Vec::new();
    let mut needs: Vec<(usize, usize)> = Vec::new();
    for (alternative, &shape) in shapes.iter().enumerate() {
        charge(1 + objects[shape].properties.len() / 8);
        for p in &objects[shape].properties {
            let name = *numbers.entry(p.name.clone()).or_insert_with(|| {
                names.push(p.name.clone());
                own.push(Vec::new());
                names.len() - 1
            });
            if p.required {
                // What cannot be had is left out by whoever made the rules.
                p.rule?;
                needs.push((alternative, name));
            }
            own[name].push((alternative, p.rule));
        }
    }
    let mut bytes = 0;
    let mut classes: Vec<RuleSets> = Vec::with_capacity(first.others.len());
    for class in 0..first.others.len() {
        let rules = shapes.iter().map(|&shape| objects[shape].others[class].rule).enumerate();
        classes.push(sets(rules, RuleSets::new(), words, &mut bytes)?);
    }
    let mut named = Vec::with_capacity(names.len());
    let mut keys: Vec<ExprId> = first.others.iter().map(|c| c.keys).collect();
    let mut taken: Vec<Vec<&str>> = vec![Vec::new(); keys.len()];
    for (name, own) in names.iter().zip(&own) {
        let mut of = (0..keys.len()).filter(|&c| keys[c] == any_text || exprs.accepts(keys[c], name.as_bytes()));
        // Where the name is none of an alternative's, it is a key of a class.
        let class = of.next();
        if of.next().is_some() {
            return None;
        }
        let mut others = class.map_or_else(RuleSets::new, |class| classes[class].clone());
        for (_, set) in &mut others {
            own.iter().for_each(|&(alternative, _)| set[alternative / 64] &= !(1 << (alternative % 64)));
        }
        others.retain(|(_, set)| set.iter().any(|word| *word != 0));
        bytes += others.len() * words * 8;
        let rules = own.iter().filter_map(|&(alternative, rule)| Some((alternative, rule?)));
        named.push(sets(rules, others, words, &mut bytes)?);
        if let Some(class) = class {
            taken[class].push(name);
        }
    }
    for (keys, taken) in keys.iter_mut().zip(&taken).filter(|(keys, _)| **keys != any_text) {
        if !taken.is_empty() {
            let taken = exprs.choice(taken);
            *keys = exprs.minus(*keys, taken);
        }
    }
    let width = names.len().div_ceil(64);
    bytes += shapes.len() * width * 8;
    if bytes > BYTES {
        return None;
    }
    let mut required = vec![0; shapes.len() * width];
    needs.iter().for_each(|&(alternative, name)| required[alternative * width + name / 64] |= 1 << (name % 64));
    let union = ShapeUnion::new(shapes.len(), (named, classes), required, width);
    let max = first.max.unwrap_or(u64::MAX);
    // What cannot be completed is left out by whoever made the rules.
    (union.most_required() <= max).then_some(())?;
    Some(UnitedShape { min: first.min, max, shapes, names, classes: keys, union })
}

/// The sets of alternatives by their rules, added to other sets; `None` where all sets together are too large.
fn sets(
    rules: impl Iterator<Item = (usize, RuleId)>,
    mut out: RuleSets,
    words: usize,
    bytes: &mut usize,
) -> Option<RuleSets> {
    let mut places: FxHashMap<u32, usize> = out.iter().zip(0..).map(|((rule, _), at)| (rule.0, at)).collect();
    for (alternative, rule) in rules {
        let at = *places.entry(rule.0).or_insert_with(|| {
            out.push((rule, vec![0; words].into()));
            *bytes += words * 8;
            out.len() - 1
        });
        if *bytes > BYTES {
            return None;
        }
        out[at].1[alternative / 64] |= 1 << (alternative % 64);
    }
    Some(out)
}

#[cfg(test)]
mod tests;
