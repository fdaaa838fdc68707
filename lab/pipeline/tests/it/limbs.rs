//! The operations of a tile against integers, with edges of digits and of carries, by checked numbers and at every level.

use num_bigint::{BigInt, Sign};
use num_traits::Signed;
use proofmill_field::{
    Field, bls12_381,
    bn254::{self, Fq},
};
use proofmill_pipeline::{
    DataflowGraph, Device, PipelineError,
    execute::{Arithmetic, run},
    graph::{Edge, FieldOperation, GraphNode, GraphSink, NodeStep, Port, Reductions, Symbol, record},
    limbs::{Bundle, LIMBS, SignedField, VectorWord},
    schedule::{program, schedule},
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::Rng;
use std::slice;

const VECTORS: usize = 4;

fn fields() -> [SignedField; 2] {
    [SignedField::of::<bn254::Fq>().unwrap(), SignedField::of::<bn254::Fr>().unwrap()]
}

fn graph_of(operation: FieldOperation) -> DataflowGraph {
    let inputs: Vec<_> = (0..operation.operands()).map(|source| Edge::new(Port::Source(source))).collect();
    DataflowGraph {
        name: operation.name().into(),
        sources: (0..inputs.len()).map(|source| format!("s{source}")).collect(),
        nodes: vec![GraphNode {
            name: "node".into(),
            outputs: vec![inputs.len()],
            steps: vec![NodeStep { operation, operands: (0..inputs.len()).collect() }],
            inputs,
        }],
        sinks: vec![GraphSink { name: "result".into(), edge: Edge::new(Port::Node(0, 0)) }],
    }
}

fn integer<const N: usize>(digits: [i32; N]) -> BigInt {
    digits.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << 32) + digit)
}

fn unsigned(digits: [i32; LIMBS]) -> BigInt {
    digits.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << 32) + digit.cast_unsigned())
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
        let [a, b, c] = [1, 2, 3].map(|seed| operands(&field, seed, top));
        // Combinations of all edges with others, not only with their like.
        let b: Vec<_> = (0..b.len()).map(|i| b[(i * 37 + 11) % b.len()]).collect();
        let c: Vec<_> = (0..c.len()).map(|i| c[(i * 53 + 29) % c.len()]).collect();
        for operation in [
            FieldOperation::Multiply,
            FieldOperation::Square,
            FieldOperation::MultiplyLower,
            FieldOperation::MultiplyUpper,
            FieldOperation::Add,
            FieldOperation::Subtract,
            FieldOperation::Negate,
            FieldOperation::Double,
            FieldOperation::Reduce,
            FieldOperation::ToCanonical,
        ] {
            let graph = graph_of(operation);
            graph.intervals(&field).expect("numbers that fit");
            let inputs: Vec<_> =
                [&a, &b, &c][..operation.operands()].iter().map(|input| bundles(input)).collect();
            let exact = run(&graph, &field, Arithmetic::Exact, &inputs).unwrap();
            for_each_goldilocks_level(|level| {
                let fast = run(&graph, &field, Arithmetic::Level(level), &inputs).unwrap();
                assert!(fast == exact, "{operation:?} at {}", level.name());
            });
            for (index, ((a, b), c)) in a.iter().zip(&b).zip(&c).enumerate() {
                let result = exact[0][index / (8 * VECTORS)].digits(index % (8 * VECTORS));
                let [lower @ .., _, _, _, _] = *b;
                let [_, _, _, _, upper @ ..] = *b;
                let (lower, upper) = (integer(lower), integer(upper));
                let [a, b, c, result] = [*a, *b, *c, result].map(integer);
                match operation {
                    FieldOperation::MultiplyLower => {
                        assert_eq!(((&result << 128) - a * lower) % &p, BigInt::ZERO);
                        assert!(result.abs() * 1000 < &p * 876, "p/2 and 3/8 p");
                    }
                    FieldOperation::MultiplyUpper => {
                        assert_eq!(((&result << 128) - a * upper - c) % &p, BigInt::ZERO);
                    }
                    FieldOperation::Multiply => assert_eq!((&result * &r - a * b) % &p, BigInt::ZERO),
                    FieldOperation::Square => assert_eq!((&result * &r - &a * &a) % &p, BigInt::ZERO),
                    FieldOperation::Add => assert_eq!(result, a + b),
                    FieldOperation::Subtract => assert_eq!(result, a - b),
                    FieldOperation::Negate => assert_eq!(result, -a),
                    FieldOperation::Double => assert_eq!(result, a * 2),
                    FieldOperation::ToCanonical => {
                        let result = unsigned(exact[0][index / (8 * VECTORS)].digits(index % (8 * VECTORS)));
                        assert_eq!((&result * &r - a) % &p, BigInt::ZERO);
                        assert!(result < p);
                    }
                    FieldOperation::FromCanonical | FieldOperation::Constant(_) => {
                        unreachable!("tested below")
                    }
                    FieldOperation::Reduce => {
                        assert_eq!((&result - a) % &p, BigInt::ZERO);
                        assert!(result.abs() * 1_000_000 < &p * 500_001);
                    }
                }
                if matches!(
                    operation,
                    FieldOperation::Multiply | FieldOperation::Square | FieldOperation::MultiplyUpper
                ) {
                    assert!(result.abs() * 100 < &p * 61, "p/2 and 0.19 * 9/16 p");
                }
            }
        }
    }
}

