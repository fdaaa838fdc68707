//! Our verifier against Plonky3's on changed proofs of several tables: the same verdicts, and no panic. Plonky3's may panic, which is a
//! refusal.

use crate::airs::{Example, Fibonacci};
use crate::batches::{Batch, Table};
use crate::configurations::{
    PARAMETERS, Parameters,
    defaults::{cubic_8, quadratic_8, quadratic_12},
    hiding, stock_keccak,
};
use crate::mutations::{
    ACCEPTED, SAMPLES, Tally, Verdicts, above, caught, changes_in_memory, count, opened_rows,
    other_parameters,
};
use p3_air::{Air, symbolic::SymbolicExpressionExt};
use p3_batch_stark::{
    BatchProof, CommonData, ProverData, StarkInstance,
    common::{GlobalPreprocessed, PreprocessedInstanceMeta},
    folder::{ProverConstraintFolderWithLookups, VerifierConstraintFolderWithLookups},
    prove_batch, verify_batch,
};
use p3_challenger::GrindingChallenger;
use p3_commit::{BatchOpeningRef, Mmcs, Pcs, PolynomialSpace};
use p3_field::{Algebra, PrimeCharacteristicRing};
use p3_goldilocks::Goldilocks;
use p3_keccak::KeccakF;
use p3_lookup::{InteractionSymbolicBuilder, LookupTerminal, Lookups};
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{CompressionFunctionFromHasher, PaddingFreeSponge, SerializingHasher};
use p3_uni_stark::{Com, Domain, PcsProverError, StarkGenericConfig};
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks as Element};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::Configuration;
use proofmill_stark::{StarkHash, VerifyError};
use proofmill_testing::for_each_pool;
use serde_json::Value;

/// The data of a commitment.
type PcsData<SC> = <<SC as StarkGenericConfig>::Pcs as Pcs<
    <SC as StarkGenericConfig>::Challenge,
    <SC as StarkGenericConfig>::Challenger,
>>::ProverData;

/// What verifiers get besides parameters and proof.
struct Statement<SC: StarkGenericConfig> {
    airs: Vec<Table>,
    public_values: Vec<Vec<Goldilocks>>,
    common: CommonData<SC>,
}

impl<SC: StarkGenericConfig> Statement<SC>
where
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    fn new(batch: &Batch, common: &CommonData<SC>) -> Self {
        let preprocessed = common.preprocessed.as_ref().map(|global| GlobalPreprocessed {
            commitment: global.commitment.clone(),
            instances: global.instances.clone(),
            matrix_to_instance: global.matrix_to_instance.clone(),
        });
        let common = CommonData::new(preprocessed, common.lookups.clone());
        Self { airs: batch.airs.clone(), public_values: batch.public_values.clone(), common }
    }

    /// Exchanges two tables.
    fn swap(&mut self, one: usize, other: usize) {
        self.airs.swap(one, other);
        self.public_values.swap(one, other);
        self.common.lookups.swap(one, other);
    }

    /// The data of preprocessed columns; those of no table if there are none.
    fn preprocessed(&mut self, other: &Com<SC>) -> &mut GlobalPreprocessed<SC> {
        let none = || GlobalPreprocessed {
            commitment: other.clone(),
            instances: self.airs.iter().map(|_| None).collect(),
            matrix_to_instance: vec![],
        };
        self.common.preprocessed.get_or_insert_with(none)
    }
}

/// Changed copies of something, by the kind of the change.
struct Others<'a, T> {
    copy: &'a dyn Fn() -> T,
    all: Vec<(&'static str, T)>,
}

impl<T> Others<'_, T> {
    fn add(&mut self, kind: &'static str, change: impl FnOnce(&mut T)) {
        let mut changed = (self.copy)();
        change(&mut changed);
        self.all.push((kind, changed));
    }
}

