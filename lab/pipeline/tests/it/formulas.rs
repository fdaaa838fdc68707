//! Formulas against the curve's own points and against plain integers.

use crate::points::{G, POINTS, VECTORS, coordinates, field, matches, multiples, of_affine, of_xyzz, xyzz};
use num_bigint::BigUint;
use proofmill_curve::{
    Jacobian, Xyzz,
    formulas::{affine_plus_affine, power},
};
use proofmill_field::{Field, Invert, bn254::Fr};
use proofmill_hash::PoseidonBn254;
use proofmill_pipeline::{
    DataflowGraph,
    execute::{Arithmetic, run},
    formulas,
    graph::{FieldOperation, Port, Reductions, record},
    limbs::{Bundle, SignedField},
};
use proofmill_testing::{for_each_goldilocks_level, operands, rng};
use rand::Rng;

const BATCH: &str = "affine-plus-affine-x4";

fn integer(words: &[u64]) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |integer, word| (integer << 64) + word)
}

fn modulus(field: &SignedField) -> BigUint {
    integer(&field.modulus())
}

#[test]
fn the_circuit_of_the_paper_is_derived() {
    let graph = formulas::graph("xyzz-plus-affine").unwrap();
    let counts = [
        FieldOperation::Multiply,
        FieldOperation::Subtract,
        FieldOperation::Square,
        FieldOperation::Double,
        FieldOperation::Add,
    ];
    assert_eq!(counts.map(|operation| graph.count(operation)), [8, 6, 2, 1, 0]);
    let operands = |count| graph.nodes.iter().filter(|node| node.inputs.len() == count).count();
    assert_eq!([operands(2), operands(1)], [14, 3]);
    assert_eq!([graph.sources.len(), graph.sinks.len()], [6, 4]);
}

#[test]
fn every_formula_is_its_points() {
    let field = field();
    let reduced = |name| formulas::graph(name).unwrap().reduced(&field, Reductions::WhereNeeded).unwrap();
    let results =
        |name, inputs: &[Vec<Bundle>]| run(&reduced(name), &field, Arithmetic::Exact, inputs).unwrap();
    let (left, right) = (xyzz(3), xyzz(4));
    let inputs = [coordinates(&left, of_xyzz), coordinates(&right, of_xyzz)].concat();
    let sums: Vec<_> = left.iter().zip(&right).map(|(left, right)| left.add(right)).collect();
    assert!(matches(&results("xyzz-plus-xyzz", &inputs), &sums, of_xyzz));
    let doubles: Vec<_> = left.iter().map(Xyzz::double).collect();
    assert!(matches(&results("xyzz-double", &inputs[..4]), &doubles, of_xyzz));

    let of_jacobian = |point: &Jacobian<G>| [point.x, point.y, point.z];
    let jacobian = |points: &[Xyzz<G>]| points.iter().map(|point| Jacobian::from(*point)).collect::<Vec<_>>();
    let (left, right) = (jacobian(&left), jacobian(&right));
    let inputs = [coordinates(&left, of_jacobian), coordinates(&right, of_jacobian)].concat();
    let sums: Vec<_> = left.iter().zip(&right).map(|(left, right)| left.add(right)).collect();
    assert!(matches(&results("jacobian-plus-jacobian", &inputs), &sums, of_jacobian));
    let doubles: Vec<_> = left.iter().map(Jacobian::double).collect();
    assert!(matches(&results("jacobian-double", &inputs[..3]), &doubles, of_jacobian));
    let right = Jacobian::batch_to_affine(&right);
    let inputs = [&inputs[..3], &coordinates(&right, of_affine)].concat();
    let sums: Vec<_> = left.iter().zip(&right).map(|(left, right)| left.add_affine(right)).collect();
    assert!(matches(&results("jacobian-plus-affine", &inputs), &sums, of_jacobian));

    assert!(formulas::graph("madd").is_none());
    for name in formulas::NAMES {
        assert_eq!(reduced(name).name, *name);
    }
}

