//! Bounds on a run, whatever its source: imported files are untrusted, and stored runs are read for years.
//!
//! Imports and the store use the same check, so that every stored run can be exported and imported again.

use crate::record::{BenchRun, Figures, MachineFacts, Measurement, Noise, RowOutcome};

/// The greatest length of a text (such as a command's argument or a reason), in bytes.
pub const TEXT: usize = 4096;
/// The greatest number of rows of a run, arguments of a command, warnings, features, caches or phases.
pub const ITEMS: usize = 100_000;
/// The greatest number of samples of a row.
pub const SAMPLES: usize = 100_000;
/// The greatest integer: programs whose numbers are doubles read integers up to here exactly.
pub const WHOLE: u64 = 1 << 53;
/// The upper bound on an amount of work, hertz, cycles and instructions.
const MUCH: f64 = 1e18;
/// The upper bound on seconds (more than thirty years), on watts and on dollars per hour.
const LONG: f64 = 1e9;
/// The greatest number of threads of a machine.
const THREADS: u32 = 1 << 20;

/// Checks a run with its measurements.
///
/// # Errors
/// A sentence that names the field, what was expected and what was found.
pub fn check(run: &BenchRun) -> Result<(), String> {
    check_facts(run)?;
    items("measurements", run.measurements.len(), ITEMS)?;
    for (i, measurement) in run.measurements.iter().enumerate() {
        check_measurement(measurement).map_err(|problem| format!("measurement {}: {problem}", i + 1))?;
    }
    Ok(())
}

/// Checks a run without its measurements.
///
/// # Errors
/// As [`check`].
pub fn check_facts(run: &BenchRun) -> Result<(), String> {
    let BenchRun {
        id,
        label,
        began: _,
        ended: _,
        command,
        version,
        machine,
        noise,
        power_source,
        price,
        measurements: _,
    } = run;
    if id.len() != 32 || !id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(format!("id: expected 32 hexadecimal digits in lower case, found {:?}", short(id)));
    }
    if label.trim().is_empty() {
        return Err("label: expected a name, found none".to_owned());
    }
    text("label", label)?;
    texts("command", command)?;
    text("version", version)?;
    check_machine(machine)?;
    check_noise(noise)?;
    optional("power_source", power_source.as_deref())?;
    if let Some(price) = price {
        text("price.source", &price.source)?;
        positive("price.dollars_per_hour", price.dollars_per_hour, LONG)?;
    }
    Ok(())
}

/// Checks a measurement.
///
/// # Errors
/// As [`check`].
pub fn check_measurement(measurement: &Measurement) -> Result<(), String> {
    let Measurement { row, version, ended: _, outcome } = measurement;
    present("row.family", Some(&row.family))?;
    present("row.benchmark", Some(&row.benchmark))?;
    present("row.implementation", Some(&row.implementation))?;
    if let Some(size) = row.size {
        whole("row.size", size)?;
    }
    if row.threads == 0 || row.threads > THREADS {
        return Err(format!("row.threads: expected 1 to {THREADS}, found {}", row.threads));
    }
    present("version", version.as_deref())?;
    match outcome {
        RowOutcome::Measured(figures) => check_figures(figures),
        RowOutcome::Checked { answer: words }
        | RowOutcome::Absent { remedy: words }
        | RowOutcome::Failed { reason: words } => text("outcome", words),
    }
}

/// Checks the noise of a run.
///
/// # Errors
/// As [`check`].
pub fn check_noise(noise: &Noise) -> Result<(), String> {
    for (field, share) in
        [("steal", noise.steal), ("others", noise.others), ("frequency_drop", noise.frequency_drop)]
    {
        if let Some(share) = share
            && !(share.is_finite() && share.abs() <= 1e3)
        {
            return Err(format!("noise.{field}: expected a share, found {share}"));
        }
    }
    texts("noise.warnings", &noise.warnings)
}

