//! Blinded proofs: accepted from every memory mode, refused if anything in them is changed, and no two of one trace are alike. Plonky3
//! judges them in `crates/p3/tests/blinded_proofs.rs`.

use crate::sequence::Sequence;
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_stark::{
    Constraints, Grinding, Memory, Parameters, PreprocessedKey, Proof, Run, StarkHash, Trace, VerifyError,
    air::Air, prove, verify,
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use std::collections::HashSet;

const PARAMETERS: Parameters = Parameters {
    log_blowup: 1,
    log_arity: 2,
    log_final_length: 1,
    queries: 3,
    cap_height: 1,
    grinding: Grinding { lookups: 0, out_of_domain: 1, batching: 2, commit: 0, query: 3 },
    ..Parameters::PROVEN_100
};

/// As many as the parameters need with the cubic extension.
const ROWS: usize = 32;

/// An emulator is slow.
const THREADS: &[usize] = if cfg!(target_arch = "aarch64") { &[2] } else { &[1, 2, 5] };

struct Case<const D: usize> {
    parameters: Parameters,
    air: Sequence,
    constraints: Constraints,
    trace: Vec<Goldilocks>,
    public_values: Vec<Goldilocks>,
}

impl<const D: usize> Case<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// Of the quadratic extension with Keccak, of the cubic one with Poseidon2.
    const HASH: &'static dyn StarkHash = if D == 2 { &Keccak } else { &Sponge(Poseidon2::<8>) };

    fn new(rows: usize) -> Self {
        let parameters = Parameters { extension: D as u32, ..PARAMETERS }.blinded();
        let air = Sequence { rows };
        let constraints = Constraints::new(&air).expect("constraints");
        let (trace, public_values) = air.trace();
        Self { parameters, air, constraints, trace, public_values }
    }

    fn key(&self, level: Level) -> PreprocessedKey {
        let columns = self.air.preprocessed().expect("columns");
        PreprocessedKey::new(level, Self::HASH, &self.parameters, columns).expect("a key")
    }

    fn prove(&self, run: Run<'_>, trace: Trace<'_>) -> Result<Proof<D>, String> {
        let Self { parameters, constraints, public_values, .. } = self;
        let key = self.key(run.level);
        prove(run, Self::HASH, parameters, constraints, Some(&key), trace, public_values)
            .map_err(|error| error.to_string())
    }

    fn proof(&self) -> Proof<D> {
        self.prove(Level::best().into(), (&self.trace).into()).expect("a proof")
    }

    fn verify(&self, level: Level, parameters: &Parameters, proof: &Proof<D>) -> Result<(), VerifyError> {
        let key = self.key(level);
        let Self { constraints, public_values, .. } = self;
        verify(level, Self::HASH, parameters, constraints, Some(key.commitment()), public_values, proof)
    }
}

macro_rules! in_every_mode {
    ($degree:literal) => {
        for rows in [ROWS, 1 << 9] {
            let case = Case::<$degree>::new(rows);
            let read = |first: usize, to: &mut [Goldilocks]| {
                to.copy_from_slice(&case.trace[first..][..to.len()]);
                Ok(())
            };
            for_each_pool(THREADS, |threads| {
                for_each_goldilocks_level(|level| {
                    for memory in Memory::ALL {
                        let traces = [
                            Trace::from(&case.trace),
                            case.trace.clone().into(),
                            Trace::Parts { len: case.trace.len(), read: &read },
                        ];
                        for trace in traces {
                            let proof = case.prove(Run { memory: Some(memory), ..level.into() }, trace);
                            let place = format!("{rows} rows, {memory:?}, {threads} threads, {level}");
                            let verdict =
                                case.verify(Level::available()[0], &case.parameters, &proof.expect(&place));
                            assert_eq!(verdict, Ok(()), "{place}");
                        }
                    }
                });
            });
        }
    };
}

#[test]
fn every_memory_mode_makes_valid_proofs() {
    in_every_mode!(2);
    in_every_mode!(3);
}

#[test]
fn the_prover_names_what_is_wrong() {
    let mut case = Case::<2>::new(ROWS);
    case.trace[5] += Goldilocks::ONE;
    for memory in Memory::ALL {
        for trace in [Trace::from(&case.trace), case.trace.clone().into()] {
            let error = case.prove(Run { memory: Some(memory), ..Level::best().into() }, trace);
            assert_eq!(error.err().as_deref(), Some("constraint 3 does not hold in row 1"), "{memory:?}");
        }
    }

    // Twice as many rows as queries, and values over the extension at two points.
    for rows in [16, 8] {
        let mut case = Case::<2>::new(rows);
        for queries in 1..=4 {
            case.parameters.queries = queries;
            let error = case.prove(Level::best().into(), (&case.trace).into()).err();
            let log_rows = rows.ilog2();
            let expected =
                format!("a trace of 2^{log_rows} rows: the parameters need more than 2^{log_rows}");
            let too_few = 2 * (queries as usize + 4) > rows;
            assert_eq!(error.is_some(), too_few, "{queries} queries");
            assert!(error.is_none_or(|error| rows < 16 || error == expected), "{queries} queries");
        }
    }
    let mut case = Case::<2>::new(ROWS);
    case.parameters.random_columns = 1;
    let error = PreprocessedKey::new(
        Level::best(),
        &Keccak,
        &case.parameters,
        case.air.preprocessed().expect("columns"),
    );
    let expected = "parameters: random_columns: expected 2 to 1024, found 1";
    assert_eq!(error.err().expect("a refusal").to_string(), expected);
}

