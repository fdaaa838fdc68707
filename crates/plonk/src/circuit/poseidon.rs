//! Poseidon with circomlib's parameters.

use super::{Arithmetisation, Circuit, Variable};
use crate::{
    Column, Gate, Selector,
    arithmetisation::partial_rounds::{Affine, PartialRounds, fifth_power, multiplied},
};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_hash::{PoseidonBn254, poseidon_bn254::HALF_FULL_ROUNDS};

/// The number of rounds per row of partial rounds.
const ROUNDS_PER_ROW: usize = 4;

impl Circuit {
    /// The hash of 1 to 16 field elements, as circomlib's `Poseidon(n)`.
    ///
    /// Rows: two elements take 23 in turbo and ultra, with [gates](crate::arithmetisation::gates::PoseidonFull), and 510 in
    /// standard. Other numbers, and standard, have sums for a state of t elements: an S-box takes 3 rows. An element of the
    /// next state of a full round takes the rows of a [sum](Self::linear) of t terms, and a partial round those of a sum of
    /// `2 t - 1` terms.
    ///
    /// # Panics
    /// If there are no inputs, or more than 16.
    pub fn poseidon(&mut self, inputs: &[Variable]) -> Variable {
        assert!(
            (1..=16).contains(&inputs.len()),
            "expected 1 to 16 elements to hash, found {}",
            inputs.len()
        );
        self.gadget("poseidon", |circuit| match *inputs {
            [left, right] if circuit.arithmetisation() != Arithmetisation::Standard => {
                let start = circuit.zero();
                circuit.permutation_by_gates([start, left, right])[0]
            }
            _ => circuit.poseidon_by_sums(inputs),
        })
    }

    /// circomlib's permutation of three elements: 23 rows.
    ///
    /// # Panics
    /// If the arithmetisation is standard.
    pub fn poseidon_permutation(&mut self, state: [Variable; 3]) -> [Variable; 3] {
        self.gadget("poseidon", |circuit| circuit.permutation_by_gates(state))
    }

    fn permutation_by_gates(&mut self, mut state: [Variable; 3]) -> [Variable; 3] {
        let poseidon = PoseidonBn254::of_width(3);
        let rounds = PartialRounds::of_width(3);
        for round in 0..HALF_FULL_ROUNDS - 1 {
            state = self.full_round(poseidon, state, round);
        }
        state = self.partial_rounds(poseidon, rounds, state);
        for round in (0..HALF_FULL_ROUNDS).map(|i| HALF_FULL_ROUNDS + poseidon.partial_rounds() + i) {
            state = self.full_round(poseidon, state, round);
        }
        let [first, second, third] = state;
        self.row([first, second, third, Variable::NONE], &[]);
        state
    }

    /// Adds a row with a gate and round constants as data.
    fn poseidon_row(&mut self, gate: Gate, wires: [Variable; 4], constants: &[Fr]) {
        let mut fixed: Vec<_> = (0..).map(Column::Data).zip(constants.iter().copied()).collect();
        fixed.push((Column::Selector(Selector::Gate(gate)), Fr::ONE));
        self.row(wires, &fixed);
    }

    fn boxes(&self, state: [Variable; 3], constants: &[Fr]) -> Vec<Fr> {
        let inputs = state.iter().zip(constants).map(|(element, constant)| self.value(*element) + *constant);
        inputs.map(fifth_power).collect()
    }

    fn full_round(&mut self, poseidon: &PoseidonBn254, state: [Variable; 3], round: usize) -> [Variable; 3] {
        let constants = &poseidon.round_constants()[3 * round..][..3];
        let next = multiplied(poseidon, &self.boxes(state, constants));
        let [first, second, third] = state;
        self.poseidon_row(Gate::PoseidonFull, [first, second, third, Variable::NONE], constants);
        [0, 1, 2].map(|i| self.witness(next[i]))
    }

