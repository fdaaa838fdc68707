//! Little-endian arrays of 64-bit limbs and the portable Montgomery arithmetic on them.
//!
//! All values are canonical (below the modulus). The modulus's top limb is below 2^63 - 1, so the
//! product needs no carry word ("no-carry" CIOS: Koç, Acar, Kaliski 1996, with the observation of
//! the gnark team that the second carry vanishes when the top limb leaves a bit free) and `a + b` never overflows.

#[cfg(target_arch = "x86_64")]
use super::{
    Prime,
    x86_64::adx::{mul_mont_4, mul_mont_6, square_4, square_6, sum_of_products_4, sum_of_products_6},
};
use super::{
    prime::{Limbs, sealed},
    safegcd::divide_vartime,
};

/// `a + b + carry`. On x86-64 with the intrinsic: LLVM turns the carries of sums with constants, such as the
/// modulus, into comparisons, sets and branches, and keeps ADC only where the intrinsic requests it.
#[inline(always)]
pub(super) fn carrying_add(a: u64, b: u64, carry: bool) -> (u64, bool) {
    #[cfg(target_arch = "x86_64")]
    {
        let mut sum = 0;
        let carry = std::arch::x86_64::_addcarry_u64(carry.into(), a, b, &mut sum);
        (sum, carry != 0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    a.carrying_add(b, carry)
}

/// `a - b - borrow`; see [`carrying_add`].
#[inline(always)]
fn borrowing_sub(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    #[cfg(target_arch = "x86_64")]
    {
        let mut difference = 0;
        let borrow = std::arch::x86_64::_subborrow_u64(borrow.into(), a, b, &mut difference);
        (difference, borrow != 0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    a.borrowing_sub(b, borrow)
}

/// `a - b - borrow`, also for constants.
#[inline(always)]
pub(crate) const fn sbb(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, b0) = a.overflowing_sub(b);
    let (difference, b1) = difference.overflowing_sub(borrow as u64);
    (difference, b0 | b1)
}

/// Whether `a < b`.
pub(crate) fn is_below<L: Limbs>(a: &L, b: &L) -> bool {
    let mut borrow = false;
    for (a, b) in a.as_ref().iter().zip(b.as_ref()) {
        (_, borrow) = sbb(*a, *b, borrow);
    }
    borrow
}

/// `acc + a * b + carry` as (low, high).
#[inline(always)]
pub(crate) const fn mac(acc: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let wide = acc as u128 + (a as u128) * (b as u128) + carry as u128;
    (wide as u64, (wide >> 64) as u64)
}

/// `a - p` if that is not negative, otherwise `a`.
#[inline(always)]
fn reduce_once<const N: usize>(a: [u64; N], p: &[u64; N]) -> [u64; N] {
    let mut reduced = [0; N];
    let mut borrow = false;
    for i in 0..N {
        (reduced[i], borrow) = borrowing_sub(a[i], p[i], borrow);
    }
    // A select per limb compiles to conditional moves; a select of arrays compiles to a branch.
    for i in 0..N {
        reduced[i] = if borrow { a[i] } else { reduced[i] };
    }
    reduced
}

macro_rules! impl_limbs {
    ($n:literal, $lanes:literal, $single:literal, $signed:literal, $mul_adx:ident, $square_adx:ident, $sum_adx:ident) => {
        impl sealed::Sealed for [u64; $n] {}

        impl Limbs for [u64; $n] {
            #[cfg(target_arch = "x86_64")]
            type Lanes52 = [std::arch::x86_64::__m512i; $lanes];
            #[cfg(target_arch = "x86_64")]
            type Single52 = [std::arch::x86_64::__m512i; $single];
            #[cfg(target_arch = "x86_64")]
            type Digits = [[std::arch::x86_64::__m256d; $lanes]; 2];
            #[cfg(target_arch = "x86_64")]
            type Columns48 = [std::arch::x86_64::__m256d; $single];
            const LEN: usize = $n;
            const ZERO: Self = [0; $n];

            #[inline(always)]
            fn add_mod(&self, rhs: &Self, p: &Self) -> Self {
                reduce_once(self.wrapping_add(rhs), p)
            }

            #[inline(always)]
            fn sub_mod(&self, rhs: &Self, p: &Self) -> Self {
                let mut difference = [0; $n];
                let mut borrow = false;
                for i in 0..$n {
                    (difference[i], borrow) = borrowing_sub(self[i], rhs[i], borrow);
                }
                let mut wrapped = [0; $n];
                let mut carry = false;
                for i in 0..$n {
                    (wrapped[i], carry) = carrying_add(difference[i], p[i], carry);
                }
                // As in `reduce_once`: a masked addition would compile to an unpredictable branch.
                for i in 0..$n {
                    difference[i] = if borrow { wrapped[i] } else { difference[i] };
                }
                difference
            }

            #[inline(always)]
            fn mul_mont_portable(&self, rhs: &Self, p: &Self, inv: u64) -> Self {
                let mut t = [0u64; $n];
                for i in 0..$n {
                    let (t0, mut product_carry) = mac(t[0], self[0], rhs[i], 0);
                    let m = t0.wrapping_mul(inv);
                    let (_, mut reduce_carry) = mac(t0, m, p[0], 0);
                    for j in 1..$n {
                        let (tj, carry) = mac(t[j], self[j], rhs[i], product_carry);
                        product_carry = carry;
                        (t[j - 1], reduce_carry) = mac(tj, m, p[j], reduce_carry);
                    }
                    t[$n - 1] = product_carry + reduce_carry;
                }
                reduce_once(t, p)
            }

            #[inline(always)]
            fn wrapping_add(&self, rhs: &Self) -> Self {
                let mut sum = [0; $n];
                let mut carry = false;
                for i in 0..$n {
                    (sum[i], carry) = carrying_add(self[i], rhs[i], carry);
                }
                sum
            }

            #[inline(always)]
            fn wrapping_sub(&self, rhs: &Self) -> Self {
                let mut difference = [0; $n];
                let mut borrow = false;
                for i in 0..$n {
                    (difference[i], borrow) = borrowing_sub(self[i], rhs[i], borrow);
                }
                difference
            }

            #[inline(always)]
            fn sum_of_products_portable<const K: usize>(
                pairs: &[[[&Self; 2]; 2]; K],
                p: &Self,
                inv: u64,
            ) -> Self {
                // Bounds as in x86_64/adx.rs.
                let multiple = if $n == 4 { 5 } else { 9 };
                assert!(K <= 4 && p[$n - 1] < u64::MAX / multiple);
                let carries = $n == 4 && K > 2;
                let (mut t, mut top) = ([0u64; $n], 0u64);
                for i in 0..$n {
                    let mut above = false;
                    for [a, b] in pairs.as_flattened() {
                        let mut carry = 0;
                        for j in 0..$n {
                            (t[j], carry) = mac(t[j], a[j], b[i], carry);
                        }
                        let (sum, carry) = top.overflowing_add(carry);
                        (top, above) = (sum, above | carry);
                    }
                    let m = t[0].wrapping_mul(inv);
                    let (_, mut carry) = mac(t[0], m, p[0], 0);
                    for j in 1..$n {
                        (t[j - 1], carry) = mac(t[j], m, p[j], carry);
                    }
                    let (sum, carry) = top.overflowing_add(carry);
                    t[$n - 1] = sum;
                    top = if carries { u64::from(above) + u64::from(carry) } else { 0 };
                }
                let sum = reduce_once(t, p);
                if carries { reduce_once(sum, p) } else { sum }
            }

            fn divide_vartime(&self, scale: &Self, p: &Self, inv: u64) -> Option<Self> {
                divide_vartime::<$n, $signed>(scale, self, p, inv)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn mul_mont_adx<P: Prime<Limbs = Self>>(&self, rhs: &Self) -> Self {
                // SAFETY: the caller's promise.
                unsafe { $mul_adx::<P>(self, rhs) }
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn square_adx<P: Prime<Limbs = Self>, const REDUCED: bool>(&self) -> Self {
                // SAFETY: the caller's promise.
                unsafe { $square_adx::<P, REDUCED>(self) }
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn sum_of_products_adx<P: Prime<Limbs = Self>, const K: usize>(
                pairs: &[[[&Self; 2]; 2]; K],
            ) -> Self {
                // SAFETY: the caller's promise.
                unsafe { $sum_adx::<P, K>(pairs) }
            }
        }
    };
}

impl_limbs!(4, 5, 6, 5, mul_mont_4, square_4, sum_of_products_4);
impl_limbs!(6, 8, 8, 7, mul_mont_6, square_6, sum_of_products_6);
