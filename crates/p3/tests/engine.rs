//! Proofs of our engine, which knows nothing of Plonky3: the same bytes as Plonky3's.

mod airs;
#[allow(dead_code, reason = "other tests use the others")]
mod configurations;

use airs::{Fibonacci, Powers, Preprocessed, RoundConstants};
use configurations::{Parameters, defaults, stock_keccak};
use p3_goldilocks::Goldilocks;
use p3_matrix::Matrix;
use p3_uni_stark::{setup_preprocessed, verify_with_preprocessed};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::{Extension, Goldilocks as Element};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_progress::Progress;
use proofmill_stark::{Constraints, Grinding, PreprocessedKey, Proof, StarkHash, prove, verify};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use serde_json::{Value, json};

const PARAMETERS: [Parameters; 4] = [
    Parameters {
        log_blowup: 1,
        log_final_poly_len: 0,
        max_log_arity: 1,
        cap_height: 0,
        num_queries: 5,
        grinding: 0,
    },
    Parameters {
        log_blowup: 2,
        log_final_poly_len: 2,
        max_log_arity: 3,
        cap_height: 2,
        num_queries: 40,
        grinding: 3,
    },
    Parameters {
        log_blowup: 3,
        log_final_poly_len: 0,
        max_log_arity: 4,
        cap_height: 1,
        num_queries: 5,
        grinding: 1,
    },
    Parameters {
        log_blowup: 1,
        log_final_poly_len: 1,
        max_log_arity: 2,
        cap_height: 3,
        num_queries: 3,
        grinding: 0,
    },
];

/// Under an emulator, one case shows that the levels agree.
const CASES: &[Parameters] =
    if cfg!(target_arch = "aarch64") { PARAMETERS.split_at(1).1.split_at(1).0 } else { &PARAMETERS };
const THREADS: &[usize] = if cfg!(target_arch = "aarch64") { &[2] } else { &[1, 2, 5] };

/// Ours of the same meaning.
fn parameters(parameters: Parameters, extension: u32) -> proofmill_stark::Parameters {
    let bits = parameters.grinding as u32;
    proofmill_stark::Parameters {
        extension,
        log_blowup: parameters.log_blowup as u32,
        log_arity: parameters.max_log_arity as u32,
        log_final_length: parameters.log_final_poly_len as u32,
        queries: parameters.num_queries as u32,
        cap_height: parameters.cap_height as u32,
        grinding: Grinding { out_of_domain: bits, batching: bits, commit: bits, query: bits },
        ..proofmill_stark::Parameters::PROVEN_100
    }
}

fn elements(values: &[Goldilocks]) -> Vec<Element> {
    use p3_field::PrimeField64;
    values.iter().map(|value| Element::new(value.as_canonical_u64())).collect()
}

/// A digest as Plonky3 writes it.
trait DigestWords {
    fn words(&self) -> [u64; 4];
}

impl DigestWords for [u64; 4] {
    fn words(&self) -> [u64; 4] {
        *self
    }
}

impl DigestWords for proofmill_hash::Digest {
    fn words(&self) -> [u64; 4] {
        self.0.map(Element::to_canonical)
    }
}

/// The JSON that Plonky3 writes for such a proof.
fn as_plonky3<H: StarkHash<Digest: DigestWords>, const D: usize>(
    proof: &Proof<H, D>,
    arities: &[usize],
) -> Value {
    let words = |digests: &[H::Digest]| digests.iter().map(|digest| json!(digest.words())).collect::<Value>();
    let cap = |digests: &[H::Digest]| json!({ "cap": words(digests), "_marker": null });
    let base = |value: &Element| json!(value.to_canonical());
    let element = |value: &Extension<Element, D>| json!({ "value": value.0.map(Element::to_canonical).to_vec(), "_phantom": null });
    let all = |values: &[Extension<Element, D>]| values.iter().map(element).collect::<Value>();
    let some = |values: &[Extension<Element, D>]| if values.is_empty() { Value::Null } else { all(values) };
    let (opened, opening) = (&proof.opened, &proof.opening);
    let queries = opening.rounds.first().map_or(0, |round| round.others.len() / (arities[0] - 1));
    let inputs = opening.rows.iter().enumerate().map(|(commitment, rows)| {
        let row = rows.values.len() / queries;
        // The quotient's polynomials are matrices of their own.
        let width = if commitment == 1 { D } else { row };
        let row = |values: &[Element]| {
            values.chunks(width).map(|part| part.iter().map(base).collect::<Value>()).collect::<Value>()
        };
        json!({
            "opened_values": rows.values.chunks(rows.values.len() / queries).map(row).collect::<Value>(),
            "opening_proof": { "sibling_hashes": words(&rows.siblings) },
        })
    });
    let rounds = opening.rounds.iter().zip(arities).map(|(round, arity)| {
        json!({
            "sibling_values": round.others.chunks(arity - 1).map(all).collect::<Value>(),
            "opening_proof": { "sibling_hashes": words(&round.siblings) },
        })
    });
    json!({
        "commitments": { "trace": cap(&proof.trace), "quotient_chunks": cap(&proof.quotient), "random": null },
        "opened_values": {
            "trace_local": all(&opened.trace),
            "trace_next": some(&opened.next),
            "preprocessed_local": some(&opened.preprocessed),
            "preprocessed_next": some(&opened.next_preprocessed),
            "quotient_chunks": opened.quotient.iter().map(|chunk| all(chunk)).collect::<Value>(),
            "random": null,
        },
        "opening_proof": {
            "batch_pow_witness": base(&opening.batching_work),
            "commit_phase_commits": opening.rounds.iter().map(|round| cap(&round.commitment)).collect::<Value>(),
            "commit_pow_witnesses": opening.rounds.iter().map(|round| base(&round.work)).collect::<Value>(),
            "input_openings": inputs.collect::<Value>(),
            "commit_phase_openings": rounds.collect::<Value>(),
            "final_poly": all(&opening.final_polynomial),
            "query_pow_witness": base(&opening.query_work),
        },
        "degree_bits": proof.log_rows,
        "ood_pow_witness": base(&proof.out_of_domain_work),
    })
}

