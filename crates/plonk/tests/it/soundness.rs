//! Forgeries: each constraint violated separately, and each value that a proof binds changed separately.

use crate::fixtures::proven::{PROVEN, attempt, key, points_of, systems};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, bn254::G1};
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, Cells, Circuit, Column, Gate, Layout, LookupArgument, MalformedError, PlonkError, Proof,
    Selector, Unsatisfied, Variable, VerifyError, VerifyingKey, check_layout, verify,
};
use std::sync::Arc;

/// The wires of a row, the wires of the next, and the data; and the selectors of the gate.
#[derive(Clone, Debug)]
struct Rows([[Fr; 4]; 3], Vec<Fr>);

impl Cells<Fr> for Rows {
    fn here(&self, column: Column) -> Fr {
        match column {
            Column::Wire(wire) => self.0[0][wire as usize],
            Column::Data(index) => self.0[2][index as usize],
            _ => panic!("gates read wires and data, not {column}"),
        }
    }

    fn after(&self, column: Column) -> Fr {
        let Column::Wire(wire) = column else { panic!("gates read the next row's wires, not its {column}") };
        self.0[1][wire as usize]
    }
}

impl Rows {
    /// The values of the constraints, zero where they hold.
    fn residues(&self, gate: Gate) -> Vec<Fr> {
        let mut sums = vec![Fr::ZERO; gate.constraints()];
        gate.terms(self, &gate.constants(), &mut |constraint, selector: usize, term: Fr| {
            sums[constraint] += self.1[selector] * term;
        });
        sums
    }

    /// Sets a cell, in which the constraint is affine, such that the constraint has the value `residue`.
    fn solve(&mut self, gate: Gate, constraint: usize, [row, wire]: [usize; 2], residue: Fr) {
        let [at_zero, at_one] = [Fr::ZERO, Fr::ONE].map(|value| {
            self.0[row][wire] = value;
            self.residues(gate)[constraint]
        });
        let slope = (at_one - at_zero).invert_vartime().expect("the constraint depends on the cell");
        self.0[row][wire] = (residue - at_zero) * slope;
    }

    /// Rows that satisfy every constraint of a gate except `broken`.
    fn of(gate: Gate, broken: Option<usize>) -> Self {
        let is = |constraint| broken == Some(constraint);
        let wrong = |constraint| Fr::from(u64::from(is(constraint)));
        let digit = |constraint, right: u64| if is(constraint) { Fr::from(4) } else { Fr::from(right) };
        let four = |accumulator: Fr| accumulator.double().double();
        let cells = [[7, 11, 13, 17], [19, 23, 29, 31], [37, 41, 43, 47]];
        let mut rows = Self(cells.map(|row| row.map(Fr::from)), vec![Fr::ONE; gate.selectors().len()]);
        // Constraints and the cells that determine them, in an order in which later cells do not affect
        // earlier constraints.
        let solved: &[(usize, [usize; 2])] = match gate {
            Gate::Arithmetic => &[(0, [0, 2])],
            Gate::WideArithmetic => &[(0, [1, 3])],
            Gate::Range => {
                let a1 = four(rows.0[0][3]) + digit(0, 1);
                let a2 = four(a1) + digit(1, 2);
                let a3 = four(a2) + digit(2, 3);
                [rows.0[0][2], rows.0[0][1], rows.0[0][0]] = [a1, a2, a3];
                rows.0[1][3] = four(a3) + digit(3, 0);
                &[]
            }
            Gate::Logic => {
                let [x, y] = [digit(0, 3), digit(1, 2)];
                rows.0[1][0] = four(rows.0[0][0]) + x;
                rows.0[1][1] = four(rows.0[0][1]) + y;
                rows.0[2][0] = Fr::ONE;
                &[(2, [0, 2]), (3, [1, 3])]
            }
            Gate::FixedBase => {
                rows.solve(gate, 3, [1, 1], wrong(3));
                // The last coefficient of each equation is its constant.
                for (constraint, residue) in rows.residues(gate)[..3].iter().enumerate() {
                    rows.1[4 * constraint + 4] += wrong(constraint) - *residue;
                }
                &[]
            }
            Gate::EccAdd => &[(0, [1, 2]), (1, [1, 0]), (2, [1, 1])],
            Gate::EccDouble => &[(0, [1, 0]), (1, [1, 1])],
            Gate::Chord => &[(0, [1, 2])],
            Gate::AnyOf => {
                rows.0[0][3] = rows.0[2][1] - rows.0[0][1] + wrong(0);
                &[]
            }
            Gate::PoseidonFull => &[(0, [1, 0]), (1, [1, 1]), (2, [1, 2])],
            Gate::PoseidonEnter | Gate::PoseidonPartial | Gate::PoseidonLeave => {
                &[(0, [0, 3]), (1, [1, 0]), (2, [1, 1]), (3, [1, 2])]
            }
        };
        for &(constraint, cell) in solved {
            rows.solve(gate, constraint, cell, wrong(constraint));
        }
        let failing: Vec<usize> = rows
            .residues(gate)
            .iter()
            .enumerate()
            .filter(|(_, sum)| !sum.is_zero())
            .map(|(k, _)| k)
            .collect();
        assert_eq!(failing, Vec::from_iter(broken), "{gate:?}");
        rows
    }

