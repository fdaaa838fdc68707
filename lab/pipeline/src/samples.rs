//! Operands for formulas, and their results by the curve's own arithmetic.

use crate::PipelineError;
use proofmill_curve::{Affine, Curve, Jacobian, Xyzz, bn254::G1};
use proofmill_field::{
    Algebra, Field,
    bn254::{Fq, Fr},
};
use proofmill_hash::PoseidonBn254;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// An element times R = 2^256 as an integer below its field's modulus, little-endian: what [`Bundle::set`](crate::limbs::Bundle::set) takes.
pub type MontgomeryResidue = [u64; 4];

/// An operand of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    /// A point (X, Y, ZZ, ZZZ).
    Xyzz,
    /// A point (X, Y, Z).
    Jacobian,
    /// A point (x, y).
    Affine,
    /// An element of the scalar field.
    Scalar,
}

impl Operand {
    fn coordinates(self) -> usize {
        match self {
            Self::Xyzz => 4,
            Self::Jacobian => 3,
            Self::Affine => 2,
            Self::Scalar => 1,
        }
    }
}

fn operands(formula: &str) -> Option<Vec<Operand>> {
    use Operand::{Affine, Jacobian, Scalar, Xyzz};
    Some(match formula {
        "xyzz-plus-affine" => vec![Xyzz, Affine],
        "xyzz-plus-xyzz" => vec![Xyzz; 2],
        "xyzz-double" => vec![Xyzz],
        "jacobian-plus-affine" => vec![Jacobian, Affine],
        "jacobian-plus-jacobian" => vec![Jacobian; 2],
        "jacobian-double" => vec![Jacobian],
        "affine-plus-affine-x4" => vec![Affine; 8],
        "butterfly" | "poseidon-round" => vec![Scalar; 3],
        _ => return None,
    })
}

/// Random operands of a formula, so many for each source, which are the same for the same seed: points with random coordinates Z. `None`
/// for names that are not a formula's.
pub fn random(formula: &str, count: usize, seed: u64) -> Option<Vec<Vec<MontgomeryResidue>>> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut sources = Vec::new();
    for operand in operands(formula)? {
        let mut coordinates = vec![Vec::with_capacity(count); operand.coordinates()];
        let mut push = |values: &[MontgomeryResidue]| {
            coordinates.iter_mut().zip(values).for_each(|(all, value)| all.push(*value));
        };
        if operand == Operand::Scalar {
            (0..count).for_each(|_| push(&[Fr::random(&mut rng).to_montgomery()]));
        } else {
            for Affine { x, y } in points(count, &mut rng) {
                let z = if operand == Operand::Affine { Fq::ONE } else { Fq::random(&mut rng) };
                let zz = z.square();
                let last = if operand == Operand::Jacobian { [z, z] } else { [zz, zz * z] };
                push(&[x * zz, y * zz * z, last[0], last[1]].map(Fq::to_montgomery));
            }
        }
        sources.extend(coordinates);
    }
    Some(sources)
}

/// Points one random step apart, from a random one.
pub fn points(count: usize, rng: &mut impl RngCore) -> Vec<Affine<G1>> {
    let [first, step] = [(); 2].map(|()| G1::GENERATOR.mul_vartime(&Fr::random(rng)));
    let step = step.to_affine();
    let points = std::iter::successors(Some(first), |point| Some(point.add_affine(&step)));
    Jacobian::batch_to_affine(&points.take(count).collect::<Vec<_>>())
}

/// The results of a formula by the curve's own arithmetic, which has cases for all points; for formulas of scalars, by the field's. `None` for
/// names that are not a formula's.
///
/// # Errors
/// Numbers of operands that differ, and integers that are not below the modulus.
pub fn results(
    formula: &str,
    sources: &[Vec<MontgomeryResidue>],
) -> Result<Option<Vec<Vec<MontgomeryResidue>>>, PipelineError> {
    let Some(operands) = operands(formula) else { return Ok(None) };
    let count = sources.first().map_or(0, Vec::len);
    let needed: usize = operands.iter().map(|operand| operand.coordinates()).sum();
    if sources.len() != needed || sources.iter().any(|source| source.len() != count) {
        let problem = format!("{formula} needs {needed} sources with as many elements each");
        return Err(PipelineError::Inputs(problem));
    }
    let mut sinks: Vec<Vec<MontgomeryResidue>> = Vec::new();
    for index in 0..count {
        let row = sources.iter().map(|source| source[index]);
        let results = if operands[0] == Operand::Scalar {
            let scalars: Option<Vec<Fr>> = row.map(Fr::from_montgomery).collect();
            scalars.map(|scalars| of_scalars(formula, &scalars))
        } else {
            let coordinates: Option<Vec<Fq>> = row.map(Fq::from_montgomery).collect();
            coordinates.map(|coordinates| of_points(formula, &coordinates))
        };
        let results = results.ok_or_else(|| {
            PipelineError::Inputs(format!("operands {index} have a number that is not below the modulus"))
        })?;
        sinks.resize(results.len(), Vec::new());
        sinks.iter_mut().zip(results).for_each(|(sink, result)| sink.push(result));
    }
    Ok(Some(sinks))
}

