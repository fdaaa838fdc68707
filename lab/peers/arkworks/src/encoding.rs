//! The encoding of elements and points in inputs and outputs: little-endian integers, constant coefficient
//! first.

use ark_ec::{
    AffineRepr,
    short_weierstrass::{Affine, SWCurveConfig},
};
use ark_ff::{
    BigInteger, CubicExtConfig, CubicExtField, Fp, FpConfig, PrimeField, QuadExtConfig, QuadExtField,
};

/// A type with this encoding.
pub(crate) trait Encoding: Sized {
    /// Length of the encoding in bytes.
    const LEN: usize;

    /// Appends the encoding.
    fn put(&self, bytes: &mut Vec<u8>);

    /// Decodes [`Self::LEN`] bytes.
    fn decode(bytes: &[u8]) -> Self;
}

impl<P: FpConfig<N>, const N: usize> Encoding for Fp<P, N> {
    const LEN: usize = 8 * N;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.into_bigint().to_bytes_le());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self::from_le_bytes_mod_order(bytes)
    }
}

impl<P: QuadExtConfig<BaseField: Encoding>> Encoding for QuadExtField<P> {
    const LEN: usize = 2 * P::BaseField::LEN;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.c0.put(bytes);
        self.c1.put(bytes);
    }

    fn decode(bytes: &[u8]) -> Self {
        let (c0, c1) = bytes.split_at(P::BaseField::LEN);
        Self::new(P::BaseField::decode(c0), P::BaseField::decode(c1))
    }
}

impl<P: CubicExtConfig<BaseField: Encoding>> Encoding for CubicExtField<P> {
    const LEN: usize = 3 * P::BaseField::LEN;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.c0.put(bytes);
        self.c1.put(bytes);
        self.c2.put(bytes);
    }

    fn decode(bytes: &[u8]) -> Self {
        let (c0, rest) = bytes.split_at(P::BaseField::LEN);
        let (c1, c2) = rest.split_at(P::BaseField::LEN);
        Self::new(P::BaseField::decode(c0), P::BaseField::decode(c1), P::BaseField::decode(c2))
    }
}

/// Decodes x, then y; zeros are infinity.
pub(crate) fn decode_point<C: SWCurveConfig<BaseField: Encoding>>(bytes: &[u8]) -> Affine<C> {
    if bytes.iter().all(|byte| *byte == 0) {
        return Affine::identity();
    }
    let (x, y) = bytes.split_at(C::BaseField::LEN);
    Affine::new_unchecked(C::BaseField::decode(x), C::BaseField::decode(y))
}

/// The encoding that [`decode_point`] reads.
pub(crate) fn encode_point<C: SWCurveConfig<BaseField: Encoding>>(point: &Affine<C>) -> Vec<u8> {
    match point.xy() {
        Some((x, y)) => encoded(&[x, y]),
        None => vec![0; 2 * C::BaseField::LEN],
    }
}

/// The encodings of `things`, in order.
pub(crate) fn encoded<T: Encoding>(things: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(things.len() * T::LEN);
    things.iter().for_each(|thing| thing.put(&mut bytes));
    bytes
}
