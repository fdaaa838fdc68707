//! Executes a circuit's WASM on inputs that are known, or that are nodes of a graph: addresses and integers are known, field elements may be nodes.
//!
//! Where a branch depends on inputs, both ways are followed, first the one that the sample does not take; where they meet, what
//! differs becomes a choice between the two. A way that ends in an error, or that cannot be followed, is not taken into the graph:
//! a guard demands that the branch goes as for the sample. Guards do the same for loops' conditions and indices that depend on
//! inputs.

use super::{
    Print, Way,
    code::{Code, Op, Product, Slot, SlotSum},
    memory::{Checkpoint, CircuitMemory, ElementOperand, Joined, WrittenWords},
    module::{Module, WasmFunction},
    nodes::Nodes,
    value::{ConditionalValue, SymbolicValue, Truth},
};
use crate::{
    graph::{Binary, Guard},
    input::shown,
    wasm::{Limits, element::WasmElement, host},
};
use proofmill_circom::ScalarPrime;
use proofmill_field::Fp;

/// The deepest stack of calls and of ways through branches.
const DEEPEST: usize = 10_000;
/// The most nodes, and the bytes of memory for which there may be one: a small memory must not make a large graph.
const MOST_NODES: u64 = 1 << 28;
const BYTES_OF_MEMORY_FOR_A_NODE: u64 = 8;
/// The most arguments of a call.
const MOST_ARGUMENTS: usize = 16;
/// The most steps on a way that the sample does not take.
const LONGEST_WAY: u64 = 1 << 28;

/// The host functions that circom 2 calls after a failed assertion.
const ERRORS: [&str; 2] = ["exceptionHandler", "printErrorMessage"];

/// A function that is executed.
struct Frame<'a> {
    code: &'a Code,
    /// The index of the function's first slot.
    slots: usize,
    /// The ways that have returned while others go on, and the checkpoint from which their changes count.
    returned: Vec<Returned>,
    checkpoint: Checkpoint,
    /// The branches whose ways are being followed.
    forks: usize,
}

struct Returned {
    condition: Truth,
    result: SymbolicValue,
    written: WrittenWords,
}

/// The end of a part of a function.
enum End {
    /// The position where it was to stop is reached.
    Reached,
    /// A return.
    Returned(SymbolicValue),
}

/// The machine's state before a way, to go back there.
struct Before {
    checkpoint: Checkpoint,
    outer: Checkpoint,
    slots: Vec<SymbolicValue>,
    returned: usize,
    guards: usize,
    path: Option<Truth>,
    way_ends: u64,
    depth: usize,
}

/// The state of an execution. Its inputs are nodes if it is symbolic, otherwise known.
pub(super) struct WasmMachine<'a, P: ScalarPrime, const SYMBOLIC: bool> {
    pub(super) module: &'a Module,
    pub(super) memory: CircuitMemory<SYMBOLIC>,
    pub(super) nodes: Nodes<P>,
    pub(super) guards: Vec<Guard>,
    pub(super) prints: Vec<Print<u32>>,
    choices: Vec<ConditionalValue>,
    /// The node of the input that the machine sets now.
    pub(super) input: Option<u32>,
    /// The element that the outermost call made an integer last.
    pub(super) normalised: Option<ElementOperand<P>>,
    /// The element that circom 2 shares with its host.
    pub(super) shared: u32,
    /// The address where circom 2 keeps the top of its stack. Bytes above the top are dead when a function returns.
    pub(super) stack_top: Option<u32>,
    /// The slots of all functions that run, the innermost function's last.
    slots: Vec<SymbolicValue>,
    /// The number of calls and ways that the current operation stands in.
    depth: usize,
    /// The condition on which the circuit goes the way that the machine follows; `None` if the circuit always does.
    path: Option<Truth>,
    steps: u64,
    /// The number of steps at which the machine gives up the way that it follows; [`Self::most_steps`] outside of ways.
    way_ends: u64,
    most_steps: u64,
    /// The bound, for the memory's size, of the numbers of nodes, guards, choices and changes that the machine keeps.
    most_kept: usize,
    /// The caller's bound of the number of nodes.
    pub(super) most_nodes: usize,
}

