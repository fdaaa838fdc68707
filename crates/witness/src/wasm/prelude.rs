//! Circom's field arithmetic in a WASM, found by its bytes and redirected to native functions.
//!
//! Every circuit over BN254 or BLS12-381 begins with the same functions for field elements, `Fr_int_copy` to `Fr_lnot`, which take most of a
//! calculation's time. If their bytes are those that circom writes, exactly, the bodies of some are replaced by calls through a table
//! of native functions, which is added behind the WASM's own tables, so that no index changes. Any other WASM is run as it is.
//!
//! Over BN254 the bytes are identical in circuits of circom 2.0.3, 2.0.6, 2.0.8, 2.1.0, 2.1.4, 2.1.6, 2.1.9, 2.2.2 and 2.2.3, but for the indices
//! of functions: up to 2.0.6 there are two imports in front of them, then four. Over
//! BLS12-381 they are those of 2.2.3. Sections: WebAssembly Core Specification, 5.5.

use super::native::{self, Native};
use crate::graph::message::Fields;
use proofmill_sha256::Sha256;

/// The name by which the table of native functions is exported.
pub(super) const TABLE: &str = "proofmill.native";

/// The functions for field elements.
const FUNCTIONS: usize = 81;
/// SHA-256 of the types, and of the type, size and bytes of each of these functions: over BN254 with four imports, and with two; over
/// BLS12-381 with four.
const DIGESTS: [[u8; 32]; 3] = [
    [
        0xe6, 0x90, 0xf3, 0xd3, 0xb1, 0x58, 0x97, 0x2e, 0xe7, 0xe4, 0xe9, 0xf6, 0x50, 0x0e, 0xf8, 0x0d, 0x53,
        0x3d, 0x59, 0x08, 0x70, 0xef, 0x4b, 0x45, 0x53, 0x3e, 0xf1, 0xe7, 0xfd, 0xaf, 0x6e, 0xd0,
    ],
    [
        0x65, 0xa7, 0x9a, 0x91, 0x28, 0x86, 0xfa, 0x0f, 0x3c, 0x83, 0x07, 0x54, 0x1b, 0x25, 0x37, 0xd6, 0xb8,
        0xdf, 0x8b, 0xd1, 0x01, 0x3b, 0xcf, 0x7c, 0x1b, 0xce, 0xdd, 0xe1, 0x67, 0xa1, 0xaf, 0x2f,
    ],
    [
        0x5d, 0x16, 0x05, 0x71, 0x12, 0xe1, 0x7f, 0xc1, 0x60, 0x96, 0x91, 0x90, 0xd8, 0xbe, 0x57, 0x78, 0x97,
        0x6e, 0xa3, 0x99, 0x19, 0x41, 0x1b, 0x94, 0x2c, 0x8e, 0x4f, 0xb9, 0xfa, 0x8c, 0x3d, 0x51,
    ],
];

const MAGIC_AND_VERSION: &[u8] = b"\0asm\x01\0\0\0";
const TYPES: u64 = 1;
const DECLARATIONS: u64 = 3;
const TABLES: u64 = 4;
const EXPORTS: u64 = 7;
const CODE: u64 = 10;
const END: u8 = 0x0b;

/// The WASM with native arithmetic; `None` if its arithmetic is not known or it is malformed. It takes the memory of its bytes again.
pub(super) fn redirect(wasm: &[u8]) -> Option<Vec<u8>> {
    let mut rest = Fields::new(wasm.strip_prefix(MAGIC_AND_VERSION)?);
    let mut sections = Vec::new();
    while rest.left() > 0 {
        sections.push((rest.varint()?, rest.delimited()?));
    }
    let section = |wanted| sections.iter().find(|(id, _)| *id == wanted).map(|(_, content)| *content);
    let types = functions(section(TYPES)?, section(DECLARATIONS)?, section(CODE)?)?;
    // A call through a table names the table by its index.
    let (table, _) = counted(section(TABLES)?)?;
    let mut redirected = MAGIC_AND_VERSION.to_vec();
    for (id, content) in &sections {
        let content = match *id {
            TABLES => one_more(content, &[&[0x70, 0][..], &leb128(native::FUNCTIONS.len() as u64)].concat())?,
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

/// The types of the functions for field elements, if these are circom's.
fn functions(types: &[u8], declarations: &[u8], code: &[u8]) -> Option<Vec<u64>> {
    let mut digest = Sha256::default();
    digest.update(types);
    let ((_, mut declarations), (_, mut code)) = (counted(declarations)?, counted(code)?);
    let mut found = Vec::with_capacity(FUNCTIONS);
    for _ in 0..FUNCTIONS {
        let (function, body) = (declarations.varint()?, code.delimited()?);
        digest.update(&function.to_le_bytes());
        digest.update(&(body.len() as u64).to_le_bytes());
        digest.update(body);
        found.push(function);
    }
    DIGESTS.contains(&digest.finish()).then_some(found)
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
        let slot = native::FUNCTIONS.iter().position(|(position, _)| *position == index);
        let call = slot.and_then(|slot| Some((slot, native::FUNCTIONS.get(slot)?.1)));
        let body = call.map_or(body.to_vec(), |(slot, native)| call_body(native, slot, *function, table));
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

fn leb128(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::{
        input::Inputs,
        wasm::{Limits, Program},
    };
    use proofmill_circom::{CircomCurve, PairingCurve, ScalarPrime, over_curve};
    use proptest::prelude::*;

    const WASM: &[u8] = include_bytes!("../../tests/data/operators.wasm");
    const BLS12_381: &[u8] = include_bytes!("../../tests/data/operators-bls12-381.wasm");

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
        let native = Program::from_bytes(wasm, Limits::default()).unwrap();
        prop_assert!(native.native);
        let interpreted = Program::compile(wasm, Limits::default(), false).unwrap();
        let [native, interpreted] = [native, interpreted].map(|program| program.calculate(&inputs).unwrap());
        prop_assert_eq!(&*native, &*interpreted);
        Ok(())
    }
}
