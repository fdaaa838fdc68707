//! The gates: one type and one file each. The constraints of a gate are written once.
//!
//! A gate is a list of constraints, each a sum of selectors times terms of the wires. The prover evaluates
//! the terms in lanes on cosets, and the checker on a row. Prover and verifier evaluate them at the
//! challenge, where a term is the factor of its selector's commitment. The same formulas, evaluated on
//! degrees instead of elements, determine the degree of the quotient and the cells to open.
//!
//! To add a gate, write a file with a type that implements [`Formula`], and add its name to the list below.

mod any_of;
mod arithmetic;
mod chord;
pub(crate) mod column;
#[cfg(test)]
mod curve_tests;
mod ecc_add;
mod ecc_double;
mod fixed_base;
mod logic;
mod poseidon;
mod range;

pub use any_of::AnyOf;
pub use arithmetic::{Arithmetic, WideArithmetic};
pub use chord::Chord;
pub use ecc_add::EccAdd;
pub use ecc_double::EccDouble;
pub use fixed_base::FixedBase;
pub use logic::Logic;
pub use poseidon::{PoseidonEnter, PoseidonFull, PoseidonLeave, PoseidonPartial};
pub use range::Range;

use super::called::{Borrowed, Called};
use crate::{Cells, Selector};
use proofmill_field::{Algebra, bn254::Fr};

/// The constraints of a gate.
pub trait Formula {
    /// The name in reports and error messages.
    const NAME: &'static str;

    /// The selectors, in the order of their commitments in the key.
    const SELECTORS: &'static [Selector];

    /// The number of constraints.
    const CONSTRAINTS: usize;

    /// The field constants of the terms.
    fn constants() -> Vec<Fr> {
        Vec::new()
    }

    /// Calls `emit(constraint, selector, term)` for every term. A constraint holds if the sum of
    /// `SELECTORS[selector] * term` over its terms is zero. (In the first rows of a circuit, the first
    /// constraint of the first gate also includes the public input.) `constants` are those of
    /// [`Self::constants`].
    ///
    /// Implementations are `#[inline(always)]` and do not call `map` on arrays.
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A));
}

/// Defines [`Gate`] and [`with_gate`] for a list of types.
macro_rules! gates {
    ($dollar:tt $($gate:ident),* $(,)?) => {
        /// A kind of gate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Gate {
            $(#[doc = concat!("[`", stringify!($gate), "`].")] $gate,)*
        }

        impl Gate {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$gate),*];
        }

        /// Evaluates an expression with `$name` bound to the type of a [`Gate`].
        macro_rules! with_gate {
            ($dollar kind:expr, $dollar name:ident => $dollar body:expr) => {
                match $dollar kind {
                    $($crate::Gate::$gate => {
                        type $dollar name = $crate::arithmetisation::gates::$gate;
                        $dollar body
                    })*
                }
            };
        }
        pub(crate) use with_gate;
    };
}

gates!($ Arithmetic, WideArithmetic, Range, Logic, FixedBase, EccAdd, EccDouble, Chord, AnyOf, PoseidonFull, PoseidonEnter, PoseidonPartial, PoseidonLeave);

impl Gate {
    /// The name in reports and error messages.
    pub fn name(self) -> &'static str {
        with_gate!(self, G => G::NAME)
    }

    /// The selectors, in the order of their commitments in the key.
    pub fn selectors(self) -> &'static [Selector] {
        with_gate!(self, G => G::SELECTORS)
    }

    /// The number of constraints.
    pub fn constraints(self) -> usize {
        with_gate!(self, G => G::CONSTRAINTS)
    }

    /// The field constants of the terms.
    pub fn constants(self) -> Vec<Fr> {
        with_gate!(self, G => G::constants())
    }

    /// [`Formula::terms`] on one row.
    pub fn terms(self, cells: &dyn Cells<Fr>, constants: &[Fr], emit: &mut dyn FnMut(usize, usize, Fr)) {
        let cells = Borrowed(cells);
        let constants: Vec<_> = constants.iter().copied().map(Called).collect();
        let mut emit = |constraint, selector, term: Called<Fr>| emit(constraint, selector, term.0);
        with_gate!(self, G => G::terms(&cells, &constants, &mut emit));
    }
}
