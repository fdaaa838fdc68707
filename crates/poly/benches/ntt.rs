//! NTTs at every level beside arkworks, on one core and on all: `cargo bench -p proofmill-poly [-- --csv] [LOG_N...]`.

use ark_ff::UniformRand;
use ark_poly::{EvaluationDomain, GeneralEvaluationDomain};
use proofmill_field::bn254::Fr;
use proofmill_poly::Domain;
use proofmill_testing::{Records, rng};

fn main() {
    let mut records = Records::new();
    let sizes = records.sizes(&[14, 16, 18, 20]);
    records.for_one_and_all_cores(|records, threads| {
        sizes.iter().for_each(|log_n| compare(records, threads, *log_n));
    });
}

fn compare(records: &mut Records, threads: usize, log_n: u32) {
    let name = format!("ntt 2^{log_n}");
    let domain = Domain::new(log_n).expect("a size within the field's two-adicity");
    let mut values: Vec<Fr> = (0..domain.len()).map(|_| Fr::random(&mut rng(1))).collect();
    // arkworks is built for one thread.
    let peer = (threads == 1).then(|| {
        let theirs = GeneralEvaluationDomain::<ark_bn254::Fr>::new(domain.len()).expect("the same");
        let mut values: Vec<_> =
            (0..domain.len()).map(|_| ark_bn254::Fr::rand(&mut ark_std::test_rng())).collect();
        ("arkworks", records.record(&name, "arkworks", 1, None, || theirs.fft_in_place(&mut values)))
    });
    for level in proofmill_field::prime_field_levels() {
        records.record(&name, level.name(), threads, peer, || domain.ntt(level, &mut values));
    }
}