/// Where two values differ first.
fn difference(found: &Value, expected: &Value) -> Option<String> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) if found.keys().eq(expected.keys()) => found
            .iter()
            .find_map(|(key, value)| difference(value, &expected[key]).map(|place| format!("{key} {place}"))),
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            let mut pairs = found.iter().zip(expected).enumerate();
            pairs.find_map(|(i, (found, expected))| {
                difference(found, expected).map(|place| format!("{i} {place}"))
            })
        }
        _ => (found != expected).then(|| format!("is {found}, not {expected}")),
    }
}

/// The arities of all rounds.
fn arities(parameters: Parameters, log_rows: usize) -> Vec<usize> {
    let mut left = log_rows - parameters.log_final_poly_len;
    let mut arities = Vec::new();
    while left > 0 {
        let arity = left.min(parameters.max_log_arity);
        arities.push(1 << arity);
        left -= arity;
    }
    arities
}

/// Compares all fields of both proofs; Plonky3 verifies ours, and we verify it on several threads at every level.
macro_rules! same_proofs {
    ($stock:path, $hash:ty, $degree:literal, $air:expr, $trace:expr, $public:expr) => {
        for case in CASES.iter().copied() {
            use $stock as stock;
            let (air, trace, public): (_, _, Vec<Goldilocks>) = ($air, $trace, $public);
            let log_rows = trace.height().ilog2() as usize;
            if case.log_final_poly_len >= log_rows {
                continue;
            }
            let config = stock::config(case);
            let (key, verifier) = setup_preprocessed(&config, &air, log_rows).expect("a set-up").unzip();
            let expected =
                rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool").install(|| {
                    p3_uni_stark::prove_with_preprocessed(&config, &air, trace.clone(), &public, key.as_ref())
                });
            let expected = serde_json::to_value(&expected.expect("a proof")).expect("JSON");
            let parameters = parameters(case, $degree);
            let constraints: Constraints = proofmill_p3::constraints(&air).expect("constraints");
            let (values, public_values) = (elements(&trace.values), elements(&public));
            for_each_pool(THREADS, |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let key =
                        proofmill_p3::preprocessed_key::<$hash, _>(level, &parameters, &air).expect("a key");
                    let proof: Proof<$hash, $degree> = prove(
                        level,
                        &parameters,
                        &constraints,
                        key.as_ref(),
                        &values,
                        &public_values,
                        Progress::NONE,
                    )
                    .expect("a proof");
                    let json = as_plonky3(&proof, &arities(case, log_rows));
                    let place = difference(&json, &expected);
                    assert!(place.is_none(), "{threads} threads, {level}, {log_rows}: {place:?}");
                    let commitment = key.as_ref().map(PreprocessedKey::commitment);
                    verify(level, &parameters, &constraints, commitment, &public_values, &proof)
                        .expect("valid");
                    if threads == THREADS[0] {
                        let proof = serde_json::from_value(json).expect("a proof of Plonky3");
                        verify_with_preprocessed(&config, &air, &proof, &public, verifier.as_ref())
                            .expect("Plonky3 verifies");
                    }
                });
            });
        }
    };
}

macro_rules! same_proofs_with_all_hashes {
    ($air:expr, $trace:expr, $public:expr) => {
        same_proofs!(defaults::quadratic_8, Sponge<Poseidon2<8>>, 2, $air, $trace, $public);
        same_proofs!(defaults::cubic_8, Sponge<Poseidon2<8>>, 3, $air, $trace, $public);
        same_proofs!(defaults::quadratic_12, Sponge<Poseidon2<12>>, 2, $air, $trace, $public);
        same_proofs!(stock_keccak, Keccak, 2, $air, $trace, $public);
    };
}

#[test]
fn a_fibonacci_sequence() {
    for log_rows in [3, 6] {
        let (trace, public) = Fibonacci::trace(log_rows);
        same_proofs_with_all_hashes!(Fibonacci, trace.clone(), public.to_vec());
    }
}

#[test]
fn a_wide_trace_of_high_degree() {
    let air = Powers { columns: 37, degree: 3 };
    same_proofs_with_all_hashes!(air, air.trace(5), vec![]);
    // A quotient of more polynomials than the extension is times as long as the trace.
    let air = Powers { columns: 3, degree: 7 };
    same_proofs_with_all_hashes!(air, air.trace(5), vec![]);
}

#[test]
fn a_single_row() {
    let air = Powers { columns: 3, degree: 2 };
    same_proofs_with_all_hashes!(air, air.trace(0), vec![]);
}

#[test]
fn periodic_columns() {
    let air = RoundConstants;
    same_proofs_with_all_hashes!(air, air.trace(5), vec![]);
}

#[test]
fn preprocessed_columns() {
    same_proofs_with_all_hashes!(Preprocessed { log_rows: 5 }, Preprocessed::trace(5), vec![]);
}
