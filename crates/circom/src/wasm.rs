//! Facts about a circuit from its WASM: circom exports functions that only return a constant. Nothing is run.
//!
//! The format is WebAssembly 1.0's: sections of imports (2), exports (7), code (10) and data (11), numbers in LEB128.

/// The facts about a circuit in its WASM. Nothing makes sure that it is true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WasmDescription {
    /// The version of circom, such as `2.2.3`: less of it for versions that tell less, `1` for all of circom 1; `None` if there is none.
    pub circom: Option<String>,
    /// The number of values of all inputs.
    pub inputs: Option<u32>,
    /// The number of values of a witness.
    pub wires: Option<u32>,
}

/// The address of the number of inputs in the memory of a circuit of circom 1.
const INPUTS_OF_CIRCOM_1: u32 = 16;

/// Describes the WASM of a circuit; `None` for anything else. Takes time linear in the file's size, and no memory.
pub fn describe_wasm(bytes: &[u8]) -> Option<WasmDescription> {
    let module = Module::read(bytes)?;
    if module.function("getPRawPrime").is_some() {
        let (circom, wires) = (Some("1".to_owned()), module.constant("getNVars"));
        return Some(WasmDescription { circom, inputs: module.word(INPUTS_OF_CIRCOM_1), wires });
    }
    module.function("getWitness")?;
    let version = ["getVersion", "getMinorVersion", "getPatchVersion"].into_iter();
    let version: Vec<_> =
        version.map_while(|name| module.constant(name)).map(|part| part.to_string()).collect();
    Some(WasmDescription {
        circom: (!version.is_empty()).then(|| version.join(".")),
        inputs: module.constant("getInputSize"),
        wires: module.constant("getWitnessSize"),
    })
}

/// The contents of a module's sections, each a vector after its length.
#[derive(Default)]
struct Module<'a> {
    imports: Reader<'a>,
    exports: Reader<'a>,
    code: Reader<'a>,
    data: Reader<'a>,
}

impl<'a> Module<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut sections = Reader(bytes.strip_prefix(b"\0asm\x01\0\0\0")?);
        let mut module = Self::default();
        while !sections.0.is_empty() {
            let id = sections.byte()?;
            let content = Reader(sections.vector()?);
            match id {
                2 => module.imports = content,
                7 => module.exports = content,
                10 => module.code = content,
                11 => module.data = content,
                _ => {}
            }
        }
        Some(module)
    }

    /// The index of the function that is exported by this name.
    fn function(&self, name: &str) -> Option<u32> {
        let mut exports = self.exports;
        for _ in 0..exports.unsigned()? {
            let (found, kind, index) = (exports.vector()?, exports.byte()?, exports.unsigned()?);
            if found == name.as_bytes() {
                return (kind == FUNCTION).then_some(index);
            }
        }
        None
    }

    /// The constant that the exported function of this name returns, if it does nothing else.
    fn constant(&self, name: &str) -> Option<u32> {
        let index = self.function(name)?.checked_sub(self.imported_functions()?)?;
        let mut code = self.code;
        if index >= code.unsigned()? {
            return None;
        }
        for _ in 0..index {
            code.vector()?;
        }
        let mut body = Reader(code.vector()?);
        let locals = body.unsigned()?;
        let value = body.constant()?;
        (locals == 0 && body.0.is_empty()).then_some(value)
    }

    /// They have the first indices.
    fn imported_functions(&self) -> Option<u32> {
        let (mut imports, mut functions) = (self.imports, 0);
        if imports.0.is_empty() {
            return Some(0);
        }
        for _ in 0..imports.unsigned()? {
            imports.vector()?;
            imports.vector()?;
            match imports.byte()? {
                FUNCTION => {
                    imports.unsigned()?;
                    functions += 1;
                }
                // A memory, with its least and perhaps its most pages: the only other import of circom's.
                MEMORY => {
                    let has_most = imports.byte()? & 1 == 1;
                    imports.unsigned()?;
                    if has_most {
                        imports.unsigned()?;
                    }
                }
                _ => return None,
            }
        }
        Some(functions)
    }

    /// A word that the memory has at this address from the beginning.
    fn word(&self, address: u32) -> Option<u32> {
        let mut data = self.data;
        for _ in 0..data.unsigned()? {
            // Of the first memory, at a constant address.
            if data.unsigned()? != 0 {
                return None;
            }
            let (at, bytes) = (data.constant()?, data.vector()?);
            let behind = address.checked_sub(at).and_then(|offset| bytes.get(offset as usize..));
            if let Some(word) = behind.and_then(<[u8]>::first_chunk) {
                return Some(u32::from_le_bytes(*word));
            }
        }
        None
    }
}

