//! Checking a proof: one multi-scalar multiplication of 18 points, one of 2, one product of two pairings.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    MalformedError, Proof, VerifyingKey,
    challenges::Challenges,
    linearisation::{Linearisation, opening_factors},
};
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
    msm, pairing_product_is_one,
};
use proofmill_field::{
    Field, Prime,
    bn254::{Fr, FrParams},
};
use proofmill_simd::Level;

/// Whether `proof` shows that someone knows a witness of the key's circuit with these public inputs.
///
/// A proof is `Ok(false)` if the equations do not hold, and an error if there are no equations to check.
///
/// # Errors
/// [`MalformedError`]: a point that is not on its curve (or, in G2, not in the subgroup), another number of public
/// inputs than the key's, or a key that belongs to no circuit.
pub fn verify(
    level: Level,
    key: &VerifyingKey,
    public: &[Fr],
    proof: &Proof,
) -> Result<bool, MalformedError> {
    key.check()?;
    proof.check()?;
    if public.len() != key.public as usize {
        return Err(MalformedError::PublicInputs { expected: key.public, found: public.len() });
    }
    let challenges = Challenges::of(key, public, proof);
    let Some(linearisation) = Linearisation::new(key, public, &challenges, &proof.evaluations) else {
        return Ok(false);
    };
    let Some(root) = Fr::root_of_unity(key.log_n) else {
        return Ok(false);
    };
    Ok(openings_hold(level, key, proof, &challenges, &linearisation, root))
}

/// `e(Wxi + u Wxiw, tau G2) = e(xi Wxi + u xi omega Wxiw + F - E, G2)`: both openings at once, where F is the
/// folded commitment and E the folded value (the paper's section 8.3, verifier's steps 9 to 12).
fn openings_hold(
    level: Level,
    key: &VerifyingKey,
    proof: &Proof,
    challenges: &Challenges,
    linearisation: &Linearisation,
    root: Fr,
) -> bool {
    let &Challenges { xi, v, u, .. } = challenges;
    let [va, vb, vc, v1, v2] = opening_factors(v);
    let [a, b, c] = proof.evaluations.wires;
    let [s1, s2] = proof.evaluations.sigmas;
    let value = va * a + vb * b + vc * c + v1 * s1 + v2 * s2 + u * proof.evaluations.shifted_grand_product
        - linearisation.constant;

    let mut points = Vec::with_capacity(18);
    let mut factors = Vec::with_capacity(18);
    let mut add = |new_points: &[Affine<G1>], new_factors: &[Fr]| {
        points.extend_from_slice(new_points);
        factors.extend_from_slice(new_factors);
    };
    add(&key.selectors, &linearisation.selectors);
    add(&[proof.grand_product], &[linearisation.grand_product + u]);
    add(&key.sigmas, &[v1, v2, linearisation.last_sigma]);
    add(&proof.quotient, &linearisation.quotient);
    add(&proof.wires, &[va, vb, vc]);
    add(&[proof.opening, proof.shifted_opening], &[xi, u * xi * root]);
    add(&[G1::GENERATOR], &[-value]);
    let folded = msm::<G1>(level, &points, &factors).to_affine();
    let quotients = msm::<G1>(level, &[proof.opening, proof.shifted_opening], &[-Fr::ONE, -u]).to_affine();
    pairing_product_is_one(level, &[(quotients, key.tau), (folded, G2::GENERATOR)])
}

impl Proof {
    /// Whether every point is on the curve; infinity is (an honest commitment to zero is).
    fn check(&self) -> Result<(), MalformedError> {
        let names = ["A", "B", "C", "Z", "T1", "T2", "T3", "Wxi", "Wxiw"];
        let last = [self.grand_product];
        let points = self.wires.iter().chain(&last).chain(&self.quotient);
        check_points(names.into_iter().zip(points.chain([&self.opening, &self.shifted_opening])))
    }
}

impl VerifyingKey {
    /// Whether every point is where it should be and the sizes fit the field.
    fn check(&self) -> Result<(), MalformedError> {
        if self.log_n > FrParams::TWO_ADICITY || u64::from(self.public) > 1 << self.log_n {
            return Err(MalformedError::Key { log_n: self.log_n, public: self.public });
        }
        let names = ["Qm", "Ql", "Qr", "Qo", "Qc", "S1", "S2", "S3"];
        check_points(names.into_iter().zip(self.selectors.iter().chain(&self.sigmas)))?;
        if self.tau.is_on_curve() && self.tau.is_in_subgroup() {
            Ok(())
        } else {
            Err(MalformedError::Point { name: "X_2" })
        }
    }
}

fn check_points<'a>(
    mut points: impl Iterator<Item = (&'static str, &'a Affine<G1>)>,
) -> Result<(), MalformedError> {
    match points.find(|(_, point)| !point.is_on_curve()) {
        Some((name, _)) => Err(MalformedError::Point { name }),
        None => Ok(()),
    }
}
