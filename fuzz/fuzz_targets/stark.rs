//! Arbitrary bytes as STARK proofs and AIRs, and a valid proof with arbitrary changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_cpu::Level;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_merkle::Hash;
use proofmill_stark::{
    AirDocument, Config, Constraints,
    air::{Air, Preprocessed, Row},
    security::{Grinding, Parameters},
};
use std::sync::LazyLock;

const ROWS: u64 = 8;

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

struct Case {
    config: Config,
    constraints: Constraints,
    preprocessed: Option<Preprocessed>,
    proof: Vec<u8>,
}

const PUBLIC: [Goldilocks; 1] = [Goldilocks::ONE];

static CASES: LazyLock<[Case; 2]> = LazyLock::new(|| {
    [(Hash::Keccak, 2), (Hash::Poseidon2Width8, 3)].map(|(hash, extension)| {
        let parameters = Parameters {
            extension,
            log_blowup: 1,
            log_arity: 2,
            log_final_length: 1,
            queries: 2,
            cap_height: 1,
            grinding: Grinding::default(),
            ..Parameters::PROVEN_100
        };
        let config = Config { hash, parameters };
        let (constraints, preprocessed) = (Constraints::new(&Product).unwrap(), Product.preprocessed());
        let mut trace = PUBLIC.to_vec();
        for row in 0..ROWS - 1 {
            let factor = Goldilocks::new(row + 2) * Product.periodic_columns()[0][row as usize % 2];
            trace.push(trace[row as usize] * factor);
        }
        let proof =
            config.prove(Level::best().into(), &constraints, preprocessed.as_ref(), trace.into(), &PUBLIC);
        Case { config, constraints, preprocessed, proof: proof.unwrap() }
    })
});

fuzz_target!(|bytes: &[u8]| {
    for case in &*CASES {
        let accepts = |constraints: &Constraints, proof: &[u8]| {
            let preprocessed = case.preprocessed.as_ref();
            case.config.verify(Level::best(), constraints, preprocessed, &PUBLIC, proof).is_ok()
        };
        assert!(accepts(&case.constraints, &case.proof));
        assert!(!accepts(&case.constraints, bytes) || bytes == case.proof);
        // Three bytes are a place and a change; an odd one more takes as many bytes from the end.
        let mut changed = case.proof.clone();
        let (changes, rest) = bytes.as_chunks::<3>();
        for [low, high, change] in changes {
            let at = usize::from(u16::from_le_bytes([*low, *high])) % changed.len();
            changed[at] ^= change;
        }
        let taken = rest.first().map_or(0, |byte| usize::from(*byte));
        changed.truncate(changed.len().saturating_sub(taken));
        assert!(!accepts(&case.constraints, &changed) || changed == case.proof);
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
