//! The simplified Shallue-van de Woestijne-Ulas map to BLS12-381's groups (RFC 9380, sections 6.6.2, 6.6.3, 8.8.1, 8.8.2 and
//! appendix F.2), for as many messages at a time as a level has lanes.
//!
//! The image of the map is a curve `y^2 = x^3 + A' x + B'` isogenous to the group's; the two points of a random oracle are
//! added there, because isogenies are homomorphisms, and the isogeny and the cofactor are applied to the sum only. Nothing
//! is inverted before the result: x is a fraction `n/d`, y is not, since its sign must be known; and `(x, y) -> (Nx/h^2, y
//! Ny/h^3)` with `x = X/Z^2` is `(Nx(X, Z^2), Y Ny(X, Z^2), Z h(X, Z^2))` in Jacobian coordinates, where all three
//! polynomials are homogeneous.

use super::expand_message_xmd;
use crate::{
    Affine, Jacobian,
    bls12_381::{
        G1, G2,
        points::{Points, in_lanes},
        roots::{Root, Roots},
        source_group::{Polynomial, SourceGroup},
    },
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Engine, Field, LANES, Lanes, LanesOf, Packable, Prime, Select, Vector,
    bls12_381::{Fq, FqParams},
    dispatch,
};
use proofmill_run::parallel;

/// The points of messages by a random oracle: suite `BLS12381G1_XMD:SHA-256_SSWU_RO_`. The tag `dst` separates domains; the
/// RFC defines its form. Runs on the ambient rayon pool; many messages share lanes and inversions.
///
/// # Panics
/// If `dst` is empty.
///
/// ```
/// use proofmill_curve::hash_to_curve::hash_to_g1;
/// use proofmill_cpu::Level;
///
/// let points = hash_to_g1(Level::best(), &[b"message"], b"QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_");
/// assert!(points[0].is_on_curve() && !points[0].is_infinity());
/// ```
pub fn hash_to_g1(level: Level, messages: &[&[u8]], dst: &[u8]) -> Vec<Affine<G1>> {
    hash::<G1>(level, messages, dst, 2)
}

/// As [`hash_to_g1`], with suite `BLS12381G2_XMD:SHA-256_SSWU_RO_`.
///
/// # Panics
/// If `dst` is empty.
pub fn hash_to_g2(level: Level, messages: &[&[u8]], dst: &[u8]) -> Vec<Affine<G2>> {
    hash::<G2>(level, messages, dst, 2)
}

/// As [`hash_to_g1`], but with one map, so not uniform. Suite `BLS12381G1_XMD:SHA-256_SSWU_NU_`.
///
/// # Panics
/// If `dst` is empty.
pub fn encode_to_g1(level: Level, messages: &[&[u8]], dst: &[u8]) -> Vec<Affine<G1>> {
    hash::<G1>(level, messages, dst, 1)
}

/// As [`encode_to_g1`], with suite `BLS12381G2_XMD:SHA-256_SSWU_NU_`.
///
/// # Panics
/// If `dst` is empty.
pub fn encode_to_g2(level: Level, messages: &[&[u8]], dst: &[u8]) -> Vec<Affine<G2>> {
    hash::<G2>(level, messages, dst, 1)
}

/// The messages that share one inversion.
const BLOCK: usize = 64;

/// The hashes of messages, each by `maps` maps, 1 or 2.
fn hash<C: SourceGroup>(level: Level, messages: &[&[u8]], dst: &[u8], maps: usize) -> Vec<Affine<C>> {
    let share = messages.len().div_ceil(parallel::threads()).next_multiple_of(LANES);
    let share = share.clamp(LANES, BLOCK);
    let mut points = vec![Affine::INFINITY; messages.len()];
    parallel::for_each(messages.chunks(share).zip(points.chunks_mut(share)), |(messages, affine)| {
        let inputs: Vec<_> = messages.iter().map(|message| elements::<C>(message, dst, maps)).collect();
        let mut points = vec![Jacobian::INFINITY; messages.len()];
        dispatch!(level, engine => {
            let [many, few] = in_lanes(engine, &inputs, &mut points);
            map_all::<C, _, _>(engine, engine, many.0, maps, many.1);
            map_all::<C, _, _>(engine.backend(), engine, few.0, maps, few.1);
        });
        affine.copy_from_slice(&Jacobian::batch_to_affine(&points));
    });
    points
}

/// `hash_to_field` of section 5.2: `maps` elements of a message.
fn elements<C: SourceGroup>(message: &[u8], dst: &[u8], maps: usize) -> [C::Base; 2] {
    let bytes = expand_message_xmd(message, dst, maps * C::DEGREE * 64);
    let mut coefficients = [Fq::ZERO; 4];
    for (coefficient, bytes) in coefficients.iter_mut().zip(bytes.as_chunks().0) {
        *coefficient = reduce(bytes);
    }
    let (first, second) = coefficients.split_at(C::DEGREE);
    [C::element(first), C::element(second)]
}

