//! snarkjs's generator of secrets and points: ChaCha20 (Bernstein, 2008) with a counter of 64 bits that begins at 0 and no nonce.
//!
//! Integers of 64 bits are two outputs, the higher half first. A field element is drawn limb by limb, least significant first, and cut to the
//! modulus's bits. It is drawn again until it is below the modulus. These are the limbs of its Montgomery form. A point is an x and a bit that says
//! whether y is the greater of y and -y. Both are drawn again until x has a y; then the point is multiplied by the cofactor. The facts are from
//! ffjavascript's `chacha.js`, `wasm_field1.js`, `wasm_curve.js` and `bn128.js`.

use proofmill_field::{Fp, Prime, Quadratic};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};

/// A pseudorandom generator.
pub struct Generator(ChaCha20Rng);

impl Generator {
    /// Takes the first 32 bytes of a hash as the cipher's key: eight big-endian words.
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
    pub(crate) fn element<P: Prime>(&mut self) -> Fp<P> {
        let highest = P::MODULUS.as_ref().last().map_or(0, |limb| limb.leading_zeros());
        loop {
            let mut limbs = P::Limbs::default();
            limbs.as_mut().iter_mut().for_each(|limb| *limb = self.word());
            limbs.as_mut().iter_mut().rev().take(1).for_each(|limb| *limb &= u64::MAX >> highest);
            if let Some(element) = Fp::from_montgomery(limbs) {
                return element;
            }
        }
    }

    /// Draws a bit, from an output of its own.
    pub(crate) fn bit(&mut self) -> bool {
        self.0.next_u32() & 1 == 1
    }
}

/// Fields of coordinates, whose elements are drawn by coefficients, the constant one first.
pub trait Drawn {
    /// Draws the next element.
    fn draw(generator: &mut Generator) -> Self;
}

impl<P: Prime> Drawn for Fp<P> {
    fn draw(generator: &mut Generator) -> Self {
        generator.element()
    }
}

impl<P: Prime> Drawn for Quadratic<Fp<P>> {
    fn draw(generator: &mut Generator) -> Self {
        Self { c0: generator.element(), c1: generator.element() }
    }
}
