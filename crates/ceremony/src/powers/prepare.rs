//! Preparation for the second phase: Lagrange polynomials at tau, from the powers.
//!
//! The polynomial i of the domain of n points with root w is `1/n sum_j w^(-i j) tau^j`: an inverse transform of the powers. Transforms are
//! by decimation in frequency (Gentleman, Sande, "Fast Fourier transforms for fun and profit", 1966): `(a, b)` becomes
//! `(a + b, (a - b) w^(-j))`, and the order that of reversed bits. Most of the time are products of a point and a root, so none is
//! by 1, and the factor 1/n is a part of the other roots: each point but the first is multiplied last in a block that was the second half of the
//! first one.
//!
//! Large domains lie in a file. Their levels are done piece by piece until a block fits the memory, which is then finished.

use crate::{CeremonyError, encoding::Encoding};
use proofmill_circom::{CircomError, PointCheck, Ptau, PtauPoints, PtauWriter, Target};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
    products_of_points, sums_and_differences,
};
use proofmill_field::{
    Algebra, Field, Invert, Prime,
    bn254::{Fr, FrParams},
};
use proofmill_memory::{Elements, Zeroed};
use proofmill_parallel as parallel;
use proofmill_progress::Progress;
use std::{ops::Range, path::Path};

/// The logarithm of the points that are transformed in memory: 128 or 256 MiB.
const LOG_BLOCK: u32 = 21;
/// Butterflies that are in work at the same time, and points that are read or written.
const PIECE: usize = 1 << 16;
/// The sections of powers, and those of Lagrange polynomials.
const SECTIONS: u32 = 9;
/// The logarithm of the scalar field's largest domain.
const TWO_ADICITY: u32 = FrParams::TWO_ADICITY;
/// ffjavascript's shift of a coset, the square of the smallest number that is none.
const SHIFT: u64 = 25;

/// Writes the powers and, for all domains, the Lagrange polynomials at tau, which setup needs. Contributions stay. Runs on the ambient
/// rayon pool. Domains of more than 2^21 points are in temporary files in `folder`; memory is about 500 MB at most.
///
/// Points are checked to be on their curves; [`verify`](super::verify) checks the powers.
///
/// # Errors
/// [`CeremonyError::File`], [`CeremonyError::Scratch`].
pub fn prepare<'a>(
    level: Level,
    powers: &Ptau,
    target: impl Into<Target<'a>>,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<(), CeremonyError> {
    let work = Work { level, powers, folder };
    let power = powers.header().power;
    work.write(target.into(), progress, |file| {
        work.section::<G1>(file, PtauPoints::TauG1, 0..power + 2, progress)?;
        work.section::<G2>(file, PtauPoints::TauG2, 0..power + 1, progress)?;
        work.section::<G1>(file, PtauPoints::AlphaTauG1, 0..power + 1, progress)?;
        work.section::<G1>(file, PtauPoints::BetaTauG1, 0..power + 1, progress)
    })
}

/// Adds the Lagrange polynomials of the domain of `2^(power + 1)` points, which files lack that snarkjs prepared before 0.3, and PLONK's
/// setup needs. Otherwise as [`prepare`].
///
/// # Errors
/// As [`prepare`], and [`CeremonyError::Unprepared`].
pub fn convert<'a>(
    level: Level,
    powers: &Ptau,
    target: impl Into<Target<'a>>,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<(), CeremonyError> {
    if !powers.is_prepared() {
        return Err(CeremonyError::Unprepared);
    }
    let work = Work { level, powers, folder };
    let power = powers.header().power;
    work.write(target.into(), progress, |file| {
        work.section::<G1>(file, PtauPoints::TauG1, power + 1..power + 2, progress)?;
        let others = PtauPoints::PREPARED.iter().filter(|points| **points != PtauPoints::LagrangeTauG1);
        others.copied().try_for_each(|points| Ok(file.copy(powers, points, power)?))
    })
}

struct Work<'a> {
    level: Level,
    powers: &'a Ptau,
    folder: &'a Path,
}