/// The integer of big-endian bytes modulo p, without a branch.
fn reduce(bytes: &[u8; 64]) -> Fq {
    // As Montgomery forms, words below p are their integer divided by R = 2^384; R2 and R3 are the forms of R and R^2.
    let half = |bytes: &[u8]| {
        let mut words = [0; 6];
        for (word, bytes) in words.iter_mut().zip(bytes.as_rchunks().1.iter().rev()) {
            *word = u64::from_be_bytes(*bytes);
        }
        Fq::constant(words)
    };
    let (high, low) = bytes.split_at(32);
    let shift = Fq::constant([0, 0, 0, 0, 1, 0]);
    half(high) * shift * Fq::constant(FqParams::R3) + half(low) * Fq::constant(FqParams::R2)
}

/// The messages' points from their field elements; `single` is the engine for a single point.
fn map_all<C: SourceGroup, E: Engine, S: Engine>(
    engine: E,
    single: S,
    inputs: &[[C::Base; 2]],
    maps: usize,
    points: &mut [Jacobian<C>],
) {
    engine.run(
        #[inline(always)]
        || {
            // Here, where the compiler knows it: `run` is not inlined.
            let width = LanesOf::<C::Base, E>::WIDTH;
            for (inputs, points) in inputs.chunks(width).zip(points.chunks_mut(width)) {
                let mut u = [[C::Base::ZERO; LANES]; 2];
                for (i, [first, second]) in inputs.iter().enumerate() {
                    (u[0][i], u[1][i]) = (*first, *second);
                }
                let [first, second] = [
                    LanesOf::<C::Base, E>::load(engine, &u[0][..width]),
                    LanesOf::<C::Base, E>::load(engine, &u[1][..width]),
                ];
                let sum = match (maps, width) {
                    (1, _) => map_one::<C, E>(first).to_points(),
                    // Scalars gain nothing from two at a time.
                    (_, 1) => add::<C, E>(&map_one::<C, E>(first), &map_one::<C, E>(second)),
                    _ => {
                        let [p, q] = map::<C, E, 2>(&[first, second]);
                        add::<C, E>(&p, &q)
                    }
                };
                C::clear_cofactor(&isogeny::<C, E>(&sum), single).store(points);
            }
        },
    );
}

/// Points `(n/d, y)` of the isogenous curve, one per lane.
struct Mapped<F: Packable, E: Engine> {
    n: F::Lanes<E>,
    d: F::Lanes<E>,
    y: F::Lanes<E>,
}

impl<F: Packable, E: Engine> Clone for Mapped<F, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Packable, E: Engine> Copy for Mapped<F, E> {}

impl<F: Packable, E: Engine> Mapped<F, E> {
    #[inline(always)]
    fn to_points(self) -> Points<F, E> {
        let [x, square] = Algebra::mul_pair([self.n, self.d], [self.d, self.d]);
        Points { x, y: self.y * square * self.d, z: self.d }
    }
}

/// [`map`] of one element per lane.
#[inline(always)]
fn map_one<C: SourceGroup, E: Engine>(u: LanesOf<C::Base, E>) -> Mapped<C::Base, E> {
    LanesOf::<C::Base, E>::outlined(
        u.token(),
        #[inline(always)]
        || {
            let [point] = map::<C, E, 1>(&[u]);
            point
        },
    )
}

/// `map_to_curve_simple_swu` of appendix F.2 for K elements per lane.
#[inline(always)]
fn map<C: SourceGroup, E: Engine, const K: usize>(u: &[LanesOf<C::Base, E>; K]) -> [Mapped<C::Base, E>; K] {
    let mut points = [Mapped { n: u[0], d: u[0], y: u[0] }; K];
    let (mut shifts, mut values, mut cubes) = (*u, *u, *u);
    for k in 0..K {
        [points[k].n, points[k].d, shifts[k], values[k], cubes[k]] = abscissa::<C, E>(u[k]);
    }
    let roots = C::Base::roots_of_ratios::<E, K>(&values, &cubes);
    for k in 0..K {
        points[k] = chosen::<C, E>(points[k], shifts[k], roots[k], u[k]);
    }
    points
}

/// The first candidate `n/d`: n, d, the factor of the other candidate, and the two parts of its `y^2`, a ratio.
#[inline(always)]
fn abscissa<C: SourceGroup, E: Engine>(u: LanesOf<C::Base, E>) -> [LanesOf<C::Base, E>; 5] {
    let engine = u.token();
    LanesOf::<C::Base, E>::outlined(
        engine,
        #[inline(always)]
        || {
            let a = LanesOf::<C::Base, E>::broadcast(engine, C::ISOGENOUS_A);
            let b = LanesOf::<C::Base, E>::broadcast(engine, C::ISOGENOUS_B);
            let z = LanesOf::<C::Base, E>::broadcast(engine, C::Base::Z);
            let shift = u.square() * z;
            let sum = shift.square() + shift;
            let n = (sum + Algebra::one(engine)) * b;
            let d = LanesOf::<C::Base, E>::select(sum.zero_lanes(), z, -sum) * a;
            let square = d.square();
            let cube = square * d;
            [n, d, shift, (n.square() + square * a) * n + cube * b, cube]
        },
    )
}

