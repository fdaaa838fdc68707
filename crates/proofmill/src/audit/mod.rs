//! Audits of keys before they are trusted: proving keys, verification keys and Solidity contracts.
//!
//! ```
//! use proofmill::{audit::{Circuit, audit}, groth16::ProvingKey};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let circuit = Circuit::open("circuit.r1cs", "pot8.ptau")?;
//! let found = audit("groth16.zkey", Some(&circuit), None)?;
//! assert_eq!((found[0].insecurity, found[0].differs), (None, None));
//! // A verification key, also against the proving key.
//! let key = ProvingKey::open("groth16.zkey")?;
//! let found = audit("groth16.vk.json", Some(&circuit), Some(&key))?;
//! assert_eq!((found[0].insecurity, found[0].differs, found[0].differs_from_key), (None, None, None));
//! # Ok(())
//! # }
//! ```

mod contract;

pub use crate::circom::{Beacon, Contribution};
use crate::{
    Result,
    circom::{Ptau, R1cs},
    curve::{Affine, bn254},
    error::Names,
    fflonk, groth16,
    machine::current,
    plonk::{self, Arithmetisation},
    srs::Srs,
    systems::protocol_of,
};
use proofmill_circom::{
    BinFile, ContainerOrText, FflonkVerificationKey, FileKind, Groth16VerificationKey, Text,
};
use proofmill_files::FileName;
use proofmill_srs::{ceremony_of_alpha, ceremony_of_tau};
use std::path::Path;

/// The setup of a key, as far as the key shows it.
#[derive(Clone, Debug)]
pub struct Audit {
    /// `groth16`, `plonk`, `fflonk`, `proofmill-plonk` for the wider arithmetisations, or `solidity` for a contract of any of them.
    pub protocol: String,
    /// The name of the contract in a source; empty for a key outside of contracts. `None` for other files.
    pub contract: Option<String>,
    /// The parts of a contract's key that were not found, such as a delta that is in another file. Without them nothing is known of its
    /// security, and nothing is compared.
    pub missing: Vec<&'static str>,
    /// The number of points delta in a contract of Groth16: one for each of its keys.
    pub deltas: Option<usize>,
    /// Why anyone can forge proofs; `None` does not mean that nobody can, only that the key does not show it.
    pub insecurity: Option<&'static str>,
    /// The public ceremony that a point of the key is from, if it is known.
    pub ceremony: Option<Ceremony>,
    /// The contributions that a Groth16 proving key lists. Their proofs of knowledge are not checked.
    pub contributions: Option<Vec<Contribution>>,
    /// Whether the last contribution of the list made the key's delta; `false` also if there is none.
    pub contributions_match: bool,
    /// The public signals, from 0, whose values do not change the verification: proofs are valid for any.
    pub ignored_signals: Vec<usize>,
    /// The difference from the key of the given circuit and powers of tau; `None` if there is no difference, or if none were given.
    pub differs: Option<&'static str>,
    /// The difference from the given proving key; `None` if there is no difference, or if none was given.
    pub differs_from_key: Option<&'static str>,
    /// For a verification key or a contract of Groth16: whether delta was compared. Only a proving key determines delta. Someone who
    /// knows the logarithm of delta can forge proofs, and only this comparison shows it.
    pub delta_is_compared: Option<bool>,
    /// The number of points in a contract that were not compared; their use is unknown. `None` for other keys, and without a circuit
    /// or a proving key.
    pub other_points: Option<usize>,
}

/// A public ceremony of powers of tau.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceremony {
    /// Its name.
    pub name: &'static str,
    /// The point of the key that is the ceremony's: `tau`, or `alpha` of a key of Groth16, which does not contain tau. Someone can make a key
    /// with this alpha and a tau of their own; a comparison with the circuit and the powers of tau excludes that.
    pub shown_by: &'static str,
}

impl Ceremony {
    fn of_tau(tau: &Affine<bn254::G2>) -> Option<Self> {
        ceremony_of_tau(tau).map(|name| Self { name, shown_by: "tau" })
    }

    fn of_alpha(alpha: &Affine<bn254::G1>) -> Option<Self> {
        ceremony_of_alpha(alpha).map(|name| Self { name, shown_by: "alpha" })
    }
}

/// The difference in a key that is compared as a whole.
const OTHER_CIRCUIT: &str = "the circuit or the powers of tau";

/// The circuit that a key should belong to, and its powers of tau.
#[derive(Debug)]
pub struct Circuit {
    circuit: R1cs,
    powers: Ptau,
    srs: Srs,
}

impl Circuit {
    /// Opens a `.r1cs`, and a `.ptau` prepared for phase 2.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Malformed`].
    pub fn open(circuit: impl AsRef<Path>, powers: impl AsRef<Path>) -> Result<Self> {
        let powers = powers.as_ref();
        Ok(Self { circuit: R1cs::open(circuit)?, powers: Ptau::open(powers)?, srs: Srs::open(powers)? })
    }
}

