use super::*;
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions, lower_full};

fn until_many(pattern: &str) -> Option<u32> {
    let mut x = Exprs::new(1 << 20);
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let e = lower_full(&mut x, pattern, &options, &Limits::default()).unwrap();
    Some(bytes_until_many(&mut x, &mut BranchingTable::default(), e)).filter(|&n| n < INF)
}

#[test]
fn beginnings_multiply_where_a_loop_has_two_ways() {
    assert_eq!(until_many("[ab]*"), Some(40));
    assert_eq!(until_many("([a-p]x)*y"), Some(19));
    assert_eq!(until_many("a*|[b-q]*"), Some(10));
    // One more for each length, and of the same text in two ways.
    for few in ["a*", "a*b*c*", "(a|aa)*", "[a-z]{8}", "a{300}|b[a-z]{3}", ""] {
        assert_eq!(until_many(few), None, "{few}");
    }
}
