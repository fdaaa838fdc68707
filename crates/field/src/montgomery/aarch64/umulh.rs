//! Arithmetic modulo p with MUL, UMULH and chains of carries.
//!
//! Formula: the whole product T of 2 N words first, then N steps of Montgomery reduction (separated operand scanning of Koç, Acar,
//! Kaliski, "Analyzing and comparing Montgomery multiplication algorithms", 1996) that subtract: `m_i = T_i / p mod 2^64`,
//! `T -= m_i p 2^(64 i)`. So the lowest word of `m_i p` is equal to T_i: it is not computed, and nothing is borrowed from it.
//! With `M = m_0 + m_1 2^64 + ...` the result is `floor(T / 2^(64 N)) - floor(M p / 2^(64 N))`, and if that is negative, p is added once.
//!
//! Bounds: for `T < 2^(64 N) p` both terms are in 0..p, so the result is canonical. T is `a b < p^2`, or a sum of two products of
//! operands up to p, with `2 p^2 < 2^(64 N) p`. `a_0..a_i b < 2^(64 (N + i))`, so a row of a product has no carry beyond its top word.
//! The top word of `m_i p` is below that of p, at most 2^63 - 2: the two borrows that are added to it fit. So do the two carries of
//! a row of the second product of a sum, whose top word is below 2^62.
//!
//! AArch64 has one carry flag, so a row is two chains: low halves, then high halves. A chain that ends in a word that no later chain
//! has to pass keeps its carry there (`adc`). Where it does not end there, the carry is added to the top word of the next row, which
//! the two multiplications before it produce without changing flags. Neither takes a register for the carry.
//!
//! A square has rows a_i (a_i + 2 a_(i+1) 2^64 + ...), whose doubled words are shifts: 10 of 16 and 21 of 36 pairs of
//! multiplications are left.
//!
//! p is loaded by each kernel, three to four instructions: as a constant operand a word would take four.
//!
//! LLVM compiles the portable forms to 1.5 (products) and 3 times (sums) as many instructions: it moves carries between the
//! flag and registers.

use crate::montgomery::{Backend, Limbs, Prime};
use proofmill_cpu::Neon;
use std::arch::asm;

/// MUL and UMULH are part of every AArch64 CPU, like NEON.
impl Backend for Neon {
    #[inline(always)]
    fn add_mod<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::add::<P>(a, b)
    }

    #[inline(always)]
    fn sub_mod<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::sub::<P>(a, b)
    }

    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::mul::<P>(a, b)
    }

    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        P::Limbs::square::<P>(a)
    }

    #[inline(always)]
    fn sum_of_products<P: Prime>(self, a: &[P::Limbs; 2], b: [&P::Limbs; 2]) -> P::Limbs {
        P::Limbs::sum_of_products::<P>(a, b)
    }
}

/// The methods of [`Backend`], for each number of limbs.
pub trait Chains: Sized {
    /// `(a + b) mod p`.
    fn add<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self;
    /// `(a - b) mod p`.
    fn sub<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self;
    /// `a b / 2^(64 N) mod p`.
    fn mul<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self;
    /// `a^2 / 2^(64 N) mod p`.
    fn square<P: Prime<Limbs = Self>>(a: &Self) -> Self;
    /// `(a_0 b_0 + a_1 b_1) / 2^(64 N) mod p`.
    fn sum_of_products<P: Prime<Limbs = Self>>(a: &[Self; 2], b: [&Self; 2]) -> Self;
}

/// `t += low halves of a b`, or `t -= ...`. Arguments: the first instruction of the chain and the others; b; `t_j a_j` for each j.
macro_rules! lows {
    ($first:literal $next:literal; $b:literal; $t0:literal $a0:literal $(, $t:literal $a:literal)*) => {
        concat!(
            "mul {lo}, ", $a0, ", ", $b, "\n",
            $first, " ", $t0, ", ", $t0, ", {lo}\n",
            $(
                "mul {lo}, ", $a, ", ", $b, "\n",
                $next, " ", $t, ", ", $t, ", {lo}\n",
            )*
        )
    };
}

