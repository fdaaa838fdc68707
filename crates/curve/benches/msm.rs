//! Process CPU time on one core: multi-scalar multiplication at every level beside arkworks.
//!
//! `cargo bench -p proofmill-curve --bench msm [-- LOG_N... LEVEL...]`

use ark_ec::{CurveGroup, VariableBaseMSM, scalar_mul::BatchMulPreprocessing};
use ark_ff::{PrimeField, UniformRand};
use cpu_time::ProcessTime;
use proofmill_curve::{
    Affine, Msm,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{
    Field,
    bn254::{Fq, Fq2, Fr},
};
use proofmill_simd::Level;
use std::hint::black_box;

fn median<T>(mut run: impl FnMut() -> T) -> f64 {
    let mut seconds: Vec<f64> = (0..5)
        .map(|_| {
            let start = ProcessTime::now();
            black_box(run());
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn main() {
    let mut sizes: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![12, 14, 16, 18, 20];
    }
    let fq = |value: ark_bn254::Fq| Fq::from_canonical(value.into_bigint().0).expect("canonical");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    pool.install(|| {
        for log_n in sizes {
            compare::<G1, ark_bn254::G1Projective>(log_n, |point| Affine { x: fq(point.x), y: fq(point.y) });
            if log_n <= 16 {
                compare::<G2, ark_bn254::G2Projective>(log_n, |point| Affine {
                    x: Fq2::new(fq(point.x.c0), fq(point.x.c1)),
                    y: Fq2::new(fq(point.y.c0), fq(point.y.c1)),
                });
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
    let uniform: Vec<_> =
        scalars.iter().map(|s| Fr::from_canonical(s.into_bigint().0).expect("canonical")).collect();
    let name = format!("{} msm 2^{log_n}", C::NAME);
    let peer = median(|| A::msm_unchecked(&points, &scalars));
    println!("{name} arkworks             {:9.3} ms", peer * 1e3);
    for level in Level::available().into_iter().filter(|level| wanted(*level)) {
        let seconds = median(|| msm::<C>(level, &bases, &uniform));
        println!(
            "{name} {:<11} uniform  {:9.3} ms  {:5.2}x arkworks",
            level.name(),
            seconds * 1e3,
            peer / seconds
        );
        let bits: Vec<_> = (0..bases.len() as u64).map(|i| Fr::from(i & 1)).collect();
        for (shape, scalars) in [("equal", vec![uniform[0]; bases.len()]), ("0 and 1", bits)] {
            let skewed = median(|| msm::<C>(level, &bases, &scalars));
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
