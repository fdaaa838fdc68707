//! Recorded programs as Yul. The variable `r` is the modulus. Values are at most r, and results of additions
//! and multiplications are below r.

use super::trace::{InputWord, Traced, TracedOperation};
use proofmill_solidity::literal;

/// The largest depth of an expression. Each level leaves two words on the EVM's stack while the next is
/// computed, and `r` must stay within reach of 16 words.
const DEEPEST: usize = 4;

/// A program as Yul text.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// Statements that store every value with several uses in memory.
    pub(crate) statements: Vec<String>,
    /// The expressions of the roots. They can be evaluated in any order after the statements.
    pub(crate) roots: Vec<String>,
    /// The first unused byte of memory.
    pub(crate) end: usize,
}

/// An expression and its depth.
type Expression = (String, usize);

/// Compiles everything that `roots` depend on, with memory from byte `begin` on.
pub(crate) fn compile(nodes: &[TracedOperation], roots: &[Traced], begin: usize) -> Compiled {
    let mut uses = vec![0usize; nodes.len()];
    roots.iter().for_each(|root| uses[root.index()] += 1);
    for (index, node) in nodes.iter().enumerate().rev() {
        if uses[index] > 0 {
            node.operands().for_each(|operand| uses[operand.index()] += 1);
        }
    }
    let (mut statements, mut end) = (Vec::new(), begin);
    let mut expressions: Vec<Expression> = Vec::with_capacity(nodes.len());
    for (node, uses) in nodes.iter().zip(uses) {
        let mut expression = expression(*node, &expressions);
        let is_leaf = matches!(node, TracedOperation::Constant(_) | TracedOperation::Input(_));
        if !is_leaf && (uses > 1 || uses == 1 && expression.1 >= DEEPEST) {
            statements.push(format!("mstore({end:#x}, {})", expression.0));
            expression = (format!("mload({end:#x})"), 0);
            end += 32;
        }
        expressions.push(expression);
    }
    let roots = roots.iter().map(|root| expressions[root.index()].0.clone()).collect();
    Compiled { statements, roots, end }
}

fn expression(node: TracedOperation, expressions: &[Expression]) -> Expression {
    let of = |value: Traced| expressions[value.index()].0.as_str();
    let text = match node {
        TracedOperation::Constant(value) => literal(value),
        TracedOperation::Input(InputWord::Calldata(byte)) => format!("calldataload({byte:#x})"),
        TracedOperation::Input(InputWord::Memory(byte)) => format!("mload({byte:#x})"),
        TracedOperation::Sum(a, b) => format!("addmod({}, {}, r)", of(a), of(b)),
        TracedOperation::Difference(a, b) => format!("addmod({}, sub(r, {}), r)", of(a), of(b)),
        TracedOperation::Product(a, b) => format!("mulmod({}, {}, r)", of(a), of(b)),
        TracedOperation::Negative(a) => format!("sub(r, {})", of(a)),
    };
    let depth = node.operands().map(|operand| expressions[operand.index()].1 + 1).max();
    (text, depth.unwrap_or(0))
}
