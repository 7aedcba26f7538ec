//! Expressions that many schemas have: an arena built once for the process, on which the arena of every schema stands.
//!
//! What lies in it costs a schema nothing, neither to build nor to name when its lexeme is looked up. It is the same
//! whatever was compiled before.

use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

use crate::error::Result;
use crate::expr::{ExprId, Exprs};
use crate::json::decimal::Decimal;
use crate::schema::format::Format;
use crate::schema::number::{NumberBounds, NumberSpelling};
use crate::schema::{format, number};
use crate::util::cancel::uninterruptible;
use crate::util::seeded_hash::SeededMap;

/// What nearly every schema needs, built once for the process.
pub(super) struct StandardExprs {
    pub x: Arc<Exprs>,
    pub any_text: ExprId,
    pub any_number: ExprId,
    pub bounds: SeededMap<NumberBounds, ExprId>,
    pub formats: FxHashMap<&'static str, Format>,
    /// `null`, `true` and `false`.
    pub words: [ExprId; 3],
    /// Either boolean, and every scalar but strings.
    flags: [ExprId; 2],
}

/// The formats of every third schema that has one. They take some hundred microseconds together.
const FORMATS: [&str; 10] =
    ["date-time", "date", "time", "uri", "uri-reference", "email", "hostname", "ipv4", "ipv6", "uuid"];

pub(super) fn common() -> Result<&'static StandardExprs> {
    static COMMON: OnceLock<Result<StandardExprs>> = OnceLock::new();
    let made = COMMON.get_or_init(|| uninterruptible(build));
    made.as_ref().map_err(Clone::clone)
}

fn build() -> Result<StandardExprs> {
    let mut x = Exprs::new(usize::MAX);
    let any_text = x.any_text();
    let any_number = number::number(&mut x, &NumberBounds::default())?;
    let words = ["null", "true", "false"].map(|text| x.literal(text.as_bytes()));
    let flags = [x.alt(&words[1..]), x.alt(&[words[0], words[1], words[2], any_number])];
    let mut bounds = SeededMap::default();
    for (integer, spelling) in [(true, NumberSpelling::Any), (true, NumberSpelling::Bare), (false, NumberSpelling::Any)]
    {
        for min in [None, Some(0), Some(1)] {
            let min = min.map(|n| (Decimal::from(n), false));
            // So plain spelling writes integers, which is where most of those without a fraction come from.
            let unsigned_zero = spelling == NumberSpelling::Bare;
            let b = NumberBounds { integer, min, spelling, unsigned_zero, ..NumberBounds::default() };
            let e = number::number(&mut x, &b)?;
            bounds.insert(b, e);
        }
    }
    let formats = FORMATS.iter().filter_map(|&name| Some((name, format::lower(&mut x, name)?))).collect();
    x.check()?;
    Ok(StandardExprs { x: Arc::new(x), any_text, any_number, bounds, formats, words, flags })
}

/// An arena like that of every schema, and the scalars that most schemas have: what to make before the first schema, so
/// that it need not wait. Building them takes about a millisecond, once.
pub fn standard() -> Result<(Exprs, Vec<ExprId>)> {
    let c = common()?;
    let mut scalars = vec![c.any_number, c.words[0]];
    scalars.extend(c.flags);
    scalars.extend(c.bounds.values());
    scalars.sort_unstable();
    scalars.dedup();
    Ok((Exprs::on(&c.x, usize::MAX), scalars))
}
