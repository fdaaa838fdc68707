//! Building circuits: variables with values, and the rows that constrain them.
//!
//! The same program builds a circuit for any [`Arithmetisation`]: gadgets choose the gates. Rows do not
//! depend on values, so a program run on other inputs gives the same circuit with another witness.
//!
//! Wrong values never panic: they make a witness that does not satisfy the circuit, and [`Circuit::check`]
//! reports where. A program panics only if it is wrong for all values, such as a range of more bits than the
//! field has.
//!
//! The modules are sums and products, booleans, ranges, AND and XOR of words, tables and lookups, scopes and
//! the report. Others have points of Grumpkin, their multiples and the Pedersen hash, Poseidon, SHA-256 and
//! Merkle roots.

mod arithmetic;
mod below_modulus;
mod boolean;
pub(crate) mod check;
mod curve;
mod fixed_base;
mod logic;
mod merkle;
mod multiples;
mod pedersen;
mod poseidon;
mod range;
mod report;
mod scalar_mul;
mod sha256;
mod table;
pub(crate) mod unsatisfied;
pub mod workload;

pub use boolean::Bit;
pub use curve::Point;
pub use merkle::MerkleNode;
pub use multiples::Multiples;
pub use report::{GadgetReport, Report, TableReport};
pub use table::{Table, TableNumber};

use crate::{Column, Gate, Layout, LookupArgument, Selector, Unsatisfied, circuit::check::check_layout};
use proofmill_field::{Field, bn254::Fr};
use proofmill_run::named;
use report::Scopes;
use std::collections::BTreeMap;

/// The gates that a circuit may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arithmetisation {
    /// Three wires and the arithmetic gate.
    Standard,
    /// Four wires, access to the next row, and custom gates.
    Turbo,
    /// Turbo and lookups.
    Ultra,
}

impl Arithmetisation {
    /// All arithmetisations, from the narrowest.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Turbo, Self::Ultra];

    /// The number of wires of a row.
    pub fn wires(self) -> u8 {
        if self == Self::Standard { 3 } else { 4 }
    }

    /// The gate for sums and products.
    pub fn arithmetic(self) -> Gate {
        if self == Self::Standard { Gate::Arithmetic } else { Gate::WideArithmetic }
    }
}

named!(Arithmetisation, "an arithmetisation", Standard => "standard", Turbo => "turbo", Ultra => "ultra");

/// A variable of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(u32);

impl Variable {
    /// No variable, for unused wires. It is not constrained to zero; where a gate needs zero, use
    /// [`Circuit::zero`].
    pub const NONE: Self = Self(0);

    /// The variable's index in [`Circuit::values`] and in [`Layout::variables_of`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A circuit and its witness.
#[derive(Clone, Debug)]
pub struct Circuit {
    arithmetisation: Arithmetisation,
    values: Vec<Fr>,
    public: Vec<Variable>,
    /// The variables of constants, by canonical limbs. Their rows are last in the layout.
    constants: BTreeMap<[u64; 4], Variable>,
    /// Pairs merged by [`Circuit::assert_equal`], with the scope of the call.
    copies: Vec<(Variable, Variable, u32)>,
    gates: Vec<Gate>,
    rows: Vec<[Variable; 4]>,
    /// Whether the last row has no selectors, so that the next row may share it.
    open: bool,
    fixed: BTreeMap<Column, Vec<Fr>>,
    tables: table::CircuitTables,
    range_bits: u32,
    logic_bits: u32,
    /// The number of bits of the windows of Pedersen hashes.
    window_bits: u32,
    scopes: Scopes,
}

impl Circuit {
    /// A circuit without rows.
    pub fn new(arithmetisation: Arithmetisation) -> Self {
        Self {
            arithmetisation,
            values: vec![Fr::ZERO],
            public: Vec::new(),
            constants: BTreeMap::new(),
            copies: Vec::new(),
            gates: vec![arithmetisation.arithmetic()],
            rows: Vec::new(),
            open: false,
            fixed: BTreeMap::new(),
            tables: table::CircuitTables::default(),
            range_bits: range::TABLE_BITS,
            logic_bits: logic::TABLE_BITS,
            window_bits: arithmetisation.window_bits(),
            scopes: Scopes::new(),
        }
    }

    /// The arithmetisation.
    pub fn arithmetisation(&self) -> Arithmetisation {
        self.arithmetisation
    }

