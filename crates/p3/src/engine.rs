//! AIRs of Plonky3 for our engine.

use crate::{
    Configuration,
    constraints::{graph, graph_with_lookups},
    elements::element,
    proof::log_rows_from_plonky3,
};
use p3_air::{
    Air, BaseAir,
    symbolic::{AirLayout, SymbolicAirBuilder, SymbolicExpressionExt},
};
use p3_batch_stark::CommonData;
use p3_commit::PolynomialSpace;
use p3_field::{Algebra, ExtensionField};
use p3_goldilocks::Goldilocks;
use p3_lookup::{InteractionSymbolicBuilder, Lookups};
use p3_matrix::Matrix;
use p3_uni_stark::Domain;
use proofmill_cpu::Level;
use proofmill_stark::{
    Constraints, Parameters, PreprocessedKey, StarkError, StarkHash, Tables, TablesKey, TablesVerifyingKey,
    air::{Graph, Preprocessed},
};

/// The constraints of an AIR of Plonky3, for [`proofmill_stark::prove`] and [`proofmill_stark::verify`], with Plonky3's transcript
/// ([`Constraints::as_in_plonky3`]).
///
/// **The AIR must be fixed before any proof is made**: the transcript has neither its constants nor its periodic columns. Values that
/// depend on the statement belong in public values or preprocessed columns.
///
/// # Errors
/// [`StarkError::Air`], also if the AIR has constraints over extensions.
///
/// # Panics
/// If the AIR binds public values otherwise than by constraints.
pub fn constraints<A: Air<SymbolicAirBuilder<Goldilocks>>>(air: &A) -> Result<Constraints, StarkError> {
    assert!(air.public_boundary_io().is_empty(), "public values can be bound by constraints only");
    of_graph(air, graph(air, layout(air))?)
}

/// The tables of AIRs of Plonky3 with their lookups, as `CommonData` has them, for [`proofmill_stark::prove_tables`] and
/// [`proofmill_stark::verify_tables`]. The transcript is Plonky3's: as for [`constraints`], the AIRs must be fixed before any proof is made.
///
/// # Errors
/// As [`constraints`], in [`StarkError::Table`], and [`StarkError::Tables`].
///
/// # Panics
/// As [`constraints`], and if a lookup has not as many multiplicities, and flags if it has some, as tuples.
pub fn tables<'a, C, A>(
    airs: impl IntoIterator<Item = &'a A>,
    lookups: &[Lookups<Goldilocks>],
) -> Result<Tables, StarkError>
where
    C: ExtensionField<Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, C>> + 'a,
    SymbolicExpressionExt<Goldilocks, C>: Algebra<C>,
{
    let airs: Vec<&A> = airs.into_iter().collect();
    if airs.len() != lookups.len() {
        let (what, expected, found) = ("lists of lookups", airs.len(), lookups.len());
        return Err(StarkError::Tables { what, expected, found });
    }
    let table = |(table, (air, lookups)): (usize, (&A, &Lookups<Goldilocks>))| {
        assert!(air.public_boundary_io().is_empty(), "public values can be bound by constraints only");
        graph_with_lookups::<C, A>(air, layout(air), lookups)
            .and_then(|graph| of_graph(air, graph))
            .map_err(|source| StarkError::Table { table, source: Box::new(source) })
    };
    Tables::new(airs.into_iter().zip(lookups).enumerate().map(table).collect::<Result<_, _>>()?)
}

/// The verifier's key of tables, where some tables have preprocessed columns; `None` if no table has any.
///
/// # Errors
/// [`StarkError::Preprocessed`] if the columns are not those of the tables, in their order.
pub fn batch_key<SC, const D: usize>(
    tables: &Tables,
    common: &CommonData<SC>,
) -> Result<Option<TablesVerifyingKey>, StarkError>
where
    SC: Configuration<D>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    let widths: Vec<_> = tables.tables().iter().map(Constraints::preprocessed).collect();
    let Some(global) = &common.preprocessed else {
        return match widths.iter().all(|width| *width == 0) {
            true => Ok(None),
            false => Err(wrong_columns(&widths, "none".to_owned())),
        };
    };
    let found: Vec<_> = global
        .instances
        .iter()
        .map(|instance| instance.as_ref().map_or(0, |instance| instance.width))
        .collect();
    let with_columns: Vec<_> = (0..widths.len()).filter(|table| widths[*table] > 0).collect();
    let instances = || global.instances.iter().flatten().filter(|instance| instance.width > 0);
    let places = instances().map(|instance| instance.matrix_index);
    if found != widths || global.matrix_to_instance != with_columns || !places.eq(0..with_columns.len()) {
        return Err(wrong_columns(&widths, format!("{found:?}, of tables {:?}", global.matrix_to_instance)));
    }
    let log_rows = instances().map(|instance| log_rows_from_plonky3(instance.degree_bits, SC::BLINDED));
    let log_rows: Result<Vec<u32>, _> = log_rows.collect();
    let wrong_rows = |_| wrong_columns(&widths, "columns with a number of rows that no trace has".to_owned());
    let log_rows = log_rows.map_err(wrong_rows)?;
    Ok(Some(TablesVerifyingKey { cap: SC::digests(&global.commitment), log_rows }))
}

fn wrong_columns(widths: &[usize], found: String) -> StarkError {
    StarkError::Preprocessed { expected: format!("{widths:?} columns, in the order of tables"), found }
}

/// The numbers of columns and values that an AIR reads, without lookups.
fn layout(air: &impl BaseAir<Goldilocks>) -> AirLayout {
    AirLayout {
        preprocessed_width: air.preprocessed_width(),
        main_width: air.width(),
        num_public_values: air.num_public_values(),
        num_periodic_columns: air.num_periodic_columns(),
        ..AirLayout::default()
    }
}

fn of_graph(air: &impl BaseAir<Goldilocks>, graph: Graph) -> Result<Constraints, StarkError> {
    let periodic = air.periodic_columns();
    let periodic = periodic.iter().map(|column| column.iter().map(|value| element(*value)).collect());
    let constraints = Constraints::from_graph(
        graph,
        air.width(),
        air.preprocessed_width(),
        air.num_public_values(),
        periodic.collect(),
        [!air.main_next_row_columns().is_empty(), !air.preprocessed_next_row_columns().is_empty()],
    )?;
    Ok(constraints.as_in_plonky3())
}

/// The key of an AIR's preprocessed columns; `None` if it has none.
///
/// # Errors
/// As [`PreprocessedKey::new`].
pub fn preprocessed_key(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    air: &impl BaseAir<Goldilocks>,
) -> Result<Option<PreprocessedKey>, StarkError> {
    let key = |preprocessed| PreprocessedKey::new(level, hash, parameters, preprocessed);
    preprocessed(air).map(key).transpose()
}

/// The key of the preprocessed columns of several AIRs; `None` if they have none. Its opposite for verifiers is [`batch_key`].
///
/// # Errors
/// As [`TablesKey::new`].
pub fn tables_key<'a, A: BaseAir<Goldilocks> + 'a>(
    level: Level,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    airs: impl IntoIterator<Item = &'a A>,
    tables: &Tables,
) -> Result<Option<TablesKey>, StarkError> {
    TablesKey::new(level, hash, parameters, tables, airs.into_iter().map(preprocessed).collect())
}

fn preprocessed(air: &impl BaseAir<Goldilocks>) -> Option<Preprocessed> {
    let matrix = air.preprocessed_trace()?;
    let values = matrix.values.iter().map(|value| element(*value)).collect();
    Some(Preprocessed { columns: matrix.width(), values })
}
