//! The products of many points, each with its own scalar, in lanes.
//!
//! An endomorphism multiplies points of the subgroup by a constant and costs one or two products (Gallant, Lambert, Vanstone, "Faster
//! point multiplication on elliptic curves with efficient endomorphisms", 2001; Galbraith, Lin, Scott, eprint 2008/194). A scalar is split
//! into short ones for its powers ([`Split`]): two of 128 bits on G1, four of 64 or 68 on G2, so that there are half or a quarter of the
//! doublings. All parts are made odd, which gives windows of four bits digits from {-15, -13, .., 15}: none is zero, so that all
//! lanes do the same in every step, and the table has eight multiples.
//!
//! Points stay affine: a batch's additions (6 products) and doublings (7) share an inversion ([`steps`](crate::steps)). A product in G1
//! costs 127 doublings and 63 additions, and 8 more steps for the table: 1,300 products.
//!
//! No branch and no address depends on the scalars, except that a batch whose formulas meet equal or opposite points is computed
//! again one by one: this happens for zero, for few other scalars, which random ones meet with negligible probability, and for points
//! outside the subgroup.

use crate::{
    Affine, Curve, Jacobian, bls12_381, bn254, msm,
    steps::{AffineStep, chain, has_zero, invert_chains, sums},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Engine, Field, LANES, Lanes, LanesOf, Packable, PrimeField, Select, dispatch,
};
use proofmill_run::parallel;

/// The bits of a digit.
const WINDOW: usize = 4;
/// The odd multiples in a table.
const MULTIPLES: usize = 1 << (WINDOW - 1);
/// The most parts of a scalar.
const MOST_PARTS: usize = 4;
/// The groups of lanes that are interleaved.
const K: usize = 2;
/// The points that share inversions: an inversion then costs less than a product for each, and the tables fit the second-level cache.
const BATCH: usize = 1024;

/// A curve with an endomorphism whose products are compiled in this crate, once for every level.
pub trait Products: Curve<Base: Packable> {
    /// As [`products_of_points`].
    ///
    /// # Panics
    /// See there.
    fn products(level: Level, points: &[Affine<Self>], scalars: &[Self::Scalar]) -> Vec<Affine<Self>>;

    /// As [`sums_and_differences`].
    ///
    /// # Panics
    /// See there.
    fn sums_and_differences(level: Level, a: &mut [Affine<Self>], b: &mut [Affine<Self>]);
}

/// A curve's endomorphism.
pub(crate) trait Endomorphism: Curve<Base: Packable> {
    /// The parts of a scalar.
    const PARTS: usize;
    /// Digits of a part.
    const DIGITS: usize;

    /// Splits a scalar, given by its words: see [`Split::split`].
    fn split(words: [u64; 4]) -> [u128; MOST_PARTS];

    /// The factors of x and y in the powers 1, 2, and 3 of the endomorphism.
    fn factors() -> [[Self::Base; 2]; MOST_PARTS - 1];

    /// A power of the endomorphism, which has these factors.
    fn image<E: Engine>(
        power: usize,
        point: [LanesOf<Self::Base, E>; 2],
        factors: &[LanesOf<Self::Base, E>; 2],
    ) -> [LanesOf<Self::Base, E>; 2];
}

/// The split of a curve's scalars.
pub(crate) struct Split<const PARTS: usize, const ENTRIES: usize> {
    /// Digits of a part: it is below `16^digits`.
    pub(crate) digits: usize,
    /// The rows, of `PARTS` entries, of the basis of a lattice whose vectors v have `sum v_i lambda^i = 0`. Little-endian two's complement.
    pub(crate) basis: [[u64; 4]; ENTRIES],
    /// The absolute values of the coefficients of (1, 0, ..) in this basis, times 2^320.
    pub(crate) reciprocals: [[u64; 5]; PARTS],
    /// The negative reciprocals: bit i for row i.
    pub(crate) negative: u8,
    /// The rows whose coefficients must be odd, for an even and for an odd scalar, so that all parts are odd.
    pub(crate) parities: [u8; 2],
}

