//! Arithmetic modulo p with MUL, UMULH and chains of carries.
//!
//! Formula of a product: `a b / 2^(64 N) mod p` row by row (CIOS of Koç, Acar, Kaliski, "Analyzing and comparing Montgomery
//! multiplication algorithms", 1996). For each limb of b: `t += a b_i`, `m = -t_0 / p mod 2^64`, `t = (t + m p) / 2^64`; at the end one
//! conditional subtraction. A square has rows a_i (a_i + 2 a_(i+1) 2^64 + 2 a_(i+2) 2^128 + ...), whose doubled words are shifts: 10 of
//! 16 and 21 of 36 pairs of multiplications are left.
//!
//! Chains: AArch64 has one carry flag, so a row is two chains, low halves and high halves. Their carries go to the row's top word,
//! which is a high half and therefore has room for one. Low words of m p_0 are not computed: t_0 + m p_0 has the carry 1 unless m = 0.
//! High halves of m p come before the low halves: the next t_0 waits for its high half, which is ready last.
//!
//! Bounds of a product: operands and result are canonical, `t < 2p` after every row, and the modulus's top limb is below 2^63 - 1, so
//! no row has a carry beyond its top word. For squares `t < 3p`, since their rows are doubled, which may have such a carry. It is added
//! to the top word of the next row, as the flag that `reduce` leaves: the next high half is computed in between, which changes no flags.
//!
//! p is loaded by each kernel: as a constant operand, each word would take four instructions.
//!
//! Tried: products of 2 N words with the reduction behind them, which save an instruction of 142. But CPUs execute multiplications
//! that are ready in the order of the program, so the reduction, a chain, begins late: by llvm-mca a product in a chain takes 61 cycles
//! instead of 50 on a Neoverse V1.

use super::{
    chains::{Constants, Modulus},
    wide::{mul_quadratic_4, mul_quadratic_6},
};
use std::arch::asm;

/// The arithmetic of a [`Backend`](crate::montgomery::Backend), for each number of limbs.
pub trait Chains: Sized {
    /// `(a + b) mod p`.
    fn add<C: Constants<Self>>(a: &Self, b: &Self) -> Self;
    /// `(a - b) mod p`.
    fn sub<C: Constants<Self>>(a: &Self, b: &Self) -> Self;
    /// `a b / 2^(64 N) mod p`.
    fn mul<C: Constants<Self>>(a: &Self, b: &Self) -> Self;
    /// `a^2 / 2^(64 N) mod p`.
    fn square<C: Constants<Self>>(a: &Self) -> Self;
    /// `(a_0 + a_1 i)(b_0 + b_1 i) / 2^(64 N) mod p` with `i^2 = -1`.
    fn mul_quadratic<C: Constants<Self>>(a: &[Self; 2], b: &[Self; 2]) -> [Self; 2];
}

