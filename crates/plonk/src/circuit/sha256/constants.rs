//! SHA-256's constants by their definition (FIPS 180-4, sections 4.2.2 and 5.3.3): the first 32 fractional
//! bits of roots of the first primes.

/// The round constants, from cube roots.
pub(super) const ROUND: [u32; 64] = of_roots(3);
/// The initial state, from square roots.
pub(super) const INITIAL: [u32; 8] = of_roots(2);

const fn of_roots<const N: usize>(degree: u32) -> [u32; N] {
    let mut words = [0; N];
    let (mut prime, mut found) = (2, 0);
    while found < N {
        if is_prime(prime) {
            // The root of prime * 2^(32 degree) is 2^32 times the prime's.
            words[found] = root((prime as u128) << (32 * degree), degree) as u32;
            found += 1;
        }
        prime += 1;
    }
    words
}

const fn is_prime(number: u32) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The root rounded down, below 2^40, computed bit by bit.
const fn root(number: u128, degree: u32) -> u128 {
    let mut root: u128 = 0;
    let mut bit: u128 = 1 << 40;
    while bit > 0 {
        if (root + bit).pow(degree) <= number {
            root += bit;
        }
        bit >>= 1;
    }
    root
}
