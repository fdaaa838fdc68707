//! The blinding that makes proofs zero-knowledge, as in Plonky3's `HidingFriPcs` and `MerkleTreeHidingMmcs`, after Haböck and Al Kindi, "A
//! note on adding zero-knowledge to STARKs" (eprint 2024/1037).
//!
//! * A random row follows each row of a trace, and random columns are added, before the trace is committed to. Its columns become
//!   polynomials of twice the degree, with the trace's values on its domain. Their values elsewhere are uniform, as many as there are
//!   random rows.
//! * A random multiple of the polynomial that vanishes on a chunk's domain is added to each chunk of the quotient. These multiples cancel
//!   each other in the quotient.
//! * Random polynomials, committed to on their own, make the combination of all openings random.
//! * Rows are hashed with a salt.

use crate::{
    StarkError, Trace,
    domain::{SHIFT, domain},
    security::Parameters,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_merkle::MerkleError;
use proofmill_ntt::goldilocks::Order;
use proofmill_run::parallel;
use rand::{RngCore, SeedableRng, TryRngCore, rngs::OsRng};
use rand_chacha::ChaCha20Rng;

/// The number of elements of a row's salt, which has 256 bits.
pub const SALT: usize = 4;

/// The number of values that a task computes.
const TASK: usize = 1 << 14;

/// The source of the random values that are added to commitments. A proof that is not blinded has none.
pub(crate) struct Blinding {
    /// The number of random columns that each matrix has in addition.
    columns: usize,
    /// The source of randomness. Without it, zeros are added: the committed columns are public.
    rng: Option<ChaCha20Rng>,
}

impl Blinding {
    /// The blinding of the commitments of a proof, if its parameters are blinded. The seed comes from the operating system.
    pub(crate) fn of_proof(parameters: &Parameters) -> Result<Option<Self>, StarkError> {
        if !parameters.is_blinded() {
            return Ok(None);
        }
        let mut seed = <ChaCha20Rng as SeedableRng>::Seed::default();
        OsRng.try_fill_bytes(&mut seed).map_err(|error| StarkError::Randomness(error.to_string()))?;
        let columns = parameters.random_columns as usize;
        Ok(Some(Self { columns, rng: Some(ChaCha20Rng::from_seed(seed)) }))
    }

    /// The blinding of commitments to preprocessed columns, which are public: zeros, so that all provers and verifiers compute the same
    /// key.
    pub(crate) fn of_key(parameters: &Parameters) -> Option<Self> {
        parameters.is_blinded().then_some(Self { columns: 0, rng: None })
    }

    fn noise(&mut self) -> Noise {
        Noise(self.rng.as_mut().map(ChaCha20Rng::from_rng))
    }

    /// `count` elements.
    pub(crate) fn elements(&mut self, count: usize) -> Pages<Goldilocks> {
        let (noise, mut elements) = (self.noise(), Pages::new(count));
        let tasks = (0..).step_by(TASK).zip(elements.chunks_mut(TASK));
        parallel::for_each(tasks, |(first, elements)| noise.write(first, elements));
        elements
    }

    /// The salts of `rows` rows.
    pub(crate) fn salts(&mut self, rows: usize) -> Pages<Goldilocks> {
        self.elements(SALT * rows)
    }

    /// Calls `body` with a trace and its number of columns. If there is blinding, random rows and columns are first added to the given
    /// trace of `columns` columns.
    pub(crate) fn of_trace<R>(
        blinding: &mut Option<Self>,
        trace: &mut Trace<'_>,
        columns: usize,
        body: impl FnOnce(&mut Trace<'_>, usize) -> R,
    ) -> R {
        let Some(blinding) = blinding else { return body(trace, columns) };
        let (noise, width) = (blinding.noise(), columns + blinding.columns);
        // The random values that follow a row: its random columns, and a random row.
        let random = width + blinding.columns;
        let read = |mut first: usize, mut to: &mut [Goldilocks]| -> Result<(), MerkleError> {
            while !to.is_empty() {
                let (row, at) = (first / (columns + random), first % (columns + random));
                let left = if at < columns { columns - at } else { columns + random - at };
                let (part, rest) = to.split_at_mut(left.min(to.len()));
                if at < columns {
                    trace.values(row * columns + at, part)?;
                } else {
                    noise.write(row * random + at - columns, part);
                }
                (first, to) = (first + part.len(), rest);
            }
            Ok(())
        };
        // The blinded trace has twice as many rows: every other one is on the domain of the given trace.
        let len = trace.len() / columns * (columns + random);
        body(&mut Trace::Parts { len, read: &read }, width)
    }

    /// The blinding of a quotient of `chunks` polynomials, each given by its values in `2^log_rows` points.
    pub(crate) fn of_quotient<const D: usize>(
        &mut self,
        log_rows: u32,
        chunks: usize,
    ) -> QuotientBlinding<'_, D> {
        let sum = vec![Extension([Goldilocks::ZERO; D]); 1 << log_rows];
        QuotientBlinding { blinding: self, left: chunks, sum }
    }
}

/// Random elements by their place: the same elements each time.
struct Noise(Option<ChaCha20Rng>);

impl Noise {
    /// Writes the elements from place `first` on. The statistical distance of an element from a uniform one is at most 2^-64.
    fn write(&self, first: usize, to: &mut [Goldilocks]) {
        const BYTES: usize = u128::BITS as usize / 8;
        let Some(rng) = &self.0 else { return to.fill(Goldilocks::ZERO) };
        let mut rng = rng.clone();
        rng.set_word_pos(first as u128 * (BYTES / 4) as u128);
        let mut bytes = [0; BYTES << 6];
        for elements in to.chunks_mut(bytes.len() / BYTES) {
            let bytes = &mut bytes[..BYTES * elements.len()];
            rng.fill_bytes(bytes);
            for (element, bytes) in elements.iter_mut().zip(bytes.as_chunks().0) {
                *element = Goldilocks::reduce(u128::from_le_bytes(*bytes));
            }
        }
    }
}

/// The blinding of a quotient's polynomials.
///
/// Polynomial i has its values on the coset `s_i H` of the trace's domain. In the quotient it is multiplied by the polynomial that vanishes
/// on the other cosets, divided by the value of that polynomial on `s_i H`. So `((x / s_i)^n - 1) t_i(x)` becomes `t_i(x)` times the
/// polynomial that vanishes on all cosets, times a constant.
///
/// The constant is the same for all i: `a_i = s_i^n` runs through a coset of a group of roots of unity, where
/// `a_i prod_(j != i) (a_i - a_j)` does not depend on i. So the sum of all t_i has to be zero.
pub(crate) struct QuotientBlinding<'a, const D: usize> {
    blinding: &'a mut Blinding,
    /// The number of polynomials that are not blinded yet.
    left: usize,
    /// The sum of the `t_i`.
    sum: Vec<Extension<Goldilocks, D>>,
}

