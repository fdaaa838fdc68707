//! Proving keys and powers of tau are decoded, rewritten byte for byte, and multiplied with witnesses.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proofmill_circom::{
    BinFile, Coefficient, Column, FflonkVerificationKey, FflonkWriter, FileKind, GateHeader, GateSections,
    GateWriter, Groth16Header, Groth16Points, Groth16VerificationKey, Groth16Writer, Groth16Zkey, Matrix,
    PlonkVerificationKey, PlonkWriter, PlonkZkey, PointCheck, Points, Polynomial, Ptau, PtauHeader,
    PtauPoints, PtauWriter, R1cs, SectionWriter, Selector, Zkey, read_witness,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use rand::{Rng, seq::SliceRandom};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn decode<C>(points: Points<'_, C>) -> Vec<Affine<C>>
where
    C: Curve<Base: proofmill_circom::Coordinate>,
{
    let decoded = proofmill_field::prime_field_levels()
        .into_iter()
        .map(|level| points.decode(level, PointCheck::InSubgroup));
    let mut decoded = decoded.map(Result::unwrap);
    let first = decoded.next().unwrap();
    assert!(decoded.all(|other| other == first), "the same at every level");
    first
}

#[test]
fn a_groth16_key_has_the_verification_keys_points() {
    let zkey = <Groth16Zkey>::open(&data("groth16.zkey")).unwrap();
    let text = fs::read(data("groth16.vk.json")).unwrap();
    let key = <Groth16VerificationKey>::parse("key", &text).unwrap();
    let header = zkey.header();
    assert_eq!((header.wires, header.public, header.domain_size), (7, 2, 8));
    assert_eq!(
        (header.alpha_1, header.beta_2, header.gamma_2, header.delta_2, decode(zkey.ic())),
        (key.alpha_1, key.beta_2, key.gamma_2, key.delta_2, key.ic)
    );
}

#[test]
fn a_rewritten_groth16_key_is_the_same_bytes() {
    let zkey = <Groth16Zkey>::open(&data("groth16.zkey")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("rewritten.zkey");
    let mut writer = Groth16Writer::create(&target, zkey.header()).unwrap();
    let ic = decode(zkey.ic());
    writer.points(Groth16Points::Ic, |out| out.points(&ic)).unwrap();
    let coefficients = zkey.coefficients().unwrap();
    let count = coefficients.len() as u32;
    writer.coefficients(count, coefficients.iter().map(Result::unwrap)).unwrap();
    let b2 = decode(zkey.b2());
    for (section, points) in
        [(Groth16Points::A, zkey.a()), (Groth16Points::B1, zkey.b1()), (Groth16Points::C, zkey.c())]
    {
        if section == Groth16Points::C {
            writer.points(Groth16Points::B2, |out| out.points(&b2)).unwrap();
        }
        let points = decode(points);
        let (front, back) = points.split_at(2);
        writer.points(section, |out| out.points(front).and_then(|()| out.points(back))).unwrap();
    }
    let h = decode(zkey.h());
    writer.points(Groth16Points::H, |out| out.points(&h)).unwrap();
    let contributions = zkey.contributions().unwrap().unwrap().bytes();
    let hash = contributions.first_chunk().unwrap();
    writer.contributions(hash, 1, &contributions[68..]).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&target).unwrap(), fs::read(data("groth16.zkey")).unwrap());
}

