//! Circuits in proving keys' files: [`CircuitKey`]'s names and counts as a [`Layout`], and back.
//!
//! A file may be hostile: what is read is checked to be a layout that the rest of the crate takes without a panic, though not
//! that anybody can satisfy it, nor that the commitments are its.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Arithmetisation, Column, Derivations, Gate, Layout, LookupArgument, PlonkError, Selector};
use proofmill_circom::{CircomError, CircuitKey, CircuitKeyHeader, CircuitKeyWriter};
use proofmill_curve::{Affine, bn254::G2};
use proofmill_field::bn254::Fr;
use proofmill_simd::Level;
use std::{collections::BTreeMap, path::Path};

/// Data columns, and columns of the lookup tables.
const MOST_DATA: u8 = 4;

/// Begins a key's file with all that is known before anything is committed to.
///
/// # Errors
/// [`CircomError::Io`].
pub fn create(
    path: &Path,
    layout: &Layout,
    derivations: &Derivations,
    tau: Affine<G2>,
) -> Result<CircuitKeyWriter, CircomError> {
    let columns = layout.fixed.iter().map(|(column, values)| (column.to_string(), values.len() as u32));
    let header = CircuitKeyHeader {
        wires: layout.wires.into(),
        rows: layout.rows() as u32,
        variables: layout.variables,
        witness: derivations.first(),
        public: layout.public,
        gates: layout.gates.iter().map(|gate| gate.name().to_owned()).collect(),
        lookup: layout.lookup.map(lookup_name).unwrap_or_default().to_owned(),
        columns: columns.collect(),
        tau,
    };
    let values: Vec<&[Fr]> = layout.fixed.values().map(Vec::as_slice).collect();
    CircuitKeyWriter::create(path, &header, &layout.variables_of, &values, derivations.iter())
}

/// The circuit of a key, and how its variables are derived. On the ambient rayon pool.
///
/// # Errors
/// [`PlonkError::File`] for anything that is not a circuit of one of the arithmetisations.
pub fn circuit(key: &CircuitKey, level: Level) -> Result<(Layout, Derivations), PlonkError> {
    let &CircuitKeyHeader { wires, public, variables, witness, .. } = key.header();
    let gates = gates(key)?;
    let lookup = lookup(key)?;
    let columns = columns(key, &gates, lookup)?;
    let constants = key.constants(level)?;
    let mut fixed = BTreeMap::new();
    for (index, column) in columns.into_iter().enumerate() {
        fixed.insert(column, key.column(index, &constants)?);
    }
    let variables_of: Vec<Vec<u32>> =
        (0..wires as usize).map(|wire| key.wire_map(wire)).collect::<Result<_, _>>()?;
    // The prover takes the public inputs from the first variables.
    let inputs = variables_of.first().map(|wire| wire.iter().take(public as usize).copied());
    if !inputs.is_some_and(|inputs| inputs.eq(1..=public)) {
        return Err(key.malformed("expected the public inputs on the first rows").into());
    }
    let (counts, terms) = key.derivations()?;
    let factor = |place: u32| constants.get(place as usize).copied().unwrap_or_default();
    let terms = terms.iter().map(|term| (term.variable, factor(term.factor))).collect();
    let derivations = Derivations::from_parts(witness, &counts, terms);
    let derivations =
        derivations.ok_or_else(|| key.malformed("expected variables derived of earlier ones"))?;
    // `gates` has checked that there are 3 or 4 wires.
    let wires = wires as u8;
    Ok((Layout { wires, gates, lookup, public, variables, variables_of, fixed }, derivations))
}

/// The gates: ascending, the first one that of sums and products.
fn gates(key: &CircuitKey) -> Result<Vec<Gate>, PlonkError> {
    let header = key.header();
    let mut gates = Vec::new();
    for name in &header.gates {
        let gate = Gate::ALL.iter().copied().find(|gate| gate.name() == name);
        gates.push(gate.ok_or_else(|| key.malformed(format!("expected a gate, found {name:?}")))?);
    }
    let of_wires = |each: &Arithmetisation| u32::from(each.wires()) == header.wires;
    let arithmetisation = Arithmetisation::ALL.iter().find(|each| of_wires(each));
    if arithmetisation.map(|each| each.arithmetic()).as_ref() != gates.first() || !ascending(&gates) {
        let problem = format!("{} wires have no such gates, or in another order", header.wires);
        return Err(key.malformed(problem).into());
    }
    Ok(gates)
}

fn lookup(key: &CircuitKey) -> Result<Option<LookupArgument>, PlonkError> {
    let name = key.header().lookup.as_str();
    if name.is_empty() {
        return Ok(None);
    }
    let all = [LookupArgument::LogDerivative, LookupArgument::Plookup];
    let named = all.into_iter().find(|argument| lookup_name(*argument) == name);
    let problem = || key.malformed(format!("expected a lookup argument, found {name:?}"));
    Ok(Some(named.ok_or_else(problem)?))
}

/// The fixed columns: ascending, of the gates and the lookups that there are, none longer than there are rows.
fn columns(
    key: &CircuitKey,
    gates: &[Gate],
    lookup: Option<LookupArgument>,
) -> Result<Vec<Column>, PlonkError> {
    let selectors = gates.iter().flat_map(|gate| gate.selectors()).copied().map(Column::Selector);
    let mut known: Vec<Column> = selectors.chain((0..MOST_DATA).map(Column::Data)).collect();
    if lookup.is_some() {
        known.push(Column::Selector(Selector::Lookup));
        known.extend((0..MOST_DATA).map(Column::TableColumn));
    }
    let rows = key.header().rows;
    let mut columns = Vec::new();
    for (name, values) in &key.header().columns {
        let column = known.iter().copied().find(|column| column.to_string() == *name);
        let column =
            column.ok_or_else(|| key.malformed(format!("expected a fixed column, found {name:?}")))?;
        if *values > rows && !matches!(column, Column::TableColumn(_)) {
            return Err(key.malformed(format!("{values} values of {name} on {rows} rows")).into());
        }
        columns.push(column);
    }
    match ascending(&columns) {
        true => Ok(columns),
        false => Err(key.malformed("a fixed column is there twice, or in another order").into()),
    }
}

fn ascending<T: Ord>(list: &[T]) -> bool {
    list.is_sorted_by(|a, b| a < b)
}

fn lookup_name(argument: LookupArgument) -> &'static str {
    match argument {
        LookupArgument::LogDerivative => "logup",
        LookupArgument::Plookup => "plookup",
    }
}
