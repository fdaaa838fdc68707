//! Field elements in the memory of circom's WASM.
//!
//! An element takes 40 bytes: an i32, flags (the highest bits of byte 7), and 32 bytes. With the flag `LONG` its value is in the 32
//! bytes, little-endian, in Montgomery form for 2^256 with the flag `MONTGOMERY`; otherwise it is the i32. A circuit treats all forms
//! alike. Source: the WASM that circom writes.

use crate::number::limbs;
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp};
use wasmi::{Error, TrapCode};

/// The flags among the first eight bytes.
const LONG: u64 = 0x80 << 56;
const MONTGOMERY: u64 = 0x40 << 56;

/// Bytes of an element.
pub(crate) const BYTES: usize = 40;

/// A field element, by its form in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WasmElement<P: ScalarPrime> {
    Short(i32),
    Normal(Fp<P>),
    Montgomery(Fp<P>),
}

/// Why there is no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// It is not in the memory.
    Outside,
    /// It is not below the modulus.
    TooLarge,
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Outside => TrapCode::MemoryOutOfBounds.into(),
            Invalid::TooLarge => Self::new("a field element in its memory is not below the modulus"),
        }
    }
}

/// The integer of an element in the short form.
#[inline(always)]
pub(crate) fn short(memory: &[u8], at: u32) -> Result<Option<i32>, Invalid> {
    let head = memory.get(at as usize..).and_then(<[u8]>::first_chunk).ok_or(Invalid::Outside)?;
    let head = u64::from_le_bytes(*head);
    Ok(if head & LONG == 0 { Some(head as i32) } else { None })
}

impl<P: ScalarPrime> WasmElement<P> {
    #[inline(always)]
    pub(crate) fn read(memory: &[u8], at: i32) -> Result<Self, Invalid> {
        let element: &[u8; BYTES] =
            memory.get(at as u32 as usize..).and_then(<[u8]>::first_chunk).ok_or(Invalid::Outside)?;
        let (head, long) = element.split_first_chunk().ok_or(Invalid::Outside)?;
        let head = u64::from_le_bytes(*head);
        if head & LONG == 0 {
            return Ok(Self::Short(head as i32));
        }
        let limbs = limbs(long.first_chunk().ok_or(Invalid::Outside)?);
        let value = if head & MONTGOMERY == 0 {
            Fp::from_canonical(limbs).map(Self::Normal)
        } else {
            Fp::from_montgomery(limbs).map(Self::Montgomery)
        };
        value.ok_or(Invalid::TooLarge)
    }

    /// Writes the element; of the short form only what counts, as circom does.
    #[inline(always)]
    pub(crate) fn write(self, memory: &mut [u8], at: i32) -> Result<(), Invalid> {
        let element: &mut [u8; BYTES] =
            memory.get_mut(at as u32 as usize..).and_then(<[u8]>::first_chunk_mut).ok_or(Invalid::Outside)?;
        let (head, long) = element.split_first_chunk_mut().ok_or(Invalid::Outside)?;
        let (flags, limbs) = match self {
            Self::Short(value) => {
                *head = u64::from(value as u32).to_le_bytes();
                return Ok(());
            }
            Self::Normal(value) => (LONG, value.to_canonical()),
            Self::Montgomery(value) => (LONG | MONTGOMERY, value.to_montgomery()),
        };
        *head = flags.to_le_bytes();
        for (bytes, limb) in long.as_chunks_mut().0.iter_mut().zip(limbs) {
            *bytes = limb.to_le_bytes();
        }
        Ok(())
    }

    /// Copies an element, whatever it is.
    #[inline]
    pub(crate) fn copy(memory: &mut [u8], to: u32, from: u32) -> Result<(), Invalid> {
        let element: &[u8; BYTES] =
            memory.get(from as usize..).and_then(<[u8]>::first_chunk).ok_or(Invalid::Outside)?;
        let head: [u8; 8] = *element.first_chunk().ok_or(Invalid::Outside)?;
        let element = *element;
        let place: &mut [u8; BYTES] =
            memory.get_mut(to as usize..).and_then(<[u8]>::first_chunk_mut).ok_or(Invalid::Outside)?;
        if u64::from_le_bytes(head) & LONG == 0 {
            *place.first_chunk_mut().ok_or(Invalid::Outside)? = head;
        } else {
            *place = element;
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

impl<P: ScalarPrime> From<Fp<P>> for WasmElement<P> {
    /// The form in which circom's JavaScript writes inputs, but for small negative ones.
    fn from(value: Fp<P>) -> Self {
        match value.to_canonical() {
            [low, 0, 0, 0] if i32::try_from(low).is_ok() => Self::Short(low as i32),
            _ => Self::Normal(value),
        }
    }
}
