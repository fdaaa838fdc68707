//! Multiplications of points of Grumpkin by elements of the circuit's field, taken as integers below r.

use super::{
    Arithmetisation, Bit, Circuit, Point, Variable,
    below_modulus::ComparedPrefixes,
    multiples::{Multiples, SCALAR_BITS, start},
    range::window,
};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_hash::pedersen::ORIGIN;

/// The number of base-4 digits of half a scalar.
const DIGITS: u32 = (SCALAR_BITS - 1).div_ceil(2);

impl Circuit {
    /// Sets the number of bits of the windows of Pedersen hashes, for the calls that follow; the default in
    /// ultra is 10. Larger windows take fewer rows and larger tables: for 13 bits, for instance, 20 rows per
    /// input and 311,552 rows of tables. Tables cost nothing if they fit into the domain that the rows need.
    ///
    /// # Panics
    /// If the arithmetisation has no lookups, or `bits` is not in `2..=16`.
    pub fn set_window_bits(&mut self, bits: u32) {
        assert!(self.arithmetisation == Arithmetisation::Ultra, "{} has no lookups", self.arithmetisation);
        assert!((2..=16).contains(&bits), "expected windows of 2 to 16 bits, found {bits}");
        self.window_bits = bits;
    }

    /// A scalar times a fixed point. A scalar of zero is refused, since the result has no coordinates.
    ///
    /// The sum of windows starts from a [hashed](proofmill_hash::pedersen::ORIGIN) point, which is subtracted
    /// at the end. Its discrete logarithm to the base must be unknown.
    ///
    /// # Panics
    /// If the width of the windows of the multiples is not that of the arithmetisation.
    pub fn mul_fixed_point(&mut self, scalar: Variable, multiples: &Multiples) -> Point {
        assert!(
            self.arithmetisation == Arithmetisation::Ultra || self.window_bits == multiples.width(),
            "{} has windows of {} bits, not {}",
            self.arithmetisation,
            self.window_bits,
            multiples.width()
        );
        self.gadget("fixed-base multiplication", |circuit| {
            let sum = circuit.sum_of_multiples(start(ORIGIN, &[multiples.base()]), &[(scalar, multiples)]);
            let origin = circuit.constant_point(-ORIGIN);
            circuit.add_points(sum, origin)
        })
    }

    /// A scalar times a point of the curve. A scalar of zero is refused, since the result has no coordinates.
    ///
    /// Rows: standard 4516, turbo 1167, ultra 1164.
    ///
    /// The scalar is `A = 2 m + b < r`. With the base-4 digits e_k of m, of which the highest is 0 or 1, and
    /// odd digits `d_k = 2 e_k - 3`, except `d_126 = 2 e_126 + 1`, `A + 1 - b = 2 m + 1` is the sum of
    /// `d_k 4^k`. Horner's rule adds `d_k P` to `4 M P`, where M is odd, at least 1, and `4 M + d_k <= r`; as
    /// `|d_k| <= 3` and r + 6 is less than the group's order, `4 M P` is never plus or minus `d_k P`. At the
    /// end P is subtracted if b is 0, which is an addition of opposite points only for `A = 0`. If b is 1,
    /// `2 P` is added instead and the result is not used.
    pub fn mul_point(&mut self, scalar: Variable, point: Point) -> Point {
        let integer = self.value(scalar).to_canonical();
        self.gadget("multiplication", |circuit| circuit.mul_by_integer(scalar, integer, point))
    }

