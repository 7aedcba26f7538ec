//! The ways to violate what a node says of objects: one alternative for each keyword that can fail.

use crate::schema::lower::context::{Lit, LoweringContext};
use crate::schema::lower::distribute::{Alternative, Conjunct};
use crate::schema::lower::node::{ObjectPart, SchemaNodeId, TRUE};
use crate::schema::lower::object::ObjectAtom::{Absent, Max, Min, Present, Unsupported, Value};
use crate::schema::lower::object::{Exists, Keys, ObjectAtom};

type Ways = Vec<Alternative<ObjectAtom>>;

/// All of them, with those first that tell alternatives apart best.
pub(super) fn violations(cx: &LoweringContext<'_, '_>, node: SchemaNodeId) -> Ways {
    let Some(o) = cx.nodes.get(node).object.as_deref() else { return Vec::new() };
    let mut out = Vec::new();
    named_members(cx, o, &mut out);
    other_members(cx, node, o, &mut out);
    if let Some(m) = o.min.checked_sub(1) {
        out.push(vec![atom(Max(m))]);
    }
    if let Some(m) = o.max {
        out.push(vec![atom(Min(m.saturating_add(1)))]);
    }
    dependencies(cx, o, &mut out);
    if o.unevaluated.is_some_and(|u| cx.nodes.canon(u) != TRUE) {
        let reason = "its negation would need to know which members other keywords evaluate where they fail; \
                      close the object with additionalProperties instead";
        out.push(vec![atom(Unsupported(node, "unevaluatedProperties", reason))]);
    }
    out
}

fn atom(atom: ObjectAtom) -> Conjunct<ObjectAtom> {
    Conjunct::Atom(atom)
}

/// The literal that a schema fails.
fn no(cx: &LoweringContext<'_, '_>, s: SchemaNodeId) -> Lit {
    Lit::no(cx.nodes.canon(s))
}

/// A required member is absent, or a named one is bad.
fn named_members(cx: &LoweringContext<'_, '_>, o: &ObjectPart, out: &mut Ways) {
    for &r in &o.required {
        if o.prop(r).is_none_or(|s| no(cx, s).node == TRUE) {
            out.push(vec![atom(Absent(r))]);
        }
    }
    // Constants tell alternatives apart best, so they are decided first.
    for constant in [true, false] {
        for &(name, s) in &o.props {
            let lit = no(cx, s);
            if lit.node == TRUE || cx.constants(lit.node).is_some() != constant {
                continue;
            }
            // A required name is violated where it is absent or bad: one condition on its value says both.
            let bad = atom(Value(name, lit));
            out.push(if o.required.contains(&name) { vec![bad] } else { vec![atom(Present(name)), bad] });
        }
    }
}

/// Some member is bad that a pattern or `additionalProperties` describes, or its name is.
fn other_members(cx: &LoweringContext<'_, '_>, node: SchemaNodeId, o: &ObjectPart, out: &mut Ways) {
    let patterns = o.patterns.iter().map(|&(p, s)| (Keys::Pattern(node, p), s));
    for (keys, s) in patterns.chain(o.additional.map(|s| (Keys::Additional(node), s))) {
        let lit = no(cx, s);
        if lit.node != TRUE {
            out.push(vec![atom(ObjectAtom::Exists(Exists { node, keys, lit }))]);
        }
    }
    if let Some(s) = o.names {
        let keys = Keys::Refused(cx.nodes.canon(s));
        out.push(vec![atom(ObjectAtom::Exists(Exists { node, keys, lit: Lit::yes(TRUE) }))]);
    }
}

/// A member is present without what it depends on.
fn dependencies(cx: &LoweringContext<'_, '_>, o: &ObjectPart, out: &mut Ways) {
    for (k, needs) in &o.dependent_required {
        for &n in needs.iter().filter(|n| *n != k) {
            out.push(vec![atom(Present(*k)), atom(Absent(n))]);
        }
    }
    for &(k, s) in &o.dep_schemas {
        let lit = no(cx, s);
        if lit.node != TRUE {
            out.push(vec![atom(Present(k)), Conjunct::Lit(lit, 0)]);
        }
    }
}
