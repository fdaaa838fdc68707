//! The permutation, written once for every vector.

use super::{
    constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Rounds},
    linear::{WIDTH, multiply},
};
use proofmill_field::goldilocks::{
    Goldilocks, GoldilocksVector, Lanes, Planes, Word, Words, constant_planes,
};

/// The permutation of plonky2 and Polygon Hermez.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poseidon;

/// Linear layers between two foldings: what planes can take.
const LAYERS: usize = 3;

/// Elements whose S-boxes go side by side: enough to hide a product's latency.
const GROUP: usize = 4;

/// A state as planes.
#[derive(Clone, Copy)]
struct State<W> {
    low: [W; WIDTH],
    high: [W; WIDTH],
}

impl<W: Words> State<W> {
    #[inline(always)]
    fn get(&self, i: usize) -> Planes<W> {
        Planes { low: self.low[i], high: self.high[i] }
    }

    #[inline(always)]
    fn set(&mut self, i: usize, planes: Planes<W>) {
        (self.low[i], self.high[i]) = (planes.low, planes.high);
    }

    #[inline(always)]
    fn linear_layer(&mut self) {
        self.low = multiply(&self.low);
        self.high = multiply(&self.high);
    }
}

/// x^7, as fresh planes.
#[inline(always)]
fn seventh_powers<V: GoldilocksVector, const N: usize>(x: [V; N]) -> [Planes<V::Words>; N] {
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

#[inline(always)]
fn full_round<V: GoldilocksVector>(state: &mut State<V::Words>, constants: &[[u64; 2]; WIDTH]) {
    for group in (0..WIDTH).step_by(GROUP) {
        let mut x = [V::zero(); GROUP];
        for i in 0..GROUP {
            x[i] = V::from_planes(state.get(group + i).add_constant(constants[group + i]));
        }
        let powers = seventh_powers(x);
        for i in 0..GROUP {
            state.set(group + i, powers[i]);
        }
    }
    state.linear_layer();
}

#[inline(always)]
fn partial_round<V: GoldilocksVector>(state: &mut State<V::Words>, constant: [u64; 2]) {
    let x = V::from_planes(state.get(0).add_constant(constant));
    for i in 1..WIDTH {
        state.set(i, V::carry(state.get(i)));
    }
    state.set(0, seventh_powers([x])[0]);
    state.linear_layer();
}

/// Makes planes fresh.
#[inline(always)]
fn fold<V: GoldilocksVector>(state: &mut State<V::Words>) {
    for i in 1..WIDTH {
        let planes = state.get(i).add_constant(constant_planes::<V>(0));
        state.set(i, V::from_planes(planes).planes());
    }
}

/// The permutation of each state of the lanes.
#[inline(always)]
pub fn permute<V: GoldilocksVector>(elements: &mut [V; WIDTH]) {
    let zero = V::zero().planes();
    let mut state = State { low: [zero.low; WIDTH], high: [zero.high; WIDTH] };
    for i in 0..WIDTH {
        state.set(i, elements[i].planes());
    }
    for constants in &Rounds::<V>::FULL[..HALF_FULL_ROUNDS] {
        full_round::<V>(&mut state, constants);
    }
    for constants in Rounds::<V>::PARTIAL.chunks(LAYERS - 1) {
        for constant in constants {
            partial_round::<V>(&mut state, *constant);
        }
        fold::<V>(&mut state);
    }
    for constants in &Rounds::<V>::FULL[HALF_FULL_ROUNDS..] {
        full_round::<V>(&mut state, constants);
    }
    for i in 0..WIDTH {
        elements[i] = V::from_planes(state.get(i).add_constant(constant_planes::<V>(0)));
    }
}