/// Other tables and public values.
fn other_tables<SC>(others: &mut Others<'_, Statement<SC>>, batch: &Batch)
where
    SC: StarkGenericConfig,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    others.add("no lists of public values", |statement| statement.public_values.clear());
    others.add("fewer lists of public values", |statement| drop(statement.public_values.pop()));
    others.add("more lists of public values", |statement| statement.public_values.push(vec![]));
    others.add("fewer tables", |statement| statement.airs.truncate(1));
    others.add("more tables", |statement| statement.airs.push(Table::FIBONACCI));
    others.add("no tables", |statement| statement.airs.clear());
    for (table, public) in batch.public_values.iter().enumerate() {
        for index in 0..public.len() {
            let another = |statement: &mut Statement<SC>| {
                statement.public_values[table][index] += Goldilocks::ONE;
            };
            others.add("another public value", another);
            others.add("fewer public values", |statement| statement.public_values[table].truncate(index));
        }
        others.add("more public values", |statement| statement.public_values[table].push(Goldilocks::ZERO));
        if !matches!(batch.airs[table], Table::Alone(Example::Fibonacci(_))) {
            others.add("another table", |statement| statement.airs[table] = Table::FIBONACCI);
        }
        if table > 0 {
            others.add("exchanged tables", |statement| statement.swap(0, table));
        }
    }
}

/// Other keys of preprocessed columns; `other` is a commitment to something else.
fn other_keys<SC>(others: &mut Others<'_, Statement<SC>>, other: &Com<SC>, has_key: bool)
where
    SC: StarkGenericConfig,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    let mut add = |kind, change: &dyn Fn(&mut GlobalPreprocessed<SC>)| {
        others.add(kind, |statement| change(statement.preprocessed(other)));
    };
    add("a key of more tables", &|key| key.instances.push(None));
    add("a key of fewer tables", &|key| key.instances.truncate(1));
    add("a key of one more matrix", &|key| key.matrix_to_instance.push(0));
    add("a key with a matrix of no table", &|key| key.matrix_to_instance.push(usize::MAX));
    add("a key of all tables", &|key| {
        key.matrix_to_instance = (0..key.instances.len()).collect();
        for (matrix_index, instance) in key.instances.iter_mut().enumerate() {
            *instance = Some(PreprocessedInstanceMeta { matrix_index, width: 1, degree_bits: 5 });
        }
    });
    if !has_key {
        return;
    }
    add("another key", &|key| key.commitment = other.clone());
    add("a reversed key", &|key| key.matrix_to_instance.reverse());
    add("a shorter key", &|key| key.matrix_to_instance.truncate(1));
    add("a key of no table", &|key| key.instances.iter_mut().for_each(|table| *table = None));
    add("a key of no matrix", &|key| key.matrix_to_instance.clear());
    add("exchanged parts of a key", &|key| key.instances.reverse());
    let mut add = |kind, change: fn(&mut PreprocessedInstanceMeta)| {
        add(kind, &|key| key.instances.iter_mut().flatten().for_each(change));
    };
    add("a wider key", |table| table.width += 1);
    add("a key without columns", |table| table.width = 0);
    add("a taller key", |table| table.degree_bits += 1);
    add("a lower key", |table| table.degree_bits -= 1);
    add("a key of one row", |table| table.degree_bits = 0);
    add("a key of too many rows", |table| table.degree_bits = usize::MAX);
    add("other matrices of a key", |table| table.matrix_index ^= 1);
    add("matrices that a key has not", |table| table.matrix_index = usize::MAX);
    others.add("no key", |statement| statement.common.preprocessed = None);
}

/// Lookups taken away or exchanged, where there are some.
fn other_lookups<SC>(others: &mut Others<'_, Statement<SC>>, with_lookups: &[usize])
where
    SC: StarkGenericConfig,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    let mut add = |kind, change: &dyn Fn(&mut Vec<Lookups<Goldilocks>>)| {
        others.add(kind, |statement| change(&mut statement.common.lookups));
    };
    add("fewer lists of lookups", &|lookups| drop(lookups.pop()));
    add("more lists of lookups", &|lookups| lookups.push(Lookups::default()));
    for table in with_lookups.iter().copied() {
        add("a table without its lookups", &|lookups| lookups[table] = Lookups::default());
        for other in with_lookups.iter().copied().filter(|other| *other < table) {
            add("exchanged lookups", &|lookups| lookups.swap(table, other));
            add("lookups of another table", &|lookups| lookups[table] = lookups[other].clone());
        }
    }
    if !with_lookups.is_empty() {
        add("no lookups", &|lookups| lookups.fill(Lookups::default()));
    }
}

/// Exchanges the first table of a proof and another one.
fn exchange<SC: StarkGenericConfig>(proof: &mut BatchProof<SC>, other: usize) {
    proof.opened_values.instances.swap(0, other);
    proof.degree_bits.swap(0, other);
    proof.lookup_terminals.swap(0, other);
}