    /// The last full round and the partial rounds.
    fn partial_rounds(
        &mut self,
        poseidon: &PoseidonBn254,
        rounds: &PartialRounds,
        state: [Variable; 3],
    ) -> [Variable; 3] {
        let constants = &poseidon.round_constants()[3 * (HALF_FULL_ROUNDS - 1)..][..3];
        let (y, rest) = rounds.run(self.boxes(state, constants));
        let y: Vec<Variable> = y.into_iter().map(|y| self.witness(y)).collect();
        let [first, second, third] = state;
        self.poseidon_row(Gate::PoseidonEnter, [first, second, third, y[0]], constants);
        let (rows, _) = y[1..].as_chunks::<ROUNDS_PER_ROW>();
        let (last, inner) = rows.split_last().expect("more rounds than a row has");
        for (row, constants) in inner.iter().zip(rounds.step_constants[1..].chunks(ROUNDS_PER_ROW)) {
            self.poseidon_row(Gate::PoseidonPartial, *row, constants);
        }
        self.poseidon_row(Gate::PoseidonLeave, *last, &[]);
        [y[poseidon.partial_rounds()], self.witness(rest[0]), self.witness(rest[1])]
    }

    fn poseidon_by_sums(&mut self, inputs: &[Variable]) -> Variable {
        let poseidon = PoseidonBn254::of_width(inputs.len() + 1);
        let width = poseidon.width();
        let constants: Vec<&[Fr]> = poseidon.round_constants().chunks_exact(width).collect();
        // The first element of the state is the constant 0, so its S-box is a constant.
        let constant = fifth_power(constants[0][0]);
        let mut boxes = self.fifth_powers(inputs, &constants[0][1..]);
        let rows = || poseidon.matrix().chunks_exact(width);
        let mut state: Vec<Variable> =
            rows().map(|row| self.weighted(&row[1..], &boxes, row[0] * constant)).collect();
        let after = HALF_FULL_ROUNDS + poseidon.partial_rounds();
        for (round, &constants) in constants.iter().enumerate().skip(1) {
            if (HALF_FULL_ROUNDS..after).contains(&round) {
                continue;
            }
            boxes = self.fifth_powers(&state, constants);
            state = if round + 1 == HALF_FULL_ROUNDS {
                self.partial_rounds_by_sums(width, boxes)
            } else {
                let wanted = if round + 1 == after + HALF_FULL_ROUNDS { 1 } else { width };
                rows().take(wanted).map(|row| self.weighted(row, &boxes, Fr::ZERO)).collect()
            };
        }
        state[0]
    }

    /// The state after the partial rounds, from the S-boxes of the preceding full round.
    fn partial_rounds_by_sums(&mut self, width: usize, boxes: Vec<Variable>) -> Vec<Variable> {
        let rounds = PartialRounds::of_width(width);
        let (mut y, mut s) = (Vec::new(), Vec::new());
        for Affine { factors, constant } in &rounds.enter {
            let terms = [&boxes[..], &s[..]].concat();
            y.push(self.weighted(factors, &terms, *constant));
            s.push(self.fifth_power(y[y.len() - 1], Fr::ZERO));
        }
        for (k, constant) in rounds.step_constants.iter().enumerate() {
            let terms = [&y[k + 1..], &s[k..]].concat();
            y.push(self.weighted(&rounds.step, &terms, *constant));
            if k + 1 < rounds.step_constants.len() {
                s.push(self.fifth_power(y[y.len() - 1], Fr::ZERO));
            }
        }
        let terms = [&y[y.len() + 1 - width..], &s[s.len() + 1 - width..]].concat();
        let rest = rounds.leave.iter().map(|x| self.weighted(&x.factors, &terms, x.constant));
        let rest: Vec<Variable> = rest.collect();
        [&y[y.len() - 1..], &rest].concat()
    }

    fn weighted(&mut self, factors: &[Fr], variables: &[Variable], constant: Fr) -> Variable {
        assert_eq!(factors.len(), variables.len(), "a factor for each variable");
        let terms: Vec<_> = variables.iter().copied().zip(factors.iter().copied()).collect();
        self.linear(&terms, constant)
    }

    fn fifth_powers(&mut self, elements: &[Variable], constants: &[Fr]) -> Vec<Variable> {
        elements
            .iter()
            .zip(constants)
            .map(|(element, constant)| self.fifth_power(*element, *constant))
            .collect()
    }

    /// `(x + constant)^5`: three rows.
    fn fifth_power(&mut self, x: Variable, constant: Fr) -> Variable {
        let square = self.quadratic((Fr::ONE, x, x), &[(x, constant.double())], constant.square());
        let fourth = self.mul(square, square);
        self.quadratic((Fr::ONE, fourth, x), &[(fourth, constant)], Fr::ZERO)
    }
}
