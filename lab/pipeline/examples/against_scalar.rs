//! Times the additions of a network against those of the curve, on one core:
//! `taskset -c 1 cargo run --release -p proofmill-pipeline --example against_scalar`.

use proofmill_curve::{Curve, Jacobian, Xyzz, bn254::G1};
use proofmill_field::{
    bn254::{Fq, Fr},
    goldilocks_levels,
};
use proofmill_pipeline::{
    execute::{Arithmetic, run},
    formulas,
    graph::Reductions,
    limbs::{Bundle, SignedField},
};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const VECTORS: usize = 4;
const BUNDLES: usize = 512;
const POINTS: usize = 8 * VECTORS * BUNDLES;
const REPETITIONS: usize = 25;

/// The least nanoseconds an addition takes by each of some ways, which take turns, so that other work on the machine hits all of them.
fn least(ways: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut least = vec![Duration::MAX; ways.len()];
    for _ in 0..REPETITIONS {
        for (least, work) in least.iter_mut().zip(&mut *ways) {
            let start = Instant::now();
            work();
            *least = start.elapsed().min(*least);
        }
    }
    least.iter().map(|time| time.as_secs_f64() * 1e9 / POINTS as f64).collect()
}

fn main() {
    let field = SignedField::of::<Fq>().expect("a field of tiles");
    let points: Vec<Jacobian<G1>> =
        (1..=2 * POINTS as u64).map(|scalar| G1::GENERATOR.mul_vartime(&Fr::from(scalar * scalar))).collect();
    let affine = Jacobian::batch_to_affine(&points);
    let (left, right) = affine.split_at(POINTS);
    let left: Vec<_> = left.iter().map(|point| Xyzz::from(*point).double()).collect();
    let bundles =
        |element: &dyn Fn(usize) -> Fq| Bundle::of(&(0..POINTS).map(element).collect::<Vec<_>>(), VECTORS);
    let inputs = [
        bundles(&|index| left[index].x),
        bundles(&|index| left[index].y),
        bundles(&|index| left[index].zz),
        bundles(&|index| left[index].zzz),
        bundles(&|index| right[index].x),
        bundles(&|index| right[index].y),
    ];
    let graph = formulas::graph("xyzz-plus-affine").expect("a formula");
    let graph = graph.reduced(&field, Reductions::WhereNeeded).expect("numbers that fit");
    let mut curve = || {
        for (left, right) in left.iter().zip(right) {
            black_box(left.add_affine(right));
        }
    };
    let levels = goldilocks_levels();
    let network = |level| drop(black_box(run(&graph, &field, Arithmetic::Level(level), &inputs)));
    let mut networks: Vec<_> = levels.iter().map(|level| || network(*level)).collect();
    let mut ways: Vec<&mut dyn FnMut()> = vec![&mut curve];
    ways.extend(networks.iter_mut().map(|network| network as &mut dyn FnMut()));
    let times = least(&mut ways);
    println!("the curve: {:.0} ns an addition", times[0]);
    for (level, time) in levels.iter().zip(&times[1..]) {
        println!("the network at {}: {time:.0} ns, {:.2} times", level.name(), time / times[0]);
    }
}
