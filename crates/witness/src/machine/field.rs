//! Circom's functions for field elements on elements that may be nodes.

use super::{
    Way,
    execution::WasmMachine,
    memory::ElementOperand,
    value::{SymbolicValue, Truth},
};
use crate::{
    graph::Binary,
    wasm::{
        element::{BYTES, WasmElement},
        native::{self, Native},
    },
};
use proofmill_circom::ScalarPrime;

impl<P: ScalarPrime, const SYMBOLIC: bool> WasmMachine<'_, P, SYMBOLIC> {
    /// [`Self::native`] where all elements are known.
    #[inline(always)]
    pub(super) fn native_of_known(
        &mut self,
        native: Native,
        [first, second, third]: [u32; 3],
    ) -> Result<SymbolicValue, Way> {
        self.step(native.steps())?;
        // Most elements are short.
        match native {
            Native::Copy => {
                self.memory.copy::<P>(first, second)?;
                return Ok(SymbolicValue::integer(0));
            }
            Native::ToInt => {
                if let Some(value) = self.memory.short(first)? {
                    return Ok(SymbolicValue::integer(u64::from(value as u32)));
                }
            }
            Native::IsTrue => {
                if let Some(value) = self.memory.short(first)? {
                    return Ok(SymbolicValue::integer((value != 0).into()));
                }
            }
            Native::Binary(operation) => {
                if let (Some(a), Some(b)) = (self.memory.short(second)?, self.memory.short(third)?)
                    && let Some(Ok(result)) = operation.evaluate_small(a.into(), b.into()).map(i32::try_from)
                {
                    self.memory.set_known::<P>(first, WasmElement::Short(result))?;
                    return Ok(SymbolicValue::integer(0));
                }
            }
            _ => {}
        }
        self.native_of_elements(native, [first, second, third])
    }

    #[inline(never)]
    fn native_of_elements(
        &mut self,
        native: Native,
        [first, second, third]: [u32; 3],
    ) -> Result<SymbolicValue, Way> {
        let memory = &mut self.memory;
        let result = match native {
            Native::Copy => return Ok(SymbolicValue::integer(0)),
            Native::CopyMany => {
                self.step(third.into())?;
                for index in 0..third {
                    let offset = index.wrapping_mul(BYTES as u32);
                    self.memory.copy::<P>(first.wrapping_add(offset), second.wrapping_add(offset))?;
                }
                return Ok(SymbolicValue::integer(0));
            }
            Native::IsTrue => return Ok(SymbolicValue::integer(memory.known::<P>(first)?.is_true().into())),
            Native::IsEqual => {
                let equal = memory.known::<P>(first)?.value() == memory.known(second)?.value();
                return Ok(SymbolicValue::integer(equal.into()));
            }
            Native::ToInt => {
                let integer = native::to_int(memory.known::<P>(first)?);
                return Ok(SymbolicValue::integer(u64::from(integer as u32)));
            }
            Native::ToLongNormal => WasmElement::Normal(memory.known::<P>(first)?.value()),
            Native::Unary(operation) => {
                WasmElement::Montgomery(operation.evaluate(memory.known::<P>(second)?.value()))
            }
            Native::Invert => {
                native::binary(Binary::Divide, WasmElement::Short(1), memory.known::<P>(second)?)
                    .ok_or(Way::Fails)?
            }
            Native::Not => WasmElement::Short((!memory.known::<P>(second)?.is_true()).into()),
            Native::Binary(operation) => {
                let (a, b) = (memory.known::<P>(second)?, memory.known(third)?);
                native::binary(operation, a, b).ok_or(Way::Fails)?
            }
        };
        if let Native::ToLongNormal = native
            && self.is_outermost()
        {
            self.normalised = Some(ElementOperand::Known(result));
        }
        self.memory.set_known(first, result)?;
        Ok(SymbolicValue::integer(0))
    }

    /// Executes a function on up to three addresses, and gives its result, if it has one.
    #[inline(always)]
    pub(super) fn native(
        &mut self,
        native: Native,
        [first, second, third]: [SymbolicValue; 3],
    ) -> Result<SymbolicValue, Way> {
        self.take(native.steps())?;
        let result = match native {
            Native::Copy => match second.known() {
                Some(from) => {
                    let to = self.known(first)? as u32;
                    self.memory.copy::<P>(to, from as u32)?;
                    return Ok(SymbolicValue::integer(0));
                }
                None => self.element(second)?,
            },
            Native::CopyMany => {
                let count = self.known(third)? as u32;
                self.take(count.into())?;
                let known = first.known().zip(second.known());
                for index in 0..count {
                    let offset = index.wrapping_mul(BYTES as u32);
                    if let Some((to, from)) = known {
                        let [to, from] = [to, from].map(|at| (at as u32).wrapping_add(offset));
                        self.memory.copy::<P>(to, from)?;
                    } else {
                        let addresses = [self.plus(first, offset)?, self.plus(second, offset)?, third];
                        self.native_copy(addresses)?;
                    }
                }
                return Ok(SymbolicValue::integer(0));
            }
            Native::IsTrue => {
                let operand = self.element(first)?;
                return Ok(self.truth(operand));
            }
            Native::IsEqual => {
                let (a, b) = (self.element(first)?, self.element(second)?);
                if self.is_input(a) || self.is_input(b) {
                    // Circom 2 looks whether an input has a short form.
                    return Ok(SymbolicValue::integer(0));
                }
                let equal = self.binary(Binary::Equal, a, b)?;
                return Ok(self.truth(equal));
            }
            Native::ToInt => {
                let operand = self.element(first)?;
                let element = match operand {
                    ElementOperand::Node(_) if self.is_input(operand) => WasmElement::Short(0),
                    ElementOperand::Node(node) => self.guess_element(node),
                    ElementOperand::Known(element) => element,
                };
                return Ok(SymbolicValue::integer(u64::from(native::to_int(element) as u32)));
            }
            Native::ToLongNormal => {
                let operand = match self.element(first)? {
                    ElementOperand::Known(element) => {
                        ElementOperand::Known(WasmElement::Normal(element.value()))
                    }
                    node => node,
                };
                if self.is_outermost() {
                    self.normalised = Some(operand);
                }
                operand
            }
            Native::Unary(operation) => {
                let a = self.element(second)?;
                self.nodes.unary(operation, a)
            }
            Native::Invert => {
                let a = self.element(second)?;
                self.binary(Binary::Divide, ElementOperand::Known(WasmElement::Short(1)), a)?
            }
            Native::Not => {
                let a = self.element(second)?;
                self.binary(Binary::Equal, a, ElementOperand::Known(WasmElement::Short(0)))?
            }
            Native::Binary(operation) => {
                let (a, b) = (self.element(second)?, self.element(third)?);
                self.binary(operation, a, b)?
            }
        };
        let to = self.known(first)? as u32;
        self.memory.set(to, result)?;
        Ok(SymbolicValue::integer(0))
    }

    fn native_copy(&mut self, addresses: [SymbolicValue; 3]) -> Result<(), Way> {
        self.native(Native::Copy, addresses).map(drop)
    }

    /// Whether an element is not 0.
    fn truth(&self, operand: ElementOperand<P>) -> SymbolicValue {
        match operand {
            ElementOperand::Known(element) => SymbolicValue::integer(element.is_true().into()),
            ElementOperand::Node(node) => SymbolicValue::truth(Truth { node, nonzero: true }),
        }
    }

    /// The result of an operation. The circuit traps at divisions of integers by zero, and the graph guards against it.
    fn binary(
        &mut self,
        operation: Binary,
        a: ElementOperand<P>,
        b: ElementOperand<P>,
    ) -> Result<ElementOperand<P>, Way> {
        if matches!(operation, Binary::IntegerDivide | Binary::Remainder)
            && let ElementOperand::Node(node) = b
        {
            self.guard(Truth { node, nonzero: true });
        }
        self.nodes.binary(operation, a, b).ok_or(Way::Fails)
    }

    /// Whether this is the input that is being set, before the circuit runs.
    fn is_input(&self, operand: ElementOperand<P>) -> bool {
        self.is_outermost() && matches!(operand, ElementOperand::Node(node) if Some(node) == self.input)
    }
}
