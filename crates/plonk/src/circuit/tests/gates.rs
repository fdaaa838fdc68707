//! Violates each constraint of the gates for ranges and words separately.

use super::*;
use proofmill_field::{Algebra, Invert};

fn signed(value: i64) -> Fr {
    let magnitude = Fr::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

/// Two rows; the first has a gate.
fn two_rows(gate: Gate, here: [Fr; 4], next: [Fr; 4], data: Fr) -> Circuit {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let [here, next] = [here, next].map(|row| row.map(|value| circuit.witness(value)));
    circuit.row(here, &[(Column::Selector(Selector::Gate(gate)), Fr::ONE), (Column::Data(0), data)]);
    circuit.row(next, &[]);
    circuit
}

fn range_row(start: i64, digits: [i64; 4]) -> Circuit {
    let mut accumulators = [start; 5];
    for (i, digit) in digits.into_iter().enumerate() {
        accumulators[i + 1] = 4 * accumulators[i] + digit;
    }
    let [a0, a1, a2, a3, a4] = accumulators.map(signed);
    two_rows(Gate::Range, [a3, a2, a1, a0], [Fr::ZERO, Fr::ZERO, Fr::ZERO, a4], Fr::ZERO)
}

#[test]
fn each_digit_of_a_range_is_constrained() {
    for start in [0, 77] {
        for digit in 0..4 {
            range_row(start, [digit, 3 - digit, digit ^ 1, digit ^ 2]).check().expect("digits of two bits");
        }
        for (constraint, wrong) in (0..4).flat_map(|digit| [4, -1, 5, 1 << 20].map(|wrong| (digit, wrong))) {
            let mut digits = [1, 2, 3, 0];
            digits[constraint] = wrong;
            let broken = the_broken_constraint(&range_row(start, digits));
            assert_eq!(broken, (0, Gate::Range, constraint), "digit {wrong}");
        }
    }
}

/// AND by its polynomial, for any s and w.
fn and(s: Fr, w: Fr) -> Fr {
    let [c83, c81, c45, c18, c4, c6] = [83, 81, 45, 18, 4, 6].map(Fr::from);
    let six_times = w * (c83 - c81 * s + c45 * w + c18 * s * s - c18 * s * w + c4 * w * w);
    six_times * c6.invert_vartime().expect("not zero")
}

/// Rows with the digits x and y, the product w and the result z, after accumulators.
fn logic_row([x, y, w, z]: [Fr; 4], exclusive: bool) -> Circuit {
    let here = [5, 9, 0, 11].map(Fr::from);
    let take = |accumulator: u64, digit| Fr::from(4 * accumulator) + digit;
    let here = [here[0], here[1], w, here[3]];
    two_rows(
        Gate::Logic,
        here,
        [take(5, x), take(9, y), Fr::ZERO, take(11, z)],
        Fr::from(u64::from(exclusive)),
    )
}

#[test]
fn digits_of_words_are_those_of_integers() {
    for (x, y) in (0..4u64).flat_map(|x| (0..4).map(move |y| (x, y))) {
        for (exclusive, right) in [(false, x & y), (true, x ^ y)] {
            for z in 0..4 {
                let circuit = logic_row([x, y, x * y, z].map(Fr::from), exclusive);
                if z == right {
                    circuit.check().expect("the operation's result");
                } else {
                    assert_eq!(
                        the_broken_constraint(&circuit),
                        (0, Gate::Logic, 3),
                        "{x} {y} {z} {exclusive}"
                    );
                }
            }
        }
    }
}

#[test]
fn each_constraint_of_words_is_needed() {
    for exclusive in [false, true] {
        let result = |s: Fr, w: Fr| if exclusive { s - and(s, w).double() } else { and(s, w) };
        let row = |x: Fr, y: Fr, w: Fr| logic_row([x, y, w, result(x + y, w)], exclusive);
        for (wrong, right) in
            [4, -1, 7, 1 << 30].into_iter().flat_map(|wrong| (0..4).map(move |y| (wrong, y)))
        {
            let (wrong, right) = (signed(wrong), signed(right));
            assert_eq!(the_broken_constraint(&row(wrong, right, wrong * right)), (0, Gate::Logic, 0));
            assert_eq!(the_broken_constraint(&row(right, wrong, wrong * right)), (0, Gate::Logic, 1));
        }
        for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (signed(x), signed(y)))) {
            assert_eq!(the_broken_constraint(&row(x, y, x * y + Fr::ONE)), (0, Gate::Logic, 2));
        }
    }
}

