//! Products in the quadratic extension: Karatsuba's method with products of 2 N words that are not reduced, and two reductions (Aranha
//! and others, "Faster explicit formulas for computing pairings over ordinary curves", EUROCRYPT 2011, section 3).
//!
//! Two sums of two products, with one reduction each, have a fifth more multiplications, and these are what AArch64 CPUs start fewest of.
//!
//! Bounds: p leaves two bits free, so `a_0 + a_1 < 2p` needs no reduction, and `a_0 b_1 + a_1 b_0 < 2 p^2 < 2^(64 N) p`.
//! `a_0 b_0 - a_1 b_1` gets `2^(64 N) p` if it is negative.
//!
//! The reduction takes `T < 2^(64 N) p` and subtracts `m_i p 2^(64 i)` with `m_i = T_i / p mod 2^64`. That leaves T_i = 0 and borrows
//! nothing from it. `floor(T / 2^(64 N))` and what is subtracted from it are both in 0..p, so p is added at most once. The
//! borrow of a row is added to the top word of the next row's m p, which is below p's top limb and has room for it and for the
//! borrow of the low halves; it is computed between the two rows, which changes no flags.

use super::chains::Modulus;
use std::arch::asm;

/// The first m of a reduction of 2 N words, in the place of the word that it cancels, and the top word of m p. Arguments: the word;
/// the last limb of p.
macro_rules! wide_m {
    ($t:literal $last:literal) => {
        concat!("mul ", $t, ", ", $t, ", {inv}\n", "umulh {hi}, ", $t, ", ", $last, "\n",)
    };
}

/// `t -= m p`. Leaves a borrow. Arguments: m and p_0; `t_j p_j` for j > 0; the top word.
macro_rules! wide_row {
    ($m:literal $p0:literal; $($t:literal $p:literal),*; $top:literal) => {
        concat!(
            lows!("subs" "sbcs"; $m; $($t $p),*),
            "cinc {hi}, {hi}, cc\n",
            highs!("subs" "sbcs"; $m; $m $p0, $($t $p),*),
            "sbcs ", $top, ", ", $top, ", {hi}\n",
        )
    };
}

/// The next m, as `wide_m`, and its row.
macro_rules! next_wide_row {
    ($m:literal $p0:literal; $($t:literal $p:literal),*; $last:literal $top:literal) => {
        concat!(
            wide_m!($m $last),
            "cinc {hi}, {hi}, cc\n",
            wide_row!($m $p0; $($t $p),*; $top),
        )
    };
}

