//! States of Poseidon and Poseidon2 as planes, and their S-box.

use proofmill_field::goldilocks::{GoldilocksVector, Planes, U64s, constant_planes};

/// Runs a body for each element, with its number as a constant: the compiler leaves loops over twelve of these bodies, whose
/// state then goes through memory.
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

/// States side by side as planes.
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
        let offset = Planes::splat(self.token(), constant_planes::<V>(0));
        let mut elements = [V::zero(self.token()); WIDTH];
        for_each_element!(I < WIDTH => elements[I] = V::from_planes(self.get(I) + offset));
        elements
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

/// x^7, as fresh planes.
#[inline(always)]
pub(crate) fn seventh_powers<V: GoldilocksVector, const N: usize>(x: [V; N]) -> [Planes<V::U64s>; N] {
    let mut square = x;
    for i in 0..N {
        square[i] = x[i].square();
    }
    let (mut cube, mut fourth) = (x, x);
    for i in 0..N {
        cube[i] = square[i] * x[i];
        fourth[i] = square[i].square();
    }
    let mut power = [x[0].planes(); N];
    for i in 0..N {
        power[i] = cube[i].product_planes(fourth[i]);
    }
    power
}
