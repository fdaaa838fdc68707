//! Files truncated at any byte, with any byte changed, or with impossible lengths and counts give an error of one line or a
//! different value, never a panic, and never the same value unless the byte is not read.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proofmill_circom::{
    BinFile, CircomCurve, CircomError, Column, FflonkProof, FflonkVerificationKey, FileKind, GateHeader,
    GateZkey, Groth16Proof, Groth16VerificationKey, Groth16Zkey, PairingCurve, PlonkProof,
    PlonkVerificationKey, PointCheck, Polynomial, Ptau, PtauHeader, PtauPoints, PtauWriter, R1cs, Selector,
    Zkey, decode_witness, describe_file, over_curve, parse_public,
};
use proofmill_cpu::Level;
use proofmill_curve::{Curve, bls12_381, bn254::G1};
use proofmill_field::{Field, bn254::FrParams};
use std::{
    fmt::{Debug, Write},
    fs,
    path::Path,
};

const CHECK: PointCheck = PointCheck::InSubgroup;

/// snarkjs's files.
const FILES: [&str; 8] = [
    "circuit.r1cs",
    "witness.wtns",
    "groth16.zkey",
    "plonk.zkey",
    "fflonk.zkey",
    "bls12-381/circuit.r1cs",
    "bls12-381/witness.wtns",
    "bls12-381/groth16.zkey",
];

fn data(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// Everything that is read from a file, over the curve that it names or over BN254, as text.
fn read_all(bytes: Vec<u8>) -> Result<String, CircomError> {
    let file = BinFile::from_bytes("file", bytes)?;
    let description = describe_file(&file)?;
    let curve = PairingCurve::of_name(&description.curve).unwrap_or(PairingCurve::Bn254);
    let read = over_curve!(curve, C => read_sections::<C>(file))?;
    Ok(format!("{:?}{read}", description.counts))
}

fn read_sections<C: CircomCurve>(file: BinFile) -> Result<String, CircomError> {
    let level = Level::best();
    let mut all = String::new();
    match file.kind() {
        FileKind::R1cs => write!(all, "{:?}", R1cs::<C::ScalarPrime>::read(&file)?),
        FileKind::Wtns => write!(all, "{:?}", decode_witness::<C::ScalarPrime>(&file, level)?),
        FileKind::Ptau => {
            let ptau = Ptau::<C>::read(file)?;
            let g1 = [ptau.tau_g1(), ptau.alpha_tau_g1(), ptau.lagrange_tau_g1(0), ptau.lagrange_tau_g1(1)];
            for points in g1 {
                write!(all, "{:?}", points?.decode(level, CHECK)?).unwrap();
            }
            let g2 = (ptau.tau_g2()?.decode(level, CHECK)?, ptau.beta_g2()?);
            write!(all, "{g2:?}{:?}", ptau.decoded_contributions()?)
        }
        FileKind::Zkey if C::SNARKJS == G1::SNARKJS => match Zkey::read(file)? {
            Zkey::Groth16(zkey) => write!(all, "{}", read_groth16(&zkey, level)?),
            Zkey::Plonk(zkey) => write!(all, "{}", read_gates(&zkey, level)?),
            Zkey::Fflonk(zkey) => {
                write!(all, "{}{:?}", read_gates(&zkey, level)?, zkey.gates().c0().unwrap().decode(level)?)
            }
        },
        FileKind::Zkey => write!(all, "{}", read_groth16(&Groth16Zkey::<C>::read(file)?, level)?),
        FileKind::Pmpk => Ok(()),
    }
    .unwrap();
    Ok(all)
}

fn read_groth16<C: CircomCurve>(zkey: &Groth16Zkey<C>, level: Level) -> Result<String, CircomError> {
    let mut all = format!("{:?}", zkey.header());
    for points in [zkey.ic(), zkey.a(), zkey.b1(), zkey.c(), zkey.h()] {
        write!(all, "{:?}", points.decode(level, CHECK)?).unwrap();
    }
    write!(all, "{:?}", zkey.b2().decode(level, CHECK)?).unwrap();
    let coefficients = zkey.coefficients()?;
    let list = coefficients.iter().collect::<Result<Vec<_>, _>>();
    let product = coefficients.multiply(level, &vec![C::Scalar::ONE; zkey.header().wires as usize]);
    assert_eq!(list.is_ok(), product.is_ok());
    write!(all, "{:?}", list?).unwrap();
    Ok(all)
}

fn read_gates<H: GateHeader + Debug>(zkey: &GateZkey<H>, level: Level) -> Result<String, CircomError> {
    let gates = zkey.gates();
    let mut all = format!("{:?}{:?}", zkey.header(), gates.additions()?);
    let mut polynomials: Vec<Polynomial<'_>> =
        Selector::ALL.into_iter().map(|selector| gates.selector(selector)).collect();
    for column in Column::ALL {
        write!(all, "{:?}", gates.wire_map(column)?).unwrap();
        polynomials.push(gates.sigma(column));
    }
    polynomials.extend((0..gates.counts().lagrange_polynomials()).map(|index| gates.lagrange(index)));
    for polynomial in polynomials {
        let coefficients = polynomial.coefficients.decode(level)?;
        write!(all, "{coefficients:?}{:?}", polynomial.extended.decode(level)?).unwrap();
    }
    write!(all, "{:?}", gates.ptau().decode(level, CHECK)?).unwrap();
    Ok(all)
}

/// The ranges of sections that no reader needs, including their numbers: with another number they are unknown sections.
fn unread(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let file = BinFile::from_bytes("file", bytes.to_vec()).unwrap();
    let ids: &[u32] = match file.kind() {
        FileKind::R1cs => &[3],
        FileKind::Zkey if bytes.len() < 10_000 => &[10],
        _ => &[],
    };
    let optional = file.sections().iter().filter(|entry| ids.contains(&entry.id));
    optional.map(|entry| entry.range.start - 12..entry.range.end).collect()
}

fn every_change_is_noticed(bytes: &[u8]) {
    changes_are_noticed(bytes, 1);
}

/// Changes the bytes of the beginning and the end, and every `step`-th byte between them.
fn changes_are_noticed(bytes: &[u8], step: usize) {
    let truth = read_all(bytes.to_vec()).unwrap();
    let unread = unread(bytes);
    for at in 0..bytes.len() {
        // One bit of each byte; for the headers, which are first or last, also all eight bits at once.
        let edge = at < 1000 || at + 1000 > bytes.len();
        if !edge && !at.is_multiple_of(step) {
            continue;
        }
        for mask in [1 << (at % 8), 0xff].into_iter().take(if edge { 2 } else { 1 }) {
            let mut changed = bytes.to_vec();
            changed[at] ^= mask;
            match read_all(changed) {
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.starts_with("file: ") && error.lines().count() == 1, "{error}");
                }
                Ok(other) if unread.iter().any(|range| range.contains(&at)) => assert_eq!(other, truth),
                // Only the version may change without effect: versions 1 and 2 have the same layout.
                Ok(other) => assert!(other != truth || at == 4, "byte {at} changed by {mask:#x}"),
            }
        }
    }
}