/// `a b`. The registers of b_0 to b_2 take t_5 to t_7, each after its row.
#[inline(always)]
fn multiply_4(a: &[u64; 4], b: &[u64; 4]) -> [u64; 8] {
    let [t0, t1, t2, t3, t4, t5, t6, t7]: [u64; 8];
    // SAFETY: computes with registers.
    unsafe {
        asm!(
            first_row_4!("{t5}"),
            row_4!("{t6}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}"),
            row_4!("{t7}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
            row_4!("{b}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = inout(reg) b[0] => t5,
            t6 = inout(reg) b[1] => t6,
            t7 = inout(reg) b[2] => t7,
            b = in(reg) b[3],
            lo = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// `a - b`, which must not be negative.
#[inline(always)]
fn subtract_4(a: [u64; 8], b: &[u64; 8]) -> [u64; 8] {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5, mut t6, mut t7] = a;
    // SAFETY: b is read within its limbs.
    unsafe {
        asm!(
            "ldp {x}, {y}, [{b}]",
            "subs {t0}, {t0}, {x}",
            "sbcs {t1}, {t1}, {y}",
            "ldp {x}, {y}, [{b}, 16]",
            "sbcs {t2}, {t2}, {x}",
            "sbcs {t3}, {t3}, {y}",
            "ldp {x}, {y}, [{b}, 32]",
            "sbcs {t4}, {t4}, {x}",
            "sbcs {t5}, {t5}, {y}",
            "ldp {x}, {y}, [{b}, 48]",
            "sbcs {t6}, {t6}, {x}",
            "sbcs {t7}, {t7}, {y}",
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            t6 = inout(reg) t6,
            t7 = inout(reg) t7,
            b = in(reg) b,
            x = out(reg) _,
            y = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// `a - b`, plus `2^256 p` if that is negative.
#[inline(always)]
fn difference_4(a: [u64; 8], b: &[u64; 8], p: &[u64; 4]) -> [u64; 8] {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5, mut t6, mut t7] = a;
    // SAFETY: b and p are read within their limbs.
    unsafe {
        asm!(
            "ldp {x}, {y}, [{b}]",
            "subs {t0}, {t0}, {x}",
            "sbcs {t1}, {t1}, {y}",
            "ldp {x}, {y}, [{b}, 16]",
            "sbcs {t2}, {t2}, {x}",
            "sbcs {t3}, {t3}, {y}",
            "ldp {x}, {y}, [{b}, 32]",
            "sbcs {t4}, {t4}, {x}",
            "sbcs {t5}, {t5}, {y}",
            "ldp {x}, {y}, [{b}, 48]",
            "sbcs {t6}, {t6}, {x}",
            "sbcs {t7}, {t7}, {y}",
            load_4!(),
            add_modulus!("{t4}" "{p0}", "{t5}" "{p1}", "{t6}" "{p2}", "{t7}" "{p3}"),
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            t6 = inout(reg) t6,
            t7 = inout(reg) t7,
            b = in(reg) b,
            x = out(reg) _,
            y = out(reg) _,
            inv = in(reg) p,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// `t / 2^256 mod p` for `t < 2^256 p`, with the inverse of p instead of its opposite.
#[inline(always)]
fn reduce_4(t: &[u64; 8], modulus: &Modulus<[u64; 4]>) -> [u64; 4] {
    let [mut t4, mut t5, mut t6, mut t7] = [t[4], t[5], t[6], t[7]];
    // SAFETY: the modulus is read within its limbs.
    unsafe {
        asm!(
            load_4!(),
            "ldr {inv}, [{inv}, 32]",
            wide_m!("{t0}" "{p3}"),
            wide_row!("{t0}" "{p0}"; "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}"; "{t4}"),
            next_wide_row!("{t1}" "{p0}"; "{t2}" "{p1}", "{t3}" "{p2}", "{t4}" "{p3}"; "{p3}" "{t5}"),
            next_wide_row!("{t2}" "{p0}"; "{t3}" "{p1}", "{t4}" "{p2}", "{t5}" "{p3}"; "{p3}" "{t6}"),
            next_wide_row!("{t3}" "{p0}"; "{t4}" "{p1}", "{t5}" "{p2}", "{t6}" "{p3}"; "{p3}" "{t7}"),
            add_modulus!("{t4}" "{p0}", "{t5}" "{p1}", "{t6}" "{p2}", "{t7}" "{p3}"),
            t0 = inout(reg) t[0] => _,
            t1 = inout(reg) t[1] => _,
            t2 = inout(reg) t[2] => _,
            t3 = inout(reg) t[3] => _,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            t6 = inout(reg) t6,
            t7 = inout(reg) t7,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            lo = out(reg) _,
            hi = out(reg) _,
            inv = inout(reg) modulus => _,
            options(pure, readonly, nostack),
        );
    }
    [t4, t5, t6, t7]
}

/// `a b`. The registers of b_0 to b_4 take t_7 to t_11, each after its row.
#[inline(always)]
fn multiply_6(a: &[u64; 6], b: &[u64; 6]) -> [u64; 12] {
    let [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11]: [u64; 12];
    // SAFETY: computes with registers.
    unsafe {
        asm!(
            first_row_6!("{t7}"),
            row_6!("{t8}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
            row_6!("{t9}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}"),
            row_6!("{t10}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}"),
            row_6!("{t11}"; "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}"),
            row_6!("{b}"; "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}" "{t11}"),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            a4 = in(reg) a[4],
            a5 = in(reg) a[5],
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) t5,
            t6 = out(reg) t6,
            t7 = inout(reg) b[0] => t7,
            t8 = inout(reg) b[1] => t8,
            t9 = inout(reg) b[2] => t9,
            t10 = inout(reg) b[3] => t10,
            t11 = inout(reg) b[4] => t11,
            b = in(reg) b[5],
            lo = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11]
}

/// `a - b`, which must not be negative.
#[inline(always)]
fn subtract_6(a: [u64; 12], b: &[u64; 12]) -> [u64; 12] {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5, mut t6, mut t7, mut t8, mut t9, mut t10, mut t11] =
        a;
    // SAFETY: b is read within its limbs.
    unsafe {
        asm!(
            "ldp {x}, {y}, [{b}]",
            "subs {t0}, {t0}, {x}",
            "sbcs {t1}, {t1}, {y}",
            "ldp {x}, {y}, [{b}, 16]",
            "sbcs {t2}, {t2}, {x}",
            "sbcs {t3}, {t3}, {y}",
            "ldp {x}, {y}, [{b}, 32]",
            "sbcs {t4}, {t4}, {x}",
            "sbcs {t5}, {t5}, {y}",
            "ldp {x}, {y}, [{b}, 48]",
            "sbcs {t6}, {t6}, {x}",
            "sbcs {t7}, {t7}, {y}",
            "ldp {x}, {y}, [{b}, 64]",
            "sbcs {t8}, {t8}, {x}",
            "sbcs {t9}, {t9}, {y}",
            "ldp {x}, {y}, [{b}, 80]",
            "sbcs {t10}, {t10}, {x}",
            "sbcs {t11}, {t11}, {y}",
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            t6 = inout(reg) t6,
            t7 = inout(reg) t7,
            t8 = inout(reg) t8,
            t9 = inout(reg) t9,
            t10 = inout(reg) t10,
            t11 = inout(reg) t11,
            b = in(reg) b,
            x = out(reg) _,
            y = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11]
}

/// `a - b`, plus `2^384 p` if that is negative.
#[inline(always)]
fn difference_6(a: [u64; 12], b: &[u64; 12], p: &[u64; 6]) -> [u64; 12] {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5, mut t6, mut t7, mut t8, mut t9, mut t10, mut t11] =
        a;
    // SAFETY: b and p are read within their limbs.
    unsafe {
        asm!(
            "ldp {x}, {y}, [{b}]",
            "subs {t0}, {t0}, {x}",
            "sbcs {t1}, {t1}, {y}",
            "ldp {x}, {y}, [{b}, 16]",
            "sbcs {t2}, {t2}, {x}",
            "sbcs {t3}, {t3}, {y}",
            "ldp {x}, {y}, [{b}, 32]",
            "sbcs {t4}, {t4}, {x}",
            "sbcs {t5}, {t5}, {y}",
            "ldp {x}, {y}, [{b}, 48]",
            "sbcs {t6}, {t6}, {x}",
            "sbcs {t7}, {t7}, {y}",
            "ldp {x}, {y}, [{b}, 64]",
            "sbcs {t8}, {t8}, {x}",
            "sbcs {t9}, {t9}, {y}",
            "ldp {x}, {y}, [{b}, 80]",
            "sbcs {t10}, {t10}, {x}",
            "sbcs {t11}, {t11}, {y}",
            load_6!(),
            add_modulus!("{t6}" "{p0}", "{t7}" "{p1}", "{t8}" "{p2}", "{t9}" "{p3}", "{t10}" "{p4}", "{t11}" "{p5}"),
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            t6 = inout(reg) t6,
            t7 = inout(reg) t7,
            t8 = inout(reg) t8,
            t9 = inout(reg) t9,
            t10 = inout(reg) t10,
            t11 = inout(reg) t11,
            b = in(reg) b,
            x = out(reg) _,
            y = out(reg) _,
            inv = in(reg) p,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            p4 = out(reg) _,
            p5 = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11]
}

/// `t / 2^384 mod p` for `t < 2^384 p`, with the inverse of p instead of its opposite.
#[inline(always)]
fn reduce_6(t: &[u64; 12], modulus: &Modulus<[u64; 6]>) -> [u64; 6] {
    let [mut t6, mut t7, mut t8, mut t9, mut t10, mut t11] = [t[6], t[7], t[8], t[9], t[10], t[11]];
    // SAFETY: the modulus is read within its limbs.
    unsafe {
        asm!(
            load_6!(),
            "ldr {inv}, [{inv}, 48]",
            wide_m!("{t0}" "{p5}"),
            wide_row!("{t0}" "{p0}"; "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}", "{t4}" "{p4}", "{t5}" "{p5}"; "{t6}"),
            next_wide_row!("{t1}" "{p0}"; "{t2}" "{p1}", "{t3}" "{p2}", "{t4}" "{p3}", "{t5}" "{p4}", "{t6}" "{p5}"; "{p5}" "{t7}"),
            next_wide_row!("{t2}" "{p0}"; "{t3}" "{p1}", "{t4}" "{p2}", "{t5}" "{p3}", "{t6}" "{p4}", "{t7}" "{p5}"; "{p5}" "{t8}"),
            next_wide_row!("{t3}" "{p0}"; "{t4}" "{p1}", "{t5}" "{p2}", "{t6}" "{p3}", "{t7}" "{p4}", "{t8}" "{p5}"; "{p5}" "{t9}"),
            next_wide_row!("{t4}" "{p0}"; "{t5}" "{p1}", "{t6}" "{p2}", "{t7}" "{p3}", "{t8}" "{p4}", "{t9}" "{p5}"; "{p5}" "{t10}"),
            next_wide_row!("{t5}" "{p0}"; "{t6}" "{p1}", "{t7}" "{p2}", "{t8}" "{p3}", "{t9}" "{p4}", "{t10}" "{p5}"; "{p5}" "{t11}"),
            add_modulus!("{t6}" "{p0}", "{t7}" "{p1}", "{t8}" "{p2}", "{t9}" "{p3}", "{t10}" "{p4}", "{t11}" "{p5}"),
            t0 = inout(reg) t[0] => _,
            t1 = inout(reg) t[1] => _,
            t2 = inout(reg) t[2] => _,
            t3 = inout(reg) t[3] => _,
            t4 = inout(reg) t[4] => _,
            t5 = inout(reg) t[5] => _,
            t6 = inout(reg) t6,
            t7 = inout(reg) t7,
            t8 = inout(reg) t8,
            t9 = inout(reg) t9,
            t10 = inout(reg) t10,
            t11 = inout(reg) t11,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            p4 = out(reg) _,
            p5 = out(reg) _,
            lo = out(reg) _,
            hi = out(reg) _,
            inv = inout(reg) modulus => _,
            options(pure, readonly, nostack),
        );
    }
    [t6, t7, t8, t9, t10, t11]
}

/// `a + b < 2^(64 N)`.
#[inline(always)]
fn add<const N: usize>(mut a: [u64; N], b: &[u64; N]) -> [u64; N] {
    let mut carry = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, carry) = a.carrying_add(*b, carry);
    }
    debug_assert!(!carry);
    a
}

macro_rules! mul_quadratic {
    ($name:ident, $n:literal, $multiply:ident, $subtract:ident, $difference:ident, $reduce:ident) => {
        /// `(a_0 + a_1 i)(b_0 + b_1 i) / 2^(64 N) mod p`, with the inverse of p instead of its opposite.
        #[inline(always)]
        pub(super) fn $name(
            a: &[[u64; $n]; 2],
            b: &[[u64; $n]; 2],
            modulus: &Modulus<[u64; $n]>,
        ) -> [[u64; $n]; 2] {
            let first = $multiply(&a[0], &b[0]);
            let second = $multiply(&a[1], &b[1]);
            let both = $multiply(&add(a[0], &a[1]), &add(b[0], &b[1]));
            let c1 = $subtract($subtract(both, &first), &second);
            let c0 = $difference(first, &second, &modulus.p);
            [$reduce(&c0, modulus), $reduce(&c1, modulus)]
        }
    };
}

mul_quadratic!(mul_quadratic_4, 4, multiply_4, subtract_4, difference_4, reduce_4);
mul_quadratic!(mul_quadratic_6, 6, multiply_6, subtract_6, difference_6, reduce_6);
