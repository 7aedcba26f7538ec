use super::*;

#[test]
fn unbounded_copies_of_several_lengths() {
    let bodies: [&[(u32, u32)]; 6] =
        [&[(1, 1), (3, 3)], &[(2, 2), (5, 5)], &[(0, 0), (4, 4), (9, 9)], &[(3, 4), (7, INF)], &[(0, 2), (5, 6)], &[]];
    for body in bodies {
        for min in 0..4 {
            // Sums of exactly k copies, counted up to 60; 30 copies of a length above zero are enough to get to 29.
            let fits = |n: u32| body.iter().any(|r| r.0 <= n && n <= r.1);
            let mut exact: Vec<bool> = (0..60).map(|n| n == 0).collect();
            let mut wanted = [false; 60];
            for k in 0..60 {
                wanted.iter_mut().zip(&exact).for_each(|(w, e)| *w |= k >= min && *e);
                exact = (0..60).map(|n| (0..=n).any(|m| exact[m] && fits((n - m) as u32))).collect();
            }
            let got = unbounded(body, min, MAX_INTERVALS).unwrap();
            for n in 0..60u32 {
                let got = meets(&got, n, n);
                assert_eq!(got, wanted[n as usize], "{n} of {min} copies of {body:?}");
            }
        }
    }
    assert_eq!(unbounded(&[(2, 2), (4, 4)], 0, MAX_INTERVALS), None);
}
