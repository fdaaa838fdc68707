//! Goldilocks elements and vectors against num-bigint: all pairs of edge values, random values, at every level.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use proofmill_field::{
    Algebra, Field, FieldError, Invert, PrimeField, batch_invert_vartime, dispatch_goldilocks,
    goldilocks::{
        Factor, Gaussian, Goldilocks, GoldilocksEngine, GoldilocksVector, MODULUS, Planes, Twiddle, U64s,
        constant_planes,
    },
};
use proofmill_testing::{edge_integers, for_each_goldilocks_level, rng};
use rand_chacha::rand_core::RngCore;

fn big(word: u64) -> BigUint {
    BigUint::from(word)
}

/// An integer modulo p.
fn residue(integer: BigUint) -> u64 {
    (integer % MODULUS).to_u64().expect("below p")
}

/// Words that produce carries, below p and above; their number is a multiple of 8.
fn words() -> Vec<u64> {
    let mut words: Vec<u64> = edge_integers(&[MODULUS]).into_iter().map(|integer| integer[0]).collect();
    words.extend([(1 << 32) + 1, MODULUS + 2, MODULUS + (1 << 31), u64::MAX - 1, u64::MAX << 32, 7]);
    let mut rng = rng(64);
    while !words.len().is_multiple_of(8) || words.len() < 224 {
        words.push(rng.next_u64());
    }
    words
}

fn canonical(words: Vec<u64>) -> Vec<Goldilocks> {
    words.into_iter().filter_map(Goldilocks::from_canonical).collect()
}

#[test]
fn ring_operations() {
    let elements = canonical(words());
    for &a in &elements {
        let x = big(a.to_canonical());
        assert_eq!((-a).to_canonical(), residue(big(MODULUS) - &x));
        assert_eq!(a.double().to_canonical(), residue(&x + &x));
        assert_eq!(a.square().to_canonical(), residue(&x * &x));
        for &b in &elements {
            let y = big(b.to_canonical());
            assert_eq!((a + b).to_canonical(), residue(&x + &y), "{a} + {b}");
            assert_eq!((a - b).to_canonical(), residue(&x + MODULUS - &y), "{a} - {b}");
            assert_eq!((a * b).to_canonical(), residue(&x * &y), "{a} * {b}");
        }
    }
}

#[test]
fn any_words_and_double_words() {
    for low in words() {
        assert_eq!(Goldilocks::new(low).to_canonical(), residue(big(low)));
        assert_eq!(Goldilocks::from_canonical(low).is_some(), low < MODULUS);
        for high in words() {
            let product = u128::from(high) << 64 | u128::from(low);
            assert_eq!(Goldilocks::reduce(product).to_canonical(), residue(BigUint::from(product)));
        }
    }
}

#[test]
fn inverses_and_powers() {
    let p = big(MODULUS);
    let mut elements = canonical(words());
    for &a in &elements {
        let x = big(a.to_canonical());
        match a.invert_vartime() {
            Some(inverse) => assert_eq!(big(inverse.to_canonical()), x.modpow(&(&p - 2u32), &p)),
            None => assert_eq!(a, Goldilocks::ZERO),
        }
        for exponent in [0, 1, 2, 7, u64::MAX, MODULUS - 2] {
            let power = a.pow_vartime(&[exponent, 1]);
            let exponent = big(exponent) + (BigUint::from(1u32) << 64);
            assert_eq!(big(power.to_canonical()), x.modpow(&exponent, &p));
        }
    }
    let before = elements.clone();
    batch_invert_vartime(&mut elements);
    for (a, inverse) in before.iter().zip(&elements) {
        assert_eq!(*inverse, a.invert_vartime().unwrap_or(Goldilocks::ZERO));
    }
}

#[test]
fn encoding() {
    for word in words() {
        let decoded = Goldilocks::from_bytes_le(word.to_le_bytes());
        match Goldilocks::from_canonical(word) {
            Some(element) => {
                assert_eq!(element.to_bytes_le(), word.to_le_bytes());
                assert_eq!(element.to_words(), [word]);
                assert_eq!(decoded, Ok(element));
            }
            None => assert_eq!(decoded, Err(FieldError::NotCanonical("Goldilocks"))),
        }
    }
    let elements = canonical(words());
    assert_eq!(Goldilocks::from_words(Goldilocks::as_words(&elements)), Ok(&elements[..]));
    assert_eq!(Goldilocks::from_words(&[0, MODULUS - 1, MODULUS]), Err(2));
}

