use super::*;

/// Whether `text` is a multiple, by plain arithmetic.
fn is_multiple(text: &str, modulus: u128, scale: u32) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().unwrap();
    // digits / 10^f is a multiple of modulus / 10^scale.
    let (a, b) = (digits * 10u128.pow(scale), modulus * 10u128.pow(fraction.len() as u32));
    a % b == 0
}

/// Walks all that follows, and says by how few bytes it is completed.
fn walk(m: Multiple, text: &mut String, depth: usize, seen: &mut dyn FnMut(&str, bool)) -> Option<u32> {
    seen(text, m.accepts());
    let mut least = m.accepts().then_some(0);
    if depth > 0 {
        for (b, next) in m.steps() {
            text.push(char::from(b));
            let behind = walk(next, text, depth - 1, seen).map(|bytes| bytes + 1);
            least = least.into_iter().chain(behind).min();
            text.pop();
        }
        assert_eq!(least.is_some(), m.is_live(), "{m:?} {text}");
        assert_eq!(least.unwrap_or(u32::MAX), m.least_bytes(), "{m:?} {text}");
    }
    least
}

#[test]
fn accepts_exactly_the_multiples_and_knows_dead_ends() {
    for (modulus, scale) in [(1u128, 0u16), (1, 2), (3, 0), (7, 1), (25, 2), (10, 0), (12, 0), (75, 1), (123, 2)] {
        for (min, max) in [(0, 2), (1, 1), (2, 2), (0, 0), (1, 2)] {
            let d = Divisor::new(modulus, scale, 2).unwrap();
            for first in 1..10u8 {
                let start = d.whole(d.next(0, first), min, max);
                let mut text = first.to_string();
                let mut n = 0;
                walk(start, &mut text, 5, &mut |t, ok| {
                    let whole = t.split('.').next().unwrap().len();
                    let complete = whole > usize::from(min) && !t.ends_with('.');
                    assert_eq!(ok, complete && is_multiple(t, modulus, u32::from(scale)), "{t} {modulus} {scale}");
                    n += 1;
                });
                assert!(n > 1);
            }
        }
    }
}

#[test]
fn limits() {
    assert!(Divisor::new(0, 0, 0).is_none());
    assert!(Divisor::new(1 << 120, 0, 0).is_none());
    let d = Divisor::new((1 << 120) - 1, 400, 400).unwrap();
    let mut m = d.whole(1, 0, 80);
    for _ in 0..500 {
        let Some((_, next)) = m.steps().pop() else { break };
        m = next;
        let _ = (m.accepts(), m.is_live());
    }
    assert!(m.steps().is_empty());
}

#[test]
fn exceptions_are_left_out_and_dead_ends_known() {
    let cases: [(u128, &[u128], u16); 8] = [
        (1, &[2], 0),
        (1, &[2, 3, 5], 0),
        (2, &[3, 10], 0),
        (1, &[10], 1),
        (1, &[100], 2),
        (5, &[10, 15], 1),
        (3, &[3], 0),
        (4, &[6, 100], 2),
    ];
    for (step, except, scale) in cases {
        for (min, max) in [(0, 2), (1, 1), (2, 2), (0, 0), (1, 2)] {
            for pointed in [false, true] {
                let d = Divisor::with_exceptions(step, except, scale, 2).unwrap();
                let d = if pointed { d.pointed() } else { d };
                for first in 1..10u8 {
                    let start = d.whole(d.next(0, first), min, max);
                    walk(start, &mut first.to_string(), 5, &mut |t, ok| {
                        let whole = t.split('.').next().unwrap().len();
                        let written = whole > usize::from(min) && !t.ends_with('.') && (!pointed || t.contains('.'));
                        let s = u32::from(scale);
                        let held = is_multiple(t, step, s) && !except.iter().any(|&e| is_multiple(t, e, s));
                        assert_eq!(ok, written && held, "{t} {step} {except:?} {scale}");
                    });
                }
            }
        }
    }
    assert!(Divisor::with_exceptions(1, &[0], 0, 0).is_none());
    assert!(Divisor::with_exceptions(1 << 100, &[3 << 99], 0, 0).is_some());
    assert!(Divisor::with_exceptions((1 << 100) + 1, &[1 << 100], 0, 0).is_none());
}
