//! `bench machine`.

use proofmill_bench::{
    machine,
    record::{Cache, MachineFacts},
};
use proofmill_console::{Failure, Outcome};
use std::fmt::Write as _;

pub(super) fn run() -> Result<Outcome, Failure> {
    let facts = machine::facts();
    let result = serde_json::to_value(&facts).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(Outcome { text: text(&facts), ..Outcome::done(result) })
}

/// A line for each known fact.
fn text(facts: &MachineFacts) -> String {
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let gigahertz = |hertz: Option<f64>| hertz.map(|hertz| format!("{:.2} GHz", hertz / 1e9));
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let caches: Vec<String> = facts.caches.iter().map(cache).collect();
    let lines = [
        ("CPU", known(&facts.cpu)),
        ("design", facts.microarchitecture.clone()),
        ("architecture", known(&facts.architecture)),
        ("packages", number(facts.sockets)),
        ("cores", number(facts.cores)),
        ("threads", Some(facts.threads.to_string())),
        ("threads of a core", number(facts.threads_per_core)),
        ("caches", known(&caches.join(", "))),
        ("features", known(&facts.features.join(" "))),
        ("levels", known(&facts.levels.join(" "))),
        ("longest vectors", facts.vector_bits.map(|bits| format!("{bits} bits"))),
        ("frequency, measured", gigahertz(facts.measured_hertz)),
        ("frequency, advertised", gigahertz(facts.advertised_hertz)),
        ("memory", facts.memory.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))),
        ("system", facts.system.clone()),
        ("kernel", facts.kernel.clone()),
        ("hypervisor", facts.hypervisor.clone()),
        ("instance", facts.instance.clone()),
        ("compiler", known(&facts.compiler)),
        ("Proofmill", known(env!("CARGO_PKG_VERSION"))),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        // Writing to a string cannot fail.
        let _ = value.map(|value| writeln!(text, "{name:<22} {value}"));
    }
    text
}

/// A cache as `L1 data 48 KiB`, with the number of threads that share it.
fn cache(cache: &Cache) -> String {
    let kibibytes = cache.bytes >> 10;
    let size = match kibibytes {
        large if large >= 1024 && large % 1024 == 0 => format!("{} MiB", large / 1024),
        small => format!("{small} KiB"),
    };
    let kind = if cache.kind == "unified" { String::new() } else { format!(" {}", cache.kind) };
    let shared = if cache.shared_by > 1 { format!(" of {} threads", cache.shared_by) } else { String::new() };
    format!("L{}{kind} {size}{shared}", cache.level)
}
