//! The end of a message: FIPS 180-4, section 5.1.1.

/// The last one or two blocks of a message: the bytes that do not fill a block, a one bit, zeros, and the length in bits.
///
/// They are written sixteen bytes at a time, as the kernels read them: a CPU cannot forward several smaller stores to one load.
pub(crate) struct Tail {
    blocks: [[u8; 64]; 2],
    count: usize,
}

impl Tail {
    /// The tail of a message of `length` bytes; `rest` is its last `length % 64`.
    ///
    /// # Panics
    /// If `rest` has 64 bytes or more.
    #[inline(always)]
    pub(crate) fn new(rest: &[u8], length: u64) -> Self {
        // FIPS 180-4 is defined for less than 2^64 bits; the length is taken modulo 2^64, as other libraries do.
        let length = u128::from((length << 3).swap_bytes()) << 64;
        let (whole, partial) = rest.as_chunks::<16>();
        let mut quarters = [0; 8];
        assert!(whole.len() < 4, "less than a block");
        for i in 0..4 {
            if let Some(quarter) = whole.get(i) {
                quarters[i] = u128::from_le_bytes(*quarter);
            } else if i == whole.len() {
                quarters[i] = of_few_bytes(partial) | 0x80 << (8 * partial.len());
            }
        }
        let count = if rest.len() < 56 { 1 } else { 2 };
        quarters[4 * count - 1] |= length;
        let mut blocks = [[0; 64]; 2];
        for (bytes, quarter) in blocks.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(quarters) {
            *bytes = quarter.to_le_bytes();
        }
        Self { blocks, count }
    }

    /// One or two blocks.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> &[[u8; 64]] {
        &self.blocks[..self.count]
    }
}

/// Fewer than 16 bytes as a little-endian integer, by overlapping loads.
#[inline(always)]
fn of_few_bytes(bytes: &[u8]) -> u128 {
    let above = |size| 8 * (bytes.len() - size);
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << above(8)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u128::from(u32::from_le_bytes(*first)) | u128::from(u32::from_le_bytes(*last)) << above(4)
    } else if let [first, .., last] = bytes {
        let middle = bytes.len() / 2;
        u128::from(*first) | u128::from(bytes[middle]) << (8 * middle) | u128::from(*last) << above(1)
    } else {
        bytes.first().map_or(0, |byte| u128::from(*byte))
    }
}
