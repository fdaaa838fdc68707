//! snarkjs's generator of secrets and points: ChaCha20 (Bernstein, 2008) with a counter of 64 bits that begins at 0 and no nonce.
//!
//! Integers of 64 bits are two outputs, the higher half first. A field element is four of them, least significant first, cut to the
//! modulus's bits and drawn again until it is below the modulus; these are the limbs of its Montgomery form. A point is an x and a bit
//! that says whether y is the greater of both, drawn again until there is such a y; in G2 it is multiplied by the cofactor. The facts are
//! from ffjavascript's `chacha.js`, `wasm_field1.js`, `wasm_curve.js` and `bn128.js`.

use crate::encoding::Encoding;
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Fp, Prime, SquareRoot, bn254::Fq2};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};

/// The order of G2's curve is this times r.
const COFACTOR_G2: [u64; 4] =
    [0x345f_2299_c0f9_fa8d, 0x06ce_ecda_572a_2489, 0xb850_45b6_8181_585e, 0x3064_4e72_e131_a029];

/// A pseudorandom generator.
pub(crate) struct Generator(ChaCha20Rng);

impl Generator {
    /// From the first 32 bytes of a hash: eight big-endian words, which are the cipher's key.
    pub(crate) fn new(hash: &[u8]) -> Self {
        let mut key = [0; 32];
        for (word, bytes) in key.as_chunks_mut::<4>().0.iter_mut().zip(hash.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes).to_le_bytes();
        }
        Self(ChaCha20Rng::from_seed(key))
    }

    fn word(&mut self) -> u64 {
        let high = u64::from(self.0.next_u32());
        high << 32 | u64::from(self.0.next_u32())
    }

    /// A field element.
    pub(crate) fn element<P: Prime<Limbs = [u64; 4]>>(&mut self) -> Fp<P> {
        let [.., highest] = P::MODULUS;
        let mask = u64::MAX >> highest.leading_zeros();
        loop {
            let [a, b, c, d] = std::array::from_fn(|_| self.word());
            if let Some(element) = Fp::from_montgomery([a, b, c, d & mask]) {
                return element;
            }
        }
    }

    /// A point of G1.
    pub(crate) fn g1(&mut self) -> Affine<G1> {
        self.point(Self::element)
    }

    /// A point of G2.
    pub(crate) fn g2(&mut self) -> Affine<G2> {
        let point = self.point(|generator| Fq2 { c0: generator.element(), c1: generator.element() });
        point.mul_words_vartime(&COFACTOR_G2).to_affine()
    }

    fn point<C: Encoding>(&mut self, draw: impl Fn(&mut Self) -> C::Base) -> Affine<C> {
        loop {
            let x = draw(self);
            let wants_greater = self.0.next_u32() & 1 == 1;
            let Some(y) = (x.square() * x + C::B).sqrt_vartime() else { continue };
            return Affine { x, y: if C::is_greater(&y) == wants_greater { y } else { -y } };
        }
    }
}
