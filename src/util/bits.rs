//! Sets of small numbers as bits of words.

/// The indices of set bits, ascending.
pub(crate) fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(i, &w)| {
        std::iter::successors((w != 0).then_some(w), |w| Some(w & (w - 1)).filter(|w| *w != 0))
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
    })
}
