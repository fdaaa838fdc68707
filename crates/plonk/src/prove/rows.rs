//! Columns in lanes: eight rows per vector.

use crate::{
    Cells, Column,
    arithmetisation::{
        called::Called,
        summand::{FormulaParameters, Summand, SummandSink},
        system::{Argument, System, with_summand},
    },
    memory::Scalars,
    polynomial::{Lanes, each_chunk, load_bits, splat, store_bits},
};
use proofmill_cpu::Level;
use proofmill_field::{Engine, LANES, bn254::Fr, dispatch};
use std::ops::Range;

/// Rows processed before the pages of columns in files are released: 8 MiB per column.
pub(super) const SEGMENT: usize = 1 << 18;

/// The values of columns, times [`form`](crate::polynomial::form), on a range of rows and the row after it. A
/// missing column is zero.
pub(super) struct Slots<'a>([&'a [Fr]; Column::COUNT]);

/// Whole columns for [`Slots`]. Pages of columns in files are released after the rows are processed.
pub(super) struct Whole<'a> {
    slots: Slots<'a>,
    columns: Vec<&'a Scalars>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(columns: impl IntoIterator<Item = (Column, &'a Scalars)>) -> Self {
        let mut whole = Self { slots: Slots([&[]; Column::COUNT]), columns: Vec::new() };
        for (column, values) in columns {
            whole.slots.set(column, values);
            whole.columns.push(values);
        }
        whole
    }

    /// The rows from `start` on.
    pub(super) fn from(&self, start: usize) -> Slots<'a> {
        self.slots.from(start)
    }

    /// Releases the pages of rows that are not needed for now.
    pub(super) fn release(&self, rows: Range<usize>) {
        self.columns.iter().for_each(|column| column.release(rows.clone()));
    }
}

impl<'a> Slots<'a> {
    pub(super) fn set(&mut self, column: Column, values: &'a [Fr]) {
        self.0[column.index()] = values;
    }

    /// The rows from `start` on.
    pub(super) fn from(&self, start: usize) -> Self {
        Self(self.0.map(|values| values.get(start..).unwrap_or_default()))
    }
}

/// A value on eight rows.
pub(super) type LaneValue<E> = Called<Lanes<E>>;

/// Eight rows of [`Slots`].
pub(super) struct LaneCells<'a, E> {
    slots: &'a Slots<'a>,
    row: usize,
    engine: E,
}

impl<'a, E: Engine> LaneCells<'a, E> {
    #[inline(always)]
    pub(super) fn at(engine: E, slots: &'a Slots<'a>, row: usize) -> Self {
        Self { slots, row, engine }
    }

    #[inline(always)]
    fn load(&self, column: Column, row: usize) -> LaneValue<E> {
        Called(load_bits(self.engine, self.slots.0[column.index()].get(row..).unwrap_or_default()))
    }
}

impl<E: Engine> Cells<LaneValue<E>> for LaneCells<'_, E> {
    #[inline(always)]
    fn here(&self, column: Column) -> LaneValue<E> {
        self.load(column, self.row)
    }

    #[inline(always)]
    fn after(&self, column: Column) -> LaneValue<E> {
        self.load(column, self.row + 1)
    }
}

/// Accumulates the identity's value on eight rows.
struct LaneSum<'a, 'b, E: Engine> {
    cells: &'b LaneCells<'a, E>,
    sum: LaneValue<E>,
}

impl<E: Engine> SummandSink<LaneValue<E>> for LaneSum<'_, '_, E> {
    #[inline(always)]
    fn linear(&mut self, column: Column, factor: LaneValue<E>) {
        if !self.cells.slots.0[column.index()].is_empty() {
            self.sum = self.sum + factor * self.cells.here(column);
        }
    }

    #[inline(always)]
    fn constant(&mut self, value: LaneValue<E>) {
        self.sum = self.sum + value;
    }

    #[inline(always)]
    fn has_values(&self) -> bool {
        true
    }

    #[inline(always)]
    fn value(&self, column: Column) -> Option<LaneValue<E>> {
        (!self.cells.slots.0[column.index()].is_empty()).then(
            #[inline(always)]
            || self.cells.here(column),
        )
    }
}

/// The parameters in every lane.
#[inline(always)]
pub(super) fn splat_all<E: Engine>(
    engine: E,
    parameters: &FormulaParameters<Fr>,
) -> FormulaParameters<LaneValue<E>> {
    parameters.map(
        #[inline(always)]
        |value| Called(splat(engine, value)),
    )
}

/// The values of X and the first Lagrange polynomial on a range of rows, given its first row and length.
pub(super) type RowValues<'a> = &'a (dyn Fn(usize, usize) -> [Vec<Fr>; 2] + Sync);

/// Adds a summand to the values of all rows. All values are times [`form`](crate::polynomial::form).
pub(super) fn add_summand(
    level: Level,
    system: &System,
    argument: Argument,
    columns: &Whole<'_>,
    parameters: &FormulaParameters<Fr>,
    known: RowValues<'_>,
    values: &mut [Fr],
) {
    for (segment, values) in values.chunks_mut(SEGMENT).enumerate() {
        let (first, count) = (segment * SEGMENT, values.len());
        each_chunk(values, |place, values| {
            let start = first + place;
            let [points, first_lagrange] = known(start, values.len());
            let mut slots = columns.from(start);
            slots.set(Column::Point, &points);
            slots.set(Column::FirstLagrange, &first_lagrange);
            dispatch!(level, engine => with_summand!(system, argument, summand => {
                // Chosen once per chunk: the loop over its rows is compiled for this summand.
                add_to_chunk(engine, summand, &slots, parameters, values);
            }));
        });
        columns.release(first..first + count);
    }
}

/// Not inlined, so that each kind of summand is a function of its own.
#[inline(never)]
fn add_to_chunk<E: Engine>(
    engine: E,
    summand: impl Summand,
    slots: &Slots<'_>,
    parameters: &FormulaParameters<Fr>,
    values: &mut [Fr],
) {
    engine.run(
        #[inline(always)]
        || {
            let parameters = splat_all(engine, parameters);
            for (i, values) in values.chunks_mut(LANES).enumerate() {
                let cells = LaneCells::at(engine, slots, i * LANES);
                let mut sum = LaneSum { cells: &cells, sum: Called(load_bits(engine, values)) };
                summand.terms(&cells, &parameters, &mut sum);
                store_bits(sum.sum.0, values);
            }
        },
    );
}
