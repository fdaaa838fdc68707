//! Sponges that take messages and give challenges.

use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_hash::{Digest, Keccak256, Permutation, permute, permute_states, sponge::DIGEST};
use proofmill_parallel as parallel;
use std::marker::PhantomData;

/// A source of challenges that depend on all that it has observed.
pub trait Challenger: Clone + Send + Sync {
    /// The digests of commitments.
    type Digest;

    /// Before anything was observed.
    fn new() -> Self;

    /// Takes an element of a message.
    fn observe(&mut self, element: Goldilocks);

    /// Takes a digest of a commitment.
    fn observe_digest(&mut self, digest: &Self::Digest);

    /// A uniform element of the base field.
    fn sample(&mut self) -> Goldilocks;

    /// An integer below `2^bits`; for at most 63 bits.
    fn sample_bits(&mut self, bits: u32) -> usize;

    /// Takes a proof of work, and returns whether it proves as many bits. Nothing is taken for no bits.
    fn check_work(&mut self, bits: u32, witness: Goldilocks) -> bool;

    /// Finds a proof of work for `bits` bits, the least word that is one, and takes it; zero for no bits.
    fn work(&mut self, level: Level, bits: u32) -> Goldilocks;
}

/// The least candidate for which `passes` holds, which gets ranges of candidates and returns the first in a range. Threads take
/// rounds of ranges, so the result does not depend on their number.
fn least(passes: impl Fn(std::ops::Range<u64>) -> Option<u64> + Sync) -> Goldilocks {
    const RANGE: u64 = 1 << 10;
    let tasks = 4 * parallel::threads() as u64;
    let mut first = 0;
    loop {
        let ranges = (0..tasks).map(|task| first + task * RANGE).map(|start| start..start + RANGE);
        if let Some(witness) = parallel::map(ranges, &passes).into_iter().flatten().next() {
            return Goldilocks::new(witness);
        }
        first += tasks * RANGE;
    }
}

/// A sponge in duplex mode over a permutation, whose capacity is a digest; Plonky3's `DuplexChallenger`.
#[derive(Clone, Debug)]
pub struct DuplexChallenger<P> {
    state: Vec<Goldilocks>,
    /// What was observed since the last permutation: less than the rate.
    input: Vec<Goldilocks>,
    /// Elements of the rate that were not given out yet; the last one is next.
    output: Vec<Goldilocks>,
    permutation: PhantomData<P>,
}

impl<P: Permutation> DuplexChallenger<P> {
    const RATE: usize = P::WIDTH - DIGEST;

    /// The state before the next permutation: new elements overwrite the rate, zeros follow, and their number is added to the
    /// capacity.
    fn absorbed(&self) -> Vec<Goldilocks> {
        let mut state = self.state.clone();
        let count = self.input.len();
        state[..count].copy_from_slice(&self.input);
        if count > 0 {
            state[count..Self::RATE].fill(Goldilocks::ZERO);
            state[Self::RATE] += Goldilocks::new(count as u64);
        }
        state
    }

    fn duplex(&mut self) {
        self.state = self.absorbed();
        self.input.clear();
        permute::<P>(&mut self.state);
        self.output = self.state[..Self::RATE].to_vec();
    }
}

impl<P: Permutation> Challenger for DuplexChallenger<P> {
    type Digest = Digest;

    fn new() -> Self {
        Self {
            state: vec![Goldilocks::ZERO; P::WIDTH],
            input: Vec::new(),
            output: Vec::new(),
            permutation: PhantomData,
        }
    }

    fn observe(&mut self, element: Goldilocks) {
        self.output.clear();
        self.input.push(element);
        if self.input.len() == Self::RATE {
            self.duplex();
        }
    }

    fn observe_digest(&mut self, digest: &Digest) {
        digest.0.into_iter().for_each(|element| self.observe(element));
    }

    fn sample(&mut self) -> Goldilocks {
        if !self.input.is_empty() || self.output.is_empty() {
            self.duplex();
        }
        self.output.pop().unwrap_or_default()
    }

