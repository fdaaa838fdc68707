//! `stark`: what is proven of a STARK's configuration.

use crate::files::Files;
use clap::{Args, Subcommand};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_stark::security::{
    Grinding, InvalidConfiguration, Parameters, Regime, RegimeReport, Report, SearchError, Shape, Term,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

#[derive(Debug, Subcommand)]
pub(crate) enum StarkCommand {
    /// Show how many bits of security are proven for a configuration, round by round, or find the fewest queries for it
    #[command(after_help = "Examples:
  proofmill stark security
  proofmill stark security --security 128
  proofmill stark security --log-rows 22 --columns 2633 --constraints 3000 --queries 60
  proofmill stark security --extension 2 --log-blowup 1 --grinding 20 --json

A DEEP-ALI STARK over Goldilocks whose openings are batched by powers of one challenge and tested by FRI. Each column of the table has the bits that one bound proves: its least row is its total, and the better column counts. Only theorems are used, not the conjecture up to capacity, which is refuted. docs/stark.md has every formula.")]
    Security(Box<Security>),
}

#[derive(Args, Debug)]
pub(crate) struct Security {
    /// Find the fewest queries for this many bits
    #[arg(long, value_name = "BITS", default_value_t = 100, conflicts_with = "queries")]
    security: u32,
    /// Queries of FRI [default: the fewest for --security]
    #[arg(long, value_name = "COUNT")]
    queries: Option<u32>,
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
    /// Degree of the extension that challenges are drawn from, 2 or 3
    #[arg(long, value_name = "DEGREE", default_value_t = Parameters::PROVEN_100.extension)]
    extension: u32,
    /// Blowup factor, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = Parameters::PROVEN_100.log_blowup)]
    log_blowup: u32,
    /// Largest arity of FRI's folding rounds, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = Parameters::PROVEN_100.log_arity)]
    log_arity: u32,
    /// Coefficients of FRI's final polynomial, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = Parameters::PROVEN_100.log_final_length)]
    log_final_length: u32,
    /// Bits of proof of work in front of each challenge below [default: 16 for batching and queries, 0 for others]
    #[arg(long, value_name = "BITS")]
    grinding: Option<u32>,
    /// Bits of proof of work in front of the point out of the domain [default: --grinding]
    #[arg(long, value_name = "BITS")]
    grinding_out_of_domain: Option<u32>,
    /// Bits of proof of work in front of the challenge that batches openings [default: --grinding]
    #[arg(long, value_name = "BITS")]
    grinding_batching: Option<u32>,
    /// Bits of proof of work in front of every folding challenge of FRI [default: --grinding]
    #[arg(long, value_name = "BITS")]
    grinding_commit: Option<u32>,
    /// Bits of proof of work in front of the queries [default: --grinding]
    #[arg(long, value_name = "BITS")]
    grinding_query: Option<u32>,
    /// Bits of a digest of the hash; four elements of Goldilocks count as 256
    #[arg(long, value_name = "BITS", default_value_t = Parameters::PROVEN_100.digest_bits)]
    digest_bits: u32,
}

impl StarkCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Security(_) => "stark security",
        }
    }

    pub(crate) fn files(&self) -> Files<'_> {
        match self {
            Self::Security(_) => Files::default(),
        }
    }
}

pub(crate) fn run(command: StarkCommand, _: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        StarkCommand::Security(security) => security.run(),
    }
}

impl Security {
    fn shape(&self) -> Shape {
        let &Self { log_rows, columns, constraints, degree, .. } = self;
        Shape { log_rows, columns, constraints, degree }
    }

    /// The parameters, with those queries that are given or else those of the default.
    fn parameters(&self) -> Parameters {
        let default = Parameters::PROVEN_100;
        let ground = |site: Option<u32>, default| site.or(self.grinding).unwrap_or(default);
        Parameters {
            extension: self.extension,
            log_blowup: self.log_blowup,
            log_arity: self.log_arity,
            log_final_length: self.log_final_length,
            queries: self.queries.unwrap_or(default.queries),
            cap_height: default.cap_height,
            grinding: Grinding {
                out_of_domain: ground(self.grinding_out_of_domain, default.grinding.out_of_domain),
                batching: ground(self.grinding_batching, default.grinding.batching),
                commit: ground(self.grinding_commit, default.grinding.commit),
                query: ground(self.grinding_query, default.grinding.query),
            },
            digest_bits: self.digest_bits,
        }
    }

    fn run(&self) -> Result<Outcome, Failure> {
        let (mut parameters, shape) = (self.parameters(), self.shape());
        if self.queries.is_none() {
            parameters.queries = parameters.fewest_queries(&shape, self.security).map_err(failure)?;
        }
        let report = parameters.security(&shape).map_err(invalid)?;
        let text = format!("{}\n{}", configuration(&parameters, &shape), table(&report));
        Ok(Outcome { text, ..Outcome::done(result(&parameters, &shape, &report)) })
    }
}

fn failure(error: SearchError) -> Failure {
    match error {
        SearchError::Invalid(error) => invalid(error),
        error @ SearchError::Unreachable { .. } => Failure::Input(error.to_string()),
    }
}

/// Names the option of a field: `grinding.query` is `--grinding-query`.
fn invalid(error: InvalidConfiguration) -> Failure {
    let option = |field: &str| format!("--{}", field.replace(['_', '.'], "-"));
    let expected = error.expected.replace("log_blowup", &option("log_blowup"));
    Failure::Input(format!("{}: expected {expected}, found {}", option(error.field), error.found))
}

fn configuration(parameters: &Parameters, shape: &Shape) -> String {
    let Parameters { extension, log_blowup, queries, grinding, digest_bits, .. } = parameters;
    let Shape { log_rows, columns, constraints, degree } = shape;
    let openings = parameters.openings(shape);
    let arities: Vec<String> =
        parameters.log_arities(*log_rows).map(|log_arity| (1_u64 << log_arity).to_string()).collect();
    let arities = if arities.is_empty() { "none".to_owned() } else { arities.join(" ") };
    let Grinding { out_of_domain, batching, commit, query } = grinding;
    format!(
        "trace        2^{log_rows} rows, {columns} columns, {constraints} constraints of degree {degree}, {openings} openings
field        Goldilocks, extension of degree {extension}
FRI          blowup 2^{log_blowup}, folds {arities}, {queries} queries
grinding     {out_of_domain} out of domain, {batching} batching, {commit} folds, {query} queries
digest       {digest_bits} bits
"
    )
}

/// Bits with one decimal, rounded down: never more than is proven.
fn rounded(bits: f64) -> String {
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
        extension, log_blowup, log_arity, log_final_length, queries, grinding, digest_bits, ..
    } = parameters;
    let Grinding { out_of_domain, batching, commit, query } = grinding;
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
