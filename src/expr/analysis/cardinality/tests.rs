use super::*;

fn size_of(texts: &[String]) -> (u64, usize) {
    let mut exprs = Exprs::new(1 << 20);
    let expr = exprs.choice(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let mut table = CardinalityTable::default();
    (size(&mut exprs, &mut table, expr), table.len())
}

#[test]
fn long_texts_are_as_few_as_short_ones() {
    for len in [1, 7, 8, 9, 100, 30_000] {
        let texts = ["a", "b", "c"].map(|c| c.repeat(len));
        assert_eq!(size_of(&texts).0, 3, "{len}");
        let shared = ["a", "b", "ab", ""].map(|end| "x".repeat(len) + end + &"y".repeat(len));
        assert_eq!(size_of(&shared).0, 4, "{len}");
    }
    assert_eq!(size_of(&(1..200).map(|n| "a".repeat(n)).collect::<Vec<_>>()).0, 199);
    // Words with a choice at every letter: as many as are followed, and more.
    let words = |bits: usize| (0..1 << bits).map(|i| format!("{i:0bits$b}-{i}")).collect::<Vec<_>>();
    assert_eq!(size_of(&words(12)).0, 1 << 12);
    assert_eq!(size_of(&words(15)).0, u64::MAX);
}

#[test]
fn every_state_of_a_long_text_is_counted_and_few_are_remembered() {
    let len = 20_000;
    let mut exprs = Exprs::new(1 << 20);
    let texts = ["a", "b"].map(|c| c.repeat(len));
    let mut at = exprs.choice(&[texts[0].as_str(), texts[1].as_str()]);
    let mut table = CardinalityTable::default();
    assert_eq!(size(&mut exprs, &mut table, at), 2);
    for _ in 0..len {
        at = exprs.derive(at, b'b');
        assert_eq!(size(&mut exprs, &mut table, at), 1);
    }
    assert!(table.len() < len, "{}", table.len());
}

#[test]
fn counting_within_a_bound_ends_or_says_the_same() {
    let words: Vec<String> = (0..200).map(|i| format!("word{i}x")).collect();
    let mut exprs = Exprs::new(1 << 20);
    let few = exprs.choice(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let nested = [99, 99, 99].iter().fold(exprs.choice(&["a"]), |inner, &max| exprs.rep(inner, 1, max));
    let mut table = CardinalityTable::default();
    assert_eq!(size_within(&mut exprs, &mut table, few, 1), None);
    assert_eq!(size_within(&mut exprs, &mut table, few, 20_000), Some(200));
    // Of an answer that was not found nothing wrong is left.
    let mut table = CardinalityTable::default();
    assert_eq!(size_within(&mut exprs, &mut table, nested, 50), None);
    assert_eq!(size(&mut exprs, &mut table, few), 200);
}
