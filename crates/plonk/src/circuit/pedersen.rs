//! The Pedersen hash.

use super::{
    Circuit, Variable,
    multiples::{Multiples, start},
};
use proofmill_curve::{Affine, grumpkin::Grumpkin};
use proofmill_hash::pedersen::{GENERATORS, ORIGIN};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The start and the multiples for hashes with windows of one width.
struct Summands {
    start: Affine<Grumpkin>,
    multiples: [Multiples; 2],
}

impl Summands {
    /// The summands for a width, computed once.
    fn of_width(width: u32) -> Arc<Self> {
        static KNOWN: Mutex<BTreeMap<u32, Arc<Summands>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let multiples = GENERATORS.map(|generator| Multiples::with_window_bits(generator, width));
            Arc::new(Self { start: start(ORIGIN, &GENERATORS), multiples })
        };
        known.entry(width).or_insert_with(make).clone()
    }
}

impl Circuit {
    /// The Pedersen hash of two elements, [`proofmill_hash::pedersen::pedersen`].
    ///
    /// Rows: standard 2543, turbo 172, ultra 53, and in ultra tables of 51,232 rows once per circuit.
    pub fn pedersen(&mut self, a: Variable, b: Variable) -> Variable {
        let summands = Summands::of_width(self.window_bits);
        let [of_a, of_b] = &summands.multiples;
        let terms = [(a, of_a), (b, of_b)];
        self.gadget("pedersen", |circuit| circuit.abscissa_of_multiples(summands.start, &terms))
    }
}
