//! Sets of numbers of a compile: what keywords say, and the algebra on it.
//!
//! Numbers stay symbolic ([`NumberSet`]) through the whole algebra; only what is left in the end becomes an
//! expression, piece by piece and without intersection or complement.

use smallvec::SmallVec;

use std::rc::Rc;
use std::sync::Arc;

use crate::error::Result;
use crate::expr::{ExprId, Exprs};
use crate::json::decimal::Decimal;
use crate::schema::lower::context::LoweringContext;
use crate::schema::lower::node::SchemaNodeId;
use crate::schema::lower::scalar::number_set::{
    NumberSet, Point, complement, is_hollow, is_interval, meet, push_piece, tighten,
};
use crate::schema::lower::scalar::number_spelling::is_spelled;
use crate::schema::model::{Keywords, Types};
use crate::schema::number;
use crate::schema::number::{NumberBounds, NumberSpelling};
use crate::schema::report::Enforcement;

/// What the rows of bounds say.
const BOUND_REASON: &str = "bounded numbers are written without exponent";

/// What the row of `multipleOf` says.
const POINT_REASON: &str = "bounded numbers are written without exponent, and beside multipleOf with a point only \
                            where they have at most 15 digits, zeros at the end of a fraction aside";

/// A set of numbers.
#[derive(Clone, Debug, Default)]
pub(crate) enum NumberAssertions {
    #[default]
    None,
    All,
    /// Neither empty nor everything.
    Some(Rc<NumberSet>),
}

impl NumberAssertions {
    /// Whether values with any number of digits are here, of which only those up to the caps are written.
    pub fn is_capped(&self) -> bool {
        match self {
            NumberAssertions::None => false,
            NumberAssertions::All => true,
            NumberAssertions::Some(set) => set.pieces.iter().any(|p| p.min.is_none() || p.max.is_none() || !p.integer),
        }
    }

    pub fn is_none(&self) -> bool {
        matches!(self, NumberAssertions::None)
    }

    pub fn from_set(set: NumberSet) -> Self {
        if set.is_empty() {
            NumberAssertions::None
        } else if set.is_all() {
            NumberAssertions::All
        } else {
            NumberAssertions::Some(Rc::new(set))
        }
    }
}

