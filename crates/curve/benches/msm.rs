//! Process CPU time on one core: multi-scalar multiplication at every level beside arkworks.
//!
//! `cargo bench -p proofmill-curve --bench msm [-- LOG_N... LEVEL...]`

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
use proofmill_field::{Field, bn254::Fr};
use proofmill_simd::Level;
use proofmill_testing::median_seconds;

fn main() {
    let mut sizes: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![12, 14, 16, 18, 20];
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    pool.install(|| {
        for log_n in sizes {
            compare::<G1, ark_bn254::G1Projective>(log_n, g1);
            if log_n <= 16 {
                compare::<G2, ark_bn254::G2Projective>(log_n, g2);
            }
        }
    });
}

/// Arguments that name levels leave the others out.
fn wanted(level: Level) -> bool {
    let mut named = std::env::args().filter(|argument| argument.parse::<Level>().is_ok()).peekable();
    named.peek().is_none() || named.any(|argument| argument == level.name())
}

fn compare<C, A>(log_n: u32, convert: impl Fn(A::Affine) -> Affine<C>)
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
    let name = format!("{} msm 2^{log_n}", C::NAME);
    let peer = median_seconds(|| A::msm_unchecked(&points, &scalars));
    println!("{name} arkworks             {:9.3} ms", peer * 1e3);
    for level in Level::available().into_iter().filter(|level| wanted(*level)) {
        let seconds = median_seconds(|| msm::<C>(level, &bases, &uniform));
        println!(
            "{name} {:<11} uniform  {:9.3} ms  {:5.2}x arkworks",
            level.name(),
            seconds * 1e3,
            peer / seconds
        );
        let bits: Vec<_> = (0..bases.len() as u64).map(|i| Fr::from(i & 1)).collect();
        for (shape, scalars) in [("equal", vec![uniform[0]; bases.len()]), ("0 and 1", bits)] {
            let skewed = median_seconds(|| msm::<C>(level, &bases, &scalars));
            let ratio = skewed / seconds;
            println!(
                "{name} {:<11} {shape:<8} {:9.3} ms  {ratio:5.2} of uniform",
                level.name(),
                skewed * 1e3
            );
        }
    }
    assert!(!uniform[0].is_zero());
}
