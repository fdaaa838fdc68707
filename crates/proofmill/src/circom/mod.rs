//! Files of circom and snarkjs: circuits, witnesses, powers of tau, public signals.
//!
//! Binary files are mapped into memory. Opening a `.ptau` is fast at any size: its points are read when they are used.
//!
//! ```
//! use proofmill::circom::{R1cs, Witness};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let circuit = R1cs::open("circuit.r1cs")?;
//! let witness = Witness::open("witness.wtns")?;
//! circuit.check(&witness)?;
//! println!("{} constraints, {} wires", circuit.constraints(), witness.values().len());
//!
//! let mut wrong = witness.values().to_vec();
//! wrong[5] += proofmill::field::Fr::from(1);
//! let error = circuit.check(&Witness::from_values(wrong)).unwrap_err();
//! assert!(matches!(error, proofmill::Error::Unsatisfied(_)), "{error}");
//! # Ok(())
//! # }
//! ```

use crate::{Error, Result, error::Names, machine::current};
pub use proofmill_circom::{
    Beacon, Contribution, Contributions, Description, FileKind, JsonDescription, SectionDescription, Symbol,
};
use proofmill_circom::{
    BinFile, CircomError, ContainerOrText, R1csFile, decode_witness, describe_file, parse_public,
    public_text, read_public, write_ptau_json, write_r1cs, write_witness,
};
pub use proofmill_circom::{CircomCurve, PairingCurve, ScalarPrime, over_curve};
use proofmill_curve::bn254::G1;
use proofmill_field::{Fp, bn254::FrParams};
use proofmill_files::{FileName, Target, write_bytes, write_text};
use proofmill_run::ErrorKind;
use std::{collections::BTreeSet, fmt, ops::Deref, path::Path};
use zeroize::{Zeroize, Zeroizing};

mod circuit_cache;
mod memory_bound;
mod setup_sizes;
mod witness_calculator;
pub use circuit_cache::CircuitCache;
pub use memory_bound::MemoryBound;
pub(crate) use memory_bound::{count, sum, times};
pub use setup_sizes::{SetupSize, SetupSizes};
pub use witness_calculator::{
    Debugged, Event, Limits, NATIVE_FUNCTIONS, WitnessCalculator, WitnessError, curve_of_program,
    embedded_wasm, likely_curve,
};

/// Describes an r1cs, wtns, zkey, ptau or key file: kind, curve, protocol, counts, sections and the contributions to a Groth16 key.
/// Nothing else of the file is read.
///
/// ```
/// use proofmill::circom::{FileKind, describe};
///
/// # fn main() -> proofmill::Result<()> {
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
/// # std::env::set_current_dir(folder).expect("the example");
/// let file = describe("plonk.zkey")?;
/// assert_eq!((file.kind, file.protocol.as_deref()), (FileKind::Zkey, Some("plonk")));
///
/// let contributions = describe("groth16.zkey")?.contributions.expect("a Groth16 key");
/// assert!(!contributions.list.is_empty(), "without any, anyone can forge proofs");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Io`], and [`Error::Malformed`] for a file that is none of these.
pub fn describe(path: impl AsRef<Path>) -> Result<Description> {
    Ok(describe_file(&BinFile::open(path.as_ref())?)?)
}

/// [`describe`] of the bytes of a file.
///
/// # Errors
/// [`Error::Malformed`].
pub fn describe_bytes(bytes: Vec<u8>) -> Result<Description> {
    Ok(describe_file(&BinFile::from_bytes("file", bytes)?)?)
}

/// Describes a `proof.json`, `verification_key.json` or `public.json` of any proof system. Points are checked to be on their curve,
/// numbers to be below their modulus; nothing is verified.
///
/// # Errors
/// [`Error::Io`], and [`Error::Malformed`] for a file that is none of these.
pub fn describe_json(path: impl AsRef<Path>) -> Result<JsonDescription> {
    Ok(proofmill_circom::describe_json(path.as_ref())?)
}

