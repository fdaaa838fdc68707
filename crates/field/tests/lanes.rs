//! Lanes agree with scalar elements at every level, on random and on edge values.

use proofmill_field::{
    Algebra, Engine, Field, Fp, LANES, Lanes, Packable, Prime, Select, Vector, bls12_381,
    bn254::{FqParams, FrParams},
    dispatch,
};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Montgomery limbs that stress carries, and random ones.
fn inputs<P: Prime>() -> Vec<Fp<P>> {
    let mut inputs = vec![Fp::ZERO, Fp::ONE, -Fp::ONE, Fp::from(2u64), -Fp::from(2u64)];
    let bits = 64 * size_of::<P::Limbs>() / 8;
    for bit in 0..bits {
        for below in [false, true] {
            let mut limbs = P::Limbs::default();
            for (i, word) in limbs.as_mut().iter_mut().enumerate() {
                let from = bit.saturating_sub(64 * i).min(64);
                let power = if bit / 64 == i { 1u64 << (bit % 64) } else { 0 };
                let ones = if from == 64 { u64::MAX } else { (1u64 << from) - 1 };
                *word = if below { ones } else { power };
            }
            inputs.extend(Fp::from_montgomery(limbs));
        }
    }
    for borrow in 1..4u64 {
        let mut limbs = P::MODULUS;
        limbs.as_mut()[0] -= borrow;
        inputs.extend(Fp::from_montgomery(limbs));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(52);
    inputs.extend((0..200).map(|_| Fp::random(&mut rng)));
    inputs.truncate(inputs.len() / LANES * LANES);
    inputs
}

fn check<P: Prime, E: Engine>(engine: E) {
    let inputs = inputs::<P>();
    let (blocks, _) = inputs.as_chunks::<LANES>();
    for shift in 0..LANES * 9 {
        let mut rotated = inputs.clone();
        rotated.rotate_left(shift * 5 + 1);
        for (a, b) in blocks.iter().zip(rotated.as_chunks::<LANES>().0) {
            check_block(engine, a, b);
        }
    }
}

fn check_block<P: Prime, E: Engine>(engine: E, a: &[Fp<P>; LANES], b: &[Fp<P>; LANES]) {
    type Eight<P, E> = <E as Engine>::Packed<P>;
    let each =
        |f: &dyn Fn(Fp<P>, Fp<P>) -> Fp<P>| -> [Fp<P>; LANES] { std::array::from_fn(|i| f(a[i], b[i])) };
    let mut got = [[Fp::<P>::ZERO; LANES]; 17];
    let (mut zeros, mut odd) = ([0; 2], [0; 2]);
    engine.run(
        #[inline(always)]
        || {
            let (x, y) = (Eight::<P, E>::load(engine, a), Eight::<P, E>::load(engine, b));
            (x + y).store(&mut got[0]);
            (x - y).store(&mut got[1]);
            (x * y).store(&mut got[2]);
            x.square().store(&mut got[3]);
            (-x).store(&mut got[4]);
            (x.sub_lazy(y).add_lazy(x.sub_lazy(y)) * x.sub_lazy(y).add_lazy(y.sub_lazy(x)))
                .store(&mut got[5]);
            let [p, q] = Algebra::mul_pair([x, y], [y, y]);
            p.store(&mut got[6]);
            q.store(&mut got[7]);
            (x.sub_lazy(y).add_lazy(x.sub_lazy(y)).square()).store(&mut got[8]);
            Eight::<P, E>::select(0b1010_0101, x, y).store(&mut got[9]);
            let splat = Eight::<P, E>::splat(engine, &Eight::<P, E>::prepare(engine, b[3]));
            (x * splat).store(&mut got[10]);
            let [bits_a, bits_b] = [Fp::as_limbs(a), Fp::as_limbs(b)];
            let bits = Eight::<P, E>::load_bits(engine, bits_a) + Eight::<P, E>::load_bits(engine, bits_b);
            (bits * splat).store_scaled(&mut got[11]);
            let [p, q] = Algebra::square_sub_two_pair([x, y], [y, x], [x, y]);
            p.store(&mut got[12]);
            q.store(&mut got[13]);
            let signed = Eight::<P, E>::negate_lanes(0b1010_0101, x);
            let [p, q] = Algebra::mul_sub_pair([x, y], [y, y.sub_lazy(signed)], [signed, x]);
            p.store(&mut got[14]);
            q.store(&mut got[15]);
            let twin = x;
            Eight::<P, E>::broadcast(engine, b[3]).store(&mut got[16]);
            for lane in (0..LANES).step_by(E::Vector::<P>::WIDTH) {
                let x = E::Vector::<P>::load(engine, &a[lane..]);
                let y = E::Vector::<P>::load(engine, &b[lane..]);
                odd[0] |= E::odd_lanes(x) << lane;
                odd[1] |= E::odd_lanes(x - y) << lane;
            }
            zeros = [x.sub_lazy(y).zero_lanes(), (x - twin).zero_lanes()];
        },
    );
    let name = P::NAME;
    assert_eq!(got[0], each(&|a, b| a + b), "add {name}");
    assert_eq!(got[1], each(&|a, b| a - b), "sub {name}");
    assert_eq!(got[2], each(&|a, b| a * b), "mul {name}");
    assert_eq!(got[3], each(&|a, _| a * a), "square {name}");
    assert_eq!(got[4], each(&|a, _| -a), "neg {name}");
    assert_eq!(got[5], each(&|_, _| Fp::ZERO), "lazy {name}");
    assert_eq!(got[6], got[2], "mul_pair {name}");
    assert_eq!(got[7], each(&|_, b| b * b), "mul_pair {name}");
    assert_eq!(got[8], each(&|a, b| (a - b).square().double().double()), "lazy square {name}");
    let select: [Fp<P>; LANES] = std::array::from_fn(|i| if 0b1010_0101 >> i & 1 == 1 { a[i] } else { b[i] });
    assert_eq!(got[9], select, "select {name}");
    assert_eq!(got[10], each(&|x, _| x * b[3]), "splat {name}");
    assert_eq!(got[11], each(&|x, y| (x + y) * b[3]), "bits {name}");
    assert_eq!(got[12], each(&|x, y| x * x - y - x), "square_sub_two {name}");
    assert_eq!(got[13], each(&|x, y| y * y - x - y), "square_sub_two {name}");
    let signed: [Fp<P>; LANES] =
        std::array::from_fn(|i| if 0b1010_0101 >> i & 1 == 1 { -a[i] } else { a[i] });
    assert_eq!(got[14], std::array::from_fn(|i| a[i] * b[i] - signed[i]), "mul_sub {name}");
    assert_eq!(got[15], std::array::from_fn(|i| b[i] * (b[i] - signed[i]) - a[i]), "mul_sub {name}");
    assert_eq!(got[16], [b[3]; LANES], "broadcast {name}");
    let is_odd = |x: Fp<P>| (x.to_canonical().as_ref()[0] & 1) as u8;
    let parities = |x: &dyn Fn(usize) -> Fp<P>| (0..LANES).fold(0, |mask, i| mask | is_odd(x(i)) << i);
    assert_eq!(odd, [parities(&|i| a[i]), parities(&|i| a[i] - b[i])], "odd_lanes {name}");
    let equal = (0..LANES).fold(0, |mask, i| mask | u8::from(a[i] == b[i]) << i);
    assert_eq!(zeros, [equal, u8::MAX], "zero_lanes {name}");
}

#[test]
fn lanes_agree_with_scalars() {
    for level in proofmill_field::prime_field_levels() {
        dispatch!(level, engine => check::<FqParams, _>(engine));
        dispatch!(level, engine => check::<FrParams, _>(engine));
        dispatch!(level, engine => check::<bls12_381::FqParams, _>(engine));
        dispatch!(level, engine => check::<bls12_381::FrParams, _>(engine));
    }
}

#[test]
fn rows_are_gathered_and_scattered() {
    for level in proofmill_field::prime_field_levels() {
        dispatch!(level, engine => check_rows(engine));
    }
}

fn check_rows<E: Engine>(engine: E) {
    type Lanes<E> = <E as Engine>::Packed<FqParams>;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let rows: [[[u64; 4]; 2]; LANES] =
        std::array::from_fn(|_| std::array::from_fn(|_| Fp::<FqParams>::random(&mut rng).to_montgomery()));
    let mut swapped = [[[0; 4]; 2]; LANES];
    engine.run(
        #[inline(always)]
        || {
            let first = Lanes::<E>::gather(
                engine,
                #[inline(always)]
                |lane| &rows[lane][0],
            );
            let second = Lanes::<E>::gather(
                engine,
                #[inline(always)]
                |lane| &rows[lane][1],
            );
            first.scatter(&mut swapped, |row| &mut row[1]);
            second.scatter(&mut swapped, |row| &mut row[0]);
        },
    );
    assert_eq!(swapped, rows.map(|[first, second]| [second, first]));
}