fn check_machine(machine: &MachineFacts) -> Result<(), String> {
    let MachineFacts {
        cpu,
        architecture,
        compiler,
        microarchitecture,
        system,
        kernel,
        hypervisor,
        instance,
        ..
    } = machine;
    for (field, value) in
        [("machine.cpu", cpu), ("machine.architecture", architecture), ("machine.compiler", compiler)]
    {
        text(field, value)?;
    }
    for value in [microarchitecture, system, kernel, hypervisor, instance] {
        optional("machine", value.as_deref())?;
    }
    texts("machine.features", &machine.features)?;
    texts("machine.levels", &machine.levels)?;
    items("machine.caches", machine.caches.len(), ITEMS)?;
    for cache in &machine.caches {
        text("machine.caches.kind", &cache.kind)?;
        whole("machine.caches.bytes", cache.bytes)?;
    }
    for hertz in [machine.measured_hertz, machine.advertised_hertz].into_iter().flatten() {
        positive("machine's hertz", hertz, MUCH)?;
    }
    whole("machine.vector_bits", machine.vector_bits.unwrap_or_default().into())?;
    whole("machine.memory", machine.memory.unwrap_or_default())
}

fn check_figures(figures: &Figures) -> Result<(), String> {
    let Figures {
        seconds,
        clock: _,
        amount,
        unit,
        answer,
        cycles,
        instructions,
        phases,
        peak_memory,
        bytes_out,
        watts,
    } = figures;
    if seconds.is_empty() {
        return Err("seconds: expected a sample, found none".to_owned());
    }
    items("seconds", seconds.len(), SAMPLES)?;
    seconds.iter().try_for_each(|seconds| positive("seconds", *seconds, LONG))?;
    positive("amount", *amount, MUCH)?;
    present("unit", Some(unit))?;
    present("answer", answer.as_deref())?;
    not_negative("cycles", *cycles, MUCH)?;
    not_negative("instructions", *instructions, MUCH)?;
    not_negative("watts", *watts, LONG)?;
    items("phases", phases.len(), ITEMS)?;
    for phase in phases {
        text("phases.name", &phase.name)?;
        not_negative("phases.seconds", Some(phase.seconds), LONG)?;
    }
    whole("peak_memory", peak_memory.unwrap_or_default())?;
    whole("bytes_out", bytes_out.unwrap_or_default())
}

/// Texts are printed in terminals, where control characters could have any effect.
fn text(field: &str, text: &str) -> Result<(), String> {
    items(field, text.len(), TEXT)?;
    match text.chars().find(|c| c.is_control()) {
        Some(c) => Err(format!("{field}: expected text on one line, found the control character {c:?}")),
        None => Ok(()),
    }
}

fn optional(field: &str, value: Option<&str>) -> Result<(), String> {
    value.map_or(Ok(()), |value| text(field, value))
}

/// A value that is present must not be empty: in a table it would look absent.
fn present(field: &str, value: Option<&str>) -> Result<(), String> {
    match value {
        Some("") => Err(format!("{field}: expected a text, found an empty one")),
        value => optional(field, value),
    }
}

fn texts(field: &str, values: &[String]) -> Result<(), String> {
    items(field, values.len(), ITEMS)?;
    values.iter().try_for_each(|value| text(field, value))
}

fn items(field: &str, count: usize, most: usize) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(format!("{field}: expected {most} at most, found {count}")) }
}

fn whole(field: &str, value: u64) -> Result<(), String> {
    if value <= WHOLE { Ok(()) } else { Err(format!("{field}: expected {WHOLE} at most, found {value}")) }
}

fn positive(field: &str, value: f64, most: f64) -> Result<(), String> {
    // Both comparisons are false for NaN.
    if value > 0.0 && value <= most {
        Ok(())
    } else {
        Err(format!("{field}: expected more than 0 and at most {most}, found {value}"))
    }
}

fn not_negative(field: &str, value: Option<f64>, most: f64) -> Result<(), String> {
    match value {
        Some(value) if !(0.0..=most).contains(&value) => {
            Err(format!("{field}: expected 0 to {most}, found {value}"))
        }
        _ => Ok(()),
    }
}

/// The first 40 characters of a text.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Makes `text` pass the check: replaces control characters with spaces and cuts it at [`TEXT`] bytes.
///
/// Applied to output of other programs: their versions and error messages.
pub fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    line[..line.floor_char_boundary(TEXT)].to_owned()
}
