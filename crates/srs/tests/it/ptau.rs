//! `.ptau` files of snarkjs, and damaged ones of Proofmill.

use proofmill_circom::{CircomCurve, PtauHeader, PtauPoints, PtauWriter};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};
use proofmill_srs::{Srs, SrsKind, write_insecure};
use proofmill_testing::{directions, for_each_level, for_each_pool};
use std::{fs, path::PathBuf};

fn snarkjs() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../plonk/tests/data/powers-2e5.ptau"))
}

#[test]
fn snarkjss_powers_are_powers() {
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            let srs = Srs::open(&snarkjs()).unwrap();
            assert_eq!((srs.kind(), srs.len(), srs.files()), (SrsKind::Ptau, 63, 1));
            srs.check(level).unwrap();
            let expected = srs.ptau().unwrap().tau_g1().unwrap();
            let expected = expected.decode(level, proofmill_circom::PointCheck::OnCurve).unwrap();
            assert!(srs.powers(level, 0..63).unwrap() == expected, "{level}, {threads} threads");
            let scalars: Vec<_> = (3..40).map(Fr::from).collect();
            let terms = expected[20..].iter().zip(&scalars);
            let sum: proofmill_curve::Jacobian<G1> =
                terms.map(|(point, scalar)| point.mul_vartime(scalar)).sum();
            assert_eq!(srs.msm(level, 20, &scalars).unwrap(), sum);
        });
    });
}

/// The identity follows its definition and depends only on tau.
#[test]
fn one_tau_has_one_identity() {
    use sha2::{Digest, Sha256};
    let tau = Fr::from(99);
    let srs = Srs::insecure_from_known_tau(Level::best(), tau, 7);
    let mut bytes = b"proofmill-srs-v1".to_vec();
    bytes.extend(G1::GENERATOR.mul_vartime(&tau).to_affine().to_evm());
    bytes.extend(G2::GENERATOR.mul_vartime(&tau).to_affine().to_evm());
    assert_eq!(srs.identity(), <[u8; 32]>::from(Sha256::digest(bytes)));
    let powers = srs.powers(Level::best(), 0..5).unwrap();
    let file = file(&powers, &[G2::GENERATOR, *srs.tau_g2()]);
    assert_eq!(Srs::from_bytes("t", file).unwrap().identity(), srs.identity());
}

/// A file with these points.
fn file(g1: &[Affine<G1>], g2: &[Affine<G2>]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.ptau");
    let mut file = <PtauWriter>::create(&path, &PtauHeader { power: 2, ceremony_power: 2 }, 2).unwrap();
    file.points(PtauPoints::TauG1, |out| out.points(g1)).unwrap();
    file.points(PtauPoints::TauG2, |out| out.points(g2)).unwrap();
    file.no_contributions().unwrap();
    file.finish().unwrap();
    fs::read(&path).unwrap()
}

#[test]
fn files_that_do_not_begin_with_powers_of_one_tau_are_refused() {
    let level = Level::best();
    let srs = Srs::insecure_from_known_tau(level, Fr::from(99), 4);
    let powers = srs.powers(level, 0..4).unwrap();
    let g2 = [G2::GENERATOR, *srs.tau_g2()];
    let refusal =
        |g1: &[Affine<G1>], g2: &[Affine<G2>]| Srs::from_bytes("t", file(g1, g2)).unwrap_err().to_string();
    assert_eq!(
        refusal(&powers[..1], &g2),
        "t: expected at least 2 powers of tau, found 1: take a larger file"
    );
    assert_eq!(refusal(&powers[1..], &g2), "t: the first power of tau in G1 is not the generator");
    assert_eq!(refusal(&powers, &[g2[1], g2[1]]), "t: the first power of tau in G2 is not the generator");
    assert_eq!(refusal(&powers, &[g2[0], g2[0]]), "t: tau in G2 is not the tau of the powers in G1");
    assert!(refusal(&powers, &g2[..1]).starts_with("t: section 3 (tau in G2), offset "));
    assert_eq!(refusal(&[powers[0], Affine::INFINITY], &g2), "t: power 1 of tau in G1 is infinity");
    let infinities = [G2::GENERATOR, Affine::INFINITY];
    assert_eq!(refusal(&[powers[0], Affine::INFINITY], &infinities), "t: power 1 of tau in G1 is infinity");
    let mut infinite = powers.clone();
    infinite[3] = Affine::INFINITY;
    let infinite = Srs::from_bytes("t", file(&infinite, &g2)).unwrap();
    let message = infinite.check(level).unwrap_err().to_string();
    assert_eq!(message, "t: power 3 of tau in G1 is infinity");
    let mut other = powers.clone();
    other[2] = powers[3];
    let message = Srs::from_bytes("t", file(&other, &g2)).unwrap().check(level).unwrap_err().to_string();
    assert_eq!(message, "t: power 2 of tau in G1 is not tau times power 1");
}

