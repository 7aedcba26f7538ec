use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::index::{Index, IndexEngine};
use crate::lexeme::DEAD_STATE;
use crate::limits::Limits;
use crate::regex::{Dialect, RegexOptions};
use crate::vocab::sample::{bytes_and, ended};

#[test]
fn characters_that_begin_alike_lead_to_one_state_if_all_do() {
    let vocabulary = ended(bytes_and(["ab"]));
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let mut ends = BTreeSet::new();
    for pattern in
        [r"[^m]*(mode.*)?", r"\w+", r"[\u0800-\u0fff\u1800-\u1fff]+", r"[^\U00010400\u0939]*x", r"(日.|[^日])*"]
    {
        let index = Index::from_regex(pattern, &vocabulary, &options, &Limits::default()).unwrap();
        let IndexEngine::Pattern(text) = &index.0.engine else { panic!("a pattern") };
        let l = &*text.lexeme;
        let mut led: BTreeMap<u8, BTreeSet<StateId>> = BTreeMap::new();
        for c in ('\u{80}'..=char::MAX).filter(|c| !('\u{20000}'..='\u{f0000}').contains(c)) {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            let to = bytes.iter().fold(l.start(), |s, &b| if s > CLOSED { l.next(s, b) } else { DEAD_STATE });
            led.entry(bytes[0]).or_default().insert(to);
        }
        for (lead, to) in led {
            let at = l.next(l.start(), lead);
            if at <= CLOSED {
                continue;
            }
            let one = to.first().copied().filter(|&first| to.len() == 1 && first > CLOSED);
            let found = behind(l, at, second_of(lead).unwrap().0, &mut SeededMap::default());
            assert_eq!(found, one, "{pattern}: {lead:x}");
            ends.insert((pattern, found.is_some()));
        }
    }
    // Both answers occur, and of the classes without a hole in them each has the first.
    assert!(ends.iter().filter(|e| e.1).count() >= 4 && ends.iter().filter(|e| !e.1).count() >= 3, "{ends:?}");
}

#[test]
fn no_other_bytes_begin_a_character_of_several() {
    for byte in 0..=255u8 {
        let begins = ('\u{80}'..=char::MAX).any(|c| c.encode_utf8(&mut [0; 4]).as_bytes()[0] == byte);
        assert_eq!(second_of(byte).is_some(), begins, "{byte:x}");
    }
}
