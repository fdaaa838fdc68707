//! Our verifier against Plonky3's on changed proofs: the same verdicts, and no panic. Plonky3's may panic, which is a refusal.

mod airs;
#[allow(dead_code, reason = "other tests use the others")]
mod configurations;

use airs::{Fibonacci, Powers, Preprocessed, Products, RoundConstants};
use configurations::{PARAMETERS, Parameters, defaults, stock_keccak};
use p3_air::{Air, symbolic::SymbolicAirBuilder};
use p3_challenger::GrindingChallenger;
use p3_commit::PolynomialSpace;
use p3_field::{PrimeCharacteristicRing, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{
    Domain, Proof, QuotientAir, StarkGenericConfig, VerifierConstraintFolder, setup_preprocessed,
    verify_with_preprocessed,
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks as Element};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::{Configuration, to_plonky3};
use proofmill_progress::Progress;
use proofmill_stark::{StarkHash, prove};
use rand::{RngExt, SeedableRng, rngs::SmallRng, seq::SliceRandom};
use serde_json::{Value, json};
use std::{
    cell::Cell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

/// As many changes of one kind are tried in places of one kind; an emulator is slow.
const SAMPLES: usize = if cfg!(target_arch = "aarch64") { 1 } else { 4 };
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

    fn apply(&self, proof: &Value) -> Value {
        let mut changed = proof.clone();
        for (pointer, value) in &self.replaced {
            *changed.pointer_mut(pointer).expect("a place in the proof") = value.clone();
        }
        changed
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
            replace("not canonical", json!(number.checked_add(MODULUS).unwrap_or(u64::MAX)));
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

/// What became of changed proofs.
#[derive(Debug, Default)]
struct Tally {
    /// Those that Plonky3's decoder takes.
    tried: usize,
    /// Those that it refuses.
    undecodable: usize,
    /// Those for which Plonky3's verifier panics.
    panics: BTreeMap<String, usize>,
    /// Those that both accept.
    accepted: usize,
}

impl Tally {
    /// Tries changes of each kind in places of each kind.
    fn sample(&mut self, proof: &Value, seed: u64, verdicts: impl Fn(&Value) -> Option<[Option<bool>; 2]>) {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut all = Vec::new();
        changes(proof, "", &mut rng, &mut all);
        all.shuffle(&mut rng);
        let mut counts = BTreeMap::<String, usize>::new();
        all.retain(|change| {
            let count = counts.entry(change.kind()).or_default();
            *count += 1;
            *count <= SAMPLES || change.pointer == "/degree_bits"
        });
        for change in consistent_changes(proof).into_iter().chain(all) {
            let changed = change.apply(proof);
            if changed == *proof {
                continue;
            }
            let Some([theirs, ours]) = verdicts(&changed) else {
                self.undecodable += 1;
                continue;
            };
            let place = format!("{} {}", change.pointer, change.what);
            assert!(ours.is_some(), "our verifier panics: {place}");
            assert_eq!(ours, Some(theirs == Some(true)), "our verdict, and Plonky3's: {place}");
            self.tried += 1;
            self.accepted += usize::from(ours == Some(true));
            if theirs.is_none() {
                *self.panics.entry(change.kind()).or_default() += 1;
            }
        }
    }
}

/// Compares verdicts on one valid proof, which our engine makes: it has the bytes of Plonky3's.
fn compare<H, SC, A, const D: usize>(
    tally: &mut Tally,
    config: &SC,
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
    let parameters = case.of_engine(D as u32);
    let elements = |values: &[Goldilocks]| {
        values.iter().map(|value| Element::new(value.as_canonical_u64())).collect::<Vec<_>>()
    };
    let level = Level::best();
    let constraints = proofmill_p3::constraints(air).expect("constraints");
    let key = proofmill_p3::preprocessed_key::<H, _>(level, &parameters, air).expect("a key");
    let proof = prove(
        level,
        &parameters,
        &constraints,
        key.as_ref(),
        &elements(&trace.values),
        &elements(public),
        Progress::NONE,
    );
    let proof: Proof<SC> = to_plonky3(&proof.expect("a proof")).expect("a proof of Plonky3");
    let log_rows = trace.height().ilog2() as usize;
    let (_, verifier) = setup_preprocessed(config, air, log_rows).expect("a set-up").unzip();

    let verdicts = |proof: &Proof<SC>, public: &[Goldilocks]| {
        let verifier = verifier.as_ref();
        let theirs = caught(|| verify_with_preprocessed(config, air, proof, public, verifier).is_ok());
        let ours = caught(|| {
            proofmill_p3::verify_with_preprocessed::<H, _, _, D>(&parameters, air, proof, public, verifier)
                .is_ok()
        });
        [theirs, ours]
    };
    assert_eq!(verdicts(&proof, public), [Some(true); 2]);
    for index in 0..public.len() {
        let mut changed = public.to_vec();
        changed[index] += Goldilocks::ONE;
        assert_eq!(verdicts(&proof, &changed), [Some(false); 2]);
    }
    assert_eq!(verdicts(&proof, &[public, &[Goldilocks::ZERO]].concat()), [Some(false); 2]);

    // Words of elements in memory may be above p.
    let above = |value: Goldilocks| match value.as_canonical_u64().checked_add(MODULUS) {
        Some(word) => Goldilocks::new(word),
        None => value,
    };
    let public_above: Vec<_> = public.iter().map(|value| above(*value)).collect();
    let json = serde_json::to_value(&proof).expect("JSON");
    let mut with_words_above: Proof<SC> = serde_json::from_value(json.clone()).expect("a proof");
    with_words_above.ood_pow_witness = above(with_words_above.ood_pow_witness);
    assert_eq!(verdicts(&with_words_above, &public_above), [Some(true); 2]);

    let seed = 1 + case.num_queries as u64;
    tally.sample(&json, seed, |changed| {
        let proof: Proof<SC> = serde_json::from_value(changed.clone()).ok()?;
        Some(verdicts(&proof, public))
    });
}

/// Compares verdicts with all hashes and extensions, each with other parameters.
macro_rules! same_verdicts {
    ($air:expr, $trace:expr, $public:expr) => {{
        let (air, trace, public): (_, RowMajorMatrix<Goldilocks>, Vec<Goldilocks>) = ($air, $trace, $public);
        let mut tally = Tally::default();
        let [a, b, c, d] = PARAMETERS.map(|case| Parameters { num_queries: case.num_queries.min(5), ..case });
        let with = (&air, &trace, &public);
        macro_rules! with {
            ($stock:path, $hash:ty, $degree:literal, $case:expr) => {{
                use $stock as stock;
                let (case, (air, trace, public)) = ($case, with);
                let config = stock::config(case);
                compare::<$hash, _, _, $degree>(&mut tally, &config, case, air, trace, public);
            }};
        }
        with!(defaults::quadratic_8, Sponge<Poseidon2<8>>, 2, a);
        with!(defaults::cubic_8, Sponge<Poseidon2<8>>, 3, b);
        with!(defaults::quadratic_12, Sponge<Poseidon2<12>>, 2, c);
        with!(stock_keccak, Keccak, 2, d);
        println!("{tally:?}");
        assert!(tally.tried >= 500 * SAMPLES, "{tally:?}");
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
