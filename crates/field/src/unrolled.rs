//! Short loops that are unrolled in the source.
//!
//! Formulas inline dozens of products. As loops they stay loops until all are in one function, where the compiler then takes a time that
//! grows with the square of their number. And where compilers do not unroll loops over eight limbs, they keep columns in memory.

/// Executes the block for every `$i`, a constant, from 0 to `$length`, a constant that may depend on generics, of at most 2, 4, 8 or 16 as
/// `$most` says.
macro_rules! unrolled {
    ($i:ident in $length:expr, 2 => $body:block) => {
        unrolled!($i in $length => $body; 0 1)
    };
    ($i:ident in $length:expr, 4 => $body:block) => {
        unrolled!($i in $length => $body; 0 1 2 3)
    };
    ($i:ident in $length:expr, 8 => $body:block) => {
        unrolled!($i in $length => $body; 0 1 2 3 4 5 6 7)
    };
    ($i:ident in $length:expr, 16 => $body:block) => {
        unrolled!($i in $length => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($i:ident in $length:expr => $body:block; $($value:literal)*) => {
        const { assert!($length <= [$($value),*].len()) };
        $(
            // Those beyond the length are not compiled.
            #[allow(unconditional_panic, arithmetic_overflow, unused_assignments, clippy::absurd_extreme_comparisons)]
            {
                if const { $value < $length } {
                    #[allow(non_upper_case_globals, dead_code)]
                    const $i: usize = $value;
                    $body
                }
            }
        )*
    };
}

pub(crate) use unrolled;
