//! The statements of a contract's `verifyProof`, in Yul, and the text around them.

use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Invert, bn254::Fr};
use proofmill_solidity::{ARGUMENTS, Body, Verifier, coordinate_modulus, literal, scalar_modulus, word};

/// Words of memory at fixed addresses (first byte). Solidity's reserved words end at 0x80, and the function
/// allocates nothing else. The words from there to [`ALPHA`](memory::ALPHA) and the two after
/// [`XI`](memory::XI) that are not named are the protocol's own.
pub(crate) mod memory {
    pub(crate) const BETA: usize = 0xa0;
    pub(crate) const GAMMA: usize = 0xc0;
    pub(crate) const ALPHA: usize = 0x120;
    pub(crate) const XI: usize = 0x140;
    /// `xi^n`.
    pub(crate) const XI_N: usize = 0x1a0;
    pub(crate) const FIRST_LAGRANGE: usize = 0x1c0;
    pub(crate) const PUBLIC_INPUT: usize = 0x1e0;
    /// A sum of points, a point to add and its factor: 5 words.
    pub(crate) const SUM: usize = 0x200;
    pub(crate) const POINT: usize = 0x240;
    pub(crate) const FACTOR: usize = 0x280;
    /// Two points of G1, each with one of G2: 12 words.
    pub(crate) const PAIRS: usize = 0x2a0;
    /// Values of the formulas.
    pub(crate) const VALUES: usize = 0x420;
}
use memory::*;

/// A part of a hash's input.
pub(crate) enum HashInput {
    /// The value of an expression.
    Word(String),
    /// A range of bytes of the arguments.
    Calldata { begin: usize, length: usize },
}

impl HashInput {
    /// A word of memory.
    pub(crate) fn stored(byte: usize) -> Self {
        Self::Word(format!("mload({byte:#x})"))
    }

    /// The coordinates of points.
    pub(crate) fn constants<'p>(points: impl IntoIterator<Item = &'p Affine<G1>>) -> Vec<Self> {
        let words = points.into_iter().flat_map(Affine::<G1>::to_evm).collect::<Vec<u8>>();
        words.chunks(32).map(|bytes| Self::Word(word(bytes))).collect()
    }
}

/// A point to add.
pub(crate) enum PointSource {
    Calldata(usize),
    Constant(Affine<G1>),
}

/// The places of the arguments, and the domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalldataLayout {
    /// The first byte of the values, after the points.
    pub(crate) values: usize,
    /// The first byte of the public inputs, after the values.
    pub(crate) public: usize,
    /// The number of public inputs.
    pub(crate) count: usize,
    /// The logarithm of the domain's size.
    pub(crate) log_n: u32,
}

impl CalldataLayout {
    /// The first byte of point `index`.
    pub(crate) fn point(index: usize) -> usize {
        ARGUMENTS + 64 * index
    }

    /// The domain's generator. A key that was checked has one.
    pub(crate) fn root(&self) -> Fr {
        Fr::root_of_unity(self.log_n).unwrap_or_default()
    }

    /// The public inputs in a hash.
    pub(crate) fn public_inputs(&self) -> HashInput {
        HashInput::Calldata { begin: self.public, length: 32 * self.count }
    }
}

/// The function under construction.
pub(crate) struct VerifierFunction {
    arguments: CalldataLayout,
    body: Body,
}

