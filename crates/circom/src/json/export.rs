//! Binary files as the JSON that snarkjs 0.7.6 exports, byte for byte but for powers of tau. Memory is bounded: nothing is held as a whole.

use super::stream::{JsonPoint, JsonStream};
use crate::{
    curve::CircomCurve,
    decode::{Coordinate, PointCheck, Points, ScalarPrime},
    error::CircomError,
    ptau::{Ptau, PtauContribution, PtauPoints},
    r1cs::{R1csFile, Terms},
    zkey::{Groth16Zkey, Matrix},
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve};
use proofmill_field::{Field, Fp, Prime};
use std::path::Path;

/// Points that are decoded together.
const BLOCK: usize = 1 << 12;

/// Writes a circuit as `snarkjs r1cs export json` does.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::Malformed`], [`CircomError::MissingSection`] without labels.
pub fn write_r1cs_json<P: ScalarPrime>(circuit: &R1csFile<P>, path: &Path) -> Result<(), CircomError> {
    let header = circuit.header();
    let labels = circuit.labels()?;
    let mut file = JsonStream::create(path)?;
    file.object(|out| {
        out.key("n8")?.bare(bytes_of::<P>())?;
        out.key("prime")?.string(modulus::<P>())?;
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

fn write_terms<P: ScalarPrime>(out: &mut JsonStream, terms: &Terms<P>) -> Result<(), CircomError> {
    out.object(|out| terms.iter().try_for_each(|(wire, value)| out.key(wire)?.string(value)))
}

/// Writes the values of a witness as `snarkjs wtns export json` does.
///
/// # Errors
/// [`CircomError::Io`].
pub fn write_witness_json<P: ScalarPrime>(values: &[Fp<P>], path: &Path) -> Result<(), CircomError> {
    let mut file = JsonStream::create(path)?;
    file.list(|out| values.iter().try_for_each(|value| out.string(value)))?;
    file.finish()
}

/// Writes a Groth16 key as `snarkjs zkey export json` does: everything but the contributions. Points are checked to be on their
/// curve.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::Malformed`].
pub fn write_groth16_json<C: CircomCurve>(
    level: Level,
    key: &Groth16Zkey<C>,
    path: &Path,
) -> Result<(), CircomError> {
    let header = key.header();
    let mut file = JsonStream::create(path)?;
    file.object(|out| {
        out.key("protocol")?.string("groth16")?;
        out.key("n8q")?.bare(bytes_of::<C::BasePrime>())?;
        out.key("q")?.string(modulus::<C::BasePrime>())?;
        out.key("n8r")?.bare(bytes_of::<C::ScalarPrime>())?;
        out.key("r")?.string(modulus::<C::ScalarPrime>())?;
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

/// Writes powers of tau in the order of `snarkjs powersoftau export json`: contributions, powers, and Lagrange polynomials by domain if there
/// are any. Where snarkjs writes one number for a point, which does not determine it, and for a hash, this has coordinates and hexadecimal
/// digits. Points are checked to be on their curve.
///
/// # Errors
/// [`CircomError::Io`], and [`CircomError`] for sections that are missing or malformed.
pub fn write_ptau_json<C: CircomCurve>(
    level: Level,
    powers: &Ptau<C>,
    path: &Path,
) -> Result<(), CircomError> {
    powers.expect_complete()?;
    let contributions = powers.decoded_contributions()?;
    let power = powers.header().power;
    let mut file = JsonStream::create(path)?;
    file.object(|out| {
        out.key("q")?.string(modulus::<C::BasePrime>())?;
        out.key("power")?.bare(power)?;
        out.key("contributions")?.list(|out| {
            (1_u32..).zip(&contributions).try_for_each(|(id, each)| write_contribution(out, id, each))
        })?;
        write_points(level, out.key("tauG1")?, powers.tau_g1()?, 0)?;
        write_points(level, out.key("tauG2")?, powers.tau_g2()?, 0)?;
        write_points(level, out.key("alphaTauG1")?, powers.alpha_tau_g1()?, 0)?;
        write_points(level, out.key("betaTauG1")?, powers.beta_tau_g1()?, 0)?;
        write_points(level, out.key("betaG2")?, powers.points::<C::G2>(PtauPoints::BetaG2)?, 0)?;
        if powers.is_prepared() {
            let domains = |out: &mut JsonStream, section| {
                out.list(|out| {
                    (0..=power).try_for_each(|log_n| {
                        write_points(level, out, powers.domain::<C>(section, log_n)?, 0)
                    })
                })
            };
            domains(out.key("lTauG1")?, PtauPoints::LagrangeTauG1)?;
            out.key("lTauG2")?.list(|out| {
                (0..=power).try_for_each(|log_n| write_points(level, out, powers.lagrange_tau_g2(log_n)?, 0))
            })?;
            domains(out.key("lAlphaTauG1")?, PtauPoints::LagrangeAlphaTauG1)?;
            domains(out.key("lBetaTauG1")?, PtauPoints::LagrangeBetaTauG1)?;
        }
        Ok(())
    })?;
    file.finish()
}

fn write_contribution<C: CircomCurve>(
    out: &mut JsonStream,
    id: u32,
    each: &PtauContribution<C>,
) -> Result<(), CircomError> {
    out.object(|out| {
        each.powers.tau_g1.write(out.key("tauG1")?)?;
        each.powers.tau_g2.write(out.key("tauG2")?)?;
        each.powers.alpha_g1.write(out.key("alphaG1")?)?;
        each.powers.beta_g1.write(out.key("betaG1")?)?;
        each.powers.beta_g2.write(out.key("betaG2")?)?;
        out.key("key")?.object(|out| {
            ["tau", "alpha", "beta"].into_iter().zip(&each.proofs).try_for_each(|(name, proof)| {
                out.key(name)?.object(|out| {
                    proof.s.write(out.key("g1_s")?)?;
                    proof.sx.write(out.key("g1_sx")?)?;
                    proof.spx.write(out.key("g2_spx")?)
                })
            })
        })?;
        out.key("partialHash")?.string(hex::encode(each.partial_hash))?;
        out.key("nextChallenge")?.string(hex::encode(each.next_challenge))?;
        out.key("type")?.bare(u8::from(each.beacon.is_some()))?;
        if let Some(name) = &each.name {
            // A string with its quotes and escapes.
            out.key("name")?.bare(serde_json::Value::from(name.as_str()))?;
        }
        if let Some(beacon) = &each.beacon {
            out.key("numIterationsExp")?.bare(beacon.log_iterations)?;
            out.key("beaconHash")?.string(hex::encode(&beacon.seed))?;
        }
        out.key("id")?.bare(id)
    })
}

fn write_coefficients<C: CircomCurve>(out: &mut JsonStream, key: &Groth16Zkey<C>) -> Result<(), CircomError> {
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

/// Bytes of an element modulo this prime.
fn bytes_of<P: Prime>() -> usize {
    size_of::<P::Limbs>()
}

/// A prime in decimal.
fn modulus<P: Prime>() -> String {
    // Of an even number the last digit has no carry.
    let before = (-Fp::<P>::ONE).to_string();
    let (head, last) = before.split_at(before.len().saturating_sub(1));
    let last = last.parse::<u8>().unwrap_or_default();
    format!("{head}{}", last + 1)
}
