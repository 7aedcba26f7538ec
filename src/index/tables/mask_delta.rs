//! Mask deltas: a mask as what it differs in from a row that others have, too.
//!
//! Most masks of an index are a few tokens, or a row that a lexeme's state has anyway (the inside of a string) with
//! some more. A [`MaskDelta`] says just that: the row, and the ids of the tokens in which the mask differs from it. So
//! no state of an index has a row written, hashed and compared that is as wide as the vocabulary.
//!
//! Hashes are of the content, whichever row a delta stands on: a sum over the words of the mask, so that a word that
//! changes takes its old summand away and adds its new one.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::mask::json::cache::composition::{Ingredient, MaskComposition};
use crate::mask::lexeme::lexeme_mask::{SPARSE, TokenSet};
use crate::util::rng::scattered;

/// Rows of which the hash is remembered; all are forgotten when there are more.
const KNOWN: usize = 512;

/// A mask as a row that others have too, and the ids of the tokens in which it differs from that row.
#[derive(Clone)]
pub struct MaskDelta {
    /// The hash of the whole mask.
    pub hash: u64,
    /// The row that it stands on, with its hash; none is an empty row.
    pub base: Option<(Arc<[u32]>, u64)>,
    /// Ids of the tokens in which it differs from that, ascending.
    pub ids: Vec<u32>,
}

/// Words that have factors of their own; a further factor belongs to each so many.
const BLOCK: usize = 64;

const FACTORS: [u64; BLOCK] = {
    let mut factors = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        factors[i] = scattered(i as u64) | 1;
        i += 1;
    }
    factors
};

fn factor_of_block(block: usize) -> u64 {
    scattered((BLOCK + block) as u64) | 1
}

/// What one word adds to the hash of a mask; nothing where it is empty.
fn summand(word: usize, bits: u32) -> u64 {
    u64::from(bits).wrapping_mul(FACTORS[word % BLOCK]).wrapping_mul(factor_of_block(word / BLOCK))
}

/// The sum of what all words of a row add.
fn hash_of(row: &[u32]) -> u64 {
    let of_block = |block: &[u32]| {
        let summands = block.iter().zip(&FACTORS).map(|(&bits, factor)| u64::from(bits).wrapping_mul(*factor));
        summands.fold(0u64, u64::wrapping_add)
    };
    row.chunks(BLOCK)
        .enumerate()
        .fold(0, |hash, (i, block)| of_block(block).wrapping_mul(factor_of_block(i)).wrapping_add(hash))
}