/// The curve that a file of circom's or snarkjs's names, binary or JSON. `None` for any other file, for JSON that names none, and for a
/// pipe, which can be read only once.
///
/// # Errors
/// [`Error::Io`].
pub fn curve_of(path: impl AsRef<Path>) -> Result<Option<PairingCurve>> {
    let path = path.as_ref();
    if !is_file(path) {
        return Ok(None);
    }
    Ok(match BinFile::open_or_text(path)? {
        ContainerOrText::Container(file) => {
            describe_file(&file).ok().and_then(|description| PairingCurve::of_name(&description.curve))
        }
        ContainerOrText::Text(text) => text.curve().ok().flatten(),
    })
}

/// Whether the file can be read more than once.
fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Passes the terms (wire, coefficient) of A, B and C of each constraint of an `.r1cs` file to `receive`, by ascending wires.
/// Memory is that of one constraint.
///
/// # Errors
/// Those of `receive`, [`Error::Io`], and [`Error::Malformed`] at the first malformed constraint: those before it were received.
pub fn each_constraint<P: ScalarPrime, E: From<Error>>(
    path: impl AsRef<Path>,
    mut receive: impl FnMut([&[(u32, Fp<P>)]; 3]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    /// Either kind of error.
    struct Failed<E>(E);
    impl<E: From<Error>> From<CircomError> for Failed<E> {
        fn from(error: CircomError) -> Self {
            Self(Error::from(error).into())
        }
    }
    let circuit = R1csFile::<P>::open(path.as_ref()).map_err(Error::from)?;
    let each = circuit.each(|terms| receive(terms.map(Vec::as_slice)).map_err(Failed));
    each.map_err(|Failed(error)| error)
}

/// Writes an `.r1cs` file over any curve's scalar field as JSON, as `snarkjs r1cs export json` does, in bounded memory.
///
/// # Errors
/// [`Error::Io`], and [`Error::Malformed`] for anything but constraints with the labels of wires.
pub fn write_r1cs_json(circuit: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<()> {
    let (circuit, path) = (circuit.as_ref(), path.as_ref());
    let curve = curve_of(circuit)?.unwrap_or(PairingCurve::Bn254);
    over_curve!(curve, C => {
        let circuit = R1csFile::<<C as CircomCurve>::ScalarPrime>::open(circuit)?;
        Ok(proofmill_circom::write_r1cs_json(&circuit, path)?)
    })
}

/// The value of every wire of a circuit: a `.wtns` file, or the variables of a circuit that was built in Rust. The values are the
/// prover's secret: they are wiped from memory when it is dropped, and `Debug` does not print them.
#[derive(Clone)]
pub struct Witness<P: ScalarPrime = FrParams> {
    values: Zeroizing<Vec<Fp<P>>>,
    name: Option<FileName>,
}

impl<P: ScalarPrime> fmt::Debug for Witness<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.values.len();
        f.debug_struct("Witness").field("name", &self.name).field("length", &length).finish_non_exhaustive()
    }
}

impl Witness {
    /// Reads a `.wtns` file of BN254.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a witness over BN254's scalar field.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// Decodes the bytes of a `.wtns` file, and wipes them.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::read(BinFile::from_bytes("witness", bytes)?, None)
    }
}

impl<P: ScalarPrime> Witness<P> {
    /// Reads a `.wtns` file over any curve's scalar field.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a witness over this field.
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        let name = file.name().clone();
        Self::read(file, Some(name))
    }

    fn read(file: BinFile, name: Option<FileName>) -> Result<Self> {
        let values = decode_witness(&file, current().level);
        file.into_bytes().zeroize();
        Ok(Self { values: values?.into(), name })
    }

    /// A witness of these values, one for each wire. For a circuit of circom's the first must be 1.
    pub fn from_values(values: Vec<Fp<P>>) -> Self {
        Self { values: values.into(), name: None }
    }

    /// The values.
    pub fn values(&self) -> &[Fp<P>] {
        &self.values
    }

    /// The bytes of a `.wtns` file.
    ///
    /// # Panics
    /// If there are 2^32 values or more.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_witness(&mut bytes, &self.values).expect("memory can be written to");
        bytes
    }

    /// Writes a `.wtns` file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// If there are 2^32 values or more.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_witness(path.as_ref(), &self.values)?)
    }

    /// Writes the values as JSON, as `snarkjs wtns export json` does, completely or not at all. They are secret.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_json(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(proofmill_circom::write_witness_json(&self.values, path.as_ref())?)
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }
}

/// The names of a circuit's wires: a `.sym` file.
#[derive(Debug)]
pub struct Symbols {
    symbols: proofmill_circom::Symbols,
}

