//! Preparation for the second phase: Lagrange polynomials at tau, from the powers.
//!
//! The polynomial i of the domain of n points with root w is `1/n sum_j w^(-i j) tau^j`: an [inverse transform](crate::transform) of the
//! powers.

use crate::{
    CeremonyError,
    encoding::{CeremonyCurve, Group, Member},
    transform::{
        self, ButterflyProgress, Direction, PIECE, PointTransform, butterflies, fill, inverse, scratch,
    },
};
use proofmill_circom::{CircomCurve, PointCheck, Ptau, PtauHeader, PtauPoints, PtauWriter};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, products_of_points, sums_and_differences};
use proofmill_field::{Algebra, Field, Prime};
use proofmill_files::Target;
use proofmill_memory::Elements;
use proofmill_run::{Progress, Run, parallel};
use std::{ops::Range, path::Path};

/// Writes the powers and, for all domains, the Lagrange polynomials at tau, which setup needs. Contributions stay. Runs on the ambient
/// rayon pool. Domains of more than 2^21 points are in temporary files in `folder`; memory is about 500 MB at most.
///
/// Points are checked to be on their curves; [`verify`](super::verify) checks the powers.
///
/// # Errors
/// [`CeremonyError::File`], [`CeremonyError::Scratch`].
pub fn prepare<'a, C: CeremonyCurve>(
    run: Run<'_>,
    powers: &Ptau<C>,
    target: impl Into<Target<'a>>,
    folder: &Path,
) -> Result<(), CeremonyError> {
    let Run { level, progress, .. } = run;
    let work = Work { level, powers, folder };
    let power = powers.header().power;
    work.write(target.into(), progress, |file| {
        work.section::<C>(file, PtauPoints::TauG1, 0..power + 2, progress)?;
        work.section::<C::G2>(file, PtauPoints::TauG2, 0..power + 1, progress)?;
        work.section::<C>(file, PtauPoints::AlphaTauG1, 0..power + 1, progress)?;
        work.section::<C>(file, PtauPoints::BetaTauG1, 0..power + 1, progress)
    })
}

/// Adds the Lagrange polynomials of the domain of `2^(power + 1)` points. PLONK's setup needs them, and files that snarkjs prepared
/// before 0.3 lack them. Otherwise as [`prepare`].
///
/// # Errors
/// As [`prepare`], and [`CeremonyError::Unprepared`].
pub fn convert<'a, C: CeremonyCurve>(
    run: Run<'_>,
    powers: &Ptau<C>,
    target: impl Into<Target<'a>>,
    folder: &Path,
) -> Result<(), CeremonyError> {
    let Run { level, progress, .. } = run;
    if !powers.is_prepared() {
        return Err(CeremonyError::Unprepared);
    }
    let work = Work { level, powers, folder };
    let power = powers.header().power;
    work.write(target.into(), progress, |file| {
        work.section::<C>(file, PtauPoints::TauG1, power + 1..power + 2, progress)?;
        let others = PtauPoints::PREPARED.iter().filter(|points| **points != PtauPoints::LagrangeTauG1);
        others.copied().try_for_each(|points| Ok(file.copy(powers, points, power)?))
    })
}

/// Begins a file with the powers that the header announces and all contributions. The Lagrange polynomials follow.
pub(super) fn with_powers<'a, C: CircomCurve>(
    target: Target<'a>,
    powers: &Ptau<C>,
    header: &PtauHeader,
) -> Result<PtauWriter<'a, C>, CeremonyError> {
    let sections = PtauPoints::POWERS.len() + PtauPoints::PREPARED.len();
    let mut file = PtauWriter::create(target, header, sections as u32)?;
    for points in PtauPoints::POWERS {
        file.copy(powers, points, header.power)?;
    }
    file.contributions(powers.contributions()?, powers.encoded_contributions()?)?;
    Ok(file)
}

struct Work<'a, C: CeremonyCurve> {
    level: Level,
    powers: &'a Ptau<C>,
    folder: &'a Path,
}

impl<C: CeremonyCurve> Work<'_, C> {
    /// Writes the powers, the contributions, and the sections that `prepared` writes.
    fn write(
        &self,
        target: Target<'_>,
        progress: Progress<'_>,
        prepared: impl FnOnce(&mut PtauWriter<'_, C>) -> Result<(), CeremonyError>,
    ) -> Result<(), CeremonyError> {
        let Self { powers, .. } = self;
        powers.expect_powers()?;
        progress.begin("copy");
        let mut file = with_powers(target, powers, powers.header())?;
        prepared(&mut file)?;
        Ok(file.finish()?)
    }

    /// Writes a section of Lagrange polynomials: those of these domains, given by the logarithms of their sizes, after those that the file has
    /// of smaller ones.
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &self,
        file: &mut PtauWriter<'_, C>,
        source: PtauPoints,
        domains: Range<u32>,
        progress: Progress<'_>,
    ) -> Result<(), CeremonyError> {
        let Some(section) = G::prepared(source) else { return Ok(()) };
        progress.begin(section.section().content);
        let powers = self.powers.points::<G>(source)?;
        let steps =
            ButterflyProgress::new(domains.clone().map(|log_n| butterflies(1 << log_n)).sum(), progress);
        file.points(section, |out| {
            let kept = (1 << domains.start) - 1;
            for range in parallel::ranges(kept, PIECE) {
                let lagrange = self.powers.points::<G>(section)?.slice(range)?;
                out.points(&lagrange.decode(self.level, PointCheck::OnCurve)?)?;
            }
            for log_n in domains {
                let n = 1 << log_n;
                let mut points = scratch(self.folder, n)?;
                // The highest power is taken as zero where there is none.
                fill(&mut points, powers.len().min(n), |range| {
                    powers.slice(range)?.decode(self.level, PointCheck::OnCurve)
                })?;
                let mut domain = n;
                if log_n > <C::ScalarPrime as Prime>::TWO_ADICITY {
                    split(self.level, &mut points, &C::Scalar::from(C::SHIFT));
                    domain = n / 2;
                }
                let mut transform = PointTransform {
                    level: self.level,
                    points: &mut points,
                    roots: C::root_of_unity,
                    steps: &steps,
                };
                for domain in parallel::ranges(n, domain) {
                    transform.run(domain, Direction::Inverse, |_, polynomials| out.points(polynomials))?;
                }
            }
            Ok(())
        })
    }
}

