//! Kernels along columns: one element per lane; the last vector may be partial.

use super::{
    function::{Function, file},
    instructions::pins,
    trace::{Program, Recorder, Traced, constant, small_constant, small_input},
};
use crate::{Generated, assembly::Outputs};
use proofmill_cpu::Token;
use proofmill_field::goldilocks::{
    GoldilocksEngine, GoldilocksLanes,
    basic::{Add, BasicFunction, Mmult, Mmult8, Mult72, Mult128, Reduce128, Spmv, Spmv8, Square128, Sub},
};

impl Token for Recorder {
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

impl GoldilocksEngine for Recorder {
    type U64s = Traced;
    type Vector = GoldilocksLanes<Traced>;
    type Chain = GoldilocksLanes<Traced>;
    type Factor = GoldilocksLanes<Traced>;
}

/// The registers of the columns' addresses; callee-saved ones come last.
const ADDRESSES: [usize; 17] = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22];

/// The number of those that are not callee-saved.
const FREE_ADDRESSES: usize = 13;

const ABOUT: &str =
    "The ten basic functions on columns: sums, differences, products and products with matrices modulo p.";

const BOUNDS: &str = "In: canonical words for add and sub, any words for the others. Out: canonical. A carry or borrow of 2^64 is folded in\n\
    as 2^32 - 1; the operands' bounds exclude a second one.";

fn record<F: BasicFunction<I, O>, const I: usize, const O: usize>() -> Program {
    Program::record(|words: [Traced; I]| {
        // If there is no byte, this is not read.
        let byte = small_input(I);
        let coefficient = if F::SMALL_COEFFICIENTS { small_constant } else { constant };
        F::apply::<Recorder>(words, byte, coefficient).into()
    })
}

/// The text of one function.
fn kernel<F: BasicFunction<I, O>, const I: usize, const O: usize>() -> String {
    let program = record::<F, I, O>();
    let inputs = I + usize::from(F::TAKES_BYTE);
    let pins = pins(&program, program.lowered().constants(), inputs);
    let mut function = Function::with_entry(&format!("proofmill_goldilocks_{}", F::NAME), &["mov x3, x2"]);
    function.saved = ADDRESSES[FREE_ADDRESSES..]
        .chunks(2)
        .take((inputs + O).saturating_sub(FREE_ADDRESSES).div_ceil(2))
        .map(|pair| [pair[0], pair[1]])
        .collect();
    for (k, address) in ADDRESSES[..inputs + O].iter().enumerate() {
        function.line(&format!("ldr x{address}, [x0, #{}]", 8 * k));
    }
    function.pin(&pins);
    function.line("mov x4, #0");
    function.line("whilelo p0.d, x4, x3");
    function.line("b.none 2f");
    function.label(1);
    for (k, address) in ADDRESSES[..inputs].iter().enumerate() {
        function.line(&if k < I {
            format!("ld1d {{z{k}.d}}, p0/z, [x{address}, x4, lsl #3]")
        } else {
            format!("ld1b {{z{k}.d}}, p0/z, [x{address}, x4]")
        });
    }
    let registers = function.piece_with(&program, &pins, Outputs::Anywhere);
    for (register, address) in registers.iter().zip(&ADDRESSES[inputs..]) {
        function.line(&format!("st1d {{z{register}.d}}, p0, [x{address}, x4, lsl #3]"));
    }
    function.line("incd x4");
    function.line("whilelo p0.d, x4, x3");
    function.line("b.first 1b");
    function.label(2);
    function.text(&format!(
        "{}: x0 the columns' addresses, x1 the coefficients, x2 the columns' length.",
        F::NAME
    ))
}

/// The ten basic functions.
pub(crate) fn basic_functions() -> Generated {
    let functions = [
        kernel::<Add, _, _>(),
        kernel::<Sub, _, _>(),
        kernel::<Reduce128, _, _>(),
        kernel::<Square128, _, _>(),
        kernel::<Mult128, _, _>(),
        kernel::<Mult72, _, _>(),
        kernel::<Spmv, _, _>(),
        kernel::<Spmv8, _, _>(),
        kernel::<Mmult, _, _>(),
        kernel::<Mmult8, _, _>(),
    ];
    let source = "formulas.rs in crates/field/src/goldilocks/basic";
    Generated {
        path: "crates/field/src/goldilocks/aarch64/sve.s",
        text: file(ABOUT, BOUNDS, source, &functions.join("\n")),
    }
}
