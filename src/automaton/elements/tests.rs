use super::*;
use crate::random::Rng;

/// The same by comparing with all of them.
fn slow(elements: &Elements, last: u32, value: &[u8]) -> bool {
    let mut at = last;
    while let Some(element) = elements.get(at) {
        if *element.value == *value {
            return true;
        }
        at = element.before;
    }
    false
}

#[test]
fn elements_are_found_as_by_comparing_with_all() {
    let mut random = Rng(7);
    for _ in 0..40 {
        let mut elements = Elements::default();
        // Lists that branch, as arrays do that are tried and left again.
        let mut lasts = vec![u32::MAX; 3];
        for _ in 0..400 {
            let which = random.below(3);
            match random.below(20) {
                0 => {
                    let len = random.below(elements.len() + 1);
                    elements.truncate(len);
                    for last in &mut lasts {
                        if *last != u32::MAX && *last as usize >= len {
                            *last = if len == 0 { u32::MAX } else { random.below(len) as u32 };
                        }
                    }
                }
                1 => lasts[which] = lasts[random.below(3)],
                2..8 => {
                    let value = random.below(200).to_string().into_bytes().into();
                    lasts[which] = elements.push(Element::new(lasts[which], value));
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
