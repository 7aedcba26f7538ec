//! A random number generator that is the same on every machine: SplitMix64 (Steele, Lea and Flood, *Fast splittable
//! pseudorandom number generators*, 2014).
//!
//! It serves random members, factors of hashes and tests. Whoever sees some of its numbers knows the others: no key is
//! made of them.

/// What is added to the state for each number.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

const fn mixed(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// The `n`-th number of the seed 0.
pub const fn scattered(n: u64) -> u64 {
    mixed(n.wrapping_add(1).wrapping_mul(STEP))
}

/// The generator; its seed is its state.
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number below `n`; 0 where that is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// True `percent` times out of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A random one of `items`.
    ///
    /// # Panics
    /// Without any.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_paper() {
        // The first of seed 0, as java.util.SplittableRandom gives them.
        let mut rng = Rng(0);
        let expected = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F];
        assert_eq!([0, 1, 2].map(|_| rng.bits()), expected);
        assert_eq!([0, 1, 2].map(scattered), expected);
        assert_eq!(rng.below(0), 0);
    }
}
