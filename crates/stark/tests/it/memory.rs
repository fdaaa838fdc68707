//! Memory modes give the same proofs, of traces wherever they are.

use crate::wide::{NO_WORK, Wide};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_stark::{
    Constraints, Memory, Parameters, PreprocessedKey, Run, StarkError, StarkHash, Trace,
    air::Air,
    openings::{Opened, combine, weighted_sums},
    prove,
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use std::{io, path::Path};

/// An emulator is slow.
const THREADS: &[usize] = if cfg!(target_arch = "aarch64") { &[2] } else { &[1, 2, 5] };

/// A single row, one row a tile, and many; more polynomials of the quotient than cosets of the extension, and fewer.
const CASES: [(usize, u32, u32, u32); 8] = [
    (2, 0, 2, 2),
    (1, 1, 1, 1),
    (3, 3, 1, 1),
    (2, 4, 3, 2),
    (17, 5, 1, 5),
    (40, 7, 2, 1),
    (9, 8, 3, 1),
    (70, 6, 2, 1),
];

fn compare<const D: usize>(hash: &dyn StarkHash, case: (usize, u32, u32, u32), level: Level, place: &str)
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let (columns, log_rows, log_blowup, power) = case;
    let air = Wide { columns, rows: 1 << log_rows, power };
    let parameters = Parameters {
        extension: D as u32,
        log_blowup,
        log_arity: 2,
        log_final_length: 0,
        queries: 20,
        grinding: NO_WORK,
        ..Parameters::PROVEN_100
    };
    let constraints = Constraints::new(&air).expect("constraints");
    let columns = air.preprocessed().expect("columns");
    let key = PreprocessedKey::new(level, hash, &parameters, columns).expect("a key");
    let trace = air.trace();
    let public = [trace[trace.len() - air.columns]];
    let folder = tempfile::tempdir().expect("a folder");
    let mut proofs = Vec::new();
    in_all_modes_and_places(&trace, |memory, origin, trace| {
        let run = Run { memory: Some(memory), scratch: Some(folder.path()), ..level.into() };
        let proof = prove::<D>(run, hash, &parameters, &constraints, Some(&key), trace, &public);
        let mode = format!("{case:?}, {place}, {memory:?}, {origin}");
        proofs.push(proof.unwrap_or_else(|error| panic!("{mode}: {error}")));
        assert!(proofs.first() == proofs.last(), "{mode}");
        assert_eq!(files(folder.path()), 0, "files have no names");
    });
}

/// Every mode with a trace that is borrowed, owned, or read in parts.
fn in_all_modes_and_places(trace: &Vec<Goldilocks>, mut body: impl FnMut(Memory, &str, Trace<'_>)) {
    let read = |first: usize, to: &mut [Goldilocks]| {
        to.copy_from_slice(&trace[first..][..to.len()]);
        Ok(())
    };
    for memory in Memory::ALL {
        body(memory, "borrowed", trace.into());
        body(memory, "owned", trace.clone().into());
        body(memory, "in parts", Trace::Parts { len: trace.len(), read: &read });
    }
}

fn files(folder: &Path) -> usize {
    folder.read_dir().expect("a folder").count()
}

#[test]
fn memory_modes_give_the_same_proof() {
    for case in CASES {
        for_each_pool(THREADS, |threads| {
            for_each_goldilocks_level(|level| {
                compare::<3>(&Keccak, case, level, &format!("{threads} threads, {level}"));
            });
        });
        compare::<2>(&Sponge(Poseidon2::<8>), case, Level::best(), "Poseidon2");
    }
}

const FEW_ROWS: Wide = Wide { columns: 5, rows: 1 << 6, power: 2 };

/// The error of proving [`FEW_ROWS`].
fn error(memory: Memory, scratch: Option<&Path>, trace: Trace<'_>, last: Goldilocks) -> Option<StarkError> {
    let (level, parameters) =
        (Level::best(), Parameters { log_blowup: 1, grinding: NO_WORK, ..Parameters::PROVEN_100 });
    let constraints = Constraints::new(&FEW_ROWS).expect("constraints");
    let columns = FEW_ROWS.preprocessed().expect("columns");
    let key = PreprocessedKey::new(level, &Keccak, &parameters, columns).expect("a key");
    let run = Run { memory: Some(memory), scratch, ..level.into() };
    prove::<3>(run, &Keccak, &parameters, &constraints, Some(&key), trace, &[last]).err()
}

#[test]
fn in_every_mode_the_prover_names_what_is_wrong() {
    let mut trace = FEW_ROWS.trace();
    let last = trace[trace.len() - 5];
    trace[5 * 33 + 2] += Goldilocks::ONE;
    in_all_modes_and_places(&trace, |memory, place, trace| {
        let error = error(memory, None, trace, last);
        let expected = matches!(error, Some(StarkError::Unsatisfied { constraint: 2, row: 32 }));
        assert!(expected, "{memory:?}, {place}: {error:?}");
    });
}

#[test]
fn files_that_cannot_be_used_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, missing) = (FEW_ROWS.trace(), folder.path().join("missing"));
    let found = error(Memory::Low, Some(&missing), (&trace).into(), trace[5]).expect("no folder").to_string();
    assert!(found.contains("missing: cannot keep the trace") && found.lines().count() == 1, "{found}");

    // A trace of which the last part cannot be read.
    let read = |first: usize, to: &mut [Goldilocks]| match trace.get(first..first + to.len()) {
        Some(values) if first + to.len() < trace.len() => {
            to.copy_from_slice(values);
            Ok(())
        }
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    };
    for memory in Memory::ALL {
        let trace = Trace::Parts { len: trace.len(), read: &read };
        let found = error(memory, Some(folder.path()), trace, Goldilocks::ONE);
        assert!(matches!(found, Some(StarkError::Trace(_))), "{memory:?}: {found:?}");
        assert_eq!(files(folder.path()), 0, "nothing is left");
    }
}

#[test]
fn rows_are_weighted_and_combined() {
    let element = |i: u64| Goldilocks::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678);
    let extension = |i: u64| Extension::<Goldilocks, 3>([element(i), element(i + 1), element(i + 2)]);
    for (width, rows) in [(1, 1), (3, 300), (5, 512), (40, 257)] {
        let mut words: Vec<u64> = (0..rows * width).map(|i| element(i as u64).to_canonical()).collect();
        words[0] = u64::MAX;
        let factors: Vec<_> = (0..width as u64).map(extension).collect();
        let at = |row: usize, column: usize| Goldilocks::new(words[row * width + column]);
        let weight = |point: usize, row: usize| extension((10_000 * (point + 1) + row) as u64);
        let value = |point: usize, column: usize| {
            let term = |sum, row: usize| sum + weight(point, row).scale(at(row, column));
            (0..rows).fold(Extension::ZERO, term)
        };
        let values = [1, 0].map(|point| (0..width).map(|column| value(point, column)).collect::<Vec<_>>());
        let sum = |row: usize| {
            let term = |sum, column: usize| sum + factors[column].scale(at(row, column));
            (0..width).fold(Extension::ZERO, term)
        };
        let sums: Vec<_> = (0..rows).map(sum).collect();
        for_each_goldilocks_level(|level| {
            let opened = Opened { words: &words, width, points: vec![1, 0] };
            let found =
                weighted_sums(level, &opened, |point, range| range.map(|row| weight(point, row)).collect());
            assert_eq!(found, values, "{level}");
            assert_eq!(combine(level, &words, width, &factors), sums, "{level}");
        });
    }
}
