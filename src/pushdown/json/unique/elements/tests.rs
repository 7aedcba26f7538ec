use super::*;
use crate::util::rng::Rng;

/// Whether an element has a value, by comparing with all of them.
fn slow(elements: &ArrayElements, last: u32, value: &[u8]) -> bool {
    let mut at = last;
    while let Some(element) = elements.get(at) {
        if *element.value == *value {
            return true;
        }
        at = element.before;
    }
    false
}

/// Forgets the elements from a random one on; lists that ended there end at any that is left.
fn go_back(random: &mut Rng, elements: &mut ArrayElements, lasts: &mut [u32]) {
    let len = random.below(elements.len() + 1);
    elements.truncate(len);
    for last in lasts.iter_mut().filter(|last| **last != u32::MAX && **last as usize >= len) {
        *last = if len == 0 { u32::MAX } else { random.below(len) as u32 };
    }
}

#[test]
fn elements_are_found_as_by_comparing_with_all() {
    let mut random = Rng(7);
    for _ in 0..40 {
        let mut elements = ArrayElements::default();
        // Lists that branch, as arrays do that are tried and left again.
        let mut lasts = vec![u32::MAX; 3];
        for _ in 0..400 {
            let which = random.below(3);
            match random.below(20) {
                0 => go_back(&mut random, &mut elements, &mut lasts),
                1 => lasts[which] = lasts[random.below(3)],
                2..8 => {
                    let value = random.below(200).to_string().into_bytes().into();
                    lasts[which] = elements.push(ArrayElement::new(lasts[which], value));
                }
                _ => {
                    let value = random.below(200).to_string();
                    let said = elements.has(lasts[which], value.as_bytes());
                    assert_eq!(said, slow(&elements, lasts[which], value.as_bytes()));
                }
            }
        }
    }
}

/// A lexeme of the test: words whose length is no multiple of its number and two.
fn accepts(lexeme: u32, value: &[u8]) -> bool {
    !(value.len() - 3).is_multiple_of(lexeme as usize + 2)
}

#[test]
fn beginnings_are_counted_as_by_looking_at_all() {
    let mut random = Rng(31);
    let word =
        |random: &mut Rng| -> String { (0..random.below(6)).map(|_| ["a", "b", "é"][random.below(3)]).collect() };
    for _ in 0..40 {
        let mut elements = ArrayElements::default();
        let mut lasts = vec![u32::MAX; 3];
        for _ in 0..500 {
            let which = random.below(3);
            match random.below(20) {
                0 => go_back(&mut random, &mut elements, &mut lasts),
                1 => lasts[which] = lasts[random.below(3)],
                2..8 => {
                    let value = match random.below(6) {
                        0 => "+12e0".to_owned(),
                        _ => format!("\"\"{}\"", word(&mut random)),
                    };
                    lasts[which] = elements.push(ArrayElement::new(lasts[which], value.into_bytes().into()));
                }
                _ => {
                    let last = lasts[which];
                    let lexeme = random.below(3) as u32;
                    let begin = format!("\"\"{}", word(&mut random)).into_bytes();
                    let ends = |rest: &[u8]| rest.first() == Some(&b'a');
                    let goes_on: GoesOn<'_> = random.chance(30).then_some(&ends);
                    let all: Vec<Box<[u8]>> =
                        elements.up_to(last).iter().filter_map(|e| elements.get(*e)).map(|e| e.value.clone()).collect();
                    let counts = |v: &[u8]| {
                        let rest = v.strip_prefix(&*begin);
                        rest.is_some_and(|rest| goes_on.is_none_or(|f| f(rest))) && accepts(lexeme, v)
                    };
                    let slow = all.iter().filter(|v| counts(v)).count() as u64;
                    let said = elements.num_beginning(last, lexeme, &begin, |v| accepts(lexeme, v), goes_on);
                    assert_eq!(said, slow);
                }
            }
        }
    }
}
