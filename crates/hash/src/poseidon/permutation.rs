//! The permutation, written once for every vector.

use super::{
    constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Rounds},
    linear::{WIDTH, multiply},
};
use crate::state::{State, for_each_element, seventh_powers};
use proofmill_field::goldilocks::{GoldilocksVector, Planes, U64s};

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
pub fn partial_rounds<V: GoldilocksVector, const N: usize>(
    states: &mut [State<V::U64s, WIDTH>; N],
    rounds: usize,
    constant: impl Fn(usize) -> Planes<V::U64s>,
) {
    for round in 0..rounds {
        let mut x = [V::zero(states[0].token()); N];
        for_each_element!(K < N => x[K] = V::from_planes(states[K].get(0) + constant(round)));
        // The only S-box of the round is a chain of products: N states interleave theirs.
        let powers = seventh_powers(x);
        for_each_element!(K < N => {
            let state = &mut states[K];
            for i in 1..WIDTH {
                state.set(i, V::carry(state.get(i)));
            }
            state.set(0, powers[K]);
            linear_layer(state);
        });
    }
    for_each_element!(K < N => {
        for i in 1..WIDTH {
            let element: V = states[K].element(i);
            states[K].set(i, element.planes());
        }
    });
}

/// The permutation of the state in each lane; `N` vectors hold each element.
#[inline(always)]
pub(super) fn permute<V: GoldilocksVector, const N: usize>(elements: &mut [[V; N]]) {
    let token = elements[0][0].token();
    let (before, rest) = Rounds::<V>::PLANES.split_at(HALF_FULL_ROUNDS * WIDTH);
    let (partial, after) = rest.split_at(PARTIAL_ROUNDS);
    let zero = V::zero(token).planes().low;
    let mut states = [State { low: [zero; WIDTH], high: [zero; WIDTH] }; N];
    for k in 0..N {
        for_each_element!(I < WIDTH => states[k].set(I, elements[I][k].planes()));
        full_rounds::<V>(&mut states[k], before);
    }
    // 22 = 1 + 7 * 3: the short group is first, after a full round whose linear layer counts too.
    let (first, groups) = partial.split_at(FIRST_GROUP);
    partial_rounds::<V, N>(
        &mut states,
        FIRST_GROUP,
        #[inline(always)]
        |round| Planes::splat(token, first[round]),
    );
    for constants in groups.chunks_exact(LAYERS) {
        partial_rounds::<V, N>(
            &mut states,
            LAYERS,
            #[inline(always)]
            |round| Planes::splat(token, constants[round]),
        );
    }
    for k in 0..N {
        full_rounds::<V>(&mut states[k], after);
        for_each_element!(I < WIDTH => elements[I][k] = states[k].element(I));
    }
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
