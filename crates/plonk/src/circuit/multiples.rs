//! The points that a multiplication of a fixed point adds up.
//!
//! A scalar a below 2^254 is cut into windows of `width` bits, the lowest first, the last one of what is left. The digit e of
//! a window of b bits at bit s stands for the odd number `d = 2 e - (2^b - 1)` and adds `d 2^s G/2`, which is never the neutral
//! point. Together the windows add `a G - (2^254 - 1)/2 G`, whatever the width; the constant is part of the point that the sum
//! [starts from](start).

use super::{Arithmetisation, range::window as bits_of};
use proofmill_curve::{
    Affine, Jacobian,
    grumpkin::{self, Grumpkin},
};
use proofmill_field::{Algebra, Field, batch_invert, bn254::Fr};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Bits of a scalar.
pub(super) const SCALAR_BITS: u32 = 254;

/// The squares of the odd digits 1, 3, 5, 7.
const SQUARES: [u64; 4] = [1, 9, 25, 49];

/// The multiples of a point of Grumpkin by the digits of all windows of one width.
#[derive(Clone, Debug)]
pub struct Multiples {
    base: Affine<Grumpkin>,
    width: u32,
    /// Names of the lookup tables, one a window.
    names: Vec<String>,
    /// Of each window the multiples by positive digits, 1, 3, ...; the others are their opposites.
    positive: Vec<Vec<Affine<Grumpkin>>>,
    /// Of each window of at most three bits the coefficients of x, and of y divided by the digit, as polynomials in the digit's
    /// square.
    polynomials: Vec<[[Fr; 4]; 2]>,
    tables: OnceLock<Vec<Arc<[[Fr; 3]]>>>,
}

impl Multiples {
    /// Of a point, by the windows that an arithmetisation has.
    ///
    /// # Panics
    /// If the point is infinity.
    pub fn new(base: Affine<Grumpkin>, arithmetisation: Arithmetisation) -> Self {
        Self::with_window_bits(base, arithmetisation.window_bits())
    }

    /// Of a point, by windows of `width` bits; turbo has windows of 2 bits, standard of 3, ultra of any.
    ///
    /// # Panics
    /// If the point is infinity, or `width` is not in `2..=16`.
    pub fn with_window_bits(base: Affine<Grumpkin>, width: u32) -> Self {
        assert!(!base.is_infinity(), "expected a point with multiples, found infinity");
        assert!((2..=16).contains(&width), "expected windows of 2 to 16 bits, found {width}");
        let mut half = base.mul_vartime(&half_scalar());
        let mut halves = Vec::new();
        for start in (0..SCALAR_BITS).step_by(width as usize) {
            halves.push((half, width.min(SCALAR_BITS - start)));
            half = (0..width).fold(half, |point, _| point.double());
        }
        let positive: Vec<_> = halves.into_par_iter().map(|(half, bits)| odd_multiples(half, bits)).collect();
        let polynomials =
            if width <= 3 { positive.iter().map(|window| polynomials(window)).collect() } else { Vec::new() };
        let x: String = base.x.to_bytes_be().iter().map(|byte| format!("{byte:02x}")).collect();
        let sign = if base.y.to_canonical()[0] & 1 == 1 { "-" } else { "" };
        let name = |window| format!("{sign}{x} by {width} bits, window {window}");
        Self {
            base,
            width,
            names: (0..positive.len()).map(name).collect(),
            positive,
            polynomials,
            tables: OnceLock::new(),
        }
    }

    /// The point that is multiplied.
    pub fn base(&self) -> Affine<Grumpkin> {
        self.base
    }

    /// Bits of a window, except perhaps the last.
    pub fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn windows(&self) -> usize {
        self.positive.len()
    }

