//! The points that the multiplication of a fixed point adds.
//!
//! A scalar `a < r` is split into windows of `width` bits, starting at the lowest. The rest, the top window,
//! selects one of 2^b values V(e) from 0 to `M = r - 2^R`, where R is the number of bits of the windows below
//! and `b = 254 - R`. Consecutive values differ by at most 2^R, so every a below r has digits; and the
//! largest integer that digits represent is `M + 2^R - 1 = r - 1`. So any digits represent an integer below
//! r, the only one for the scalar, and no comparison with r is needed.
//!
//! A window adds d G/2 for an odd number d, so never the neutral element. d is `2 V - M` for the top window,
//! and `2^s (2 e - (2^b - 1))` for a window of b bits at bit s. Odd numbers come in opposite pairs, which
//! halves the number of cases; the values V are symmetric as well. Together the windows add
//! `a G - (r - 1)/2 G` for any width; the constant is part of the point that the sum [starts from](start).

use super::{
    Arithmetisation,
    range::{power_of_two, window as bits_of},
};
use proofmill_curve::{
    Affine, Jacobian,
    grumpkin::{self, Grumpkin},
};
use proofmill_field::{Algebra, Field, Invert, SquareRoot, batch_invert_vartime, bn254::Fr};
use proofmill_run::parallel;
use std::sync::{Arc, OnceLock};

/// Bits of a scalar.
pub(super) const SCALAR_BITS: u32 = 254;

/// The multiples of a point of Grumpkin for the digits of all windows of one width.
#[derive(Clone, Debug)]
pub struct Multiples {
    base: Affine<Grumpkin>,
    width: u32,
    /// The values of the top window, ascending.
    tops: Vec<Fr>,
    /// The top window, then the others from the lowest one.
    windows: Vec<Window>,
    /// The names of the lookup tables, one per window.
    names: Vec<String>,
    tables: OnceLock<Vec<Arc<[[Fr; 3]]>>>,
    conics: OnceLock<Vec<Conics>>,
    polynomials: OnceLock<Vec<Polynomials>>,
}

/// The multiples for the digits of one window.
#[derive(Clone, Debug)]
struct Window {
    /// The odd numbers of the upper half of the digits, in units of the window. Those of the lower half are
    /// their opposites.
    odd: Vec<Fr>,
    /// The points of these odd numbers.
    positive: Vec<Affine<Grumpkin>>,
}

/// The coefficients of the equations of [`FixedBase`](crate::arithmetisation::gates::FixedBase).
pub(super) type Conics = [[Fr; 4]; 3];

/// The points of a window of at most three bits in the form that standard uses.
#[derive(Clone, Debug)]
pub(super) struct Polynomials {
    /// The squares of the odd numbers.
    pub(super) squares: Vec<Fr>,
    /// The coefficients of x as a polynomial in the square.
    pub(super) x: [Fr; 4],
    /// The coefficients of y divided by the odd number.
    pub(super) y_by_odd: [Fr; 4],
}

impl Multiples {
    /// The multiples of a point for the windows of an arithmetisation.
    ///
    /// # Panics
    /// If the point is infinity.
    pub fn new(base: Affine<Grumpkin>, arithmetisation: Arithmetisation) -> Self {
        Self::with_window_bits(base, arithmetisation.window_bits())
    }

