//! Audits of keys before they are trusted: proving keys, verification keys and Solidity contracts.
//!
//! ```
//! use proofmill::audit::{Circuit, audit};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let found = audit("groth16.zkey", Some(&Circuit::open("circuit.r1cs", "pot8.ptau")?))?;
//! assert_eq!((found.insecurity, found.differs), (None, None));
//! # Ok(())
//! # }
//! ```

pub use crate::circom::{Beacon, Contribution};
use crate::{
    Error, Result,
    any::protocol_of,
    circom::{Ptau, R1cs},
    curve::{Affine, Curve, bn254},
    error::Names,
    fflonk, groth16,
    machine::current,
    plonk::{self, Arithmetisation},
    srs::Srs,
};
use proofmill_circom::{
    BinFile, ContainerOrText, FflonkVerificationKey, FileKind, Groth16VerificationKey, Groth16Zkey, Text,
};
use proofmill_solidity::Constants;
use proofmill_srs::{ceremony_of_alpha, ceremony_of_tau};
use std::path::Path;

/// What a key shows of its setup.
#[derive(Clone, Debug)]
pub struct Audit {
    /// `groth16`, `plonk`, `fflonk`, `proofmill-plonk` for the wider arithmetisations, or `solidity` for a contract of any of them.
    pub protocol: String,
    /// Why anyone can forge proofs; `None` does not mean that nobody can, only that the key does not show it.
    pub insecurity: Option<&'static str>,
    /// The public ceremony that the powers of tau are from, if it is known.
    pub ceremony: Option<&'static str>,
    /// The contributions that a Groth16 proving key lists. Their proofs of knowledge are not checked.
    pub contributions: Option<Vec<Contribution>>,
    /// Whether the last contribution of the list made the key's delta; `false` also if there is none.
    pub contributions_match: bool,
    /// The public signals, from 0, whose values do not change the verification: proofs are valid for any.
    pub ignored_signals: Vec<usize>,
    /// What differs from the key of the given circuit and powers of tau; `None` if nothing does, or if none were given.
    pub differs: Option<&'static str>,
}

/// What differs in a key that is compared as a whole.
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