impl<'a, P: ScalarPrime, const SYMBOLIC: bool> WasmMachine<'a, P, SYMBOLIC> {
    /// A machine before its first call.
    pub(super) fn new(module: &'a Module, limits: Limits) -> Result<Self, Way> {
        let mut memory = CircuitMemory::new(module.pages, limits.memory)?;
        for (at, bytes) in &module.data {
            memory.initialise(*at, bytes)?;
        }
        let most_steps = limits.steps.unwrap_or(u64::MAX);
        Ok(Self {
            module,
            memory,
            nodes: Nodes::new(),
            guards: Vec::new(),
            prints: Vec::new(),
            choices: Vec::new(),
            input: None,
            normalised: None,
            shared: 0,
            stack_top: None,
            slots: Vec::new(),
            depth: 0,
            path: None,
            steps: 0,
            way_ends: most_steps,
            most_steps,
            most_kept: (limits.memory / BYTES_OF_MEMORY_FOR_A_NODE).min(MOST_NODES) as usize,
            most_nodes: usize::MAX,
        })
    }

    /// The value of an input at a position, as it is given to the circuit.
    pub(super) fn next_input(&mut self, position: u32, value: Fp<P>) -> ElementOperand<P> {
        if !SYMBOLIC {
            return ElementOperand::Known(WasmElement::Normal(value));
        }
        let node = self.nodes.input(position, value);
        self.input = Some(node);
        ElementOperand::Node(node)
    }

    /// The value of a wire that circom 2's `getWitness` is asked for. The function makes the element an integer, and some versions copy its
    /// words, which are unknown here.
    pub(super) fn wire(&mut self, wire: u32) -> Result<ElementOperand<P>, Way> {
        self.normalised = None;
        let result = self.call_named("getWitness", &[wire]);
        match self.normalised {
            Some(value) => Ok(value),
            None => result.and_then(|_| self.memory.element(self.shared)),
        }
    }

    /// The node of the element at an address.
    pub(super) fn node_at(&mut self, at: u32) -> Result<u32, Way> {
        let element = self.memory.element(at)?;
        Ok(self.nodes.node(element))
    }

    /// Calls an exported function. The result is meaningless for a function without one.
    pub(super) fn call_named(&mut self, name: &str, arguments: &[u32]) -> Result<SymbolicValue, Way> {
        let function = *self.module.exports.get(name).ok_or(Way::Unknown)?;
        if self.module.signatures.arity_of_function(function).0 as usize != arguments.len() {
            return Err(Way::Unknown);
        }
        self.call_function(function, arguments)
    }

    /// Calls a function by its number with integers.
    pub(super) fn call_function(&mut self, function: u32, arguments: &[u32]) -> Result<SymbolicValue, Way> {
        let arguments: Vec<_> =
            arguments.iter().map(|value| SymbolicValue::integer(u64::from(*value))).collect();
        let slots = self.slots.len();
        let result = self.call(function, &arguments);
        // After an error those of its calls are left.
        self.slots.truncate(slots);
        result
    }

    /// [`Self::call_named`] of a function that returns an integer.
    pub(super) fn word_named(&mut self, name: &str, arguments: &[u32]) -> Result<u32, Way> {
        let value = self.call_named(name, arguments)?;
        Ok(self.known(value)? as u32)
    }

    /// Counts steps, and checks the bounds of the machine's lists.
    pub(super) fn take(&mut self, steps: u64) -> Result<(), Way> {
        self.step(steps)?;
        if !SYMBOLIC {
            return Ok(());
        }
        let kept = [self.nodes.len(), self.guards.len(), self.choices.len(), self.memory.kept()];
        if kept.into_iter().any(|length| length > self.most_kept) {
            return Err(Way::Memory);
        }
        if self.nodes.len() > self.most_nodes { Err(Way::Large) } else { Ok(()) }
    }

