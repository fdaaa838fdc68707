//! Verifiers as Solidity contracts, one for each key, with the signature of snarkjs's: `verifyProof(uint256[2] a, uint256[2][2] b,
//! uint256[2] c, uint256[N] public)`, without the last argument for a key without public signals.
//!
//! The contract checks `e(A, B) e(-alpha, beta) e(IC, -gamma) e(C, -delta) = 1` in one call of the pairing contract (EIP-197).
//! IC is the sum of the key's points, each but the first times a public signal. The points of the key are stored with their
//! signs, so that the proof's points are passed on unchanged. The pairing contract refuses coordinates that are not below
//! their modulus, and points outside their groups. It then consumes the gas that the call left to it.

use crate::{Proof, VerifyingKey};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;
use proofmill_solidity::{ARGUMENTS, Body, MEMORY, Verifier, array, scalar_modulus, word};

/// Bytes of a pair in the input of the pairing contract: a point of G1 and one of G2.
const PAIR: usize = 192;
/// Bytes of an encoded point of G1.
const POINT: usize = 64;

/// The first byte of C in the arguments; A and B, the pair before it, come first.
const C: usize = ARGUMENTS + PAIR;
/// The first byte of the public signals in the arguments.
const PUBLIC: usize = C + POINT;

/// The pairs in memory: A and B; alpha and beta; IC and gamma; C and delta.
const PAIRS: [usize; 4] = [MEMORY, MEMORY + PAIR, MEMORY + 2 * PAIR, MEMORY + 3 * PAIR];

/// The source of a contract `Groth16Verifier` that verifies proofs for this key. Its first lines say `insecurity`, why anyone can forge
/// proofs for the key.
///
/// Its `verifyProof` returns true if [`verify`](crate::verify) accepts the proof, and false for rejected and malformed proofs,
/// including numbers that are not below their modulus. Points at infinity are judged by the equation.
pub fn verifier(key: &VerifyingKey, insecurity: Option<&str>) -> String {
    let public = key.ic.len().saturating_sub(1);
    let mut arguments = vec!["uint256[2]".to_owned(), "uint256[2][2]".to_owned(), "uint256[2]".to_owned()];
    let mut comment = vec![
        "The arguments are the points A, B and C of a proof in the encoding of EIP-197: in G2 the coefficient of u".to_owned(),
        "precedes that of 1.".to_owned(),
    ];
    if public > 0 {
        arguments.push(format!("uint256[{public}]"));
        comment.push("The last one is the public signals.".to_owned());
    }
    let (name, system) = ("Groth16Verifier", "Groth16");
    Verifier { name, system, insecurity, comment, arguments, body: body(key) }.source()
}

fn body(key: &VerifyingKey) -> Body {
    let [proof, alpha_beta, ic_gamma, c_delta] = PAIRS;
    let mut body = Body::default();
    body.line("valid := 1");
    add_public_signals(&mut body, &key.ic, ic_gamma);
    body.line("// The pairing: e(A, B) e(-alpha, beta) e(IC, -gamma) e(C, -delta) = 1.");
    body.line(format!("calldatacopy({proof:#x}, {ARGUMENTS:#x}, {PAIR:#x})"));
    // The signs are those of the stored points: A and B need no negation on chain.
    body.store(alpha_beta, &pair(-key.alpha_1, key.beta_2));
    body.store(ic_gamma + POINT, &(-key.gamma_2).to_evm());
    body.line(format!("calldatacopy({c_delta:#x}, {C:#x}, {POINT:#x})"));
    body.store(c_delta + POINT, &(-key.delta_2).to_evm());
    let length = PAIRS.len() * PAIR;
    // A failed call does not stop here: `valid` becomes 0, and the function returns false.
    body.line(format!("valid := and(staticcall(gas(), 8, {proof:#x}, {length:#x}, 0, 0x20), valid)"));
    body.line("valid := and(eq(mload(0), 1), valid)");
    body
}

/// Computes the sum of points at `sum`, where IC belongs in the pairing's input. The place of gamma after it holds one point and
/// its factor. A signal that is not below the modulus is refused: it would be another name of the same statement.
fn add_public_signals(body: &mut Body, ic: &[Affine<G1>], sum: usize) {
    let (point, factor) = (sum + POINT, sum + 2 * POINT);
    let Some((constant, points)) = ic.split_first() else { return };
    if !points.is_empty() {
        body.line(
            "// IC: points of the key, each but the first times a public signal, which is below the modulus.",
        );
        body.text(&format!(
            "function addMultiple(x, y, signal) -> ok {{
            mstore({point:#x}, x)
            mstore({:#x}, y)
            mstore({factor:#x}, signal)
            ok := staticcall(gas(), 7, {point:#x}, 0x60, {point:#x}, 0x40)
            ok := and(staticcall(gas(), 6, {sum:#x}, 0x80, {sum:#x}, 0x40), ok)
            ok := and(lt(signal, {}), ok)
            }}",
            point + 32,
            scalar_modulus()
        ));
    }
    body.store(sum, &constant.to_evm());
    for (index, point) in points.iter().enumerate() {
        let encoded = point.to_evm();
        let (x, y) = encoded.split_at(32);
        let signal = PUBLIC + 32 * index;
        body.line(format!(
            "valid := and(addMultiple({}, {}, calldataload({signal:#x})), valid)",
            word(x),
            word(y)
        ));
    }
}

fn pair(first: Affine<G1>, second: Affine<G2>) -> Vec<u8> {
    [&first.to_evm()[..], &second.to_evm()[..]].concat()
}

/// The arguments of `verifyProof` for a proof, as printed by snarkjs: `["0x…", "0x…"],[["0x…", "0x…"],["0x…", "0x…"]],["0x…",
/// "0x…"],["0x…","0x…"]`, 64 digits each.
pub fn calldata(proof: &Proof, public: &[Fr]) -> String {
    let coordinates = |words: &[u8]| array(words.chunks(32), ", ");
    let b = proof.b.to_evm();
    let (x, y) = b.split_at(64);
    let public = array(public.iter().map(|signal| signal.to_bytes_be()), ",");
    format!(
        "{},[{},{}],{},{public}",
        coordinates(&proof.a.to_evm()),
        coordinates(x),
        coordinates(y),
        coordinates(&proof.c.to_evm())
    )
}
