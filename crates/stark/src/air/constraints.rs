//! Captured AIRs.

use crate::{
    StarkError,
    air::{Air, AirBytes, Graph, Input, Matrix, Products, Program, Row, SELECTORS, capture},
    security::{LARGEST_DEGREE, MOST, Parameters, Shape},
};
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::Keccak256;

/// An AIR's constraints, captured once for any number of proofs and verifications, with all that the protocol has to know of the AIR.
///
/// The transcript of a proof begins with a digest of the AIR: no challenge is known before the last constant of the AIR is. Constraints
/// [as in Plonky3](Self::as_in_plonky3) are the exception.
#[derive(Clone, Debug)]
pub struct Constraints {
    pub(crate) graph: Graph,
    pub(crate) program: Program,
    /// The number of columns of the trace.
    pub(crate) columns: usize,
    pub(crate) preprocessed: usize,
    /// The number of columns of lookups that constraints read: 0, except in the constraints [for one extension](Self::with_lookups).
    pub(crate) lookup_columns: usize,
    pub(crate) public_values: usize,
    pub(crate) periodic: Vec<Vec<Goldilocks>>,
    /// Whether constraints read the next row of the trace, and of the preprocessed columns.
    pub(crate) reads_next: [bool; 2],
    /// The largest degree of a constraint, constraints of lookups included.
    degree: u32,
    /// The digest of the AIR in the transcript. Proofs that are Plonky3's, too, have none.
    digest: Option<[u8; 32]>,
}

impl Constraints {
    /// Captures an AIR.
    ///
    /// # Errors
    /// [`StarkError::Air`] if the AIR reads a column or value that it does not have, if it has no columns or a periodic column whose length
    /// is not a power of two, or if a constraint has a degree above 2^16.
    pub fn new(air: &(impl Air + ?Sized)) -> Result<Self, StarkError> {
        let graph = capture(|| air.constrain(Row::new())).with_shared_columns();
        let preprocessed = air.preprocessed().map_or(0, |preprocessed| preprocessed.columns);
        let reads_next = [Matrix::Trace, Matrix::Preprocessed].map(|matrix| {
            graph
                .inputs()
                .any(|input| matches!(input, Input::Cell(cell) if cell.matrix == matrix as u32 && cell.next))
        });
        Self::from_graph(
            graph,
            air.columns(),
            preprocessed,
            air.public_values(),
            air.periodic_columns(),
            reads_next,
        )
    }

    /// The constraints of a graph that was captured otherwise, with cells of [`Matrix`]. `reads_next` says whether next rows of the trace,
    /// and of the preprocessed columns, are opened. Next rows that constraints read must be opened.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_graph(
        graph: Graph,
        columns: usize,
        preprocessed: usize,
        public_values: usize,
        periodic: Vec<Vec<Goldilocks>>,
        reads_next: [bool; 2],
    ) -> Result<Self, StarkError> {
        let error = |what: String| Err(StarkError::Air(what));
        if columns == 0 {
            return error("expected a trace with columns, found none".into());
        }
        for (what, count) in
            [("columns", columns), ("preprocessed columns", preprocessed), ("public values", public_values)]
        {
            if count > MOST as usize {
                return error(format!("expected at most 2^30 {what}, found {count}"));
            }
        }
        for (index, column) in periodic.iter().enumerate() {
            if !column.len().is_power_of_two() {
                let len = column.len();
                return error(format!(
                    "periodic column {index}: expected a power of two of values, found {len}"
                ));
            }
        }
        let widths = [columns, preprocessed, 0, SELECTORS + periodic.len()];
        check_inputs(&graph, widths, public_values, reads_next)?;
        check_lookups(&graph)?;
        if graph.lookups_read_selectors() {
            return error("lookups read a selector: take a preprocessed or a periodic column for it".into());
        }
        // A constraint of degree d, in degrees of a column, leaves a quotient of degree d - 1. The degree of the extension does not matter.
        let of_lookups = graph.with_lookups(public_values, &Products::of::<2>());
        let degree = of_lookups.degrees().max().unwrap_or(0).max(1);
        if degree > LARGEST_DEGREE {
            return error(format!("expected constraints of degree at most {LARGEST_DEGREE}, found {degree}"));
        }
        let digest = digest(&graph, [columns, preprocessed, public_values], &periodic, reads_next);
        Ok(Self {
            digest: Some(digest),
            program: Program::new(&graph),
            graph,
            columns,
            preprocessed,
            lookup_columns: 0,
            public_values,
            periodic,
            reads_next,
            degree,
        })
    }

    /// The same constraints for proofs that are Plonky3's byte for byte. Its transcript has the shape of an AIR, and neither its
    /// constants nor its periodic columns.
    ///
    /// **The AIR must be fixed before any proof is made.** A party that chooses four of these elements after the proof can choose them so
    /// that the proof is valid for a false statement. Values that depend on the statement belong in public values or preprocessed columns,
    /// which the transcript has.
    #[must_use]
    pub fn as_in_plonky3(self) -> Self {
        Self { digest: None, ..self }
    }

    /// The Keccak-256 digest of the AIR in the transcript; `None` for constraints [as in Plonky3](Self::as_in_plonky3).
    ///
    /// Equal digests mean equal numbers of columns and public values, nodes with their constants, constraints, periodic columns, opened next
    /// rows and lookups. An AIR that was written as an [`AirDocument`](crate::AirDocument) and read again has the same digest.
    pub fn digest(&self) -> Option<&[u8; 32]> {
        self.digest.as_ref()
    }

    /// Checks that there are no lookups: they are balanced only over all [`Tables`](crate::Tables) together.
    ///
    /// # Errors
    /// [`StarkError::Air`].
    pub fn check_alone(&self) -> Result<(), StarkError> {
        match self.graph.lookups() {
            [] => Ok(()),
            _ => Err(StarkError::Air("lookups are proved with all tables at once: take `Tables`".into())),
        }
    }

    /// The constraints with the constraints of the lookups, over the extension with these products.
    pub(crate) fn with_lookups(&self, products: &Products) -> Self {
        if self.graph.lookups().is_empty() {
            return self.clone();
        }
        let graph = self.graph.with_lookups(self.public_values, products);
        let lookup_columns = self.graph.lookup_columns() * products.0.len();
        Self { program: Program::new(&graph), graph, lookup_columns, ..self.clone() }
    }

    /// The number of constraints, without the constraints of lookups.
    pub fn len(&self) -> usize {
        self.graph.constraints()
    }

    /// Whether nothing is constrained.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The constraints as a graph, whose cells are in the matrices of [`Matrix`].
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The number of columns of the trace.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of preprocessed columns.
    pub fn preprocessed(&self) -> usize {
        self.preprocessed
    }

    /// The periodic columns.
    pub fn periodic(&self) -> &[Vec<Goldilocks>] {
        &self.periodic
    }

    /// The number of public values.
    pub fn public_values(&self) -> usize {
        self.public_values
    }

    /// The shape on which security depends, for a trace of `2^log_rows` rows.
    pub fn shape(&self, log_rows: u32) -> Shape {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Shape {
            log_rows,
            columns: count(self.columns + self.preprocessed),
            constraints: count(self.len()).max(1),
            degree: self.degree,
        }
    }

    /// The number of constraints of lookups, over the extension: one for each lookup, and three for the sums.
    pub(crate) fn constraints_of_lookups(&self) -> usize {
        match self.graph.lookups().len() {
            0 => 0,
            lookups => lookups + 3,
        }
    }

    /// The largest degree of a constraint, constraints of lookups included; at least 1.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The number of polynomials into which the quotient is split.
    pub fn chunks(&self, parameters: &Parameters) -> usize {
        1 << self.log_chunks(parameters)
    }

    /// The base-2 logarithm of [`chunks`](Self::chunks). With blinding, columns have twice as many coefficients as the trace has rows.
    pub(crate) fn log_chunks(&self, parameters: &Parameters) -> u32 {
        let added = u32::from(parameters.is_blinded());
        ((self.degree + added).max(2) - 1).next_power_of_two().ilog2() + added
    }
}

