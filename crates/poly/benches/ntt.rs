//! Process CPU time on one core: an NTT at every level beside arkworks; `cargo bench -p proofmill-poly [-- LOG_N...]`.

use ark_ff::UniformRand;
use ark_poly::{EvaluationDomain, GeneralEvaluationDomain};
use proofmill_field::bn254::Fr;
use proofmill_poly::Domain;
use proofmill_simd::Level;
use proofmill_testing::{median_seconds, rng};

fn main() {
    let mut sizes: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![14, 16, 18, 20];
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    pool.install(|| sizes.into_iter().for_each(compare));
}

fn compare(log_n: u32) {
    let domain = Domain::new(log_n).expect("a size within the field's two-adicity");
    let theirs = GeneralEvaluationDomain::<ark_bn254::Fr>::new(domain.len()).expect("the same");
    let mut rng = rng(1);
    let mut values: Vec<Fr> = (0..domain.len()).map(|_| Fr::random(&mut rng)).collect();
    let mut ark_values: Vec<_> =
        (0..domain.len()).map(|_| ark_bn254::Fr::rand(&mut ark_std::test_rng())).collect();
    let peer = median_seconds(|| theirs.fft_in_place(&mut ark_values));
    println!("ntt 2^{log_n} arkworks    {:9.3} ms", peer * 1e3);
    for level in Level::available() {
        let seconds = median_seconds(|| domain.ntt(level, &mut values));
        println!(
            "ntt 2^{log_n} {:<11} {:9.3} ms  {:5.2}x arkworks",
            level.name(),
            seconds * 1e3,
            peer / seconds
        );
    }
}
