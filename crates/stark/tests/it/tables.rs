//! Several tables with lookups as their authors write them: proofs are accepted if honest, refused if anything is changed. Plonky3 judges
//! the same proofs in `crates/p3/tests/engine.rs`.

use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks, MODULUS},
};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_stark::{
    Constraints, Grinding, Memory, OpenedRows, OpenedValues, OpeningProof, Parameters, Proof, Round, Run,
    StarkError, StarkHash, TableValues, Tables, TablesKey, TablesProof, Trace, VerifyError,
    air::{Air, Bus, Expression, Lookup, Preprocessed, Row, Term},
    prove, prove_tables, verify, verify_tables,
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};

const PARAMETERS: Parameters = Parameters {
    log_blowup: 1,
    log_arity: 2,
    log_final_length: 0,
    queries: 3,
    cap_height: 1,
    grinding: Grinding { lookups: 2, out_of_domain: 1, batching: 2, commit: 0, query: 3 },
    ..Parameters::PROVEN_100
};

/// An emulator is slow.
const THREADS: &[usize] = if cfg!(target_arch = "aarch64") { &[2] } else { &[1, 2, 5] };

const fn parameters(extension: u32) -> Parameters {
    Parameters { extension, ..PARAMETERS }
}

/// Integers below `2^BITS`.
const INTEGERS: Bus<'_> = Bus("integers");
const BITS: u32 = 4;

/// Steps of the walk with their parity.
const STEPS: Bus<'_> = Bus("steps");

/// Offers all integers of so many bits; the trace has how often each is looked up.
struct Integers;

impl Air for Integers {
    fn columns(&self) -> usize {
        1
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: (0..1 << BITS).map(Goldilocks::new).collect() })
    }

    fn constrain(&self, row: Row) {
        INTEGERS.offer(&[row.preprocessed(0)], row.column(0));
    }
}

/// From each integer to the next one; a flag says in which rows it is looked up twice. The first integer is public.
struct Walk;

impl Air for Walk {
    fn columns(&self) -> usize {
        3
    }

    fn public_values(&self) -> usize {
        1
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![vec![Goldilocks::ZERO, Goldilocks::ONE]]
    }

    fn constrain(&self, row: Row) {
        let [from, to, flag] = [0, 1, 2].map(|column| row.column(column));
        (row.is_first() * (from - row.public_value(0))).must_vanish();
        (row.is_transition() * (row.next(0) - to)).must_vanish();
        (flag * (flag - Goldilocks::ONE.into())).must_vanish();
        INTEGERS.look_up(&[from], Goldilocks::ONE, 1);
        INTEGERS.look_up(&[from], flag, 1);
        STEPS.look_up(&[row.periodic(0), from, to], Goldilocks::ONE, 1);
    }
}

/// Offers steps, as often as its last column says.
struct Steps;

impl Air for Steps {
    fn columns(&self) -> usize {
        4
    }

    fn constrain(&self, row: Row) {
        STEPS.offer(&[0, 1, 2].map(|column| row.column(column)), row.column(3));
    }
}

/// Looks one integer up in each row.
struct Lone;

impl Air for Lone {
    fn columns(&self) -> usize {
        1
    }

    fn constrain(&self, row: Row) {
        INTEGERS.look_up(&[row.column(0)], Goldilocks::ONE, 1);
    }
}

/// An AIR of one column by its constraints.
struct Of(fn(Row));

impl Air for Of {
    fn columns(&self) -> usize {
        1
    }

    fn constrain(&self, row: Row) {
        (self.0)(row);
    }
}

fn elements(values: impl IntoIterator<Item = u64>) -> Vec<Goldilocks> {
    values.into_iter().map(Goldilocks::new).collect()
}

fn constraints(air: &impl Air) -> Constraints {
    Constraints::new(air).expect("constraints")
}

/// Tables with their traces.
struct System {
    tables: Tables,
    preprocessed: Vec<Option<Preprocessed>>,
    traces: Vec<Vec<Goldilocks>>,
    public_values: Vec<Vec<Goldilocks>>,
}

