//! Circom's field arithmetic in a WASM, found by its instructions and redirected to native functions.
//!
//! Every circuit over BN254 or BLS12-381, of circom 1 and 2, begins with the same functions for field elements, `Fr_int_copy` to `Fr_lnot`, which take
//! most of a calculation's time. If their instructions are exactly those that circom writes, the bodies of some are replaced by calls through a table
//! of native functions. This table follows the WASM's own tables, so that no index changes. Any other WASM is run as it is.
//!
//! Over BN254 the instructions are the same in circuits of circom 0.5.30, 0.5.46, 2.0.3, 2.0.6, 2.0.8, 2.1.0, 2.1.4, 2.1.6, 2.1.9, 2.2.2 and 2.2.3. Only the indices of
//! functions differ, because of more or fewer imports, and the addresses of constants in circom 1. Over BLS12-381 they are those of 2.2.3. Sections: WebAssembly Core
//! Specification, 5.5.

use super::native::{self, Native};
use crate::graph::{message::Fields, push_leb128};
use std::{fmt::Write, ops::Range};
use wasmparser::{BinaryReader, FunctionBody, Operator, TypeRef};

/// The name by which the table of native functions is exported.
pub(super) const TABLE: &str = "proofmill.native";

/// The functions for field elements.
const FUNCTIONS: usize = 81;
/// SHA-256 of the types, locals and instructions of these functions, over BN254 and BLS12-381.
const DIGESTS: [[u8; 32]; 2] = [
    [
        0xbc, 0xde, 0x96, 0x39, 0xc7, 0xd7, 0xb2, 0xc8, 0xaf, 0x29, 0xe9, 0x05, 0xad, 0x50, 0xb6, 0xce, 0xe0,
        0xf7, 0x2e, 0x3a, 0x7c, 0xbb, 0x73, 0x05, 0xf7, 0x72, 0x88, 0x3b, 0x51, 0x8a, 0x3a, 0x0a,
    ],
    [
        0x2a, 0x91, 0xf4, 0x73, 0x95, 0x13, 0x6d, 0xa2, 0xba, 0x71, 0x82, 0xc1, 0xfd, 0xe3, 0x86, 0x01, 0x8c,
        0x7e, 0x3f, 0x26, 0x82, 0x91, 0xea, 0x99, 0x5c, 0x7a, 0x86, 0x51, 0xb5, 0xf6, 0x1e, 0x3a,
    ],
];
/// The addresses of their constants in circom 2, and of the modulus among them.
const CONSTANTS: Range<u32> = 8..2048;
const MODULUS: u32 = 608;

const MAGIC_AND_VERSION: &[u8] = b"\0asm\x01\0\0\0";
const TYPES: u64 = 1;
const IMPORTS: u64 = 2;
const DECLARATIONS: u64 = 3;
const TABLES: u64 = 4;
const EXPORTS: u64 = 7;
const CODE: u64 = 10;
const END: u8 = 0x0b;

/// Whether a WASM's first functions are circom's for field elements.
pub(crate) fn is_known(wasm: &[u8]) -> bool {
    let sections = wasm.strip_prefix(MAGIC_AND_VERSION).and_then(sections);
    sections.is_some_and(|sections| known_types(&sections).is_some())
}

/// The sections of a WASM by their numbers.
fn sections(wasm: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut rest = Fields::new(wasm);
    let mut sections = Vec::new();
    while rest.left() > 0 {
        sections.push((rest.varint()?, rest.delimited()?));
    }
    Some(sections)
}

fn section<'a>(sections: &[(u64, &'a [u8])], wanted: u64) -> Option<&'a [u8]> {
    sections.iter().find(|(id, _)| *id == wanted).map(|(_, content)| *content)
}

/// The types of the functions for field elements, if these are circom's.
fn known_types(sections: &[(u64, &[u8])]) -> Option<Vec<u64>> {
    let imported = section(sections, IMPORTS).map_or(Some(0), imported_functions)?;
    let signatures = signatures(section(sections, TYPES)?)?;
    let (_, mut declarations) = counted(section(sections, DECLARATIONS)?)?;
    let (_, mut code) = counted(section(sections, CODE)?)?;
    let (mut types, mut bodies) = (Vec::with_capacity(FUNCTIONS), Vec::with_capacity(FUNCTIONS));
    for _ in 0..FUNCTIONS {
        types.push(declarations.varint()?);
        bodies.push(FunctionBody::new(BinaryReader::new(code.delimited()?, 0)));
    }
    // Circom 1 keeps the constants elsewhere: the address of the modulus tells by how much.
    let shift = modulus(bodies.get(ADDITION)?)?.checked_sub(MODULUS)?;
    let mut text = String::new();
    for (ty, body) in types.iter().zip(&bodies) {
        text.push_str(signatures.get(usize::try_from(*ty).ok()?)?);
        write(&mut text, body, imported, shift)?;
    }
    // Nothing but the exact instructions is replaced: similar code may do something else.
    DIGESTS.contains(&proofmill_sha256::digest(text.as_bytes())).then_some(types)
}

