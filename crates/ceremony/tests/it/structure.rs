//! Structured changes of keys and powers: all points of a section moved in one direction of the space at a time, two points exchanged, a
//! section times a number. Each check by random combination must refuse all of them, over both curves.

use proofmill_ceremony::{CeremonyCurve, CeremonyError, powers, verify};
use proofmill_circom::{BinFile, Coordinate, Groth16Zkey, PointCheck, Points, Ptau, PtauPoints};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, bls12_381, bn254};
use proofmill_field::{Field, Invert};
use proofmill_files::Target;
use proofmill_testing::directions;
use std::{convert::Infallible, fs, ops::Range, path::PathBuf};

fn bytes(path: &str) -> Vec<u8> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", path].iter().collect();
    fs::read(path).expect("a file")
}

/// A file of points, and where they are.
struct File(BinFile);

impl File {
    fn new(bytes: Vec<u8>) -> Self {
        Self(BinFile::from_bytes("file", bytes).expect("a container"))
    }

    fn section(&self, id: u32) -> Range<usize> {
        self.0.sections().iter().find(|section| section.id == id).expect("a section").range.clone()
    }

    /// The file with other points from index `first` of a section on.
    fn with<G: Curve<Base: Coordinate>>(&self, id: u32, first: usize, points: &[Affine<G>]) -> Vec<u8> {
        let mut encoded = Vec::new();
        for coordinate in points.iter().flat_map(|point| [point.x, point.y]) {
            let Ok(()) = coordinate.try_each_limbs(&mut |limbs| {
                encoded.extend(limbs.iter().flat_map(|limb| limb.to_le_bytes()));
                Ok::<_, Infallible>(())
            });
        }
        let at = self.section(id).start + first * encoded.len() / points.len();
        let mut changed = self.0.bytes().to_vec();
        changed[at..at + encoded.len()].copy_from_slice(&encoded);
        changed
    }
}

/// Points that differ from these by a structured change, each with its name. `coset` has the root and the shift of the points' domain.
fn changes<G: Curve>(points: &[Affine<G>], [root, shift]: [G::Scalar; 2]) -> Vec<(String, Vec<Affine<G>>)> {
    // A point that nobody else has: any would do.
    let other = G::GENERATOR.mul_vartime(&(root + shift + shift)).to_affine();
    let moved = |weights: &Vec<G::Scalar>| {
        let moved = |(point, weight): (&Affine<G>, &G::Scalar)| {
            other.mul_vartime(weight).add_affine(point).to_affine()
        };
        points.iter().zip(weights).map(moved).collect()
    };
    let n = points.len().next_power_of_two();
    let directions = directions(n, root, shift);
    let mut changes: Vec<_> = directions
        .iter()
        .enumerate()
        .map(|(i, weights)| (format!("direction {i}"), moved(weights)))
        .collect();
    for (a, b) in (1..points.len()).map(|b| (b - 1, b)).chain([(0, points.len() - 1)]) {
        if points[a] != points[b] {
            let mut exchanged = points.to_vec();
            exchanged.swap(a, b);
            changes.push((format!("points {a} and {b} exchanged"), exchanged));
        }
    }
    for (name, factor) in [("negative", -G::Scalar::ONE), ("times the root", root + shift)] {
        let times = |point: &Affine<G>| point.mul_vartime(&factor).to_affine();
        let product: Vec<_> = points.iter().map(times).collect();
        if product != points {
            changes.push((name.to_owned(), product));
        }
    }
    changes
}

/// A root of order `2^log` and the shift to the odd points of twice as many.
fn coset<C: CeremonyCurve>(log: u32) -> [C::Scalar; 2] {
    [log, log + 1].map(|log| C::root_of_unity(log).expect("a small domain"))
}

fn verified_powers<C: CeremonyCurve>(bytes: Vec<u8>) -> Result<usize, CeremonyError> {
    let powers = Ptau::<C>::read(BinFile::from_bytes("powers", bytes)?)?;
    Ok(powers::verify(Level::best().into(), &powers)?.len())
}