/// The places of the tables of a walk.
const WALK: usize = 0;
const STEPS_TABLE: usize = 1;
const INTEGERS_TABLE: usize = 2;

impl System {
    /// A walk of `2^log_steps` rows, its steps, all integers, and a table of one row.
    fn walk(log_steps: u32) -> Self {
        Self::walk_and(log_steps, 1)
    }

    /// With another number of rows of the last table.
    fn walk_and(log_steps: u32, lone: usize) -> Self {
        let mut counts = vec![0; 1 << BITS];
        let at = |row: u64| (row * row * 5 + 2) % (1 << BITS);
        let (mut walk, mut steps) = (vec![], vec![]);
        for row in 0..1 << log_steps {
            let flag = u64::from(row % 3 == 1);
            counts[at(row) as usize] += 1 + flag;
            walk.extend([at(row), at(row + 1), flag]);
            steps.extend([row % 2, at(row), at(row + 1), 1]);
        }
        counts[7] += lone as u64;
        let tables = [constraints(&Walk), constraints(&Steps), constraints(&Integers), constraints(&Lone)];
        Self {
            tables: Tables::new(tables.to_vec()).expect("tables"),
            preprocessed: vec![None, None, Integers.preprocessed(), None],
            traces: [walk, steps, counts, vec![7; lone]].map(elements).to_vec(),
            public_values: vec![elements([2]), vec![], vec![], vec![]],
        }
    }

    fn traces(&self) -> Vec<Trace<'_>> {
        self.traces.iter().map(Trace::from).collect()
    }

    fn public_values(&self) -> Vec<&[Goldilocks]> {
        self.public_values.iter().map(Vec::as_slice).collect()
    }

    fn prove(&self, parameters: &Parameters) -> Result<TablesProof<2>, StarkError> {
        let (level, tables, preprocessed) = (Level::best(), &self.tables, self.preprocessed.clone());
        let key = TablesKey::new(level, &Keccak, parameters, tables, preprocessed)?;
        let (traces, public_values) = (self.traces(), self.public_values());
        prove_tables(level.into(), &Keccak, parameters, tables, key.as_ref(), &traces, &public_values)
    }

    fn error(&self) -> String {
        self.prove(&parameters(2)).expect_err("a refusal").to_string()
    }
}

fn same_proofs<const D: usize>(hash: &dyn StarkHash)
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    for log_steps in [1, 3, 7] {
        let (system, parameters) = (System::walk(log_steps), parameters(D as u32));
        let key = |level| {
            TablesKey::new(level, hash, &parameters, &system.tables, system.preprocessed.clone())
                .expect("a key")
        };
        let (traces, public_values) = (system.traces(), system.public_values());
        let read = |table: usize| {
            let trace = &system.traces[table];
            move |first: usize, to: &mut [Goldilocks]| {
                to.copy_from_slice(&trace[first..][..to.len()]);
                Ok(())
            }
        };
        let read: Vec<_> = (0..traces.len()).map(read).collect();
        let in_parts = system.traces.iter().zip(&read);
        let in_parts: Vec<_> =
            in_parts.map(|(trace, read)| Trace::Parts { len: trace.len(), read }).collect();
        let prove = |run: Run<'_>, traces: &[Trace<'_>]| -> TablesProof<D> {
            let key = key(run.level);
            prove_tables(run, hash, &parameters, &system.tables, key.as_ref(), traces, &public_values)
                .expect("a proof")
        };
        let expected = prove(Level::best().into(), &traces);
        assert_eq!(expected.log_rows, [log_steps, log_steps, BITS, 0]);
        for_each_pool(THREADS, |threads| {
            for_each_goldilocks_level(|level| {
                for memory in Memory::ALL {
                    for traces in [&traces, &in_parts] {
                        let proof = prove(Run { memory: Some(memory), ..level.into() }, traces);
                        assert_eq!(proof, expected, "{memory:?}, {threads} threads, {level}");
                    }
                }
                let key = key(level).as_ref().map(TablesKey::verifying_key);
                let verdict = verify_tables(
                    level,
                    hash,
                    &parameters,
                    &system.tables,
                    key.as_ref(),
                    &public_values,
                    &expected,
                );
                assert_eq!(verdict, Ok(()), "{threads} threads, {level}");
            });
        });
    }
}

