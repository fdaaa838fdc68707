//! Errors.

use thiserror::Error;

/// An error in a field, a graph, a device or an execution.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PipelineError {
    /// A modulus that eight signed limbs do not suit.
    #[error("the modulus has {bits} bits or is even: fields of a tile have odd moduli of 254 bits")]
    Modulus {
        /// The number of its bits.
        bits: u32,
    },
    /// A part of a graph that refers to something which does not exist, or twice to the same.
    #[error("graph {graph}, {place}: {problem}")]
    Graph {
        /// The graph's name.
        graph: String,
        /// The node, source or sink.
        place: String,
        /// The problem.
        problem: String,
    },
    /// A number that may not fit its register.
    #[error(
        "graph {graph}, node {node}: a number of {least} to {most} does not fit {bits} bits; reduce an operand before"
    )]
    Overflow {
        /// The graph's name.
        graph: String,
        /// The node's name.
        node: String,
        /// The least number.
        least: i128,
        /// The greatest number.
        most: i128,
        /// Bits of the register.
        bits: u32,
    },
    /// A description of a device that is malformed.
    #[error("device, {place}: {problem}")]
    Device {
        /// The place in the description.
        place: String,
        /// The problem.
        problem: String,
    },
    /// A kernel that a tile cannot run.
    #[error("node {node} on {device}: {problem}")]
    Kernel {
        /// The node's name.
        node: String,
        /// The device's name.
        device: String,
        /// The reason.
        problem: String,
    },
    /// Pipelines that a device has no room for, or that are asked to run in a way that is not possible.
    #[error("{graph} on {device}: {problem}")]
    Run {
        /// The graph's name.
        graph: String,
        /// The device's name.
        device: String,
        /// The reason.
        problem: String,
    },
    /// Buffers that are too small: no node can go on.
    #[error("deadlock: {0}")]
    Deadlock(String),
    /// Inputs that do not suit the graph.
    #[error("{0}")]
    Inputs(String),
}

/// The most bytes of a name in a file.
pub(crate) const MOST_NAME: usize = 1 << 12;

/// The problem of a name: it is longer than messages can be, or would break their line.
pub(crate) fn problem_of_name(name: &str) -> Option<String> {
    let problem = format!("names have {MOST_NAME} bytes at most and no control characters");
    (name.len() > MOST_NAME || name.contains(char::is_control)).then_some(problem)
}

/// The beginning of a text from a file, in one line, for a message.
pub(crate) fn beginning(text: &str) -> String {
    const MOST: usize = 200;
    let shown = text.chars().take(MOST).map(|char| if char.is_control() { ' ' } else { char });
    shown.chain(text.chars().nth(MOST).map(|_| '…')).collect()
}
