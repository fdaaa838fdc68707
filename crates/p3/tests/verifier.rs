//! Our verifier against Plonky3's on changed proofs: the same verdicts, and no panic. Plonky3's may panic, which is a refusal.

mod airs;
#[allow(dead_code, reason = "other tests use the others")]
mod configurations;

use airs::{Fibonacci, Powers, Preprocessed, Products, RoundConstants};
use configurations::{
    PARAMETERS, Parameters,
    defaults::{cubic_8, quadratic_8, quadratic_12},
    stock_keccak,
};
use p3_air::{Air, symbolic::SymbolicAirBuilder};
use p3_challenger::GrindingChallenger;
use p3_commit::PolynomialSpace;
use p3_field::{PrimeCharacteristicRing, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{
    Domain, PreprocessedOpenedValues, Proof, QuotientAir, StarkGenericConfig, VerifierConstraintFolder,
    setup_preprocessed, verify_with_preprocessed,
};
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks as Element};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::{Configuration, prove_with_preprocessed};
use proofmill_stark::StarkHash;
use proofmill_testing::for_each_pool;
use rand::{RngExt, SeedableRng, rngs::SmallRng, seq::SliceRandom};
use serde_json::{Value, json};
use std::{
    cell::Cell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

/// As many changes of one kind are tried in places of one kind.
const SAMPLES: usize = 6;
/// As many pairs of changes are tried in addition.
const PAIRS: usize = 100 * SAMPLES;
const MODULUS: u64 = Goldilocks::ORDER_U64;

thread_local! {
    /// Whether panics on this thread are expected.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result, or `None` if it panics, which is not printed.
fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run)).ok();
    QUIET.set(false);
    result
}

/// A change of a proof: where, what, and the values that replace others.
struct Change {
    pointer: String,
    what: &'static str,
    replaced: Vec<(String, Value)>,
}

impl Change {
    /// The kind of change and of place: without indices.
    fn kind(&self) -> String {
        let is_index = |part: &&str| part.parse::<usize>().is_err();
        let place: Vec<_> = self.pointer.split('/').filter(is_index).collect();
        format!("{} {}", place.join("/"), self.what)
    }

    /// Changes a proof, where it still has this place after other changes.
    fn apply(&self, proof: &mut Value) {
        for (pointer, value) in &self.replaced {
            if let Some(place) = proof.pointer_mut(pointer) {
                *place = value.clone();
            }
        }
    }
}

/// All changes of a value and of what is in it.
fn changes(proof: &Value, pointer: &str, rng: &mut SmallRng, all: &mut Vec<Change>) {
    let value = proof.pointer(pointer).expect("a place in the proof");
    let mut replace = |what, value| {
        let replaced = vec![(pointer.to_owned(), value)];
        all.push(Change { pointer: pointer.to_owned(), what, replaced });
    };
    match value {
        Value::Number(number) => {
            let number = number.as_u64().expect("an unsigned integer");
            replace("zero", json!(0));
            replace("one more", json!(number.wrapping_add(1)));
            replace("one less", json!(number.wrapping_sub(1)));
            replace("random", json!(rng.random::<u64>() % MODULUS));
            replace("the modulus", json!(MODULUS));
            replace("not canonical", json!(number.saturating_add(MODULUS)));
            if pointer == "/degree_bits" {
                for bits in (0..70_u64).chain([1 << 32, 1 << 63]) {
                    replace("bits", json!(bits));
                }
            }
        }
        Value::Array(values) => {
            replace("empty", json!([]));
            replace("null", Value::Null);
            if let Some((last, others)) = values.split_last() {
                replace("without the last", json!(others));
                replace("without the first", json!(values[1..]));
                replace("one more", json!([others, &[last.clone(), last.clone()]].concat()));
                replace("twice", json!([values.clone(), values.clone()].concat()));
                replace("reversed", json!(values.iter().rev().collect::<Vec<_>>()));
                let mut swapped = values.clone();
                let other = rng.random_range(0..values.len());
                swapped.swap(values.len() - 1, other);
                replace("swapped", json!(swapped));
                let mut repeated = values.clone();
                repeated[0] = last.clone();
                replace("repeated", json!(repeated));
            }
            // The same values in other lists.
            if let [Value::Array(first), .., Value::Array(last)] = values.as_slice()
                && let Some((moved, rest)) = last.split_last()
            {
                let mut lists = values.clone();
                lists[0] = json!([first.clone(), vec![moved.clone()]].concat());
                lists[values.len() - 1] = json!(rest);
                replace("moved to the first list", json!(lists));
            }
            if let [others @ .., Value::Array(first), Value::Array(second)] = values.as_slice() {
                let lists = |first: &[Value], second: &[Value]| {
                    json!([others, &[json!(first), json!(second)]].concat())
                };
                let (merged, length) = ([first.as_slice(), second].concat(), first.len());
                replace("merged into the first list", lists(&merged, &[]));
                replace("merged into the second list", lists(&[], &merged));
                for length in [length + 1, length.wrapping_sub(1)] {
                    if let Some((first, second)) = merged.split_at_checked(length) {
                        replace("moved between lists", lists(first, second));
                    }
                }
            }
            // What a list could have.
            for value in [json!(1), json!([1, 2, 3, 4]), json!([])] {
                replace("one more of another kind", json!([values.clone(), vec![value]].concat()));
            }
            for index in 0..values.len() {
                changes(proof, &format!("{pointer}/{index}"), rng, all);
            }
        }
        Value::Object(values) => {
            replace("null", Value::Null);
            let mut entries = values.iter().peekable();
            while let (Some((key, value)), Some((next, following))) = (entries.next(), entries.peek()) {
                let place = |key| format!("{pointer}/{key}");
                let replaced = vec![(place(key), (*following).clone()), (place(*next), value.clone())];
                all.push(Change { pointer: place(key), what: "exchanged", replaced });
            }
            for key in values.keys() {
                changes(proof, &format!("{pointer}/{key}"), rng, all);
            }
        }
        // Options.
        Value::Null => {
            replace("an empty list", json!([]));
            for other in ["/commitments/trace", "/opened_values/trace_local", "/opened_values/trace_next"] {
                replace("another's value", proof.pointer(other).expect("a place in the proof").clone());
            }
        }
        Value::Bool(_) | Value::String(_) => unreachable!("not in a proof"),
    }
}

