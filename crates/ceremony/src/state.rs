//! BLAKE2b-512 (RFC 7693) with a state that can be written to a file and read again, which the crate `blake2` does not give. A
//! contribution to powers of tau has the state of its response's hash.

/// Bytes of a block.
const BLOCK: usize = 128;

const IV: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// The words of a message in the order of each round; the last two rounds are those of the first two.
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// The places of the words that a round mixes: columns, then diagonals.
const MIXED: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// A hash of the bytes so far. The last block stays in the buffer until more bytes come.
#[derive(Clone)]
pub(crate) struct HashState {
    words: [u64; 8],
    /// [`Self::held`] bytes. Older bytes stay after them, because files contain the whole buffer.
    buffer: [u8; BLOCK],
    held: usize,
    /// All bytes so far, those in the buffer included.
    length: u64,
}

impl HashState {
    pub(crate) fn new() -> Self {
        let mut words = IV;
        // A digest of 64 bytes, no key, one sequence.
        words[0] ^= 0x0101_0040;
        Self { words, buffer: [0; BLOCK], held: 0, length: 0 }
    }

    /// Reads the 216 bytes of a file, after `length` hashed bytes; `None` if their own length is another.
    ///
    /// snarkjs 0.7.6 writes the lower half of the length only.
    pub(crate) fn from_bytes(bytes: &[u8; 216], length: u64) -> Option<Self> {
        let (buffer, words) = bytes.split_first_chunk::<BLOCK>()?;
        let mut numbers = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let words = std::array::from_fn(|_| numbers.next().unwrap_or_default());
        let (compressed, held) = (numbers.next()?, numbers.next()?);
        // A full last block stays in the buffer: only the end of the hash compresses it.
        let expected = (length.saturating_sub(1) / BLOCK as u64) * BLOCK as u64;
        let is_right = [expected, expected & u64::from(u32::MAX)].contains(&compressed)
            && held == length - expected
            && numbers.next() == Some(0);
        is_right.then_some(Self { words, buffer: *buffer, held: held as usize, length })
    }

    /// The state as it is in a file.
    pub(crate) fn to_bytes(&self) -> [u8; 216] {
        let mut bytes = [0; 216];
        let held = self.held as u64;
        let numbers = self.words.into_iter().chain([self.length - held, held, 0]);
        if let Some((buffer, words)) = bytes.split_first_chunk_mut::<BLOCK>() {
            *buffer = self.buffer;
            for (bytes, number) in words.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
                *bytes = number.to_le_bytes();
            }
        }
        bytes
    }

    /// Adds bytes. In each call only the last block, which may be a whole one, goes through the buffer, unless bytes complete a block
    /// there. This determines the old bytes in the buffer.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.held == BLOCK {
                let block = self.buffer;
                self.compress(&block, false);
                self.held = 0;
            }
            if self.held == 0 && bytes.len() > BLOCK {
                while let Some((block, rest)) = bytes.split_first_chunk::<BLOCK>()
                    && !rest.is_empty()
                {
                    self.length += BLOCK as u64;
                    self.compress(block, false);
                    bytes = rest;
                }
            }
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - self.held));
            for (to, from) in self.buffer.iter_mut().skip(self.held).zip(now) {
                *to = *from;
            }
            self.held += now.len();
            self.length += now.len() as u64;
            bytes = rest;
        }
    }

    pub(crate) fn finish(mut self) -> [u8; 64] {
        let mut block = self.buffer;
        // RFC 7693 pads with zeros; the buffer still has bytes of an earlier block there.
        block.iter_mut().skip(self.held).for_each(|byte| *byte = 0);
        self.compress(&block, true);
        let mut digest = [0; 64];
        for (bytes, word) in digest.as_chunks_mut::<8>().0.iter_mut().zip(self.words) {
            *bytes = word.to_le_bytes();
        }
        digest
    }

    /// The function F of RFC 7693 for the block that ends at [`Self::length`].
    #[expect(clippy::indexing_slicing, reason = "the tables have indices below 16")]
    fn compress(&mut self, block: &[u8; BLOCK], is_last: bool) {
        let mut message = [0; 16];
        for (word, bytes) in message.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let mut v = [0; 16];
        v[..8].copy_from_slice(&self.words);
        v[8..].copy_from_slice(&IV);
        v[12] ^= self.length;
        if is_last {
            v[14] = !v[14];
        }
        for round in 0..12 {
            let order = &SIGMA[round % SIGMA.len()];
            for (index, [a, b, c, d]) in MIXED.into_iter().enumerate() {
                v[a] = v[a].wrapping_add(v[b]).wrapping_add(message[order[2 * index]]);
                v[d] = (v[d] ^ v[a]).rotate_right(32);
                v[c] = v[c].wrapping_add(v[d]);
                v[b] = (v[b] ^ v[c]).rotate_right(24);
                v[a] = v[a].wrapping_add(v[b]).wrapping_add(message[order[2 * index + 1]]);
                v[d] = (v[d] ^ v[a]).rotate_right(16);
                v[c] = v[c].wrapping_add(v[d]);
                v[b] = (v[b] ^ v[c]).rotate_right(63);
            }
        }
        for (index, word) in self.words.iter_mut().enumerate() {
            *word ^= v[index] ^ v[index + 8];
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use blake2::{Blake2b512, Digest};

    #[test]
    fn it_is_blake2b_from_any_state() {
        let bytes: Vec<u8> = (0..1000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for length in (0..=300).chain([511, 512, 513, 1000]) {
            let (all, expected) = (&bytes[..length], <[u8; 64]>::from(Blake2b512::digest(&bytes[..length])));
            for cut in [0, 1, 64, 127, 128, 129, 256, 300].into_iter().filter(|cut| *cut <= length) {
                let mut state = HashState::new();
                state.update(&all[..cut]);
                let mut again = HashState::from_bytes(&state.to_bytes(), cut as u64).unwrap();
                assert_eq!(again.to_bytes(), state.to_bytes());
                again.update(&all[cut..]);
                assert_eq!(again.finish(), expected, "{length} bytes, cut at {cut}");
            }
        }
    }

    #[test]
    fn a_state_of_another_length_is_refused() {
        let mut state = HashState::new();
        state.update(&[7; 300]);
        let bytes = state.to_bytes();
        assert!(HashState::from_bytes(&bytes, 299).is_none() && HashState::from_bytes(&bytes, 0).is_none());
        let long = HashState { length: (1 << 33) + 96, held: 96, ..state };
        let mut bytes = long.to_bytes();
        assert!(HashState::from_bytes(&bytes, long.length).is_some());
        // As snarkjs writes it.
        bytes[196..200].fill(0);
        let read = HashState::from_bytes(&bytes, long.length).unwrap();
        assert_eq!(read.finish(), long.finish());
        bytes[215] = 1;
        assert!(HashState::from_bytes(&bytes, (1 << 33) + 96).is_none());
    }
}
