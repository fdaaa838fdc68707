//! Strings of a known tau, in memory and in files.

use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, Jacobian,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};
use proofmill_srs::{Srs, SrsError, SrsKind, write_insecure};
use proofmill_testing::{for_each_level, for_each_pool, rng};

#[test]
fn powers_in_memory_are_those_of_tau() {
    let mut rng = rng(1);
    let tau = Fr::random(&mut rng);
    let scalars: Vec<_> = (0..300).map(|_| Fr::random(&mut rng)).collect();
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            let srs = Srs::insecure_from_known_tau(level, tau, 1500);
            assert_eq!((srs.kind(), srs.len()), (SrsKind::Insecure, 1500));
            let mut power = Fr::ONE;
            for point in srs.powers(level, 0..1500).expect("powers") {
                assert_eq!(point, G1::GENERATOR.mul_vartime(&power).to_affine(), "{level}, {threads}");
                power *= tau;
            }
            assert_eq!(srs.tau_g2(), &G2::GENERATOR.mul_vartime(&tau).to_affine());
            let points = srs.powers(level, 77..377).expect("powers");
            let sum: Jacobian<G1> = points.iter().zip(&scalars).map(|(p, s)| p.mul_vartime(s)).sum();
            assert_eq!(srs.msm(level, 77, &scalars).expect("a sum"), sum);
            srs.check(level).expect("powers of tau");
        });
    });
}

#[test]
fn files_are_checked_strings() {
    let folder = tempfile::tempdir().expect("a folder");
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            for count in [2, 3, 1000, (1 << 16) + 65] {
                let path = folder.path().join(format!("{count}.ptau"));
                write_insecure(level, &path, count).expect("a file");
                let srs = Srs::open(&path).expect("a string");
                assert_eq!((srs.kind(), srs.len()), (SrsKind::Ptau, count), "{level}, {threads}");
                assert_eq!(srs.bytes(), std::fs::metadata(&path).expect("the file").len());
                srs.check(level).expect("powers of tau");
                let other = Srs::insecure_from_known_tau(level, Fr::from(5), 2);
                assert_ne!(srs.identity(), other.identity());
            }
        });
    });
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 4, "nothing unfinished");
    let missing = folder.path().join("no/such/folder.ptau");
    write_insecure(Level::best(), &missing, 10).expect_err("nowhere to write to");
}

#[test]
fn there_are_only_so_many_powers() {
    let level = Level::best();
    let srs = Srs::insecure_from_known_tau(level, Fr::from(5), 10);
    let message = srs.powers(level, 5..11).expect_err("too few").to_string();
    assert_eq!(
        message,
        "insecure powers of tau: expected at least 11 powers of tau, found 10: take a larger file"
    );
    assert!(matches!(srs.msm(level, 1, &[Fr::ONE; 10]), Err(SrsError::TooFew { needed: 11, found: 10, .. })));
    assert!(srs.msm(level, usize::MAX, &[Fr::ONE]).is_err());
    assert_eq!(srs.powers(level, 10..10).expect("none"), [Affine::INFINITY; 0]);
    assert!(srs.msm(level, 0, &[]).expect("an empty sum").is_infinity());
}
