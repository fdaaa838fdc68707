//! Building circuits: variables with values, and the rows that constrain them.
//!
//! The same program builds for any [`Arithmetisation`]: gadgets choose the gates that it has. Rows do not depend on
//! values, so that a program run on other inputs gives the same circuit and another witness.

use crate::{Column, Gate, Layout, LookupArgument, Selector};
use proofmill_field::{Field, bn254::Fr};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// Which gates a circuit may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arithmetisation {
    /// Three wires and the arithmetic gate.
    Standard,
    /// Four wires, the next row's in sight, and custom gates.
    Turbo,
    /// Turbo and lookups.
    Ultra,
}

impl Arithmetisation {
    /// All, from the narrowest.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Turbo, Self::Ultra];

    /// Wires of a row.
    pub fn wires(self) -> u8 {
        if self == Self::Standard { 3 } else { 4 }
    }

    /// The gate of sums and products.
    pub fn arithmetic(self) -> Gate {
        if self == Self::Standard { Gate::Arithmetic } else { Gate::WideArithmetic }
    }
}

impl fmt::Display for Arithmetisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standard => "standard",
            Self::Turbo => "turbo",
            Self::Ultra => "ultra",
        })
    }
}

impl FromStr for Arithmetisation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|each| each.to_string() == name);
        named.ok_or_else(|| format!("expected an arithmetisation (standard, turbo or ultra), found {name:?}"))
    }
}

/// A value of the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(u32);

impl Variable {
    /// No variable: on wires that a row does not use. Nothing makes it zero; where a gate needs zero, use
    /// [`Circuit::zero`].
    pub const NONE: Self = Self(0);
}

/// A circuit and its witness.
#[derive(Clone, Debug)]
pub struct Circuit {
    arithmetisation: Arithmetisation,
    values: Vec<Fr>,
    public: Vec<Variable>,
    constants: BTreeMap<[u64; 4], Variable>,
    gates: Vec<Gate>,
    rows: Vec<[Variable; 4]>,
    fixed: BTreeMap<Column, Vec<Fr>>,
}

impl Circuit {
    /// A circuit without rows.
    pub fn new(arithmetisation: Arithmetisation) -> Self {
        Self {
            arithmetisation,
            values: vec![Fr::ZERO],
            public: Vec::new(),
            constants: BTreeMap::new(),
            gates: vec![arithmetisation.arithmetic()],
            rows: Vec::new(),
            fixed: BTreeMap::new(),
        }
    }

    /// Which gates it may use.
    pub fn arithmetisation(&self) -> Arithmetisation {
        self.arithmetisation
    }

    /// A new variable with this value, which nothing constrains yet.
    pub fn witness(&mut self, value: Fr) -> Variable {
        let variable = Variable(u32::try_from(self.values.len()).expect("fewer than 2^32 variables"));
        self.values.push(value);
        variable
    }

    /// A new variable with this value, which is a public input.
    pub fn public_input(&mut self, value: Fr) -> Variable {
        let variable = self.witness(value);
        self.public.push(variable);
        variable
    }

    /// A variable's value.
    pub fn value(&self, variable: Variable) -> Fr {
        self.values[variable.0 as usize]
    }

    /// The values of all variables.
    pub fn values(&self) -> &[Fr] {
        &self.values
    }

    /// The public inputs' values.
    pub fn public_values(&self) -> Vec<Fr> {
        self.public.iter().map(|variable| self.value(*variable)).collect()
    }

    /// Rows so far, the public inputs' not counted.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row: variables on the wires ([`Variable::NONE`] beyond the arithmetisation's), and the selectors and data
    /// that are not zero.
    ///
    /// # Panics
    /// If the arithmetisation lacks the gate or the wire.
    pub fn row(&mut self, wires: [Variable; 4], fixed: &[(Column, Fr)]) {
        assert!(wires[self.arithmetisation.wires() as usize..].iter().all(|wire| *wire == Variable::NONE));
        let row = self.rows.len();
        self.rows.push(wires);
        for &(column, value) in fixed {
            if let Column::Selector(Selector::Gate(gate)) = column
                && !self.gates.contains(&gate)
            {
                assert!(
                    self.arithmetisation != Arithmetisation::Standard,
                    "{} has no {gate:?}",
                    self.arithmetisation
                );
                self.gates.push(gate);
            }
            let values = self.fixed.entry(column).or_default();
            assert!(values.len() <= row, "{column} twice on one row");
            values.resize(row, Fr::ZERO);
            values.push(value);
        }
    }

    /// The circuit as columns. Rows of public inputs come first.
    pub fn layout(&self) -> Layout {
        let public =
            self.public.iter().map(|variable| [*variable, Variable::NONE, Variable::NONE, Variable::NONE]);
        let rows: Vec<[Variable; 4]> = public.chain(self.rows.iter().copied()).collect();
        let wires = self.arithmetisation.wires();
        let variables_of =
            (0..wires as usize).map(|wire| rows.iter().map(|row| row[wire].0).collect()).collect();
        let mut fixed = self.fixed.clone();
        let first = self.public.len();
        for (column, values) in &mut fixed {
            if !matches!(column, Column::TableColumn(_)) {
                values.splice(0..0, std::iter::repeat_n(Fr::ZERO, first));
            }
        }
        if first > 0 {
            let on_first_wire = fixed.entry(Column::Selector(Selector::Wire(0))).or_default();
            on_first_wire.resize(on_first_wire.len().max(first), Fr::ZERO);
            on_first_wire[..first].fill(Fr::ONE);
        }
        let mut gates = self.gates.clone();
        gates.sort_unstable();
        let lookup =
            fixed.contains_key(&Column::Selector(Selector::Lookup)).then_some(LookupArgument::LogDerivative);
        Layout {
            wires,
            gates,
            lookup,
            public: first as u32,
            variables: self.values.len() as u32,
            variables_of,
            fixed,
        }
    }
}
