//! The rows of an R1CS hold exactly for its witnesses, in every arithmetisation.

use crate::fixtures::{r1cs, toy_witness};
use proofmill_circom::{R1cs, R1csHeader, SparseMatrix};
use proofmill_field::{Field, Invert, bn254::Fr};
use proofmill_plonk::{Arithmetisation, Derivations, Layout, PlonkError, check_layout, r1cs::layout};
use proptest::prelude::*;
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};

type Terms = Vec<(u32, Fr)>;

/// A random circuit, in which every constraint may add a signal, and its witness.
struct Random {
    rng: ChaCha20Rng,
    longest: u32,
    witness: Vec<Fr>,
    constraints: Vec<[Terms; 3]>,
}

impl Random {
    fn new(seed: u64, longest: u32) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let witness = [Fr::ONE].into_iter().chain((0..6).map(|_| Fr::random(&mut rng))).collect();
        Self { rng, longest, witness, constraints: Vec::new() }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.rng.next_u32() % bound
    }

    /// A random coefficient, often zero, one or minus one.
    fn coefficient(&mut self) -> Fr {
        match self.below(6) {
            0 => Fr::ZERO,
            1 | 2 => Fr::ONE,
            3 => -Fr::ONE,
            _ => Fr::random(&mut self.rng),
        }
    }

    /// Random distinct signals in any order: often one, often only the constant, sometimes an earlier
    /// combination.
    fn combination(&mut self) -> Terms {
        if self.below(4) == 0
            && let Some(constraint) = self.constraints.last()
        {
            return constraint[0].clone();
        }
        let length = match self.below(5) {
            0 => 0,
            1 => 1,
            _ => self.below(self.longest),
        };
        let mut terms = Terms::new();
        for _ in 0..length {
            let signal = self.below(self.witness.len() as u32);
            if terms.iter().all(|(each, _)| *each != signal) {
                terms.push((signal, self.coefficient()));
            }
        }
        terms
    }

    fn value(&self, terms: &Terms) -> Fr {
        terms.iter().fold(Fr::ZERO, |sum, (signal, factor)| sum + *factor * self.witness[*signal as usize])
    }

    /// Adds a constraint that a new signal satisfies, or one without terms.
    fn constrain(&mut self) {
        let [a, b, mut c] = std::array::from_fn(|_| self.combination());
        if a.len() + b.len() + c.len() > 0 {
            let factor = if self.below(2) == 0 { Fr::ONE } else { Fr::from(3) };
            let rest = self.value(&a) * self.value(&b) - self.value(&c);
            let place = self.below(c.len() as u32 + 1) as usize;
            c.insert(place, (self.witness.len() as u32, factor));
            self.witness.push(rest * factor.invert_vartime().expect("not zero"));
        }
        self.constraints.push([a, b, c]);
    }

    fn circuit(&self) -> R1cs {
        let wires = self.witness.len() as u32;
        let matrix =
            |index: usize| SparseMatrix::from_rows(self.constraints.iter().map(|c| c[index].clone()));
        let header = R1csHeader {
            wires,
            outputs: 1,
            public_inputs: 2,
            private_inputs: 0,
            labels: u64::from(wires),
            constraints: self.constraints.len() as u32,
        };
        R1cs { header, a: matrix(0), b: matrix(1), c: matrix(2) }
    }
}

fn holds((layout, derivations): &(Layout, Derivations), witness: &[Fr]) -> bool {
    let values = derivations.assign(witness).expect("a witness of this circuit");
    assert_eq!(values.len(), layout.variables as usize);
    check_layout(layout, &values).is_ok()
}

/// Checks that rows are well formed and hold for the witness, and that they refuse another value of a signal
/// exactly if the constraints do.
fn agrees(circuit: &R1cs, witness: &[Fr], arithmetisation: Arithmetisation) {
    let made = layout(circuit, arithmetisation).expect("rows");
    let (rows, _) = &made;
    assert_eq!(rows.wires, arithmetisation.wires());
    assert_eq!(rows.gates, [arithmetisation.arithmetic()]);
    let lengths = rows.variables_of.iter().map(Vec::len).chain(rows.fixed.values().map(Vec::len));
    assert!(lengths.clone().all(|length| length <= rows.rows()), "{lengths:?}");
    let public = circuit.header.public();
    assert_eq!(rows.public, public);
    assert!((1..=public).eq(rows.variables_of[0][..public as usize].iter().copied()), "public inputs");

    assert_eq!(circuit.first_unsatisfied(witness), None);
    assert!(holds(&made, witness), "{arithmetisation}");
    for signal in 1..witness.len() {
        let mut changed = witness.to_vec();
        changed[signal] += Fr::ONE;
        let satisfied = circuit.first_unsatisfied(&changed).is_none();
        assert_eq!(holds(&made, &changed), satisfied, "{arithmetisation}, signal {signal}");
    }
}

