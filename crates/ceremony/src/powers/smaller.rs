//! Parts of powers for smaller circuits.

use super::prepare::with_powers;
use crate::CeremonyError;
use proofmill_circom::{CircomCurve, Ptau, PtauHeader, PtauPoints};
use proofmill_files::Target;
use std::ops::Range;

/// The powers for which `snarkjs powersoftau truncate` writes files: 1 to one less than the file's.
pub fn truncated_powers<C: CircomCurve>(powers: &Ptau<C>) -> Range<u32> {
    1..powers.header().power
}

/// Writes the part of prepared powers that circuits of up to `2^power` rows need, with all contributions.
///
/// # Errors
/// [`CeremonyError::File`], [`CeremonyError::Unprepared`].
///
/// # Panics
/// If `power` is not one of [`truncated_powers`].
pub fn truncate<'a, C: CircomCurve>(
    powers: &Ptau<C>,
    power: u32,
    target: impl Into<Target<'a>>,
) -> Result<(), CeremonyError> {
    assert!(truncated_powers(powers).contains(&power), "a power below the file's");
    powers.expect_complete()?;
    if !powers.is_prepared() {
        return Err(CeremonyError::Unprepared);
    }
    let header = PtauHeader { power, ..*powers.header() };
    let mut file = with_powers(target.into(), powers, &header)?;
    for points in PtauPoints::PREPARED {
        file.copy(powers, points, power)?;
    }
    Ok(file.finish()?)
}
