//! The scheduler: cycle by cycle, the oldest vectors of elements first, and of each the instruction with the longest way to the end.

use super::{
    Action, KernelSchedule, Placed,
    needs::{Needs, Registers},
};
use crate::{device::TileDescription, limbs::TileProgram};
use std::collections::HashSet;

/// For how many cycles after the current one a register has to be free, so that it is taken. With few cycles, an iteration goes on as soon as it
/// can. With as many as most results wait for their readers, it leaves the registers to earlier iterations. Neither is the best for all kernels,
/// so the second is tried if the first finds no loop.
const AHEAD: [usize; 2] = [1, 12];

/// Iterations that may overlap: so many sets of a program's words in memory are used in turn.
const OVERLAPPING: usize = 4;

pub(super) struct Scheduler<'a> {
    tile: &'a TileDescription,
    needs: Needs<'a>,
    instructions: usize,
    /// Vectors of elements in one iteration.
    at_once: usize,
    /// Cycles after which a result is there, even if it is stored and loaded.
    longest: usize,
    /// The registers that constants leave free.
    capacity: Registers,
    /// The registers that one vector of elements needs at least, to come to its end.
    reserve: Registers,
}

/// A vector of elements and how far it has come.
struct InFlight {
    issued: Vec<Option<usize>>,
    /// How many instructions each one still waits for.
    missing: Vec<usize>,
    readers: Vec<usize>,
    available: Vec<usize>,
    /// The next instructions that take a register. They are in order, so that instructions that free one are never blocked.
    next: [usize; 2],
    held: Registers,
    left: usize,
}

/// Slots and registers by cycle.
struct Table {
    period: Option<usize>,
    rows: Vec<Vec<Placed>>,
    registers: Vec<Registers>,
    /// The registers that earlier iterations take in the current cycle and soon after it.
    overlapped: Registers,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(
        tile: &'a TileDescription,
        program: &'a TileProgram,
        at_once: usize,
        registers: usize,
    ) -> Self {
        let needs = Needs::new(program, tile);
        let reserve = needs.most();
        let all = (0..program.instructions.len()).map(|index| needs.timing(index).last());
        let longest =
            all.max().unwrap_or(0) + tile.instructions.store.last() + tile.instructions.load.latency;
        Self {
            tile,
            needs,
            instructions: program.instructions.len(),
            at_once,
            longest,
            capacity: Registers { vectors: registers, accumulators: tile.accumulators },
            reserve,
        }
    }

    /// The cycles that the slots need at least: by each set of slots that some instructions cannot do without.
    pub(super) fn bound(&self) -> usize {
        let mut uses: Vec<(&[String], usize)> = Vec::new();
        for index in 0..self.instructions {
            uses.push((&self.needs.timing(index).slots, self.needs.timing(index).issues));
            uses.extend(
                self.needs.loads[index].iter().map(|_| (self.tile.instructions.load.slots.as_slice(), 1)),
            );
        }
        let sets: HashSet<_> = uses.iter().map(|(slots, _)| *slots).collect();
        let of_set = |set: &&[String]| {
            let within = uses.iter().filter(|(slots, _)| slots.iter().all(|slot| set.contains(slot)));
            let issues: usize = within.map(|(_, issues)| issues).sum();
            (issues * self.at_once).div_ceil(set.len())
        };
        sets.iter().map(of_set).max().unwrap_or(1).max(1)
    }

    /// A schedule of one iteration alone, if there are enough registers.
    pub(super) fn alone(&self) -> Option<KernelSchedule> {
        self.run(None, 0)
    }

    /// A loop with this many cycles, if there are enough registers and the program fits its memory.
    pub(super) fn overlapped(&self, period: usize) -> Option<KernelSchedule> {
        AHEAD.into_iter().find_map(|ahead| self.run(Some(period), ahead))
    }

