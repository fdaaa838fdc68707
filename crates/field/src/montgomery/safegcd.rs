//! Modular inversion by Bernstein and Yang's division steps, in variable time.
//!
//! Formula: a division step maps (eta, f, g), f odd, to (eta - 1, f, g/2) if g is even, to (-eta - 1, g, (g - f)/2)
//! if g is odd and eta is negative, to (eta - 1, f, (g + f)/2) otherwise (signs chosen for odd g may differ, since
//! only their ratio matters to the gcd). From (-1, p, x) it ends in g = 0, f = +-gcd(p, x). A batch of 62 steps depends only
//! on the lowest 62 bits of f and g and gives a 2 x 2 integer matrix, scaled by 2^62, which is then applied to all of f and
//! g and, modulo p, to (d, e) with the invariants `d x = f s`, `e x = g s` for the wanted scale s.
//!
//! Representation: L signed limbs of 62 bits, the top one signed, the others in 0..2^62. Bounds: a matrix's rows have
//! `|u| + |v| <= 2^62`; f and g stay within +-p; d and e within (-2p, p), so that all sums of two products fit an i128.
//!
//! Sources: Bernstein, Yang, "Fast constant-time gcd computation and modular inversion", TCHES 2019(3); the variant with
//! several steps at once, half as many conditional swaps and lazy ranges for d and e: Wuille, "The safegcd
//! implementation in libsecp256k1 explained", 2021.

const BITS: u32 = 62;
const MASK: u64 = (1 << BITS) - 1;

/// `(f, g) -> ((u f + v g) / 2^62, (q f + r g) / 2^62)`: the product of 62 division steps.
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// 62 division steps on the low words of f (odd) and g; also returns the new eta.
///
/// A run of even g is one shift. For odd g, the added multiple w of f clears up to six bits of g at once, as
/// long as no swap is due in between.
fn division_steps(mut eta: i64, f: u64, g: u64) -> (i64, Matrix) {
    let (mut f, mut g) = (f, g);
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    let mut left = BITS;
    loop {
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            break;
        }
        if eta < 0 {
            eta = -eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // eta steps may follow the next one without a swap. f (2 - f^2) = 1/f mod 64 (Newton from f = 1/f mod 8).
        let steps = (eta + 1).min(i64::from(left)).min(6);
        let inverse = f.wrapping_mul(2u64.wrapping_sub(f.wrapping_mul(f)));
        let w = g.wrapping_neg().wrapping_mul(inverse) & ((1 << steps) - 1);
        g = g.wrapping_add(f.wrapping_mul(w));
        q = q.wrapping_add(u.wrapping_mul(w));
        r = r.wrapping_add(v.wrapping_mul(w));
    }
    (eta, Matrix { u: u as i64, v: v as i64, q: q as i64, r: r as i64 })
}

/// A signed integer in limbs of 62 bits.
#[derive(Clone, Copy)]
struct Signed<const L: usize>([i64; L]);