#[test]
fn roots_of_unity() {
    let p = big(MODULUS);
    let factors = [2u32, 3, 5, 17, 257, 65537];
    assert!(factors.iter().all(|q| big(7).modpow(&((&p - 1u32) / q), &p) != big(1)), "7 generates");
    assert_eq!(Goldilocks::GENERATOR, Goldilocks::new(7));
    for log_order in 1..=Goldilocks::TWO_ADICITY {
        let root = Goldilocks::root_of_unity(log_order).expect("a root");
        assert_eq!(root.pow_vartime(&[1 << (log_order - 1)]), -Goldilocks::ONE);
    }
    assert_eq!(Goldilocks::root_of_unity(0), Some(Goldilocks::ONE));
    assert_eq!(Goldilocks::root_of_unity(33), None);
    for log_order in 1..=6 {
        let root = Goldilocks::root_of_unity(log_order).expect("a root").to_canonical();
        let is_shift = |word: u64| word.is_power_of_two() || (MODULUS - word).is_power_of_two();
        assert!(is_shift(root) || (0..192).any(|k| residue(big(1) << k) == root), "order 2^{log_order}");
    }
}

/// The number of results computed from two vectors.
const OPERATIONS: usize = 9;

/// Coefficients of three linear maps, as large as planes permit.
const COEFFICIENTS: [u64; 3] = [264, 263, 257];

/// `264 x`, `263 x` or `257 x`, with sums.
#[inline(always)]
fn times<W: U64s>(planes: Planes<W>, coefficient: u64) -> Planes<W> {
    let mut product = Planes::splat(planes.low.token(), [0; 2]);
    for bit in (0..9).rev() {
        product = product + product;
        if coefficient >> bit & 1 == 1 {
            product = product + planes;
        }
    }
    product
}

/// Three maps with all steps that may be between them and after them.
#[inline(always)]
fn maps<V: GoldilocksVector>(mut planes: Planes<V::U64s>) -> V {
    for (i, coefficient) in COEFFICIENTS.into_iter().enumerate() {
        planes = times(planes, coefficient);
        if i < 2 {
            planes = V::carry(planes);
        }
    }
    V::from_planes(planes + Planes::splat(planes.low.token(), constant_planes::<V>(0)))
}

/// Results for words `a` and `b`, in the order of [`expected`].
#[inline(always)]
fn compute<V: GoldilocksVector>(token: V::Token, a: &[u64], b: &[u64], out: &mut [[u64; 8]; OPERATIONS]) {
    let (x, y) = (V::load(token, a), V::load(token, b));
    (x + y).store(&mut out[0]);
    (x - y).store(&mut out[1]);
    (x * y).store(&mut out[2]);
    x.square().store(&mut out[3]);
    (-x).store(&mut out[4]);
    V::from_planes(x.planes() - y.planes() + y.planes() + Planes::splat(token, constant_planes::<V>(0)))
        .store(&mut out[5]);
    maps::<V>(x.planes()).store(&mut out[6]);
    // Operands as products return them, in contrast to loaded ones.
    let (u, v) = (x * V::one(token), y * V::one(token));
    maps::<V>(u.product_planes(v)).store(&mut out[7]);
    ((u - v) * (u + v) - (u.square() - v.square()) + x.double() - V::broadcast(token, 5)).store(&mut out[8]);
}

/// The same with big integers.
fn expected(a: u64, b: u64) -> [u64; OPERATIONS] {
    let (x, y, p) = (big(a), big(b), big(MODULUS));
    let opposite = |integer: &BigUint| &p - integer % &p;
    let product = &x * &y;
    let maps = COEFFICIENTS.iter().product::<u64>();
    [
        residue(&x + &y),
        residue(&x + opposite(&y)),
        residue(product.clone()),
        residue(&x * &x),
        residue(opposite(&x)),
        residue(x.clone()),
        residue(&x * maps),
        residue(&product * maps),
        residue(&x + &x + &p - 5u32),
    ]
}

