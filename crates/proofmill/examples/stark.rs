//! An AIR from scratch: 65,535 steps of `x -> (x + c)^7`, proven, so that a verifier need not take them.
//!
//!     cargo run --release --example stark

use proofmill::{
    field::{Algebra, Goldilocks},
    merkle::Rows,
    stark::{Air, Config, Constraints, Row},
};

/// One column. The constants c repeat after eight steps. The public values are the first and the last x.
struct Chain;

/// Digits of pi.
const CONSTANTS: [u64; 8] = [31415926, 53589793, 23846264, 33832795, 2884197, 16939937, 51058209, 74944592];

impl Air for Chain {
    fn columns(&self) -> usize {
        1
    }

    fn public_values(&self) -> usize {
        2
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![CONSTANTS.map(Goldilocks::new).to_vec()]
    }

    fn constrain(&self, row: Row) {
        let sum = row.column(0) + row.periodic(0);
        let square = sum * sum;
        let step = square * square * square * sum;
        (row.is_first() * (row.column(0) - row.public_value(0))).must_vanish();
        (row.is_transition() * (row.next(0) - step)).must_vanish();
        (row.is_last() * (row.column(0) - row.public_value(1))).must_vanish();
    }
}

fn main() -> proofmill::Result<()> {
    // The prover takes the steps and proves them.
    let mut x = Goldilocks::new(2);
    let mut trace = Vec::new();
    for row in 0..1 << 16 {
        trace.push(x.to_canonical());
        let sum = x + Goldilocks::new(CONSTANTS[row % CONSTANTS.len()]);
        x = sum.pow_vartime(&[7]);
    }
    let public_values = [2, trace[trace.len() - 1]];
    let (constraints, config) = (Constraints::new(&Chain)?, Config::default());
    let proof = constraints.prove(&config, &Rows::new(&trace, 1)?, &public_values)?;
    println!("2^16 rows, {} bytes", proof.as_bytes().len());

    // A verifier has the AIR, the configuration and the public values, and knows how many steps it asked for.
    let proven = proof.verify(&constraints, &config, &public_values)?;
    assert_eq!(proven.rows, 1 << 16, "the number of rows is the prover's choice");
    println!("{} steps from {} lead to {}", proven.rows - 1, public_values[0], public_values[1]);
    println!("{:.1} bits are proven", proven.bits);
    Ok(())
}
