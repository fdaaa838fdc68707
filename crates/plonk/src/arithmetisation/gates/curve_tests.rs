//! Violates each constraint of the gates for Grumpkin's group law separately.

use crate::{Arithmetisation, Cells, Circuit, Column, Gate, Selector, Unsatisfied, Variable};
use proofmill_curve::{Curve, grumpkin::Grumpkin};
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};

/// The wires of two rows, the data of the first, and the gate's selectors other than the first, which is 1.
#[derive(Clone, Debug)]
struct Rows {
    wires: [[Fr; 4]; 2],
    data: [Fr; 4],
    coefficients: Vec<Fr>,
}

impl Cells<Fr> for Rows {
    fn here(&self, column: Column) -> Fr {
        match column {
            Column::Wire(wire) => self.wires[0][wire as usize],
            Column::Data(index) => self.data[index as usize],
            _ => panic!("gates read wires and data, not {column}"),
        }
    }

    fn after(&self, column: Column) -> Fr {
        let Column::Wire(wire) = column else { panic!("gates read the next row's wires, not its {column}") };
        self.wires[1][wire as usize]
    }
}

impl Rows {
    /// The indices of the gate's constraints that do not hold.
    fn failing(&self, gate: Gate) -> Vec<usize> {
        let mut sums = vec![Fr::ZERO; gate.constraints()];
        gate.terms(self, &gate.constants(), &mut |constraint, selector: usize, term: Fr| {
            let coefficient = selector.checked_sub(1).map_or(Fr::ONE, |index| self.coefficients[index]);
            sums[constraint] += coefficient * term;
        });
        (0..sums.len()).filter(|k| !sums[*k].is_zero()).collect()
    }

    /// The checker's result for a circuit of these rows.
    fn check(&self, gate: Gate) -> Result<(), Unsatisfied> {
        let mut circuit = Circuit::new(Arithmetisation::Ultra);
        let [here, next] = self.wires.map(|row| row.map(|value| circuit.witness(value)));
        let data = (0..).map(Column::Data).zip(self.data);
        let values = std::iter::once(Fr::ONE).chain(self.coefficients.iter().copied());
        let selectors = gate.selectors().iter().map(|selector| Column::Selector(*selector)).zip(values);
        circuit.row(here, &data.chain(selectors).collect::<Vec<_>>());
        circuit.row(next, &[]);
        circuit.check()
    }

    /// Asserts that these rows satisfy the gate, and that `broken[k]` violates constraint k and no other.
    fn assert_broken(&self, gate: Gate, broken: &[Self]) {
        assert!(self.failing(gate).is_empty(), "{gate:?}: {:?}", self.failing(gate));
        assert_eq!(self.check(gate), Ok(()));
        assert_eq!(broken.len(), gate.constraints());
        for (k, rows) in broken.iter().enumerate() {
            assert_eq!(rows.failing(gate), [k], "{gate:?}");
            let refused = rows.check(gate);
            let names_constraint = matches!(refused, Err(Unsatisfied::Gate { row: 0, gate: which, constraint, .. })
                if which == gate && constraint == k);
            assert!(names_constraint, "{refused:?}");
        }
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut rows = self.clone();
        change(&mut rows);
        rows
    }
}

/// An addition by the FixedBase gate of a point with its odd digit, with `rest` as the next accumulator. The
/// coefficients of the equations are chosen to hold for this point only.
fn fixed_base(odd: Fr, rest: u64) -> Rows {
    let (point_x, point_y) = (Fr::from(700), Fr::from(900));
    let (x, y) = (Fr::from(1000), Fr::from(2000));
    let slope = (point_y - y) * (point_x - x).invert_vartime().unwrap();
    let next_x = slope.square() - x - point_x;
    let next_y = slope * (x - next_x) - y;
    let digit = (odd + Fr::from(7)) * Fr::from(2).invert_vartime().unwrap();
    let square = odd.square();
    let mut coefficients: Vec<Fr> = (2..14u64).map(Fr::from).collect();
    for (k, pivot) in [point_x.square(), square * point_x, odd * point_y].into_iter().enumerate() {
        let [m1, m2, m3] = [0, 1, 2].map(|i| coefficients[4 * k + i]);
        coefficients[4 * k + 3] = -(pivot + m1 * square.square() + m2 * point_x + m3 * square);
    }
    let here = [x, y, slope, Fr::from(8 * rest) + digit];
    Rows { wires: [here, [next_x, next_y, Fr::from(99), Fr::from(rest)]], data: [Fr::ZERO; 4], coefficients }
}

