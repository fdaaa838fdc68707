//! Two tables: sums of numbers of 16 bits, and all bytes, in which the sums look their bytes up.
//!
//!     cargo run --release --example tables

use proofmill::{
    field::Goldilocks,
    merkle::Rows,
    stark::{Air, Bus, Config, Expression, Preprocessed, Row, Tables},
};

/// Values between 0 and 255.
const BYTES: Bus<'_> = Bus("bytes");

/// A preprocessed column of all bytes. The trace says how often each is looked up.
struct Bytes;

impl Air for Bytes {
    fn columns(&self) -> usize {
        1
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: (0..256).map(Goldilocks::new).collect() })
    }

    fn constrain(&self, row: Row) {
        BYTES.offer(&[row.preprocessed(0)], row.column(0));
    }
}

/// `a + b = c` modulo 2^16: the low and the high byte of each, and the carries of both bytes.
struct Sums;

impl Air for Sums {
    fn columns(&self) -> usize {
        8
    }

    fn constrain(&self, row: Row) {
        let constant = |value| Expression::from(Goldilocks::new(value));
        for place in 0..2 {
            let [a, b, c, carry] = [0, 2, 4, 6].map(|column| row.column(column + place));
            let before = if place == 0 { constant(0) } else { row.column(6) };
            (a + b + before - c - carry * constant(256)).must_vanish();
            (carry * (carry - constant(1))).must_vanish();
            [a, b, c].iter().for_each(|byte| BYTES.look_up(&[*byte], constant(1), 1));
        }
    }
}

fn main() -> proofmill::Result<()> {
    let mut counts = vec![0; 256];
    let mut sums = Vec::new();
    for row in 0..1_u64 << 12 {
        let (a, b) = (row * 40_503 % (1 << 16), row * 30_011 % (1 << 16));
        let bytes = |number: u64| [number % 256, number / 256 % 256];
        let limbs = [a, b, a + b].map(bytes).concat();
        limbs.iter().for_each(|byte| counts[*byte as usize] += 1);
        sums.extend(limbs);
        sums.extend([(a % 256 + b % 256) / 256, (a + b) / (1 << 16)]);
    }

    let (tables, config) = (Tables::new(&[&Bytes, &Sums])?, Config::default());
    let traces = [Rows::new(&counts, 1)?, Rows::new(&sums, 8)?];
    let proof = tables.prove(&config, &traces, &[&[], &[]])?;
    println!("{} bytes", proof.as_bytes().len());

    let proven = proof.verify(&tables, &config, &[&[], &[]])?;
    println!("{} sums modulo 2^16 are right, {:.1} proven bits", proven.rows[1], proven.bits);

    // 256 is no byte.
    sums[0] += 256;
    let traces = [Rows::new(&counts, 1)?, Rows::new(&sums, 8)?];
    println!("{}", tables.prove(&config, &traces, &[&[], &[]]).expect_err("a sum that is wrong"));
    Ok(())
}
