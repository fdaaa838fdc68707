//! The generator of Poseidon's constants: self-shrinking Grain (eprint 2019/458, appendix E).

/// A register of 80 bits. Its output bits are used in pairs: the second counts if the first is set.
#[derive(Clone, Debug)]
pub struct Grain {
    /// The oldest bit is the lowest.
    state: u128,
}

impl Grain {
    /// The generator for a prime field of `field_bits` bits, an S-box that is a power, and states of `width` elements. The
    /// last two numbers are those of rounds with the S-box on all elements, and on one.
    pub fn new(field_bits: u32, width: usize, full_rounds: usize, partial_rounds: usize) -> Self {
        let parameters = [
            (1, 2),
            (0, 4),
            (field_bits as usize, 12),
            (width, 12),
            (full_rounds, 10),
            (partial_rounds, 10),
            ((1 << 30) - 1, 30),
        ];
        // Most significant bit first.
        let bits = parameters
            .into_iter()
            .flat_map(|(value, bits): (usize, u32)| (0..bits).rev().map(move |bit| value as u128 >> bit & 1));
        let mut grain = Self { state: bits.enumerate().fold(0, |state, (i, bit)| state | bit << i) };
        // The specification discards the first 160 bits.
        (0..160).for_each(|_| {
            grain.step();
        });
        grain
    }

    fn step(&mut self) -> bool {
        let bit = [62, 51, 38, 23, 13, 0].into_iter().fold(0, |bit, tap| bit ^ self.state >> tap) & 1;
        self.state = self.state >> 1 | bit << 79;
        bit == 1
    }

    /// The next bit.
    pub fn bit(&mut self) -> bool {
        loop {
            let (counts, bit) = (self.step(), self.step());
            if counts {
                return bit;
            }
        }
    }

    /// An integer of `bits` bits, most significant bit first, as little-endian words.
    ///
    /// # Panics
    /// If the words have fewer bits.
    pub fn integer<const WORDS: usize>(&mut self, bits: u32) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        for bit in (0..bits as usize).rev() {
            words[bit / 64] |= u64::from(self.bit()) << (bit % 64);
        }
        words
    }
}
