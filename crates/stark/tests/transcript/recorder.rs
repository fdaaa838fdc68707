//! A hash whose transcript writes down what it takes and what it gives.

use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::TreeHash;
use proofmill_stark::{Challenger, StarkHash};
use std::{cell::RefCell, marker::PhantomData};

/// What happens in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An element is taken.
    Word(Goldilocks),
    /// A digest is taken.
    Digest([u8; 32]),
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
pub(crate) fn replayed<H: StarkHash>(events: &[Event]) -> Vec<u64> {
    let mut challenger = Recorder::<H>::new();
    let (_, events) = recorded(|| {
        for event in events {
            match event {
                Event::Word(element) => challenger.observe(*element),
                Event::Digest(bytes) => challenger.observe_digest(&H::from_bytes(bytes).expect("a digest")),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded<H>(PhantomData<H>);

impl<H: TreeHash> TreeHash for Recorded<H> {
    type Digest = H::Digest;

    const NAME: &'static str = H::NAME;
    const MODULUS: Option<u64> = H::MODULUS;
    const ELEMENT_BYTES: usize = H::ELEMENT_BYTES;

    fn hash_rows(level: Level, rows: &[u64], columns: usize, digests: &mut [H::Digest]) {
        H::hash_rows(level, rows, columns, digests);
    }

    fn hash_columns(level: Level, columns: &[&[u64]], digests: &mut [H::Digest]) {
        H::hash_columns(level, columns, digests);
    }

    fn hash_pairs(level: Level, children: &[H::Digest], parents: &mut [H::Digest]) {
        H::hash_pairs(level, children, parents);
    }

    fn to_bytes(digest: &H::Digest) -> [u8; 32] {
        H::to_bytes(digest)
    }

    fn from_bytes(bytes: &[u8; 32]) -> Option<H::Digest> {
        H::from_bytes(bytes)
    }
}

impl<H: StarkHash> StarkHash for Recorded<H> {
    type Challenger = Recorder<H>;
}

/// A challenger that writes down events.
#[derive(Clone)]
pub(crate) struct Recorder<H: StarkHash>(H::Challenger);

impl<H: StarkHash> Challenger for Recorder<H> {
    type Digest = H::Digest;

    fn new() -> Self {
        Self(H::Challenger::new())
    }

    fn observe(&mut self, element: Goldilocks) {
        record(Event::Word(element));
        self.0.observe(element);
    }

    fn observe_digest(&mut self, digest: &H::Digest) {
        record(Event::Digest(H::to_bytes(digest)));
        self.0.observe_digest(digest);
    }

    fn sample(&mut self) -> Goldilocks {
        let element = self.0.sample();
        record(Event::Challenge(element));
        element
    }

    fn sample_bits(&mut self, bits: u32) -> usize {
        record(Event::Index(self.0.clone().sample_bits(INDEX_BITS)));
        self.0.sample_bits(bits)
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
