//! Ways and margins by hand.

use super::*;

type Pieces = FxHashMap<Box<[u8]>, (u32, u32)>;

fn pieces(scores: &[(&str, f32)]) -> (Unigram, Pieces) {
    let unigram = Unigram::from_pieces(scores.iter().map(|(text, score)| (text.len(), *score))).expect("numbers");
    let by_bytes = (0..).zip(scores).map(|(id, (text, score))| (text.as_bytes().into(), (id, score.to_bits())));
    (unigram, by_bytes.collect())
}

#[test]
fn the_largest_sum_counts_if_it_leads_by_enough() {
    let (unigram, all) = pieces(&[("a", -3.0), ("b", -3.0), ("ab", -4.0), ("ba", -5.0), ("é", -2.0)]);
    let spell = |text| unigram.spell(text, &all);
    assert_eq!(spell("ab"), Some(vec![2]));
    assert_eq!(spell("aba"), Some(vec![2, 0]));
    assert_eq!(spell("abé"), Some(vec![2, 4]));
    assert_eq!(spell(""), Some(vec![]));
    // A character that is no piece.
    assert_eq!(spell("abc"), None);
    let (unigram, all) = pieces(&[("a", -1.0), ("aa", -1.5)]);
    // Two ways with one sum, and a third that is far behind.
    assert_eq!(unigram.spell("aaa", &all), None);
    assert_eq!(unigram.spell("aaaa", &all), Some(vec![1, 1]));
    let (unigram, all) = pieces(&[("a", -1.0), ("b", -1.0), ("ab", -1.9995)]);
    assert_eq!(unigram.spell("ab", &all), None, "the lead is less than sums may err");
    assert!(Unigram::from_pieces([(1, f32::NAN)].into_iter()).is_none());
}
