//! Circom's operations on field elements in the memory of its WASM, by Proofmill's field.
//!
//! Results need not have the form that the WASM's own functions choose. Source: the WASM that circom writes.

use super::{element::Element, host::Host};
use crate::graph::Binary;
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, Invert};
use wasmi::{Caller, Error, Func, Memory, Store, Table, TrapCode};

/// A function of circom's that is executed natively.
#[derive(Clone, Copy, Debug)]
pub(super) enum Native {
    /// `(result, a, b)`.
    Binary(Binary),
    /// `(result, a)`.
    Negate,
    /// `(result, a)`: the inverse, 0 of 0.
    Invert,
    /// `(a)`: changes its form to the integer.
    ToLongNormal,
    /// `(a) -> i32`: the lowest 32 bits of the signed number.
    ToInt,
}

/// Native functions with the positions of circom's, by their places in the table. Not those that are seldom called.
pub(super) const FUNCTIONS: [(usize, Native); 24] = [
    (39, Native::ToLongNormal),
    (41, Native::Negate),
    (43, Native::ToInt),
    (44, Native::Binary(Binary::Add)),
    (45, Native::Binary(Binary::Subtract)),
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
    (78, Native::Binary(Binary::And)),
    (79, Native::Binary(Binary::Or)),
];

impl Native {
    /// The number of its parameters, all i32.
    pub(super) fn parameters(self) -> u8 {
        match self {
            Self::Binary(_) => 3,
            Self::Negate | Self::Invert => 2,
            Self::ToLongNormal | Self::ToInt => 1,
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

    fn function<P: ScalarPrime>(self, store: &mut Store<Host<P>>) -> Func {
        let steps = self.steps();
        match self {
            Self::Binary(operation) => {
                Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, r: i32, a: i32, b: i32| {
                    let memory = memory(&mut caller, steps)?;
                    let result =
                        binary::<P>(operation, Element::read(memory, a)?, Element::read(memory, b)?)?;
                    result.write(memory, r)
                })
            }
            Self::Negate => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, r: i32, a: i32| {
                let memory = memory(&mut caller, steps)?;
                let result = binary::<P>(Binary::Subtract, Element::Short(0), Element::read(memory, a)?)?;
                result.write(memory, r)
            }),
            Self::Invert => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, r: i32, a: i32| {
                let memory = memory(&mut caller, steps)?;
                let result = Element::<P>::read(memory, a)?.value().invert_vartime().unwrap_or(Fp::ZERO);
                Element::Montgomery(result).write(memory, r)
            }),
            Self::ToLongNormal => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, a: i32| {
                let memory = memory(&mut caller, steps)?;
                Element::Normal(Element::<P>::read(memory, a)?.value()).write(memory, a)
            }),
            Self::ToInt => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, a: i32| {
                Ok::<_, Error>(match Element::<P>::read(memory(&mut caller, steps)?, a)? {
                    Element::Short(value) => value,
                    Element::Normal(value) | Element::Montgomery(value) => to_int(value),
                })
            }),
        }
    }
}

/// Fills the table of native functions.
pub(super) fn fill<P: ScalarPrime>(store: &mut Store<Host<P>>, table: &Table) -> Result<(), Error> {
    for (slot, (_, native)) in FUNCTIONS.iter().enumerate() {
        let function = native.function(store);
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

fn binary<P: ScalarPrime>(operation: Binary, a: Element<P>, b: Element<P>) -> Result<Element<P>, Error> {
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
fn to_int<P: ScalarPrime>(value: Fp<P>) -> i32 {
    let ([low, ..], [modulus, ..]) = (value.to_canonical(), P::MODULUS);
    let negative = Binary::Less.evaluate(value, Fp::ZERO) != Fp::ZERO;
    if negative { low.wrapping_sub(modulus) as i32 } else { low as i32 }
}
