//! Descriptions of files of any curve and proof system, for people and scripts.

use crate::{
    binfile::{BinFile, INSECURE_SETUP},
    curve::{CircomCurve, PairingCurve},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    modulus::{FieldOf, FileModulus},
    over_curve,
    parameters::Beacon,
    ptau, r1cs, wtns,
    zkey::{CommonHeader, ZkeyContribution, ZkeyContributions, ZkeyProtocol},
};
use serde::Serialize;
use std::path::Path;

/// A file's header and sections. The content of the sections is not checked, but that of contributions is decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The kind that the first four bytes name.
    pub kind: FileKind,
    /// The version of the format.
    pub version: u32,
    /// Bytes of the file.
    pub bytes: u64,
    /// The curve's name, or its modulus.
    pub curve: String,
    /// The proof system of a key; `None` for other files.
    pub protocol: Option<String>,
    /// Names and values of the counts in the header.
    pub counts: Vec<(&'static str, u64)>,
    /// The sections in the file's order.
    pub sections: Vec<SectionDescription>,
    /// The contributions to a Groth16 key; `None` for other files, and for keys without the section, which were imported
    /// from JSON.
    #[serde(skip)]
    pub contributions: Option<Contributions>,
}

/// The contributions to a Groth16 key, as people see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributions {
    /// The BLAKE2b-512 hash of the key as it was before the first contribution.
    pub circuit_hash: [u8; 64],
    /// The contributions in their order. Without any, anyone can forge proofs for the key.
    pub list: Vec<Contribution>,
}

/// A contribution to a ceremony, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The participant's name, up to 255 bytes, which nothing binds, as it is in the file: [`shown_name`](crate::shown_name) is for people.
    pub name: Option<String>,
    /// The beacon's parameters, `None` for a participant's contribution.
    pub beacon: Option<Beacon>,
    /// The BLAKE2b-512 hash that snarkjs shows, with which its author finds the contribution.
    pub hash: [u8; 64],
}

impl Contributions {
    fn of_file<C: CircomCurve>(file: &BinFile) -> Result<Option<Self>, CircomError> {
        let all = ZkeyContributions::<C>::of_file(file)?;
        Ok(all.map(|all| Self {
            circuit_hash: all.circuit_hash,
            list: all.list.into_iter().map(Contribution::from).collect(),
        }))
    }
}

impl<C: CircomCurve> From<ZkeyContribution<C>> for Contribution {
    fn from(contribution: ZkeyContribution<C>) -> Self {
        let hash = contribution.hash();
        Self { name: contribution.name, beacon: contribution.beacon, hash }
    }
}

/// A section's place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionDescription {
    /// The number.
    pub id: u32,
    /// The content by the format's definition; `unknown` for other numbers.
    pub content: &'static str,
    /// The position of the content, in bytes from the beginning of the file.
    pub offset: u64,
    /// Bytes of content.
    pub bytes: u64,
}

/// Describes a file.
///
/// # Errors
/// [`CircomError`] for anything that is not an r1cs, wtns, zkey, ptau or pmpk file, or whose header is malformed.
pub fn describe(path: &Path) -> Result<Description, CircomError> {
    describe_file(&BinFile::open(path)?)
}

/// [`describe`] of an open container.
///
/// # Errors
/// As [`describe`].
pub fn describe_file(file: &BinFile) -> Result<Description, CircomError> {
    let (curve, protocol, counts) = match file.kind() {
        FileKind::R1cs => r1cs_facts(file)?,
        FileKind::Wtns => {
            let (modulus, wires) = wtns::read_header(file)?;
            (modulus.curve(), None, vec![("wires", u64::from(wires))])
        }
        FileKind::Zkey => zkey_facts(file)?,
        FileKind::Ptau => {
            let (modulus, header) = ptau::read_header(file)?;
            let counts = vec![
                ("power", u64::from(header.power)),
                ("ceremony power", u64::from(header.ceremony_power)),
                ("contributions", u64::from(ptau::contributions(file)?)),
            ];
            (modulus.curve(), None, counts)
        }
        FileKind::Pmpk => circuit_key_facts(file)?,
    };
    let section = |entry: &crate::SectionEntry| SectionDescription {
        id: entry.id,
        content: content(file.kind(), protocol, entry.id),
        offset: entry.range.start as u64,
        bytes: entry.range.len() as u64,
    };
    let contributions = match (protocol, curve.as_str()) {
        (Some(ZkeyProtocol::Groth16), name) => match PairingCurve::of_name(name) {
            Some(curve) => over_curve!(curve, C => Contributions::of_file::<C>(file))?,
            None => None,
        },
        _ => None,
    };
    Ok(Description {
        kind: file.kind(),
        version: file.version(),
        bytes: file.len() as u64,
        curve,
        protocol: protocol.map(|protocol| protocol.to_string()),
        counts,
        sections: file.sections().iter().map(section).collect(),
        contributions,
    })
}