#[test]
fn the_top_digit_of_an_odd_width_is_one_bit() {
    // Three bits have two digits. The gates alone would accept 2 * 4 + 3 as a number of three bits.
    let three_bits = |program: &dyn Fn(&mut Circuit, Variable, Variable)| {
        satisfied(Arithmetisation::Turbo, |circuit| {
            let [three, zero] = [3, 0].map(|value| circuit.witness(Fr::from(value)));
            program(circuit, three, zero);
        })
    };
    let circuit = three_bits(&|circuit, three, _| circuit.range(three, 3));
    let layout = circuit.layout();
    let (top, whole) = (layout.variables_of[0][0] as usize, layout.variables_of[3][1] as usize);
    let mut values = circuit.values().to_vec();
    (values[top], values[whole]) = (Fr::from(2), Fr::from(11));
    let broken = all_unsatisfied(&layout, &values);
    assert!(
        matches!(broken[..], [Unsatisfied::Gate { row: 1, gate: Gate::WideArithmetic, .. }]),
        "{broken:?}"
    );
    // The same for a word: rows of (a, b, product, a AND b), the second with the top digits.
    let circuit = three_bits(&|circuit, three, zero| _ = circuit.and(three, zero, 3));
    let layout = circuit.layout();
    for word in [0, 1] {
        let (top, whole) = (layout.variables_of[word][1] as usize, layout.variables_of[word][2] as usize);
        let mut values = circuit.values().to_vec();
        let low = values[whole];
        (values[top], values[whole]) = (Fr::from(2), Fr::from(8) + low);
        let broken = all_unsatisfied(&layout, &values);
        assert!(
            matches!(broken[..], [Unsatisfied::Gate { row: 3 | 4, gate: Gate::WideArithmetic, .. }]),
            "{broken:?}"
        );
    }
}

#[test]
fn every_wire_of_sums_is_constrained() {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        let wires = usize::from(arithmetisation.wires());
        let mut row = [Variable::NONE; 4];
        row[..wires].fill_with(|| circuit.witness(Fr::from(3)));
        let next = circuit.witness(Fr::from(3));
        let mut fixed = vec![(Column::Selector(Selector::Product), Fr::from(2))];
        fixed.extend((0..wires as u8).map(|wire| (Column::Selector(Selector::Wire(wire)), Fr::from(5))));
        let mut sum = 2 * 9 + 15 * wires as u64;
        if wires == 4 {
            fixed.push((Column::Selector(Selector::Next), Fr::from(7)));
            sum += 21;
        }
        fixed.push((Column::Selector(Selector::Constant), -Fr::from(sum)));
        circuit.row(row, &fixed);
        circuit
            .row(if wires == 4 { [Variable::NONE, Variable::NONE, Variable::NONE, next] } else { row }, &[]);
        circuit.check().expect("zero");
        let layout = circuit.layout();
        for variable in 1..=wires + usize::from(wires == 4) {
            let mut values = circuit.values().to_vec();
            values[variable] += Fr::ONE;
            let Err(Unsatisfied::Gate { row: 0, gate, constraint: 0, .. }) = check_layout(&layout, &values)
            else {
                panic!("{arithmetisation}: variable {variable}")
            };
            assert_eq!(gate, arithmetisation.arithmetic());
        }
    }
}
