//! The operations of a tile against integers, with edges of digits and of carries, by checked numbers and at every level.

use num_bigint::{BigInt, Sign};
use num_traits::Signed;
use proofmill_field::{bls12_381, bn254};
use proofmill_pipeline::{
    Graph, PipelineError,
    execute::{Arithmetic, run},
    graph::{Edge, Node, Operation, Port, Sink, Step},
    limbs::{Bundle, LIMBS, SignedField},
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::Rng;

const VECTORS: usize = 4;

fn fields() -> [SignedField; 2] {
    [SignedField::of::<bn254::Fq>().unwrap(), SignedField::of::<bn254::Fr>().unwrap()]
}

fn graph_of(operation: Operation) -> Graph {
    let inputs: Vec<_> = (0..operation.operands()).map(|source| Edge::new(Port::Source(source))).collect();
    Graph {
        name: operation.name().into(),
        sources: (0..inputs.len()).map(|source| format!("s{source}")).collect(),
        nodes: vec![Node {
            name: "node".into(),
            outputs: vec![inputs.len()],
            steps: vec![Step { operation, operands: (0..inputs.len()).collect() }],
            inputs,
        }],
        sinks: vec![Sink { name: "result".into(), edge: Edge::new(Port::Node(0, 0)) }],
    }
}

fn integer(digits: [i32; LIMBS]) -> BigInt {
    digits.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << 32) + digit)
}

fn words(words: [u64; 4]) -> BigInt {
    words.iter().rev().fold(BigInt::ZERO, |sum, word| (sum << 64) + word)
}

/// Elements with digits that make carries run far, up to a size of the highest one, and the least residues at both ends.
fn operands(field: &SignedField, seed: u64, top: i32) -> Vec<[i32; LIMBS]> {
    let mut rng = rng(seed);
    let edges = [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX - 1, i32::MAX];
    let mut all: Vec<[i32; LIMBS]> = Vec::new();
    for edge in edges {
        for last in [-top, -1, 0, 1, top] {
            let mut digits = [edge; LIMBS];
            digits[LIMBS - 1] = last;
            all.push(digits);
        }
    }
    let modulus = field.modulus();
    let less = |by: u64| [modulus[0] - by, modulus[1], modulus[2], modulus[3]];
    let half = std::array::from_fn(|i| modulus[i] >> 1 | modulus.get(i + 1).unwrap_or(&0) << 63);
    for integer in
        [[0; 4], [1, 0, 0, 0], [2, 0, 0, 0], less(1), less(2), half, [half[0] + 1, half[1], half[2], half[3]]]
    {
        all.push(field.digits(integer));
    }
    while !all.len().is_multiple_of(8 * VECTORS) || all.len() < 512 {
        let mut digits = std::array::from_fn(|_| {
            if rng.random_bool(0.3) { edges[rng.random_range(0..edges.len())] } else { rng.random() }
        });
        digits[LIMBS - 1] = rng.random_range(-top..=top);
        all.push(digits);
    }
    all
}

fn bundles(elements: &[[i32; LIMBS]]) -> Vec<Bundle> {
    let each = elements.chunks(8 * VECTORS).map(|elements| {
        let mut bundle = Bundle::zeros(VECTORS);
        elements.iter().enumerate().for_each(|(index, digits)| bundle.set_digits(index, *digits));
        bundle
    });
    each.collect()
}

