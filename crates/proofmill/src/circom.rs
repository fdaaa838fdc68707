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

use crate::{Error, Result, error::Names, field::Fr, machine::current};
use proofmill_circom::{
    BinFile, CircomError, FileName, Target, decode_witness, describe_file, parse_public, public_text,
    read_protocol, read_public, write_bytes, write_r1cs, write_text, write_witness,
};
pub use proofmill_circom::{Description, FileKind, SectionDescription};
use std::{ops::Deref, path::Path};

/// Describes an r1cs, wtns, zkey, ptau or key file: kind, curve, protocol, counts and sections. Only its header and its list of
/// sections are read.
///
/// ```
/// use proofmill::circom::{FileKind, describe};
///
/// # fn main() -> proofmill::Result<()> {
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
/// # std::env::set_current_dir(folder).expect("the example");
/// let file = describe("plonk.zkey")?;
/// assert_eq!((file.kind, file.protocol.as_deref()), (FileKind::Zkey, Some("plonk")));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Io`], and [`Error::Malformed`] for a file that is none of these.
pub fn describe(path: impl AsRef<Path>) -> Result<Description> {
    Ok(describe_file(&BinFile::open(path.as_ref())?)?)
}

/// The protocol of a proving key, a verification key or a proof: `groth16`, `plonk`, `proofmill-plonk` or `fflonk`; or another
/// name, which the file has.
///
/// # Errors
/// [`Error::Io`], and [`Error::Malformed`] for any other file.
pub fn protocol(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let description = match describe(path) {
        Err(Error::Malformed(cause))
            if matches!(cause.get().downcast_ref(), Some(CircomError::Kind { .. })) =>
        {
            // A file without the magic of a binary file must be JSON.
            return Ok(read_protocol(path)?);
        }
        description => description?,
    };
    let protocol = match description.kind {
        FileKind::Pmpk => Some("proofmill-plonk".to_owned()),
        _ => description.protocol,
    };
    protocol.ok_or_else(|| {
        let problem = format!("expected a key or a proof, found {}", description.kind);
        Error::malformed(Some(&FileName::new(path)), problem)
    })
}

/// The value of every wire of a circuit: a `.wtns` file, or the variables of a circuit that was built in Rust.
#[derive(Clone, Debug)]
pub struct Witness {
    values: Vec<Fr>,
    name: Option<FileName>,
}

impl Witness {
    /// Reads a `.wtns` file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a witness over BN254's scalar field.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        let values = decode_witness(&file, current().level)?;
        Ok(Self { values, name: Some(file.name().clone()) })
    }

    /// Decodes the bytes of a `.wtns` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let file = BinFile::from_bytes("witness", bytes)?;
        Ok(Self { values: decode_witness(&file, current().level)?, name: None })
    }

    /// A witness of these values, one for each wire. For a circuit of circom's the first must be 1.
    pub fn from_values(values: Vec<Fr>) -> Self {
        Self { values, name: None }
    }

    /// The values.
    pub fn values(&self) -> &[Fr] {
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

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }
}

/// The constraints of a circuit: an `.r1cs` file.
#[derive(Clone, Debug)]
pub struct R1cs {
    r1cs: proofmill_circom::R1cs,
    name: Option<FileName>,
}

impl R1cs {
    /// Reads an `.r1cs` file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but constraints over BN254's scalar field.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        Ok(Self { r1cs: proofmill_circom::R1cs::read(&file)?, name: Some(file.name().clone()) })
    }

    /// Decodes the bytes of an `.r1cs` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let file = BinFile::from_bytes("r1cs", bytes)?;
        Ok(Self { r1cs: proofmill_circom::R1cs::read(&file)?, name: None })
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

    /// Checks that the witness satisfies every constraint.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] with the first constraint that does not hold, [`Error::Mismatch`] if the number of values is not
    /// that of the wires.
    pub fn check(&self, witness: &Witness) -> Result<()> {
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
            Some(index) => Err(Error::unsatisfied(
                witness.name(),
                format!("does not satisfy constraint {index} of {constraints} (counted from 0)"),
            )),
        }
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    pub(crate) fn get(&self) -> &proofmill_circom::R1cs {
        &self.r1cs
    }
}

/// Powers of tau: a `.ptau` file, mapped.
#[derive(Debug)]
pub struct Ptau {
    ptau: proofmill_circom::Ptau,
}

impl Ptau {
    /// Opens a `.ptau` file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but powers of tau over BN254.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { ptau: proofmill_circom::Ptau::open(path.as_ref())? })
    }

    /// The powers in the bytes of a `.ptau` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Ok(Self { ptau: proofmill_circom::Ptau::read(BinFile::from_bytes("ptau", bytes)?)? })
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

    /// The number of contributions that the file claims. Without any, its author may know tau.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the section is missing or malformed.
    pub fn contributions(&self) -> Result<u32> {
        Ok(self.ptau.contributions()?)
    }

    pub(crate) fn get(&self) -> &proofmill_circom::Ptau {
        &self.ptau
    }
}

/// The public signals of a proof, outputs first: a `public.json` file. Dereferences to a slice of field elements.
#[derive(Clone, Debug)]
pub struct PublicSignals {
    values: Vec<Fr>,
    name: Option<FileName>,
}

impl PublicSignals {
    /// Reads a `public.json` file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a list of decimal numbers below the modulus.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { values: read_public(path)?, name: Some(FileName::new(path)) })
    }

    /// Parses the text of a `public.json` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Self { values: parse_public("public signals", text.as_ref())?, name: None })
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

impl Deref for PublicSignals {
    type Target = [Fr];

    fn deref(&self) -> &[Fr] {
        &self.values
    }
}

impl From<Vec<Fr>> for PublicSignals {
    fn from(values: Vec<Fr>) -> Self {
        Self { values, name: None }
    }
}

impl From<&[Fr]> for PublicSignals {
    fn from(values: &[Fr]) -> Self {
        values.to_vec().into()
    }
}

impl PartialEq for PublicSignals {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for PublicSignals {}

/// Calls `write` with a target in memory and returns its content.
pub(crate) fn in_memory(write: impl FnOnce(Target<'_>) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(Target::Memory(&mut bytes))?;
    Ok(bytes)
}
