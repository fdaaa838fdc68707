//! Circom's functions for field elements on elements that may be nodes.

use super::{
    Way,
    machine::Machine,
    memory::Operand,
    value::{Truth, Value},
};
use crate::{
    graph::Binary,
    wasm::{
        element::{BYTES, Element},
        native::{self, Native},
    },
};
use proofmill_circom::ScalarPrime;

impl<P: ScalarPrime> Machine<'_, P> {
    /// Executes a function on addresses, of which it has up to three, and gives what it returns, if it does.
    #[inline(always)]
    pub(super) fn native(
        &mut self,
        native: Native,
        [first, second, third]: [Value; 3],
    ) -> Result<Value, Way> {
        self.take(1)?;
        let result = match native {
            Native::Copy => match second.known() {
                Some(from) => {
                    let to = self.known(first)? as u32;
                    self.memory.copy(to, from as u32)?;
                    return Ok(Value::integer(0));
                }
                None => self.element(second)?,
            },
            Native::CopyMany => {
                let count = self.known(third)? as u32;
                self.take(count.into())?;
                for index in 0..count {
                    let offset = index.wrapping_mul(BYTES as u32);
                    let addresses = [self.plus(first, offset)?, self.plus(second, offset)?, third];
                    self.native_copy(addresses)?;
                }
                return Ok(Value::integer(0));
            }
            Native::IsTrue => {
                let operand = self.element(first)?;
                return Ok(self.truth(operand));
            }
            Native::IsEqual => {
                let (a, b) = (self.element(first)?, self.element(second)?);
                if self.is_input(a) || self.is_input(b) {
                    // Circom 2 looks whether an input has a short form.
                    return Ok(Value::integer(0));
                }
                let equal = self.binary(Binary::Equal, a, b)?;
                return Ok(self.truth(equal));
            }
            Native::ToInt => {
                let operand = self.element(first)?;
                let element = match operand {
                    Operand::Node(_) if self.is_input(operand) => Element::Short(0),
                    Operand::Node(node) => self.guess_element(node),
                    Operand::Known(element) => element,
                };
                return Ok(Value::integer(u64::from(native::to_int(element) as u32)));
            }
            Native::ToLongNormal => {
                let operand = match self.element(first)? {
                    Operand::Known(element) => Operand::Known(Element::Normal(element.value())),
                    node => node,
                };
                if self.is_outermost() {
                    self.normalised = Some(self.nodes.node(operand));
                }
                operand
            }
            Native::Unary(operation) => {
                let a = self.element(second)?;
                self.nodes.unary(operation, a)
            }
            Native::Invert => {
                let a = self.element(second)?;
                self.binary(Binary::Divide, Operand::Known(Element::Short(1)), a)?
            }
            Native::Not => {
                let a = self.element(second)?;
                self.binary(Binary::Equal, a, Operand::Known(Element::Short(0)))?
            }
            Native::Binary(operation) => {
                let (a, b) = (self.element(second)?, self.element(third)?);
                self.binary(operation, a, b)?
            }
        };
        let to = self.known(first)? as u32;
        self.memory.set(to, result)?;
        Ok(Value::integer(0))
    }

    fn native_copy(&mut self, addresses: [Value; 3]) -> Result<(), Way> {
        self.native(Native::Copy, addresses).map(drop)
    }

    /// Whether an element is not 0.
    fn truth(&self, operand: Operand<P>) -> Value {
        match operand {
            Operand::Known(element) => Value::integer(element.is_true().into()),
            Operand::Node(node) => Value::truth(Truth { node, nonzero: true }),
        }
    }

    /// The result of an operation. The circuit traps at divisions of integers by zero, and the graph guards against it.
    fn binary(&mut self, operation: Binary, a: Operand<P>, b: Operand<P>) -> Result<Operand<P>, Way> {
        if matches!(operation, Binary::IntegerDivide | Binary::Remainder)
            && let Operand::Node(node) = b
        {
            self.guard(Truth { node, nonzero: true });
        }
        self.nodes.binary(operation, a, b).ok_or(Way::Fails)
    }

    /// Whether this is the input that is being set, before the circuit runs.
    fn is_input(&self, operand: Operand<P>) -> bool {
        self.is_outermost() && matches!(operand, Operand::Node(node) if Some(node) == self.input)
    }
}
