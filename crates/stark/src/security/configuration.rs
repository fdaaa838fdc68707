//! A configuration as plain data.

/// The parameters of the protocol, which do not depend on the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Degree of the extension that challenges are drawn from: 2 or 3.
    pub extension: u32,
    /// Base-2 logarithm of the blowup factor, the inverse rate of the code: at least 1.
    pub log_blowup: u32,
    /// Base-2 logarithm of the largest arity of a folding round. Every round folds by this arity while it can, and the last round folds by
    /// the rest.
    pub log_arity: u32,
    /// Base-2 logarithm of the number of coefficients of the final polynomial, which is sent in clear.
    pub log_final_length: u32,
    /// Number of queries of FRI.
    pub queries: u32,
    /// Number of layers of a tree between its root and its commitment. A commitment has `2^cap_height` digests if the tree has as many
    /// leaves. Security does not depend on it.
    pub cap_height: u32,
    /// Bits of the proofs of work.
    pub grinding: Grinding,
    /// Number of random columns beside every committed matrix of a proof that is zero-knowledge, at least as many as `extension`
    /// (`num_random_codewords` of `HidingFriPcs`). With 0, proofs hide nothing.
    pub random_columns: u32,
    /// Bits of a digest of the Merkle trees, or of the part of the transcript's state that no message writes to (a sponge's capacity),
    /// whichever are fewer. Four elements of Goldilocks count as 256. [`Config::security`](crate::Config::security) counts no more than the
    /// hash has.
    pub digest_bits: u32,
}

/// Bits of proof of work in front of each challenge that has one, in the protocol's order. The names are those of Plonky3 0.9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grinding {
    /// Bits in front of the challenges of lookups (`lookup_proof_of_work_bits`). Without lookups there is no such proof of work.
    pub lookups: u32,
    /// Bits in front of the point out of the domain (`ood_proof_of_work_bits`).
    pub out_of_domain: u32,
    /// Bits in front of the challenge whose powers batch the openings (`batch_proof_of_work_bits`).
    pub batching: u32,
    /// Bits in front of the challenge of every folding round (`commit_proof_of_work_bits`).
    pub commit: u32,
    /// Bits in front of the queries (`query_proof_of_work_bits`).
    pub query: u32,
}

/// The shape of a statement, on which its security depends: the numbers of an AIR and the length of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Base-2 logarithm of the number of rows.
    pub log_rows: u32,
    /// Number of committed columns, preprocessed ones included. Each counts as opened at the point out of the domain and at the next row's
    /// point.
    pub columns: u32,
    /// Number of constraints, which powers of one challenge combine.
    pub constraints: u32,
    /// Largest degree of a constraint in the columns and selectors.
    pub degree: u32,
}

/// The shape of a statement about several tables, on which its security depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TablesShape {
    /// The number of rows of the tallest table, the numbers of columns and constraints of all tables, without columns of lookups, and the
    /// largest degree.
    pub whole: Shape,
    /// Base-2 logarithm of the number of rows of the shortest table.
    pub least_log_rows: u32,
    /// Number of tables.
    pub tables: u32,
    /// Number of chunks of all quotients.
    pub quotient_chunks: u32,
    /// Number of columns of lookups, each of elements of the extension.
    pub lookup_columns: u32,
    /// Number of messages that all rows of all tables look up or offer.
    pub messages: u64,
    /// Largest number of values of a message.
    pub message_width: u32,
}

impl From<&Shape> for TablesShape {
    /// One table without lookups.
    fn from(whole: &Shape) -> Self {
        Self {
            whole: *whole,
            least_log_rows: whole.log_rows,
            tables: 1,
            quotient_chunks: whole.quotient_chunks(),
            lookup_columns: 0,
            messages: 0,
            message_width: 0,
        }
    }
}

impl From<&Self> for TablesShape {
    fn from(shape: &Self) -> Self {
        *shape
    }
}

/// The error of a configuration that has a value out of its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConfiguration {
    /// The field, such as `log_blowup` or `grinding.query`.
    pub field: &'static str,
    /// The values that were expected.
    pub expected: String,
    /// The value that was found.
    pub found: u32,
}

impl std::fmt::Display for InvalidConfiguration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: expected {}, found {}", self.field, self.expected, self.found)
    }
}

impl std::error::Error for InvalidConfiguration {}

/// The base-2 logarithm of the largest domain: Goldilocks has no larger subgroup whose order is a power of two.
const LOG_LARGEST_DOMAIN: u32 = 32;
/// The largest number of columns or constraints, so that sums stay exact.
pub(crate) const MOST: u32 = 1 << 30;
/// The largest degree of a constraint.
pub(crate) const LARGEST_DEGREE: u32 = 1 << 16;
/// The most bits of a proof of work: nobody finds more.
const MOST_GRINDING: u32 = 60;
/// The largest number of random columns beside a matrix.
const MOST_RANDOM_COLUMNS: u32 = 1 << 10;
/// The largest number of queries.
pub(super) const MOST_QUERIES: u32 = 1 << 16;

