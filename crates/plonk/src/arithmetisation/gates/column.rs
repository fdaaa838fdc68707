//! The polynomials of the protocol, as columns of values on the domain's rows.

use crate::Gate;
use proofmill_field::Algebra;
use std::fmt;

/// A polynomial that is committed to, or derived from such polynomials.
///
/// The order is that of the openings in a proof: first all columns opened at xi, in this order, then those
/// opened at xi omega.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The values on a wire.
    Wire(u8),
    /// A parameter of custom gates, fixed by the circuit; the gate defines its meaning.
    Data(u8),
    /// The labels of the positions to which the permutation maps a wire's positions.
    Sigma(u8),
    /// Activates a gate or one of its terms.
    Selector(Selector),
    /// A column of the lookup tables: three values, then the table's number.
    TableColumn(u8),
    /// The tables' columns folded by powers of eta. It has no commitment of its own.
    Table,
    /// The number of lookups of each row of the tables.
    Multiplicities,
    /// One half of the sorted lookups and tables.
    Sorted(u8),
    /// The permutation argument's grand product z.
    GrandProduct,
    /// The lookup argument's running sum or product.
    LookupAccumulator,
    /// The polynomial X.
    Point,
    /// The Lagrange polynomial that is 1 on the first row.
    FirstLagrange,
    /// Minus the public inputs on the first rows.
    PublicInput,
}

impl Column {
    /// An upper bound of the number of columns.
    pub(crate) const COUNT: usize = 64;

    /// A unique number below [`Self::COUNT`].
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        const { assert!(Gate::ALL.len() <= 64 - 45) }
        match self {
            Self::Wire(wire) => wire as usize,
            Self::Data(index) => 4 + index as usize,
            Self::Sigma(wire) => 8 + wire as usize,
            Self::TableColumn(index) => 12 + index as usize,
            Self::Selector(Selector::Wire(wire)) => 16 + wire as usize,
            Self::Selector(Selector::Product) => 20,
            Self::Selector(Selector::Next) => 21,
            Self::Selector(Selector::Constant) => 22,
            Self::Selector(Selector::Lookup) => 23,
            Self::Table => 24,
            Self::Multiplicities => 25,
            Self::Sorted(half) => 26 + half as usize,
            Self::GrandProduct => 28,
            Self::LookupAccumulator => 29,
            Self::Point => 30,
            Self::FirstLagrange => 31,
            Self::PublicInput => 32,
            Self::Selector(Selector::Multiple(index)) => 33 + index as usize,
            Self::Selector(Selector::Gate(gate)) => 45 + gate as usize,
        }
    }

    /// Whether the column is fixed by the circuit, so that the key has its commitment.
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::Data(_) | Self::Sigma(_) | Self::Selector(_) | Self::TableColumn(_))
    }
}

/// The factor of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// The product of the first two wires.
    Product,
    /// A single wire.
    Wire(u8),
    /// The last wire of the next row.
    Next,
    /// The constant term.
    Constant,
    /// A custom gate.
    Gate(Gate),
    /// A coefficient of the equations of a [fixed point's multiples](crate::arithmetisation::gates::FixedBase), from 0.
    Multiple(u8),
    /// A lookup.
    Lookup,
}

/// The names in error messages and verification keys.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(wire) => write!(f, "w{}", wire + 1),
            Self::Data(index) => write!(f, "d{}", index + 1),
            Self::Sigma(wire) => write!(f, "s{}", wire + 1),
            Self::Selector(Selector::Product) => f.write_str("q_m"),
            Self::Selector(Selector::Wire(wire)) => write!(f, "q_{}", wire + 1),
            Self::Selector(Selector::Next) => f.write_str("q_n"),
            Self::Selector(Selector::Constant) => f.write_str("q_c"),
            Self::Selector(Selector::Gate(gate)) => write!(f, "q_{}", gate.name()),
            Self::Selector(Selector::Multiple(index)) => write!(f, "q_multiple_{}", index + 1),
            Self::Selector(Selector::Lookup) => f.write_str("q_lookup"),
            Self::TableColumn(index) => write!(f, "t{}", index + 1),
            Self::Table => f.write_str("t"),
            Self::Multiplicities => f.write_str("m"),
            Self::Sorted(half) => write!(f, "h{}", half + 1),
            Self::GrandProduct => f.write_str("z"),
            Self::LookupAccumulator => f.write_str("phi"),
            Self::Point => f.write_str("x"),
            Self::FirstLagrange => f.write_str("l1"),
            Self::PublicInput => f.write_str("pi"),
        }
    }
}

/// A column's value on this row, or on the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Whether the value is the next row's: the polynomial at `x omega`.
    pub next: bool,
    /// The column.
    pub column: Column,
}

/// The cells of a row and the next: of eight rows in the prover, of one row in the checker, at xi in the
/// verifier.
pub trait Cells<A: Algebra> {
    /// A column's value on this row.
    fn here(&self, column: Column) -> A;

    /// A column's value on the next row.
    fn after(&self, column: Column) -> A;

    /// A wire's value on this row, counted from 0.
    #[inline(always)]
    fn wire(&self, wire: u8) -> A {
        self.here(Column::Wire(wire))
    }

    /// A wire's value on the next row, counted from 0.
    #[inline(always)]
    fn next_wire(&self, wire: u8) -> A {
        self.after(Column::Wire(wire))
    }

    /// Parameter `index` of a custom gate, counted from 0.
    #[inline(always)]
    fn data(&self, index: u8) -> A {
        self.here(Column::Data(index))
    }
}
