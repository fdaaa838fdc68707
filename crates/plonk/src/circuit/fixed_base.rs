//! Sums of multiples of fixed points: the core of Pedersen hashes and fixed-base scalar multiplications.
//!
//! A sum starts from a constant point and adds one point per window (see [`Multiples`]). Every addition is
//! affine, of points that are neither equal nor opposite; only then is the slope of their line determined.
//! The start contains a point [hashed to the curve](proofmill_hash::pedersen), whose discrete logarithms to
//! the bases are unknown. A partial sum equal to plus or minus the next point would be a relation with known
//! coefficients between this point and the bases. So finding scalars that lead to it solves the discrete
//! logarithm problem on Grumpkin. An honest prover does not meet the case, and a malicious one cannot provoke
//! it.

use super::{
    Arithmetisation, Circuit, Point, TableNumber, Variable,
    multiples::{AdditionSteps, Conics, Multiples, Polynomials, TOP_SCALE, steps},
    range::power_of_two,
};
use crate::{Column, Gate, Selector};
use proofmill_curve::{Affine, grumpkin::Grumpkin};
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};

/// A scalar and the multiples of its base.
pub(super) type FixedBaseTerm<'a> = (Variable, &'a Multiples);

impl Circuit {
    /// The sum of the start and the multiples by the scalars, without `(r - 1)/2` times the bases. The
    /// windows represent only the integer below r of a scalar (see [`Multiples`]).
    pub(super) fn sum_of_multiples(&mut self, start: Affine<Grumpkin>, terms: &[FixedBaseTerm<'_>]) -> Point {
        let (x, ordinate) = self.add_multiples(start, terms);
        let y = match ordinate {
            Ordinate::Known(y) => y,
            Ordinate::Line(Line { slope, intercept }) => {
                self.quadratic((-Fr::ONE, slope, x), &[(intercept, -Fr::ONE)], Fr::ZERO)
            }
        };
        Point { x, y }
    }

    /// The x coordinate of [`Self::sum_of_multiples`].
    pub(super) fn abscissa_of_multiples(
        &mut self,
        start: Affine<Grumpkin>,
        terms: &[FixedBaseTerm<'_>],
    ) -> Variable {
        self.add_multiples(start, terms).0
    }

    /// The x coordinate of the sum, and either y or a line through the opposite point.
    fn add_multiples(
        &mut self,
        start: Affine<Grumpkin>,
        terms: &[FixedBaseTerm<'_>],
    ) -> (Variable, Ordinate) {
        let points = terms.iter().flat_map(|(scalar, multiples)| multiples.summands(self.value(*scalar)));
        let steps = steps(start, points);
        let prefixes: Vec<Vec<Variable>> = terms.iter().map(|term| self.prefixes(term)).collect();
        if self.arithmetisation == Arithmetisation::Standard {
            let (x, line) = self.sum_by_arithmetic(&steps, terms, &prefixes);
            return (x, Ordinate::Line(line));
        }
        let Point { x, y } = self.sum_by_gates(&steps, terms, &prefixes);
        (x, Ordinate::Known(y))
    }

    /// The rest of a scalar without its top window, and then also without the windows below each further
    /// window.
    fn prefixes(&mut self, &(scalar, multiples): &FixedBaseTerm<'_>) -> Vec<Variable> {
        let mut prefixes = Vec::new();
        for prefix in multiples.prefixes(self.value(scalar)) {
            prefixes.push(self.witness(prefix));
        }
        prefixes
    }

    /// One row per window, and one more: in turbo for every scalar, shared with the next rows; in ultra only
    /// for the last scalar.
    fn sum_by_gates(
        &mut self,
        steps: &AdditionSteps,
        terms: &[FixedBaseTerm<'_>],
        prefixes: &[Vec<Variable>],
    ) -> Point {
        let mut sums = steps.sums.iter();
        let mut next_sum = |circuit: &mut Self, known: bool| {
            let Affine { x, y } = *sums.next().expect("one sum more than points");
            let make = if known { Self::constant } else { Self::witness };
            Point { x: make(circuit, x), y: make(circuit, y) }
        };
        let mut slopes = steps.slopes.iter();
        let mut sum = next_sum(self, true);
        let is_ultra = self.arithmetisation == Arithmetisation::Ultra;
        for (term, prefixes) in terms.iter().zip(prefixes) {
            let (scalar, multiples) = *term;
            let tables = is_ultra.then(|| self.window_tables(multiples));
            let first = if is_ultra { scalar } else { self.top_accumulator(term) };
            for (window, accumulator) in std::iter::once(first).chain(prefixes.iter().copied()).enumerate() {
                let slope = self.witness(*slopes.next().expect("one slope per point"));
                match tables {
                    Some(first) => {
                        let factor = match window {
                            0 => -Fr::ONE,
                            _ if window == prefixes.len() => Fr::ZERO,
                            _ => -power_of_two(multiples.width()),
                        };
                        let chord = (Column::Selector(Selector::Gate(Gate::Chord)), Fr::ONE);
                        self.lookup_with(
                            first.following(window as u32),
                            [accumulator, sum.x, sum.y, slope],
                            [factor, Fr::ONE, Fr::ZERO],
                            &[chord],
                        );
                    }
                    None => {
                        self.fixed_base_row([sum.x, sum.y, slope, accumulator], &multiples.conics()[window])
                    }
                }
                sum = next_sum(self, false);
            }
            if !is_ultra {
                let zero = self.zero();
                self.row([sum.x, sum.y, Variable::NONE, zero], &[]);
            }
        }
        if is_ultra {
            self.row([Variable::NONE, sum.x, sum.y, Variable::NONE], &[]);
        }
        sum
    }

    /// The accumulator in turbo's row for a scalar's top window, `8 a - 4 M + 7/2`. With the next accumulator
    /// P, the gate's odd number is `2 (8 a - 4 M + 7/2 - 8 P) - 7`, which is 8 times `2 (a - P) - M`. It is
    /// constrained by the preceding row, which has a free term.
    fn top_accumulator(&mut self, &(scalar, multiples): &FixedBaseTerm<'_>) -> Variable {
        let scale = Fr::from(TOP_SCALE);
        let half = Fr::from(2).invert_vartime().unwrap_or_default();
        let constant = (Fr::from(7) - scale * multiples.largest_top()) * half;
        let accumulator = self.witness(scale * self.value(scalar) + constant);
        let sum = [(Selector::Wire(2), scale), (Selector::Next, -Fr::ONE), (Selector::Constant, constant)];
        let fixed = sum.map(|(selector, value)| (Column::Selector(selector), value));
        self.row([Variable::NONE, Variable::NONE, scalar, Variable::NONE], &fixed);
        accumulator
    }

    fn fixed_base_row(&mut self, wires: [Variable; 4], conics: &Conics) {
        let coefficients = (0..).map(Selector::Multiple).zip(conics.iter().flatten().copied());
        let gate = std::iter::once((Selector::Gate(Gate::FixedBase), Fr::ONE));
        let fixed = gate.chain(coefficients).map(|(selector, value)| (Column::Selector(selector), value));
        self.row(wires, &fixed.collect::<Vec<_>>());
    }

    /// The number of the first of a point's tables; the others have the following numbers.
    fn window_tables(&mut self, multiples: &Multiples) -> TableNumber {
        let tables = multiples.tables();
        let mut is_new = false;
        let first = self.table(&multiples.names()[0], || {
            is_new = true;
            tables[0].clone()
        });
        if is_new {
            for (name, table) in multiples.names().iter().zip(tables).skip(1) {
                self.table(name, || table.clone());
            }
        }
        first
    }

    /// Adds points by lines `y = l x + c`. The line of a step goes through the sum (X, Y), the point T that
    /// is added, and (X', -Y'), so `Y = l X + c` and `Y' = -(l X' + c)`. Y' needs no variable, because the
    /// next line gives the same Y': `(l + l') X' = -(c + c')`, with `T.y = l T.x + c` and
    /// `X' = l^2 - X - T.x`. Returns the last X' and its line.
    ///
    /// Rows for a window of three bits: 4 for the digit, 3 for T, 8 for the addition.
    fn sum_by_arithmetic(
        &mut self,
        steps: &AdditionSteps,
        terms: &[FixedBaseTerm<'_>],
        prefixes: &[Vec<Variable>],
    ) -> (Variable, Line) {
        let start = steps.sums[0];
        let mut slopes = steps.slopes.iter();
        let mut sum: Option<(Variable, Line)> = None;
        for ((scalar, multiples), prefixes) in terms.iter().zip(prefixes) {
            let accumulators = std::iter::once(scalar).chain(prefixes);
            for (window, accumulator) in accumulators.enumerate() {
                let polynomials = &multiples.polynomials()[window];
                let (factor, most) = match window {
                    0 => (Fr::ONE, multiples.largest_top()),
                    _ => (power_of_two(multiples.width()), power_of_two(multiples.width()) - Fr::ONE),
                };
                let next = prefixes.get(window).map(|next| (*next, factor));
                let digit = self.odd_digit(*accumulator, next, most, &polynomials.squares);
                let point = self.multiple(&digit, polynomials);
                let slope = self.witness(*slopes.next().expect("one slope per point"));
                let line = self.line(slope, point);
                let square = self.mul(slope, slope);
                let x = match sum {
                    None => {
                        self.assert_linear_zero(&[(slope, start.x), (line.intercept, Fr::ONE)], -start.y);
                        self.linear(&[(square, Fr::ONE), (point.x, -Fr::ONE)], -start.x)
                    }
                    Some((x, before)) => {
                        self.assert_meet(x, before, line);
                        let both = self.add(x, point.x);
                        self.sub(square, both)
                    }
                };
                sum = Some((x, line));
            }
        }
        sum.expect("a window")
    }

    /// The odd number `2 (accumulator - factor * next) - most` of a window, its square, and for three bits
    /// the value `p` that [`Self::multiple`] needs. The square is constrained to be one of the window's.
    ///
    /// For three bits these are 1, 9, 25 and 49: the product of `D - 1`, `D - 9`, `D - 25` and `D - 49` is
    /// `p^2 + 210 p - 4096 D + 11025` for `p = D^2 - 42 D`.
    fn odd_digit(
        &mut self,
        accumulator: Variable,
        next: Option<(Variable, Fr)>,
        most: Fr,
        squares: &[Fr],
    ) -> OddDigit {
        let rest = next.map_or(Fr::ZERO, |(next, factor)| factor * self.value(next));
        let digit = (self.value(accumulator) - rest).double() - most;
        let digit = self.witness(digit);
        let (next, factor) = next.unwrap_or((accumulator, Fr::ZERO));
        let terms = [(digit, Fr::ONE), (accumulator, -Fr::from(2)), (next, factor.double())];
        self.assert_linear_zero(if factor.is_zero() { &terms[..2] } else { &terms }, most);
        let square = self.mul(digit, digit);
        if let [s1, s2] = *squares {
            self.assert_quadratic_zero((Fr::ONE, square, square), &[(square, -(s1 + s2))], s1 * s2);
            return OddDigit { digit, square, quartic: None };
        }
        debug_assert_eq!(squares, [1, 9, 25, 49].map(Fr::from));
        let p = self.quadratic((Fr::ONE, square, square), &[(square, -Fr::from(42))], Fr::ZERO);
        let terms = [(p, Fr::from(210)), (square, -Fr::from(4096))];
        self.assert_quadratic_zero((Fr::ONE, p, p), &terms, Fr::from(11025));
        OddDigit { digit, square, quartic: Some(p) }
    }

    /// The multiple for a digit: x and y/d are polynomials in the digit's square D, of degree 3 for three
    /// bits. As `D^2 = p + 42 D`, they are sums of 1, D, p and D p.
    fn multiple(&mut self, digit: &OddDigit, polynomials: &Polynomials) -> Point {
        let &OddDigit { digit, square, quartic } = digit;
        let Polynomials { x, y_by_odd: y, .. } = polynomials;
        let Some(p) = quartic else {
            let x = self.linear(&[(square, x[1])], x[0]);
            return Point { x, y: self.quadratic((y[1], digit, square), &[(digit, y[0])], Fr::ZERO) };
        };
        let [x, y_by_odd] = [x, y].map(|[c0, c1, c2, c3]| {
            let on_square = *c1 + (*c2 + *c3 * Fr::from(42)) * Fr::from(42);
            let on_p = *c2 + *c3 * Fr::from(42);
            self.quadratic((*c3, square, p), &[(square, on_square), (p, on_p)], *c0)
        });
        Point { x, y: self.mul(digit, y_by_odd) }
    }

    /// The line of this slope through a point: two rows.
    fn line(&mut self, slope: Variable, point: Point) -> Line {
        let rise = self.mul(slope, point.x);
        Line { slope, intercept: self.sub(point.y, rise) }
    }

    /// Constrains two lines to have opposite y coordinates at x: three rows.
    fn assert_meet(&mut self, x: Variable, first: Line, second: Line) {
        let slope = self.add(first.slope, second.slope);
        let intercept = self.add(first.intercept, second.intercept);
        self.assert_quadratic_zero((Fr::ONE, slope, x), &[(intercept, Fr::ONE)], Fr::ZERO);
    }
}

/// A line `y = slope * x + intercept`.
#[derive(Clone, Copy)]
struct Line {
    slope: Variable,
    intercept: Variable,
}

/// The y coordinate of a sum, as it is known.
enum Ordinate {
    Known(Variable),
    /// `-y` is on this line.
    Line(Line),
}

/// The odd number d that a window's digit represents.
struct OddDigit {
    digit: Variable,
    /// `d^2`.
    square: Variable,
    /// `d^4 - 42 d^2`, for windows of three bits.
    quartic: Option<Variable>,
}