/// Proofs changed in memory, which must be refused; the tables with lookups are given.
fn other_proofs<SC>(others: &mut Others<'_, BatchProof<SC>>, tables: usize, with_lookups: &[usize])
where
    SC: StarkGenericConfig,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    let zero = || Some(LookupTerminal(SC::Challenge::ZERO));
    others.add("random values", |proof| proof.commitments.random = Some(proof.commitments.main.clone()));
    others.add("no work before lookups, or some", |proof| {
        proof.lookup_pow_witness = proof.lookup_pow_witness.xor(Some(Goldilocks::ZERO));
    });
    others.add("other work before lookups", |proof| {
        proof.lookup_pow_witness =
            proof.lookup_pow_witness.map_or(Some(Goldilocks::ONE), |work| Some(-work - Goldilocks::TWO));
    });
    others.add("no columns of lookups, or some", |proof| {
        let main = proof.commitments.main.clone();
        proof.commitments.permutation = proof.commitments.permutation.take().xor(Some(main));
    });
    others.add("another commitment to lookups", |proof| {
        proof.commitments.permutation = Some(proof.commitments.main.clone());
    });
    for table in 0..tables {
        others.add("no total, or one", |proof| {
            proof.lookup_terminals[table] = proof.lookup_terminals[table].xor(zero());
        });
        others.add("more rows than there can be", |proof| proof.degree_bits[table] = usize::MAX);
        if table > 0 {
            others.add("exchanged tables of a proof", |proof| exchange(proof, table));
        }
    }
    for table in with_lookups.iter().copied() {
        others.add("a total of zero", |proof| proof.lookup_terminals[table] = zero());
        for total in [false, true] {
            others.add("no columns of a table's lookups", |proof| {
                let values = &mut proof.opened_values.instances[table];
                (values.permutation_local, values.permutation_next) = (vec![], vec![]);
                proof.lookup_terminals[table] = proof.lookup_terminals[table].filter(|_| total);
            });
        }
        for other in with_lookups.iter().copied().filter(|other| *other != table) {
            others.add("two totals with the same sum", |proof| {
                let mut add = |table: usize, value| {
                    if let Some(LookupTerminal(total)) = &mut proof.lookup_terminals[table] {
                        *total += value;
                    }
                };
                add(table, SC::Challenge::TWO);
                add(other, -SC::Challenge::TWO);
            });
            others.add("exchanged totals", |proof| proof.lookup_terminals.swap(table, other));
        }
    }
}

/// Lists of a proof that must be of one length: columns, columns of lookups, preprocessed columns, polynomials of quotients, tables.
fn equal_lists(proof: &Value, with_lookups: &[usize]) -> Vec<Vec<String>> {
    let values = "/opened_values/instances";
    let tables = count(proof, values);
    let base = |table: usize, key: &str| format!("{values}/{table}/base_opened_values/{key}");
    let mut preprocessed = 0;
    let with_preprocessed =
        (0..tables).any(|table| proof.pointer(&base(table, "preprocessed/local")).is_some());
    let mut all = vec![
        [values, "/degree_bits", "/lookup_terminals"]
            .map(str::to_owned)
            .into_iter()
            .chain(opened_rows(proof, 0, None))
            .collect(),
        std::iter::once(base(tables - 1, "quotient_chunks")).chain(opened_rows(proof, 1, None)).collect(),
    ];
    for table in 0..tables {
        let columns = ["trace_local", "trace_next"].map(|key| base(table, key));
        all.push(columns.into_iter().chain(opened_rows(proof, 0, Some(table))).collect());
        let columns = ["preprocessed/local", "preprocessed/next"].map(|key| base(table, key));
        if proof.pointer(&columns[0]).is_some() {
            all.push(columns.into_iter().chain(opened_rows(proof, 2, Some(preprocessed))).collect());
            preprocessed += 1;
        }
    }
    let of_lookups = 2 + usize::from(with_preprocessed);
    for (place, table) in with_lookups.iter().enumerate() {
        let columns = ["local", "next"].map(|key| format!("{values}/{table}/permutation_{key}"));
        all.push(columns.into_iter().chain(opened_rows(proof, of_lookups, Some(place))).collect());
    }
    all
}

