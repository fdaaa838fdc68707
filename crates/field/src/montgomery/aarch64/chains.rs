//! Rows of products as chains of carries, for the templates of `asm!`. Operands: {lo} is scratch, {inv} an inverse of p mod 2^64.

/// What the kernels need of a prime field whose elements are `L`.
pub trait Constants<L> {
    /// The modulus p.
    const P: L;
    /// `-1 / p mod 2^64`.
    const NEGATED_INVERSE: u64;
}

/// What they read: p, and `-1 / p` or `1 / p` mod 2^64.
#[repr(C)]
pub(super) struct Modulus<L> {
    pub(super) p: L,
    pub(super) inv: u64,
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

/// `t op= low halves of a b`. Arguments: the first instruction of the chain and the others; b; `t_j a_j`.
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

/// The same with high halves, for the same arguments: `t_(j+1)` takes that of `a_j b`, and that of the last a is left out.
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

/// The high half of a and b, and the carry.
macro_rules! top {
    ($top:literal $a:literal $b:literal) => {
        concat!("umulh ", $top, ", ", $a, ", ", $b, "\n", "adc ", $top, ", ", $top, ", xzr\n",)
    };
}

/// `t = a b`. Arguments: b; `t_j a_j`; the last a and the top word.
macro_rules! first_row {
    ($b:literal; $($t:literal $a:literal),*; $last:literal $top:literal) => {
        concat!(
            $("mul ", $t, ", ", $a, ", ", $b, "\n",)*
            highs!("adds" "adcs"; $b; $($t $a),*),
            top!($top $last $b),
        )
    };
}

/// `t += a b`, with a new top word. Arguments as for `first_row`.
macro_rules! row {
    ($b:literal; $($t:literal $a:literal),*; $last:literal $top:literal) => {
        concat!(
            lows!("adds" "adcs"; $b; $($t $a),*),
            top!($top $last $b),
            highs!("adds" "adcs"; $b; $($t $a),*),
            "adc ", $top, ", ", $top, ", xzr\n",
        )
    };
}

/// The same with the carry that `reduce` left, for a row of a square.
macro_rules! square_row {
    ($b:literal; $($t:literal $a:literal),*; $last:literal $top:literal) => {
        concat!(
            top!($top $last $b),
            lows!("adds" "adcs"; $b; $($t $a),*),
            "adc ", $top, ", ", $top, ", xzr\n",
            highs!("adds" "adcs"; $b; $($t $a),*),
            "adc ", $top, ", ", $top, ", xzr\n",
        )
    };
}

/// The last row of a square: `t += a^2` for its last limb.
macro_rules! square_end {
    ($a:literal $t:literal $top:literal) => {
        concat!(
            top!($top $a $a),
            lows!("adds" "adcs"; $a; $t $a),
            "adc ", $top, ", ", $top, ", xzr\n",
        )
    };
}

/// `t = (t + m p) / 2^64`. Leaves a carry, which is 0 in a product. Arguments: a register for m; t_0, which is free afterwards, and
/// p_0; `t_j p_j` for j > 0; the last limb of p and the top word.
macro_rules! reduce {
    ($m:literal; $t0:literal $p0:literal; $($t:literal $p:literal),*; $last:literal $top:literal) => {
        concat!(
            "mul ", $m, ", ", $t0, ", {inv}\n",
            "umulh ", $t0, ", ", $m, ", ", $last, "\n",
            highs!("adds" "adcs"; $m; $t0 $p0, $($t $p),*),
            "adc ", $t0, ", ", $t0, ", xzr\n",
            "subs xzr, ", $m, ", 1\n",
            lows!("adcs" "adcs"; $m; $($t $p),*),
            "adcs ", $top, ", ", $top, ", ", $t0, "\n",
        )
    };
}

/// `t += p` if the chain before left a borrow. Arguments: `t_j p_j`; p is overwritten.
macro_rules! add_modulus {
    ($($t:literal $p:literal),*) => {
        concat!(
            $("csel ", $p, ", xzr, ", $p, ", cs\n",)*
            chain!("adds" "adcs"; $($t $p),*),
        )
    };
}

/// `t - p` if that is not negative, otherwise t. Arguments: `t_j p_j`; p is overwritten.
macro_rules! subtract_modulus {
    ($t0:literal $p0:literal $(, $t:literal $p:literal)*) => {
        concat!(
            "subs ", $p0, ", ", $t0, ", ", $p0, "\n",
            $("sbcs ", $p, ", ", $t, ", ", $p, "\n",)*
            "csel ", $t0, ", ", $t0, ", ", $p0, ", cc\n",
            $("csel ", $t, ", ", $t, ", ", $p, ", cc\n",)*
        )
    };
}

/// Loads p.
macro_rules! load_4 {
    () => {
        "ldp {p0}, {p1}, [{inv}]\nldp {p2}, {p3}, [{inv}, 16]\n"
    };
}

macro_rules! load_6 {
    () => {
        concat!(load_4!(), "ldp {p4}, {p5}, [{inv}, 32]\n")
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

macro_rules! reduce_4 {
    ($m:literal; $t0:literal $t1:literal $t2:literal $t3:literal $top:literal) => {
        reduce!($m; $t0 "{p0}"; $t1 "{p1}", $t2 "{p2}", $t3 "{p3}"; "{p3}" $top)
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

macro_rules! reduce_6 {
    (
        $m:literal;
        $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $top:literal
    ) => {
        reduce!($m; $t0 "{p0}"; $t1 "{p1}", $t2 "{p2}", $t3 "{p3}", $t4 "{p4}", $t5 "{p5}"; "{p5}" $top)
    };
}
