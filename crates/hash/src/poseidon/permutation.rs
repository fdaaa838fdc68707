//! The permutation, written once for every vector.

use super::{
    constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Rounds},
    linear::{WIDTH, multiply},
};
use proofmill_field::goldilocks::{GoldilocksVector, Planes, U64s, constant_planes};

/// Linear layers between two foldings: what planes can take.
pub const LAYERS: usize = 3;

/// Partial rounds of the first group: the last full round's linear layer counts.
pub const FIRST_GROUP: usize = PARTIAL_ROUNDS % LAYERS;

const _: () = assert!(FIRST_GROUP < LAYERS);

/// A state as planes.
#[derive(Clone, Copy, Debug)]
pub struct State<W> {
    /// The low planes.
    pub low: [W; WIDTH],
    /// The high planes.
    pub high: [W; WIDTH],
}

impl<W: U64s> State<W> {
    /// The planes of elements.
    #[inline(always)]
    pub fn of<V: GoldilocksVector<U64s = W, Token = W::Token>>(elements: &[V; WIDTH]) -> Self {
        let first = elements[0].planes();
        let mut state = Self { low: [first.low; WIDTH], high: [first.high; WIDTH] };
        for i in 1..WIDTH {
            state.set(i, elements[i].planes());
        }
        state
    }

    /// The elements.
    #[inline(always)]
    pub fn elements<V: GoldilocksVector<U64s = W, Token = W::Token>>(&self) -> [V; WIDTH] {
        let token = self.token();
        let mut elements = [V::zero(token); WIDTH];
        for i in 0..WIDTH {
            elements[i] = V::from_planes(self.get(i) + Planes::splat(token, constant_planes::<V>(0)));
        }
        elements
    }

    #[inline(always)]
    fn token(&self) -> W::Token {
        self.low[0].token()
    }

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

    /// A round with an S-box on each element, to which `constant(i)` is added before.
    #[inline(always)]
    pub fn full_round<V: GoldilocksVector<U64s = W, Token = W::Token>>(
        &mut self,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        if V::CHAINS < WIDTH {
            self.s_boxes::<V, 4>(constant);
        } else {
            self.s_boxes::<V, WIDTH>(constant);
        }
        self.linear_layer();
    }

    /// An S-box on each element, `GROUP` side by side.
    #[inline(always)]
    fn s_boxes<V: GoldilocksVector<U64s = W, Token = W::Token>, const GROUP: usize>(
        &mut self,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        for group in (0..WIDTH).step_by(GROUP) {
            let mut x = [V::zero(self.token()); GROUP];
            for i in 0..GROUP {
                x[i] = V::from_planes(self.get(group + i) + constant(group + i));
            }
            let powers = seventh_powers(x);
            for i in 0..GROUP {
                self.set(group + i, powers[i]);
            }
        }
    }

    /// Rounds with an S-box on the first element, to which `constant(round)` is added before; leaves the planes of the
    /// others fresh. They may have passed no more than [`LAYERS`] linear layers by then, those before included.
    #[inline(always)]
    pub fn partial_rounds<V: GoldilocksVector<U64s = W, Token = W::Token>>(
        &mut self,
        rounds: usize,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        for round in 0..rounds {
            let x = V::from_planes(self.get(0) + constant(round));
            for i in 1..WIDTH {
                self.set(i, V::carry(self.get(i)));
            }
            self.set(0, seventh_powers([x])[0]);
            self.linear_layer();
        }
        for i in 1..WIDTH {
            let planes = self.get(i) + Planes::splat(self.token(), constant_planes::<V>(0));
            self.set(i, V::from_planes(planes).planes());
        }
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

/// The permutation of each state of the lanes.
#[inline(always)]
pub(super) fn permute<V: GoldilocksVector>(elements: &mut [V; WIDTH]) {
    let token = elements[0].token();
    let mut state = State::of(elements);
    let (before, rest) = Rounds::<V>::PLANES.split_at(HALF_FULL_ROUNDS * WIDTH);
    let (partial, after) = rest.split_at(PARTIAL_ROUNDS);
    full_rounds::<V>(&mut state, before);
    let (first, groups) = partial.split_at(FIRST_GROUP);
    state.partial_rounds::<V>(
        FIRST_GROUP,
        #[inline(always)]
        |round| Planes::splat(token, first[round]),
    );
    for constants in groups.chunks_exact(LAYERS) {
        state.partial_rounds::<V>(
            LAYERS,
            #[inline(always)]
            |round| Planes::splat(token, constants[round]),
        );
    }
    full_rounds::<V>(&mut state, after);
    *elements = state.elements();
}

#[inline(always)]
fn full_rounds<V: GoldilocksVector>(state: &mut State<V::U64s>, constants: &[[u64; 2]]) {
    let token = state.token();
    for constants in constants.chunks_exact(WIDTH) {
        state.full_round::<V>(
            #[inline(always)]
            |i| Planes::splat(token, constants[i]),
        );
    }
}
