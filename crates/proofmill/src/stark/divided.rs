//! Proofs whose trace is extended by several machines.

use super::{Config, Constraints, Proof, elements};
use crate::{Result, error::Names, machine::current, merkle::Rows};
use proofmill_stark::{Ask, Question, Trace};

impl Constraints {
    /// [`prove`](Self::prove) with a trace that others extend, such as several machines: each has [`Cosets`] of the same trace, and `ask` brings
    /// them questions and gives their answers. Here it is read only to say what is wrong with it, and `ask` is called a few times, with questions
    /// that can be answered side by side. Different machines may answer consecutive questions: an answer depends on its question alone.
    ///
    /// ```
    /// use proofmill::{merkle::Rows, stark::{Config, Constraints, airs::Fibonacci}};
    /// use std::sync::{Arc, Mutex};
    ///
    /// # fn main() -> proofmill::Result<()> {
    /// let rows = std::iter::successors(Some([0, 1]), |[a, b]| Some([*b, a + b]));
    /// let trace: Vec<u64> = rows.take(64).flatten().collect();
    /// let (trace, public_values) = (Rows::new(&trace, 2)?, [0, 1, trace[127]]);
    ///
    /// let (constraints, config) = (Constraints::new(&Fibonacci)?, Config::default());
    /// // One machine, which has all cosets.
    /// let cosets = Mutex::new(constraints.cosets(&config, &trace, &public_values)?);
    /// let proof = constraints.prove_with_cosets(&config, &trace, &public_values, Arc::new(move |questions| {
    ///     let mut cosets = cosets.lock().expect("no panic");
    ///     questions.iter().map(|question| Ok(cosets.answer(question)?)).collect()
    /// }))?;
    /// proof.verify(&constraints, &config, &public_values)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`prove`](Self::prove); [`Error::System`](crate::Error::System) if `ask` fails, [`Error::Rejected`](crate::Error::Rejected) for wrong
    /// answers, [`Error::Mismatch`](crate::Error::Mismatch) with zero knowledge, and for a quotient of more chunks than the blowup.
    pub fn prove_with_cosets(
        &self,
        config: &Config,
        trace: &Rows<'_>,
        public_values: &[u64],
        ask: Ask,
    ) -> Result<Proof> {
        self.prove_trace(config, trace, public_values, |len, read| Trace::Divided { len, read, ask })
    }

    /// The cosets that answer the questions of [`prove_with_cosets`](Self::prove_with_cosets) about a trace, which is copied.
    ///
    /// # Errors
    /// As [`prove_with_cosets`](Self::prove_with_cosets), but that constraints are not checked.
    pub fn cosets(&self, config: &Config, trace: &Rows<'_>, public_values: &[u64]) -> Result<Cosets> {
        let (level, public_values) = (current().level, elements(public_values)?);
        let (constraints, preprocessed) = (&self.constraints, self.preprocessed.as_ref());
        let cosets = self.with_trace(trace, |len, read| {
            let trace = Trace::Parts { len, read };
            proofmill_stark::Cosets::new(level, config, constraints, preprocessed, trace, &public_values)
        });
        Ok(Cosets(cosets?))
    }
}

/// Cosets of the extension of a trace; their number is the blowup. Each is computed at its first question, and kept.
///
/// Memory is that of the trace, and for each coset again that of the trace and two digests for each row.
pub struct Cosets(proofmill_stark::Cosets);

impl Cosets {
    /// The number of cosets that the extension has.
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// Answers a question. Runs on all threads.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for bytes that are no question about
    /// this trace.
    pub fn answer(&mut self, question: &Question) -> Result<Vec<u8>> {
        self.0.answer(current().level, question).map_err(|error| Names::default().of(error))
    }
}