impl<const PARTS: usize, const ENTRIES: usize> Split<PARTS, ENTRIES> {
    /// Odd parts k_i of a scalar k with `sum k_i lambda^i = k` and `|k_i| < 16^digits`, each as `(k_i + 16^digits - 1) / 2`: a digit of
    /// four bits B then stands for `2 B - 15`.
    ///
    /// The vector that is subtracted from (k, 0, ..) is the nearest one by Babai's rounding among those that leave odd parts.
    fn split(&self, scalar: [u64; 4]) -> [u128; MOST_PARTS] {
        let odd = (scalar[0] & 1) as u8;
        // Selected by a mask, because the parity of the scalar must not steer a branch.
        let parity = self.parities[0] ^ (self.parities[0] ^ self.parities[1]) & odd.wrapping_neg();
        let mut rest = [[0; 4]; PARTS];
        rest[0] = scalar;
        for (i, (reciprocal, row)) in self.reciprocals.iter().zip(self.basis.chunks(PARTS)).enumerate() {
            let parity = u64::from(parity >> i & 1);
            let [.., a, b, c, d]: [u64; 9] = product(&scalar, reciprocal);
            // Twice the rounded half of the coefficient less its parity, plus the parity.
            let mut coefficient = [a, b, c, d];
            add(&mut coefficient, &[1 - parity, 0, 0, 0]);
            coefficient[0] = coefficient[0] & !1 | parity;
            // Subtracted, unless it is negative.
            let sign = u64::from(self.negative >> i & 1).wrapping_sub(1);
            let coefficient = negate_if(coefficient, sign);
            // Modulo 2^256, since the result is short: upper words of products are not needed.
            for (rest, entry) in rest.iter_mut().zip(row) {
                add(rest, &product(&coefficient, entry));
            }
        }
        let most = u128::MAX >> (128 - WINDOW * self.digits);
        let mut parts = [0; MOST_PARTS];
        for (part, mut rest) in parts.iter_mut().zip(rest) {
            // The offset makes parts positive; both are odd, so the half is exact.
            add(&mut rest, &[most as u64, (most >> 64) as u64, 0, 0]);
            let [a, b, c, _] = rest;
            *part = u128::from(a >> 1 | b << 63) | u128::from(b >> 1 | c << 63) << 64;
        }
        parts
    }
}

/// The lowest `N` words of a product.
fn product<const N: usize>(a: &[u64], b: &[u64]) -> [u64; N] {
    let mut product = [0; N];
    for (i, a) in a.iter().enumerate() {
        let mut carry = 0;
        for (word, b) in product[i..].iter_mut().zip(b.iter().chain(&[0])) {
            (*word, carry) = a.carrying_mul_add(*b, *word, carry);
        }
    }
    product
}

fn add(sum: &mut [u64; 4], term: &[u64; 4]) {
    let mut carry = false;
    for (word, term) in sum.iter_mut().zip(term) {
        (*word, carry) = word.carrying_add(*term, carry);
    }
}

/// The negative if all bits of `sign` are set, the same if none is.
fn negate_if(words: [u64; 4], sign: u64) -> [u64; 4] {
    let mut words = words.map(|word| word ^ sign);
    add(&mut words, &[sign & 1, 0, 0, 0]);
    words
}