/// The same with high halves, for the same arguments: `t_(j+1)` takes that of `a_j b`; the last is left out.
macro_rules! highs {
    ($first:literal $next:literal; $b:literal; $t0:literal $a0:literal) => {
        ""
    };
    (
        $first:literal $next:literal; $b:literal;
        $t0:literal $a0:literal, $t1:literal $a1:literal $(, $t:literal $a:literal)*
    ) => {
        concat!(
            "umulh {lo}, ", $a0, ", ", $b, "\n",
            $first, " ", $t1, ", ", $t1, ", {lo}\n",
            highs!($next $next; $b; $t1 $a1 $(, $t $a)*),
        )
    };
}

/// `t = a b`. Arguments: b; `t_j a_j` for each j; the last a and the top word.
macro_rules! first_row {
    ($b:literal; $($t:literal $a:literal),*; $last:literal $top:literal) => {
        concat!(
            $("mul ", $t, ", ", $a, ", ", $b, "\n",)*
            highs!("adds" "adcs"; $b; $($t $a),*),
            "umulh ", $top, ", ", $last, ", ", $b, "\n",
            "adc ", $top, ", ", $top, ", xzr\n",
        )
    };
}

/// `t += a b` for one limb of a.
macro_rules! corner {
    ($b:literal; $($t:literal $a:literal),*; $last:literal $top:literal) => {
        concat!(
            lows!("adds" "adcs"; $b; $($t $a),*),
            "umulh ", $top, ", ", $last, ", ", $b, "\n",
            "adc ", $top, ", ", $top, ", xzr\n",
        )
    };
}

/// `t += a b`, with a new top word. Arguments as for `first_row`.
macro_rules! row {
    ($b:literal; $($t:literal $a:literal),*; $last:literal $top:literal) => {
        concat!(
            corner!($b; $($t $a),*; $last $top),
            highs!("adds" "adcs"; $b; $($t $a),*),
            "adc ", $top, ", ", $top, ", xzr\n",
        )
    };
}

/// `t += a b`, where {inv} already has the high half of the last a and b, with the carry of the row before. Leaves a carry.
macro_rules! second_row {
    ($b:literal; $($t:literal $a:literal),*; $top:literal) => {
        concat!(
            lows!("adds" "adcs"; $b; $($t $a),*),
            "adc {inv}, {inv}, xzr\n",
            highs!("adds" "adcs"; $b; $($t $a),*),
            "adcs ", $top, ", ", $top, ", {inv}\n",
        )
    };
}

/// `t -= m p`, where {p} already has the high half of m and the last limb of p, with the borrow of the row before. Leaves a borrow.
/// Arguments: m, p_0; `t_j p_j` for j > 0; the top word.
macro_rules! reduce {
    ($m:literal $p0:literal; $($t:literal $p:literal),*; $top:literal) => {
        concat!(
            lows!("subs" "sbcs"; $m; $($t $p),*),
            "cinc {p}, {p}, cc\n",
            highs!("subs" "sbcs"; $m; $m $p0, $($t $p),*),
            "sbcs ", $top, ", ", $top, ", {p}\n",
        )
    };
}

/// The next m, in the place of the word that it cancels. Arguments: the word; the last limb of p.
macro_rules! next_m {
    ($t:literal $last:literal) => {
        concat!(
            "mul ", $t, ", ", $t, ", {inv}\n",
            "umulh {p}, ", $t, ", ", $last, "\n",
            "cinc {p}, {p}, cc\n",
        )
    };
}

/// `t += p` if the chain before left a borrow. Arguments: `t_j p_j`; p is overwritten.
macro_rules! add_modulus {
    ($t0:literal $p0:literal $(, $t:literal $p:literal)*) => {
        concat!(
            "csel ", $p0, ", xzr, ", $p0, ", cs\n",
            $("csel ", $p, ", xzr, ", $p, ", cs\n",)*
            "adds ", $t0, ", ", $t0, ", ", $p0, "\n",
            $("adcs ", $t, ", ", $t, ", ", $p, "\n",)*
        )
    };
}