/// The point of the candidate whose `y^2` is a square, with the sign of u.
#[inline(always)]
fn chosen<C: SourceGroup, E: Engine>(
    point: Mapped<C::Base, E>,
    shift: LanesOf<C::Base, E>,
    root: Root<LanesOf<C::Base, E>>,
    u: LanesOf<C::Base, E>,
) -> Mapped<C::Base, E> {
    LanesOf::<C::Base, E>::outlined(
        u.token(),
        #[inline(always)]
        || {
            let y = LanesOf::<C::Base, E>::select(root.square, root.root, root.root * shift * u);
            let differ = C::Base::signs::<E>(y) ^ C::Base::signs::<E>(u);
            Mapped {
                y: LanesOf::<C::Base, E>::select(differ, -y, y),
                n: LanesOf::<C::Base, E>::select(root.square, point.n, point.n * shift),
                ..point
            }
        },
    )
}

/// The sum on the isogenous curve, in 13 products and 3 squares.
///
/// With `V1 = n1 d2`, `V2 = n2 d1` and `W = d1 d2` the abscissas are `V1/W` and `V2/W`, and the slope is `L/Z` for `Z = U
/// W`, `U = V2 - V1`, `L = (y2 - y1) W^2`; for equal points, for `U = 2 y1`, `L = 3 n1 n2 + A' W`.
#[inline(always)]
fn add<C: SourceGroup, E: Engine>(p: &Mapped<C::Base, E>, q: &Mapped<C::Base, E>) -> Points<C::Base, E> {
    LanesOf::<C::Base, E>::outlined(
        p.n.token(),
        #[inline(always)]
        || add_inlined::<C, E>(p, q),
    )
}

#[inline(always)]
fn add_inlined<C: SourceGroup, E: Engine>(
    p: &Mapped<C::Base, E>,
    q: &Mapped<C::Base, E>,
) -> Points<C::Base, E> {
    let [v1, v2] = Algebra::mul_pair([p.n, q.n], [q.d, p.d]);
    let w = p.d * q.d;
    let (mut u, r) = (v2 - v1, q.y - p.y);
    let mut l = r * w.square();
    let equal = u.zero_lanes() & r.zero_lanes();
    if equal != 0 {
        let product = p.n * q.n;
        let tangent =
            product.double() + product + w * LanesOf::<C::Base, E>::broadcast(w.token(), C::ISOGENOUS_A);
        u = LanesOf::<C::Base, E>::select(equal, p.y.double(), u);
        l = LanesOf::<C::Base, E>::select(equal, tangent, l);
    }
    let [z, t] = Algebra::mul_pair([u, u.square()], [w, w]);
    let [ll, tw] = Algebra::mul_pair([l, t], [l, w]);
    let [v1, both] = Algebra::mul_pair([v1, v1 + v2], [t, t]);
    let x = ll - both;
    let [zy, ly] = Algebra::mul_pair([p.y, l], [z, v1 - x]);
    Points { x, y: ly - zy * tw, z }
}

/// The image on the group's curve.
#[inline(always)]
fn isogeny<C: SourceGroup, E: Engine>(points: &Points<C::Base, E>) -> Points<C::Base, E> {
    let d = points.z.square();
    let degree = C::KERNEL_DEGREE;
    let kernel = value::<C, E>(Polynomial::Kernel, degree, points.x, d);
    let x = value::<C, E>(Polynomial::X, 2 * degree + 1, points.x, d);
    let y = value::<C, E>(Polynomial::Y, 3 * degree, points.x, d);
    let [y, z] = Algebra::mul_pair([points.y, points.z], [y, kernel]);
    Points { x, y, z }
}

/// A polynomial of the isogeny at `x/d`, times d to the power of its degree.
#[inline(always)]
fn value<C: SourceGroup, E: Engine>(
    polynomial: Polynomial,
    degree: usize,
    x: LanesOf<C::Base, E>,
    d: LanesOf<C::Base, E>,
) -> LanesOf<C::Base, E> {
    let engine = x.token();
    LanesOf::<C::Base, E>::outlined(
        engine,
        #[inline(always)]
        || {
            let mut value = LanesOf::<C::Base, E>::broadcast(engine, C::isogeny(polynomial, degree));
            let mut power = d;
            for i in (0..degree).rev() {
                let coefficient = LanesOf::<C::Base, E>::broadcast(engine, C::isogeny(polynomial, i));
                let [shifted, term] = Algebra::mul_pair([value, coefficient], [x, power]);
                value = shifted + term;
                power = power * d;
            }
            value
        },
    )
}
