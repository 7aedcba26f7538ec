//! How a unigram tokenizer spells a text: the pieces whose scores have the largest sum (Kudo 2018, found as Viterbi
//! did).
//!
//! The best way is one of the whole text, so in general a token is certain only when the text has ended. But no piece
//! lies across a place between two characters that stand side by side in no piece, so every way goes through that
//! place, and the best way to it is best whatever follows: what lies between two such places is spelled by itself.
//!
//! *Rounding.* Libraries add scores from the start of a text on, some with 24 bits. Of two ways that differ by less
//! than such sums may err, which one is taken depends on the text before. So the best way counts only if it leads by
//! more than that, and texts are known up to [`MAX_BYTES`] only, which bounds the sums.
//!
//! *Unknown characters*, which are no pieces themselves, have ways of their own; no text with one is known.

use rustc_hash::FxHashMap;

/// Texts of more bytes, counted from their start, have sums that err too much.
pub(crate) const MAX_BYTES: usize = 1 << 14;

/// Scores of pieces.
#[derive(Debug)]
pub(crate) struct Unigram {
    /// Bytes of the longest piece.
    longest: usize,
    /// How far sums that one more piece is added to may come apart.
    error: f64,
}

impl Unigram {
    /// For pieces of these lengths and scores; `None` where a score is no number.
    pub(crate) fn from_pieces(pieces: impl Iterator<Item = (usize, f32)>) -> Option<Unigram> {
        let (mut longest, mut most) = (1, 1f64);
        for (length, score) in pieces {
            longest = longest.max(length);
            most = if score.is_finite() { most.max(f64::from(score).abs()) } else { return None };
        }
        // No byte adds more than the largest score, and each of two sums is rounded by half a unit in its last place.
        Some(Unigram { longest, error: most * MAX_BYTES as f64 / f64::from(1 << 23) })
    }

    /// The tokens of a text that is cut from its neighbours, by id and score (as its bits) of each piece; `None` where
    /// that is not certain.
    pub(crate) fn spell(&self, text: &str, by_bytes: &FxHashMap<Box<[u8]>, (u32, u32)>) -> Option<Vec<u32>> {
        let piece = |from: usize, to: usize| {
            let &(id, bits) = by_bytes.get(text.as_bytes().get(from..to)?)?;
            Some((id, f64::from(f32::from_bits(bits))))
        };
        let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        if borders.windows(2).any(|pair| piece(pair[0], pair[1]).is_none()) {
            return None;
        }
        let reach = |end: usize| {
            let near = borders.partition_point(|&b| b + self.longest < borders[end]);
            near..end
        };
        // The best sum up to each border, and where its last piece begins.
        let mut best: Vec<(f64, usize)> = vec![(0.0, 0)];
        for end in 1..borders.len() {
            let ways = reach(end).filter_map(|from| Some((best[from].0 + piece(borders[from], borders[end])?.1, from)));
            best.push(ways.reduce(|a, b| if b.0 > a.0 { b } else { a })?);
        }
        let margin = self.error * borders.len() as f64;
        let mut out = Vec::new();
        let mut end = borders.len() - 1;
        while end > 0 {
            let (sum, from) = best[end];
            let rival = |other: usize| {
                let score = piece(borders[other], borders[end]).map(|p| best[other].0 + p.1);
                other != from && score.is_some_and(|score| score + margin >= sum)
            };
            if reach(end).any(rival) {
                return None;
            }
            out.push(piece(borders[from], borders[end])?.0);
            end = from;
        }
        out.reverse();
        Some(out)
    }
}

#[cfg(test)]
mod tests;
