//! New strings made by one party, for tests: nobody else has a reason to trust them.

use crate::SrsError;
use proofmill_circom::{CircomError, PtauHeader, PtauPoints, PtauWriter};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, FixedBase,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};
use proofmill_files::Target;
use rand::{TryRngCore, rngs::OsRng};
use zeroize::Zeroizing;

/// Powers beyond the number of gates: blinding makes polynomials a few coefficients longer than the domain.
pub const SPARE: usize = 64;

/// Powers computed and written together.
const PIECE: usize = 1 << 16;

/// Writes `count` powers in G1 and two in G2 of a random tau to a `.ptau` with the sections 1, 2, 3 and 7; the last is an empty
/// list of contributions. tau and its scalar powers are wiped from memory and never written. Nevertheless, those who control
/// the machine may know them, and can then prove false statements. Takes about 75 MB of memory for any `count`. Runs on the
/// ambient rayon pool.
///
/// # Errors
/// [`SrsError::File`], [`SrsError::Randomness`].
///
/// # Panics
/// If `count` is below 2, or 2^29 or more.
pub fn write_insecure<'a>(level: Level, target: impl Into<Target<'a>>, count: usize) -> Result<(), SrsError> {
    write(level, target.into(), count)
}

/// A random nonzero scalar, which is wiped when it is dropped.
pub(crate) fn random() -> Result<Zeroizing<Fr>, SrsError> {
    OsRng.try_next_u64().map_err(|error| SrsError::Randomness(error.to_string()))?;
    let mut secret = Zeroizing::new(Fr::ZERO);
    while secret.is_zero() {
        *secret = Fr::random(&mut OsRng.unwrap_err());
    }
    Ok(secret)
}

#[allow(clippy::indexing_slicing)] // A piece is no longer than its buffers.
fn write(level: Level, target: Target<'_>, count: usize) -> Result<(), SrsError> {
    assert!((2..1 << 29).contains(&count), "from 2 to 2^29 - 1 powers");
    let tau = random()?;
    let power = count.ilog2();
    let mut file = PtauWriter::<G1>::create(target, &PtauHeader { power, ceremony_power: power }, 2)?;
    let mut fixed = FixedBase::new(level, &G1::GENERATOR, count);
    let mut scalars = Zeroizing::new(vec![Fr::ZERO; PIECE.min(count)]);
    let mut points = vec![Affine::INFINITY; PIECE.min(count)];
    let mut next = Zeroizing::new(Fr::ONE);
    file.points(PtauPoints::TauG1, |out| {
        for start in (0..count).step_by(PIECE) {
            let len = PIECE.min(count - start);
            let (scalars, points) = (&mut scalars[..len], &mut points[..len]);
            for scalar in scalars.iter_mut() {
                *scalar = *next;
                *next *= *tau;
            }
            fixed.multiply(scalars, points);
            out.points(points)?;
        }
        Ok::<_, CircomError>(())
    })?;
    let tau_g2 = G2::GENERATOR.mul_vartime(&tau).to_affine();
    file.points(PtauPoints::TauG2, |out| out.points(&[G2::GENERATOR, tau_g2]))?;
    file.no_contributions()?;
    Ok(file.finish()?)
}
