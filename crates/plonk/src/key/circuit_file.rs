//! Circuits in proving-key files: converts between [`CircuitKey`]'s names and counts and a [`Layout`].
//!
//! A file may be hostile. A layout that was read is valid in that the rest of the crate does not panic on it.
//! It is not checked that the layout can be satisfied, nor that the commitments belong to it.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Arithmetisation, CircuitKey, CircuitKeyHeader, CircuitKeyWriter, Column, Derivations, FixedColumns, Gate,
    Layout, LookupArgument, Memory, PlonkError, ProvingKey, Selector, System, SystemError, VerifyingKey,
    arithmetisation::{layout::log_n, permutation},
};
use proofmill_circom::CircomError;
use proofmill_cpu::Level;
use proofmill_curve::{Affine, bn254::G2};
use proofmill_field::bn254::Fr;
use proofmill_files::Target;
use proofmill_run::Run;
use proofmill_srs::Srs;
use std::{collections::BTreeMap, sync::Arc};

/// The number of data columns, and of columns of the lookup tables.
const DATA_COLUMNS: u8 = 4;

/// The names of a circuit's gates, lookup argument and fixed columns in files.
pub(crate) struct CircuitNames {
    pub(crate) wires: u32,
    pub(crate) gates: Vec<String>,
    /// The lookup argument; empty without lookups.
    pub(crate) lookup: String,
    /// The fixed columns, without those of the permutation, which every circuit has.
    pub(crate) columns: Vec<String>,
}

impl CircuitNames {
    pub(crate) fn of(system: &System) -> Self {
        let columns = system.fixed().iter().filter(|column| !matches!(column, Column::Sigma(_)));
        Self::new(system.wires(), system.gates(), system.lookup(), columns)
    }

    fn new<'c>(
        wires: u8,
        gates: &[Gate],
        lookup: Option<LookupArgument>,
        columns: impl Iterator<Item = &'c Column>,
    ) -> Self {
        Self {
            wires: wires.into(),
            gates: gates.iter().map(|gate| gate.name().to_owned()).collect(),
            lookup: lookup.map(|lookup| lookup.to_string()).unwrap_or_default(),
            columns: columns.map(Column::to_string).collect(),
        }
    }

    /// The system with these names, or the first error in them.
    pub(crate) fn system(&self) -> Result<System, SystemError> {
        let (gates, lookup) = (self.gates()?, self.lookup()?);
        let columns = self.columns(&gates, lookup)?;
        // The gates imply 3 or 4 wires.
        Ok(System::new(self.wires as u8, gates, lookup, &columns))
    }

    /// The gates; they must be ascending, and the first must be the arithmetic gate.
    fn gates(&self) -> Result<Vec<Gate>, SystemError> {
        let mut gates = Vec::new();
        for name in &self.gates {
            let gate = Gate::ALL.iter().copied().find(|gate| gate.name() == name);
            gates.push(gate.ok_or_else(|| SystemError::Gate(name.clone()))?);
        }
        let of_wires = |each: &Arithmetisation| u32::from(each.wires()) == self.wires;
        let arithmetisation = Arithmetisation::ALL.iter().find(|each| of_wires(each));
        let first = arithmetisation.map(|each| each.arithmetic());
        let has_custom = arithmetisation.is_some_and(|each| *each != Arithmetisation::Standard);
        let known = first.as_ref() == gates.first() && (has_custom || gates.len() == 1);
        match known && ascending(&gates) {
            true if !gates.is_empty() => Ok(gates),
            _ => Err(SystemError::Gates { wires: self.wires }),
        }
    }

    fn lookup(&self) -> Result<Option<LookupArgument>, SystemError> {
        if self.lookup.is_empty() {
            return Ok(None);
        }
        if self.wires == u32::from(Arithmetisation::Standard.wires()) {
            return Err(SystemError::NoLookups { wires: self.wires });
        }
        Ok(Some(self.lookup.parse()?))
    }

    /// The columns; they must be ascending and belong to the gates or the lookups.
    fn columns(&self, gates: &[Gate], lookup: Option<LookupArgument>) -> Result<Vec<Column>, SystemError> {
        let selectors = gates.iter().flat_map(|gate| gate.selectors()).copied().map(Column::Selector);
        let mut known: Vec<Column> = selectors.chain((0..DATA_COLUMNS).map(Column::Data)).collect();
        if lookup.is_some() {
            known.push(Column::Selector(Selector::Lookup));
            known.extend((0..DATA_COLUMNS).map(Column::TableColumn));
        }
        let mut columns = Vec::new();
        for name in &self.columns {
            let column = known.iter().copied().find(|column| column.to_string() == *name);
            columns.push(column.ok_or_else(|| SystemError::Column(name.clone()))?);
        }
        match ascending(&columns) {
            true => Ok(columns),
            false => Err(SystemError::Columns),
        }
    }
}

fn ascending<T: Ord>(list: &[T]) -> bool {
    list.is_sorted_by(|a, b| a < b)
}

/// Writes the proving key of a circuit for a reference string to a file or to memory. The key includes the
/// powers of tau that a proof needs.
///
/// Runs on the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::NoConstraints`], [`PlonkError::Domain`], [`PlonkError::ShortReference`],
/// [`PlonkError::Srs`], [`PlonkError::File`].
pub fn setup_circuit<'a>(
    run: Run<'_>,
    layout: Layout,
    derivations: &Derivations,
    srs: &Arc<Srs>,
    key: impl Into<Target<'a>>,
) -> Result<(), PlonkError> {
    write(run, layout, derivations, srs, key.into())
}

