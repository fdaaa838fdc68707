//! A configuration refuses proofs that prove less than it demands, as prover and as verifier.

use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_merkle::Hash;
use proofmill_stark::{
    Config, Constraints, Parameters, StarkError, Tables, TooWeak, Trace, VerifyError, airs::Fibonacci,
    security::Shape,
};

/// A proof of so many rows, which need not prove anything.
struct Case {
    constraints: Constraints,
    trace: Vec<Goldilocks>,
    public_values: Vec<Goldilocks>,
}

impl Case {
    fn new(log_rows: u32) -> Self {
        let execution = Fibonacci.trace(log_rows, [1, 2].map(Goldilocks::new));
        let constraints = Constraints::new(&Fibonacci).expect("constraints");
        Self { constraints, trace: execution.trace, public_values: execution.public_values }
    }

    fn prove(&self, config: &Config) -> Result<Vec<u8>, StarkError> {
        let Self { constraints, trace, public_values } = self;
        config.prove(Level::best().into(), constraints, None, trace.into(), public_values)
    }

    fn verify(&self, config: &Config, proof: &[u8]) -> Result<(u64, f64), VerifyError> {
        let Self { constraints, public_values, .. } = self;
        let proven = config.verify(Level::best(), constraints, None, public_values, proof)?;
        Ok((proven.rows, proven.bits))
    }
}

/// Nothing is demanded.
fn lenient(config: Config) -> Config {
    Config { bits: 0, least_rows: 1, ..config }
}

#[test]
fn a_proof_of_too_few_bits_is_refused() {
    for (log_rows, bits) in [(0, 46), (1, 54), (2, 58), (3, 91), (4, 96), (5, 98), (6, 100)] {
        let (case, config) = (Case::new(log_rows), Config::default());
        let proof = case.prove(&lenient(config)).expect("a proof");
        let (rows, found) = case.verify(&lenient(config), &proof).expect("a valid proof");
        assert_eq!((rows, found as u32), (1 << log_rows, bits));
        let refused = TooWeak::Bits { expected: 100, found: bits, log_rows, enough: Some(6) };
        let expected =
            if bits < 100 { Err(VerifyError::TooWeak(refused.clone())) } else { Ok((rows, found)) };
        assert_eq!(case.verify(&config, &proof), expected);
        match case.prove(&config) {
            Ok(again) => assert!(bits == 100 && again == proof),
            Err(StarkError::TooWeak(error)) => assert_eq!(error, refused),
            Err(error) => panic!("{error}"),
        }
        // As many as are proven.
        let least = Config { bits, ..config };
        assert_eq!(case.verify(&least, &proof), Ok((rows, found)));
        assert!(case.verify(&Config { bits: bits + 1, ..config }, &proof).is_err());
    }
    let error = Case::new(1).prove(&Config::default()).expect_err("a refusal").to_string();
    let expected = "a trace of 2^1 rows proves 54 bits, and 100 are demanded: pad it to 2^6 rows, take more queries, or demand fewer bits";
    assert_eq!(error, expected);
}

#[test]
fn a_proof_of_too_few_rows_is_refused() {
    let case = Case::new(6);
    let config = |least_rows| Config { least_rows, ..Config::default() };
    let proof = case.prove(&config(64)).expect("a proof");
    assert!(case.verify(&config(64), &proof).is_ok());
    let refused = TooWeak::Rows { expected: 65, found: 6 };
    assert_eq!(case.verify(&config(65), &proof), Err(VerifyError::TooWeak(refused.clone())));
    assert!(matches!(case.prove(&config(65)), Err(StarkError::TooWeak(error)) if error == refused));
    assert_eq!(refused.to_string(), "expected traces of at least 65 rows, found 2^6");
}

#[test]
fn the_shortest_of_several_tables_counts() {
    let level = Level::best();
    for (log_rows, bits) in [([1, 10], 54), ([10, 1], 54), ([10, 5], 98), ([10, 6], 100), ([10, 10], 101)] {
        let cases = log_rows.map(Case::new);
        let tables = Tables::new(cases.each_ref().map(|case| case.constraints.clone()).into());
        let tables = tables.expect("tables");
        let traces = cases.each_ref().map(|case| Trace::from(&case.trace));
        let public_values = cases.each_ref().map(|case| case.public_values.as_slice());
        let prove = |config: &Config| {
            config.prove_tables(level.into(), &tables, vec![None, None], &traces, &public_values)
        };
        let config = Config::default();
        let proof = prove(&lenient(config)).expect("a proof");
        let verify =
            |config: &Config| config.verify_tables(level, &tables, vec![None, None], &public_values, &proof);
        let proven = verify(&lenient(config)).expect("a valid proof");
        assert_eq!(proven.rows, log_rows.map(|log_rows| 1 << log_rows));
        assert_eq!(proven.bits as u32, bits, "{log_rows:?}");
        if bits >= 100 {
            assert_eq!(verify(&config), Ok(proven));
            assert!(prove(&config).is_ok_and(|again| again == proof));
            continue;
        }
        let log_rows = log_rows.into_iter().min().unwrap_or(0);
        let refused = TooWeak::Bits { expected: 100, found: bits, log_rows, enough: Some(6) };
        assert_eq!(verify(&config), Err(VerifyError::TooWeak(refused.clone())));
        assert!(matches!(prove(&config), Err(StarkError::TooWeak(error)) if error == refused));
        let refused = TooWeak::Rows { expected: 1 << 10, found: log_rows };
        let rows = verify(&Config { least_rows: 1 << 10, bits: 0, ..config });
        assert_eq!(rows, Err(VerifyError::TooWeak(refused)));
    }
}

/// Whatever the parameters say, a digest has no more bits than the hash gives it.
#[test]
fn digests_have_the_bits_of_the_hash() {
    let shape = Shape { log_rows: 20, columns: 100, constraints: 100, degree: 3 };
    let bits = |hash, digest_bits| {
        let parameters = Parameters { digest_bits, ..Parameters::PROVEN_128 };
        Config { hash, parameters, ..Config::default() }.security(&shape).expect("a report").bits()
    };
    for (hash, digest_bits, expected) in [
        (Hash::Keccak, 256, 128.0),
        (Hash::Keccak, 1024, 128.0),
        (Hash::Keccak, 200, 100.0),
        (Hash::PoseidonBn254, 256, 126.5),
        (Hash::PoseidonBn254, 200, 100.0),
    ] {
        assert_eq!(bits(hash, digest_bits).min(128.0), expected, "{hash}, {digest_bits} bits");
    }
    let config = Config {
        hash: Hash::PoseidonBn254,
        parameters: Parameters::PROVEN_128,
        bits: 128,
        ..Config::default()
    };
    let error = config.check(&shape).expect_err("a refusal").to_string();
    let expected = "a trace of 2^20 rows proves 126 bits, and 128 are demanded: take parameters that prove more, or demand fewer bits";
    assert_eq!(error, expected);
}

/// The quotient has more chunks than the blowup: no theorem that is used is about it.
#[test]
fn what_no_theorem_is_about_proves_nothing() {
    let shape = Shape { log_rows: 10, columns: 1, constraints: 1, degree: 10 };
    let config = Config::default();
    assert_eq!(lenient(config).check(&shape), Ok(0.0));
    let error = config.check(&shape).expect_err("a refusal").to_string();
    let expected =
        "no security is proven, and some is demanded: degree: expected at most 9 for log_blowup 3, found 10";
    assert_eq!(error, expected);
}