/// `(a + b) mod p`.
#[inline(always)]
fn add_4(a: &[u64; 4], b: &[u64; 4], p: &[u64; 4]) -> [u64; 4] {
    let [mut t0, mut t1, mut t2, mut t3] = *a;
    // SAFETY: p is read within its limbs.
    unsafe {
        asm!(
            chain!("adds" "adcs"; "{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}"),
            load_4!(),
            subtract_modulus!("{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}"),
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            p0 = inout(reg) b[0] => _,
            p1 = inout(reg) b[1] => _,
            p2 = inout(reg) b[2] => _,
            p3 = inout(reg) b[3] => _,
            inv = in(reg) p,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3]
}

/// `(a - b) mod p`.
#[inline(always)]
fn sub_4(a: &[u64; 4], b: &[u64; 4], p: &[u64; 4]) -> [u64; 4] {
    let [mut t0, mut t1, mut t2, mut t3] = *a;
    // SAFETY: p is read within its limbs.
    unsafe {
        asm!(
            chain!("subs" "sbcs"; "{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}"),
            load_4!(),
            add_modulus!("{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}"),
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            p0 = inout(reg) b[0] => _,
            p1 = inout(reg) b[1] => _,
            p2 = inout(reg) b[2] => _,
            p3 = inout(reg) b[3] => _,
            inv = in(reg) p,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3]
}

/// `a b / 2^256 mod p`. m takes the place of a limb of b after its row.
#[inline(always)]
fn mul_4(a: &[u64; 4], b: &[u64; 4], modulus: &Modulus<[u64; 4]>) -> [u64; 4] {
    let [t4, t0, t1, t2]: [u64; 4];
    // SAFETY: the modulus is read within its limbs.
    unsafe {
        asm!(
            load_4!(),
            "ldr {inv}, [{inv}, 32]",
            first_row_4!("{b0}"),
            reduce_4!("{b0}"; "{t0}" "{t1}" "{t2}" "{t3}" "{t4}"),
            row_4!("{b1}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t0}"),
            reduce_4!("{b1}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t0}"),
            row_4!("{b2}"; "{t2}" "{t3}" "{t4}" "{t0}" "{t1}"),
            reduce_4!("{b2}"; "{t2}" "{t3}" "{t4}" "{t0}" "{t1}"),
            row_4!("{b3}"; "{t3}" "{t4}" "{t0}" "{t1}" "{t2}"),
            reduce_4!("{b3}"; "{t3}" "{t4}" "{t0}" "{t1}" "{t2}"),
            subtract_modulus!("{t4}" "{p0}", "{t0}" "{p1}", "{t1}" "{p2}", "{t2}" "{p3}"),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            b0 = inout(reg) b[0] => _,
            b1 = inout(reg) b[1] => _,
            b2 = inout(reg) b[2] => _,
            b3 = inout(reg) b[3] => _,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) _,
            t4 = out(reg) t4,
            lo = out(reg) _,
            inv = inout(reg) modulus => _,
            options(pure, readonly, nostack),
        );
    }
    [t4, t0, t1, t2]
}

/// `a^2 / 2^256 mod p`. d_j is word j of 2 a, and d_1 is that of 2 a_j without what comes from the limb below.
#[inline(always)]
fn square_4(a: &[u64; 4], modulus: &Modulus<[u64; 4]>) -> [u64; 4] {
    let [t4, t0, t1, t2]: [u64; 4];
    // SAFETY: the modulus is read within its limbs.
    unsafe {
        asm!(
            load_4!(),
            "ldr {inv}, [{inv}, 32]",
            "extr {d2}, {a2}, {a1}, 63",
            "extr {d3}, {a3}, {a2}, 63",
            "lsl {d1}, {a1}, 1",
            first_row!("{a0}"; "{t0}" "{a0}", "{t1}" "{d1}", "{t2}" "{d2}", "{t3}" "{d3}"; "{d3}" "{t4}"),
            reduce_4!("{d1}"; "{t0}" "{t1}" "{t2}" "{t3}" "{t4}"),
            "lsl {d1}, {a2}, 1",
            square_row!("{a1}"; "{t2}" "{a1}", "{t3}" "{d1}", "{t4}" "{d3}"; "{d3}" "{t0}"),
            reduce_4!("{d1}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t0}"),
            "lsl {d1}, {a3}, 1",
            square_row!("{a2}"; "{t4}" "{a2}", "{t0}" "{d1}"; "{d1}" "{t1}"),
            reduce_4!("{d1}"; "{t2}" "{t3}" "{t4}" "{t0}" "{t1}"),
            square_end!("{a3}" "{t1}" "{t2}"),
            reduce_4!("{d1}"; "{t3}" "{t4}" "{t0}" "{t1}" "{t2}"),
            subtract_modulus!("{t4}" "{p0}", "{t0}" "{p1}", "{t1}" "{p2}", "{t2}" "{p3}"),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            d1 = out(reg) _,
            d2 = out(reg) _,
            d3 = out(reg) _,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) _,
            t4 = out(reg) t4,
            lo = out(reg) _,
            inv = inout(reg) modulus => _,
            options(pure, readonly, nostack),
        );
    }
    [t4, t0, t1, t2]
}

/// `(a + b) mod p`.
#[inline(always)]
fn add_6(a: &[u64; 6], b: &[u64; 6], p: &[u64; 6]) -> [u64; 6] {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5] = *a;
    // SAFETY: p is read within its limbs.
    unsafe {
        asm!(
            chain!("adds" "adcs"; "{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}", "{t4}" "{p4}", "{t5}" "{p5}"),
            load_6!(),
            subtract_modulus!("{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}", "{t4}" "{p4}", "{t5}" "{p5}"),
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            p0 = inout(reg) b[0] => _,
            p1 = inout(reg) b[1] => _,
            p2 = inout(reg) b[2] => _,
            p3 = inout(reg) b[3] => _,
            p4 = inout(reg) b[4] => _,
            p5 = inout(reg) b[5] => _,
            inv = in(reg) p,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5]
}