#[test]
fn affine_sums_take_one_inversion() {
    let graph = formulas::graph(BATCH).unwrap();
    let counts = [FieldOperation::Square, FieldOperation::Multiply, FieldOperation::Subtract]
        .map(|operation| graph.count(operation));
    // The power; along the tree, three products for each pair but one; and for each sum one square, two products and six differences.
    assert_eq!(counts, [253 + 4, 53 + 9 + 8, 24]);
    assert_eq!(graph.nodes.len(), counts.iter().sum::<usize>());
    let graph = graph.reduced(&field(), Reductions::WhereNeeded).unwrap();
    let affine = |seed| Jacobian::batch_to_affine(&multiples(seed));
    let pairs: Vec<_> = (0..4).map(|pair| [affine(10 + 2 * pair), affine(11 + 2 * pair)]).collect();
    let inputs: Vec<_> = pairs.iter().flatten().flat_map(|points| coordinates(points, of_affine)).collect();
    let exact = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
    for ([left, right], results) in pairs.iter().zip(exact.chunks(2)) {
        let sums: Vec<_> =
            left.iter().zip(right).map(|(left, right)| Jacobian::from(*left).add_affine(right)).collect();
        assert!(matches(results, &Jacobian::batch_to_affine(&sums), of_affine));
    }
    for_each_goldilocks_level(|level| {
        assert!(
            run(&graph, &field(), Arithmetic::Level(level), &inputs).unwrap() == exact,
            "{}",
            level.name()
        );
    });
}

/// The sums of N pairs with one inversion are the curve's.
fn pairs<const N: usize>() {
    let affine = |seed| Jacobian::batch_to_affine(&multiples(seed));
    let (left, right) = (affine(20), affine(21));
    let of = |pair: usize| [of_affine(&left[pair]), of_affine(&right[pair])].concat().try_into().unwrap();
    let mut inversions = 0;
    let sums = affine_plus_affine::<_, N>(std::array::from_fn(of), |product| {
        inversions += 1;
        product.invert_vartime().unwrap()
    });
    assert_eq!(inversions, N.min(1));
    for (pair, sum) in sums.into_iter().enumerate() {
        let expected = Jacobian::from(left[pair]).add_affine(&right[pair]).to_affine();
        assert_eq!(sum, of_affine(&expected), "pair {pair} of {N}");
    }
}

#[test]
fn trees_have_any_number_of_leaves() {
    pairs::<0>();
    pairs::<1>();
    pairs::<2>();
    pairs::<3>();
    pairs::<5>();
    pairs::<7>();
    pairs::<8>();
    pairs::<11>();
}

/// The graph of a power, and the power of x that each node computes.
fn powers(exponent: &[u64]) -> (DataflowGraph, BigUint) {
    let graph = record("power", ["x"], ["y"], |[x]| [power(x, exponent)]);
    let mut known: Vec<BigUint> = Vec::new();
    let of = |known: &[BigUint], from| match from {
        Port::Source(_) => BigUint::from(1u32),
        Port::Node(node, _) => known[node].clone(),
    };
    for node in &graph.nodes {
        // The product of two powers, or of one with itself.
        assert!(matches!(node.steps[0].operation, FieldOperation::Multiply | FieldOperation::Square));
        let (first, last) = (node.inputs[0].from, node.inputs[node.inputs.len() - 1].from);
        known.push(of(&known, first) + of(&known, last));
    }
    let result = of(&known, graph.sinks[0].edge.from);
    (graph, result)
}

#[test]
fn powers_have_their_exponents() {
    let mut rng = rng(5);
    let small = (1..600).map(|exponent| vec![exponent, 0]);
    let powers_of_two = (0..128).map(|bit| vec![(1u128 << bit) as u64, (1u128 << bit >> 64) as u64]);
    let random = (0..50).map(|_| vec![rng.random(), rng.random(), rng.random()]);
    for exponent in small.chain(powers_of_two).chain(random).chain([vec![u64::MAX; 4]]) {
        let (graph, power) = powers(&exponent);
        assert_eq!(power, integer(&exponent));
        assert!(graph.nodes.len() as u64 <= 2 * power.bits(), "no more than bit by bit");
    }
    for (name, counts) in [(BATCH, [253, 53]), ("butterfly", [253, 56])] {
        let mut exponent = formulas::field(name).unwrap().modulus();
        exponent[0] -= 2;
        let (graph, power) = powers(&exponent);
        assert_eq!(power, integer(&exponent));
        assert_eq!(
            [FieldOperation::Square, FieldOperation::Multiply].map(|operation| graph.count(operation)),
            counts
        );
    }
}

#[test]
#[should_panic(expected = "a positive exponent")]
fn there_is_no_power_without_factors() {
    powers(&[0, 0]);
}

/// Elements with the edges of the field, from some of them on, and a bundle of them.
fn edges(field: &SignedField, first: usize) -> (Vec<Vec<u64>>, Bundle) {
    let mut elements = operands(&mut rng(6), &field.modulus(), 100);
    elements.rotate_left(first);
    let mut bundle = Bundle::zeros(elements.len().div_ceil(8));
    for (index, element) in elements.iter().enumerate() {
        bundle.set(index, std::array::from_fn(|word| element[word]), field);
    }
    (elements, bundle)
}