fn valid_blinded_proofs<const D: usize>(hash: &dyn StarkHash)
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    for (log_steps, lone) in [(5, 32), (7, 64)] {
        let (system, parameters) =
            (System::walk_and(log_steps, lone), Parameters { queries: 2, ..parameters(D as u32) }.blinded());
        let (traces, public_values) = (system.traces(), system.public_values());
        for_each_pool(THREADS, |threads| {
            for_each_goldilocks_level(|level| {
                let key =
                    TablesKey::new(level, hash, &parameters, &system.tables, system.preprocessed.clone());
                let key = key.expect("a key");
                let memory = Memory::ALL[threads % Memory::ALL.len()];
                let proof: TablesProof<D> = prove_tables(
                    Run { memory: Some(memory), ..level.into() },
                    hash,
                    &parameters,
                    &system.tables,
                    key.as_ref(),
                    &traces,
                    &public_values,
                )
                .expect("a proof");
                let key = key.as_ref().map(TablesKey::verifying_key);
                let verdict = verify_tables(
                    Level::available()[0],
                    hash,
                    &parameters,
                    &system.tables,
                    key.as_ref(),
                    &public_values,
                    &proof,
                );
                assert_eq!(verdict, Ok(()), "{threads} threads, {level}");
                assert_eq!(TablesProof::from_bytes(hash, &proof.to_bytes(hash)), Ok(proof));
            });
        });
    }
}

#[test]
fn blinded_proofs_of_tables_are_valid() {
    valid_blinded_proofs::<2>(&Keccak);
    valid_blinded_proofs::<3>(&Sponge(Poseidon2::<8>));
}

#[test]
fn every_level_and_any_threads_make_the_same_proof() {
    same_proofs::<2>(&Keccak);
    same_proofs::<3>(&Keccak);
    same_proofs::<2>(&Sponge(Poseidon2::<8>));
    same_proofs::<3>(&Sponge(Poseidon2::<8>));
}

/// Without lookups, and with lookups of a table in itself.
#[test]
fn tables_of_one_kind() {
    let squares = Of(|row| {
        let value = row.column(0);
        (row.is_transition() * (row.next(0) - value * value)).must_vanish();
    });
    // Each value is offered in the row before.
    let turns = Of(|row| {
        Bus("turns").look_up(&[row.column(0)], Goldilocks::ONE, 1);
        Bus("turns").offer(&[row.next(0)], Goldilocks::ONE);
    });
    for (air, trace) in [(squares, vec![3, 9, 81, 6561]), (turns, vec![5, 1, 1, 8])] {
        for count in 1..4 {
            let system = System {
                tables: Tables::new(vec![constraints(&air); count]).expect("tables"),
                preprocessed: vec![None; count],
                traces: vec![elements(trace.clone()); count],
                public_values: vec![vec![]; count],
            };
            system.prove(&parameters(2)).expect("a proof");
        }
    }
}

