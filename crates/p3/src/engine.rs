//! AIRs of Plonky3 for our engine.

use crate::{constraints::graph, elements::element};
use p3_air::{
    Air,
    symbolic::{AirLayout, SymbolicAirBuilder},
};
use p3_goldilocks::Goldilocks;
use p3_matrix::Matrix;
use proofmill_cpu::Level;
use proofmill_stark::{Constraints, Parameters, PreprocessedKey, StarkError, StarkHash, air::Preprocessed};

/// The constraints of an AIR of Plonky3, for [`proofmill_stark::prove`] and [`proofmill_stark::verify`].
///
/// # Errors
/// [`StarkError::Air`].
///
/// # Panics
/// If the AIR has constraints over extensions, or if it binds public values otherwise than by constraints.
pub fn constraints<A: Air<SymbolicAirBuilder<Goldilocks>>>(air: &A) -> Result<Constraints, StarkError> {
    assert!(air.public_boundary_io().is_empty(), "public values can be bound by constraints only");
    let layout = AirLayout {
        preprocessed_width: air.preprocessed_width(),
        main_width: air.width(),
        num_public_values: air.num_public_values(),
        num_periodic_columns: air.num_periodic_columns(),
        ..AirLayout::default()
    };
    let periodic = air.periodic_columns();
    let periodic = periodic.iter().map(|column| column.iter().map(|value| element(*value)).collect());
    Constraints::from_graph(
        graph(air, layout),
        air.width(),
        air.preprocessed_width(),
        air.num_public_values(),
        periodic.collect(),
        [!air.main_next_row_columns().is_empty(), !air.preprocessed_next_row_columns().is_empty()],
    )
}

/// The key of an AIR's preprocessed columns; `None` if it has none.
///
/// # Errors
/// As [`PreprocessedKey::new`].
pub fn preprocessed_key<H: StarkHash, A: Air<SymbolicAirBuilder<Goldilocks>>>(
    level: Level,
    parameters: &Parameters,
    air: &A,
) -> Result<Option<PreprocessedKey<H>>, StarkError> {
    let Some(matrix) = air.preprocessed_trace() else { return Ok(None) };
    let values = matrix.values.iter().map(|value| element(*value)).collect();
    PreprocessedKey::new(level, parameters, Preprocessed { columns: matrix.width(), values }).map(Some)
}
