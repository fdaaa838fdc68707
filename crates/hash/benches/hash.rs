//! Scratch.
use proofmill_field::goldilocks::*;
use proofmill_simd::*;
use std::time::Instant;
#[inline(always)]
fn tile<V: GoldilocksVector>(words: &mut [u64], n: usize) {
    let w = V::Words::WIDTH;
    let mut s = [V::zero(); 12];
    for i in 0..12 {
        s[i] = V::load(&words[i * w..]);
    }
    for _ in 0..n {
        proofmill_hash::poseidon::permute(&mut s);
    }
    for i in 0..12 {
        s[i].store(&mut words[i * w..]);
    }
}
fn time<E: GoldilocksEngine>(name: &str, engine: E) {
    let w = <E::Chain as GoldilocksVector>::Words::WIDTH;
    let mut words = vec![0u64; 12 * w];
    engine.run(
        #[inline(always)]
        || tile::<E::Chain>(&mut words, 1),
    );
    assert_eq!(words[0], 0x3c18a9786cb0b359, "{name}");
    assert_eq!(words[12 * w - 1], 0x1792b1c4342109d7, "{name}");
    let mut best = f64::MAX;
    let n = 20000;
    for _ in 0..7 {
        let t = Instant::now();
        engine.run(
            #[inline(always)]
            || tile::<E::Chain>(&mut words, n),
        );
        best = best.min(t.elapsed().as_secs_f64());
    }
    println!("{name}: {:.3} M/s", (n * w) as f64 / best / 1e6);
}
fn main() {
    time("portable", Portable);
    time("avx2", Avx2::detect().unwrap());
    time("avx512", Avx512::detect().unwrap());
    time("ifma", Avx512Ifma::detect().unwrap());
}
