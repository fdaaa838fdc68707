//! The end of a message: FIPS 180-4, section 5.1.1.

/// The last block or two of a message: what does not fill a block, a one bit, zeros, and the length in bits.
pub(crate) struct Tail {
    blocks: [[u8; 64]; 2],
    count: usize,
}

impl Tail {
    /// Of a message of `length` bytes, of which the last `length % 64` are these.
    ///
    /// # Panics
    /// If they are 64 or more.
    #[inline(always)]
    pub(crate) fn new(rest: &[u8], length: u64) -> Self {
        let mut blocks = [[0; 64]; 2];
        let count = if rest.len() < 56 { 1 } else { 2 };
        blocks[0][..rest.len()].copy_from_slice(rest);
        blocks[0][rest.len()] = 0x80;
        // FIPS 180-4 defines no message of 2^64 bits or more; its length is taken modulo that, as elsewhere.
        *blocks[count - 1].last_chunk_mut().expect("64 bytes") = (length << 3).to_be_bytes();
        Self { blocks, count }
    }

    /// The blocks.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> &[[u8; 64]] {
        &self.blocks[..self.count]
    }
}