#[test]
fn the_prover_names_what_is_wrong() {
    let changed = |change: &dyn Fn(&mut System)| {
        let mut system = System::walk(3);
        change(&mut system);
        system.error()
    };
    let add = |table: usize, place: usize, value: u64| {
        changed(&|system| system.traces[table][place] += Goldilocks::new(value))
    };
    let expected = "message [5] of bus \"integers\" is offered once more than it is looked up";
    assert_eq!(add(INTEGERS_TABLE, 5, 1), expected);
    let expected = "message [7] of bus \"integers\" is looked up 2 times more than it is offered";
    assert_eq!(add(INTEGERS_TABLE, 7, MODULUS - 2), expected);
    let expected = "message [0, 2, 7] of bus \"steps\" is looked up once more than it is offered";
    assert_eq!(add(STEPS_TABLE, 2, 1), expected);
    // A step that no row of the walk takes.
    let expected = "message [1, 7, 6] of bus \"steps\" is looked up 2 times more than it is offered";
    assert_eq!(add(STEPS_TABLE, 7, MODULUS - 2), expected);
    assert_eq!(add(WALK, 0, 1), "table 0: constraint 0 does not hold in row 0");
    assert_eq!(add(WALK, 4, 1), "table 0: constraint 1 does not hold in row 1");
    assert_eq!(add(WALK, 5, 1), "table 0: constraint 2 does not hold in row 1");
    let mut system = System::walk(3);
    system.traces[INTEGERS_TABLE][5] += Goldilocks::ONE;
    match system.prove(&parameters(2)) {
        Err(StarkError::Unbalanced { bus, message, count, offered }) => {
            assert_eq!((&*bus, message, count, offered), ("integers", vec![5], MODULUS - 1, 1));
        }
        other => panic!("{other:?}"),
    }

    type Change = fn(&mut System);
    let shapes: [(Change, &str); 7] = [
        (|system| drop(system.traces.pop()), "expected 4 traces, one for each table; found 3"),
        (
            |system| system.public_values.push(vec![]),
            "expected 4 lists of public values, one for each table; found 5",
        ),
        (|system| system.public_values[WALK].clear(), "table 0: expected 1 public values, found 0"),
        (
            |system| system.public_values[STEPS_TABLE].push(Goldilocks::ONE),
            "table 1: expected 0 public values, found 1",
        ),
        (
            |system| system.traces[WALK].truncate(3),
            "table 0: a trace of 2^0 rows: the parameters need more than 2^0",
        ),
        (
            |system| system.traces[STEPS_TABLE].truncate(5),
            "table 1: trace: expected rows of 4 values, a power of two of at most 2^31 rows; found 5 values",
        ),
        (
            |system| system.traces[INTEGERS_TABLE].truncate(8),
            "table 2: preprocessed columns: expected 1 columns of 2^3 rows, found 1 columns of 2^4 rows",
        ),
    ];
    for (change, expected) in shapes {
        assert_eq!(changed(&change), expected);
    }
    let without_key = changed(&|system| system.preprocessed[INTEGERS_TABLE] = None);
    assert_eq!(
        without_key,
        "preprocessed columns: expected [0, 0, 1, 0] columns, found [0, 0, 0, 0] columns"
    );

    let system = System::walk(3);
    let no_key = prove_tables::<2>(
        Level::best().into(),
        &Keccak,
        &parameters(2),
        &system.tables,
        None,
        &system.traces(),
        &system.public_values(),
    );
    let expected = "preprocessed columns: expected those of 1 tables, found those of 0 tables";
    assert_eq!(no_key.expect_err("a refusal").to_string(), expected);
    let higher_cap = system.prove(&Parameters { cap_height: 4, ..parameters(2) }).expect_err("a refusal");
    assert_eq!(higher_cap.to_string(), "table 3: a trace of 2^0 rows: the parameters need more than 2^2");
    let longer = system.prove(&Parameters { log_final_length: 2, ..parameters(2) }).expect_err("a refusal");
    assert_eq!(longer.to_string(), "table 3: a trace of 2^0 rows: the parameters need more than 2^2");
    let cubic = system.prove(&parameters(3)).expect_err("a refusal");
    assert_eq!(cubic.to_string(), "parameters: extension: expected 2, found 3");
}

