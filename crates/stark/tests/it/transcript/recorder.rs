//! A hash whose transcript writes down what it takes and what it gives.

use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::{Digest, TreeHash};
use proofmill_stark::{Challenger, StarkHash};
use std::cell::RefCell;

/// What happens in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An element is taken.
    Word(Goldilocks),
    /// A digest is taken.
    Digest(Digest),
    /// A proof of work, of so many bits, is taken.
    Work(u32, Goldilocks),
    /// An element is drawn.
    Challenge(Goldilocks),
    /// The index of a query is drawn: more bits of it than the protocol takes.
    Index(usize),
}

/// The bits of an index that are written down, so that two are equal by chance with a negligible probability.
const INDEX_BITS: u32 = 60;

thread_local! {
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
}

fn record(event: Event) {
    EVENTS.with_borrow_mut(|events| events.push(event));
}

/// What `run` returns, and what happened in the transcripts of this thread meanwhile.
pub(crate) fn recorded<T>(run: impl FnOnce() -> T) -> (T, Vec<Event>) {
    EVENTS.take();
    let result = run();
    (result, EVENTS.take())
}

/// What was drawn.
pub(crate) fn challenges(events: &[Event]) -> Vec<u64> {
    let drawn = events.iter().filter_map(|event| match event {
        Event::Challenge(element) => Some(element.to_canonical()),
        Event::Index(index) => Some(*index as u64),
        Event::Word(_) | Event::Digest(_) | Event::Work(..) => None,
    });
    drawn.collect()
}

/// The challenges of a transcript that takes these events.
pub(crate) fn replayed(hash: Recorded, events: &[Event]) -> Vec<u64> {
    let mut challenger = hash.challenger();
    let (_, events) = recorded(|| {
        for event in events {
            match event {
                Event::Word(element) => challenger.observe(*element),
                Event::Digest(digest) => challenger.observe_digest(digest),
                Event::Work(bits, witness) => {
                    challenger.check_work(*bits, *witness);
                }
                Event::Challenge(_) => {
                    challenger.sample();
                }
                Event::Index(_) => {
                    challenger.sample_bits(1);
                }
            }
        }
    });
    challenges(&events)
}

/// A hash that gives the same digests, and whose transcripts are recorded. Every proof of work is said to be enough, so that the challenges
/// of changed proofs are drawn to the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded(pub(crate) &'static dyn StarkHash);

impl TreeHash for Recorded {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn modulus(&self) -> Option<u64> {
        self.0.modulus()
    }

    fn element_bytes(&self) -> usize {
        self.0.element_bytes()
    }

    fn is_digest(&self, digest: &Digest) -> bool {
        self.0.is_digest(digest)
    }

    fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
        self.0.hash_rows(level, rows, columns, digests);
    }

    fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
        self.0.hash_columns(level, columns, digests);
    }

    fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]) {
        self.0.hash_pairs(level, children, parents);
    }
}

impl StarkHash for Recorded {
    fn challenger(&self) -> Box<dyn Challenger> {
        Box::new(Recorder(self.0.challenger()))
    }
}

/// A challenger that writes down events.
struct Recorder(Box<dyn Challenger>);

impl Challenger for Recorder {
    fn observe(&mut self, element: Goldilocks) {
        record(Event::Word(element));
        self.0.observe(element);
    }

    fn observe_digest(&mut self, digest: &Digest) {
        record(Event::Digest(*digest));
        self.0.observe_digest(digest);
    }

    fn sample(&mut self) -> Goldilocks {
        let element = self.0.sample();
        record(Event::Challenge(element));
        element
    }

    fn sample_bits(&mut self, bits: u32) -> usize {
        let index = self.0.sample_bits(INDEX_BITS);
        record(Event::Index(index));
        index & ((1 << bits) - 1)
    }

    fn check_work(&mut self, bits: u32, witness: Goldilocks) -> bool {
        if bits > 0 {
            record(Event::Work(bits, witness));
            self.0.check_work(bits, witness);
        }
        true
    }

    fn work(&mut self, level: Level, bits: u32) -> Goldilocks {
        let witness = self.0.work(level, bits);
        if bits > 0 {
            record(Event::Work(bits, witness));
        }
        witness
    }
}
