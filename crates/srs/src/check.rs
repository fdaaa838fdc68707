//! The check that all powers belong to one tau.

use crate::{Srs, SrsError};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, bn254::G2};
use proofmill_field::{Field, bn254::Fr};
use proofmill_pairing::pairing_product_is_one;
use proofmill_run::parallel;
use rand::{TryRngCore, rngs::OsRng};
use std::ops::Range;

/// Powers in one sum: the scratch memory of a sum of this size is all that the check needs.
const PIECE: usize = 1 << 20;

impl Srs {
    /// Checks the whole string: that each power in G1 is tau times the one before, and the checksums of Ignition's transcripts.
    /// Together with the checks on opening this proves that the string has one tau, which is not zero; it cannot prove that
    /// nobody knows tau. Reads all powers once. Runs on the ambient rayon pool.
    ///
    /// With points `P_i` and a random z, `e(sum of z^i P_(i+1), 1) = e(sum of z^i P_i, tau)` replaces n relations. The
    /// difference of the exponents is a polynomial in z of degree below n. It is zero if all relations hold; otherwise it
    /// vanishes at a random z with a probability below n/r. The two sums have all terms but their first and last in common,
    /// so the second one costs only one multiplication more.
    ///
    /// # Errors
    /// [`SrsError::Inconsistent`] names the first power that is not tau times the one before, or the file with a wrong
    /// checksum; other errors for a damaged file.
    pub fn check(&self, level: Level) -> Result<(), SrsError> {
        let results = parallel::map(self.transcripts(), |file| file.check_sum());
        results.into_iter().collect::<Result<(), _>>()?;
        OsRng.try_next_u64().map_err(|error| SrsError::Randomness(error.to_string()))?;
        let relations = 0..self.len() - 1;
        let Some(before) = first_broken(relations, |range| self.relations_hold(level, range))? else {
            return Ok(());
        };
        let power = before + 1;
        let problem = format!("power {power} of tau in G1 is not tau times power {before}");
        Err(SrsError::inconsistent(self.name(), problem))
    }

    /// Whether power i + 1 is tau times power i for all i in a range.
    fn relations_hold(&self, level: Level, range: Range<usize>) -> Result<bool, SrsError> {
        let z = Fr::random(&mut OsRng.unwrap_err());
        // The powers from `range.start` to `range.end`, inclusive, times the powers of z from 1 on.
        let (mut sum, mut next, mut last) = (Jacobian::INFINITY, Fr::ONE, Fr::ONE);
        for start in (range.start..=range.end).step_by(PIECE) {
            let mut scalars = Vec::new();
            while scalars.len() < PIECE.min(range.end + 1 - start) {
                scalars.push(next);
                (last, next) = (next, next * z);
            }
            sum = sum.add(&self.msm(level, start, &scalars)?);
        }
        let first = self.power(level, range.start)?;
        let [before, after] = sides(&sum, &first, (&self.power(level, range.end)?, &last), &z);
        Ok(pairing_product_is_one(level, &[(after, G2::GENERATOR), (-before, *self.tau_g2())]))
    }
}

/// From the sum of `z^i P_i` for i from 0 to n, `P_0`, `P_n` and `z^n`: z times the sum of all but the last term, and the sum of all but the
/// first. For powers of tau the second is tau times the first; for other points, only with negligible probability.
pub fn sides<C: Curve>(
    sum: &Jacobian<C>,
    first: &Affine<C>,
    (last, power): (&Affine<C>, &C::Scalar),
    z: &C::Scalar,
) -> [Affine<C>; 2] {
    let before = sum.add(&-last.mul_vartime(power)).to_affine().mul_vartime(z).to_affine();
    [before, sum.add_affine(&-*first).to_affine()]
}

/// The first relation that does not hold, found by halves. `hold` says whether all relations of a range hold.
///
/// # Errors
/// The errors of `hold`.
pub fn first_broken<E>(
    relations: Range<usize>,
    mut hold: impl FnMut(Range<usize>) -> Result<bool, E>,
) -> Result<Option<usize>, E> {
    let mut broken = relations;
    if hold(broken.clone())? {
        return Ok(None);
    }
    while broken.len() > 1 {
        let half = broken.start + broken.len() / 2;
        broken = if hold(broken.start..half)? { half..broken.end } else { broken.start..half };
    }
    Ok(Some(broken.start))
}
