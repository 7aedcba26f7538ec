//! Byte pair encoding: the tokens that merging makes of a piece of text.
//!
//! This is the published algorithm: of all neighbours that merge, those of the lowest rank, the leftmost first, until
//! none do. A rank file ranks the merged bytes; a list of merges ranks pairs of tokens.

use crate::vocab::tokenizer::{Cuts, TokenizerModel};

/// Stands for the token of a character that is none.
const NO_TOKEN: u32 = u32::MAX;

/// The longest piece that is merged, in bytes: merging takes quadratic time. Longer ones are not certain.
const MAX_PIECE: usize = 1024;

impl TokenizerModel {
    /// The tokens of a whole piece.
    pub fn piece(&self, piece: &[u8]) -> Option<Vec<u32>> {
        match self.by_bytes.get(piece) {
            Some(&(id, _)) if self.parts.whole => Some(vec![id]),
            _ => self.merge(piece),
        }
    }

    /// What merging makes of a part of a piece.
    pub fn merge(&self, piece: &[u8]) -> Option<Vec<u32>> {
        if piece.len() > MAX_PIECE {
            return None;
        }
        if let Some(unigram) = &self.unigram {
            return unigram.spell(std::str::from_utf8(piece).ok()?, &self.by_bytes);
        }
        // Start and token of each part, and the rank and token that it makes with the next one.
        let mut parts = self.units(piece)?;
        let joined = |parts: &[(usize, u32)], i: usize| {
            let (&(from, left), &(_, right)) = (parts.get(i)?, parts.get(i + 1)?);
            if self.parts.merges.is_some() {
                return self.by_pair.get(&(left, right)).copied();
            }
            let to = parts.get(i + 2).map_or(piece.len(), |p| p.0);
            self.by_bytes.get(piece.get(from..to)?).map(|&(id, rank)| (rank, id))
        };
        let mut next: Vec<_> = (0..parts.len()).map(|i| joined(&parts, i)).collect();
        while let Some((i, (_, id))) =
            next.iter().enumerate().filter_map(|(i, n)| n.map(|n| (i, n))).min_by_key(|&(i, (rank, _))| (rank, i))
        {
            if let Some(part) = parts.get_mut(i) {
                part.1 = id;
            }
            parts.remove(i + 1);
            next.remove(i + 1);
            for j in [i.checked_sub(1), Some(i)].into_iter().flatten() {
                let made = joined(&parts, j);
                if let Some(n) = next.get_mut(j) {
                    *n = made;
                }
            }
        }
        let ends = parts.iter().skip(1).map(|p| p.0).chain([piece.len()]).collect::<Vec<_>>();
        let mut out = Vec::with_capacity(parts.len());
        for ((from, id), to) in parts.into_iter().zip(ends) {
            match id {
                NO_TOKEN => {
                    for &byte in piece.get(from..to)? {
                        out.push(*self.parts.bytes.get(usize::from(byte))?);
                    }
                }
                id => out.push(id),
            }
        }
        Some(out)
    }

    /// What merging begins with: start and token of each byte or character.
    fn units(&self, piece: &[u8]) -> Option<Vec<(usize, u32)>> {
        let token = |text: &[u8]| self.by_bytes.get(text).map(|t| t.0);
        match self.cuts {
            Cuts::Pattern(_) => piece.chunks(1).enumerate().map(|(at, byte)| Some((at, token(byte)?))).collect(),
            Cuts::Pairs(_) => {
                let text = std::str::from_utf8(piece).ok()?;
                let of = |c: char| token(c.encode_utf8(&mut [0; 4]).as_bytes()).unwrap_or(NO_TOKEN);
                Some(text.char_indices().map(|(at, c)| (at, of(c))).collect())
            }
        }
    }
}
