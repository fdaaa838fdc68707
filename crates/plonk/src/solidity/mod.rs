//! Verifiers as Solidity contracts, one for each key.
//!
//! The constraints of a circuit are not written here: the formulas of its [`System`](crate::System) are
//! evaluated once, as in the Rust verifier, recorded, and printed as Yul. These modules add the rest: the
//! transcript, the polynomial of the public inputs, the sum of points and the pairing.
//!
//! A call is `verifyProof(uint256[N] proof, uint256[M] public)`. The proof's words are those of [`calldata`]:
//! x and y of each point in the order of [`Proof::points`] (infinity is two zeros), then the values of
//! [`System::opened`](crate::System::opened). For standard circuits this is snarkjs's order and signature.

mod contract;
mod function;
mod trace;
mod yul;

pub(crate) use function::{CalldataLayout, HashInput, PointSource, VerifierFunction, memory};
pub(crate) use trace::{InputWord, Traced, record};
pub(crate) use yul::compile;

use crate::{MalformedError, Proof, VerifyingKey};
use contract::Contract;
use proofmill_field::bn254::Fr;
use proofmill_solidity::array;

/// The source of a contract `PlonkVerifier` that verifies proofs for this key.
///
/// Its `verifyProof` returns true if [`verify`](crate::verify) accepts the proof, and false for rejected and
/// malformed proofs, including numbers that are not below their modulus.
///
/// # Errors
/// [`MalformedError`] for a key that no circuit has.
pub fn verifier(key: &VerifyingKey) -> Result<String, MalformedError> {
    key.check()?;
    Ok(Contract::new(key).source())
}

/// The arguments of `verifyProof` for a proof, as printed by snarkjs: `["0x…","0x…"]["0x…"]`, 64 digits each.
pub fn calldata(proof: &Proof, public: &[Fr]) -> String {
    let points = proof.points();
    let coordinates = points.iter().flat_map(|point| [point.x.to_bytes_be(), point.y.to_bytes_be()]);
    let words = coordinates.chain(proof.evaluations.iter().map(|value| value.to_bytes_be()));
    array(words, ",") + &array(public.iter().map(|input| input.to_bytes_be()), ",")
}