/// Compares verdicts on a valid proof, invalid ones, and changed ones.
fn compare<SC, const D: usize>(
    tally: &mut Tally,
    hash: &dyn StarkHash,
    config: impl Fn(Parameters) -> SC,
    case: Parameters,
    batch: &Batch,
) where
    SC: Configuration<D>
        + StarkGenericConfig<
            Challenger: GrindingChallenger<Witness = Goldilocks>,
            Challenge: 'static,
            Pcs: Sync,
        >,
    Domain<SC>: PolynomialSpace<Val = Goldilocks> + Send + Sync,
    Com<SC>: Sync,
    PcsData<SC>: Sync,
    PcsProverError<SC>: Send,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
    Table: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>
        + for<'a> Air<ProverConstraintFolderWithLookups<'a, SC>>
        + for<'a> Air<VerifierConstraintFolderWithLookups<'a, SC>>,
    Extension<Element, D>: ExtensionField<D>,
{
    let of_case = config(case);
    let (data, json) = proof_of(&of_case, batch, &batch.traces);
    let statement = || Statement::new(batch, &data.common);
    let decode = |json: &Value| serde_json::from_value::<BatchProof<SC>>(json.clone());
    let of = |config: &SC, case: Parameters, proof: &BatchProof<SC>, statement: &Statement<SC>| -> Verdicts {
        let [theirs, ours] = verdicts::<SC, D>(hash, config, case, proof, statement);
        [theirs.map(|verdict| verdict.is_ok()), ours.map(|verdict| verdict.is_ok())]
    };
    let valid = decode(&json).expect("a proof");
    assert_eq!(of(&of_case, case, &valid, &statement()), ACCEPTED);

    // Words of elements in memory may be above p.
    let mut words_above = decode(&json).expect("a proof");
    words_above.ood_pow_witness = above(words_above.ood_pow_witness);
    words_above.lookup_pow_witness = words_above.lookup_pow_witness.map(above);
    let mut public_above = statement();
    public_above.public_values.iter_mut().flatten().for_each(|value| *value = above(*value));
    assert_eq!(of(&of_case, case, &words_above, &public_above), ACCEPTED);
    // Preprocessed columns of a width of zero are none.
    let mut no_columns = statement();
    if let Some(global) = &mut no_columns.common.preprocessed {
        let none = PreprocessedInstanceMeta { matrix_index: 7, width: 0, degree_bits: 80 };
        global.instances.iter_mut().for_each(|instance| *instance = instance.take().or(Some(none.clone())));
    }
    assert_eq!(of(&of_case, case, &valid, &no_columns), ACCEPTED);

    for table in 0..batch.traces.len() {
        let mut traces = batch.traces.clone();
        // The last column: Plonky3's code panics where flags are not 0 or 1.
        let last = traces[table].width() - 1;
        traces[table].values[last] += Goldilocks::ONE;
        let (_, json) = proof_of(&of_case, batch, &traces);
        let proof = decode(&json).expect("a proof");
        tally.refused("constraints or lookups that do not hold", of(&of_case, case, &proof, &statement()));
    }
    let with_lookups: Vec<_> =
        (0..batch.airs.len()).filter(|table| !data.common.lookups[*table].is_empty()).collect();
    let mut others = Others { copy: &statement, all: vec![] };
    other_tables(&mut others, batch);
    other_keys(&mut others, &valid.commitments.main, data.common.preprocessed.is_some());
    other_lookups(&mut others, &with_lookups);
    for (kind, other) in others.all {
        tally.refused(kind, of(&of_case, case, &valid, &other));
    }
    for other in other_parameters(case) {
        // Some have the same meaning for as few rows.
        tally.count("other parameters", of(&config(other), other, &valid, &statement()));
    }
    let copy = || decode(&json).expect("a proof");
    for other in 1..batch.airs.len() {
        let (mut proof, mut exchanged) = (copy(), statement());
        exchange(&mut proof, other);
        exchanged.swap(0, other);
        tally.refused("exchanged tables of both", of(&of_case, case, &proof, &exchanged));
    }
    let mut others = Others { copy: &copy, all: vec![] };
    other_proofs(&mut others, batch.airs.len(), &with_lookups);
    for (kind, other) in others.all {
        tally.refused(kind, of(&of_case, case, &other, &statement()));
    }
    for table in 0..batch.airs.len() {
        for (kind, change) in changes_in_memory() {
            let mut changed = copy();
            change(&mut changed.opened_values.instances[table].base_opened_values);
            tally.count(kind, of(&of_case, case, &changed, &statement()));
        }
    }
    let (lists, statement) = (equal_lists(&json, &with_lookups), statement());
    tally.sample(&json, &lists, case.num_queries as u64, |changed| {
        decode(changed).ok().map(|proof| of(&of_case, case, &proof, &statement))
    });
}

