//! Products of two slices; the first one is overwritten.

use crate::{Selection, elements, packed};
use p3_field::{Field, PackedValue};
use p3_goldilocks::Goldilocks;
use plonky2_field::{
    goldilocks_field::GoldilocksField, packable::Packable, packed::PackedField, types::Field as _,
};
use crate::records::Records;
use std::hint::black_box;

/// Plonky3's vector of elements.
type P3 = <Goldilocks as Field>::Packing;
/// plonky2's vector of elements.
type P2 = <GoldilocksField as Packable>::Packing;

/// Passes over slices that stay in the first-level cache, and one pass over slices that do not.
const SHAPES: [(&str, usize, usize); 2] =
    [("goldilocks mul 2^10 x 2^10", 1 << 10, 1 << 10), ("goldilocks mul 2^20 elements", 1 << 20, 1)];

pub(crate) fn measure(records: &mut Records, selection: &Selection, threads: usize) {
    if threads > 1 {
        return;
    }
    for (name, len, passes) in SHAPES {
        if !selection.has(name) {
            continue;
        }
        let (mut a, b) = (elements(len), elements(len));
        records.record(name, &packed("plonky3"), threads, None, || {
            for _ in 0..passes {
                let (a, b) = (P3::pack_slice_mut(black_box(&mut a)), P3::pack_slice(&b));
                a.iter_mut().zip(b).for_each(|(a, b)| *a *= *b);
            }
        });
        let (mut a, b) = (plonky2_elements(len), plonky2_elements(len));
        records.record(name, &packed("plonky2"), threads, None, || {
            for _ in 0..passes {
                let (a, b) = (P2::pack_slice_mut(black_box(&mut a)), P2::pack_slice(&b));
                a.iter_mut().zip(b).for_each(|(a, b)| *a *= *b);
            }
        });
    }
}

/// The elements of [`elements`] in plonky2's type.
pub(crate) fn plonky2_elements(len: usize) -> Vec<GoldilocksField> {
    use p3_field::PrimeField64;
    elements(len).iter().map(|x| GoldilocksField::from_canonical_u64(x.as_canonical_u64())).collect()
}
