//! Constraints as data: captured once, evaluated on many rows.

pub(crate) mod constraints;
mod definition;
mod digest;
mod document;
mod evaluate;
mod expression;
pub(crate) mod file;
mod graph;
mod lookup;
mod program;

pub use definition::{Air, Matrix, Preprocessed, Row, SELECTORS};
pub(crate) use digest::AirBytes;
pub(crate) use document::{NodeDocument, parse_element};
pub use evaluate::Evaluation;
pub(crate) use evaluate::rows_of_task;
pub use expression::capture;
pub use graph::{Cell, Expression, Graph, Input, Lookup, Operation, Term};
pub use lookup::Bus;
pub(crate) use lookup::Products;
pub use program::{BLOCK, Program};
