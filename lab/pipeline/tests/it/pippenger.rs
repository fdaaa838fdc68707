//! Multi-scalar multiplication on pipelines against the curve's own, with points that meet in a bucket at any time.

use proofmill_curve::{Affine, Curve, Jacobian, bn254::G1};
use proofmill_field::{
    Field,
    bn254::{Fq, Fr},
    goldilocks_levels,
};
use proofmill_pipeline::{
    DataflowGraph,
    execute::Arithmetic,
    formulas,
    graph::Reductions,
    limbs::SignedField,
    msm::{MsmStatistics, Plan, msm},
};
use proofmill_testing::rng;
use rand::Rng;

fn graph() -> DataflowGraph {
    let field = SignedField::of::<Fq>().unwrap();
    formulas::graph("xyzz-plus-affine").unwrap().reduced(&field, Reductions::WhereNeeded).unwrap()
}

fn arithmetic() -> Arithmetic {
    Arithmetic::Level(*goldilocks_levels().last().unwrap())
}

fn points(count: usize) -> Vec<Affine<G1>> {
    let mut rng = rng(1);
    let points: Vec<_> =
        (0..count).map(|_| G1::GENERATOR.mul_vartime(&Fr::from(rng.random::<u64>()))).collect();
    Jacobian::batch_to_affine(&points)
}

/// Checks the sum, which is computed point by point.
fn check(points: &[Affine<G1>], scalars: &[Fr], plan: &Plan) -> MsmStatistics {
    let (sum, work) = msm(&graph(), arithmetic(), points, scalars, plan).unwrap();
    let expected: Jacobian<G1> =
        points.iter().zip(scalars).map(|(point, scalar)| point.mul_vartime(scalar)).sum();
    assert!(sum == expected, "{plan:?}");
    work
}

#[test]
fn sums_are_the_curves() {
    let mut rng = rng(2);
    let (points, scalars): (_, Vec<_>) = (points(300), (0..300).map(|_| Fr::random(&mut rng)).collect());
    for digit_bits in [2, 5, 8, 13] {
        for in_flight in [1, 7, 100] {
            for waiting in [1, 1000] {
                let plan = Plan { digit_bits, vectors: 2, in_flight, waiting };
                let work = check(&points, &scalars, &plan);
                let digits = 255usize.div_ceil(digit_bits as usize);
                // Every digit that is not 0 is an addition, or the first of its bucket.
                let most = points.len() * digits;
                let zeros = most / (1 << digit_bits);
                let done = work.additions + work.first;
                assert!(done <= most && done + 2 * zeros + 300 >= most, "{done} of {most}");
                assert!(work.calls * 16 >= work.additions);
            }
        }
    }
}

#[test]
fn points_with_the_same_x_are_added_by_the_host() {
    let some = points(3);
    // A point and its negative in a bucket, twice the same one, then others; infinity; scalars 0, 1 and -1.
    let points = [some[1], -some[1], some[0], some[0], some[2], Affine::INFINITY, some[0], some[2]];
    let one = Fr::ONE;
    for in_flight in [1, 4] {
        let plan = Plan { digit_bits: 4, vectors: 1, in_flight, waiting: 10 };
        let work = check(&points, &[one; 8], &plan);
        assert!(work.exceptional >= 2, "{work:?}");
        check(&points, &[one, one, one, one, -one, one, Fr::ZERO, one], &plan);
        check(&points, &[-one; 8], &plan);
    }
    check(&[], &[], &Plan { digit_bits: 4, vectors: 1, in_flight: 1, waiting: 0 });
}

#[test]
fn points_wait_for_their_buckets() {
    // All points go to the same bucket.
    let points = points(200);
    let work = |in_flight, waiting| {
        let plan = Plan { digit_bits: 8, vectors: 1, in_flight, waiting };
        check(&points, &vec![Fr::from(3); points.len()], &plan)
    };
    let alone = work(10, 1000);
    assert_eq!((alone.additions, alone.first), (199, 1));
    // One addition at a time is in flight.
    assert!(alone.calls >= 199 * 10, "{alone:?}");
    assert!(alone.waited >= 190);
    assert!(work(1, 1000).calls < 250);
    assert_eq!(work(10, 1).additions, 199);
}

#[test]
fn other_points_are_added_while_some_wait() {
    let mut rng = rng(3);
    let (points, scalars): (_, Vec<_>) = (points(1000), (0..1000).map(|_| Fr::random(&mut rng)).collect());
    // A fifth of the buckets are in flight at any time; the highest digits have 64 numbers, but all buckets.
    let work = check(&points, &scalars, &Plan { digit_bits: 8, vectors: 2, in_flight: 50, waiting: 1000 });
    assert!(work.additions * 10 > work.calls * 16 * 9, "{work:?}");
    assert!(work.waited > 1000, "{work:?}");
}

#[test]
fn plans_suit_the_pipelines() {
    let plan = Plan::new(1 << 20, 16, 50e6, 1e-4);
    assert_eq!(plan.in_flight, (50e6_f64 * 1e-4 / 128.0).ceil() as usize);
    assert!((12..=20).contains(&plan.digit_bits), "{plan:?}");
    // Few points, but buckets for all that is in flight.
    assert!((2..8).contains(&Plan::new(16, 16, 50e6, 1e-6).digit_bits));
    assert!((7..11).contains(&Plan::new(1 << 14, 16, 500e6, 2e-5).digit_bits));
}

#[test]
fn what_does_not_suit_is_refused() {
    let plan = Plan { digit_bits: 8, vectors: 1, in_flight: 1, waiting: 1 };
    let refused = |graph: &DataflowGraph, points: &[Affine<G1>], plan: &Plan| {
        msm(graph, arithmetic(), points, &[Fr::ONE], plan).unwrap_err().to_string()
    };
    let point = points(1);
    assert_eq!(refused(&graph(), &[], &plan), "0 points and 1 scalars: as many are needed");
    assert_eq!(
        refused(&formulas::graph("butterfly").unwrap(), &point, &plan),
        "butterfly is not the sum of a point (X, Y, ZZ, ZZZ) and an affine one"
    );
    let mut delayed = graph();
    delayed.sinks[0].edge.initial = 1;
    assert!(refused(&delayed, &point, &plan).starts_with("xyzz-plus-affine has delays"));
    assert!(
        refused(&graph(), &point, &Plan { digit_bits: 21, ..plan })
            .ends_with("digits have 2 to 20 bits, and the others are not 0")
    );
}
