//! STARKs.

use crate::{machines, refused};
use proofmill::{
    Error, Machine, Memory,
    merkle::{Hash, Rows},
    stark::{Air, Config, Constraints, Parameters, Preprocessed, Proof, Row, Tables, airs::Workload},
};
use proofmill_field::goldilocks::Goldilocks;

/// `x -> x^2 + c` with preprocessed constants c; the first x is public.
struct Squares;

const ROWS: u64 = 64;
const MODULUS: u64 = 0xffff_ffff_0000_0001;

impl Air for Squares {
    fn columns(&self) -> usize {
        1
    }

    fn public_values(&self) -> usize {
        1
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: (0..ROWS).map(Goldilocks::new).collect() })
    }

    fn constrain(&self, row: Row) {
        let x = row.column(0);
        (row.is_first() * (x - row.public_value(0))).must_vanish();
        (row.is_transition() * (row.next(0) - (x * x + row.preprocessed(0)))).must_vanish();
    }
}

fn trace() -> Vec<u64> {
    let step =
        |x: &u64, c: u64| ((u128::from(*x) * u128::from(*x) + u128::from(c)) % u128::from(MODULUS)) as u64;
    let mut trace = vec![3];
    (0..ROWS - 1).for_each(|c| trace.push(step(&trace[c as usize], c)));
    trace
}

#[test]
fn proofs_are_the_same_at_every_level_and_go_through_files() {
    let folder = tempfile::tempdir().unwrap();
    let [air, file, rows_file] = ["air.json", "proof", "trace"].map(|name| folder.path().join(name));
    let trace = trace();
    std::fs::write(&rows_file, trace.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    let constraints = Constraints::new(&Squares).unwrap();
    constraints.save(&air).unwrap();
    let read = Constraints::open(&air).unwrap();
    assert_eq!(read.to_json(), constraints.to_json());
    assert_eq!((read.columns(), read.public_values(), read.len(), read.shape(64).degree), (1, 1, 2, 2));
    for (hash, extension) in Hash::ALL.into_iter().zip([2, 3, 2, 3, 2, 3, 3]) {
        let parameters = Parameters { extension, queries: 4, ..Parameters::PROVEN_100 };
        let config = Config { hash, parameters, bits: 0, ..Config::default() };
        let prove = || constraints.prove(&config, &Rows::new(&trace, 1).unwrap(), &[3]).unwrap();
        let expected = prove();
        assert_eq!((expected.rows(), expected.hash(), expected.extension()), (ROWS, hash, extension));
        for machine in machines() {
            machine.run(|| {
                assert!(prove().as_bytes() == expected.as_bytes(), "{hash}, {machine:?}");
                expected.verify(&constraints, &config, &[3]).unwrap();
            });
        }
        for rows in [Rows::new(&trace, 1), Rows::open(&rows_file, 1)] {
            let rows = rows.unwrap();
            for memory in [Memory::Fast, Memory::Balanced, Memory::Low] {
                let machine = Machine::builder().memory(memory).scratch(folder.path()).build().unwrap();
                let proof = machine.run(|| constraints.prove(&config, &rows, &[3]).unwrap());
                assert!(proof.as_bytes() == expected.as_bytes(), "{hash}, {memory} memory");
            }
        }
        expected.save(&file).unwrap();
        Proof::open(&file).unwrap().verify(&read, &config, &[3]).unwrap();
        Proof::from_bytes(expected.as_bytes().to_vec()).unwrap().verify(&read, &config, &[3]).unwrap();

        refused(expected.verify(&constraints, &config, &[4]), "rejected", "rejected");
        refused(expected.verify(&constraints, &config, &[]), "mismatch", "expected 1 public values, found 0");
        let other = Config { hash: Hash::ALL[usize::from(hash == Hash::ALL[0])], ..config };
        refused(expected.verify(&constraints, &other, &[3]), "mismatch", hash.name());
        let other =
            Config { parameters: Parameters { extension: 5 - extension, ..config.parameters }, ..config };
        refused(expected.verify(&constraints, &other, &[3]), "mismatch", "extension of degree");
        let other = Config { parameters: Parameters { queries: 5, ..config.parameters }, ..config };
        refused(expected.verify(&constraints, &other, &[3]), "malformed", "malformed proof");
    }
}

#[test]
fn what_cannot_be_proven_or_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::default();
    let constraints = Constraints::new(&Squares).unwrap();
    let prove = |trace: &[u64], columns: usize, public_values: &[u64]| {
        constraints.prove(&config, &Rows::new(trace, columns).unwrap(), public_values)
    };
    let valid = trace();
    let mut wrong = valid.clone();
    wrong[20] ^= 1;
    refused(prove(&wrong, 1, &[3]), "unsatisfied", "constraint 1 does not hold in row 19");
    refused(prove(&valid, 2, &[3]), "mismatch", "expected 1 columns, found 2");
    refused(prove(&valid, 1, &[3, 3]), "mismatch", "expected 1 public values, found 2");
    refused(prove(&valid, 1, &[MODULUS]), "malformed", "public value 0");
    refused(prove(&valid[..32], 1, &[3]), "mismatch", "a trace of 2^5 rows proves 98 bits");
    let lenient = Config { bits: 0, ..config };
    let short = constraints.prove(&lenient, &Rows::new(&valid[..32], 1).unwrap(), &[3]);
    refused(short, "mismatch", "expected 1 columns of 2^5 rows");
    wrong[20] = MODULUS;
    for memory in [Memory::Fast, Memory::Balanced, Memory::Low] {
        let machine = Machine::builder().memory(memory).build().unwrap();
        refused(machine.run(|| prove(&wrong, 1, &[3])), "malformed", "row 20");
    }
    let absent = folder.path().join("absent");
    let machine = Machine::builder().memory(Memory::Low).scratch(&absent).build().unwrap();
    refused(machine.run(|| prove(&valid, 1, &[3])), "io", "absent: cannot keep the trace");
    let parameters = Parameters { extension: 4, ..Parameters::PROVEN_100 };
    let other = Config { parameters, ..config };
    refused(constraints.prove(&other, &Rows::new(&valid, 1).unwrap(), &[3]), "malformed", "extension");

    refused(Constraints::from_json("{}"), "malformed", "missing field");
    refused(Constraints::open(folder.path().join("absent")), "io", "absent");
    refused(Proof::open(folder.path().join("absent")), "io", "absent");
    refused(
        Proof::from_bytes(b"PMSTARX\x03".to_vec()),
        "malformed",
        "expected a STARK proof of a trace, version 3",
    );
    refused(Proof::from_bytes(b"PMSTARK\x02".to_vec()), "malformed", "found version 2: make the proof again");
    let mut bytes = prove(&valid, 1, &[3]).unwrap().as_bytes().to_vec();
    bytes.pop();
    refused(Proof::from_bytes(bytes).unwrap().verify(&constraints, &config, &[3]), "malformed", "more bytes");
    let named = Workload::ALL.map(|workload| workload.name().parse::<Workload>().unwrap());
    assert_eq!(named, Workload::ALL);
}

