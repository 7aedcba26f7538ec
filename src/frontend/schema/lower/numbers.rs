//! Sets of numbers.
//!
//! A set stays a pair of bounds with divisors as long as it can, so that bounds from several schemas become one range
//! and one range negated is another; only what is left becomes an expression with intersection or complement.

use std::rc::Rc;

use super::super::decimal::Decimal;
use super::super::model::{Keywords, Types};
use super::super::number::{self, NumberBounds};
use super::super::report::Enforcement;
use super::context::Context;
use super::node::NodeId;
use crate::error::Result;
use crate::ir::{ExprId, Exprs, INF, StringSet};

/// A set of numbers.
#[derive(Clone, Debug, Default)]
pub(super) enum Numbers {
    #[default]
    None,
    Bounds(Rc<NumberBounds>),
    Expr(ExprId),
}

impl Context<'_, '_> {
    pub fn own_numbers(&mut self, id: NodeId, types: Types, keywords: Option<&Keywords>) -> Result<Numbers> {
        let integer = types.0 & Types::NUMBER.0 == Types::INTEGER.0;
        let mut b = NumberBounds { integer, ..NumberBounds::default() };
        if let Some(k) = keywords {
            b.min = k.minimum.clone().map(|d| (d, false));
            b.max = k.maximum.clone().map(|d| (d, false));
            if let Some(d) = &k.exclusive_minimum {
                tighten(&mut b.min, d, true, true);
            }
            if let Some(d) = &k.exclusive_maximum {
                tighten(&mut b.max, d, true, false);
            }
            b.multiple_of = k.multiple_of.iter().cloned().collect();
            for (bounded, keyword) in [
                (k.minimum.is_some(), "minimum"),
                (k.maximum.is_some(), "maximum"),
                (k.exclusive_minimum.is_some(), "exclusiveMinimum"),
                (k.exclusive_maximum.is_some(), "exclusiveMaximum"),
                (k.multiple_of.is_some(), "multipleOf"),
            ] {
                if bounded {
                    self.row(id, keyword, Enforcement::Narrower, "bounded numbers are written without exponent");
                }
            }
        }
        // Numbers that are not whole: the rest of a negated `integer`, which no document can say by itself.
        let numbers = Numbers::Bounds(Rc::new(b));
        if types.0 & Types::INTEGER.0 == 0 {
            let whole = NumberBounds { integer: true, ..NumberBounds::default() };
            let e = number::number(&mut self.x, &whole)?;
            let e = number::not_numbers(&mut self.x, e)?;
            return self.both(&numbers, &Numbers::Expr(e));
        }
        // Errors of bounds must name their place, so the expression is made here once.
        let made = self.number_expr(&numbers).map_err(|e| self.place(e, id, "minimum"))?;
        Ok(if made == Exprs::NEVER { Numbers::None } else { numbers })
    }

    /// The expression of a set of numbers.
    pub fn number_expr(&mut self, n: &Numbers) -> Result<ExprId> {
        match n {
            Numbers::None => Ok(Exprs::NEVER),
            Numbers::Expr(e) => Ok(*e),
            Numbers::Bounds(b) if **b == NumberBounds::default() => {
                if self.any_number == Exprs::NEVER {
                    self.any_number = number::number(&mut self.x, b)?;
                }
                Ok(self.any_number)
            }
            Numbers::Bounds(b) => match self.bounds.get(b) {
                Some(&e) => Ok(e),
                None => {
                    let e = number::number(&mut self.x, b)?;
                    self.bounds.insert(b.clone(), e);
                    Ok(e)
                }
            },
        }
    }

    pub fn both(&mut self, a: &Numbers, b: &Numbers) -> Result<Numbers> {
        let all = |n: &Numbers| matches!(n, Numbers::Bounds(b) if **b == NumberBounds::default());
        match (a, b) {
            (Numbers::None, _) | (_, Numbers::None) => return Ok(Numbers::None),
            _ if all(a) => return Ok(b.clone()),
            _ if all(b) => return Ok(a.clone()),
            (Numbers::Bounds(p), Numbers::Bounds(q)) => {
                if p == q {
                    return Ok(a.clone());
                }
                let mut m = (**p).clone();
                if let Some((d, open)) = &q.min {
                    tighten(&mut m.min, d, *open, true);
                }
                if let Some((d, open)) = &q.max {
                    tighten(&mut m.max, d, *open, false);
                }
                m.integer |= q.integer;
                for d in &q.multiple_of {
                    if !m.multiple_of.contains(d) {
                        m.multiple_of.push(d.clone());
                    }
                }
                let n = Numbers::Bounds(Rc::new(m));
                let e = self.number_expr(&n)?;
                return Ok(if e == Exprs::NEVER { Numbers::None } else { n });
            }
            _ => {}
        }
        let (p, q) = (self.number_expr(a)?, self.number_expr(b)?);
        let e = self.x.and(&[p, q]);
        self.live_numbers(e)
    }

    fn live_numbers(&mut self, e: ExprId) -> Result<Numbers> {
        let live = self.is_inhabited(&StringSet { text: e, min: 0, max: INF })?;
        Ok(if live { Numbers::Expr(e) } else { Numbers::None })
    }

    pub fn either(&mut self, a: &Numbers, b: &Numbers) -> Result<Numbers> {
        let all = |n: &Numbers| matches!(n, Numbers::Bounds(b) if **b == NumberBounds::default());
        match (a, b) {
            (Numbers::None, _) => return Ok(b.clone()),
            (_, Numbers::None) => return Ok(a.clone()),
            _ if all(a) => return Ok(a.clone()),
            _ if all(b) => return Ok(b.clone()),
            (Numbers::Bounds(p), Numbers::Bounds(q)) if p == q => return Ok(a.clone()),
            _ => {}
        }
        let (p, q) = (self.number_expr(a)?, self.number_expr(b)?);
        Ok(Numbers::Expr(self.x.alt(&[p, q])))
    }

    pub fn not_numbers(&mut self, n: &Numbers) -> Result<Numbers> {
        match n {
            Numbers::None => return Ok(Numbers::Bounds(Rc::new(NumberBounds::default()))),
            Numbers::Bounds(b) if **b == NumberBounds::default() => return Ok(Numbers::None),
            // One bound turns around.
            Numbers::Bounds(b) if !b.integer && b.multiple_of.is_empty() && b.min.is_some() != b.max.is_some() => {
                let turn = |b: &Option<(Decimal, bool)>| b.as_ref().map(|(d, open)| (d.clone(), !open));
                let turned = NumberBounds { min: turn(&b.max), max: turn(&b.min), ..NumberBounds::default() };
                return Ok(Numbers::Bounds(Rc::new(turned)));
            }
            _ => {}
        }
        let e = self.number_expr(n)?;
        let e = number::not_numbers(&mut self.x, e)?;
        self.live_numbers(e)
    }
}

/// Lowers an upper bound or raises a lower one.
fn tighten(bound: &mut Option<(Decimal, bool)>, d: &Decimal, open: bool, lower: bool) {
    let replace = match bound {
        None => true,
        Some((old, was_open)) => {
            let order = if lower { d.cmp(&*old) } else { (*old).cmp(d) };
            order.is_gt() || (order.is_eq() && open && !*was_open)
        }
    };
    if replace {
        *bound = Some((d.clone(), open));
    }
}
