//! What every part of lowering shares: nodes, arena, caches, the work list of rules and the count of work.
//!
//! A *literal* is a node or its negation; a *conjunction* is a sorted set of literals, and one rule. Conjunctions are
//! normalized before they are interned: what is implied goes, and what contradicts itself is no rule at all.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{ExprId, Exprs};
use crate::json::rules::RuleId;
use crate::limits::Limits;
use crate::schema::format;
use crate::schema::format::Format;
use crate::schema::lower::constants::Constants;
use crate::schema::lower::disjoint::DisjointPairs;
use crate::schema::lower::node::{FALSE, Nodes, SchemaNodeId, TRUE};
use crate::schema::lower::scalar::Scalars;
use crate::schema::lower::standard_exprs::{StandardExprs, common};
use crate::schema::model::{Keywords, SchemaId, SchemaKind, Types};
use crate::schema::name_table::Name;
use crate::schema::number::NumberBounds;
use crate::schema::options::{OnUnsupported, SchemaOptions};
use crate::schema::report::{Enforcement, ReportRow};
use crate::util::cancel::checkpoint;
use crate::util::seeded_hash::{SeededMap, SeededSet};

/// A node, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Lit {
    pub node: SchemaNodeId,
    pub negated: bool,
}

impl Lit {
    pub fn yes(node: SchemaNodeId) -> Self {
        Lit { node, negated: false }
    }

    pub fn no(node: SchemaNodeId) -> Self {
        Lit { node, negated: true }
    }

    pub fn negate(self) -> Self {
        Lit { negated: !self.negated, ..self }
    }
}

/// A conjunction in the making. Most have no more than a few literals.
pub(super) type Lits = SmallVec<[Lit; 8]>;

