//! The formulas that pipelines compute, recorded from the curves' own.

use crate::{
    graph::{DataflowGraph, Symbol, record},
    limbs::SignedField,
};
use proofmill_curve::formulas::{
    added, added_xyzz, affine_plus_affine, doubled, doubled_xyzz, jacobian_plus_affine, power,
    xyzz_plus_affine,
};
use proofmill_field::{
    PrimeField,
    bn254::{Fq, Fr},
};
use proofmill_hash::PoseidonBn254;
use std::array::from_fn;

/// The names of the formulas.
pub const NAMES: &[&str] = &[
    "xyzz-plus-affine",
    "xyzz-plus-xyzz",
    "xyzz-double",
    "jacobian-plus-affine",
    "jacobian-plus-jacobian",
    "jacobian-double",
    "affine-plus-affine-x4",
    "butterfly",
    "poseidon-round",
];

/// The field that a formula computes in: the base field of BN254 for sums of points, the scalar field for the
/// butterfly of transforms and the round of Poseidon.
pub fn field(name: &str) -> Option<SignedField> {
    let field = match name {
        "butterfly" | "poseidon-round" => SignedField::of::<Fr>(),
        _ if NAMES.contains(&name) => SignedField::of::<Fq>(),
        _ => return None,
    };
    Some(field.expect("both fields of BN254 have moduli of 254 bits"))
}

/// A formula's graph. `poseidon-round` is the first full round of circomlib's Poseidon with a state of three elements. Its graph is for
/// the field Fr of BN254, since it has constants; the others are for any field.
pub fn graph(name: &str) -> Option<DataflowGraph> {
    let graph = match name {
        "xyzz-plus-affine" => record(
            name,
            ["X1", "Y1", "ZZ1", "ZZZ1", "X2", "Y2"],
            ["X3", "Y3", "ZZ3", "ZZZ3"],
            |[x1, y1, zz1, zzz1, x2, y2]| xyzz_plus_affine([x1, y1, zz1, zzz1], [x2, y2]).sum(),
        ),
        "xyzz-plus-xyzz" => record(
            name,
            ["X1", "Y1", "ZZ1", "ZZZ1", "X2", "Y2", "ZZ2", "ZZZ2"],
            ["X3", "Y3", "ZZ3", "ZZZ3"],
            |[x1, y1, zz1, zzz1, x2, y2, zz2, zzz2]| {
                added_xyzz([x1, y1, zz1, zzz1], [x2, y2, zz2, zzz2]).sum()
            },
        ),
        "xyzz-double" => record(name, ["X", "Y", "ZZ", "ZZZ"], ["X3", "Y3", "ZZ3", "ZZZ3"], doubled_xyzz),
        "jacobian-plus-affine" => {
            record(name, ["X1", "Y1", "Z1", "X2", "Y2"], ["X3", "Y3", "Z3"], |[x1, y1, z1, x2, y2]| {
                jacobian_plus_affine([x1, y1, z1], [x2, y2]).sum()
            })
        }
        "jacobian-plus-jacobian" => record(
            name,
            ["X1", "Y1", "Z1", "X2", "Y2", "Z2"],
            ["X3", "Y3", "Z3"],
            |[x1, y1, z1, x2, y2, z2]| added([x1, y1, z1], [x2, y2, z2]).sum(),
        ),
        "jacobian-double" => record(name, ["X", "Y", "Z"], ["X3", "Y3", "Z3"], doubled),
        "affine-plus-affine-x4" => affine_sums(name),
        "butterfly" => record(name, ["A", "B", "W"], ["C", "D"], |[a, b, w]| {
            let turned = b * w;
            [a + turned, a - turned]
        }),
        "poseidon-round" => record(name, ["S0", "S1", "S2"], ["T0", "T1", "T2"], |mut state| {
            PoseidonBn254::of_width(3).full_round(0, &mut state, Symbol::constant);
            state
        }),
        _ => return None,
    };
    Some(graph)
}

/// Pairs of affine points whose sums need one inversion together.
const PAIRS: usize = 4;

/// The sums of pairs of affine points. Their inverse, the power p - 2, is a residue times R as all elements: products are divided by R.
fn affine_sums(name: &str) -> DataflowGraph {
    let sources: [String; 4 * PAIRS] = from_fn(|i| format!("{}.{}", ["X1", "Y1", "X2", "Y2"][i % 4], i / 4));
    let sinks: [String; 2 * PAIRS] = from_fn(|i| format!("{}.{}", ["X3", "Y3"][i % 2], i / 2));
    let (sources, sinks) = (sources.each_ref().map(String::as_str), sinks.each_ref().map(String::as_str));
    let exponent = (-Fq::from(2)).to_words();
    record(name, sources, sinks, |coordinates: [Symbol; 4 * PAIRS]| {
        let pairs: [[Symbol; 4]; PAIRS] = from_fn(|pair| from_fn(|i| coordinates[4 * pair + i]));
        let sums = affine_plus_affine(pairs, |product| power(product, &exponent));
        from_fn(|i| sums[i / 2][i % 2])
    })
}
