//! Transforms of 2, 4, 8 and 16 elements in Gaussian form: sums, multiplications by i and shifts.
//!
//! `2^96 = -1` modulo p, so that 2^48 has order 4, 2^24 order 8 and 2^12 order 16.

use proofmill_field::goldilocks::{Gaussian, U64s};

/// The largest size of these transforms.
pub const MAX_RADIX: usize = 16;

/// The transform of `a, b, i^c_turns c, i^d_turns d`.
#[inline(always)]
fn transform_4<W: U64s>([a, b, c, d]: [Gaussian<W>; 4], c_turns: u32, d_turns: u32) -> [Gaussian<W>; 4] {
    let (even, even_turned) = (a.add_turned(c, c_turns), a.add_turned(c, c_turns + 2));
    let (odd, odd_turned) = (b.add_turned(d, d_turns), b.add_turned(d, d_turns + 2));
    [
        even.add_turned(odd, 0),
        even_turned.add_turned(odd_turned, 1),
        even.add_turned(odd, 2),
        even_turned.add_turned(odd_turned, 3),
    ]
}

/// The transform of R = 1, 2, 4, 8 or 16 elements, natural order in and out; passes each
/// output on once. The parts of inputs are below 2^52 in absolute value, those of outputs non-negative and below 2^58.
///
/// Straight-line code without arrays of all elements, which do not fit the registers.
#[inline(always)]
pub fn transform<W: U64s, const R: usize>(x: [Gaussian<W>; R], mut output: impl FnMut(usize, Gaussian<W>)) {
    // Input 0 is a term of every output.
    let first = x[0].lifted();
    match R {
        1 => output(0, first),
        2 => {
            let second = x[1];
            output(0, first + second);
            output(1, first - second);
        }
        4 => {
            let y = transform_4([first, x[1], x[2], x[3]], 0, 0);
            output(0, y[0]);
            output(1, y[1]);
            output(2, y[2]);
            output(3, y[3]);
        }
        8 => {
            // 2 * 4: even and odd inputs; the outputs of the latter times (2^24)^k.
            let even = transform_4([first, x[2], x[4], x[6]], 0, 0);
            let odd = transform_4([x[1], x[3], x[5], x[7]], 0, 0);
            let (odd1, odd3) = (odd[1].mul_power_of_two::<24>(), odd[3].mul_power_of_two::<24>());
            output(0, even[0].add_turned(odd[0], 0));
            output(1, even[1].add_turned(odd1, 0));
            output(2, even[2].add_turned(odd[2], 1));
            output(3, even[3].add_turned(odd3, 1));
            output(4, even[0].add_turned(odd[0], 2));
            output(5, even[1].add_turned(odd1, 2));
            output(6, even[2].add_turned(odd[2], 3));
            output(7, even[3].add_turned(odd3, 3));
        }
        _ => {
            // 4 * 4: output k of column n times (2^12)^(k n); the sums perform whole multiplications by i.
            let a = transform_4([first, x[4], x[8], x[12]], 0, 0);
            let b = transform_4([x[1], x[5], x[9], x[13]], 0, 0);
            let b = [
                b[0],
                b[1].mul_power_of_two::<12>(),
                b[2].mul_power_of_two::<24>(),
                b[3].mul_power_of_two::<36>(),
            ];
            let c = transform_4([x[2], x[6], x[10], x[14]], 0, 0);
            let c = [c[0], c[1].mul_power_of_two::<24>(), c[2], c[3].mul_power_of_two::<24>()];
            let d = transform_4([x[3], x[7], x[11], x[15]], 0, 0);
            let d = [
                d[0],
                d[1].mul_power_of_two::<36>(),
                d[2].mul_power_of_two::<24>(),
                d[3].mul_power_of_two::<12>(),
            ];
            let y = transform_4([a[0], b[0], c[0], d[0]], 0, 0);
            output(0, y[0]);
            output(4, y[1]);
            output(8, y[2]);
            output(12, y[3]);
            let y = transform_4([a[1], b[1], c[1], d[1]], 0, 0);
            output(1, y[0]);
            output(5, y[1]);
            output(9, y[2]);
            output(13, y[3]);
            let y = transform_4([a[2], b[2], c[2], d[2]], 1, 1);
            output(2, y[0]);
            output(6, y[1]);
            output(10, y[2]);
            output(14, y[3]);
            let y = transform_4([a[3], b[3], c[3], d[3]], 1, 2);
            output(3, y[0]);
            output(7, y[1]);
            output(11, y[2]);
            output(15, y[3]);
        }
    }
}
