//! Changes of proofs of Plonky3, and the verdicts of its verifier and of ours.

use super::configurations::Parameters;
use p3_field::PrimeField64;
use p3_goldilocks::Goldilocks;
use p3_uni_stark::{OpenedValues, PreprocessedOpenedValues};
use rand::{RngExt, SeedableRng, rngs::SmallRng, seq::SliceRandom};
use serde_json::{Value, json};
use std::{
    cell::Cell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

/// As many changes of one kind are tried in places of one kind.
pub(crate) const SAMPLES: usize = 6;
/// As many pairs of changes are tried in addition.
const PAIRS: usize = 100 * SAMPLES;
const MODULUS: u64 = Goldilocks::ORDER_U64;

thread_local! {
    /// Whether panics on this thread are expected.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result, or `None` if it panics, which is not printed.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
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

/// Places of values that options may be replaced by, in proofs of one trace and of several.
const OTHERS: [&str; 6] = [
    "/commitments/trace",
    "/opened_values/trace_local",
    "/opened_values/trace_next",
    "/commitments/main",
    "/opened_values/instances/0/base_opened_values/trace_local",
    "/lookup_terminals/0",
];

/// Whether this is the logarithm of a number of rows.
fn is_degree(pointer: &str) -> bool {
    pointer.strip_prefix("/degree_bits").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
            replace("null", Value::Null);
            if is_degree(pointer) {
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
            replace("zero", json!(0));
            for other in OTHERS.iter().filter_map(|other| proof.pointer(other)) {
                replace("another's value", other.clone());
            }
        }
        Value::Bool(_) | Value::String(_) => unreachable!("not in a proof"),
    }
}

/// The number of elements of a list; 0 if there is none.
pub(crate) fn count(proof: &Value, pointer: &str) -> usize {
    proof.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len)
}

/// The place of FRI's proof: with blinding, it follows the values of random columns.
fn of_fri(proof: &Value) -> &'static str {
    if proof["opening_proof"].is_array() { "/opening_proof/1" } else { "/opening_proof" }
}

/// The opened rows of all queries in a matrix of a commitment.
pub(crate) fn opened_rows(proof: &Value, commitment: usize, matrix: Option<usize>) -> Vec<String> {
    let rows = format!("{}/input_openings/{commitment}/opened_values", of_fri(proof));
    let matrix = matrix.map_or(String::new(), |matrix| format!("/{matrix}"));
    (0..count(proof, &rows)).map(|query| format!("{rows}/{query}{matrix}")).collect()
}

/// Lists that must be of one length in any proof: those of queries, and of rounds.
fn equal_lists(proof: &Value) -> Vec<Vec<String>> {
    let fri = of_fri(proof);
    let [inputs, rounds] = ["input_openings", "commit_phase_openings"].map(|key| format!("{fri}/{key}"));
    let of_inputs = (0..count(proof, &inputs)).map(|index| format!("{inputs}/{index}/opened_values"));
    let of_rounds = (0..count(proof, &rounds)).map(|index| format!("{rounds}/{index}/sibling_values"));
    let of_round = ["commit_phase_commits", "commit_pow_witnesses", "commit_phase_openings"];
    vec![of_inputs.chain(of_rounds).collect(), of_round.iter().map(|key| format!("{fri}/{key}")).collect()]
}

/// The same change in all lists that must be of one length, with other numbers of rows.
fn consistent_changes(proof: &Value, lists: &[Vec<String>]) -> Vec<Change> {
    let degrees: Vec<(String, u64)> = match &proof["degree_bits"] {
        Value::Array(degrees) => {
            let degrees = degrees.iter().enumerate();
            degrees.filter_map(|(i, bits)| Some((format!("/degree_bits/{i}"), bits.as_u64()?))).collect()
        }
        bits => vec![("/degree_bits".to_owned(), bits.as_u64().expect("an integer"))],
    };
    let mut all = Vec::new();
    for lists in equal_lists(proof).iter().chain(lists) {
        let changed = |change: &dyn Fn(&mut Vec<Value>)| {
            let mut replaced = Vec::new();
            for pointer in lists {
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
            ("exchanged everywhere", changed(&|list| list.get_mut(..2).into_iter().for_each(<[_]>::reverse))),
        ] {
            for difference in -4..5 {
                let mut replaced = replaced.clone();
                let bits = |bits: u64| bits.saturating_add_signed(difference);
                replaced.extend(
                    degrees.iter().map(|(pointer, log_rows)| (pointer.clone(), json!(bits(*log_rows)))),
                );
                all.push(Change { pointer: lists[0].clone(), what, replaced });
            }
        }
    }
    all
}

/// The verdicts of Plonky3's verifier and of ours; `None` for a panic.
pub(crate) type Verdicts = [Option<bool>; 2];

pub(crate) const ACCEPTED: Verdicts = [Some(true); 2];

/// What became of changed proofs.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Those that Plonky3's decoder takes.
    pub(crate) tried: usize,
    /// Those that it refuses.
    undecodable: usize,
    /// Those for which Plonky3's verifier panics, by kind.
    panics: BTreeMap<String, usize>,
    /// Those that both accept, by kind.
    accepted: BTreeMap<String, usize>,
}