/// `(a - b) mod p`.
#[inline(always)]
fn sub_6(a: &[u64; 6], b: &[u64; 6], p: &[u64; 6]) -> [u64; 6] {
    let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5] = *a;
    // SAFETY: p is read within its limbs.
    unsafe {
        asm!(
            chain!("subs" "sbcs"; "{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}", "{t4}" "{p4}", "{t5}" "{p5}"),
            load_6!(),
            add_modulus!("{t0}" "{p0}", "{t1}" "{p1}", "{t2}" "{p2}", "{t3}" "{p3}", "{t4}" "{p4}", "{t5}" "{p5}"),
            t0 = inout(reg) t0,
            t1 = inout(reg) t1,
            t2 = inout(reg) t2,
            t3 = inout(reg) t3,
            t4 = inout(reg) t4,
            t5 = inout(reg) t5,
            p0 = inout(reg) b[0] => _,
            p1 = inout(reg) b[1] => _,
            p2 = inout(reg) b[2] => _,
            p3 = inout(reg) b[3] => _,
            p4 = inout(reg) b[4] => _,
            p5 = inout(reg) b[5] => _,
            inv = in(reg) p,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5]
}

/// `a b / 2^384 mod p`. b is in memory: with p and t there is no register for it.
#[inline(always)]
fn mul_6(a: &[u64; 6], b: &[u64; 6], modulus: &Modulus<[u64; 6]>) -> [u64; 6] {
    let [t6, t0, t1, t2, t3, t4]: [u64; 6];
    // SAFETY: operands and the modulus are read within their limbs.
    unsafe {
        asm!(
            load_6!(),
            "ldr {inv}, [{inv}, 48]",
            "ldp {b0}, {b1}, [{b}]",
            first_row_6!("{b0}"),
            reduce_6!("{b0}"; "{t0}" "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
            row_6!("{b1}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t0}"),
            reduce_6!("{b1}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t0}"),
            "ldp {b0}, {b1}, [{b}, 16]",
            row_6!("{b0}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t0}" "{t1}"),
            reduce_6!("{b0}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t0}" "{t1}"),
            row_6!("{b1}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t0}" "{t1}" "{t2}"),
            reduce_6!("{b1}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t0}" "{t1}" "{t2}"),
            "ldp {b0}, {b1}, [{b}, 32]",
            row_6!("{b0}"; "{t4}" "{t5}" "{t6}" "{t0}" "{t1}" "{t2}" "{t3}"),
            reduce_6!("{b0}"; "{t4}" "{t5}" "{t6}" "{t0}" "{t1}" "{t2}" "{t3}"),
            row_6!("{b1}"; "{t5}" "{t6}" "{t0}" "{t1}" "{t2}" "{t3}" "{t4}"),
            reduce_6!("{b1}"; "{t5}" "{t6}" "{t0}" "{t1}" "{t2}" "{t3}" "{t4}"),
            subtract_modulus!("{t6}" "{p0}", "{t0}" "{p1}", "{t1}" "{p2}", "{t2}" "{p3}", "{t3}" "{p4}", "{t4}" "{p5}"),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            a4 = in(reg) a[4],
            a5 = in(reg) a[5],
            b = in(reg) b,
            b0 = out(reg) _,
            b1 = out(reg) _,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            p4 = out(reg) _,
            p5 = out(reg) _,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) _,
            t6 = out(reg) t6,
            lo = out(reg) _,
            inv = inout(reg) modulus => _,
            options(pure, readonly, nostack),
        );
    }
    [t6, t0, t1, t2, t3, t4]
}

