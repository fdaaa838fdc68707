//! Every prime field on every backend against num-bigint and arkworks, on edge and random operands.

use num_bigint::BigUint;
use num_traits::{One, Zero};
use proofmill_cpu::Portable;
use proofmill_field::{
    Algebra, Backend, Engine, Field, FieldError, Fp, Invert, Limbs, Prime, Quadratic, SquareRoot,
    batch_invert_vartime, bls12_381, bn254, dispatch,
};
use proofmill_testing::{edge_integers, for_each_level, is_below, operands, rng, uniform};
use rand::RngCore;

fn big(words: &[u64]) -> BigUint {
    words.iter().rev().fold(BigUint::zero(), |sum, word| (sum << 64) + word)
}

fn limbs<L: Limbs>(words: &[u64]) -> L {
    let mut limbs = L::ZERO;
    limbs.as_mut().copy_from_slice(words);
    limbs
}

/// A field on a backend with its oracle.
struct Laws<P: Prime, B: Backend> {
    token: B,
    modulus: BigUint,
    r_inverse: BigUint,
    /// Operands below the modulus, as integers, taken as Montgomery limbs.
    words: Vec<Vec<u64>>,
    elements: Vec<Fp<P, B>>,
}

impl<P: Prime, B: Backend> Laws<P, B> {
    fn new(token: B) -> Self {
        let modulus = big(P::MODULUS.as_ref());
        let r = BigUint::one() << (64 * P::Limbs::LEN);
        let r_inverse = r.modpow(&(&modulus - 2u32), &modulus);
        let words = operands(&mut rng(1), P::MODULUS.as_ref(), 60);
        let element = |words: &Vec<u64>| Fp::<P>::from_montgomery(limbs(words)).unwrap().with_backend(token);
        let elements = words.iter().map(element).collect();
        Self { token, modulus, r_inverse, words, elements }
    }

    /// The Montgomery limbs of a result, which must be canonical.
    fn raw(&self, element: Fp<P, B>) -> BigUint {
        assert!(is_below(element.to_montgomery().as_ref(), P::MODULUS.as_ref()));
        big(element.to_montgomery().as_ref())
    }

    fn ring(&self) {
        let integers: Vec<BigUint> = self.words.iter().map(|words| big(words)).collect();
        let p = &self.modulus;
        for (i, (&a, x)) in self.elements.iter().zip(&integers).enumerate() {
            assert_eq!(self.raw(-a), (p - x) % p);
            assert_eq!(self.raw(a.double()), (x + x) % p);
            assert_eq!(self.raw(a.square()), x * x * &self.r_inverse % p);
            let b = self.elements[self.elements.len() - 1 - i];
            let fourth = |a: Fp<P, B>| a.square().square();
            assert_eq!(Algebra::square_repeatedly([a, b], 5), [a, b].map(|a| fourth(fourth(a)).square()));
            // A different subset of the second operands for each first operand.
            for (&b, y) in self.elements.iter().zip(&integers).skip(i % 5).step_by(5) {
                assert_eq!(self.raw(a + b), (x + y) % p);
                assert_eq!(self.raw(a - b), (p + x - y) % p);
                assert_eq!(self.raw(a * b), x * y * &self.r_inverse % p, "{x:#x} * {y:#x}");
                assert_eq!(a == b, x == y);
            }
        }
    }

    fn inversion(&self) {
        for &a in &self.elements {
            match a.invert_vartime() {
                Some(inverse) => assert_eq!(a * inverse, Fp::one(self.token), "{a}"),
                None => assert!(a == Fp::zero(self.token)),
            }
        }
        for length in [0, 1, 2, 3, self.elements.len()] {
            let mut inverses = self.elements[..length].to_vec();
            batch_invert_vartime(&mut inverses);
            for (a, inverse) in self.elements.iter().zip(inverses) {
                assert_eq!(a.invert_vartime().unwrap_or(Fp::zero(self.token)), inverse);
            }
        }
    }

