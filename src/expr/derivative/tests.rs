use super::*;
use crate::ErrorKind;
use crate::util::cancel::{limited, spent};

/// A chain of `n` names, each of which may be empty and is followed by the next.
fn chain(x: &mut Exprs, n: u32) -> ExprId {
    let a = x.literal(b"a");
    let mut rest = Exprs::EPS;
    for _ in 0..n {
        let (number, name) = x.fix(true);
        let again = x.cat(a, rest);
        let definition = x.alt(&[again, rest]);
        x.define(number, definition);
        rest = name;
    }
    rest
}

#[test]
fn rows_of_what_lies_deep_take_little_stack() {
    let small = std::thread::Builder::new().stack_size(128 << 10).spawn(|| {
        let mut x = Exprs::new(1_000_000);
        let deep = chain(&mut x, 300);
        assert!(x.accepts(deep, b"aaa") && !x.accepts(deep, b"ab") && x.accepts(deep, &[b'a'; 299]));
        // The same as of names that are asked for from the last one on.
        let mut y = Exprs::new(1_000_000);
        let same = chain(&mut y, 300);
        for e in 0..y.len() as u32 {
            y.row(ExprId(e));
        }
        assert!(y.accepts(same, &[b'a'; 300]) && !y.accepts(same, &[b'a'; 301]));
        assert!(x.accepts(deep, &[b'a'; 300]) && !x.accepts(deep, &[b'a'; 301]));
        let mut nested = x.literal(b"b");
        for _ in 0..100_000 {
            let both = x.opt(nested);
            nested = x.not(both);
        }
        assert!(!x.row(nested).is_empty());
    });
    small.unwrap().join().unwrap();
}

/// A sequence of parts that may all be left out: the union after one byte has as many alternatives, and the row of that
/// leads to as many unions.
#[test]
fn a_row_ends_with_the_compile() {
    let work = |most: usize| {
        limited(most, || {
            let mut x = Exprs::new(1_000_000);
            let (a, b) = (x.literal(b"a"), x.literal(b"b"));
            let (a, b) = (x.opt(a), x.opt(b));
            let parts: Vec<ExprId> = (0..2_000).map(|i| if i % 2 == 0 { a } else { b }).collect();
            let all = x.cat_all(&parts);
            let next = x.derive(all, b'a');
            x.row(next);
            (x.check().err(), spent())
        })
    };
    let (found, all) = work(usize::MAX);
    assert!(found.is_none() && all > 20_000, "{all} steps");
    let (found, spent) = work(10_000);
    let e = found.unwrap();
    assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, Some("max_compile_steps")), "{e}");
    assert!(spent < all / 2, "{spent} of {all} steps");
    // An arena that is no compile's goes on, whatever else is limited.
    let mut x = Exprs::new(usize::MAX);
    limited(0, || {
        let a = x.literal(b"abc");
        (0..1_000).for_each(|_| _ = work(0));
        assert!(x.accepts(a, b"abc"));
    });
}
