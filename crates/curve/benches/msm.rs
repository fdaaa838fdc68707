//! Multi-scalar multiplication at every level beside arkworks or, on BLS12-381, blst, on one core and on all:
//! `cargo bench -p proofmill-curve --bench msm [-- --csv] [LOG_N...] [LEVEL...]`.

#[path = "../tests/arkworks/mod.rs"]
mod arkworks;
#[path = "../tests/blst_points/mod.rs"]
mod blst_points;

use ark_ec::{CurveGroup, VariableBaseMSM, scalar_mul::BatchMulPreprocessing};
use ark_ff::{PrimeField, UniformRand};
use arkworks::{fp, g1, g2};
use blst::MultiPoint;
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Msm, bls12_381, bn254, msm};
use proofmill_field::{Fp, Prime};
use proofmill_testing::Records;
use std::hint::black_box;

fn main() {
    let mut records = Records::new();
    let sizes = records.sizes(&[12, 14, 16, 18, 20]);
    records.for_one_and_all_cores(|records, threads| {
        for log_n in &sizes {
            let mut bench = Bench { records, threads, log_n: *log_n };
            bench.compare::<bn254::G1, ark_bn254::G1Projective, _>(g1, None);
            bench.compare::<bls12_381::G1, ark_bls12_381::G1Projective, _>(g1, Some(&g1_sum_by_blst));
            if *log_n <= 16 {
                bench.compare::<bn254::G2, ark_bn254::G2Projective, _>(g2, None);
                bench.compare::<bls12_381::G2, ark_bls12_381::G2Projective, _>(g2, Some(&g2_sum_by_blst));
            }
        }
    });
}

/// blst's sum of multiples by scalars of 32 little-endian bytes, ready to be timed.
type Peer<'a, C> = &'a dyn Fn(&[Affine<C>], Vec<u8>) -> Box<dyn Fn()>;

/// Bits of a scalar.
const BITS: usize = 255;

fn g1_sum_by_blst(points: &[Affine<bls12_381::G1>], scalars: Vec<u8>) -> Box<dyn Fn()> {
    let points: Vec<_> = points.iter().map(blst_points::g1).collect();
    Box::new(move || {
        black_box(points.mult(&scalars, BITS));
    })
}

fn g2_sum_by_blst(points: &[Affine<bls12_381::G2>], scalars: Vec<u8>) -> Box<dyn Fn()> {
    let points: Vec<_> = points.iter().map(blst_points::g2).collect();
    Box::new(move || {
        black_box(points.mult(&scalars, BITS));
    })
}

/// Arguments that name levels leave the others out.
fn wanted(level: Level) -> bool {
    let mut named = std::env::args().filter(|argument| argument.parse::<Level>().is_ok()).peekable();
    named.peek().is_none() || named.any(|argument| argument == level.name())
}

struct Bench<'a> {
    records: &'a mut Records,
    threads: usize,
    log_n: u32,
}

impl Bench<'_> {
    fn compare<C, A, P>(&mut self, convert: impl Fn(A::Affine) -> Affine<C>, blst: Option<Peer<C>>)
    where
        P: Prime,
        C: Msm<Scalar = Fp<P>>,
        A: CurveGroup<ScalarField: PrimeField> + VariableBaseMSM,
    {
        let Self { records, threads, log_n } = self;
        let mut rng = ark_std::test_rng();
        let scalars: Vec<_> = (0..1 << *log_n).map(|_| A::ScalarField::rand(&mut rng)).collect();
        let logarithms: Vec<_> = (0..1 << *log_n).map(|_| A::ScalarField::rand(&mut rng)).collect();
        let points: Vec<A::MulBase> =
            BatchMulPreprocessing::new(A::generator(), scalars.len()).batch_mul(&logarithms);
        let bases: Vec<_> = points.iter().map(|point| convert(A::from(*point).into_affine())).collect();
        let uniform: Vec<C::Scalar> = scalars.iter().map(|scalar| fp(*scalar)).collect();
        let name = format!("msm {} 2^{log_n}", C::NAME);
        // Peers run on one thread.
        let mut peer = None;
        if *threads == 1 {
            let run = || A::msm_unchecked(&points, &scalars);
            peer = Some(("arkworks", records.record(&name, "arkworks", 1, None, run)));
            if let Some(blst) = blst {
                let run = blst(&bases, uniform.iter().flat_map(|scalar| scalar.to_bytes_le()).collect());
                peer = Some(("blst", records.record(&name, "blst", 1, peer, run)));
            }
        }
        let bits: Vec<_> = (0..bases.len() as u64).map(|i| C::Scalar::from(i & 1)).collect();
        let skewed = [("equal", vec![uniform[0]; bases.len()]), ("0 and 1", bits)];
        for level in proofmill_field::prime_field_levels().into_iter().filter(|level| wanted(*level)) {
            let run = || msm::<C>(level, &bases, &uniform);
            let seconds = records.record(&name, level.name(), *threads, peer, run);
            for (shape, scalars) in &skewed {
                let run = || msm::<C>(level, &bases, scalars);
                let name = format!("{name} {shape}");
                records.record(&name, level.name(), *threads, Some(("uniform", seconds)), run);
            }
        }
    }
}