/// The number of imported functions.
fn imported_functions(section: &[u8]) -> Option<u32> {
    let imports = wasmparser::ImportSectionReader::new(BinaryReader::new(section, 0)).ok()?;
    let is_function = |import: wasmparser::Result<wasmparser::Import<'_>>| {
        Some(u32::from(matches!(import.ok()?.ty, TypeRef::Func(_))))
    };
    imports.into_iter().map(is_function).sum()
}

/// The parameters and results of each type, as text.
fn signatures(section: &[u8]) -> Option<Vec<String>> {
    let types = wasmparser::TypeSectionReader::new(BinaryReader::new(section, 0)).ok()?;
    types.into_iter_err_on_gc_types().map(|ty| Some(format!("{:?}", ty.ok()?))).collect()
}

/// The most locals of a type.
const MOST_LOCALS: u32 = 100;

/// The position of the function that adds modulo the modulus, whose address it names first.
const ADDITION: usize = 16;

fn modulus(body: &FunctionBody<'_>) -> Option<u32> {
    let mut operators = body.get_operators_reader().ok()?;
    while !operators.eof() {
        if let Operator::I32Const { value } = operators.read().ok()? {
            return u32::try_from(value).ok();
        }
    }
    None
}

/// Writes a function's locals and instructions, with functions counted from the first that is not imported, and
/// constants where circom 2 has them.
fn write(text: &mut String, body: &FunctionBody<'_>, imported: u32, shift: u32) -> Option<()> {
    let place = |address: u32| {
        address.checked_sub(shift).filter(|place| CONSTANTS.contains(place)).unwrap_or(address)
    };
    for local in body.get_locals_reader().ok()? {
        let (count, ty) = local.ok()?;
        if count > MOST_LOCALS {
            return None;
        }
        (0..count).try_for_each(|_| write!(text, "{ty:?}")).ok()?;
    }
    let mut operators = body.get_operators_reader().ok()?;
    while !operators.eof() {
        let mut operator = operators.read().ok()?;
        match &mut operator {
            Operator::Call { function_index } => *function_index = function_index.checked_sub(imported)?,
            Operator::I32Const { value } => *value = place(*value as u32) as i32,
            Operator::I64Load { memarg }
            | Operator::I64Load32U { memarg }
            | Operator::I32Load { memarg }
            | Operator::I32Store8 { memarg } => {
                memarg.offset = place(u32::try_from(memarg.offset).ok()?).into();
            }
            _ => {}
        }
        writeln!(text, "{operator:?}").ok()?;
    }
    Some(())
}

/// The WASM with native arithmetic; `None` if its arithmetic is not known or it is malformed. It takes the memory of its bytes again.
pub(super) fn redirect(wasm: &[u8]) -> Option<Vec<u8>> {
    let sections = sections(wasm.strip_prefix(MAGIC_AND_VERSION)?)?;
    let types = known_types(&sections)?;
    // A call through a table names the table by its index.
    let (table, _) = counted(section(&sections, TABLES)?)?;
    let mut redirected = MAGIC_AND_VERSION.to_vec();
    for (id, content) in &sections {
        let content = match *id {
            TABLES => one_more(
                content,
                &[&[0x70, 0][..], &leb128(native::of_interpreter().count() as u64)].concat(),
            )?,
            EXPORTS => {
                let name = [&leb128(TABLE.len() as u64)[..], TABLE.as_bytes()].concat();
                one_more(content, &[&name[..], &[1], &leb128(table)].concat())?
            }
            CODE => with_calls(content, table, &types)?,
            _ => content.to_vec(),
        };
        redirected.extend(leb128(*id));
        redirected.extend(leb128(content.len() as u64));
        redirected.extend(content);
    }
    Some(redirected)
}

/// The number of a section's entries, and the entries.
fn counted(section: &[u8]) -> Option<(u64, Fields<'_>)> {
    let mut entries = Fields::new(section);
    Some((entries.varint()?, entries))
}

fn one_more(section: &[u8], entry: &[u8]) -> Option<Vec<u8>> {
    let (count, entries) = counted(section)?;
    Some([&leb128(count.checked_add(1)?), entries.rest(), entry].concat())
}

