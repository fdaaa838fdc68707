//! Verifiers as Solidity contracts, one for each key.
//!
//! The formulas are those of the Rust verifier, recorded and printed as Yul, as PLONK's are
//! ([`crate::solidity`]). The proof's `inv` replaces the contract's only inversion: multiplied by factors of the
//! product that it inverts, it gives every inverse.
//!
//! A call is `verifyProof(bytes32[24] proof, uint256[M] public)`, as of snarkjs's contract: x and y of C1, C2, W1 and
//! W2 (infinity is two zeros), the 15 values, `inv`.

use super::{
    Proof, VerifyingKey,
    equation::{EquationInputs, Factors, KeyConstants, Vanishing, factors},
    insecurity,
    verify::check_key,
};
use crate::{
    MalformedError,
    solidity::{
        CalldataLayout, HashInput, InputWord, PointSource, Traced, VerifierFunction, compile, memory::*,
        record,
    },
};
use proofmill_curve::{Curve, bn254::G1};
use proofmill_field::{Algebra, bn254::Fr};

/// Challenges that only fflonk has.
const SEED: usize = 0x80;
const Y: usize = 0xe0;
/// The inverse of [`Vanishing::inverted`].
const INVERSE: usize = 0x100;
/// The [words](Vanishing::words) of a [`Vanishing`].
const VANISHING: usize = VALUES;
const VANISHING_WORDS: usize = 6;

/// Values of a proof, without the inverse.
const EVALUATIONS: usize = 15;

/// Indices of points.
const C1: usize = 0;
const C2: usize = 1;
const W1: usize = 2;
const W2: usize = 3;

/// The source of a contract `FflonkVerifier` that verifies proofs for this key.
///
/// Its `verifyProof` returns true if [`verify`](super::verify) accepts the proof, and false for rejected and
/// malformed proofs, including numbers that are not below their modulus.
///
/// # Errors
/// [`MalformedError`] for a key that no circuit has.
pub fn verifier(key: &VerifyingKey) -> Result<String, MalformedError> {
    check_key(key)?;
    let none = MalformedError::Key { log_n: key.power, public: key.public };
    Ok(source(key, &KeyConstants::new(key).ok_or(none)?))
}

/// A word of memory, in a formula.
fn in_memory(byte: usize) -> Traced {
    Traced::input(InputWord::Memory(byte))
}

/// A value of the proof, in a formula; the values are after the points.
fn in_proof(index: usize) -> Traced {
    Traced::input(InputWord::Calldata(CalldataLayout::point(W2 + 1) + 32 * index))
}

/// The formulas before the inverse is known: the words of the [`Vanishing`], the proof's inverse times what it inverts more than once, and
/// what is inverted.
fn inverted_values(constants: &KeyConstants<Fr>) -> Vec<Traced> {
    let constants = constants.map(Traced::constant);
    let domain = in_memory(XI_N) - Traced::one(());
    let vanishing = Vanishing::new(&constants, in_memory(XI), in_memory(Y), domain);
    let scaled_inverse = vanishing.repeated(&constants) * in_proof(EVALUATIONS);
    [&vanishing.words()[..], &[scaled_inverse, vanishing.inverted()]].concat()
}

/// The formulas with the inverse: the factors of C1, C2, the generator and W1.
fn factors_of_points(constants: &KeyConstants<Fr>) -> Vec<Traced> {
    let constants = constants.map(Traced::constant);
    let words = std::array::from_fn(|index| in_memory(VANISHING + 32 * index));
    let vanishing = Vanishing::of_words(in_memory(XI), in_memory(Y), words);
    let known = EquationInputs {
        beta: in_memory(BETA),
        gamma: in_memory(GAMMA),
        alpha: in_memory(ALPHA),
        inverse: in_memory(INVERSE),
        first_lagrange: in_memory(FIRST_LAGRANGE),
        public_input: in_memory(PUBLIC_INPUT),
    };
    let evaluations = std::array::from_fn(in_proof);
    let Factors { c1, c2, generator, w1 } = factors(&constants, &vanishing, &known, &evaluations);
    vec![c1, c2, generator, w1]
}