/// All powers but the first two, which opening checks, moved in one direction of the space at a time.
#[test]
fn no_direction_of_powers_is_blind() {
    const COUNT: usize = 16;
    let level = Level::best();
    let srs = Srs::insecure_from_known_tau(level, Fr::from(99), COUNT + 2);
    let powers = srs.powers(level, 0..COUNT + 2).unwrap();
    let g2 = [G2::GENERATOR, *srs.tau_g2()];
    let check = |powers: &[Affine<G1>]| Srs::from_bytes("t", file(powers, &g2)).unwrap().check(level);
    check(&powers).unwrap();
    let step = G1::GENERATOR.mul_vartime(&Fr::from(1_000_003)).to_affine();
    let (root, tau) = (G1::root_of_unity(4).unwrap(), Fr::from(99));
    // Also along powers of tau itself, and of the ratio between powers.
    for weights in [Fr::ONE, tau].into_iter().flat_map(|shift| directions(COUNT, root, shift)) {
        let moved = powers[2..]
            .iter()
            .zip(&weights)
            .map(|(point, weight)| step.mul_vartime(weight).add_affine(point).to_affine());
        let moved: Vec<_> = powers[..2].iter().copied().chain(moved).collect();
        check(&moved).unwrap_err();
    }
    for at in 2..COUNT + 1 {
        let mut exchanged = powers.clone();
        exchanged.swap(at, at + 1);
        check(&exchanged).unwrap_err();
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let refusal = |bytes: &[u8]| Srs::from_bytes("t", bytes.to_vec()).unwrap_err().to_string();
    let expected = "t: expected a ptau file or an Ignition transcript, found";
    assert_eq!(refusal(b""), format!("{expected} an empty file"));
    assert_eq!(refusal(b"{\"a\": 1}"), format!("{expected} JSON"));
    let zkey = [&b"zkey"[..], &1u32.to_le_bytes(), &0u32.to_le_bytes()].concat();
    assert_eq!(refusal(&zkey), format!("{expected} zkey"));
    let folder = tempfile::tempdir().unwrap();
    let missing = Srs::open(&folder.path().join("missing")).unwrap_err().to_string();
    assert!(missing.contains("missing: No such file"), "{missing}");
    let folder = Srs::open(folder.path()).unwrap_err().to_string();
    assert!(folder.ends_with("found a folder without transcript00.dat"), "{folder}");
}

/// Every byte of a file of Proofmill's own is changed.
#[test]
fn changed_bytes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.ptau");
    let level = Level::best();
    write_insecure(level, &path, 5).unwrap();
    let good = fs::read(&path).unwrap();
    let accepted = |bytes: Vec<u8>| Srs::from_bytes("t", bytes).and_then(|srs| srs.check(level)).is_ok();
    assert!(accepted(good.clone()));
    // Header section at 12, its 44 bytes from 24 on; powers from 80 on; G2 from 412 on; contributions from 680 on.
    let header_powers = 24 + 36..24 + 44;
    let contributions_number = 668..672;
    let contributions = 680..684;
    assert_eq!(good.len(), 684);
    for offset in 0..good.len() {
        for bit in [1, 0x80] {
            let mut bytes = good.clone();
            bytes[offset] ^= bit;
            let harmless = [&header_powers, &contributions_number, &contributions];
            let harmless = harmless.iter().any(|range| range.contains(&offset));
            assert!(!accepted(bytes) || harmless, "byte {offset}");
        }
        assert!(!accepted(good[..offset].to_vec()), "{offset} bytes");
    }
}