    /// Against the schoolbook product over the base, which `ring` has checked.
    fn quadratic_ring(&self) {
        let elements = &self.elements;
        for (i, &a0) in elements.iter().enumerate() {
            for shift in [0, 1, 5, elements.len() / 2, elements.len() - 50] {
                let [a1, b0, b1] = [1, 2, 3].map(|k| elements[(i + k * shift) % elements.len()]);
                let (a, b) = (Quadratic::new(a0, a1), Quadratic::new(b0, b1));
                assert_eq!(a * b, Quadratic::new(a0 * b0 - a1 * b1, a0 * b1 + a1 * b0), "{a:?} * {b:?}");
                assert_eq!(a.square(), a * a);
                assert_eq!(a * a.conjugate(), Quadratic::new(a.norm(), Fp::zero(self.token)));
            }
        }
    }

    /// Every product of extreme coefficients against integers.
    fn quadratic_extremes(&self) {
        let p = &self.modulus;
        let top = (BigUint::one() << (P::BITS - 1)) - 1u32;
        let values = [0u32.into(), 1u32.into(), p - 2u32, p - 1u32, top, (p - 1u32) / 2u32];
        let elements = values.each_ref().map(|value: &BigUint| {
            let mut words = value.to_u64_digits();
            words.resize(P::Limbs::LEN, 0);
            Fp::<P>::from_montgomery(limbs(&words)).unwrap().with_backend(self.token)
        });
        let pairs: Vec<[usize; 2]> = (0..36).map(|i| [i / 6, i % 6]).collect();
        for &[a0, a1] in &pairs {
            let square = Quadratic::new(elements[a0], elements[a1]).square();
            let [x0, x1] = [&values[a0], &values[a1]];
            assert_eq!(self.raw(square.c0), (x0 * x0 + p * p - x1 * x1) * &self.r_inverse % p);
            assert_eq!(self.raw(square.c1), x0 * x1 * 2u32 * &self.r_inverse % p);
            for (factor, x) in elements.iter().zip(&values) {
                let [sum, difference] =
                    [elements[a0].add_factor(elements[a1]), elements[a0].sub_factor(elements[a1])];
                assert_eq!(self.raw(sum * *factor), (x0 + x1) * x * &self.r_inverse % p);
                assert_eq!(self.raw(difference * *factor), (p + x0 - x1) * x * &self.r_inverse % p);
            }
            for &[b0, b1] in &pairs {
                let product =
                    Quadratic::new(elements[a0], elements[a1]) * Quadratic::new(elements[b0], elements[b1]);
                let [[x0, x1], [y0, y1]] = [[a0, a1], [b0, b1]].map(|pair| pair.map(|i| &values[i]));
                assert_eq!(self.raw(product.c0), (x0 * y0 + p * p - x1 * y1) * &self.r_inverse % p);
                assert_eq!(self.raw(product.c1), (x0 * y1 + x1 * y0) * &self.r_inverse % p);
            }
        }
    }

    /// Sums of K pairs of products against integers: of p, which operands may be, of p - 1 and of others in every mixture.
    fn sums_of_products<const K: usize>(&self) {
        let p = &self.modulus;
        let largest = [P::MODULUS, limbs::<P::Limbs>(&self.words[1])];
        assert_eq!(big(largest[1].as_ref()), p - 1u32);
        let mut rng = rng(3);
        for round in 0..400 {
            // In 1 of 8, 2 of 8, ... operands.
            let others = round % 8;
            let operands: Vec<[P::Limbs; 2]> = (0..2 * K)
                .map(|_| {
                    [(); 2].map(|()| {
                        let random = rng.next_u64() as usize;
                        if random % 8 < others {
                            limbs(&self.words[random / 8 % self.words.len()])
                        } else {
                            largest[random / 8 % 2]
                        }
                    })
                })
                .collect();
            let pairs: [_; K] = std::array::from_fn(|k| {
                [&operands[2 * k], &operands[2 * k + 1]].map(|[a, b]: &[P::Limbs; 2]| [a, b])
            });
            let sum = self.token.sum_of_products::<P, K>(&pairs);
            assert!(is_below(sum.as_ref(), P::MODULUS.as_ref()), "{pairs:x?}");
            let expected = operands.iter().map(|[a, b]| big(a.as_ref()) * big(b.as_ref())).sum::<BigUint>();
            assert_eq!(big(sum.as_ref()), expected * &self.r_inverse % p, "{pairs:x?}");

            // Elements, which are canonical.
            let element = |a: &P::Limbs| Fp::from_montgomery(*a).unwrap_or_default().with_backend(self.token);
            let factors: Vec<[Quadratic<Fp<P, B>>; 2]> = operands
                .as_chunks::<2>()
                .0
                .iter()
                .map(|[a, b]| [a, b].map(|[x, y]| Quadratic::new(element(x), element(y))))
                .collect();
            let sum = Algebra::sum_of_quadratics::<K>(std::array::from_fn(|k| factors[k].each_ref()));
            let zero = Quadratic::new(Fp::zero(self.token), Fp::zero(self.token));
            assert_eq!(sum, factors.iter().fold(zero, |sum, [a, b]| sum + Fp::karatsuba(a, b)));
        }
    }