/// Compares what `compute` makes of all pairs of words, lane by lane, with `expected` of the words' places.
fn check_pairs<E: GoldilocksEngine, const N: usize>(
    engine: E,
    words: &[u64],
    compute: impl Fn(&[u64], &[u64], &mut [[u64; 8]; N]),
    expected: impl Fn(usize, usize) -> [u64; N],
) {
    let (width, n) = (E::U64s::WIDTH, words.len());
    let mut out = [[0; 8]; N];
    for shift in 0..n {
        let mut rotated = words.to_vec();
        rotated.rotate_left(shift);
        for at in (0..n).step_by(width) {
            engine.run(
                #[inline(always)]
                || compute(&words[at..], &rotated[at..], &mut out),
            );
            for lane in 0..width {
                let (i, j) = (at + lane, (at + lane + shift) % n);
                let got = out.map(|results| results[lane]);
                assert_eq!(got, expected(i, j), "{:#x}, {:#x}", words[i], words[j]);
            }
        }
    }
}

fn check<V: GoldilocksVector<Token = E>, E: GoldilocksEngine>(
    engine: E,
    words: &[u64],
    table: &[[u64; OPERATIONS]],
) {
    check_pairs(
        engine,
        words,
        #[inline(always)]
        |a, b, out| compute::<V>(engine, a, b, out),
        |i, j| table[i * words.len() + j],
    );
}

/// Both vector types of a level.
fn check_engine<E: GoldilocksEngine>(engine: E, words: &[u64], table: &[[u64; OPERATIONS]]) {
    check::<E::Vector, E>(engine, words, table);
    check::<E::Chain, E>(engine, words, table);
}

#[test]
fn vectors() {
    let words = words();
    let table: Vec<_> = words.iter().flat_map(|a| words.iter().map(|b| expected(*a, *b))).collect();
    for_each_goldilocks_level(
        |level| dispatch_goldilocks!(level, engine => check_engine(engine, &words, &table)),
    );
}

/// Products in Gaussian form by every way to make a factor, as words.
#[inline(always)]
fn products<W: U64s, F: Factor<W>>(token: W::Token, a: &[u64], b: &[u64], out: &mut [[u64; 8]; PRODUCTS]) {
    let (x, y) = (W::load(token, a), W::load(token, b));
    let mut put = |place: usize, product: Gaussian<W>| {
        // The bound of products, which `words` does not need.
        let above = product.re.shr::<51>() + product.im.shr::<51>();
        (product.words() + above).canonical().store(&mut out[place]);
    };
    put(0, F::new(x).times_words(y));
    put(1, F::new(x).times(Gaussian::new(y).lifted()));
    put(2, F::scale(F::power(x), y));
    // One more factor, 1: the product is a power.
    put(3, F::scale(F::new(x).raise(F::power(y)), W::splat(token, 1)));
    let mut power = F::power(y);
    for _ in 0..RAISED {
        power = F::new(x).raise(power);
    }
    put(5, F::scale(power, W::splat(token, u64::MAX)));
    for lane in 0..W::WIDTH {
        let mut words = [0; 8];
        let uniform = F::splat(token, &Twiddle::new(a[lane])).times_words(y).words().canonical();
        uniform.store(&mut words);
        out[4][lane] = words[lane];
    }
}

const PRODUCTS: usize = 6;

/// The exponent of a in the last product, `a^RAISED b (2^64 - 1)`.
const RAISED: u32 = 20;

fn check_products<E: GoldilocksEngine>(engine: E, words: &[u64]) {
    check_pairs(
        engine,
        words,
        #[inline(always)]
        |a, b, out| products::<E::U64s, E::Factor>(engine, a, b, out),
        |i, j| {
            let (a, b) = (big(words[i]), big(words[j]));
            let mut products = [residue(&a * &b); PRODUCTS];
            products[5] = residue(a.pow(RAISED) * b * u64::MAX);
            products
        },
    );
}

/// Elements in Gaussian form of the largest parts to words.
fn check_words<E: GoldilocksEngine>(engine: E) {
    let parts = [0, 1, (1 << 16) - 1, 1 << 16, (1 << 48) - 1, 1 << 48, (1 << 58) - 1, (1 << 63) - 1];
    for re in parts {
        for im in parts {
            let re = re.max(1 << 15);
            let mut words = [0; 8];
            engine.run(
                #[inline(always)]
                || {
                    let part = |word| E::U64s::splat(engine, word);
                    Gaussian { re: part(re), im: part(im) }.words().canonical().store(&mut words);
                },
            );
            assert_eq!(words[0], residue(big(re) + (big(im) << 48u32)), "{re:#x} + {im:#x} i");
        }
    }
}

#[test]
fn gaussian_integers() {
    let words = words();
    for_each_goldilocks_level(|level| {
        dispatch_goldilocks!(level, engine => {
            check_products(engine, &words);
            check_words(engine);
        });
    });
}