impl Symbols {
    /// Opens a `.sym` file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] with the first line that is not one of a signal.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { symbols: proofmill_circom::Symbols::open(path.as_ref())? })
    }

    /// The name of a wire's first signal, such as `main.hash.out[3]`.
    pub fn name(&self, wire: u32) -> Option<&str> {
        self.symbols.name(wire)
    }

    /// All signals, in the order of the file.
    pub fn each(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.symbols.each()
    }

    /// The number of signals, with and without a wire.
    pub fn signals(&self) -> u64 {
        self.symbols.signals()
    }

    /// The number of wires with a name.
    pub fn wires(&self) -> usize {
        self.symbols.wires()
    }
}

/// The constraints of a circuit: an `.r1cs` file.
#[derive(Clone, Debug)]
pub struct R1cs<P: ScalarPrime = FrParams> {
    r1cs: proofmill_circom::R1cs<P>,
    name: Option<FileName>,
}

impl R1cs {
    /// Reads an `.r1cs` file of BN254.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but constraints over BN254's scalar field.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// Decodes the bytes of an `.r1cs` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let file = BinFile::from_bytes("r1cs", bytes)?;
        Ok(Self { r1cs: proofmill_circom::R1cs::read(&file)?, name: None })
    }
}

impl<P: ScalarPrime> R1cs<P> {
    /// Reads an `.r1cs` file over any curve's scalar field.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but constraints over this field.
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        Ok(Self { r1cs: proofmill_circom::R1cs::read(&file)?, name: Some(file.name().clone()) })
    }

    /// The bytes of an `.r1cs` file, in which the wires are their own labels.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_r1cs(&mut bytes, &self.r1cs).expect("memory can be written to");
        bytes
    }

    /// Writes an `.r1cs` file, completely or not at all, in which the wires are their own labels.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_r1cs(path.as_ref(), &self.r1cs)?)
    }

    /// The number of constraints.
    pub fn constraints(&self) -> u32 {
        self.r1cs.header.constraints
    }

    /// The number of wires, including the constant 1.
    pub fn wires(&self) -> u32 {
        self.r1cs.header.wires
    }

    /// The number of public signals: outputs and public inputs.
    pub fn public_signals(&self) -> u32 {
        self.r1cs.header.public()
    }

    /// The signals of a constraint for a message; a few of them, if there are many.
    fn signals_of(&self, constraint: usize, symbols: &Symbols) -> String {
        const MOST: usize = 6;
        let matrices = [&self.r1cs.a, &self.r1cs.b, &self.r1cs.c];
        let wires = matrices.into_iter().flat_map(|matrix| matrix.row(constraint)).map(|(wire, _)| wire);
        let wires: BTreeSet<u32> = wires.filter(|wire| *wire != 0).collect();
        let names: Vec<_> =
            wires.iter().map(|wire| symbols.name(*wire).unwrap_or("a signal without a name")).collect();
        match names.get(..MOST) {
            Some(first) if names.len() > MOST => {
                format!(", of {} and {} more signals", first.join(", "), names.len() - MOST)
            }
            _ => format!(", of {}", names.join(", ")),
        }
    }

    /// Checks that the witness satisfies every constraint.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] with the first constraint that does not hold, [`Error::Mismatch`] if the number of values is not
    /// that of the wires.
    pub fn check(&self, witness: &Witness<P>) -> Result<()> {
        self.check_named(witness, None)
    }

    /// [`Self::check`] whose error names the signals of the constraint, never their values.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_named(&self, witness: &Witness<P>, symbols: Option<&Symbols>) -> Result<()> {
        let (wires, constraints) = (self.wires(), self.constraints());
        let found = witness.values.len();
        if found != wires as usize {
            let circuit = self.name.as_ref().map_or_else(|| "the circuit".to_owned(), FileName::to_string);
            return Err(Names::mismatch(
                witness.name(),
                format!("{found} values, but {circuit} has {wires} wires"),
            ));
        }
        match self.r1cs.first_unsatisfied(&witness.values) {
            None => Ok(()),
            Some(index) => Err(Error::new(
                ErrorKind::Unsatisfied,
                witness.name(),
                format!(
                    "does not satisfy constraint {index} of {constraints} (counted from 0){}",
                    symbols.map(|symbols| self.signals_of(index, symbols)).unwrap_or_default()
                ),
            )),
        }
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    pub(crate) fn get(&self) -> &proofmill_circom::R1cs<P> {
        &self.r1cs
    }
}

