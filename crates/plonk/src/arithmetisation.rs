//! What a row of a circuit must satisfy, as data.
//!
//! The rounds of the protocol know selectors and terms, not gates: a row holds if the sum of
//! `selector * term(wires)` over all selectors (and the public input of that row) is zero. A gate is thus one
//! term, written once, generic over [`Algebra`]: the prover evaluates it in lanes on a coset, the checker and
//! the verifier on scalars, and prover and verifier take its value at the challenge as the factor of its
//! selector in the linearisation.

use proofmill_field::Algebra;

/// A set of gates over `WIRES` wires with one selector each.
pub trait StandardTerms<const WIRES: usize, const SELECTORS: usize> {
    /// The selectors' names, in the order in which they are stored and committed to.
    const NAMES: [&'static str; SELECTORS];

    /// What each selector is multiplied with.
    fn terms<A: Algebra>(wires: [A; WIRES]) -> [A; SELECTORS];

    /// The sum of selectors times terms: zero on a row that holds and has no public input.
    #[inline(always)]
    fn row<A: Algebra>(selectors: [A; SELECTORS], wires: [A; WIRES]) -> A {
        let terms = Self::terms(wires);
        let mut sum = selectors[0] * terms[0];
        for i in 1..SELECTORS {
            sum = sum + selectors[i] * terms[i];
        }
        sum
    }
}

/// Wires of [`Standard`].
pub const WIRES: usize = 3;
/// Selectors of [`Standard`].
pub const SELECTORS: usize = 5;

/// The arithmetisation of the PLONK paper (section 6): `q_m a b + q_l a + q_r b + q_o c + q_c = 0`.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl StandardTerms<WIRES, SELECTORS> for Standard {
    const NAMES: [&'static str; SELECTORS] = ["Qm", "Ql", "Qr", "Qo", "Qc"];

    #[inline(always)]
    fn terms<A: Algebra>([a, b, c]: [A; WIRES]) -> [A; SELECTORS] {
        [a * b, a, b, c, A::one()]
    }
}

/// The product of `wire + beta * label + gamma` over the wires of a row, where `labels` are already
/// multiplied by beta: one side of the permutation argument's recurrence.
#[inline(always)]
pub(crate) fn permutation_factor<A: Algebra>(wires: [A; WIRES], labels: [A; WIRES], gamma: A) -> A {
    let [a, b, c] = wires;
    let [label_a, label_b, label_c] = labels;
    a.add_lazy(label_a).add_lazy(gamma)
        * b.add_lazy(label_b).add_lazy(gamma)
        * c.add_lazy(label_c).add_lazy(gamma)
}