    fn run(&self, period: Option<usize>, ahead: usize) -> Option<KernelSchedule> {
        if self.reserve.vectors > self.capacity.vectors
            || self.reserve.accumulators > self.capacity.accumulators
        {
            return None;
        }
        let mut copies: Vec<_> = (0..self.at_once).map(|_| self.copy()).collect();
        let rows = vec![Vec::new(); period.unwrap_or(0)];
        let mut table = Table { period, rows, registers: Vec::new(), overlapped: Registers::default() };
        // Loads come before the first instruction.
        let (mut cycle, mut last) = (self.tile.instructions.load.latency, 0);
        let mut candidates = Vec::new();
        while copies.iter().any(|copy| copy.left > 0) {
            let oldest = copies.iter().position(|copy| copy.left > 0).unwrap_or(0);
            table.look_ahead(cycle, ahead);
            for copy in oldest..copies.len() {
                candidates.clone_from(&copies[copy].available);
                candidates.retain(|index| copies[copy].is_ready(*index, cycle, &self.needs));
                candidates.sort_unstable_by_key(|index| (usize::MAX - self.needs.path[*index], *index));
                for index in candidates.iter().copied() {
                    if self.issue(&mut copies, oldest, copy, index, cycle, &mut table) {
                        last = cycle;
                    }
                }
            }
            let held = copies.iter().fold(Registers::default(), |sum, copy| sum.plus(copy.held));
            table.hold(cycle, held);
            if !table.fits(cycle, self.capacity) {
                return None;
            }
            cycle += 1;
            let span = cycle - self.tile.instructions.load.latency;
            if period.is_some_and(|period| span > self.longest_span(period)) {
                return None;
            }
            // Every row was tried, and nothing is being computed: registers do not suffice.
            if cycle > last + self.longest + period.unwrap_or(1) {
                return None;
            }
        }
        self.finish(&copies, table)
    }

    /// The most cycles of an iteration with which the program fits its memory.
    fn longest_span(&self, period: usize) -> usize {
        (self.tile.words() + period) / 2
    }

    fn copy(&self) -> InFlight {
        let missing: Vec<_> = self.needs.before.iter().map(Vec::len).collect();
        let mut copy = InFlight {
            issued: vec![None; self.instructions],
            available: (0..self.instructions).filter(|index| missing[*index] == 0).collect(),
            missing,
            readers: self.needs.readers.clone(),
            next: [0; 2],
            held: Registers::default(),
            left: self.instructions,
        };
        copy.skip(&self.needs);
        copy
    }

    /// Issues an instruction in a cycle if everything that it needs is there.
    fn issue(
        &self,
        copies: &mut [InFlight],
        oldest: usize,
        copy: usize,
        index: usize,
        cycle: usize,
        table: &mut Table,
    ) -> bool {
        let this = &copies[copy];
        let result = self.needs.results[index];
        let in_order = (result.vectors == 0 || this.next[0] == index)
            && (result.accumulators == 0 || this.next[1] == index);
        if !in_order {
            return false;
        }
        let Some(freed) = self.freed(copies, oldest, copy, index, cycle, table) else { return false };
        let Some(places) = self.places_of_loads(this, index, cycle, table) else { return false };
        let timing = self.needs.timing(index);
        let free = |slot: &&usize| (0..timing.issues).all(|issue| table.is_free(cycle + issue, **slot));
        let Some(&slot) = self.needs.slots[index].iter().find(free) else { return false };
        for (at, slot, word) in places {
            table.place(Placed {
                slot,
                vector: copy,
                action: Action::Load { word, reader: index },
                cycle: at,
            });
            let arrives = at + self.tile.instructions.load.latency;
            (arrives..=cycle).for_each(|waiting| table.load(waiting));
        }
        for issue in 0..timing.issues {
            table.place(Placed {
                slot,
                vector: copy,
                action: Action::Instruction(index),
                cycle: cycle + issue,
            });
        }
        copies[copy].issued(index, cycle, freed, result, &self.needs);
        true
    }