#[test]
fn a_groth16_keys_matrices_are_the_circuits() {
    let zkey = <Groth16Zkey>::open(&data("groth16.zkey")).unwrap();
    let r1cs = <R1cs>::open(&data("circuit.r1cs")).unwrap();
    let mut expected = Vec::new();
    for row in 0..r1cs.a.rows() {
        for (matrix, rows) in [(Matrix::A, &r1cs.a), (Matrix::B, &r1cs.b)] {
            let entry = |(wire, value)| Coefficient { matrix, row: row as u32, wire, value };
            expected.extend(rows.row(row).map(entry));
        }
    }
    // The constant and each public signal have a row.
    expected.extend((0..3).map(|i| Coefficient { matrix: Matrix::A, row: 5 + i, wire: i, value: Fr::ONE }));
    let coefficients = zkey.coefficients().unwrap();
    assert_eq!(coefficients.iter().map(Result::unwrap).collect::<Vec<_>>(), expected);

    let witness = read_witness(&data("witness.wtns"), Level::best()).unwrap();
    for level in proofmill_field::prime_field_levels() {
        let [a, b] = coefficients.multiply(level, &witness).unwrap();
        let row = |matrix: &proofmill_circom::SparseMatrix, row| matrix.row_times(row, &witness);
        assert!((0..5).all(|i| a[i] == row(&r1cs.a, i) && b[i] == row(&r1cs.b, i)));
        assert_eq!(a[5..], witness[..3]);
        assert_eq!(b[5..], [Fr::ZERO; 3]);
    }
}

/// A key with these coefficients, whose points are all infinity.
fn key_with(path: &Path, wires: u32, domain_size: u32, coefficients: &[Coefficient]) -> Groth16Zkey {
    let (one, two) = (Affine::<G1>::INFINITY, Affine::<G2>::INFINITY);
    let header = Groth16Header {
        wires,
        public: 1,
        domain_size,
        alpha_1: one,
        beta_1: one,
        beta_2: two,
        gamma_2: two,
        delta_1: one,
        delta_2: two,
    };
    let mut writer = Groth16Writer::create(path, &header).unwrap();
    writer.coefficients(coefficients.len() as u32, coefficients.iter().copied()).unwrap();
    let infinities = |count| move |out: &mut SectionWriter<'_>| out.points(&vec![one; count as usize]);
    writer.points(Groth16Points::Ic, infinities(2)).unwrap();
    writer.points(Groth16Points::H, infinities(domain_size)).unwrap();
    writer.points(Groth16Points::C, infinities(wires - 2)).unwrap();
    writer.points(Groth16Points::A, infinities(wires)).unwrap();
    writer.points(Groth16Points::B1, infinities(wires)).unwrap();
    writer.points(Groth16Points::B2, |out| out.points(&vec![two; wires as usize])).unwrap();
    writer.contributions(&[0; 64], 0, &[]).unwrap();
    writer.finish().unwrap();
    <Groth16Zkey>::open(path).unwrap()
}

