//! AIRs with constants that could be chosen after a proof if the transcript did not have them.

use proofmill_field::{
    Algebra, Field,
    goldilocks::{Extension, Goldilocks, MODULUS},
};
use proofmill_stark::{
    Constraints,
    air::{Air, Expression, Row},
    protocol::generator,
};

pub(crate) type Cubic = Extension<Goldilocks, 3>;

const LOG_ROWS: u32 = 6;

/// Four elements that nothing else depends on.
pub(crate) type Constants = [Goldilocks; 4];

const HONEST: Constants = [Goldilocks::new(1), Goldilocks::new(2), Goldilocks::new(3), Goldilocks::new(4)];

/// An AIR of one column. The public values are the first and the last value.
#[derive(Clone, Copy)]
pub(crate) enum Chain {
    /// `x + c` follows x, with the constants as a periodic column.
    Periodic(Constants),
    /// `c_0 + c_1 x + c_2 x^2 + c_3 x^3` follows x.
    Polynomial(Constants),
}

impl Chain {
    pub(crate) fn trace(self) -> Vec<Goldilocks> {
        let mut trace = vec![Goldilocks::new(5)];
        for row in 0..(1 << LOG_ROWS) - 1 {
            let x = trace[row];
            trace.push(match self {
                Self::Periodic(constants) => x + constants[row % 4],
                Self::Polynomial(constants) => at(&constants, x),
            });
        }
        trace
    }

    /// The public values of a trace.
    pub(crate) fn ends(self) -> [Goldilocks; 2] {
        let trace = self.trace();
        [trace[0], trace[trace.len() - 1]]
    }

    pub(crate) fn with(self, constants: Constants) -> Self {
        match self {
            Self::Periodic(_) => Self::Periodic(constants),
            Self::Polynomial(_) => Self::Polynomial(constants),
        }
    }

    pub(crate) fn constraints(self) -> Constraints {
        Constraints::new(&self).expect("constraints")
    }

    /// Other constants for which this proof would be valid, if its challenge did not depend on them.
    pub(crate) fn chosen_after(self, zeta: Cubic, value: Cubic) -> Constants {
        match self {
            // The column is a polynomial in zeta^(rows / 4). A polynomial that vanishes there is added.
            Self::Periodic(constants) => {
                let vanishing = minimal_polynomial(zeta.pow_vartime(&[1 << (LOG_ROWS - 2)]));
                let root = generator(2);
                std::array::from_fn(|i| constants[i] + at(&vanishing, root.pow_vartime(&[i as u64])))
            }
            // The sum of the constants times powers of the value at zeta stays the same.
            Self::Polynomial(constants) => {
                let vanishing = minimal_polynomial(value);
                std::array::from_fn(|i| constants[i] + vanishing[i])
            }
        }
    }
}

impl Air for Chain {
    fn columns(&self) -> usize {
        1
    }

    fn public_values(&self) -> usize {
        2
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        match self {
            Self::Periodic(constants) => vec![constants.to_vec()],
            Self::Polynomial(_) => vec![],
        }
    }

    fn constrain(&self, row: Row) {
        let x = row.column(0);
        let next = match self {
            Self::Periodic(_) => x + row.periodic(0),
            Self::Polynomial(constants) => {
                let horner = |sum: Expression, constant: &Goldilocks| sum * x + (*constant).into();
                constants.iter().rev().fold(Goldilocks::ZERO.into(), horner)
            }
        };
        (row.is_first() * (x - row.public_value(0))).must_vanish();
        (row.is_transition() * (row.next(0) - next)).must_vanish();
        (row.is_last() * (x - row.public_value(1))).must_vanish();
    }
}

/// The value of a polynomial.
fn at(coefficients: &Constants, x: Goldilocks) -> Goldilocks {
    coefficients.iter().rev().fold(Goldilocks::ZERO, |sum, coefficient| sum * x + *coefficient)
}

/// The polynomial over the base field that vanishes at an element, from its conjugates.
fn minimal_polynomial(element: Cubic) -> Constants {
    let second = element.pow_vartime(&[MODULUS]);
    let third = second.pow_vartime(&[MODULUS]);
    let coefficients = [
        -(element * second * third),
        element * second + second * third + third * element,
        -(element + second + third),
        Extension::ONE,
    ];
    coefficients.map(|Extension([base, x, x_squared])| {
        assert!(x.is_zero() && x_squared.is_zero(), "an element of the base field");
        base
    })
}

pub(crate) const CHAINS: [Chain; 2] = [Chain::Periodic(HONEST), Chain::Polynomial(HONEST)];
