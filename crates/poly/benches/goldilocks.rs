//! Transforms over Goldilocks at every level: `cargo bench -p proofmill-poly --bench goldilocks [-- --csv] [LOG_N...] [LEVEL...]`;
//! with 20 among the sizes also those of matrices, and evaluations.

use proofmill_cpu::Level;
use proofmill_field::goldilocks::{Extension, Goldilocks};
use proofmill_memory::Pages;
use proofmill_poly::goldilocks::{GoldilocksDomain, Order, evaluate};
use proofmill_testing::{Records, rng};

/// The size of matrices.
const MATRIX: u32 = 20;

fn main() {
    let mut records = Records::new();
    let sizes = records.sizes(&[12, 14, 16, 18, 20, 22, 23]);
    let named: Vec<Level> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let levels = if named.is_empty() { proofmill_field::goldilocks_levels() } else { named };
    records.for_one_and_all_cores(|records, threads| {
        for &log_n in &sizes {
            transforms(records, threads, &levels, log_n, 1);
            if log_n == MATRIX {
                transforms(records, threads, &levels, log_n, 8);
                extensions(records, threads, &levels);
                evaluations(records, threads, &levels);
            }
        }
    });
}

fn random(len: usize) -> Vec<Goldilocks> {
    let mut rng = rng(1);
    (0..len).map(|_| Goldilocks::random(&mut rng)).collect()
}

fn transforms(records: &mut Records, threads: usize, levels: &[Level], log_n: u32, width: usize) {
    let domain = GoldilocksDomain::new(log_n).expect("a size within the field's two-adicity");
    let mut values = random(domain.len() * width);
    let name = if width == 1 {
        format!("ntt goldilocks 2^{log_n}")
    } else {
        format!("ntt goldilocks 2^{log_n} x {width}")
    };
    for (order, suffix) in [(Order::BitReversed, "-reversed"), (Order::Natural, "")] {
        for level in levels {
            records.record(&name, &format!("{level}{suffix}"), threads, None, || {
                domain.ntt(*level, &mut values, order);
            });
        }
    }
}

fn extensions(records: &mut Records, threads: usize, levels: &[Level]) {
    let domain = GoldilocksDomain::new(MATRIX).expect("a size within the field's two-adicity");
    let values = random(domain.len() * 16);
    for level in levels {
        records.record(
            &format!("lde goldilocks 2^{MATRIX} x 16 by 2"),
            &format!("{level}-reversed"),
            threads,
            None,
            || {
                let mut extension = Pages::new(2 * values.len());
                let shift = Goldilocks::GENERATOR;
                domain.low_degree_extension(*level, &values, shift, &mut extension, Order::BitReversed);
            },
        );
    }
}

fn evaluations(records: &mut Records, threads: usize, levels: &[Level]) {
    let domain = GoldilocksDomain::new(MATRIX).expect("a size within the field's two-adicity");
    let point = Extension([Goldilocks::GENERATOR, Goldilocks::from(3)]);
    for width in [1, 16] {
        let values = random(domain.len() * width);
        for level in levels {
            let name = format!("evaluate goldilocks 2^{MATRIX} x {width}");
            records.record(&name, &format!("{level}-coefficients"), threads, None, || {
                evaluate(*level, &values, width, point)
            });
            records.record(&name, &format!("{level}-values"), threads, None, || {
                domain.evaluate_from_values(*level, &values, Order::BitReversed, Goldilocks::GENERATOR, point)
            });
        }
    }
}