#[test]
fn matrices_multiply_in_any_order_of_their_rows() {
    const ROWS: u32 = 1 << 14;
    let mut rng = proofmill_testing::rng(0x2ec0);
    let witness: Vec<Fr> = (0..50).map(|_| Fr::random(&mut rng)).collect();
    let mut coefficients = Vec::new();
    for row in 0..ROWS {
        // Some rows are empty, and a few are longer than the block of a task.
        let terms = if row == 3 || row == 9000 { 40_000 } else { rng.random_range(0..8) };
        for _ in 0..terms {
            let matrix = if rng.random() { Matrix::A } else { Matrix::B };
            let value = match rng.random_range(0..4) {
                0 => Fr::ONE,
                1 => -Fr::ONE,
                2 => Fr::from(rng.random::<u64>()),
                _ => Fr::random(&mut rng),
            };
            coefficients.push(Coefficient { matrix, row, wire: rng.random_range(0..50), value });
        }
    }
    let mut expected = [vec![Fr::ZERO; ROWS as usize], vec![Fr::ZERO; ROWS as usize]];
    for Coefficient { matrix, row, wire, value } in &coefficients {
        expected[usize::from(*matrix == Matrix::B)][*row as usize] += *value * witness[*wire as usize];
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.zkey");
    for _ in 0..2 {
        let zkey = key_with(&path, 50, ROWS, &coefficients);
        for level in proofmill_field::prime_field_levels() {
            assert!(zkey.coefficients().unwrap().multiply(level, &witness).unwrap() == expected);
        }
        coefficients.shuffle(&mut rng);
    }
}

fn scalars(polynomial: Polynomial<'_>) -> Vec<Fr> {
    let mut scalars = polynomial.coefficients.decode(Level::best()).unwrap();
    scalars.extend(polynomial.extended.decode(Level::best()).unwrap());
    scalars
}

/// Writes the common sections again.
fn rewrite<H: GateHeader>(writer: &mut GateWriter<'_, H>, gates: &GateSections) {
    writer.additions(gates.additions().unwrap()).unwrap();
    for column in Column::ALL {
        writer.wire_map(column, gates.wire_map(column).unwrap()).unwrap();
    }
    for selector in GateWriter::<H>::SELECTORS {
        writer.selector(selector, |out| out.montgomery(&scalars(gates.selector(selector)))).unwrap();
    }
    writer.sigma(|column, out| out.montgomery(&scalars(gates.sigma(column)))).unwrap();
    let polynomials = gates.counts().lagrange_polynomials();
    let lagrange = |out: &mut SectionWriter<'_>, index| out.montgomery(&scalars(gates.lagrange(index)));
    writer.lagrange(|out| (0..polynomials).try_for_each(|index| lagrange(out, index))).unwrap();
    assert!(gates.lagrange(polynomials).coefficients.is_empty());
    let ptau = decode(gates.ptau());
    writer.ptau(|out| out.points(&ptau)).unwrap();
}

#[test]
fn a_rewritten_plonk_key_is_the_same_bytes() {
    let Zkey::Plonk(zkey) = Zkey::open(&data("plonk.zkey")).unwrap() else { unreachable!("it is PLONK's") };
    let text = fs::read(data("plonk.vk.json")).unwrap();
    let key = PlonkVerificationKey::parse("key", &text).unwrap();
    let header = *zkey.header();
    assert_eq!((header.k1, header.k2, header.x_2), (key.k1, key.k2, key.x_2));
    assert_eq!((header.selectors, header.sigma), (key.selectors, key.sigma));
    assert_eq!((header.counts.public, header.counts.power()), (key.public, key.power));

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("rewritten.zkey");
    let mut writer = PlonkWriter::create(&target, false).unwrap();
    rewrite(&mut writer, zkey.gates());
    writer.header(&header).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&target).unwrap(), fs::read(data("plonk.zkey")).unwrap());
}

#[test]
fn a_rewritten_fflonk_key_is_the_same_bytes() {
    let Zkey::Fflonk(zkey) = Zkey::open(&data("fflonk.zkey")).unwrap() else {
        unreachable!("it is fflonk's")
    };
    let text = fs::read(data("fflonk.vk.json")).unwrap();
    assert_eq!(
        FflonkVerificationKey::from(zkey.header()),
        FflonkVerificationKey::parse("key", &text).unwrap()
    );

    let c0 = zkey.gates().c0().unwrap().decode(Level::best()).unwrap();
    let polynomial = |place: usize| c0.iter().copied().skip(place).step_by(8).collect::<Vec<_>>();
    let coefficients = |of: Polynomial<'_>| of.coefficients.decode(Level::best()).unwrap();
    let selectors = [Selector::Ql, Selector::Qr, Selector::Qo, Selector::Qm, Selector::Qc];
    for (place, selector) in selectors.into_iter().enumerate() {
        assert_eq!(coefficients(zkey.gates().selector(selector)), polynomial(place));
    }
    for (place, column) in Column::ALL.into_iter().enumerate() {
        assert_eq!(coefficients(zkey.gates().sigma(column)), polynomial(5 + place));
    }

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("rewritten.zkey");
    let mut writer = FflonkWriter::create(&target, false).unwrap();
    rewrite(&mut writer, zkey.gates());
    writer.c0(|out| out.montgomery(&c0)).unwrap();
    writer.header(zkey.header()).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&target).unwrap(), fs::read(data("fflonk.zkey")).unwrap());
}

/// Multiples 1, 2, ... of the generator.
fn multiples<C: Curve<Scalar = Fr>>(count: u64) -> Vec<Affine<C>> {
    (1..=count).map(|k| C::GENERATOR.mul_vartime(&Fr::from(k)).to_affine()).collect()
}