    /// A new variable with this value, not yet constrained.
    ///
    /// # Panics
    /// If there are 2^32 variables.
    pub fn witness(&mut self, value: Fr) -> Variable {
        let variable = Variable(u32::try_from(self.values.len()).expect("fewer than 2^32 variables"));
        self.values.push(value);
        variable
    }

    /// A new public input with this value.
    pub fn public_input(&mut self, value: Fr) -> Variable {
        let variable = self.witness(value);
        self.public.push(variable);
        variable
    }

    /// A new public input that is equal to the variable.
    pub fn publish(&mut self, variable: Variable) -> Variable {
        let public = self.public_input(self.value(variable));
        self.assert_equal(public, variable);
        public
    }

    /// The value of a variable.
    pub fn value(&self, variable: Variable) -> Fr {
        self.values[variable.index()]
    }

    /// The values of all variables, indexed by [`Variable::index`].
    pub fn values(&self) -> &[Fr] {
        &self.values
    }

    /// The values of the public inputs.
    pub fn public_values(&self) -> Vec<Fr> {
        self.public.iter().map(|variable| self.value(*variable)).collect()
    }

    /// The number of rows so far, including those of constants but not those of public inputs.
    pub fn rows(&self) -> usize {
        self.rows.len() + self.constants.len()
    }

    /// Adds a row: the variables on the wires ([`Variable::NONE`] beyond the arithmetisation's), and the
    /// nonzero selectors and data.
    ///
    /// If a gate reads the next row, that row must be added directly after this one, even if it has only
    /// variables (`fixed` empty). Wires that a gate reads must have variables. A row with `fixed` empty may
    /// be shared: the next row is merged into it if no wire has different variables in the two.
    ///
    /// # Panics
    /// If the arithmetisation does not have the gate or the wire, or if a column is repeated.
    pub fn row(&mut self, wires: [Variable; 4], fixed: &[(Column, Fr)]) {
        assert!(
            wires[self.arithmetisation.wires() as usize..].iter().all(|wire| *wire == Variable::NONE),
            "{} has {} wires",
            self.arithmetisation,
            self.arithmetisation.wires()
        );
        self.place(wires);
        self.open = fixed.is_empty();
        let row = self.rows.len() - 1;
        for &(column, value) in fixed {
            self.admit(column);
            let values = self.fixed.entry(column).or_default();
            assert!(values.len() <= row, "{column} appears twice on one row");
            values.resize(row, Fr::ZERO);
            values.push(value);
        }
    }

    /// Puts the variables on the last row if it is open and has room for them, otherwise on a new row.
    fn place(&mut self, wires: [Variable; 4]) {
        if let Some(last) = self.rows.last_mut().filter(|_| self.open) {
            let fits = |(old, new): (&Variable, &Variable)| {
                old == new || *old == Variable::NONE || *new == Variable::NONE
            };
            if last.iter().zip(&wires).all(fits) {
                for (old, new) in last.iter_mut().zip(wires) {
                    *old = Variable(old.0.max(new.0));
                }
                return;
            }
        }
        self.scopes.count_row(self.rows.len());
        self.rows.push(wires);
    }

    /// Records that the circuit uses a selector.
    fn admit(&mut self, column: Column) {
        match column {
            Column::Selector(Selector::Gate(gate)) if !self.gates.contains(&gate) => {
                assert!(
                    self.arithmetisation != Arithmetisation::Standard,
                    "standard has no gate {}",
                    gate.name()
                );
                self.gates.push(gate);
            }
            Column::Selector(Selector::Lookup) => {
                assert!(
                    self.arithmetisation == Arithmetisation::Ultra,
                    "{} has no lookups",
                    self.arithmetisation
                );
                self.scopes.count_lookup();
            }
            _ => {}
        }
    }

    /// The circuit as columns: rows of public inputs first, those of constants last.
    pub fn layout(&self) -> Layout {
        self.assemble(self.fixed.clone())
    }

    /// The circuit as columns, and the values of its variables: [`Self::layout`] without copying the columns.
    pub fn into_layout(mut self) -> (Layout, Vec<Fr>) {
        let fixed = std::mem::take(&mut self.fixed);
        let layout = self.assemble(fixed);
        (layout, self.values)
    }

