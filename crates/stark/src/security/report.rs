//! The bits of every round, and of a configuration.

use super::{
    InvalidConfiguration, Parameters, TablesShape,
    bounds::{Bounds, LARGEST_M, LEAST_M, Regime},
    configuration::{MOST_QUERIES, in_range},
};
use std::fmt;

/// A round of the protocol, or the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// The challenges that make fractions of messages (LogUp).
    Lookups,
    /// The challenge whose powers combine the constraints (ALI).
    Constraints,
    /// The point out of the domain (DEEP).
    OutOfDomain,
    /// The challenge whose powers batch the openings.
    Batching,
    /// A folding round of FRI, numbered from 1.
    Fold(u32),
    /// The queries of FRI.
    Queries,
    /// Collisions of the hash: they have half as many bits as a digest.
    Hash,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lookups => f.write_str("lookups"),
            Self::Constraints => f.write_str("constraints"),
            Self::OutOfDomain => f.write_str("out of domain"),
            Self::Batching => f.write_str("batching"),
            Self::Fold(round) => write!(f, "fold {round}"),
            Self::Queries => f.write_str("queries"),
            Self::Hash => f.write_str("hash"),
        }
    }
}

impl Round {
    /// The changes that raise the bits of this round.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Lookups => "a larger extension, more grinding in front of lookups, or fewer of them",
            Self::Constraints => "a larger extension, or fewer constraints",
            Self::OutOfDomain => {
                "a larger extension, or more grinding in front of the point out of the domain"
            }
            Self::Batching => {
                "a larger extension, more grinding in front of batching, or fewer rows or columns"
            }
            Self::Fold(_) => "a larger extension, more grinding in front of folds, or fewer rows",
            Self::Queries => "more queries, more grinding in front of them, or a larger blowup",
            Self::Hash => "a longer digest",
        }
    }
}

/// The security of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The round.
    pub round: Round,
    /// `-log2` of the error plus the bits of the proof of work; not below 0.
    pub bits: f64,
}

/// The rounds in one regime, in the protocol's order.
#[derive(Clone, Debug, PartialEq)]
pub struct RegimeReport {
    /// The regime.
    pub regime: Regime,
    /// The rounds, then the hash.
    pub terms: Vec<Term>,
}

impl RegimeReport {
    fn new(bounds: &Bounds<'_>) -> Self {
        let term = |round, bits: f64| Term { round, bits: bits.max(0.0) };
        let mut terms: Vec<_> = bounds.lookups().map(|bits| term(Round::Lookups, bits)).into_iter().collect();
        terms.extend([
            term(Round::Constraints, bounds.constraints()),
            term(Round::OutOfDomain, bounds.out_of_domain()),
            term(Round::Batching, bounds.batching()),
        ]);
        terms.extend((1..).zip(bounds.folds()).map(|(round, bits)| term(Round::Fold(round), bits)));
        terms.push(term(Round::Queries, bounds.queries()));
        terms.push(term(Round::Hash, f64::from(bounds.parameters.digest_bits) / 2.0));
        Self { regime: bounds.regime, terms }
    }

    /// The bits of this regime: the bits of its binding term.
    pub fn bits(&self) -> f64 {
        self.binding().bits
    }

    /// The term with the fewest bits; of several, the first.
    pub fn binding(&self) -> Term {
        let least = self.terms.iter().min_by(|a, b| a.bits.total_cmp(&b.bits));
        *least.expect("the hash is always a term")
    }
}

/// The proven security of a configuration. A regime whose theorems do not apply is `None`: the trace is too short for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// By unique decoding.
    pub unique_decoding: Option<RegimeReport>,
    /// By the Johnson bound.
    pub johnson: Option<RegimeReport>,
}

impl Report {
    /// The regime that proves more.
    pub fn best(&self) -> Option<&RegimeReport> {
        let regimes = [&self.unique_decoding, &self.johnson];
        regimes.into_iter().flatten().max_by(|a, b| a.bits().total_cmp(&b.bits()))
    }

