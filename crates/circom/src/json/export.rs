//! Binary files as the JSON that snarkjs 0.7.6 exports, byte for byte. Memory is bounded: nothing is held as a whole.

use super::stream::{JsonPoint, JsonStream};
use crate::{
    decode::{Coordinate, PointCheck, Points},
    error::CircomError,
    r1cs::{R1csFile, Terms},
    zkey::{Groth16Zkey, Matrix},
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve};
use proofmill_field::{
    Field,
    bn254::{Fq, Fr},
};
use std::path::Path;

/// Bytes of a field element.
const ELEMENT: u32 = 32;
/// Points that are decoded together.
const BLOCK: usize = 1 << 12;

/// Writes a circuit as `snarkjs r1cs export json` does.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::Malformed`], [`CircomError::MissingSection`] without labels.
pub fn write_r1cs_json(circuit: &R1csFile, path: &Path) -> Result<(), CircomError> {
    let header = circuit.header();
    let labels = circuit.labels()?;
    let mut file = JsonStream::create(path)?;
    file.object(|out| {
        out.key("n8")?.bare(ELEMENT)?;
        out.key("prime")?.string(modulus_of_scalars())?;
        out.key("nVars")?.bare(header.wires)?;
        out.key("nOutputs")?.bare(header.outputs)?;
        out.key("nPubInputs")?.bare(header.public_inputs)?;
        out.key("nPrvInputs")?.bare(header.private_inputs)?;
        out.key("nLabels")?.bare(header.labels)?;
        out.key("nConstraints")?.bare(header.constraints)?;
        out.key("useCustomGates")?.bare(circuit.has_custom_gate_sections())?;
        out.key("constraints")?.list(|out| {
            circuit.each(|constraint| {
                out.list(|out| constraint.iter().try_for_each(|terms| write_terms(out, terms)))
            })
        })?;
        out.key("map")?.list(|out| { labels }.try_for_each(|label| out.bare(label)))?;
        out.key("customGates")?.list(|_| Ok(()))?;
        out.key("customGatesUses")?.list(|_| Ok(()))
    })?;
    file.finish()
}

fn write_terms(out: &mut JsonStream, terms: &Terms) -> Result<(), CircomError> {
    out.object(|out| terms.iter().try_for_each(|(wire, value)| out.key(wire)?.string(value)))
}

/// Writes the values of a witness as `snarkjs wtns export json` does.
///
/// # Errors
/// [`CircomError::Io`].
pub fn write_witness_json(values: &[Fr], path: &Path) -> Result<(), CircomError> {
    let mut file = JsonStream::create(path)?;
    file.list(|out| values.iter().try_for_each(|value| out.string(value)))?;
    file.finish()
}

/// Writes a Groth16 key as `snarkjs zkey export json` does: everything but the contributions. Points are checked to be on their
/// curve.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::Malformed`].
pub fn write_groth16_json(level: Level, key: &Groth16Zkey, path: &Path) -> Result<(), CircomError> {
    let header = key.header();
    let mut file = JsonStream::create(path)?;
    file.object(|out| {
        out.key("protocol")?.string("groth16")?;
        out.key("n8q")?.bare(ELEMENT)?;
        out.key("q")?.string(modulus_of_coordinates())?;
        out.key("n8r")?.bare(ELEMENT)?;
        out.key("r")?.string(modulus_of_scalars())?;
        out.key("nVars")?.bare(header.wires)?;
        out.key("nPublic")?.bare(header.public)?;
        out.key("domainSize")?.bare(header.domain_size)?;
        out.key("power")?.bare(header.domain_size.trailing_zeros())?;
        header.alpha_1.write(out.key("vk_alpha_1")?)?;
        header.beta_1.write(out.key("vk_beta_1")?)?;
        header.beta_2.write(out.key("vk_beta_2")?)?;
        header.gamma_2.write(out.key("vk_gamma_2")?)?;
        header.delta_1.write(out.key("vk_delta_1")?)?;
        header.delta_2.write(out.key("vk_delta_2")?)?;
        write_points(level, out.key("IC")?, key.ic(), 0)?;
        out.key("ccoefs")?.list(|out| write_coefficients(out, key))?;
        write_points(level, out.key("A")?, key.a(), 0)?;
        write_points(level, out.key("B1")?, key.b1(), 0)?;
        write_points(level, out.key("B2")?, key.b2(), 0)?;
        // By wires, of which the public ones have no point.
        let without = if key.c().is_empty() { 0 } else { header.public + 1 };
        write_points(level, out.key("C")?, key.c(), without)?;
        write_points(level, out.key("hExps")?, key.h(), 0)
    })?;
    file.finish()
}

fn write_coefficients(out: &mut JsonStream, key: &Groth16Zkey) -> Result<(), CircomError> {
    for coefficient in key.coefficients()?.iter() {
        let coefficient = coefficient?;
        out.object(|out| {
            out.key("matrix")?.bare(u8::from(coefficient.matrix == Matrix::B))?;
            out.key("constraint")?.bare(coefficient.row)?;
            out.key("signal")?.bare(coefficient.wire)?;
            out.key("value")?.string(coefficient.value)
        })?;
    }
    Ok(())
}

/// Writes a list of points after `nulls` times null.
fn write_points<C: Curve<Base: Coordinate>>(
    level: Level,
    out: &mut JsonStream,
    points: Points<'_, C>,
    nulls: u32,
) -> Result<(), CircomError>
where
    Affine<C>: JsonPoint,
{
    out.list(|out| {
        (0..nulls).try_for_each(|_| out.bare("null"))?;
        for start in (0..points.len()).step_by(BLOCK) {
            let end = points.len().min(start + BLOCK);
            let block = points.slice(start..end)?.decode(level, PointCheck::OnCurve)?;
            block.iter().try_for_each(|point| point.write(out))?;
        }
        Ok(())
    })
}

fn modulus_of_scalars() -> String {
    plus_one(&(-Fr::ONE).to_string())
}

fn modulus_of_coordinates() -> String {
    plus_one(&(-Fq::ONE).to_string())
}

/// The modulus from its predecessor: an even number, whose last digit has no carry.
fn plus_one(digits: &str) -> String {
    let (head, last) = digits.split_at(digits.len().saturating_sub(1));
    let last = last.parse::<u8>().unwrap_or_default();
    format!("{head}{}", last + 1)
}