#[inline(always)]
fn product(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

impl<const L: usize> Signed<L> {
    fn from_words(words: &[u64]) -> Self {
        let word = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
        Self(std::array::from_fn(|i| {
            let bit = i * BITS as usize;
            let window = word(bit / 64) | word(bit / 64 + 1) << 64;
            ((window >> (bit % 64)) as u64 & MASK) as i64
        }))
    }

    /// The words of a non-negative integer that fits.
    fn to_words<const N: usize>(self) -> [u64; N] {
        std::array::from_fn(|i| {
            let bit = i * 64;
            let (limb, shift) = (bit / BITS as usize, bit as u32 % BITS);
            let above = self.0.get(limb + 1).map_or(0, |limb| *limb as u64);
            self.0[limb] as u64 >> shift | above << (BITS - shift)
        })
    }

    /// `self + factor * other` for a factor of 0, 1 or -1, with carries done.
    fn add_multiple(self, factor: i64, other: &Self) -> Self {
        let mut sum = [0; L];
        let mut carry = 0;
        for (sum, (a, b)) in sum.iter_mut().zip(self.0.iter().zip(&other.0)) {
            carry += a + factor * b;
            *sum = carry & MASK as i64;
            carry >>= BITS;
        }
        sum[L - 1] += carry << BITS;
        Self(sum)
    }

    fn is_negative(&self) -> bool {
        self.0[L - 1] < 0
    }
}

/// Applies 62 division steps to f and g. Only their first `length` limbs are in use.
#[inline(always)]
fn update_fg<const L: usize>(f: &mut Signed<L>, g: &mut Signed<L>, length: usize, m: &Matrix) {
    let (f, g) = (&mut f.0[..length], &mut g.0[..length]);
    let mut f_sum = (product(m.u, f[0]) + product(m.v, g[0])) >> BITS;
    let mut g_sum = (product(m.q, f[0]) + product(m.r, g[0])) >> BITS;
    for i in 1..length {
        f_sum += product(m.u, f[i]) + product(m.v, g[i]);
        g_sum += product(m.q, f[i]) + product(m.r, g[i]);
        f[i - 1] = f_sum as i64 & MASK as i64;
        g[i - 1] = g_sum as i64 & MASK as i64;
        f_sum >>= BITS;
        g_sum >>= BITS;
    }
    f[length - 1] = f_sum as i64;
    g[length - 1] = g_sum as i64;
}

/// Applies 62 division steps to d and e modulo p: adds the multiple of p that makes the division by 2^62 exact, and one
/// more for each negative operand, which keeps both in (-2p, p).
#[inline(always)]
fn update_de<const L: usize>(
    d: &mut Signed<L>,
    e: &mut Signed<L>,
    m: &Matrix,
    p: &Signed<L>,
    p_inverse: u64,
) {
    let (d_sign, e_sign) = (d.0[L - 1] >> 63, e.0[L - 1] >> 63);
    let mut d_sum = product(m.u, d.0[0]) + product(m.v, e.0[0]);
    let mut e_sum = product(m.q, d.0[0]) + product(m.r, e.0[0]);
    let multiple = |base: i64, low: i128| {
        base - ((p_inverse.wrapping_mul(low as u64).wrapping_add(base as u64)) & MASK) as i64
    };
    let d_multiple = multiple((m.u & d_sign) + (m.v & e_sign), d_sum);
    let e_multiple = multiple((m.q & d_sign) + (m.r & e_sign), e_sum);
    d_sum = (d_sum + product(p.0[0], d_multiple)) >> BITS;
    e_sum = (e_sum + product(p.0[0], e_multiple)) >> BITS;
    for i in 1..L {
        d_sum += product(m.u, d.0[i]) + product(m.v, e.0[i]) + product(p.0[i], d_multiple);
        e_sum += product(m.q, d.0[i]) + product(m.r, e.0[i]) + product(p.0[i], e_multiple);
        d.0[i - 1] = d_sum as i64 & MASK as i64;
        e.0[i - 1] = e_sum as i64 & MASK as i64;
        d_sum >>= BITS;
        e_sum >>= BITS;
    }
    d.0[L - 1] = d_sum as i64;
    e.0[L - 1] = e_sum as i64;
}

/// `scale / x mod p`, below p, for x and scale below the odd p; `None` if x has no inverse. `inv = -p^-1 mod 2^64`.
///
/// L limbs of 62 bits must hold 4p.
pub(crate) fn divide_vartime<const N: usize, const L: usize>(
    scale: &[u64; N],
    x: &[u64; N],
    p: &[u64; N],
    inv: u64,
) -> Option<[u64; N]> {
    let p = Signed::<L>::from_words(p);
    let (mut f, mut g) = (p, Signed::from_words(x));
    let (mut d, mut e) = (Signed([0; L]), Signed::from_words(scale));
    let is_sign = |limb: i64| limb == limb >> 63;
    let mut eta = -1;
    let mut length = L;
    while g.0[..length].iter().any(|limb| *limb != 0) {
        let (next, matrix) = division_steps(eta, f.0[0] as u64, g.0[0] as u64);
        eta = next;
        update_de(&mut d, &mut e, &matrix, &p, inv.wrapping_neg());
        update_fg(&mut f, &mut g, length, &matrix);
        // If both top limbs are only signs, they move into the spare bits of the limbs below.
        if length > 1 && is_sign(f.0[length - 1]) && is_sign(g.0[length - 1]) {
            length -= 1;
            f.0[length - 1] |= f.0[length] << BITS;
            g.0[length - 1] |= g.0[length] << BITS;
        }
    }
    while length > 1 && is_sign(f.0[length - 1]) {
        length -= 1;
        f.0[length - 1] |= f.0[length] << BITS;
    }
    let sign = f.0[0];
    if length > 1 || sign.abs() != 1 {
        return None;
    }
    // d is in (-2p, p): bring it into (-p, p), apply the sign of f, and bring it into 0..p.
    let mut inverse = d.add_multiple(i64::from(d.is_negative()), &p);
    inverse = Signed([0; L]).add_multiple(sign, &inverse);
    inverse = inverse.add_multiple(i64::from(inverse.is_negative()), &p);
    Some(inverse.to_words())
}
