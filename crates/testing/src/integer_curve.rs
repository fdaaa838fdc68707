//! A curve in plain integers, as an oracle that does not use Proofmill's fields and groups.

use num_bigint::BigInt;
use sha2::{Digest, Sha256};

/// A point's coordinates, `None` for infinity.
pub type IntegerPoint = Option<[BigInt; 2]>;

/// The curve `y^2 = x^3 + b` modulo a prime p, computed by the definitions, one modular operation at a time.
#[derive(Clone, Debug)]
pub struct IntegerCurve {
    /// The prime.
    pub p: BigInt,
    /// The curve's constant.
    pub b: BigInt,
}

impl IntegerCurve {
    /// Grumpkin, `y^2 = x^3 - 17` modulo the order of BN254's groups.
    pub fn grumpkin() -> Self {
        let x = BigInt::from(4965661367192848881u64);
        Self { p: 36 * x.pow(4) + 36 * x.pow(3) + 18 * x.pow(2) + 6 * x + 1, b: (-17).into() }
    }

    /// The remainder in 0..p.
    pub fn modulo(&self, x: BigInt) -> BigInt {
        ((x % &self.p) + &self.p) % &self.p
    }

    /// 1/x, and 0 for 0.
    pub fn inverse(&self, x: &BigInt) -> BigInt {
        self.modulo(x.clone()).modinv(&self.p).unwrap_or_default()
    }

    /// `x^3 + b`.
    pub fn g(&self, x: &BigInt) -> BigInt {
        self.modulo(x.pow(3) + &self.b)
    }

    /// Euler's criterion; 0 counts as a square.
    pub fn is_square(&self, x: &BigInt) -> bool {
        let x = self.modulo(x.clone());
        x == BigInt::ZERO || x.modpow(&((&self.p - 1) / 2), &self.p) == BigInt::from(1)
    }

    /// The even root of a square, by Cipolla's algorithm: `(a + sqrt(a^2 - x))^((p + 1)/2)`, where `a^2 - x` is not a
    /// square.
    ///
    /// # Panics
    /// If x is not a square.
    pub fn even_root(&self, x: &BigInt) -> BigInt {
        let a = (0..).map(BigInt::from).find(|a| !self.is_square(&(a * a - x)));
        let Some(a) = a.filter(|_| *x != BigInt::ZERO) else { return BigInt::ZERO };
        let square = &a * &a - x;
        let multiply = |u: &[BigInt; 2], v: &[BigInt; 2]| {
            let [constant, linear] = [&u[0] * &v[0] + &u[1] * &v[1] * &square, &u[0] * &v[1] + &u[1] * &v[0]];
            [self.modulo(constant), self.modulo(linear)]
        };
        let exponent: BigInt = (&self.p + 1) / 2;
        let mut power = [BigInt::from(1), BigInt::ZERO];
        for bit in (0..exponent.bits()).rev() {
            power = multiply(&power, &power);
            if exponent.bit(bit) {
                power = multiply(&power, &[a.clone(), BigInt::from(1)]);
            }
        }
        let [root, _] = power;
        assert_eq!(self.modulo(&root * &root), self.modulo(x.clone()), "a square");
        if root.bit(0) { &self.p - root } else { root }
    }

    /// The sum of two points by chord and tangent.
    pub fn add(&self, a: &IntegerPoint, b: &IntegerPoint) -> IntegerPoint {
        let (Some([x1, y1]), Some([x2, y2])) = (a, b) else { return a.clone().or(b.clone()) };
        let lambda = if x1 != x2 {
            (y2 - y1) * self.inverse(&(x2 - x1))
        } else if y1 == y2 {
            3 * x1 * x1 * self.inverse(&(2 * y1))
        } else {
            return None;
        };
        let x = self.modulo(lambda.pow(2) - x1 - x2);
        let y = self.modulo(lambda * (x1 - &x) - y1);
        Some([x, y])
    }

    /// A multiple of a point by doubling and adding.
    pub fn multiply(&self, scalar: &BigInt, point: &IntegerPoint) -> IntegerPoint {
        (0..scalar.bits()).rev().fold(None, |sum, bit| {
            let double = self.add(&sum, &sum);
            if scalar.bit(bit) { self.add(&double, point) } else { double }
        })
    }

    /// The constant Z of RFC 9380's map, by its appendix H.1.
    pub fn svdw_z(&self) -> BigInt {
        let fits = |z: &BigInt| {
            let h = self.modulo(-3 * z.pow(2) * self.inverse(&(4 * self.g(z))));
            let half = -z * self.inverse(&2.into());
            h != BigInt::ZERO
                && self.is_square(&h)
                && (self.is_square(&self.g(z)) || self.is_square(&self.g(&half)))
        };
        (1..)
            .flat_map(|n| [BigInt::from(n), BigInt::from(-n)])
            .find(fits)
            .map_or(BigInt::ZERO, |z| self.modulo(z))
    }

    /// The map of RFC 9380, section 6.6.1.
    pub fn svdw(&self, u: &BigInt) -> IntegerPoint {
        let z = &self.svdw_z();
        let g_z = self.g(z);
        let tv1 = self.modulo(u * u * &g_z);
        let (tv2, tv1): (BigInt, BigInt) = (1 + &tv1, 1 - &tv1);
        let tv3 = self.inverse(&(&tv1 * &tv2));
        let tv4 = self.even_root(&self.modulo(-3 * z.pow(2) * &g_z));
        let tv5 = u * tv1 * &tv3 * tv4;
        let tv6 = -4 * &g_z * self.inverse(&(3 * z.pow(2)));
        let middle = -z * self.inverse(&2.into());
        let x = [&middle - &tv5, &middle + &tv5, z + tv6 * (tv2.pow(2) * tv3).pow(2)];
        let x = x.map(|x| self.modulo(x)).into_iter().find(|x| self.is_square(&self.g(x)))?;
        let y = self.even_root(&self.g(&x));
        let y = if u.bit(0) { &self.p - y } else { y };
        Some([x, y])
    }

    /// RFC 9380's `hash_to_curve` with `expand_message_xmd` over SHA-256 and a cofactor of 1, for a p of 254 bits: two integers
    /// of 48 bytes each, three blocks in total. Tags must be short (less than 256 bytes).
    pub fn hash_to_curve(&self, message: &[u8], dst: &[u8]) -> IntegerPoint {
        let tag = [dst, &[dst.len() as u8]].concat();
        let first = Sha256::digest([&[0; 64], message, &[0, 96, 0], &tag].concat());
        let mut blocks: Vec<Vec<u8>> = vec![vec![0; 32]];
        for i in 1..=3 {
            let mixed: Vec<u8> = first.iter().zip(&blocks[i - 1]).map(|(a, b)| a ^ b).collect();
            blocks.push(Sha256::digest([&mixed, &[i as u8][..], &tag].concat()).to_vec());
        }
        let bytes = blocks[1..].concat();
        let element = |bytes| self.modulo(BigInt::from_bytes_be(num_bigint::Sign::Plus, bytes));
        self.add(&self.svdw(&element(&bytes[..48])), &self.svdw(&element(&bytes[48..])))
    }
}
