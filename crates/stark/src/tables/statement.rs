//! The statement: the AIRs of all tables, and which lookups belong together.

use crate::{
    Constraints, StarkError,
    security::{Shape, TablesShape},
};
use hashbrown::HashMap;
use proofmill_field::goldilocks::MODULUS;

/// The AIRs of several tables, whose lookups are balanced over all tables.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(super) tables: Vec<Constraints>,
    /// The number of the bus of each lookup of each table: equal names are one bus.
    pub(super) buses: Vec<Vec<u64>>,
    /// The largest number of values of a message, at least 1.
    pub(super) width: u64,
}

impl Tables {
    /// The tables of these AIRs.
    ///
    /// # Errors
    /// [`StarkError::Air`] if there are no AIRs, if messages of one bus have different numbers of values, or if only some tables are [as in
    /// Plonky3](Constraints::as_in_plonky3).
    pub fn new(tables: Vec<Constraints>) -> Result<Self, StarkError> {
        if tables.is_empty() {
            return Err(StarkError::Air("expected at least one table, found none".into()));
        }
        let without = |table: &Constraints| table.digest().is_none();
        if let Some(index) = tables.iter().position(|table| without(table) != without(&tables[0])) {
            return Err(StarkError::Air(format!(
                "table {index}: expected constraints as in Plonky3 for all tables, or for none"
            )));
        }
        let (mut names, mut count, mut widest) = (HashMap::new(), 0, 1);
        let mut buses = Vec::with_capacity(tables.len());
        for (index, table) in tables.iter().enumerate() {
            let mut of_table = Vec::new();
            for lookup in table.graph.lookups() {
                let width = lookup.width();
                widest = widest.max(width as u64);
                let mut new = || {
                    count += 1;
                    (count - 1, width)
                };
                let (bus, expected) = match &lookup.bus {
                    Some(name) => *names.entry(name.clone()).or_insert_with(new),
                    None => new(),
                };
                if width != expected {
                    let name = lookup.bus.as_deref().unwrap_or_default().escape_debug();
                    return Err(StarkError::Air(format!(
                        "table {index}: messages of bus \"{name}\" have {width} values, and {expected} in others"
                    )));
                }
                of_table.push(bus);
            }
            buses.push(of_table);
        }
        Ok(Self { tables, buses, width: widest })
    }

    /// The constraints of each table.
    pub fn tables(&self) -> &[Constraints] {
        &self.tables
    }

    /// The shape on which security depends, for tables of `2^log_rows` rows.
    ///
    /// # Panics
    /// If there is not one number of rows for each table.
    pub fn shape(&self, log_rows: &[u32]) -> TablesShape {
        assert_eq!(log_rows.len(), self.tables.len(), "a number of rows for each table");
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let sum = |of_table: fn(&Constraints) -> usize| count(self.tables.iter().map(of_table).sum());
        let messages =
            |table: &Constraints| table.graph.lookups().iter().map(|lookup| lookup.terms.len() as u64).sum();
        let messages = self.tables.iter().map(messages).zip(log_rows);
        let whole = Shape {
            log_rows: log_rows.iter().copied().max().unwrap_or(0),
            columns: sum(|table| table.columns + table.preprocessed),
            constraints: sum(|table| (table.len() + table.constraints_of_lookups()).max(1)),
            degree: self.tables.iter().map(Constraints::degree).max().unwrap_or(1),
        };
        TablesShape {
            whole,
            least_log_rows: log_rows.iter().copied().min().unwrap_or(0),
            tables: count(self.tables.len()),
            quotient_chunks: sum(|table| table.shape(0).quotient_chunks() as usize),
            lookup_columns: sum(|table| table.graph.lookup_columns()),
            messages: messages
                .map(|(messages, log_rows): (u64, _)| messages.saturating_mul(1 << log_rows))
                .sum(),
            message_width: u32::try_from(self.width).unwrap_or(u32::MAX),
        }
    }

    /// The indices of the tables that have lookups.
    pub(super) fn with_lookups(&self) -> impl Iterator<Item = usize> {
        (0..self.tables.len()).filter(|table| !self.buses[*table].is_empty())
    }

    /// The indices of the tables that have preprocessed columns.
    pub(super) fn with_preprocessed(&self) -> impl Iterator<Item = usize> {
        (0..self.tables.len()).filter(|table| self.tables[*table].preprocessed > 0)
    }

    /// Checks that no message's counts can add up to the modulus, in tables of `2^log_rows` rows.
    pub(super) fn check_counts(&self, log_rows: &[u32]) -> Result<(), StarkError> {
        let of_table = |(table, log_rows): (&Constraints, &u32)| {
            let most: u128 = table.graph.lookups().iter().map(|lookup| u128::from(lookup.most)).sum();
            most << log_rows
        };
        let sum: u128 = self.tables.iter().zip(log_rows).map(of_table).sum();
        if sum < u128::from(MODULUS) {
            return Ok(());
        }
        Err(StarkError::Air(format!(
            "messages could be looked up {sum} times, and at most 2^64 - 2^32 are allowed: take smaller bounds of counts, or fewer rows"
        )))
    }
}
