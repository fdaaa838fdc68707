//! The frames of kernels: entry, loops, exit.

use super::{
    instructions::{Edition, Pool, compile, load_pins},
    trace::{Operation, Program, Traced, constant},
};
use crate::{Generated, assembly::Outputs};
use proofmill_field::goldilocks::{GoldilocksLanes, Planes, U64s};
use proofmill_hash::{
    State,
    poseidon::{self, FIRST_GROUP, HALF_FULL_ROUNDS, LAYERS, PARTIAL_ROUNDS, WIDTH},
};
use std::fmt::Write as _;

type V = GoldilocksLanes<Traced>;

/// An assembly function, assembled from straight-line pieces.
pub(super) struct Function {
    name: String,
    edition: Edition,
    pool: Pool,
    slots: usize,
    /// Pairs of callee-saved general registers to save.
    pub(super) saved: Vec<[usize; 2]>,
    body: String,
}

impl Function {
    pub(super) fn new(name: &str, edition: Edition) -> Self {
        Self::with_entry(name, edition, &[])
    }

    /// A function that first moves its arguments out of registers that all functions use.
    pub(super) fn with_entry(name: &str, edition: Edition, entry: &[&str]) -> Self {
        let (pool, body) = (Pool::default(), String::new());
        let mut function = Self { name: name.to_owned(), edition, pool, slots: 0, saved: Vec::new(), body };
        let all = ["ptrue p0.d", "adr x2, 90f", "mov z31.d, #0xffffffff"];
        entry.iter().chain(&all).for_each(|line| function.line(line));
        function
    }

    pub(super) fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "    {line}");
    }

    pub(super) fn label(&mut self, label: usize) {
        let _ = writeln!(self.body, "{label}:");
    }

    pub(super) fn piece(&mut self, program: &Program) {
        self.piece_with(program, &[], Outputs::InOrder);
    }

    /// Adds a piece that expects the pinned constants in their registers; returns the registers of its outputs.
    pub(super) fn piece_with(
        &mut self,
        program: &Program,
        pins: &[Operation],
        outputs: Outputs,
    ) -> Vec<usize> {
        let code = compile(program, self.edition, &mut self.pool, pins, outputs);
        self.slots = self.slots.max(code.slots);
        code.lines.iter().for_each(|line| self.line(line));
        code.outputs
    }

    /// Loads constants into the registers where pieces expect them.
    pub(super) fn pin(&mut self, pins: &[Operation]) {
        load_pins(pins, &mut self.pool).iter().for_each(|line| self.line(line));
    }

    /// The complete text; the callee-saved low halves of z8 to z15 are preserved.
    pub(super) fn text(self, comment: &str) -> String {
        let Self { name, edition, pool, slots, saved, body } = self;
        let edition = format!("{edition:?}").to_lowercase();
        let halves = [[8, 9], [10, 11], [12, 13], [14, 15]].map(|[a, b]| format!("d{a}, d{b}"));
        let saved: Vec<String> =
            halves.into_iter().chain(saved.into_iter().map(|[a, b]| format!("x{a}, x{b}"))).collect();
        let bytes = 16 * saved.len();
        let mut text = format!("// {comment}\n    .arch_extension {edition}\n    .globl {name}_{edition}\n");
        let _ = writeln!(
            text,
            "    .hidden {name}_{edition}\n    .type {name}_{edition}, %function\n    .p2align 4"
        );
        let _ = writeln!(text, "{name}_{edition}:\n    sub sp, sp, #{bytes}");
        for (k, pair) in saved.iter().enumerate() {
            let _ = writeln!(text, "    stp {pair}, [sp, #{}]", 16 * k);
        }
        // An addvl moves by at most 32 vectors.
        let frames: Vec<usize> = (0..slots.div_ceil(31)).map(|k| (slots - 31 * k).min(31)).collect();
        frames.iter().for_each(|vectors| {
            let _ = writeln!(text, "    addvl sp, sp, #-{vectors}");
        });
        let _ = writeln!(text, "{body}");
        text.truncate(text.trim_end().len());
        text.push('\n');
        frames.iter().for_each(|vectors| {
            let _ = writeln!(text, "    addvl sp, sp, #{vectors}");
        });
        for (k, pair) in saved.iter().enumerate() {
            let _ = writeln!(text, "    ldp {pair}, [sp, #{}]", 16 * k);
        }
        let _ = writeln!(text, "    add sp, sp, #{bytes}\n    ret\n    .p2align 3\n90:");
        pool.words.iter().for_each(|word| {
            let _ = writeln!(text, "    .xword {word:#x}");
        });
        let _ = writeln!(text, "    .size {name}_{edition}, . - {name}_{edition}");
        text
    }
}