/// The same change in all lists that must be of one length: queries, rounds, and polynomials of the quotient.
fn consistent_changes(proof: &Value) -> Vec<Change> {
    let count = |pointer: &str| proof.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    let (inputs, rounds) = ("/opening_proof/input_openings", "/opening_proof/commit_phase_openings");
    let mut queries: Vec<_> =
        (0..count(inputs)).map(|index| format!("{inputs}/{index}/opened_values")).collect();
    queries.extend((0..count(rounds)).map(|index| format!("{rounds}/{index}/sibling_values")));
    let of_round = ["commit_phase_commits", "commit_pow_witnesses", "commit_phase_openings"];
    let of_round: Vec<_> = of_round.iter().map(|key| format!("/opening_proof/{key}")).collect();
    let mut chunks = vec!["/opened_values/quotient_chunks".to_owned()];
    chunks.extend((0..count(&queries[1])).map(|query| format!("{}/{query}", queries[1])));
    let mut columns = vec!["/opened_values/trace_local".to_owned(), "/opened_values/trace_next".to_owned()];
    columns.extend((0..count(&queries[0])).map(|query| format!("{}/{query}/0", queries[0])));

    let log_rows = proof["degree_bits"].as_u64().expect("an integer");
    let mut all = Vec::new();
    for lists in [queries, of_round, chunks, columns] {
        let changed = |change: &dyn Fn(&mut Vec<Value>)| {
            let mut replaced = Vec::new();
            for pointer in &lists {
                if let Some(list) = proof.pointer(pointer).and_then(Value::as_array) {
                    let mut list = list.clone();
                    change(&mut list);
                    replaced.push((pointer.clone(), json!(list)));
                }
            }
            replaced
        };
        for (what, replaced) in [
            ("shorter everywhere", changed(&|list| drop(list.pop()))),
            ("longer everywhere", changed(&|list| list.extend(list.last().cloned()))),
            ("empty everywhere", changed(&|list| list.clear())),
            ("reversed everywhere", changed(&|list| list.reverse())),
        ] {
            for log_rows in log_rows.saturating_sub(4)..log_rows + 5 {
                let mut replaced = replaced.clone();
                replaced.push(("/degree_bits".to_owned(), json!(log_rows)));
                all.push(Change { pointer: lists[0].clone(), what, replaced });
            }
        }
    }
    all
}

/// The verdicts of Plonky3's verifier and of ours; `None` for a panic.
type Verdicts = [Option<bool>; 2];

const ACCEPTED: Verdicts = [Some(true); 2];

/// What became of changed proofs.
#[derive(Debug, Default)]
struct Tally {
    /// Those that Plonky3's decoder takes.
    tried: usize,
    /// Those that it refuses.
    undecodable: usize,
    /// Those for which Plonky3's verifier panics, by kind.
    panics: BTreeMap<String, usize>,
    /// Those that both accept.
    accepted: usize,
}

