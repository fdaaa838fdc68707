//! The permutation, written once for every vector and width.
//!
//! A partial round maps each element to its product with its diagonal entry plus the sum of the state. The entries are small
//! integers, and halves of 1 and -1. Integers act on planes directly. An element whose entry is 1 / 2^e is stored, r
//! rounds after its planes were fresh, as 2^(e r) times itself: the round then adds a multiple of the sum to it, and only
//! the sum of such elements is divided, once per round, in parallel with the S-box.

use super::{Entry, HALF_FULL_ROUNDS, MAX_HALVINGS, PARTIAL_ROUNDS, Parameters, linear::multiply};
use crate::state::{State, for_each_element, seventh_powers};
use proofmill_field::goldilocks::{GoldilocksLanes, GoldilocksVector, Planes, U64s};

/// `2^29 p`, split at bit 32 with both planes above 2^60, which keeps the planes of partial rounds non-negative.
const OFFSET: [u64; 2] = [(1 << 61) + (1 << 29), (1 << 61) - (1 << 30)];

/// The planes of a partial round's constant.
pub(super) const fn partial_constant(word: u64) -> [u64; 2] {
    [(word & 0xffff_ffff) + OFFSET[0], (word >> 32) + OFFSET[1]]
}

impl<W: U64s, const WIDTH: usize> State<W, WIDTH> {
    /// The linear layer of full rounds, which also precedes the first round.
    #[inline(always)]
    pub fn linear_layer(&mut self) {
        self.low = multiply(&self.low);
        self.high = multiply(&self.high);
    }

    /// A round that adds `constant(i)` to each element, followed by an S-box on each.
    #[inline(always)]
    pub fn full_round<V: GoldilocksVector<U64s = W, Token = W::Token>>(
        &mut self,
        constant: impl Fn(usize) -> Planes<W>,
    ) {
        self.s_boxes::<V>(constant);
        self.linear_layer();
    }

    /// From planes of `V` after a full round to planes split at bit 32, all but the first fresh.
    #[inline(always)]
    pub fn enter_partial_rounds<V: GoldilocksVector<U64s = W, Token = W::Token>>(&mut self) {
        for_each_element!(I < WIDTH => {
            let planes = V::halves(self.get(I));
            self.set(I, if I == 0 { planes } else { folded(planes).planes() });
        });
    }

    /// Back to planes of `V`.
    #[inline(always)]
    pub fn leave_partial_rounds<V: GoldilocksVector<U64s = W, Token = W::Token>>(&mut self) {
        for_each_element!(I < WIDTH => self.set(I, V::from_words(folded(self.get(I)).words()).planes()));
    }

    /// The sum of all elements except the first, `round` rounds after planes were fresh.
    #[inline(always)]
    fn rest<P: Parameters>(&self, round: u32) -> Planes<W> {
        // One sum per number of halvings.
        let mut sums = [None; MAX_HALVINGS + 1];
        for_each_element!(I < WIDTH => if I != 0 {
            let sum = &mut sums[P::DIAGONAL[I].halvings as usize];
            *sum = Some(sum.map_or(self.get(I), |sum: Planes<W>| sum + self.get(I)));
        });
        let [Some(whole), Some(mut fractions), ..] = sums else { unreachable!("an integer and a half") };
        // Not with iterators: the shifts would not be compile-time constants.
        for i in 2..sums.len() {
            if let Some(more) = sums[i] {
                fractions = shifted(fractions, round) + more;
            }
        }
        whole + divided(fractions, P::MAX_HALVINGS as u32 * round)
    }

