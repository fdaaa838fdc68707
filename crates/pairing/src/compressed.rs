//! Squares of elements of the cyclotomic subgroup on four of their six coefficients (Karabina, "Squaring in cyclotomic
//! subgroups", eprint 2010/542): two thirds of the work, and a division to recover the other two.
//!
//! The element is `x0 + x2 w + x4 w^2 + x1 w^3 + x3 w^4 + x5 w^5`; x2 to x5 of a square follow from x2 to x5 by the same
//! formulas as in [`Dodecic::cyclotomic_square`].

use proofmill_field::{
    Algebra, Dodecic, Field, Fp, Invert, Lanes, Quadratic, Sextic, Tower, quartic_squares,
};

/// x2, x3, x4, x5.
#[derive(Clone, Copy)]
struct Compressed<A>([Quadratic<A>; 4]);

/// `f^(2^first)` and `f^(2^second)`, the smaller exponent first; `None` if a denominator is zero, as for f = 1.
#[inline(always)]
pub(crate) fn powers_of_two<P: Tower, A: Lanes<Fp<P>>>(
    f: &Dodecic<P, A>,
    [first, second]: [u32; 2],
) -> Option<[Dodecic<P, A>; 2]> {
    let ([_, x4, x3], [x2, _, x5]) = (f.c0.c, f.c1.c);
    let mut power = Compressed([x2, x3, x4, x5]);
    for _ in 0..first {
        power = power.square::<P>();
    }
    let mut powers = [power; 2];
    for _ in first..second {
        powers[1] = powers[1].square::<P>();
    }
    // Both with one inversion.
    let [a, b] = [powers[0].denominator(), powers[1].denominator()];
    let inverse = invert::<P, A>(a * b)?;
    Some([powers[0].decompress(inverse * b), powers[1].decompress(inverse * a)])
}

impl<A: Algebra> Compressed<A> {
    #[inline(never)]
    fn square<P: Tower>(self) -> Self {
        A::outlined(
            self.0[0].token(),
            #[inline(always)]
            || {
                let [x2, x3, x4, x5] = &self.0;
                // Two squares in Fq4 over Fq2; the third would give x0 and x1, which are left out.
                let [[t2, t3], [t4, t5]] = quartic_squares::<P, A, 2, 6>(x2.token(), [[x2, x3], [x4, x5]]);
                let t5 = P::mul_by_xi(t5);
                let tripled = [(t5, t5 + *x2), (t4, t4 - *x3), (t2, t2 - *x4), (t3, t3 + *x5)];
                let mut square = self;
                for (x, (t, other)) in square.0.iter_mut().zip(tripled) {
                    *x = (other.double() + t).reduced();
                }
                square
            },
        )
    }

    #[inline(always)]
    fn denominator(&self) -> Quadratic<A> {
        self.0[0].double().double()
    }

    /// The element, given the denominator's inverse: `x1 = (xi x5^2 + 3 x4^2 - 2 x3) / (4 x2)`,
    /// `x0 = xi (2 x1^2 + x2 x5 - 3 x3 x4) + 1`.
    #[inline(always)]
    fn decompress<P: Tower>(&self, inverse: Quadratic<A>) -> Dodecic<P, A> {
        let [x2, x3, x4, x5] = self.0;
        let token = x2.token();
        let ([x25, x34], [x44, x55], []) = A::quadratics(token, [[&x2, &x5], [&x3, &x4]], [&x4, &x5], []);
        let x1 = (P::mul_by_xi(x55) + x44.double() + x44 - x3.double()) * inverse;
        let sum = x1.square().double() + x25 - (x34.double() + x34);
        let x0 = (P::mul_by_xi(sum) + Quadratic::one(token)).reduced();
        Dodecic { c0: Sextic::new([x0, x4, x3]), c1: Sextic::new([x2, x1, x5]) }
    }
}

#[inline(always)]
fn invert<P: Tower, A: Lanes<Fp<P>>>(x: Quadratic<A>) -> Option<Quadratic<A>> {
    let token = x.token();
    let mut scalar = [Fp::ZERO; 2];
    x.c0.store(&mut scalar[..1]);
    x.c1.store(&mut scalar[1..]);
    let inverse = Quadratic::new(scalar[0], scalar[1]).invert_vartime()?;
    Some(Quadratic::broadcast(token, inverse))
}