/// Changes points from `first` on in a section of powers.
fn refuse_powers<C: CeremonyCurve, G: Curve<Base: Coordinate, Scalar = C::Scalar>>(
    file: &File,
    section: PtauPoints,
    range: Range<usize>,
    points: Points<'_, G>,
) {
    let name = section.section().content;
    let points =
        points.slice(range.clone()).and_then(|points| points.decode(Level::best(), PointCheck::OnCurve));
    let points = points.expect("points");
    let [root, _] = coset::<C>(points.len().next_power_of_two().ilog2());
    for (change, changed) in changes(&points, [root, C::Scalar::ONE]) {
        let changed = file.with(section.section().id, range.start, &changed);
        let error =
            verified_powers::<C>(changed).expect_err(&format!("{name} from {}: {change}", range.start));
        // Not only because another hash is in the last contribution.
        assert!(
            matches!(error, CeremonyError::Powers { .. }),
            "{name} from {}: {change}: {error}",
            range.start
        );
    }
}

fn refuse_changed_powers<C: CeremonyCurve>(bytes: &[u8]) {
    let file = File::new(bytes.to_vec());
    let powers =
        Ptau::<C>::read(BinFile::from_bytes("powers", bytes.to_vec()).expect("a file")).expect("powers");
    let power = powers.header().power;
    verified_powers::<C>(bytes.to_vec()).expect("valid");
    for section in PtauPoints::POWERS.into_iter().chain(PtauPoints::PREPARED) {
        let count = section.count(power);
        let is_whole = PtauPoints::POWERS.contains(&section);
        let domains = (0..power + 2).map(|log| (1 << log) - 1..(2 << log) - 1);
        let whole = is_whole.then_some(0..count).into_iter();
        let ranges = whole.chain(domains.filter(|domain| !is_whole && domain.end <= count));
        for range in ranges {
            if matches!(section, PtauPoints::TauG2 | PtauPoints::BetaG2 | PtauPoints::LagrangeTauG2) {
                let points = powers.points::<C::G2>(section).expect("points");
                refuse_powers::<C, C::G2>(&file, section, range, points);
            } else {
                refuse_powers::<C, C>(&file, section, range, powers.points::<C>(section).expect("points"));
            }
        }
    }
}

#[test]
fn no_direction_of_powers_is_blind() {
    refuse_changed_powers::<bn254::G1>(&bytes("ceremony/tests/data/prepared.ptau"));
}

/// The part of power 2 of a file.
fn truncated<C: CeremonyCurve>(path: &str) -> Vec<u8> {
    let whole = Ptau::<C>::read(BinFile::from_bytes("powers", bytes(path)).expect("a file"));
    let mut made = Vec::new();
    powers::truncate(&whole.expect("powers"), 2, Target::Memory(&mut made)).expect("written");
    made
}

#[test]
fn no_direction_of_truncated_powers_is_blind() {
    refuse_changed_powers::<bn254::G1>(&truncated::<bn254::G1>("ceremony/tests/data/prepared.ptau"));
    refuse_changed_powers::<bls12_381::G1>(&truncated::<bls12_381::G1>(
        "circom/tests/data/bls12-381/powers.ptau",
    ));
}

#[test]
fn the_power_that_truncated_powers_lack_is_zero_or_the_next_one() {
    type G = bn254::G1;
    let (level, part) = (Level::best(), truncated::<G>("ceremony/tests/data/prepared.ptau"));
    let read = |bytes: Vec<u8>| {
        Ptau::<G>::read(BinFile::from_bytes("powers", bytes).expect("a file")).expect("powers")
    };
    // Prepared again, the file has zero there.
    let mut again = Vec::new();
    powers::prepare(level.into(), &read(part.clone()), Target::Memory(&mut again), &std::env::temp_dir())
        .expect("written");
    assert_ne!(part, again);
    verified_powers::<G>(again.clone()).expect("valid");
    refuse_changed_powers::<G>(&again);
    // What lies between the two, and beyond them, is no power.
    let largest = |bytes: &[u8]| {
        let powers = read(bytes.to_vec());
        let points = powers.lagrange_tau_g1(3).expect("a domain");
        points.decode(level, PointCheck::OnCurve).expect("points")
    };
    let (with, without) = (largest(&part), largest(&again));
    for (share, valid) in [(0u64, true), (1, true), (2, false), (3, false)] {
        let points = with.iter().zip(&without).map(|(with, without)| {
            let difference = Jacobian::from(*with).add_affine(&-*without).to_affine();
            difference.mul_vartime(&share.into()).add_affine(without).to_affine()
        });
        let points: Vec<_> = points.collect();
        let verdict = verified_powers::<G>(File::new(part.clone()).with(12, 7, &points));
        assert_eq!(verdict.is_ok(), valid, "{share}: {verdict:?}");
    }
}