    /// A circuit of these rows.
    fn circuit(&self, gate: Gate) -> Circuit {
        let standard = gate == Gate::Arithmetic;
        let mut circuit =
            Circuit::new(if standard { Arithmetisation::Standard } else { Arithmetisation::Turbo });
        let [here, next] = [0, 1].map(|row| {
            let mut wires = self.0[row].map(|value| circuit.witness(value));
            if standard {
                wires[3] = Variable::NONE;
            }
            wires
        });
        let selectors = gate.selectors().iter().map(|selector| Column::Selector(*selector));
        let mut fixed: Vec<(Column, Fr)> = selectors.zip(self.1.iter().copied()).collect();
        if !standard {
            fixed.extend((0..).map(Column::Data).zip(self.0[2]));
        }
        circuit.row(here, &fixed);
        circuit.row(next, &[]);
        circuit
    }
}

#[test]
fn no_proof_is_made_with_one_constraint_broken() {
    for gate in Gate::ALL.iter().copied() {
        let honest = Rows::of(gate, None).circuit(gate);
        let (proof, _) = attempt(&key(&honest.layout()), honest.values(), false);
        assert!(proof.is_ok(), "{gate:?}: {proof:?}");
        for constraint in 0..gate.constraints() {
            let circuit = Rows::of(gate, Some(constraint)).circuit(gate);
            let layout = circuit.layout();
            let key = key(&layout);
            let broken = check_layout(&layout, circuit.values()).expect_err("unsatisfied");
            assert!(
                matches!(broken, Unsatisfied::Gate { row: 0, gate: found, constraint: number, ref cells, .. }
                    if found == gate && number == constraint && !cells.is_empty()),
                "{gate:?} {constraint}: {broken}"
            );
            let (checked, _) = attempt(&key, circuit.values(), true);
            let Err(PlonkError::Unsatisfied(found)) = checked else { panic!("{gate:?} {constraint}") };
            assert_eq!(found, broken, "the prover reports the same violation as the checker");
            let (forced, phase) = attempt(&key, circuit.values(), false);
            assert!(matches!(forced, Err(PlonkError::NotProven)), "{gate:?} {constraint}: {forced:?}");
            assert_eq!(phase, "verify", "the verifier refuses: {gate:?} {constraint}");
        }
    }
}

#[test]
fn public_inputs_are_bound() {
    for proven in PROVEN.iter() {
        for index in 0..proven.public.len() {
            for change in [Fr::ONE, -Fr::ONE] {
                proven.rejects("public input", |_, public, _| public[index] += change);
            }
        }
        proven.rejects("inputs swapped", |_, public, _| public.swap(0, 1));
        assert!(proven.after(|_, public, _| public.push(Fr::ZERO)).is_err());
        assert!(proven.after(|_, public, _| public.clear()).is_err());
    }
}