impl Work<'_> {
    /// Writes the powers, the contributions, and what `prepared` writes.
    fn write(
        &self,
        target: Target<'_>,
        progress: Progress<'_>,
        prepared: impl FnOnce(&mut PtauWriter<'_>) -> Result<(), CeremonyError>,
    ) -> Result<(), CeremonyError> {
        let Self { powers, .. } = self;
        powers.expect_powers()?;
        progress.begin("copy");
        let header = *powers.header();
        let mut file = PtauWriter::create(target, &header, SECTIONS)?;
        for points in PtauPoints::POWERS {
            file.copy(powers, points, header.power)?;
        }
        file.contributions(powers.contributions()?, powers.encoded_contributions()?)?;
        prepared(&mut file)?;
        Ok(file.finish()?)
    }

    /// Writes a section of Lagrange polynomials: those of these domains, given by the logarithms of their sizes, after those that the file has
    /// of smaller ones.
    fn section<C: Encoding>(
        &self,
        file: &mut PtauWriter<'_>,
        source: PtauPoints,
        domains: Range<u32>,
        progress: Progress<'_>,
    ) -> Result<(), CeremonyError> {
        let Some(section) = C::prepared(source) else { return Ok(()) };
        progress.begin(section.section().content);
        let powers = self.powers.points::<C>(source)?;
        // An error that the writer cannot pass on.
        let mut failure = None;
        let written = file.points(section, |out| {
            let kept = (1 << domains.start) - 1;
            for range in parallel::ranges(kept, PIECE) {
                let lagrange = self.powers.points::<C>(section)?.slice(range)?;
                out.points(&lagrange.decode(self.level, PointCheck::OnCurve)?)?;
            }
            for log_n in domains {
                let n = 1 << log_n;
                let mut points = match self.scratch(n) {
                    Ok(points) => points,
                    Err(error) => {
                        failure = Some(error);
                        return Ok(());
                    }
                };
                // The highest power is taken as zero where there is none.
                for range in parallel::ranges(powers.len().min(n), PIECE) {
                    let piece = powers.slice(range.clone())?.decode(self.level, PointCheck::OnCurve)?;
                    points.iter_mut().skip(range.start).zip(piece).for_each(|(point, power)| *point = power);
                    points.release(range);
                }
                let mut write = |polynomials: &[Affine<C>]| out.points(polynomials);
                let mut transform = Transform { level: self.level, points: &mut points };
                if log_n <= TWO_ADICITY {
                    transform.lagrange(0..n, &mut write)?;
                } else {
                    transform.split(&Fr::from(SHIFT));
                    transform.lagrange(0..n / 2, &mut write)?;
                    transform.lagrange(n / 2..n, &mut write)?;
                }
            }
            Ok(())
        });
        written.map_err(CeremonyError::from).and(failure.map_or(Ok(()), Err))
    }

    fn scratch<C: Curve<Base: Zeroed>>(&self, count: usize) -> Result<Elements<Affine<C>>, CeremonyError> {
        let folder = (count > 1 << LOG_BLOCK).then_some(self.folder);
        let failed = |source| CeremonyError::Scratch { folder: self.folder.to_owned(), source };
        Elements::zeroed(folder, count).map_err(failed)
    }
}

/// Transforms of points in place.
struct Transform<'a, C: Curve> {
    level: Level,
    points: &'a mut Elements<Affine<C>>,
}