/// Integers below the modulus in canonical form: those at both ends and in the middle, and limbs that make carries run far.
fn canonical(field: &SignedField) -> Vec<[i32; LIMBS]> {
    let mut rng = rng(5);
    let p = words(field.modulus());
    let patterns = |integer: &BigInt| -> [i32; LIMBS] {
        let digits = integer.to_biguint().unwrap().to_u32_digits();
        std::array::from_fn(|limb| digits.get(limb).copied().unwrap_or(0).cast_signed())
    };
    let half: BigInt = &p >> 1;
    let mut all: Vec<_> = (0..3).flat_map(|by| [by.into(), &p - 1 - by, &half - by, &half + by]).collect();
    all.extend((1..8).flat_map(|limb| {
        let power: BigInt = BigInt::from(1) << (32 * limb);
        [&power - 1, power.clone(), &power - (BigInt::from(1) << (32 * limb - 1)), &power >> 1, &p - power]
    }));
    let mut all: Vec<_> = all.iter().map(patterns).collect();
    let edges = [i32::MIN, i32::MIN + 1, -2, -1, 0, 1, i32::MAX - 1, i32::MAX];
    let top = patterns(&p)[LIMBS - 1];
    for edge in edges {
        for last in [0, 1, top - 1] {
            let mut pattern = [edge; LIMBS];
            pattern[LIMBS - 1] = last;
            all.push(pattern);
        }
    }
    while !all.len().is_multiple_of(8 * VECTORS) || all.len() < 512 {
        let mut pattern = std::array::from_fn(|_| {
            if rng.random_bool(0.5) { edges[rng.random_range(0..edges.len())] } else { rng.random() }
        });
        pattern[LIMBS - 1] = rng.random_range(0..top);
        all.push(pattern);
    }
    assert!(all.iter().all(|pattern| unsigned(*pattern) < p));
    all
}

#[test]
fn integers_in_canonical_form_become_elements_and_back() {
    for field in fields() {
        let p = words(field.modulus());
        let all = canonical(&field);
        let inputs = [bundles(&all)];
        let there = graph_of(FieldOperation::FromCanonical);
        let top = there.intervals(&field).unwrap()[0][0];
        assert!(field.bound().contains(top), "{top:?}");
        let elements = run(&there, &field, Arithmetic::Exact, &inputs).unwrap();
        let mut both = there.clone();
        both.nodes[0].steps.push(NodeStep { operation: FieldOperation::ToCanonical, operands: vec![1] });
        both.nodes[0].outputs = vec![2];
        both.intervals(&field).expect("numbers that fit");
        assert_eq!(both.reduced(&field, Reductions::InNodes).unwrap(), both, "no reductions");
        assert!(run(&both, &field, Arithmetic::Exact, &inputs).unwrap()[0] == inputs[0]);
        for_each_goldilocks_level(|level| {
            let level = Arithmetic::Level(level);
            assert!(run(&there, &field, level, &inputs).unwrap() == elements);
            assert!(run(&both, &field, level, &inputs).unwrap()[0] == inputs[0]);
        });
        for (index, pattern) in all.iter().enumerate() {
            let element = integer(elements[0][index / (8 * VECTORS)].digits(index % (8 * VECTORS)));
            assert_eq!((element - (unsigned(*pattern) << 256)) % &p, BigInt::ZERO);
        }
    }
}