impl Tally {
    pub(crate) fn count(&mut self, kind: &str, [theirs, ours]: Verdicts) {
        assert!(ours.is_some(), "our verifier panics: {kind}");
        assert_eq!(ours, Some(theirs == Some(true)), "our verdict, and Plonky3's: {kind}");
        self.tried += 1;
        if ours == Some(true) {
            *self.accepted.entry(kind.to_owned()).or_default() += 1;
        }
        if theirs.is_none() {
            *self.panics.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// Counts what must be refused.
    pub(crate) fn refused(&mut self, kind: &str, verdicts: Verdicts) {
        assert_ne!(verdicts[1], Some(true), "{kind}");
        self.count(kind, verdicts);
    }

    /// Tries changes of each kind in places of each kind, and the same changes in all of some lists. All must be refused: what is decoded
    /// has no other encoding.
    pub(crate) fn sample(
        &mut self,
        proof: &Value,
        lists: &[Vec<String>],
        seed: u64,
        verdicts: impl Fn(&Value) -> Option<Verdicts>,
    ) {
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
            *count <= SAMPLES || is_degree(&change.pointer)
        });
        let consistent = consistent_changes(proof, lists);
        for changes in consistent.iter().chain(single).map(|change| vec![change]).chain(pairs) {
            let mut changed = proof.clone();
            changes.iter().for_each(|change| change.apply(&mut changed));
            if changed == *proof {
                continue;
            }
            match verdicts(&changed) {
                Some(verdicts) => {
                    let kinds: Vec<_> = changes.iter().map(|change| change.kind()).collect();
                    self.refused(&kinds.join(", "), verdicts);
                }
                None => self.undecodable += 1,
            }
        }
    }
}

/// A change of a trace's opened values.
type OpenedChange<C> = Box<dyn Fn(&mut OpenedValues<C>)>;

/// Changes that no encoding of a proof has, but a proof in memory: empty lists for absent ones, and lists without others.
pub(crate) fn changes_in_memory<C: Copy + 'static>() -> Vec<(&'static str, OpenedChange<C>)> {
    let preprocessed = |local: usize, next: Option<usize>| -> OpenedChange<C> {
        Box::new(move |opened| {
            let values = opened.trace_local.iter().cycle();
            let local = values.clone().take(local).copied().collect();
            let next = next.map(|length| values.take(length).copied().collect());
            opened.preprocessed = Some(PreprocessedOpenedValues { local, next });
        })
    };
    let empty = |opened: &mut OpenedValues<C>| {
        if let Some(opened) = &mut opened.preprocessed {
            opened.next = Some(vec![]);
        }
    };
    let cut = |opened: &mut OpenedValues<C>| {
        if let Some(opened) = &mut opened.preprocessed {
            opened.next = None;
        }
    };
    vec![
        ("an empty list for the next row's preprocessed columns", Box::new(empty)),
        ("no list for the next row's preprocessed columns", Box::new(cut)),
        ("preprocessed columns that are not opened", Box::new(|opened| opened.preprocessed = None)),
        ("no preprocessed columns, opened", preprocessed(0, None)),
        ("no preprocessed columns, opened in both rows", preprocessed(0, Some(0))),
        ("preprocessed columns of the next row only", preprocessed(0, Some(1))),
        ("preprocessed columns of this row only", preprocessed(1, None)),
        ("no preprocessed columns of the next row", preprocessed(1, Some(0))),
        ("more preprocessed columns of the next row", preprocessed(1, Some(2))),
        ("no next row", Box::new(|opened| opened.trace_next = None)),
        ("an empty next row", Box::new(|opened| opened.trace_next = Some(vec![]))),
        ("this row as the next", Box::new(|opened| opened.trace_next = Some(opened.trace_local.clone()))),
        ("no random values", Box::new(|opened| opened.random = Some(vec![]))),
        ("random values", Box::new(|opened| opened.random = opened.quotient_chunks.first().cloned())),
    ]
}

/// An element whose word is not below p, if there is one.
pub(crate) fn above(value: Goldilocks) -> Goldilocks {
    value.as_canonical_u64().checked_add(MODULUS).map_or(value, Goldilocks::new)
}

/// Parameters of which each differs in one value.
pub(crate) fn other_parameters(case: Parameters) -> [Parameters; 9] {
    [
        Parameters { log_blowup: case.log_blowup + 1, ..case },
        Parameters { log_final_poly_len: case.log_final_poly_len + 1, ..case },
        Parameters { max_log_arity: case.max_log_arity + 1, ..case },
        Parameters { max_log_arity: case.max_log_arity.max(2) - 1, ..case },
        Parameters { cap_height: case.cap_height + 1, ..case },
        Parameters { num_queries: case.num_queries + 1, ..case },
        Parameters { num_queries: case.num_queries - 1, ..case },
        Parameters { grinding: case.grinding + 1, ..case },
        Parameters { grinding: case.grinding.max(1) - 1, ..case },
    ]
}
