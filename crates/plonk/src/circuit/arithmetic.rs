//! Constants, sums and products.

use super::{Arithmetisation, Circuit, Variable};
use crate::{Column, Selector, Unsatisfied};
use proofmill_field::{Field, Invert, bn254::Fr};

const fn wire(index: u8) -> Column {
    Column::Selector(Selector::Wire(index))
}
const PRODUCT: Column = Column::Selector(Selector::Product);
const NEXT: Column = Column::Selector(Selector::Next);
const CONSTANT: Column = Column::Selector(Selector::Constant);

impl Circuit {
    /// The variable of a constant, one for each value. Its row is placed after all other rows, so that a call
    /// does not separate rows that belong together.
    pub fn constant(&mut self, value: Fr) -> Variable {
        if let Some(known) = self.constants.get(&value.to_canonical()) {
            return *known;
        }
        let variable = self.witness(value);
        self.constants.insert(value.to_canonical(), variable);
        variable
    }

    /// The constant 0.
    pub fn zero(&mut self) -> Variable {
        self.constant(Fr::ZERO)
    }

    /// The constant 1.
    pub fn one(&mut self) -> Variable {
        self.constant(Fr::ONE)
    }

    /// `a + b`: one row.
    pub fn add(&mut self, a: Variable, b: Variable) -> Variable {
        self.linear(&[(a, Fr::ONE), (b, Fr::ONE)], Fr::ZERO)
    }

    /// `a - b`: one row.
    pub fn sub(&mut self, a: Variable, b: Variable) -> Variable {
        self.linear(&[(a, Fr::ONE), (b, -Fr::ONE)], Fr::ZERO)
    }

    /// `a b`: one row.
    pub fn mul(&mut self, a: Variable, b: Variable) -> Variable {
        self.quadratic((Fr::ONE, a, b), &[], Fr::ZERO)
    }

    /// `a b + c`: one row; two in standard.
    pub fn mul_add(&mut self, a: Variable, b: Variable, c: Variable) -> Variable {
        self.quadratic((Fr::ONE, a, b), &[(c, Fr::ONE)], Fr::ZERO)
    }

    /// The sum of `coefficient * variable` over the terms, and the constant.
    ///
    /// Rows for n > 1 different variables: n - 1 in standard, otherwise `ceil((n - 1) / 3)`, plus one that
    /// the next row may share if n = 1 modulo 3. No row for one variable with factor 1 and constant 0,
    /// and none but the constant's for no variables.
    pub fn linear(&mut self, terms: &[(Variable, Fr)], constant: Fr) -> Variable {
        let mut terms = collected(terms);
        match terms[..] {
            [] => return self.constant(constant),
            [(variable, factor)] if factor == Fr::ONE && constant.is_zero() => return variable,
            _ => {}
        }
        let sum = self.witness(self.sum_of(&terms, constant));
        terms.push((sum, -Fr::ONE));
        self.assert_sum(None, terms, constant);
        sum
    }

    /// `factor * a * b` plus the terms and the constant.
    ///
    /// Rows for n variables in the terms other than a and b: `n + 1` in standard, otherwise
    /// `ceil((n + 1) / 3)`, plus one that the next row may share if n = 2 modulo 3.
    pub fn quadratic(
        &mut self,
        product: (Fr, Variable, Variable),
        terms: &[(Variable, Fr)],
        constant: Fr,
    ) -> Variable {
        let (factor, a, b) = product;
        let start = factor * self.value(a) * self.value(b) + constant;
        let result = self.witness(self.sum_of(terms, start));
        let mut terms = collected(terms);
        terms.push((result, -Fr::ONE));
        self.assert_sum(Some(product), terms, constant);
        result
    }

    /// Constrains the sum of the terms and the constant to be zero.
    pub fn assert_linear_zero(&mut self, terms: &[(Variable, Fr)], constant: Fr) {
        self.assert_sum(None, collected(terms), constant);
    }

    /// Constrains the sum of `factor * a * b`, the terms and the constant to be zero.
    pub fn assert_quadratic_zero(
        &mut self,
        product: (Fr, Variable, Variable),
        terms: &[(Variable, Fr)],
        constant: Fr,
    ) {
        self.assert_sum(Some(product), collected(terms), constant);
    }

    /// Constrains `a b = c`: one row.
    pub fn assert_product(&mut self, a: Variable, b: Variable, c: Variable) {
        self.assert_quadratic_zero((Fr::ONE, a, b), &[(c, -Fr::ONE)], Fr::ZERO);
    }

    /// Merges two variables, without a row. If their values differ, [`Circuit::check`] returns an error.
    ///
    /// # Panics
    /// If either is [`Variable::NONE`].
    pub fn assert_equal(&mut self, a: Variable, b: Variable) {
        assert!(a != Variable::NONE && b != Variable::NONE, "expected two variables, found none");
        if a != b {
            self.copies.push((a, b, self.scopes.current()));
        }
    }

    /// The first asserted equality that the values do not satisfy.
    pub(crate) fn check_equalities(&self) -> Result<(), Unsatisfied> {
        for &(a, b, scope) in &self.copies {
            let values = [self.value(a), self.value(b)];
            if values[0] != values[1] {
                return Err(Unsatisfied::Equality { gadget: self.scopes.path(scope), values });
            }
        }
        Ok(())
    }

    /// Constrains `a` to this value, without a row except the constant's.
    pub fn assert_constant(&mut self, a: Variable, value: Fr) {
        let value = self.constant(value);
        self.assert_equal(a, value);
    }

