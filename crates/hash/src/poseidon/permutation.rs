//! The permutation, written once for every vector.

use super::{
    constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Rounds},
    linear::{WIDTH, multiply},
};
use crate::state::{State, seventh_powers};
use proofmill_field::goldilocks::{GoldilocksVector, Planes, U64s, constant_planes};

/// The linear layers between two folds: the most that planes permit.
pub const LAYERS: usize = 3;

/// The partial rounds of the first group, where the last full round's linear layer counts too.
pub const FIRST_GROUP: usize = PARTIAL_ROUNDS % LAYERS;

const _: () = assert!(FIRST_GROUP < LAYERS);

#[inline(always)]
fn linear_layer<W: U64s>(state: &mut State<W, WIDTH>) {
    state.low = multiply(&state.low);
    state.high = multiply(&state.high);
}

/// A round that adds `constant(i)` to each element, followed by an S-box on each.
#[inline(always)]
pub fn full_round<V: GoldilocksVector>(
    state: &mut State<V::U64s, WIDTH>,
    constant: impl Fn(usize) -> Planes<V::U64s>,
) {
    state.s_boxes::<V>(constant);
    linear_layer(state);
}

/// Rounds that add `constant(round)` to the first element, followed by an S-box on it; leaves the planes of the
/// others fresh. These may pass at most [`LAYERS`] linear layers until then, including those before.
#[inline(always)]
pub fn partial_rounds<V: GoldilocksVector>(
    state: &mut State<V::U64s, WIDTH>,
    rounds: usize,
    constant: impl Fn(usize) -> Planes<V::U64s>,
) {
    for round in 0..rounds {
        let x = V::from_planes(state.get(0) + constant(round));
        for i in 1..WIDTH {
            state.set(i, V::carry(state.get(i)));
        }
        state.set(0, seventh_powers([x])[0]);
        linear_layer(state);
    }
    for i in 1..WIDTH {
        let planes = state.get(i) + Planes::splat(state.token(), constant_planes::<V>(0));
        state.set(i, V::from_planes(planes).planes());
    }
}

/// The permutation of the state in each lane.
#[inline(always)]
pub(super) fn permute<V: GoldilocksVector>(elements: &mut [V; WIDTH]) {
    let token = elements[0].token();
    let mut state = State::of(elements);
    let (before, rest) = Rounds::<V>::PLANES.split_at(HALF_FULL_ROUNDS * WIDTH);
    let (partial, after) = rest.split_at(PARTIAL_ROUNDS);
    full_rounds::<V>(&mut state, before);
    let (first, groups) = partial.split_at(FIRST_GROUP);
    partial_rounds::<V>(
        &mut state,
        FIRST_GROUP,
        #[inline(always)]
        |round| Planes::splat(token, first[round]),
    );
    for constants in groups.chunks_exact(LAYERS) {
        partial_rounds::<V>(
            &mut state,
            LAYERS,
            #[inline(always)]
            |round| Planes::splat(token, constants[round]),
        );
    }
    full_rounds::<V>(&mut state, after);
    *elements = state.elements();
}

#[inline(always)]
fn full_rounds<V: GoldilocksVector>(state: &mut State<V::U64s, WIDTH>, constants: &[[u64; 2]]) {
    let token = state.token();
    for constants in constants.chunks_exact(WIDTH) {
        full_round::<V>(
            state,
            #[inline(always)]
            |i| Planes::splat(token, constants[i]),
        );
    }
}