/// `a^2 / 2^384 mod p`. d_j is word j of 2 a, and d_1 is that of 2 a_j without what comes from the limb below.
#[inline(always)]
fn square_6(a: &[u64; 6], modulus: &Modulus<[u64; 6]>) -> [u64; 6] {
    let [t6, t0, t1, t2, t3, t4]: [u64; 6];
    // SAFETY: the modulus is read within its limbs.
    unsafe {
        asm!(
            load_6!(),
            "ldr {inv}, [{inv}, 48]",
            "extr {d2}, {a2}, {a1}, 63",
            "extr {d3}, {a3}, {a2}, 63",
            "extr {d4}, {a4}, {a3}, 63",
            "extr {d5}, {a5}, {a4}, 63",
            "lsl {d1}, {a1}, 1",
            first_row!("{a0}"; "{t0}" "{a0}", "{t1}" "{d1}", "{t2}" "{d2}", "{t3}" "{d3}", "{t4}" "{d4}", "{t5}" "{d5}"; "{d5}" "{t6}"),
            reduce_6!("{d1}"; "{t0}" "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
            "lsl {d1}, {a2}, 1",
            square_row!("{a1}"; "{t2}" "{a1}", "{t3}" "{d1}", "{t4}" "{d3}", "{t5}" "{d4}", "{t6}" "{d5}"; "{d5}" "{t0}"),
            reduce_6!("{d1}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t0}"),
            "lsl {d1}, {a3}, 1",
            square_row!("{a2}"; "{t4}" "{a2}", "{t5}" "{d1}", "{t6}" "{d4}", "{t0}" "{d5}"; "{d5}" "{t1}"),
            reduce_6!("{d1}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t0}" "{t1}"),
            "lsl {d1}, {a4}, 1",
            square_row!("{a3}"; "{t6}" "{a3}", "{t0}" "{d1}", "{t1}" "{d5}"; "{d5}" "{t2}"),
            reduce_6!("{d1}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t0}" "{t1}" "{t2}"),
            "lsl {d1}, {a5}, 1",
            square_row!("{a4}"; "{t1}" "{a4}", "{t2}" "{d1}"; "{d1}" "{t3}"),
            reduce_6!("{d1}"; "{t4}" "{t5}" "{t6}" "{t0}" "{t1}" "{t2}" "{t3}"),
            square_end!("{a5}" "{t3}" "{t4}"),
            reduce_6!("{d1}"; "{t5}" "{t6}" "{t0}" "{t1}" "{t2}" "{t3}" "{t4}"),
            subtract_modulus!("{t6}" "{p0}", "{t0}" "{p1}", "{t1}" "{p2}", "{t2}" "{p3}", "{t3}" "{p4}", "{t4}" "{p5}"),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            a4 = in(reg) a[4],
            a5 = in(reg) a[5],
            d1 = out(reg) _,
            d2 = out(reg) _,
            d3 = out(reg) _,
            d4 = out(reg) _,
            d5 = out(reg) _,
            p0 = out(reg) _,
            p1 = out(reg) _,
            p2 = out(reg) _,
            p3 = out(reg) _,
            p4 = out(reg) _,
            p5 = out(reg) _,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) _,
            t6 = out(reg) t6,
            lo = out(reg) _,
            inv = inout(reg) modulus => _,
            options(pure, readonly, nostack),
        );
    }
    [t6, t0, t1, t2, t3, t4]
}

/// The trait from the kernels for N limbs.
macro_rules! impl_chains {
    ($n:literal, $add:ident, $sub:ident, $mul:ident, $square:ident, $quadratic:ident) => {
        impl Chains for [u64; $n] {
            #[inline(always)]
            fn add<C: Constants<Self>>(a: &Self, b: &Self) -> Self {
                $add(a, b, &C::P)
            }

            #[inline(always)]
            fn sub<C: Constants<Self>>(a: &Self, b: &Self) -> Self {
                $sub(a, b, &C::P)
            }

            #[inline(always)]
            fn mul<C: Constants<Self>>(a: &Self, b: &Self) -> Self {
                $mul(a, b, const { &Modulus { p: C::P, inv: C::NEGATED_INVERSE } })
            }

            #[inline(always)]
            fn square<C: Constants<Self>>(a: &Self) -> Self {
                $square(a, const { &Modulus { p: C::P, inv: C::NEGATED_INVERSE } })
            }

            #[inline(always)]
            fn mul_quadratic<C: Constants<Self>>(a: &[Self; 2], b: &[Self; 2]) -> [Self; 2] {
                $quadratic(a, b, const { &Modulus { p: C::P, inv: C::NEGATED_INVERSE.wrapping_neg() } })
            }
        }
    };
}

impl_chains!(4, add_4, sub_4, mul_4, square_4, mul_quadratic_4);
impl_chains!(6, add_6, sub_6, mul_6, square_6, mul_quadratic_6);
