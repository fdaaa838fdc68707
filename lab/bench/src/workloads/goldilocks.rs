//! Goldilocks: the ten basic functions, permutations, trees and transforms.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::{Rng, goldilocks, logarithm},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{
        Extension, Goldilocks,
        basic::{
            add, mmult_4x12, mmult_4x12_8, mult_72, mult_128, reduce_128_64, spmv_4x12, spmv_4x12_8,
            square_128, sub,
        },
    },
};
use proofmill_hash::Digest;
use proofmill_memory::Pages;
use proofmill_merkle::{Hash, RowMajor, Tree};
use proofmill_ntt::goldilocks::{GoldilocksDomain, Order, evaluate};
use proofmill_stark::openings::{self, Coset, Opened};
use rand::RngCore;
use rayon::prelude::*;
use std::hint::black_box;

pub(crate) fn table() -> Vec<KernelEntry> {
    let mut table = basic();
    table.extend(matrices());
    table.extend([
        permutation("poseidon-12", Hash::Poseidon),
        permutation("poseidon2-8", Hash::Poseidon2Width8),
        permutation("poseidon2-12", Hash::Poseidon2),
    ]);
    table.extend(Hash::ALL.map(tree));
    table.extend([
        transform("ntt", 1, Order::Natural),
        transform("ntt-reversed", 1, Order::BitReversed),
        transform("ntt-8-columns-reversed", 8, Order::BitReversed),
        extension(),
        evaluation("evaluate", 1, false),
        evaluation("evaluate-16-columns", EXTENDED, false),
        evaluation("evaluate-values", 1, true),
        evaluation("evaluate-values-16-columns", EXTENDED, true),
    ]);
    table
}

/// Two columns; the second one also as bytes.
struct Operands {
    a: Vec<Goldilocks>,
    b: Vec<Goldilocks>,
    bytes: Vec<u8>,
}

/// A basic function of columns.
type Basic = fn(Level, &Operands, &mut [Goldilocks]);

/// Functions whose results are elements.
fn basic() -> Vec<KernelEntry> {
    let functions: [(&str, Basic); 6] = [
        ("add", |level, x, out| add(level, &x.a, &x.b, out)),
        ("sub", |level, x, out| sub(level, &x.a, &x.b, out)),
        ("reduce_128_64", |level, x, out| {
            reduce_128_64(level, Goldilocks::as_words(&x.a), Goldilocks::as_words(&x.b), out);
        }),
        ("square_128", |level, x, out| square_128(level, Goldilocks::as_words(&x.a), out)),
        ("mult_128", |level, x, out| {
            mult_128(level, Goldilocks::as_words(&x.a), Goldilocks::as_words(&x.b), out);
        }),
        ("mult_72", |level, x, out| mult_72(level, Goldilocks::as_words(&x.a), &x.bytes, out)),
    ];
    let entry = |(name, function): (&str, Basic)| {
        KernelFunctions::new(
            |rng, size| {
                let [a, b] = [goldilocks(rng, size), goldilocks(rng, size)];
                let bytes = b.iter().map(|element| element.to_canonical() as u8).collect();
                Ok(Operands { a, b, bytes })
            },
            |operands, _| Ok(vec![Goldilocks::ZERO; operands.a.len()]),
            move |operands, results, level, _| {
                function(level, black_box(operands), results);
                Ok(())
            },
            |results| encoded(&results[..]),
        )
        .entry(format!("goldilocks/{name}"), KernelLevels::Goldilocks)
    };
    functions.map(entry).into()
}

/// States as columns, and a matrix.
struct States {
    columns: [Vec<u64>; 12],
    matrix: [[u64; 12]; 4],
    bytes: [[u8; 12]; 4],
}

/// A function of states whose results are four elements per state.
type OfStates = fn(Level, [&[u64]; 12], &States, [&mut [Goldilocks]; 4]);

fn matrices() -> [KernelEntry; 4] {
    let functions: [(&str, OfStates); 4] = [
        ("spmv_4x12", |level, states, x, out| spmv_4x12(level, states, &x.matrix[0], out)),
        ("spmv_4x12_8", |level, states, x, out| spmv_4x12_8(level, states, &x.bytes[0], out)),
        ("mmult_4x12", |level, states, x, out| mmult_4x12(level, states, &x.matrix, out)),
        ("mmult_4x12_8", |level, states, x, out| mmult_4x12_8(level, states, &x.bytes, out)),
    ];
    functions.map(|(name, function)| {
        KernelFunctions::new(
            |rng: &mut Rng, size| {
                let columns = std::array::from_fn(|_| (0..size).map(|_| rng.next_u64()).collect());
                let matrix = std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64()));
                Ok(States { columns, matrix, bytes: matrix.map(|row: [u64; 12]| row.map(|word| word as u8)) })
            },
            |states, _| Ok([(); 4].map(|()| vec![Goldilocks::ZERO; states.columns[0].len()])),
            move |states, results: &mut [Vec<Goldilocks>; 4], level, _| {
                let columns = states.columns.each_ref().map(Vec::as_slice);
                function(level, columns, black_box(states), results.each_mut().map(Vec::as_mut_slice));
                Ok(())
            },
            |results| results.iter().flat_map(|column| encoded(&column[..])).collect(),
        )
        .entry(format!("goldilocks/{name}"), KernelLevels::Goldilocks)
    })
}

/// Permutations per parallel task.
const CHUNK: usize = 1 << 10;

