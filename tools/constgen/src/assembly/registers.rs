//! Registers for straight-line programs: the value whose next use is furthest away leaves its register (Belady, 1966), a value that
//! is in memory anyway from half of that distance on, since nothing has to be written for it.
//!
//! L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5 (1966), 78-101.

use super::program::{Program, Value};
use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

/// How a value comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// By an instruction.
    Computed,
    /// It is in this register at the beginning.
    Input(usize),
    /// It is in this register, which is not one of those that are allocated, all the time.
    Fixed(usize),
    /// It is in memory all the time.
    Memory,
}

/// Where a value can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location<O> {
    Register(usize),
    /// A vector of the stack.
    Slot(usize),
    /// In memory, as the operation says.
    Memory(O),
}

/// What an operation requires of its operands and its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The result replaces the first operand.
    pub(crate) tied: bool,
    /// The result is best in the register of an operand that is not read again.
    pub(crate) in_place: bool,
    /// The last two operands may be exchanged.
    pub(crate) commutes: bool,
    /// An operand that is still read when the result has been written; of a tied operation, all but the first are.
    pub(crate) late: Option<usize>,
}

/// An instruction set, and the text of a program in it.
pub(crate) trait Target {
    type Operation: Copy + Eq + Hash;

    /// The number of registers that are allocated, from 0 on.
    fn registers(&self) -> usize;

    fn origin(&self, operation: Self::Operation) -> Origin;

    fn form(&self, operation: Self::Operation) -> Form;

    /// Whether the last operand of several may be the value of this operation while it is in memory.
    fn reads_memory(&self, operand: Self::Operation) -> bool;

    /// Writes a copy or load.
    fn copy(&mut self, to: usize, from: Location<Self::Operation>);

    /// Writes a store to the stack.
    fn spill(&mut self, slot: usize, from: usize);

    /// Writes an operation; the result's register means nothing if nothing reads it. The first operand of a tied one may be anywhere.
    fn compute(&mut self, operation: Self::Operation, result: usize, operands: &[Location<Self::Operation>]);
}

/// The registers in which a program leaves its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Output i in register i, where it is computed if the register is free then.
    InOrder,
    /// The same, moved there at the end.
    Moved,
    /// Any registers.
    Anywhere,
}

/// What a program needs and gives.
pub(crate) struct Allocated {
    /// Vectors of the stack.
    pub(crate) slots: usize,
    /// The registers of the outputs.
    pub(crate) outputs: Vec<usize>,
}

/// Writes a program; a value in memory that is read again within `near` operations is loaded into a register.
pub(crate) fn allocate<T: Target>(
    program: &Program<T::Operation>,
    target: &mut T,
    outputs: Outputs,
    near: usize,
) -> Allocated {
    let origins: Vec<Origin> = program.values().iter().map(|value| target.origin(value.operation)).collect();
    let computed: Vec<usize> =
        (0..origins.len()).filter(|value| origins[*value] == Origin::Computed).collect();
    let mut uses = vec![Vec::new(); origins.len()];
    for (at, value) in computed.iter().enumerate() {
        program.values()[*value].operands.iter().for_each(|operand| uses[*operand].push(at));
    }
    program.outputs.iter().for_each(|output| uses[*output].push(computed.len()));
    let mut held = BTreeMap::new();
    for (value, origin) in origins.iter().enumerate() {
        if let Origin::Input(register) = origin
            && !uses[value].is_empty()
        {
            assert!(*register < target.registers(), "an input in a register of another use");
            held.insert(value, *register);
        }
    }
    let is_free = |register: &usize| !held.values().any(|held| held == register);
    let homes = if outputs == Outputs::InOrder { &program.outputs[..] } else { &[] };
    let mut allocator = Allocator {
        free: (0..target.registers()).rev().filter(is_free).collect(),
        homes: homes.iter().enumerate().map(|(home, output)| (*output, home)).collect(),
        program,
        target,
        origins,
        uses,
        near,
        held,
        spilled: Vec::new(),
        free_slots: Vec::new(),
        slots: 0,
    };
    computed.iter().enumerate().for_each(|(at, value)| allocator.step(at, *value));
    let outputs = match outputs {
        Outputs::Anywhere => allocator.load_outputs(computed.len()),
        Outputs::InOrder | Outputs::Moved => allocator.move_outputs(),
    };
    Allocated { slots: allocator.slots, outputs }
}

