//! Whether the shortest way to the end of a member ever needs some bytes.
//!
//! A vocabulary may lack tokens of single bytes, most often the first bytes of characters beyond ASCII. Whatever was
//! begun can be completed all the same where the fewest bytes that complete it are none of those. The structure tells:
//! what is left of a concatenation is what is left of its first part, and the second part, and so on. So it is enough
//! that no part that is still to come in full would be shorter with those bytes. Nothing is said of intersections,
//! complements and recursion.

use rustc_hash::FxHashMap;

use crate::expr::{Expr, ExprId, Exprs, INF};

/// What is known of an expression.
#[derive(Clone, Copy)]
struct Completion {
    /// The cost of the shortest member.
    shortest: u32,
    /// The same without the bytes that are left out.
    without: u32,
    /// Whether no beginning that is not empty needs the bytes that are left out.
    begun: bool,
}

impl Completion {
    /// Whether the shortest member is as short without the bytes that are left out.
    fn is_alike(self) -> bool {
        self.shortest == self.without
    }
}

/// Whether of what completes a beginning of a member of `e`, the empty one included, something of the least cost has no
/// byte that is left out. False where that is not known. Give bytes that are left out less than their cost to learn
/// whether nothing else is as cheap.
pub fn completes_without(x: &Exprs, e: ExprId, cost: impl Fn(u8) -> u32, is_left_out: impl Fn(u8) -> bool) -> bool {
    let unknown = Completion { shortest: INF, without: INF, begun: false };
    let mut known: FxHashMap<ExprId, Completion> = FxHashMap::default();
    for n in x.reachable(e) {
        let of = |e: &ExprId| known.get(e).copied().unwrap_or(unknown);
        let found = match x.get(n) {
            Expr::Never => Completion { shortest: INF, without: INF, begun: true },
            Expr::Eps => Completion { shortest: 0, without: 0, begun: true },
            Expr::Step { nullable, edges } => {
                let start = if *nullable { 0 } else { INF };
                let mut all = Completion { shortest: start, without: start, begun: true };
                for edge in edges {
                    let to = of(&edge.to);
                    all.begun &= to.begun && to.is_alike();
                    for byte in edge.lo..=edge.hi {
                        all.shortest = all.shortest.min(to.shortest.saturating_add(cost(byte)));
                        if !is_left_out(byte) {
                            all.without = all.without.min(to.without.saturating_add(cost(byte)));
                        }
                    }
                }
                all
            }
            Expr::Cat(a, b) => {
                let (first, rest) = (of(a), of(b));
                Completion {
                    shortest: first.shortest.saturating_add(rest.shortest),
                    without: first.without.saturating_add(rest.without),
                    begun: first.begun && rest.begun && rest.is_alike(),
                }
            }
            Expr::Alt(all) => {
                let parts = all.iter().map(of);
                parts.fold(Completion { begun: true, ..unknown }, |found, part| Completion {
                    shortest: found.shortest.min(part.shortest),
                    without: found.without.min(part.without),
                    begun: found.begun && part.begun,
                })
            }
            Expr::Rep { body, min, .. } => {
                let one = of(body);
                let times = |cost: u32| if *min == 0 { 0 } else { cost.saturating_mul(*min) };
                Completion {
                    shortest: times(one.shortest),
                    without: times(one.without),
                    begun: one.begun && (*min < 2 || one.is_alike()),
                }
            }
            // Digits, and a point.
            Expr::Multiple(multiple) => {
                let bytes = multiple.least_bytes();
                Completion { shortest: bytes, without: bytes, begun: true }
            }
            Expr::And(_) | Expr::Not(_) | Expr::Fix(_) => unknown,
        };
        known.insert(n, found);
    }
    known.get(&e).is_some_and(|found| found.begun && found.is_alike())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::regex::{Dialect, RegexOptions, lower_full};

    #[test]
    fn ascii_completes_where_nothing_else_is_shorter() {
        for (pattern, expected) in [
            (".{0,30}", true),
            (".{5,30}", true),
            ("[^a]+x", true),
            ("(?:é|b)*", true),
            ("é|b", true),
            ("é*b{3}", true),
            ("é", false),
            ("xé", false),
            ("x(?:é|abc)", false),
            ("x(?:é|ab)", false),
            ("(?:é|abc){2}", false),
            ("(?:xé)?", false),
        ] {
            let limits = Limits::default();
            let mut exprs = Exprs::new(limits.max_expr_nodes);
            let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
            let expr = lower_full(&mut exprs, pattern, &options, &limits).expect("the pattern is fine");
            assert_eq!(
                completes_without(&exprs, expr, |byte| u32::from(byte < 0xC0), |byte| byte >= 0xC0),
                expected,
                "{pattern}"
            );
        }
    }
}