#[test]
fn forms_are_not_mixed() {
    let refused = |graph: &DataflowGraph| graph.order().unwrap_err().to_string();
    let mut graph = graph_of(FieldOperation::FromCanonical);
    graph.nodes[0].steps.push(NodeStep { operation: FieldOperation::Add, operands: vec![0, 1] });
    assert_eq!(
        refused(&graph),
        "graph from-canonical, node node: step 1, add, reads a source of integers in canonical form"
    );
    graph.nodes[0].steps[1] = NodeStep { operation: FieldOperation::FromCanonical, operands: vec![1] };
    assert_eq!(
        refused(&graph),
        "graph from-canonical, node node: step 1, from-canonical, reads what is no source"
    );
    let mut graph = graph_of(FieldOperation::ToCanonical);
    graph.nodes.push(GraphNode { name: "next".into(), ..graph.nodes[0].clone() });
    graph.nodes[1].inputs[0].from = Port::Node(0, 0);
    graph.nodes[1].steps[0].operation = FieldOperation::Double;
    assert_eq!(
        refused(&graph),
        "graph to-canonical, node next: step 0, double, reads an integer in canonical form"
    );
}

#[test]
fn conversions_have_schedules() {
    let (field, device) = (&fields()[0], Device::committed("vck5000").unwrap());
    let vectors = 4 * VECTORS;
    for operation in [FieldOperation::FromCanonical, FieldOperation::ToCanonical] {
        let node = &graph_of(operation).nodes[0];
        let program = program(node, field, &device);
        let cycles = schedule(&node.name, &program, &device, vectors).unwrap().cycles(vectors) / VECTORS;
        println!("{}: {cycles} cycles a bundle", operation.name());
        let inputs = bundles(&canonical(field));
        let expected = run(&graph_of(operation), field, Arithmetic::Exact, slice::from_ref(&inputs)).unwrap();
        assert_eq!(by_program(node, field, &inputs[0]), lanes(&expected[0][0]));
    }
}

/// The first vector of a bundle.
fn lanes(bundle: &Bundle) -> [[i32; LIMBS]; 8] {
    std::array::from_fn(|lane| bundle.digits(lane))
}

/// What a node's program makes of the first vector of a bundle.
fn by_program(node: &GraphNode, field: &SignedField, bundle: &Bundle) -> [[i32; LIMBS]; 8] {
    let program = program(node, field, &Device::committed("vck5000").unwrap());
    let lanes = lanes(bundle);
    let words = std::array::from_fn(|limb| VectorWord::new(lanes.map(|digits| digits[limb])));
    let words = program.run(0..program.instructions.len(), &[words]);
    std::array::from_fn(|lane| program.outputs[0].map(|word| words[word].numbers()[lane]))
}