/// Examines a proving key, a verification key or the source of a Solidity verifier, which the file's content determines. With a
/// circuit, also whether the key belongs to it: its setup is made in memory and compared. For a proving key of Groth16 all points
/// are compared, those that contributions change by random combinations and pairings. In a contract, the points are found by their
/// values, so that anyone's template can be examined; whether its code uses them rightly cannot.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`], and [`Error::Mismatch`] if the circuit can have no key from these powers.
pub fn audit(path: impl AsRef<Path>, circuit: Option<&Circuit>) -> Result<Audit> {
    let path = path.as_ref();
    match BinFile::open_or_text(path)? {
        ContainerOrText::Container(file) if protocol_of(&file)?.as_deref() == Some("groth16") => {
            groth16_key(file, circuit)
        }
        ContainerOrText::Container(file) if protocol_of(&file)?.as_deref() == Some("fflonk") => {
            let name = file.name().clone();
            fflonk_key(&fflonk::ProvingKey::read(file, Some(name))?, circuit)
        }
        ContainerOrText::Container(file) => {
            let protocol = if file.kind() == FileKind::Pmpk { "proofmill-plonk" } else { "plonk" };
            let name = file.name().clone();
            plonk_key(protocol, plonk::ProvingKey::read(file, Some(name))?, circuit)
        }
        ContainerOrText::Text(text) if text.is_json() => verification_key(&text, circuit),
        ContainerOrText::Text(text) => contract(&text, circuit),
    }
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

fn groth16_key(file: BinFile, circuit: Option<&Circuit>) -> Result<Audit> {
    let name = file.name().clone();
    let zkey = Groth16Zkey::read(file)?;
    let names = Names { key: Some(&name), ..Names::default() };
    let key =
        proofmill_groth16::verifying_key(current().level, &zkey).map_err(|error| names.groth16(error))?;
    let contributions = zkey.decoded_contributions()?.map(|contributions| contributions.list);
    let last = contributions.as_ref().and_then(|list| list.last());
    let contributions_match = last.is_some_and(|last| last.delta_after == zkey.header().delta_1);
    let differs = match circuit {
        None => None,
        Some(Circuit { circuit, powers, .. }) => {
            let fresh = groth16::ProvingKey::setup(circuit, powers)?;
            let differs = proofmill_groth16::differs(current().level, &zkey, fresh.get());
            differs.map_err(|error| names.groth16(error))?
        }
    };
    let contributions = contributions.map(|list| list.into_iter().map(Contribution::from).collect());
    Ok(Audit { contributions, contributions_match, differs, ..of_groth16(&key) })
}

fn of_groth16(key: &proofmill_groth16::VerifyingKey) -> Audit {
    let points = key.ic.iter().skip(1).enumerate();
    Audit {
        protocol: "groth16".to_owned(),
        insecurity: proofmill_groth16::insecurity(key),
        ceremony: ceremony_of_alpha(&key.alpha_1),
        contributions: None,
        contributions_match: false,
        ignored_signals: points.filter(|(_, point)| point.is_infinity()).map(|(index, _)| index).collect(),
        differs: None,
    }
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

/// Of a key that needs nothing but powers of tau.
fn of_powers(protocol: &str, insecurity: Option<&'static str>, tau: &Affine<bn254::G2>) -> Audit {
    Audit {
        protocol: protocol.to_owned(),
        insecurity,
        ceremony: ceremony_of_tau(tau),
        contributions: None,
        contributions_match: false,
        ignored_signals: Vec::new(),
        differs: None,
    }
}

impl Circuit {
    /// Whether `found` holds for the key of one of PLONK's arithmetisations. One may fit into the powers where another does not.
    fn plonk(&self, found: impl Fn(&plonk::ProvingKey) -> bool) -> Result<bool> {
        let mut failure = Ok(false);
        for arithmetisation in Arithmetisation::ALL {
            match plonk::ProvingKey::setup(&self.circuit, &self.srs, arithmetisation) {
                Ok(key) if found(&key) => return Ok(true),
                Ok(_) => {}
                Err(error) => failure = Err(error),
            }
        }
        failure
    }
}

fn verification_key(text: &Text, circuit: Option<&Circuit>) -> Result<Audit> {
    match text.protocol()?.as_deref() {
        Some(protocol @ ("plonk" | "proofmill-plonk")) => {
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
        Some("fflonk") => {
            let key = FflonkVerificationKey::of_text(text)?;
            let differs = match circuit {
                None => None,
                Some(Circuit { circuit, powers, .. }) => {
                    let fresh = fflonk::ProvingKey::setup(circuit, powers)?.verifying_key();
                    (*fresh.get() != key).then_some(OTHER_CIRCUIT)
                }
            };
            Ok(Audit { differs, ..of_fflonk(&key) })
        }
        _ => {
            let key = Groth16VerificationKey::of_text(text)?;
            let differs = match circuit {
                None => None,
                Some(Circuit { circuit, powers, .. }) => {
                    let fresh = groth16::ProvingKey::setup(circuit, powers)?.verifying_key();
                    let fresh = fresh.get();
                    if (key.alpha_1, key.beta_2, key.gamma_2) != (fresh.alpha_1, fresh.beta_2, fresh.gamma_2)
                    {
                        Some("alpha, beta or gamma: it is from other powers of tau")
                    } else {
                        (key.ic != fresh.ic).then_some("the points of the public signals")
                    }
                }
            };
            Ok(Audit { differs, ..of_groth16(&key) })
        }
    }
}

fn contract(text: &Text, circuit: Option<&Circuit>) -> Result<Audit> {
    let constants = Constants::of(&String::from_utf8_lossy(text.bytes()));
    let insecurity =
        constants.insecurity().map_err(|problem| Error::malformed(Some(text.name()), problem))?;
    let of_tau = constants.g2.iter().find_map(ceremony_of_tau);
    let either_sign = constants.g1.iter().flat_map(|point| [*point, -*point]);
    let ceremony = of_tau.or_else(|| either_sign.into_iter().find_map(|alpha| ceremony_of_alpha(&alpha)));
    let differs = match circuit {
        None => None,
        Some(circuit) if constants.g2.len() >= 3 => {
            let fresh = groth16::ProvingKey::setup(&circuit.circuit, &circuit.powers)?.verifying_key();
            let key = fresh.get();
            if !contains(&constants.g1, &[key.alpha_1]) || !contains(&constants.g2, &[key.beta_2]) {
                Some("alpha or beta: it is from other powers of tau")
            } else {
                (!contains(&constants.g1, &key.ic)).then_some("the points of the public signals")
            }
        }
        Some(circuit) => {
            let plonk = circuit.plonk(|fresh| {
                let key = fresh.verifying_key();
                contains(&constants.g1, &key.get().fixed) && contains(&constants.g2, &[key.get().tau])
            });
            let fflonk = fflonk::ProvingKey::setup(&circuit.circuit, &circuit.powers).map(|fresh| {
                let key = fresh.verifying_key();
                contains(&constants.g1, &[key.get().c0]) && contains(&constants.g2, &[key.get().x_2])
            });
            // fflonk needs nine times as many powers, which are not there if the key is PLONK's.
            let same = match fflonk {
                Ok(true) => true,
                _ => plonk?,
            };
            (!same).then_some(OTHER_CIRCUIT)
        }
    };
    Ok(Audit {
        protocol: "solidity".to_owned(),
        insecurity,
        ceremony,
        contributions: None,
        contributions_match: false,
        ignored_signals: Vec::new(),
        differs,
    })
}

/// Whether all points but infinity are in a list, with either sign.
fn contains<C: Curve>(list: &[Affine<C>], points: &[Affine<C>]) -> bool {
    points.iter().all(|point| point.is_infinity() || list.contains(point) || list.contains(&-*point))
}
