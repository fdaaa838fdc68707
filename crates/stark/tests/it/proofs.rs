//! Proofs: accepted if honest, refused if anything in them or in the statement is changed. Plonky3 judges the same proofs in
//! `crates/p3/tests/engine.rs`.

use crate::sequence::Sequence;
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::{Keccak, NarrowNodes, Poseidon, Poseidon2, PoseidonBn254Sponge, Sha256, Sponge};
use proofmill_stark::{
    Constraints, DecodeError, Grinding, Parameters, PreprocessedKey, Proof, StarkError, StarkHash,
    VerifyError,
    air::{Air, Preprocessed, Row},
    prove, verify,
};

const PARAMETERS: Parameters = Parameters {
    log_blowup: 1,
    log_arity: 2,
    log_final_length: 1,
    queries: 3,
    cap_height: 1,
    grinding: Grinding { lookups: 0, out_of_domain: 1, batching: 2, commit: 0, query: 3 },
    ..Parameters::PROVEN_100
};

const fn parameters(extension: u32) -> Parameters {
    Parameters { extension, ..PARAMETERS }
}

const ROWS: usize = 8;

struct Case<const D: usize> {
    hash: &'static dyn StarkHash,
    parameters: Parameters,
    constraints: Constraints,
    key: PreprocessedKey,
    trace: Vec<Goldilocks>,
    public_values: Vec<Goldilocks>,
    proof: Proof<D>,
}

impl<const D: usize> Case<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    fn new(hash: &'static dyn StarkHash) -> Self {
        let (air, level, parameters) = (Sequence { rows: ROWS }, Level::best(), parameters(D as u32));
        let constraints = Constraints::new(&air).expect("constraints");
        let columns = air.preprocessed().expect("columns");
        let key = PreprocessedKey::new(level, hash, &parameters, columns).expect("a key");
        let (trace, public_values) = air.trace();
        let proof = prove(level.into(), hash, &parameters, &constraints, Some(&key), &trace, &public_values)
            .expect("a proof");
        Self { hash, parameters, constraints, key, trace, public_values, proof }
    }

    fn check(&self, proof: &Proof<D>) -> Result<(), VerifyError> {
        let Self { hash, parameters, constraints, key, public_values, .. } = self;
        verify(Level::best(), *hash, parameters, constraints, Some(key.commitment()), public_values, proof)
    }
}

