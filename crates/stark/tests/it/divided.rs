//! A trace whose extension other processes have gives the same proof.

use crate::wide::{NO_WORK, Wide};
use proofmill_cpu::Level;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_merkle::Hash;
use proofmill_stark::{
    Config, Constraints, Cosets, Parameters, Question, StarkError, Trace,
    air::{Air, Preprocessed},
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use std::sync::{Arc, Mutex};

/// A statement.
struct Case {
    constraints: Constraints,
    preprocessed: Preprocessed,
    trace: Vec<Goldilocks>,
    public: [Goldilocks; 1],
}

impl Case {
    fn new(columns: usize, log_rows: u32, power: u32) -> Self {
        let air = Wide { columns, rows: 1 << log_rows, power };
        let trace = air.trace();
        Self {
            constraints: Constraints::new(&air).expect("constraints"),
            preprocessed: air.preprocessed().expect("columns"),
            public: [trace[trace.len() - columns]],
            trace,
        }
    }

    fn cosets(&self, level: Level, config: &Config) -> Result<Cosets, StarkError> {
        let (trace, preprocessed) = (Trace::from(&self.trace), Some(&self.preprocessed));
        Cosets::new(level, config, &self.constraints, preprocessed, trace, &self.public)
    }

    /// Proves with a trace that is read from `trace`, and answers that are changed by `change`, given the number of the round.
    fn prove(
        &self,
        level: Level,
        config: &Config,
        trace: &[Goldilocks],
        change: impl Fn(usize, &mut Vec<Vec<u8>>) + Send + Sync + 'static,
    ) -> Result<Vec<u8>, StarkError> {
        // Two processes, of which each has each coset: whatever is asked twice is answered by both.
        let both = [self.cosets(level, config)?, self.cosets(level, config)?];
        let state = Mutex::new((both, 0));
        let ask = Arc::new(move |questions: &[Question]| {
            let (cosets, round) = &mut *state.lock().expect("no panic");
            let answer = |question: &Question| {
                let one = &mut cosets[(question.coset + *round) % 2];
                one.answer(level, question)
            };
            let mut answers = questions.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
            change(*round, &mut answers);
            *round += 1;
            Ok(answers)
        });
        let read = |first: usize, to: &mut [Goldilocks]| {
            to.copy_from_slice(&trace[first..][..to.len()]);
            Ok(())
        };
        let trace = Trace::Divided { len: trace.len(), read: &read, ask };
        config.prove(level.into(), &self.constraints, Some(&self.preprocessed), trace, &self.public)
    }
}

fn config(hash: Hash, extension: u32, log_blowup: u32, cap_height: u32) -> Config {
    let parameters = Parameters {
        extension,
        log_blowup,
        cap_height,
        log_arity: 2,
        log_final_length: 0,
        queries: 20,
        grinding: NO_WORK,
        ..Parameters::PROVEN_100
    };
    Config { hash, parameters, bits: 0, least_rows: 1 }
}

/// An emulator is slow.
const THREADS: &[usize] = if cfg!(target_arch = "aarch64") { &[2] } else { &[1, 2, 5] };

/// Columns, logarithm of rows, power in constraints, logarithms of the blowup and of the digests of a commitment: a cap of fewer digests than
/// there are cosets, of as many and of more; as many cosets of the quotient as of the extension, and fewer; combinations that are extended.
const CASES: [(usize, u32, u32, u32, u32); 6] =
    [(2, 1, 2, 2, 0), (3, 3, 1, 2, 1), (17, 5, 1, 3, 3), (5, 4, 3, 2, 4), (70, 6, 2, 2, 5), (1, 7, 2, 3, 0)];

#[test]
fn a_divided_trace_gives_the_same_proof() {
    for (columns, log_rows, power, log_blowup, cap_height) in CASES {
        let case = Case::new(columns, log_rows, power);
        let compare = |level: Level, hash: Hash, extension: u32| {
            let config = config(hash, extension, log_blowup, cap_height);
            let (trace, fixed) = (Trace::from(&case.trace), Some(&case.preprocessed));
            let expected =
                config.prove(level.into(), &case.constraints, fixed, trace, &case.public).expect("a proof");
            let found = case.prove(level, &config, &case.trace, |_, _| {});
            let name = format!("{columns} columns, 2^{log_rows} rows, {hash}, {level}");
            assert!(found.unwrap_or_else(|error| panic!("{name}: {error}")) == expected, "{name}");
        };
        for_each_pool(THREADS, |_| for_each_goldilocks_level(|level| compare(level, Hash::Keccak, 3)));
        for hash in Hash::ALL {
            compare(Level::best(), hash, 2);
        }
    }
}

/// What is done to the answers of a round.
type Change = fn(usize, &mut Vec<Vec<u8>>);

#[test]
fn wrong_answers_are_no_proof() {
    let (case, level, config) = (Case::new(5, 4, 3), Level::best(), config(Hash::Keccak, 3, 2, 1));
    let prove = |change: Change| case.prove(level, &config, &case.trace, change);
    prove(|round, answers| assert!(round < 5 && !answers.is_empty())).expect("a proof, of five rounds");
    // The lowest byte of a value, of each kind of answer.
    let changes: [Change; 8] = [
        |round, answers| answers[0][4] ^= u8::from(round == 0),
        |round, answers| answers.last_mut().expect("one")[4] ^= u8::from(round == 1),
        |round, answers| answers[0][8] ^= u8::from(round == 2),
        |round, answers| answers[0][4] ^= u8::from(round == 3),
        |round, answers| answers[0][4] ^= u8::from(round == 4),
        |round, answers| answers[0].truncate(if round == 1 { 3 } else { usize::MAX }),
        |round, answers| answers.truncate(if round == 4 { 1 } else { usize::MAX }),
        |round, answers| answers[0][3] |= u8::from(round == 2) << 7,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let error = prove(change).expect_err(&format!("change {index}"));
        assert!(matches!(error, StarkError::Answer(_)), "change {index}: {error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
}

#[test]
fn a_wrong_trace_is_named() {
    let (mut case, level, config) = (Case::new(5, 4, 3), Level::best(), config(Hash::Keccak, 3, 2, 1));
    case.trace[5 * 9 + 2] += Goldilocks::ONE;
    let error = case.prove(level, &config, &case.trace, |_, _| {}).expect_err("a wrong trace");
    assert!(matches!(error, StarkError::Unsatisfied { constraint: 2, row: 8 }), "{error}");
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let (case, level) = (Case::new(5, 7, 3), Level::best());
    let config = config(Hash::Keccak, 3, 1, 1);
    let blinded =
        Config { parameters: Parameters { log_blowup: 3, random_columns: 3, ..config.parameters }, ..config };
    for config in [config, blinded] {
        let error = case.cosets(level, &config).err();
        assert!(matches!(error, Some(StarkError::Indivisible(_))), "{error:?}");
        let ask = Arc::new(|_: &[Question]| Err("nobody is asked".into()));
        let read = |_: usize, _: &mut [Goldilocks]| Ok(());
        let trace = Trace::Divided { len: case.trace.len(), read: &read, ask };
        let proof =
            config.prove(level.into(), &case.constraints, Some(&case.preprocessed), trace, &case.public);
        assert!(matches!(proof, Err(StarkError::Indivisible(_))));
    }
}

#[test]
fn what_is_no_question_is_refused() {
    let (case, level, config) = (Case::new(5, 4, 3), Level::best(), config(Hash::Keccak, 3, 2, 1));
    let mut cosets = case.cosets(level, &config).expect("cosets");
    assert_eq!(cosets.count(), 4);
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let factors = |count: u32| [words(&[count]), vec![0; 24 * count as usize]].concat();
    let bytes = [
        vec![],
        words(&[9]),
        words(&[0]),
        words(&[0, 5]),
        words(&[0, u32::MAX]),
        words(&[0, 1, 0]),
        [words(&[1]), factors(2)].concat(),
        words(&[1, u32::MAX]),
        [words(&[2]), factors(1), words(&[1, 1])].concat(),
        // The shift is in the coset.
        [words(&[2, 1, 7]), vec![0; 20], words(&[1, 0])].concat(),
        [words(&[3]), factors(4)].concat(),
        words(&[4, 1, 16, 0]),
        words(&[4, 0, 1, 5, 0]),
        words(&[4, 0, 1, 1, 8]),
    ];
    for bytes in bytes {
        let question = Question { coset: 0, bytes };
        let error = cosets.answer(level, &question).expect_err("no question");
        assert!(matches!(error, StarkError::Question(0)), "{question:?}: {error}");
    }
    let commit = words(&[0, 4]);
    assert!(cosets.answer(level, &Question { coset: 3, bytes: commit.clone() }).is_ok());
    assert!(cosets.answer(level, &Question { coset: 4, bytes: commit }).is_err());
    // The quotient has two cosets, and only the first one is evaluated.
    let quotient = [words(&[1]), factors(case.constraints.len() as u32)].concat();
    assert!(cosets.answer(level, &Question { coset: 1, bytes: quotient.clone() }).is_ok());
    let combine = [words(&[3]), factors(5)].concat();
    assert!(cosets.answer(level, &Question { coset: 1, bytes: combine }).is_err());
}