/// Ids of the bits that are set in one word.
pub(super) fn ids_of(word: usize, mut bits: u32, out: &mut Vec<u32>) {
    while bits != 0 {
        out.push(word as u32 * 32 + bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// A row with the words in which it may differ from the row that it was.
struct Scratch {
    row: Vec<u32>,
    /// One bit for each word.
    touched: Vec<u64>,
}

impl Scratch {
    fn new(words: usize) -> Self {
        Scratch { row: vec![0; words], touched: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    fn turn_on(&mut self, word: u32, bits: u32) {
        self.row[word as usize] |= bits;
        self.touched[word as usize / 64] |= 1 << (word % 64);
    }

    #[inline]
    fn allow(&mut self, token: u32) {
        self.turn_on(token >> 5, 1 << (token & 31));
    }

    fn turn_off(&mut self, word: u32, bits: u32) {
        self.row[word as usize] &= !bits;
        self.touched[word as usize / 64] |= 1 << (word % 64);
    }

    /// Writes what a mask is made of. The row holds `base` already, which stands for the part that is this very row.
    fn put(&mut self, composition: &MaskComposition, blanks: &[(u32, u32)], base: Option<&Arc<[u32]>>) {
        let mut forbade = false;
        for part in composition.parts() {
            match part {
                Ingredient::Inner(mask) => match &mask.inner {
                    TokenSet::Sparse(tokens) => tokens.iter().for_each(|&t| self.allow(t)),
                    TokenSet::Dense(row) if !forbade && base.is_some_and(|base| Arc::ptr_eq(base, row)) => {}
                    TokenSet::Dense(row) => {
                        for (word, &bits) in (0u32..).zip(row.iter()) {
                            if bits & !self.row[word as usize] != 0 {
                                self.turn_on(word, bits);
                            }
                        }
                    }
                },
                Ingredient::Allow(patch) => patch.iter().for_each(|&(word, bits)| self.turn_on(word, bits)),
                Ingredient::Forbid(patch) => {
                    forbade = true;
                    patch.iter().for_each(|&(word, bits)| self.turn_off(word, bits));
                }
                Ingredient::Blanks(most) => {
                    blanks.iter().take_while(|b| b.0 <= *most).for_each(|&(_, token)| self.allow(token));
                }
            }
        }
        composition.tokens().iter().for_each(|&token| self.allow(token));
    }

    /// The ids in which the row differs from `base` (an empty one without), and by how much its hash does. The row is
    /// `base` again afterwards.
    fn take(&mut self, base: Option<&[u32]>) -> (Vec<u32>, u64) {
        let (mut ids, mut more) = (Vec::new(), 0u64);
        for (i, group) in self.touched.iter_mut().enumerate() {
            let mut left = std::mem::take(group);
            while left != 0 {
                let word = i * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let was = base.map_or(0, |base| base[word]);
                let now = std::mem::replace(&mut self.row[word], was);
                if now != was {
                    ids_of(word, now ^ was, &mut ids);
                    more = more.wrapping_add(summand(word, now)).wrapping_sub(summand(word, was));
                }
            }
        }
        (ids, more)
    }
}

/// What is known of a row that many masks stand on.
struct BaseRow {
    /// The row, held so that it keeps its address.
    _row: Arc<[u32]>,
    hash: u64,
    /// Whether the row has so few tokens that it is a list.
    few: bool,
}

/// Makes deltas, on one thread.
pub struct DeltaEncoder {
    empty: Scratch,
    /// Holds the row `at`.
    full: Scratch,
    at: Option<Arc<[u32]>>,
    known: FxHashMap<usize, BaseRow>,
}

/// The hash of a row, and whether it has few tokens.
fn look_at(row: &[u32]) -> (u64, bool) {
    let mut left = SPARSE;
    // Most rows have many, which their first words tell.
    let few = row.chunks(BLOCK).all(|block| {
        let tokens = block.iter().map(|w| w.count_ones() as usize).sum::<usize>();
        let few = tokens <= left;
        left = left.saturating_sub(tokens);
        few
    });
    (hash_of(row), few)
}

impl DeltaEncoder {
    /// For rows of so many words.
    pub fn new(words: usize) -> Self {
        let known = FxHashMap::default();
        DeltaEncoder { empty: Scratch::new(words), full: Scratch::new(words), at: None, known }
    }

    fn known(&mut self, row: &Arc<[u32]>) -> (u64, bool) {
        let address = Arc::as_ptr(row).cast::<u32>() as usize;
        if let Some(known) = self.known.get(&address) {
            return (known.hash, known.few);
        }
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        let (hash, few) = look_at(row);
        self.known.insert(address, BaseRow { _row: row.clone(), hash, few });
        (hash, few)
    }

    /// The delta of a row.
    pub fn of_row(&mut self, row: &[u32]) -> MaskDelta {
        let (hash, few) = look_at(row);
        if few {
            let mut ids = Vec::new();
            row.iter().enumerate().for_each(|(i, &w)| ids_of(i, w, &mut ids));
            return MaskDelta { hash, base: None, ids };
        }
        MaskDelta { hash, base: Some((row.into(), hash)), ids: Vec::new() }
    }

    /// The delta of tokens that stay inside a lexeme.
    pub fn of_inner(&mut self, inner: &TokenSet) -> MaskDelta {
        match inner {
            TokenSet::Dense(row) => match self.known(row) {
                (hash, false) => MaskDelta { hash, base: Some((row.clone(), hash)), ids: Vec::new() },
                (_, true) => self.of_row(row),
            },
            TokenSet::Sparse(tokens) => {
                tokens.iter().for_each(|&t| self.empty.allow(t));
                let (ids, hash) = self.empty.take(None);
                MaskDelta { hash, base: None, ids }
            }
        }
    }

    /// The delta of a mask by what it is made of; `blanks` are the tokens of whitespace by their length.
    pub fn of_parts(&mut self, composition: &MaskComposition, blanks: &[(u32, u32)]) -> MaskDelta {
        let Some((row, hash_of_row)) = self.base(composition) else {
            self.empty.put(composition, blanks, None);
            let (ids, hash) = self.empty.take(None);
            return MaskDelta { hash, base: None, ids };
        };
        if !self.at.as_ref().is_some_and(|at| Arc::ptr_eq(at, &row)) {
            self.full.row.copy_from_slice(&row);
            self.at = Some(row.clone());
        }
        self.full.put(composition, blanks, Some(&row));
        let (ids, more) = self.full.take(Some(&row));
        MaskDelta { hash: hash_of_row.wrapping_add(more), base: Some((row, hash_of_row)), ids }
    }

    /// All whole rows of a composition in one, with its hash; those of few tokens are left out.
    fn base(&mut self, composition: &MaskComposition) -> Option<(Arc<[u32]>, u64)> {
        let mut base: Option<(Arc<[u32]>, u64)> = None;
        for part in composition.parts() {
            let Ingredient::Inner(mask) = part else { continue };
            let TokenSet::Dense(row) = &mask.inner else { continue };
            let (hash, few) = self.known(row);
            match &mut base {
                _ if few => {}
                None => base = Some((row.clone(), hash)),
                Some((known, _)) if Arc::ptr_eq(known, row) => {}
                Some(known) => {
                    let both: Arc<[u32]> = known.0.iter().zip(row.iter()).map(|(a, b)| a | b).collect();
                    let hash = look_at(&both).0;
                    *known = (both, hash);
                }
            }
        }
        base
    }
}
