//! Transforms over Goldilocks at every level: `cargo bench -p proofmill-poly --bench goldilocks [-- --csv] [LOG_N...]`.

use proofmill_field::goldilocks::Goldilocks;
use proofmill_poly::goldilocks::{GoldilocksDomain, Order};
use proofmill_simd::Level;
use proofmill_testing::{Records, rng};

fn main() {
    let mut records = Records::new();
    let sizes = records.sizes(&[12, 16, 20, 23]);
    records.for_one_and_all_cores(|records, threads| {
        sizes.iter().for_each(|log_n| transforms(records, threads, *log_n));
    });
}

fn transforms(records: &mut Records, threads: usize, log_n: u32) {
    let domain = GoldilocksDomain::new(log_n).expect("a size within the field's two-adicity");
    let mut rng = rng(1);
    let mut values: Vec<_> = (0..domain.len()).map(|_| Goldilocks::random(&mut rng)).collect();
    for (order, name) in [(Order::BitReversed, "-reversed"), (Order::Natural, "")] {
        for level in Level::goldilocks_levels() {
            let implementation = format!("{level}{name}");
            records.record(&format!("ntt goldilocks 2^{log_n}"), &implementation, threads, None, || {
                domain.ntt(level, &mut values, order);
            });
        }
    }
}
