//! Lowering: the typed schema to rules, by exact algebra.
//!
//! A rule is an interned conjunction of *literals* (a schema, or its negation). It is normalized by the type of the
//! value: scalars by algebra on sets (`scalar`), arrays and objects by distribution into shapes (`distribute`, `array`,
//! `object`). The children of a shape are conjunctions again, found in a work list; there are finitely many, so
//! recursive schemas end. When all rules are there, those that accept nothing are pruned (`prune_unproductive`).
//!
//! ```text
//! model --node--> nodes --context--> conjunctions --scalar | distribute--> shapes --prune_unproductive--> rules
//! ```

mod array;
mod constants;
mod context;
mod disjoint;
mod distribute;
mod enum_values;
mod negation;
mod node;
mod node_facts;
mod object;
mod prune_unproductive;
mod restrict_to_vocabulary;
mod rule_parents;
mod scalar;
mod standard_exprs;
mod unique_constants;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::Alphabet;
use crate::json::rules::{Rule, Rules};
use crate::limits::Limits;
use crate::schema::lower::array::{Arrays, array_shape};
use crate::schema::lower::context::{Lit, Lits, LoweringContext};
use crate::schema::lower::distribute::distribute;
use crate::schema::lower::node::Nodes;
use crate::schema::lower::object::Objects;
use crate::schema::lower::object::object_shape::object_shapes;
use crate::schema::lower::object::shape_set::Shapes;
use crate::schema::lower::prune_unproductive::{DraftRules, finish, prune};
pub use crate::schema::lower::standard_exprs::standard;
use crate::schema::model::{SchemaModel, Types};
use crate::schema::options::SchemaOptions;
use crate::schema::report::ReportRow;

/// The rules of a schema. Adds rows to `report` for keywords that are not enforced exactly.
///
/// # Errors
/// - `Schema` for a schema that applies to itself in place;
/// - `Unsupported` for what cannot be stated exactly, unless the options say to leave it out;
/// - `Unsatisfiable` where the schema accepts no value, with the deepest place that is at fault;
/// - `Limit` where the algebra needs more than the limits allow.
///
/// Cost: near linear for schemas without overlapping alternatives; distribution of alternatives that overlap is
/// exponential at worst and bounded by the limits.
pub fn lower(
    model: &SchemaModel,
    options: &SchemaOptions,
    limits: &Limits,
    report: &mut Vec<ReportRow>,
) -> Result<Rules> {
    lower_within(model, options, limits, report, None).map(|(rules, _)| rules)
}

/// The rules of a schema, narrowed to documents that can be written with `alphabet`, and whether that took anything
/// away. Errors and cost are those of [`lower`].
pub fn lower_within(
    model: &SchemaModel,
    options: &SchemaOptions,
    limits: &Limits,
    report: &mut Vec<ReportRow>,
    alphabet: Option<&Alphabet>,
) -> Result<(Rules, bool)> {
    let nodes = Nodes::build(model)?;
    let mut cx = LoweringContext::new(nodes, options, limits, report)?;
    let root = cx.nodes.of_schema(model.root);
    let Some(root) = cx.rule(Lits::from_slice(&[Lit::yes(root)]))? else {
        let pointer = model.pointer(model.root);
        let e = Error::new(ErrorKind::Unsatisfiable, "no value satisfies the schema: it accepts nothing");
        return Err(e.at_pointer(pointer, ""));
    };
    let mut drafts: Vec<DraftRules> = Vec::with_capacity(model.schemas.len() / 2);
    let mut narrowed = false;
    while let Some(lits) = cx.queue.get(drafts.len()).cloned() {
        let mut draft = draft(&mut cx, &lits).map_err(|e| {
            let pointer = cx.nodes.model.pointer(cx.origin(&lits));
            e.at_pointer(pointer, "")
        })?;
        if let Some(alphabet) = alphabet {
            narrowed |= cx.narrow(&mut draft, alphabet)?;
        }
        drafts.push(draft);
    }
    let (rules, root) = prune(&mut cx, drafts, root)?;
    cx.x.check()?;
    cx.write_rows();
    Ok((finish(cx, rules, root), narrowed))
}

/// One conjunction, type by type.
fn draft(cx: &mut LoweringContext<'_, '_>, lits: &[Lit]) -> Result<DraftRules> {
    let mask = Types(lits.iter().fold(Types::ALL.0, |m, &l| m & cx.mask(l).0));
    let mut dead = None;
    let mut rule = Rule::default();
    let mut scalars = Some(0);
    if mask.0 & !(Types::ARRAY.0 | Types::OBJECT.0) != 0 {
        let s = cx.scalars_of(lits)?;
        scalars = s.size();
        (rule.literals, rule.strings) = cx.finish_scalars(&s)?;
    }
    if mask.contains(Types::ARRAY) {
        for facts in distribute::<Arrays>(cx, lits)? {
            array_shape(cx, facts, &mut rule.arrays, &mut dead)?;
        }
    }
    if mask.contains(Types::OBJECT) {
        let mut shapes = Shapes::default();
        for facts in distribute::<Objects>(cx, lits)? {
            object_shapes(cx, facts, &mut shapes, &mut dead)?;
        }
        rule.objects = shapes.into_list();
    }
    let n = rule.arrays.len() + rule.objects.len();
    if n > cx.limits.max_alternatives {
        return Err(Error::limit(
            "the number of alternatives that anyOf, oneOf and if make of one schema",
            cx.limits.max_alternatives as u64,
            n as u64,
        )
        .set_by("max_alternatives"));
    }
    Ok(DraftRules { rule, scalars, origin: cx.origin(lits), dead })
}