/// The state of a lowering: the work list of conjunctions, their rules, and the expressions of scalars.
pub(super) struct LoweringContext<'m, 'a> {
    pub nodes: Nodes<'m>,
    pub limits: &'a Limits,
    pub options: &'a SchemaOptions,
    pub report: &'a mut Vec<ReportRow>,
    pub x: Exprs,
    pub common: &'static StandardExprs,
    pub any_text: ExprId,
    pub any_number: ExprId,
    /// Whether some number without bounds was stated, whose digits are capped.
    pub capped_numbers: bool,
    /// Whether constants are written plainly, and whether there are any.
    pub plain: bool,
    pub plain_constants: bool,
    pub pattern_hits: SeededMap<(Name, Name), bool>,
    pub pattern_exprs: SeededMap<String, Option<ExprId>>,
    pub bounds: SeededMap<Arc<NumberBounds>, ExprId>,
    /// How many texts, counted up to how many.
    pub sizes: FxHashMap<ExprId, (u64, u64)>,
    /// Sets of texts and what they lack, both ways.
    pub other_texts: FxHashMap<ExprId, ExprId>,
    pub inhabited: SeededMap<(ExprId, u32, u32), bool>,
    pub formats: SeededMap<String, Option<Format>>,
    /// By format: texts beyond which no reading of it goes.
    widest_formats: SeededMap<String, ExprId>,
    /// Texts of formats of this schema, the second of which has all that the first has.
    pub format_subsets: Vec<(ExprId, ExprId)>,
    /// Conjunctions of scalar types only, and whether they accept nothing.
    pub empty: SeededMap<Box<[Lit]>, bool>,
    pub scalars: Vec<Option<Rc<Scalars>>>,
    pub complements: FxHashMap<SchemaNodeId, Rc<Scalars>>,
    /// Conjunctions of two literals and more, positive ones first, with their scalars.
    pub conjunctions: SeededMap<Box<[Lit]>, Rc<Scalars>>,
    pub disjoint: DisjointPairs,
    pub constants: Constants,
    rows: Vec<(SchemaNodeId, &'static str, Enforcement, String)>,
    noted: SeededSet<(SchemaNodeId, &'static str)>,
    rules: SeededMap<Rc<[Lit]>, RuleId>,
    /// The conjunction of every rule, in the order of their ids.
    pub queue: Vec<Rc<[Lit]>>,
    steps: usize,
    /// By name: the round of [`keep_once`](Self::keep_once) that met it last.
    seen: Vec<u64>,
    round: u64,
}

impl<'m, 'a> LoweringContext<'m, 'a> {
    pub fn new(
        nodes: Nodes<'m>,
        options: &'a SchemaOptions,
        limits: &'a Limits,
        report: &'a mut Vec<ReportRow>,
    ) -> Result<Self> {
        let common = common()?;
        let (mut x, any_text, any_number) =
            (Exprs::on(&common.x, limits.max_expr_nodes), common.any_text, common.any_number);
        let scalars = vec![None; nodes.len()];
        let disjoint = DisjointPairs::new(nodes.len());
        let mut rules = SeededMap::default();
        rules.reserve(nodes.len());
        x.reserve(nodes.len() * 2);
        Ok(LoweringContext {
            nodes,
            limits,
            options,
            report,
            x,
            common,
            any_text,
            any_number,
            capped_numbers: false,
            plain: options.has_plain_constants(),
            plain_constants: false,
            pattern_hits: SeededMap::default(),
            pattern_exprs: SeededMap::default(),
            bounds: SeededMap::default(),
            sizes: FxHashMap::default(),
            other_texts: FxHashMap::default(),
            inhabited: SeededMap::default(),
            formats: SeededMap::default(),
            widest_formats: SeededMap::default(),
            format_subsets: Vec::new(),
            empty: SeededMap::default(),
            scalars,
            complements: FxHashMap::default(),
            conjunctions: SeededMap::default(),
            disjoint,
            constants: Constants::default(),
            rows: Vec::new(),
            noted: SeededSet::default(),
            rules,
            queue: Vec::new(),
            steps: 0,
            seen: Vec::new(),
            round: 0,
        })
    }

    /// The expression of bounds that many schemas have.
    pub fn common_bounds(&self, b: &NumberBounds) -> Option<ExprId> {
        self.common.bounds.get(b).copied()
    }

    /// A format, `None` if it is unknown.
    pub fn format(&mut self, name: &str) -> Option<Format> {
        if let Some(&f) = self.common.formats.get(name) {
            return Some(f);
        }
        if let Some(f) = self.formats.get(name) {
            return *f;
        }
        let f = format::lower(&mut self.x, name);
        self.formats.insert(name.to_string(), f);
        for (narrow, wide) in format::SUBSETS {
            if (narrow == name || wide == name)
                && let [Some(narrow), Some(wide)] = [narrow, wide].map(|name| self.known_format(name))
            {
                self.format_subsets.push((narrow.text, wide.text));
            }
        }
        f
    }

    /// The texts beyond which no reading of a format goes.
    pub fn widest_format(&mut self, name: &str) -> ExprId {
        if let Some(&known) = self.widest_formats.get(name) {
            return known;
        }
        let text = format::at_most(&mut self.x, name);
        self.widest_formats.insert(name.to_string(), text);
        text
    }

    fn known_format(&self, name: &str) -> Option<Format> {
        self.common.formats.get(name).copied().or_else(|| self.formats.get(name).copied().flatten())
    }

    /// Leaves each name once, where it is first.
    pub fn keep_once(&mut self, names: &mut Vec<Name>) {
        self.round += 1;
        let most = names.iter().max().map_or(0, |&n| n as usize + 1);
        if self.seen.len() < most {
            self.seen.resize(most, 0);
        }
        let (seen, round) = (&mut self.seen, self.round);
        names.retain(|&n| std::mem::replace(&mut seen[n as usize], round) != round);
    }

    /// Counts `n` steps of algebra.
    pub fn work(&mut self, n: usize) -> Result<()> {
        self.steps = self.steps.saturating_add(n);
        if self.steps > self.limits.max_algebra_steps {
            return Err(Error::limit(
                "steps of schema algebra",
                self.limits.max_algebra_steps as u64,
                self.steps as u64,
            )
            .set_by("max_algebra_steps"));
        }
        self.x.check()
    }

    /// Where the node was written.
    pub fn place(&self, e: Error, node: SchemaNodeId, keyword: &str) -> Error {
        e.at_pointer(self.nodes.pointer(node), keyword)
    }

    /// What cannot be enforced: an error, or with `on_unsupported="warn"` a row that says so.
    pub fn unsupported(&mut self, node: SchemaNodeId, keyword: &'static str, reason: &str) -> Result<()> {
        if self.options.on_unsupported == OnUnsupported::Error {
            let e = Error::new(ErrorKind::Unsupported, format!("{keyword:?} cannot be enforced here: {reason}"))
                .with_hint("on_unsupported=\"warn\" leaves it out, and says so in the report");
            return Err(self.place(e, node, keyword));
        }
        self.row(node, keyword, Enforcement::Wider, reason);
        checkpoint()
    }

    /// Notes a report row, once, for every place where the node was written.
    pub fn row(&mut self, node: SchemaNodeId, keyword: &'static str, enforcement: Enforcement, reason: &str) {
        let node = self.nodes.canon(node);
        if self.noted.insert((node, keyword)) {
            self.rows.push((node, keyword, enforcement, reason.to_string()));
        } else if enforcement == Enforcement::Wider {
            // Wider is never silent: it replaces a row that says less.
            for row in self.rows.iter_mut().filter(|r| r.0 == node && r.1 == keyword) {
                (row.2, row.3) = (enforcement, reason.to_string());
            }
        }
    }

    /// Adds to the reason of a row that was noted, once.
    pub fn add_to_row(&mut self, node: SchemaNodeId, keyword: &'static str, more: &str) {
        let node = self.nodes.canon(node);
        let row = self.rows.iter_mut().find(|r| r.0 == node && r.1 == keyword && !r.3.ends_with(more));
        row.into_iter().for_each(|r| r.3.push_str(more));
    }

    /// Writes the noted rows into the report, in the order of the document's schemas.
    pub fn write_rows(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let negates = self.rows.iter().any(|row| row.2 == Enforcement::Wider)
            && self.nodes.model.schemas.iter().any(|s| matches!(&s.kind, SchemaKind::Keywords(k) if negates(k)));
        let mut by_node: FxHashMap<SchemaNodeId, Vec<usize>> = FxHashMap::default();
        for (i, r) in self.rows.iter().enumerate() {
            by_node.entry(r.0).or_default().push(i);
        }
        for (i, schema) in self.nodes.model.schemas.iter().enumerate() {
            let SchemaKind::Keywords(k) = &schema.kind else { continue };
            let Some(rows) = by_node.get(&self.nodes.of_schema(SchemaId(i as u32))) else { continue };
            for &(_, keyword, enforcement, ref reason) in rows.iter().map(|&r| &self.rows[r]) {
                if has(k, keyword) {
                    let mut add = |enforcement, reason: &str| {
                        let pointer = self.nodes.model.pointer(SchemaId(i as u32));
                        let (keyword, reason) = (keyword.to_string(), reason.to_string());
                        self.report.push(ReportRow { pointer, keyword, enforcement, reason });
                    };
                    add(enforcement, reason);
                    if enforcement == Enforcement::Wider && negates {
                        add(Enforcement::Narrower, NEGATED);
                    }
                }
            }
        }
    }

    /// Types that a literal may accept: a bound from above.
    pub fn mask(&self, l: Lit) -> Types {
        let n = self.nodes.get(l.node);
        match l.negated {
            false => n.mask,
            true if n.is_pure_type() => Types(Types::ALL.0 & !n.types.0),
            true => Types::ALL,
        }
    }

    /// Sorts a conjunction, drops what is implied, and answers `None` where it is seen to accept nothing.
    pub fn normalize(&mut self, lits: &mut Lits) -> Option<()> {
        let mut mask = Types::ALL.0;
        for l in lits.iter_mut() {
            l.node = self.nodes.canon(l.node);
            mask &= self.mask(*l).0;
        }
        if mask == 0 {
            return None;
        }
        lits.retain(|l| !(l.node == TRUE && !l.negated || l.node == FALSE && l.negated));
        if lits.len() < 2 {
            return Some(());
        }
        lits.sort_unstable();
        lits.dedup();
        if lits.windows(2).any(|w| w[0].node == w[1].node) {
            return None;
        }
        // Disjoint positives contradict; a positive that is disjoint from a negated one implies it.
        let mut implied: SmallVec<[bool; 8]> = SmallVec::from_elem(false, lits.len());
        let all = lits.as_slice();
        for (i, &l) in all.iter().enumerate() {
            for (j, &other) in all.iter().enumerate() {
                if i == j || other.negated || (!l.negated && j > i) {
                    continue;
                }
                if self.is_disjoint(l.node, other.node) {
                    if !l.negated {
                        return None;
                    }
                    implied[i] = true;
                    break;
                }
            }
        }
        let mut implied = implied.iter();
        lits.retain(|_| !implied.next().is_some_and(|&i| i));
        Some(())
    }

    /// The rule of a conjunction; `None` where it is seen to accept nothing.
    pub fn rule(&mut self, mut lits: Lits) -> Result<Option<RuleId>> {
        self.work(1 + lits.len())?;
        if self.normalize(&mut lits).is_none() {
            return Ok(None);
        }
        if let Some(&r) = self.rules.get(lits.as_slice()) {
            return Ok(Some(r));
        }
        let id = RuleId(self.queue.len() as u32);
        if self.queue.len() >= self.limits.max_rules {
            return Err(Error::limit(
                "the number of different subschemas",
                self.limits.max_rules as u64,
                self.queue.len() as u64 + 1,
            )
            .set_by("max_rules"));
        }
        let key: Rc<[Lit]> = lits.as_slice().into();
        self.queue.push(key.clone());
        self.rules.insert(key, id);
        Ok(Some(id))
    }

    /// Where a rule was written: the first literal that is not negated.
    pub fn origin(&self, lits: &[Lit]) -> SchemaId {
        let l = lits.iter().find(|l| !l.negated).or(lits.first());
        l.map_or(self.nodes.model.root, |l| self.nodes.get(l.node).origin)
    }
}

/// What a row says beside that something is left out.
const NEGATED: &str = "what is left out is left out under negations, alternatives that exclude each other and counts \
                       as well, so that less may be accepted there";

/// Whether a schema accepts less where a part of it accepts more: by a negation, or a count from above, or because what
/// one keyword is for another one is not.
fn negates(k: &Keywords) -> bool {
    k.not.is_some()
        || k.one_of.is_some()
        || k.if_.is_some()
        || k.max_contains.is_some()
        || k.unevaluated_items.is_some()
        || k.unevaluated_properties.is_some()
        || !k.pattern_properties.is_empty()
}

/// Whether a schema has one of the keywords that rows speak of.
fn has(k: &Keywords, keyword: &str) -> bool {
    match keyword {
        "minimum" => k.minimum.is_some(),
        "maximum" => k.maximum.is_some(),
        "exclusiveMinimum" => k.exclusive_minimum.is_some(),
        "exclusiveMaximum" => k.exclusive_maximum.is_some(),
        "multipleOf" => k.multiple_of.is_some(),
        "format" => k.format.is_some(),
        "pattern" => k.pattern.is_some(),
        "patternProperties" => !k.pattern_properties.is_empty(),
        "additionalProperties" => k.additional_properties.is_some(),
        "propertyNames" => k.property_names.is_some(),
        "unevaluatedProperties" => k.unevaluated_properties.is_some(),
        "unevaluatedItems" => k.unevaluated_items.is_some(),
        "uniqueItems" => k.unique_items,
        _ => true,
    }
}
