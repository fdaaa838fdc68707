//! Montgomery multiplication with MULX, ADCX and ADOX.
//!
//! Formula: `a b / 2^(64 N) mod p` row by row (CIOS of Koç, Acar, Kaliski, "Analyzing and comparing Montgomery
//! multiplication algorithms", 1996). For each limb of b: `t += a b_i`, `m = -t_0 / p mod 2^64`,
//! `t = (t + m p) / 2^64`; at the end one conditional subtraction.
//!
//! Bounds: operands and result are canonical. `t < 2p` after every row, and the modulus's top limb is below
//! 2^63 - 1, so `t + a b_i` fits N + 1 words, and word N is zero again after the row (the gnark team's
//! observation): there is no second carry word.
//!
//! Low halves of products use the carry flag and high halves the overflow flag (Ozturk, Guilford, Gopal,
//! "New instructions supporting large integer arithmetic", Intel 2012). The low word that a reduction cancels is
//! the zero that ends its two chains. All values fit 14 registers, so that a frame pointer can be kept.
//!
//! One operand of a product may be a sum of two values: with `a < 2p`, `t < 3p`, and the end is below `(1 + 2p / 2^(64 N)) p`.
//!
//! Squares of six limbs have 21 products in place of 36: row i starts at `a_i` and multiplies words of 2a from there on. They
//! take 81 cycles in a stream on a Zen 5, products 92, and 78 in a chain without the conditional subtractions, which products
//! take 93 for. Squares of four limbs are products, which take 42.
//!
//! Sums of n products share one reduction (Longa, "Efficient algorithms for large prime characteristic fields and
//! their application to bilinear pairings", TCHES 2023(3)): `t < (n + 1) p` after every row, and
//! `(n p^2 + 2^(64 N) p) / 2^(64 N) = (1 + n p / 2^(64 N)) p` at the end.
//!
//! On Zen 5 at 3.94 GHz a product takes 11.3 ns in a stream of independent ones and 14.0 in a chain. Without the
//! dependency of each m on the row before (and thus with wrong results) the stream would take 10.3: two-word reductions,
//! which remove a part of it at the cost of more multiplications, were therefore not implemented. Rejected after
//! measurement: a product as a function call (see `mul_mont_4`); the same for squares in the quadratic extension (pairings 2
//! % slower).

use crate::montgomery::{Backend, Limbs, Prime};
use proofmill_cpu::{Adx, Avx2};
use std::arch::asm;

impl Backend for Adx {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        // SAFETY: `self` proves BMI2 and ADX.
        unsafe { P::Limbs::mul_mont_adx::<P>(a, b) }
    }

    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        // SAFETY: as above.
        unsafe { P::Limbs::square_adx::<P, true>(a) }
    }

    #[inline(always)]
    fn square_lazily<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        // SAFETY: as above.
        unsafe { P::Limbs::square_adx::<P, false>(a) }
    }

    #[inline(always)]
    fn sum_of_products<P: Prime, const K: usize>(self, pairs: &[[[&P::Limbs; 2]; 2]; K]) -> P::Limbs {
        // SAFETY: as above.
        unsafe { P::Limbs::sum_of_products_adx::<P, K>(pairs) }
    }
}

/// For single elements among lanes.
impl Backend for Avx2 {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        self.adx().mul_mont::<P>(a, b)
    }

    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        self.adx().square_mont::<P>(a)
    }

    #[inline(always)]
    fn square_lazily<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        self.adx().square_lazily::<P>(a)
    }

    #[inline(always)]
    fn sum_of_products<P: Prime, const K: usize>(self, pairs: &[[[&P::Limbs; 2]; 2]; K]) -> P::Limbs {
        self.adx().sum_of_products::<P, K>(pairs)
    }
}