    /// `1 / a`, constrained to exist: one row.
    pub fn inverse(&mut self, a: Variable) -> Variable {
        let inverse = self.witness(self.value(a).invert_vartime().unwrap_or_default());
        self.assert_quadratic_zero((Fr::ONE, a, inverse), &[], -Fr::ONE);
        inverse
    }

    /// Constrains `a` and `b` to differ: two rows.
    pub fn assert_different(&mut self, a: Variable, b: Variable) {
        let difference = self.sub(a, b);
        self.inverse(difference);
    }

    /// Adds the rows that constrain `product + terms + constant` to zero. The terms have different variables.
    fn assert_sum(
        &mut self,
        product: Option<(Fr, Variable, Variable)>,
        mut terms: Vec<(Variable, Fr)>,
        constant: Fr,
    ) {
        let mut row = Row::default();
        let (mut used, mut value) = (0, constant);
        if let Some((factor, a, b)) = product {
            assert!(a != Variable::NONE && b != Variable::NONE, "expected two factors, found none");
            row.fixed.push((PRODUCT, factor));
            value += factor * self.value(a) * self.value(b);
            for factor in [a, b] {
                let own = terms.iter().position(|(variable, _)| *variable == factor);
                let coefficient = own.map_or(Fr::ZERO, |place| terms.remove(place).1);
                row.put(used, factor, coefficient);
                value += coefficient * self.value(factor);
                used += 1;
            }
        }
        if !constant.is_zero() {
            row.fixed.push((CONSTANT, constant));
        }
        if self.arithmetisation == Arithmetisation::Standard {
            let surplus = terms.len().saturating_sub(3 - used);
            self.fold_pairs(&mut terms, surplus);
            row.put_all(used, &terms);
            self.finish(row);
        } else {
            self.run_on(row, used, &terms, value);
        }
    }

    /// Replaces the first two terms by their sum, `times` times; one row each.
    fn fold_pairs(&mut self, terms: &mut Vec<(Variable, Fr)>, times: usize) {
        let Some(&(mut variable, mut factor)) = terms.first() else { return };
        for &(next, next_factor) in &terms[1..=times] {
            let sum = self.witness(self.value(variable) * factor + self.value(next) * next_factor);
            let fixed = [(wire(0), factor), (wire(1), next_factor), (wire(2), -Fr::ONE)];
            self.row([variable, next, sum, Variable::NONE], &fixed);
            (variable, factor) = (sum, Fr::ONE);
        }
        terms.drain(..times);
        terms[0] = (variable, factor);
    }

    /// Puts the terms on the row's four wires from `used` on, and the other terms on further rows. A row
    /// reads the sum of the remaining terms, or a single remaining term, from the last wire of the next
    /// row. `value` is the value of the row so far.
    fn run_on(&mut self, mut row: Row, mut used: usize, mut terms: &[(Variable, Fr)], mut value: Fr) {
        let mut room = 4 - used;
        while terms.len() > room {
            let (now, later) = terms.split_at(room);
            row.put_all(used, now);
            if let [(last, coefficient)] = *later {
                row.fixed.push((NEXT, coefficient));
                self.finish(row);
                self.row([Variable::NONE, Variable::NONE, Variable::NONE, last], &[]);
                return;
            }
            row.fixed.push((NEXT, -Fr::ONE));
            self.finish(row);
            value = self.sum_of(now, value);
            row = Row::default();
            row.put(3, self.witness(value), Fr::ONE);
            (used, room, terms) = (0, 3, later);
        }
        row.put_all(used, terms);
        self.finish(row);
    }

    fn finish(&mut self, row: Row) {
        if !row.fixed.is_empty() {
            self.row(row.wires, &row.fixed);
        }
    }

    /// The value of a sum.
    fn sum_of(&self, terms: &[(Variable, Fr)], constant: Fr) -> Fr {
        terms.iter().fold(constant, |sum, (variable, coefficient)| sum + self.value(*variable) * *coefficient)
    }
}

/// Combines terms of the same variable and removes zero factors.
///
/// # Panics
/// If a variable is [`Variable::NONE`].
fn collected(terms: &[(Variable, Fr)]) -> Vec<(Variable, Fr)> {
    let mut terms = terms.to_vec();
    terms.sort_by_key(|(variable, _)| *variable);
    assert!(
        terms.first().is_none_or(|(variable, _)| *variable != Variable::NONE),
        "expected a variable, found none"
    );
    terms.dedup_by(|(variable, coefficient), (kept, sum)| {
        let same = variable == kept;
        if same {
            *sum += *coefficient;
        }
        same
    });
    terms.retain(|(_, coefficient)| !coefficient.is_zero());
    terms
}

/// A row of the arithmetic gate under construction.
struct Row {
    wires: [Variable; 4],
    fixed: Vec<(Column, Fr)>,
}

impl Default for Row {
    fn default() -> Self {
        Self { wires: [Variable::NONE; 4], fixed: Vec::with_capacity(7) }
    }
}

impl Row {
    fn put(&mut self, index: usize, variable: Variable, coefficient: Fr) {
        self.wires[index] = variable;
        if !coefficient.is_zero() {
            self.fixed.push((wire(index as u8), coefficient));
        }
    }

    fn put_all(&mut self, start: usize, terms: &[(Variable, Fr)]) {
        for (index, &(variable, coefficient)) in (start..).zip(terms) {
            self.put(index, variable, coefficient);
        }
    }
}