#[test]
fn fixed_base_constraints() {
    let rows = fixed_base(-Fr::from(3), 21);
    let broken = [
        rows.with(|rows| rows.coefficients[0] += Fr::ONE),
        rows.with(|rows| rows.coefficients[5] += Fr::ONE),
        // The opposite digit has the same square.
        rows.with(|rows| rows.wires[0][3] += Fr::from(3)),
        rows.with(|rows| rows.wires[1][1] += Fr::ONE),
    ];
    rows.assert_broken(Gate::FixedBase, &broken);
    let other_square = rows.with(|rows| rows.wires[0][3] += Fr::from(4));
    assert_eq!(other_square.failing(Gate::FixedBase), [0, 1, 2]);
}

#[test]
fn chord_constraint() {
    let mut rows = fixed_base(Fr::ONE, 0);
    rows.coefficients.clear();
    // The chord gate uses wires 2 to 4.
    rows.wires.iter_mut().for_each(|wires| wires.rotate_right(1));
    rows.assert_broken(Gate::Chord, &[rows.with(|rows| rows.wires[1][2] += Fr::ONE)]);
}

#[test]
fn ecc_add_constraints() {
    let [p, q] = [3, 5].map(|k| Grumpkin::GENERATOR.mul_words_vartime(&[k]).to_affine());
    let sum = Grumpkin::GENERATOR.mul_words_vartime(&[8]).to_affine();
    let run = q.x - p.x;
    let inverse = run.invert_vartime().unwrap();
    let rows = Rows {
        wires: [[p.x, p.y, q.x, q.y], [sum.x, sum.y, inverse, Fr::from(99)]],
        data: [Fr::ZERO; 4],
        coefficients: vec![],
    };
    let broken = [
        rows.with(|rows| rows.wires[1][2] += Fr::ONE),
        rows.with(|rows| {
            rows.wires[1][0] += Fr::ONE;
            rows.wires[1][1] = (q.y - p.y) * inverse * (p.x - rows.wires[1][0]) - p.y;
        }),
        rows.with(|rows| rows.wires[1][1] += Fr::ONE),
    ];
    rows.assert_broken(Gate::EccAdd, &broken);
    // For equal and opposite points the other constraints hold for any result; only the inverse refuses them.
    let same = rows.with(|rows| rows.wires = [[p.x, p.y, p.x, p.y], [sum.x, sum.y, inverse, Fr::ZERO]]);
    assert_eq!(same.failing(Gate::EccAdd), [0]);
    let opposite = rows.with(|rows| rows.wires[0] = [p.x, p.y, p.x, -p.y]);
    assert!(opposite.failing(Gate::EccAdd).contains(&0));
}

#[test]
fn ecc_double_constraints() {
    let p = Grumpkin::GENERATOR.mul_words_vartime(&[3]).to_affine();
    let twice = Grumpkin::GENERATOR.mul_words_vartime(&[6]).to_affine();
    let other = Fr::from(99);
    let rows = Rows {
        wires: [[p.x, p.y, other, other], [twice.x, twice.y, other, other]],
        data: [Fr::ZERO; 4],
        coefficients: vec![],
    };
    let slope = p.x.square() * Fr::from(3) * p.y.double().invert_vartime().unwrap();
    let broken = [
        rows.with(|rows| {
            rows.wires[1][0] += Fr::ONE;
            rows.wires[1][1] = slope * (p.x - rows.wires[1][0]) - p.y;
        }),
        rows.with(|rows| rows.wires[1][1] += Fr::ONE),
    ];
    rows.assert_broken(Gate::EccDouble, &broken);
}

#[test]
fn any_of_constraint() {
    let data = [100, 200, 300, 400].map(Fr::from);
    for place in 0..4 {
        let wires = [[1, 2, 3, 0].map(Fr::from), [4, 0, 0, 0].map(Fr::from)];
        let mut rows = Rows { wires, data, coefficients: vec![] };
        let other = if place == 3 { rows.wires[1][0] } else { rows.wires[0][place] };
        rows.wires[0][3] = data[place] - other;
        rows.assert_broken(Gate::AnyOf, &[rows.with(|rows| rows.wires[0][3] += Fr::ONE)]);
    }
}

#[test]
#[should_panic(expected = "standard has")]
fn standard_has_no_custom_gates() {
    let mut circuit = Circuit::new(Arithmetisation::Standard);
    circuit.row([Variable::NONE; 4], &[(Column::Selector(Selector::Gate(Gate::EccDouble)), Fr::ONE)]);
}
