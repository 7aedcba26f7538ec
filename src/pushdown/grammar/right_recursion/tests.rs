use std::collections::BTreeSet;

use super::*;
use crate::util::rng::Rng;

const FIRST_RULE: u32 = 3;

/// The texts of up to so many terminals that each rule derives, found by trying until nothing is new.
fn texts(of: &[Alternatives], longest: usize) -> Vec<BTreeSet<Vec<Symbol>>> {
    let mut known = vec![BTreeSet::new(); of.len()];
    loop {
        let before: usize = known.iter().map(BTreeSet::len).sum();
        for (rule, alternatives) in of.iter().enumerate() {
            for parts in alternatives {
                let mut found = BTreeSet::from([Vec::new()]);
                for &part in parts {
                    let next = match part.checked_sub(FIRST_RULE) {
                        Some(rule) => known[rule as usize].clone(),
                        None => BTreeSet::from([vec![part]]),
                    };
                    let joined = found.iter().flat_map(|a| next.iter().map(move |b| [&a[..], b].concat()));
                    found = joined.filter(|text| text.len() <= longest).collect();
                }
                known[rule].extend(found);
            }
        }
        if known.iter().map(BTreeSet::len).sum::<usize>() == before {
            return known;
        }
    }
}

fn random_rules(rng: &mut Rng) -> Vec<Alternatives> {
    let rules = rng.below(4) + 1;
    let symbol = |rng: &mut Rng| rng.below((FIRST_RULE as usize) + rules) as u32;
    (0..rules)
        .map(|_| {
            let alternatives = rng.below(3) + 1;
            let parts = |rng: &mut Rng| (0..rng.below(4)).map(|_| symbol(rng)).collect();
            (0..alternatives).map(|_| parts(rng)).collect()
        })
        .collect()
}

#[test]
fn rewritten_rules_derive_the_same_texts() {
    let mut rng = Rng(7);
    let (mut rewritten, mut left_alone) = (0, 0);
    for _ in 0..3_000 {
        let before = random_rules(&mut rng);
        let mut after = before.clone();
        remove(&mut after, FIRST_RULE, FIRST_RULE, &[]);
        *(if after == before { &mut left_alone } else { &mut rewritten }) += 1;
        assert_eq!(texts(&before, 5)[0], texts(&after, 5)[0], "{before:?} became {after:?}");
    }
    assert!(rewritten > 500 && left_alone > 500, "{rewritten} {left_alone}");
}

fn rules(of: &[&[&[Symbol]]]) -> Vec<Alternatives> {
    of.iter().map(|all| all.iter().map(|&parts| parts.into()).collect()).collect()
}

#[test]
fn no_rule_ends_with_itself_behind_an_opening_bracket_or_an_option() {
    let (open, close, word) = (0, 1, 2);
    // list: item list | ; item: "(" list ")" | WORD, with the option as a rule of its own.
    let mut of = rules(&[&[&[4]], &[&[], &[5, 3]], &[&[open, 3, close], &[word]]]);
    remove(&mut of, FIRST_RULE, FIRST_RULE, &[]);
    let (again, _) = cycles(&of, FIRST_RULE);
    assert!(again.iter().all(|members| members.len() == 1), "{of:?}");
    for (rule, alternatives) in (FIRST_RULE..).zip(&of) {
        assert!(alternatives.iter().all(|parts| parts.last() != Some(&rule)), "{of:?}");
    }
}

#[test]
fn rules_stay_where_a_parser_would_guess_or_their_texts_are_told() {
    let (when, otherwise, word) = (0, 1, 2);
    let statement = rules(&[&[&[when, 3], &[when, 3, otherwise, 3], &[word]]]);
    let mut of = statement.clone();
    remove(&mut of, FIRST_RULE, FIRST_RULE, &[]);
    assert_eq!(of, statement);
    let list = rules(&[&[&[word, 4], &[word]], &[&[3]]]);
    let mut of = list.clone();
    remove(&mut of, FIRST_RULE, FIRST_RULE, &[NO_CAPTURE, 0]);
    assert_eq!(of, list, "the text of the second rule is told");
    remove(&mut of, FIRST_RULE, FIRST_RULE, &[]);
    assert_ne!(of, list);
}
