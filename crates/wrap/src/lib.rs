//! STARKs verified inside of a PLONK circuit over BN254, so that a chain sees one short proof.
//!
//! The inner proofs are those of [`proofmill_stark`] with [`PoseidonBn254Sponge`] as the hash and the cubic extension. The circuit, in the
//! ultra arithmetisation, runs their verifier step by step: the transcript, the constraints at the point outside of the domain, the quotients
//! of queries, FRI's folds, and all paths of trees. The circuit, and so its key, fixes the constraints, parameters, number of rows, and
//! commitment to preprocessed columns. Its public inputs are the public values of all inner proofs, one after another, as integers
//! below 2^64 - 2^32 + 1.
//!
//! `residue` has the arithmetic, `verifier` the protocol; `docs/wrap.md` says what is checked, and why it suffices.

mod challenger;
mod constraints;
mod element;
mod fri;
mod powers;
mod residue;
#[cfg(test)]
mod tests;
mod tree;
mod verifier;

use element::DEGREE;
use powers::PowerLookup;
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, Goldilocks},
};
use proofmill_hash::{Digest, PoseidonBn254Sponge};
use proofmill_plonk::{Arithmetisation, Circuit};
use proofmill_run::{Classified, ErrorKind, Subject};
use proofmill_stark::{
    Constraints, OpenedRows, OpeningProof, Parameters, PreprocessedKey, Proof, Round, StarkError,
    VerifyError, air::Preprocessed, protocol, security::InvalidConfiguration,
};

/// A proof that can be wrapped.
pub type InnerProof = Proof<DEGREE>;

/// An inner proof with its public values.
#[derive(Clone, Copy, Debug)]
pub struct Inner<'a> {
    /// The public values.
    pub public_values: &'a [Goldilocks],
    /// The proof.
    pub proof: &'a InnerProof,
}

/// Why proofs cannot be wrapped.
#[derive(Debug, thiserror::Error)]
pub enum WrapError {
    /// Parameters that no inner proof has.
    #[error("{0}")]
    Parameters(#[from] InvalidConfiguration),
    /// Constraints with lookups, or preprocessed columns that are not those of the statement.
    #[error("{0}")]
    Statement(#[from] StarkError),
    /// The number of proofs is not the circuit's.
    #[error("expected {expected} inner proofs, found {found}")]
    Count {
        /// The circuit's number.
        expected: usize,
        /// The caller's number.
        found: usize,
    },
    /// An inner proof is not valid.
    #[error("inner proof {index}: {error}")]
    Inner {
        /// The proof's position, from 0.
        index: usize,
        /// The fault of the proof.
        error: VerifyError,
    },
}

impl Classified for WrapError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Parameters(_) => ErrorKind::Malformed,
            Self::Statement(error) => error.kind(),
            Self::Count { .. } => ErrorKind::Mismatch,
            Self::Inner { error, .. } => error.kind(),
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Parameters(_) | Self::Count { .. } => None,
            Self::Statement(error) => error.subject(),
            Self::Inner { error, .. } => error.subject(),
        }
    }
}

/// The common statement of a circuit's inner proofs.
#[derive(Clone, Debug)]
pub struct Statement {
    constraints: Constraints,
    parameters: Parameters,
    log_rows: u32,
    preprocessed: Option<Vec<Digest>>,
    proofs: usize,
}

/// The sizes of a circuit's tables. Larger tables need fewer rows of gates, but a circuit has at least the rows of all its tables.
struct Tables {
    /// Bits of the largest range table. With 16, a range of 64 bits takes four rows.
    range_bits: u32,
    domain: PowerLookup,
}

const SMALL: Tables = Tables { range_bits: 13, domain: PowerLookup { table_bits: 10 } };
const LARGE: Tables = Tables { range_bits: 16, domain: PowerLookup { table_bits: 15 } };

/// The largest logarithm of an arity: a fold takes rows for the square of the arity.
const MOST_LOG_ARITY: u32 = 6;

/// The most words in rows of queries, of all proofs: each takes four rows and more, and circuits have at most 2^28.
const MOST_WORDS: usize = 1 << 26;

/// The number of words in rows of queries, of all proofs, from which on tables are large.
const MANY_WORDS: usize = 4096;

