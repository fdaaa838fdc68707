//! Circom's operations on field elements in the memory of its WASM, by Proofmill's field.
//!
//! Results need not have the form that the WASM's own functions choose. Source: the WASM that circom writes.

use super::{element::Element, host::Host};
use crate::graph::{Binary, Unary};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, Invert};
use wasmi::{Caller, Error, Func, Memory, Store, Table, TrapCode};

/// A function of circom's that is executed natively.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Native {
    /// `(result, a)`: the element itself.
    Copy,
    /// `(result, a, count)`: so many elements behind each other.
    CopyMany,
    /// `(a) -> i32`: whether it is not 0.
    IsTrue,
    /// `(a, b) -> i32`.
    IsEqual,
    /// `(a) -> i32`: the lowest 32 bits of the signed number.
    ToInt,
    /// `(a)`: changes its form to the integer.
    ToLongNormal,
    /// `(result, a)`.
    Unary(Unary),
    /// `(result, a)`: the inverse, 0 of 0.
    Invert,
    /// `(result, a)`: whether it is 0.
    Not,
    /// `(result, a, b)`.
    Binary(Binary),
}

/// Native functions with the positions of circom's.
const FUNCTIONS: [(usize, Native); 30] = [
    (33, Native::Copy),
    (34, Native::CopyMany),
    (35, Native::IsTrue),
    (39, Native::ToLongNormal),
    (41, Native::Unary(Unary::Negate)),
    (43, Native::ToInt),
    (44, Native::Binary(Binary::Add)),
    (45, Native::Binary(Binary::Subtract)),
    (46, Native::IsEqual),
    (48, Native::Binary(Binary::Equal)),
    (49, Native::Binary(Binary::NotEqual)),
    (50, Native::Binary(Binary::Greater)),
    (51, Native::Binary(Binary::GreaterOrEqual)),
    (52, Native::Binary(Binary::Less)),
    (53, Native::Binary(Binary::LessOrEqual)),
    (54, Native::Binary(Binary::Multiply)),
    (55, Native::Binary(Binary::IntegerDivide)),
    (56, Native::Binary(Binary::Remainder)),
    (57, Native::Invert),
    (58, Native::Binary(Binary::Divide)),
    (59, Native::Binary(Binary::Power)),
    (68, Native::Binary(Binary::ShiftLeft)),
    (69, Native::Binary(Binary::ShiftRight)),
    (71, Native::Binary(Binary::BitAnd)),
    (73, Native::Binary(Binary::BitOr)),
    (75, Native::Binary(Binary::BitXor)),
    (77, Native::Unary(Unary::BitNot)),
    (78, Native::Binary(Binary::And)),
    (79, Native::Binary(Binary::Or)),
    (80, Native::Not),
];

/// The function of circom's at a position, of those for field elements.
pub(crate) fn at(position: usize) -> Option<Native> {
    FUNCTIONS.iter().find(|(index, _)| *index == position).map(|(_, native)| *native)
}

impl Native {
    /// Whether the interpreter calls it in place of circom's own: not if that is a few instructions.
    pub(super) fn pays(self) -> bool {
        !matches!(self, Self::Copy | Self::CopyMany | Self::IsTrue | Self::IsEqual)
    }

    /// The number of its parameters, all i32.
    pub(super) fn parameters(self) -> u8 {
        match self {
            Self::Binary(_) | Self::CopyMany => 3,
            Self::Unary(_) | Self::Invert | Self::Not | Self::Copy | Self::IsEqual => 2,
            Self::ToLongNormal | Self::ToInt | Self::IsTrue => 1,
        }
    }

    /// About the nanoseconds that it takes longer than a call.
    fn steps(self) -> u64 {
        match self {
            Self::Binary(Binary::IntegerDivide | Binary::Remainder | Binary::Divide | Binary::Power)
            | Self::Invert => 10_000,
            _ => 100,
        }
    }