    /// The registers that an instruction frees, if there are enough for its result and for what it loads.
    fn freed(
        &self,
        copies: &[InFlight],
        oldest: usize,
        copy: usize,
        index: usize,
        cycle: usize,
        table: &Table,
    ) -> Option<Registers> {
        let this = &copies[copy];
        let result = self.needs.results[index];
        let freed = self.needs.reads[index].iter().filter(|from| this.readers[**from] == 1);
        let freed = freed.fold(Registers::default(), |sum, from| sum.plus(self.needs.results[*from]));
        let held = copies
            .iter()
            .fold(Registers::default(), |sum, copy| sum.plus(copy.held))
            .less(freed)
            .plus(result);
        let kept = if copy == oldest {
            Registers::default()
        } else {
            let oldest = &copies[oldest];
            Registers {
                vectors: self.reserve.vectors.saturating_sub(oldest.held.vectors),
                accumulators: self.reserve.accumulators.saturating_sub(oldest.held.accumulators),
            }
        };
        let loads = self.needs.loads[index].len();
        let overlapped = table.overlapped;
        let fits = |used: usize, freed: usize, result: usize, kept: usize, capacity: usize| {
            result <= freed || used + kept <= capacity
        };
        let accumulators = self.capacity.accumulators.saturating_sub(overlapped.accumulators);
        let vectors = self.capacity.vectors.saturating_sub(overlapped.vectors);
        let with_loads = held.vectors + loads;
        let has_room =
            fits(held.accumulators, freed.accumulators, result.accumulators, kept.accumulators, accumulators)
                && fits(with_loads, freed.vectors, result.vectors + loads, kept.vectors, vectors)
                && table.loaded(cycle) + with_loads <= vectors;
        has_room.then_some(freed)
    }

    /// Where the loads of an instruction go, as late as they can: the cycle, the slot and the word of each.
    fn places_of_loads(
        &self,
        this: &InFlight,
        index: usize,
        cycle: usize,
        table: &Table,
    ) -> Option<Vec<(usize, usize, usize)>> {
        let load = &self.tile.instructions.load;
        let mut places: Vec<(usize, usize, usize)> = Vec::new();
        for word in &self.needs.loads[index] {
            let stored = self.stored(this, index, *word);
            let latest = cycle - load.latency;
            let place = (stored..=latest).rev().take(load.latency).find_map(|at| {
                let taken = |slot| places.iter().any(|(other, taken, _)| (*other, *taken) == (at, slot));
                let free = |slot: &&usize| table.is_free(at, **slot) && !taken(**slot);
                let slot = *self.needs.load_slots.iter().find(free)?;
                // It is in its register from when it arrives.
                let waits = at + load.latency..cycle;
                waits
                    .into_iter()
                    .all(|waiting| table.has_register(waiting, self.capacity.vectors))
                    .then_some((at, slot, *word))
            });
            places.push(place?);
        }
        Some(places)
    }

    /// The first cycle in which a word can be loaded.
    fn stored(&self, copy: &InFlight, index: usize, word: usize) -> usize {
        let stores = self.needs.before[index].iter().filter(|(from, _)| self.needs.stores(*from, word));
        stores
            .map(|(from, _)| copy.issued[*from].unwrap_or(0) + self.tile.instructions.store.last())
            .max()
            .unwrap_or(0)
    }

    fn finish(&self, copies: &[InFlight], mut table: Table) -> Option<KernelSchedule> {
        let cycles = table.rows.iter().flatten().map(|placed| placed.cycle);
        let (first, last) = (cycles.clone().min()?, cycles.max()?);
        let span = last + 1 - first;
        if table.period.is_none() {
            table.rows.drain(..first);
        }
        let most = table.most();
        let fits = most.vectors <= self.capacity.vectors && most.accumulators <= self.capacity.accumulators;
        let long = |copy: &InFlight| {
            let issued = copy.issued.iter().flatten();
            issued.clone().max().unwrap_or(&0) - issued.min().unwrap_or(&0)
                + self.tile.instructions.load.latency
        };
        if !fits
            || table.period.is_some_and(|period| {
                span > self.longest_span(period)
                    || copies.iter().any(|copy| long(copy) > OVERLAPPING * period)
            })
        {
            return None;
        }
        table.rows.iter_mut().flatten().for_each(|placed| placed.cycle -= first);
        Some(KernelSchedule {
            rows: table.rows,
            vectors: self.at_once,
            span,
            registers: most.vectors,
            accumulators: most.accumulators,
            slots: Vec::new(),
        })
    }
}

impl InFlight {
    /// Whether the results that an instruction waits for are there.
    fn is_ready(&self, index: usize, cycle: usize, needs: &Needs<'_>) -> bool {
        let mut before = needs.before[index].iter();
        before.all(|(from, cycles)| self.issued[*from].is_some_and(|issued| issued + cycles <= cycle))
    }

