//! Points of Grumpkin.

use super::{Arithmetisation, Circuit, Variable};
use crate::{Column, Gate, Selector};
use proofmill_curve::{Affine, Curve, grumpkin::Grumpkin};
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};

/// An affine point of Grumpkin, as coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The x coordinate.
    pub x: Variable,
    /// The y coordinate.
    pub y: Variable,
}

impl Circuit {
    /// New variables with a point's coordinates, constrained to be on the curve, which excludes infinity.
    /// Rows: see [`Self::assert_on_curve`].
    pub fn point(&mut self, point: Affine<Grumpkin>) -> Point {
        let point = Point { x: self.witness(point.x), y: self.witness(point.y) };
        self.assert_on_curve(point);
        point
    }

    /// A constant point.
    ///
    /// # Panics
    /// If the point is infinity.
    pub fn constant_point(&mut self, point: Affine<Grumpkin>) -> Point {
        assert!(!point.is_infinity(), "expected a point with coordinates, found infinity");
        Point { x: self.constant(point.x), y: self.constant(point.y) }
    }

    /// The values of the coordinates.
    pub fn point_value(&self, point: Point) -> Affine<Grumpkin> {
        Affine { x: self.value(point.x), y: self.value(point.y) }
    }

    /// Constrains a point to be on the curve, `y^2 = x^3 - 17`: three rows.
    pub fn assert_on_curve(&mut self, point: Point) {
        let Point { x, y } = point;
        let x_squared = self.mul(x, x);
        let x_cubed = self.mul(x_squared, x);
        self.assert_quadratic_zero((Fr::ONE, y, y), &[(x_cubed, -Fr::ONE)], -Grumpkin::B);
    }

    /// Merges the coordinates of two points, without rows.
    pub fn assert_equal_points(&mut self, p: Point, q: Point) {
        self.assert_equal(p.x, q.x);
        self.assert_equal(p.y, q.y);
    }

    /// The opposite point: one row.
    pub fn negate_point(&mut self, point: Point) -> Point {
        Point { x: point.x, y: self.linear(&[(point.y, -Fr::ONE)], Fr::ZERO) }
    }

    /// The sum of two points of the curve, which are constrained to be neither equal nor opposite.
    ///
    /// Rows: standard 10; turbo and ultra one, and one that the next row may share.
    pub fn add_points(&mut self, p: Point, q: Point) -> Point {
        self.gadget("add points", |circuit| circuit.add_different(p, q))
    }

    fn add_different(&mut self, p: Point, q: Point) -> Point {
        let values = [p.x, p.y, q.x, q.y].map(|coordinate| self.value(coordinate));
        let [x1, y1, x2, y2] = values;
        let inverse = (x2 - x1).invert_vartime().unwrap_or_default();
        if self.arithmetisation == Arithmetisation::Standard {
            let run = self.sub(q.x, p.x);
            let inverse = self.inverse(run);
            let rise = self.sub(q.y, p.y);
            let slope = self.mul(rise, inverse);
            return self.third_point(p, slope, q.x);
        }
        let slope = (y2 - y1) * inverse;
        let x3 = slope.square() - x1 - x2;
        let sum = Point { x: self.witness(x3), y: self.witness(slope * (x1 - x3) - y1) };
        let inverse = self.witness(inverse);
        self.row([p.x, p.y, q.x, q.y], &[(Column::Selector(Selector::Gate(Gate::EccAdd)), Fr::ONE)]);
        self.row([sum.x, sum.y, inverse, Variable::NONE], &[]);
        sum
    }

    /// Twice a point of the curve.
    ///
    /// Rows: standard 8; turbo and ultra one, and one that the next row may share.
    pub fn double_point(&mut self, point: Point) -> Point {
        self.gadget("double point", |circuit| circuit.add_to_itself(point))
    }

    fn add_to_itself(&mut self, point: Point) -> Point {
        let [x, y] = [point.x, point.y].map(|coordinate| self.value(coordinate));
        let slope = x.square() * Fr::from(3) * y.double().invert_vartime().unwrap_or_default();
        if self.arithmetisation == Arithmetisation::Standard {
            // 2 y slope = 3 x^2 determines the slope, since no point of the curve has y = 0.
            let slope = self.witness(slope);
            let x_squared = self.mul(point.x, point.x);
            let product = (Fr::from(2), point.y, slope);
            self.assert_quadratic_zero(product, &[(x_squared, -Fr::from(3))], Fr::ZERO);
            return self.third_point(point, slope, point.x);
        }
        let x2 = slope.square() - x.double();
        let twice = Point { x: self.witness(x2), y: self.witness(slope * (x - x2) - y) };
        let switch = (Column::Selector(Selector::Gate(Gate::EccDouble)), Fr::ONE);
        self.row([point.x, point.y, Variable::NONE, Variable::NONE], &[switch]);
        self.row([twice.x, twice.y, Variable::NONE, Variable::NONE], &[]);
        twice
    }

    /// The opposite of the third point of a line, given the slope, one point and the x coordinate of another.
    fn third_point(&mut self, point: Point, slope: Variable, other_x: Variable) -> Point {
        let both = self.add(point.x, other_x);
        let x = self.quadratic((Fr::ONE, slope, slope), &[(both, -Fr::ONE)], Fr::ZERO);
        let run = self.sub(point.x, x);
        let y = self.quadratic((Fr::ONE, slope, run), &[(point.y, -Fr::ONE)], Fr::ZERO);
        Point { x, y }
    }
}
