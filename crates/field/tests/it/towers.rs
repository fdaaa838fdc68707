//! Towers of single elements agree with arkworks at every level, and no formula's sums exceed the bounds of singles.

use ark_ff::{Field as _, Fp12, Fp12Config, PrimeField as _};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Dodecic, Engine, Field, Fp, Lanes, Limbs, Prime, Quadratic, Sextic, Terms, Tower, bls12_381,
    bn254, dispatch,
};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// An element of either tower from the twelve coefficients of arkworks, in its order.
fn from_ark<P: Tower, C: Fp12Config>(x: &Fp12<C>) -> Dodecic<P, Fp<P>> {
    let mut coefficients = x.to_base_prime_field_elements().map(|c| {
        let mut limbs = P::Limbs::ZERO;
        limbs.as_mut().copy_from_slice(c.into_bigint().as_ref());
        Fp::from_canonical(limbs).unwrap()
    });
    let mut quadratic = || Quadratic::new(coefficients.next().unwrap(), coefficients.next().unwrap());
    let mut sextic = || Sextic::new([quadratic(), quadratic(), quadratic()]);
    Dodecic { c0: sextic(), c1: sextic() }
}

fn to_ark<P: Prime, C: Fp12Config>(coefficients: impl Iterator<Item = Fp<P>>) -> Fp12<C> {
    type Base<C> = <Fp12<C> as ark_ff::Field>::BasePrimeField;
    let coefficients = coefficients.map(|c| Base::<C>::from_le_bytes_mod_order(&c.to_bytes_le()));
    Fp12::from_base_prime_field_elems(coefficients).unwrap()
}

/// Maps every coefficient.
#[inline(always)]
fn convert<P: Tower, A: Algebra, B: Algebra>(x: &Dodecic<P, A>, f: impl Fn(A) -> B + Copy) -> Dodecic<P, B> {
    Dodecic { c0: convert_sextic(&x.c0, f), c1: convert_sextic(&x.c1, f) }
}

#[inline(always)]
fn convert_sextic<P: Tower, A: Algebra, B: Algebra>(
    x: &Sextic<P, A>,
    f: impl Fn(A) -> B + Copy,
) -> Sextic<P, B> {
    let [c0, c1, c2] = x.c;
    Sextic::new([
        Quadratic::new(f(c0.c0), f(c0.c1)),
        Quadratic::new(f(c1.c0), f(c1.c1)),
        Quadratic::new(f(c2.c0), f(c2.c1)),
    ])
}

/// Every operation of the tower on two elements; the first must be in the cyclotomic subgroup.
#[inline(always)]
fn tower_results<P: Tower, A: Algebra>(
    [x, y]: [Dodecic<P, A>; 2],
    gamma: Quadratic<A>,
) -> [Dodecic<P, A>; 9] {
    let line = [y.c0.c[0], y.c0.c[1], y.c1.c[1]];
    let chain = x.cyclotomic_square().cyclotomic_square().cyclotomic_square();
    [
        x * y,
        y.square(),
        y.mul_by_line(line),
        y.mul_by_line_m(line),
        x.cyclotomic_square(),
        y.frobenius(1, gamma),
        y.frobenius(2, gamma * gamma.conjugate()),
        y.conjugate(),
        (chain * y).square().mul_by_line(line).mul_by_line_m(line) * chain,
    ]
}

fn wanted<C: Fp12Config>(x: Fp12<C>, y: Fp12<C>) -> [Fp12<C>; 9] {
    let line = [y.c0.c0, y.c0.c1, y.c1.c1];
    let by_line = |mut f: Fp12<C>| {
        f.mul_by_034(&line[0], &line[1], &line[2]);
        f
    };
    let by_line_m = |mut f: Fp12<C>| {
        f.mul_by_014(&line[0], &line[1], &line[2]);
        f
    };
    let chain = x.square().square().square();
    [
        x * y,
        y.square(),
        by_line(y),
        by_line_m(y),
        x.square(),
        y.frobenius_map(1),
        y.frobenius_map(2),
        y.frobenius_map(6),
        by_line_m(by_line((chain * y).square())) * chain,
    ]
}

fn check_tower<P: Tower, C: Fp12Config, E: Engine>(engine: E) {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    // gamma = w^(p - 1), the coefficient of w in w's image.
    let w = to_ark::<P, C>((0..12).map(|i| if i == 6 { Fp::ONE } else { Fp::ZERO }));
    let gamma = from_ark::<P, C>(&w.frobenius_map(1)).c1.c[0];
    for i in 0..60 {
        let random: Fp12<C> = to_ark((0..12).map(|_| Fp::<P>::random(&mut rng)));
        // The easy part of the final exponentiation.
        let x = random.frobenius_map(6) * random.inverse().unwrap();
        let x = x.frobenius_map(2) * x;
        let y = to_ark((0..12).map(|j| match (i, i * j % 5) {
            (30.., _) => Fp::random(&mut rng),
            (_, 0) => -Fp::<P>::ONE,
            (_, k) => Fp::from(k as u64 - 1),
        }));
        let inputs = [from_ark::<P, C>(&x), from_ark::<P, C>(&y)];
        let mut got = [Dodecic::<P, Fp<P>>::ONE; 9];
        engine.run(
            #[inline(always)]
            || {
                let [a, b] = &inputs;
                let load = |x| E::Single::<P>::load(engine, &[x]);
                let inputs = [convert(a, load), convert(b, load)];
                let gamma = Quadratic::new(load(gamma.c0), load(gamma.c1));
                for (got, result) in got.iter_mut().zip(&tower_results(inputs, gamma)) {
                    *got = convert(result, |lane: E::Single<P>| {
                        let mut element = [Fp::ZERO];
                        lane.store(&mut element);
                        element[0]
                    });
                }
            },
        );
        for (k, wanted) in wanted(x, y).iter().enumerate() {
            assert_eq!(got[k], from_ark(wanted), "operation {k} of {}", P::NAME);
        }
    }
}

#[test]
fn towers_agree() {
    for level in Level::available() {
        dispatch!(level, engine => {
            check_tower::<bls12_381::FqParams, ark_bls12_381::Fq12Config, _>(engine);
            check_tower::<bn254::FqParams, ark_bn254::Fq12Config, _>(engine);
        });
    }
}

/// Results of every operation are operands of every other, twice.
#[test]
fn sums_stay_small() {
    fn check<P: Tower, const MOST: u64>() {
        let gamma = Quadratic::new(Terms::<MOST>(1), Terms(1));
        let fresh = convert(&Dodecic::<P, Fp<P>>::ONE, |_| Terms(1));
        let mut largest = fresh;
        for _ in 0..2 {
            for result in tower_results([largest; 2], gamma) {
                let max = |a: Sextic<P, Terms<MOST>>, b: Sextic<P, Terms<MOST>>| {
                    Sextic::new(std::array::from_fn(|i| {
                        let (a, b) = (a.c[i], b.c[i]);
                        Quadratic::new(Terms(a.c0.0.max(b.c0.0)), Terms(a.c1.0.max(b.c1.0)))
                    }))
                };
                largest = Dodecic { c0: max(largest.c0, result.c0), c1: max(largest.c1, result.c1) };
            }
        }
    }
    check::<bls12_381::FqParams, 39>();
    check::<bls12_381::FqParams, 1000>();
    check::<bn254::FqParams, 39>();
    check::<bn254::FqParams, 1000>();
}
