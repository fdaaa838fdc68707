//! The optimal ate pairings of BN254 and BLS12-381 (Vercauteren, "Optimal pairings", eprint 2008/096).
//!
//! `e(P, Q) = f_Q(P)^(k (p^12 - 1) / r)`: one Miller loop ([`miller`]), whose digits, line shapes and last steps are given
//! by the curve ([`Ate`]), then the final exponentiation, whose multiple k is that of arkworks, so that values agree.
//! Products of pairings share the final exponentiation and, on one thread, the loop's squares.
//!
//! At a level with vector instructions, many pairs are computed in lanes, one pair per lane ([`Lanes`]); for few
//! pairs, independent products fill the vectors ([`One`]).
//!
//! Times depend on the points: for public data.
//!
//! ```
//! use proofmill_cpu::Level;
//! use proofmill_curve::{Curve, bn254::{G1, G2}};
//! use proofmill_pairing::pairing_product_is_one;
//!
//! let (p, q) = (G1::GENERATOR, G2::GENERATOR);
//! assert!(pairing_product_is_one::<G1>(Level::best(), &[(p, q), (-p, q)]));
//! ```
#![forbid(unsafe_code)]

mod bisection;
mod bls12_381;
mod bn254;
mod compressed;
mod miller;
#[cfg(test)]
mod terms;

pub use bisection::find_wrong;
use miller::{LineCoefficients, MillerValue, Walk, miller_loop};
use proofmill_cpu::{Level, Token};
use proofmill_curve::{Affine, Curve, SourceGroups};
use proofmill_field::{
    Algebra, Backend, Dodecic, Engine, Field, Fp, LANES, Lanes, Prime, Quadratic, Sextic, Tower, dispatch,
    frobenius_coefficients,
};
use proofmill_run::parallel;

/// A curve with a pairing, which is named by its first source group.
pub trait Pairing:
    SourceGroups<Base = Fp<<Self as Pairing>::Prime>, G2: Curve<Base = Quadratic<Fp<<Self as Pairing>::Prime>>>>
{
    /// The base field and its tower.
    type Prime: Tower;

    /// As [`multi_pairing`]; compiled in this crate, once for every level.
    fn multi_pairing(level: Level, pairs: &[(Affine<Self>, Affine<Self::G2>)]) -> Gt<Self>;
}

/// An element of the target group's field.
pub type Gt<C> = Dodecic<<C as Pairing>::Prime, <C as Curve>::Base>;

/// `e(p, q)`. The points must be in their groups; infinity gives 1.
pub fn pairing<C: Pairing>(level: Level, p: &Affine<C>, q: &Affine<C::G2>) -> Gt<C> {
    C::multi_pairing(level, &[(*p, *q)])
}

/// The product of `e(p, q)` over all pairs, with one final exponentiation; 1 for no pairs. Runs on the ambient rayon
/// pool.
pub fn multi_pairing<C: Pairing>(level: Level, pairs: &[(Affine<C>, Affine<C::G2>)]) -> Gt<C> {
    C::multi_pairing(level, pairs)
}

/// Whether the product of `e(p, q)` over all pairs is 1.
pub fn pairing_product_is_one<C: Pairing>(level: Level, pairs: &[(Affine<C>, Affine<C::G2>)]) -> bool {
    C::multi_pairing(level, pairs) == Gt::<C>::ONE
}

/// The parameters of one curve's pairing.
trait Ate: Pairing {
    /// The number of pairs from which eight in lanes are faster than single elements that fill vectors, measured at `avx2` and
    /// `avx512ifma` on a Zen 5. The Miller loop in lanes squares its value once more.
    const LANES_FROM: usize;

    /// Whether few pairs are computed faster in scalars than in vectors of doubles, measured on a Zen 5 (the product of four
    /// pairs: 0.90 of the time).
    const SCALARS_BEFORE_DOUBLES: bool;

    /// The digits of the loop's length, -1, 0 and 1, least significant first, without the top one, which is 1.
    fn digits() -> &'static [i8];

    /// The curve's constants.
    fn constants() -> &'static Constants<Fp<Self::Prime>>;

    /// The product with the twist's b.
    fn mul_by_b<A: Algebra>(constants: &Constants<A>, x: Quadratic<A>) -> Quadratic<A>;

    /// The product with a line.
    fn mul_by_line<A: Algebra>(
        f: Dodecic<Self::Prime, A>,
        line: LineCoefficients<A>,
    ) -> Dodecic<Self::Prime, A>;

