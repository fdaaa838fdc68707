//! Number-theoretic transforms over the scalar fields of BN254 and BLS12-381.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::{elements, logarithm},
};
use proofmill_field::{Fp, bls12_381, bn254};
use proofmill_ntt::{Domain, Transformed};

pub(crate) fn table() -> Vec<KernelEntry> {
    vec![forward::<bn254::FrParams>("bn254-fr"), forward::<bls12_381::FrParams>("bls12-381-fr")]
}

/// The domain, and the values that are transformed in place.
struct Transform<P: Transformed> {
    domain: Domain<P>,
    values: Vec<Fp<P>>,
}

fn forward<P: Transformed>(name: &str) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| logarithm(size, 1, 28).map(|_| elements::<P>(rng, size)),
        |coefficients, _| {
            let domain = Domain::new(coefficients.len().ilog2()).ok_or("beyond the field's two-adicity")?;
            Ok(Transform { domain, values: coefficients.clone() })
        },
        |_, Transform { domain, values }, level, _| {
            domain.ntt(level, values);
            Ok(())
        },
        |transform| encoded(&transform.values[..]),
    )
    .restarted(|coefficients, transform| transform.values.copy_from_slice(coefficients))
    .for_peers(|coefficients| encoded(&coefficients[..]))
    .entry(format!("ntt/{name}"), KernelLevels::PrimeFields)
}
