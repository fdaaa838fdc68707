//! Arbitrary bytes as STARK proofs, AIRs and questions about a trace, and valid proofs, blinded ones and those of two tables among them, with arbitrary changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_cpu::Level;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_merkle::Hash;
use proofmill_stark::{
    AirDocument, Config, Constraints, Cosets, Question, Tables, Trace,
    air::{Air, Bus, Preprocessed, Row},
    security::{Grinding, Parameters},
};
use std::sync::{LazyLock, Mutex};

const ROWS: u64 = 16;

/// A column that is multiplied by a preprocessed and a periodic value, its first value public.
struct Product;

impl Air for Product {
    fn columns(&self) -> usize {
        1
    }
    fn public_values(&self) -> usize {
        1
    }
    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: (2..2 + ROWS).map(Goldilocks::new).collect() })
    }
    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![vec![Goldilocks::new(3), Goldilocks::new(5)]]
    }
    fn constrain(&self, row: Row) {
        (row.is_first() * (row.column(0) - row.public_value(0))).must_vanish();
        let product = row.column(0) * row.preprocessed(0) * row.periodic(0);
        (row.is_transition() * (row.next(0) - product)).must_vanish();
    }
}

const BUS: Bus<'_> = Bus("integers");

/// Integers in a preprocessed column, with how often each is looked up.
struct Integers;

impl Air for Integers {
    fn columns(&self) -> usize {
        1
    }
    fn preprocessed(&self) -> Option<Preprocessed> {
        Product.preprocessed()
    }
    fn constrain(&self, row: Row) {
        BUS.offer(&[row.preprocessed(0)], row.column(0));
    }
}

/// Columns of integers that are looked up, a value of the first one public.
struct LookUps;

impl Air for LookUps {
    fn columns(&self) -> usize {
        2
    }
    fn public_values(&self) -> usize {
        1
    }
    fn constrain(&self, row: Row) {
        (row.is_first() * (row.column(0) - row.public_value(0))).must_vanish();
        (0..2).for_each(|column| BUS.look_up(&[row.column(column)], Goldilocks::ONE, 1));
    }
}

/// A proof of two tables of different heights.
struct CaseOfTables {
    config: Config,
    tables: Tables,
    proof: Vec<u8>,
}

const PUBLIC_OF_TABLES: [&[Goldilocks]; 2] = [&[], &[Goldilocks::new(7)]];

static CASES_OF_TABLES: LazyLock<[CaseOfTables; 3]> = LazyLock::new(|| {
    [0, 1, 2].map(|case| {
        let Case { config, .. } = CASES[case];
        let tables = [Constraints::new(&Integers), Constraints::new(&LookUps)].map(Result::unwrap);
        let tables = Tables::new(tables.into()).unwrap();
        let looked_up: Vec<_> = (0..4 * ROWS).map(|i| Goldilocks::new(2 + (i * i + 5) % ROWS)).collect();
        let count = |integer| looked_up.iter().filter(|value| value.to_canonical() == integer).count() as u64;
        let counts: Vec<_> = (2..2 + ROWS).map(|integer| Goldilocks::new(count(integer))).collect();
        let preprocessed = vec![Integers.preprocessed(), None];
        let traces = [Trace::from(&counts), Trace::from(&looked_up)];
        let level = Level::best().into();
        let proof = config.prove_tables(level, &tables, preprocessed, &traces, &PUBLIC_OF_TABLES).unwrap();
        CaseOfTables { config, tables, proof }
    })
});

struct Case {
    config: Config,
    constraints: Constraints,
    preprocessed: Option<Preprocessed>,
    proof: Vec<u8>,
}

const PUBLIC: [Goldilocks; 1] = [Goldilocks::ONE];

static CASES: LazyLock<[Case; 3]> = LazyLock::new(|| {
    [(Hash::Keccak, 2, 0), (Hash::Poseidon2Width8, 3, 0), (Hash::Keccak, 2, 2)].map(|case| {
        let (hash, extension, random_columns) = case;
        let parameters = Parameters {
            extension,
            log_blowup: 1,
            log_arity: 2,
            log_final_length: 1,
            queries: 2,
            cap_height: 1,
            grinding: Grinding::default(),
            random_columns,
            ..Parameters::PROVEN_100
        };
        let config = Config { hash, parameters, bits: 0, ..Config::default() };
        let (constraints, preprocessed) = (Constraints::new(&Product).unwrap(), Product.preprocessed());
        let trace = products().into();
        let proof = config.prove(Level::best().into(), &constraints, preprocessed.as_ref(), trace, &PUBLIC);
        Case { config, constraints, preprocessed, proof: proof.unwrap() }
    })
});

/// The trace of [`Product`].
fn products() -> Vec<Goldilocks> {
    let mut trace = PUBLIC.to_vec();
    for row in 0..ROWS - 1 {
        let factor = Goldilocks::new(row + 2) * Product.periodic_columns()[0][row as usize % 2];
        trace.push(trace[row as usize] * factor);
    }
    trace
}

static COSETS: LazyLock<Mutex<Cosets>> = LazyLock::new(|| {
    let Case { config, constraints, preprocessed, .. } = &CASES[1];
    let config = Config { parameters: Parameters { log_blowup: 2, ..config.parameters }, ..*config };
    let (level, trace) = (Level::best(), products().into());
    Mutex::new(Cosets::new(level, &config, constraints, preprocessed.as_ref(), trace, &PUBLIC).unwrap())
});

/// Tries the bytes, the valid proof and changes of it that the bytes say.
fn try_changes(bytes: &[u8], proof: &[u8], accepts: impl Fn(&[u8]) -> bool) {
    assert!(accepts(proof));
    assert!(!accepts(bytes) || bytes == proof);
    // Three bytes are a place and a change; an odd one more takes as many bytes from the end.
    let mut changed = proof.to_vec();
    let (changes, rest) = bytes.as_chunks::<3>();
    for [low, high, change] in changes {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % changed.len();
        changed[at] ^= change;
    }
    let taken = rest.first().map_or(0, |byte| usize::from(*byte));
    changed.truncate(changed.len().saturating_sub(taken));
    assert!(!accepts(&changed) || changed == proof);
}

fuzz_target!(|bytes: &[u8]| {
    if let [coset, question @ ..] = bytes {
        let question = Question { coset: usize::from(*coset), bytes: question.to_vec() };
        drop(COSETS.lock().unwrap().answer(Level::best(), &question));
    }
    for case in &*CASES_OF_TABLES {
        try_changes(bytes, &case.proof, |proof| {
            let preprocessed = vec![Integers.preprocessed(), None];
            let verified = case.config.verify_tables(
                Level::best(),
                &case.tables,
                preprocessed,
                &PUBLIC_OF_TABLES,
                proof,
            );
            verified.is_ok()
        });
    }
    for case in &*CASES {
        let accepts = |constraints: &Constraints, proof: &[u8]| {
            let preprocessed = case.preprocessed.as_ref();
            case.config.verify(Level::best(), constraints, preprocessed, &PUBLIC, proof).is_ok()
        };
        try_changes(bytes, &case.proof, |proof| accepts(&case.constraints, proof));
        if let Ok(document) = AirDocument::parse(bytes)
            && let (Ok(constraints), Ok(preprocessed)) = (document.constraints(), document.preprocessed())
        {
            accepts(&constraints, &case.proof);
            // An AIR that can be read can be written and read again.
            let text = AirDocument::new(&constraints, preprocessed.as_ref()).text();
            assert!(AirDocument::parse(text.as_bytes()).is_ok_and(|again| again.constraints().is_ok()));
        }
    }
});
