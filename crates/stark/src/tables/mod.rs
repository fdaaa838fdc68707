//! Several tables in one proof, with lookups between them: the protocol of Plonky3's `batch-stark` 0.9.0-rc.2, without hiding.
//!
//! The traces of all tables are one commitment, so are their quotients, and so are the columns of lookups, which take challenges that
//! follow the traces. Tables may have different numbers of rows.

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