/// For a domain of n = 2 m points that the field does not have: turns the powers t_j into those of the domain of m points,
/// `(s^m t_j - t_(m+j)) / (s^m - 1)`, and of its coset by the shift s, `s^(-j) (t_(m+j) - t_j) / (s^m - 1)`: snarkjs takes both
/// together as the domain of n points.
fn split<G: Group>(level: Level, points: &mut Elements<Affine<G>>, shift: &G::Scalar) {
    let half = points.len() / 2;
    let factor = inverse(&(shift.pow_vartime(&[half as u64]) - G::Scalar::ONE));
    let step = inverse(shift);
    for range in parallel::ranges(half, PIECE) {
        let (low, high) = points.split_at_mut(half);
        let (Some(low), Some(high)) = (low.get_mut(range.clone()), high.get_mut(range.clone())) else {
            return;
        };
        // (t_j - t_(m+j)) / (s^m - 1), which is added to t_j, and times -s^(-j).
        let mut sums = low.to_vec();
        sums_and_differences(level, &mut sums, high);
        let mut quotients = products_of_points(level, high, &vec![factor; range.len()]);
        let factors = transform::powers(-G::Scalar::ONE, step, range.clone());
        high.copy_from_slice(&products_of_points(level, &quotients, &factors));
        sums_and_differences(level, low, &mut quotients);
        points.release(range.clone());
        points.release(half + range.start..half + range.end);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proofmill_curve::bn254::G1;
    use proofmill_field::bn254::Fr;

    /// The Lagrange polynomials at tau over these points, by their definition.
    fn expected(domain: &[Fr], tau: Fr) -> Vec<Affine<G1>> {
        let polynomial = |at: &Fr| {
            let others = domain.iter().filter(|other| *other != at);
            let value =
                others.fold(Fr::ONE, |value, other| value * (tau - *other) * inverse(&(*at - *other)));
            G1::GENERATOR.mul_vartime(&value).to_affine()
        };
        domain.iter().map(polynomial).collect()
    }

    fn powers(base: Fr, first: Fr, count: usize) -> impl Iterator<Item = Fr> {
        std::iter::successors(Some(first), move |power| Some(*power * base)).take(count)
    }

    fn transformed(points: &mut Elements<Affine<G1>>, domain: Range<usize>) -> Vec<Affine<G1>> {
        let mut written = Vec::new();
        let write = |start: usize, piece: &[Affine<G1>]| {
            assert_eq!(start, written.len());
            written.extend_from_slice(piece);
            Ok::<_, CeremonyError>(())
        };
        let steps = ButterflyProgress::new(butterflies(domain.len()), Progress::NONE);
        PointTransform {
            level: Level::best(),
            points,
            roots: <G1 as CircomCurve>::root_of_unity,
            steps: &steps,
        }
        .run(domain, Direction::Inverse, write)
        .unwrap();
        written
    }

    #[test]
    fn domains_and_cosets() {
        let (tau, shift) = (Fr::from(0x1234_5678_9abc), Fr::from(G1::SHIFT));
        for log_n in 0..6 {
            let n = 1 << log_n;
            let points = powers(tau, Fr::ONE, n).map(|power| G1::GENERATOR.mul_vartime(&power).to_affine());
            let mut points = Elements::from(points.collect::<Vec<_>>());
            let whole = points.to_vec();
            let written = transformed(&mut points, 0..n);
            let root = Fr::root_of_unity(log_n).unwrap();
            let domain: Vec<Fr> = powers(root, Fr::ONE, n).collect();
            assert_eq!(written, expected(&domain, tau), "2^{log_n}");
            if log_n == 0 {
                continue;
            }
            let mut points = Elements::from(whole);
            split(Level::best(), &mut points, &shift);
            let written = [transformed(&mut points, 0..n / 2), transformed(&mut points, n / 2..n)].concat();
            let root = Fr::root_of_unity(log_n - 1).unwrap();
            let both = powers(root, Fr::ONE, n / 2).chain(powers(root, shift, n / 2));
            assert_eq!(written, expected(&both.collect::<Vec<_>>(), tau), "two of 2^{}", log_n - 1);
        }
    }
}
