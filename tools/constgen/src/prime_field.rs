//! The constants of one prime field.

use num_bigint::{BigInt, BigUint};

/// rustfmt's `max_width`.
const LINE: usize = 110;

/// What defines a prime field.
pub(crate) struct PrimeField {
    /// Name in messages.
    pub(crate) name: &'static str,
    /// Name of the Rust type.
    pub(crate) type_name: &'static str,
    /// Its docstring.
    pub(crate) comment: String,
    pub(crate) modulus: BigInt,
    /// The smallest generator of the multiplicative group.
    pub(crate) generator: u32,
}

impl PrimeField {
    /// The type and its `impl Prime`.
    pub(crate) fn to_rust(&self) -> String {
        let p = self.modulus.to_biguint().expect("a modulus is positive");
        let limbs = p.bits().div_ceil(64) as usize;
        let word = BigUint::from(1u32) << 64;
        let r = BigUint::from(1u32) << (64 * limbs);
        let one = BigUint::from(1u32);
        // The order of an odd residue modulo 2^64 divides 2^62.
        let inverse = p.modpow(&((&one << 62) - &one), &word);
        let two_adicity = (&p - &one).trailing_zeros().expect("p is not 1");
        let root = BigUint::from(self.generator).modpow(&((&p - &one) >> two_adicity), &p);
        let montgomery = |value: &BigUint| value * &r % &p;

        let array = |name: &str, value: &BigUint| constant(name, &words(value, limbs));
        [
            format!("\n/// {}\n", self.comment),
            "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n".to_owned(),
            format!("pub struct {};\n\n", self.type_name),
            format!("impl Prime for {} {{\n", self.type_name),
            format!("    type Limbs = [u64; {limbs}];\n"),
            format!("    const NAME: &'static str = \"{}\";\n", self.name),
            format!("    const BITS: u32 = {};\n", p.bits()),
            array("MODULUS", &p),
            format!("    const INV: u64 = {};\n", words(&(&word - inverse), 1)[0]),
            array("R", &montgomery(&one)),
            array("R2", &montgomery(&r)),
            array("R3", &montgomery(&(&r * &r))),
            array("GENERATOR", &montgomery(&self.generator.into())),
            format!("    const TWO_ADICITY: u32 = {two_adicity};\n"),
            array("ROOT_OF_UNITY", &montgomery(&root)),
            "}\n".to_owned(),
        ]
        .concat()
    }
}

fn words(value: &BigUint, limbs: usize) -> Vec<String> {
    let mut words = value.to_u64_digits();
    words.resize(limbs, 0);
    words.iter().map(|word| format!("{word:#018x}")).collect()
}

/// An array of words on one line, on the next, or one word a line: whichever rustfmt prefers.
fn constant(name: &str, words: &[String]) -> String {
    let head = format!("    const {name}: [u64; {}] =", words.len());
    let array = format!("[{}];", words.join(", "));
    if head.len() + 1 + array.len() <= LINE {
        format!("{head} {array}\n")
    } else if 8 + array.len() <= LINE {
        format!("{head}\n        {array}\n")
    } else {
        let lines: String = words.iter().map(|word| format!("        {word},\n")).collect();
        format!("{head} [\n{lines}    ];\n")
    }
}
