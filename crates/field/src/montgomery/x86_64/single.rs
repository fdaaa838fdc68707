//! One element as a *row*, a few vectors with a limb in each lane, between products; products of several rows at a time, with a
//! row's limb in each lane.
//!
//! Sums are one operation of vectors, are not reduced, and may have [`MOST_TERMS`](Algebra::MOST_TERMS) terms. The number of terms in the
//! formulas of towers and pairings is checked by running them over an algebra of counts (crates/field/tests/it/towers.rs,
//! crates/pairing/src/terms.rs).

use crate::{
    algebra::{Algebra, Lanes, Quadratic, Quadratics, Select},
    montgomery::{Fp, Limbs, Prime, limbs::carrying_add},
};
use proofmill_cpu::Token;
use std::{
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Add, Mul, Neg, Sub},
};

/// The arithmetic of rows of the field `P`. Bounds of values and limbs are the implementation's.
pub trait SingleRow<P: Prime>: Copy + Send + Sync + 'static {
    /// Proves the instructions.
    type Token: Token;
    /// See [`Algebra::MOST_TERMS`].
    const MOST_TERMS: u64;
    /// The number of rows that are multiplied at a time.
    const GROUP: usize;

    /// Zero.
    fn zero(token: Self::Token) -> Self;
    /// One.
    fn one(token: Self::Token) -> Self;
    /// The sum, not reduced.
    fn plus(self, token: Self::Token, rhs: Self) -> Self;
    /// The difference, not reduced.
    fn minus(self, token: Self::Token, rhs: Self) -> Self;
    /// The same value as one term.
    fn reduced(self, token: Self::Token) -> Self;
    /// Products, which replace the first factors. As many of each, a multiple of `GROUP`.
    fn multiply(token: Self::Token, a: &mut [Self], b: &[Self]);
    /// From the 64-bit Montgomery form, canonical.
    fn load(token: Self::Token, element: &P::Limbs) -> Self;
    /// The inverse of [`load`](Self::load), for a sum of terms.
    fn store(self, token: Self::Token) -> P::Limbs;
    /// `chosen` if the bit is set, otherwise `other`.
    fn select(token: Self::Token, choice: bool, chosen: Self, other: Self) -> Self;
}

/// One element of `P` as a row.
#[derive(Clone, Copy)]
pub struct Single<P, R: SingleRow<P>>
where
    P: Prime,
{
    row: R,
    token: R::Token,
    field: PhantomData<P>,
}

impl<P: Prime, R: SingleRow<P>> Single<P, R> {
    #[inline(always)]
    fn new(token: R::Token, row: R) -> Self {
        Self { row, token, field: PhantomData }
    }
}

/// The capacity of a batch in rows.
const ROWS: usize = 64;

/// Pairs of factors, one per row; products replace the first factors.
struct Batch<P: Prime, R: SingleRow<P>> {
    a: [MaybeUninit<R>; ROWS],
    b: [MaybeUninit<R>; ROWS],
    token: R::Token,
    field: PhantomData<P>,
}

impl<P: Prime, R: SingleRow<P>> Batch<P, R> {
    #[inline(always)]
    fn new(token: R::Token) -> Self {
        Self { a: [MaybeUninit::uninit(); ROWS], b: [MaybeUninit::uninit(); ROWS], token, field: PhantomData }
    }

    #[inline(always)]
    fn set(&mut self, row: usize, a: Single<P, R>, b: Single<P, R>) {
        self.a[row].write(a.row);
        self.b[row].write(b.row);
    }

    /// Row `row`, which must have been [`set`](Self::set).
    #[inline(always)]
    fn get(&self, row: usize) -> Single<P, R> {
        // SAFETY: the formulas of this module set every row that they read.
        Single::new(self.token, unsafe { self.a[row].assume_init() })
    }

    /// Multiplies the first `len` rows. All of these must have been set.
    #[inline(always)]
    fn multiply(&mut self, len: usize) {
        let zero = Single::zero(self.token);
        for row in len..len.next_multiple_of(R::GROUP) {
            self.set(row, zero, zero);
        }
        self.multiply_groups(len.div_ceil(R::GROUP));
    }

    /// Multiplies groups of rows, which must have been set. A function, so that formulas share it.
    #[inline(never)]
    fn multiply_groups(&mut self, groups: usize) {
        let len = R::GROUP * groups;
        assert!(len <= ROWS);
        // SAFETY: these rows were set.
        let [a, b] = unsafe {
            [
                std::slice::from_raw_parts_mut(self.a.as_mut_ptr().cast::<R>(), len),
                std::slice::from_raw_parts_mut(self.b.as_mut_ptr().cast::<R>(), len),
            ]
        };
        let token = self.token;
        token.call(
            #[inline(always)]
            || R::multiply(token, a, b),
        );
    }
}

impl<P: Prime, R: SingleRow<P>> Add for Single<P, R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self::new(self.token, self.row.plus(self.token, rhs.row))
    }
}

impl<P: Prime, R: SingleRow<P>> Sub for Single<P, R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self::new(self.token, self.row.minus(self.token, rhs.row))
    }
}

impl<P: Prime, R: SingleRow<P>> Neg for Single<P, R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::zero(self.token) - self
    }
}

impl<P: Prime, R: SingleRow<P>> Mul for Single<P, R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        let mut batch = Batch::new(self.token);
        batch.set(0, self, rhs);
        batch.multiply(1);
        batch.get(0)
    }
}

impl<P: Prime, R: SingleRow<P>> Algebra for Single<P, R> {
    type Token = R::Token;
    const MOST_TERMS: u64 = R::MOST_TERMS;

    #[inline(always)]
    fn token(&self) -> R::Token {
        self.token
    }