    /// The product of two lines, given the products of coefficients at the same position, and the sums of the two products
    /// of coefficients at positions 0 and 1, 0 and 2, 1 and 2.
    fn product_of_lines<A: Algebra>(
        same: [Quadratic<A>; 3],
        crossed: [Quadratic<A>; 3],
    ) -> Dodecic<Self::Prime, A>;

    /// The lines after the loop.
    fn last_lines<A: Algebra>(
        constants: &Constants<A>,
        walks: &mut [Walk<A>],
        value: &mut MillerValue<Self, A>,
    );

    /// The last step.
    fn finish<A: Algebra>(f: Dodecic<Self::Prime, A>) -> Dodecic<Self::Prime, A>;

    /// The power to a multiple of `(p^4 - p^2 + 1) / r` of an element of the cyclotomic subgroup.
    fn hard_part<A: Lanes<Fp<Self::Prime>>>(
        constants: &Constants<A>,
        f: Dodecic<Self::Prime, A>,
    ) -> Dodecic<Self::Prime, A>;
}

/// A curve's constants, as scalars or in every lane.
#[derive(Clone, Copy)]
struct Constants<A> {
    /// b of the twist `y^2 = x^3 + b`.
    b: Quadratic<A>,
    /// `xi^((p^k - 1) / 6)` for k = 1, 2, 3.
    gammas: [Quadratic<A>; 3],
}

impl<P: Tower> Constants<Fp<P>> {
    /// The constants of the twist with this b.
    fn new(b: Quadratic<Fp<P>>) -> Self {
        Self { b, gammas: frobenius_coefficients::<P>() }
    }

    #[inline(always)]
    fn lift<A: Lanes<Fp<P>>>(&self, token: A::Token) -> Constants<A> {
        let [g1, g2, g3] = &self.gammas;
        let gammas = [lift::<P, A>(token, g1), lift::<P, A>(token, g2), lift::<P, A>(token, g3)];
        Constants { b: lift::<P, A>(token, &self.b), gammas }
    }
}

/// The non-adjacent form of a width, least significant digit first, without the top digit, which is 1.
fn signed_digits(mut value: u128, width: u32) -> Vec<i8> {
    let mut digits = Vec::new();
    while value != 0 {
        let window = (value & ((1 << width) - 1)) as i8;
        let digit = match window {
            _ if value & 1 == 0 => 0,
            _ if window < 1 << (width - 1) => window,
            _ => window - (1 << width),
        };
        // The cast extends the sign: a negative digit carries into the rest.
        value = value.wrapping_sub(digit as u128) >> 1;
        digits.push(digit);
    }
    let top = digits.pop();
    debug_assert_eq!(top, Some(1));
    digits
}

/// The body of [`Pairing::multi_pairing`].
fn compute<C: Ate>(level: Level, pairs: &[(Affine<C>, Affine<C::G2>)]) -> Gt<C> {
    // Pairs with infinity have the value 1.
    let finite = pairs.iter().filter(|(p, q)| !p.is_infinity() && !q.is_infinity());
    let pairs: Vec<_> = finite.copied().collect();
    dispatch!(level, engine => compute_at::<C, _>(engine, &pairs))
}

fn compute_at<C: Ate, E: Engine>(engine: E, pairs: &[(Affine<C>, Affine<C::G2>)]) -> Gt<C> {
    // Only vectors of doubles have so little room for unreduced terms.
    let narrow = E::Single::<C::Prime>::MOST_TERMS < 1000;
    if narrow && C::SCALARS_BEFORE_DOUBLES {
        compute_with::<C, E, Fp<C::Prime, E::Backend>>(engine, engine.backend(), pairs)
    } else {
        compute_with::<C, E, E::Single<C::Prime>>(engine, engine, pairs)
    }
}

/// The product; few pairs are computed in elements `A`, many in lanes.
fn compute_with<C: Ate, E: Engine, A: Lanes<Fp<C::Prime>, Token: Token>>(
    engine: E,
    token: A::Token,
    pairs: &[(Affine<C>, Affine<C::G2>)],
) -> Gt<C> {
    let width = E::Vector::<C::Prime>::WIDTH;
    // Each thread squares a value of its own: only the final exponentiation is shared by all.
    let part = pairs.len().div_ceil(parallel::threads()).next_multiple_of(width).max(1);
    let values = parallel::map(pairs.chunks(part), |pairs| {
        let in_lanes = if pairs.len() < C::LANES_FROM { 0 } else { pairs.len() / width * width };
        let (in_lanes, rest) = pairs.split_at(in_lanes);
        let mut values = Vec::new();
        if !in_lanes.is_empty() {
            values.extend(loop_values::<C, E::Vector<C::Prime>>(engine, in_lanes));
        }
        if !rest.is_empty() {
            values.extend(loop_values::<C, A>(token, rest));
        }
        product::<C, A>(token, &values)
    });
    final_exponentiation::<C, A, _>(token, engine.backend(), product::<C, A>(token, &values))
}