fn every_cut_is_noticed(bytes: &[u8]) {
    for length in 0..bytes.len() {
        read_all(bytes[..length].to_vec()).unwrap_err();
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    let error = read_all(longer).unwrap_err().to_string();
    assert!(error.contains("1 bytes after the last"), "{error}");
}

fn ptau<C: CircomCurve>() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pot1.ptau");
    let (one, two) = ([C::GENERATOR; 7], [C::G2::GENERATOR; 2]);
    let mut writer = PtauWriter::<C>::create(&path, &PtauHeader { power: 1, ceremony_power: 1 }, 5).unwrap();
    writer.points(PtauPoints::TauG1, |out| out.points(&one[..3])).unwrap();
    writer.points(PtauPoints::TauG2, |out| out.points(&two)).unwrap();
    writer.points(PtauPoints::AlphaTauG1, |out| out.points(&one[..2])).unwrap();
    writer.points(PtauPoints::BetaG2, |out| out.points(&two[..1])).unwrap();
    writer.no_contributions().unwrap();
    writer.points(PtauPoints::LagrangeTauG1, |out| out.points(&one[..3])).unwrap();
    writer.finish().unwrap();
    fs::read(path).unwrap()
}

#[test]
fn changes_to_circuits_and_witnesses_are_noticed() {
    let second = ["bls12-381/circuit.r1cs", "bls12-381/witness.wtns"].map(data);
    let first = [data("circuit.r1cs"), data("witness.wtns"), ptau::<G1>(), ptau::<bls12_381::G1>()];
    for bytes in first.into_iter().chain(second) {
        every_cut_is_noticed(&bytes);
        every_change_is_noticed(&bytes);
    }
}

#[test]
fn changes_to_a_groth16_key_are_noticed() {
    for bytes in [data("groth16.zkey"), data("bls12-381/groth16.zkey")] {
        every_cut_is_noticed(&bytes);
        every_change_is_noticed(&bytes);
    }
}

#[test]
fn changes_to_a_plonk_key_are_noticed() {
    every_cut_is_noticed(&data("plonk.zkey"));
    every_change_is_noticed(&data("plonk.zkey"));
}

#[test]
fn changes_to_an_fflonk_key_are_noticed() {
    let bytes = data("fflonk.zkey");
    for length in (0..bytes.len()).step_by(31) {
        read_all(bytes[..length].to_vec()).unwrap_err();
    }
    changes_are_noticed(&bytes, 31);
}

