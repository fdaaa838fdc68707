//! Poseidon's permutation of states in lanes.

use super::{
    function::{Function, file, repeat},
    trace::{Program, Traced, constant},
};
use crate::Generated;
use proofmill_field::goldilocks::{GoldilocksLanes, Planes, U64s};
use proofmill_hash::{
    State,
    poseidon::{self, FIRST_GROUP, HALF_FULL_ROUNDS, LAYERS, PARTIAL_ROUNDS, WIDTH},
};

type V = GoldilocksLanes<Traced>;

const ABOUT: &str = "Poseidon's permutation of one state of twelve elements per lane: in each round, s = M (s + c)^7, of partial\n\
    rounds with the power of the first element only. In: any words. Out: canonical.";

/// Bounds of permutations.
pub(super) const PLANES: &str = "Elements are low + 2^32 high; linear layers act on each plane without reduction. Planes of products are within 2^33,\n\
    and are reduced before they exceed 2^58: see Planes in crates/field/src/goldilocks/vector.rs.";

pub(super) fn planes(n: usize) -> Planes<Traced> {
    Planes { low: constant(2 * n), high: constant(2 * n + 1) }
}

fn state(planes: [Traced; 2 * WIDTH]) -> State<Traced, WIDTH> {
    State { low: std::array::from_fn(|i| planes[i]), high: std::array::from_fn(|i| planes[WIDTH + i]) }
}

fn outputs(state: State<Traced, WIDTH>) -> Vec<Traced> {
    state.low.into_iter().chain(state.high).collect()
}

/// Poseidon's permutation of states in lanes.
pub(crate) fn poseidon() -> Generated {
    let enter =
        Program::record(|elements: [Traced; WIDTH]| outputs(State::of(&elements.map(GoldilocksLanes::new))));
    let full = Program::record(|words| {
        let mut state = state(words);
        poseidon::full_round::<V>(&mut state, planes);
        outputs(state)
    });
    let partial = |rounds| {
        Program::record(|words| {
            let mut states = [state(words)];
            poseidon::partial_rounds::<V, 1>(&mut states, rounds, planes);
            outputs(states[0])
        })
    };
    let leave = Program::record(|words: [Traced; 2 * WIDTH]| {
        state(words).elements::<V>().into_iter().map(|element| element.words().canonical()).collect()
    });
    let mut function = Function::new("proofmill_poseidon");
    (0..WIDTH).for_each(|i| function.line(&format!("ldr z{i}, [x0, #{i}, mul vl]")));
    function.piece(&enter);
    repeat(&mut function, 1, HALF_FULL_ROUNDS, &full, WIDTH);
    function.piece(&partial(FIRST_GROUP));
    function.line(&format!("add x1, x1, #{}", 16 * FIRST_GROUP));
    repeat(&mut function, 2, PARTIAL_ROUNDS / LAYERS, &partial(LAYERS), LAYERS);
    repeat(&mut function, 3, HALF_FULL_ROUNDS, &full, WIDTH);
    function.piece(&leave);
    (0..WIDTH).for_each(|i| function.line(&format!("str z{i}, [x0, #{i}, mul vl]")));
    let text = function.text("x0 twelve vectors of elements, x1 the round constants' planes.");
    Generated {
        path: "crates/hash/src/poseidon/aarch64/sve.s",
        text: file(ABOUT, PLANES, "crates/hash/src/poseidon/permutation.rs", &text),
    }
}