impl Tally {
    fn count(&mut self, kind: &str, [theirs, ours]: Verdicts) {
        assert!(ours.is_some(), "our verifier panics: {kind}");
        assert_eq!(ours, Some(theirs == Some(true)), "our verdict, and Plonky3's: {kind}");
        self.tried += 1;
        self.accepted += usize::from(ours == Some(true));
        if theirs.is_none() {
            *self.panics.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// Tries changes of each kind in places of each kind.
    fn sample(&mut self, proof: &Value, seed: u64, verdicts: impl Fn(&Value) -> Option<Verdicts>) {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut all = Vec::new();
        changes(proof, "", &mut rng, &mut all);
        all.shuffle(&mut rng);
        let pairs = (0..PAIRS).map(|_| [0, 1].map(|_| &all[rng.random_range(0..all.len())]).to_vec());
        let pairs: Vec<_> = pairs.collect();
        let mut counts = BTreeMap::<String, usize>::new();
        let single = all.iter().filter(|change| {
            let count = counts.entry(change.kind()).or_default();
            *count += 1;
            *count <= SAMPLES || change.pointer == "/degree_bits"
        });
        let consistent = consistent_changes(proof);
        for changes in consistent.iter().chain(single).map(|change| vec![change]).chain(pairs) {
            let mut changed = proof.clone();
            changes.iter().for_each(|change| change.apply(&mut changed));
            if changed == *proof {
                continue;
            }
            match verdicts(&changed) {
                Some(verdicts) => {
                    let kinds: Vec<_> = changes.iter().map(|change| change.kind()).collect();
                    self.count(&kinds.join(", "), verdicts);
                }
                None => self.undecodable += 1,
            }
        }
    }
}

/// Changes that no encoding of a proof has, but a proof in memory.
fn in_memory<SC: StarkGenericConfig<Challenge: Copy>>(
    proof: impl Fn() -> Proof<SC>,
) -> Vec<(&'static str, Proof<SC>)> {
    let changed = |change: &dyn Fn(&mut Proof<SC>)| {
        let mut proof = proof();
        change(&mut proof);
        proof
    };
    let preprocessed = |local: usize, next: Option<usize>| {
        changed(&|proof| {
            let opened = &mut proof.opened_values;
            let values = opened.trace_local.iter().cycle();
            let local = values.clone().take(local).copied().collect();
            let next = next.map(|length| values.take(length).copied().collect());
            opened.preprocessed = Some(PreprocessedOpenedValues { local, next });
        })
    };
    let empty = changed(&|proof| {
        if let Some(opened) = &mut proof.opened_values.preprocessed {
            opened.next = Some(vec![]);
        }
    });
    vec![
        ("an empty list for the next row's preprocessed columns", empty),
        ("no preprocessed columns, opened", preprocessed(0, None)),
        ("no preprocessed columns, opened in both rows", preprocessed(0, Some(0))),
        ("preprocessed columns of the next row only", preprocessed(0, Some(1))),
        ("preprocessed columns of this row only", preprocessed(1, None)),
        ("no preprocessed columns of the next row", preprocessed(1, Some(0))),
        ("more preprocessed columns of the next row", preprocessed(1, Some(2))),
    ]
}

/// An element whose word is not below p, if there is one.
fn above(value: Goldilocks) -> Goldilocks {
    value.as_canonical_u64().checked_add(MODULUS).map_or(value, Goldilocks::new)
}

/// Compares verdicts on a valid proof, an invalid one, and changed ones.
fn compare<H, SC, A, const D: usize>(
    tally: &mut Tally,
    config: impl Fn(Parameters) -> SC,
    case: Parameters,
    air: &A,
    trace: &RowMajorMatrix<Goldilocks>,
    public: &[Goldilocks],
) where
    H: StarkHash,
    SC: Configuration<H, D> + StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: QuotientAir<SC> + Air<SymbolicAirBuilder<Goldilocks>> + for<'a> Air<VerifierConstraintFolder<'a, SC>>,
    Extension<Element, D>: ExtensionField<D>,
{
    let of_case = config(case);
    let log_rows = trace.height().ilog2() as usize;
    let (key, verifier) = setup_preprocessed(&of_case, air, log_rows).expect("a set-up").unzip();
    let prove = |trace: &RowMajorMatrix<Goldilocks>| {
        let proof = prove_with_preprocessed(&of_case, air, trace.clone(), public, key.as_ref());
        serde_json::to_value(proof.expect("a proof")).expect("JSON")
    };
    let decode = |json: &Value| serde_json::from_value::<Proof<SC>>(json.clone());
    let verdicts = |config: &SC, case: Parameters, proof: &Proof<SC>, public: &[Goldilocks]| {
        let verifier = verifier.as_ref();
        let theirs = caught(|| verify_with_preprocessed(config, air, proof, public, verifier).is_ok());
        let parameters = case.of_engine(D as u32);
        let ours = caught(|| {
            proofmill_p3::verify_with_preprocessed::<H, _, _, D>(&parameters, air, proof, public, verifier)
                .is_ok()
        });
        [theirs, ours]
    };
    let json = prove(trace);
    let proof = decode(&json).expect("a proof");
    assert_eq!(verdicts(&of_case, case, &proof, public), ACCEPTED);

    // Words of elements in memory may be above p.
    let mut words_above = decode(&json).expect("a proof");
    words_above.ood_pow_witness = above(proof.ood_pow_witness);
    let public_above: Vec<_> = public.iter().map(|value| above(*value)).collect();
    assert_eq!(verdicts(&of_case, case, &words_above, &public_above), ACCEPTED);

    let refused = |tally: &mut Tally, kind: &str, verdicts: Verdicts| {
        assert_ne!(verdicts[1], Some(true), "{kind}");
        tally.count(kind, verdicts);
    };
    let mut unsatisfied = trace.clone();
    unsatisfied.values[0] += Goldilocks::ONE;
    let invalid = decode(&prove(&unsatisfied)).expect("a proof");
    refused(tally, "constraints that do not hold", verdicts(&of_case, case, &invalid, public));
    for index in 0..public.len() {
        let mut changed = public.to_vec();
        changed[index] += Goldilocks::ONE;
        refused(tally, "another public value", verdicts(&of_case, case, &proof, &changed));
        let fewer = [&public[..index], &public[index + 1..]].concat();
        refused(tally, "fewer public values", verdicts(&of_case, case, &proof, &fewer));
    }
    let more = [public, &[Goldilocks::ZERO]].concat();
    refused(tally, "more public values", verdicts(&of_case, case, &proof, &more));
    for other in [
        Parameters { log_blowup: case.log_blowup + 1, ..case },
        Parameters { log_final_poly_len: case.log_final_poly_len + 1, ..case },
        Parameters { max_log_arity: case.max_log_arity + 1, ..case },
        Parameters { max_log_arity: case.max_log_arity.max(2) - 1, ..case },
        Parameters { cap_height: case.cap_height + 1, ..case },
        Parameters { num_queries: case.num_queries + 1, ..case },
        Parameters { num_queries: case.num_queries - 1, ..case },
        Parameters { grinding: case.grinding + 1, ..case },
        Parameters { grinding: case.grinding.max(1) - 1, ..case },
    ] {
        // Some have the same meaning for as few rows.
        tally.count("other parameters", verdicts(&config(other), other, &proof, public));
    }
    for (kind, changed) in in_memory(|| decode(&json).expect("a proof")) {
        tally.count(kind, verdicts(&of_case, case, &changed, public));
    }
    tally.sample(&json, case.num_queries as u64, |changed| {
        decode(changed).ok().map(|proof| verdicts(&of_case, case, &proof, public))
    });
}

/// Compares verdicts with all hashes and extensions, each with other parameters.
macro_rules! same_verdicts {
    ($air:expr, $trace:expr, $public:expr) => {{
        let (air, trace, public): (_, RowMajorMatrix<Goldilocks>, Vec<Goldilocks>) = ($air, $trace, $public);
        let [a, b, c, d] = PARAMETERS.map(|case| Parameters { num_queries: case.num_queries.min(5), ..case });
        // One thread always finds the same proofs of work.
        for_each_pool(&[1], |_| {
            let mut all = Tally::default();
            compare::<Sponge<Poseidon2<8>>, _, _, 2>(&mut all, quadratic_8::config, a, &air, &trace, &public);
            compare::<Sponge<Poseidon2<8>>, _, _, 3>(&mut all, cubic_8::config, b, &air, &trace, &public);
            compare::<Sponge<Poseidon2<12>>, _, _, 2>(
                &mut all,
                quadratic_12::config,
                c,
                &air,
                &trace,
                &public,
            );
            compare::<Keccak, _, _, 2>(&mut all, stock_keccak::config, d, &air, &trace, &public);
            println!("{all:?}");
            assert!(all.tried >= 500 * SAMPLES, "{all:?}");
        });
    }};
}

#[test]
fn a_fibonacci_sequence() {
    let (trace, public) = Fibonacci::trace(4);
    same_verdicts!(Fibonacci, trace, public.to_vec());
}

#[test]
fn a_trace_of_high_degree() {
    let air = Powers { columns: 3, degree: 7 };
    same_verdicts!(air, air.trace(3), vec![]);
}

#[test]
fn periodic_columns() {
    same_verdicts!(RoundConstants, RoundConstants.trace(3), vec![]);
}

#[test]
fn preprocessed_columns() {
    same_verdicts!(Preprocessed { log_rows: 4 }, Preprocessed::trace(4), vec![]);
}

#[test]
fn constraints_that_do_not_read_the_next_row() {
    same_verdicts!(Products { log_rows: 3 }, Products::trace(3), vec![]);
}
