//! Circom's operations on field elements in the memory of its WASM, by Proofmill's field.
//!
//! Results need not have the form that the WASM's own functions choose. Source: the WASM that circom writes.

use super::{element::WasmElement, host::Host};
use crate::graph::{Binary, Unary};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, Invert};
use wasmi::{Caller, Error, Func, Memory, Store, Table, TrapCode};

/// A function of circom's that is executed natively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Native {
    /// `(result, a)`: the element itself.
    Copy,
    /// `(result, a, count)`: `count` consecutive elements.
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

/// The number of circom's functions for field elements that can be executed natively.
pub const NATIVE_FUNCTIONS: usize = 30;

/// Native functions with the positions and names of circom's.
const FUNCTIONS: [(usize, &str, Native); NATIVE_FUNCTIONS] = [
    (33, "Fr_copy", Native::Copy),
    (34, "Fr_copyn", Native::CopyMany),
    (35, "Fr_isTrue", Native::IsTrue),
    (39, "Fr_toLongNormal", Native::ToLongNormal),
    (41, "Fr_neg", Native::Unary(Unary::Negate)),
    (43, "Fr_toInt", Native::ToInt),
    (44, "Fr_add", Native::Binary(Binary::Add)),
    (45, "Fr_sub", Native::Binary(Binary::Subtract)),
    (46, "Fr_eqR", Native::IsEqual),
    (48, "Fr_eq", Native::Binary(Binary::Equal)),
    (49, "Fr_neq", Native::Binary(Binary::NotEqual)),
    (50, "Fr_gt", Native::Binary(Binary::Greater)),
    (51, "Fr_geq", Native::Binary(Binary::GreaterOrEqual)),
    (52, "Fr_lt", Native::Binary(Binary::Less)),
    (53, "Fr_leq", Native::Binary(Binary::LessOrEqual)),
    (54, "Fr_mul", Native::Binary(Binary::Multiply)),
    (55, "Fr_idiv", Native::Binary(Binary::IntegerDivide)),
    (56, "Fr_mod", Native::Binary(Binary::Remainder)),
    (57, "Fr_inv", Native::Invert),
    (58, "Fr_div", Native::Binary(Binary::Divide)),
    (59, "Fr_pow", Native::Binary(Binary::Power)),
    (68, "Fr_shl", Native::Binary(Binary::ShiftLeft)),
    (69, "Fr_shr", Native::Binary(Binary::ShiftRight)),
    (71, "Fr_band", Native::Binary(Binary::BitAnd)),
    (73, "Fr_bor", Native::Binary(Binary::BitOr)),
    (75, "Fr_bxor", Native::Binary(Binary::BitXor)),
    (77, "Fr_bnot", Native::Unary(Unary::BitNot)),
    (78, "Fr_land", Native::Binary(Binary::And)),
    (79, "Fr_lor", Native::Binary(Binary::Or)),
    (80, "Fr_lnot", Native::Not),
];

/// The functions with their positions among those for field elements, and their names.
pub(crate) fn all() -> impl Iterator<Item = (usize, &'static str, Native)> {
    FUNCTIONS.into_iter()
}

/// The function of circom's at a position, of those for field elements.
pub(crate) fn at(position: usize) -> Option<Native> {
    all().find(|(index, ..)| *index == position).map(|(.., native)| native)
}

impl Native {
    /// Whether the interpreter calls it instead of circom's own function: not if that has few instructions.
    pub(super) fn pays(self) -> bool {
        !matches!(self, Self::Copy | Self::CopyMany | Self::IsTrue | Self::IsEqual)
    }

    /// The number of its parameters, all i32.
    pub(crate) fn parameters(self) -> u8 {
        match self {
            Self::Binary(_) | Self::CopyMany => 3,
            Self::Unary(_) | Self::Invert | Self::Not | Self::Copy | Self::IsEqual => 2,
            Self::ToLongNormal | Self::ToInt | Self::IsTrue => 1,
        }
    }

    /// Whether it takes many times longer than others.
    pub(crate) fn is_slow(self) -> bool {
        matches!(
            self,
            Self::Binary(Binary::IntegerDivide | Binary::Remainder | Binary::Divide | Binary::Power)
                | Self::Invert
        )
    }

    /// About the nanoseconds that it takes longer than a call.
    pub(crate) fn steps(self) -> u64 {
        match self {
            _ if self.is_slow() => 10_000,
            Self::Copy | Self::CopyMany | Self::IsTrue | Self::IsEqual => 10,
            _ => 100,
        }
    }

