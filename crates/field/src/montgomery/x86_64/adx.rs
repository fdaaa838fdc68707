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
//! Sums of two products share one reduction (Longa, "Efficient algorithms for large prime characteristic fields and
//! their application to bilinear pairings", TCHES 2023(3)): with 4p < 2^(64 N), `t < 3p` after every row and
//! `(2p^2 + 2^(64 N) p) / 2^(64 N) < 2p` at the end.
//!
//! On Zen 5 at 3.94 GHz a product takes 11.3 ns in a stream of independent ones and 14.0 in a chain. Without the
//! dependency of each m on the row before (and thus with wrong results) the stream would take 10.3: two-word reductions,
//! which remove a part of it at the cost of more multiplications, were therefore not implemented. Rejected after
//! measurement: a product as a function call (see `mul_mont_4`); the same for squares in the quadratic extension (pairings 2
//! % slower).

use crate::montgomery::{Backend, Limbs, Prime, backend::quadratic_by_sums};
use proofmill_cpu::{Adx, Avx2};
use std::arch::asm;

impl Backend for Adx {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        // SAFETY: `self` proves BMI2 and ADX.
        unsafe { P::Limbs::mul_mont_adx::<P>(a, b) }
    }

    #[inline(always)]
    fn mul_quadratic<P: Prime>(self, a: &[P::Limbs; 2], b: &[P::Limbs; 2]) -> [P::Limbs; 2] {
        quadratic_by_sums::<P>(
            self,
            a,
            b,
            #[inline(always)]
            // SAFETY: as above.
            |a, b| unsafe { P::Limbs::sum_of_products_adx::<P>(a, b) },
        )
    }
}

