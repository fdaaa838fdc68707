//! Lanes and single elements agree with scalar elements at every level, on random and edge values.

use proofmill_field::{
    Algebra, Engine, Field, Fp, LANES, Lanes, Limbs, Packable, Prime, Scale, Select, Vector, bls12_381,
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
    let mut got = [[Fp::<P>::ZERO; LANES]; 20];
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
            let factor = Eight::<P, E>::factor(engine, b[3]);
            let splat = Eight::<P, E>::splat(engine, &factor);
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
            (x + y).scale(&factor).store(&mut got[17]);
            let factors = [&factor, &Eight::<P, E>::factor(engine, a[5])];
            let [p, q] = Scale::scale_terms([x, x.scale(&factor)], factors);
            (p - y).store(&mut got[18]);
            p.sub_term(x).add_lazy(q).store(&mut got[19]);
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
    assert_eq!(got[17], each(&|x, y| (x + y) * b[3]), "scale {name}");
    assert_eq!(got[18], each(&|x, y| x * b[3] - y), "scale_terms {name}");
    assert_eq!(got[19], each(&|x, _| x * b[3] - x + x * b[3] * a[5]), "scale_terms {name}");
    let is_odd = |x: Fp<P>| (x.to_canonical().as_ref()[0] & 1) as u8;
    let parities = |x: &dyn Fn(usize) -> Fp<P>| (0..LANES).fold(0, |mask, i| mask | is_odd(x(i)) << i);
    assert_eq!(odd, [parities(&|i| a[i]), parities(&|i| a[i] - b[i])], "odd_lanes {name}");
    let equal = (0..LANES).fold(0, |mask, i| mask | u8::from(a[i] == b[i]) << i);
    assert_eq!(zeros, [equal, u8::MAX], "zero_lanes {name}");
}

/// Sums that exceed a power of two only by what their lower limbs carry: close to 2p where p is close to a power of two.
fn check_carries<P: Prime, E: Engine>(engine: E) {
    let power = |bit: u32| {
        let mut limbs = P::Limbs::ZERO;
        limbs.as_mut()[bit as usize / 64] = 1 << (bit % 64);
        limbs
    };
    let sum = |a: P::Limbs, b| a.add_mod(&b, &P::MODULUS);
    let [half, quarter] = [power(P::BITS - 1), power(P::BITS - 2)];
    for bit in 0..P::BITS - 2 {
        let terms = [half, sum(quarter, power(bit)), quarter.sub_mod(&one_limb(), &P::MODULUS)];
        let mut got = [[Fp::<P>::ZERO; LANES]; 2];
        engine.run(
            #[inline(always)]
            || {
                let [a, b, c] = terms.map(
                    #[inline(always)]
                    |limbs| E::Packed::<P>::load_bits(engine, &[limbs; LANES]),
                );
                let sum = a + b + c;
                sum.store(&mut got[0]);
                (-sum).store(&mut got[1]);
            },
        );
        assert_eq!(got[1], got[0].map(|sum| -sum), "{} 2^{bit}", P::NAME);
    }
}

