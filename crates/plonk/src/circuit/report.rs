//! The scopes of gadgets, and their costs.

use crate::{Circuit, Column, Selector};
use proofmill_field::Field;
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// The scope outside of all gadgets.
const OUTSIDE: u32 = 0;

/// The total cost of the calls of one gadget inside one other.
#[derive(Clone, Debug, Default)]
struct Scope {
    name: String,
    parent: u32,
    calls: u64,
    /// Rows and lookups, without those of nested gadgets.
    rows: u64,
    lookups: u64,
    children: BTreeMap<String, u32>,
}

/// The tree of scopes, and the rows of each.
#[derive(Clone, Debug)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    current: u32,
    /// For each change of scope, the first row and the scope from there on.
    changes: Vec<(u32, u32)>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Self { scopes: vec![Scope::default()], current: OUTSIDE, changes: Vec::new() }
    }

    pub(super) fn current(&self) -> u32 {
        self.current
    }

    fn enter(&mut self, name: &str) {
        let parent = self.current;
        self.current = match self.scopes[parent as usize].children.get(name) {
            Some(known) => *known,
            None => {
                let new = self.scopes.len() as u32;
                self.scopes.push(Scope { name: name.to_owned(), parent, ..Scope::default() });
                self.scopes[parent as usize].children.insert(name.to_owned(), new);
                new
            }
        };
        self.scopes[self.current as usize].calls += 1;
    }

    fn leave(&mut self) {
        self.current = self.scopes[self.current as usize].parent;
    }

    pub(super) fn count_row(&mut self, row: usize) {
        self.scopes[self.current as usize].rows += 1;
        if self.changes.last().map_or(OUTSIDE, |(_, scope)| *scope) != self.current {
            self.changes.push((row as u32, self.current));
        }
    }

    pub(super) fn count_lookup(&mut self) {
        self.scopes[self.current as usize].lookups += 1;
    }

    /// Names from the outermost gadget inwards; `None` outside of all gadgets.
    pub(super) fn path(&self, mut scope: u32) -> Option<String> {
        let mut names = Vec::new();
        while scope != OUTSIDE {
            let Scope { name, parent, .. } = &self.scopes[scope as usize];
            names.push(name.as_str());
            scope = *parent;
        }
        names.reverse();
        (!names.is_empty()).then(|| names.join(" > "))
    }

    /// The scope in which a row (not counting public inputs) was added.
    pub(super) fn of_row(&self, row: usize) -> u32 {
        let after = self.changes.partition_point(|(first, _)| *first as usize <= row);
        after.checked_sub(1).map_or(OUTSIDE, |index| self.changes[index].1)
    }

    /// Appends a scope's children to the report, depth first and by name, and returns the rows and lookups of
    /// the whole scope.
    fn report(&self, scope: u32, depth: usize, to: &mut Vec<GadgetReport>) -> (u64, u64) {
        let Scope { mut rows, mut lookups, ref children, .. } = self.scopes[scope as usize];
        for (name, child) in children {
            let place = to.len();
            let calls = self.scopes[*child as usize].calls;
            to.push(GadgetReport { name: name.clone(), depth, calls, rows: 0, lookups: 0 });
            let nested = self.report(*child, depth + 1, to);
            (to[place].rows, to[place].lookups) = nested;
            rows += nested.0;
            lookups += nested.1;
        }
        (rows, lookups)
    }
}

/// The cost of one gadget, including nested ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GadgetReport {
    /// The gadget's name.
    pub name: String,
    /// The number of gadgets around it; they precede it in [`Report::gadgets`].
    pub depth: usize,
    /// The number of calls there.
    pub calls: u64,
    /// Rows of all calls.
    pub rows: u64,
    /// Lookups of all calls, at most one per row.
    pub lookups: u64,
}

/// The size and use of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableReport {
    /// The table's name.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// The number of lookups.
    pub lookups: u64,
}

/// The contents of a circuit. [`Display`](fmt::Display) writes a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The arithmetisation's name.
    pub arithmetisation: String,
    /// All rows, including those of public inputs and constants.
    pub rows: u64,
    /// Rows of public inputs.
    pub public: u64,
    /// Rows of constants.
    pub constants: u64,
    /// The number of rows with each custom gate, by the gate's name.
    pub gates: BTreeMap<String, u64>,
    /// The gadgets, each followed by its nested ones.
    pub gadgets: Vec<GadgetReport>,
    /// The tables with lookups.
    pub tables: Vec<TableReport>,
}

impl Circuit {
    /// Runs `build` as a gadget: reports and errors refer to its rows by this name.
    pub fn gadget<T>(&mut self, name: &str, build: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.enter(name);
        let result = build(self);
        self.scopes.leave();
        result
    }

    /// The path of gadgets that added a row of the layout, outermost first.
    pub(crate) fn gadget_of(&self, row: usize) -> Option<String> {
        let row = row.checked_sub(self.public.len()).filter(|row| *row < self.rows.len())?;
        self.scopes.path(self.scopes.of_row(row))
    }

    /// Rows and lookups, by gadget and by table.
    pub fn report(&self) -> Report {
        let mut gadgets = Vec::new();
        self.scopes.report(OUTSIDE, 0, &mut gadgets);
        let (public, constants) = (self.public.len() as u64, self.constants.len() as u64);
        let switched_on = |gate| {
            let column = self.fixed.get(&Column::Selector(Selector::Gate(gate)));
            column.map_or(0, |column| column.iter().filter(|value| !value.is_zero()).count() as u64)
        };
        let custom = self.gates.iter().filter(|gate| **gate != self.arithmetisation.arithmetic());
        Report {
            arithmetisation: self.arithmetisation.to_string(),
            rows: public + constants + self.rows.len() as u64,
            public,
            constants,
            gates: custom.map(|gate| (gate.name().to_owned(), switched_on(*gate))).collect(),
            gadgets,
            tables: self.table_reports(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arithmetisation, rows, public, constants, .. } = self;
        writeln!(f, "{arithmetisation}: {rows} rows ({public} public inputs, {constants} constants)")?;
        if !self.gates.is_empty() {
            writeln!(f, "{:<40} {:>12}", "custom gate", "rows")?;
        }
        for (gate, rows) in &self.gates {
            writeln!(f, "{gate:<40} {rows:>12}")?;
        }
        if !self.gadgets.is_empty() {
            let header = ["calls", "rows", "lookups", "rows/call"];
            writeln!(
                f,
                "{:<40} {:>12} {:>12} {:>12} {:>12}",
                "gadget", header[0], header[1], header[2], header[3]
            )?;
        }
        for GadgetReport { name, depth, calls, rows, lookups } in &self.gadgets {
            let name = format!("{:indent$}{name}", "", indent = 2 * depth);
            let each = *rows as f64 / *calls as f64;
            writeln!(f, "{name:<40} {calls:>12} {rows:>12} {lookups:>12} {each:>12.1}")?;
        }
        if !self.tables.is_empty() {
            writeln!(f, "{:<40} {:>12} {:>12}", "table", "rows", "lookups")?;
        }
        for TableReport { name, rows, lookups } in &self.tables {
            writeln!(f, "{name:<40} {rows:>12} {lookups:>12}")?;
        }
        Ok(())
    }
}