/// For single elements among lanes.
impl Backend for Avx2 {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        self.adx().mul_mont::<P>(a, b)
    }

    #[inline(always)]
    fn mul_quadratic<P: Prime>(self, a: &[P::Limbs; 2], b: &[P::Limbs; 2]) -> [P::Limbs; 2] {
        self.adx().mul_quadratic::<P>(a, b)
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

/// `t += a b_i` after another product of the row, when the top word is in use. Arguments: b_i; two scratch words;
/// `t_j t_(j+1) a_j` for each j; the top word.
macro_rules! second_row {
    ($b:literal; $lo:literal $hi:literal; $($t:literal $next:literal $a:literal),*; $top:literal) => {
        concat!(
            "mov rdx, ", $b, "\n",
            "xor ", $lo, ", ", $lo, "\n",
            $(
                "mulx ", $hi, ", ", $lo, ", ", $a, "\n",
                "adcx ", $t, ", ", $lo, "\n",
                "adox ", $next, ", ", $hi, "\n",
            )*
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

/// As `reduce`, with the new t_0 in its old register and the constants beside the code, at label 77: two registers fewer and
/// no zero. The carry of `t_0 + m p_0` is 1 unless t_0 = 0.
macro_rules! reduce_in_place {
    (
        $lo:literal; $t0:literal;
        $($previous:literal $t:literal $j:literal),*; $last:literal $top:literal
    ) => {
        concat!(
            "mov rdx, ", $t0, "\n",
            "imul rdx, [rip + 77b + 8*4]\n",
            "xor ", $lo, ", ", $lo, "\n",
            "dec ", $lo, "\n",
            "adcx ", $lo, ", ", $t0, "\n",
            "mulx ", $t0, ", ", $lo, ", [rip + 77b]\n",
            $(
                "adcx ", $previous, ", ", $t, "\n",
                "mulx ", $t, ", ", $lo, ", [rip + 77b + 8*", $j, "]\n",
                "adox ", $previous, ", ", $lo, "\n",
            )*
            "adox ", $last, ", ", $top, "\n",
            "adc ", $last, ", 0\n",
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
        reduce_in_place!("{lo}"; "{t0}"; "{t0}" "{t1}" 1, "{t1}" "{t2}" 2, "{t2}" "{t3}" 3; "{t3}" "{t4}")
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
            ".pushsection .rodata, \"a\", @progbits",
            ".p2align 3",
            "77: .quad {p0}, {p1}, {p2}, {p3}, {inv}",
            ".popsection",
            first_row!("{lo}"; "{t0}" "{t1}" "{a0}", "{t1}" "{t2}" "{a1}", "{t2}" "{t3}" "{a2}", "{t3}" "{t4}" "{a3}"; "{t4}"),
            reduce_in_place_4!(),
            row_4!("{b1}", "{b1}"),
            reduce_in_place_4!(),
            row_4!("{b2}", "{b2}"),
            reduce_in_place_4!(),
            row_4!("{b3}", "{b3}"),
            reduce_in_place_4!(),
            subtract_modulus!("rip + 77b"; "{t0}" "{b1}", "{t1}" "{b2}" 1, "{t2}" "{b3}" 2, "{t3}" "{t4}" 3),
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

macro_rules! second_row_4 {
    ($b:literal; $t0:literal $hi:literal) => {
        second_row!(
            $b; "{lo}" $hi;
            $t0 "{t1}" "[{a} + 32]", "{t1}" "{t2}" "[{a} + 40]",
            "{t2}" "{t3}" "[{a} + 48]", "{t3}" "{t4}" "[{a} + 56]"; "{t4}"
        )
    };
}

macro_rules! reduce_4 {
    ($old:literal $new:literal) => {
        reduce!("{lo}"; $old $new; $new "{t1}" 1, "{t1}" "{t2}" 2, "{t2}" "{t3}" 3; "{t3}" "{t4}")
    };
}

macro_rules! sum_row_4 {
    ($b0:literal $b1:literal; $t0:literal $spare:literal) => {
        concat!(
            row!(
                $b0; "{lo}" $spare "{t4}";
                $t0 "{t1}" "[{a}]", "{t1}" "{t2}" "[{a} + 8]", "{t2}" "{t3}" "[{a} + 16]"; "{t3}" "[{a} + 24]"
            ),
            second_row_4!($b1; $t0 $spare),
            reduce_4!($t0 $spare),
        )
    };
}

/// `(a_0 b_0 + a_1 b_1) / 2^256 mod p`.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[inline(always)]
pub(crate) unsafe fn sum_of_products_4<P: Prime<Limbs = [u64; 4]>>(
    a: &[[u64; 4]; 2],
    b: [&[u64; 4]; 2],
) -> [u64; 4] {
    let [t0, t1, t2, t3]: [u64; 4];
    // SAFETY: guaranteed by the caller; operands and p are read within their limbs.
    unsafe {
        asm!(
            "mov rdx, [{b0}]",
            first_row!(
                "{lo}";
                "{t0}" "{t1}" "[{a}]", "{t1}" "{t2}" "[{a} + 8]",
                "{t2}" "{t3}" "[{a} + 16]", "{t3}" "{t4}" "[{a} + 24]"; "{t4}"
            ),
            second_row_4!("[{b1}]"; "{t0}" "{s0}"),
            reduce_4!("{t0}" "{s0}"),
            sum_row_4!("[{b0} + 8]" "[{b1} + 8]"; "{s0}" "{t0}"),
            sum_row_4!("[{b0} + 16]" "[{b1} + 16]"; "{t0}" "{s0}"),
            sum_row_4!("[{b0} + 24]" "[{b1} + 24]"; "{s0}" "{t0}"),
            subtract_modulus!("{p}"; "{t0}" "{s0}", "{t1}" "{t4}" 1, "{t2}" "{lo}" 2, "{t3}" "rdx" 3),
            a = in(reg) a,
            b0 = in(reg) b[0],
            b1 = in(reg) b[1],
            p = in(reg) &P::MODULUS,
            inv = const P::INV,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) _,
            s0 = out(reg) _,
            lo = out(reg) _,
            out("rdx") _,
            options(pure, readonly, nostack),
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

macro_rules! second_row_6 {
    ($b:literal; $t0:literal $hi:literal) => {
        second_row!(
            $b; "{lo}" $hi;
            $t0 "{t1}" "[{a} + 48]", "{t1}" "{t2}" "[{a} + 56]", "{t2}" "{t3}" "[{a} + 64]",
            "{t3}" "{t4}" "[{a} + 72]", "{t4}" "{t5}" "[{a} + 80]", "{t5}" "{t6}" "[{a} + 88]"; "{t6}"
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

macro_rules! sum_row_6 {
    ($b0:literal $b1:literal; $t0:literal $spare:literal) => {
        concat!(
            row_6!($b0; $t0 $spare),
            second_row_6!($b1; $t0 $spare),
            reduce_6!($t0 $spare),
        )
    };
}

/// `(a_0 b_0 + a_1 b_1) / 2^384 mod p`.
///
/// # Safety
/// The CPU must have BMI2 and ADX.
#[inline(always)]
pub(crate) unsafe fn sum_of_products_6<P: Prime<Limbs = [u64; 6]>>(
    a: &[[u64; 6]; 2],
    b: [&[u64; 6]; 2],
) -> [u64; 6] {
    let [t0, t1, t2, t3, t4, t5]: [u64; 6];
    // SAFETY: guaranteed by the caller; operands and p are read within their limbs.
    unsafe {
        asm!(
            "mov rdx, [{b0}]",
            first_row_6!(),
            second_row_6!("[{b1}]"; "{t0}" "{s0}"),
            reduce_6!("{t0}" "{s0}"),
            sum_row_6!("[{b0} + 8]" "[{b1} + 8]"; "{s0}" "{t0}"),
            sum_row_6!("[{b0} + 16]" "[{b1} + 16]"; "{t0}" "{s0}"),
            sum_row_6!("[{b0} + 24]" "[{b1} + 24]"; "{s0}" "{t0}"),
            sum_row_6!("[{b0} + 32]" "[{b1} + 32]"; "{t0}" "{s0}"),
            sum_row_6!("[{b0} + 40]" "[{b1} + 40]"; "{s0}" "{t0}"),
            subtract_modulus!(
                "{p}"; "{t0}" "{s0}", "{t1}" "{t6}" 1, "{t2}" "{lo}" 2, "{t3}" "rdx" 3, "{t4}" "{b0}" 4, "{t5}" "{b1}" 5
            ),
            a = in(reg) a,
            b0 = inout(reg) b[0] => _,
            b1 = inout(reg) b[1] => _,
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