/// Powers of tau: a `.ptau` file, mapped.
#[derive(Debug)]
pub struct Ptau<C: CircomCurve = G1> {
    ptau: proofmill_circom::Ptau<C>,
}

impl Ptau {
    /// Opens a `.ptau` file of BN254.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but powers of tau over BN254.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// The powers in the bytes of a `.ptau` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_bytes_over(bytes)
    }
}

impl<C: CircomCurve> Ptau<C> {
    pub(crate) fn from_bytes_over(bytes: Vec<u8>) -> Result<Self> {
        Ok(Self { ptau: proofmill_circom::Ptau::read(BinFile::from_bytes("ptau", bytes)?)? })
    }

    /// Opens a `.ptau` file over any curve.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but powers of tau over this curve.
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { ptau: proofmill_circom::Ptau::open(path.as_ref())? })
    }

    /// Writes all points, the Lagrange polynomials if there are any, and the contributions as JSON, in the order of `snarkjs powersoftau
    /// export json`, with points by their coordinates.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Malformed`].
    pub fn write_json(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_ptau_json(current().level, &self.ptau, path.as_ref())?)
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.ptau.file().bytes()
    }

    /// Writes the file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_bytes(path.as_ref(), self.as_bytes())?)
    }

    /// The base-2 logarithm of the size of the largest domain.
    pub fn power(&self) -> u32 {
        self.ptau.header().power
    }

    /// Whether it is prepared for phase 2, which setup requires.
    pub fn is_prepared(&self) -> bool {
        self.ptau.is_prepared()
    }

    /// Why someone may know tau, as far as the file shows it: nobody contributed to it, or only beacons did.
    pub fn insecurity(&self) -> Option<&'static str> {
        self.ptau.insecurity()
    }

    /// The number of contributions that the file claims. Without any, its author may know tau.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the section is missing or malformed.
    pub fn contributions(&self) -> Result<u32> {
        Ok(self.ptau.contributions()?)
    }

    pub(crate) fn get(&self) -> &proofmill_circom::Ptau<C> {
        &self.ptau
    }
}

/// The public signals of a proof, outputs first: a `public.json` file. Dereferences to a slice of field elements.
#[derive(Clone, Debug)]
pub struct PublicSignals<P: ScalarPrime = FrParams> {
    values: Vec<Fp<P>>,
    name: Option<FileName>,
}

impl PublicSignals {
    /// Reads a `public.json` file of BN254.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a list of decimal numbers below the modulus.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// Parses the text of a `public.json` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Self { values: parse_public("public signals", text.as_ref())?, name: None })
    }
}

impl<P: ScalarPrime> PublicSignals<P> {
    /// Reads a `public.json` file over any curve's scalar field.
    ///
    /// # Errors
    /// As [`PublicSignals::open`].
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { values: read_public(path)?, name: Some(FileName::new(path)) })
    }

    /// The text of a `public.json` file, as snarkjs writes it.
    pub fn to_json(&self) -> String {
        public_text(&self.values)
    }

    /// Writes a `public.json` file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_text(path.as_ref(), &self.to_json())?)
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }
}

impl<P: ScalarPrime> Deref for PublicSignals<P> {
    type Target = [Fp<P>];

    fn deref(&self) -> &[Fp<P>] {
        &self.values
    }
}

impl<P: ScalarPrime> From<Vec<Fp<P>>> for PublicSignals<P> {
    fn from(values: Vec<Fp<P>>) -> Self {
        Self { values, name: None }
    }
}

impl<P: ScalarPrime> From<&[Fp<P>]> for PublicSignals<P> {
    fn from(values: &[Fp<P>]) -> Self {
        values.to_vec().into()
    }
}

impl<P: ScalarPrime> PartialEq for PublicSignals<P> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl<P: ScalarPrime> Eq for PublicSignals<P> {}

/// Calls `write` with a target in memory and returns its content.
pub(crate) fn in_memory(write: impl FnOnce(Target<'_>) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(Target::Memory(&mut bytes))?;
    Ok(bytes)
}