/// Implements [`Endomorphism`] of G1, `(beta x, y)`, and of G2, the Frobenius map on the twist.
macro_rules! endomorphisms {
    ($($family:ident),*) => {$(
        impl Endomorphism for $family::G1 {
            const PARTS: usize = 2;
            const DIGITS: usize = $family::G1_SPLIT.digits;

            fn split(words: [u64; 4]) -> [u128; MOST_PARTS] {
                $family::G1_SPLIT.split(words)
            }

            fn factors() -> [[Self::Base; 2]; MOST_PARTS - 1] {
                [[$family::BETA, Self::Base::ONE]; 3]
            }

            #[inline(always)]
            fn image<E: Engine>(
                power: usize,
                [x, y]: [LanesOf<Self::Base, E>; 2],
                factors: &[LanesOf<Self::Base, E>; 2],
            ) -> [LanesOf<Self::Base, E>; 2] {
                if power == 0 { [x, y] } else { [x * factors[0], y] }
            }
        }

        impl Endomorphism for $family::G2 {
            const PARTS: usize = 4;
            const DIGITS: usize = $family::G2_SPLIT.digits;

            fn split(words: [u64; 4]) -> [u128; MOST_PARTS] {
                $family::G2_SPLIT.split(words)
            }

            fn factors() -> [[Self::Base; 2]; MOST_PARTS - 1] {
                let once = $family::PSI;
                let twice = once.map(|factor| factor.conjugate() * factor);
                [once, twice, [once[0] * twice[0], once[1] * twice[1]]]
            }

            #[inline(always)]
            fn image<E: Engine>(
                power: usize,
                [x, y]: [LanesOf<Self::Base, E>; 2],
                factors: &[LanesOf<Self::Base, E>; 2],
            ) -> [LanesOf<Self::Base, E>; 2] {
                match power {
                    0 => [x, y],
                    2 => [x * factors[0], y * factors[1]],
                    _ => [x.conjugate() * factors[0], y.conjugate() * factors[1]],
                }
            }
        }

        compile!($family::G1, $family::G2);
    )*};
}

/// Implements [`Products`].
macro_rules! compile {
    ($($curve:ty),*) => {$(
        impl Products for $curve {
            fn products(level: Level, points: &[Affine<Self>], scalars: &[Self::Scalar]) -> Vec<Affine<Self>> {
                in_batches(level, points, scalars)
            }

            fn sums_and_differences(level: Level, a: &mut [Affine<Self>], b: &mut [Affine<Self>]) {
                msm::sums_and_differences(level, a, b);
            }
        }
    )*};
}

endomorphisms!(bn254, bls12_381);

/// The product of each point of the subgroup and its scalar. Runs on the ambient rayon pool. Products with points outside the subgroup are
/// not defined.
///
/// # Panics
/// If the numbers of scalars and points differ.
pub fn products_of_points<C: Products>(
    level: Level,
    points: &[Affine<C>],
    scalars: &[C::Scalar],
) -> Vec<Affine<C>> {
    C::products(level, points, scalars)
}

/// Replaces each pair `(a, b)` by `(a + b, a - b)`: the butterflies of a transform of points. Runs on the ambient rayon pool. Any points
/// of the curve, equal, opposite and infinite ones too.
///
/// # Panics
/// If the lengths differ.
pub fn sums_and_differences<C: Products>(level: Level, a: &mut [Affine<C>], b: &mut [Affine<C>]) {
    C::sums_and_differences(level, a, b);
}

fn in_batches<C: Endomorphism>(level: Level, points: &[Affine<C>], scalars: &[C::Scalar]) -> Vec<Affine<C>> {
    assert_eq!(points.len(), scalars.len(), "as many scalars as points");
    // Whole groups for every chain, and no more than a batch.
    let share =
        points.len().div_ceil(parallel::threads()).next_multiple_of(K * LANES).clamp(K * LANES, BATCH);
    let mut products = vec![Affine::INFINITY; points.len()];
    let batches = points.chunks(share).zip(scalars.chunks(share)).zip(products.chunks_mut(share));
    parallel::for_each(batches, |((points, scalars), products)| {
        if dispatch!(level, engine => batch(engine, points, scalars, products)).is_err() {
            let one_by_one: Vec<Jacobian<C>> =
                points.iter().zip(scalars).map(|(point, scalar)| point.mul_vartime(scalar)).collect();
            products.copy_from_slice(&Jacobian::batch_to_affine(&one_by_one));
        }
    });
    products
}

