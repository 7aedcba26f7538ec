//! Classes of characters, read off an expression, for slices.
//!
//! A class is rarely one step. A character of more than one byte is a step for each, classes stand beside each other in
//! a choice, and what is repeated may itself be a repetition: behind each `-` of `([a-z]{1,9}-?){1,5}` stand up to 45
//! letters. Groups of characters count as far as all of their characters are in the class.

use crate::expr::analysis::char_groups::{
    ALL, CharGroups, group_of, groups_behind, groups_of_some, last_bytes, second_of, specials_of,
};
use crate::expr::{Edge, Expr, ExprId, Exprs};

/// Strings that are certainly members: all of at least one character of `groups`, up to `most`.
#[derive(Clone, Copy)]
pub struct SliceClass {
    pub groups: CharGroups,
    /// [`INF`](crate::expr::INF) for any number.
    pub most: u32,
}

impl SliceClass {
    /// Up to so many of them, one after the other.
    pub fn times(self, copies: u32) -> SliceClass {
        SliceClass { most: self.most.saturating_mul(copies), ..self }
    }

    /// What either has as members, by its characters: strings of more than one may be of neither.
    fn or(self, other: SliceClass) -> SliceClass {
        match (self.groups, other.groups) {
            (_, 0) => self,
            (0, _) => other,
            (a, b) if a == b => SliceClass { groups: a, most: self.most.max(other.most) },
            (a, b) => SliceClass { groups: a | b, most: 1 },
        }
    }
}

/// The strings over a set of characters that are members of `e`, single characters at least; `None` if there are none.
pub fn class(x: &Exprs, e: ExprId) -> Option<SliceClass> {
    const NONE: SliceClass = SliceClass { groups: 0, most: 0 };
    fn classify(x: &Exprs, e: ExprId, depth: u32) -> SliceClass {
        let Some(depth) = depth.checked_sub(1) else { return NONE };
        match x.get(e) {
            Expr::Step { edges, .. } => SliceClass { groups: groups_to(x, edges, Exprs::EPS), most: 1 },
            Expr::Alt(parts) => parts.iter().fold(NONE, |all, &p| all.or(classify(x, p, depth))),
            Expr::Rep { body, min: 0 | 1, max } => classify(x, *body, depth).times(*max),
            Expr::Cat(a, b) => {
                let first = if x.nullable(*b) { classify(x, *a, depth) } else { NONE };
                first.or(if x.nullable(*a) { classify(x, *b, depth) } else { NONE })
            }
            _ => NONE,
        }
    }
    /// Bodies of repetitions are not nested deeper, as a rule.
    const NESTED: u32 = 6;
    Some(classify(x, e, NESTED)).filter(|class| class.groups != 0)
}

/// The groups all of whose characters lead to `target` by `edges`.
pub fn groups_to(x: &Exprs, edges: &[Edge], target: ExprId) -> CharGroups {
    let mut missing: CharGroups = 0;
    let mut next = 0usize;
    for e in edges {
        (next..e.lo as usize).for_each(|b| missing |= group_of(b as u8) | specials_of(b as u8));
        next = e.hi as usize + 1;
        for b in e.lo..=e.hi {
            missing |= match b {
                0..0x80 if e.to == target => 0,
                0..0x80 => group_of(b),
                _ if is_rest(x, b, e.to, target) => 0,
                _ if specials_of(b) != 0 => missing_rests(x, b, e.to, target),
                _ => group_of(b),
            };
        }
    }
    (next..256).for_each(|b| missing |= group_of(b as u8) | specials_of(b as u8));
    ALL & !missing
}

/// The groups of the characters with the first byte `lead`, of two or three bytes, that `e` does not read the rest of
/// to do what `target` does.
fn missing_rests(x: &Exprs, lead: u8, e: ExprId, target: ExprId) -> CharGroups {
    let rest = |e: ExprId| match x.get(e) {
        Expr::Step { nullable: false, edges } => &edges[..],
        _ => &[],
    };
    // The last bytes that lead to the target.
    let whole = |e: ExprId| {
        let to = rest(e).iter().filter(|e| e.to == target);
        to.fold(0, |all, e| all | last_bytes(e.lo, e.hi))
    };
    if lead < 0xE0 {
        return groups_of_some(u32::from(lead & 0x1F), !whole(e));
    }
    let mut missing = 0;
    // What leads on is asked for every byte in turn, and lies in their order.
    let mut seconds = rest(e);
    for second in 0x80..=0xBFu8 {
        while let [first, more @ ..] = seconds
            && first.hi < second
        {
            seconds = more;
        }
        let all = groups_behind(lead, second);
        // Two bytes that no character begins with.
        let none = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0);
        if none || all & !missing == 0 {
            continue;
        }
        let common = u32::from(lead & 0xF) << 6 | u32::from(second & 0x3F);
        missing |= match seconds.first().filter(|e| e.lo <= second) {
            Some(after) => groups_of_some(common, !whole(after.to)),
            None => all,
        };
    }
    missing
}

/// Whether `e` reads the rest of any character that begins with `lead`, and then what `target` does.
fn is_rest(x: &Exprs, lead: u8, e: ExprId, target: ExprId) -> bool {
    let Some((second, more)) = second_of(lead) else { return false };
    let mut at = e;
    for (lo, hi) in std::iter::once(second).chain(std::iter::repeat_n((0x80, 0xBF), more as usize)) {
        match x.get(at) {
            Expr::Step { nullable: false, edges } if matches!(**edges, [e] if (e.lo, e.hi) == (lo, hi)) => {
                at = edges[0].to;
            }
            _ => return false,
        }
    }
    at == target
}