    /// The linear layer of a partial round, `round` rounds after planes were fresh, on all elements except the first;
    /// `sum` is that of all elements.
    #[inline(always)]
    fn add_sum<P: Parameters>(&mut self, sum: Planes<W>, round: u32) {
        let mut multiples = [sum; MAX_HALVINGS + 1];
        for i in 1..multiples.len() {
            if i <= P::MAX_HALVINGS {
                multiples[i] = shifted(multiples[i - 1], round + 1);
            }
        }
        for_each_element!(I < WIDTH => if I != 0 {
            let Entry { factor, halvings } = P::DIAGONAL[I];
            self.set(I, add_multiple(multiples[halvings as usize], self.get(I), factor));
        });
    }

    /// Makes all planes except the first fresh, `rounds` rounds after they last were.
    #[inline(always)]
    fn fold<P: Parameters>(&mut self, rounds: u32) {
        for_each_element!(I < WIDTH => if I != 0 {
            let planes = folded(self.get(I)).planes();
            self.set(I, divided(planes, P::DIAGONAL[I].halvings * rounds));
        });
    }
}

/// Rounds that add `constant(round)` to the first element, followed by an S-box on it; at most
/// [`Parameters::ROUNDS_A_FOLD`]. All planes except the first are fresh before and after.
#[inline(always)]
pub fn partial_rounds<P: Parameters, V: GoldilocksVector, const WIDTH: usize, const N: usize>(
    states: &mut [State<V::U64s, WIDTH>; N],
    rounds: usize,
    constant: impl Fn(usize) -> Planes<V::U64s>,
) {
    let mut sums = [states[0].get(0); N];
    // Each round has its own shifts, which are not compile-time constants in a loop. The S-box depends only on the one
    // before: the other terms of its input are computed in the meantime.
    macro_rules! rounds {
        ($($round:literal)*) => { $(
            if $round < rounds {
                let mut x = [V::zero(states[0].token()); N];
                for_each_element!(K < N => {
                    x[K] = V::from_words(GoldilocksLanes::from_planes(states[K].get(0) + constant($round)).words());
                });
                let powers = seventh_powers(x);
                for_each_element!(K < N => {
                    if $round > 0 {
                        states[K].add_sum::<P>(sums[K], u32::saturating_sub($round, 1));
                    }
                    let (rest, power) = (states[K].rest::<P>($round), V::halves(powers[K]));
                    sums[K] = rest + power;
                    // The first entry of the diagonal is -2: sum - 2 power.
                    states[K].set(0, rest - power);
                });
            }
        )* };
    }
    rounds!(0 1 2 3 4 5);
    for k in 0..N {
        states[k].add_sum::<P>(sums[k], rounds as u32 - 1);
        states[k].fold::<P>(rounds as u32);
    }
}

/// The elements of planes split at bit 32.
#[inline(always)]
fn folded<W: U64s>(planes: Planes<W>) -> GoldilocksLanes<W> {
    GoldilocksLanes::from_planes(planes + Planes::splat(planes.low.token(), OFFSET))
}

/// `sum + factor x`.
#[inline(always)]
fn add_multiple<W: U64s>(sum: Planes<W>, x: Planes<W>, factor: i32) -> Planes<W> {
    let multiple = match factor.unsigned_abs() {
        1 => x,
        2 => shifted(x, 1),
        3 => shifted(x, 1) + x,
        4 => shifted(x, 2),
        _ => unreachable!("no such entry"),
    };
    if factor < 0 { sum - multiple } else { sum + multiple }
}

/// Calls a function with a constant argument for each possible value of a variable that is known at compile time.
macro_rules! by_bits {
    ($bits:expr, $($value:literal)*, |$constant:ident| $body:expr) => {
        match $bits {
            $($value => { const $constant: u32 = $value; $body })*
            _ => unreachable!("{} bits", $bits),
        }
    };
}

/// `2^bits` times the planes.
#[inline(always)]
fn shifted<W: U64s>(planes: Planes<W>, bits: u32) -> Planes<W> {
    if bits == 0 {
        return planes;
    }
    by_bits!(bits, 1 2 3 4 5 6, |BITS| Planes { low: planes.low.shl::<BITS>(), high: planes.high.shl::<BITS>() })
}