#[test]
fn lookups_that_cannot_be_proved_are_refused() {
    let refused = |constrain: fn(Row), expected: &str| {
        assert_eq!(Constraints::new(&Of(constrain)).expect_err("a refusal").to_string(), expected);
    };
    let selector = "AIR: lookups read a selector: take a preprocessed or a periodic column for it";
    refused(|row| Bus("b").look_up(&[row.is_first()], Goldilocks::ONE, 1), selector);
    refused(|row| Bus("b").look_up(&[row.column(0)], row.is_last(), 1), selector);
    refused(|row| Bus("b").offer(&[row.column(0)], row.column(0) * row.is_transition()), selector);
    refused(|_| Bus("b").look_up(&[], Goldilocks::ONE, 1), "AIR: lookup 0: expected messages with values");
    refused(
        |row| Bus("b").offer(&[row.column(1)], Goldilocks::ONE),
        "AIR: constraints read trace column 1, which does not exist",
    );

    // A term without a flag among others with one would count for nothing.
    let half_flagged = |row: Row| {
        let term = |flag| Term { message: vec![row.column(0)], count: Goldilocks::ONE.into(), flag };
        Lookup { bus: None, terms: vec![term(Some(row.column(0))), term(None)], most: 1 }.record();
    };
    refused(half_flagged, "AIR: lookup 0: expected flags for all 2 terms or for none, found 1");

    let narrow = Of(|row| Bus("a\"b").look_up(&[row.column(0)], Goldilocks::ONE, 1));
    let wide = Of(|row| Bus("a\"b").offer(&[row.column(0), row.column(0)], Goldilocks::ONE));
    let error = Tables::new(vec![constraints(&narrow), constraints(&wide)]).expect_err("a refusal");
    let expected = "AIR: table 1: messages of bus \"a\\\"b\" have 2 values, and 1 in others";
    assert_eq!(error.to_string(), expected);
    let error = Tables::new(vec![]).expect_err("a refusal");
    assert_eq!(error.to_string(), "AIR: expected at least one table, found none");

    let (alone, level) = (constraints(&narrow), Level::best());
    let expected = "AIR: lookups are proved with all tables at once: take `Tables`";
    let error = prove::<2>(level.into(), &Keccak, &parameters(2), &alone, None, elements([1, 2]), &[]);
    assert_eq!(error.expect_err("a refusal").to_string(), expected);
    let trivial = constraints(&Of(|row| (row.column(0) - row.column(0)).must_vanish()));
    let proof: Proof<2> =
        prove(level.into(), &Keccak, &parameters(2), &trivial, None, elements([1, 2]), &[]).expect("a proof");
    let verdict = verify(level, &Keccak, &parameters(2), &alone, None, &[], &proof);
    assert_eq!(verdict, Err(VerifyError::Statement(expected.into())));
}

/// The modulus is `(2^32 - 1) 2^32 + 1`.
#[test]
fn counts_that_could_reach_the_modulus_are_refused() {
    let many = constraints(&Of(|row| {
        for _ in 0..64 {
            Bus("b").look_up(&[row.column(0)], Goldilocks::ZERO, u32::MAX);
        }
    }));
    let one = constraints(&Of(|row| Bus("b").look_up(&[row.column(0)], Goldilocks::ZERO, 1)));
    let trace = vec![Goldilocks::ZERO; 1 << 20];
    let attempt = |tables: Vec<Constraints>| {
        let count = tables.len();
        let tables = Tables::new(tables).expect("tables");
        let traces: Vec<_> = (0..count).map(|_| Trace::from(&trace)).collect();
        let public_values = vec![&[][..]; count];
        prove_tables::<2>(
            Level::best().into(),
            &Keccak,
            &parameters(2),
            &tables,
            None,
            &traces,
            &public_values,
        )
    };
    let most = u128::from(MODULUS) - 1;
    for (last, more) in [(&one, 1 << 20), (&many, u128::from(u32::MAX) << 26)] {
        let sum = most + more;
        let error = attempt([&vec![many.clone(); 64][..], std::slice::from_ref(last)].concat())
            .expect_err("a refusal");
        let expected = format!(
            "AIR: messages could be looked up {sum} times, and at most 2^64 - 2^32 are allowed: take smaller bounds of \
             counts, or fewer rows"
        );
        assert_eq!(error.to_string(), expected);
    }

    // A proof may claim as many rows as a domain has.
    let tables = |count| Tables::new(vec![many.clone(); count]).expect("tables");
    let honest = System {
        tables: tables(1),
        preprocessed: vec![None],
        traces: vec![elements([0, 0])],
        public_values: vec![vec![]],
    };
    let mut proof = honest.prove(&parameters(2)).expect("a proof");
    for (log_rows, too_many) in [(25, false), (26, false), (27, true), (31, true)] {
        proof.log_rows = vec![log_rows];
        let verdict =
            verify_tables(Level::best(), &Keccak, &parameters(2), &honest.tables, None, &[&[]], &proof);
        let rejected = Err(VerifyError::Rejected("messages could be looked up as often as the modulus"));
        assert_eq!(verdict == rejected, too_many, "2^{log_rows} rows: {verdict:?}");
        assert!(verdict.is_err());
    }
}

