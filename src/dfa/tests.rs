use crate::dfa::explore::ByteClasses;
use crate::dfa::minimize::minimize;
use crate::dfa::{FlatDfa, NO_SUCCESSOR};
use crate::util::rng::Rng;

/// Moore's algorithm, the slow twin: the number of classes of states that no word tells apart.
fn naive_states(flat: &FlatDfa) -> usize {
    let n = flat.len();
    let mut class: Vec<usize> = (0..n).map(|s| usize::from(flat.accepting[s])).collect();
    loop {
        let key = |s: usize| -> (usize, Vec<usize>) {
            let row =
                flat.row(s as u32).iter().map(|&t| if t == NO_SUCCESSOR { usize::MAX } else { class[t as usize] });
            (class[s], row.collect())
        };
        let mut keys: Vec<_> = (0..n).map(key).collect();
        let old = class.clone();
        let all = keys.clone();
        keys.sort();
        keys.dedup();
        class = all.iter().map(|k| keys.binary_search(k).unwrap()).collect();
        let distinct = |c: &[usize]| {
            let mut c = c.to_vec();
            c.sort_unstable();
            c.dedup();
            c.len()
        };
        if distinct(&old) == distinct(&class) {
            return distinct(&class);
        }
    }
}

#[test]
fn minimal_as_the_naive_minimizer_says() {
    let mut rng = Rng(7);
    let mut of = [0u8; 256];
    of[b'a' as usize] = 1;
    of[b'b' as usize] = 2;
    let classes = ByteClasses { of, first: vec![0, b'a', b'b'] };
    for _ in 0..300 {
        let n = 1 + rng.below(12);
        // Each state but the last leads on to the next, so all are reachable and live.
        let mut next: Vec<u32> =
            (0..n * 3).map(|_| if rng.below(3) == 0 { NO_SUCCESSOR } else { rng.below(n) as u32 }).collect();
        (0..n - 1).for_each(|s| next[s * 3] = s as u32 + 1);
        let accepting: Vec<bool> = (0..n).map(|s| s == n - 1 || rng.below(4) == 0).collect();
        let flat = FlatDfa { classes: classes.clone(), next, accepting };
        let (small, stands_for) = minimize(&flat).unwrap();
        assert_eq!(small.len(), naive_states(&flat), "{flat:?}");
        assert_eq!(minimize(&small).unwrap().0, small, "the numbers are canonical");
        assert!(stands_for.iter().zip(&small.accepting).all(|(&s, &a)| flat.accepting[s as usize] == a));
        for _ in 0..50 {
            let word: Vec<u8> = (0..rng.below(20)).map(|_| b"xab"[rng.below(3)]).collect();
            let ends = |f: &FlatDfa| {
                let end = word.iter().fold(0, |s, &b| if s == NO_SUCCESSOR { NO_SUCCESSOR } else { f.step(s, b) });
                end != NO_SUCCESSOR && f.accepting[end as usize]
            };
            assert_eq!(ends(&flat), ends(&small));
        }
    }
}