type L<C, E> = LanesOf<<C as Curve>::Base, E>;

/// One point in each lane.
type Points<C, E> = [L<C, E>; 2];

/// The odd multiples 1, 3, .., 15 of a group's points.
type Table<C, E> = [Points<C, E>; MULTIPLES];

/// A batch's points in groups of lanes. Its passes are functions of their own, which keeps them small.
struct Batch<C: Endomorphism, E: Engine> {
    engine: E,
    sums: Vec<Points<C, E>>,
    /// The points to add to the sums.
    terms: Vec<Points<C, E>>,
    steps: Vec<AffineStep<L<C, E>>>,
    tables: Vec<Table<C, E>>,
    factors: [[L<C, E>; 2]; MOST_PARTS - 1],
}

/// The formulas met equal or opposite points.
struct Exceptional;

impl<C: Endomorphism, E: Engine> Batch<C, E> {
    const WIDTH: usize = L::<C, E>::WIDTH;

    fn new(engine: E, points: &[Affine<C>]) -> Self {
        let groups = points.len().div_ceil(Self::WIDTH).next_multiple_of(K);
        engine.run(
            #[inline(always)]
            || {
                let mut sums = vec![[L::<C, E>::zero(engine); 2]; groups];
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = load(engine, points.get(i * Self::WIDTH..).unwrap_or_default());
                }
                let mut factors = [sums[0]; MOST_PARTS - 1];
                for (lanes, factors) in factors.iter_mut().zip(C::factors()) {
                    *lanes =
                        [L::<C, E>::broadcast(engine, factors[0]), L::<C, E>::broadcast(engine, factors[1])];
                }
                let tables = sums.iter().map(|point| [*point; MULTIPLES]).collect();
                let steps = vec![AffineStep::empty(engine); groups];
                Self { engine, terms: sums.clone(), sums, steps, tables, factors }
            },
        )
    }

    /// Doubles the sums.
    fn double(&mut self) -> Result<(), Exceptional> {
        let Self { engine, sums, steps, .. } = self;
        let products = engine.run(
            #[inline(always)]
            || {
                chain(
                    *engine,
                    steps,
                    #[inline(always)]
                    |group| AffineStep::double(sums[group]),
                )
            },
        );
        self.finish(products)
    }

    /// Adds the terms to the sums.
    fn add(&mut self) -> Result<(), Exceptional> {
        let Self { engine, sums, terms, steps, .. } = self;
        let products = engine.run(
            #[inline(always)]
            || {
                chain(
                    *engine,
                    steps,
                    #[inline(always)]
                    |group| AffineStep::add(sums[group], terms[group]),
                )
            },
        );
        self.finish(products)
    }

    /// Computes the sums from the steps and the products of their denominators.
    fn finish(&mut self, products: [L<C, E>; K]) -> Result<(), Exceptional> {
        let Self { engine, sums: all, steps, .. } = self;
        engine.run(
            #[inline(always)]
            || {
                if has_zero::<C::Base, E, K>(&products) {
                    return Err(Exceptional);
                }
                let mut inverses = invert_chains::<C::Base, E, K>(products);
                for (steps, all) in steps.chunks_exact(K).zip(all.chunks_exact_mut(K)).rev() {
                    let (results, rest) = sums::<_, K>(steps, inverses);
                    all.copy_from_slice(&results);
                    inverses = rest;
                }
                Ok(())
            },
        )
    }

    /// Completes the tables, in which all multiples are the first.
    fn fill_tables(&mut self) -> Result<(), Exceptional> {
        self.double()?;
        // Now the sums are P again and the terms 2 P: each addition gives the next odd multiple.
        std::mem::swap(&mut self.sums, &mut self.terms);
        for i in 1..MULTIPLES {
            self.add()?;
            for (table, sum) in self.tables.iter_mut().zip(&self.sums) {
                table[i] = *sum;
            }
        }
        Ok(())
    }

    /// Makes the terms the multiples for a digit of a part of each group.
    fn find(&mut self, part: usize, digit: impl Fn(usize) -> Digit) {
        let Self { engine, terms, tables, factors, .. } = self;
        engine.run(
            #[inline(always)]
            || {
                for (group, (term, table)) in terms.iter_mut().zip(tables).enumerate() {
                    let [a, b, c, positive] = digit(group);
                    // 2 B - 15 is the multiple B - 8 if B is at least 8, otherwise the negated multiple 7 - B.
                    let bits = [a, b, c].map(
                        #[inline(always)]
                        |bit| !(bit ^ positive),
                    );
                    let multiple = [select::<C, E>(table, 0, bits), select::<C, E>(table, 1, bits)];
                    let [x, y] = C::image::<E>(part, multiple, &factors[part.max(1) - 1]);
                    *term = [x, L::<C, E>::select(!positive, -y, y)];
                }
            },
        );
    }

    fn multiply(&mut self, scalars: &[C::Scalar]) -> Result<(), Exceptional> {
        let digits = digits::<C>(Self::WIDTH, self.sums.len(), scalars);
        self.fill_tables()?;
        for window in (0..C::DIGITS).rev() {
            let first = window + 1 == C::DIGITS;
            // All parts share the doublings (Straus).
            for _ in 0..if first { 0 } else { WINDOW } {
                self.double()?;
            }
            for part in 0..C::PARTS {
                self.find(part, |group| digits[(group * C::PARTS + part) * C::DIGITS + window]);
                // The first multiple is the sum: affine formulas could not add it to infinity.
                if first && part == 0 {
                    std::mem::swap(&mut self.sums, &mut self.terms);
                } else {
                    self.add()?;
                }
            }
        }
        Ok(())
    }
}

