//! Verification: one multi-scalar multiplication of all points of the proof and the key, one of 2 points, and
//! a product of two pairings.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Column, MalformedError, Proof, VerifyError, VerifyingKey,
    arithmetisation::{linearisation::Linearisation, summand::Challenges},
    polynomial::repeated_square,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{
    Field, Prime,
    bn254::{Fr, FrParams},
};
use proofmill_pairing::pairing_product_is_one;

/// Accepts a proof of knowledge of a witness of the key's circuit with these public inputs.
///
/// # Errors
/// [`VerifyError::Rejected`] if the equations do not hold. [`VerifyError::Malformed`] for a point that is not
/// on its curve (or, in G2, not in the subgroup), a number of public inputs that is not the key's, a number
/// of points or values that is not the system's, or a key that no circuit has.
pub fn verify(level: Level, key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Result<(), VerifyError> {
    // Steps 1 to 3 of the paper: the points and sizes. Values of the type Fr are in the field.
    key.check()?;
    proof.check(key)?;
    if public.len() != key.public as usize {
        return Err(MalformedError::PublicInputs { expected: key.public, found: public.len() }.into());
    }
    // Step 4: the challenges. Steps 5 to 8: Z_H, L_1 and PI at xi, and r_0.
    let challenges = Challenges::of(key, public, proof);
    let linearisation = Linearisation::new(key, public, &challenges, &proof.evaluations);
    let linearisation = linearisation.ok_or(VerifyError::Rejected)?;
    let root = Fr::root_of_unity(key.log_n).ok_or(VerifyError::Rejected)?;
    match openings_hold(level, key, proof, &challenges, linearisation, root) {
        true => Ok(()),
        false => Err(VerifyError::Rejected),
    }
}

/// `e(Wxi + u Wxiw, tau G2) = e(xi Wxi + u xi omega Wxiw + F - E, G2)` checks both openings, where F is the
/// folded commitment and E the folded value (section 8.3 of the paper, steps 9 to 12 of the verifier).
fn openings_hold(
    level: Level,
    key: &VerifyingKey,
    proof: &Proof,
    challenges: &Challenges,
    linearisation: Linearisation,
    root: Fr,
) -> bool {
    let &Challenges { xi, v, u, eta, .. } = challenges;
    let Linearisation { columns, quotient, constant } =
        linearisation.with_openings(&key.system, &proof.evaluations, v, u, eta);
    // Steps 9 to 11 in one sum of points: [D], [F] and -[E], and xi times the openings of step 12.
    let mut points = Vec::new();
    let mut factors = Vec::new();
    let mut add = |point: Affine<G1>, factor: Fr| {
        points.push(point);
        factors.push(factor);
    };
    for (column, factor) in columns {
        add(proof.commitment(key, column), factor);
    }
    for (point, factor) in proof.quotient.iter().zip(quotient) {
        add(*point, factor);
    }
    add(proof.opening, xi);
    add(proof.shifted_opening, u * xi * root);
    // The constant is minus the folded value: [E] in the paper.
    add(G1::GENERATOR, constant);
    let folded = msm::<G1>(level, &points, &factors).to_affine();
    // Negated: the other side of the equation, so that the product of pairings is one.
    let quotients = msm::<G1>(level, &[proof.opening, proof.shifted_opening], &[-Fr::ONE, -u]).to_affine();
    pairing_product_is_one(level, &[(quotients, key.tau), (folded, G2::GENERATOR)])
}

impl Proof {
    /// The commitment to a column of the witness or of the key.
    fn commitment(&self, key: &VerifyingKey, column: Column) -> Affine<G1> {
        let rounds = key.system.rounds();
        let mut columns = rounds.iter().flatten().zip(self.commitments.iter().flatten());
        let own = columns.find(|(committed, _)| **committed == column).map(|(_, point)| *point);
        own.unwrap_or_else(|| key.commitment(column))
    }

    /// Checks the number of points and values and that every point is on the curve. Infinity is allowed: it
    /// is the commitment to zero.
    fn check(&self, key: &VerifyingKey) -> Result<(), MalformedError> {
        let system = &key.system;
        let rounds = system.rounds();
        let found = (self.points().len(), self.evaluations.len());
        let columns = rounds.iter().map(Vec::len).sum::<usize>();
        let expected = (columns + system.parts() + 2, system.opened().len());
        // Totals alone would let a point move to another round, hashed for other challenges.
        let same_rounds =
            rounds.iter().zip(&self.commitments).all(|(columns, points)| columns.len() == points.len());
        if !same_rounds || found != expected {
            return Err(MalformedError::Proof { expected, found });
        }
        for (column, point) in rounds.iter().flatten().zip(self.commitments.iter().flatten()) {
            check_point(column, point)?;
        }
        for (part, point) in (1..).zip(&self.quotient) {
            check_point(&format_args!("T{part}"), point)?;
        }
        check_point(&"Wxi", &self.opening)?;
        check_point(&"Wxiw", &self.shifted_opening)
    }
}

impl VerifyingKey {
    /// Checks every point and the sizes.
    pub(crate) fn check(&self) -> Result<(), MalformedError> {
        let fixed = self.system.fixed();
        if self.log_n > FrParams::TWO_ADICITY
            || u64::from(self.public) > 1 << self.log_n
            || fixed.len() != self.fixed.len()
        {
            return Err(MalformedError::Key { log_n: self.log_n, public: self.public });
        }
        for (column, point) in fixed.iter().zip(&self.fixed) {
            check_point(column, point)?;
        }
        check_tau(&self.tau)?;
        let wires = self.multipliers.get(..self.system.wires().into()).unwrap_or(&self.multipliers);
        check_multipliers(wires, self.log_n)
    }
}

/// Checks that the reference string's secret in G2 is a point of the group, and not zero.
pub(crate) fn check_tau(tau: &Affine<G2>) -> Result<(), MalformedError> {
    if !tau.is_on_curve() || !tau.is_in_subgroup() {
        return Err(MalformedError::Point { name: "X_2".into() });
    }
    if tau.is_infinity() { Err(MalformedError::NoSecret) } else { Ok(()) }
}

/// Checks that the multipliers put the wires' labels on disjoint cosets: two of them are on the same coset of
/// the domain if their n-th powers are equal.
pub(crate) fn check_multipliers(multipliers: &[Fr], log_n: u32) -> Result<(), MalformedError> {
    let powers: Vec<Fr> = multipliers.iter().map(|multiplier| repeated_square(*multiplier, log_n)).collect();
    for (wire, power) in powers.iter().enumerate() {
        let before = powers.iter().take(wire).position(|before| before == power);
        // Zero is not on any coset.
        let same = before.or(power.is_zero().then_some(wire));
        if let Some(same) = same {
            return Err(MalformedError::Multipliers { wires: (same, wire) });
        }
    }
    Ok(())
}

/// Checks that a point is on the curve.
pub(crate) fn check_point(name: &impl ToString, point: &Affine<G1>) -> Result<(), MalformedError> {
    // All points of BN254 over the base field are in G1: its order is the prime r.
    if point.is_on_curve() { Ok(()) } else { Err(MalformedError::Point { name: name.to_string() }) }
}
