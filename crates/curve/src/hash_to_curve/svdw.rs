//! The Shallue-van de Woestijne map (RFC 9380, section 6.6.1) for curves `y^2 = x^3 + B`.

use super::hash_to_field;
use crate::group::{Affine, Curve, Jacobian};
use proofmill_field::{Algebra, Field, Invert, PrimeField, SquareRoot};

/// The map to a curve over a prime field with cofactor 1: every point is in the group.
///
/// ```
/// use proofmill_curve::{grumpkin::Grumpkin, hash_to_curve::Svdw};
///
/// let point = Svdw::<Grumpkin>::new().hash_to_curve(b"message", b"QUUX-V01-CS02-with-GRUMPKIN_XMD:SHA-256_SVDW_RO_");
/// assert!(point.is_on_curve() && !point.is_infinity());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Svdw<C: Curve> {
    /// Z, found by the RFC's search (appendix H.1).
    z: C::Base,
    /// c1 = g(Z).
    c1: C::Base,
    /// c2 = -Z/2.
    c2: C::Base,
    /// c3 = sqrt(-3 Z^2 g(Z)), the even root.
    c3: C::Base,
    /// c4 = -4 g(Z) / (3 Z^2).
    c4: C::Base,
}

/// The curve's right side, x^3 + B.
fn g<C: Curve>(x: C::Base) -> C::Base {
    x.square() * x + C::B
}

/// Whether the element's integer is odd: `sgn0` of section 4.1.
fn is_odd<F: PrimeField>(x: F) -> bool {
    x.to_words().as_ref()[0] & 1 == 1
}

impl<C: Curve<Base: SquareRoot + PrimeField + From<u64>>> Svdw<C> {
    /// Finds Z and computes the constants, in the time of some square roots.
    #[expect(clippy::new_without_default, reason = "nothing here is a default")]
    pub fn new() -> Self {
        let candidates = (1u64..).flat_map(|n| [C::Base::from(n), -C::Base::from(n)]);
        let mut maps = candidates.filter_map(Self::with_z);
        let Some(map) = maps.next() else { unreachable!("an endless search") };
        map
    }

    /// The map with this Z, if Z meets the four criteria of section 6.6.1.
    fn with_z(z: C::Base) -> Option<Self> {
        let c1 = g::<C>(z);
        let three_squares = z.square().double() + z.square();
        let quotient = three_squares.invert_vartime()?;
        // -3 Z^2 / (4 g(Z)), which must be a nonzero square, is the square of this root divided by (2 g(Z))^2.
        let root = (-(three_squares * c1)).sqrt_vartime().filter(|root| !root.is_zero())?;
        let half = C::Base::from(2).invert_vartime()?;
        let c2 = -(z * half);
        (c1.sqrt_vartime().is_some() || g::<C>(c2).sqrt_vartime().is_some()).then_some(Self {
            z,
            c1,
            c2,
            c3: if is_odd(root) { -root } else { root },
            c4: -(c1.double().double() * quotient),
        })
    }

    /// The point of a field element (`map_to_curve_svdw`).
    pub fn map(&self, u: C::Base) -> Affine<C> {
        let product = u.square() * self.c1;
        let (plus, minus) = (C::Base::ONE + product, C::Base::ONE - product);
        // Zero if there is no inverse, as the RFC defines.
        let inverse = (plus * minus).invert_vartime().unwrap_or(C::Base::ZERO);
        let shift = u * minus * inverse * self.c3;
        let last = (plus.square() * inverse).square() * self.c4 + self.z;
        let points = [self.c2 - shift, self.c2 + shift, last];
        let mut roots = points.into_iter().filter_map(|x| Some((x, g::<C>(x).sqrt_vartime()?)));
        let Some((x, y)) = roots.next() else { unreachable!("one of the three is on the curve") };
        Affine { x, y: if is_odd(u) == is_odd(y) { y } else { -y } }
    }

    /// The point of a message by a random oracle: the sum of two maps, `hash_to_curve` of section 3. The tag `dst`
    /// separates domains; the RFC defines its form.
    ///
    /// # Panics
    /// If `dst` is empty.
    pub fn hash_to_curve(&self, message: &[u8], dst: &[u8]) -> Affine<C> {
        let points =
            hash_to_field::<C::Base>(message, dst, 2).into_iter().map(|u| Jacobian::from(self.map(u)));
        points.sum::<Jacobian<C>>().to_affine()
    }

    /// The point of a message by one map, so not uniform (`encode_to_curve` of section 3).
    ///
    /// # Panics
    /// If `dst` is empty.
    pub fn encode_to_curve(&self, message: &[u8], dst: &[u8]) -> Affine<C> {
        self.map(hash_to_field::<C::Base>(message, dst, 1)[0])
    }
}
