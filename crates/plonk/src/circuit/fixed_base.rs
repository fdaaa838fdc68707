//! Sums of multiples of fixed points: the core of Pedersen hashes and fixed-base scalar multiplications.
//!
//! A sum starts from a constant point and adds one point a window (see [`Multiples`]). Every addition is affine, of points that
//! are neither equal nor opposite: then, and only then, the slope of their line is determined. The start contains a point
//! [hashed to the curve](proofmill_hash::pedersen) whose logarithms to the bases nobody knows. A partial sum that is plus or
//! minus the next point would be a relation between it and the bases with known coefficients, so that whoever finds scalars
//! that lead there solves the discrete logarithm problem on Grumpkin: no honest prover meets the case and no other can
//! provoke it.

use super::{
    Arithmetisation, Circuit, Point, TableNumber, Variable,
    below_modulus::Levels,
    multiples::{Multiples, Steps, steps},
    range::power_of_two,
};
use crate::{Column, Gate, Selector};
use proofmill_curve::{Affine, grumpkin::Grumpkin};
use proofmill_field::{Algebra, Field, bn254::Fr};

/// A scalar, the integer that its windows show, and what it multiplies. A right witness has the integer below r.
pub(super) type Term<'a> = (Variable, [u64; 4], &'a Multiples);