impl VerifierFunction {
    /// A function that first checks the arguments.
    pub(crate) fn new(arguments: CalldataLayout) -> Self {
        let mut function = Self { arguments, body: Body::default() };
        function.check_arguments();
        function.line("if valid {");
        function
    }

    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.body.line(line);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.body.text(text);
    }

    /// The source of the contract, which has `of` in its name. The first argument is an array of `word`s; the lines of `comment`
    /// describe it. `insecurity` is why anyone can forge proofs for the key, if so.
    pub(crate) fn source(
        mut self,
        of: &str,
        word: &str,
        mut comment: Vec<String>,
        insecurity: Option<&str>,
    ) -> String {
        self.line("}");
        let CalldataLayout { public, count, .. } = self.arguments;
        let mut arguments = vec![format!("{word}[{}]", (public - ARGUMENTS) / 32)];
        if count > 0 {
            arguments.push(format!("uint256[{count}]"));
            comment.push("The second one is the public inputs.".to_owned());
        }
        let name = format!("{}{}Verifier", of[..1].to_uppercase(), of[1..].to_lowercase());
        Verifier { name: &name, system: of, insecurity, comment, arguments, body: self.body }.source()
    }

    /// Checks that numbers are below their moduli and points are on the curve. Otherwise a precompiled
    /// contract would fail, which costs the caller all gas.
    fn check_arguments(&mut self) {
        let CalldataLayout { values, public, count, .. } = self.arguments;
        let end = public + 32 * count;
        let (r, q) = (scalar_modulus(), coordinate_modulus());
        self.text(&format!(
            "let r := {r}
            valid := 1
            {{
            let q := {q}
            for {{ let i := {ARGUMENTS} }} lt(i, {values:#x}) {{ i := add(i, 0x40) }} {{
            let x := calldataload(i)
            let y := calldataload(add(i, 0x20))
            let onCurve := eq(mulmod(y, y, q), addmod(mulmod(mulmod(x, x, q), x, q), 3, q))
            valid := and(valid, and(and(lt(x, q), lt(y, q)), or(onCurve, iszero(or(x, y)))))
            }}
            for {{ let i := {values:#x} }} lt(i, {end:#x}) {{ i := add(i, 0x20) }} {{
            valid := and(valid, lt(calldataload(i), r))
            }}
            }}"
        ));
    }

    /// Stores a challenge at `target`. The hash's input is assembled in memory from byte `begin` on.
    pub(crate) fn challenge(
        &mut self,
        begin: usize,
        target: usize,
        parts: impl IntoIterator<Item = HashInput>,
    ) {
        let mut end = begin;
        for part in parts {
            match part {
                HashInput::Word(expression) => {
                    self.line(format!("mstore({end:#x}, {expression})"));
                    end += 32;
                }
                HashInput::Calldata { length: 0, .. } => {}
                HashInput::Calldata { begin, length } => {
                    self.line(format!("calldatacopy({end:#x}, {begin:#x}, {length:#x})"));
                    end += length;
                }
            }
        }
        let length = end - begin;
        self.line(format!("mstore({target:#x}, mod(keccak256({begin:#x}, {length:#x}), r))"));
    }

    /// Computes `xi^n`, `L_1(xi)` and `PI(xi)`. One inversion of a product gives the inverses of all
    /// `xi - omega^i`.
    ///
    /// `derived` are statements between, that can use `xi^n`. `invert` are statements that store the inverse of
    /// `product` at [`PAIRS`], and set `valid` if there is one. Products are stored in memory from byte `begin` on.
    pub(crate) fn evaluate_public_inputs(&mut self, begin: usize, derived: Vec<String>, invert: &str) {
        let CalldataLayout { public, count, log_n, .. } = self.arguments;
        let root = self.arguments.root();
        let end = begin + 32 * count.max(1);
        let [inverse_root, inverse_size] =
            [root, Fr::from(1 << log_n)].map(|value| literal(value.invert_vartime().unwrap_or_default()));
        self.text(&format!(
            "// L_1 and the public inputs' polynomial at xi; if xi is in the domain they say nothing.
            {{
            let xi := mload({XI:#x})
            let power := xi"
        ));
        for _ in 0..log_n {
            self.line("power := mulmod(power, power, r)");
        }
        let root = literal(root);
        let input = match (count, begin.checked_sub(public)) {
            (0, _) => String::new(),
            (_, Some(distance)) => format!("sub(i, {distance:#x})"),
            (_, None) => format!("add(i, {:#x})", public - begin),
        };
        let add_input = match input.as_str() {
            "" => String::new(),
            input => format!("sum := addmod(sum, mulmod(lagrange, calldataload({input}), r), r)"),
        };
        self.line(format!("mstore({XI_N:#x}, power)"));
        derived.into_iter().for_each(|line| self.line(line));
        self.text(&format!(
            "let vanishing := addmod(power, sub(r, 1), r)
            let product := 1
            let root := 1
            for {{ let i := {begin:#x} }} lt(i, {end:#x}) {{ i := add(i, 0x20) }} {{
            mstore(i, product)
            product := mulmod(product, addmod(xi, sub(r, root), r), r)
            root := mulmod(root, {root}, r)
            }}
            {invert}
            let inverse := mulmod(mload({PAIRS:#x}), mulmod(vanishing, {inverse_size}, r), r)
            let sum := 0
            for {{ let i := {end:#x} }} gt(i, {begin:#x}) {{ }} {{
            i := sub(i, 0x20)
            root := mulmod(root, {inverse_root}, r)
            let lagrange := mulmod(mulmod(inverse, mload(i), r), root, r)
            inverse := mulmod(inverse, addmod(xi, sub(r, root), r), r)
            {add_input}
            mstore({FIRST_LAGRANGE:#x}, lagrange)
            }}
            mstore({PUBLIC_INPUT:#x}, sub(r, sum))
            }}",
        ));
    }

    /// Adds a point times a factor to the sum.
    pub(crate) fn add_point(&mut self, source: &PointSource, factor: &str) {
        match source {
            PointSource::Constant(point) if point.is_infinity() => return,
            _ if factor == "0" => return,
            PointSource::Calldata(begin) => self.line(format!("calldatacopy({POINT:#x}, {begin:#x}, 0x40)")),
            PointSource::Constant(point) => {
                let bytes = point.to_evm();
                self.store(POINT, &bytes);
            }
        }
        self.line(match factor {
            "1" => "valid := and(plus(), valid)".to_owned(),
            _ => format!("valid := and(plusMultiple({factor}), valid)"),
        });
    }

    /// Stores constant words.
    pub(crate) fn store(&mut self, begin: usize, bytes: &[u8]) {
        self.body.store(begin, bytes);
    }

    /// Sets the sum to infinity.
    pub(crate) fn clear_sum(&mut self) {
        self.store(SUM, &[0; 64]);
    }

    /// Copies the sum to the pairing's input.
    pub(crate) fn move_sum(&mut self, target: usize) {
        for offset in [0, 32] {
            self.line(format!("mstore({:#x}, mload({:#x}))", target + offset, SUM + offset));
        }
    }

    /// Declares the functions that [`Self::add_point`] calls.
    pub(crate) fn declare_sums(&mut self) {
        self.text(&format!(
            "function plus() -> ok {{
            ok := staticcall(gas(), 6, {SUM:#x}, 0x80, {SUM:#x}, 0x40)
            }}
            function plusMultiple(factor) -> ok {{
            mstore({FACTOR:#x}, factor)
            ok := staticcall(gas(), 7, {POINT:#x}, 0x60, {POINT:#x}, 0x40)
            ok := and(plus(), ok)
            }}"
        ));
    }

    /// Checks `e(first, -tau G2) e(second, G2) = 1` for the two points of G1 in memory.
    pub(crate) fn pair(&mut self, tau: Affine<G2>) {
        self.line("// The pairing.");
        self.store(PAIRS + 64, &(-tau).to_evm());
        self.store(PAIRS + 256, &G2::GENERATOR.to_evm());
        self.line(format!("valid := and(staticcall(gas(), 8, {PAIRS:#x}, 0x180, 0, 0x20), valid)"));
        self.line("valid := and(valid, eq(mload(0), 1))");
    }
}
