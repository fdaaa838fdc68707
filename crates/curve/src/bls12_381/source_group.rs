//! The parameters of G1 and G2 for hashing and decoding: cofactors, subgroups, isogenous curves. In lanes.
//!
//! Sources: RFC 9380, sections 8.8.1 and 8.8.2 and appendix G.3; Scott, "A note on group membership tests for G1, G2 and GT on BLS
//! pairing-friendly curves" (eprint 2021/1130); Budroni, Pintore, "Efficient hash maps to G2 on BLS curves" (eprint
//! 2017/419).

use super::{G1, G2, map_constants as constants, points::Points, roots::Roots};
use crate::Curve;
use proofmill_field::{
    Algebra, Engine, Lanes, LanesOf, Quadratic,
    bls12_381::{Fq, Fq2},
};

/// One of the two source groups.
pub trait SourceGroup: Curve<Base: Roots> {
    /// Coefficients of Fq in an element of the base field.
    const DEGREE: usize;
    /// The degree d of the polynomial of the isogeny's kernel.
    const KERNEL_DEGREE: usize;
    /// The coefficient A' of the isogenous curve `y^2 = x^3 + A' x + B'`.
    const ISOGENOUS_A: Self::Base;
    /// The coefficient B'.
    const ISOGENOUS_B: Self::Base;

    /// Coefficient `i` of the polynomials h, Nx, Ny of the isogeny `(x, y) -> (Nx/h^2, y Ny/h^3)`.
    fn isogeny(polynomial: Polynomial, i: usize) -> Self::Base;

    /// An element from [`DEGREE`](Self::DEGREE) coefficients, the constant one first.
    fn element(coefficients: &[Fq]) -> Self::Base;

    /// The coefficients of an element, starting with that of u.
    fn coefficients(element: &Self::Base) -> impl Iterator<Item = Fq>;

    /// A multiple in the subgroup, the one that RFC 9380 defines. `single` is the engine for a single point.
    fn clear_cofactor<E: Engine, S: Engine>(
        points: &Points<Self::Base, E>,
        single: S,
    ) -> Points<Self::Base, E>;

    /// The lanes with points in the subgroup, for points of the curve other than infinity.
    fn in_subgroup<E: Engine, S: Engine>(points: &Points<Self::Base, E>, single: S) -> u8;
}

/// A polynomial of an isogeny; the degree of the isogeny is 2d + 1.
#[derive(Clone, Copy)]
pub enum Polynomial {
    /// h, of degree d.
    Kernel,
    /// Nx, of degree 2d + 1.
    X,
    /// Ny, of degree 3d.
    Y,
}

impl SourceGroup for G1 {
    const DEGREE: usize = 1;
    const KERNEL_DEGREE: usize = 5;
    const ISOGENOUS_A: Fq = Fq::constant(constants::G1_CURVE[0]);
    const ISOGENOUS_B: Fq = Fq::constant(constants::G1_CURVE[1]);

    #[inline(always)]
    fn isogeny(polynomial: Polynomial, i: usize) -> Fq {
        Fq::constant(match polynomial {
            Polynomial::Kernel => constants::G1_KERNEL[i],
            Polynomial::X => constants::G1_X[i],
            Polynomial::Y => constants::G1_Y[i],
        })
    }

    #[inline(always)]
    fn element(coefficients: &[Fq]) -> Fq {
        coefficients[0]
    }

    fn coefficients(element: &Fq) -> impl Iterator<Item = Fq> {
        [*element].into_iter()
    }

    /// `(1 - x) P`.
    #[inline(always)]
    fn clear_cofactor<E: Engine, S: Engine>(points: &Points<Fq, E>, single: S) -> Points<Fq, E> {
        points.times_minus_x(single).add(points)
    }

    /// `phi(P) = -x^2 P`, where phi multiplies x by a root of unity.
    #[inline(always)]
    fn in_subgroup<E: Engine, S: Engine>(points: &Points<Fq, E>, single: S) -> u8 {
        let beta = LanesOf::<Fq, E>::broadcast(points.x.token(), Fq::constant(constants::BETA));
        let image = Points { x: points.x * beta, ..*points };
        points.times_minus_x(single).times_minus_x(single).negate().equal(&image)
    }
}

impl SourceGroup for G2 {
    const DEGREE: usize = 2;
    const KERNEL_DEGREE: usize = 1;
    const ISOGENOUS_A: Fq2 = pair(constants::G2_CURVE, 0);
    const ISOGENOUS_B: Fq2 = pair(constants::G2_CURVE, 1);

    #[inline(always)]
    fn isogeny(polynomial: Polynomial, i: usize) -> Fq2 {
        match polynomial {
            Polynomial::Kernel => pair(constants::G2_KERNEL, i),
            Polynomial::X => pair(constants::G2_X, i),
            Polynomial::Y => pair(constants::G2_Y, i),
        }
    }

    #[inline(always)]
    fn element(coefficients: &[Fq]) -> Fq2 {
        Fq2::new(coefficients[0], coefficients[1])
    }

    fn coefficients(element: &Fq2) -> impl Iterator<Item = Fq> {
        [element.c1, element.c0].into_iter()
    }

    /// `(x^2 - x - 1) P + (x - 1) psi(P) + psi^2(2 P)`.
    #[inline(always)]
    fn clear_cofactor<E: Engine, S: Engine>(points: &Points<Fq2, E>, single: S) -> Points<Fq2, E> {
        let minus_x = points.times_minus_x(single);
        let image = psi(points);
        // x^2 P - x psi(P), then the rest: -x P - P - psi(P) + psi^2(2P).
        let high = minus_x.add(&image.negate()).times_minus_x(single);
        let low = minus_x.add(&points.add(&image).negate());
        high.add(&low).add(&psi(&psi(&points.double())))
    }

    /// `psi(P) = x P`.
    #[inline(always)]
    fn in_subgroup<E: Engine, S: Engine>(points: &Points<Fq2, E>, single: S) -> u8 {
        points.times_minus_x(single).negate().equal(&psi(points))
    }
}

/// The factors of the conjugate coordinates in psi.
pub(crate) const PSI: [Fq2; 2] = [pair(constants::PSI, 0), pair(constants::PSI, 1)];

/// The endomorphism psi: untwist, Frobenius, twist (Galbraith, Scott, eprint 2008/117).
#[inline(always)]
pub(crate) fn psi<E: Engine>(points: &Points<Fq2, E>) -> Points<Fq2, E> {
    Points {
        x: points.x.conjugate() * Quadratic::broadcast(points.x.token(), PSI[0]),
        y: points.y.conjugate() * Quadratic::broadcast(points.x.token(), PSI[1]),
        z: points.z.conjugate(),
    }
}

/// The pair of coefficients with this index.
const fn pair<const N: usize>(coefficients: [[u64; 6]; N], i: usize) -> Fq2 {
    Quadratic { c0: Fq::constant(coefficients[2 * i]), c1: Fq::constant(coefficients[2 * i + 1]) }
}