/// The code section with a call through the table in place of each function that has a native one.
fn with_calls(section: &[u8], table: u64, types: &[u64]) -> Option<Vec<u8>> {
    let (count, mut bodies) = counted(section)?;
    let mut code = leb128(count);
    for (index, function) in types.iter().enumerate() {
        let body = bodies.delimited()?;
        let call = native::of_interpreter().enumerate().find(|(_, (position, _))| *position == index);
        let body =
            call.map_or(body.to_vec(), |(slot, (_, native))| call_body(native, slot, *function, table));
        code.extend(leb128(body.len() as u64));
        code.extend(body);
    }
    code.extend(bodies.rest());
    Some(code)
}

/// Returns the i32 of a short element: `local.get 0; i32.load8_u offset=7; i32.const 128; i32.and; i32.eqz; if; local.get 0; i32.load;
/// return; end`. Most calls need no native function then.
const RETURN_IF_SHORT: [u8; 18] =
    [0x20, 0, 0x2d, 0, 7, 0x41, 0x80, 1, 0x71, 0x45, 0x04, 0x40, 0x20, 0, 0x28, 2, 0, 0x0f];

/// A function without locals that passes its parameters to a function of the table.
fn call_body(native: Native, slot: usize, function: u64, table: u64) -> Vec<u8> {
    let mut body = vec![0];
    if let Native::ToInt = native {
        body.extend(RETURN_IF_SHORT);
        body.push(END);
    }
    for parameter in 0..native.parameters() {
        body.extend([0x20, parameter]);
    }
    // Slots are below 64, for which signed and unsigned LEB128 agree.
    body.extend([0x41, slot as u8, 0x11]);
    body.extend(leb128(function));
    body.extend(leb128(table));
    body.push(END);
    body
}