/// `size` tree nodes: each is a permutation of eight elements, padded with zeros if the state is wider, of
/// which the first four elements are kept.
fn permutation(name: &str, hash: Hash) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| {
            let elements = goldilocks(rng, 8 * size);
            let words = Goldilocks::as_words(&elements).as_chunks().0;
            Ok(words.iter().map(|words| Digest(*words)).collect::<Vec<_>>())
        },
        |children, _| Ok(vec![Digest::default(); children.len() / 2]),
        move |children, parents: &mut Vec<Digest>, level, _| {
            let tasks = children.par_chunks(2 * CHUNK).zip(parents.par_chunks_mut(CHUNK));
            let hash = hash.tree_hash();
            tasks.for_each(|(children, parents)| hash.hash_pairs(level, children, parents));
            Ok(())
        },
        |parents| encoded(&parents[..]),
    )
    .for_peers(|children| encoded(&children[..]))
    .entry(format!("permutations/{name}"), KernelLevels::Goldilocks)
}

/// Words of a tree's row: one permutation of width 12.
const COLUMNS: usize = 8;

/// A tree of `size` rows; all nodes are kept.
fn tree(hash: Hash) -> KernelEntry {
    let levels = match hash {
        Hash::Sha256 => KernelLevels::Sha256Many,
        Hash::PoseidonBn254 => KernelLevels::PrimeFields,
        _ => KernelLevels::Goldilocks,
    };
    KernelFunctions::new(
        |rng, size| logarithm(size, 0, 32).map(|_| goldilocks(rng, COLUMNS * size)),
        |_, _| Ok([0; 32]),
        move |rows: &Vec<Goldilocks>, root: &mut [u8; 32], level, _| {
            let root_of = || -> Result<[u8; 32], proofmill_merkle::MerkleError> {
                let leaves = RowMajor::new(Goldilocks::as_words(rows), COLUMNS)?;
                Ok(Tree::build(level, hash.tree_hash(), &leaves)?.root().to_bytes())
            };
            *root = root_of().map_err(|error| error.to_string())?;
            Ok(())
        },
        |root| root.to_vec(),
    )
    .for_peers(|rows| encoded(&rows[..]))
    .entry(format!("merkle/{hash}"), levels)
}

/// The domain, and the columns that are transformed in place.
struct Transform {
    domain: GoldilocksDomain,
    values: Vec<Goldilocks>,
}

/// Transforms of columns of `size` coefficients each, row-major.
fn transform(name: &str, columns: usize, order: Order) -> KernelEntry {
    KernelFunctions::new(
        move |rng, size| logarithm(size, 0, 30).map(|_| goldilocks(rng, columns * size)),
        move |coefficients: &Vec<Goldilocks>, _| {
            let domain = domain(coefficients.len() / columns)?;
            Ok(Transform { domain, values: coefficients.clone() })
        },
        move |_, Transform { domain, values }, level, _| {
            domain.ntt(level, values, order);
            Ok(())
        },
        |transform| encoded(&transform.values[..]),
    )
    .restarted(|coefficients, transform| transform.values.copy_from_slice(coefficients))
    .for_peers(|coefficients| encoded(&coefficients[..]))
    .entry(format!("goldilocks_transforms/{name}"), KernelLevels::Goldilocks)
}

fn domain(size: usize) -> Result<GoldilocksDomain, String> {
    GoldilocksDomain::new(size.ilog2()).ok_or_else(|| "beyond the field's two-adicity".to_owned())
}

/// Number of columns of matrices that are extended or evaluated.
const EXTENDED: usize = 16;

/// Low-degree extension of sixteen columns of `size` values each to twice the size, on the coset of the
/// field's generator, bit-reversed.
fn extension() -> KernelEntry {
    KernelFunctions::new(
        |rng, size| logarithm(size, 0, 30).map(|_| goldilocks(rng, EXTENDED * size)),
        |values: &Vec<Goldilocks>, _| {
            Ok((domain(values.len() / EXTENDED)?, Pages::<Goldilocks>::new(2 * values.len())))
        },
        |values, (domain, extension), level, _| {
            let shift = Goldilocks::GENERATOR;
            domain.low_degree_extension(level, values, shift, extension, Order::BitReversed);
            Ok(())
        },
        |(_, extension)| encoded(&extension[..]),
    )
    .for_peers(|values| encoded(&values[..]))
    .entry("goldilocks_transforms/lde-16-columns-by-2", KernelLevels::Goldilocks)
}

/// Values of polynomials at a point of the quadratic extension. Each column has `size` coefficients, or
/// `size` values on the coset of the field's generator, bit-reversed.
fn evaluation(name: &str, columns: usize, from_values: bool) -> KernelEntry {
    KernelFunctions::new(
        move |rng, size| {
            let matrix = logarithm(size, 0, 30).map(|_| goldilocks(rng, columns * size))?;
            Ok((matrix, Extension([Goldilocks::random(rng), Goldilocks::random(rng)])))
        },
        |_, _| {
            let coset = Coset::new(Goldilocks::ROOT_OF_UNITY, Goldilocks::GENERATOR);
            Ok((coset.ok_or("a generator")?, Vec::new()))
        },
        move |(matrix, point), (coset, values), level, _| {
            *values = if from_values {
                let rows = (matrix.len() / columns).ilog2();
                let matrix = Opened { words: Goldilocks::as_words(matrix), width: columns, points: vec![0] };
                openings::evaluate(level, coset, rows, &[matrix], &[*point])
                    .into_iter()
                    .flatten()
                    .flatten()
                    .collect()
            } else {
                evaluate(level, matrix, columns, *point)
            };
            Ok(())
        },
        |(_, values)| values.iter().flat_map(|value| encoded(&value.0[..])).collect(),
    )
    .entry(format!("goldilocks_transforms/{name}"), KernelLevels::Goldilocks)
}
