//! The error of every round.
//!
//! Words are tested against Reed-Solomon codes of rate `rho = 1 / blowup`: over a domain of n points, polynomials of fewer than
//! `k = rho n` coefficients. A word is close to the code if it agrees with a codeword in more than a share `alpha` of the points
//! ([`Bounds::agreement`]). K is the extension field.
//!
//! | round | error |
//! |---|---|
//! | lookups | `L N (w + 2) / abs(K)`: N messages of up to w values |
//! | constraints | `L C / abs(K)`: C constraints, L codewords in a list |
//! | out of domain | `L max(d (k + 1) + k - 1, (c + 1) k + 1) / abs(K)`: degree d, c chunks of the quotient |
//! | batching | `E(N - 1, n) / abs(K)`: N openings |
//! | a fold by a | `E(a - 1, n / a) / abs(K)`, where n points are folded; `E(a, n / a)` if words of other tables are added |
//! | queries | `alpha^s` |
//!
//! `E(M, n)` bounds the exceptional challenges z, for which `u_0 + z u_1 + ... + z^M u_M` agrees with a codeword on a set of points on
//! which not all u_j agree with codewords (mutual correlated agreement of curves of degree M):
//!
//! * Unique decoding: `M n` (eprint 2020/654, theorem 6.1, and uniqueness).
//! * Johnson: `M ((2 t^5 + 3 t (1 - alpha) r) n / (3 r^(3/2)) + t / sqrt(r))` with `t = m + 1/2` and `r = (k - 1) / n` (eprint 2025/2055,
//!   theorem 4.6, for `alpha = sqrt(rho) (1 + 1 / (2 m))`; as printed, the theorem has no 2 there, which its authors call a slip).
//!   For k = 1, `M n (n - 1) / 2`: two points agree.
//!
//! Tables of other heights are in codes of the same rate with other k. Shares of agreement and lists are largest for the shortest table
//! (`(k + 2) / n` falls with k), and E for the tallest: every round takes the larger bound.
//!
//! Ranges: n, M and m are at most 2^32, so that counts are below 2^300, and doubles hold them.

use super::configuration::{POINTS, Parameters, Shape, TablesShape};
use proofmill_field::goldilocks::MODULUS;

/// The least parameter of proximity for which the theorems hold.
pub(super) const LEAST_M: u32 = 3;
/// The largest parameter of proximity that is tried: beyond it a query gains less than 0.001 bits. Callers may choose larger ones.
pub(super) const LARGEST_M: u32 = 1000;

/// A radius of decoding, up to which theorems hold. Each gives a valid bound; the better one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Regime {
    /// Half the distance of the code: one codeword at most is close.
    UniqueDecoding,
    /// Close to Johnson's radius: a share `sqrt(rate) (1 + 1 / (2 m))` of the points agrees.
    Johnson {
        /// The parameter of proximity, which gives the most bits.
        m: u32,
    },
}

/// The bounds of a configuration that has been checked.
pub(super) struct Bounds<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) tables: &'a TablesShape,
    pub(super) regime: Regime,
}