    /// The proven bits: the bits of the better regime.
    pub fn bits(&self) -> f64 {
        self.best().map_or(0.0, RegimeReport::bits)
    }
}

/// Why no number of queries was found.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchError {
    /// A value out of its range.
    Invalid(InvalidConfiguration),
    /// No number of queries gives the wanted security.
    Unreachable {
        /// The bits that were wanted.
        wanted: u32,
        /// The term with the fewest bits, however many queries there are; `None` if the trace is too short for any theorem.
        binding: Option<Term>,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Unreachable { wanted, binding: Some(Term { round, bits }) } => {
                // Rounded down: never more than is proven.
                let bits = (bits * 10.0).floor() / 10.0;
                let remedy = round.remedy();
                write!(
                    f,
                    "{wanted} bits cannot be proven with any number of queries: {round} has at most {bits:.1} bits; use {remedy}"
                )
            }
            Self::Unreachable { wanted, binding: None } => {
                write!(
                    f,
                    "{wanted} bits cannot be proven: the trace has too few rows; use more, or a larger blowup"
                )
            }
        }
    }
}

impl std::error::Error for SearchError {}

impl From<InvalidConfiguration> for SearchError {
    fn from(error: InvalidConfiguration) -> Self {
        Self::Invalid(error)
    }
}

impl Parameters {
    /// The proven security of statements of this shape.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn security(&self, shape: impl Into<TablesShape>) -> Result<Report, InvalidConfiguration> {
        let shape = &shape.into();
        let unique_decoding = self.security_in(shape, Regime::UniqueDecoding)?;
        let johnson = |m| self.security_in(shape, Regime::Johnson { m });
        // A larger m raises the bits of queries alone, and brings a radius closer to Johnson's, for which a trace can be too short. So the
        // best m is the first for which queries do not bind, or the one before.
        let (mut first, mut last) = (LEAST_M, LARGEST_M);
        while first < last {
            let middle = first.midpoint(last);
            let binds = johnson(middle)?.is_some_and(|report| report.binding().round == Round::Queries);
            (first, last) = if binds { (middle + 1, last) } else { (first, middle) };
        }
        let before = if first > LEAST_M { johnson(first - 1)? } else { None };
        let johnson = match (before, johnson(first)?) {
            (Some(before), Some(next)) if next.bits() > before.bits() => Some(next),
            (before, next) => before.or(next),
        };
        Ok(Report { unique_decoding, johnson })
    }

    /// The security that one regime proves; `None` if its theorems do not apply.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn security_in(
        &self,
        shape: impl Into<TablesShape>,
        regime: Regime,
    ) -> Result<Option<RegimeReport>, InvalidConfiguration> {
        let shape = shape.into();
        self.check_shape(&shape.whole)?;
        in_range("least_log_rows", shape.least_log_rows, 0, shape.whole.log_rows)?;
        let tables = &self.committed(&shape);
        let bounds = Bounds { parameters: self, tables, regime };
        Ok(bounds.apply().then(|| RegimeReport::new(&bounds)))
    }

    /// The fewest queries that prove `wanted` bits, whatever [`Self::queries`] is.
    ///
    /// # Errors
    /// A value out of its range, or no number of queries suffices.
    pub fn fewest_queries(&self, shape: impl Into<TablesShape>, wanted: u32) -> Result<u32, SearchError> {
        let shape = &shape.into();
        let security = |queries| Self { queries, ..*self }.security(shape);
        let most = security(MOST_QUERIES)?;
        if most.bits() < f64::from(wanted) {
            return Err(SearchError::Unreachable { wanted, binding: most.best().map(RegimeReport::binding) });
        }
        // Bits do not fall as queries rise. `low` queries do not suffice, `high` do.
        let (mut low, mut high) = (0, MOST_QUERIES);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *if security(middle)?.bits() < f64::from(wanted) { &mut low } else { &mut high } = middle;
        }
        Ok(high)
    }
}
