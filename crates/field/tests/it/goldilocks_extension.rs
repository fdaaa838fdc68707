//! The extensions of the Goldilocks field against polynomials over num-bigint; field laws; lanes.

use num_bigint::BigUint;
use num_traits::{ToPrimitive, Zero};
use proofmill_field::{
    Algebra, Field, Invert, batch_invert_vartime, dispatch_goldilocks,
    goldilocks::{
        CubicExtension, Extension, Goldilocks, GoldilocksEngine, GoldilocksVector, MODULUS,
        QuadraticExtension, U64s,
    },
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand_chacha::ChaCha20Rng;
use std::ops::Mul;

/// The `7` of `x^2 - 7`.
const QUADRATIC: [u64; 2] = [7, 0];
/// The `1 + x` of `x^3 - x - 1`.
const CUBIC: [u64; 3] = [1, 1, 0];

/// Elements whose coefficients are all combinations of edge values, and random ones.
fn elements<const N: usize>(rng: &mut ChaCha20Rng) -> Vec<Extension<Goldilocks, N>> {
    let edges = [0, 1, 7, 0xffff_ffff, 1 << 32, 1 << 63, MODULUS - 1].map(Goldilocks::new);
    let combination = |index: usize| {
        Extension(std::array::from_fn(|i| edges[index / edges.len().pow(i as u32) % edges.len()]))
    };
    let mut elements: Vec<_> = (0..edges.len().pow(N as u32)).map(combination).collect();
    elements.extend((0..60).map(|_| Extension(std::array::from_fn(|_| Goldilocks::random(rng)))));
    elements
}

/// The product of polynomials modulo `x^N - tail`.
fn oracle<const N: usize>(
    a: &Extension<Goldilocks, N>,
    b: &Extension<Goldilocks, N>,
    tail: &[u64; N],
) -> Extension<Goldilocks, N> {
    let mut product = vec![BigUint::zero(); 2 * N - 1];
    for (i, x) in a.0.iter().enumerate() {
        for (j, y) in b.0.iter().enumerate() {
            product[i + j] += BigUint::from(x.to_canonical()) * y.to_canonical();
        }
    }
    while product.len() > N {
        let top = product.pop().expect("a coefficient");
        let at = product.len() - N;
        (0..N).for_each(|i| product[at + i] += &top * tail[i]);
    }
    let element = |integer: &BigUint| Goldilocks::new((integer % MODULUS).to_u64().expect("below p"));
    Extension(std::array::from_fn(|i| element(&product[i])))
}

fn laws<const N: usize>(tail: &[u64; N])
where
    Extension<Goldilocks, N>: Field,
{
    type Element<const N: usize> = Extension<Goldilocks, N>;
    let elements = elements::<N>(&mut rng(N as u64));
    for (i, &a) in elements.iter().enumerate() {
        assert_eq!(a.square(), oracle(&a, &a, tail));
        assert_eq!(a + -a, Element::ZERO);
        assert_eq!(a * Element::ONE, a);
        match a.invert_vartime() {
            Some(inverse) => assert_eq!(a * inverse, Element::ONE),
            None => assert_eq!(a, Element::ZERO),
        }
        // A different subset of the second operands for each first operand.
        for &b in elements.iter().skip(i % 7).step_by(7) {
            assert_eq!(a * b, oracle(&a, &b, tail));
            assert_eq!(a + b - b, a);
            assert_eq!((a - b) * (a + b), a.square() - b.square());
            assert_eq!(a.scale(b.0[0]), a * Element::from_base(b.0[0]));
        }
    }
    let mut inverses = elements.clone();
    batch_invert_vartime(&mut inverses);
    assert!(
        elements
            .iter()
            .zip(&inverses)
            .all(|(a, inverse)| *inverse == a.invert_vartime().unwrap_or(Element::ZERO))
    );
    // x^p generates the group of automorphisms, which has order N only if the polynomial is irreducible.
    let mut x = Element::<N>::ZERO;
    x.0[1] = Goldilocks::ONE;
    let mut image = x;
    for power in 1..=N {
        image = image.pow_vartime(&[MODULUS]);
        assert_eq!(image == x, power == N, "x^(p^{power})");
    }
}

#[test]
fn quadratic() {
    laws(&QUADRATIC);
}

#[test]
fn cubic() {
    laws(&CUBIC);
}

/// The coefficients of products of lanes.
#[inline(always)]
fn products<V: GoldilocksVector, const N: usize>(
    token: V::Token,
    a: &[Vec<u64>; N],
    b: &[Vec<u64>; N],
    out: &mut [[u64; 8]; N],
) where
    Extension<V, N>: Mul<Output = Extension<V, N>>,
{
    let (mut x, mut y) = ([V::zero(token); N], [V::zero(token); N]);
    for i in 0..N {
        (x[i], y[i]) = (V::load(token, &a[i]), V::load(token, &b[i]));
    }
    let product = Extension(x) * Extension(y);
    for i in 0..N {
        product.0[i].store(&mut out[i]);
    }
}

fn lanes<V: GoldilocksVector<Token = E>, E: GoldilocksEngine, const N: usize>(engine: E)
where
    Extension<V, N>: Mul<Output = Extension<V, N>>,
    Extension<Goldilocks, N>: Field,
{
    let elements = elements::<N>(&mut rng(8));
    let width = V::U64s::WIDTH;
    for (a, b) in elements.chunks_exact(width).zip(elements.chunks_exact(width).rev()) {
        let transposed = |chunk: &[Extension<Goldilocks, N>]| -> [Vec<u64>; N] {
            std::array::from_fn(|i| chunk.iter().map(|element| element.0[i].to_canonical()).collect())
        };
        let (x, y, mut out) = (transposed(a), transposed(b), [[0; 8]; N]);
        engine.run(
            #[inline(always)]
            || products::<V, N>(engine, &x, &y, &mut out),
        );
        for lane in 0..width {
            let product = Extension(std::array::from_fn(|i| Goldilocks::new(out[i][lane])));
            assert_eq!(product, a[lane] * b[lane]);
        }
    }
}

fn lanes_of_engine<E: GoldilocksEngine>(engine: E) {
    lanes::<E::Vector, E, 2>(engine);
    lanes::<E::Vector, E, 3>(engine);
    lanes::<E::Chain, E, 2>(engine);
    lanes::<E::Chain, E, 3>(engine);
}

#[test]
fn lanes_agree_with_elements() {
    for_each_goldilocks_level(|level| dispatch_goldilocks!(level, engine => lanes_of_engine(engine)));
}

/// `x^2 = 7` and `x^3 = x + 1`.
#[test]
fn polynomials() {
    let x: QuadraticExtension = Extension([Goldilocks::ZERO, Goldilocks::ONE]);
    assert_eq!(x.square(), Extension::from_base(Goldilocks::new(7)));
    let x: CubicExtension = Extension([Goldilocks::ZERO, Goldilocks::ONE, Goldilocks::ZERO]);
    assert_eq!(x.square() * x, x + Extension::ONE);
}
