//! The constants of one prime field.

use num_bigint::{BigInt, BigUint};

/// rustfmt's `max_width`.
const LINE: usize = 110;

/// The definition of a prime field.
pub(crate) struct PrimeField {
    /// The name in messages.
    pub(crate) name: &'static str,
    /// The name of the Rust type.
    pub(crate) type_name: &'static str,
    /// The type's docstring.
    pub(crate) comment: String,
    pub(crate) modulus: BigInt,
    /// The smallest generator of the multiplicative group.
    pub(crate) generator: u32,
}

/// Montgomery form modulo p, with the factor `2^(64 limbs)`.
pub(crate) struct Montgomery {
    p: BigInt,
    limbs: usize,
}

impl Montgomery {
    pub(crate) fn new(modulus: &BigInt) -> Self {
        Self { p: modulus.clone(), limbs: modulus.bits().div_ceil(64) as usize }
    }

    /// `a / b mod p`.
    pub(crate) fn quotient(&self, a: u32, b: u32) -> BigInt {
        a * BigInt::from(b).modpow(&(&self.p - 2), &self.p) % &self.p
    }

    /// A constant that is an element.
    pub(crate) fn element(&self, name: &str, value: &BigInt) -> String {
        constant(0, &format!("pub(crate) const {name}"), &self.words(value))
    }

    /// A constant that is an array of elements, one per line.
    pub(crate) fn elements(&self, name: &str, values: &[BigInt]) -> String {
        let lines: String = values.iter().map(|value| row(&self.words(value))).collect();
        format!("pub(crate) const {name}: [[u64; {}]; {}] = [\n{lines}];\n", self.limbs, values.len())
    }

    /// The words of an integer's Montgomery form.
    fn words(&self, value: &BigInt) -> Vec<String> {
        let product = (value << (64 * self.limbs)) % &self.p;
        let residue = (product + &self.p) % &self.p;
        words(residue.magnitude(), self.limbs)
    }
}

impl PrimeField {
    /// The type and its `impl Prime`.
    pub(crate) fn to_rust(&self) -> String {
        let p = self.modulus.magnitude();
        let montgomery = Montgomery::new(&self.modulus);
        let limbs = montgomery.limbs;
        let word = BigUint::from(1u32) << 64;
        let r = BigUint::from(1u32) << (64 * limbs);
        let one = BigUint::from(1u32);
        // The order of an odd residue modulo 2^64 divides 2^62.
        let inverse = p.modpow(&((&one << 62) - &one), &word);
        let two_adicity = (p - &one).trailing_zeros().expect("p is not 1");
        let root = BigUint::from(self.generator).modpow(&((p - &one) >> two_adicity), p);
        let array = |name: &str, words: &[String]| constant(4, &format!("const {name}"), words);
        let element = |name: &str, value: BigUint| array(name, &montgomery.words(&value.into()));
        [
            format!("\n/// {}\n", self.comment),
            "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n".to_owned(),
            format!("pub struct {};\n\n", self.type_name),
            format!("impl Prime for {} {{\n", self.type_name),
            format!("    type Limbs = [u64; {limbs}];\n"),
            format!("    const NAME: &'static str = \"{}\";\n", self.name),
            format!("    const BITS: u32 = {};\n", p.bits()),
            array("MODULUS", &words(p, limbs)),
            format!("    const INV: u64 = {};\n", words(&(&word - inverse), 1)[0]),
            element("R", one),
            element("R2", r.clone()),
            element("R3", &r * &r),
            element("GENERATOR", self.generator.into()),
            format!("    const TWO_ADICITY: u32 = {two_adicity};\n"),
            element("ROOT_OF_UNITY", root),
            "}\n".to_owned(),
        ]
        .concat()
    }
}

pub(crate) fn words(value: &BigUint, limbs: usize) -> Vec<String> {
    let mut words = value.to_u64_digits();
    words.resize(limbs, 0);
    words.iter().map(|word| format!("{word:#018x}")).collect()
}

/// A line of an array of arrays, or one line per word where rustfmt prefers that.
pub(crate) fn row(words: &[String]) -> String {
    let array = format!("[{}],", words.join(", "));
    if 4 + array.len() <= LINE {
        return format!("    {array}\n");
    }
    let lines: String = words.iter().map(|word| format!("        {word},\n")).collect();
    format!("    [\n{lines}    ],\n")
}

/// An array of words on one line, on the next line, or one word per line, as rustfmt formats it.
pub(crate) fn constant(indent: usize, declaration: &str, words: &[String]) -> String {
    let margin = " ".repeat(indent);
    let head = format!("{margin}{declaration}: [u64; {}] =", words.len());
    let array = format!("[{}];", words.join(", "));
    if head.len() + 1 + array.len() <= LINE {
        format!("{head} {array}\n")
    } else if indent + 4 + array.len() <= LINE {
        format!("{head}\n{margin}    {array}\n")
    } else {
        let lines: String = words.iter().map(|word| format!("{margin}    {word},\n")).collect();
        format!("{head} [\n{lines}{margin}];\n")
    }
}
