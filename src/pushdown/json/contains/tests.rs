use super::*;
use crate::json::rules::RuleId;
use crate::pushdown::json::program::ArrayProgram;
use crate::util::rng::Rng;

/// No array of these tests needs more elements.
const DEEPEST: u64 = 14;

fn element(matches: u32) -> Element {
    Element { rule: RuleId(0), matches }
}

/// Whether the array may end, now or behind some more elements: every way is tried.
fn may_end_some_day(a: &ArrayProgram, len: u64, counts: &[u32]) -> bool {
    let allowed = |c: &Contains, n: u32| c.max.is_none_or(|m| u64::from(n) <= m);
    if !a.contains.iter().zip(counts).all(|(c, &n)| allowed(c, n)) {
        return false;
    }
    a.may_end(len, counts)
        || (len < a.max.min(DEEPEST)
            && a.ways(len).iter().any(|way| {
                let after: Vec<u32> = counts.iter().zip(0..).map(|(&n, bit)| n + (way.matches >> bit & 1)).collect();
                may_end_some_day(a, len + 1, &after)
            }))
}

fn random_array(rng: &mut Rng) -> ArrayProgram {
    let number = 1 + rng.below(3);
    let contains: Vec<Contains> = (0..number)
        .map(|_| {
            let min = rng.below(3) as u64;
            Contains { min, max: rng.chance(40).then(|| min + rng.below(2) as u64) }
        })
        .collect();
    let mut ways = |most: usize| -> Vec<Element> {
        let mut ways: Vec<u32> = (0..rng.below(most + 1)).map(|_| rng.below(1 << number) as u32).collect();
        ways.sort_unstable();
        ways.dedup();
        ways.into_iter().map(element).collect()
    };
    let mut prefix: Vec<Vec<Element>> = (0..3).map(|_| ways(3)).collect();
    let mut rest = ways(3);
    prefix.truncate(rng.below(4));
    // As rules are: nothing comes behind a position without a way.
    if let Some(end) = prefix.iter().position(Vec::is_empty) {
        prefix.truncate(end);
        rest.clear();
    }
    let min = rng.below(4) as u64;
    let max = if rng.chance(50) { min + rng.below(5) as u64 } else { u64::MAX };
    ArrayProgram::new((prefix, rest), contains, (min, max), false).unwrap()
}

#[test]
fn feasible_as_if_every_way_were_tried() {
    let mut rng = Rng(5);
    let (mut tables, mut no) = (0, 0);
    for _ in 0..4_000 {
        let a = random_array(&mut rng);
        if !may_end_some_day(&a, 0, &vec![0; a.contains.len()]) {
            assert!(a.counting.as_ref().is_none_or(|_| !a.feasible(0, &vec![0; a.contains.len()])), "{a:?}");
            continue;
        }
        tables += usize::from(a.counting.is_some());
        // Along a random array, from its beginning on.
        let mut counts = vec![0u32; a.contains.len()];
        for len in 0..5 {
            let wanted = len <= a.max && may_end_some_day(&a, len, &counts);
            assert_eq!(a.feasible(len, &counts), wanted, "{len} elements, {counts:?} of {a:?}");
            no += usize::from(!wanted);
            let ways = a.ways(len);
            if ways.is_empty() {
                break;
            }
            let matches = rng.pick(ways).matches;
            counts.iter_mut().zip(0..).for_each(|(n, bit)| *n += matches >> bit & 1);
        }
    }
    assert!(tables > 500 && no > 1_000, "{tables} tables, {no} times not");
}

#[test]
fn what_is_out_of_hand_is_a_limit() {
    let contains = |min| vec![Contains { min, max: None }, Contains { min: 70, max: None }];
    let ways = || (Vec::new(), vec![element(1), element(2)]);
    assert!(ArrayProgram::new(ways(), contains(50), (0, 200), false).is_ok());
    let e = ArrayProgram::new(ways(), contains(1 << 40), (0, 200), false).unwrap_err();
    assert_eq!(e.kind(), crate::ErrorKind::Limit);
    // Lower bounds alone need no table.
    assert!(ArrayProgram::new(ways(), contains(1 << 40), (0, u64::MAX), false).unwrap().counting.is_none());
}
