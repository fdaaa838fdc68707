//! A transform of eight columns at a time that fits the cache.
//!
//! Decimation in time, input in bit-reversed order, output in natural order; two layers per pass (radix 4),
//! so that each vector is loaded and stored half as often.
//!
//! Bounds (for *reduced* see the head of the lanes' file): inputs are reduced; a layer adds at most 2p to the bound, so 14
//! layers stay below 30p, which a multiplication by a constant permits. Butterflies with twiddle 1
//! add without a product; their operands are elements 0 of sub-transforms, which `+` keeps reduced.

use proofmill_field::{Fp, Packable, Prime, Scale};

/// The largest in-cache transform: more layers would break the bounds above.
pub(crate) const MAX_LOG: u32 = 14;

/// Transforms `values` in place; `twiddles[j] = w^j` for `j < len / 2`, w of order `len`.
#[inline(always)]
pub(crate) fn transform<P: Prime, V: Scale<Fp<P>>>(values: &mut [V], twiddles: &[V::Factor]) {
    let n = values.len();
    let mut half = 1;
    // For an odd number of layers, one of radix 2 first: its twiddles are all 1.
    if n.trailing_zeros() % 2 == 1 {
        for pair in values.chunks_exact_mut(2) {
            (pair[0], pair[1]) = (pair[0] + pair[1], pair[0].sub_lazy(pair[1]));
        }
        half = 2;
    }
    while half < n {
        let stride = n / (4 * half);
        let fourth_root = &twiddles[n / 4];
        for block in values.chunks_exact_mut(4 * half) {
            let (low, high) = block.split_at_mut(2 * half);
            let ((q0, q1), (q2, q3)) = (low.split_at_mut(half), high.split_at_mut(half));
            // Element 0 of every sub-transform has twiddle 1: no product but that with w^(n/4).
            [q0[0], q1[0], q2[0], q3[0]] = butterfly_trivial([q0[0], q1[0], q2[0], q3[0]], fourth_root);
            for j in 1..half {
                // Layer 1 takes powers of w^(2 stride), layer 2 of w^stride.
                let (first, second) =
                    (&twiddles[2 * j * stride], [&twiddles[j * stride], &twiddles[(j + half) * stride]]);
                [q0[j], q1[j], q2[j], q3[j]] = butterfly([q0[j], q1[j], q2[j], q3[j]], first, second);
            }
        }
        half *= 4;
    }
}

/// Two layers with twiddle 1, and `w^(n/4)` for the odd half of the second.
#[inline(always)]
fn butterfly_trivial<F: Packable, V: Scale<F>>([a0, a1, a2, a3]: [V; 4], fourth_root: &V::Factor) -> [V; 4] {
    let (b0, b1) = (a0 + a1, a0.sub_term(a1));
    let (b2, b3) = (a2 + a3, a2.sub_factor(a3).scale(fourth_root));
    [b0 + b2, b1.add_lazy(b3), b0.sub_lazy(b2), b1.sub_lazy(b3)]
}

/// Two layers: `first` for both butterflies of the first layer, `second` for the two of the second.
#[inline(always)]
fn butterfly<F: Packable, V: Scale<F>>(
    [a0, a1, a2, a3]: [V; 4],
    first: &V::Factor,
    second: [&V::Factor; 2],
) -> [V; 4] {
    let [t1, t3] = V::scale_terms([a1, a3], [first, first]);
    let (b0, b1) = (a0.add_term(t1), a0.sub_term(t1));
    let (b2, b3) = (a2.add_factor(t3), a2.sub_factor(t3));
    let [t2, t3] = V::scale_terms([b2, b3], second);
    [b0.add_lazy(t2), b1.add_lazy(t3), b0.sub_lazy(t2), b1.sub_lazy(t3)]
}
