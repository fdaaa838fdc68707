//! Times the additions of a network against those of the curve, on one core:
//! `taskset -c 1 cargo run --release -p proofmill-pipeline --example against_scalar`.

use proofmill_curve::{Curve, Jacobian, Xyzz, bn254::G1};
use proofmill_field::{
    Field, PrimeField,
    bn254::{Fq, Fr},
    goldilocks_levels,
};
use proofmill_pipeline::{
    execute::{Arithmetic, run},
    formulas,
    graph::Reductions,
    limbs::{Bundle, SignedField},
};
use std::{hint::black_box, time::Instant};

const VECTORS: usize = 4;
const BUNDLES: usize = 512;
const POINTS: usize = 8 * VECTORS * BUNDLES;
const REPETITIONS: usize = 9;

/// The median of nanoseconds an addition.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<_> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[REPETITIONS / 2].as_secs_f64() * 1e9 / POINTS as f64
}

fn main() {
    let field = SignedField::of::<Fq>().expect("a field of tiles");
    let points: Vec<Jacobian<G1>> =
        (1..=2 * POINTS as u64).map(|scalar| G1::GENERATOR.mul_vartime(&Fr::from(scalar * scalar))).collect();
    let affine = Jacobian::batch_to_affine(&points);
    let (left, right) = affine.split_at(POINTS);
    let left: Vec<_> = left.iter().map(|point| Xyzz::from(*point).double()).collect();
    let r = (0..256).fold(Fq::ONE, |power, _| power + power);
    let bundles = |element: &dyn Fn(usize) -> Fq| -> Vec<Bundle> {
        let bundle = |bundle: usize| {
            let mut elements = Bundle::zeros(VECTORS);
            for index in 0..elements.elements() {
                elements.set(index, (element(bundle * elements.elements() + index) * r).to_words(), &field);
            }
            elements
        };
        (0..BUNDLES).map(bundle).collect()
    };
    let inputs = [
        bundles(&|index| left[index].x),
        bundles(&|index| left[index].y),
        bundles(&|index| left[index].zz),
        bundles(&|index| left[index].zzz),
        bundles(&|index| right[index].x),
        bundles(&|index| right[index].y),
    ];
    let scalar = median(|| {
        for (left, right) in left.iter().zip(right) {
            black_box(left.add_affine(right));
        }
    });
    println!("the curve: {scalar:.0} ns an addition");
    let graph = formulas::graph("xyzz-plus-affine").expect("a formula");
    let graph = graph.reduced(&field, Reductions::WhereNeeded).expect("numbers that fit");
    for level in goldilocks_levels() {
        let network = median(|| drop(black_box(run(&graph, &field, Arithmetic::Level(level), &inputs))));
        println!("the network at {}: {network:.0} ns, {:.2} times", level.name(), network / scalar);
    }
}