impl Bounds<'_> {
    fn shape(&self) -> &Shape {
        &self.tables.whole
    }

    /// Whether the theorems apply. Theorems on lists need a share of agreement above that of two codewords. The difference of two codewords
    /// has up to `k + 1` roots where a column is opened at two points.
    pub(super) fn apply(&self) -> bool {
        match self.regime {
            Regime::UniqueDecoding => self.agreement() < 1.0,
            Regime::Johnson { m } => m >= LEAST_M && self.agreement().powi(2) > self.extended_rate(),
        }
    }

    /// The rate of polynomials with `more` coefficients than the shortest table has rows.
    fn rate_with(&self, more: u64) -> f64 {
        let log_rows = self.tables.least_log_rows;
        (power(log_rows) + more as f64) / power(log_rows + self.parameters.log_blowup)
    }

    /// The rate of the code that columns are in if their quotients by both points are in the code.
    fn extended_rate(&self) -> f64 {
        self.rate_with(POINTS)
    }

    /// The largest share of points in which a word that is not close agrees with a codeword.
    fn agreement(&self) -> f64 {
        match self.regime {
            Regime::UniqueDecoding => (1.0 + self.extended_rate()) / 2.0,
            Regime::Johnson { m } => self.sqrt_rate() * (1.0 + 0.5 / f64::from(m)),
        }
    }

    fn sqrt_rate(&self) -> f64 {
        (-0.5 * f64::from(self.parameters.log_blowup)).exp2()
    }

    /// The largest number of codewords that a word is close to.
    fn list_size(&self) -> f64 {
        let Regime::Johnson { m } = self.regime else { return 1.0 };
        // Two codewords agree in this share of the points at most: by Johnson's count, L <= (alpha - s) / (alpha^2 - s).
        let shared = self.rate_with(POINTS - 1);
        let agreement = self.agreement();
        let counted = (agreement - shared) / (agreement.powi(2) - shared);
        counted.max((f64::from(m) + 0.5) / self.sqrt_rate())
    }

    /// The bits of security against `count` exceptional challenges: `-log2` of their share of the extension.
    fn bits(&self, count: f64) -> f64 {
        f64::from(self.parameters.extension) * (MODULUS as f64).log2() - count.log2()
    }

    /// The bits of the challenges of lookups; `None` without lookups. The sum of all fractions, over their common denominator, is a
    /// polynomial of degree N in one challenge and N w in the other. Each denominator vanishes for one value of the first challenge.
    pub(super) fn lookups(&self) -> Option<f64> {
        let TablesShape { messages, message_width, .. } = *self.tables;
        let count = self.list_size() * messages as f64 * (f64::from(message_width) + 2.0);
        (messages > 0).then(|| self.bits(count) + f64::from(self.parameters.grinding.lookups))
    }

    pub(super) fn constraints(&self) -> f64 {
        self.bits(self.list_size() * f64::from(self.shape().constraints))
    }

    pub(super) fn out_of_domain(&self) -> f64 {
        let (rows, points) = (rows(self.shape()), POINTS as f64);
        let (degree, chunks) = (f64::from(self.shape().degree), f64::from(self.shape().quotient_chunks()));
        // The degree with the quotient in one piece, and with chunks that are multiplied by the vanishing polynomials of the other chunks'
        // cosets.
        let whole = degree * (rows + points - 1.0) + rows - 1.0;
        let chunked = (chunks + 1.0) * rows + points - 1.0;
        self.bits(self.list_size() * whole.max(chunked)) + f64::from(self.parameters.grinding.out_of_domain)
    }

    pub(super) fn batching(&self) -> f64 {
        let curve = self.parameters.openings(self.tables) - 1;
        self.bits(self.exceptions(curve as f64, self.shape().log_rows))
            + f64::from(self.parameters.grinding.batching)
    }

    /// The bits of every folding round.
    pub(super) fn folds(&self) -> impl Iterator<Item = f64> {
        let mut log_rows = self.shape().log_rows;
        // An added word is multiplied by the next power of the challenge. Rounds that end where a word is added fold by less, and have no
        // more exceptional challenges.
        let added = if self.tables.tables > 1 { 1.0 } else { 0.0 };
        self.parameters.log_arities(log_rows).map(move |log_arity| {
            log_rows -= log_arity;
            let count = self.exceptions(power(log_arity) - 1.0 + added, log_rows);
            self.bits(count) + f64::from(self.parameters.grinding.commit)
        })
    }

    pub(super) fn queries(&self) -> f64 {
        -f64::from(self.parameters.queries) * self.agreement().log2()
            + f64::from(self.parameters.grinding.query)
    }

    /// `E`: the number of exceptional challenges of curves of degree `curve`, for polynomials of fewer than `2^log_coefficients`
    /// coefficients.
    fn exceptions(&self, curve: f64, log_coefficients: u32) -> f64 {
        let length = power(log_coefficients + self.parameters.log_blowup);
        match self.regime {
            Regime::UniqueDecoding => curve * length,
            Regime::Johnson { .. } if log_coefficients == 0 => curve * length * (length - 1.0) / 2.0,
            Regime::Johnson { m } => {
                let t = f64::from(m) + 0.5;
                let rate = (power(log_coefficients) - 1.0) / length;
                let slope =
                    (2.0 * t.powi(5) + 3.0 * t * (1.0 - self.agreement()) * rate) / (3.0 * rate.powf(1.5));
                curve * (slope * length + t / rate.sqrt())
            }
        }
    }
}

fn power(exponent: u32) -> f64 {
    f64::from(exponent).exp2()
}

fn rows(shape: &Shape) -> f64 {
    power(shape.log_rows)
}