type P = TablesProof<2>;

/// Collects proofs that differ in a list from a proof.
struct Changed<'a> {
    proof: &'a P,
    all: Vec<(String, P)>,
}

impl Changed<'_> {
    fn add(&mut self, what: &str, change: impl Fn(&mut P)) {
        let mut proof = self.proof.clone();
        change(&mut proof);
        if proof != *self.proof {
            self.all.push((what.to_owned(), proof));
        }
    }

    /// Other lengths, elements changed, and elements exchanged.
    fn list<T: Clone>(
        &mut self,
        what: &str,
        list: impl Fn(&mut P) -> &mut Vec<T>,
        change: impl Fn(&mut T),
        more: Option<T>,
    ) {
        let length = list(&mut self.proof.clone()).len();
        self.add(what, |proof| list(proof).clear());
        self.add(what, |proof| list(proof).truncate(length.saturating_sub(1)));
        self.add(what, |proof| list(proof).extend(more.clone()));
        self.add(what, |proof| {
            let last = list(proof).last().cloned();
            list(proof).extend(last);
        });
        for index in 0..length {
            self.add(&format!("{what} {index}"), |proof| change(&mut list(proof)[index]));
            self.add(&format!("{what} {index}, exchanged"), |proof| {
                list(proof).swap(index, (index + 1) % length)
            });
        }
    }

    fn elements(&mut self, what: &str, list: impl Fn(&mut P) -> &mut Vec<Extension<Goldilocks, 2>>) {
        self.list(what, list, |element| element.0[1] += Goldilocks::ONE, Some(Default::default()));
    }

    fn words(&mut self, what: &str, list: impl Fn(&mut P) -> &mut Vec<Goldilocks>) {
        self.list(what, list, |word| *word += Goldilocks::ONE, Some(Goldilocks::ZERO));
    }

    fn digests(&mut self, what: &str, list: impl Fn(&mut P) -> &mut Vec<proofmill_hash::Digest>) {
        self.list(what, list, |digest| digest.0[2] ^= 1, Some(Default::default()));
    }

    fn word(&mut self, what: &str, word: impl Fn(&mut P) -> &mut Goldilocks) {
        self.add(what, |proof| *word(proof) += Goldilocks::ONE);
        self.add(what, |proof| *word(proof) = Goldilocks::ZERO);
    }

    /// All fields.
    fn fields(&mut self) {
        // By all names, so that none is forgotten.
        let TablesProof {
            log_rows: _,
            traces: _,
            lookup_work: _,
            lookups: _,
            totals: _,
            quotients: _,
            random: _,
            out_of_domain_work: _,
            opened,
            opening,
        } = self.proof.clone();
        self.list("log_rows", |proof| &mut proof.log_rows, |log_rows| *log_rows += 1, Some(1));
        self.list("log_rows", |proof| &mut proof.log_rows, |log_rows| *log_rows = u32::MAX, None);
        self.digests("traces", |proof| &mut proof.traces);
        self.digests("lookups", |proof| &mut proof.lookups);
        self.digests("quotients", |proof| &mut proof.quotients);
        self.digests("random", |proof| &mut proof.random);
        self.word("lookup_work", |proof| &mut proof.lookup_work);
        self.word("out_of_domain_work", |proof| &mut proof.out_of_domain_work);
        self.elements("totals", |proof| &mut proof.totals);
        for one in 0..opened.len() {
            for other in 0..one {
                self.add("two tables", |proof| proof.opened.swap(one, other));
                self.add("two totals with the same sum", |proof| {
                    if let Ok([one, other]) = proof.totals.get_disjoint_mut([one, other]) {
                        *one += Extension::ONE;
                        *other -= Extension::ONE;
                    }
                });
            }
        }
        self.list("opened", |proof| &mut proof.opened, |values| values.columns.trace.reverse(), None);
        for (table, TableValues { columns, lookups: _, next_lookups: _ }) in opened.iter().enumerate() {
            let OpenedValues {
                trace: _,
                next: _,
                preprocessed: _,
                next_preprocessed: _,
                quotient: _,
                beside_quotient: _,
                random: _,
            } = columns;
            self.elements("beside quotient", |proof| &mut proof.opened[table].columns.beside_quotient);
            self.elements("random polynomials", |proof| &mut proof.opened[table].columns.random);
            self.elements("lookups of a table", |proof| &mut proof.opened[table].lookups);
            self.elements("next lookups of a table", |proof| &mut proof.opened[table].next_lookups);
            self.elements("trace", |proof| &mut proof.opened[table].columns.trace);
            self.elements("next", |proof| &mut proof.opened[table].columns.next);
            self.elements("preprocessed", |proof| &mut proof.opened[table].columns.preprocessed);
            self.elements("next preprocessed", |proof| &mut proof.opened[table].columns.next_preprocessed);
            self.list(
                "quotient",
                |proof| &mut proof.opened[table].columns.quotient,
                |chunk| chunk[1] += Extension::ONE,
                Some(Default::default()),
            );
        }
        let OpeningProof { batching_work: _, rounds, final_polynomial: _, query_work: _, rows } = opening;
        self.word("batching_work", |proof| &mut proof.opening.batching_work);
        self.word("query_work", |proof| &mut proof.opening.query_work);
        self.elements("final_polynomial", |proof| &mut proof.opening.final_polynomial);
        self.list("rounds", |proof| &mut proof.opening.rounds, |round| round.others.clear(), None);
        for (index, Round { commitment: _, work: _, others: _, salts: _, siblings: _ }) in
            rounds.iter().enumerate()
        {
            self.words("salts of a round", |proof| &mut proof.opening.rounds[index].salts);
            self.digests("commitment of a round", |proof| &mut proof.opening.rounds[index].commitment);
            self.word("work of a round", |proof| &mut proof.opening.rounds[index].work);
            self.elements("others of a round", |proof| &mut proof.opening.rounds[index].others);
            self.digests("siblings of a round", |proof| &mut proof.opening.rounds[index].siblings);
        }
        self.list("rows", |proof| &mut proof.opening.rows, |rows| rows.values.reverse(), None);
        for (index, OpenedRows { values: _, siblings: _ }) in rows.iter().enumerate() {
            self.words("values of rows", |proof| &mut proof.opening.rows[index].values);
            self.digests("siblings of rows", |proof| &mut proof.opening.rows[index].siblings);
        }
    }
}