fn write(
    run: Run<'_>,
    layout: Layout,
    derivations: &Derivations,
    srs: &Arc<Srs>,
    target: Target<'_>,
) -> Result<(), PlonkError> {
    let Run { level, progress, .. } = run;
    progress.begin("write layout");
    let layout = layout.complete();
    let file = create(target, &layout, derivations, *srs.tau_g2(), srs.insecurity().is_some())?;
    let columns = FixedColumns::new(Run { memory: Some(Memory::Low), progress, ..level.into() }, layout)?;
    let count = columns.powers();
    let key = columns.commit(run, srs.clone())?;
    let commitments = key.verifying_key().fixed.clone();
    drop(key);
    progress.begin("write key");
    let powers = srs.powers(level, 0..count)?;
    Ok(file.finish(&commitments, |out| out.points(&powers))?)
}

/// Starts a key's file: writes everything that precedes the commitments.
///
/// # Errors
/// [`CircomError::Io`].
pub fn create<'a>(
    target: impl Into<Target<'a>>,
    layout: &Layout,
    derivations: &Derivations,
    tau: Affine<G2>,
    insecure_setup: bool,
) -> Result<CircuitKeyWriter<'a>, CircomError> {
    let CircuitNames { wires, gates, lookup, columns } =
        CircuitNames::new(layout.wires, &layout.gates, layout.lookup, layout.fixed.keys());
    let lengths = layout.fixed.values().map(|values| values.len() as u32);
    let header = CircuitKeyHeader {
        wires,
        rows: layout.rows() as u32,
        variables: layout.variables,
        witness: derivations.first(),
        public: layout.public,
        gates,
        lookup,
        columns: columns.into_iter().zip(lengths).collect(),
        tau,
        insecure_setup,
    };
    let values: Vec<&[Fr]> = layout.fixed.values().map(Vec::as_slice).collect();
    CircuitKeyWriter::create(target, &header, &layout.variables_of, &values, derivations.iter())
}

impl ProvingKey {
    /// Reads a proving key of a circuit in any arithmetisation.
    ///
    /// Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file that is not such a key. [`PlonkError::NoConstraints`],
    /// [`PlonkError::Domain`] and [`PlonkError::ShortReference`] for sizes that no circuit has.
    /// [`PlonkError::Scratch`].
    pub fn of_circuit(run: Run<'_>, file: &CircuitKey) -> Result<Self, PlonkError> {
        let Run { level, progress, .. } = run;
        progress.begin("read key");
        let key = VerifyingKey::of_circuit(level, file)?;
        let powers = file.powers(level)?;
        // Before anything of the domain's size is allocated: a file of few bytes may promise many rows.
        let (needed, found) = ((1 << key.log_n) + key.system.extra_powers(), powers.len());
        if needed > found {
            return Err(PlonkError::ShortReference { needed, found });
        }
        let (layout, derivations) = circuit(file, level)?;
        FixedColumns::new(run, layout)?.with_commitments(
            key.fixed,
            powers,
            key.tau,
            key.insecure_setup,
            derivations,
        )
    }
}

impl VerifyingKey {
    /// The verification key of a circuit's key in any arithmetisation.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file that is not such a key.
    pub fn of_circuit(level: Level, file: &CircuitKey) -> Result<Self, PlonkError> {
        let header = file.header();
        let system = names(header).system().map_err(|problem| file.malformed(problem.to_string()))?;
        let tables = header.columns.iter().zip(system.fixed());
        let tables = tables.filter(|(_, column)| matches!(column, Column::TableColumn(_)));
        let table_rows = tables.map(|((_, values), _)| *values as usize).max().unwrap_or(0);
        Ok(Self {
            log_n: log_n(header.rows as usize, table_rows, system.lookup()),
            system,
            public: header.public,
            multipliers: permutation::multipliers(),
            fixed: file.commitments(level)?,
            tau: header.tau,
            insecure_setup: header.insecure_setup,
        })
    }
}

fn names(header: &CircuitKeyHeader) -> CircuitNames {
    CircuitNames {
        wires: header.wires,
        gates: header.gates.clone(),
        lookup: header.lookup.clone(),
        columns: header.columns.iter().map(|(name, _)| name.clone()).collect(),
    }
}

/// The circuit of a key and the derivations of its variables. Runs on the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::File`] for a key that is not a circuit in one of the arithmetisations.
pub fn circuit(key: &CircuitKey, level: Level) -> Result<(Layout, Derivations), PlonkError> {
    let header = key.header();
    let names = names(header);
    let gates = names.gates().map_err(|problem| key.malformed(problem.to_string()))?;
    let lookup = names.lookup().map_err(|problem| key.malformed(problem.to_string()))?;
    let columns = names.columns(&gates, lookup).map_err(|problem| key.malformed(problem.to_string()))?;
    let constants = key.constants(level)?;
    let mut fixed = BTreeMap::new();
    for (index, (column, (name, values))) in columns.into_iter().zip(&header.columns).enumerate() {
        if *values > header.rows && !matches!(column, Column::TableColumn(_)) {
            return Err(key.malformed(format!("{values} values of {name} on {} rows", header.rows)).into());
        }
        fixed.insert(column, key.column(index, &constants)?);
    }
    let wires = 0..header.wires as usize;
    let variables_of = wires.map(|wire| key.wire_map(wire)).collect::<Result<Vec<_>, _>>()?;
    let (counts, terms) = key.derivations()?;
    let factor = |place: u32| constants.get(place as usize).copied().unwrap_or_default();
    let terms = terms.iter().map(|term| (term.variable, factor(term.factor))).collect();
    let derivations = Derivations::from_parts(header.witness, &counts, terms)
        .ok_or_else(|| key.malformed("expected variables derived of earlier ones"))?;
    let layout = Layout {
        wires: header.wires as u8,
        gates,
        lookup,
        public: header.public,
        variables: header.variables,
        variables_of,
        fixed,
    };
    Ok((layout, derivations))
}