    /// The multiples of a point for windows of `width` bits. Standard and turbo have windows of 3 bits, ultra
    /// of any width.
    ///
    /// # Panics
    /// If the point is infinity, or `width` is not in `2..=16`.
    pub fn with_window_bits(base: Affine<Grumpkin>, width: u32) -> Self {
        assert!(!base.is_infinity(), "expected a point with multiples, found infinity");
        assert!((2..=16).contains(&width), "expected windows of 2 to 16 bits, found {width}");
        let lower = (SCALAR_BITS - 1) / width;
        let (step, tops) = tops(lower * width);
        let mut half = base.mul_vartime(&half_scalar());
        // First point, first odd number, difference of points, difference of odd numbers, count.
        let middle = tops[tops.len() / 2].double() - tops[tops.len() - 1];
        let first = half.to_affine().mul_words_vartime(&middle.to_canonical());
        let step_point = base.mul_words_vartime(&step.to_canonical());
        let mut progressions = vec![((first, middle), (step_point, step.double()), tops.len() / 2)];
        for _ in 0..lower {
            progressions.push(((half, Fr::ONE), (half.double(), Fr::from(2)), 1 << (width - 1)));
            half = (0..width).fold(half, |point, _| point.double());
        }
        let window = |(first, difference, count)| Window::of(first, difference, count);
        let windows = parallel::map(progressions, window);
        let x = hex::encode(base.x.to_bytes_be());
        let sign = if base.y.to_canonical()[0] & 1 == 1 { "-" } else { "" };
        let name = |window| format!("{sign}{x} by {width} bits, window {window}");
        Self {
            base,
            width,
            tops,
            names: (0..windows.len()).map(name).collect(),
            windows,
            tables: OnceLock::new(),
            conics: OnceLock::new(),
            polynomials: OnceLock::new(),
        }
    }

    /// The point that is multiplied.
    pub fn base(&self) -> Affine<Grumpkin> {
        self.base
    }

    /// The number of bits of a window. The top window has at most as many.
    pub fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    /// M, the largest value of the top window.
    pub(super) fn largest_top(&self) -> Fr {
        self.tops[self.tops.len() - 1]
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// For each window the lookup table of (digit, -x, y); for the top window (V, -x, y).
    pub(super) fn tables(&self) -> &[Arc<[[Fr; 3]]>] {
        self.tables.get_or_init(|| {
            let row = |window: usize, digit| {
                let Affine { x, y } = self.windows[window].point(digit);
                [if window == 0 { self.tops[digit] } else { Fr::from(digit as u64) }, -x, y]
            };
            (0..self.windows())
                .map(|window| (0..self.windows[window].digits()).map(|digit| row(window, digit)).collect())
                .collect()
        })
    }

    /// For each window of at most three bits the equations of the points that a row of turbo adds.
    pub(super) fn conics(&self) -> &[Conics] {
        self.conics.get_or_init(|| {
            let scale = |window| if window == 0 { Fr::from(TOP_SCALE) } else { Fr::ONE };
            self.windows.iter().enumerate().map(|(index, window)| window.conics(scale(index))).collect()
        })
    }

    /// The points of a window, each with the odd number that the equations of [`Self::conics`] use for it.
    #[cfg(test)]
    pub(super) fn odd_points(&self, window: usize) -> impl Iterator<Item = (Fr, Affine<Grumpkin>)> {
        let scale = if window == 0 { Fr::from(TOP_SCALE) } else { Fr::ONE };
        let window = &self.windows[window];
        let positive =
            window.odd.iter().zip(&window.positive).map(move |(odd, point)| (*odd * scale, *point));
        positive.clone().map(|(odd, point)| (-odd, -point)).chain(positive)
    }

    /// The digits of a scalar in all windows; and the rest of the scalar without its top window and, for each
    /// further window, without the windows below it.
    fn cut(&self, scalar: Fr) -> (Vec<usize>, Vec<Fr>) {
        let words = |x: &Fr| x.to_canonical();
        let is_in = |top: &Fr| words(top).iter().rev().le(words(&scalar).iter().rev());
        let top = self.tops.partition_point(is_in) - 1;
        let rest = words(&(scalar - self.tops[top]));
        let lower = self.windows() as u32 - 1;
        let shifts = (0..lower).map(|window| self.width * window);
        let digit = |shift| bits_of(&rest, shift, self.width).to_canonical()[0] as usize;
        let prefix = |shift| bits_of(&rest, shift, self.width * lower - shift);
        (std::iter::once(top).chain(shifts.clone().map(digit)).collect(), shifts.map(prefix).collect())
    }

    /// The points that the windows of a scalar add.
    pub(super) fn summands(&self, scalar: Fr) -> impl Iterator<Item = Affine<Grumpkin>> {
        self.windows.iter().zip(self.cut(scalar).0).map(|(window, digit)| window.point(digit))
    }

    /// The rest of a scalar without its top window, and then also without the windows below each further
    /// window.
    pub(super) fn prefixes(&self, scalar: Fr) -> Vec<Fr> {
        self.cut(scalar).1
    }

    /// For each window of at most three bits, the polynomials with which standard computes its points.
    pub(super) fn polynomials(&self) -> &[Polynomials] {
        self.polynomials.get_or_init(|| self.windows.iter().map(Window::polynomials).collect())
    }
}

/// The factor of the top window's odd numbers in turbo: the gate subtracts 8 times the next row's
/// accumulator.
pub(super) const TOP_SCALE: u64 = 8;

impl Window {
    /// A window of odd numbers in arithmetic progression and their points.
    fn of(first: (Jacobian<Grumpkin>, Fr), difference: (Jacobian<Grumpkin>, Fr), count: usize) -> Self {
        let next =
            |(point, odd): &(Jacobian<Grumpkin>, Fr)| Some((point.add(&difference.0), *odd + difference.1));
        let (points, odd): (Vec<_>, _) = std::iter::successors(Some(first), next).take(count).unzip();
        Self { odd, positive: Jacobian::batch_to_affine(&points) }
    }

