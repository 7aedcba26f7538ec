use super::*;
use crate::util::rng::Rng;

/// The definition, one bit at a time.
fn slow(lanes: &mut [f32], words: &[u32]) {
    for (t, lane) in lanes.iter_mut().enumerate() {
        if words.get(t / 32).is_none_or(|w| w >> (t % 32) & 1 == 0) {
            *lane = f32::NEG_INFINITY;
        }
    }
}

/// A fixed sequence of words with sparse, dense, empty and full ones among them.
fn words(n: usize, seed: u64) -> Vec<u32> {
    let mut rng = Rng(seed);
    (0..n)
        .map(|i| {
            let x = rng.bits();
            match i % 5 {
                0 => 0,
                1 => u32::MAX,
                2 => 1 << (x >> 59),
                3 if i % 2 == 0 => !(1 << (x >> 59)),
                _ => (x >> 32) as u32,
            }
        })
        .collect()
}

/// Long and short runs of empty and full words between others.
fn clustered(n: usize, seed: u64) -> Vec<u32> {
    let mut rng = Rng(seed);
    let mut out = Vec::new();
    while out.len() < n {
        let word = [0, u32::MAX, !1, rng.bits() as u32][rng.below(4)];
        let longest = [2, 9, 20][rng.below(3)];
        let run = 1 + rng.below(longest);
        out.extend((0..run.min(n - out.len())).map(|_| word));
    }
    out
}

#[test]
fn agrees_with_the_definition_at_every_width() {
    let kinds = [words, clustered];
    for columns in [0, 1, 31, 32, 33, 63, 64, 65, 100, 320, 331, 2048, 3001] {
        for (count, words) in [0, 1, 2, 3, 10, 11, 12, 64, 94].into_iter().flat_map(|n| kinds.map(|k| (n, k))) {
            let mask = words(count, columns as u64 + 7);
            let original: Vec<f32> = (0..columns).map(|t| t as f32 - 50.0).collect();
            let mut expected = original.clone();
            slow(&mut expected, &mask);
            let mut bits: Vec<u32> = original.iter().map(|x| x.to_bits()).collect();
            apply_row(LogitRow::Bits32(&mut bits), &mask);
            let got: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
            assert_eq!(got, expected, "{columns} columns, {count} words");

            let mut copy = vec![7u32; columns];
            let mut source: Vec<u32> = original.iter().map(|x| x.to_bits()).collect();
            assert!(copy_row(LogitRow::Bits32(&mut copy), &LogitRow::Bits32(&mut source), &mask));
            let got: Vec<f32> = copy.into_iter().map(f32::from_bits).collect();
            assert_eq!(got, expected, "{columns} columns, {count} words, copied");
        }
    }
}

#[test]
fn narrow_and_wide_lanes_get_their_own_infinity() {
    let mut half = [0x3C00u16; 40];
    apply_row(LogitRow::Bits16(&mut half, NEG_INFINITY_F16), &[0xFFFF_FFFE, 1]);
    assert_eq!(half[0], 0xFC00);
    assert!(half[1..33].iter().all(|&x| x == 0x3C00));
    assert!(half[33..].iter().all(|&x| x == 0xFC00));

    let mut brain = [0x3F80u16; 3];
    apply_row(LogitRow::Bits16(&mut brain, NEG_INFINITY_BF16), &[0b010]);
    assert_eq!(brain, [0xFF80, 0x3F80, 0xFF80]);

    let mut double = [1f64.to_bits(); 3];
    apply_row(LogitRow::Bits64(&mut double), &[0b101]);
    assert_eq!(double.map(f64::from_bits), [1.0, f64::NEG_INFINITY, 1.0]);
}

#[test]
fn an_allowed_nan_keeps_its_bits() {
    let signalling = 0x7FA0_0001;
    let mut lanes = [signalling; 2];
    apply_row(LogitRow::Bits32(&mut lanes), &[1]);
    assert_eq!(lanes, [signalling, f32::NEG_INFINITY.to_bits()]);
}

#[test]
fn every_set_of_instructions_gives_the_same() {
    let mask = words(40, 11);
    let source: Vec<u16> = (0..1290).collect();
    let mut plain = source.clone();
    masked(&mut plain, None, &mask, NEG_INFINITY_F16);
    let mut best = source.clone();
    apply_row(LogitRow::Bits16(&mut best, NEG_INFINITY_F16), &mask);
    assert_eq!(plain, best);
    let doubles: Vec<u64> = (0..1290).collect();
    let (mut plain, mut best) = (doubles.clone(), doubles);
    masked(&mut plain, None, &mask, 7);
    run(&mut best, None, &mask, 7);
    assert_eq!(plain, best);
}

#[test]
fn rows_of_different_formats_are_not_copied() {
    let (mut a, mut b, mut c) = ([1u16; 2], [2u16; 2], [3u16; 3]);
    let to = LogitRow::Bits16(&mut a, NEG_INFINITY_F16);
    assert!(!copy_row(to, &LogitRow::Bits16(&mut b, NEG_INFINITY_BF16), &[0]));
    let to = LogitRow::Bits16(&mut a, NEG_INFINITY_F16);
    assert!(!copy_row(to, &LogitRow::Bits16(&mut c, NEG_INFINITY_F16), &[0]));
    assert_eq!(a, [1, 1]);
}