    #[inline(always)]
    pub(super) fn step(&mut self, steps: u64) -> Result<(), Way> {
        self.steps = self.steps.saturating_add(steps);
        match self.steps > self.way_ends {
            false => Ok(()),
            true if self.way_ends == self.most_steps => Err(Way::Steps),
            true => Err(Way::Long),
        }
    }

    /// Whether it is the outermost call.
    pub(super) fn is_outermost(&self) -> bool {
        self.depth == 1
    }

    /// Whether the circuit comes here for all inputs.
    pub(super) fn is_certain(&self) -> bool {
        self.path.is_none()
    }

    /// Demands the condition wherever the circuit goes this way; otherwise the graph has no witness.
    pub(super) fn guard(&mut self, condition: Truth) {
        let violated = match self.path {
            Some(path) => self.nodes.all([path, condition.not()]),
            None => condition.not(),
        };
        self.guards.push(Guard { node: violated.node, nonzero: !violated.nonzero });
    }

    /// Demands that a condition is what it is for the sample, and returns it.
    fn guess(&mut self, condition: Truth) -> bool {
        let holds = self.nodes.holds(condition);
        self.guard(if holds { condition } else { condition.not() });
        holds
    }

    /// Demands that an element is what it is for the sample, and returns it.
    pub(super) fn guess_element(&mut self, node: u32) -> WasmElement<P> {
        let value = WasmElement::Montgomery(self.nodes.value(node));
        if let Some(ElementOperand::Node(equal)) =
            self.nodes.binary(Binary::Equal, ElementOperand::Node(node), ElementOperand::Known(value))
        {
            self.guard(Truth { node: equal, nonzero: true });
        }
        value
    }

    /// An integer; if it depends on inputs, that for the sample.
    #[inline(always)]
    pub(super) fn known(&mut self, value: SymbolicValue) -> Result<u64, Way> {
        match value.known_if_not::<SYMBOLIC>() {
            Some(value) => Ok(value),
            None => self.guess_value(value),
        }
    }

    #[cold]
    fn guess_value(&mut self, value: SymbolicValue) -> Result<u64, Way> {
        if let Some(condition) = value.as_truth() {
            return Ok(self.guess(condition).into());
        }
        let choice = self.choice(value)?;
        let chosen = if self.guess(choice.condition) { choice.then } else { choice.otherwise };
        self.known(chosen)
    }

    pub(super) fn choice(&self, value: SymbolicValue) -> Result<ConditionalValue, Way> {
        let choice = value.as_choice().and_then(|number| self.choices.get(number as usize));
        choice.copied().ok_or(Way::Unknown)
    }

    /// Whether a value is not 0, if that is known; otherwise the condition for it.
    fn condition(&mut self, value: SymbolicValue) -> Result<Result<bool, Truth>, Way> {
        if let Some(value) = value.known_if_not::<SYMBOLIC>() {
            return Ok(Ok(value != 0));
        }
        if let Some(truth) = value.as_truth() {
            return Ok(Err(truth));
        }
        let ConditionalValue { condition, then, otherwise } = self.choice(value)?;
        Ok(match (then.known(), otherwise.known()) {
            (Some(0), Some(0)) => Ok(false),
            (Some(0), Some(_)) => Err(condition.not()),
            (Some(_), Some(0)) => Err(condition),
            (Some(_), Some(_)) => Ok(true),
            _ => Ok(self.guess_value(value)? != 0),
        })
    }

    /// A sum of a function's slot and a constant.
    #[inline(always)]
    fn value(&mut self, slots: usize, sum: SlotSum) -> Result<SymbolicValue, Way> {
        let value = *self.slots.get(slots + usize::from(sum.slot)).ok_or(Way::Unknown)?;
        if sum.constant == 0 { Ok(value) } else { self.plus(value, sum.constant) }
    }

    /// The sum of an integer of 32 bits and a constant.
    #[inline(always)]
    pub(super) fn plus(&mut self, value: SymbolicValue, constant: u32) -> Result<SymbolicValue, Way> {
        match value.known_if_not::<SYMBOLIC>() {
            Some(value) => Ok(SymbolicValue::integer(u64::from((value as u32).wrapping_add(constant)))),
            None => self.plus_choice(value, constant),
        }
    }

