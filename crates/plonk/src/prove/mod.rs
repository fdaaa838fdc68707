//! The prover: five rounds. `wires` has rounds 1 and 2, `products` round 3, `quotient` round 4,
//! `openings` round 5. Round 2 is not in the paper: it commits to the columns that plookup sorts. So
//! z is in round 3 and t in round 4, and round 5 is the paper's rounds 4 and 5.
//!
//! Memory, in vectors of n scalars (n is the domain's size): the peak is in round 4. It has the coefficients
//! of the witness columns, their values on one coset, the fixed columns of that coset that are in use, and
//! the parts of the quotient. The key and the reference string come in addition.

#[cfg(test)]
mod forgeries;
mod leading;
mod openings;
mod products;
mod quotient;
mod rows;
mod wires;

pub(crate) use wires::Assignment;

use crate::{
    Column, PlonkError, Progress, Proof, ProvingKey, System,
    arithmetisation::summand::Challenges,
    key::{Commit, Reference},
    memory::Storage,
    memory::{CowScalars, Scalars},
    polynomial::blind,
    verify,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::bn254::{Fr, FrParams};
use proofmill_ntt::Domain;
use proofmill_run::Run;
use rand::{
    RngCore, SeedableRng, TryRngCore,
    rngs::{OsRng, StdRng},
};
use std::collections::BTreeMap;

/// Options of [`prove`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProveOptions {
    /// Whether to check every gate before the proof, so that the error names an unsatisfied row.
    pub check_witness: bool,
}

impl Default for ProveOptions {
    fn default() -> Self {
        Self { check_witness: true }
    }
}

/// Proves knowledge of `witness`, with blinding from the operating system's randomness, and returns the proof
/// and the public inputs. `witness` has the values of R1CS's wires (the first is the constant one), or of all
/// variables of a circuit built in Rust.
///
/// The proof is verified before it is returned. Runs on the
/// ambient rayon pool.
///
/// # Errors
/// [`PlonkError::Unsatisfied`] with the first row whose gates (if they are checked) or lookup do not hold;
/// [`PlonkError::WitnessLength`]; [`PlonkError::File`] for a key that cannot be read; [`PlonkError::Domain`],
/// [`PlonkError::CopyConstraint`] and [`PlonkError::NotProven`] for an inconsistent key;
/// [`PlonkError::Randomness`]; [`PlonkError::Scratch`].
pub fn prove(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    prove_with_rng(run, key, witness, options, &mut os_rng()?)
}

/// [`prove`] with commitments that `commit` makes, so that the key's powers of tau are not read.
///
/// # Errors
/// As [`prove`], and [`PlonkError::Commitment`]; [`PlonkError::NotProven`] also for a commitment that is wrong.
pub fn prove_with_commitments(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    commit: Commit<'_>,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    prove_by(run, key, witness, options, Committer::Elsewhere(commit), &mut os_rng()?)
}

/// A generator seeded by the operating system.
pub(crate) fn os_rng() -> Result<StdRng, PlonkError> {
    let mut seed = [0; 32];
    OsRng.try_fill_bytes(&mut seed).map_err(|error| PlonkError::Randomness(error.to_string()))?;
    Ok(StdRng::from_seed(seed))
}

/// [`prove`] with blinding from `rng`, for tests that need the same proof twice. A predictable generator
/// reveals the witness.
///
/// # Errors
/// As [`prove`].
pub fn prove_with_rng(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    rng: &mut impl RngCore,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    prove_by(run, key, witness, options, Committer::here(run, key)?, rng)
}

fn prove_by(
    run: Run<'_>,
    key: &ProvingKey,
    witness: &[Fr],
    options: ProveOptions,
    committer: Committer<'_>,
    rng: &mut impl RngCore,
) -> Result<(Proof, Vec<Fr>), PlonkError> {
    let Run { level, .. } = run;
    let verifying_key = key.verifying_key();
    let blinding = BlindingCoefficients::random(&verifying_key.system, rng);
    let mut prover = ProverState::new(run, key, blinding, committer)?;
    // Round 1 of the paper: the wires. Then beta and gamma are drawn, or eta with lookups.
    let mut assignment = prover.round1_assign(witness, options)?;
    let public = assignment.public.clone();
    let first = prover.commit_columns(assignment.columns())?;
    prover.challenges.after_first_round(verifying_key, &public, &first);

    // Not in the paper: eta folds the tables, and plookup commits to its sorted columns.
    prover.fold_tables(&mut assignment)?;
    let sorted = prover.round2_sorted(&mut assignment)?;
    let second = prover.commit_columns(sorted)?;
    prover.challenges.after_second_round(verifying_key, &second);

    // Round 2 of the paper: the grand product z, which needs beta and gamma. Then alpha is drawn.
    let running = prover.round3_running(assignment)?;
    let third = prover.commit_columns(running)?;
    prover.challenges.after_third_round(verifying_key, &third);
    let proof = prover.conclude([first, second, third], &public)?;
    prover.phase("verify");
    match verify(level, verifying_key, &public, &proof) {
        Ok(()) => Ok((proof, public)),
        Err(_) => Err(PlonkError::NotProven),
    }
}

/// The maker of commitments.
pub(crate) enum Committer<'a> {
    /// The prover.
    Here(Reference),
    /// The caller.
    Elsewhere(Commit<'a>),
}

impl Committer<'_> {
    /// Reads the powers of tau.
    pub(crate) fn here(run: Run<'_>, key: &ProvingKey) -> Result<Self, PlonkError> {
        let Run { level, progress, .. } = run;
        progress.begin("read zkey");
        key.reference(level).map(Self::Here)
    }
}