    /// The function for the interpreter; `None` if it does not pay.
    fn function<P: ScalarPrime>(self, store: &mut Store<Host<P>>) -> Option<Func> {
        let steps = self.steps();
        /// A function of the memory and an address where it writes an element, and those of operands.
        macro_rules! element {
            ($memory:ident, $($operand:ident),* => $result:expr) => {
                Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, r: i32, $($operand: i32),*| {
                    let $memory = memory(&mut caller, steps)?;
                    $(let $operand = WasmElement::<P>::read($memory, $operand)?;)*
                    let result: WasmElement<P> = $result;
                    Ok::<_, Error>(result.write($memory, r)?)
                })
            };
        }
        Some(match self {
            Self::Copy | Self::CopyMany | Self::IsTrue | Self::IsEqual => return None,
            Self::ToInt => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, a: i32| {
                Ok::<_, Error>(to_int(WasmElement::<P>::read(memory(&mut caller, steps)?, a)?))
            }),
            Self::ToLongNormal => Func::wrap(store, move |mut caller: Caller<'_, Host<P>>, a: i32| {
                let memory = memory(&mut caller, steps)?;
                Ok::<_, Error>(
                    WasmElement::Normal(WasmElement::<P>::read(memory, a)?.value()).write(memory, a)?,
                )
            }),
            Self::Unary(Unary::Negate) => {
                element!(memory, a => binary(Binary::Subtract, WasmElement::Short(0), a).ok_or(TrapCode::IntegerDivisionByZero)?)
            }
            Self::Unary(operation) => {
                element!(memory, a => WasmElement::Montgomery(operation.evaluate(a.value())))
            }
            Self::Invert => {
                element!(memory, a => WasmElement::Montgomery(a.value().invert_vartime().unwrap_or(Fp::ZERO)))
            }
            Self::Not => {
                element!(memory, a => binary(Binary::Equal, a, WasmElement::Short(0)).ok_or(TrapCode::IntegerDivisionByZero)?)
            }
            Self::Binary(operation) => {
                element!(memory, a, b => binary(operation, a, b).ok_or(TrapCode::IntegerDivisionByZero)?)
            }
        })
    }
}

/// The functions that the interpreter calls, by their places in the table of native ones, with the positions of circom's.
pub(super) fn of_interpreter() -> impl Iterator<Item = (usize, Native)> {
    all().map(|(position, _, native)| (position, native)).filter(|(_, native)| native.pays())
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

/// The result of an operation, in any form. `None` if it traps: integers are divided by zero.
#[inline(always)]
pub(crate) fn binary<P: ScalarPrime>(
    operation: Binary,
    a: WasmElement<P>,
    b: WasmElement<P>,
) -> Option<WasmElement<P>> {
    match (operation, a, b) {
        (_, WasmElement::Short(x), WasmElement::Short(y)) => {
            if let Some(Ok(result)) = operation.evaluate_small(x.into(), y.into()).map(i32::try_from) {
                return Some(WasmElement::Short(result));
            }
        }
        // Bits are products and sums with many numbers.
        (Binary::Multiply, WasmElement::Short(0), _) | (Binary::Multiply, _, WasmElement::Short(0)) => {
            return Some(WasmElement::Short(0));
        }
        (Binary::Multiply, WasmElement::Short(1), other)
        | (Binary::Multiply, other, WasmElement::Short(1))
        | (Binary::Add, WasmElement::Short(0), other)
        | (Binary::Add | Binary::Subtract, other, WasmElement::Short(0)) => return Some(other),
        _ => {}
    }
    let (a, b) = (a.value(), b.value());
    match operation {
        Binary::Multiply => Some(WasmElement::Montgomery(a * b)),
        Binary::Add => Some(WasmElement::Montgomery(a + b)),
        Binary::Subtract => Some(WasmElement::Montgomery(a - b)),
        Binary::IntegerDivide | Binary::Remainder if b == Fp::ZERO => None,
        _ => Some(result(operation, a, b)),
    }
}

#[inline(never)]
fn result<P: ScalarPrime>(operation: Binary, a: Fp<P>, b: Fp<P>) -> WasmElement<P> {
    let result = operation.evaluate(a, b);
    if operation.is_truth() {
        WasmElement::Short((result != Fp::ZERO).into())
    } else {
        WasmElement::Montgomery(result)
    }
}

/// The lowest 32 bits of a number, which is negative above p/2.
pub(crate) fn to_int<P: ScalarPrime>(element: WasmElement<P>) -> i32 {
    let value = match element {
        WasmElement::Short(value) => return value,
        WasmElement::Normal(value) | WasmElement::Montgomery(value) => value,
    };
    let ([low, ..], [modulus, ..]) = (value.to_canonical(), P::MODULUS);
    let negative = Binary::Less.evaluate(value, Fp::ZERO) != Fp::ZERO;
    if negative { low.wrapping_sub(modulus) as i32 } else { low as i32 }
}
