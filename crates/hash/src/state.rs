//! States of Poseidon and Poseidon2 as planes, and their S-box.

use proofmill_field::goldilocks::{GoldilocksVector, Planes, U64s, constant_planes};

/// Runs a body for each element with its index as a constant: the compiler does not unroll loops over twelve of these
/// bodies, and then keeps the state in memory.
macro_rules! for_each_element {
    ($i:ident < $width:ident => $body:expr) => {
        for_each_element!($i < $width => $body; 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    ($i:ident < $width:ident => $body:expr; $($n:literal)*) => { $(
        if $n < $width {
            const $i: usize = $n;
            $body;
        }
    )* };
}

pub(crate) use for_each_element;

/// States in lanes, as planes.
#[derive(Clone, Copy, Debug)]
pub struct State<W, const WIDTH: usize> {
    /// The low planes.
    pub low: [W; WIDTH],
    /// The high planes.
    pub high: [W; WIDTH],
}

impl<W: U64s, const WIDTH: usize> State<W, WIDTH> {
    /// The planes of elements.
    #[inline(always)]
    pub fn of<V: GoldilocksVector<U64s = W, Token = W::Token>>(elements: &[V; WIDTH]) -> Self {
        let first = elements[0].planes();
        let mut state = Self { low: [first.low; WIDTH], high: [first.high; WIDTH] };
        for_each_element!(I < WIDTH => state.set(I, elements[I].planes()));
        state
    }

    /// The elements.
    #[inline(always)]
    pub fn elements<V: GoldilocksVector<U64s = W, Token = W::Token>>(&self) -> [V; WIDTH] {
        let mut elements = [V::zero(self.token()); WIDTH];
        for_each_element!(I < WIDTH => elements[I] = self.element(I));
        elements
    }

    /// Element `i`.
    #[inline(always)]
    pub(crate) fn element<V: GoldilocksVector<U64s = W, Token = W::Token>>(&self, i: usize) -> V {
        V::from_planes(self.get(i) + Planes::splat(self.token(), constant_planes::<V>(0)))
    }

    /// Adds `constant(i)` to each element and applies the S-box.
    #[inline(always)]
    pub(crate) fn s_boxes<V: GoldilocksVector<U64s = W, Token = W::Token>>(
        &mut self,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        // Groups where registers hold no more chains.
        if V::CHAINS < WIDTH {
            self.grouped_s_boxes::<V, 4>(constant)
        } else {
            self.all_s_boxes::<V>(constant)
        }
    }

    /// All elements interleaved. The loops are not unrolled: that made Poseidon 7 % slower at `avx2`.
    #[inline(always)]
    fn all_s_boxes<V: GoldilocksVector<U64s = W, Token = W::Token>>(
        &mut self,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        let mut x = [V::zero(self.token()); WIDTH];
        for i in 0..WIDTH {
            x[i] = V::from_planes(self.get(i) + constant(i));
        }
        let powers = seventh_powers(x);
        for i in 0..WIDTH {
            self.set(i, powers[i]);
        }
    }

    /// `GROUP` elements interleaved; it divides `WIDTH`.
    #[inline(always)]
    fn grouped_s_boxes<V: GoldilocksVector<U64s = W, Token = W::Token>, const GROUP: usize>(
        &mut self,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        for_each_element!(FIRST < WIDTH => if usize::is_multiple_of(FIRST, GROUP) {
            let mut x = [V::zero(self.token()); GROUP];
            for_each_element!(I < GROUP => x[I] = V::from_planes(self.get(FIRST + I) + constant(FIRST + I)));
            let powers = seventh_powers(x);
            for_each_element!(I < GROUP => self.set(FIRST + I, powers[I]));
        });
    }

    #[inline(always)]
    pub(crate) fn token(&self) -> W::Token {
        self.low[0].token()
    }

    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> Planes<W> {
        Planes { low: self.low[i], high: self.high[i] }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, planes: Planes<W>) {
        (self.low[i], self.high[i]) = (planes.low, planes.high);
    }
}

/// x^7, as fresh planes. The factors s of the scaled products multiply to s^6, which is 1.
#[inline(always)]
pub(crate) fn seventh_powers<V: GoldilocksVector, const N: usize>(x: [V; N]) -> [Planes<V::U64s>; N] {
    let mut square = x;
    for_each_element!(I < N => square[I] = x[I].square_scaled());
    // x^3 and x^4 are independent, so that the chain is only three products long.
    let (mut cube, mut fourth) = (x, x);
    for_each_element!(I < N => {
        cube[I] = square[I].mul_scaled(x[I]);
        fourth[I] = square[I].square_scaled();
    });
    let mut power = [x[0].planes(); N];
    for_each_element!(I < N => power[I] = cube[I].product_planes_scaled(fourth[I]));
    power
}
