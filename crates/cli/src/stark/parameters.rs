//! The parameters of the protocol as options.

use clap::Args;
use proofmill::stark::security::{Grinding, InvalidConfiguration, Parameters, SearchError, Shape};
use proofmill_console::Failure;

/// Parameters: a prover and its verifier need the same.
#[derive(Args, Debug)]
pub(crate) struct ParameterOptions {
    /// Take the fewest queries that prove this many bits
    #[arg(long, value_name = "BITS", default_value_t = 100, conflicts_with = "queries")]
    security: u32,
    /// Queries of FRI [default: the fewest for --security]
    #[arg(long, value_name = "COUNT")]
    queries: Option<u32>,
    /// Degree of the extension that challenges are drawn from, 2 or 3
    #[arg(long, value_name = "DEGREE", default_value_t = Parameters::PROVEN_100.extension)]
    extension: u32,
    /// Blowup factor, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = Parameters::PROVEN_100.log_blowup)]
    log_blowup: u32,
    /// Largest arity of FRI's folding rounds, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = Parameters::PROVEN_100.log_arity)]
    log_arity: u32,
    /// Make the proof zero-knowledge: of the trace it tells no more than that there is one
    #[arg(long)]
    zero_knowledge: bool,
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
}

impl ParameterOptions {
    /// The bits of security that proofs must have: none if the number of queries is given.
    pub(super) fn demanded(&self) -> u32 {
        if self.queries.is_some() { 0 } else { self.security }
    }

    /// The parameters for a statement, with as many queries as it needs if they are not given.
    pub(super) fn parameters(&self, digest_bits: u32, shape: &Shape) -> Result<Parameters, Failure> {
        let default = Parameters::PROVEN_100;
        let ground = |site: Option<u32>, default| site.or(self.grinding).unwrap_or(default);
        let parameters = Parameters {
            extension: self.extension,
            log_blowup: self.log_blowup,
            log_arity: self.log_arity,
            log_final_length: self.log_final_length,
            queries: self.queries.unwrap_or(default.queries),
            cap_height: default.cap_height,
            grinding: Grinding {
                lookups: default.grinding.lookups,
                out_of_domain: ground(self.grinding_out_of_domain, default.grinding.out_of_domain),
                batching: ground(self.grinding_batching, default.grinding.batching),
                commit: ground(self.grinding_commit, default.grinding.commit),
                query: ground(self.grinding_query, default.grinding.query),
            },
            random_columns: if self.zero_knowledge { self.extension } else { 0 },
            digest_bits,
        };
        let queries = match self.queries {
            Some(queries) => queries,
            None => parameters.fewest_queries(shape, self.security).map_err(failure)?,
        };
        Ok(Parameters { queries, ..parameters })
    }
}

fn failure(error: SearchError) -> Failure {
    match error {
        SearchError::Invalid(error) => invalid(error),
        error @ SearchError::Unreachable { .. } => Failure::Input(error.to_string()),
    }
}

/// Names the option of a field: `grinding.query` is `--grinding-query`.
pub(super) fn invalid(error: InvalidConfiguration) -> Failure {
    let option = |field: &str| format!("--{}", field.replace(['_', '.'], "-"));
    let expected = error.expected.replace("log_blowup", &option("log_blowup"));
    Failure::Input(format!("{}: expected {expected}, found {}", option(error.field), error.found))
}