fn source(key: &VerifyingKey, constants: &KeyConstants<Fr>) -> String {
    let values = CalldataLayout::point(W2 + 1);
    let public = values + 32 * (EVALUATIONS + 1);
    let arguments = CalldataLayout { values, public, count: key.public as usize, log_n: key.power };
    let (roots, nodes) = record(|| inverted_values(constants));
    let before = compile(&nodes, &roots, VANISHING + 32 * VANISHING_WORDS);
    let (roots, nodes) = record(|| factors_of_points(constants));
    let after = compile(&nodes, &roots, before.end);

    let mut function = VerifierFunction::new(arguments);
    draw_challenges(&mut function, &arguments, key, after.end);
    let mut derived = before.statements;
    let (words, inverses) = before.roots.split_at(VANISHING_WORDS);
    let words = (VANISHING..).step_by(32).zip(words);
    derived.extend(words.map(|(byte, word)| format!("mstore({byte:#x}, {word})")));
    let invert = format!(
        "// The proof's inverse times what it inverts more than once, and then times xi, H_1, H_2 and Z_H.
        mstore({INVERSE:#x}, {})
        mstore({PAIRS:#x}, mulmod(mload({INVERSE:#x}), {}, r))
        valid := eq(mulmod(mload({PAIRS:#x}), product, r), 1)
        mstore({INVERSE:#x}, mulmod(mload({INVERSE:#x}), product, r))",
        inverses[0], inverses[1]
    );
    function.evaluate_public_inputs(after.end, derived, &invert);
    function.line("// The formulas of the circuit's constraints, at xi, and of the openings, at y.");
    after.statements.into_iter().for_each(|line| function.line(line));
    function.declare_sums();
    function.store(SUM, &key.c0.to_evm());
    let calldata = |index| PointSource::Calldata(CalldataLayout::point(index));
    let sources = [calldata(C1), calldata(C2), PointSource::Constant(G1::GENERATOR), calldata(W1)];
    for (source, factor) in sources.iter().zip(&after.roots) {
        function.add_point(source, factor);
    }
    function.add_point(&calldata(W2), &format!("mload({Y:#x})"));
    function.move_sum(PAIRS + 192);
    function.line(format!("calldatacopy({PAIRS:#x}, {:#x}, 0x40)", CalldataLayout::point(W2)));
    function.pair(key.x_2);
    function.source(
        "fflonk",
        "bytes32",
        vec![
            "The first argument is a proof: two words x, y for each of the points C1 C2 W1 W2, and then the values".to_owned(),
            "ql qr qm qo qc s1 s2 s3 a b c z at xi, z t1 t2 at xi omega, and inv.".to_owned(),
        ],
        insecurity(key),
    )
}

/// Draws the challenges, from the same bytes as in [`super::challenges`], and computes xi.
fn draw_challenges(
    function: &mut VerifierFunction,
    arguments: &CalldataLayout,
    key: &VerifyingKey,
    buffer: usize,
) {
    let point = |index| HashInput::Calldata { begin: CalldataLayout::point(index), length: 64 };
    let stored = HashInput::stored;
    let values = HashInput::Calldata { begin: arguments.values, length: 32 * EVALUATIONS };
    function.line("// The challenges.");
    let of_key = HashInput::constants([&key.c0]);
    function.challenge(buffer, BETA, of_key.into_iter().chain([arguments.public_inputs(), point(C1)]));
    function.challenge(buffer, GAMMA, [stored(BETA)]);
    function.challenge(buffer, SEED, [stored(GAMMA), point(C2)]);
    function.challenge(buffer, ALPHA, [stored(SEED), values]);
    function.challenge(buffer, Y, [stored(ALPHA), point(W1)]);
    function.text(&format!(
        "// xi is the seed's 24th power.
        {{
        let power := mload({SEED:#x})
        power := mulmod(power, mulmod(power, power, r), r)
        power := mulmod(power, power, r)
        power := mulmod(power, power, r)
        mstore({XI:#x}, mulmod(power, power, r))
        }}"
    ));
}

/// The arguments of `verifyProof` for a proof, as printed by snarkjs: `[0x…,0x…],[0x…]`, 64 digits each.
pub fn calldata(proof: &Proof, public: &[Fr]) -> String {
    let coordinates = proof.points.iter().flat_map(|point| [point.x.to_bytes_be(), point.y.to_bytes_be()]);
    let values = proof.evaluations.iter().chain([&proof.inverse]).map(|value| value.to_bytes_be());
    let list = |words: &mut dyn Iterator<Item = Vec<u8>>| {
        let words = words.map(|word| format!("0x{}", hex::encode(word)));
        format!("[{}]", words.collect::<Vec<_>>().join(","))
    };
    let public = list(&mut public.iter().map(|input| input.to_bytes_be()));
    format!("{},{public}", list(&mut coordinates.chain(values)))
}