/// An element as it is written: an integer below the modulus of a formula's field. `None` if it is not.
pub fn residue(formula: &str, integer: [u64; 4]) -> Option<MontgomeryResidue> {
    if is_of_scalars(formula) {
        Fr::from_canonical(integer).map(Fr::to_montgomery)
    } else {
        Fq::from_canonical(integer).map(Fq::to_montgomery)
    }
}

/// An integer below 2^256: decimal, or hexadecimal after `0x`.
pub fn parse(text: &str) -> Option<[u64; 4]> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let mut integer = [0u64; 4];
    for digit in digits.chars() {
        let mut carry = u64::from(digit.to_digit(radix)?);
        for word in &mut integer {
            let sum = u128::from(*word) * u128::from(radix) + u128::from(carry);
            (*word, carry) = (sum as u64, (sum >> 64) as u64);
        }
        if carry != 0 {
            return None;
        }
    }
    (!digits.is_empty()).then_some(integer)
}

/// The integer of an element, to be written.
pub fn integer(formula: &str, residue: MontgomeryResidue) -> Option<[u64; 4]> {
    if is_of_scalars(formula) {
        Fr::from_montgomery(residue).map(Fr::to_canonical)
    } else {
        Fq::from_montgomery(residue).map(Fq::to_canonical)
    }
}

fn is_of_scalars(formula: &str) -> bool {
    operands(formula).is_some_and(|operands| operands[0] == Operand::Scalar)
}

/// The results of a formula of scalars.
fn of_scalars(formula: &str, scalars: &[Fr]) -> Vec<MontgomeryResidue> {
    let mut state = [scalars[0], scalars[1], scalars[2]];
    let results = if formula == "poseidon-round" {
        PoseidonBn254::of_width(3).full_round(0, &mut state, |constant| constant);
        state.to_vec()
    } else {
        let [a, b, w] = state;
        vec![a + b * w, a - b * w]
    };
    results.into_iter().map(Fr::to_montgomery).collect()
}

/// The results of a formula of points.
fn of_points(formula: &str, c: &[Fq]) -> Vec<MontgomeryResidue> {
    let xyzz = |at: usize| Xyzz::<G1> { x: c[at], y: c[at + 1], zz: c[at + 2], zzz: c[at + 3] };
    let jacobian = |at: usize| Jacobian::<G1> { x: c[at], y: c[at + 1], z: c[at + 2] };
    let affine = |at: usize| Affine::<G1> { x: c[at], y: c[at + 1] };
    let of_xyzz = |Xyzz { x, y, zz, zzz }: Xyzz<G1>| vec![x, y, zz, zzz];
    let of_jacobian = |Jacobian { x, y, z }: Jacobian<G1>| vec![x, y, z];
    let coordinates = match formula {
        "xyzz-plus-affine" => of_xyzz(xyzz(0).add_affine(&affine(4))),
        "xyzz-plus-xyzz" => of_xyzz(xyzz(0).add(&xyzz(4))),
        "xyzz-double" => of_xyzz(xyzz(0).double()),
        "jacobian-plus-affine" => of_jacobian(jacobian(0).add_affine(&affine(3))),
        "jacobian-plus-jacobian" => of_jacobian(jacobian(0).add(&jacobian(3))),
        "jacobian-double" => of_jacobian(jacobian(0).double()),
        _ => {
            let sums: Vec<_> = (0..c.len())
                .step_by(4)
                .map(|at| Jacobian::from(affine(at)).add_affine(&affine(at + 2)))
                .collect();
            Jacobian::batch_to_affine(&sums).iter().flat_map(|Affine { x, y }| [*x, *y]).collect()
        }
    };
    coordinates.into_iter().map(Fq::to_montgomery).collect()
}