fn every_byte_counts<const D: usize>()
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// A multiple of no size in the format.
    const STEP: usize = 7;
    let (case, hash) = (Case::<D>::new(ROWS), Case::<D>::HASH);
    let proof = case.proof();
    let bytes = proof.to_bytes(hash);
    assert_eq!(Proof::from_bytes(hash, &bytes).as_ref(), Ok(&proof));
    for at in (0..bytes.len()).step_by(STEP) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        if let Ok(proof) = Proof::from_bytes(hash, &changed) {
            assert!(case.verify(Level::best(), &case.parameters, &proof).is_err(), "byte {at}");
        }
        assert!(Proof::<D>::from_bytes(hash, &bytes[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn every_byte_of_a_proof_counts() {
    every_byte_counts::<2>();
    every_byte_counts::<3>();
}

#[test]
fn lists_of_other_lengths_are_refused() {
    type P = Proof<2>;
    let case = Case::<2>::new(ROWS);
    let proof = case.proof();
    let changes: [fn(&mut P); 13] = [
        |proof| proof.random.truncate(1),
        |proof| proof.random.push(Default::default()),
        |proof| proof.opened.random.clear(),
        |proof| proof.opened.random.truncate(2),
        |proof| proof.opened.beside_quotient.clear(),
        |proof| {
            proof.opened.beside_quotient.pop();
        },
        |proof| {
            proof.opened.trace.pop();
        },
        |proof| proof.opened.next.truncate(2),
        |proof| proof.opened.preprocessed.push(Default::default()),
        |proof| proof.opening.rounds[0].salts.clear(),
        |proof| {
            proof.opening.rounds[0].salts.pop();
        },
        |proof| {
            proof.opening.rows.remove(0);
        },
        |proof| {
            proof.opening.rows[1].values.pop();
        },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut changed = proof.clone();
        change(&mut changed);
        let verdict = case.verify(Level::best(), &case.parameters, &changed);
        assert!(matches!(verdict, Err(VerifyError::Malformed { .. })), "change {index}: {verdict:?}");
    }
}

#[test]
fn parameters_of_the_verifier_say_whether_there_is_blinding() {
    let blinded = Case::<2>::new(ROWS);
    let proof = blinded.proof();
    let mut plain = Case::<2>::new(ROWS);
    plain.parameters.random_columns = 0;
    let expected =
        "rejected: a proof that is blinded where the parameters say that it is not, or the opposite";
    for (case, proof) in [(&plain, &proof), (&blinded, &plain.proof())] {
        let error = case.verify(Level::best(), &case.parameters, proof).expect_err("a refusal");
        assert_eq!(error.to_string(), expected);
    }
    let more = Parameters { random_columns: 3, ..blinded.parameters };
    assert!(blinded.verify(Level::best(), &more, &proof).is_err());
}

/// All words of a proof that depend on the trace, but for digests.
fn words(proof: &Proof<2>) -> Vec<u64> {
    let opened = &proof.opened;
    let values = [&opened.trace, &opened.next, &opened.beside_quotient, &opened.random];
    let values = values.into_iter().flatten().chain(opened.quotient.as_flattened());
    let values = values.chain(&proof.opening.final_polynomial);
    let values = values.chain(proof.opening.rounds.iter().flat_map(|round| &round.others));
    let words = values.flat_map(|value| value.0);
    // The last rows are of preprocessed columns, whose salts are zeros.
    let rows = proof.opening.rows[..3].iter().flat_map(|rows| rows.values.iter().copied());
    let salts = proof.opening.rounds.iter().flat_map(|round| round.salts.iter().copied());
    words.chain(rows).chain(salts).map(Goldilocks::to_canonical).collect()
}

#[test]
fn no_word_of_two_proofs_is_the_same() {
    let case = Case::<2>::new(ROWS);
    let proofs = [case.proof(), case.proof()];
    let [first, second] = proofs.each_ref().map(|proof| words(proof).into_iter().collect::<HashSet<_>>());
    assert!(first.len() > 100 && first.is_disjoint(&second));
    let digests = proofs.each_ref().map(|proof| {
        let rounds = proof.opening.rounds.iter().flat_map(|round| round.commitment.iter().copied());
        let caps = [&proof.trace, &proof.quotient, &proof.random].into_iter().flatten().copied();
        caps.chain(rounds).collect::<HashSet<_>>()
    });
    assert!(digests[0].is_disjoint(&digests[1]));
    // The key is public.
    assert_eq!(case.key(Level::best()).commitment(), case.key(Level::available()[0]).commitment());
}
