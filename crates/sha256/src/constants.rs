//! The constants of FIPS 180-4, computed from their definitions.

/// The first 64 primes.
const PRIMES: [u128; 64] = {
    let mut primes = [0; 64];
    let (mut found, mut candidate) = (0, 2u128);
    while found < 64 {
        let mut divisor = 2;
        while candidate % divisor != 0 {
            divisor += 1;
        }
        if divisor == candidate {
            primes[found] = candidate;
            found += 1;
        }
        candidate += 1;
    }
    primes
};

/// The first 32 bits of the fractional part of `x`'s square root (degree 2) or cube root (degree 3).
const fn root_fraction(x: u128, degree: u32) -> u32 {
    // The largest integer whose power is at most x 2^(32 degree), found bit by bit. It is below 2^38, since x is below 2^9.
    let target = x << (32 * degree);
    let (mut root, mut bit) = (0u128, 1 << 37);
    while bit > 0 {
        if (root + bit).pow(degree) <= target {
            root += bit;
        }
        bit >>= 1;
    }
    root as u32
}

/// K: from the cube roots of the first 64 primes (section 4.2.2), in groups of sixteen rounds.
pub(crate) const ROUND_CONSTANTS: [[u32; 16]; 4] = {
    let mut constants = [[0; 16]; 4];
    let mut i = 0;
    while i < 64 {
        constants[i / 16][i % 16] = root_fraction(PRIMES[i], 3);
        i += 1;
    }
    constants
};

/// H(0): from the square roots of the first 8 primes (section 5.3.3).
pub(crate) const INITIAL: [u32; 8] = {
    let mut state = [0; 8];
    let mut i = 0;
    while i < 8 {
        state[i] = root_fraction(PRIMES[i], 2);
        i += 1;
    }
    state
};

/// `W[t] + K[t]` of the padding block that follows a message of 64 bytes.
pub(crate) const PADDING_OF_64: [[u32; 16]; 4] = {
    let mut w = [0u32; 64];
    (w[0], w[15]) = (0x8000_0000, 64 * 8);
    let mut t = 16;
    while t < 64 {
        let (x, y) = (w[t - 15], w[t - 2]);
        let sigma0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let sigma1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        w[t] = w[t - 16].wrapping_add(sigma0).wrapping_add(w[t - 7]).wrapping_add(sigma1);
        t += 1;
    }
    let mut sums = ROUND_CONSTANTS;
    let mut t = 0;
    while t < 64 {
        sums[t / 16][t % 16] = sums[t / 16][t % 16].wrapping_add(w[t]);
        t += 1;
    }
    sums
};

#[cfg(test)]
mod tests {
    use super::*;

    /// As FIPS 180-4 prints them.
    #[test]
    fn constants_are_the_standards() {
        assert_eq!((ROUND_CONSTANTS[0][0], ROUND_CONSTANTS[3][15]), (0x428a_2f98, 0xc671_78f2));
        assert_eq!((INITIAL[0], INITIAL[7]), (0x6a09_e667, 0x5be0_cd19));
        assert_eq!(PRIMES[63], 311);
    }
}