/// Plonky3's proof of a batch with other traces, which may be false, as JSON.
fn proof_of<SC>(config: &SC, batch: &Batch, traces: &[RowMajorMatrix<Goldilocks>]) -> (ProverData<SC>, Value)
where
    SC: StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>, Pcs: Sync>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks> + Send + Sync,
    Com<SC>: Sync,
    PcsData<SC>: Sync,
    PcsProverError<SC>: Send,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
    Table: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>
        + for<'a> Air<ProverConstraintFolderWithLookups<'a, SC>>,
{
    let traces: Vec<_> = traces.iter().collect();
    let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
    let data = ProverData::from_instances(config, &instances).expect("data");
    let proof = prove_batch(config, &instances, &data).expect("a proof");
    (data, serde_json::to_value(proof).expect("JSON"))
}

/// What Plonky3's verifier and ours say of a proof; `None` for a panic.
fn verdicts<SC, const D: usize>(
    hash: &dyn StarkHash,
    config: &SC,
    case: Parameters,
    proof: &BatchProof<SC>,
    Statement { airs, public_values, common }: &Statement<SC>,
) -> [Option<Result<(), VerifyError>>; 2]
where
    SC: Configuration<D> + StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
    Table: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>
        + for<'a> Air<VerifierConstraintFolderWithLookups<'a, SC>>,
    Extension<Element, D>: ExtensionField<D>,
{
    let parameters = case.of_engine(D as u32);
    let refused = |_| VerifyError::Rejected("by Plonky3");
    [
        caught(|| verify_batch(config, airs, proof, public_values, common).map_err(refused)),
        caught(|| {
            proofmill_p3::verify_batch::<SC, _, D>(hash, &parameters, airs, proof, public_values, common)
        }),
    ]
}

/// Compares verdicts with all hashes and extensions, each with other parameters.
macro_rules! same_verdicts {
    ($batch:expr) => {{
        let batch: Batch = $batch;
        let [a, b, c, d] = PARAMETERS.map(|case| Parameters { num_queries: case.num_queries.min(4), ..case });
        // One thread always finds the same proofs of work.
        for_each_pool(&[1], |_| {
            let mut all = Tally::default();
            compare::<_, 2>(&mut all, &Sponge(Poseidon2::<8>), quadratic_8::config, a, &batch);
            compare::<_, 3>(&mut all, &Sponge(Poseidon2::<8>), cubic_8::config, b, &batch);
            compare::<_, 2>(&mut all, &Sponge(Poseidon2::<12>), quadratic_12::config, c, &batch);
            compare::<_, 2>(&mut all, &Keccak, stock_keccak::config, d, &batch);
            println!("{all:?}");
            assert!(all.tried >= 500 * SAMPLES, "{all:?}");
        });
    }};
}

#[test]
fn tables_of_few_rows_with_lookups() {
    same_verdicts!(Batch::with_lookups([3, 3]));
}

#[test]
fn tables_of_different_heights_with_lookups() {
    same_verdicts!(Batch::with_lookups([6, 4]));
}

#[test]
fn tables_without_lookups() {
    same_verdicts!(Batch::without_lookups());
}

#[test]
fn blinded_tables() {
    let case = Parameters { num_queries: 3, random_columns: 3, ..PARAMETERS[1] };
    for_each_pool(&[1], |_| {
        let mut all = Tally::default();
        compare::<_, 2>(&mut all, &Keccak, hiding::quadratic::config, case, &Batch::with_lookups([4, 5]));
        println!("{all:?}");
        assert!(all.tried >= 400 * SAMPLES, "{all:?}");
    });
}

/// With cases in which caps are at roots, and final polynomials constant.
#[test]
fn tables_of_one_row() {
    let [a, _, c, _] = PARAMETERS.map(|case| Parameters { num_queries: 2, ..case });
    for_each_pool(&[1], |_| {
        let mut all = Tally::default();
        compare::<_, 2>(
            &mut all,
            &Sponge(Poseidon2::<8>),
            quadratic_8::config,
            a,
            &Batch::with_lookups([0, 1]),
        );
        compare::<_, 2>(&mut all, &Keccak, stock_keccak::config, c, &Batch::with_lookups([1, 0]));
        println!("{all:?}");
        assert!(all.tried >= 500 * SAMPLES, "{all:?}");
    });
}

