//! The permutation, written once for every vector.

use super::{
    constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Rounds},
    linear::{WIDTH, multiply},
};
use crate::state::{State, seventh_powers};
use proofmill_field::goldilocks::{GoldilocksVector, Planes, U64s, constant_planes};

/// Linear layers between two foldings: what planes can take.
pub const LAYERS: usize = 3;

/// Partial rounds of the first group: the last full round's linear layer counts.
pub const FIRST_GROUP: usize = PARTIAL_ROUNDS % LAYERS;

const _: () = assert!(FIRST_GROUP < LAYERS);

#[inline(always)]
fn linear_layer<W: U64s>(state: &mut State<W, WIDTH>) {
    state.low = multiply(&state.low);
    state.high = multiply(&state.high);
}

/// A round with an S-box on each element, to which `constant(i)` is added before.
#[inline(always)]
pub fn full_round<V: GoldilocksVector>(
    state: &mut State<V::U64s, WIDTH>,
    constant: impl Fn(usize) -> Planes<V::U64s>,
) {
    if V::CHAINS < WIDTH {
        s_boxes::<V, 4>(state, constant);
    } else {
        s_boxes::<V, WIDTH>(state, constant);
    }
    linear_layer(state);
}

/// An S-box on each element, `GROUP` side by side.
#[inline(always)]
fn s_boxes<V: GoldilocksVector, const GROUP: usize>(
    state: &mut State<V::U64s, WIDTH>,
    constant: impl Fn(usize) -> Planes<V::U64s>,
) {
    for group in (0..WIDTH).step_by(GROUP) {
        let mut x = [V::zero(state.token()); GROUP];
        for i in 0..GROUP {
            x[i] = V::from_planes(state.get(group + i) + constant(group + i));
        }
        let powers = seventh_powers(x);
        for i in 0..GROUP {
            state.set(group + i, powers[i]);
        }
    }
}

/// Rounds with an S-box on the first element, to which `constant(round)` is added before; leaves the planes of the
/// others fresh. They may have passed no more than [`LAYERS`] linear layers by then, those before included.
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

/// The permutation of each state of the lanes.
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
