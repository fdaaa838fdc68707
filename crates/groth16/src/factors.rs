//! Factors of random combinations.

use crate::{Groth16Curve, Groth16Error};
use proofmill_field::Fp;
use rand::{RngCore, TryRngCore, rngs::OsRng};

/// Factors of 128 bits from the operating system.
pub(crate) fn random_factors<C: Groth16Curve>(count: usize) -> Result<Vec<C::Scalar>, Groth16Error> {
    OsRng.try_next_u64().map_err(|error| Groth16Error::Randomness(error.to_string()))?;
    let mut rng = OsRng.unwrap_err();
    // Numbers below 2^128 are below the modulus, so each pair of words is a canonical element.
    let factor =
        || Fp::<C::ScalarPrime>::from_canonical([rng.next_u64(), rng.next_u64(), 0, 0]).unwrap_or_default();
    Ok(std::iter::repeat_with(factor).take(count).collect())
}
