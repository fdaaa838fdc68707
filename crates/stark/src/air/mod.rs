//! Constraints as data: captured once, evaluated on many rows.

mod evaluate;
mod expression;
mod graph;
mod program;

pub use evaluate::Evaluation;
pub use expression::{Expression, capture};
pub use graph::{Cell, Graph, Input};
pub use program::{BLOCK, Program};