#[test]
fn lengths_and_counts_beyond_the_file_allocate_nothing() {
    for name in FILES {
        let bytes = data(name);
        let file = BinFile::from_bytes("file", bytes.clone()).unwrap();
        for entry in file.sections() {
            for length in [1u64 << 60, u64::MAX, u64::from(u32::MAX), entry.range.len() as u64 + 1] {
                let mut changed = bytes.clone();
                changed[entry.range.start - 8..entry.range.start].copy_from_slice(&length.to_le_bytes());
                read_all(changed).unwrap_err();
            }
            // Every count is a u32 at a multiple of 4 in a header, or at the beginning of its section.
            let header = entry.range.clone().step_by(4).take(40);
            for at in header.filter(|at| at + 4 <= entry.range.end) {
                let mut changed = bytes.clone();
                changed[at..at + 4].fill(0xff);
                drop(read_all(changed));
            }
        }
        let mut changed = bytes;
        changed[8..12].fill(0xff);
        let error = read_all(changed).unwrap_err().to_string();
        assert!(error.starts_with("file: offset 8: expected at most 256 sections"), "{error}");
    }
}

#[test]
fn wires_without_labels_are_bounded_by_the_file() {
    let bytes = data("circuit.r1cs");
    // The labels are the last section: omit them and claim 2^31 wires.
    let labels = BinFile::from_bytes("file", bytes.clone()).unwrap().sections()[2].range.clone();
    let mut cut = bytes[..labels.start - 12].to_vec();
    cut[8] = 2;
    assert!(read_all(cut.clone()).is_ok());
    let header = BinFile::from_bytes("file", cut.clone()).unwrap().sections()[1].range.clone();
    cut[header.start + 39] = 0x80;
    let error = read_all(cut).unwrap_err().to_string();
    assert!(error.contains("2147483655 wires without labels in a file of"), "{error}");
}

#[test]
fn a_missing_and_a_repeated_section_are_named() {
    let bytes = data("witness.wtns");
    let mut renamed = bytes.clone();
    renamed[64] = 7;
    let error = read_all(renamed).unwrap_err().to_string();
    assert_eq!(error, "file: section 2 (witness values) is missing");
    let mut repeated = bytes;
    repeated[64] = 1;
    let error = read_all(repeated).unwrap_err().to_string();
    assert_eq!(error, "file: section 1 (header) occurs twice, again at offset 76");
}

#[test]
fn changes_to_json_are_noticed() {
    type Reader = fn(&[u8]) -> Result<String, CircomError>;
    type Second = bls12_381::G1;
    let files: [(&str, Reader); 9] = [
        ("bls12-381/groth16.proof.json", |text| {
            Groth16Proof::<Second>::parse("file", text).map(|value| format!("{value:?}"))
        }),
        ("bls12-381/groth16.vk.json", |text| {
            Groth16VerificationKey::<Second>::parse("file", text).map(|value| format!("{value:?}"))
        }),
        ("groth16.proof.json", |text| <Groth16Proof>::parse("file", text).map(|value| format!("{value:?}"))),
        ("groth16.vk.json", |text| {
            <Groth16VerificationKey>::parse("file", text).map(|value| format!("{value:?}"))
        }),
        ("plonk.proof.json", |text| PlonkProof::parse("file", text).map(|value| format!("{value:?}"))),
        ("plonk.vk.json", |text| PlonkVerificationKey::parse("file", text).map(|value| format!("{value:?}"))),
        ("fflonk.proof.json", |text| FflonkProof::parse("file", text).map(|value| format!("{value:?}"))),
        ("fflonk.vk.json", |text| {
            FflonkVerificationKey::parse("file", text).map(|value| format!("{value:?}"))
        }),
        ("public.json", |text| parse_public::<FrParams>("file", text).map(|value| format!("{value:?}"))),
    ];
    for (name, read) in files {
        let text = data(name);
        let truth = read(&text).unwrap();
        // Ignored: a key's product of pairings, white space, and a renamed `curve`, since early files have no such key.
        let find = |what: &str| text.windows(what.len()).position(|window| window == what.as_bytes());
        let product = find("vk_alphabeta_12").map_or(0..0, |start| start - 1..find("\"IC\"").unwrap());
        let curve = find("\"curve\"").map_or(0..0, |start| start + 1..start + 6);
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1 << (at % 7);
            match read(&changed) {
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.starts_with("file: ") && error.lines().count() == 1, "{error}");
                }
                Ok(other) => assert!(
                    other != truth
                        || product.contains(&at)
                        || curve.contains(&at)
                        || text[at].is_ascii_whitespace(),
                    "{name}: byte {at}"
                ),
            }
        }
        for length in 0..text.len() {
            read(&text[..length]).unwrap_err();
        }
    }
}