fn leb128(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_leb128(&mut bytes, value);
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::{
        input::Inputs,
        machine::{self, Module},
        program::Program,
        wasm::{Interpreter, Limits, RunSettings},
    };
    use proofmill_circom::{CircomCurve, PairingCurve, ScalarPrime, over_curve};
    use proofmill_field::bn254::FrParams;
    use proptest::prelude::*;

    const WASM: &[u8] = include_bytes!("../../tests/data/operators.wasm");
    const BLS12_381: &[u8] = include_bytes!("../../tests/data/operators-bls12-381.wasm");
    const CIRCOM1: [&[u8]; 2] = [
        include_bytes!("../../tests/data/circom1/inputs.wasm"),
        include_bytes!("../../tests/data/circom1/old.wasm"),
    ];

    #[test]
    fn all_versions_begin_with_the_same_functions() {
        for wasm in [WASM, BLS12_381].into_iter().chain(CIRCOM1) {
            assert!(is_known(wasm));
        }
    }

    #[test]
    fn only_circoms_bytes_are_redirected() {
        let redirected = redirect(WASM).unwrap();
        // The bodies are replaced, once.
        assert!(redirected.len() < WASM.len());
        assert!(redirect(&redirected).is_none());
        // The third function of the code section, and a type.
        let body = WASM.windows(4).position(|bytes| bytes == [0x20, 0, 0x29, 3]).unwrap();
        for at in [12, body] {
            let mut changed = WASM.to_vec();
            changed[at] ^= 1;
            assert!(redirect(&changed).is_none(), "{at}");
        }
        for length in 0..2000 {
            assert!(redirect(&WASM[..length]).is_none());
        }
    }

    /// The WASM with other bodies of some functions for field elements.
    fn with_bodies(wasm: &[u8], other: impl Fn(usize, &[Vec<u8>]) -> Vec<u8>) -> Vec<u8> {
        let mut changed = MAGIC_AND_VERSION.to_vec();
        for (id, content) in sections(wasm.strip_prefix(MAGIC_AND_VERSION).unwrap()).unwrap() {
            let mut content = content.to_vec();
            if id == CODE {
                let (count, mut fields) = counted(&content).unwrap();
                let bodies: Vec<_> = (0..count).map(|_| fields.delimited().unwrap().to_vec()).collect();
                let mut code = leb128(count);
                for index in 0..bodies.len() {
                    let body = if index < FUNCTIONS { other(index, &bodies) } else { bodies[index].clone() };
                    code.extend(leb128(body.len() as u64));
                    code.extend(body);
                }
                content = code;
            }
            changed.extend(leb128(id));
            changed.extend(leb128(content.len() as u64));
            changed.extend(content);
        }
        changed
    }

    /// The WASM of a version that is not known, which does the same.
    fn of_another_version(wasm: &[u8]) -> Vec<u8> {
        const NOP: u8 = 1;
        with_bodies(wasm, |index, bodies| {
            let mut body = bodies[index].clone();
            body.insert(body.len() - 1, NOP);
            body
        })
    }

    #[test]
    fn functions_of_other_versions_are_found_by_what_they_do() {
        let inputs =
            r#"{"x": [0, 1, -1, 5, "0x7fffffff", -7, 64, 253, 254, "0x1234567890abcdef123456789", -300, 3]}"#;
        functions_are_found::<FrParams>(WASM, inputs);
        over_curve!(PairingCurve::Bls12_381, C => {
            let other = of_another_version(BLS12_381);
            let program = Program::<<C as CircomCurve>::ScalarPrime>::from_bytes(&other, Limits::default()).unwrap();
            assert!(program.interpreted_functions().is_empty());
        });
        for wasm in CIRCOM1 {
            // They have no names.
            let program =
                Program::<FrParams>::from_bytes(&of_another_version(wasm), Limits::default()).unwrap();
            assert!(program.interpreted_functions().is_empty());
        }
    }

    fn functions_are_found<P: ScalarPrime>(wasm: &[u8], inputs: &str) {
        let inputs = Inputs::<P>::from_json(inputs.as_bytes()).unwrap();
        let other = of_another_version(wasm);
        assert!(!is_known(&other));
        // Each function with the body of another of its type, one at a time.
        let wrong: Vec<_> = native::all()
            .filter_map(|(at, name, native)| {
                let same = |other: Native| {
                    let is_value = |native: Native| native.parameters() == 3 || native.parameters() == 2;
                    std::mem::discriminant(&other) == std::mem::discriminant(&native) && is_value(native)
                };
                let from = native::all().find(|(other, _, found)| *other != at && same(*found))?.0;
                let swap =
                    |index: usize, bodies: &[Vec<u8>]| bodies[if index == at { from } else { index }].clone();
                Some((name, with_bodies(wasm, swap)))
            })
            .collect();
        assert!(wrong.len() > 20);
        let wrong = wrong.iter().map(|(name, wasm)| (Some(*name), wasm));
        let all = std::iter::once((None, &other)).chain(wrong);
        for (index, (name, wasm)) in all.enumerate() {
            let program = Program::<P>::from_bytes(wasm, Limits::default()).unwrap();
            // What calls a wrong function is wrong, too.
            let interpreted = program.interpreted_functions();
            assert!(
                name.map_or(interpreted.is_empty(), |name| interpreted.contains(&name)),
                "{interpreted:?}"
            );
            // The others take too long.
            if name.is_some() && !index.is_multiple_of(5) {
                continue;
            }
            let settings = RunSettings::new(Limits::default());
            let interpreter = Interpreter::new(wasm, settings.limits).unwrap();
            assert!(!interpreter.native);
            // Some trap.
            let expected = interpreter.calculate(&settings, &inputs).ok();
            if name.is_none() {
                assert_eq!(program.calculate(&inputs).ok(), Some(expected.clone().unwrap()));
            }
            // With nothing native the machine executes whatever there is: what is wrong may depend on forms of elements.
            let code = Module::new(wasm, &|_| None).unwrap();
            let executed = machine::calculate(&code, &inputs, Limits::default(), None).ok();
            assert_eq!(executed, expected, "{name:?}");
        }
    }

    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<i32>().prop_map(|value| value.to_string()),
            (-300..300_i32).prop_map(|value| value.to_string()),
            (0..256_u32, any::<bool>(), -3..3_i64).prop_map(|(shift, negative, offset)| {
                let power = num_bigint::BigInt::from(1) << shift;
                (if negative { -power } else { power } + offset).to_string()
            }),
            any::<[u128; 2]>().prop_map(|[high, low]| format!("0x{high:x}{low:032x}")),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10))]

        /// The native functions give what the interpreter makes of circom's own.
        #[test]
        fn native_arithmetic_is_circoms(numbers in prop::collection::vec(number(), 12)) {
            let inputs = serde_json::json!({ "x": numbers }).to_string();
            for (wasm, curve) in [(WASM, PairingCurve::Bn254), (BLS12_381, PairingCurve::Bls12_381)] {
                over_curve!(curve, C => native_is_interpreted::<<C as CircomCurve>::ScalarPrime>(wasm, &inputs)?);
            }
        }
    }

    fn native_is_interpreted<P: ScalarPrime>(wasm: &[u8], inputs: &str) -> Result<(), TestCaseError> {
        let inputs = Inputs::<P>::from_json(inputs.as_bytes()).unwrap();
        let settings = RunSettings::new(Limits::default());
        let native = Interpreter::new(wasm, settings.limits).unwrap();
        prop_assert!(native.native);
        let interpreted = Interpreter::compile(wasm, settings.limits, false).unwrap();
        let [native, interpreted] =
            [native, interpreted].map(|program| program.calculate(&settings, &inputs).unwrap());
        prop_assert_eq!(&*native, &*interpreted);
        Ok(())
    }
}
