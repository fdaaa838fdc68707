//! Several tables in one proof, with lookups between them: the protocol of Plonky3's `batch-stark` 0.9.0-rc.2.
//!
//! There is one commitment to the traces of all tables, one to their quotients, and one to the columns of lookups. The columns of lookups
//! depend on challenges that follow the traces. Tables may have different numbers of rows.

mod key;
mod lookups;
mod proof;
mod prove;
mod shape;
mod statement;
mod verify;

pub use key::TablesKey;
pub use proof::{TableValues, TablesProof};
pub use prove::prove_tables;
pub use statement::Tables;
pub use verify::{TablesVerifyingKey, verify_tables};
