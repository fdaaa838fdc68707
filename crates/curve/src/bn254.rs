//! BN254's groups: G1 is `y^2 = x^3 + 3` over Fq; G2 is `y^2 = x^3 + 3/(9 + u)` over Fq2.

use proofmill_simd::Portable;
use std::marker::PhantomData;

/// The first source group; prime order, so every point on the curve is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G1<B = Portable>(PhantomData<B>);

/// The second source group: the subgroup of order r of the sextic twist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G2<B = Portable>(PhantomData<B>);
