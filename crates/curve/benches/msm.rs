//! Multi-scalar multiplication at every level beside arkworks, on one core and on all:
//! `cargo bench -p proofmill-curve --bench msm [-- --csv] [LOG_N...] [LEVEL...]`.

#[path = "../tests/arkworks/mod.rs"]
mod arkworks;

use ark_ec::{CurveGroup, VariableBaseMSM, scalar_mul::BatchMulPreprocessing};
use ark_ff::UniformRand;
use arkworks::{fp, g1, g2};
use proofmill_curve::{
    Affine, Msm,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::bn254::Fr;
use proofmill_simd::Level;
use proofmill_testing::Records;

fn main() {
    let mut records = Records::new();
    let sizes = records.sizes(&[12, 14, 16, 18, 20]);
    records.for_one_and_all_cores(|records, threads| {
        for log_n in &sizes {
            compare::<G1, ark_bn254::G1Projective>(records, threads, *log_n, g1);
            if *log_n <= 16 {
                compare::<G2, ark_bn254::G2Projective>(records, threads, *log_n, g2);
            }
        }
    });
}

/// Arguments that name levels leave the others out.
fn wanted(level: Level) -> bool {
    let mut named = std::env::args().filter(|argument| argument.parse::<Level>().is_ok()).peekable();
    named.peek().is_none() || named.any(|argument| argument == level.name())
}

fn compare<C, A>(records: &mut Records, threads: usize, log_n: u32, convert: impl Fn(A::Affine) -> Affine<C>)
where
    C: Msm<Scalar = Fr>,
    A: CurveGroup<ScalarField = ark_bn254::Fr> + VariableBaseMSM,
{
    let mut rng = ark_std::test_rng();
    let scalars: Vec<_> = (0..1 << log_n).map(|_| ark_bn254::Fr::rand(&mut rng)).collect();
    let logarithms: Vec<_> = (0..1 << log_n).map(|_| ark_bn254::Fr::rand(&mut rng)).collect();
    let points: Vec<A::MulBase> =
        BatchMulPreprocessing::new(A::generator(), scalars.len()).batch_mul(&logarithms);
    let bases: Vec<_> = points.iter().map(|point| convert(A::from(*point).into_affine())).collect();
    let uniform: Vec<Fr> = scalars.iter().map(|scalar| fp(*scalar)).collect();
    let name = format!("msm {} 2^{log_n}", C::NAME);
    // arkworks is built for one thread.
    let peer = (threads == 1).then(|| {
        let run = || A::msm_unchecked(&points, &scalars);
        ("arkworks", records.record(&name, "arkworks", 1, None, run))
    });
    let bits: Vec<_> = (0..bases.len() as u64).map(|i| Fr::from(i & 1)).collect();
    let skewed = [("equal", vec![uniform[0]; bases.len()]), ("0 and 1", bits)];
    for level in Level::prime_field_levels().into_iter().filter(|level| wanted(*level)) {
        let run = || msm::<C>(level, &bases, &uniform);
        let seconds = records.record(&name, level.name(), threads, peer, run);
        for (shape, scalars) in &skewed {
            let run = || msm::<C>(level, &bases, scalars);
            let name = format!("{name} {shape}");
            records.record(&name, level.name(), threads, Some(("uniform", seconds)), run);
        }
    }
}