#[test]
fn operations_are_those_of_integers() {
    let r = BigInt::from(1) << 256;
    for field in fields() {
        let p = words(field.modulus());
        let top = field.bound().most as i32;
        let (a, b) = (operands(&field, 1, top), operands(&field, 2, top));
        // Pairs of all edges with others, not only with their like.
        let b: Vec<_> = (0..b.len()).map(|i| b[(i * 37 + 11) % b.len()]).collect();
        for operation in [
            Operation::Multiply,
            Operation::Square,
            Operation::Add,
            Operation::Subtract,
            Operation::Negate,
            Operation::Double,
            Operation::Reduce,
        ] {
            let graph = graph_of(operation);
            graph.intervals(&field).expect("numbers that fit");
            let inputs: Vec<_> =
                [&a, &b][..operation.operands()].iter().map(|input| bundles(input)).collect();
            let exact = run(&graph, &field, Arithmetic::Exact, &inputs).unwrap();
            for_each_goldilocks_level(|level| {
                let fast = run(&graph, &field, Arithmetic::Level(level), &inputs).unwrap();
                assert!(fast == exact, "{operation:?} at {}", level.name());
            });
            for (index, (a, b)) in a.iter().zip(&b).enumerate() {
                let result = exact[0][index / (8 * VECTORS)].digits(index % (8 * VECTORS));
                let (a, b, result) = (integer(*a), integer(*b), integer(result));
                match operation {
                    Operation::Multiply => assert_eq!((&result * &r - a * b) % &p, BigInt::ZERO),
                    Operation::Square => assert_eq!((&result * &r - &a * &a) % &p, BigInt::ZERO),
                    Operation::Add => assert_eq!(result, a + b),
                    Operation::Subtract => assert_eq!(result, a - b),
                    Operation::Negate => assert_eq!(result, -a),
                    Operation::Double => assert_eq!(result, a * 2),
                    Operation::Reduce => {
                        assert_eq!((&result - a) % &p, BigInt::ZERO);
                        assert!(result.abs() * 1_000_000 < &p * 500_001);
                    }
                }
                if matches!(operation, Operation::Multiply | Operation::Square) {
                    assert!(result.abs() * 100 < &p * 61, "p/2 and 0.19 * 9/16 p");
                }
            }
        }
    }
}

#[test]
fn reductions_take_all_elements_that_have_limbs() {
    for field in fields() {
        let p = words(field.modulus());
        let all = operands(&field, 3, i32::MAX - 1);
        let result = run(&graph_of(Operation::Reduce), &field, Arithmetic::Exact, &[bundles(&all)]).unwrap();
        for (index, digits) in all.iter().enumerate() {
            let reduced = integer(result[0][index / (8 * VECTORS)].digits(index % (8 * VECTORS)));
            assert_eq!((&reduced - integer(*digits)) % &p, BigInt::ZERO);
            assert!(reduced.abs() * 1_000_000 < &p * 500_001);
        }
    }
}

#[test]
fn a_number_that_does_not_fit_is_found() {
    let [field, _] = fields();
    let mut digits = [0; LIMBS];
    digits[LIMBS - 1] = i32::MAX;
    let mut bundle = Bundle::zeros(1);
    bundle.set_digits(3, digits);
    let error = run(&graph_of(Operation::Double), &field, Arithmetic::Exact, &[vec![bundle]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph double, node node: a number of 4294967294 to 4294967294 does not fit 32 bits; reduce an operand before"
    );
}

#[test]
fn integers_become_limbs_and_back() {
    for field in fields() {
        let p = words(field.modulus());
        for digits in operands(&field, 4, i32::MAX) {
            let residue = words(field.residue(digits));
            assert!(residue.sign() != Sign::Minus && residue < p);
            assert_eq!((integer(digits) - &residue) % &p, BigInt::ZERO);
            let again = field.digits(field.residue(digits));
            assert!(integer(again).abs() * 2 < p);
            assert_eq!(field.residue(again), field.residue(digits));
        }
    }
}

#[test]
fn moduli_that_do_not_suit_are_refused() {
    assert_eq!(SignedField::of::<bls12_381::Fr>().unwrap_err(), PipelineError::Modulus { bits: 255 });
    assert_eq!(
        SignedField::new([2, 0, 0, 1 << 61]).unwrap_err().to_string(),
        "the modulus has 254 bits or is even: fields of a tile have odd moduli of 254 bits"
    );
    assert_eq!(SignedField::new([3, 0, 0, 0]).unwrap_err(), PipelineError::Modulus { bits: 2 });
    assert_eq!(SignedField::new([3, 0, 0, 1 << 60]).unwrap_err(), PipelineError::Modulus { bits: 253 });
}