impl Parameters {
    /// At least 100 proven bits for every shape of 2^6 to 2^24 rows and up to 2^13 columns, 2^16 constraints and degree 9. With fewer rows,
    /// even in one of several tables, there are fewer bits: pad such tables. [`Config`](crate::Config) refuses such proofs.
    ///
    /// The extension is cubic: the quadratic one reaches 100 bits by unique decoding alone, with 102 queries, and never reaches 128 bits.
    /// The blowup is 8: a query counts for 1.47 bits, and constraints of degree 9 fit, such as those of Poseidon2's S-box x^7.
    pub const PROVEN_100: Self = Self {
        extension: 3,
        log_blowup: 3,
        log_arity: 3,
        log_final_length: 0,
        queries: 57,
        cap_height: 4,
        grinding: Grinding { lookups: 0, out_of_domain: 0, batching: 16, commit: 0, query: 16 },
        random_columns: 0,
        digest_bits: 256,
    };

    /// At least 128 proven bits for the same shapes, with a hash whose digests have 256 bits. Such digests allow no more.
    pub const PROVEN_128: Self = Self { queries: 76, ..Self::PROVEN_100 };

    /// Checks every value on its own.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn check(&self) -> Result<(), InvalidConfiguration> {
        let Self {
            extension,
            log_blowup,
            log_arity,
            log_final_length,
            queries,
            cap_height,
            grinding,
            random_columns,
            digest_bits,
        } = *self;
        in_range("extension", extension, 2, 3)?;
        in_range("log_blowup", log_blowup, 1, LOG_LARGEST_DOMAIN)?;
        in_range("log_arity", log_arity, 1, LOG_LARGEST_DOMAIN)?;
        in_range("log_final_length", log_final_length, 0, LOG_LARGEST_DOMAIN)?;
        in_range("queries", queries, 1, MOST_QUERIES)?;
        in_range("cap_height", cap_height, 0, LOG_LARGEST_DOMAIN)?;
        in_range("grinding.lookups", grinding.lookups, 0, MOST_GRINDING)?;
        in_range("grinding.out_of_domain", grinding.out_of_domain, 0, MOST_GRINDING)?;
        in_range("grinding.batching", grinding.batching, 0, MOST_GRINDING)?;
        in_range("grinding.commit", grinding.commit, 0, MOST_GRINDING)?;
        in_range("grinding.query", grinding.query, 0, MOST_GRINDING)?;
        if random_columns > 0 {
            in_range("random_columns", random_columns, extension, MOST_RANDOM_COLUMNS)?;
        }
        in_range("digest_bits", digest_bits, 1, 1024)
    }

    /// [`check`](Self::check), and that challenges are from the extension of degree `degree`.
    pub(crate) fn check_degree(&self, degree: usize) -> Result<(), InvalidConfiguration> {
        self.check()?;
        in_range("extension", self.extension, degree as u32, degree as u32)
    }

    /// Checks that a statement of this shape can be proved with these parameters: every value, the domain's size, and that the
    /// quotient has no more chunks than the blowup factor.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn check_shape(&self, shape: &Shape) -> Result<(), InvalidConfiguration> {
        self.check()?;
        let Shape { log_rows, columns, constraints, degree } = *shape;
        let largest = self.most_log_rows();
        if log_rows > largest {
            let expected = format!("at most {largest} for log_blowup {}", self.log_blowup);
            return Err(InvalidConfiguration { field: "log_rows", expected, found: log_rows });
        }
        in_range("columns", columns, 1, MOST)?;
        in_range("constraints", constraints, 1, MOST)?;
        in_range("degree", degree, 1, LARGEST_DEGREE)?;
        let added = u32::from(self.is_blinded());
        let chunks = Shape { degree: degree + added, ..*shape }.quotient_chunks();
        if u64::from(chunks) > 1 << self.log_blowup {
            let most = (1_u64 << self.log_blowup) + 1 - u64::from(added);
            let expected = format!("at most {most} for log_blowup {}", self.log_blowup);
            return Err(InvalidConfiguration { field: "degree", expected, found: degree });
        }
        Ok(())
    }

    /// The base-2 logarithm of the arity of each folding round, for polynomials of `2^log_coefficients`
    /// [coefficients](Self::log_coefficients).
    pub fn log_arities(&self, log_coefficients: u32) -> impl Iterator<Item = u32> {
        self.log_arities_between(log_coefficients, self.log_final_length)
    }

    /// The base-2 logarithms of the arities of the rounds that shorten a word of `2^from` values to `2^to` values.
    pub(crate) fn log_arities_between(&self, from: u32, to: u32) -> impl Iterator<Item = u32> {
        let (most, mut left) = (self.log_arity.max(1), from.saturating_sub(to));
        std::iter::from_fn(move || {
            let arity = left.min(most);
            left -= arity;
            (arity > 0).then_some(arity)
        })
    }

    /// Whether proofs are zero-knowledge.
    pub fn is_blinded(&self) -> bool {
        self.random_columns > 0
    }

    /// These parameters with as many random columns as a zero-knowledge proof needs.
    #[must_use]
    pub fn blinded(self) -> Self {
        Self { random_columns: self.extension, ..self }
    }

    /// Base-2 logarithm of the number of coefficients of the polynomials that are committed to for `2^log_rows` rows. With blinding, there
    /// are twice as many coefficients.
    pub fn log_coefficients(&self, log_rows: u32) -> u32 {
        log_rows + u32::from(self.is_blinded())
    }

    /// Base-2 logarithm of the number of values of these polynomials that are committed to.
    pub fn log_height(&self, log_rows: u32) -> u32 {
        self.log_coefficients(log_rows) + self.log_blowup
    }

    /// Base-2 logarithm of the largest number of rows of a trace.
    pub(crate) fn most_log_rows(&self) -> u32 {
        LOG_LARGEST_DOMAIN.saturating_sub(self.log_height(0))
    }

    /// Base-2 logarithm of the least number of rows of a trace. There are more rows than the final polynomial has coefficients, unless that
    /// polynomial has one coefficient. Blinding can need [more rows](Self::least_blinded_log_rows).
    pub fn least_log_rows(&self) -> u32 {
        let least = if self.log_final_length == 0 { 0 } else { self.log_final_length + 1 };
        least.max(self.least_blinded_log_rows())
    }

    /// Base-2 logarithm of the least number of rows that can be blinded: twice the number of known values of a column. A value at a point
    /// counts once for each of its coordinates. It is the limit of Plonky3 for two points.
    pub fn least_blinded_log_rows(&self) -> u32 {
        let known = u64::from(self.queries) + POINTS * u64::from(self.extension);
        if self.is_blinded() { (2 * known).next_power_of_two().ilog2() } else { 0 }
    }

    /// Base-2 logarithm of the number of digests of a commitment to `2^log_rows` rows.
    pub fn log_cap(&self, log_rows: u32) -> u32 {
        self.cap_height.min(log_rows)
    }

    /// The largest number of openings that are batched: of columns at two points, and of every coordinate of the quotients' chunks at one
    /// point.
    pub fn openings(&self, shape: impl Into<TablesShape>) -> u64 {
        let TablesShape { whole, tables, quotient_chunks, lookup_columns, .. } = shape.into();
        let [columns, tables, lookup_columns, chunks, degree, random] =
            [whole.columns, tables, lookup_columns, quotient_chunks, self.extension, self.random_columns]
                .map(u64::from);
        let openings = POINTS * (columns + degree * lookup_columns) + degree * chunks;
        if !self.is_blinded() {
            return openings;
        }
        // Random columns are beside the trace, lookups and chunks of each table, and the table's random polynomials.
        openings + tables * degree + random * (tables * (2 * POINTS + 1) + chunks)
    }

    /// The shape of the polynomials that are committed to for a statement of this shape. With blinding, they have no more coefficients, and
    /// no larger degrees, than those of a statement of the returned shape without blinding.
    pub(super) fn committed(&self, shape: &TablesShape) -> TablesShape {
        let TablesShape { whole, quotient_chunks, .. } = *shape;
        if !self.is_blinded() {
            return *shape;
        }
        let [log_rows, least_log_rows] =
            [whole.log_rows, shape.least_log_rows].map(|log_rows| self.log_coefficients(log_rows));
        // With blinding, degree d takes as many chunks as degree d + 1 takes without, and each of these in two halves. That is at most four
        // times the number of chunks without blinding.
        let degree = whole.degree + 1;
        TablesShape {
            whole: Shape { log_rows, degree, ..whole },
            least_log_rows,
            quotient_chunks: quotient_chunks.saturating_mul(4),
            ..*shape
        }
    }
}

impl Default for Parameters {
    /// [`Self::PROVEN_100`].
    fn default() -> Self {
        Self::PROVEN_100
    }
}

/// The number of points at which a column is opened: one out of the domain, and the next row's.
pub(super) const POINTS: u64 = 2;

impl Shape {
    /// The number of chunks of the quotient, a power of two. Each chunk has as many coefficients as there are rows.
    pub fn quotient_chunks(&self) -> u32 {
        (self.degree.max(2) - 1).checked_next_power_of_two().unwrap_or(u32::MAX)
    }
}

pub(super) fn in_range(
    field: &'static str,
    found: u32,
    least: u32,
    most: u32,
) -> Result<(), InvalidConfiguration> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
    Err(InvalidConfiguration { field, expected, found })
}