/// `t = a b_0`, with b_0 in rdx. Arguments: scratch; `t_j t_(j+1) a_j` for each j; the top word.
macro_rules! first_row {
    ($lo:literal; $t0:literal $t1:literal $a0:literal $(, $t:literal $next:literal $a:literal)*; $top:literal) => {
        concat!(
            "mulx ", $t1, ", ", $t0, ", ", $a0, "\n",
            "xor ", $lo, ", ", $lo, "\n",
            $(
                "mulx ", $next, ", ", $lo, ", ", $a, "\n",
                "adcx ", $t, ", ", $lo, "\n",
            )*
            "adc ", $top, ", 0\n",
        )
    };
}

/// `t += a b_i`. Arguments: b_i; two scratch words (the second may be b_i); the top word; `t_j t_(j+1) a_j` for j < N - 1;
/// the last t and a.
macro_rules! row {
    (
        $b:literal; $lo:literal $zero:literal $top:literal;
        $($t:literal $next:literal $a:literal),*; $last:literal $a_last:literal
    ) => {
        concat!(
            "mov rdx, ", $b, "\n",
            "xor ", $zero, ", ", $zero, "\n",
            $(
                "mulx ", $top, ", ", $lo, ", ", $a, "\n",
                "adcx ", $t, ", ", $lo, "\n",
                "adox ", $next, ", ", $top, "\n",
            )*
            "mulx ", $top, ", ", $lo, ", ", $a_last, "\n",
            "adcx ", $last, ", ", $lo, "\n",
            "adox ", $top, ", ", $zero, "\n",
            "adc ", $top, ", 0\n",
        )
    };
}

/// `t = (t + m p) / 2^64`; the new t_0 is in another register and the old one is free afterwards.
/// Arguments: a scratch word; the old and the new t_0; `t_(j-1) t_j j` for 1 <= j < N; the last t and the top word.
macro_rules! reduce {
    (
        $zero:literal; $old:literal $new:literal;
        $($previous:literal $t:literal $j:literal),*; $last:literal $top:literal
    ) => {
        concat!(
            "mov rdx, {inv}\n",
            "imul rdx, ", $old, "\n",
            "xor ", $zero, ", ", $zero, "\n",
            "mulx ", $new, ", ", $zero, ", [{p}]\n",
            "adcx ", $zero, ", ", $old, "\n",
            $(
                "adcx ", $previous, ", ", $t, "\n",
                "mulx ", $t, ", ", $old, ", [{p} + 8*", $j, "]\n",
                "adox ", $previous, ", ", $old, "\n",
            )*
            "adcx ", $last, ", ", $zero, "\n",
            "adox ", $last, ", ", $top, "\n",
        )
    };
}

/// As `reduce`, with the new t_0 in its old register and the constants next to the code, at label 77: two registers fewer and
/// no zero. The carry of `t_0 + m p_0` is 1 unless t_0 = 0. After the instructions, the last t and two carries, in both flags,
/// are to be added to the top word.
macro_rules! reduce_in_place {
    ($lo:literal; $t0:literal; $($previous:literal $t:literal $j:literal),*) => {
        concat!(
            "mov rdx, ", $t0, "\n",
            "imul rdx, [rip + 77b]\n",
            "xor ", $lo, ", ", $lo, "\n",
            "dec ", $lo, "\n",
            "adcx ", $lo, ", ", $t0, "\n",
            "mulx ", $t0, ", ", $lo, ", [rip + 77b + 8]\n",
            $(
                "adcx ", $previous, ", ", $t, "\n",
                "mulx ", $t, ", ", $lo, ", [rip + 77b + 8 + 8*", $j, "]\n",
                "adox ", $previous, ", ", $lo, "\n",
            )*
        )
    };
}

/// Puts -1/p mod 2^64 and then p next to the code, at label 77. Arguments: the words of p.
macro_rules! constants {
    ($first:literal $(, $p:literal)*) => {
        concat!(
            ".pushsection .rodata, \"a\", @progbits\n",
            ".p2align 3\n",
            "77: .quad {inv}, ", $first, $(", ", $p,)* "\n",
            ".popsection\n",
        )
    };
}

