//! The preprocessed columns of tables.

use super::{Tables, TablesVerifyingKey};
use crate::{
    Parameters, StarkError, StarkHash,
    air::Preprocessed,
    commitment::{Committed, check_shape},
    trace::{blinding::Blinding, placement::extend_trace},
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;

/// The preprocessed columns of all tables that have some, with their commitment: the key of provers.
pub struct TablesKey {
    /// The name of the hash.
    pub(super) hash: &'static str,
    pub(super) committed: Committed,
    pub(super) log_rows: Vec<u32>,
    /// The preprocessed rows of each of these tables.
    pub(super) values: Vec<Vec<Goldilocks>>,
}

impl TablesKey {
    /// Commits to the preprocessed columns of tables; `None` if no table has some.
    ///
    /// # Errors
    /// [`StarkError::Parameters`], [`StarkError::Shape`], and [`StarkError::Preprocessed`] if the columns are not those of the tables.
    pub fn new(
        level: Level,
        hash: &dyn StarkHash,
        parameters: &Parameters,
        tables: &Tables,
        preprocessed: Vec<Option<Preprocessed>>,
    ) -> Result<Option<Self>, StarkError> {
        parameters.check()?;
        let columns =
            |preprocessed: &Option<Preprocessed>| preprocessed.as_ref().map_or(0, |given| given.columns);
        let found: Vec<_> = preprocessed.iter().map(columns).collect();
        let expected: Vec<_> = tables.tables.iter().map(|table| table.preprocessed).collect();
        if expected != found {
            let (expected, found) = (format!("{expected:?} columns"), format!("{found:?} columns"));
            return Err(StarkError::Preprocessed { expected, found });
        }
        let mut blinding = Blinding::of_key(parameters);
        let (mut log_rows, mut values, mut matrices) = (Vec::new(), Vec::new(), Vec::new());
        for Preprocessed { columns, values: rows } in
            preprocessed.into_iter().flatten().filter(|given| given.columns > 0)
        {
            log_rows.push(check_shape("preprocessed columns", rows.len(), columns, parameters)?);
            matrices.push(extend_trace(
                level.into(),
                parameters,
                &mut (&rows).into(),
                columns,
                &mut blinding,
            )?);
            values.push(rows);
        }
        if matrices.is_empty() {
            return Ok(None);
        }
        let committed = Committed::of_matrices(level, hash, parameters, matrices, &mut blinding)?;
        Ok(Some(Self { hash: hash.name(), committed, log_rows, values }))
    }

    /// The key of verifiers.
    pub fn verifying_key(&self) -> TablesVerifyingKey {
        TablesVerifyingKey { cap: self.committed.cap().to_vec(), log_rows: self.log_rows.clone() }
    }
}
