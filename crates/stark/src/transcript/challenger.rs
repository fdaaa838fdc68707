//! Sponges that take messages and give challenges.

use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_hash::{
    DIGEST, Digest, KECCAK_WIDTH, Keccak, Keccak256, Permutation, Sha256, TreeHash, keccak_f_states, permute,
    permute_states,
};
use proofmill_run::parallel;
use proofmill_sha256 as sha256;
use std::{marker::PhantomData, ops::Range};

/// A source of challenges that depend on all that it has observed.
pub trait Challenger {
    /// Takes an element of a message.
    fn observe(&mut self, element: Goldilocks);

    /// Takes a digest of a commitment.
    fn observe_digest(&mut self, digest: &Digest);

    /// A uniform element of the base field.
    fn sample(&mut self) -> Goldilocks;

    /// An integer below `2^bits`; for at most 63 bits.
    fn sample_bits(&mut self, bits: u32) -> usize;

    /// Takes a proof of work, and returns whether it proves `bits` bits. For 0 bits nothing is taken.
    fn check_work(&mut self, bits: u32, witness: Goldilocks) -> bool;

    /// Finds the least word that is a proof of work of `bits` bits, and takes it. For 0 bits it is zero, and nothing is taken.
    fn work(&mut self, level: Level, bits: u32) -> Goldilocks;
}

/// The least candidate that passes. `passes` gets a range of candidates, and returns the first of the range that passes. Threads take
/// rounds of tasks, so the result does not depend on the number of threads.
pub(super) fn least(passes: impl Fn(Range<u64>) -> Option<u64> + Sync) -> Goldilocks {
    const TASK: u64 = 1 << 10;
    /// The number of candidates whose states a cache holds, side by side. With more, the words of a state are in the same few sets of the
    /// cache.
    const RANGE: usize = 1 << 6;
    let tasks = 4 * parallel::threads() as u64;
    let of_task = |start: u64| {
        (start..start + TASK).step_by(RANGE).find_map(|start| passes(start..start + RANGE as u64))
    };
    let mut first = 0;
    loop {
        let starts = (0..tasks).map(|task| first + task * TASK);
        if let Some(witness) = parallel::map(starts, of_task).into_iter().flatten().next() {
            return Goldilocks::new(witness);
        }
        first += tasks * TASK;
    }
}

/// A sponge in duplex mode over a permutation, whose capacity is a digest; Plonky3's `DuplexChallenger`.
#[derive(Clone, Debug)]
pub(crate) struct DuplexChallenger<P> {
    state: Vec<Goldilocks>,
    /// The elements observed since the last permutation: fewer than the rate.
    input: Vec<Goldilocks>,
    /// Elements of the rate that were not given out yet; the last one is next.
    output: Vec<Goldilocks>,
    permutation: PhantomData<P>,
}

impl<P: Permutation> DuplexChallenger<P> {
    const RATE: usize = P::WIDTH - DIGEST;

    /// A source of challenges that has observed nothing.
    pub(crate) fn new() -> Self {
        Self {
            state: vec![Goldilocks::ZERO; P::WIDTH],
            input: Vec::new(),
            output: Vec::new(),
            permutation: PhantomData,
        }
    }

    /// The state before the next permutation: new elements overwrite the rate, zeros follow, and their number is added to the
    /// capacity.
    fn absorbed(&self) -> Vec<Goldilocks> {
        let mut state = self.state.clone();
        let count = self.input.len();
        state[..count].copy_from_slice(&self.input);
        // The number in the capacity tells a message from one that ends with the padding.
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
    fn observe(&mut self, element: Goldilocks) {
        self.output.clear();
        self.input.push(element);
        if self.input.len() == Self::RATE {
            self.duplex();
        }
    }

    fn observe_digest(&mut self, digest: &Digest) {
        digest.0.into_iter().for_each(|word| self.observe(Goldilocks::new(word)));
    }

    fn sample(&mut self) -> Goldilocks {
        // A challenge depends on all observed elements, also on elements that do not fill the rate.
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
        // Candidates differ in one element of the state.
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
            // The element that is sampled first.
            let last = &states[(Self::RATE - 1) * count..][..count];
            candidates.zip(last).find(|(_, word)| **word & mask == 0).map(|(candidate, _)| candidate)
        });
        assert!(self.check_work(bits, witness), "the proof of work that was found");
        witness
    }
}

