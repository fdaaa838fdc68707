//! Field elements in the memory of circom's WASM.
//!
//! An element takes 40 bytes: an i32, flags (the highest bits of byte 7), and 32 bytes. With the flag `LONG` its value is in the 32
//! bytes, little-endian, in Montgomery form for 2^256 with the flag `MONTGOMERY`; otherwise it is the i32. A circuit treats all forms
//! alike. Source: the WASM that circom writes.

use crate::number::limbs;
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp};
use wasmi::{Error, TrapCode};

const LONG: u8 = 0x80;
const MONTGOMERY: u8 = 0x40;

/// Bytes of an element.
pub(crate) const BYTES: usize = 40;

/// A field element, by its form in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Element<P: ScalarPrime> {
    Short(i32),
    Normal(Fp<P>),
    Montgomery(Fp<P>),
}

impl<P: ScalarPrime> Element<P> {
    pub(crate) fn read(memory: &[u8], at: i32) -> Result<Self, Error> {
        let element: &[u8; BYTES] = memory
            .get(at as u32 as usize..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(TrapCode::MemoryOutOfBounds)?;
        let [s0, s1, s2, s3, _, _, _, flags, long @ ..] = element;
        if flags & LONG == 0 {
            return Ok(Self::Short(i32::from_le_bytes([*s0, *s1, *s2, *s3])));
        }
        let limbs = limbs(long);
        let value = if flags & MONTGOMERY == 0 {
            Fp::from_canonical(limbs).map(Self::Normal)
        } else {
            Fp::from_montgomery(limbs).map(Self::Montgomery)
        };
        value.ok_or_else(|| Error::new("a field element in its memory is not below the modulus"))
    }

    pub(crate) fn write(self, memory: &mut [u8], at: i32) -> Result<(), Error> {
        // The first eight bytes as an integer, and the others.
        let (head, limbs) = match self {
            Self::Short(value) => (u64::from(value as u32), [0; 4]),
            Self::Normal(value) => (u64::from(LONG) << 56, value.to_canonical()),
            Self::Montgomery(value) => (u64::from(LONG | MONTGOMERY) << 56, value.to_montgomery()),
        };
        let element: &mut [u8; BYTES] = memory
            .get_mut(at as u32 as usize..)
            .and_then(<[u8]>::first_chunk_mut)
            .ok_or(TrapCode::MemoryOutOfBounds)?;
        for (word, value) in element.as_chunks_mut().0.iter_mut().zip([head].into_iter().chain(limbs)) {
            *word = value.to_le_bytes();
        }
        Ok(())
    }

    pub(crate) fn value(self) -> Fp<P> {
        match self {
            Self::Short(value) => {
                let magnitude = Fp::from(u64::from(value.unsigned_abs()));
                if value < 0 { -magnitude } else { magnitude }
            }
            Self::Normal(value) | Self::Montgomery(value) => value,
        }
    }

    /// Whether it is not 0.
    pub(crate) fn is_true(self) -> bool {
        match self {
            Self::Short(value) => value != 0,
            Self::Normal(value) | Self::Montgomery(value) => value != Fp::ZERO,
        }
    }
}

impl<P: ScalarPrime> From<Fp<P>> for Element<P> {
    /// The form in which circom's JavaScript writes inputs, but for small negative ones.
    fn from(value: Fp<P>) -> Self {
        match value.to_canonical() {
            [low, 0, 0, 0] if i32::try_from(low).is_ok() => Self::Short(low as i32),
            _ => Self::Normal(value),
        }
    }
}