    fn assemble(&self, mut fixed: BTreeMap<Column, Vec<Fr>>) -> Layout {
        let first = self.public.len();
        for values in fixed.values_mut() {
            values.splice(0..0, std::iter::repeat_n(Fr::ZERO, first));
        }
        let rows = first + self.rows.len();
        let mut extend = |column: Selector, start: usize, values: &mut dyn Iterator<Item = Fr>| {
            let column = fixed.entry(Column::Selector(column)).or_default();
            column.resize(column.len().max(start), Fr::ZERO);
            for (row, value) in (start..).zip(values) {
                if row == column.len() {
                    column.push(value);
                } else {
                    column[row] = value;
                }
            }
        };
        if first + self.constants.len() > 0 {
            extend(Selector::Wire(0), 0, &mut std::iter::repeat_n(Fr::ONE, first));
            extend(Selector::Wire(0), rows, &mut std::iter::repeat_n(Fr::ONE, self.constants.len()));
        }
        if !self.constants.is_empty() {
            let negated = self.constants.values().map(|constant| -self.value(*constant));
            extend(Selector::Constant, rows, &mut { negated });
        }
        self.tables_into(&mut fixed);
        let mut gates = self.gates.clone();
        gates.sort_unstable();
        let lookup =
            fixed.contains_key(&Column::Selector(Selector::Lookup)).then_some(LookupArgument::LogDerivative);
        Layout {
            wires: self.arithmetisation.wires(),
            gates,
            lookup,
            public: u32::try_from(first).expect("fewer than 2^32 public inputs"),
            variables: u32::try_from(self.values.len()).expect("fewer than 2^32 variables"),
            variables_of: self.variables_of(),
            fixed,
        }
    }

    /// Checks that the values satisfy every row, lookup and equality.
    ///
    /// # Errors
    /// The first violation: equalities are checked first, then rows.
    pub fn check(&self) -> Result<(), Unsatisfied> {
        self.check_equalities()?;
        check_layout(&self.layout(), self.values()).map_err(|unsatisfied| self.explain(unsatisfied))
    }

    /// Adds the names of gadgets and tables, which are not in the layout.
    fn explain(&self, mut unsatisfied: Unsatisfied) -> Unsatisfied {
        match &mut unsatisfied {
            Unsatisfied::Gate { row, gadget, .. } => *gadget = self.gadget_of(*row),
            Unsatisfied::Lookup { row, gadget, table, name, .. } => {
                *gadget = self.gadget_of(*row);
                *name = self.table_name(*table);
            }
            Unsatisfied::Equality { .. } => {}
        }
        unsatisfied
    }

    /// The variable on each row of each wire; equal variables are replaced by the lowest of them.
    fn variables_of(&self) -> Vec<Vec<u32>> {
        let least = self.least_equal();
        let number = |variable: Variable| least.get(variable.index()).copied().unwrap_or(variable.0);
        let alone = |variable: &Variable| [*variable, Variable::NONE, Variable::NONE, Variable::NONE];
        (0..self.arithmetisation.wires() as usize)
            .map(|wire| {
                let public = self.public.iter().map(alone);
                let constants = self.constants.values().map(alone);
                let rows = public.chain(self.rows.iter().copied()).chain(constants);
                rows.map(|row| number(row[wire])).collect()
            })
            .collect()
    }

    /// For every variable, the lowest variable that it is asserted to equal. Empty if there are no such
    /// assertions.
    fn least_equal(&self) -> Vec<u32> {
        if self.copies.is_empty() {
            return Vec::new();
        }
        let mut parent: Vec<u32> = (0..self.values.len() as u32).collect();
        for &(left, right, _) in &self.copies {
            let (left, right) = (root(&mut parent, left.0), root(&mut parent, right.0));
            parent[left.max(right) as usize] = left.min(right);
        }
        // Parents are lower than their children, so one ascending pass finds every root.
        for variable in 0..parent.len() {
            parent[variable] = parent[parent[variable] as usize];
        }
        parent
    }
}

/// The root of a variable's tree. Halves the path to it.
fn root(parent: &mut [u32], mut variable: u32) -> u32 {
    while parent[variable as usize] != variable {
        parent[variable as usize] = parent[parent[variable as usize] as usize];
        variable = parent[variable as usize];
    }
    variable
}

#[cfg(test)]
pub(crate) mod tests;