/// `t - p` if that is not negative, otherwise t. Arguments: the address of p; `t_0 scratch`; `t_j scratch j` for 1 <= j < N.
macro_rules! subtract_modulus {
    ($p:literal; $t0:literal $s0:literal $(, $t:literal $s:literal $j:literal)*) => {
        concat!(
            "mov ", $s0, ", ", $t0, "\n",
            $("mov ", $s, ", ", $t, "\n",)*
            "sub ", $s0, ", [", $p, "]\n",
            $("sbb ", $s, ", [", $p, " + 8*", $j, "]\n",)*
            "cmovnc ", $t0, ", ", $s0, "\n",
            $("cmovnc ", $t, ", ", $s, "\n",)*
        )
    };
}

macro_rules! row_4 {
    ($b:literal, $zero:literal) => {
        row!($b; "{lo}" $zero "{t4}"; "{t0}" "{t1}" "{a0}", "{t1}" "{t2}" "{a1}", "{t2}" "{t3}" "{a2}"; "{t3}" "{a3}")
    };
}

macro_rules! reduce_in_place_4 {
    () => {
        reduce_in_place!("{lo}"; "{t0}"; "{t0}" "{t1}" 1, "{t1}" "{t2}" 2, "{t2}" "{t3}" 3)
    };
}

macro_rules! add_carries_4 {
    () => {
        "adox {t3}, {t4}\nadc {t3}, 0\n"
    };
}

