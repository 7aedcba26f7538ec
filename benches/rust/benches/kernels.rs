//! One row of logits masked: few tokens allowed, few forbidden, and every other one at random.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use interlock::mask_kernels::{LogitRow, NEG_INFINITY_F16, apply_row};
use interlock::util::rng::Rng;

const COLUMNS: usize = 128_256;

fn rows(c: &mut Criterion) {
    let mut rng = Rng(3);
    let mixed: Vec<u32> = (0..COLUMNS / 32).map(|_| rng.bits() as u32).collect();
    let few: Vec<u32> = (0..COLUMNS / 32).map(|i| u32::from(i % 40 == 0) << 7).collect();
    let most: Vec<u32> = few.iter().map(|word| !word).collect();
    for (name, words) in [("few", &few), ("most", &most), ("mixed", &mixed)] {
        let allowed: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let mut group = c.benchmark_group(format!("apply_row/{name}"));
        let mut wide = vec![0u32; COLUMNS];
        group.throughput(Throughput::Bytes(COLUMNS as u64 * 4));
        group.bench_function("32 bits", |b| b.iter(|| apply_row(LogitRow::Bits32(&mut wide), words)));
        assert_eq!(wide.iter().filter(|logit| **logit == 0).count(), allowed);
        let mut half = vec![0u16; COLUMNS];
        group.throughput(Throughput::Bytes(COLUMNS as u64 * 2));
        group.bench_function("16 bits", |b| b.iter(|| apply_row(LogitRow::Bits16(&mut half, NEG_INFINITY_F16), words)));
        assert_eq!(half.iter().filter(|logit| **logit == 0).count(), allowed);
        let mut double = vec![0u64; COLUMNS];
        group.throughput(Throughput::Bytes(COLUMNS as u64 * 8));
        group.bench_function("64 bits", |b| b.iter(|| apply_row(LogitRow::Bits64(&mut double), words)));
        assert_eq!(double.iter().filter(|logit| **logit == 0).count(), allowed);
        group.finish();
    }
}

criterion_group!(all, rows);
criterion_main!(all);