/// The kinds of imports and exports.
const FUNCTION: u8 = 0;
const MEMORY: u8 = 2;

/// Bytes that have not been read. After `None` there is nothing more to read.
#[derive(Clone, Copy, Default)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number of 32 bits in LEB128, and whether its sign bit is set: that of its last seven bits.
    fn leb128(&mut self) -> Option<(u32, u32, bool)> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some((value, shift + 7, byte & 0x40 != 0));
            }
        }
        None
    }

    fn unsigned(&mut self) -> Option<u32> {
        self.leb128().map(|(value, ..)| value)
    }

    /// The bits of a signed number.
    fn signed(&mut self) -> Option<u32> {
        let (value, bits, is_negative) = self.leb128()?;
        let sign = if is_negative { u32::MAX.checked_shl(bits).unwrap_or(0) } else { 0 };
        Some(value | sign)
    }

    /// Bytes behind their number.
    fn vector(&mut self) -> Option<&'a [u8]> {
        let length = self.unsigned()?;
        let (bytes, rest) = self.0.split_at_checked(length as usize)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The expression `i32.const value`, with its end.
    fn constant(&mut self) -> Option<u32> {
        const I32_CONST: u8 = 0x41;
        const END: u8 = 0x0b;
        let is_constant = self.byte()? == I32_CONST;
        let value = self.signed()?;
        (self.byte()? == END && is_constant).then_some(value)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    const CIRCOM_2: &[u8] = include_bytes!("../tests/data/bls12-381/circuit.wasm");
    const CIRCOM_1: &[u8] = include_bytes!("../../witness/tests/data/circom1/inputs.wasm");

    fn described(circom: &str, inputs: u32, wires: u32) -> Option<WasmDescription> {
        let circom = Some(circom.to_owned());
        Some(WasmDescription { circom, inputs: Some(inputs), wires: Some(wires) })
    }

    #[test]
    fn circuits_of_every_version_are_described() {
        assert_eq!(describe_wasm(CIRCOM_2), described("2.2.3", 1, 7));
        assert_eq!(describe_wasm(CIRCOM_1), described("1", 7, 10));
        let early = include_bytes!("../../witness/tests/data/components-2.0.3.wasm");
        assert_eq!(describe_wasm(early), described("2", 3, 15));
        let early = include_bytes!("../../witness/tests/data/circom1/old.wasm");
        assert_eq!(describe_wasm(early), described("1", 7, 10));
    }

    #[test]
    fn other_modules_and_bytes_are_not() {
        assert_eq!(describe_wasm(b""), None);
        assert_eq!(describe_wasm(b"\0asm\x01\0\0\0"), None);
        // An export section whose count is beyond its bytes.
        assert_eq!(describe_wasm(b"\0asm\x01\0\0\0\x07\x05\xff\xff\xff\xff\x0f"), None);
    }

    /// No bytes make it panic, and those cut off take no circuit for another.
    #[test]
    fn damaged_circuits_are_described_otherwise_or_not_at_all() {
        for circuit in [CIRCOM_1, CIRCOM_2] {
            let whole = describe_wasm(circuit);
            for length in (0..circuit.len()).step_by(7) {
                assert_ne!(describe_wasm(&circuit[..length]), whole, "{length}");
            }
            let mut bytes = circuit.to_vec();
            for at in 0..bytes.len() {
                bytes[at] ^= 0xff;
                describe_wasm(&bytes);
                bytes[at] ^= 0xff;
            }
        }
    }

    #[test]
    fn numbers_are_read_as_webassembly_writes_them() {
        let signed = |bytes: &[u8]| Reader(bytes).signed().map(u32::cast_signed);
        assert_eq!(signed(&[0x3f]), Some(63));
        assert_eq!(signed(&[0x40]), Some(-64));
        assert_eq!(signed(&[0x80, 0x01]), Some(128));
        assert_eq!(signed(&[0xff, 0xff, 0xff, 0xff, 0x7f]), Some(-1));
        assert_eq!(Reader(&[0xe5, 0x8e, 0x26]).unsigned(), Some(624_485));
        assert_eq!(Reader(&[0x80; 6]).unsigned(), None);
    }
}