fn every_byte_counts<const D: usize>(hash: &'static dyn StarkHash)
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let case = Case::<D>::new(hash);
    let bytes = case.proof.to_bytes(hash);
    assert_eq!(Proof::from_bytes(hash, &bytes).as_ref(), Ok(&case.proof));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        if let Ok(proof) = Proof::from_bytes(hash, &changed) {
            assert!(case.check(&proof).is_err(), "byte {at}");
        }
        assert!(Proof::<D>::from_bytes(hash, &bytes[..at]).is_err(), "{at} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    let trailing = DecodeError::Trailing { at: bytes.len(), found: 1 };
    assert_eq!(Proof::<D>::from_bytes(hash, &longer), Err(trailing));
}

#[test]
fn every_byte_of_a_proof_counts() {
    every_byte_counts::<2>(&Sponge(Poseidon2::<8>));
    every_byte_counts::<3>(&Sponge(Poseidon2::<8>));
    every_byte_counts::<3>(&Sponge(Poseidon2::<12>));
    every_byte_counts::<2>(&Sponge(Poseidon));
    every_byte_counts::<3>(&NarrowNodes);
    every_byte_counts::<3>(&Keccak);
    every_byte_counts::<2>(&Sha256);
    every_byte_counts::<3>(&PoseidonBn254Sponge);
}

/// What the prover may not choose: each was a flaw of some library.
#[test]
fn lists_of_other_lengths_are_refused() {
    let case = Case::new(&Sponge(Poseidon2::<8>));
    type P = Proof<2>;
    let changes: [fn(&mut P); 22] = [
        |proof| proof.log_rows += 1,
        |proof| proof.log_rows -= 1,
        |proof| proof.log_rows = u32::MAX,
        |proof| proof.log_rows = 0,
        |proof| proof.trace.truncate(1),
        |proof| proof.quotient.clear(),
        |proof| proof.opened.trace.truncate(1),
        |proof| proof.opened.next.clear(),
        |proof| proof.opened.next.push(Default::default()),
        |proof| proof.opened.preprocessed.clear(),
        |proof| proof.opened.next_preprocessed.push(Default::default()),
        |proof| proof.opened.quotient.clear(),
        |proof| proof.opened.quotient.push([Default::default(); 2]),
        |proof| proof.opening.final_polynomial.push(Default::default()),
        |proof| proof.opening.final_polynomial.truncate(1),
        |proof| proof.opening.rounds.clear(),
        |proof| {
            let round = proof.opening.rounds[0].clone();
            proof.opening.rounds.push(round);
        },
        |proof| proof.opening.rounds[0].others.truncate(2),
        |proof| proof.opening.rounds[0].siblings.push(Default::default()),
        |proof| proof.opening.rows.truncate(2),
        |proof| proof.opening.rows[0].values.truncate(2),
        |proof| proof.opening.rows[1].siblings.clear(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut proof = case.proof.clone();
        change(&mut proof);
        let verdict = case.check(&proof);
        let malformed = matches!(verdict, Err(VerifyError::Malformed { .. }));
        assert!(malformed, "change {index}: {verdict:?}");
    }
}

#[test]
fn other_statements_are_refused() {
    let case = Case::<2>::new(&Keccak);
    case.check(&case.proof).expect("the statement of the proof");
    let rejected = |parameters: &Parameters,
                    constraints: &Constraints,
                    key: Option<(&[_], u32)>,
                    public_values: &[_]| {
        verify(Level::best(), &Keccak, parameters, constraints, key, public_values, &case.proof)
    };
    let (commitment, log_rows) = case.key.commitment();
    for index in 0..3 {
        let mut public_values = case.public_values.clone();
        public_values[index] += Goldilocks::ONE;
        assert!(
            rejected(&case.parameters, &case.constraints, Some((commitment, log_rows)), &public_values)
                .is_err()
        );
    }
    let other = [commitment[1], commitment[0]];
    assert!(
        rejected(&case.parameters, &case.constraints, Some((&other, log_rows)), &case.public_values).is_err()
    );
    let shorter =
        rejected(&case.parameters, &case.constraints, Some((commitment, log_rows - 1)), &case.public_values);
    assert!(matches!(shorter, Err(VerifyError::Malformed { .. })));
    let statement = rejected(&case.parameters, &case.constraints, None, &case.public_values);
    assert!(matches!(statement, Err(VerifyError::Statement(_))));
    let statement =
        rejected(&case.parameters, &case.constraints, Some((commitment, log_rows)), &case.public_values[1..]);
    assert!(matches!(statement, Err(VerifyError::Statement(_))));

    /// One constraint of the sequence has another constant.
    struct Other;
    impl Air for Other {
        fn columns(&self) -> usize {
            2
        }
        fn public_values(&self) -> usize {
            3
        }
        fn preprocessed(&self) -> Option<Preprocessed> {
            Sequence { rows: ROWS }.preprocessed()
        }
        fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
            vec![vec![Goldilocks::new(3), Goldilocks::new(6)]]
        }
        fn constrain(&self, row: Row) {
            Sequence { rows: ROWS }.constrain(row);
        }
    }
    let constraints = Constraints::new(&Other).expect("constraints");
    let other = rejected(&case.parameters, &constraints, Some((commitment, log_rows)), &case.public_values);
    assert!(matches!(other, Err(VerifyError::Rejected(_))), "{other:?}");
    // Where the transcript is the same, the constraints tell.
    let [same, other] = [&case.constraints, &constraints].map(|air| air.clone().as_in_plonky3());
    let (level, key, trace) = (Level::best(), Some(&case.key), &case.trace);
    let proof: Proof<2> =
        prove(level.into(), &Keccak, &case.parameters, &same, key, trace, &case.public_values)
            .expect("a proof");
    let verdict = |constraints| {
        let key = Some((commitment, log_rows));
        verify(level, &Keccak, &case.parameters, constraints, key, &case.public_values, &proof)
    };
    assert_eq!(verdict(&same), Ok(()));
    assert_eq!(verdict(&other), Err(VerifyError::Rejected("constraints do not hold")));

    let changes: [fn(&mut Parameters); 9] = [
        |parameters| parameters.log_blowup += 1,
        |parameters| parameters.log_arity -= 1,
        |parameters| parameters.log_final_length -= 1,
        |parameters| parameters.queries += 1,
        |parameters| parameters.cap_height -= 1,
        |parameters| parameters.grinding.out_of_domain += 1,
        |parameters| parameters.grinding.batching += 1,
        |parameters| parameters.grinding.commit += 1,
        |parameters| parameters.grinding.query += 1,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut parameters = case.parameters;
        change(&mut parameters);
        let verdict =
            rejected(&parameters, &case.constraints, Some((commitment, log_rows)), &case.public_values);
        assert!(verdict.is_err(), "change {index}");
    }
}

#[test]
fn the_prover_names_what_is_wrong() {
    let case = Case::<2>::new(&Sponge(Poseidon2::<8>));
    let attempt = |parameters: &Parameters, key: Option<&_>, trace: &[_], public_values: &[_]| {
        prove::<2>(Level::best().into(), case.hash, parameters, &case.constraints, key, trace, public_values)
            .expect_err("a refusal")
            .to_string()
    };
    let (key, public_values) = (Some(&case.key), &case.public_values[..]);
    for (at, row, constraint) in [(0, 0, 0), (5, 1, 3), (15, 6, 3)] {
        let mut trace = case.trace.clone();
        trace[at] += Goldilocks::ONE;
        let expected = format!("constraint {constraint} does not hold in row {row}");
        assert_eq!(attempt(&case.parameters, key, &trace, public_values), expected);
    }
    let short = attempt(&case.parameters, key, &case.trace[1..], public_values);
    assert_eq!(
        short,
        "trace: expected rows of 2 values, a power of two of at most 2^31 rows; found 15 values"
    );
    let other = attempt(&case.parameters, key, &case.trace[8..], public_values);
    assert_eq!(other, "preprocessed columns: expected 1 columns of 2^2 rows, found 1 columns of 2^3 rows");
    let missing = attempt(&case.parameters, None, &case.trace, public_values);
    assert_eq!(missing, "preprocessed columns: expected 1 columns of 2^3 rows, found 0 columns of 2^3 rows");
    assert_eq!(attempt(&case.parameters, key, &case.trace, &[]), "expected 3 public values, found 0");
    let long = Parameters { log_final_length: 3, ..case.parameters };
    assert_eq!(
        attempt(&long, key, &case.trace, public_values),
        "a trace of 2^3 rows: the parameters need more than 2^3"
    );
    let air = Sequence { rows: ROWS };
    let other = PreprocessedKey::new(Level::best(), &Keccak, &case.parameters, air.preprocessed().unwrap());
    assert_eq!(
        attempt(&case.parameters, other.as_ref().ok(), &case.trace, public_values),
        "preprocessed columns: expected a commitment with poseidon2-8, found a commitment with keccak"
    );
    let nothing = Parameters { queries: 0, ..case.parameters };
    let expected = "parameters: queries: expected 1 to 65536, found 0";
    assert_eq!(attempt(&nothing, key, &case.trace, public_values), expected);
}

#[test]
fn airs_that_read_what_they_do_not_have_are_refused() {
    struct Reads(fn(Row));
    impl Air for Reads {
        fn columns(&self) -> usize {
            1
        }
        fn constrain(&self, row: Row) {
            (self.0)(row);
        }
    }
    for (read, expected) in [
        (
            (|row| row.column(1).must_vanish()) as fn(Row),
            "AIR: constraints read trace column 1, which does not exist",
        ),
        (
            |row| row.preprocessed(0).must_vanish(),
            "AIR: constraints read preprocessed column 0, which does not exist",
        ),
        (
            |row| row.periodic(0).must_vanish(),
            "AIR: constraints read periodic column 3, which does not exist",
        ),
        (|row| row.public_value(0).must_vanish(), "AIR: constraints read public value 0, of 0"),
    ] {
        let error: StarkError = Constraints::new(&Reads(read)).expect_err("a refusal");
        assert_eq!(error.to_string(), expected);
    }
}
