//! Recorded programs as Yul. The variable `r` is the modulus; values are at most r, and those that were made by an addition
//! or a multiplication below it.

use super::trace::{InputWord, Node, Traced};
use proofmill_field::bn254::Fr;

/// Operations in one expression on a path: each level leaves two words on the EVM's stack while the next is computed, and `r`
/// must stay within its 16 words.
const DEEPEST: usize = 4;

/// A program as text.
#[derive(Debug)]
pub(super) struct Compiled {
    /// Writes every value that is used twice to a word of memory.
    pub(super) statements: Vec<String>,
    /// The expressions that were asked for, to be evaluated after the statements, in any order.
    pub(super) roots: Vec<String>,
    /// The first byte of memory that is not used.
    pub(super) end: usize,
}

/// An expression and how deep it is.
type Expression = (String, usize);

/// The text of what leads to `roots`, with words of memory from byte `begin`.
pub(super) fn compile(nodes: &[Node], roots: &[Traced], begin: usize) -> Compiled {
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
        let is_leaf = matches!(node, Node::Constant(_) | Node::Input(_));
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

fn expression(node: Node, expressions: &[Expression]) -> Expression {
    let of = |value: Traced| expressions[value.index()].0.as_str();
    let text = match node {
        Node::Constant(value) => literal(value),
        Node::Input(InputWord::Calldata(byte)) => format!("calldataload({byte:#x})"),
        Node::Input(InputWord::Memory(byte)) => format!("mload({byte:#x})"),
        Node::Sum(a, b) => format!("addmod({}, {}, r)", of(a), of(b)),
        Node::Difference(a, b) => format!("addmod({}, sub(r, {}), r)", of(a), of(b)),
        Node::Product(a, b) => format!("mulmod({}, {}, r)", of(a), of(b)),
        Node::Negative(a) => format!("sub(r, {})", of(a)),
    };
    let depth = node.operands().map(|operand| expressions[operand.index()].1 + 1).max();
    (text, depth.unwrap_or(0))
}

/// A scalar as a literal.
pub(super) fn literal(value: Fr) -> String {
    word(&value.to_bytes_be())
}

/// Big-endian bytes, at most 32, as a literal.
pub(super) fn word(bytes: &[u8]) -> String {
    match hex::encode(bytes).trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("0x{digits}"),
    }
}