#[test]
fn the_key_is_bound() {
    for proven in PROVEN.iter() {
        for index in 0..proven.key.fixed.len() {
            for other in [proven.proof.opening, Affine::INFINITY, -proven.key.fixed[index]] {
                if other == proven.key.fixed[index] {
                    continue;
                }
                proven.rejects("column", |key, _, _| key.fixed[index] = other);
            }
        }
        for wire in 0..usize::from(proven.key.system.wires()) {
            proven.rejects("multiplier", |key, _, _| key.multipliers[wire] += Fr::from(6));
        }
        proven.rejects("larger domain", |key, _, _| key.log_n += 1);
        proven.rejects("smaller domain", |key, _, _| key.log_n -= 1);
        proven.rejects("reference string", |key, _, _| key.tau = -key.tau);
        let another = |key: &mut VerifyingKey, public: &mut Vec<Fr>, _: &mut Proof| {
            key.public += 1;
            public.push(Fr::ZERO);
        };
        assert_ne!(proven.key.digest(), {
            let mut key = proven.key.clone();
            another(&mut key, &mut Vec::new(), &mut proven.proof.clone());
            key.digest()
        });
        proven.rejects("one more public input", another);
    }
}

#[test]
fn unsound_keys_are_malformed() {
    for proven in PROVEN.iter() {
        let refused = proven.after(|key, _, _| key.tau = Affine::INFINITY);
        assert_eq!(refused, Err(MalformedError::NoSecret.into()), "{}", proven.name);
        let wires = usize::from(proven.key.system.wires());
        let root = Fr::root_of_unity(proven.key.log_n).expect("a domain");
        for (left, right) in (0..wires).flat_map(|left| (left + 1..wires).map(move |right| (left, right))) {
            for factor in [Fr::ONE, -Fr::ONE, root, root.square()] {
                let refused =
                    proven.after(|key, _, _| key.multipliers[right] = key.multipliers[left] * factor);
                let expected = MalformedError::Multipliers { wires: (left, right) };
                assert_eq!(refused, Err(expected.into()), "{}", proven.name);
            }
        }
        for wire in 0..wires {
            let refused = proven.after(|key, _, _| key.multipliers[wire] = Fr::ZERO);
            assert_eq!(
                refused,
                Err(MalformedError::Multipliers { wires: (wire, wire) }.into()),
                "{}",
                proven.name
            );
        }
    }
    let error = MalformedError::Multipliers { wires: (0, 2) }.to_string();
    assert_eq!(error, "verification key: the multipliers of wires 1 and 3 put them on one coset");
}

#[test]
fn a_key_of_another_system_is_refused() {
    for (at, proven) in PROVEN.iter().enumerate() {
        for other in PROVEN.iter().skip(at + 1) {
            assert_ne!(proven.key.digest(), other.key.digest());
            let result = proven.after(|key, _, _| *key = other.key.clone());
            assert_ne!(result, Ok(()), "{} for {}", proven.name, other.name);
            let result = other.after(|key, _, _| *key = proven.key.clone());
            assert_ne!(result, Ok(()), "{} for {}", other.name, proven.name);
            // The constraints of the other system with the commitments of this circuit.
            let result = proven.after(|key, _, _| key.system = other.key.system.clone());
            assert_ne!(result, Ok(()), "{} for {}", proven.name, other.name);
        }
    }
}

#[test]
fn every_point_is_bound() {
    for proven in PROVEN.iter() {
        let count = proven.proof.points().len();
        for index in 0..count {
            for choice in 0..4 {
                proven.rejects("point", |_, _, proof| {
                    let point = &mut *points_of(proof)[index];
                    let more = point.mul_words_vartime(&[2]).to_affine();
                    *point = [-*point, Affine::INFINITY, G1::GENERATOR, more][choice];
                });
            }
        }
        for (left, right) in (0..count).flat_map(|left| (0..left).map(move |right| (left, right))) {
            let points = proven.proof.points();
            assert_ne!(points[left], points[right], "{}", proven.name);
            proven.rejects("points swapped", |_, _, proof| {
                let mut places = points_of(proof);
                (*places[left], *places[right]) = (points[right], points[left]);
            });
        }
    }
}

