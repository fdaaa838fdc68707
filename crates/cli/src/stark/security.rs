//! `stark security`: the proven security of a STARK's configuration.

use super::parameters::{ParameterOptions, invalid};
use clap::Args;
use proofmill::stark::security::{Grinding, Parameters, Regime, RegimeReport, Report, Shape, Term};
use proofmill_console::{Failure, Outcome};
use serde_json::{Value, json};
use std::fmt::Write as _;

#[derive(Args, Debug)]
pub(crate) struct Security {
    #[command(flatten)]
    parameters: ParameterOptions,
    /// Rows of the trace, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = 20)]
    log_rows: u32,
    /// Columns that are committed to, preprocessed ones included
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    columns: u32,
    /// Constraints
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    constraints: u32,
    /// Largest degree of a constraint in columns and selectors
    #[arg(long, value_name = "DEGREE", default_value_t = 3)]
    degree: u32,
    /// Bits of a digest of the hash; four elements of Goldilocks count as 256
    #[arg(long, value_name = "BITS", default_value_t = Parameters::PROVEN_100.digest_bits)]
    digest_bits: u32,
}

impl Security {
    fn shape(&self) -> Shape {
        let &Self { log_rows, columns, constraints, degree, .. } = self;
        Shape { log_rows, columns, constraints, degree }
    }

    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let shape = self.shape();
        let parameters = self.parameters.parameters(self.digest_bits, &shape)?;
        let report = parameters.security(&shape).map_err(invalid)?;
        let text = format!("{}\n{}", configuration(&parameters, &shape), table(&report));
        Ok(Outcome { text, ..Outcome::done(result(&parameters, &shape, &report)) })
    }
}

fn configuration(parameters: &Parameters, shape: &Shape) -> String {
    let Parameters { extension, log_blowup, queries, grinding, random_columns, digest_bits, .. } = parameters;
    let blinding = match random_columns {
        0 => "none: the proof is not zero-knowledge".to_owned(),
        columns => format!("{columns} random columns, twice the rows"),
    };
    let Shape { log_rows, columns, constraints, degree } = shape;
    let openings = parameters.openings(shape);
    let arities: Vec<String> = parameters
        .log_arities(parameters.log_coefficients(*log_rows))
        .map(|log_arity| (1_u64 << log_arity).to_string())
        .collect();
    let arities = if arities.is_empty() { "none".to_owned() } else { arities.join(" ") };
    let Grinding { lookups: _, out_of_domain, batching, commit, query } = grinding;
    format!(
        "trace        2^{log_rows} rows, {columns} columns, {constraints} constraints of degree {degree}, {openings} openings
field        Goldilocks, extension of degree {extension}
FRI          blowup 2^{log_blowup}, folds {arities}, {queries} queries
grinding     {out_of_domain} out of domain, {batching} batching, {commit} folds, {query} queries
digest       {digest_bits} bits
blinding     {blinding}
"
    )
}

/// Bits with one decimal, rounded down, so that no more is claimed than proven.
pub(super) fn rounded(bits: f64) -> String {
    format!("{:.1}", (bits * 10.0).floor() / 10.0)
}

/// The terms by regime.
fn table(report: &Report) -> String {
    let cell = |regime: &Option<RegimeReport>, text: &dyn Fn(&RegimeReport) -> String| {
        regime.as_ref().map_or("-".to_owned(), text)
    };
    let mut table = format!("{:<14} {:>15} {:>9}\n", "bits", "unique decoding", "Johnson");
    let mut row = |name: &str, text: &dyn Fn(&RegimeReport) -> String| {
        let [unique, johnson] = [&report.unique_decoding, &report.johnson].map(|regime| cell(regime, text));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name:<14} {unique:>15} {johnson:>9}");
    };
    let rounds = report.best().map_or(&[][..], |best| &best.terms);
    for (index, Term { round, .. }) in rounds.iter().enumerate() {
        row(&round.to_string(), &|regime| rounded(regime.terms[index].bits));
    }
    row("total", &|regime| rounded(regime.bits()));
    let _ = match report.best() {
        Some(best) => {
            let regime = match best.regime {
                Regime::UniqueDecoding => "unique decoding".to_owned(),
                Regime::Johnson { m } => format!("the Johnson bound (m = {m})"),
            };
            let (bits, round) = (rounded(best.bits()), best.binding().round);
            let remedy = round.remedy();
            writeln!(
                table,
                "\n{bits} bits are proven by {regime}.\nThe binding term is `{round}`; {remedy} would raise it."
            )
        }
        None => writeln!(table, "\nNothing is proven: the trace has too few rows."),
    };
    table
}

fn result(parameters: &Parameters, shape: &Shape, report: &Report) -> Value {
    let Parameters {
        extension,
        log_blowup,
        log_arity,
        log_final_length,
        queries,
        grinding,
        random_columns,
        digest_bits,
        ..
    } = parameters;
    let Grinding { lookups: _, out_of_domain, batching, commit, query } = grinding;
    let Shape { log_rows, columns, constraints, degree } = shape;
    let term = |term: &Term| json!({ "round": term.round.to_string(), "bits": term.bits });
    let regime = |report: &RegimeReport| {
        let m = match report.regime {
            Regime::UniqueDecoding => None,
            Regime::Johnson { m } => Some(m),
        };
        json!({
            "bits": report.bits(),
            "binding": report.binding().round.to_string(),
            "m": m,
            "terms": report.terms.iter().map(term).collect::<Vec<_>>(),
        })
    };
    json!({
        "parameters": {
            "extension": extension, "log_blowup": log_blowup, "log_arity": log_arity,
            "log_final_length": log_final_length, "queries": queries, "digest_bits": digest_bits,
            "random_columns": random_columns,
            "grinding": {
                "out_of_domain": out_of_domain, "batching": batching, "commit": commit, "query": query,
            },
        },
        "shape": {
            "log_rows": log_rows, "columns": columns, "constraints": constraints, "degree": degree,
            "openings": parameters.openings(shape),
        },
        "bits": report.bits(),
        "binding": report.best().map(|best| best.binding().round.to_string()),
        "unique_decoding": report.unique_decoding.as_ref().map(regime),
        "johnson": report.johnson.as_ref().map(regime),
    })
}