fn key_of<C: CeremonyCurve>(bytes: Vec<u8>) -> Result<Groth16Zkey<C>, CeremonyError> {
    Ok(Groth16Zkey::read(BinFile::from_bytes("key", bytes)?)?)
}

/// Changes the points of a section of a key.
fn refuse_key<C: CeremonyCurve, G: Curve<Base: Coordinate, Scalar = C::Scalar>>(
    file: &File,
    initial: &Groth16Zkey<C>,
    (id, name): (u32, &str),
    points: Points<'_, G>,
) {
    let points = points.decode(Level::best(), PointCheck::OnCurve).expect("points");
    for (change, changed) in changes(&points, coset::<C>(points.len().next_power_of_two().ilog2())) {
        let changed = key_of::<C>(file.with(id, 0, &changed)).expect("a key");
        let error = verify::key(Level::best(), &changed, initial).expect_err(&format!("{name}: {change}"));
        let CeremonyError::Differs(part) = error else { panic!("{name}: {change}: {error}") };
        assert_eq!(part, name, "{change}");
    }
}

fn refuse_changed_keys<C: CeremonyCurve>(initial: Vec<u8>, last: Vec<u8>) {
    let (file, initial, key) = (File::new(last.clone()), key_of::<C>(initial), key_of::<C>(last));
    let (initial, key) = (initial.expect("a key"), key.expect("a key"));
    verify::key(Level::best(), &key, &initial).expect("valid");
    for (id, name, points) in [
        (3, "the points of the public signals", key.ic()),
        (5, "the points A", key.a()),
        (6, "the points B in G1", key.b1()),
        (8, "the points C", key.c()),
        (9, "the points H", key.h()),
    ] {
        refuse_key::<C, C>(&file, &initial, (id, name), points);
    }
    refuse_key::<C, C::G2>(&file, &initial, (7, "the points B in G2"), key.b2());
}

#[test]
fn no_direction_of_a_key_is_blind() {
    let [initial, last] = ["groth16/tests/data/toy.zkey", "ceremony/tests/data/beacon.zkey"].map(bytes);
    refuse_changed_keys::<bn254::G1>(initial, last);
    let [initial, last] =
        ["initial.zkey", "groth16.zkey"].map(|name| bytes(&format!("circom/tests/data/bls12-381/{name}")));
    refuse_changed_keys::<bls12_381::G1>(initial, last);
}

#[test]
fn no_direction_of_a_key_from_bellmans_format_is_blind() {
    let [initial, last] = ["groth16/tests/data/toy.zkey", "ceremony/tests/data/imported.zkey"].map(bytes);
    refuse_changed_keys::<bn254::G1>(initial, last);
}

#[test]
fn the_highest_power_is_the_setups_or_infinity() {
    type G = bn254::G1;
    let [initial, last] = ["groth16/tests/data/toy.zkey", "ceremony/tests/data/beacon.zkey"].map(bytes);
    let (file, initial, key) =
        (File::new(last.clone()), key_of::<G>(initial).expect("a key"), key_of::<G>(last).expect("a key"));
    let points = key.h().decode(Level::best(), PointCheck::OnCurve).expect("points");
    let n = points.len();
    let [root, shift] = coset::<G>(n.ilog2());
    let of_power = &directions(n, root, shift);
    let highest = points
        .iter()
        .zip(&of_power[n - 1])
        .fold(Jacobian::INFINITY, |sum, (point, weight)| sum.add(&point.mul_vartime(weight)));
    assert!(!highest.is_infinity());
    let share = <G as Curve>::Scalar::from(n as u64).invert_vartime().expect("not zero");
    for (times, valid) in [(0u64, true), (1, true), (2, false)] {
        // The sum over j of x_j^(n-1) x_j is -n.
        let step = highest.to_affine().mul_vartime(&(share * times.into())).to_affine();
        let moved = points
            .iter()
            .zip(&of_power[1])
            .map(|(point, x)| step.mul_vartime(x).add_affine(point).to_affine());
        let moved: Vec<_> = moved.collect();
        let changed = key_of::<G>(file.with(9, 0, &moved)).expect("a key");
        let verdict = verify::key(Level::best(), &changed, &initial);
        assert_eq!(verdict.is_ok(), valid, "{times}: {verdict:?}");
    }
}