    fn powers(&self) {
        let mut rng = rng(2);
        for &a in self.elements.iter().take(8) {
            let exponent = uniform(&mut rng, P::MODULUS.as_ref());
            let x = big(a.to_canonical().as_ref());
            let expected = x.modpow(&big(&exponent), &self.modulus);
            assert_eq!(big(a.pow_vartime(&exponent).to_canonical().as_ref()), expected);
        }
    }

    fn arkworks<F: ark_ff::PrimeField>(&self) {
        let theirs = |a: Fp<P, B>| F::from_le_bytes_mod_order(&a.to_bytes_le());
        let ours = |a: F| {
            let bytes = ark_ff::BigInteger::to_bytes_le(&a.into_bigint());
            Fp::<P>::from_bytes_le(&bytes).unwrap().with_backend(self.token)
        };
        for (&a, &b) in self.elements.iter().zip(self.elements.iter().skip(1)) {
            assert_eq!(a * b, ours(theirs(a) * theirs(b)));
            assert_eq!(a.square(), ours(theirs(a).square()));
            assert_eq!(a + b, ours(theirs(a) + theirs(b)));
            assert_eq!(a - b, ours(theirs(a) - theirs(b)));
            assert_eq!(a.invert_vartime(), theirs(a).inverse().map(ours));
        }
    }
}

/// Operations of portable elements only.
impl<P: Prime> Laws<P, Portable> {
    fn square_roots(&self) {
        let half = (&self.modulus - 1u32) >> 1;
        for &a in &self.elements {
            let square = a.square();
            let root = square.sqrt_vartime().unwrap();
            assert!(root == a || root == -a);
            // Euler's criterion.
            let euler = big(a.to_canonical().as_ref()).modpow(&half, &self.modulus);
            match a.sqrt_vartime() {
                Some(root) => assert!(root.square() == a && euler <= BigUint::one()),
                None => assert_eq!(euler + 1u32, self.modulus),
            }
        }
        assert_eq!(Fp::<P>::generator().sqrt_vartime(), None);
    }

    /// Only for p = 3 mod 4, where -1 is not a square.
    fn quadratic_square_roots(&self) {
        let zeros = self.elements.iter().map(|_| &self.elements[0]);
        let pairs = self.elements.iter().zip(self.elements.iter().skip(7));
        let mut squares = 0;
        for (&c0, &c1) in
            pairs.chain(self.elements.iter().zip(zeros.clone())).chain(zeros.zip(&self.elements))
        {
            let a = Quadratic::new(c0, c1);
            let root = a.square().sqrt_vartime().unwrap();
            assert!(root == a || root == -a, "{a:?}");
            // An element is a square if and only if its norm is: its power (p^2 - 1)/2 is the norm's power (p - 1)/2.
            match a.sqrt_vartime() {
                Some(root) => {
                    squares += 1;
                    assert!(root.square() == a && a.norm().sqrt_vartime().is_some());
                }
                None => assert_eq!(a.norm().sqrt_vartime(), None),
            }
            assert_eq!(
                a.invert_vartime().map(|inverse| inverse * a),
                (!a.is_zero()).then_some(Quadratic::ONE)
            );
        }
        assert!(squares > 2 * self.elements.len() && squares < 3 * self.elements.len() - 100);
    }