    #[inline(always)]
    fn zero(token: R::Token) -> Self {
        Self::new(token, R::zero(token))
    }

    #[inline(always)]
    fn one(token: R::Token) -> Self {
        Self::new(token, R::one(token))
    }

    #[inline(always)]
    fn mul_pair(a: [Self; 2], b: [Self; 2]) -> [Self; 2] {
        let mut batch = Batch::new(a[0].token);
        batch.set(0, a[0], b[0]);
        batch.set(1, a[1], b[1]);
        batch.multiply(2);
        [batch.get(0), batch.get(1)]
    }

    #[inline(always)]
    fn square_pair(a: [Self; 2]) -> [Self; 2] {
        Self::mul_pair(a, a)
    }

    #[inline(always)]
    fn mul_quadratic(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        let [product] = Self::mul_quadratics(a.token(), [[a, b]]);
        product
    }

    #[inline(always)]
    fn mul_quadratics<const N: usize>(
        token: R::Token,
        factors: [[&Quadratic<Self>; 2]; N],
    ) -> [Quadratic<Self>; N] {
        let (products, [], []) = Self::quadratics(token, factors, [], []);
        products
    }

    /// Products with Karatsuba's three products, squares with `(c0 + c1)(c0 - c1)` and `c0 c1`.
    #[inline(always)]
    fn quadratics<const N: usize, const S: usize, const M: usize>(
        token: R::Token,
        factors: [[&Quadratic<Self>; 2]; N],
        squares: [&Quadratic<Self>; S],
        multiples: [(&Quadratic<Self>, &Self); M],
    ) -> Quadratics<Self, N, S, M> {
        const { assert!(3 * N + 2 * S + 2 * M <= ROWS) };
        let mut batch = Batch::new(token);
        for (i, [a, b]) in factors.iter().enumerate() {
            batch.set(3 * i, a.c0, b.c0);
            batch.set(3 * i + 1, a.c1, b.c1);
            batch.set(3 * i + 2, a.c0 + a.c1, b.c0 + b.c1);
        }
        for (i, a) in squares.iter().enumerate() {
            batch.set(3 * N + 2 * i, a.c0 + a.c1, a.c0 - a.c1);
            batch.set(3 * N + 2 * i + 1, a.c0, a.c1);
        }
        for (i, (a, factor)) in multiples.iter().enumerate() {
            batch.set(3 * N + 2 * S + 2 * i, a.c0, **factor);
            batch.set(3 * N + 2 * S + 2 * i + 1, a.c1, **factor);
        }
        batch.multiply(3 * N + 2 * S + 2 * M);
        let zero = Quadratic::zero(token);
        let mut results = ([zero; N], [zero; S], [zero; M]);
        for (i, product) in results.0.iter_mut().enumerate() {
            let [v0, v1, cross] = [batch.get(3 * i), batch.get(3 * i + 1), batch.get(3 * i + 2)];
            *product = Quadratic::new(v0 - v1, cross - v0 - v1);
        }
        for (i, square) in results.1.iter_mut().enumerate() {
            let at = 3 * N + 2 * i;
            *square = Quadratic::new(batch.get(at), batch.get(at + 1).double());
        }
        for (i, multiple) in results.2.iter_mut().enumerate() {
            let at = 3 * N + 2 * S + 2 * i;
            *multiple = Quadratic::new(batch.get(at), batch.get(at + 1));
        }
        results
    }

    #[inline(always)]
    fn reduced(self) -> Self {
        Self::new(self.token, self.row.reduced(self.token))
    }

    #[inline(always)]
    fn outlined<T>(token: R::Token, formula: impl FnOnce() -> T) -> T {
        token.call(formula)
    }
}

impl<P: Prime, R: SingleRow<P>> Lanes<Fp<P>> for Single<P, R> {
    const WIDTH: usize = 1;

    #[inline(always)]
    fn load(token: R::Token, elements: &[Fp<P>]) -> Self {
        Self::new(token, R::load(token, &elements[0].to_montgomery()))
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>]) {
        elements[0] = Fp::constant(self.row.store(self.token));
    }

    #[inline(always)]
    fn broadcast(token: R::Token, element: Fp<P>) -> Self {
        Self::load(token, &[element])
    }
}

impl<P: Prime, R: SingleRow<P>> Select for Single<P, R> {
    #[inline(always)]
    fn select(choice: u8, chosen: Self, other: Self) -> Self {
        Self::new(other.token, R::select(other.token, choice & 1 != 0, chosen.row, other.row))
    }
}

/// The canonical 64-bit words of a value in (-p, 1.2 p), given by signed limbs of so many bits.
pub(super) fn canonical<P: Prime>(limbs: impl IntoIterator<Item = i64>, bits: u32) -> P::Limbs {
    let mut words = P::Limbs::ZERO;
    let mut carry = 0;
    // Modulo 2^(64 LEN), which the last carry, the sign, is a multiple of, or of which it is beyond.
    for (i, limb) in limbs.into_iter().enumerate() {
        let sum = limb + carry;
        carry = sum >> bits;
        let (limb, at) = (sum as u64 & ((1 << bits) - 1), bits as usize * i);
        let above = u128::from(limb) << (at % 64);
        for (word, part) in words.as_mut().iter_mut().skip(at / 64).zip([above as u64, (above >> 64) as u64])
        {
            *word |= part;
        }
    }
    let mut carry = false;
    for (word, modulus) in words.as_mut().iter_mut().zip(P::MODULUS.as_ref()) {
        (*word, carry) = carrying_add(*word, *modulus, carry);
    }
    // Below 2.2 p. No branch, because the value may be secret.
    let once = words.add_mod(&P::Limbs::ZERO, &P::MODULUS);
    once.add_mod(&P::Limbs::ZERO, &P::MODULUS)
}