struct Allocator<'a, T: Target> {
    program: &'a Program<T::Operation>,
    target: &'a mut T,
    origins: Vec<Origin>,
    /// When each value is read.
    uses: Vec<Vec<usize>>,
    near: usize,
    /// The registers of values.
    held: BTreeMap<usize, usize>,
    /// The last one is taken first.
    free: Vec<usize>,
    /// The registers of outputs.
    homes: HashMap<usize, usize>,
    /// Values on the stack, and their slots.
    spilled: Vec<(usize, usize)>,
    free_slots: Vec<usize>,
    slots: usize,
}

impl<T: Target> Allocator<'_, T> {
    /// The next use at `at` or later.
    fn next_use(&self, value: usize, at: usize) -> Option<usize> {
        let uses = &self.uses[value];
        uses.get(uses.partition_point(|used| *used < at)).copied()
    }

    fn location(&self, value: usize) -> Location<T::Operation> {
        if let Some(register) = self.held.get(&value) {
            return Location::Register(*register);
        }
        match (self.origins[value], self.spilled.iter().find(|(spilled, _)| *spilled == value)) {
            (Origin::Fixed(register), _) => Location::Register(register),
            (_, Some((_, slot))) => Location::Slot(*slot),
            (Origin::Memory, _) => Location::Memory(self.program.operation(value)),
            _ => unreachable!("a value is in a register or in memory"),
        }
    }

    fn locations(&self, values: &[usize]) -> Vec<Location<T::Operation>> {
        values.iter().map(|value| self.location(*value)).collect()
    }

    fn in_register(&self, value: usize) -> bool {
        matches!(self.location(value), Location::Register(_))
    }

    fn in_memory(&self, value: usize) -> bool {
        self.origins[value] == Origin::Memory || self.spilled.iter().any(|(spilled, _)| *spilled == value)
    }

    /// A register for a value that is written at time `at`; neither it nor a slot written to for it is one of `keep`.
    fn register(&mut self, value: usize, at: usize, keep: &[Location<T::Operation>]) -> usize {
        let usable = |register: &usize| !keep.contains(&Location::Register(*register));
        let home = self.homes.get(&value).copied();
        let at_home = home.and_then(|home| self.free.iter().position(|register| *register == home));
        let away = |register: &usize| usable(register) && *register >= self.homes.len();
        let free = at_home
            .filter(|index| usable(&self.free[*index]))
            .or_else(|| self.free.iter().rposition(away))
            .or_else(|| self.free.iter().rposition(usable));
        if let Some(index) = free {
            return self.free.remove(index);
        }
        let distance = |value: usize| match self.next_use(value, at) {
            Some(next) => (next - at) * if self.in_memory(value) { 2 } else { 1 },
            None => usize::MAX,
        };
        let candidates = self.held.iter().filter(|(_, register)| usable(register));
        let Some(victim) = candidates.map(|(value, _)| *value).max_by_key(|value| distance(*value)) else {
            unreachable!("an operation reads fewer values than there are registers")
        };
        let register = self.held.remove(&victim).unwrap_or_default();
        if !self.in_memory(victim) && self.next_use(victim, at).is_some() {
            let free = self.free_slots.iter().rposition(|slot| !keep.contains(&Location::Slot(*slot)));
            let slot = free.map(|index| self.free_slots.remove(index)).unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            self.spilled.push((victim, slot));
            self.target.spill(slot, register);
        }
        register
    }

    /// Whether the value is an output whose register is free.
    fn home_is_free(&self, value: usize) -> bool {
        self.homes.get(&value).is_some_and(|home| self.free.contains(home))
    }

    /// Loads a value unless it is in a register; those of `others` stay.
    fn require(&mut self, value: usize, at: usize, others: &[usize]) {
        let from = self.location(value);
        if !matches!(from, Location::Register(_)) {
            let register = self.register(value, at, &self.locations(others));
            self.target.copy(register, from);
            self.held.insert(value, register);
        }
    }

    /// Loads a value that is read again soon.
    fn require_if_near(&mut self, value: usize, at: usize, others: &[usize]) {
        if self.next_use(value, at + 1).is_some_and(|next| next - at <= self.near) {
            self.require(value, at, others);
        }
    }

    /// Frees what is not read after `at`.
    fn retire(&mut self, at: usize) {
        let is_read = |value: usize| self.uses[value].last().is_some_and(|last| *last > at);
        let dead: Vec<usize> = self.held.keys().copied().filter(|value| !is_read(*value)).collect();
        let slots = self.spilled.extract_if(.., |(value, _)| !is_read(*value)).map(|(_, slot)| slot);
        self.free_slots.extend(slots);
        for value in dead {
            self.free.extend(self.held.remove(&value));
        }
    }

    fn step(&mut self, at: usize, value: usize) {
        let Value { operation, operands } = &self.program.values()[value];
        let Form { tied, in_place, commutes, late } = self.target.form(*operation);
        let mut operands = operands.clone();
        let dies =
            |operand: usize| self.held.contains_key(&operand) && self.next_use(operand, at + 1).is_none();
        if commutes && let [first @ .., x, y] = &mut operands[..] {
            let exchange = if tied && first.is_empty() {
                dies(*y) && !dies(*x)
            } else {
                self.in_register(*y) && !self.in_register(*x)
            };
            if exchange {
                std::mem::swap(x, y);
            }
        }
        let replaces = operands.first().copied().filter(|first| tied && dies(*first));
        let first = usize::from(tied);
        for index in first..operands.len() {
            let last = index > 0 && index + 1 == operands.len();
            if last && self.target.reads_memory(self.program.operation(operands[index])) {
                self.require_if_near(operands[index], at, &operands);
            } else {
                self.require(operands[index], at, &operands);
            }
        }
        if let Some(register) = replaces.and_then(|first| self.held.get(&first).copied()) {
            self.target.compute(*operation, register, &self.locations(&operands));
            self.held.retain(|_, held| *held != register);
            self.held.insert(value, register);
            self.retire(at);
            return;
        }
        if tied {
            self.require_if_near(operands[0], at, &operands);
        }
        let sources = self.locations(&operands);
        let is_late =
            |index: usize| tied || late == Some(index) || matches!(sources[index], Location::Slot(_));
        let keep: Vec<_> =
            (0..sources.len()).filter(|index| is_late(*index)).map(|index| sources[index]).collect();
        if self.uses[value].is_empty() {
            self.target.compute(*operation, usize::MAX, &sources);
            self.retire(at);
        } else if tied {
            let register = self.register(value, at, &keep);
            self.target.compute(*operation, register, &sources);
            self.held.insert(value, register);
            self.retire(at);
        } else {
            self.retire(at);
            let is_source = |register: &usize| {
                let register = Location::Register(*register);
                sources.contains(&register) && !keep.contains(&register)
            };
            let register = match self.free.iter().rposition(is_source) {
                Some(index) if in_place && !self.home_is_free(value) => self.free.remove(index),
                _ => self.register(value, at + 1, &keep),
            };
            self.target.compute(*operation, register, &sources);
            self.held.insert(value, register);
        }
    }

    /// Loads the outputs that are not in registers.
    fn load_outputs(&mut self, at: usize) -> Vec<usize> {
        let program = self.program;
        program.outputs.iter().for_each(|output| self.require(*output, at, &program.outputs));
        program
            .outputs
            .iter()
            .map(|output| match self.location(*output) {
                Location::Register(register) => register,
                _ => unreachable!("loaded"),
            })
            .collect()
    }

    /// Moves output i to register i, first those that are in registers.
    fn move_outputs(&mut self) -> Vec<usize> {
        let outputs = &self.program.outputs;
        loop {
            let register_of = |home: usize| self.held.get(&outputs[home]).copied();
            let is_source =
                |register: usize| (0..outputs.len()).any(|home| register_of(home) == Some(register));
            let mut waiting = (0..outputs.len())
                .filter_map(|home| Some((home, register_of(home)?)))
                .filter(|(home, register)| home != register);
            let Some((_, register)) = waiting.clone().next() else { break };
            let (home, register) = waiting.find(|(home, _)| !is_source(*home)).unwrap_or_else(|| {
                // A cycle: one value moves to another register.
                match (0..self.target.registers()).find(|register| !is_source(*register)) {
                    Some(aside) => (aside, register),
                    None => unreachable!("there are more registers than outputs"),
                }
            });
            self.target.copy(home, Location::Register(register));
            let moved = self.held.iter().find(|(_, held)| **held == register).map(|(value, _)| *value);
            self.held.extend(moved.map(|value| (value, home)));
        }
        for (home, output) in outputs.iter().enumerate() {
            if !self.held.contains_key(output) {
                self.target.copy(home, self.location(*output));
            }
        }
        (0..outputs.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Operation {
        Input(usize),
        Constant(u64),
        Fixed,
        /// A function of its own of the operands.
        Mix {
            function: u64,
            tied: bool,
            commutes: bool,
            late: Option<usize>,
        },
    }

    const REGISTERS: usize = 6;

    /// A machine that executes instructions instead of writing them, and destroys what they may overwrite.
    struct Machine<const READS_MEMORY: bool> {
        registers: [u64; REGISTERS + 1],
        slots: Vec<u64>,
    }

    /// The finaliser of SplitMix64.
    fn mix(a: u64, b: u64) -> u64 {
        let word = a.wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn result(function: u64, commutes: bool, operands: &[u64]) -> u64 {
        match operands {
            [first @ .., a, b] if commutes => {
                first.iter().fold(mix(function, a ^ b), |word, a| mix(word, *a))
            }
            _ => operands.iter().fold(function, |word, a| mix(word, *a)),
        }
    }

    impl<const READS_MEMORY: bool> Machine<READS_MEMORY> {
        fn read(&self, location: Location<Operation>) -> u64 {
            match location {
                Location::Register(register) => self.registers[register],
                Location::Slot(slot) => self.slots[slot],
                Location::Memory(Operation::Constant(word)) => word,
                Location::Memory(_) => unreachable!("only constants are in memory"),
            }
        }
    }

    impl<const READS_MEMORY: bool> Target for Machine<READS_MEMORY> {
        type Operation = Operation;

        fn reads_memory(&self, operand: Operation) -> bool {
            READS_MEMORY && !matches!(operand, Operation::Constant(word) if word % 2 == 1)
        }

        fn registers(&self) -> usize {
            REGISTERS
        }

        fn origin(&self, operation: Operation) -> Origin {
            match operation {
                Operation::Input(register) => Origin::Input(register),
                Operation::Constant(_) => Origin::Memory,
                Operation::Fixed => Origin::Fixed(REGISTERS),
                Operation::Mix { .. } => Origin::Computed,
            }
        }

        fn form(&self, operation: Operation) -> Form {
            match operation {
                Operation::Mix { function, tied, commutes, late } => {
                    Form { tied, in_place: function % 2 == 0, commutes, late }
                }
                _ => unreachable!("not computed"),
            }
        }

        fn copy(&mut self, to: usize, from: Location<Operation>) {
            self.registers[to] = self.read(from);
        }

        fn spill(&mut self, slot: usize, from: usize) {
            self.slots.resize(self.slots.len().max(slot + 1), 0);
            self.slots[slot] = self.registers[from];
        }

        fn compute(&mut self, operation: Operation, to: usize, operands: &[Location<Operation>]) {
            let Operation::Mix { function, tied, commutes, late } = operation else { unreachable!() };
            for (index, operand) in operands.iter().enumerate() {
                let last = index > 0 && index + 1 == operands.len();
                let may_be_in_memory = match operand {
                    Location::Register(_) => true,
                    Location::Memory(operation) => self.reads_memory(*operation) && last,
                    Location::Slot(_) => READS_MEMORY && last,
                };
                assert!(may_be_in_memory || tied && index == 0);
            }
            let mut words: Vec<u64> = operands.iter().map(|operand| self.read(*operand)).collect();
            if tied {
                self.registers[to] = words[0];
            } else {
                self.registers[to] = !0;
            }
            for (index, operand) in operands.iter().enumerate() {
                if late == Some(index) || tied {
                    words[index] =
                        self.read(if tied && index == 0 { Location::Register(to) } else { *operand });
                }
            }
            self.registers[to] = result(function, commutes, &words);
        }
    }

    /// A random program of values that are read soon, or late, or by several operations.
    fn program(seed: u64) -> Program<Operation> {
        let mut count = 0;
        let mut random = |below: usize| {
            count += 1;
            (mix(seed, count) % below as u64) as usize
        };
        let mut program = Program::default();
        (0..4).for_each(|register| _ = program.value(Operation::Input(register), &[]));
        (0..4).for_each(|word| _ = program.value(Operation::Constant(mix(word, 0)), &[]));
        program.value(Operation::Fixed, &[]);
        for function in 0..60 {
            let count = program.values().len();
            let operands: Vec<usize> = (0..1 + random(3))
                .map(|_| if random(2) == 0 { random(count) } else { count - 1 - random(5) })
                .collect();
            let tied = random(3) == 0;
            let late = Some(random(operands.len())).filter(|_| !tied && random(2) == 0);
            let commutes = late.is_none() && random(2) == 0;
            program.value(Operation::Mix { function, tied, commutes, late }, &operands);
        }
        let count = program.values().len();
        program.outputs = (0..5).map(|output| count - 1 - (7 * output + seed as usize) % 40).collect();
        program.without_unread(|_| false)
    }

    fn evaluated(program: &Program<Operation>) -> Vec<u64> {
        let mut words: Vec<u64> = Vec::new();
        for Value { operation, operands } in program.values() {
            let operands: Vec<u64> = operands.iter().map(|operand| words[*operand]).collect();
            words.push(match *operation {
                Operation::Input(register) => register as u64,
                Operation::Constant(word) => word,
                Operation::Fixed => REGISTERS as u64,
                Operation::Mix { function, commutes, .. } => result(function, commutes, &operands),
            });
        }
        program.outputs.iter().map(|output| words[*output]).collect()
    }

    fn check<const READS_MEMORY: bool>(outputs: Outputs) {
        let mut slots = 0;
        for seed in 0..500 {
            let program = program(seed);
            let mut machine: Machine<READS_MEMORY> =
                Machine { registers: std::array::from_fn(|register| register as u64), slots: Vec::new() };
            let allocated = allocate(&program, &mut machine, outputs, seed as usize % 20);
            if outputs != Outputs::Anywhere {
                assert_eq!(allocated.outputs, [0, 1, 2, 3, 4]);
            }
            let words: Vec<u64> =
                allocated.outputs.iter().map(|register| machine.registers[*register]).collect();
            assert_eq!(words, evaluated(&program), "seed {seed}");
            assert!(machine.slots.len() <= allocated.slots);
            slots = slots.max(allocated.slots);
        }
        assert!(slots > 2, "values are spilled");
    }

    #[test]
    fn programs_compute_their_values() {
        for outputs in [Outputs::InOrder, Outputs::Moved, Outputs::Anywhere] {
            check::<false>(outputs);
            check::<true>(outputs);
        }
    }
}