/// Repeats a piece, with separate constants each time.
pub(super) fn repeat(
    function: &mut Function,
    label: usize,
    times: usize,
    program: &Program,
    constants: usize,
) {
    function.line(&format!("mov x3, #{times}"));
    function.label(label);
    function.piece(program);
    function.line(&format!("add x1, x1, #{}", 16 * constants));
    function.line("subs x3, x3, #1");
    function.line(&format!("b.ne {label}b"));
}

pub(super) fn planes(n: usize) -> Planes<Traced> {
    Planes { low: constant(2 * n), high: constant(2 * n + 1) }
}

fn state(planes: [Traced; 2 * WIDTH]) -> State<Traced, WIDTH> {
    State { low: std::array::from_fn(|i| planes[i]), high: std::array::from_fn(|i| planes[WIDTH + i]) }
}

fn outputs(state: State<Traced, WIDTH>) -> Vec<Traced> {
    state.low.into_iter().chain(state.high).collect()
}

/// Poseidon's permutation of states in lanes.
pub(crate) fn poseidon() -> Vec<Generated> {
    let enter =
        Program::record(|elements: [Traced; WIDTH]| outputs(State::of(&elements.map(GoldilocksLanes::new))));
    let full = Program::record(|words| {
        let mut state = state(words);
        poseidon::full_round::<V>(&mut state, planes);
        outputs(state)
    });
    let partial = |rounds| {
        Program::record(|words| {
            let mut state = state(words);
            poseidon::partial_rounds::<V>(&mut state, rounds, planes);
            outputs(state)
        })
    };
    let leave = Program::record(|words: [Traced; 2 * WIDTH]| {
        state(words).elements::<V>().into_iter().map(|element| element.words().canonical()).collect()
    });
    [(Edition::Sve, "crates/hash/src/poseidon/aarch64/sve.s"), (Edition::Sve2, "crates/hash/src/poseidon/aarch64/sve2.s")]
        .map(|(edition, path)| {
            let mut function = Function::new("proofmill_poseidon", edition);
            (0..WIDTH).for_each(|i| function.line(&format!("ldr z{i}, [x0, #{i}, mul vl]")));
            function.piece(&enter);
            repeat(&mut function, 1, HALF_FULL_ROUNDS, &full, WIDTH);
            function.piece(&partial(FIRST_GROUP));
            function.line(&format!("add x1, x1, #{}", 16 * FIRST_GROUP));
            repeat(&mut function, 2, PARTIAL_ROUNDS / LAYERS, &partial(LAYERS), LAYERS);
            repeat(&mut function, 3, HALF_FULL_ROUNDS, &full, WIDTH);
            function.piece(&leave);
            (0..WIDTH).for_each(|i| function.line(&format!("str z{i}, [x0, #{i}, mul vl]")));
            let text = function.text(
                "Poseidon's permutation: x0 twelve vectors of elements, x1 the round constants' planes.\n// @generated by tools/constgen from crates/hash/src/poseidon/permutation.rs; do not edit.",
            );
            Generated { path, text }
        })
        .into()
}