#[test]
fn constants_are_elements_of_the_field() {
    let mut rng = rng(6);
    let elements: Vec<_> = (0..100).map(|_| Fq::random(&mut rng)).collect();
    let field = &fields()[0];
    for [c, d] in [[-Fq::ONE, Fq::random(&mut rng)], [Fq::random(&mut rng), Fq::ONE], [Fq::ZERO, -Fq::ONE]] {
        let [factor, term] = [c, d].map(Symbol::constant);
        let graph = record("affine", ["X"], ["Y", "Z"], |[x]| [factor * x - term, x * factor]);
        assert_eq!((graph.nodes.len(), graph.count(FieldOperation::Multiply)), (3, 2));
        let graph = graph.reduced(field, Reductions::WhereNeeded).unwrap();
        let inputs = [Bundle::of(&elements, VECTORS)];
        let exact = run(&graph, field, Arithmetic::Exact, &inputs).unwrap();
        for (result, expected) in exact.iter().zip([
            elements.iter().map(|x| c * *x - d).collect::<Vec<_>>(),
            elements.iter().map(|x| c * *x).collect(),
        ]) {
            assert_eq!(Bundle::to_elements(result)[..elements.len()], expected);
        }
        for_each_goldilocks_level(|level| {
            assert!(run(&graph, field, Arithmetic::Level(level), &inputs).unwrap() == exact);
        });
        // Also in two nodes, and as instructions.
        assert!(run(&graph.split(0).unwrap(), field, Arithmetic::Exact, &inputs).unwrap() == exact);
        let product = by_program(&graph.nodes[0], field, &inputs[0][0]);
        assert_eq!(words(field.residue(product[3])), words_of(c * elements[3]));
    }
}

/// An element's integer times R, modulo p.
fn words_of(element: Fq) -> BigInt {
    let p = words(fields()[0].modulus());
    (words(element.to_canonical()) << 256) % p
}

#[test]
fn constants_that_do_not_suit_are_refused() {
    let read = |text: &str| toml::from_str::<NodeStep>(text);
    let step = read("operation = { constant = [1, -2, 3, 4, 5, 6, -2147483648, 0] }\noperands = []").unwrap();
    assert_eq!(step.operation, FieldOperation::Constant([1, -2, 3, 4, 5, 6, i32::MIN, 0]));
    assert!(read("operation = { constant = [1, 2, 3, 4, 5, 6, 7] }\noperands = []").is_err());
    assert!(read("operation = { constant = [1, 2, 3, 4, 5, 6, 7, 2147483648] }\noperands = []").is_err());
    let x = Symbol::constant(Fq::ONE);
    let mut graph = record("scaled", ["X"], ["Y"], |[y]| [x * y]);
    let FieldOperation::Constant(digits) = &mut graph.nodes[0].steps[0].operation else {
        panic!("{graph:?}")
    };
    digits[LIMBS - 1] = i32::MAX;
    assert_eq!(
        graph.intervals(&fields()[0]).unwrap_err().to_string(),
        "graph scaled, node multiply-0: its constant exceeds 3/4 of the modulus: take a smaller residue"
    );
    graph.nodes[0].steps[0].operands = vec![0];
    assert!(graph.order().unwrap_err().to_string().ends_with("step 0 needs 0 operands"));
}

#[test]
fn elements_become_bundles_and_back() {
    let mut rng = rng(8);
    for count in [0, 1, 31, 32, 33, 100] {
        let mut elements: Vec<_> = (0..count).map(|_| Fq::random(&mut rng)).collect();
        elements.iter_mut().zip([Fq::ZERO, Fq::ONE, -Fq::ONE]).for_each(|(element, edge)| *element = edge);
        let bundles = Bundle::of(&elements, VECTORS);
        let again: Vec<Fq> = Bundle::to_elements(&bundles);
        assert_eq!(bundles.len(), elements.len().div_ceil(8 * VECTORS));
        assert_eq!(again[..count], elements);
        assert!(again[count..].iter().all(|element| *element == Fq::ZERO));
        for (index, element) in elements.iter().enumerate() {
            let integer = bundles[index / (8 * VECTORS)].get(index % (8 * VECTORS), &fields()[0]);
            assert_eq!(words(integer), words_of(*element));
        }
    }
}

#[test]
fn reductions_take_all_elements_that_have_limbs() {
    for field in fields() {
        let p = words(field.modulus());
        let all = operands(&field, 3, i32::MAX - 1);
        let result =
            run(&graph_of(FieldOperation::Reduce), &field, Arithmetic::Exact, &[bundles(&all)]).unwrap();
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
    let error =
        run(&graph_of(FieldOperation::Double), &field, Arithmetic::Exact, &[vec![bundle]]).unwrap_err();
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