    fn digits(&self) -> usize {
        2 * self.positive.len()
    }

    /// The point that a digit adds.
    fn point(&self, digit: usize) -> Affine<Grumpkin> {
        match digit.checked_sub(self.positive.len()) {
            Some(index) => self.positive[index],
            None => -self.positive[self.positive.len() - 1 - digit],
        }
    }

    fn polynomials(&self) -> Polynomials {
        let squares: Vec<Fr> = self.odd.iter().map(|odd| odd.square()).collect();
        let x: Vec<Fr> = self.positive.iter().map(|point| point.x).collect();
        let mut by_odd = self.odd.clone();
        batch_invert_vartime(&mut by_odd);
        by_odd.iter_mut().zip(&self.positive).for_each(|(inverse, point)| *inverse *= point.y);
        Polynomials { x: interpolate(&squares, &x), y_by_odd: interpolate(&squares, &by_odd), squares }
    }

    /// The equations of the points for `scale` times their odd numbers. A window of two bits has only two
    /// points (u, T.x) for the conics. Two more points are added where u is not a square, so no d gives them.
    fn conics(&self, scale: Fr) -> Conics {
        let of_point = |(point, odd): (&Affine<Grumpkin>, &Fr)| {
            let odd = *odd * scale;
            [odd.square(), point.x, odd * point.y]
        };
        let of_points = self.positive.iter().zip(&self.odd).map(of_point);
        let nonsquares =
            (2..).map(Fr::from).filter(|u| u.sqrt_vartime().is_none()).map(|u| [u, Fr::ZERO, Fr::ZERO]);
        let points: Vec<_> = of_points.chain(nonsquares).take(4).collect();
        let [p, q, r, s] = points[..] else { unreachable!("an endless iterator") };
        for [[u1, x1, _], [u2, x2, _], [u3, x3, _]] in [[p, q, r], [p, q, s], [p, r, s], [q, r, s]] {
            // This ensures that two conics through the four points have no line in common.
            assert!(
                (u2 - u1) * (x3 - x1) != (u3 - u1) * (x2 - x1),
                "three multiples on a line: choose another base"
            );
        }
        let rows = [p, q, r, s].map(|[u, x, w]| ([u.square(), x, u, Fr::ONE], [-x.square(), -(u * x), -w]));
        solve(rows)
    }
}

/// The solutions of four linear equations `left . m = right` for three right-hand sides.
fn solve(mut rows: [([Fr; 4], [Fr; 3]); 4]) -> Conics {
    for column in 0..4 {
        let pivot = (column..4).find(|row| !rows[*row].0[column].is_zero());
        rows.swap(column, pivot.expect("four multiples on a parabola: choose another base"));
        let inverse = rows[column].0[column].invert_vartime().expect("not zero");
        rows[column] = (rows[column].0.map(|x| x * inverse), rows[column].1.map(|x| x * inverse));
        let (left, right) = rows[column];
        for row in (0..4).filter(|row| *row != column) {
            let factor = rows[row].0[column];
            (0..4).for_each(|i| rows[row].0[i] -= factor * left[i]);
            (0..3).for_each(|i| rows[row].1[i] -= factor * right[i]);
        }
    }
    std::array::from_fn(|equation| std::array::from_fn(|i| rows[i].1[equation]))
}

/// The step and the values V of a window above `below` bits, ascending: `0, step, 2 step, ...` in the lower
/// half, and `M - V` for each of these in the upper half. The step is M divided by the number of values minus
/// one, rounded down.
fn tops(below: u32) -> (Fr, Vec<Fr>) {
    let largest = -power_of_two(below);
    let count = 1u64 << (SCALAR_BITS - below);
    let mut step = largest.to_canonical();
    let mut remainder = 0;
    for word in step.iter_mut().rev() {
        let dividend = u128::from(remainder) << 64 | u128::from(*word);
        *word = (dividend / u128::from(count - 1)) as u64;
        remainder = (dividend % u128::from(count - 1)) as u64;
    }
    let step = Fr::from_canonical(step).expect("less than M");
    let multiple = |k| Fr::from(k) * step;
    let lower = (0..count / 2).map(multiple);
    let upper = (0..count / 2).rev().map(|k| largest - multiple(k));
    (step, lower.chain(upper).collect())
}

impl Arithmetisation {
    /// The default number of bits of a window of a scalar that multiplies a fixed point. In standard and
    /// turbo it is fixed by the digits; in ultra it can be [changed](super::Circuit::set_window_bits).
    pub(super) fn window_bits(self) -> u32 {
        match self {
            Self::Standard | Self::Turbo => 3,
            Self::Ultra => 10,
        }
    }
}

/// 1/2 modulo the group's order.
fn half_scalar() -> grumpkin::Fr {
    grumpkin::Fr::from(2).invert_vartime().unwrap_or_default()
}

/// The coefficients of the polynomial with these values at these points, at most four, by Newton's divided
/// differences.
fn interpolate(places: &[Fr], values: &[Fr]) -> [Fr; 4] {
    let mut differences = values.to_vec();
    for order in 1..values.len() {
        for i in (order..values.len()).rev() {
            let run = (places[i] - places[i - order]).invert_vartime().expect("places differ");
            differences[i] = (differences[i] - differences[i - 1]) * run;
        }
    }
    let mut coefficients = [Fr::ZERO; 4];
    for (difference, place) in differences.iter().zip(places).rev() {
        // Horner's rule: multiply by (X - place) and add the difference.
        for i in (0..4).rev() {
            let below = if i == 0 { *difference } else { coefficients[i - 1] };
            coefficients[i] = below - coefficients[i] * *place;
        }
    }
    coefficients
}

/// The start of a sum that ends in `origin` plus multiples of the bases: `origin + (r - 1)/2 (base + ...)`.
pub(super) fn start(origin: Affine<Grumpkin>, bases: &[Affine<Grumpkin>]) -> Affine<Grumpkin> {
    let half: Fr = Fr::from(2).invert_vartime().unwrap_or_default();
    let half = -half;
    let multiples = bases.iter().map(|base| base.mul_words_vartime(&half.to_canonical()));
    multiples.sum::<Jacobian<Grumpkin>>().add_affine(&origin).to_affine()
}

/// The steps of a sum of points.
pub(super) struct AdditionSteps {
    /// The partial sums, from the first to the last.
    pub(super) sums: Vec<Affine<Grumpkin>>,
    /// The slopes of the lines through a partial sum and the next point.
    pub(super) slopes: Vec<Fr>,
}

/// The partial sums of points and the slopes of their additions, with one inversion.
///
/// Affine addition in Jacobian coordinates with `Z' = Z H`, where `H = x Z^2 - X` and `R = y Z^3 - Y`. The
/// slope is `R / Z'`, so the inverses of the Zs give the slopes too. If an addition has no slope, its result
/// and all later ones are zero.
pub(super) fn steps(
    start: Affine<Grumpkin>,
    points: impl Iterator<Item = Affine<Grumpkin>>,
) -> AdditionSteps {
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
    batch_invert_vartime(&mut inverses);
    for ((sum, slope), inverse) in sums[1..].iter_mut().zip(&mut slopes).zip(inverses) {
        *slope *= inverse;
        let square = inverse.square();
        sum.x *= square;
        sum.y *= square * inverse;
    }
    AdditionSteps { sums, slopes }
}