/// The state shared by the rounds.
pub(crate) struct ProverState<'a> {
    pub(crate) level: Level,
    key: &'a ProvingKey,
    pub(crate) system: &'a System,
    pub(crate) domain: Domain<FrParams>,
    committer: Committer<'a>,
    progress: Progress<'a>,
    blinding: BlindingCoefficients,
    pub(crate) challenges: Challenges,
    /// The blinded coefficients of the witness columns, and the coefficients of the folded tables.
    pub(crate) polynomials: BTreeMap<Column, Scalars>,
}

/// Random blinding coefficients.
pub(crate) struct BlindingCoefficients {
    /// The coefficients of each column, lowest first.
    pub(crate) columns: BTreeMap<Column, Vec<Fr>>,
    /// One coefficient for each border between parts of the quotient.
    pub(crate) quotient: Vec<Fr>,
}

impl BlindingCoefficients {
    fn random(system: &System, rng: &mut impl RngCore) -> Self {
        let mut random = |count| (0..count).map(|_| Fr::random(rng)).collect::<Vec<_>>();
        let rounds = system.rounds();
        let columns = rounds.iter().flatten().map(|column| (*column, random(system.blinding(*column))));
        let columns = columns.collect();
        Self { columns, quotient: random(system.parts() - 1) }
    }
}

/// Witness columns as values on n rows, followed by the first value again.
pub(crate) type WitnessColumns = Vec<(Column, Scalars)>;

/// Columns as values, owned or borrowed.
pub(crate) type ColumnValues<'a> = Vec<(Column, CowScalars<'a>)>;

impl<'a> ProverState<'a> {
    pub(crate) fn new(
        run: Run<'a>,
        key: &'a ProvingKey,
        blinding: BlindingCoefficients,
        committer: Committer<'a>,
    ) -> Result<Self, PlonkError> {
        let Run { level, progress, .. } = run;
        let log_n = key.verifying_key().log_n;
        let domain = key.log_n_range().contains(&log_n).then(|| Domain::new(log_n)).flatten();
        let domain = domain.ok_or(PlonkError::Domain { log_n })?;
        let system = &key.verifying_key().system;
        if let Committer::Here(reference) = &committer {
            // Blinding makes columns and the last part of the quotient longer than n.
            let (needed, found) = (domain.len() + system.extra_powers(), reference.len());
            if needed > found {
                return Err(PlonkError::ShortReference { needed, found });
            }
        }
        let challenges = Challenges::default();
        let polynomials = BTreeMap::new();
        Ok(Self { level, key, system, domain, committer, progress, blinding, challenges, polynomials })
    }

    /// The storage of vectors.
    pub(crate) fn storage(&self) -> &'a Storage {
        self.key.storage()
    }

    pub(crate) fn phase(&mut self, name: &'static str) {
        self.progress.begin(name);
    }

    /// Completes the proof for the committed columns, valid or not.
    fn conclude(&mut self, commitments: [Vec<Affine<G1>>; 3], public: &[Fr]) -> Result<Proof, PlonkError> {
        // Round 3 of the paper: the quotient t in parts. Then xi is drawn.
        let parts = self.round4_quotient(public)?;
        let quotient = parts.iter().map(|part| self.commit("msm t", &CowScalars::from(part)));
        let quotient = quotient.collect::<Result<Vec<_>, _>>()?;
        self.challenges.after_quotient(&quotient);

        // Round 4 of the paper: the values at xi and xi omega. Then v is drawn.
        let evaluations = self.round5_evaluate()?;
        self.challenges.after_evaluations(&evaluations);
        // Round 5 of the paper: Wxi and Wxiw. Only the verifier needs u, to check both at once.
        let [opening, shifted_opening] = self.round5_open(parts, &evaluations, public)?;
        Ok(Proof {
            commitments,
            quotient,
            evaluations,
            opening: self.commit("msm w", &opening)?,
            shifted_opening: self.commit("msm w", &shifted_opening)?,
        })
    }

    /// The commitment to a polynomial.
    pub(crate) fn commit(
        &mut self,
        phase: &'static str,
        coefficients: &[Fr],
    ) -> Result<Affine<G1>, PlonkError> {
        self.phase(phase);
        match &self.committer {
            Committer::Here(reference) => reference.commit(self.level, self.storage().piece(), coefficients),
            Committer::Elsewhere(commit) => commit(coefficients).map_err(PlonkError::Commitment),
        }
    }

    /// Interpolates and blinds columns given by at least n values each, keeps their coefficients and returns
    /// the commitments.
    fn commit_columns<'v>(
        &mut self,
        columns: impl IntoIterator<Item = (Column, CowScalars<'v>)>,
    ) -> Result<Vec<Affine<G1>>, PlonkError> {
        let mut commitments = Vec::new();
        for (column, values) in columns {
            let coefficients = self.interpolate_column(column, values)?;
            let phase = match column {
                Column::GrandProduct => "msm z",
                Column::Wire(_) => "msm wires",
                _ => "msm lookups",
            };
            commitments.push(self.commit(phase, &CowScalars::from(&coefficients))?);
            self.polynomials.insert(column, coefficients);
        }
        Ok(commitments)
    }

    /// The blinded coefficients of a column given by at least n values.
    pub(crate) fn interpolate_column(
        &mut self,
        column: Column,
        values: CowScalars<'_>,
    ) -> Result<Scalars, PlonkError> {
        self.phase("ntt");
        let n = self.domain.len();
        let blinding = self.blinding.columns.remove(&column).unwrap_or_default();
        let mut coefficients = self.storage().copy(&values[..n], n + blinding.len())?;
        drop(values);
        self.domain.intt(self.level, &mut coefficients[..n]);
        // As `(b_1 X + b_2) Z_H(X)` in the paper: the values on the domain stay the same.
        blind(&mut coefficients, &blinding);
        Ok(coefficients)
    }
}