    #[cold]
    fn plus_choice(&mut self, value: SymbolicValue, constant: u32) -> Result<SymbolicValue, Way> {
        let Ok(ConditionalValue { condition, then, otherwise }) = self.choice(value) else {
            let value = self.known(value)?;
            return self.plus(SymbolicValue::integer(value), constant);
        };
        let (then, otherwise) = (self.plus(then, constant)?, self.plus(otherwise, constant)?);
        Ok(choose(&mut self.choices, condition, then, otherwise))
    }

    /// The element at an address.
    #[inline(always)]
    pub(super) fn element(&mut self, at: SymbolicValue) -> Result<ElementOperand<P>, Way> {
        match at.known_if_not::<SYMBOLIC>() {
            Some(at) => self.memory.element(at as u32),
            None => self.element_of_choice(at),
        }
    }

    #[cold]
    fn element_of_choice(&mut self, at: SymbolicValue) -> Result<ElementOperand<P>, Way> {
        let ConditionalValue { condition, then, otherwise } = self.choice(at)?;
        let (then, otherwise) = (self.element(then)?, self.element(otherwise)?);
        Ok(self.nodes.select(condition, then, otherwise))
    }

    #[inline(always)]
    fn integer(&mut self, slots: usize, sum: SlotSum) -> Result<u64, Way> {
        let value = self.value(slots, sum)?;
        self.known(value)
    }

    #[inline(always)]
    fn set(&mut self, slots: usize, slot: Slot, value: SymbolicValue) -> Result<(), Way> {
        *self.slots.get_mut(slots + usize::from(slot)).ok_or(Way::Unknown)? = value;
        Ok(())
    }

    /// Calls a function.
    fn call(&mut self, function: u32, arguments: &[SymbolicValue]) -> Result<SymbolicValue, Way> {
        let module = self.module;
        let code = match module.functions.get(function as usize).ok_or(Way::Unknown)? {
            WasmFunction::Code(code) => code,
            WasmFunction::Host(name) => return self.host(name, arguments),
            // Its table has none, and nobody calls one by name.
            WasmFunction::Native => return Err(Way::Unknown),
        };
        if self.depth >= DEEPEST {
            return Err(Way::Deep);
        }
        let slots = self.slots.len();
        // The slot that is always 0, for sums that are constants.
        self.slots.push(SymbolicValue::integer(0));
        self.slots.extend(arguments);
        self.slots.resize(slots + code.slots, SymbolicValue::integer(0));
        let outer = self.memory.checkpoint;
        let mut frame = Frame { code, slots, returned: Vec::new(), checkpoint: outer, forks: 0 };
        self.depth += 1;
        let path = self.path;
        let end = self.run(&mut frame, 0, code.ops.len());
        self.depth -= 1;
        let End::Returned(mut result) = end? else { return Err(Way::Unknown) };
        // Earlier ways returned, too: results and writes become choices by the ways' conditions.
        if !frame.returned.is_empty() {
            self.join_returned(&frame, &mut result)?;
            self.memory.checkpoint = outer;
            self.memory.forget();
        }
        // All ways of the function have met here: the caller goes on under its own condition.
        self.path = path;
        self.slots.truncate(slots);
        Ok(result)
    }

    /// Joins the ways that returned earlier with the last one.
    fn join_returned(&mut self, frame: &Frame<'_>, result: &mut SymbolicValue) -> Result<(), Way> {
        let mut before = self.memory.before(frame.checkpoint, self.dead()?);
        for way in frame.returned.iter().rev() {
            let (nodes, choices, condition) = (&mut self.nodes, &mut self.choices, way.condition);
            self.memory.join(&mut before, &way.written, &mut Join { nodes, choices, condition })?;
            *result = choose(&mut self.choices, condition, way.result, *result);
        }
        self.memory.mix_dead(&before)
    }

    /// The address from which on all is dead when a function returns.
    fn dead(&self) -> Result<u64, Way> {
        self.stack_top.map_or(Ok(u64::MAX), |at| self.memory.word(at).map(u64::from))
    }

