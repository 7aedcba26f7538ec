use super::*;
use crate::util::cancel::{limited, spent};
use crate::util::rng::Rng;

/// All strings over `ab-` of up to `most` letters.
fn strings(most: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let until = all.len();
        for i in from..until {
            all.extend(b"ab-".map(|b| [&all[i][..], &[b]].concat()));
        }
        from = until;
    }
    all
}

/// Sequences of counted copies of `a`, `b` and `-`.
fn counted(x: &mut Exprs) -> Vec<ExprId> {
    let mut all = vec![Exprs::EPS];
    let letters = [&b"a"[..], b"b", b"-"].map(|letter| x.literal(letter));
    let counts = [(0, 1), (1, 2), (0, 2), (1, 3), (0, INF)];
    for body in letters {
        for tail in all.clone() {
            for (min, max) in counts {
                let copies = x.rep(body, min, max);
                all.push(x.cat(copies, tail));
            }
        }
    }
    all
}

#[test]
fn a_union_takes_what_one_of_its_alternatives_does() {
    let strings = strings(5);
    let mut x = Exprs::new(1 << 20);
    let all = counted(&mut x);
    let taken = |x: &mut Exprs, e: ExprId| -> Vec<bool> { strings.iter().map(|s| x.accepts(e, s)).collect() };
    let mut rng = Rng(7);
    let mut dropped = 0;
    for _ in 0..300 {
        let parts = [0; 4].map(|_| *rng.pick(&all));
        let union = x.alt(&parts);
        let of_parts: Vec<Vec<bool>> = parts.iter().map(|&p| taken(&mut x, p)).collect();
        let any: Vec<bool> = (0..strings.len()).map(|i| of_parts.iter().any(|of| of[i])).collect();
        assert_eq!(taken(&mut x, union), any, "{parts:?}");
        let left = if let Expr::Alt(left) = x.get(union) { left.len() } else { 1 };
        dropped += usize::from(left < 4);
    }
    assert!(dropped > 50, "{dropped}");
}

#[test]
fn counts_within_counts_have_few_alternatives() {
    let mut x = Exprs::new(1 << 20);
    let (word, blank) = (x.byte_set(&[(b'a', b'z')]), x.literal(b" "));
    let (word, blank) = (x.rep(word, 1, 64), x.opt(blank));
    let part = x.cat(word, blank);
    let mut at = x.rep(part, 1, 64);
    for n in 0..200 {
        at = x.derive(at, b'a');
        // A word goes on, or the next one begins right here.
        let alternatives = if let Expr::Alt(parts) = x.get(at) { parts.len() } else { 1 };
        assert!(alternatives <= 4, "{alternatives} after {n}");
    }
}

/// Each of these unions holds all that the one before holds, and another one.
#[test]
fn operands_count_as_work() {
    let mut x = Exprs::new(1 << 20);
    let parts: Vec<ExprId> = (0..2_000u32)
        .map(|i| {
            let text = x.literal(&i.to_be_bytes());
            x.star(text)
        })
        .collect();
    let steps = |x: &mut Exprs, n: usize| {
        limited(usize::MAX, || {
            parts[..n].iter().fold(Exprs::NEVER, |all, &p| x.alt(&[all, p]));
            parts[..n].iter().fold(Exprs::ALL, |all, &p| x.and(&[all, p]));
            spent()
        })
    };
    let (few, many) = (steps(&mut x, 500), steps(&mut x, 2_000));
    assert!(few > 10_000 && many > 14 * few, "{few} and {many}");
    assert_eq!(steps(&mut x, 50), 0);
}

/// Many pairs of alternatives of which one includes the other.
#[test]
fn what_is_included_is_dropped_everywhere() {
    let mut x = Exprs::new(1 << 20);
    let c = x.literal(b"c");
    let tail = x.opt(c);
    let (mut big, mut all) = (Vec::new(), Vec::new());
    for i in 0..5_000u32 {
        let body = x.literal(&i.to_be_bytes());
        let three = x.rep(body, 1, 3);
        big.push(x.cat(three, tail));
        all.extend([big[i as usize], x.rep(body, 1, 2)]);
    }
    assert_eq!(x.alt(&all), x.alt(&big));
}

#[test]
fn nested_counts_are_joined_where_no_gap_lies_between_them() {
    /// As good as no bound for what is compared here.
    const FAR: u32 = 60;
    let bounds = || (0..4u32).flat_map(|m| (m.max(1)..5).chain([INF]).map(move |n| (m, n)));
    for ((m, n), (min, max)) in bounds().flat_map(|inner| bounds().map(move |outer| (inner, outer))) {
        // All numbers of copies, one copy of the inner repetition after the other.
        let mut sums = vec![0u32];
        let mut expected = vec![false; FAR as usize];
        for copies in 0..=max.min(FAR) {
            if copies >= min {
                sums.iter().for_each(|&sum| expected[sum as usize] = true);
            }
            let mut next: Vec<u32> = sums.iter().flat_map(|&sum| (m..=n.min(FAR)).map(move |c| sum + c)).collect();
            next.retain(|&sum| sum < FAR);
            next.sort_unstable();
            next.dedup();
            sums = next;
        }
        let first = expected.iter().position(|&is| is).unwrap();
        let end = expected.iter().rposition(|&is| is).unwrap() + 1;
        let is_run = expected[first..end].iter().all(|&is| is);
        let joined = joined_counts((m, n), (min, max));
        assert_eq!(joined.is_some(), is_run, "({m},{n}) ({min},{max})");
        if let Some((fewest, most)) = joined {
            assert_eq!((fewest as usize, most.min(FAR - 1) as usize), (first, end - 1), "({m},{n}) ({min},{max})");
        }
    }
    // A product that is no number of copies stays nested.
    assert_eq!(joined_counts((1, 100_000), (1, 100_000)), None);
}