impl<C: Encoding> Transform<'_, C> {
    /// Gives the Lagrange polynomials of a domain, whose powers are in `domain`, to `write`.
    fn lagrange(
        &mut self,
        domain: Range<usize>,
        write: &mut impl FnMut(&[Affine<C>]) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        let log_n = domain.len().ilog2();
        let log_block = log_n.min(LOG_BLOCK);
        let scale = inverse(&Fr::from(domain.len() as u64));
        for log_m in (log_block + 1..=log_n).rev() {
            self.butterflies(domain.clone(), log_m, &scale);
        }
        for block in parallel::ranges(domain.len(), 1 << log_block) {
            let scale = if block.start == 0 { scale } else { Fr::ONE };
            let block = domain.start + block.start..domain.start + block.end;
            for log_m in (1..=log_block).rev() {
                self.butterflies(block.clone(), log_m, &scale);
            }
            if let Some(first) = self.points.get_mut(block.start) {
                *first = first.mul_vartime(&scale).to_affine();
            }
            reverse_bits(self.points.get_mut(block.clone()).unwrap_or_default());
            self.points.release(block);
        }
        // The blocks are in the order of reversed bits, and each takes turns with the others.
        let blocks = domain.len() >> log_block;
        let block =
            |i: usize| if blocks == 1 { 0 } else { i.reverse_bits() >> (usize::BITS - blocks.ilog2()) };
        for range in parallel::ranges(domain.len(), PIECE.max(blocks)) {
            let place = |i: usize| domain.start + (block(i % blocks) << log_block) + i / blocks;
            let polynomials: Vec<_> =
                range.clone().filter_map(|i| self.points.get(place(i)).copied()).collect();
            write(&polynomials)?;
            for first in range.clone().take(blocks) {
                let place = place(first);
                self.points.release(place..place + range.len() / blocks);
            }
        }
        Ok(())
    }

    /// The butterflies of blocks of `2^log_m` points; the factors of the first one are multiplied by `scale`.
    fn butterflies(&mut self, domain: Range<usize>, log_m: u32, scale: &Fr) {
        let half = 1 << (log_m - 1);
        let root = inverse(&Fr::root_of_unity(log_m).unwrap_or(Fr::ONE));
        for pairs in parallel::ranges(domain.len() / 2, PIECE) {
            let place = |pair: usize| domain.start + pair / half * 2 * half + pair % half;
            let at = |place: usize| self.points.get(place).copied().unwrap_or(Affine::INFINITY);
            let mut a: Vec<_> = pairs.clone().map(|pair| at(place(pair))).collect();
            let mut b: Vec<_> = pairs.clone().map(|pair| at(place(pair) + half)).collect();
            sums_and_differences(self.level, &mut a, &mut b);
            let mut factor = root.pow_vartime(&[(pairs.start % half) as u64]);
            let (mut multiplied, mut factors) = (Vec::new(), Vec::new());
            for (pair, b) in pairs.clone().zip(&mut b) {
                if pair % half == 0 {
                    factor = Fr::ONE;
                }
                let scaled = if pair < half { factor * *scale } else { factor };
                if scaled != Fr::ONE {
                    factors.push(scaled);
                    multiplied.push(b);
                }
                factor *= root;
            }
            let points: Vec<_> = multiplied.iter().map(|point| **point).collect();
            let products = products_of_points(self.level, &points, &factors);
            multiplied.into_iter().zip(products).for_each(|(point, product)| *point = product);
            for (pair, (a, b)) in pairs.clone().zip(a.into_iter().zip(b)) {
                for (place, point) in [(place(pair), a), (place(pair) + half, b)] {
                    self.points.get_mut(place).into_iter().for_each(|to| *to = point);
                }
            }
            if domain.len() > 1 << LOG_BLOCK {
                let first = place(pairs.start);
                self.points.release(first..first + pairs.len());
                self.points.release(first + half..first + half + pairs.len());
            }
        }
    }

    /// Turns the powers t_j of a domain of n = 2 m points that the field does not have into those of the domain of m points,
    /// `(s^m t_j - t_(m+j)) / (s^m - 1)`, and of its coset by the shift s, `s^(-j) (t_(m+j) - t_j) / (s^m - 1)`: snarkjs takes both
    /// together for the domain of n points.
    fn split(&mut self, shift: &Fr) {
        let half = self.points.len() / 2;
        let factor = inverse(&(shift.pow_vartime(&[half as u64]) - Fr::ONE));
        let step = inverse(shift);
        for range in parallel::ranges(half, PIECE) {
            let (low, high) = self.points.split_at_mut(half);
            let (Some(low), Some(high)) = (low.get_mut(range.clone()), high.get_mut(range.clone())) else {
                return;
            };
            // (t_j - t_(m+j)) / (s^m - 1), which is added to t_j, and times -s^(-j).
            let mut sums = low.to_vec();
            sums_and_differences(self.level, &mut sums, high);
            let mut quotients = products_of_points(self.level, high, &vec![factor; range.len()]);
            let first = -step.pow_vartime(&[range.start as u64]);
            let factors: Vec<_> =
                std::iter::successors(Some(first), |factor| Some(*factor * step)).take(range.len()).collect();
            high.copy_from_slice(&products_of_points(self.level, &quotients, &factors));
            sums_and_differences(self.level, low, &mut quotients);
            self.points.release(range.clone());
            self.points.release(half + range.start..half + range.end);
        }
    }
}

/// Moves each element to the index with its bits reversed.
fn reverse_bits<T>(elements: &mut [T]) {
    let bits = elements.len().ilog2();
    for i in (0..elements.len()).filter(|_| bits > 0) {
        let other = i.reverse_bits() >> (usize::BITS - bits);
        if i < other {
            elements.swap(i, other);
        }
    }
}

/// The inverse of an element other than zero.
fn inverse(value: &Fr) -> Fr {
    value.invert_vartime().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn domains_and_cosets() {
        let (tau, shift) = (Fr::from(0x1234_5678_9abc), Fr::from(SHIFT));
        for log_n in 0..6 {
            let n = 1 << log_n;
            let points = powers(tau, Fr::ONE, n).map(|power| G1::GENERATOR.mul_vartime(&power).to_affine());
            let mut points = Elements::from(points.collect::<Vec<_>>());
            let whole = points.to_vec();
            let mut transform = Transform { level: Level::best(), points: &mut points };
            let mut written = Vec::new();
            let mut write = |piece: &[Affine<G1>]| {
                written.extend_from_slice(piece);
                Ok(())
            };
            transform.lagrange(0..n, &mut write).unwrap();
            let root = Fr::root_of_unity(log_n).unwrap();
            let domain: Vec<Fr> = powers(root, Fr::ONE, n).collect();
            assert_eq!(written, expected(&domain, tau), "2^{log_n}");
            if log_n == 0 {
                continue;
            }
            let (mut points, mut written) = (Elements::from(whole), Vec::new());
            let mut write = |piece: &[Affine<G1>]| {
                written.extend_from_slice(piece);
                Ok(())
            };
            let mut transform = Transform { level: Level::best(), points: &mut points };
            transform.split(&shift);
            transform.lagrange(0..n / 2, &mut write).unwrap();
            transform.lagrange(n / 2..n, &mut write).unwrap();
            let root = Fr::root_of_unity(log_n - 1).unwrap();
            let both = powers(root, Fr::ONE, n / 2).chain(powers(root, shift, n / 2));
            assert_eq!(written, expected(&both.collect::<Vec<_>>(), tau), "two of 2^{}", log_n - 1);
        }
    }
}
