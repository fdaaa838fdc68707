//! Many proofs at once: with factors r_i,
//! `product of e(r_i A_i, B_i) = e(sum of r_i alpha, beta) e(sum of r_i IC(x_i), gamma) e(sum of r_i C_i, delta)`.
//!
//! n + 3 Miller loops and one final exponentiation take the place of 4 n and n. If a proof's equation is wrong, then for any factors of the
//! others at most one value of its own factor makes the product right (Bellare, Garay, Rabin, "Fast batch verification for modular
//! exponentiation and digital signatures", EUROCRYPT 1998). The first factor is 1: if no other equation is wrong, the product is as wrong as
//! the first. The others are independent, uniform below 2^128, and drawn after all proofs are known. So a batch with a wrong proof passes
//! with a probability of at most 2^-128, even if proofs were made to cancel. That holds in groups of prime order, so all points are first
//! checked to be in their groups.

use crate::{
    Groth16Curve, Groth16Error, Proof, VerifyingKey,
    factors::random_factors,
    verify::{are_in_group, check_finite, check_key, check_proof, of_signals},
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Jacobian, msm, products_of_points};
use proofmill_field::Field;
use proofmill_pairing::{find_wrong, pairing_product_is_one};
use proofmill_run::parallel;

/// From this number on, products of points are faster in lanes than one after another.
const IN_LANES: usize = 16;

/// Public signals (outputs, then public inputs; without the constant), and the proof that is to be verified for them.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a, C: Groth16Curve> {
    /// The public signals.
    pub public: &'a [C::Scalar],
    /// The proof.
    pub proof: &'a Proof<C>,
}

/// The indices of the statements that [`verify`](crate::verify) refuses, in ascending order, with its errors. If all statements are
/// valid, one product of pairings shows it, for a fraction of the cost of single verifications. Wrong proofs are found by bisection. Runs
/// on the ambient rayon pool.
///
/// Factors are from the operating system. That a wrong proof is missed has a probability of at most 2^-128.
///
/// # Errors
/// [`Groth16Error::Malformed`] for a malformed key, [`Groth16Error::Randomness`].
pub fn find_invalid<C: Groth16Curve>(
    level: Level,
    key: &VerifyingKey<C>,
    statements: &[Statement<'_, C>],
) -> Result<Vec<(usize, Groth16Error)>, Groth16Error> {
    check_key(level, key)?;
    let verdicts = check(level, key, statements);
    let (mut invalid, mut numbers, mut well_formed) = (Vec::new(), Vec::new(), Vec::new());
    for ((number, verdict), statement) in verdicts.into_iter().enumerate().zip(statements) {
        match verdict {
            Ok(()) => {
                numbers.push(number);
                well_formed.push(statement);
            }
            Err(error) => invalid.push((number, error)),
        }
    }
    let equations = equations(level, &well_formed)?;
    // Only well-formed statements enter: the factors say nothing about points outside the groups.
    let wrong = find_wrong(&equations, |equations| hold(level, key, equations));
    let wrong = wrong.into_iter().filter_map(|index| numbers.get(index));
    invalid.extend(wrong.map(|number| (*number, Groth16Error::Rejected)));
    invalid.sort_unstable_by_key(|(number, _)| *number);
    Ok(invalid)
}

/// Whether each statement is well-formed. The points of all statements are checked together; each statement's own points are checked only if
/// that fails.
fn check<C: Groth16Curve>(
    level: Level,
    key: &VerifyingKey<C>,
    statements: &[Statement<'_, C>],
) -> Vec<Result<(), Groth16Error>> {
    let shape = |statement: &Statement<'_, C>| {
        of_signals(key, statement.public).and_then(|_| check_finite(statement.proof))
    };
    let in_g1: Vec<_> =
        statements.iter().flat_map(|statement| [statement.proof.a, statement.proof.c]).collect();
    let in_g2: Vec<_> = statements.iter().map(|statement| statement.proof.b).collect();
    if are_in_group(level, &in_g1) && are_in_group(level, &in_g2) {
        return statements.iter().map(shape).collect();
    }
    parallel::map(statements, |statement| shape(statement).and_then(|()| check_proof(level, statement.proof)))
}

/// The equation of a statement, to be raised to a random power, so that the product of several holds only if all of them do.
struct Equation<'a, C: Groth16Curve> {
    statement: &'a Statement<'a, C>,
    factor: C::Scalar,
    /// The proof's A times the negative factor.
    a: Affine<C>,
}

/// The equations of well-formed statements, with new factors.
fn equations<'a, C: Groth16Curve>(
    level: Level,
    statements: &[&'a Statement<'a, C>],
) -> Result<Vec<Equation<'a, C>>, Groth16Error> {
    let others = random_factors::<C>(statements.len().saturating_sub(1))?;
    let factors: Vec<_> = std::iter::once(C::Scalar::ONE).chain(others).take(statements.len()).collect();
    // A is the point of each pair to multiply: products in G1 are cheaper than in G2.
    let points: Vec<_> = statements.iter().map(|statement| -statement.proof.a).collect();
    let products = if points.len() < IN_LANES {
        let products = points.iter().zip(&factors).map(|(point, factor)| point.mul_vartime(factor));
        Jacobian::batch_to_affine(&products.collect::<Vec<_>>())
    } else {
        products_of_points(level, &points, &factors)
    };
    let parts = statements.iter().zip(factors).zip(products);
    Ok(parts.map(|((statement, factor), a)| Equation { statement, factor, a }).collect())
}

/// Whether the product of equations holds.
fn hold<C: Groth16Curve>(level: Level, key: &VerifyingKey<C>, equations: &[Equation<'_, C>]) -> bool {
    let (points, factors): (Vec<_>, Vec<_>) =
        equations.iter().map(|equation| (equation.statement.proof.c, equation.factor)).unzip();
    let sum_of_factors = factors.iter().fold(C::Scalar::ZERO, |sum, factor| sum + *factor);
    // Of the constant and each signal, the sum over all statements.
    let mut signals = vec![C::Scalar::ZERO; key.ic.len()];
    for Equation { statement, factor, .. } in equations {
        let values = std::iter::once(C::Scalar::ONE).chain(statement.public.iter().copied());
        signals.iter_mut().zip(values).for_each(|(sum, value)| *sum += *factor * value);
    }
    // beta, gamma and delta are in all equations, so each needs only one Miller loop with a sum.
    let sums = [
        key.alpha_1.mul_vartime(&sum_of_factors),
        msm::<C>(level, &key.ic, &signals),
        msm::<C>(level, &points, &factors),
    ];
    let of_key = Jacobian::batch_to_affine(&sums).into_iter().zip([key.beta_2, key.gamma_2, key.delta_2]);
    let of_proofs = equations.iter().map(|equation| (equation.a, equation.statement.proof.b));
    pairing_product_is_one(level, &of_proofs.chain(of_key).collect::<Vec<_>>())
}