#[test]
fn every_field_of_a_proof_counts() {
    every_field_counts(&System::walk(2), &parameters(2));
}

#[test]
fn every_field_of_a_blinded_proof_counts() {
    every_field_counts(&System::walk_and(4, 16), &parameters(2).blinded());
}

fn every_field_counts(system: &System, parameters: &Parameters) {
    let level = Level::best();
    let (tables, hash) = (&system.tables, &Sponge(Poseidon2::<8>));
    let key = TablesKey::new(level, hash, parameters, tables, system.preprocessed.clone()).expect("a key");
    let (traces, public_values) = (system.traces(), system.public_values());
    let proof: P =
        prove_tables(level.into(), hash, parameters, tables, key.as_ref(), &traces, &public_values)
            .expect("a proof");
    let key = key.as_ref().map(TablesKey::verifying_key);
    let mut changed = Changed { proof: &proof, all: vec![] };
    changed.fields();
    assert!(changed.all.len() > 600, "{} changes", changed.all.len());
    for (what, proof) in &changed.all {
        let verdict = verify_tables(level, hash, parameters, tables, key.as_ref(), &public_values, proof);
        let refused = matches!(verdict, Err(VerifyError::Malformed { .. } | VerifyError::Rejected(_)));
        assert!(refused, "{what}: {verdict:?}");
    }
}