    /// Executes a function's code from a position up to another.
    fn run(&mut self, frame: &mut Frame<'a>, mut at: usize, stop: usize) -> Result<End, Way> {
        let (code, slots) = (frame.code, frame.slots);
        while at != stop {
            let op = *code.ops.get(at).ok_or(Way::Unknown)?;
            at += 1;
            self.step(1)?;
            match op {
                Op::Native(to, native, arguments) => {
                    let mut values = [SymbolicValue::integer(0); 3];
                    for (value, argument) in values.iter_mut().zip(arguments) {
                        *value = self.value(slots, argument)?;
                    }
                    let known = values.map(|value| value.known_if_not::<SYMBOLIC>().unwrap_or(0) as u32);
                    let result = if SYMBOLIC {
                        self.native(native, values)?
                    } else {
                        self.native_of_known(native, known)?
                    };
                    self.set(slots, to, result)?;
                }
                Op::Scaled(to, Product { factor, scale, base }) => {
                    let (factor, base) = (self.integer(slots, factor)?, self.integer(slots, base)?);
                    let sum = (factor as u32).wrapping_mul(scale).wrapping_add(base as u32);
                    self.set(slots, to, SymbolicValue::integer(sum.into()))?;
                }
                Op::Move(to, sum) => {
                    let value = self.value(slots, sum)?;
                    self.set(slots, to, value)?;
                }
                Op::Constant(to, value) => {
                    self.set(slots, to, SymbolicValue::long_integer::<SYMBOLIC>(value)?)?
                }
                Op::Not(to, sum) => {
                    let value = self.value(slots, sum)?;
                    let not = match self.condition(value)? {
                        Ok(holds) => SymbolicValue::integer((!holds).into()),
                        Err(truth) => SymbolicValue::truth(truth.not()),
                    };
                    self.set(slots, to, not)?;
                }
                Op::Integer(to, operation, [a, b]) => {
                    let (a, b) = (self.integer(slots, a)?, self.integer(slots, b)?);
                    let result = operation(a, b).ok_or(Way::Fails)?;
                    self.set(slots, to, SymbolicValue::long_integer::<SYMBOLIC>(result)?)?;
                }
                Op::Load(to, at, offset, bytes) => {
                    let at = self.integer(slots, at)? + u64::from(offset);
                    let value = self.memory.load(at, bytes.into())?;
                    self.set(slots, to, value)?;
                }
                Op::Store([at, value], offset, bytes) => {
                    let at = self.integer(slots, at)? + u64::from(offset);
                    let mut value = self.value(slots, value)?;
                    // Memory keeps choices of whole words; a guard fixes other values that vary.
                    if value.as_choice().is_none() || bytes != 4 {
                        value = SymbolicValue::integer(self.known(value)?);
                    }
                    self.memory.store(at, bytes.into(), value)?;
                }
                Op::Size(to) => {
                    let pages = self.memory.pages();
                    self.set(slots, to, SymbolicValue::integer(pages))?;
                }
                Op::Grow(to, pages) => {
                    let (pages, before) = (self.integer(slots, pages)?, self.memory.pages());
                    self.memory.grow(pages)?;
                    self.set(slots, to, SymbolicValue::integer(before))?;
                }
                Op::If(condition, otherwise, end) => {
                    let condition = self.value(slots, condition)?;
                    match self.condition(condition)? {
                        Ok(true) => {}
                        Ok(false) => at = otherwise as usize,
                        Err(condition) => {
                            let ways = [at, otherwise as usize];
                            match self.fork(frame, condition, ways, [end as usize, stop])? {
                                Next::Position(position) => at = position,
                                Next::Returned(result) => return Ok(End::Returned(result)),
                            }
                        }
                    }
                }
                Op::Jump(to) => at = to as usize,
                Op::JumpIf(condition, when, to) => {
                    // Conditions of loops do not fork: a guard holds them to those of the sample.
                    if (self.integer(slots, condition)? != 0) == when {
                        at = to as usize;
                    }
                }
                Op::Call(to, function, first) => {
                    let result = self.call_with(frame, function, first)?;
                    self.set(slots, to, result)?;
                }
                Op::CallIndirect(to, ty, first, index) => {
                    let index = self.integer(slots, index)? as usize;
                    let function = self.module.table.get(index).copied().flatten();
                    // WASM traps at a call of another type.
                    let function = function.filter(|function| self.module.signatures.has_type(*function, ty));
                    let result = self.call_with(frame, function.ok_or(Way::Fails)?, first)?;
                    self.set(slots, to, result)?;
                }
                Op::Return(result) => return Ok(End::Returned(self.value(slots, result)?)),
                Op::Unknown => return Err(Way::Unknown),
            }
        }
        Ok(End::Reached)
    }

