//! Passes of transforms: see crates/ntt/src/goldilocks/tile/sve.rs for their arguments.

use super::{
    function::{Function, file},
    instructions::{load_offsets, pins},
    trace::{Operation, Program, Traced, constant, load, store},
};
use crate::{Generated, assembly::Outputs};
use proofmill_field::goldilocks::{Factor, Gaussian, GoldilocksLanes, U64s};
use proofmill_ntt::goldilocks::butterflies::{MAX_RADIX, transform};

type V = GoldilocksLanes<Traced>;

const ABOUT: &str = "Passes of transforms: y_k = w_k sum_j x_j r^(j k), r a power of two of order 1, 2, 4, 8 or 16, of one transform per lane.";

const BOUNDS: &str = "Words: any in, canonical out. Gaussian form, re + 2^48 im: parts in are below 2^52 in absolute value, those of sums\n\
    non-negative and below 2^58, those of products with twiddles w_k below 2^51. So nothing wraps before it is reduced.";

/// The distance between twiddles in words.
const TWIDDLE: usize = 3;

/// The most interleaved chains of powers.
const CHAINS: usize = 4;

/// The butterflies of one row, from rows of words or `from_gaussian` to rows of canonical words or, times
/// twiddles, `to_gaussian`.
fn butterflies<const R: usize>(from_gaussian: bool, to_gaussian: bool) -> Program {
    Program::record(|[]| {
        let rows: [Gaussian<Traced>; R] = std::array::from_fn(|k| {
            if from_gaussian {
                Gaussian { re: load(k, false), im: load(k, true) }
            } else {
                Gaussian::new(load(k, false))
            }
        });
        transform(rows, |k, y| {
            if to_gaussian {
                let y = if k == 0 { y.reduced() } else { V::new(constant(TWIDDLE * k)).times(y) };
                store(y.re, k, false);
                store(y.im, k, true);
            } else {
                store(y.words().canonical(), k, false);
            }
        });
        vec![]
    })
    .with_late_loads()
}

/// One pass over several rows.
fn pass<const R: usize>(from_gaussian: bool, to_gaussian: bool) -> (String, String) {
    let form = |gaussian| if gaussian { "gaussian" } else { "words" };
    let name = format!("proofmill_goldilocks_ntt_{}_to_{}_{R}", form(from_gaussian), form(to_gaussian));
    let program = butterflies::<R>(from_gaussian, to_gaussian);
    let constants = program.lowered().constants();
    let words = constants.into_iter().filter(|constant| matches!(constant, Operation::Splat(_)));
    let pins = pins(&program, words.collect(), 0);
    let mut function = Function::new(&name);
    function.line("ptrue p0.d, pow2");
    function.line("cntd x9, pow2");
    for (register, offset) in [(3, 0), (11, 8), (5, 16), (12, 24), (1, 32), (13, 40)] {
        function.line(&format!("ldr x{register}, [x0, #{offset}]"));
    }
    function.line("add x4, x3, x9, lsl #3");
    function.line("add x6, x5, x9, lsl #3");
    load_offsets(R).iter().for_each(|line| function.line(line));
    function.pin(&pins);
    function.label(1);
    function.piece_with(&program, &pins, Outputs::Anywhere);
    for (register, step) in [(3, 11), (4, 11), (5, 12), (6, 12)] {
        let second = register % 2 == 0;
        if !second || (register == 4 && from_gaussian) || (register == 6 && to_gaussian) {
            function.line(&format!("add x{register}, x{register}, x{step}"));
        }
    }
    if to_gaussian {
        function.line(&format!("add x1, x1, #{}", 8 * TWIDDLE * R));
    }
    function.line("subs x13, x13, #1");
    function.line("b.ne 1b");
    (function.name.clone(), function.text("A pass: x0 the job."))
}

/// Multiplies each row by one word.
fn multiply_rows() -> String {
    let program = Program::record(|[row, factor]| vec![(V::new(row) * V::new(factor)).words()]);
    let mut function = Function::with_entry("proofmill_goldilocks_ntt_multiply_rows", &["mov x5, x2"]);
    function.line("ptrue p0.d, pow2");
    function.label(1);
    function.line("ld1d {z0.d}, p0/z, [x5]");
    function.line("ld1rd {z1.d}, p0/z, [x0]");
    function.piece(&program);
    function.line("st1d {z0.d}, p0, [x5]");
    function.line("add x0, x0, #8");
    function.line("add x5, x5, x3, lsl #3");
    function.line("subs x4, x4, #1");
    function.line("b.ne 1b");
    function.text("x0 a word for each row, x2 the rows, x3 words from a row to the next, x4 how many rows.")
}