/// Writes the products of at most [`BATCH`] points, unless the formulas met equal or opposite points.
fn batch<C: Endomorphism, E: Engine>(
    engine: E,
    points: &[Affine<C>],
    scalars: &[C::Scalar],
    products: &mut [Affine<C>],
) -> Result<(), Exceptional> {
    let mut batch = Batch::new(engine, points);
    batch.multiply(scalars)?;
    let width = L::<C, E>::WIDTH;
    engine.run(
        #[inline(always)]
        || {
            let groups = points.chunks(width).zip(products.chunks_mut(width));
            for (sum, (points, products)) in batch.sums.iter().zip(groups) {
                store::<C, E>(*sum, points, products);
            }
        },
    );
    Ok(())
}

/// The bits of a digit in every lane, the lowest first.
type Digit = [u8; WINDOW];

/// The digits of the parts of each group's scalars, the lowest first.
fn digits<C: Endomorphism>(width: usize, groups: usize, scalars: &[C::Scalar]) -> Vec<Digit> {
    let mut digits = vec![Digit::default(); groups * C::PARTS * C::DIGITS];
    for (scalars, digits) in scalars.chunks(width).zip(digits.chunks_mut(C::PARTS * C::DIGITS)) {
        let mut parts = [[0; LANES]; MOST_PARTS];
        for (lane, scalar) in scalars.iter().enumerate() {
            let mut words = [0; 4];
            words.copy_from_slice(scalar.to_words().as_ref());
            for (parts, part) in parts.iter_mut().zip(C::split(words)) {
                parts[lane] = part;
            }
        }
        for (parts, digits) in parts.iter().zip(digits.chunks_mut(C::DIGITS)) {
            for (i, digits) in digits.chunks_mut(2).enumerate() {
                // A byte of each lane is a row; a byte of the transpose is one bit of all lanes.
                let bytes = parts.map(|part| (part >> (8 * i)) as u8);
                let bits = transposed(u64::from_le_bytes(bytes)).to_le_bytes();
                for (digit, bits) in digits.iter_mut().zip(bits.as_chunks().0) {
                    *digit = *bits;
                }
            }
        }
    }
    digits
}

