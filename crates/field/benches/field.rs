//! Nanoseconds per field operation for every backend, beside arkworks: `cargo bench -p proofmill-field`.
//!
//! Throughput: the operation on each of 64 independent elements. Latency: a chain in which each result is the
//! next operand. The minimum over many short runs; pin the process to a core (`taskset -c 1`). arkworks uses its
//! own assembly only when compiled for the CPU: `RUSTFLAGS="-C target-cpu=native" cargo bench ...`.

use proofmill_cpu::Portable;
use proofmill_field::{Algebra, Backend, Fp, Invert, Prime, bls12_381, bn254};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};
use std::{array, hint::black_box, time::Instant};

const INDEPENDENT: usize = 64;

/// Nanoseconds per operation, independent and in a chain.
#[derive(Clone, Copy)]
struct Timing {
    throughput: f64,
    latency: f64,
}

fn minimum(operations: usize, mut run: impl FnMut()) -> f64 {
    let nanoseconds = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64
    };
    // Enough repetitions for about 200 microseconds a sample.
    let repetitions = (2e5 / nanoseconds(&mut run)).clamp(1.0, 1e5) as usize;
    let sample = |_| nanoseconds(&mut || (0..repetitions).for_each(|_| run()));
    let best = (0..300).map(sample).fold(f64::INFINITY, f64::min);
    best / (repetitions * operations) as f64
}

fn measure<T: Copy>(inputs: [T; INDEPENDENT], f: impl Fn(T, T) -> T) -> Timing {
    let mut values = inputs;
    let other = black_box(inputs);
    let throughput = minimum(INDEPENDENT, || {
        for (value, other) in values.iter_mut().zip(&other) {
            *value = f(*value, *other);
        }
        black_box(&mut values);
    });
    let mut value = inputs[0];
    let latency = minimum(INDEPENDENT, || {
        for other in &other {
            value = f(value, *other);
        }
        black_box(&mut value);
    });
    Timing { throughput, latency }
}

const OPERATIONS: [&str; 5] = ["mul", "square", "add", "sub", "invert"];

fn ours<P: Prime, B: Backend>(token: B) -> [Timing; 5] {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let inputs: [Fp<P, B>; INDEPENDENT] = array::from_fn(|_| Fp::<P>::random(&mut rng).with_backend(token));
    [
        measure(inputs, |a, b| a * b),
        measure(inputs, |a, _| a.square()),
        measure(inputs, |a, b| a + b),
        measure(inputs, |a, b| a - b),
        measure(inputs, |a, b| a.invert_vartime().unwrap_or(b) + b),
    ]
}

fn arkworks<F: ark_ff::PrimeField>() -> [Timing; 5] {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut bytes = [0; 64];
    let inputs: [F; INDEPENDENT] = array::from_fn(|_| {
        rng.fill_bytes(&mut bytes);
        F::from_le_bytes_mod_order(&bytes)
    });
    [
        measure(inputs, |a, b| a * b),
        measure(inputs, |a, _| a.square()),
        measure(inputs, |a, b| a + b),
        measure(inputs, |a, b| a - b),
        measure(inputs, |a, b| a.inverse().unwrap_or(b) + b),
    ]
}

fn table<P: Prime, F: ark_ff::PrimeField>() {
    let mut columns = vec![("portable", ours::<P, _>(Portable))];
    #[cfg(target_arch = "x86_64")]
    columns.extend(proofmill_cpu::Adx::detect().map(|adx| ("adx", ours::<P, _>(adx))));
    let peer = arkworks::<F>();
    println!("{}: nanoseconds throughput / latency (arkworks divided by it)", P::NAME);
    print!("{:8}", "");
    columns.iter().for_each(|(name, _)| print!("{name:>32}"));
    println!("{:>20}", "arkworks");
    for (i, operation) in OPERATIONS.iter().enumerate() {
        print!("{operation:8}");
        for (_, timings) in &columns {
            let Timing { throughput, latency } = timings[i];
            let ratios = (peer[i].throughput / throughput, peer[i].latency / latency);
            print!("{throughput:9.2} /{latency:8.2} ({:4.2} / {:4.2})", ratios.0, ratios.1);
        }
        println!("{:10.2} /{:8.2}", peer[i].throughput, peer[i].latency);
    }
    println!();
}

fn main() {
    table::<bn254::FqParams, ark_bn254::Fq>();
    table::<bn254::FrParams, ark_bn254::Fr>();
    table::<bls12_381::FqParams, ark_bls12_381::Fq>();
    table::<bls12_381::FrParams, ark_bls12_381::Fr>();
}
