//! Sets of small numbers as bits of words.

/// The indices of set bits, ascending.
pub(crate) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(i, &w)| {
        std::iter::successors((w != 0).then_some(w), |w| Some(w & (w - 1)).filter(|w| *w != 0))
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
    })
}

/// Words of a row of tokens that are looked at together: a row that is nearly empty costs little more than reading it.
const WORDS: usize = 32;

/// Whether a row has at most so many bits.
pub(crate) fn has_at_most(row: &[u32], most: u32) -> bool {
    let mut found = 0;
    row.chunks(WORDS).all(|words| {
        if words.iter().fold(0, |any, word| any | word) != 0 {
            found += words.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        found <= most
    })
}

/// The indices of the bits of a row that has few, ascending.
pub(crate) fn ones_of_sparse(row: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    for (words, first) in row.chunks(WORDS).zip((0..).step_by(32 * WORDS)) {
        if words.iter().fold(0, |any, word| any | word) == 0 {
            continue;
        }
        for (&word, first) in words.iter().zip((first..).step_by(32)) {
            let mut rest = word;
            while rest != 0 {
                found.push(first + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_rows_are_read_as_any_row_is() {
        let mut row = vec![0u32; 4 * WORDS + 5];
        let set = [0, 31, 32, 1_023, 1_024, 3_000, 4_250];
        set.iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
        assert_eq!(ones_of_sparse(&row), set);
        assert!(has_at_most(&row, 7) && !has_at_most(&row, 6));
        assert!(has_at_most(&[], 0) && ones_of_sparse(&[]).is_empty());
    }
}