/// The Miller loop's values of all pairs, one product per lane.
fn loop_values<C: Ate, A: Lanes<Fp<C::Prime>, Token: Token>>(
    token: A::Token,
    pairs: &[(Affine<C>, Affine<C::G2>)],
) -> Vec<Gt<C>> {
    token.run(
        #[inline(always)]
        || lower::<_, A>(&miller_loop::<C, A>(token, &C::constants().lift::<A>(token), pairs)),
    )
}

fn product<C: Ate, A: Lanes<Fp<C::Prime>, Token: Token>>(token: A::Token, values: &[Gt<C>]) -> Gt<C> {
    let [first, rest @ ..] = values else { return Gt::<C>::ONE };
    token.run(
        #[inline(always)]
        || {
            let mut product = lift_dodecic::<_, A>(token, first);
            for value in rest {
                product = product * lift_dodecic::<_, A>(token, value);
            }
            lower::<_, A>(&product)[0]
        },
    )
}

/// The final exponentiation of a nonzero value; 1 for zero, which no Miller loop returns. The inversion uses the scalar
/// backend.
fn final_exponentiation<C: Ate, A: Lanes<Fp<C::Prime>, Token: Token>, B: Backend>(
    token: A::Token,
    backend: B,
    f: Gt<C>,
) -> Gt<C> {
    let with_backend = |x: Fp<C::Prime>| x.with_backend(backend);
    let Some(inverse) = map(&f, with_backend).invert_vartime() else { return Gt::<C>::ONE };
    let inverse = map(&inverse, Fp::portable);
    token.run(
        #[inline(always)]
        || {
            let constants = C::constants().lift::<A>(token);
            // The easy part: f^(p^6 - 1), as the conjugate over f, then to the power of p^2 + 1.
            // The result is in the cyclotomic subgroup: squares and inverses are cheap there.
            let f = lift_dodecic::<_, A>(token, &f).conjugate() * lift_dodecic::<_, A>(token, &inverse);
            let f = f.frobenius(2, constants.gammas[1]) * f;
            lower::<_, A>(&C::hard_part::<A>(&constants, f))[0]
        },
    )
}

fn map<P: Tower, A: Algebra, B: Algebra>(x: &Dodecic<P, A>, f: impl Fn(A) -> B) -> Dodecic<P, B> {
    let sextic = |x: &Sextic<P, A>| Sextic::new(x.c.map(|c| Quadratic::new(f(c.c0), f(c.c1))));
    Dodecic { c0: sextic(&x.c0), c1: sextic(&x.c1) }
}

/// An element in every lane.
#[inline(always)]
fn lift<P: Prime, A: Lanes<Fp<P>>>(token: A::Token, x: &Quadratic<Fp<P>>) -> Quadratic<A> {
    Quadratic::broadcast(token, *x)
}

#[inline(always)]
fn lift_dodecic<P: Tower, A: Lanes<Fp<P>>>(token: A::Token, x: &Dodecic<P, Fp<P>>) -> Dodecic<P, A> {
    let ([a0, a1, a2], [b0, b1, b2]) = (&x.c0.c, &x.c1.c);
    Dodecic {
        c0: Sextic::new([lift::<P, A>(token, a0), lift::<P, A>(token, a1), lift::<P, A>(token, a2)]),
        c1: Sextic::new([lift::<P, A>(token, b0), lift::<P, A>(token, b1), lift::<P, A>(token, b2)]),
    }
}

/// The elements of all lanes.
#[inline(always)]
fn lower<P: Tower, A: Lanes<Fp<P>>>(x: &Dodecic<P, A>) -> Vec<Dodecic<P, Fp<P>>> {
    let mut elements = vec![Dodecic::ONE; A::WIDTH];
    let mut lanes = [[Fp::ZERO; LANES]; 2];
    for i in 0..3 {
        for half in 0..2 {
            let c = if half == 0 { x.c0.c[i] } else { x.c1.c[i] };
            c.c0.store(&mut lanes[0]);
            c.c1.store(&mut lanes[1]);
            for (lane, element) in elements.iter_mut().enumerate() {
                let sextic = if half == 0 { &mut element.c0 } else { &mut element.c1 };
                sextic.c[i] = Quadratic::new(lanes[0][lane], lanes[1][lane]);
            }
        }
    }
    elements
}