impl Circuit {
    /// The start and the multiples of the scalars' integers, without `(2^254 - 1)/2` times the bases, added up. The integers are
    /// constrained to be the scalars, below r.
    pub(super) fn sum_of_multiples(&mut self, start: Affine<Grumpkin>, terms: &[Term<'_>]) -> Point {
        let (x, ordinate) = self.add_multiples(start, terms);
        let y = match ordinate {
            Ordinate::Known(y) => y,
            Ordinate::Line(Line { slope, intercept }) => {
                self.quadratic((-Fr::ONE, slope, x), &[(intercept, -Fr::ONE)], Fr::ZERO)
            }
        };
        Point { x, y }
    }

    /// The abscissa of [`Self::sum_of_multiples`].
    pub(super) fn abscissa_of_multiples(&mut self, start: Affine<Grumpkin>, terms: &[Term<'_>]) -> Variable {
        self.add_multiples(start, terms).0
    }

    /// The sum's x, and either y or a line through the opposite point.
    fn add_multiples(&mut self, start: Affine<Grumpkin>, terms: &[Term<'_>]) -> (Variable, Ordinate) {
        let points = terms.iter().flat_map(|(_, integer, multiples)| multiples.summands(*integer));
        let steps = steps(start, points);
        let prefixes: Vec<Vec<Variable>> = terms.iter().map(|term| self.prefixes(term)).collect();
        if self.arithmetisation == Arithmetisation::Standard {
            let (x, line) = self.sum_by_arithmetic(&steps, terms, &prefixes);
            return (x, Ordinate::Line(line));
        }
        let Point { x, y } = self.sum_by_gates(&steps, terms, &prefixes);
        (x, Ordinate::Known(y))
    }

    /// What is left of a scalar's integer without the windows below each; first the scalar itself.
    fn prefixes(&mut self, &(scalar, integer, multiples): &Term<'_>) -> Vec<Variable> {
        let mut prefixes = vec![scalar];
        for prefix in multiples.prefixes(integer).skip(1) {
            prefixes.push(self.witness(prefix));
        }
        prefixes
    }

    /// Constrains the integer of these prefixes to be below the modulus, by rows before that of the scalar's first window.
    fn assert_canonical(&mut self, multiples: &Multiples, prefixes: &[Variable]) {
        let width = multiples.width();
        let levels = Levels::new(self.arithmetisation, width, 0);
        let chosen: Vec<_> = levels.shifts().iter().map(|shift| prefixes[(shift / width) as usize]).collect();
        self.assert_below_modulus(&levels, &chosen);
    }

    /// A row a window, and one more for every scalar in turbo and for the last in ultra.
    fn sum_by_gates(&mut self, steps: &Steps, terms: &[Term<'_>], prefixes: &[Vec<Variable>]) -> Point {
        // The first scalar's comparison goes last, so that its end and the first window's row are one.
        for ((_, _, multiples), prefixes) in terms.iter().zip(prefixes).rev() {
            self.assert_canonical(multiples, prefixes);
        }
        let mut sums = steps.sums.iter();
        let mut next_sum = |circuit: &mut Self, known: bool| {
            let Affine { x, y } = *sums.next().expect("a sum more than there are points");
            let make = if known { Self::constant } else { Self::witness };
            Point { x: make(circuit, x), y: make(circuit, y) }
        };
        let mut slopes = steps.slopes.iter();
        let mut sum = next_sum(self, true);
        for ((_, _, multiples), prefixes) in terms.iter().zip(prefixes) {
            let tables =
                (self.arithmetisation == Arithmetisation::Ultra).then(|| self.window_tables(multiples));
            for (window, prefix) in prefixes.iter().enumerate() {
                let slope = self.witness(*slopes.next().expect("a slope a point"));
                let wires = [*prefix, sum.x, sum.y, slope];
                match tables {
                    Some(first) => {
                        let last = window + 1 == multiples.windows();
                        let factor = if last { Fr::ZERO } else { -power_of_two(multiples.width()) };
                        let chord = (Column::Selector(Selector::Gate(Gate::Chord)), Fr::ONE);
                        self.lookup_with(
                            first.following(window as u32),
                            wires,
                            [factor, Fr::ONE, Fr::ZERO],
                            &[chord],
                        );
                    }
                    None => self.fixed_base_row(wires, multiples.polynomials(window)),
                }
                sum = next_sum(self, false);
            }
            if tables.is_none() {
                let zero = self.zero();
                self.row([zero, sum.x, sum.y, Variable::NONE], &[]);
            }
        }
        self.row([Variable::NONE, sum.x, sum.y, Variable::NONE], &[]);
        sum
    }

    fn fixed_base_row(&mut self, wires: [Variable; 4], [x, y_by_digit]: &[[Fr; 4]; 2]) {
        let data = [x[0], x[1], y_by_digit[0], y_by_digit[1]];
        let [d1, d2, d3, d4] = std::array::from_fn(|index| (Column::Data(index as u8), data[index]));
        self.row(wires, &[(Column::Selector(Selector::Gate(Gate::FixedBase)), Fr::ONE), d1, d2, d3, d4]);
    }

    /// The number of the first of a point's tables, which follow each other.
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

    /// Adds up by lines `y = l x + c`. That of a step goes through the sum (X, Y), the point T that is added and (X', -Y'), so
    /// that `Y = l X + c` and `Y' = -(l X' + c)`. No ordinate has to be there, since the next line's gives the same Y':
    /// `(l + l') X' = -(c + c')`, with `T.y = l T.x + c` and `X' = l^2 - X - T.x`. Gives the last X' and its line.
    ///
    /// Rows for a window of three bits: 4 for the digit, 3 for T, 8 for the addition.
    fn sum_by_arithmetic(
        &mut self,
        steps: &Steps,
        terms: &[Term<'_>],
        prefixes: &[Vec<Variable>],
    ) -> (Variable, Line) {
        let start = steps.sums[0];
        let mut slopes = steps.slopes.iter();
        let mut sum: Option<(Variable, Line)> = None;
        for ((_, _, multiples), prefixes) in terms.iter().zip(prefixes) {
            self.assert_canonical(multiples, prefixes);
            for (window, prefix) in prefixes.iter().enumerate() {
                let next = prefixes.get(window + 1).copied();
                let digit = self.odd_digit(*prefix, next, multiples.bits(window));
                let point = self.multiple(&digit, multiples.polynomials(window));
                let slope = self.witness(*slopes.next().expect("a slope a point"));
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

    /// The odd digit of a window, given the prefix from it on and the one after it; its square; and what [`Self::multiple`]
    /// needs for three bits. It is constrained to be one of -1, 1, -3, 3, ...
    ///
    /// The product of `D - 1`, `D - 9`, `D - 25` and `D - 49` is `p^2 + 210 p - 4096 D + 11025` for `p = D^2 - 42 D`.
    fn odd_digit(&mut self, prefix: Variable, next: Option<Variable>, bits: u32) -> OddDigit {
        let most = (1u64 << bits) - 1;
        let factor = Fr::from(most + 1);
        let rest = next.map_or(Fr::ZERO, |next| self.value(next));
        let digit = (self.value(prefix) - factor * rest).double() - Fr::from(most);
        let digit = self.witness(digit);
        // digit = 2 (prefix - 2^bits next) - most.
        let terms = [(digit, Fr::ONE), (prefix, -Fr::from(2)), (next.unwrap_or(prefix), factor.double())];
        self.assert_linear_zero(if next.is_some() { &terms } else { &terms[..2] }, Fr::from(most));
        let square = self.mul(digit, digit);
        if bits == 2 {
            self.assert_quadratic_zero((Fr::ONE, square, square), &[(square, -Fr::from(10))], Fr::from(9));
            return OddDigit { digit, square, quartic: None };
        }
        assert!(bits == 3, "windows of 2 or 3 bits, not {bits}");
        let p = self.quadratic((Fr::ONE, square, square), &[(square, -Fr::from(42))], Fr::ZERO);
        let terms = [(p, Fr::from(210)), (square, -Fr::from(4096))];
        self.assert_quadratic_zero((Fr::ONE, p, p), &terms, Fr::from(11025));
        OddDigit { digit, square, quartic: Some(p) }
    }

    /// The multiple that a digit chooses: x and y/d are polynomials in the digit's square D, of degree 3 for three bits. There
    /// `D^2 = p + 42 D`, so they are sums of 1, D, p and D p.
    fn multiple(&mut self, digit: &OddDigit, polynomials: &[[Fr; 4]; 2]) -> Point {
        let &OddDigit { digit, square, quartic } = digit;
        let [x, y] = polynomials;
        let Some(p) = quartic else {
            let x = self.linear(&[(square, x[1])], x[0]);
            return Point { x, y: self.quadratic((y[1], digit, square), &[(digit, y[0])], Fr::ZERO) };
        };
        let [x, y_by_digit] = [x, y].map(|[c0, c1, c2, c3]| {
            let on_square = *c1 + (*c2 + *c3 * Fr::from(42)) * Fr::from(42);
            let on_p = *c2 + *c3 * Fr::from(42);
            self.quadratic((*c3, square, p), &[(square, on_square), (p, on_p)], *c0)
        });
        Point { x, y: self.mul(digit, y_by_digit) }
    }

    /// The line of a slope through a point: two rows.
    fn line(&mut self, slope: Variable, point: Point) -> Line {
        let rise = self.mul(slope, point.x);
        Line { slope, intercept: self.sub(point.y, rise) }
    }

    /// Constrains two lines to have opposite ordinates at x: three rows.
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

/// What is known of a sum's y.
enum Ordinate {
    Known(Variable),
    /// `-y` is on this line.
    Line(Line),
}

/// The odd number d that a window's digit stands for.
struct OddDigit {
    digit: Variable,
    /// `d^2`.
    square: Variable,
    /// `d^4 - 42 d^2`, for windows of three bits.
    quartic: Option<Variable>,
}