    fn sample_bits(&mut self, bits: u32) -> usize {
        (self.sample().to_canonical() & ((1 << bits) - 1)) as usize
    }

    fn check_work(&mut self, bits: u32, witness: Goldilocks) -> bool {
        if bits == 0 {
            return true;
        }
        self.observe(witness);
        self.sample_bits(bits) == 0
    }

    fn work(&mut self, level: Level, bits: u32) -> Goldilocks {
        if bits == 0 {
            return Goldilocks::ZERO;
        }
        let (place, mask) = (self.input.len(), (1 << bits) - 1);
        let mut with_one = self.clone();
        with_one.input.push(Goldilocks::ZERO);
        let state = with_one.absorbed();
        let witness = least(|candidates| {
            let count = (candidates.end - candidates.start) as usize;
            let mut states = vec![0; P::WIDTH * count];
            for (words, element) in states.chunks_exact_mut(count).zip(&state) {
                words.fill(element.to_canonical());
            }
            states[place * count..][..count]
                .iter_mut()
                .zip(candidates.clone())
                .for_each(|(to, word)| *to = word);
            permute_states::<P>(level, &mut states);
            let last = &states[(Self::RATE - 1) * count..][..count];
            candidates.zip(last).find(|(_, word)| **word & mask == 0).map(|(candidate, _)| candidate)
        });
        assert!(self.check_work(bits, witness), "the proof of work that was found");
        witness
    }
}

/// A chain of Keccak-256 digests; Plonky3's `SerializingChallenger64<_, HashChallenger<u8, Keccak256Hash, 32>>`.
#[derive(Clone, Debug)]
pub struct KeccakChallenger {
    /// The last digest, and what was observed since.
    input: Vec<u8>,
    /// Bytes of the last digest that were not given out yet; the last one is next.
    output: Vec<u8>,
}

impl KeccakChallenger {
    fn byte(&mut self) -> u8 {
        if self.output.is_empty() {
            let digest = Keccak256::digest(&self.input);
            (self.input, self.output) = (digest.to_vec(), digest.to_vec());
        }
        self.output.pop().unwrap_or_default()
    }

    fn word(&mut self) -> u64 {
        let mut bytes = [0; 8];
        bytes.iter_mut().for_each(|byte| *byte = self.byte());
        u64::from_le_bytes(bytes)
    }

    fn observe_word(&mut self, word: u64) {
        self.output.clear();
        self.input.extend(word.to_le_bytes());
    }
}

impl Challenger for KeccakChallenger {
    type Digest = [u64; DIGEST];

    fn new() -> Self {
        Self { input: Vec::new(), output: Vec::new() }
    }

    fn observe(&mut self, element: Goldilocks) {
        self.observe_word(element.to_canonical());
    }

    fn observe_digest(&mut self, digest: &[u64; DIGEST]) {
        digest.iter().for_each(|word| self.observe_word(*word));
    }

    fn sample(&mut self) -> Goldilocks {
        loop {
            let word = self.word();
            if word < MODULUS {
                return Goldilocks::new(word);
            }
        }
    }

    fn sample_bits(&mut self, bits: u32) -> usize {
        (self.word() & ((1 << bits) - 1)) as usize
    }

    fn check_work(&mut self, bits: u32, witness: Goldilocks) -> bool {
        if bits == 0 {
            return true;
        }
        // So that only a digest precedes the witness, however much was observed.
        self.byte();
        self.observe(witness);
        self.sample_bits(bits) == 0
    }

    fn work(&mut self, _level: Level, bits: u32) -> Goldilocks {
        if bits == 0 {
            return Goldilocks::ZERO;
        }
        let challenger = &*self;
        let witness = least(|mut candidates| {
            candidates.find(|candidate| challenger.clone().check_work(bits, Goldilocks::new(*candidate)))
        });
        assert!(self.check_work(bits, witness), "the proof of work that was found");
        witness
    }
}