/// `s = t - p`, and t unless that is negative. Arguments: `t_j s_j`, where s is p before.
macro_rules! subtract_modulus {
    ($t0:literal $s0:literal $(, $t:literal $s:literal)*) => {
        concat!(
            "subs ", $s0, ", ", $t0, ", ", $s0, "\n",
            $("sbcs ", $s, ", ", $t, ", ", $s, "\n",)*
            "csel ", $t0, ", ", $t0, ", ", $s0, ", cc\n",
            $("csel ", $t, ", ", $t, ", ", $s, ", cc\n",)*
        )
    };
}

/// `x op= y`. Arguments: the first instruction of the chain and the others; `x_j y_j`.
macro_rules! chain {
    ($first:literal $next:literal; $x0:literal $y0:literal $(, $x:literal $y:literal)*) => {
        concat!(
            $first, " ", $x0, ", ", $x0, ", ", $y0, "\n",
            $($next, " ", $x, ", ", $x, ", ", $y, "\n",)*
        )
    };
}

macro_rules! first_row_4 {
    ($b:literal) => {
        first_row!($b; "{t0}" "{a0}", "{t1}" "{a1}", "{t2}" "{a2}", "{t3}" "{a3}"; "{a3}" "{t4}")
    };
}

macro_rules! row_4 {
    ($b:literal; $t0:literal $t1:literal $t2:literal $t3:literal $top:literal) => {
        row!($b; $t0 "{a0}", $t1 "{a1}", $t2 "{a2}", $t3 "{a3}"; "{a3}" $top)
    };
}

macro_rules! second_row_4 {
    ($b:literal; $t0:literal $t1:literal $t2:literal $t3:literal $top:literal) => {
        second_row!($b; $t0 "{a0}", $t1 "{a1}", $t2 "{a2}", $t3 "{a3}"; $top)
    };
}

/// `t4..t7 = t / 2^256 mod p`; p takes the place of a.
macro_rules! reduce_4 {
    () => {
        concat!(
            "ldr {inv}, [{p}, 32]\n",
            "ldp {a0}, {a1}, [{p}]\n",
            "ldp {a2}, {a3}, [{p}, 16]\n",
            "mul {t0}, {t0}, {inv}\n",
            "umulh {p}, {t0}, {a3}\n",
            reduce!("{t0}" "{a0}"; "{t1}" "{a1}", "{t2}" "{a2}", "{t3}" "{a3}"; "{t4}"),
            next_m!("{t1}" "{a3}"),
            reduce!("{t1}" "{a0}"; "{t2}" "{a1}", "{t3}" "{a2}", "{t4}" "{a3}"; "{t5}"),
            next_m!("{t2}" "{a3}"),
            reduce!("{t2}" "{a0}"; "{t3}" "{a1}", "{t4}" "{a2}", "{t5}" "{a3}"; "{t6}"),
            next_m!("{t3}" "{a3}"),
            reduce!("{t3}" "{a0}"; "{t4}" "{a1}", "{t5}" "{a2}", "{t6}" "{a3}"; "{t7}"),
            add_modulus!("{t4}" "{a0}", "{t5}" "{a1}", "{t6}" "{a2}", "{t7}" "{a3}"),
        )
    };
}

macro_rules! first_row_6 {
    ($b:literal) => {
        first_row!(
            $b; "{t0}" "{a0}", "{t1}" "{a1}", "{t2}" "{a2}", "{t3}" "{a3}", "{t4}" "{a4}", "{t5}" "{a5}"; "{a5}" "{t6}"
        )
    };
}

macro_rules! row_6 {
    (
        $b:literal;
        $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $top:literal
    ) => {
        row!($b; $t0 "{a0}", $t1 "{a1}", $t2 "{a2}", $t3 "{a3}", $t4 "{a4}", $t5 "{a5}"; "{a5}" $top)
    };
}