/// Checks that constraints read only values that exist, in matrices of these numbers of columns, and only next rows that are opened.
fn check_inputs(
    graph: &Graph,
    widths: [usize; 4],
    public_values: usize,
    reads_next: [bool; 2],
) -> Result<(), StarkError> {
    let error = |what: String| Err(StarkError::Air(what));
    for input in graph.inputs() {
        match input {
            Input::Scalar(index) if index as usize >= public_values => {
                return error(format!("constraints read public value {index}, of {public_values}"));
            }
            Input::Scalar(_) => {}
            Input::Cell(cell) => {
                let (matrix, column) = (cell.matrix as usize, cell.column as usize);
                if widths.get(matrix).is_none_or(|width| column >= *width) {
                    let name =
                        ["trace", "preprocessed", "lookup", "periodic"].get(matrix).unwrap_or(&"unknown");
                    return error(format!("constraints read {name} column {column}, which does not exist"));
                }
                if cell.next && !reads_next.get(matrix).copied().unwrap_or(false) {
                    return error(format!(
                        "constraints read column {column} of a next row that is not opened"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Checks that the messages of a lookup have equally many values, at least one, and that all of its terms have flags or none has: with
/// some flags, the terms without one would count for nothing.
fn check_lookups(graph: &Graph) -> Result<(), StarkError> {
    let error = |what: String| Err(StarkError::Air(what));
    for (index, lookup) in graph.lookups().iter().enumerate() {
        let width = lookup.width();
        if let Some(other) = lookup.terms.iter().map(|term| term.message.len()).find(|other| *other != width)
        {
            return error(format!("lookup {index}: messages of {width} and of {other} values"));
        }
        if width == 0 {
            return error(format!("lookup {index}: expected messages with values"));
        }
        let flags = lookup.terms.iter().filter(|term| term.flag.is_some()).count();
        if flags > 0 && flags < lookup.terms.len() {
            let terms = lookup.terms.len();
            return error(format!(
                "lookup {index}: expected flags for all {terms} terms or for none, found {flags}"
            ));
        }
    }
    Ok(())
}

/// The digest of an AIR, for [`Constraints::digest`]. The values of preprocessed columns are in their commitment.
fn digest(
    graph: &Graph,
    numbers: [usize; 3],
    periodic: &[Vec<Goldilocks>],
    reads_next: [bool; 2],
) -> [u8; 32] {
    let mut bytes = AirBytes::default();
    numbers.into_iter().for_each(|number| bytes.number(number));
    reads_next.into_iter().for_each(|next| bytes.flag(next));
    bytes.number(periodic.len());
    periodic.iter().for_each(|column| bytes.elements(column));
    bytes.graph(graph);
    Keccak256::digest(&bytes.0)
}
