//! One firing of a node.

use crate::{
    DataflowGraph, PipelineError,
    graph::GraphNode,
    limbs::{Bundle, CpuLanes, Exact, FieldConstants, LANES, LIMBS, Numbers, Overflow, SignedField},
};
use proofmill_field::{cpu::Level, dispatch_goldilocks, goldilocks::GoldilocksEngine};

/// The arithmetic of an execution.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// Wide integers, each checked against the register of the tile that would hold it.
    Exact,
    /// Vectors of this CPU at a level. For graphs whose [intervals](crate::DataflowGraph::intervals) fit.
    Level(Level),
}

impl Arithmetic {
    /// The outputs of a graph's node for one bundle of each input.
    ///
    /// # Errors
    /// Numbers that do not fit, if they are checked.
    pub(crate) fn fire(
        self,
        graph: &DataflowGraph,
        node: &GraphNode,
        inputs: &[&Bundle],
        field: &SignedField,
    ) -> Result<Vec<Bundle>, PipelineError> {
        let mut outputs = vec![Bundle::zeros(inputs[0].vectors()); node.outputs.len()];
        self.fire_into(graph, node, inputs, &mut outputs, field)?;
        Ok(outputs)
    }

    /// As [`fire`](Self::fire), into existing bundles of the inputs' size, whose content is overwritten.
    ///
    /// # Errors
    /// As [`fire`](Self::fire).
    pub(super) fn fire_into(
        self,
        graph: &DataflowGraph,
        node: &GraphNode,
        inputs: &[&Bundle],
        outputs: &mut [Bundle],
        field: &SignedField,
    ) -> Result<(), PipelineError> {
        match self {
            Self::Exact => {
                let mut tile = Exact::default();
                fire(&mut tile, node, inputs, outputs, field);
                if let Some(Overflow { number, bits }) = tile.overflow() {
                    let (graph, node) = (graph.name.clone(), node.name.clone());
                    return Err(PipelineError::Overflow { graph, node, least: number, most: number, bits });
                }
            }
            Self::Level(level) => {
                dispatch_goldilocks!(level, token => in_lanes(token, node, inputs, outputs, field))
            }
        }
        Ok(())
    }
}

fn in_lanes<E: GoldilocksEngine>(
    token: E,
    node: &GraphNode,
    inputs: &[&Bundle],
    outputs: &mut [Bundle],
    field: &SignedField,
) {
    token.run(
        #[inline(always)]
        || fire(&mut CpuLanes::<E::U64s>::new(token), node, inputs, outputs, field),
    );
}

#[inline(always)]
fn fire<T: Numbers>(
    tile: &mut T,
    node: &GraphNode,
    inputs: &[&Bundle],
    outputs: &mut [Bundle],
    field: &SignedField,
) {
    let constants = FieldConstants::new(tile, field);
    let zero = [tile.read(&[0; LANES]); LIMBS];
    let count = inputs.len() + node.steps.len();
    // On the stack, unless there are many: an allocation that is aligned like vectors is slow.
    let (mut few, mut many) = ([zero; 4], Vec::new());
    let values = if count <= few.len() {
        &mut few[..count]
    } else {
        many.resize(count, zero);
        &mut many[..]
    };
    for vector in 0..inputs[0].vectors() {
        for lanes in (0..LANES).step_by(T::WIDTH) {
            for (value, input) in values.iter_mut().zip(inputs) {
                for (word, numbers) in value.iter_mut().zip(input.limbs(vector)) {
                    *word = tile.read(&numbers[lanes..]);
                }
            }
            for (index, step) in node.steps.iter().enumerate() {
                values[inputs.len() + index] = constants.step(tile, step, values);
            }
            for (bundle, output) in outputs.iter_mut().zip(&node.outputs) {
                for (word, numbers) in values[*output].iter().zip(bundle.limbs_mut(vector)) {
                    T::write(*word, &mut numbers[lanes..lanes + T::WIDTH]);
                }
            }
        }
    }
}