macro_rules! second_row_6 {
    (
        $b:literal;
        $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $top:literal
    ) => {
        second_row!($b; $t0 "{a0}", $t1 "{a1}", $t2 "{a2}", $t3 "{a3}", $t4 "{a4}", $t5 "{a5}"; $top)
    };
}

macro_rules! reduce_row_6 {
    (
        $m:literal; $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $top:literal
    ) => {
        reduce!($m "{a0}"; $t1 "{a1}", $t2 "{a2}", $t3 "{a3}", $t4 "{a4}", $t5 "{a5}"; $top)
    };
}

/// `t6..t11 = t / 2^384 mod p`; p takes the place of a.
macro_rules! reduce_6 {
    () => {
        concat!(
            "ldr {inv}, [{p}, 48]\n",
            "ldp {a0}, {a1}, [{p}]\n",
            "ldp {a2}, {a3}, [{p}, 16]\n",
            "ldp {a4}, {a5}, [{p}, 32]\n",
            "mul {t0}, {t0}, {inv}\n",
            "umulh {p}, {t0}, {a5}\n",
            reduce_row_6!("{t0}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
            next_m!("{t1}" "{a5}"),
            reduce_row_6!("{t1}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
            next_m!("{t2}" "{a5}"),
            reduce_row_6!("{t2}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}"),
            next_m!("{t3}" "{a5}"),
            reduce_row_6!("{t3}"; "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}"),
            next_m!("{t4}" "{a5}"),
            reduce_row_6!("{t4}"; "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}"),
            next_m!("{t5}" "{a5}"),
            reduce_row_6!("{t5}"; "{t6}" "{t7}" "{t8}" "{t9}" "{t10}" "{t11}"),
            add_modulus!(
                "{t6}" "{a0}", "{t7}" "{a1}", "{t8}" "{a2}", "{t9}" "{a3}", "{t10}" "{a4}", "{t11}" "{a5}"
            ),
        )
    };
}

/// The high half of a's last limb and b, which is the top word of the next `second_row`, and the carry of the row before.
macro_rules! next_top {
    ($last:literal $b:literal) => {
        concat!(
            "umulh {inv}, ", $last, ", ", $b, "\n",
            "adc {inv}, {inv}, xzr\n",
        )
    };
}

/// p and its inverse mod 2^64, where the kernels load them.
macro_rules! modulus {
    ($p:ident, $($limb:literal),*) => {
        const { &[$($p::MODULUS[$limb],)* $p::INV.wrapping_neg()] }.as_ptr()
    };
}

impl Chains for [u64; 4] {
    #[inline(always)]
    fn add<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self {
        let [mut t0, mut t1, mut t2, mut t3] = *a;
        // SAFETY: p is read within its limbs.
        unsafe {
            asm!(
                chain!("adds" "adcs"; "{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}"),
                "ldp {s0}, {s1}, [{p}]",
                "ldp {s2}, {s3}, [{p}, 16]",
                subtract_modulus!("{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}"),
                t0 = inout(reg) t0,
                t1 = inout(reg) t1,
                t2 = inout(reg) t2,
                t3 = inout(reg) t3,
                s0 = inout(reg) b[0] => _,
                s1 = inout(reg) b[1] => _,
                s2 = inout(reg) b[2] => _,
                s3 = inout(reg) b[3] => _,
                p = in(reg) modulus!(P, 0, 1, 2, 3),
                options(pure, readonly, nostack),
            );
        }
        [t0, t1, t2, t3]
    }

    #[inline(always)]
    fn sub<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self {
        let [mut t0, mut t1, mut t2, mut t3] = *a;
        // SAFETY: as above.
        unsafe {
            asm!(
                chain!("subs" "sbcs"; "{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}"),
                "ldp {s0}, {s1}, [{p}]",
                "ldp {s2}, {s3}, [{p}, 16]",
                add_modulus!("{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}"),
                t0 = inout(reg) t0,
                t1 = inout(reg) t1,
                t2 = inout(reg) t2,
                t3 = inout(reg) t3,
                s0 = inout(reg) b[0] => _,
                s1 = inout(reg) b[1] => _,
                s2 = inout(reg) b[2] => _,
                s3 = inout(reg) b[3] => _,
                p = in(reg) modulus!(P, 0, 1, 2, 3),
                options(pure, readonly, nostack),
            );
        }
        [t0, t1, t2, t3]
    }

    /// The limbs of b are in the registers of t_5, t_6, t_7 and the inverse, each until it was the factor of a row.
    #[inline(always)]
    fn mul<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self {
        let [t4, t5, t6, t7]: [u64; 4];
        // SAFETY: as above.
        unsafe {
            asm!(
                first_row_4!("{t5}"),
                row_4!("{t6}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}"),
                row_4!("{t7}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
                row_4!("{inv}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
                reduce_4!(),
                a0 = inout(reg) a[0] => _,
                a1 = inout(reg) a[1] => _,
                a2 = inout(reg) a[2] => _,
                a3 = inout(reg) a[3] => _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                t2 = out(reg) _,
                t3 = out(reg) _,
                t4 = out(reg) t4,
                t5 = inout(reg) b[0] => t5,
                t6 = inout(reg) b[1] => t6,
                t7 = inout(reg) b[2] => t7,
                inv = inout(reg) b[3] => _,
                lo = out(reg) _,
                p = inout(reg) modulus!(P, 0, 1, 2, 3) => _,
                options(pure, readonly, nostack),
            );
        }
        [t4, t5, t6, t7]
    }

    /// Words of 2 a are in the registers of t_5 to t_7 before these are used.
    #[inline(always)]
    fn square<P: Prime<Limbs = Self>>(a: &Self) -> Self {
        let [t4, t5, t6, t7]: [u64; 4];
        // SAFETY: as above.
        unsafe {
            asm!(
                "lsl {t7}, {a1}, 1",
                "extr {t5}, {a2}, {a1}, 63",
                "extr {t6}, {a3}, {a2}, 63",
                first_row!("{a0}"; "{t0}" "{a0}", "{t1}" "{t7}", "{t2}" "{t5}", "{t3}" "{t6}"; "{t6}" "{t4}"),
                "lsl {t7}, {a2}, 1",
                row!("{a1}"; "{t2}" "{a1}", "{t3}" "{t7}", "{t4}" "{t6}"; "{t6}" "{t5}"),
                "lsl {t7}, {a3}, 1",
                row!("{a2}"; "{t4}" "{a2}", "{t5}" "{t7}"; "{t7}" "{t6}"),
                corner!("{a3}"; "{t6}" "{a3}"; "{a3}" "{t7}"),
                reduce_4!(),
                a0 = inout(reg) a[0] => _,
                a1 = inout(reg) a[1] => _,
                a2 = inout(reg) a[2] => _,
                a3 = inout(reg) a[3] => _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                t2 = out(reg) _,
                t3 = out(reg) _,
                t4 = out(reg) t4,
                t5 = out(reg) t5,
                t6 = out(reg) t6,
                t7 = out(reg) t7,
                inv = out(reg) _,
                lo = out(reg) _,
                p = inout(reg) modulus!(P, 0, 1, 2, 3) => _,
                options(pure, readonly, nostack),
            );
        }
        [t4, t5, t6, t7]
    }

    #[inline(always)]
    fn sum_of_products<P: Prime<Limbs = Self>>(a: &[Self; 2], b: [&Self; 2]) -> Self {
        let [t4, t5, t6, t7]: [u64; 4];
        // SAFETY: operands and p are read within their limbs.
        unsafe {
            asm!(
                "ldp {a0}, {a1}, [{a}]",
                "ldp {a2}, {a3}, [{a}, 16]",
                "ldp {x}, {y}, [{b}]",
                first_row_4!("{x}"),
                row_4!("{y}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}"),
                "ldp {x}, {y}, [{b}, 16]",
                row_4!("{x}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
                row_4!("{y}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
                "ldp {a0}, {a1}, [{a}, 32]",
                "ldp {a2}, {a3}, [{a}, 48]",
                "ldp {x}, {y}, [{c}]",
                "umulh {inv}, {a3}, {x}",
                second_row_4!("{x}"; "{t0}" "{t1}" "{t2}" "{t3}" "{t4}"),
                next_top!("{a3}" "{y}"),
                second_row_4!("{y}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}"),
                "ldp {x}, {y}, [{c}, 16]",
                next_top!("{a3}" "{x}"),
                second_row_4!("{x}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
                next_top!("{a3}" "{y}"),
                second_row_4!("{y}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
                reduce_4!(),
                a = in(reg) a,
                b = in(reg) b[0],
                c = in(reg) b[1],
                a0 = out(reg) _,
                a1 = out(reg) _,
                a2 = out(reg) _,
                a3 = out(reg) _,
                x = out(reg) _,
                y = out(reg) _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                t2 = out(reg) _,
                t3 = out(reg) _,
                t4 = out(reg) t4,
                t5 = out(reg) t5,
                t6 = out(reg) t6,
                t7 = out(reg) t7,
                inv = out(reg) _,
                lo = out(reg) _,
                p = inout(reg) modulus!(P, 0, 1, 2, 3) => _,
                options(pure, readonly, nostack),
            );
        }
        [t4, t5, t6, t7]
    }
}

impl Chains for [u64; 6] {
    #[inline(always)]
    fn add<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self {
        let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5] = *a;
        // SAFETY: p is read within its limbs.
        unsafe {
            asm!(
                chain!(
                    "adds" "adcs";
                    "{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}", "{t4}" "{s4}", "{t5}" "{s5}"
                ),
                "ldp {s0}, {s1}, [{p}]",
                "ldp {s2}, {s3}, [{p}, 16]",
                "ldp {s4}, {s5}, [{p}, 32]",
                subtract_modulus!(
                    "{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}", "{t4}" "{s4}", "{t5}" "{s5}"
                ),
                t0 = inout(reg) t0,
                t1 = inout(reg) t1,
                t2 = inout(reg) t2,
                t3 = inout(reg) t3,
                t4 = inout(reg) t4,
                t5 = inout(reg) t5,
                s0 = inout(reg) b[0] => _,
                s1 = inout(reg) b[1] => _,
                s2 = inout(reg) b[2] => _,
                s3 = inout(reg) b[3] => _,
                s4 = inout(reg) b[4] => _,
                s5 = inout(reg) b[5] => _,
                p = in(reg) modulus!(P, 0, 1, 2, 3, 4, 5),
                options(pure, readonly, nostack),
            );
        }
        [t0, t1, t2, t3, t4, t5]
    }

    #[inline(always)]
    fn sub<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self {
        let [mut t0, mut t1, mut t2, mut t3, mut t4, mut t5] = *a;
        // SAFETY: as above.
        unsafe {
            asm!(
                chain!(
                    "subs" "sbcs";
                    "{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}", "{t4}" "{s4}", "{t5}" "{s5}"
                ),
                "ldp {s0}, {s1}, [{p}]",
                "ldp {s2}, {s3}, [{p}, 16]",
                "ldp {s4}, {s5}, [{p}, 32]",
                add_modulus!(
                    "{t0}" "{s0}", "{t1}" "{s1}", "{t2}" "{s2}", "{t3}" "{s3}", "{t4}" "{s4}", "{t5}" "{s5}"
                ),
                t0 = inout(reg) t0,
                t1 = inout(reg) t1,
                t2 = inout(reg) t2,
                t3 = inout(reg) t3,
                t4 = inout(reg) t4,
                t5 = inout(reg) t5,
                s0 = inout(reg) b[0] => _,
                s1 = inout(reg) b[1] => _,
                s2 = inout(reg) b[2] => _,
                s3 = inout(reg) b[3] => _,
                s4 = inout(reg) b[4] => _,
                s5 = inout(reg) b[5] => _,
                p = in(reg) modulus!(P, 0, 1, 2, 3, 4, 5),
                options(pure, readonly, nostack),
            );
        }
        [t0, t1, t2, t3, t4, t5]
    }

    /// The limbs of b are in the registers of t_7 to t_11 and the inverse, each until it was the factor of a row.
    #[inline(always)]
    fn mul<P: Prime<Limbs = Self>>(a: &Self, b: &Self) -> Self {
        let [t6, t7, t8, t9, t10, t11]: [u64; 6];
        // SAFETY: as above.
        unsafe {
            asm!(
                first_row_6!("{t7}"),
                row_6!("{t8}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
                row_6!("{t9}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}"),
                row_6!("{t10}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}"),
                row_6!("{t11}"; "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}"),
                row_6!("{inv}"; "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}" "{t11}"),
                reduce_6!(),
                a0 = inout(reg) a[0] => _,
                a1 = inout(reg) a[1] => _,
                a2 = inout(reg) a[2] => _,
                a3 = inout(reg) a[3] => _,
                a4 = inout(reg) a[4] => _,
                a5 = inout(reg) a[5] => _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                t2 = out(reg) _,
                t3 = out(reg) _,
                t4 = out(reg) _,
                t5 = out(reg) _,
                t6 = out(reg) t6,
                t7 = inout(reg) b[0] => t7,
                t8 = inout(reg) b[1] => t8,
                t9 = inout(reg) b[2] => t9,
                t10 = inout(reg) b[3] => t10,
                t11 = inout(reg) b[4] => t11,
                inv = inout(reg) b[5] => _,
                lo = out(reg) _,
                p = inout(reg) modulus!(P, 0, 1, 2, 3, 4, 5) => _,
                options(pure, readonly, nostack),
            );
        }
        [t6, t7, t8, t9, t10, t11]
    }

    /// Words of 2 a are in the registers of t_7 to t_11 before these are used.
    #[inline(always)]
    fn square<P: Prime<Limbs = Self>>(a: &Self) -> Self {
        let [t6, t7, t8, t9, t10, t11]: [u64; 6];
        // SAFETY: as above.
        unsafe {
            asm!(
                "lsl {t11}, {a1}, 1",
                "extr {t7}, {a2}, {a1}, 63",
                "extr {t8}, {a3}, {a2}, 63",
                "extr {t9}, {a4}, {a3}, 63",
                "extr {t10}, {a5}, {a4}, 63",
                first_row!(
                    "{a0}";
                    "{t0}" "{a0}", "{t1}" "{t11}", "{t2}" "{t7}", "{t3}" "{t8}", "{t4}" "{t9}", "{t5}" "{t10}";
                    "{t10}" "{t6}"
                ),
                "lsl {t11}, {a2}, 1",
                row!(
                    "{a1}";
                    "{t2}" "{a1}", "{t3}" "{t11}", "{t4}" "{t8}", "{t5}" "{t9}", "{t6}" "{t10}";
                    "{t10}" "{t7}"
                ),
                "lsl {t11}, {a3}, 1",
                row!("{a2}"; "{t4}" "{a2}", "{t5}" "{t11}", "{t6}" "{t9}", "{t7}" "{t10}"; "{t10}" "{t8}"),
                "lsl {t11}, {a4}, 1",
                row!("{a3}"; "{t6}" "{a3}", "{t7}" "{t11}", "{t8}" "{t10}"; "{t10}" "{t9}"),
                "lsl {t11}, {a5}, 1",
                row!("{a4}"; "{t8}" "{a4}", "{t9}" "{t11}"; "{t11}" "{t10}"),
                corner!("{a5}"; "{t10}" "{a5}"; "{a5}" "{t11}"),
                reduce_6!(),
                a0 = inout(reg) a[0] => _,
                a1 = inout(reg) a[1] => _,
                a2 = inout(reg) a[2] => _,
                a3 = inout(reg) a[3] => _,
                a4 = inout(reg) a[4] => _,
                a5 = inout(reg) a[5] => _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                t2 = out(reg) _,
                t3 = out(reg) _,
                t4 = out(reg) _,
                t5 = out(reg) _,
                t6 = out(reg) t6,
                t7 = out(reg) t7,
                t8 = out(reg) t8,
                t9 = out(reg) t9,
                t10 = out(reg) t10,
                t11 = out(reg) t11,
                inv = out(reg) _,
                lo = out(reg) _,
                p = inout(reg) modulus!(P, 0, 1, 2, 3, 4, 5) => _,
                options(pure, readonly, nostack),
            );
        }
        [t6, t7, t8, t9, t10, t11]
    }

    #[inline(always)]
    fn sum_of_products<P: Prime<Limbs = Self>>(a: &[Self; 2], b: [&Self; 2]) -> Self {
        let [t6, t7, t8, t9, t10, t11]: [u64; 6];
        // SAFETY: operands and p are read within their limbs.
        unsafe {
            asm!(
                "ldp {a0}, {a1}, [{a}]",
                "ldp {a2}, {a3}, [{a}, 16]",
                "ldp {a4}, {a5}, [{a}, 32]",
                "ldp {x}, {y}, [{b}]",
                first_row_6!("{x}"),
                row_6!("{y}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
                "ldp {x}, {y}, [{b}, 16]",
                row_6!("{x}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}"),
                row_6!("{y}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}"),
                "ldp {x}, {y}, [{b}, 32]",
                row_6!("{x}"; "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}"),
                row_6!("{y}"; "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}" "{t11}"),
                "ldp {a0}, {a1}, [{a}, 48]",
                "ldp {a2}, {a3}, [{a}, 64]",
                "ldp {a4}, {a5}, [{a}, 80]",
                "ldp {x}, {y}, [{c}]",
                "umulh {inv}, {a5}, {x}",
                second_row_6!("{x}"; "{t0}" "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}"),
                next_top!("{a5}" "{y}"),
                second_row_6!("{y}"; "{t1}" "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}"),
                "ldp {x}, {y}, [{c}, 16]",
                next_top!("{a5}" "{x}"),
                second_row_6!("{x}"; "{t2}" "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}"),
                next_top!("{a5}" "{y}"),
                second_row_6!("{y}"; "{t3}" "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}"),
                "ldp {x}, {y}, [{c}, 32]",
                next_top!("{a5}" "{x}"),
                second_row_6!("{x}"; "{t4}" "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}"),
                next_top!("{a5}" "{y}"),
                second_row_6!("{y}"; "{t5}" "{t6}" "{t7}" "{t8}" "{t9}" "{t10}" "{t11}"),
                reduce_6!(),
                a = in(reg) a,
                b = in(reg) b[0],
                c = in(reg) b[1],
                a0 = out(reg) _,
                a1 = out(reg) _,
                a2 = out(reg) _,
                a3 = out(reg) _,
                a4 = out(reg) _,
                a5 = out(reg) _,
                x = out(reg) _,
                y = out(reg) _,
                t0 = out(reg) _,
                t1 = out(reg) _,
                t2 = out(reg) _,
                t3 = out(reg) _,
                t4 = out(reg) _,
                t5 = out(reg) _,
                t6 = out(reg) t6,
                t7 = out(reg) t7,
                t8 = out(reg) t8,
                t9 = out(reg) t9,
                t10 = out(reg) t10,
                t11 = out(reg) t11,
                inv = out(reg) _,
                lo = out(reg) _,
                p = inout(reg) modulus!(P, 0, 1, 2, 3, 4, 5) => _,
                options(pure, readonly, nostack),
            );
        }
        [t6, t7, t8, t9, t10, t11]
    }
}
