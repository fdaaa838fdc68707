//! A small version of `examples/membership.circom`, built in Rust and compiled by circom.

use num_bigint::BigUint;
use proofmill_circom::{R1cs, read_public, read_witness};
use proofmill_cpu::Level;
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, Circuit, Derivations, FixedColumns, Layout, Memory, ProveOptions, Variable, VerifyError,
    check_layout, prove, r1cs, verify,
};
use proofmill_run::Run;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

const ROUNDS: usize = 8;

fn example(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../examples/membership-small", name].iter().collect()
}

fn number(text: &str) -> Fr {
    text.parse().expect("an element")
}

/// SHA-256 of a name and the number of the round, modulo r.
fn round_constant(round: usize) -> Fr {
    let digest = Sha256::digest(format!("proofmill membership {round}"));
    let order = BigUint::parse_bytes(
        b"21888242871839275222246405745257275088548364400416034343698204186575808495617",
        10,
    );
    number(&(BigUint::from_bytes_be(&digest) % order.expect("a number")).to_string())
}

/// `E_left(right) + left + right`. A round of E adds the key and a constant and computes x^7.
fn compress(circuit: &mut Circuit, [left, right]: [Variable; 2]) -> Variable {
    circuit.gadget("compress", |circuit| {
        let mut state = right;
        for round in 0..ROUNDS {
            let keyed = circuit.linear(&[(state, Fr::ONE), (left, Fr::ONE)], round_constant(round));
            let square = circuit.mul(keyed, keyed);
            let fourth = circuit.mul(square, square);
            let sixth = circuit.mul(fourth, square);
            state = circuit.mul(sixth, keyed);
        }
        circuit.linear(&[(state, Fr::ONE), (left, Fr::ONE.double()), (right, Fr::ONE)], Fr::ZERO)
    })
}

/// The example's circuit and its input; in the witness the input comes after the constant and the outputs.
fn membership(circuit: &mut Circuit, witness: &[Fr]) {
    let [_, _, _, scope, secret, first, second, first_is_right, second_is_right, ..] = *witness else {
        panic!("expected a witness, found {} values", witness.len());
    };
    let [secret, scope] = [secret, scope].map(|value| circuit.witness(value));
    let path = [(first, first_is_right), (second, second_is_right)]
        .map(|(sibling, is_right)| (circuit.witness(sibling), circuit.boolean(is_right == Fr::ONE)));
    let zero = circuit.zero();
    let leaf = compress(circuit, [secret, zero]);
    let root = circuit.merkle_root(leaf, &path, compress);
    let nullifier = compress(circuit, [secret, scope]);
    for variable in [root, nullifier, scope] {
        circuit.publish(variable);
    }
}

/// The public values of a proof that verifies.
fn proven(layout: Layout, values: &[Fr]) -> Vec<Fr> {
    let columns = FixedColumns::new(Run { memory: Some(Memory::Balanced), ..Level::best().into() }, layout)
        .expect("columns");
    let key = columns.commit(Level::best().into(), crate::fixtures::proven::SRS.clone()).expect("a key");
    let (proof, public) =
        prove(Level::best().into(), &key, values, ProveOptions::default()).expect("a proof");
    assert_eq!(verify(Level::best(), key.verifying_key(), &public, &proof), Ok(()));
    let mut other = public.clone();
    other[0] += Fr::ONE;
    assert_eq!(verify(Level::best(), key.verifying_key(), &other, &proof), Err(VerifyError::Rejected));
    public
}

#[test]
fn builder_and_r1cs_give_the_public_outputs_of_circom() {
    let expected = read_public(&example("public.json")).expect("public signals");
    let witness = read_witness(&example("witness.wtns"), Level::best()).expect("a witness");
    let constraints = R1cs::open(&example("circuit.r1cs")).expect("a circuit");
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        membership(&mut circuit, &witness);
        circuit.check().unwrap_or_else(|unsatisfied| panic!("{arithmetisation}: {unsatisfied}"));
        assert_eq!(circuit.public_values(), expected, "{arithmetisation}");
        let (layout, values) = circuit.into_layout();
        assert_eq!(proven(layout, &values), expected, "{arithmetisation}");

        let (layout, derivations): (Layout, Derivations) =
            r1cs::layout(&constraints, arithmetisation).expect("rows");
        let values = derivations.assign(&witness).expect("values");
        assert_eq!(check_layout(&layout, &values), Ok(()), "{arithmetisation}");
        assert_eq!(proven(layout, &values), expected, "{arithmetisation}");
    }
}