#[test]
fn inverses_are_times_r() {
    for name in [BATCH, "butterfly"] {
        let field = formulas::field(name).unwrap();
        let p = modulus(&field);
        let mut exponent = field.modulus();
        exponent[0] -= 2;
        let (graph, _) = powers(&exponent);
        let (elements, bundle) = edges(&field, 0);
        let results = run(&graph, &field, Arithmetic::Exact, &[vec![bundle]]).unwrap();
        let r = BigUint::from(2u32).pow(256);
        for (index, element) in elements.iter().enumerate() {
            // x R times R / x; zero stays zero.
            let product = integer(element) * integer(&results[0][0].get(index, &field)) % &p;
            let expected = if integer(element) == BigUint::ZERO { BigUint::ZERO } else { &r * &r % &p };
            assert_eq!(product, expected, "{element:?}");
        }
    }
}

#[test]
fn butterflies_are_those_of_the_scalar_field() {
    let decimal = |digits: &str| digits.parse::<BigUint>().unwrap();
    let scalars = decimal("21888242871839275222246405745257275088548364400416034343698204186575808495617");
    let coordinates =
        decimal("21888242871839275222246405745257275088696311157297823662689037894645226208583");
    for name in formulas::NAMES {
        let of_scalars = ["butterfly", "poseidon-round"].contains(name);
        let expected = if of_scalars { &scalars } else { &coordinates };
        assert_eq!(modulus(&formulas::field(name).unwrap()), *expected, "{name}");
    }
    assert!(formulas::field("madd").is_none());

    let field = formulas::field("butterfly").unwrap();
    let graph = formulas::graph("butterfly").unwrap().reduced(&field, Reductions::WhereNeeded).unwrap();
    let [a, b, w] = [0, 37, 111].map(|first| edges(&field, first));
    let results = run(&graph, &field, Arithmetic::Exact, &[vec![a.1], vec![b.1], vec![w.1]]).unwrap();
    let r_inverse = BigUint::from(2u32).pow(256).modinv(&scalars).unwrap();
    for index in 0..a.0.len() {
        let [a, b, w] = [&a.0, &b.0, &w.0].map(|elements| integer(&elements[index]));
        let turned = b * w * &r_inverse % &scalars;
        let result = |sink: usize| integer(&results[sink][0].get(index, &field));
        assert_eq!(result(0), (&a + &turned) % &scalars);
        assert_eq!(result(1), (a + &scalars - turned) % &scalars);
    }
}

#[test]
fn a_round_of_poseidon_is_that_of_integers() {
    let field = SignedField::of::<Fr>().unwrap();
    let graph = formulas::graph("poseidon-round").unwrap().reduced(&field, Reductions::WhereNeeded).unwrap();
    let mut rng = rng(9);
    let mut states: Vec<[Fr; 3]> = (0..POINTS).map(|_| [(); 3].map(|()| Fr::random(&mut rng))).collect();
    states[0] = [Fr::ZERO; 3];
    states[1] = [-Fr::ONE; 3];
    let inputs: Vec<_> = (0..3)
        .map(|index| Bundle::of(&states.iter().map(|state| state[index]).collect::<Vec<_>>(), VECTORS))
        .collect();
    let exact = run(&graph, &field, Arithmetic::Exact, &inputs).unwrap();
    for_each_goldilocks_level(|level| {
        assert!(run(&graph, &field, Arithmetic::Level(level), &inputs).unwrap() == exact);
    });
    let results: Vec<Vec<Fr>> = exact.iter().map(|bundles| Bundle::to_elements(bundles)).collect();
    let integer = |element: &Fr| BigUint::from_bytes_le(&element.to_bytes_le());
    let p = integer(&-Fr::ONE) + 1u32;
    let poseidon = PoseidonBn254::of_width(3);
    for (index, state) in states.iter().enumerate() {
        let sums = state.iter().zip(poseidon.round_constants()).map(|(x, c)| integer(x) + integer(c));
        let powers: Vec<_> = sums.map(|sum| sum.modpow(&5u32.into(), &p)).collect();
        for (row, result) in poseidon.matrix().chunks(3).zip(&results) {
            let sum: BigUint = row.iter().zip(&powers).map(|(factor, power)| integer(factor) * power).sum();
            assert_eq!(integer(&result[index]), sum % &p);
        }
    }
}