impl Statement {
    /// A statement about `proofs` proofs with traces of `2^log_rows` rows.
    ///
    /// # Errors
    /// [`WrapError::Parameters`], [`WrapError::Statement`], [`WrapError::Count`] for no proofs.
    pub fn new(
        level: Level,
        constraints: &Constraints,
        parameters: &Parameters,
        preprocessed: Option<&Preprocessed>,
        log_rows: u32,
        proofs: usize,
    ) -> Result<Self, WrapError> {
        constraints.check_alone()?;
        parameters.check_shape(&constraints.shape(log_rows))?;
        if parameters.extension as usize != DEGREE {
            let (field, expected, found) = ("extension", DEGREE.to_string(), parameters.extension);
            return Err(InvalidConfiguration { field, expected, found }.into());
        }
        if parameters.log_arity > MOST_LOG_ARITY {
            let expected = format!("at most {MOST_LOG_ARITY} for a wrap");
            return Err(
                InvalidConfiguration { field: "log_arity", expected, found: parameters.log_arity }.into()
            );
        }
        if parameters.is_blinded() {
            let (expected, found) = ("0 for a wrap".to_owned(), parameters.random_columns);
            return Err(InvalidConfiguration { field: "random_columns", expected, found }.into());
        }
        let longest = constraints.periodic().iter().map(Vec::len).max().unwrap_or(1).ilog2();
        // The circuit does not check that a column of one row is constant.
        let least = longest.max(parameters.least_log_rows()).max(1);
        if log_rows < least {
            let expected = format!("at least {least} for these constraints and this final polynomial");
            return Err(InvalidConfiguration { field: "log_rows", expected, found: log_rows }.into());
        }
        if proofs == 0 {
            return Err(WrapError::Count { expected: 1, found: 0 });
        }
        let key = |columns: &Preprocessed| {
            PreprocessedKey::new(level, &PoseidonBn254Sponge, parameters, columns.clone())
        };
        let key = preprocessed.map(key).transpose()?;
        let found = key.as_ref().map_or((0, log_rows), |key| (key.columns(), key.commitment().1));
        if found != (constraints.preprocessed(), log_rows) {
            return Err(WrapError::Statement(StarkError::Preprocessed {
                expected: format!("{} columns of 2^{log_rows} rows", constraints.preprocessed()),
                found: format!("{} columns of 2^{} rows", found.0, found.1),
            }));
        }
        let statement = Self {
            constraints: constraints.clone(),
            parameters: *parameters,
            log_rows,
            preprocessed: key.map(|key| key.commitment().0.to_vec()),
            proofs,
        };
        let most = MOST_WORDS / statement.words_of_proof();
        if proofs > most {
            let expected = format!("at most {most} for this AIR and these parameters");
            let found = u32::try_from(proofs).unwrap_or(u32::MAX);
            return Err(InvalidConfiguration { field: "proofs", expected, found }.into());
        }
        Ok(statement)
    }

    /// The circuit without a witness, for a key: proofs of zeros.
    pub fn circuit(&self, level: Level) -> Circuit {
        let proof = self.blank();
        let public_values = vec![Goldilocks::ZERO; self.constraints.public_values()];
        self.build(level, &vec![Inner { public_values: &public_values, proof: &proof }; self.proofs])
    }

    /// The circuit with its witness. Proofs are verified first.
    ///
    /// # Errors
    /// [`WrapError::Count`], [`WrapError::Inner`].
    pub fn wrap(&self, level: Level, inner: &[Inner<'_>]) -> Result<Circuit, WrapError> {
        if inner.len() != self.proofs {
            return Err(WrapError::Count { expected: self.proofs, found: inner.len() });
        }
        for (index, each) in inner.iter().enumerate() {
            let preprocessed = self.preprocessed.as_ref().map(|cap| (&cap[..], self.log_rows));
            let valid = if each.proof.log_rows == self.log_rows {
                proofmill_stark::verify(
                    level,
                    &PoseidonBn254Sponge,
                    &self.parameters,
                    &self.constraints,
                    preprocessed,
                    each.public_values,
                    each.proof,
                )
            } else {
                let (expected, found) = (self.log_rows as usize, each.proof.log_rows as usize);
                Err(VerifyError::Malformed { what: "logarithm of the number of rows", expected, found })
            };
            valid.map_err(|error| WrapError::Inner { index, error })?;
        }
        Ok(self.build(level, inner))
    }

    /// The circuit with a witness from proofs of the right shape, right or wrong.
    fn build(&self, level: Level, inner: &[Inner<'_>]) -> Circuit {
        let mut circuit = Circuit::new(Arithmetisation::Ultra);
        let Tables { range_bits, domain } =
            if self.proofs * self.words_of_proof() < MANY_WORDS { SMALL } else { LARGE };
        circuit.set_range_table_bits(range_bits);
        for each in inner {
            verifier::verify(&mut circuit, level, self, domain, each);
        }
        circuit
    }

    /// The words that the queries of a proof open.
    fn words_of_proof(&self) -> usize {
        let Self { constraints, parameters, log_rows, .. } = self;
        let columns =
            constraints.columns() + constraints.preprocessed() + DEGREE * constraints.chunks(parameters);
        let folded = parameters.log_arities(*log_rows).map(|log_arity| DEGREE << log_arity).sum::<usize>();
        parameters.queries as usize * (columns + folded)
    }

    /// A proof of zeros.
    fn blank(&self) -> InnerProof {
        let Self { constraints, parameters, log_rows, .. } = self;
        let zeros = |count: usize| vec![Goldilocks::ZERO; count];
        let queries = parameters.queries as usize;
        let cap = |log_height| vec![Digest::default(); 1 << parameters.log_cap(log_height)];
        let log_height = log_rows + parameters.log_blowup;
        let mut height = log_height;
        let rounds = parameters.log_arities(*log_rows).map(|log_arity| {
            height -= log_arity;
            Round {
                commitment: cap(height),
                work: Goldilocks::ZERO,
                others: vec![Extension([Goldilocks::ZERO; DEGREE]); queries * ((1 << log_arity) - 1)],
                salts: Vec::new(),
                siblings: Vec::new(),
            }
        });
        let rounds = rounds.collect();
        let mut columns = vec![constraints.columns(), DEGREE * constraints.chunks(parameters)];
        columns.extend(self.preprocessed.is_some().then_some(constraints.preprocessed()));
        let rows = columns
            .iter()
            .map(|columns| OpenedRows { values: zeros(queries * columns), siblings: Vec::new() });
        Proof {
            log_rows: *log_rows,
            trace: cap(log_height),
            quotient: cap(log_height),
            random: Vec::new(),
            out_of_domain_work: Goldilocks::ZERO,
            opened: protocol::blank_values(parameters, constraints),
            opening: OpeningProof {
                batching_work: Goldilocks::ZERO,
                rounds,
                final_polynomial: vec![
                    Extension([Goldilocks::ZERO; DEGREE]);
                    1 << parameters.log_final_length
                ],
                query_work: Goldilocks::ZERO,
                rows: rows.collect(),
            },
        }
    }
}