/// `a b / 2^256 mod p`, with all operands in registers: with b in memory, LLVM copied it before most
/// products, and a mixed XYZZ addition was 12 % slower; as a function call, 24 %.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[inline(always)]
pub(crate) unsafe fn mul_mont_4<P: Prime<Limbs = [u64; 4]>>(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let [t0, t1, t2, t3]: [u64; 4];
    // SAFETY: guaranteed by the caller.
    unsafe {
        asm!(
            // A register for their address, or immediates, would make it 5 % slower.
            constants!("{p0}", "{p1}", "{p2}", "{p3}"),
            first_row!("{lo}"; "{t0}" "{t1}" "{a0}", "{t1}" "{t2}" "{a1}", "{t2}" "{t3}" "{a2}", "{t3}" "{t4}" "{a3}"; "{t4}"),
            reduce_in_place_4!(),
            add_carries_4!(),
            row_4!("{b1}", "{b1}"),
            reduce_in_place_4!(),
            add_carries_4!(),
            row_4!("{b2}", "{b2}"),
            reduce_in_place_4!(),
            add_carries_4!(),
            row_4!("{b3}", "{b3}"),
            reduce_in_place_4!(),
            add_carries_4!(),
            subtract_modulus!("rip + 77b + 8"; "{t0}" "{b1}", "{t1}" "{b2}" 1, "{t2}" "{b3}" 2, "{t3}" "{t4}" 3),
            a0 = in(reg) a[0],
            a1 = in(reg) a[1],
            a2 = in(reg) a[2],
            a3 = in(reg) a[3],
            inout("rdx") b[0] => _,
            b1 = inout(reg) b[1] => _,
            b2 = inout(reg) b[2] => _,
            b3 = inout(reg) b[3] => _,
            p0 = const P::MODULUS[0],
            p1 = const P::MODULUS[1],
            p2 = const P::MODULUS[2],
            p3 = const P::MODULUS[3],
            inv = const P::INV,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) _,
            lo = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    [t0, t1, t2, t3]
}

macro_rules! first_row_6 {
    () => {
        first_row!(
            "{lo}";
            "{t0}" "{t1}" "[{a}]", "{t1}" "{t2}" "[{a} + 8]", "{t2}" "{t3}" "[{a} + 16]",
            "{t3}" "{t4}" "[{a} + 24]", "{t4}" "{t5}" "[{a} + 32]", "{t5}" "{t6}" "[{a} + 40]"; "{t6}"
        )
    };
}

macro_rules! row_6 {
    ($b:literal; $t0:literal $zero:literal) => {
        row!(
            $b; "{lo}" $zero "{t6}";
            $t0 "{t1}" "[{a}]", "{t1}" "{t2}" "[{a} + 8]", "{t2}" "{t3}" "[{a} + 16]",
            "{t3}" "{t4}" "[{a} + 24]", "{t4}" "{t5}" "[{a} + 32]"; "{t5}" "[{a} + 40]"
        )
    };
}

macro_rules! reduce_6 {
    ($old:literal $new:literal) => {
        reduce!(
            "{lo}"; $old $new;
            $new "{t1}" 1, "{t1}" "{t2}" 2, "{t2}" "{t3}" 3, "{t3}" "{t4}" 4, "{t4}" "{t5}" 5; "{t5}" "{t6}"
        )
    };
}

/// `a b / 2^384 mod p`.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[inline(always)]
pub(crate) unsafe fn mul_mont_6<P: Prime<Limbs = [u64; 6]>>(a: &[u64; 6], b: &[u64; 6]) -> [u64; 6] {
    let [t0, t1, t2, t3, t4, t5]: [u64; 6];
    // SAFETY: guaranteed by the caller; a, b and p are read within their six limbs.
    unsafe {
        asm!(
            "mov rdx, [{b}]",
            first_row_6!(),
            reduce_6!("{t0}" "{s0}"),
            row_6!("[{b} + 8]"; "{s0}" "{t0}"),
            reduce_6!("{s0}" "{t0}"),
            row_6!("[{b} + 16]"; "{t0}" "{s0}"),
            reduce_6!("{t0}" "{s0}"),
            row_6!("[{b} + 24]"; "{s0}" "{t0}"),
            reduce_6!("{s0}" "{t0}"),
            row_6!("[{b} + 32]"; "{t0}" "{s0}"),
            reduce_6!("{t0}" "{s0}"),
            row_6!("[{b} + 40]"; "{s0}" "{t0}"),
            reduce_6!("{s0}" "{t0}"),
            subtract_modulus!(
                "{p}"; "{t0}" "{s0}", "{t1}" "{t6}" 1, "{t2}" "{lo}" 2, "{t3}" "rdx" 3, "{t4}" "{a}" 4, "{t5}" "{b}" 5
            ),
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            p = in(reg) &P::MODULUS,
            inv = const P::INV,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) t5,
            t6 = out(reg) _,
            s0 = out(reg) _,
            lo = out(reg) _,
            out("rdx") _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5]
}

/// Word j of 2a without the carry from below, then with it, which is and stays in the carry flag.
macro_rules! double_word {
    ($word:literal $shifted:literal $j:literal) => {
        concat!(
            "mov ",
            $word,
            ", [{a} + 8*",
            $j,
            "]\n",
            "lea ",
            $shifted,
            ", [",
            $word,
            " + ",
            $word,
            "]\n",
            "adc ",
            $word,
            ", ",
            $word,
            "\n",
            "mov [{d} + 8*",
            $j,
            "], ",
            $shifted,
            "\n",
            "mov [{d} + 8*6 + 8*",
            $j,
            "], ",
            $word,
            "\n",
        )
    };
}

/// `a^2 / 2^384 mod p`, for a below 2p: below 2p, and below p if REDUCED.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
///
/// # Panics
/// Unless 9p < 2^384.
#[inline(always)]
pub(crate) unsafe fn square_6<P: Prime<Limbs = [u64; 6]>, const REDUCED: bool>(a: &[u64; 6]) -> [u64; 6] {
    // 2a < 4p fits six words; t < 6p after every row; at the end (4 p^2 + 2^384 p) / 2^384 < 2p.
    assert!(P::MODULUS[5] < u64::MAX / 9);
    let [t0, t1, t2, t3, t4, t5]: [u64; 6];
    // Words 1 to 5 of 2a without the carry from below, then words 2 to 5 with it.
    let mut doubled = [0u64; 12];
    // SAFETY: guaranteed by the caller; a and p are read and `doubled` is written within their words.
    unsafe {
        asm!(
            "mov {t0}, [{a} + 8]",
            "add {t0}, {t0}",
            "mov [{d} + 8], {t0}",
            double_word!("{t1}" "{t2}" 2),
            double_word!("{t3}" "{t4}" 3),
            double_word!("{t1}" "{t2}" 4),
            double_word!("{t3}" "{t4}" 5),
            "mov rdx, [{a}]",
            first_row!(
                "{lo}";
                "{t0}" "{t1}" "[{a}]", "{t1}" "{t2}" "[{d} + 8]", "{t2}" "{t3}" "[{d} + 8*8]",
                "{t3}" "{t4}" "[{d} + 8*9]", "{t4}" "{t5}" "[{d} + 8*10]", "{t5}" "{t6}" "[{d} + 8*11]"; "{t6}"
            ),
            reduce_6!("{t0}" "{s0}"),
            row!(
                "[{a} + 8]"; "{lo}" "{t0}" "{t6}";
                "{t1}" "{t2}" "[{a} + 8]", "{t2}" "{t3}" "[{d} + 8*2]", "{t3}" "{t4}" "[{d} + 8*9]",
                "{t4}" "{t5}" "[{d} + 8*10]"; "{t5}" "[{d} + 8*11]"
            ),
            reduce_6!("{s0}" "{t0}"),
            row!(
                "[{a} + 8*2]"; "{lo}" "{s0}" "{t6}";
                "{t2}" "{t3}" "[{a} + 8*2]", "{t3}" "{t4}" "[{d} + 8*3]", "{t4}" "{t5}" "[{d} + 8*10]";
                "{t5}" "[{d} + 8*11]"
            ),
            reduce_6!("{t0}" "{s0}"),
            row!(
                "[{a} + 8*3]"; "{lo}" "{t0}" "{t6}";
                "{t3}" "{t4}" "[{a} + 8*3]", "{t4}" "{t5}" "[{d} + 8*4]"; "{t5}" "[{d} + 8*11]"
            ),
            reduce_6!("{s0}" "{t0}"),
            row!("[{a} + 8*4]"; "{lo}" "{s0}" "{t6}"; "{t4}" "{t5}" "[{a} + 8*4]"; "{t5}" "[{d} + 8*5]"),
            reduce_6!("{t0}" "{s0}"),
            row!("[{a} + 8*5]"; "{lo}" "{t0}" "{t6}"; ; "{t5}" "[{a} + 8*5]"),
            reduce_6!("{s0}" "{t0}"),
            ".if {reduced}",
            subtract_modulus!(
                "{p}"; "{t0}" "{s0}", "{t1}" "{t6}" 1, "{t2}" "{lo}" 2, "{t3}" "rdx" 3, "{t4}" "{a}" 4, "{t5}" "{d}" 5
            ),
            ".endif",
            a = inout(reg) a => _,
            d = inout(reg) &mut doubled => _,
            p = in(reg) &P::MODULUS,
            inv = const P::INV,
            reduced = const REDUCED as u8,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) t5,
            t6 = out(reg) _,
            s0 = out(reg) _,
            lo = out(reg) _,
            out("rdx") _,
            options(nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5]
}

/// `t += a_k b_k,i` for the k-th product of a sum. Arguments: k; `t_j t_(j+1) j` for each j; the instructions after the row, which
/// add its carry to the top word.
macro_rules! term {
    ($k:literal; $($t:literal $next:literal $j:literal),*; $($last:literal),*) => {
        concat!(
            "mov {a}, [{terms} + 16*", $k, "]\n",
            "mov rdx, [{terms} + 16*", $k, " + 8]\n",
            "mov rdx, [rdx + {i}]\n",
            "xor {lo}, {lo}\n",
            $(
                "mulx {hi}, {lo}, [{a} + 8*", $j, "]\n",
                "adcx ", $t, ", {lo}\n",
                "adox ", $next, ", {hi}\n",
            )*
            $($last, "\n",)*
        )
    };
}

/// A term whose row fits words 0 to 4, or one that may carry into word 5 from both chains.
macro_rules! term_4 {
    ($k:literal) => {
        term_4!($k; "adc {t4}, 0")
    };
    ($k:literal carries) => {
        term_4!($k; "mov {lo:e}, 0", "adcx {t4}, {lo}", "adcx {t5}, {lo}", "adox {t5}, {lo}")
    };
    ($k:literal; $($last:literal),*) => {
        term!($k; "{t0}" "{t1}" 0, "{t1}" "{t2}" 1, "{t2}" "{t3}" 2, "{t3}" "{t4}" 3; $($last),*)
    };
}

macro_rules! subtract_modulus_4 {
    () => {
        subtract_modulus!("rip + 77b + 8"; "{t0}" "{a}", "{t1}" "{t4}" 1, "{t2}" "{lo}" 2, "{t3}" "rdx" 3)
    };
}

/// `a^2 / 2^256 mod p`, for canonical a.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[inline(always)]
pub(crate) unsafe fn square_4<P: Prime<Limbs = [u64; 4]>, const REDUCED: bool>(a: &[u64; 4]) -> [u64; 4] {
    // SAFETY: guaranteed by the caller.
    unsafe { mul_mont_4::<P>(a, a) }
}

/// The sum of `a b + c d` over K <= 4 pairs of products, divided by 2^256, mod p, for operands up to p.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
///
/// # Panics
/// Unless K <= 4 and 5p < 2^256.
#[inline(always)]
pub(crate) unsafe fn sum_of_products_4<P: Prime<Limbs = [u64; 4]>, const K: usize>(
    pairs: &[[[&[u64; 4]; 2]; 2]; K],
) -> [u64; 4] {
    // The sum of a row's first five products fits words 0 to 4. The others may carry into word 5, and a reduction into word 4.
    assert!(K <= 4 && P::MODULUS[3] < u64::MAX / 5);
    let [t0, t1, t2, t3]: [u64; 4];
    // SAFETY: guaranteed by the caller; operands are read within their limbs.
    unsafe {
        asm!(
            constants!("{p0}", "{p1}", "{p2}", "{p3}"),
            "xor {i:e}, {i:e}",
            "xor {t0:e}, {t0:e}",
            "xor {t1:e}, {t1:e}",
            "xor {t2:e}, {t2:e}",
            "xor {t3:e}, {t3:e}",
            "xor {t4:e}, {t4:e}",
            "66:",
            term_4!(0),
            term_4!(1),
            ".if {k} > 1",
            term_4!(2),
            term_4!(3),
            ".endif",
            ".if {k} > 2",
            "xor {t5:e}, {t5:e}",
            term_4!(4),
            term_4!(5 carries),
            ".endif",
            ".if {k} > 3",
            term_4!(6 carries),
            term_4!(7 carries),
            ".endif",
            reduce_in_place_4!(),
            ".if {k} > 2",
            // t_3 is a high half, to which a carry can be added.
            "mov {lo:e}, 0",
            "adcx {t3}, {lo}",
            "adox {t3}, {t4}",
            "mov {t4}, {t5}",
            "adox {t4}, {lo}",
            ".else",
            add_carries_4!(),
            "xor {t4:e}, {t4:e}",
            ".endif",
            "add {i:e}, 8",
            "cmp {i:e}, 32",
            "jne 66b",
            // The sum is below (1 + 2K / 5) p.
            subtract_modulus_4!(),
            ".if {k} > 2",
            subtract_modulus_4!(),
            ".endif",
            terms = in(reg) pairs,
            k = const K,
            p0 = const P::MODULUS[0],
            p1 = const P::MODULUS[1],
            p2 = const P::MODULUS[2],
            p3 = const P::MODULUS[3],
            inv = const P::INV,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) _,
            t5 = out(reg) _,
            a = out(reg) _,
            i = out(reg) _,
            lo = out(reg) _,
            hi = out(reg) _,
            out("rdx") _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3]
}

macro_rules! term_6 {
    ($k:literal) => {
        term!(
            $k;
            "{t0}" "{t1}" 0, "{t1}" "{t2}" 1, "{t2}" "{t3}" 2, "{t3}" "{t4}" 3, "{t4}" "{t5}" 4, "{t5}" "{t6}" 5;
            "adc {t6}, 0"
        )
    };
}

/// The sum of `a b + c d` over K <= 4 pairs of products, divided by 2^384, mod p, for operands up to p.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
///
/// # Panics
/// Unless K <= 4 and 9p < 2^384.
#[inline(always)]
pub(crate) unsafe fn sum_of_products_6<P: Prime<Limbs = [u64; 6]>, const K: usize>(
    pairs: &[[[&[u64; 6]; 2]; 2]; K],
) -> [u64; 6] {
    // After a reduction, t < (2K + 1) p.
    assert!(K <= 4 && P::MODULUS[5] < u64::MAX / 9);
    let [t0, t1, t2, t3, t4, t5]: [u64; 6];
    // SAFETY: guaranteed by the caller; operands are read within their limbs.
    unsafe {
        asm!(
            constants!("{p0}", "{p1}", "{p2}", "{p3}", "{p4}", "{p5}"),
            "xor {i:e}, {i:e}",
            "xor {t0:e}, {t0:e}",
            "xor {t1:e}, {t1:e}",
            "xor {t2:e}, {t2:e}",
            "xor {t3:e}, {t3:e}",
            "xor {t4:e}, {t4:e}",
            "xor {t5:e}, {t5:e}",
            "66:",
            "xor {t6:e}, {t6:e}",
            term_6!(0),
            term_6!(1),
            ".if {k} > 1",
            term_6!(2),
            term_6!(3),
            ".endif",
            ".if {k} > 2",
            term_6!(4),
            term_6!(5),
            ".endif",
            ".if {k} > 3",
            term_6!(6),
            term_6!(7),
            ".endif",
            reduce_in_place!(
                "{lo}"; "{t0}";
                "{t0}" "{t1}" 1, "{t1}" "{t2}" 2, "{t2}" "{t3}" 3, "{t3}" "{t4}" 4, "{t4}" "{t5}" 5
            ),
            "adox {t5}, {t6}",
            "adc {t5}, 0",
            "add {i:e}, 8",
            "cmp {i:e}, 48",
            "jne 66b",
            // The sum is below (1 + 2K / 9) p.
            subtract_modulus!(
                "rip + 77b + 8";
                "{t0}" "{a}", "{t1}" "{t6}" 1, "{t2}" "{lo}" 2, "{t3}" "{hi}" 3, "{t4}" "{i}" 4, "{t5}" "rdx" 5
            ),
            terms = in(reg) pairs,
            k = const K,
            p0 = const P::MODULUS[0],
            p1 = const P::MODULUS[1],
            p2 = const P::MODULUS[2],
            p3 = const P::MODULUS[3],
            p4 = const P::MODULUS[4],
            p5 = const P::MODULUS[5],
            inv = const P::INV,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) t5,
            t6 = out(reg) _,
            a = out(reg) _,
            i = out(reg) _,
            lo = out(reg) _,
            hi = out(reg) _,
            out("rdx") _,
            options(pure, readonly, nostack),
        );
    }
    [t0, t1, t2, t3, t4, t5]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fp, bls12_381::FqParams};

    /// Squares of operands of up to 2p - 1, which the results of squares reach with a negligible probability.
    #[test]
    fn lazy_squares_of_the_largest_operands() {
        let Some(adx) = Adx::detect() else { return println!("no ADX: not tested") };
        let p = FqParams::MODULUS;
        let twice = p.wrapping_add(&p);
        let small = |value| [value, 0, 0, 0, 0, 0];
        let mut operands: Vec<[u64; 6]> = (1..4).map(|k| twice.wrapping_sub(&small(k))).collect();
        operands.extend([p, p.wrapping_add(&small(1)), small(0), small(1)]);
        for k in 0..381 {
            // 2^k and 2p - 2^k.
            let mut power = small(0);
            power[k / 64] = 1 << (k % 64);
            operands.extend([power, twice.wrapping_sub(&power), power.wrapping_sub(&small(1))]);
        }
        let reduced = |a: &[u64; 6]| a.sub_mod(&p, &p);
        for a in operands {
            let square = adx.square_lazily::<FqParams>(&a);
            let element = Fp::<FqParams>::from_montgomery(reduced(&a)).unwrap();
            assert_eq!(reduced(&square), (element * element).to_montgomery(), "{a:x?}");
        }
    }
}