/// A hash of messages, for transcripts.
pub(crate) trait MessageHash: Copy {
    /// The digest of bytes.
    fn digest(message: &[u8]) -> [u8; 32];

    /// The digest of each message of five words, eight little-endian bytes each.
    fn digests(level: Level, messages: &[[u64; WORK]]) -> Vec<Digest>;
}

/// The number of words of the message that a proof of work is checked with: a digest, and the witness.
const WORK: usize = DIGEST + 1;

impl MessageHash for Keccak {
    fn digest(message: &[u8]) -> [u8; 32] {
        Keccak256::digest(message)
    }

    fn digests(level: Level, messages: &[[u64; WORK]]) -> Vec<Digest> {
        const LAST_OF_RATE: usize = 16;
        // Each word of all messages, with Keccak-256's padding.
        let count = messages.len();
        let mut states = vec![0; KECCAK_WIDTH * count];
        for (k, message) in messages.iter().enumerate() {
            message.iter().enumerate().for_each(|(i, word)| states[i * count + k] = *word);
            states[WORK * count + k] = 1;
            states[LAST_OF_RATE * count + k] = 1 << 63;
        }
        keccak_f_states(level, &mut states);
        (0..count).map(|k| Digest(std::array::from_fn(|i| states[i * count + k]))).collect()
    }
}

impl MessageHash for Sha256 {
    fn digest(message: &[u8]) -> [u8; 32] {
        sha256::digest(message)
    }

    fn digests(level: Level, messages: &[[u64; WORK]]) -> Vec<Digest> {
        let mut digests = vec![Digest::default(); messages.len()];
        Self.hash_rows(level, messages.as_flattened(), WORK, &mut digests);
        digests
    }
}

/// A chain of digests; Plonky3's `SerializingChallenger64<_, HashChallenger<u8, _, 32>>`.
#[derive(Clone, Debug)]
pub(crate) struct HashChallenger<H> {
    /// The last digest, and the bytes observed since.
    input: Vec<u8>,
    /// Bytes of the last digest that were not given out yet; the last one is next.
    output: Vec<u8>,
    hash: PhantomData<H>,
}

impl<H: MessageHash> HashChallenger<H> {
    /// A source of challenges that has observed nothing.
    pub(crate) fn new() -> Self {
        Self { input: Vec::new(), output: Vec::new(), hash: PhantomData }
    }

    fn byte(&mut self) -> u8 {
        if self.output.is_empty() {
            let digest = H::digest(&self.input);
            (self.input, self.output) = (digest.to_vec(), digest.to_vec());
        }
        self.output.pop().unwrap_or_default()
    }

    fn word(&mut self) -> u64 {
        let mut bytes = [0; 8];
        bytes.iter_mut().for_each(|byte| *byte = self.byte());
        u64::from_le_bytes(bytes)
    }
}

impl<H: MessageHash> Challenger for HashChallenger<H> {
    fn observe(&mut self, element: Goldilocks) {
        self.output.clear();
        self.input.extend(element.to_bytes_le());
    }

    fn observe_digest(&mut self, digest: &Digest) {
        self.output.clear();
        self.input.extend(digest.to_bytes());
    }

    fn sample(&mut self) -> Goldilocks {
        loop {
            let word = self.word();
            // Rejection keeps elements uniform.
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
        // Drawing a byte hashes the observed bytes: only a digest precedes the witness.
        self.byte();
        self.observe(witness);
        self.sample_bits(bits) == 0
    }

    fn work(&mut self, level: Level, bits: u32) -> Goldilocks {
        if bits == 0 {
            return Goldilocks::ZERO;
        }
        let mut started = self.clone();
        started.byte();
        let (words, mask) = (started.input.as_chunks::<8>().0, (1 << bits) - 1);
        let digest: [u64; DIGEST] = std::array::from_fn(|word| u64::from_le_bytes(words[word]));
        let witness = least(|candidates| {
            let [a, b, c, d] = digest;
            let messages: Vec<_> = candidates.clone().map(|candidate| [a, b, c, d, candidate]).collect();
            let digests = H::digests(level, &messages);
            // Bytes of a digest are given out from the last on.
            let found = digests.iter().position(|digest| digest.0[DIGEST - 1].swap_bytes() & mask == 0);
            found.and_then(|index| candidates.clone().nth(index))
        });
        assert!(self.check_work(bits, witness), "the proof of work that was found");
        witness
    }
}
