//! Grumpkin's gadgets are proven and verified in every arithmetisation.

use proofmill_cpu::Level;
use proofmill_curve::{Curve, grumpkin::Grumpkin};
use proofmill_field::{Field, bn254::Fr};
use proofmill_hash::pedersen::pedersen;
use proofmill_plonk::{
    Arithmetisation, Circuit, FixedColumns, Memory, Multiples, ProveOptions, VerifyError, prove, verify,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use std::sync::Arc;

/// A hash and both kinds of multiplication. They use every custom gate of the curve, and in ultra tables of
/// points.
fn circuit(arithmetisation: Arithmetisation) -> Circuit {
    let mut circuit = Circuit::new(arithmetisation);
    if arithmetisation == Arithmetisation::Ultra {
        circuit.set_window_bits(4);
        circuit.set_range_table_bits(8);
    }
    let inputs = [Fr::from(5), -Fr::ONE].map(|input| circuit.public_input(input));
    let hash = circuit.pedersen(inputs[0], inputs[1]);
    circuit.publish(hash);
    let generator = circuit.constant_point(Grumpkin::GENERATOR);
    let product = circuit.mul_point(hash, generator);
    let width = if arithmetisation == Arithmetisation::Ultra { 2 } else { 3 };
    let same = circuit.mul_fixed_point(hash, &Multiples::with_window_bits(Grumpkin::GENERATOR, width));
    circuit.assert_equal_points(product, same);
    circuit.check().unwrap_or_else(|unsatisfied| panic!("{arithmetisation}: {unsatisfied}"));
    circuit
}

#[test]
fn gadgets_are_proven() {
    let level = Level::best();
    let srs = Arc::new(Srs::insecure_from_known_tau(level, Fr::from(0x1234_5678_9abc), 1 << 15));
    for arithmetisation in Arithmetisation::ALL {
        let (layout, values) = circuit(arithmetisation).into_layout();
        let columns = FixedColumns::new(Run { memory: Some(Memory::Balanced), ..level.into() }, layout)
            .expect("columns");
        let key = columns.commit(level.into(), srs.clone()).expect("a key");
        let (proof, public) = prove(level.into(), &key, &values, ProveOptions::default())
            .unwrap_or_else(|error| panic!("{arithmetisation}: {error}"));
        assert_eq!(public, [Fr::from(5), -Fr::ONE, pedersen(Fr::from(5), -Fr::ONE)]);
        assert_eq!(verify(level, key.verifying_key(), &public, &proof), Ok(()), "{arithmetisation}");
        let mut other = public.clone();
        other[2] += Fr::ONE;
        assert_eq!(
            verify(level, key.verifying_key(), &other, &proof),
            Err(VerifyError::Rejected),
            "{arithmetisation}"
        );
    }
}
