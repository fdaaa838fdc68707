//! One firing of a node.

use crate::{
    PipelineError,
    graph::Node,
    limbs::{Bundle, Constants, Exact, LIMBS, Lanes, SignedField, Tile, Word},
};
use proofmill_field::{
    cpu::{Level, Token},
    dispatch,
};

/// By what numbers are computed.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// Wide integers, each checked against the register of the tile that would hold it.
    Exact,
    /// Vectors of this CPU at a level. For graphs whose [intervals](crate::Graph::intervals) fit.
    Level(Level),
}

impl Arithmetic {
    /// The outputs of a node for one bundle of each input.
    ///
    /// # Errors
    /// Numbers that do not fit, if they are checked.
    pub(super) fn fire(
        self,
        node: &Node,
        inputs: &[&Bundle],
        field: &SignedField,
    ) -> Result<Vec<Bundle>, PipelineError> {
        let mut outputs = vec![Bundle::zeros(inputs[0].vectors()); node.outputs.len()];
        match self {
            Self::Exact => {
                let mut tile = Exact::default();
                fire(&mut tile, node, inputs, &mut outputs, field);
                if let Some(overflow) = tile.overflow() {
                    let (graph, node) = (String::new(), node.name.clone());
                    let number = overflow.number;
                    return Err(PipelineError::Overflow {
                        graph,
                        node,
                        least: number,
                        most: number,
                        bits: overflow.bits,
                    });
                }
            }
            Self::Level(level) => dispatch!(level, token => token.run(
                #[inline(always)]
                || fire(&mut Lanes, node, inputs, &mut outputs, field)
            )),
        }
        Ok(outputs)
    }
}

#[inline(always)]
fn fire<T: Tile<Word = Word>>(
    tile: &mut T,
    node: &Node,
    inputs: &[&Bundle],
    outputs: &mut [Bundle],
    field: &SignedField,
) {
    let constants = Constants::new(tile, field);
    let mut values = vec![[Word::default(); LIMBS]; inputs.len() + node.steps.len()];
    for vector in 0..inputs[0].vectors() {
        for (value, input) in values.iter_mut().zip(inputs) {
            *value = input.vector(vector);
        }
        for (index, step) in node.steps.iter().enumerate() {
            values[inputs.len() + index] = constants.step(tile, step, &values);
        }
        for (bundle, output) in outputs.iter_mut().zip(&node.outputs) {
            bundle.set_vector(vector, &values[*output]);
        }
    }
}
