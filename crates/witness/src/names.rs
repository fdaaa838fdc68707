//! The names of a `.sym` in errors.

use crate::{
    error::WitnessError,
    input::{Inputs, shown},
};
use proofmill_circom::{ScalarPrime, Symbols};
use std::collections::{BTreeMap, HashSet};

/// The most names in a message.
const MOST: usize = 6;

/// The message that these signals, of so many values, are missing.
pub(crate) fn missing(signals: &[(String, usize)]) -> String {
    let problems = signals.iter().map(|(name, length)| {
        let values = if *length == 1 { "1 value".to_owned() } else { format!("{length} values") };
        format!("signal {} is missing: expected {values}", shown(name))
    });
    listed(problems, "; ")
}

/// The inputs that are not given, with their sizes. `size` gives the number of an input's values by its name, or 0.
pub(crate) fn not_given<P: ScalarPrime>(
    symbols: &Symbols,
    inputs: &Inputs<P>,
    mut size: impl FnMut(&str) -> Result<usize, WitnessError>,
) -> Result<Vec<(String, usize)>, WitnessError> {
    let mut seen: HashSet<&str> = inputs.signals().iter().map(|signal| signal.name.as_str()).collect();
    let (mut missing, mut last) = (Vec::new(), "");
    for symbol in symbols.each() {
        let Some(mut name) = symbol.name.strip_prefix("main.") else { continue };
        while let Some((array, _)) = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
            name = array;
        }
        // Elements of an array follow each other.
        if name == last {
            continue;
        }
        last = name;
        let length = if seen.contains(name) { 0 } else { size(name)? };
        if length > 0 && seen.insert(name) {
            missing.push((name.to_owned(), length));
        }
    }
    Ok(missing)
}

/// The components that an error of circom 2 may be about, as words of a message. Its trace has a message
/// `Error in template NAME_NUMBER line: LINE` for each component, from the one that fails up to `main`. A template's number, which
/// also stands for its parameters, is the `component` of its signals.
pub(crate) fn components(symbols: &Symbols, trace: &[String]) -> Option<String> {
    let number = |message: &String| {
        let template = message.strip_prefix("Error in template ")?.split_whitespace().next()?;
        template.rsplit_once('_')?.1.parse::<u64>().ok()
    };
    let path: Vec<u64> = trace.iter().rev().filter_map(number).collect();
    let templates: BTreeMap<&str, u64> =
        symbols.each().map(|symbol| (symbol.component_name(), symbol.component)).collect();
    let matches = |component: &str| {
        let ends = component.match_indices('.').map(|(end, _)| end).chain([component.len()]);
        let numbers = ends.map(|end| templates.get(component.get(..end)?).copied());
        numbers.eq(path.iter().copied().map(Some))
    };
    let found = templates.keys().filter(|component| matches(component)).map(|name| shown(name));
    let found = listed(found, " or ");
    (!found.is_empty()).then(|| format!("in {found}"))
}

/// A few of these, and the number of the others.
fn listed(items: impl Iterator<Item = String>, separator: &str) -> String {
    let (mut first, mut more) = (Vec::new(), 0_usize);
    for item in items {
        if first.len() < MOST {
            first.push(item);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        first.push(format!("{more} more"));
    }
    first.join(separator)
}