/// Examines a proving key, a verification key or the source of a Solidity verifier, which the file's content determines. With a circuit,
/// also whether the key belongs to it: its setup is made in memory and compared. For a proving key of Groth16 all points are compared,
/// those that contributions change by random combinations and pairings. In a source, the key of each contract is found by the values of
/// its points, and its parts by the names that these are assigned to. So contracts of any template can be examined, but not whether their
/// code uses the points rightly. Powers of tau to which nobody contributed, or only beacons, make the circuit's key insecure.
///
/// There is one result for a key, and one for each contract of a source that has a key.
///
/// A circuit does not determine delta of Groth16. With the proving key that [`ceremony::verify`](crate::ceremony::verify) has accepted, all
/// points of a verification key or a contract are compared. In a contract of Groth16 the points of the public signals must be in their
/// order with one sign; other points may have any order and sign.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`], and [`Error::Mismatch`] if the circuit can have no key from these powers, or for a proving key
/// with a key of another system.
pub fn audit(
    path: impl AsRef<Path>,
    circuit: Option<&Circuit>,
    key: Option<&groth16::ProvingKey>,
) -> Result<Vec<Audit>> {
    let with_references = |found: Audit| {
        let is_whole = found.missing.is_empty();
        let circuit = circuit.filter(|_| is_whole && found.differs.is_none());
        let of_powers = circuit.and_then(|circuit| circuit.powers.insecurity());
        let key = key.filter(|_| is_whole && found.differs_from_key.is_none());
        let of_key = key.and_then(|key| key.verifying_key().insecurity());
        Audit { insecurity: found.insecurity.or(of_powers).or(of_key), ..found }
    };
    Ok(examine(path.as_ref(), circuit, key)?.into_iter().map(with_references).collect())
}

/// The audit, without the facts that only the powers of tau and the proving key show.
fn examine(path: &Path, circuit: Option<&Circuit>, key: Option<&groth16::ProvingKey>) -> Result<Vec<Audit>> {
    let not_groth16 = |name: &FileName| match key {
        Some(_) => Err(Names::mismatch(Some(name), "it is not of Groth16, as the proving key is".to_owned())),
        None => Ok(()),
    };
    let found = match BinFile::open_or_text(path)? {
        ContainerOrText::Container(file) if protocol_of(&file)?.as_deref() == Some("groth16") => {
            groth16_key(file, circuit, key)
        }
        ContainerOrText::Container(file) => {
            not_groth16(file.name())?;
            let name = file.name().clone();
            if protocol_of(&file)?.as_deref() == Some("fflonk") {
                fflonk_key(&fflonk::ProvingKey::read(file, Some(name))?, circuit)
            } else {
                let protocol = if file.kind() == FileKind::Pmpk { "proofmill-plonk" } else { "plonk" };
                plonk_key(protocol, plonk::ProvingKey::read(file, Some(name))?, circuit)
            }
        }
        ContainerOrText::Text(text) if text.is_json() => match text.protocol()?.as_deref() {
            Some(protocol @ ("plonk" | "proofmill-plonk" | "fflonk")) => {
                not_groth16(text.name())?;
                plonk_verification_key(protocol, &text, circuit)
            }
            _ => groth16_verification_key(&text, circuit, key),
        },
        ContainerOrText::Text(text) => return contract::contracts(&text, circuit, key),
    };
    Ok(vec![found?])
}

fn fflonk_key(key: &fflonk::ProvingKey, circuit: Option<&Circuit>) -> Result<Audit> {
    let differs = match circuit {
        None => None,
        Some(Circuit { circuit, powers, .. }) => {
            let same = fflonk::ProvingKey::setup(circuit, powers)?.as_bytes() == key.as_bytes();
            (!same).then_some(OTHER_CIRCUIT)
        }
    };
    Ok(Audit { differs, ..of_fflonk(key.verifying_key().get()) })
}

fn of_fflonk(key: &proofmill_plonk::fflonk::VerifyingKey) -> Audit {
    of_powers("fflonk", proofmill_plonk::fflonk::insecurity(key), &key.x_2)
}

fn groth16_key(
    file: BinFile,
    circuit: Option<&Circuit>,
    expected: Option<&groth16::ProvingKey>,
) -> Result<Audit> {
    let name = file.name().clone();
    let names = Names { key: Some(&name), ..Names::default() };
    let key = groth16::ProvingKey::read(file, Some(name.clone()))?;
    let (zkey, verifying_key) = (key.get(), key.verifying_key());
    let contributions = zkey.decoded_contributions()?.map(|contributions| contributions.list);
    let last = contributions.as_ref().and_then(|list| list.last());
    let contributions_match = last.is_some_and(|last| last.delta_after == zkey.header().delta_1);
    let differs = match circuit {
        None => None,
        Some(circuit) => {
            let fresh = circuit.groth16()?;
            let differs = proofmill_groth16::differs(current().level, zkey, fresh.get());
            differs.map_err(|error| names.of(error))?
        }
    };
    let contributions = contributions.map(|list| list.into_iter().map(Contribution::from).collect());
    Ok(Audit {
        contributions,
        contributions_match,
        differs,
        delta_is_compared: None,
        ..of_groth16(&verifying_key, expected)
    })
}

