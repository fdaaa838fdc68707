//! STARKs inside of a PLONK circuit.

use super::{Config, Constraints, Parameters, Proof, elements};
use crate::{Error, Result, error::Names, machine::current, merkle::Hash, plonk};
use proofmill_files::FileName;
use proofmill_stark::{StarkError, VerifyError};
use proofmill_wrap::{Inner, InnerProof, Statement, WrapError};
use std::path::Path;

/// The hash of inner proofs.
const HASH: Hash = Hash::PoseidonBn254;

/// Proofs of one AIR, all of as many rows, verified inside of a PLONK circuit, so that one short proof takes their place: a chain verifies
/// it with [`plonk::VerifyingKey::solidity_verifier`]. Its public signals are the public values of the first proof, then those of the next.
///
/// The key contains the constraints, the parameters, the number of rows and the preprocessed columns. A verifier with the
/// verifying key needs nothing else.
///
/// ```
/// use proofmill::{
///     Machine,
///     merkle::{Hash, Rows},
///     plonk::ProvingKey,
///     srs::Srs,
///     stark::{Config, Constraints, Parameters, airs::Fibonacci},
/// };
///
/// # fn main() -> proofmill::Result<()> {
/// let rows = std::iter::successors(Some([0, 1]), |[a, b]| Some([*b, a + b]));
/// let trace: Vec<u64> = rows.take(8).flatten().collect();
/// let public_values = [0, 1, trace[15]];
/// let constraints = Constraints::new(&Fibonacci)?;
/// // Two queries make a small circuit for a test, and prove nearly nothing. `Config::default` has 57, and demands 100 bits.
/// let parameters = Parameters { queries: 2, ..Parameters::default() };
/// let config = Config { hash: Hash::PoseidonBn254, parameters, bits: 0, ..Config::default() };
/// let inner = constraints.prove(&config, &Rows::new(&trace, 2)?, &public_values)?;
///
/// // For a test. In production, `Srs::open` a ceremony's powers of tau; then no permission is needed.
/// let machine = Machine::builder().allow_insecure_setup(|warning| eprintln!("{warning}")).build()?;
/// machine.run(|| {
///     let wrap = constraints.wrap(&config, 8, 1)?;
///     let key = ProvingKey::of_circuit(&wrap.circuit(), &Srs::insecure(1 << 17)?)?;
///     let proof = wrap.prove(&key, &[(&inner, &public_values)])?;
///     proof.verify(&key.verifying_key())?;
///     assert_eq!(proof.public().iter().map(ToString::to_string).collect::<Vec<_>>(), ["0", "1", "21"]);
///     Ok(())
/// })
/// # }
/// ```
#[derive(Debug)]
pub struct Wrap {
    statement: Statement,
    circuit: Option<FileName>,
}

impl Constraints {
    /// A wrap of so many proofs with this configuration, each of a trace of so many rows. The hash has to be [`Hash::PoseidonBn254`], the
    /// extension the cubic one.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another hash or extension, no proofs, or preprocessed columns with another number of rows, and for proofs that
    /// prove less than the configuration demands;
    /// [`Error::Malformed`] for parameters out of their range, and for a number of rows that is not a power of two.
    pub fn wrap(&self, config: &Config, rows: u64, proofs: usize) -> Result<Wrap> {
        if config.hash != HASH {
            let expected = HASH.name();
            return Err(Names::mismatch(
                None,
                format!("expected the hash {expected}, found {}", config.hash.name()),
            ));
        }
        if !rows.is_power_of_two() {
            return Err(Error::malformed(None, format!("rows: expected a power of two, found {rows}")));
        }
        let parameters: &Parameters = &config.parameters;
        let (constraints, preprocessed) = (&self.constraints, self.preprocessed.as_ref());
        let statement =
            Statement::new(current().level, constraints, parameters, preprocessed, rows.ilog2(), proofs);
        let names = Names { circuit: self.name.as_ref(), ..Names::default() };
        let statement = statement.and_then(|statement| {
            config.check(&constraints.shape(rows.ilog2())).map_err(StarkError::from)?;
            Ok(statement)
        });
        Ok(Wrap { statement: statement.map_err(|error| names.of(error))?, circuit: self.name.clone() })
    }
}

impl Wrap {
    /// The circuit, for [`plonk::ProvingKey::of_circuit`]. Its values satisfy it for no proof.
    pub fn circuit(&self) -> plonk::Circuit {
        self.statement.circuit(current().level)
    }

    /// Proves with the key of [`circuit`](Self::circuit) that there are valid proofs for these public values. The inner proofs are
    /// verified first, the new one before it is returned.
    ///
    /// The new proof hides the inner ones, which hide nothing of their traces.
    ///
    /// # Errors
    /// [`Error::Rejected`] names the inner proof that proves nothing, and [`Error::Malformed`] the one that is not well-formed;
    /// [`Error::Mismatch`] for another number of proofs, rows or public values than the wrap's, for an inner proof with another hash, and
    /// for the key of another circuit; [`Error::Unsatisfied`] for the key of a similar circuit. Others as
    /// [`plonk::ProvingKey::prove`].
    pub fn prove(&self, key: &plonk::ProvingKey, inner: &[(&Proof, &[u64])]) -> Result<plonk::Proof> {
        let machine = current();
        machine.progress().begin("verify inner proofs");
        let mut decoded = Vec::with_capacity(inner.len());
        for (index, (proof, public_values)) in inner.iter().enumerate() {
            let inner = InnerProof::from_bytes(HASH.tree_hash(), proof.as_bytes());
            let inner = inner.map_err(|error| inner_error(index, proof, error.into()))?;
            decoded.push((inner, elements(public_values)?));
        }
        let proofs: Vec<_> =
            decoded.iter().map(|(proof, public_values)| Inner { public_values, proof }).collect();
        let circuit = self.statement.wrap(machine.level, &proofs).map_err(|error| match error {
            WrapError::Inner { index, error } => inner_error(index, inner[index].0, error),
            error => Names { circuit: self.circuit.as_ref(), ..Names::default() }.of(error),
        })?;
        key.prove(&circuit.into())
    }
}

fn inner_error(index: usize, proof: &Proof, error: VerifyError) -> Error {
    let in_memory = FileName::new(Path::new(&format!("inner proof {index}")));
    Names { proof: Some(proof.name.as_ref().unwrap_or(&in_memory)), ..Names::default() }.of(error)
}