/// The planes divided by `2^bits`; they may be negative.
///
/// The bits shifted out of the high plane belong to the low one. Let v 2^32 be those shifted out of the low plane, times
/// 2^(32 - bits): since `2^-32 = 1 - 2^32` modulo p, their value is v in the low plane and -v in the high one.
#[inline(always)]
fn divided<W: U64s>(planes: Planes<W>, bits: u32) -> Planes<W> {
    if bits == 0 {
        return planes;
    }
    by_bits!(bits, 1 2 3 4 5 6 8 9 12, |BITS| {
        let Planes { low, high } = planes;
        let (out_of_low, out_of_high) =
            (low.shl::<{ 32 - BITS }>().low_half(), high.shl::<{ 32 - BITS }>().low_half());
        Planes { low: low.shr_signed::<BITS>() + out_of_high + out_of_low, high: high.shr_signed::<BITS>() - out_of_low }
    })
}

/// The permutation of the state in each lane; `N` vectors hold each element. The constants are planes of `V`.
#[inline(always)]
pub(super) fn permute<P: Parameters, V: GoldilocksVector, const WIDTH: usize, const N: usize>(
    elements: &mut [[V; N]],
    constants: &[[u64; 2]],
) {
    let (before, rest) = constants.split_at(HALF_FULL_ROUNDS * WIDTH);
    let (partial, after) = rest.split_at(PARTIAL_ROUNDS);
    let token = elements[0][0].token();
    let zero = V::zero(token);
    let mut states = [State { low: [zero.planes().low; WIDTH], high: [zero.planes().low; WIDTH] }; N];
    for k in 0..N {
        for_each_element!(I < WIDTH => states[k].set(I, elements[I][k].planes()));
        // Poseidon2 also has a linear layer before the first round.
        states[k].linear_layer();
        full_rounds::<V, WIDTH>(&mut states[k], before);
        states[k].enter_partial_rounds::<V>();
    }
    // The short group is first, so that all others have the full number of rounds.
    let (first, groups) = partial.split_at(PARTIAL_ROUNDS % P::ROUNDS_A_FOLD);
    partial_rounds::<P, V, WIDTH, N>(
        &mut states,
        PARTIAL_ROUNDS % P::ROUNDS_A_FOLD,
        #[inline(always)]
        |round| Planes::splat(token, first[round]),
    );
    for constants in groups.chunks_exact(P::ROUNDS_A_FOLD) {
        partial_rounds::<P, V, WIDTH, N>(
            &mut states,
            P::ROUNDS_A_FOLD,
            #[inline(always)]
            |round| Planes::splat(token, constants[round]),
        );
    }
    for k in 0..N {
        states[k].leave_partial_rounds::<V>();
        full_rounds::<V, WIDTH>(&mut states[k], after);
        for_each_element!(I < WIDTH => elements[I][k] = states[k].element(I));
    }
}

/// [`permute`] with one or two vectors an element.
#[inline(always)]
pub(super) fn permute_vectors<P: Parameters, V: GoldilocksVector, const WIDTH: usize>(
    state: &mut [V],
    constants: &[[u64; 2]],
) {
    match state.len() / WIDTH {
        1 => permute::<P, V, WIDTH, 1>(state.as_chunks_mut().0, constants),
        2 => permute::<P, V, WIDTH, 2>(state.as_chunks_mut().0, constants),
        _ => panic!("one or two vectors an element"),
    }
}

#[inline(always)]
fn full_rounds<V: GoldilocksVector, const WIDTH: usize>(
    state: &mut State<V::U64s, WIDTH>,
    constants: &[[u64; 2]],
) {
    let token = state.token();
    for constants in constants.as_chunks::<WIDTH>().0 {
        state.full_round::<V>(
            #[inline(always)]
            |i| Planes::splat(token, constants[i]),
        );
    }
}