    fn issued(&mut self, index: usize, cycle: usize, freed: Registers, result: Registers, needs: &Needs<'_>) {
        self.issued[index] = Some(cycle);
        self.available.retain(|available| *available != index);
        self.left -= 1;
        self.held = self.held.less(freed);
        if needs.readers[index] > 0 {
            self.held = self.held.plus(result);
        }
        needs.reads[index].iter().for_each(|from| self.readers[*from] -= 1);
        for after in &needs.after[index] {
            self.missing[*after] -= 1;
            if self.missing[*after] == 0 {
                self.available.push(*after);
            }
        }
        self.skip(needs);
    }

    /// Moves to the next instructions that take registers.
    fn skip(&mut self, needs: &Needs<'_>) {
        let takes =
            [|registers: Registers| registers.vectors > 0, |registers: Registers| registers.accumulators > 0];
        for (next, takes) in self.next.iter_mut().zip(takes) {
            while *next < self.issued.len() && (self.issued[*next].is_some() || !takes(needs.results[*next]))
            {
                *next += 1;
            }
        }
    }
}

impl Table {
    fn row(&self, cycle: usize) -> usize {
        self.period.map_or(cycle, |period| cycle % period)
    }

    fn is_free(&self, cycle: usize, slot: usize) -> bool {
        self.rows.get(self.row(cycle)).is_none_or(|row| row.iter().all(|placed| placed.slot != slot))
    }

    fn place(&mut self, placed: Placed) {
        let row = self.row(placed.cycle);
        if self.rows.len() <= row {
            self.rows.resize(row + 1, Vec::new());
        }
        self.rows[row].push(placed);
    }

    fn at(&mut self, cycle: usize) -> &mut Registers {
        if self.registers.len() <= cycle {
            self.registers.resize(cycle + 1, Registers::default());
        }
        &mut self.registers[cycle]
    }

    /// The registers that loaded vectors take in the current cycle.
    fn loaded(&self, cycle: usize) -> usize {
        self.registers.get(cycle).map_or(0, |registers| registers.vectors)
    }

    /// Finds what earlier iterations take in a cycle and soon after it.
    fn look_ahead(&mut self, cycle: usize, ahead: usize) {
        let soon = (cycle..=cycle + ahead).map(|cycle| self.earlier(cycle));
        self.overlapped = soon.fold(Registers::default(), Registers::most);
    }

    /// The registers that earlier iterations take in a cycle.
    fn earlier(&self, cycle: usize) -> Registers {
        let Some(period) = self.period else { return Registers::default() };
        let iterations = (1..=cycle / period).map(|iteration| cycle - iteration * period);
        let registers = iterations.filter_map(|cycle| self.registers.get(cycle));
        registers.fold(Registers::default(), |sum, registers| sum.plus(*registers))
    }

    /// Whether a vector may wait in a register in a cycle before the current one.
    fn has_register(&self, cycle: usize, capacity: usize) -> bool {
        self.registers.get(cycle).is_none_or(|registers| registers.vectors < capacity)
    }

    fn load(&mut self, cycle: usize) {
        self.at(cycle).vectors += 1;
    }

    /// Whether there are registers for the values that are held in a cycle, in all iterations that overlap.
    fn fits(&self, cycle: usize, capacity: Registers) -> bool {
        let Registers { vectors, accumulators } =
            self.earlier(cycle).plus(self.registers.get(cycle).copied().unwrap_or_default());
        vectors <= capacity.vectors && accumulators <= capacity.accumulators
    }

    /// Adds the registers that are held in a cycle, after its last instruction.
    fn hold(&mut self, cycle: usize, held: Registers) {
        let registers = self.at(cycle);
        *registers = registers.plus(held);
    }

    /// The most registers in use, in all iterations that overlap.
    fn most(&self) -> Registers {
        let mut sums = vec![Registers::default(); self.period.unwrap_or(self.registers.len())];
        for (cycle, registers) in self.registers.iter().enumerate() {
            let row = self.row(cycle);
            sums[row] = sums[row].plus(*registers);
        }
        sums.into_iter().fold(Registers::default(), Registers::most)
    }
}
