//! New powers of tau made by one party, prepared for phase 2, for tests and development.
//!
//! The Lagrange polynomials at tau of the domain of n points with root w are `(tau^n - 1) / n * w^i / (tau - w^i)`. tau is known
//! while the file is made, so each point is one product with the generator, without a transform of points.

use crate::{SrsError, insecure::random};
use proofmill_circom::{CircomError, Coordinate, PtauHeader, PtauPoints, PtauWriter, SectionWriter};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, FixedBase, Msm,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Field, Invert, Packable, batch_invert_vartime, bn254::Fr};
use proofmill_files::Target;
use zeroize::Zeroizing;

/// Points computed and written together.
const PIECE: usize = 1 << 14;

/// The secrets of a set-up, wiped when they are dropped.
struct Secrets {
    tau: Zeroizing<Fr>,
    alpha: Zeroizing<Fr>,
    beta: Zeroizing<Fr>,
}

/// Writes powers of a random tau, alpha and beta to a `.ptau` with all sections, for circuits of up to `2^power` rows, as if
/// `snarkjs powersoftau prepare phase2` had prepared it. The list of contributions is empty. The secrets are wiped from memory and
/// never written. Nevertheless, those who control the machine may know them, and can then prove false statements. Memory is 128
/// bytes for each of `2^(power + 1)` scalars. Runs on the ambient rayon pool.
///
/// # Errors
/// [`SrsError::File`], [`SrsError::Randomness`].
///
/// # Panics
/// If `power` is 0 or above 27.
pub fn write_insecure_prepared<'a>(
    level: Level,
    target: impl Into<Target<'a>>,
    power: u32,
) -> Result<(), SrsError> {
    assert!((1..=27).contains(&power), "a power from 1 to 27");
    let secrets = Secrets { tau: random()?, alpha: random()?, beta: random()? };
    Ok(write(level, target.into(), power, &secrets)?)
}

fn write(level: Level, target: Target<'_>, power: u32, secrets: &Secrets) -> Result<(), CircomError> {
    let Secrets { tau, alpha, beta } = secrets;
    let n = 1usize << power;
    let mut file = PtauWriter::<G1>::create(target, &PtauHeader { power, ceremony_power: power }, 9)?;
    let mut g1 = FixedBase::new(level, &G1::GENERATOR, 12 * n);
    let mut g2 = FixedBase::new(level, &G2::GENERATOR, 3 * n);
    let powers = Zeroizing::new(powers(**tau, 2 * n - 1));
    let one = Fr::ONE;
    let lowest = powers.get(..n).unwrap_or_default();
    file.points(PtauPoints::TauG1, |out| multiples(&mut g1, &one, &powers, out))?;
    file.points(PtauPoints::TauG2, |out| multiples(&mut g2, &one, lowest, out))?;
    file.points(PtauPoints::AlphaTauG1, |out| multiples(&mut g1, alpha, lowest, out))?;
    file.points(PtauPoints::BetaTauG1, |out| multiples(&mut g1, beta, lowest, out))?;
    file.points(PtauPoints::BetaG2, |out| multiples(&mut g2, beta, &[one], out))?;
    file.no_contributions()?;
    let domains = |largest: u32| (0..=largest).map(|log_n| Zeroizing::new(lagrange(log_n, **tau)));
    file.points(PtauPoints::LagrangeTauG1, |out| {
        domains(power).try_for_each(|domain| multiples(&mut g1, &one, &domain, out))?;
        // The largest domain has one power more than there are: it is taken as zero.
        let mut domain = Zeroizing::new(lagrange(power + 1, **tau));
        without_highest_power(&mut domain, **tau);
        multiples(&mut g1, &one, &domain, out)
    })?;
    file.points(PtauPoints::LagrangeTauG2, |out| {
        domains(power).try_for_each(|domain| multiples(&mut g2, &one, &domain, out))
    })?;
    for (section, factor) in [(PtauPoints::LagrangeAlphaTauG1, alpha), (PtauPoints::LagrangeBetaTauG1, beta)]
    {
        file.points(section, |out| {
            domains(power).try_for_each(|domain| multiples(&mut g1, factor, &domain, out))
        })?;
    }
    file.finish()
}

/// Writes the generator times `factor` times each scalar.
fn multiples<C: Msm<Scalar = Fr, Base: Packable + Coordinate>>(
    base: &mut FixedBase<C>,
    factor: &Fr,
    scalars: &[Fr],
    out: &mut SectionWriter<'_>,
) -> Result<(), CircomError> {
    let mut points = vec![Affine::INFINITY; PIECE.min(scalars.len())];
    for piece in scalars.chunks(PIECE) {
        let scaled = Zeroizing::new(piece.iter().map(|scalar| *factor * *scalar).collect::<Vec<_>>());
        let points = points.get_mut(..piece.len()).unwrap_or_default();
        base.multiply(&scaled, points);
        out.points(points)?;
    }
    Ok(())
}

/// `1, base, base^2, ...`: `count` powers.
fn powers(base: Fr, count: usize) -> Vec<Fr> {
    std::iter::successors(Some(Fr::ONE), |power| Some(*power * base)).take(count).collect()
}

/// The Lagrange polynomials at tau of the domain of `2^log_n` points. tau is in no domain of this size but with negligible
/// probability.
fn lagrange(log_n: u32, tau: Fr) -> Vec<Fr> {
    let roots = powers(Fr::root_of_unity(log_n).unwrap_or(Fr::ONE), 1 << log_n);
    let vanishing = tau.pow_vartime(&[1 << log_n]) - Fr::ONE;
    let factor = vanishing * inverse(Fr::from(1u64 << log_n));
    let mut values: Vec<Fr> = roots.iter().map(|root| tau - *root).collect();
    batch_invert_vartime(&mut values);
    values.iter().zip(&roots).map(|(inverse, root)| factor * *root * *inverse).collect()
}

/// Subtracts the term of the highest power: its coefficient in polynomial i is `w^i / n`.
fn without_highest_power(domain: &mut [Fr], tau: Fr) {
    let n = domain.len() as u64;
    let term = tau.pow_vartime(&[n - 1]) * inverse(Fr::from(n));
    let roots = powers(Fr::root_of_unity(n.ilog2()).unwrap_or(Fr::ONE), domain.len());
    for (value, root) in domain.iter_mut().zip(roots) {
        *value -= term * root;
    }
}

/// The inverse of a power of two.
fn inverse(value: Fr) -> Fr {
    value.invert_vartime().unwrap_or_default()
}
