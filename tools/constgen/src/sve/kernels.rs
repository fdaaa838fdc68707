//! The kernels' frames: entry, loops, exit.

use super::{
    registers::{Edition, Pool, compile},
    trace::{Program, Traced, constant},
};
use crate::Generated;
use proofmill_field::goldilocks::{Lanes, Planes, Words};
use proofmill_hash::poseidon::{FIRST_GROUP, HALF_FULL_ROUNDS, LAYERS, PARTIAL_ROUNDS, State, WIDTH};
use std::fmt::Write as _;

type V = Lanes<Traced>;

/// A function in assembly, put together from straight-line pieces.
struct Function {
    name: &'static str,
    edition: Edition,
    pool: Pool,
    slots: usize,
    body: String,
}

impl Function {
    fn new(name: &'static str, edition: Edition) -> Self {
        Self { name, edition, pool: Pool::default(), slots: 0, body: String::new() }
    }

    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "    {line}");
    }

    fn label(&mut self, label: usize) {
        let _ = writeln!(self.body, "{label}:");
    }

    fn piece(&mut self, program: &Program) {
        let code = compile(program, self.edition, &mut self.pool);
        self.slots = self.slots.max(code.slots);
        code.lines.iter().for_each(|line| self.line(line));
    }

    /// The whole text; the callee-saved low halves of z8 to z15 are kept.
    fn text(self, comment: &str) -> String {
        let Self { name, edition, pool, slots, body } = self;
        let (edition, saved) =
            (format!("{edition:?}").to_lowercase(), [(8, 9), (10, 11), (12, 13), (14, 15)]);
        let mut text = format!("// {comment}\n    .arch_extension {edition}\n    .globl {name}_{edition}\n");
        let _ = writeln!(
            text,
            "    .hidden {name}_{edition}\n    .type {name}_{edition}, %function\n    .p2align 4"
        );
        let _ = writeln!(text, "{name}_{edition}:\n    sub sp, sp, #64");
        for (k, (a, b)) in saved.iter().enumerate() {
            let _ = writeln!(text, "    stp d{a}, d{b}, [sp, #{}]", 16 * k);
        }
        // One addvl moves by at most 32 vectors.
        let frames: Vec<usize> = (0..slots.div_ceil(31)).map(|k| (slots - 31 * k).min(31)).collect();
        frames.iter().for_each(|vectors| {
            let _ = writeln!(text, "    addvl sp, sp, #-{vectors}");
        });
        let _ = writeln!(text, "    ptrue p0.d\n    adr x2, 90f\n    mov z31.d, #0xffffffff\n{body}");
        text.truncate(text.trim_end().len());
        text.push('\n');
        frames.iter().for_each(|vectors| {
            let _ = writeln!(text, "    addvl sp, sp, #{vectors}");
        });
        for (k, (a, b)) in saved.iter().enumerate() {
            let _ = writeln!(text, "    ldp d{a}, d{b}, [sp, #{}]", 16 * k);
        }
        let _ = writeln!(text, "    add sp, sp, #64\n    ret\n    .p2align 3\n90:");
        pool.words.iter().for_each(|word| {
            let _ = writeln!(text, "    .xword {word:#x}");
        });
        let _ = writeln!(text, "    .size {name}_{edition}, . - {name}_{edition}");
        text
    }
}

fn planes(n: usize) -> Planes<Traced> {
    Planes { low: constant(2 * n), high: constant(2 * n + 1) }
}

fn state(planes: [Traced; 2 * WIDTH]) -> State<Traced> {
    State { low: std::array::from_fn(|i| planes[i]), high: std::array::from_fn(|i| planes[WIDTH + i]) }
}

fn outputs(state: State<Traced>) -> Vec<Traced> {
    state.low.into_iter().chain(state.high).collect()
}

/// The permutation of Poseidon on states side by side.
pub(crate) fn poseidon() -> Vec<Generated> {
    let enter = Program::record(|elements: [Traced; WIDTH]| outputs(State::of(&elements.map(Lanes::new))));
    let full = Program::record(|words| {
        let mut state = state(words);
        state.full_round::<V>(planes);
        outputs(state)
    });
    let partial = |rounds| {
        Program::record(|words| {
            let mut state = state(words);
            state.partial_rounds::<V>(rounds, planes);
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
            let repeat = |function: &mut Function, label, times: usize, program: &Program, constants: usize| {
                function.line(&format!("mov x3, #{times}"));
                function.label(label);
                function.piece(program);
                function.line(&format!("add x1, x1, #{}", 16 * constants));
                function.line("subs x3, x3, #1");
                function.line(&format!("b.ne {label}b"));
            };
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