#[test]
fn every_value_is_bound() {
    for proven in PROVEN.iter() {
        let count = proven.proof.evaluations.len();
        for index in 0..count {
            for change in [Fr::ONE, -Fr::ONE, -proven.proof.evaluations[index]] {
                if !change.is_zero() {
                    proven.rejects("value", |_, _, proof| proof.evaluations[index] += change);
                }
            }
            // One bit of each byte.
            for byte in 0..32 {
                let mut bytes = proven.proof.evaluations[index].to_bytes_le();
                bytes[byte] ^= 1 << (byte % 8);
                if let Ok(changed) = Fr::from_bytes_le(&bytes) {
                    proven.rejects("byte of a value", |_, _, proof| proof.evaluations[index] = changed);
                }
            }
        }
        let values = &proven.proof.evaluations;
        for (left, right) in (0..count).flat_map(|left| (0..left).map(move |right| (left, right))) {
            if values[left] != values[right] {
                proven.rejects("values swapped", |_, _, proof| proof.evaluations.swap(left, right));
            }
        }
    }
}

#[test]
fn proofs_of_another_shape_are_malformed() {
    type Change = fn(&mut Proof);
    let changes: [Change; 10] = [
        |proof| _ = proof.evaluations.pop(),
        |proof| proof.evaluations.push(Fr::ZERO),
        |proof| proof.evaluations.clear(),
        |proof| _ = proof.quotient.pop(),
        |proof| proof.quotient.push(Affine::INFINITY),
        |proof| _ = proof.commitments[0].pop(),
        |proof| proof.commitments[1].push(Affine::INFINITY),
        |proof| _ = proof.commitments[2].pop(),
        // The same number of points, but in other rounds.
        |proof| {
            let point = proof.commitments[0].pop().expect("a wire");
            proof.commitments[1].push(point);
        },
        |proof| {
            let point = proof.quotient.pop().expect("a part");
            proof.commitments[2].push(point);
        },
    ];
    for proven in PROVEN.iter() {
        for (index, change) in changes.iter().enumerate() {
            let result = proven.after(|_, _, proof| change(proof));
            assert!(result.is_err(), "{}, change {index}: {result:?}", proven.name);
        }
    }
}

#[test]
fn an_all_zero_proof_is_rejected() {
    for proven in PROVEN.iter() {
        proven.rejects("infinity and zero", |_, _, proof| {
            points_of(proof).into_iter().for_each(|point| *point = Affine::INFINITY);
            proof.evaluations.fill(Fr::ZERO);
        });
        proven.rejects("infinity", |_, _, proof| {
            points_of(proof).into_iter().for_each(|point| *point = Affine::INFINITY);
        });
        proven.rejects("zero", |_, _, proof| proof.evaluations.fill(Fr::ZERO));
        proven.rejects("openings of nothing", |_, _, proof| {
            (proof.opening, proof.shifted_opening) = (Affine::INFINITY, Affine::INFINITY);
        });
    }
}

#[test]
fn two_proofs_share_no_point_and_no_value_of_the_witness() {
    for (proven, (name, layout, values)) in PROVEN.iter().zip(systems()) {
        let (another, _) = attempt(&key(&layout), &values, true).0.expect("a proof");
        for point in another.points() {
            assert!(!point.is_infinity() && !proven.proof.points().contains(&point), "{name}");
        }
        for (cell, value) in proven.key.system.opened().iter().zip(&another.evaluations) {
            // Values of the key's columns and of the tables differ only because xi does.
            if !cell.column.is_fixed() && cell.column != Column::Table {
                assert!(!proven.proof.evaluations.contains(value), "{name}: {cell:?}");
            }
        }
    }
}