    /// Calls a function with a frame's arguments from an index on.
    fn call_with(&mut self, frame: &Frame<'a>, function: u32, first: u32) -> Result<SymbolicValue, Way> {
        let count = self.module.signatures.arity_of_function(function).0 as usize;
        let arguments = frame.code.arguments.get(first as usize..).and_then(|rest| rest.get(..count));
        let mut values = [SymbolicValue::integer(0); MOST_ARGUMENTS];
        let values = values.get_mut(..count).ok_or(Way::Unknown)?;
        for (value, argument) in values.iter_mut().zip(arguments.ok_or(Way::Unknown)?) {
            *value = self.value(frame.slots, *argument)?;
        }
        self.call(function, values)
    }

    fn before(&mut self, frame: &Frame<'_>) -> Result<Before, Way> {
        let outer = self.memory.checkpoint;
        Ok(Before {
            checkpoint: self.memory.set_checkpoint()?,
            outer,
            slots: self.slots.get(frame.slots..).unwrap_or_default().to_vec(),
            returned: frame.returned.len(),
            guards: self.guards.len(),
            path: self.path,
            way_ends: self.way_ends,
            depth: self.depth,
        })
    }

    /// Goes back, but keeps guards.
    fn undo(&mut self, frame: &Frame<'_>, before: &Before) {
        self.memory.undo(before.checkpoint);
        self.slots.truncate(frame.slots);
        self.slots.extend(&before.slots);
        self.leave(before);
    }

    /// Ends a way, whose changes stay.
    fn leave(&mut self, before: &Before) {
        (self.path, self.way_ends, self.depth) = (before.path, before.way_ends, before.depth);
    }

    /// Goes back to what was before a way that is given up.
    fn give_up(&mut self, frame: &mut Frame<'_>, before: &Before) {
        self.undo(frame, before);
        self.guards.truncate(before.guards);
        frame.returned.truncate(before.returned);
    }

    /// Follows a way, on which the condition holds.
    fn way(&mut self, frame: &mut Frame<'a>, condition: Truth, at: usize, stop: usize) -> Result<End, Way> {
        if self.depth >= DEEPEST {
            return Err(Way::Deep);
        }
        self.depth += 1;
        self.path = Some(match self.path {
            Some(path) => self.nodes.all([path, condition]),
            None => condition,
        });
        self.run(frame, at, stop)
    }

    /// Whether the code from a position on calls the host with an error before any branch, as after each failed assertion. Following
    /// it further would be slow: making the message takes much longer than the assertion.
    fn only_fails(&self, code: &Code, at: usize) -> bool {
        let ops = code.ops.get(at..).unwrap_or_default().iter();
        let mut ends = ops.filter_map(|op| match op {
            Op::If(..) | Op::Jump(_) | Op::JumpIf(..) | Op::Return(_) | Op::Unknown => Some(false),
            Op::Call(_, function, _) => match self.module.functions.get(*function as usize) {
                Some(WasmFunction::Host(name)) => Some(ERRORS.contains(&name.as_str())),
                _ => None,
            },
            _ => None,
        });
        ends.next().unwrap_or(false)
    }