    pub(super) fn mul_by_integer(&mut self, scalar: Variable, integer: [u64; 4], point: Point) -> Point {
        let lowest = self.boolean(integer[0] & 1 == 1);
        let digits = self.signed_digits(scalar, integer, lowest);
        let twice = self.double_point(point);
        let thrice = self.add_points(twice, point);
        let differences = Point { x: self.sub(thrice.x, point.x), y: self.sub(thrice.y, point.y) };
        let mut summands = Vec::new();
        for digit in &digits {
            summands.push(self.odd_multiple(digit, point, differences));
        }
        let opposite = self.negate_point(point);
        let correction = self.select_point(lowest, twice, opposite);
        let mut sum = summands.pop().expect("the highest digit");
        for summand in summands.into_iter().rev() {
            let double = self.double_point(sum);
            let quadruple = self.double_point(double);
            sum = self.add_points(quadruple, summand);
        }
        let even = self.add_points(sum, correction);
        self.select_point(lowest, sum, even)
    }

    /// One of two points: four rows; six in standard.
    pub fn select_point(&mut self, bit: Bit, p: Point, q: Point) -> Point {
        Point { x: self.select(bit, p.x, q.x), y: self.select(bit, p.y, q.y) }
    }

    /// The signed odd digits, lowest first, of the integer that is one more than the scalar without its
    /// lowest bit.
    fn signed_digits(&mut self, scalar: Variable, integer: [u64; 4], lowest: Bit) -> Vec<SignedDigit> {
        let half = |k: u32| window(&integer, 2 * k + 1, SCALAR_BITS - 1 - 2 * k);
        let mut prefixes = Vec::new();
        for k in 0..DIGITS {
            let prefix = half(k);
            prefixes.push(self.witness(prefix));
        }
        self.assert_linear_zero(
            &[(prefixes[0], Fr::from(2)), (lowest.variable(), Fr::ONE), (scalar, -Fr::ONE)],
            Fr::ZERO,
        );
        let levels = ComparedPrefixes::new(self.arithmetisation, 2, 1);
        let of_shift = |shift: &u32| if *shift == 0 { scalar } else { prefixes[(*shift / 2) as usize] };
        let chosen: Vec<Variable> = levels.shifts().iter().map(of_shift).collect();
        self.assert_below_modulus(&levels, &chosen);
        let mut digits = Vec::new();
        for pair in prefixes.windows(2) {
            digits.push(self.signed_digit(pair[0], pair[1]));
        }
        let thrice = self.assert_boolean(prefixes[DIGITS as usize - 1]);
        let positive = self.constant_bit(true);
        digits.push(SignedDigit { positive, thrice });
        digits
    }

    /// The digit between two prefixes: `e = prefix - 4 next` and `2 e - 3 = (2 positive - 1) (1 + 2 thrice)`,
    /// so `e = 2 positive thrice + positive - thrice + 1`.
    fn signed_digit(&mut self, prefix: Variable, next: Variable) -> SignedDigit {
        let digit = (self.value(prefix) - self.value(next).double().double()).to_canonical()[0];
        let positive = self.boolean(digit >= 2);
        let thrice = self.boolean(digit == 0 || digit == 3);
        let [p, t] = [positive, thrice].map(Bit::variable);
        let terms = [(p, Fr::ONE), (t, -Fr::ONE), (prefix, -Fr::ONE), (next, Fr::from(4))];
        self.assert_quadratic_zero((Fr::from(2), p, t), &terms, Fr::ONE);
        SignedDigit { positive, thrice }
    }

    /// P, 3 P, or the opposite of either, given P and the coordinates of 3 P minus those of P. Three rows in
    /// turbo and ultra.
    fn odd_multiple(&mut self, digit: &SignedDigit, point: Point, differences: Point) -> Point {
        let [thrice, positive] = [digit.thrice, digit.positive].map(Bit::variable);
        let [x, y] = [(point.x, differences.x), (point.y, differences.y)].map(|(once, difference)| {
            self.quadratic((Fr::ONE, thrice, difference), &[(once, Fr::ONE)], Fr::ZERO)
        });
        Point { x, y: self.quadratic((Fr::from(2), positive, y), &[(y, -Fr::ONE)], Fr::ZERO) }
    }
}

/// One of -3, -1, 1, 3.
struct SignedDigit {
    positive: Bit,
    thrice: Bit,
}