impl<const D: usize> QuotientBlinding<'_, D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// The extension of the blinded polynomial with these values on the coset of a shift, followed by that of random columns; and the
    /// number of all these columns.
    pub(crate) fn extend(
        &mut self,
        level: Level,
        log_blowup: u32,
        values: &[Extension<Goldilocks, D>],
        shift: Goldilocks,
    ) -> (Pages<Goldilocks>, usize) {
        let (n, width) = (values.len(), D + self.blinding.columns);
        let mut coefficients = Extension::coefficients(values).to_vec();
        domain(n.ilog2()).coset_intt(level, &mut coefficients, shift);
        let len = 2 * n * width;
        let mut extension = Pages::new(len << log_blowup);
        extension[..len].copy_from_slice(&self.blinding.elements(len));
        self.left -= 1;
        // All coefficients are random at first. The first D of a low row are the mask, and the random columns stay.
        let scale = shift.pow_vartime(&[n as u64]).invert_vartime().expect("a shift is not zero");
        let (low, high) = extension[..len].split_at_mut(n * width);
        let rows = low.chunks_mut(width).zip(high.chunks_mut(width));
        for (((low, high), coefficient), sum) in rows.zip(coefficients.as_chunks().0).zip(&mut self.sum) {
            let mut random = Extension([Goldilocks::ZERO; D]);
            random.0.copy_from_slice(&low[..D]);
            // The last mask makes the sum zero: masks cancel in the quotient.
            if self.left == 0 {
                random = -*sum;
            }
            *sum += random;
            // `((x / s)^n - 1) t(x)`: the mask is subtracted below `x^n`, and scaled above.
            low[..D].copy_from_slice(&(Extension(*coefficient) - random).0);
            high[..D].copy_from_slice(&random.scale(scale).0);
        }
        domain(n.ilog2() + 1).extend_coefficients(
            level,
            &mut extension,
            log_blowup,
            SHIFT,
            Order::BitReversed,
        );
        (extension, width)
    }
}
