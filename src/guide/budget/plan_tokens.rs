//! The tokens of a plan. Plans that end alike share the tokens of their ends.
//!
//! A guide keeps the plan of each token so far, for going back. Under a budget that is tight many tokens leave the
//! plan, and each has a new one, of thousands of tokens where an array needs hundreds of elements. But most of it is
//! what the plan before ended with. So a plan is a list of pieces that are counted from its end, and a new one takes
//! all pieces over that are equal from there.

use std::sync::Arc;

/// Tokens of a piece, but for the first one of a plan, which may have fewer.
const PIECE: usize = 64;

/// Tokens that complete an output, or the first ones of such.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) tokens: Vec<u32>,
    /// So many tokens at most complete the output behind these.
    pub(super) tail: u32,
}

impl Plan {
    /// All tokens of a completion.
    pub(super) fn whole(tokens: Vec<u32>) -> Plan {
        Plan { tokens, tail: 0 }
    }

    /// So many tokens complete the output at most.
    pub(super) fn len(&self) -> u64 {
        self.tokens.len() as u64 + u64::from(self.tail)
    }
}

/// The tokens that are left of a plan.
#[derive(Clone, Default)]
pub(super) struct PlanTokens {
    piece: Option<Arc<Piece>>,
    /// Tokens of the piece that were followed.
    done: u32,
}

struct Piece {
    tokens: Box<[u32]>,
    next: Option<Arc<Piece>>,
    /// Tokens of this piece and all behind it.
    len: usize,
}

impl Drop for Piece {
    /// A plan may have thousands of pieces, and each would be dropped inside of the one before.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut piece) = next.and_then(Arc::into_inner) {
            next = piece.next.take();
        }
    }
}

impl PlanTokens {
    /// The tokens of a plan, which shares its end with `like`, and how many bytes it has for itself.
    pub(super) fn new(tokens: &[u32], like: &PlanTokens) -> (PlanTokens, u32) {
        let mut known: Vec<&Arc<Piece>> = std::iter::successors(like.piece.as_ref(), |p| p.next.as_ref()).collect();
        let (mut piece, mut bytes): (Option<Arc<Piece>>, usize) = (None, 0);
        for part in tokens.rchunks(PIECE) {
            // Pieces behind equal ones are the same up to here.
            let shared = known.pop().filter(|known| *known.tokens == *part);
            if shared.is_none() {
                known.clear();
                bytes += size_of_val(part) + size_of::<Piece>();
            }
            let len = piece.as_ref().map_or(0, |next| next.len) + part.len();
            piece = Some(shared.cloned().unwrap_or_else(|| Arc::new(Piece { tokens: part.into(), next: piece, len })));
        }
        (PlanTokens { piece, done: 0 }, u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.piece.as_ref().map_or(0, |piece| (piece.len - self.done as usize) as u64)
    }

    /// The next token.
    pub(super) fn first(&self) -> Option<u32> {
        self.piece.as_ref()?.tokens.get(self.done as usize).copied()
    }

    /// What is left behind the next token.
    pub(super) fn rest(&self) -> PlanTokens {
        let Some(piece) = &self.piece else { return PlanTokens::default() };
        match self.done as usize + 1 < piece.tokens.len() {
            true => PlanTokens { piece: Some(piece.clone()), done: self.done + 1 },
            false => PlanTokens { piece: piece.next.clone(), done: 0 },
        }
    }
}

#[cfg(test)]
mod tests;
