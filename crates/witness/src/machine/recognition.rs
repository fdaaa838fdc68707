//! Finds circom's functions for field elements in the WASM of an unknown version: by their names or positions, and by their results on
//! elements at which implementations could differ.

use super::{
    execution::WasmMachine,
    memory::ElementOperand,
    module::{Module, Reason},
    value::SymbolicValue,
};
use crate::wasm::{
    Limits,
    element::{BYTES, WasmElement},
    native::{self, Native},
    prelude,
};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Algebra, Field, Fp, Invert};
use std::collections::HashMap;

/// The limit of steps for the tests of all functions. Circom's take a tenth of it.
const STEPS: u64 = 1 << 31;
/// Elements that are copied at once.
const COPIES: u32 = 2;

/// Decodes and validates a WASM of circom's, over the field of `P`. Within the limits it tries functions that are not known.
pub(crate) fn decode<P: ScalarPrime>(bytes: &[u8], limits: Limits) -> Result<Module, Reason> {
    if prelude::is_known(bytes) {
        return Module::new(bytes, &native::at);
    }
    let natives = natives::<P>(&Module::new(bytes, &|_| None)?, limits);
    if natives.is_empty() {
        return Err("its functions for field elements are not circom's".to_owned());
    }
    Module::new(bytes, &|number| natives.get(&number).copied())
}

/// The functions with the same results as circom's, by their numbers among the module's own functions. All of these are code.
fn natives<P: ScalarPrime>(module: &Module, limits: Limits) -> HashMap<usize, Native> {
    let limits = Limits { steps: Some(limits.steps.unwrap_or(STEPS).min(STEPS)), ..limits };
    let Ok(mut machine) = WasmMachine::<P, false>::new(module, limits) else { return HashMap::new() };
    let pairs = pairs::<P>();
    let imported = module.imported();
    let candidates = native::all().map(|(position, name, native)| {
        let named = module.names.get(name).and_then(|index| (*index as usize).checked_sub(imported));
        (named.unwrap_or(position), native)
    });
    let does = |(number, native): &(usize, Native)| {
        does(&mut machine, (number + imported) as u32, *native, &pairs) == Some(true)
    };
    candidates.filter(does).collect()
}

/// Whether a function has the same results on pairs of elements as a native one; `None` if there is no memory for the test.
fn does<P: ScalarPrime>(
    machine: &mut WasmMachine<'_, P, false>,
    function: u32,
    native: Native,
    pairs: &[[WasmElement<P>; 2]],
) -> Option<bool> {
    let returns = matches!(native, Native::IsTrue | Native::IsEqual | Native::ToInt);
    if machine.module.signatures.arity_of_function(function) != (native.parameters().into(), returns.into()) {
        return Some(false);
    }
    // The page behind those of the module.
    let page = u32::try_from(machine.module.pages << 16).ok()?;
    if machine.memory.pages() == machine.module.pages {
        machine.memory.grow(1).ok()?;
    }
    // All pairs would take too long for a slow function.
    let every = if native.is_slow() { 16 } else { 1 };
    let mut pairs = pairs.iter().step_by(every);
    Some(pairs.all(|[a, b]| agrees(machine, page, function, native, *a, *b) == Some(true)))
}

/// Whether the results on two elements are the same. The elements are put into a page; `None` if they or a result cannot be there.
fn agrees<P: ScalarPrime>(
    machine: &mut WasmMachine<'_, P, false>,
    page: u32,
    function: u32,
    native: Native,
    a: WasmElement<P>,
    b: WasmElement<P>,
) -> Option<bool> {
    let [result, first, second] = [0, 2, 4].map(|place| page + place * BYTES as u32);
    let mut write = |at: u32, value| machine.memory.set(at, ElementOperand::Known(value)).ok();
    write(first, a)?;
    write(first + BYTES as u32, b)?;
    write(second, b)?;
    let arguments = match native {
        Native::Binary(_) => vec![result, first, second],
        Native::CopyMany => vec![result, first, COPIES],
        Native::IsEqual => vec![first, second],
        Native::IsTrue | Native::ToInt | Native::ToLongNormal => vec![first],
        Native::Copy | Native::Unary(_) | Native::Invert | Native::Not => vec![result, first],
    };
    let returned = machine.call_function(function, &arguments);
    let element = |at: u32| match machine.memory.element::<P>(at) {
        Ok(ElementOperand::Known(element)) => Some(element),
        _ => None,
    };
    let is = |found: Option<WasmElement<P>>, expected: Fp<P>| found.map(|found| found.value() == expected);
    let returns = |expected: i32| returned == Ok(SymbolicValue::integer((expected as u32).into()));
    match native {
        Native::IsTrue => Some(returns(a.is_true().into())),
        Native::IsEqual => Some(returns((a.value() == b.value()).into())),
        Native::ToInt => Some(returns(native::to_int(a))),
        _ if returned.is_err() => {
            let Native::Binary(operation) = native else { return Some(false) };
            Some(native::binary(operation, a, b).is_none())
        }
        Native::Copy => is(element(result), a.value()),
        Native::CopyMany => {
            let copied = is(element(result), a.value())? && is(element(result + BYTES as u32), b.value())?;
            Some(copied)
        }
        Native::ToLongNormal => {
            Some(matches!(element(first)?, WasmElement::Normal(found) if found == a.value()))
        }
        Native::Unary(operation) => is(element(result), operation.evaluate(a.value())),
        Native::Invert => is(element(result), a.value().invert_vartime().unwrap_or(Fp::ZERO)),
        Native::Not => is(element(result), Fp::from(u64::from(!a.is_true()))),
        Native::Binary(operation) => match native::binary(operation, a, b) {
            Some(expected) => is(element(result), expected.value()),
            None => Some(false),
        },
    }
}

/// Pairs of elements at the ends of ranges and others, in all forms.
fn pairs<P: ScalarPrime>() -> Vec<[WasmElement<P>; 2]> {
    let half = Fp::from(2).invert_vartime().unwrap_or(Fp::ZERO);
    let power = |exponent: u64| Fp::from(2).pow_vartime(&[exponent]);
    let mut values = vec![Fp::ZERO, Fp::ONE, Fp::from(2), Fp::from(64), Fp::from(253), Fp::from(254)];
    // (p + 1) / 2, the first that is negative, and what is next to it.
    values.extend([half, half - Fp::ONE, half + Fp::ONE]);
    values.extend([31, 32, 63, 64, 128, 253].into_iter().flat_map(|exponent| {
        let power = power(exponent);
        [power, power - Fp::ONE, -power]
    }));
    let mut seed = Fp::from(3);
    for _ in 0..6 {
        seed = seed.pow_vartime(&[5]) + half;
        values.push(seed);
    }
    values.extend(values.clone().into_iter().take(5).map(|value| -value));
    let forms = |value: Fp<P>| {
        let short = match (WasmElement::from(value), WasmElement::from(-value)) {
            (short @ WasmElement::Short(_), _) => Some(short),
            (_, WasmElement::Short(value)) => Some(WasmElement::Short(-value)),
            _ => None,
        };
        [Some(WasmElement::Normal(value)), Some(WasmElement::Montgomery(value)), short].into_iter().flatten()
    };
    // All pairs, and with them all pairs of forms in turn.
    let mut turn = 0;
    let mut pairs = Vec::new();
    for a in &values {
        for b in &values {
            let (of_a, of_b) = (forms(*a).cycle().nth(turn % 3), forms(*b).cycle().nth(turn / 3 % 3));
            pairs.extend(of_a.zip(of_b).map(|(a, b)| [a, b]));
            turn += 1;
        }
    }
    pairs
}