impl LoweringContext<'_, '_> {
    pub fn own_numbers(
        &mut self,
        id: SchemaNodeId,
        types: Types,
        keywords: Option<&Keywords>,
    ) -> Result<NumberAssertions> {
        let mut b = NumberBounds::default();
        let mut bounds: SmallVec<[&'static str; 5]> = SmallVec::new();
        match (types.0 & Types::INTEGER.0 != 0, types.0 & Types::NUMBER.0 & !Types::INTEGER.0 != 0) {
            (true, true) => {}
            (true, false) => {
                b.integer = true;
                if self.nodes.get(id).bare_integers {
                    b.spelling = NumberSpelling::Bare;
                }
            }
            // Numbers that are not whole: the rest of a negated `integer`, which no document can say by itself.
            (false, _) => b.not_multiple_of.push(Decimal::from(1)),
        }
        if let Some(k) = keywords {
            b.min = k.minimum.as_deref().cloned().map(|d| (d, false));
            b.max = k.maximum.as_deref().cloned().map(|d| (d, false));
            if let Some(d) = &k.exclusive_minimum {
                tighten(&mut b.min, d, true, true);
            }
            if let Some(d) = &k.exclusive_maximum {
                tighten(&mut b.max, d, true, false);
            }
            b.multiple_of = k.multiple_of.as_deref().into_iter().cloned().collect();
            let stated = [
                (k.minimum.is_some(), "minimum"),
                (k.maximum.is_some(), "maximum"),
                (k.exclusive_minimum.is_some(), "exclusiveMinimum"),
                (k.exclusive_maximum.is_some(), "exclusiveMaximum"),
                (k.multiple_of.is_some(), "multipleOf"),
            ];
            bounds.extend(stated.iter().filter(|bound| bound.0).map(|bound| bound.1));
            for &keyword in &bounds {
                let reason = match keyword == "multipleOf" && number::limits_point(&b) {
                    true => POINT_REASON,
                    false => BOUND_REASON,
                };
                self.row(id, keyword, Enforcement::Narrower, reason);
            }
        }
        if b == NumberBounds::default() {
            return Ok(NumberAssertions::All);
        }
        // Errors of bounds must name their place.
        let piece = Arc::new(b);
        let made = number::check(&piece).and_then(|()| match number::has_whole(&piece) {
            true => Ok(true),
            false => Ok(self.piece_expr(&piece)? != Exprs::NEVER),
        });
        let live = made.map_err(|e| self.place(e, id, bounds.first().copied().unwrap_or("type")))?;
        let pieces = if live { vec![piece] } else { Vec::new() };
        Ok(NumberAssertions::from_set(NumberSet { points: Vec::new(), pieces }))
    }

    /// The expression of a set of numbers.
    pub fn number_expr(&mut self, n: &NumberAssertions) -> Result<ExprId> {
        match n {
            NumberAssertions::None => Ok(Exprs::NEVER),
            NumberAssertions::All => Ok(self.any_number),
            NumberAssertions::Some(set) => {
                let mut parts = Vec::with_capacity(set.points.len() + set.pieces.len());
                for p in &set.points {
                    parts.push(self.point_expr(p)?);
                }
                for p in &set.pieces {
                    parts.push(self.spelled_piece(p)?);
                }
                Ok(self.x.alt(&parts))
            }
        }
    }

    fn point_expr(&mut self, p: &Point) -> Result<ExprId> {
        if self.plain {
            self.plain_constants = true;
            let written = self.nodes.written.get(&p.value).into_iter().flatten();
            let written: Vec<&str> = written.map(String::as_str).filter(|text| is_spelled(p.spelling, text)).collect();
            if !written.is_empty() {
                return Ok(self.x.choice(&written));
            }
        }
        if p.spelling == NumberSpelling::Any {
            return Ok(number::constant(&mut self.x, &p.value));
        }
        let bound = Some((p.value.clone(), false));
        let b = NumberBounds { min: bound.clone(), max: bound, spelling: p.spelling, ..NumberBounds::default() };
        number::number(&mut self.x, &b)
    }

    /// The numbers of a piece as the options spell them: under plain spelling, whole numbers have neither point nor
    /// exponent, and zero has no sign. The algebra on sets of numbers does not see this.
    fn spelled_piece(&mut self, piece: &Arc<NumberBounds>) -> Result<ExprId> {
        if self.options.has_bare_integers() && piece.integer && piece.spelling != NumberSpelling::Pointed {
            let spelling = NumberSpelling::Bare;
            let bare = NumberBounds { spelling, unsigned_zero: true, ..NumberBounds::clone(piece) };
            let e = self.piece_expr(&Arc::new(bare))?;
            if e != Exprs::NEVER {
                self.plain_constants = true;
                return Ok(e);
            }
        }
        self.piece_expr(piece)
    }

    fn piece_expr(&mut self, piece: &Arc<NumberBounds>) -> Result<ExprId> {
        if let Some(e) = self.common_bounds(piece).or_else(|| self.bounds.get(piece).copied()) {
            return Ok(e);
        }
        let e = number::number(&mut self.x, piece)?;
        self.bounds.insert(piece.clone(), e);
        Ok(e)
    }

    /// Whether a piece has a value that can be written.
    fn is_live_piece(&mut self, piece: &Arc<NumberBounds>) -> Result<bool> {
        if is_hollow(piece) {
            return Ok(false);
        }
        Ok(is_interval(piece) || number::has_whole(piece) || self.piece_expr(piece)? != Exprs::NEVER)
    }

    pub fn both(&mut self, a: &NumberAssertions, b: &NumberAssertions) -> Result<NumberAssertions> {
        match (a, b) {
            (NumberAssertions::None, _) | (_, NumberAssertions::None) => Ok(NumberAssertions::None),
            (NumberAssertions::All, n) | (n, NumberAssertions::All) => Ok(n.clone()),
            (NumberAssertions::Some(p), NumberAssertions::Some(q)) if Rc::ptr_eq(p, q) => Ok(a.clone()),
            (NumberAssertions::Some(p), NumberAssertions::Some(q)) => {
                Ok(NumberAssertions::from_set(self.meet_sets(p, q)?))
            }
        }
    }

    fn meet_sets(&mut self, a: &NumberSet, b: &NumberSet) -> Result<NumberSet> {
        let points = (a.points.len() + b.points.len()).saturating_add(a.points.len() * b.pieces.len());
        let pieces = a.pieces.len().saturating_mul(b.pieces.len());
        self.work(points.saturating_add(pieces).saturating_add(b.points.len() * a.pieces.len()))?;
        let mut out = NumberSet { points: a.points_in(b).ok_or_else(number::too_large)?, pieces: Vec::new() };
        if !b.points.is_empty() {
            out.push_points(&b.points_in(a).ok_or_else(number::too_large)?);
        }
        for p in &a.pieces {
            for q in &b.pieces {
                let Some(m) = meet(p, q) else { continue };
                let m = Arc::new(m);
                if self.is_live_piece(&m)? {
                    self.work(out.pieces.len())?;
                    push_piece(&mut out.pieces, m);
                }
            }
        }
        Ok(out)
    }

    pub fn either(&mut self, a: &NumberAssertions, b: &NumberAssertions) -> Result<NumberAssertions> {
        match (a, b) {
            (NumberAssertions::None, n) | (n, NumberAssertions::None) => Ok(n.clone()),
            (NumberAssertions::All, _) | (_, NumberAssertions::All) => Ok(NumberAssertions::All),
            (NumberAssertions::Some(p), NumberAssertions::Some(q)) => {
                self.work(p.pieces.len().saturating_mul(q.pieces.len()))?;
                let mut out = NumberSet::clone(p);
                out.push_points(&q.points);
                q.pieces.iter().for_each(|piece| push_piece(&mut out.pieces, piece.clone()));
                Ok(NumberAssertions::from_set(out))
            }
        }
    }

    pub fn not_numbers(&mut self, n: &NumberAssertions) -> Result<NumberAssertions> {
        let set = match n {
            NumberAssertions::None => return Ok(NumberAssertions::All),
            NumberAssertions::All => return Ok(NumberAssertions::None),
            NumberAssertions::Some(set) => set,
        };
        let mut out = if set.points.is_empty() {
            NumberAssertions::All
        } else {
            NumberAssertions::from_set(set.without_points())
        };
        for p in &set.pieces {
            let mut refused = NumberSet::default();
            for part in complement(p) {
                if self.is_live_piece(&part)? {
                    push_piece(&mut refused.pieces, part);
                }
            }
            out = self.both(&out, &NumberAssertions::from_set(refused))?;
        }
        Ok(out)
    }
}