/// Canonical integers that produce carries of 52-bit and of 64-bit limbs, and random ones.
fn single_inputs<P: Prime>() -> Vec<Fp<P>> {
    let mut inputs = vec![Fp::ZERO, Fp::ONE, -Fp::ONE, Fp::from(2u64)];
    for bit in 0..P::BITS as usize {
        let mut power = P::Limbs::ZERO;
        power.as_mut()[bit / 64] = 1 << (bit % 64);
        inputs.extend(Fp::from_montgomery(power));
        inputs.extend(Fp::from_canonical(power).map(|x| x - Fp::ONE));
        inputs.extend(Fp::from_montgomery(power).map(|x| x - Fp::from_montgomery(one_limb()).unwrap()));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(53);
    inputs.extend((0..200).map(|_| Fp::random(&mut rng)));
    inputs
}

fn one_limb<L: Limbs>() -> L {
    let mut one = L::ZERO;
    one.as_mut()[0] = 1;
    one
}

/// The most terms of a sum, at most a thousand and even.
fn most_terms<P: Prime, E: Engine>() -> u64 {
    E::Single::<P>::MOST_TERMS.min(1000) & !1
}

/// Operations on one element, and on sums of the largest permitted number of terms.
fn check_singles<P: Prime, E: Engine>(engine: E) {
    let inputs = single_inputs::<P>();
    for shift in [1, 7, 50, 333] {
        for (i, a) in inputs.iter().enumerate() {
            let b = inputs[(i + shift) % inputs.len()];
            let mut got = [Fp::<P>::ZERO; 16];
            engine.run(
                #[inline(always)]
                || singles(engine, *a, b, &mut got),
            );
            let [a, b] = [*a, b];
            let many = |x: Fp<P>| x * Fp::from(most_terms::<P, E>());
            let wanted = [
                a,
                a + b,
                a - b,
                -a,
                a.double(),
                a * b,
                a.square(),
                a * b,
                b * b,
                many(a),
                -many(a),
                many(a) * many(b),
                -(many(a) * many(b)),
                many(a) * many(a),
                many(a) * -many(a),
                many(a * b - b),
            ];
            assert_eq!(got, wanted, "{} {a} {b}", P::NAME);
        }
    }
}

#[inline(always)]
fn singles<P: Prime, E: Engine>(engine: E, a: Fp<P>, b: Fp<P>, got: &mut [Fp<P>; 16]) {
    let [x, y] = [E::Single::<P>::load(engine, &[a]), E::Single::<P>::load(engine, &[b])];
    let (mut sum_x, mut sum_y, mut less_x) = (x, y, -x);
    for _ in 1..most_terms::<P, E>() {
        (sum_x, sum_y, less_x) = (sum_x + x, sum_y + y, less_x - x);
    }
    let mut difference = E::Single::<P>::zero(engine);
    for _ in 0..most_terms::<P, E>() / 2 {
        difference = difference + (x * y - y).reduced();
        difference = difference - (y - x * y).reduced();
    }
    let [p, q] = E::Single::<P>::mul_pair([x, y], [y, y]);
    let results = [
        x,
        x + y,
        x - y,
        -x,
        x.double(),
        x * y,
        x.square(),
        p,
        q,
        sum_x.reduced(),
        less_x,
        sum_x * sum_y,
        less_x * sum_y,
        less_x * less_x,
        less_x * sum_x,
        difference,
    ];
    for (got, result) in got.iter_mut().zip(results) {
        result.store(std::slice::from_mut(got));
    }
}

/// Everything about a field at a level.
fn check_field<P: Prime, E: Engine>(engine: E) {
    check::<P, E>(engine);
    check_carries::<P, E>(engine);
    check_singles::<P, E>(engine);
}

#[test]
fn lanes_agree_with_scalars() {
    for level in proofmill_field::prime_field_levels() {
        dispatch!(level, engine => {
            check_field::<FqParams, _>(engine);
            check_field::<FrParams, _>(engine);
            check_field::<bls12_381::FqParams, _>(engine);
            check_field::<bls12_381::FrParams, _>(engine);
        });
    }
}

#[test]
fn rows_are_gathered_and_scattered() {
    for level in proofmill_field::prime_field_levels() {
        dispatch!(level, engine => {
            check_rows::<FqParams, _>(engine);
            check_rows::<FrParams, _>(engine);
            check_rows::<bls12_381::FqParams, _>(engine);
            check_rows::<bls12_381::FrParams, _>(engine);
        });
    }
}

fn check_rows<P: Prime, E: Engine>(engine: E) {
    let inputs = inputs::<P>();
    let (blocks, _) = inputs.as_chunks::<LANES>();
    for (first, second) in blocks.iter().zip(blocks.iter().cycle().skip(7)) {
        check_rows_of(engine, std::array::from_fn(|lane| [first[lane], second[lane]]));
    }
}

fn check_rows_of<P: Prime, E: Engine>(engine: E, points: [[Fp<P>; 2]; LANES]) {
    type Lanes<P, E> = <E as Engine>::Packed<P>;
    let rows = points.map(|point| point.map(|coordinate| coordinate.to_montgomery()));
    let (mut swapped, mut canonical) = ([[P::Limbs::ZERO; 2]; LANES], [[Fp::<P>::ZERO; LANES]; 2]);
    engine.run(
        #[inline(always)]
        || {
            let first = Lanes::<P, E>::gather(
                engine,
                #[inline(always)]
                |lane| &rows[lane][0],
            );
            let second = Lanes::<P, E>::gather(
                engine,
                #[inline(always)]
                |lane| &rows[lane][1],
            );
            first.scatter(&mut swapped, |row| &mut row[1]);
            second.scatter(&mut swapped, |row| &mut row[0]);
            // What is scattered need not be canonical.
            for (side, canonical) in canonical.iter_mut().enumerate() {
                let lanes = Lanes::<P, E>::gather(
                    engine,
                    #[inline(always)]
                    |lane| &swapped[lane][side],
                );
                lanes.reduced().store_scaled(canonical);
            }
        },
    );
    let [second, first] = canonical;
    assert_eq!(points, std::array::from_fn(|lane| [first[lane], second[lane]]));
}