    /// Bits of a window.
    pub(super) fn bits(&self, window: usize) -> u32 {
        self.width.min(SCALAR_BITS - self.width * window as u32)
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Of each window a lookup table of (digit, -x, y).
    pub(super) fn tables(&self) -> &[Arc<[[Fr; 3]]>] {
        self.tables.get_or_init(|| {
            let row = |window, digit| {
                let Affine { x, y } = self.point(window, digit);
                [Fr::from(digit as u64), -x, y]
            };
            (0..self.windows())
                .map(|window| (0..1 << self.bits(window)).map(|digit| row(window, digit)).collect())
                .collect()
        })
    }

    /// The digit of a window of an integer.
    pub(super) fn digit(&self, integer: &[u64; 4], window: usize) -> usize {
        let bit = self.width as usize * window;
        let word = |index: usize| integer.get(index).copied().unwrap_or_default();
        let both = u128::from(word(bit / 64)) | u128::from(word(bit / 64 + 1)) << 64;
        (both >> (bit % 64)) as usize & ((1 << self.bits(window)) - 1)
    }

    /// The point that a digit of a window adds.
    pub(super) fn point(&self, window: usize, digit: usize) -> Affine<Grumpkin> {
        let positive = &self.positive[window];
        match digit.checked_sub(positive.len()) {
            Some(index) => positive[index],
            None => -positive[positive.len() - 1 - digit],
        }
    }

    /// The points that an integer's windows add.
    pub(super) fn summands(&self, integer: [u64; 4]) -> impl Iterator<Item = Affine<Grumpkin>> {
        (0..self.windows()).map(move |window| self.point(window, self.digit(&integer, window)))
    }

    /// What is left of an integer without the windows below each, from that of all of it.
    pub(super) fn prefixes(&self, integer: [u64; 4]) -> impl Iterator<Item = Fr> {
        (0..self.windows() as u32).map(move |window| {
            let start = self.width * window;
            bits_of(&integer, start, SCALAR_BITS - start)
        })
    }

    /// The coefficients of x, and of y divided by the digit, as polynomials in the digit's square, for windows of at most three
    /// bits.
    pub(super) fn polynomials(&self, window: usize) -> &[[Fr; 4]; 2] {
        &self.polynomials[window]
    }
}

impl Arithmetisation {
    /// Bits of a window of a scalar that multiplies a fixed point: what a row of the gate has, or an arithmetic digit, or the
    /// tables unless [chosen](super::Circuit::set_window_bits).
    pub(super) fn window_bits(self) -> u32 {
        match self {
            Self::Standard => 3,
            Self::Turbo => 2,
            Self::Ultra => 10,
        }
    }
}

/// 1/2 modulo the group's order.
fn half_scalar() -> grumpkin::Fr {
    grumpkin::Fr::from(2).invert().unwrap_or_default()
}

/// The multiples of a point by 1, 3, ..., `2^bits - 1`.
fn odd_multiples(point: Jacobian<Grumpkin>, bits: u32) -> Vec<Affine<Grumpkin>> {
    let twice = point.double();
    let odd: Vec<_> = std::iter::successors(Some(point), |multiple| Some(multiple.add(&twice)))
        .take(1 << (bits - 1))
        .collect();
    Jacobian::batch_to_affine(&odd)
}

/// x and y/d of the multiples by d = 1, 3, ... as polynomials in d^2.
fn polynomials(multiples: &[Affine<Grumpkin>]) -> [[Fr; 4]; 2] {
    let x: Vec<Fr> = multiples.iter().map(|point| point.x).collect();
    let by_digit = (1..)
        .step_by(2)
        .zip(multiples)
        .map(|(digit, point)| point.y * Fr::from(digit).invert().unwrap_or_default());
    [interpolate(&x), interpolate(&by_digit.collect::<Vec<_>>())]
}

/// The coefficients of the polynomial with these values at the first of [`SQUARES`], by Newton's divided differences.
fn interpolate(values: &[Fr]) -> [Fr; 4] {
    let mut differences = values.to_vec();
    for order in 1..values.len() {
        for i in (order..values.len()).rev() {
            let run = Fr::from(SQUARES[i] - SQUARES[i - order]).invert().unwrap_or_default();
            differences[i] = (differences[i] - differences[i - 1]) * run;
        }
    }
    let mut coefficients = [Fr::ZERO; 4];
    for (difference, square) in differences.iter().zip(SQUARES).rev() {
        // Horner: times (X - square), plus the difference.
        for i in (0..4).rev() {
            let below = if i == 0 { *difference } else { coefficients[i - 1] };
            coefficients[i] = below - coefficients[i] * Fr::from(square);
        }
    }
    coefficients
}

/// Where a sum starts that is to end in `origin` plus multiples of the bases: `origin + (2^254 - 1)/2 (base + ...)`.
pub(super) fn start(origin: Affine<Grumpkin>, bases: &[Affine<Grumpkin>]) -> Affine<Grumpkin> {
    let half_bases =
        bases.iter().map(|base| base.mul_vartime(&half_scalar())).sum::<Jacobian<Grumpkin>>().to_affine();
    let all_ones = [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> (256 - SCALAR_BITS)];
    half_bases.mul_words_vartime(&all_ones).add_affine(&origin).to_affine()
}

/// A sum of points, step by step.
pub(super) struct Steps {
    /// The partial sums, from the start to the end.
    pub(super) sums: Vec<Affine<Grumpkin>>,
    /// The slopes of the lines through a partial sum and the next point.
    pub(super) slopes: Vec<Fr>,
}

/// The partial sums of points and the slopes of their additions, with one inversion.
///
/// Affine addition in Jacobian coordinates with `Z' = Z H`, where `H = x Z^2 - X` and `R = y Z^3 - Y`: the slope is `R / Z'`, so
/// that the inverses of the Zs give slopes too. Where an addition has no slope, this and all that follows is zero.
pub(super) fn steps(start: Affine<Grumpkin>, points: impl Iterator<Item = Affine<Grumpkin>>) -> Steps {
    let (mut x, mut y, mut z) = (start.x, start.y, Fr::ONE);
    let mut sums = vec![start];
    let (mut slopes, mut inverses) = (Vec::new(), Vec::new());
    for point in points {
        let z_squared = z.square();
        let run = point.x * z_squared - x;
        let rise = point.y * z_squared * z - y;
        let run_squared = run.square();
        let run_cubed = run_squared * run;
        let v = x * run_squared;
        x = rise.square() - run_cubed - v.double();
        y = rise * (v - x) - y * run_cubed;
        z *= run;
        sums.push(Affine { x, y });
        slopes.push(rise);
        inverses.push(z);
    }
    batch_invert(&mut inverses);
    for ((sum, slope), inverse) in sums[1..].iter_mut().zip(&mut slopes).zip(inverses) {
        *slope *= inverse;
        let square = inverse.square();
        sum.x *= square;
        sum.y *= square * inverse;
    }
    Steps { sums, slopes }
}