proptest! {
    #[test]
    fn rows_hold_exactly_for_witnesses(seed: u64, constraints in 0..40_u32, longest in 1..24_u32) {
        let mut random = Random::new(seed, longest);
        (0..constraints).for_each(|_| random.constrain());
        for arithmetisation in Arithmetisation::ALL {
            agrees(&random.circuit(), &random.witness, arithmetisation);
        }
    }
}

#[test]
fn circuits_compiled_by_circom() {
    for arithmetisation in Arithmetisation::ALL {
        agrees(&r1cs("toy.circuit.r1cs"), &toy_witness(), arithmetisation);
        let odd = layout(&r1cs("odd.r1cs"), arithmetisation);
        assert!(odd.is_ok(), "{odd:?}");
    }
}

/// The number of rows for these constraints over many signals, none of them public.
fn rows(constraints: &[[&[u32]; 3]]) -> usize {
    let matrix = |index: usize| {
        let terms = |signals: &[u32]| signals.iter().map(|signal| (*signal, Fr::from(5))).collect::<Terms>();
        SparseMatrix::from_rows(constraints.iter().map(|constraint| terms(constraint[index])))
    };
    let header = R1csHeader {
        wires: 100,
        outputs: 0,
        public_inputs: 0,
        private_inputs: 99,
        labels: 100,
        constraints: constraints.len() as u32,
    };
    let circuit = R1cs { header, a: matrix(0), b: matrix(1), c: matrix(2) };
    layout(&circuit, Arithmetisation::Turbo).expect("rows").0.rows()
}

#[test]
fn wide_rows_are_filled() {
    let signals: Vec<u32> = (0..40).collect();
    let [one, two] = [&signals[1..2], &signals[2..3]];
    // Products: two terms in addition to those of the factors, and three on each further row.
    for (terms, expected) in [(0, 1), (3, 1), (5, 1), (6, 2), (8, 2), (9, 3)] {
        assert_eq!(rows(&[[one, two, &signals[..terms]]]), expected, "a product and {terms} terms");
    }
    // Sums: four terms, and the constant.
    for (terms, expected) in [(1, 1), (5, 1), (6, 2), (8, 2), (9, 3), (11, 3)] {
        assert_eq!(rows(&[[&[], &[], &signals[..terms]]]), expected, "{terms} terms");
    }
    // One excess term goes to a row with a free wire, before or after it in the circuit, but not to a full
    // row.
    let long: [&[u32]; 3] = [&[], &[], &signals[1..6]];
    assert_eq!(rows(&[long, [one, two, &signals[3..4]]]), 2);
    assert_eq!(rows(&[[one, two, &signals[3..4]], long]), 2);
    assert_eq!(rows(&[[one, two, &signals[3..5]], long]), 3);
    assert_eq!(
        rows(&[long, long, long]),
        5,
        "one borrows a wire from another, which then needs a second row"
    );
    // A sum that is a factor is computed once for all its multiples and constants.
    let [sum, shifted] = [&signals[3..6], &signals[4..7]];
    assert_eq!(rows(&[[sum, sum, one], [two, sum, one], [sum, shifted, one]]), 5);
}

#[test]
fn circuits_without_a_domain_are_refused() {
    for wires in [1 << 27, u32::MAX] {
        let header = R1csHeader {
            wires,
            outputs: wires - 1,
            public_inputs: 0,
            private_inputs: 0,
            labels: 0,
            constraints: 0,
        };
        let none = || SparseMatrix::from_rows(Vec::<Terms>::new());
        let circuit = R1cs { header, a: none(), b: none(), c: none() };
        for arithmetisation in Arithmetisation::ALL {
            let refused = layout(&circuit, arithmetisation);
            assert!(matches!(refused, Err(PlonkError::TooLarge)), "{arithmetisation} with {wires} wires");
        }
    }
}