/// Curve, protocol, counts.
type Facts = (String, Option<ZkeyProtocol>, Vec<(&'static str, u64)>);

fn r1cs_facts(file: &BinFile) -> Result<Facts, CircomError> {
    let (modulus, header) = r1cs::read_header(file)?;
    let counts = vec![
        ("constraints", u64::from(header.constraints)),
        ("wires", u64::from(header.wires)),
        ("public outputs", u64::from(header.outputs)),
        ("public inputs", u64::from(header.public_inputs)),
        ("private inputs", u64::from(header.private_inputs)),
        ("labels", header.labels),
    ];
    Ok((modulus.curve(), None, counts))
}

fn zkey_facts(file: &BinFile) -> Result<Facts, CircomError> {
    let protocol = ZkeyProtocol::read(file)?;
    if matches!(protocol, ZkeyProtocol::Unknown(_)) {
        // The layout of its header is not known here.
        return Ok(("unknown".to_owned(), Some(protocol), Vec::new()));
    }
    let header = CommonHeader::read(file)?;
    let counts = vec![
        ("wires", u64::from(header.wires)),
        ("public signals", u64::from(header.public)),
        ("domain size", u64::from(header.domain_size)),
    ];
    Ok((header.base.curve(), Some(protocol), counts))
}

fn circuit_key_facts(file: &BinFile) -> Result<Facts, CircomError> {
    let mut cursor = file.section(SectionName { id: 1, content: "header" })?.cursor();
    let base = FileModulus::read(&mut cursor, FieldOf::Coordinates)?;
    FileModulus::read(&mut cursor, FieldOf::Scalars)?;
    let mut counts = Vec::new();
    for name in ["wires of a row", "rows", "variables", "witness values", "public inputs"] {
        counts.push((name, u64::from(cursor.u32(name)?)));
    }
    Ok((base.curve(), None, counts))
}

/// The content of a section by the format's definition.
fn content(kind: FileKind, protocol: Option<ZkeyProtocol>, id: u32) -> &'static str {
    let names: &[&'static str] = match kind {
        FileKind::R1cs => &["header", "constraints", "wire labels", "custom gates", "custom gates' uses"],
        FileKind::Wtns => &["header", "witness values"],
        FileKind::Zkey => contents_of_key(protocol),
        FileKind::Pmpk => &[
            "header",
            "constants",
            "wire maps",
            "fixed columns",
            "counts of terms",
            "terms",
            "commitments",
            "powers of tau",
        ],
        FileKind::Ptau => &[
            "header",
            "tau in G1",
            "tau in G2",
            "alpha tau in G1",
            "beta tau in G1",
            "beta in G2",
            "contributions",
            "unknown",
            "unknown",
            "unknown",
            "unknown",
            "lagrange tau in G1",
            "lagrange tau in G2",
            "lagrange alpha tau in G1",
            "lagrange beta tau in G1",
        ],
    };
    if id == INSECURE_SETUP.id {
        return INSECURE_SETUP.content;
    }
    let index = (id as usize).wrapping_sub(1);
    names.get(index).copied().unwrap_or("unknown")
}

/// The contents of the sections of a proving key, from section 1 on.
fn contents_of_key(protocol: Option<ZkeyProtocol>) -> &'static [&'static str] {
    match protocol {
        Some(ZkeyProtocol::Groth16) => &[
            "protocol",
            "header",
            "points IC",
            "coefficients",
            "points A",
            "points B1",
            "points B2",
            "points C",
            "points H",
            "contributions",
        ],
        Some(ZkeyProtocol::Plonk) => &[
            "protocol",
            "header",
            "additions",
            "wire map A",
            "wire map B",
            "wire map C",
            "selector Qm",
            "selector Ql",
            "selector Qr",
            "selector Qo",
            "selector Qc",
            "permutation polynomials",
            "lagrange polynomials",
            "powers of tau",
        ],
        Some(ZkeyProtocol::Fflonk) => &[
            "protocol",
            "header",
            "additions",
            "wire map A",
            "wire map B",
            "wire map C",
            "selector Ql",
            "selector Qr",
            "selector Qm",
            "selector Qo",
            "selector Qc",
            "permutation polynomial S1",
            "permutation polynomial S2",
            "permutation polynomial S3",
            "lagrange polynomials",
            "powers of tau",
            "polynomial C0",
        ],
        Some(ZkeyProtocol::Unknown(_)) | None => &["protocol", "header"],
    }
}