    /// For the interpreter; `None` if it does not pay.
    fn function<P: ScalarPrime>(self, store: &mut Store<Host<P>>) -> Option<Func> {
        let steps = self.steps();
        /// A function of the memory and an address where it writes an element, and those of operands.
        macro_rules! element {
            ($memory:ident, $($operand:ident),* => $result:expr) => {
                Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, r: i32, $($operand: i32),*| {
                    let $memory = memory(&mut caller, steps)?;
                    $(let $operand = Element::<P>::read($memory, $operand)?;)*
                    let result: Element<P> = $result;
                    result.write($memory, r)
                })
            };
        }
        Some(match self {
            Self::Copy | Self::CopyMany | Self::IsTrue | Self::IsEqual => return None,
            Self::ToInt => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, a: i32| {
                Ok::<_, Error>(to_int(Element::<P>::read(memory(&mut caller, steps)?, a)?))
            }),
            Self::ToLongNormal => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, a: i32| {
                let memory = memory(&mut caller, steps)?;
                Element::Normal(Element::<P>::read(memory, a)?.value()).write(memory, a)
            }),
            Self::Unary(Unary::Negate) => {
                element!(memory, a => binary(Binary::Subtract, Element::Short(0), a)?)
            }
            Self::Unary(operation) => {
                element!(memory, a => Element::Montgomery(operation.evaluate(a.value())))
            }
            Self::Invert => {
                element!(memory, a => Element::Montgomery(a.value().invert_vartime().unwrap_or(Fp::ZERO)))
            }
            Self::Not => element!(memory, a => binary(Binary::Equal, a, Element::Short(0))?),
            Self::Binary(operation) => element!(memory, a, b => binary(operation, a, b)?),
        })
    }
}

/// The functions that the interpreter calls, by their places in the table of native ones, with the positions of circom's.
pub(super) fn of_interpreter() -> impl Iterator<Item = (usize, Native)> {
    FUNCTIONS.into_iter().filter(|(_, native)| native.pays())
}

/// Fills the table of native functions.
pub(super) fn fill<P: ScalarPrime>(store: &mut Store<Host<P>>, table: &Table) -> Result<(), Error> {
    for (slot, (_, native)) in of_interpreter().enumerate() {
        let Some(function) = native.function(store) else { continue };
        table.set(&mut *store, slot as u64, function.into())?;
    }
    Ok(())
}

/// The circuit's memory, after these steps.
fn memory<'a, P: ScalarPrime>(
    caller: &'a mut Caller<'_, Host<P>>,
    steps: u64,
) -> Result<&'a mut [u8], Error> {
    if caller.data().counts_steps {
        let left = caller.get_fuel()?.checked_sub(steps).ok_or(TrapCode::OutOfFuel)?;
        caller.set_fuel(left)?;
    }
    let memory: Memory =
        caller.data().memory.ok_or_else(|| Error::new("it calculates before it has a memory"))?;
    Ok(memory.data_mut(caller))
}

/// The result of an operation, in any form.
pub(crate) fn binary<P: ScalarPrime>(
    operation: Binary,
    a: Element<P>,
    b: Element<P>,
) -> Result<Element<P>, Error> {
    if let (Element::Short(a), Element::Short(b)) = (a, b)
        && let Some(Ok(result)) = short(operation, a.into(), b.into()).map(i32::try_from)
    {
        return Ok(Element::Short(result));
    }
    let (a, b) = (a.value(), b.value());
    if matches!(operation, Binary::IntegerDivide | Binary::Remainder) && b == Fp::ZERO {
        return Err(TrapCode::IntegerDivisionByZero.into());
    }
    Ok(Element::Montgomery(operation.evaluate(a, b)))
}

/// The result of an operation on integers below 2^31 in absolute value, which are most: loops count with them. `None` if it is not as easy.
fn short(operation: Binary, a: i64, b: i64) -> Option<i64> {
    let natural = a >= 0 && b >= 0;
    Some(match operation {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Equal => (a == b).into(),
        Binary::NotEqual => (a != b).into(),
        Binary::Less => (a < b).into(),
        Binary::Greater => (a > b).into(),
        Binary::LessOrEqual => (a <= b).into(),
        Binary::GreaterOrEqual => (a >= b).into(),
        Binary::And => (a != 0 && b != 0).into(),
        Binary::Or => (a != 0 || b != 0).into(),
        Binary::IntegerDivide if natural => a.checked_div(b)?,
        Binary::Remainder if natural => a.checked_rem(b)?,
        Binary::BitAnd if natural => a & b,
        Binary::BitOr if natural => a | b,
        Binary::BitXor if natural => a ^ b,
        Binary::ShiftRight if natural && b < 64 => a >> b,
        _ => return None,
    })
}

/// The lowest 32 bits of a number, which is negative above p/2.
pub(crate) fn to_int<P: ScalarPrime>(element: Element<P>) -> i32 {
    let value = match element {
        Element::Short(value) => return value,
        Element::Normal(value) | Element::Montgomery(value) => value,
    };
    let ([low, ..], [modulus, ..]) = (value.to_canonical(), P::MODULUS);
    let negative = Binary::Less.evaluate(value, Fp::ZERO) != Fp::ZERO;
    if negative { low.wrapping_sub(modulus) as i32 } else { low as i32 }
}
