//! Poseidon2's permutation of states in lanes.

use super::{
    function::{Function, file, repeat},
    poseidon::{PLANES, planes},
    trace::{Program, Traced},
};
use crate::Generated;
use proofmill_field::goldilocks::{GoldilocksLanes, U64s};
use proofmill_hash::State;
use proofmill_hash::poseidon2::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Parameters, Poseidon2, partial_rounds};

type V = GoldilocksLanes<Traced>;

fn about(width: usize) -> String {
    format!(
        "Poseidon2's permutation of one state of {width} elements per lane: s = E s; in each full round, s = E (s + c)^7; in each\n\
         partial one, s_0 = (s_0 + c)^7, then s_i = d_i s_i + sum of s. In: any words. Out: canonical."
    )
}

/// The pieces of a permutation.
struct Pieces {
    enter: Program,
    full: Program,
    /// The first partial rounds, as many as whole groups leave.
    first: Program,
    group: Program,
    back: Program,
    leave: Program,
}

impl Pieces {
    /// `WORDS` is twice the width.
    fn record<const WIDTH: usize, const WORDS: usize>() -> Self
    where
        Poseidon2<WIDTH>: Parameters,
    {
        let on_state = |change: &dyn Fn(&mut State<Traced, WIDTH>)| {
            Program::record(|words: [Traced; WORDS]| {
                let mut state = State {
                    low: std::array::from_fn(|i| words[i]),
                    high: std::array::from_fn(|i| words[WIDTH + i]),
                };
                change(&mut state);
                state.low.into_iter().chain(state.high).collect()
            })
        };
        let partial = |state: &mut State<Traced, WIDTH>, rounds| {
            let mut states = [*state];
            partial_rounds::<Poseidon2<WIDTH>, V, WIDTH, 1>(&mut states, rounds, planes);
            [*state] = states;
        };
        let rounds = Poseidon2::<WIDTH>::ROUNDS_A_FOLD;
        Self {
            enter: Program::record(|elements: [Traced; WIDTH]| {
                let mut state = State::of(&elements.map(GoldilocksLanes::new));
                state.linear_layer();
                state.low.into_iter().chain(state.high).collect()
            }),
            full: on_state(&|state| state.full_round::<V>(planes)),
            first: on_state(&|state| {
                state.enter_partial_rounds::<V>();
                partial(state, PARTIAL_ROUNDS % rounds);
            }),
            group: on_state(&|state| partial(state, rounds)),
            back: on_state(&|state| state.leave_partial_rounds::<V>()),
            leave: Program::record(|words: [Traced; WORDS]| {
                let state = State::<Traced, WIDTH> {
                    low: std::array::from_fn(|i| words[i]),
                    high: std::array::from_fn(|i| words[WIDTH + i]),
                };
                state.elements::<V>().into_iter().map(|element| element.words().canonical()).collect()
            }),
        }
    }

    fn kernel<const WIDTH: usize>(&self) -> String
    where
        Poseidon2<WIDTH>: Parameters,
    {
        let rounds = Poseidon2::<WIDTH>::ROUNDS_A_FOLD;
        let mut function = Function::new(&format!("proofmill_poseidon2_{WIDTH}"));
        (0..WIDTH).for_each(|i| function.line(&format!("ldr z{i}, [x0, #{i}, mul vl]")));
        function.piece(&self.enter);
        repeat(&mut function, 1, HALF_FULL_ROUNDS, &self.full, WIDTH);
        function.piece(&self.first);
        function.line(&format!("add x1, x1, #{}", 16 * (PARTIAL_ROUNDS % rounds)));
        repeat(&mut function, 2, PARTIAL_ROUNDS / rounds, &self.group, rounds);
        function.piece(&self.back);
        repeat(&mut function, 3, HALF_FULL_ROUNDS, &self.full, WIDTH);
        function.piece(&self.leave);
        (0..WIDTH).for_each(|i| function.line(&format!("str z{i}, [x0, #{i}, mul vl]")));
        let text = function.text(&format!("x0 {WIDTH} vectors of elements, x1 the round constants' planes."));
        file(&about(WIDTH), PLANES, "crates/hash/src/poseidon2/permutation.rs", &text)
    }
}

/// The kernels of both widths.
pub(crate) fn poseidon2() -> [Generated; 2] {
    [
        Generated {
            path: "crates/hash/src/poseidon2/aarch64/width_8.s",
            text: Pieces::record::<8, 16>().kernel::<8>(),
        },
        Generated {
            path: "crates/hash/src/poseidon2/aarch64/width_12.s",
            text: Pieces::record::<12, 24>().kernel::<12>(),
        },
    ]
}