#[test]
fn other_statements_are_refused() {
    let (system, level) = (System::walk(2), Level::best());
    let parameters = parameters(2);
    let proof = system.prove(&parameters).expect("a proof");
    let key = TablesKey::new(level, &Keccak, &parameters, &system.tables, system.preprocessed.clone());
    let key = key.expect("a key").expect("preprocessed columns").verifying_key();
    let public_values = system.public_values();
    let verdict = |parameters: &Parameters, tables: &Tables, key: Option<&_>, public_values: &[&[_]]| {
        verify_tables(level, &Keccak, parameters, tables, key, public_values, &proof)
    };
    assert_eq!(verdict(&parameters, &system.tables, Some(&key), &public_values), Ok(()));
    let is_statement = |verdict| matches!(verdict, Err(VerifyError::Statement(_)));
    assert!(is_statement(verdict(&parameters, &system.tables, None, &public_values)));
    assert!(is_statement(verdict(&parameters, &system.tables, Some(&key), &public_values[1..])));
    assert!(is_statement(verdict(&parameters, &system.tables, Some(&key), &[&[][..]; 4])));
    let mut other = key.clone();
    other.log_rows.push(2);
    assert!(is_statement(verdict(&parameters, &system.tables, Some(&other), &public_values)));
    other.log_rows = vec![BITS - 1];
    let refused = verdict(&parameters, &system.tables, Some(&other), &public_values);
    assert!(matches!(refused, Err(VerifyError::Malformed { .. })));
    other.log_rows = vec![BITS];
    other.cap.reverse();
    assert!(verdict(&parameters, &system.tables, Some(&other), &public_values).is_err());
    other.cap.clear();
    assert!(verdict(&parameters, &system.tables, Some(&other), &public_values).is_err());
    let one = elements([3]);
    assert!(verdict(&parameters, &system.tables, Some(&key), &[&one, &[], &[], &[]]).is_err());

    let mut exchanged = system.tables.tables().to_vec();
    exchanged.swap(1, 3);
    let exchanged = Tables::new(exchanged).expect("tables");
    assert!(verdict(&parameters, &exchanged, Some(&key), &public_values).is_err());
    let fewer = Tables::new(system.tables.tables()[..3].to_vec()).expect("tables");
    assert!(verdict(&parameters, &fewer, Some(&key), &public_values[..3]).is_err());

    let changes: [fn(&mut Parameters); 10] = [
        |parameters| parameters.log_blowup += 1,
        |parameters| parameters.log_arity -= 1,
        |parameters| parameters.log_final_length += 1,
        |parameters| parameters.queries += 1,
        |parameters| parameters.cap_height -= 1,
        |parameters| parameters.grinding.lookups += 1,
        |parameters| parameters.grinding.out_of_domain += 1,
        |parameters| parameters.grinding.batching += 1,
        |parameters| parameters.grinding.commit += 1,
        |parameters| parameters.grinding.query += 1,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut other = parameters;
        change(&mut other);
        assert!(verdict(&other, &system.tables, Some(&key), &public_values).is_err(), "change {index}");
    }
}

/// A lookup can be of any expression, and a message of a sum of counts.
#[test]
fn expressions_in_messages_and_counts() {
    let air = Of(|row| {
        let value: Expression = row.column(0);
        let two = Expression::from(Goldilocks::new(2));
        Bus("sums").look_up(&[value + value, two * value], Goldilocks::new(3), 3);
        Bus("sums").offer(&[value * two, value + value], two + Goldilocks::ONE.into());
    });
    let system = System {
        tables: Tables::new(vec![constraints(&air)]).expect("tables"),
        preprocessed: vec![None],
        traces: vec![elements([1, 7, 3, 9])],
        public_values: vec![vec![]],
    };
    system.prove(&parameters(2)).expect("a proof");
}