/// Lookups of `values` in a table.
fn lookups(argument: LookupArgument, table: &[[u64; 3]], values: &[[u64; 3]]) -> (Layout, Vec<Fr>) {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let rows: Arc<[[Fr; 3]]> = table.iter().map(|row| row.map(Fr::from)).collect();
    let number = circuit.table("table", || rows);
    for tuple in values {
        let wires = tuple.map(|value| circuit.witness(Fr::from(value)));
        circuit.lookup(number, wires, [Fr::ZERO; 3]);
    }
    // Values that are not in the table, on a row without a lookup.
    let garbage = [991, 992, 993].map(|value| circuit.witness(Fr::from(value)));
    circuit.row([garbage[0], garbage[1], garbage[2], Variable::NONE], &[]);
    (Layout { lookup: Some(argument), ..circuit.layout() }, circuit.values().to_vec())
}

#[test]
fn tables_may_repeat_rows_be_large_or_be_empty() {
    let large: Vec<[u64; 3]> = (0..1000).map(|i| [i, i * i, 0]).collect();
    let repeated = [[1, 2, 3], [4, 5, 6], [1, 2, 3], [1, 2, 3]];
    for argument in LookupArgument::ALL {
        for (table, values) in [
            (&repeated[..], &[[1, 2, 3], [1, 2, 3], [4, 5, 6]][..]),
            (&large[..], &[[31, 961, 0], [999, 998_001, 0]]),
        ] {
            let (layout, values) = lookups(argument, table, values);
            let key = key(&layout);
            assert!(1 << key.verifying_key().log_n > table.len());
            let (proof, public) = attempt(&key, &values, true).0.expect("a proof");
            assert_eq!(verify(Level::best(), key.verifying_key(), &public, &proof), Ok(()), "{argument}");
        }
        for (table, wrong) in [
            (&repeated[..], [1, 2, 4]),
            (&repeated[..], [1, 5, 6]),
            (&repeated[..], [0, 0, 0]),
            (&large[..], [1000, 1_000_000, 0]),
            (&[], [0, 0, 0]),
            (&[], [1, 2, 3]),
        ] {
            let (layout, values) = lookups(argument, table, &[wrong]);
            for check_witness in [true, false] {
                let (refused, _) = attempt(&key(&layout), &values, check_witness);
                assert!(
                    matches!(refused, Err(PlonkError::Unsatisfied(Unsatisfied::Lookup { row: 0, .. }))),
                    "{argument}: {refused:?}"
                );
            }
        }
    }
}

#[test]
fn a_tuple_of_another_table_is_refused() {
    for argument in LookupArgument::ALL {
        let (mut layout, values) = lookups(argument, &[[1, 2, 3]], &[[1, 2, 3]]);
        assert!(attempt(&key(&layout), &values, true).0.is_ok());
        let numbers = layout.fixed.get_mut(&Column::Data(3)).expect("the tables' numbers");
        assert!(layout.variables_of[0].len() >= numbers.len() && numbers[0] == Fr::ONE);
        numbers[0] = Fr::from(2);
        let (refused, _) = attempt(&key(&layout), &values, false);
        assert!(
            matches!(refused, Err(PlonkError::Unsatisfied(Unsatisfied::Lookup { row: 0, .. }))),
            "{argument}: {refused:?}"
        );
    }
}

#[test]
fn a_proof_under_another_permutation_is_rejected() {
    // Two circuits of the same gates. In one of them the product is wired to another variable of the same
    // value.
    let circuit = |copied: bool| {
        let mut circuit = Circuit::new(Arithmetisation::Turbo);
        let [two, four, same, eight] = [2, 4, 4, 8].map(|value| circuit.witness(Fr::from(value)));
        let product =
            [(Column::Selector(Selector::Product), Fr::ONE), (Column::Selector(Selector::Wire(2)), -Fr::ONE)];
        circuit.row([two, two, four, Variable::NONE], &product);
        circuit.row([two, if copied { four } else { same }, eight, Variable::NONE], &product);
        circuit
    };
    let [bound, free] = [true, false].map(circuit);
    let [bound_key, free_key] = [&bound, &free].map(|circuit| key(&circuit.layout()));
    let (proof, public) = attempt(&free_key, free.values(), true).0.expect("a proof");
    assert_eq!(verify(Level::best(), free_key.verifying_key(), &public, &proof), Ok(()));
    assert_eq!(verify(Level::best(), bound_key.verifying_key(), &public, &proof), Err(VerifyError::Rejected));
}