    fn encodings(&self) {
        for words in edge_integers(P::MODULUS.as_ref()).into_iter().chain(self.words.iter().cloned()) {
            let integer = big(&words);
            let le: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let be: Vec<u8> = le.iter().rev().copied().collect();
            let decimal = integer.to_string();
            let reduced = Fp::<P>::from_bytes_be_reduced(&be);
            assert_eq!(big(reduced.to_canonical().as_ref()), &integer % &self.modulus);
            if integer < self.modulus {
                let a = Fp::<P>::from_canonical(limbs(&words)).unwrap();
                assert_eq!(a, reduced);
                assert_eq!(self.raw(a) * &self.r_inverse % &self.modulus, integer);
                assert_eq!(a.to_canonical().as_ref(), words);
                assert_eq!((a.to_bytes_le(), a.to_bytes_be()), (le.clone(), be.clone()));
                assert_eq!((Fp::from_bytes_le(&le), Fp::from_bytes_be(&be)), (Ok(a), Ok(a)));
                assert_eq!(Fp::from_montgomery_le(&a.to_montgomery_le()), Ok(a));
                assert_eq!((a.to_string(), decimal.parse()), (decimal.clone(), Ok(a)));
            } else {
                let refused = FieldError::NotCanonical(P::NAME);
                assert_eq!(Fp::<P>::from_canonical(limbs(&words)), None);
                assert_eq!(Fp::<P>::from_montgomery(limbs(&words)), None);
                assert_eq!(Fp::<P>::from_bytes_le(&le), Err(refused));
                assert_eq!(Fp::<P>::from_bytes_be(&be), Err(refused));
                assert_eq!(Fp::<P>::from_montgomery_le(&le), Err(refused));
                assert_eq!(decimal.parse::<Fp<P>>(), Err(refused));
            }
        }
        for text in ["", "-1", "+1", " 1", "0x1", "1_000", "1.0", "\u{661}"] {
            assert_eq!(text.parse::<Fp<P>>(), Err(FieldError::NotDecimal(P::NAME)), "{text}");
        }
        let endless = "9".repeat(4000);
        assert_eq!(endless.parse::<Fp<P>>(), Err(FieldError::NotCanonical(P::NAME)));
        assert_eq!("0007".parse::<Fp<P>>(), Ok(Fp::from(7)));
    }

    fn roots_of_unity(&self) {
        assert_eq!(Fp::<P>::root_of_unity(P::TWO_ADICITY + 1), None);
        for log_n in 1..=P::TWO_ADICITY {
            let root = Fp::<P>::root_of_unity(log_n).unwrap();
            assert_eq!(root.pow_vartime(&[1 << (log_n - 1)]), -Fp::ONE);
        }
        assert_eq!(Fp::<P>::root_of_unity(0), Some(Fp::ONE));
    }

    fn arkworks_roots<F: ark_ff::PrimeField>(&self) {
        let theirs = |a: Fp<P>| F::from_le_bytes_mod_order(&a.to_bytes_le());
        for &a in &self.elements {
            assert_eq!(
                a.sqrt_vartime().map(|root| theirs(root.square())),
                theirs(a).sqrt().map(|root| root.square())
            );
        }
        assert_eq!(theirs(Fp::generator()), F::GENERATOR);
        assert_eq!(Fp::root_of_unity(P::TWO_ADICITY).map(theirs), Some(F::TWO_ADIC_ROOT_OF_UNITY));
    }
}

fn check<P: Prime, F: ark_ff::PrimeField>() {
    fn on_backend<P: Prime, F: ark_ff::PrimeField>(token: impl Backend) {
        let laws = Laws::<P, _>::new(token);
        laws.ring();
        laws.inversion();
        laws.quadratic_ring();
        laws.quadratic_extremes();
        if P::BITS + 2 <= 64 * P::Limbs::LEN as u32 {
            laws.sums_of_products::<1>();
            laws.sums_of_products::<2>();
            laws.sums_of_products::<3>();
            laws.sums_of_products::<4>();
        }
        laws.powers();
        laws.arkworks::<F>();
    }
    for_each_level(|level| dispatch!(level, engine => on_backend::<P, F>(engine.backend())));
    let laws = Laws::<P, _>::new(Portable);
    laws.square_roots();
    if P::TWO_ADICITY == 1 {
        laws.quadratic_square_roots();
    }
    laws.encodings();
    laws.roots_of_unity();
    laws.arkworks_roots::<F>();
}

#[test]
fn bn254_fq() {
    check::<bn254::FqParams, ark_bn254::Fq>();
}

#[test]
fn bn254_fr() {
    check::<bn254::FrParams, ark_bn254::Fr>();
}

#[test]
fn bls12_381_fq() {
    check::<bls12_381::FqParams, ark_bls12_381::Fq>();
}

#[test]
fn bls12_381_fr() {
    check::<bls12_381::FrParams, ark_bls12_381::Fr>();
}
