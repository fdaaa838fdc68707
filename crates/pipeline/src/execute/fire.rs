//! One firing of a node.

use crate::{
    Graph, PipelineError,
    graph::Node,
    limbs::{Bundle, Constants, Exact, LANES, LIMBS, Lanes, Numbers, Overflow, SignedField},
};
use proofmill_field::{cpu::Level, dispatch_goldilocks, goldilocks::GoldilocksEngine};

/// By what numbers are computed.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// Wide integers, each checked against the register of the tile that would hold it.
    Exact,
    /// Vectors of this CPU at a level. For graphs whose [intervals](crate::Graph::intervals) fit.
    Level(Level),
}

impl Arithmetic {
    /// The outputs of a graph's node for one bundle of each input.
    ///
    /// # Errors
    /// Numbers that do not fit, if they are checked.
    pub(super) fn fire(
        self,
        graph: &Graph,
        node: &Node,
        inputs: &[&Bundle],
        field: &SignedField,
    ) -> Result<Vec<Bundle>, PipelineError> {
        let mut outputs = vec![Bundle::zeros(inputs[0].vectors()); node.outputs.len()];
        match self {
            Self::Exact => {
                let mut tile = Exact::default();
                fire(&mut tile, node, inputs, &mut outputs, field);
                if let Some(Overflow { number, bits }) = tile.overflow() {
                    let (graph, node) = (graph.name.clone(), node.name.clone());
                    return Err(PipelineError::Overflow { graph, node, least: number, most: number, bits });
                }
            }
            Self::Level(level) => {
                dispatch_goldilocks!(level, token => in_lanes(token, node, inputs, &mut outputs, field))
            }
        }
        Ok(outputs)
    }
}

fn in_lanes<E: GoldilocksEngine>(
    token: E,
    node: &Node,
    inputs: &[&Bundle],
    outputs: &mut [Bundle],
    field: &SignedField,
) {
    token.run(
        #[inline(always)]
        || fire(&mut Lanes::<E::U64s>::new(token), node, inputs, outputs, field),
    );
}

#[inline(always)]
fn fire<T: Numbers>(
    tile: &mut T,
    node: &Node,
    inputs: &[&Bundle],
    outputs: &mut [Bundle],
    field: &SignedField,
) {
    let constants = Constants::new(tile, field);
    let zero = [tile.read(&[0; LANES]); LIMBS];
    let mut values = vec![zero; inputs.len() + node.steps.len()];
    for vector in 0..inputs[0].vectors() {
        for lanes in (0..LANES).step_by(T::WIDTH) {
            for (value, input) in values.iter_mut().zip(inputs) {
                for limb in 0..LIMBS {
                    value[limb] = tile.read(&input.limb(limb, vector)[lanes..]);
                }
            }
            for (index, step) in node.steps.iter().enumerate() {
                values[inputs.len() + index] = constants.step(tile, step, &values);
            }
            for (bundle, output) in outputs.iter_mut().zip(&node.outputs) {
                for limb in 0..LIMBS {
                    T::write(
                        values[*output][limb],
                        &mut bundle.limb_mut(limb, vector)[lanes..lanes + T::WIDTH],
                    );
                }
            }
        }
    }
}