#[test]
fn powers_of_tau_are_found_by_domain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pot2.ptau");
    let (one, two) = (multiples::<G1>(15), multiples::<G2>(7));
    let header = PtauHeader { power: 2, ceremony_power: 28 };
    let mut writer = <PtauWriter>::create(&path, &header, 5).unwrap();
    writer.points(PtauPoints::TauG1, |out| out.points(&one[..7])).unwrap();
    writer.points(PtauPoints::BetaG2, |out| out.points(&two[2..3])).unwrap();
    writer.no_contributions().unwrap();
    writer.points(PtauPoints::LagrangeTauG1, |out| out.points(&one)).unwrap();
    writer.points(PtauPoints::LagrangeTauG2, |out| out.points(&two)).unwrap();
    writer.points(PtauPoints::LagrangeAlphaTauG1, |out| out.bytes(&[0; 65])).unwrap();
    writer.finish().unwrap();

    let ptau = Ptau::open(&path).unwrap();
    assert!(ptau.is_prepared());
    assert_eq!(*ptau.header(), header);
    assert_eq!(decode(ptau.tau_g1().unwrap()), one[..7]);
    assert_eq!(ptau.beta_g2().unwrap(), two[2]);
    for log_size in 0..=3 {
        let size = 1 << log_size;
        assert_eq!(decode(ptau.lagrange_tau_g1(log_size).unwrap()), one[size - 1..2 * size - 1]);
        match ptau.lagrange_tau_g2(log_size) {
            Ok(points) => assert_eq!(decode(points), two[size - 1..2 * size - 1]),
            Err(error) => assert!(log_size == 3 && error.to_string().contains("section 13"), "{error}"),
        }
    }
    for log_size in [4, 30, 63, 64, u32::MAX] {
        ptau.lagrange_tau_g1(log_size).unwrap_err();
    }
    let error = ptau.lagrange_beta_tau_g1(0).unwrap_err().to_string();
    assert!(error.ends_with("section 15 (lagrange beta tau in G1) is missing"), "{error}");
    ptau.lagrange_alpha_tau_g1(0).unwrap_err();
}

#[test]
fn errors_say_which_protocol_and_curve_were_found() {
    let error = PlonkZkey::open(&data("groth16.zkey")).unwrap_err().to_string();
    assert!(error.ends_with("groth16.zkey: expected protocol plonk, found groth16"), "{error}");
    let error = <Groth16Zkey>::open(&data("plonk.zkey")).unwrap_err().to_string();
    assert!(error.ends_with("plonk.zkey: expected protocol groth16, found plonk"), "{error}");

    let mut bytes = fs::read(data("groth16.zkey")).unwrap();
    assert_eq!(bytes[24..28], [1, 0, 0, 0]);
    bytes[24] = 11;
    let error = Zkey::read(BinFile::from_bytes("key", bytes.clone()).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "key: expected protocol groth16, plonk or fflonk, found number 11");
    bytes[24] = 1;
    bytes[44] ^= 1;
    let error = Zkey::read(BinFile::from_bytes("key", bytes).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("key: section 2 (header), offset 44: expected curve bn254, found unknown"));

    let read = |file: &str| BinFile::from_bytes("f", fs::read(data(file)).unwrap()).unwrap();
    let error = proofmill_circom::decode_witness::<FrParams>(&read("groth16.zkey"), Level::best())
        .unwrap_err()
        .to_string();
    assert_eq!(error, "f: expected wtns, found zkey");
    let error = <R1cs>::read(&read("witness.wtns")).unwrap_err().to_string();
    assert_eq!(error, "f: expected r1cs, found wtns");

    // BLS12-381's scalar field in 32 bytes, big-endian.
    let modulus = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
    let mut bytes = fs::read(data("witness.wtns")).unwrap();
    for (i, byte) in bytes[28..60].iter_mut().rev().enumerate() {
        *byte = u8::from_str_radix(&modulus[2 * i..2 * i + 2], 16).unwrap();
    }
    let file = BinFile::from_bytes("w", bytes).unwrap();
    assert_eq!(file.kind(), FileKind::Wtns);
    let error = proofmill_circom::decode_witness::<FrParams>(&file, Level::best()).unwrap_err().to_string();
    assert_eq!(error, "w: section 1 (header), offset 28: expected curve bn254, found bls12-381");
}