    /// Follows both ways of a branch.
    fn fork(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Truth,
        [then, otherwise]: [usize; 2],
        [end, stop]: [usize; 2],
    ) -> Result<Next, Way> {
        // The way of the sample holds where `taken` does.
        let (taken, own, other) = if self.nodes.holds(condition) {
            (condition, then, otherwise)
        } else {
            (condition.not(), otherwise, then)
        };
        self.take(1)?;
        // The other way is a failed assertion: a guard says the same as its execution.
        if self.only_fails(frame.code, other) {
            self.guard(taken);
            return Ok(Next::Position(own));
        }
        let before = self.before(frame)?;
        let is_first = frame.forks == 0 && frame.returned.is_empty();
        // The memory before the first open fork is what all returning ways are compared with.
        if is_first {
            frame.checkpoint = before.checkpoint;
        }
        frame.forks += 1;
        let next = self.follow(frame, &before, taken, [own, other], [end, stop]);
        frame.forks -= 1;
        self.memory.checkpoint = before.outer;
        let next = match next {
            Ok(next) => next,
            // Bounds of the whole execution, not of this way: the compilation ends.
            Err(way @ (Way::Steps | Way::Memory | Way::Large)) => return Err(way),
            Err(_) => {
                // The graph then covers only inputs that go the way of the sample.
                self.give_up(frame, &before);
                self.guard(taken);
                Next::Position(own)
            }
        };
        if is_first && !frame.returned.is_empty() {
            // Kept until they are joined.
            self.memory.checkpoint = frame.checkpoint;
        }
        self.memory.forget();
        Ok(next)
    }

    /// Follows both ways and joins them. After an error everything is to be undone, and only the sample's way to be followed.
    fn follow(
        &mut self,
        frame: &mut Frame<'a>,
        before: &Before,
        taken: Truth,
        [own, other]: [usize; 2],
        [end, stop]: [usize; 2],
    ) -> Result<Next, Way> {
        // The sample does not take this way, which may never end.
        self.way_ends = self.way_ends.min(self.steps + LONGEST_WAY);
        let of_other = self.way(frame, taken.not(), other, end)?;
        let slots = self.slots.get(frame.slots..).unwrap_or_default().to_vec();
        // The result waits in the frame until the last way of the function returns.
        if let End::Returned(result) = of_other {
            let (condition, written) =
                (self.certain_path(taken.not()), self.memory.written(frame.checkpoint, self.dead()?)?);
            frame.returned.push(Returned { condition, result, written });
        }
        let written = self.memory.written(before.checkpoint, self.dead()?)?;
        self.undo(frame, before);
        // The way of the sample comes second, so that its state is there when the ways join.
        match (self.way(frame, taken, own, end)?, of_other) {
            (End::Reached, End::Reached) => {
                self.leave(before);
                let dead = self.dead()?;
                let (nodes, choices, condition) = (&mut self.nodes, &mut self.choices, taken.not());
                let mut own = self.memory.before(before.checkpoint, dead);
                self.memory.join(&mut own, &written, &mut Join { nodes, choices, condition })?;
                self.memory.mix_dead(&own)?;
                let own = self.slots.get_mut(frame.slots..).unwrap_or_default();
                for (own, other) in own.iter_mut().zip(slots) {
                    *own = choose(&mut self.choices, condition, other, *own);
                }
                self.path = self.path_after(frame, before);
                Ok(Next::Position(end))
            }
            (End::Reached, End::Returned(_)) => {
                self.leave(before);
                self.path = self.path_after(frame, before);
                Ok(Next::Position(end))
            }
            (End::Returned(result), End::Returned(_)) => {
                self.leave(before);
                Ok(Next::Returned(result))
            }
            (End::Returned(result), End::Reached) => {
                // The sample returns; the other way goes on.
                let (condition, own) =
                    (self.certain_path(taken), self.memory.written(frame.checkpoint, self.dead()?)?);
                frame.returned.push(Returned { condition, result, written: own });
                self.undo(frame, before);
                self.memory.redo(&written)?;
                self.memory.mix_dead(&written)?;
                self.slots.truncate(frame.slots);
                self.slots.extend(slots);
                self.path = self.path_after(frame, before);
                self.way_ends = self.way_ends.min(self.steps + LONGEST_WAY);
                self.depth += 1;
                let rest = self.run(frame, end, stop)?;
                self.leave(before);
                self.path = self.path_after(frame, before);
                match rest {
                    End::Returned(result) => Ok(Next::Returned(result)),
                    End::Reached => Ok(Next::Position(stop)),
                }
            }
        }
    }