/// The transpose of a matrix of 8 by 8 bits: by quarters, then by their quarters (Warren, "Hacker's Delight", section 7-3).
fn transposed(mut bits: u64) -> u64 {
    for (distance, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (bits ^ bits >> distance) & mask;
        bits ^= swapped ^ swapped << distance;
    }
    bits
}

/// A coordinate of the multiples whose numbers have these bits in each lane.
#[inline(always)]
fn select<C: Endomorphism, E: Engine>(
    table: &[[L<C, E>; 2]; MULTIPLES],
    coordinate: usize,
    bits: [u8; WINDOW - 1],
) -> L<C, E> {
    // A tree of selections reads the whole table, so that no address depends on the digit.
    let mut halves = [table[0][coordinate]; MULTIPLES / 2];
    for (i, half) in halves.iter_mut().enumerate() {
        *half = L::<C, E>::select(bits[0], table[2 * i + 1][coordinate], table[2 * i][coordinate]);
    }
    let low = L::<C, E>::select(bits[1], halves[1], halves[0]);
    let high = L::<C, E>::select(bits[1], halves[3], halves[2]);
    L::<C, E>::select(bits[2], high, low)
}

/// The first points, one in each lane; the generator in place of infinity and in empty lanes.
#[inline(always)]
fn load<C: Endomorphism, E: Engine>(engine: E, points: &[Affine<C>]) -> [L<C, E>; 2] {
    let width = L::<C, E>::WIDTH;
    let (mut x, mut y) = ([C::GENERATOR.x; LANES], [C::GENERATOR.y; LANES]);
    for (i, point) in points.iter().take(width).enumerate() {
        if !point.is_infinity() {
            (x[i], y[i]) = (point.x, point.y);
        }
    }
    [L::<C, E>::load(engine, &x[..width]), L::<C, E>::load(engine, &y[..width])]
}

/// Writes the products of the first lanes; infinity where the point is.
#[inline(always)]
fn store<C: Endomorphism, E: Engine>(sum: [L<C, E>; 2], points: &[Affine<C>], products: &mut [Affine<C>]) {
    let width = L::<C, E>::WIDTH;
    let (mut x, mut y) = ([C::Base::ZERO; LANES], [C::Base::ZERO; LANES]);
    sum[0].store(&mut x[..width]);
    sum[1].store(&mut y[..width]);
    for (i, (point, product)) in points.iter().zip(products).enumerate() {
        *product = if point.is_infinity() { Affine::INFINITY } else { Affine { x: x[i], y: y[i] } };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<C: Endomorphism>() {
        let mut scalar = C::Scalar::ONE;
        let scalars: Vec<C::Scalar> = (0..20)
            .map(|_| {
                scalar = (scalar.square() + C::Scalar::ONE).square() + scalar;
                scalar.square().square().square()
            })
            .collect();
        let points = [C::GENERATOR; 20];
        let mut products = points;
        for level in Level::available() {
            let formulas = |scalars: &[C::Scalar], products: &mut [Affine<C>]| dispatch!(level, engine => batch(engine, &points[..scalars.len()], scalars, products).is_ok());
            assert!(formulas(&scalars, &mut products), "{level}");
            assert!(formulas(&[C::Scalar::ONE], &mut products[..1]), "{level}");
            assert!(!formulas(&[scalars[0], C::Scalar::ZERO], &mut products[..2]), "{level}");
        }
    }

    #[test]
    fn formulas_compute_all_but_special_scalars() {
        check::<bn254::G1>();
        check::<bn254::G2>();
        check::<bls12_381::G1>();
        check::<bls12_381::G2>();
    }

    #[test]
    fn transposition_swaps_rows_and_columns() {
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            assert_eq!(transposed(1 << (8 * row + column)), 1 << (8 * column + row));
        }
    }
}