fn groth16_verification_key(
    text: &Text,
    circuit: Option<&Circuit>,
    expected: Option<&groth16::ProvingKey>,
) -> Result<Audit> {
    let key = groth16::VerifyingKey::of_text(text)?;
    let fresh = circuit.map(Circuit::groth16).transpose()?;
    let differs = fresh.and_then(|fresh| differs_but_for_delta(key.get(), fresh.verifying_key().get()));
    Ok(Audit { differs, ..of_groth16(&key, expected) })
}

fn of_groth16(key: &groth16::VerifyingKey, expected: Option<&groth16::ProvingKey>) -> Audit {
    let points = key.get().ic.iter().skip(1).enumerate();
    let differs_from = |expected: &groth16::ProvingKey| {
        let (key, expected) = (key.get(), expected.verifying_key());
        let delta = (key.delta_2 != expected.get().delta_2).then_some("delta");
        differs_but_for_delta(key, expected.get()).or(delta)
    };
    Audit {
        insecurity: key.insecurity(),
        ceremony: Ceremony::of_alpha(&key.get().alpha_1),
        ignored_signals: points.filter(|(_, point)| point.is_infinity()).map(|(index, _)| index).collect(),
        differs_from_key: expected.and_then(differs_from),
        delta_is_compared: Some(expected.is_some()),
        ..unknown("groth16")
    }
}

/// The difference between two verification keys of one circuit, except in delta, which contributions change.
fn differs_but_for_delta(
    key: &Groth16VerificationKey,
    expected: &Groth16VerificationKey,
) -> Option<&'static str> {
    let of_powers = |key: &Groth16VerificationKey| (key.alpha_1, key.beta_2, key.gamma_2);
    if of_powers(key) != of_powers(expected) {
        return Some("alpha, beta or gamma: it is from other powers of tau");
    }
    (key.ic != expected.ic).then_some("the points of the public signals")
}

fn plonk_key(protocol: &str, key: plonk::ProvingKey, circuit: Option<&Circuit>) -> Result<Audit> {
    let found = of_plonk(protocol, key.verifying_key().get());
    let differs = match circuit {
        None => None,
        Some(circuit) => {
            let same = circuit.plonk(|fresh| fresh.as_bytes() == key.as_bytes())?;
            (!same).then_some(OTHER_CIRCUIT)
        }
    };
    Ok(Audit { differs, ..found })
}

fn of_plonk(protocol: &str, key: &proofmill_plonk::VerifyingKey) -> Audit {
    of_powers(protocol, key.insecurity(), &key.tau)
}

/// The audit of a key that needs nothing but powers of tau.
fn of_powers(protocol: &str, insecurity: Option<&'static str>, tau: &Affine<bn254::G2>) -> Audit {
    Audit { insecurity, ceremony: Ceremony::of_tau(tau), ..unknown(protocol) }
}

/// An audit without any facts yet.
fn unknown(protocol: &str) -> Audit {
    Audit {
        protocol: protocol.to_owned(),
        contract: None,
        missing: Vec::new(),
        deltas: None,
        insecurity: None,
        ceremony: None,
        contributions: None,
        contributions_match: false,
        ignored_signals: Vec::new(),
        differs: None,
        differs_from_key: None,
        delta_is_compared: None,
        other_points: None,
    }
}

impl Circuit {
    fn groth16(&self) -> Result<groth16::ProvingKey> {
        groth16::ProvingKey::setup(&self.circuit, &self.powers)
    }

    /// Whether `found` holds for the key of one of PLONK's arithmetisations. One may fit into the powers where another does not.
    fn plonk(&self, mut found: impl FnMut(&plonk::ProvingKey) -> bool) -> Result<bool> {
        let mut failure = Ok(false);
        for arithmetisation in Arithmetisation::ALL {
            match plonk::ProvingKey::setup_in(&self.circuit, &self.srs, arithmetisation) {
                Ok(key) if found(&key) => return Ok(true),
                Ok(_) => {}
                Err(error) => failure = Err(error),
            }
        }
        failure
    }
}

/// A verification key of PLONK or fflonk.
fn plonk_verification_key(protocol: &str, text: &Text, circuit: Option<&Circuit>) -> Result<Audit> {
    if protocol == "fflonk" {
        let key = FflonkVerificationKey::of_text(text)?;
        let differs = match circuit {
            None => None,
            Some(Circuit { circuit, powers, .. }) => {
                let fresh = fflonk::ProvingKey::setup(circuit, powers)?.verifying_key();
                (*fresh.get() != key).then_some(OTHER_CIRCUIT)
            }
        };
        return Ok(Audit { differs, ..of_fflonk(&key) });
    }
    let key = plonk::VerifyingKey::of_text(text)?;
    let differs = match circuit {
        None => None,
        Some(circuit) => {
            let same = circuit.plonk(|fresh| fresh.verifying_key() == key)?;
            (!same).then_some(OTHER_CIRCUIT)
        }
    };
    Ok(Audit { differs, ..of_plonk(protocol, key.get()) })
}
