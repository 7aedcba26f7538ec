//! The largest distance of any beginning from the end of a text that may be anything but some words, or begin with
//! anything but some words: keys that are none of an object's names are most often such a text.
//!
//! Behind a beginning from which some text is left, each next character is wrong only if a word ends with it. Where
//! there are more characters than words, some character is right; and a character that was begun is completed first.

use rustc_hash::FxHashMap;

use crate::expr::{Edge, Expr, ExprId, Exprs, INF};

/// Repetitions of more copies are not counted.
const MAX_COPIES: u32 = 16;

/// The characters of a text, each of which is a sequence of bytes.
#[derive(Clone, Copy)]
struct Characters {
    /// How many there are.
    all: u64,
    /// Those of one byte that is written as one.
    plain: u64,
    /// What is written for one, at most.
    most: u32,
    /// What is written for all but its first byte, at most.
    most_behind_first: u32,
}

/// So many bytes complete any beginning of a member of `e` at most, where `cost` says how many are written for a byte,
/// if `e` has all texts over some characters but few; `None` of other expressions. Some member must exist.
pub fn farthest_end_of_most_texts(x: &Exprs, any_text: ExprId, e: ExprId, cost: impl Fn(u8) -> u32) -> Option<u32> {
    let Expr::And(parts) = x.get(e) else { return None };
    let is_text = |part: &&ExprId| matches!(x.get(**part), Expr::Rep { min: 0, max: INF, .. });
    let base = *parts.iter().filter(is_text).find(|&&part| part != any_text).unwrap_or(&any_text);
    let mut words = 0u64;
    let mut has_text = false;
    let mut known = FxHashMap::default();
    for &part in parts {
        match x.get(part) {
            Expr::Not(excluded) => {
                words = words.saturating_add(num_words(x, &mut known, &[base, any_text], *excluded)?)
            }
            _ if part == base || part == any_text => has_text = true,
            _ => return None,
        }
    }
    let Expr::Rep { body, .. } = x.get(base) else { return None };
    let chars = characters(x, *body, &cost)?;
    if !has_text || words >= chars.all {
        return None;
    }
    let next = if words < chars.plain { 1 } else { chars.most };
    Some(chars.most_behind_first.saturating_add(next))
}

/// How many words `e` lists, where one that anything may follow counts once: the `tails` are all that may follow.
/// `None` of other expressions.
fn num_words(x: &Exprs, known: &mut FxHashMap<ExprId, Option<u64>>, tails: &[ExprId], e: ExprId) -> Option<u64> {
    for n in x.reachable(e) {
        let of = |e: &ExprId| known.get(e).copied().flatten();
        let found = match x.get(n) {
            _ if tails.contains(&n) || n == Exprs::ALL => Some(1),
            Expr::Never => Some(0),
            Expr::Eps => Some(1),
            Expr::Step { nullable, edges } => edges.iter().try_fold(u64::from(*nullable), |sum, edge| {
                Some(sum.saturating_add(of(&edge.to)?.saturating_mul(width(edge))))
            }),
            Expr::Cat(a, b) if !tails.contains(a) && *a != Exprs::ALL => {
                of(a).zip(of(b)).map(|(a, b)| a.saturating_mul(b))
            }
            Expr::Alt(all) => all.iter().try_fold(0u64, |sum, part| Some(sum.saturating_add(of(part)?))),
            Expr::Rep { body, min, max } if *max <= MAX_COPIES => {
                of(body).map(|one| (*min..=*max).fold(0u64, |sum, n| sum.saturating_add(one.saturating_pow(n))))
            }
            _ => None,
        };
        known.insert(n, found);
    }
    known.get(&e).copied().flatten()
}

/// The characters that `e` lists, if none of them begins with another one.
fn characters(x: &Exprs, e: ExprId, cost: &impl Fn(u8) -> u32) -> Option<Characters> {
    let mut known: FxHashMap<ExprId, Option<Characters>> = FxHashMap::default();
    for n in x.reachable(e) {
        let of_edge = |edge: &Edge| {
            let rest = (*known.get(&edge.to)?)?;
            let is_last = edge.to == Exprs::EPS;
            Some(Characters {
                all: rest.all.saturating_mul(width(edge)),
                plain: (edge.lo..=edge.hi).filter(|&b| is_last && cost(b) == 1).count() as u64,
                most: (edge.lo..=edge.hi).map(cost).max()?.saturating_add(rest.most),
                most_behind_first: rest.most,
            })
        };
        let found = match x.get(n) {
            Expr::Eps => Some(Characters { all: 1, plain: 0, most: 0, most_behind_first: 0 }),
            Expr::Step { nullable: false, edges } => {
                let none = Characters { all: 0, plain: 0, most: 0, most_behind_first: 0 };
                edges.iter().try_fold(none, |sum, edge| {
                    let one = of_edge(edge)?;
                    Some(Characters {
                        all: sum.all.saturating_add(one.all),
                        plain: sum.plain + one.plain,
                        most: sum.most.max(one.most),
                        most_behind_first: sum.most_behind_first.max(one.most_behind_first),
                    })
                })
            }
            _ => None,
        };
        known.insert(n, found);
    }
    known.get(&e).copied().flatten()
}

fn width(edge: &Edge) -> u64 {
    u64::from(edge.hi - edge.lo) + 1
}