/// `Wrap` has an example that wraps; here is what is refused.
#[test]
fn what_cannot_be_wrapped_is_said() {
    let constraints = Constraints::new(&Squares).unwrap();
    let parameters = Parameters { queries: 2, ..Parameters::PROVEN_100 };
    let config = Config { hash: Hash::PoseidonBn254, parameters, bits: 0, ..Config::default() };
    let refused = |config: &Config, rows, proofs| constraints.wrap(config, rows, proofs).unwrap_err();
    let keccak = Config { hash: Hash::Keccak, ..config };
    let demanding = Config { bits: 100, ..config };
    for (error, message) in [
        (refused(&keccak, ROWS, 1), "expected the hash poseidon-bn254, found keccak"),
        (refused(&demanding, ROWS, 1), "a trace of 2^6 rows proves 18 bits, and 100 are demanded"),
        (refused(&config, ROWS, 0), "expected 1 inner proofs, found 0"),
        (refused(&config, ROWS / 2, 1), "expected 1 columns of 2^5 rows, found 1 columns of 2^6 rows"),
    ] {
        assert!(matches!(error, Error::Mismatch(_)), "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
    }
    let quadratic = Config { parameters: Parameters { extension: 2, ..parameters }, ..config };
    for (error, message) in [
        (refused(&config, ROWS + 1, 1), "rows: expected a power of two, found 65"),
        (refused(&quadratic, ROWS, 1), "extension: expected 3, found 2"),
    ] {
        assert!(matches!(error, Error::Malformed(_)), "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// Squares without preprocessed columns, so that the number of rows is the prover's.
struct Steps;

impl Air for Steps {
    fn columns(&self) -> usize {
        1
    }

    fn constrain(&self, row: Row) {
        let x = row.column(0);
        (row.is_transition() * (row.next(0) - x * x)).must_vanish();
    }
}

/// A verifier that says how many bits it wants does not take a valid proof of fewer.
#[test]
fn a_proof_of_few_rows_is_not_one_of_100_bits() {
    let (config, constraints) = (Config::default(), Constraints::new(&Steps).unwrap());
    let lenient = Config { bits: 0, ..config };
    for log_rows in [0, 1, 4, 6] {
        let trace = vec![1; 1 << log_rows];
        let rows = || Rows::new(&trace, 1).unwrap();
        let proof = constraints.prove(&lenient, &rows(), &[]).unwrap();
        let proven = proof.verify(&constraints, &lenient, &[]).unwrap();
        assert_eq!(proven.rows, 1 << log_rows);
        if log_rows == 6 {
            assert!(proven.bits >= 100.0);
            assert_eq!(proof.verify(&constraints, &config, &[]).unwrap(), proven);
            let more = Config { least_rows: 65, ..config };
            refused(proof.verify(&constraints, &more, &[]), "rejected", "at least 65 rows, found 2^6");
            continue;
        }
        assert!(proven.bits < 100.0);
        let words =
            format!("a trace of 2^{log_rows} rows proves {} bits, and 100 are demanded", proven.bits as u32);
        refused(proof.verify(&constraints, &config, &[]), "rejected", &words);
        refused(constraints.prove(&config, &rows(), &[]), "mismatch", &words);

        let tables = Tables::new(&[&Steps, &Steps]).unwrap();
        let tall = vec![1; 1 << 8];
        let traces = || [rows(), Rows::new(&tall, 1).unwrap()];
        if let Ok(proof) = tables.prove(&lenient, &traces(), &[&[], &[]]) {
            let proven = proof.verify(&tables, &lenient, &[&[], &[]]).unwrap();
            assert_eq!(proven.rows, [1 << log_rows, 1 << 8]);
            refused(proof.verify(&tables, &config, &[&[], &[]]), "rejected", "and 100 are demanded");
        } else {
            assert_eq!(log_rows, 0, "a table of one row has fewer values than the commitment digests");
        }
        refused(tables.prove(&config, &traces(), &[&[], &[]]), "mismatch", "and 100 are demanded");
    }
}