    /// The condition on which the circuit goes the current way: the path, which includes the given condition.
    fn certain_path(&self, condition: Truth) -> Truth {
        self.path.unwrap_or(condition)
    }

    /// The condition on which none of the ways since has returned.
    fn path_after(&mut self, frame: &Frame<'_>, before: &Before) -> Option<Truth> {
        let mut path = before.path;
        for way in frame.returned.get(before.returned..).unwrap_or_default() {
            let stays = way.condition.not();
            path = Some(match path {
                Some(path) => self.nodes.all([path, stays]),
                None => stays,
            });
        }
        path
    }

    /// Executes a function of the host.
    fn host(&mut self, name: &str, arguments: &[SymbolicValue]) -> Result<SymbolicValue, Way> {
        match (name, arguments) {
            // Errors that circom's own host ignores.
            ("error", [code, ..]) if matches!(code.known(), Some(5 | 6)) => {}
            ("error", _) => return Err(Way::Fails),
            _ if ERRORS.contains(&name) => return Err(Way::Fails),
            ("writeBufferMessage", _) => {
                let mut message = String::new();
                while let character @ 1.. = self.word_named("getMessageChar", &[])?
                    && message.len() < host::LONGEST_MESSAGE
                {
                    message.push(char::from(character as u8));
                }
                self.print(if message == "\n" { Print::EndOfLine } else { Print::Word(shown(&message)) })?;
            }
            ("showSharedRWMemory", _) => {
                let buffer = self.word_named("getSharedRWMemoryStart", &[])?;
                self.print_element(buffer.wrapping_sub(8))?;
                if !self.module.prints_words() {
                    self.print(Print::EndOfLine)?;
                }
            }
            ("log", [at]) => {
                let element = self.element(*at)?;
                let node = self.nodes.node(element);
                self.print(Print::Value(node))?;
                self.print(Print::EndOfLine)?;
            }
            _ => {}
        }
        Ok(SymbolicValue::integer(0))
    }

    fn print_element(&mut self, at: u32) -> Result<(), Way> {
        let node = self.node_at(at)?;
        self.print(Print::Value(node))
    }

    fn print(&mut self, print: Print<u32>) -> Result<(), Way> {
        /// The most words: each has at least a byte.
        const MOST: usize = host::LONGEST_LOG;
        if !self.is_certain() || self.prints.len() >= MOST {
            return Err(Way::Prints);
        }
        self.prints.push(print);
        Ok(())
    }
}

/// A value where a condition holds, elsewhere another.
fn choose(
    choices: &mut Vec<ConditionalValue>,
    condition: Truth,
    then: SymbolicValue,
    otherwise: SymbolicValue,
) -> SymbolicValue {
    if then == otherwise {
        return then;
    }
    choices.push(ConditionalValue { condition, then, otherwise });
    SymbolicValue::choice(choices.len() as u32 - 1)
}

/// Joins this way with another, on which a condition holds.
struct Join<'a, P: ScalarPrime> {
    nodes: &'a mut Nodes<P>,
    choices: &'a mut Vec<ConditionalValue>,
    condition: Truth,
}

impl<P: ScalarPrime> Joined<P> for Join<'_, P> {
    fn element(&mut self, own: ElementOperand<P>, other: ElementOperand<P>) -> ElementOperand<P> {
        self.nodes.select(self.condition, other, own)
    }

    fn word(&mut self, own: SymbolicValue, other: SymbolicValue) -> SymbolicValue {
        choose(self.choices, self.condition, other, own)
    }
}

/// The continuation of a function after a branch.
enum Next {
    Position(usize),
    Returned(SymbolicValue),
}