/// Multiplies rows by each lane's powers, `N` rows at a time; `INPUTS` is `2 N + 1`.
fn scale_rows<const N: usize, const INPUTS: usize>() -> String {
    let powers = Program::record(|[first, ratio]: [Traced; 2]| {
        let ratios: Vec<V> = std::iter::successors(Some(V::new(ratio)), |power| Some(*power * V::new(ratio)))
            .take(N)
            .collect();
        let first = V::new(first);
        let powers = std::iter::once(first).chain(ratios.iter().map(|ratio| first * *ratio)).take(N);
        powers.chain(ratios.last().copied()).map(GoldilocksLanes::words).collect()
    });
    let scale = Program::record(|values: [Traced; INPUTS]| {
        let values = values.map(V::new);
        let (powers, leap, rows) = (&values[..N], values[N], &values[N + 1..]);
        let products: Vec<V> = powers.iter().zip(rows).map(|(power, row)| *power * *row).collect();
        let raised = powers.iter().map(|power| *power * leap);
        raised.chain([leap]).chain(products).map(GoldilocksLanes::words).collect()
    });
    let name = format!("proofmill_goldilocks_ntt_scale_{N}_rows");
    let mut function = Function::with_entry(&name, &["mov x5, x2"]);
    function.line("ptrue p0.d, pow2");
    function.line("lsl x6, x3, #1");
    function.line("add x7, x6, x3");
    function.line("ld1d {z0.d}, p0/z, [x0]");
    function.line("ld1d {z1.d}, p0/z, [x1]");
    function.piece(&powers);
    let address = ["[x5]", "[x5, x3, lsl #3]", "[x5, x6, lsl #3]", "[x5, x7, lsl #3]"];
    function.label(1);
    for (k, address) in address[..N].iter().enumerate() {
        function.line(&format!("ld1d {{z{}.d}}, p0/z, {address}", N + 1 + k));
    }
    function.piece(&scale);
    for (k, address) in address[..N].iter().enumerate() {
        function.line(&format!("st1d {{z{}.d}}, p0, {address}", N + 1 + k));
    }
    function.line(&format!("add x5, x5, x3, lsl #{}", 3 + N.trailing_zeros()));
    function.line(&format!("subs x4, x4, #{N}"));
    function.line("b.ne 1b");
    function.text(
        "x0 each lane's first power, x1 its ratio, x2 the rows, x3 words from a row to the next, x4 how many rows.",
    )
}

/// The kernels of transforms in tiles, and a table of the passes.
pub(crate) fn ntt() -> Generated {
    const { assert!(MAX_RADIX == 16) };
    let passes = [(false, false), (false, true), (true, false), (true, true)].map(|(from, to)| {
        [
            pass::<1>(from, to),
            pass::<2>(from, to),
            pass::<4>(from, to),
            pass::<8>(from, to),
            pass::<16>(from, to),
        ]
    });
    let table = "proofmill_goldilocks_ntt_passes_sve{edition}";
    let mut text: String = passes.iter().flatten().map(|(_, pass)| format!("{pass}\n")).collect();
    text += &format!("{}\n", multiply_rows());
    text += &format!("{}\n", scale_rows::<1, 3>());
    text += &format!("{}\n", scale_rows::<CHAINS, { 2 * CHAINS + 1 }>());
    text += &format!(
        "// The passes, by forms and the logarithm of the radix.\n    .pushsection .data.rel.ro, \"aw\"\n    \
         .globl {table}\n    .hidden {table}\n    .p2align 3\n{table}:\n"
    );
    passes.iter().flatten().for_each(|(symbol, _)| text += &format!("    .xword {symbol}\n"));
    text += "    .popsection\n";
    Generated {
        path: "crates/ntt/src/goldilocks/tile/sve.s",
        text: file(ABOUT, BOUNDS, "butterflies.rs in crates/ntt/src/goldilocks", &text),
    }
}