/// Two sequences of any heights: all proofs that Plonky3's prover makes have the same verdicts, but for [`VerifyError::Rejected`] if the
/// commitment to a table's rows does not depend on them.
#[test]
fn tables_lower_than_the_cap_are_refused() {
    let sequence = |log_rows| (Table::FIBONACCI, Fibonacci::trace(log_rows).0);
    let (mut accepted, mut above_cap) = (0, 0);
    let high_cap = Parameters { cap_height: 4, ..PARAMETERS[0] };
    for case in PARAMETERS.into_iter().chain([high_cap]) {
        let case = Parameters { num_queries: 3, grinding: 0, ..case };
        let config = stock_keccak::config(case);
        for log_rows in (0..5).flat_map(|one| (0..5).map(move |other| [one, other])) {
            let batch = Batch::new(log_rows.map(sequence));
            let [low, high] = [log_rows[0].min(log_rows[1]), log_rows[0].max(log_rows[1])];
            let is_long_enough = case.log_final_poly_len == 0 || low > case.log_final_poly_len;
            let proof = caught(|| proof_of(&config, &batch, &batch.traces));
            assert_eq!(proof.is_some(), is_long_enough, "2^{low} and 2^{high} rows");
            let Some((data, json)) = proof else { continue };
            let proof = serde_json::from_value(json).expect("a proof");
            let statement = Statement::new(&batch, &data.common);
            let [theirs, ours] = verdicts::<_, 2>(&Keccak, &config, case, &proof, &statement);
            assert_eq!(theirs, Some(Ok(())));
            if low + case.log_blowup < case.cap_height.min(high + case.log_blowup) {
                let why = "a matrix has fewer rows than its commitment has digests";
                assert_eq!(ours, Some(Err(VerifyError::Rejected(why))), "2^{low} and 2^{high} rows");
                above_cap += 1;
            } else {
                assert_eq!(ours, Some(Ok(())), "2^{low} and 2^{high} rows");
                accepted += 1;
            }
        }
    }
    assert!(accepted > 50 && above_cap > 5, "{accepted} accepted, {above_cap} refused");
}

/// Why such tables are refused: Plonky3's trees add rows of low matrices above the cap, where nothing is checked.
#[test]
fn caps_do_not_depend_on_rows_that_join_above_them() {
    type Hash = PaddingFreeSponge<KeccakF, 25, 17, 4>;
    type Trees = MerkleTreeMmcs<
        [Goldilocks; p3_keccak::VECTOR_LEN],
        [u64; p3_keccak::VECTOR_LEN],
        SerializingHasher<Hash>,
        CompressionFunctionFromHasher<Hash, 2, 4>,
        2,
        4,
    >;
    let hash = Hash::new(KeccakF);
    let matrix = |rows: u64, first: u64| {
        RowMajorMatrix::new((first..first + 2 * rows).map(Goldilocks::from_u64).collect(), 2)
    };
    let (tall, low, other) = (matrix(16, 1), matrix(4, 100), matrix(4, 200));
    // The four rows join at the layer of four nodes: a cap of four digests depends on them, one of eight does not.
    for (cap_height, depends) in [(0, true), (2, true), (3, false), (4, false)] {
        let trees =
            Trees::new(SerializingHasher::new(hash), CompressionFunctionFromHasher::new(hash), cap_height);
        let (cap, rows) = trees.commit(vec![tall.clone(), low.clone()]);
        let (of_other, other_rows) = trees.commit(vec![tall.clone(), other.clone()]);
        assert_eq!(cap != of_other, depends, "a cap of 2^{cap_height} digests");

        let dimensions = [tall.dimensions(), low.dimensions()];
        let verdict = |index: usize, values: &[Vec<Goldilocks>], siblings: &_| {
            trees.verify_batch(&cap, &dimensions, index, BatchOpeningRef::new(values, siblings)).is_ok()
        };
        for index in 0..16 {
            let (values, siblings) = trees.open_batch(index, &rows).unpack();
            assert!(verdict(index, &values, &siblings));
            let (changed, _) = trees.open_batch(index, &other_rows).unpack();
            assert_ne!(values, changed);
            assert_eq!(verdict(index, &changed, &siblings), !depends, "row {index}, 2^{cap_height} digests");
            // The tall matrix is always bound.
            let changed = [changed[1].clone(), values[1].clone()];
            assert!(!verdict(index, &changed, &siblings));
        }
    }
}
