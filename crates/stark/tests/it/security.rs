//! Proven security against Plonky3's calculator and the Ethereum Foundation's published figures, known answers, limits.

use p3_security::{
    GrindingSites, InstanceShape, SecurityAssumption, StarkAirParams,
    air::composition_error,
    deep::deep_ali_error,
    fri::{FriRegime, commit_phase_error_ldr_m, commit_phase_error_udr, query_phase_error},
    proximity::{alpha_ldr_m, alpha_udr, list_size_ldr_m},
    stark::proven_security_report,
};
use proofmill_stark::security::{
    Grinding, InvalidConfiguration, Parameters, Regime, RegimeReport, Report, Round, SearchError, Shape,
    TablesShape,
};

const SHAPE: Shape = Shape { log_rows: 20, columns: 97, constraints: 100, degree: 3 };
/// The largest shape that the constants promise security for.
const LARGEST: Shape = Shape { log_rows: 24, columns: 1 << 13, constraints: 1 << 16, degree: 9 };

fn security(parameters: &Parameters, shape: &Shape) -> Report {
    parameters.security(shape).unwrap()
}

fn at(report: &RegimeReport, round: Round) -> f64 {
    report.terms.iter().find(|term| term.round == round).unwrap().bits
}

#[track_caller]
fn near(left: f64, right: f64, tolerance: f64, what: impl std::fmt::Debug) {
    assert!((left - right).abs() <= tolerance, "{left} and {right}: {what:?}");
}

/// Configurations: every extension, blowup and arity with short, medium and long traces, narrow and wide.
fn grid() -> Vec<(Parameters, Shape)> {
    let mut grid = Vec::new();
    for extension in [2, 3] {
        for log_blowup in [1, 2, 3, 4, 6] {
            for (log_arity, log_final_length) in [(1, 0), (2, 0), (3, 0), (3, 4), (4, 2)] {
                for log_rows in [1, 2, 4, 7, 12, 16, 20, 24, 26] {
                    for (columns, constraints, degree) in [(1, 1, 1), (97, 100, 3), (2633, 3000, 2)] {
                        if degree - 1 > 1 << log_blowup {
                            continue;
                        }
                        let parameters = Parameters {
                            extension,
                            log_blowup,
                            log_arity,
                            log_final_length,
                            queries: 20 + 7 * (log_rows + log_arity),
                            grinding: Grinding {
                                lookups: 0,
                                out_of_domain: log_arity,
                                batching: log_rows,
                                commit: log_blowup,
                                query: 16,
                            },
                            digest_bits: 256,
                            ..Parameters::PROVEN_100
                        };
                        grid.push((parameters, Shape { log_rows, columns, constraints, degree }));
                    }
                }
            }
        }
    }
    grid
}

/// A configuration as Plonky3's calculator takes it.
struct Oracle {
    fri: FriRegime,
    air: StarkAirParams,
    shape: InstanceShape,
    grinding: GrindingSites,
}

impl Oracle {
    fn new(parameters: &Parameters, shape: &Shape) -> Self {
        let Parameters {
            extension,
            log_blowup,
            log_arity,
            log_final_length,
            queries,
            grinding,
            digest_bits,
            ..
        } = *parameters;
        Self {
            fri: FriRegime {
                log_blowup: log_blowup as usize,
                num_queries: queries as usize,
                log_final_poly_len: log_final_length as usize,
                max_log_arity: log_arity as usize,
                commit_pow_bits: grinding.commit as usize,
                query_pow_bits: grinding.query as usize,
            },
            air: StarkAirParams {
                num_constraints: shape.constraints as usize,
                max_constraint_degree: shape.degree as usize,
                num_quotient_chunks: shape.quotient_chunks() as usize,
                max_combo: 2,
            },
            shape: InstanceShape {
                log_trace_length: shape.log_rows as usize,
                modulus_bits: 64 * extension as usize,
                collision_resistance: digest_bits as usize / 2,
                num_batched_functions: parameters.openings(shape) as usize,
            },
            grinding: GrindingSites {
                out_of_domain: grinding.out_of_domain as usize,
                batch_combination: grinding.batching as usize,
                lookup_challenge: 0,
            },
        }
    }

    fn batching(&self, m: Option<u32>) -> f64 {
        let (rows, blowup, bits, count) = (
            self.shape.log_trace_length,
            self.fri.log_blowup,
            self.shape.modulus_bits,
            self.shape.num_batched_functions,
        );
        self.grinding.batch_combination as f64
            + match m {
                Some(m) => SecurityAssumption::prox_gaps_error_jb_at_m(rows, blowup, bits, count, m as usize),
                None => SecurityAssumption::UniqueDecoding.prox_gaps_error(rows, blowup, bits, count),
            }
    }

    fn out_of_domain(&self, list_size: f64) -> f64 {
        deep_ali_error(&self.air, &self.shape, list_size).bits() + self.grinding.out_of_domain as f64
    }
}

/// Plonky3 counts the field as 2^64; that is 1.0e-9 bits of a cube.
const FIELD: f64 = 2e-9;

#[test]
fn unique_decoding_is_plonky3s_but_for_folds() {
    for (parameters, shape) in grid() {
        let what = (parameters, shape);
        let Some(ours) = security(&parameters, &shape).unique_decoding else {
            let reach = alpha_udr(shape.log_rows as usize, parameters.log_blowup as usize, 2);
            assert!(reach >= 1.0, "{what:?}");
            continue;
        };
        let oracle = Oracle::new(&parameters, &shape);
        let constraints = composition_error(oracle.air.num_constraints, 1.0, oracle.shape.modulus_bits);
        near(at(&ours, Round::Constraints), constraints.bits(), FIELD, what);
        near(at(&ours, Round::OutOfDomain), oracle.out_of_domain(1.0), FIELD, what);
        near(at(&ours, Round::Batching), oracle.batching(None), FIELD, what);
        let agreement = alpha_udr(shape.log_rows as usize, parameters.log_blowup as usize, 2);
        let queries =
            query_phase_error(agreement, parameters.queries as usize, parameters.grinding.query as usize);
        near(at(&ours, Round::Queries), queries.bits(), 1e-9, what);
        near(at(&ours, Round::Hash), 128.0, 0.0, what);
        // Plonky3 counts n + 1 points of the word that is folded; the folded word has n / arity.
        let arity = parameters.log_arities(shape.log_rows).next().unwrap_or(0);
        if arity == parameters.log_arity {
            let points = f64::from(shape.log_rows + parameters.log_blowup).exp2();
            let fold = commit_phase_error_udr(&oracle.fri, &oracle.shape).unwrap().bits();
            let difference = f64::from(arity) + (1.0 / points).ln_1p() / std::f64::consts::LN_2;
            near(at(&ours, Round::Fold(1)), fold + difference, FIELD, what);
        }
        let theirs = proven_security_report(&oracle.fri, &oracle.air, &oracle.shape, &[], &oracle.grinding);
        let theirs = theirs.udr.security_bits();
        // It gives up on traces that leave no room between the rate and the radius.
        if theirs > 0.0 {
            assert!(ours.bits() >= theirs - FIELD, "{what:?}");
            assert!(
                matches!(ours.binding().round, Round::Fold(_)) || ours.bits() <= theirs + 4.0,
                "{what:?}"
            );
        }
    }
}

/// Plonky3 uses a newer theorem (eprint 2026/2056) for correlated agreement; the other terms are the same.
#[test]
fn johnsons_terms_are_plonky3s_but_for_the_theorem() {
    let mut compared = 0;
    for (parameters, shape) in grid() {
        let oracle = Oracle::new(&parameters, &shape);
        for m in [3, 4, 10, 67, 1000] {
            let what = (parameters, shape, m);
            let Some(ours) = parameters.security_in(&shape, Regime::Johnson { m }).unwrap() else { continue };
            compared += 1;
            let list_size = list_size_ldr_m(parameters.log_blowup as usize, m as usize);
            let constraints =
                composition_error(oracle.air.num_constraints, list_size, oracle.shape.modulus_bits).bits();
            let lost = constraints - at(&ours, Round::Constraints);
            // Close to the least number of rows for this m, lists are longer than Plonky3 counts.
            let rows = f64::from(shape.log_rows).exp2();
            let long_lists = rows < 64.0 * f64::from(m);
            assert!(lost > -FIELD && (lost < 2.0 * FIELD || long_lists), "{lost}: {what:?}");
            near(at(&ours, Round::OutOfDomain) + lost, oracle.out_of_domain(list_size), FIELD, what);
            let agreement = alpha_ldr_m(parameters.log_blowup as usize, m as usize);
            let queries =
                query_phase_error(agreement, parameters.queries as usize, parameters.grinding.query as usize);
            near(at(&ours, Round::Queries), queries.bits(), 1e-9, what);

            // By (2 t^5 + 3 t (1 - alpha) r) / (3 r^1.5) + t / (n sqrt(r)), not 8 t^3 / (3 r), for each point.
            let points = f64::from(shape.log_rows + parameters.log_blowup).exp2();
            let (t, rate) = (f64::from(m) + 0.5, (rows - 1.0) / points);
            let weaker = (2.0 * t.powi(5) + 3.0 * t * (1.0 - agreement) * rate) / (3.0 * rate.powf(1.5))
                + t / (points * rate.sqrt());
            let ratio = (weaker / (8.0 * t.powi(3) / (3.0 * rate))).log2();
            assert!(ratio > 2.1, "{ratio}: {what:?}");
            near(at(&ours, Round::Batching) + ratio, oracle.batching(Some(m)), FIELD, what);
            let arity = parameters.log_arities(shape.log_rows).next().unwrap_or(0);
            if arity == parameters.log_arity && shape.log_rows >= arity + 12 {
                let fold = commit_phase_error_ldr_m(&oracle.fri, &oracle.shape, m as usize).unwrap().bits();
                near(at(&ours, Round::Fold(1)) + ratio - f64::from(arity), fold, 0.002, what);
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn no_more_is_proven_than_plonky3_proves() {
    for (parameters, shape) in grid() {
        let oracle = Oracle::new(&parameters, &shape);
        let theirs = proven_security_report(&oracle.fri, &oracle.air, &oracle.shape, &[], &oracle.grinding);
        let ours = security(&parameters, &shape);
        let Some(best) = ours.best() else { continue };
        // In folds, Plonky3 counts the points of the word before it is folded.
        let points = f64::from(shape.log_rows + parameters.log_blowup).exp2();
        let folds = f64::from(parameters.log_arity) + (1.0 / points).ln_1p() / std::f64::consts::LN_2;
        let allowed = theirs.security_bits() + folds + FIELD;
        assert!(best.bits() <= allowed, "{} and {allowed}: {parameters:?} {shape:?}", best.bits());
    }
}

/// A circuit of ZisK 0.16.1, whose figures soundcalc publishes (ethereum/soundcalc 809896f, reports/zisk.md): Goldilocks, cubic.
struct Circuit {
    parameters: Parameters,
    shape: Shape,
    m: u32,
    /// The reported whole bits of ALI, DEEP, batching, folds, queries.
    unique_decoding: &'static [u32],
    johnson: &'static [u32],
}

const ZISK: [Circuit; 4] = [
    // Dma: gap 0.005333
    Circuit {
        parameters: Parameters {
            log_blowup: 1,
            log_final_length: 4,
            queries: 229,
            grinding: Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 16 },
            ..Parameters::PROVEN_100
        },
        shape: Shape { log_rows: 21, columns: 20, constraints: 49, degree: 3 },
        m: 67,
        unique_decoding: &[186, 168, 166, 172, 175, 178, 181, 184, 187, 111],
        johnson: &[179, 161, 133, 138, 141, 144, 147, 150, 154, 128],
    },
    // Keccakf: gap 0.007333
    Circuit {
        parameters: Parameters {
            log_blowup: 1,
            log_final_length: 5,
            queries: 217,
            grinding: Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 23 },
            ..Parameters::PROVEN_100
        },
        shape: Shape { log_rows: 17, columns: 2029, constraints: 2432, degree: 3 },
        m: 49,
        unique_decoding: &[180, 172, 164, 176, 179, 182, 185, 113],
        johnson: &[174, 166, 132, 145, 148, 151, 154, 128],
    },
    // Recursive2: gap 0.004
    Circuit {
        parameters: Parameters {
            log_final_length: 2,
            queries: 73,
            grinding: Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 20 },
            ..Parameters::PROVEN_100
        },
        shape: Shape { log_rows: 17, columns: 60, constraints: 158, degree: 8 },
        m: 45,
        unique_decoding: &[184, 171, 166, 173, 176, 179, 182, 185, 80],
        johnson: &[176, 163, 133, 140, 143, 146, 149, 152, 128],
    },
    // Final: gap 0.003333
    Circuit {
        parameters: Parameters {
            log_blowup: 5,
            log_arity: 4,
            log_final_length: 0,
            queries: 43,
            grinding: Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 22 },
            ..Parameters::PROVEN_100
        },
        shape: Shape { log_rows: 16, columns: 57, constraints: 154, degree: 8 },
        m: 27,
        unique_decoding: &[184, 172, 164, 172, 176, 180, 184, 63],
        johnson: &[175, 163, 133, 140, 144, 148, 152, 128],
    },
];

/// soundcalc rounds down. Of a given gap it takes m = sqrt(rate) / (2 gap) rounded up, and lists of 1 / (2 gap sqrt(rate)); ours are
/// (m + 1/2) / sqrt(rate). Its unique decoding counts theta n + 1 points in place of n. Its circuits open up to one more function.
#[test]
fn published_figures_of_zisk() {
    for Circuit { parameters, shape, m, unique_decoding, johnson } in ZISK {
        for (regime, published) in
            [(Regime::UniqueDecoding, unique_decoding), (Regime::Johnson { m }, johnson)]
        {
            let report = parameters.security_in(&shape, regime).unwrap().unwrap();
            assert_eq!(report.terms.len(), published.len() + 1);
            for (term, published) in report.terms.iter().zip(published) {
                let published = f64::from(*published);
                let (low, high) = match (regime, term.round) {
                    (Regime::UniqueDecoding, Round::Batching | Round::Fold(_)) => (-2.3, 0.1),
                    (Regime::Johnson { .. }, Round::Constraints | Round::OutOfDomain) => {
                        (0.0, 1.0 + 0.5 * f64::from(parameters.log_blowup))
                    }
                    // Words of a few points have a lower rate in the theorem, and constants are counted by pairs of points.
                    (Regime::Johnson { .. }, Round::Fold(4)) if parameters.log_final_length == 0 => {
                        (0.0, 30.0)
                    }
                    (Regime::Johnson { .. }, Round::Fold(_)) => (-0.2, 1.0),
                    _ => (0.0, 1.0),
                };
                let difference = term.bits - published;
                assert!((low..high).contains(&difference), "{term:?}, published {published}: {shape:?}");
            }
        }
    }
}

#[test]
fn defaults_keep_their_promise() {
    for (parameters, bits) in [(Parameters::PROVEN_100, 100.0), (Parameters::PROVEN_128, 128.0)] {
        for log_rows in 6..=24 {
            for (degree, columns) in [(1, 1), (3, 100), (9, 1 << 13)] {
                let shape = Shape { log_rows, degree, columns, ..LARGEST };
                let report = security(&parameters, &shape);
                assert!(report.bits() >= bits, "{}: {shape:?}", report.bits());
                assert!(matches!(report.best().unwrap().regime, Regime::Johnson { .. }));
            }
        }
        assert!(security(&parameters, &Shape { log_rows: 5, ..LARGEST }).bits() < bits);
    }
    assert_eq!(Parameters::default(), Parameters::PROVEN_100);
    assert_eq!(Parameters::PROVEN_100.fewest_queries(&LARGEST, 100), Ok(57));
    assert_eq!(Parameters::PROVEN_128.fewest_queries(&LARGEST, 128), Ok(76));
}

/// Theorem 4.6 of eprint 2025/2055, read as printed, has `m = sqrt(rate) / gap`, twice ours. It costs five bits of batching and
/// folds at most, and the constants have them.
#[test]
fn defaults_hold_under_the_theorem_as_printed() {
    for (parameters, bits) in [(Parameters::PROVEN_100, 100.0), (Parameters::PROVEN_128, 128.0)] {
        let safe = (3..100).any(|m| {
            let report = parameters.security_in(&LARGEST, Regime::Johnson { m }).unwrap().unwrap();
            report.terms.iter().all(|term| match term.round {
                Round::Batching | Round::Fold(_) => term.bits - 5.0 >= bits,
                _ => term.bits >= bits,
            })
        });
        assert!(safe, "{bits}");
    }
}

/// The fewest queries by Plonky3's calculator.
fn fewest_of_plonky3(parameters: &Parameters, shape: &Shape, wanted: u32) -> Option<u32> {
    let enough = |queries: &u32| {
        let oracle = Oracle::new(&Parameters { queries: *queries, ..*parameters }, shape);
        let report = proven_security_report(&oracle.fri, &oracle.air, &oracle.shape, &[], &oracle.grinding);
        report.security_bits() >= f64::from(wanted)
    };
    let (mut low, mut high) = (0, 512);
    if !enough(&high) {
        return None;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        *if enough(&middle) { &mut high } else { &mut low } = middle;
    }
    Some(high)
}

/// Fewest queries for 2^20 rows and 200 openings at arity 8 and blowup 2, 4, 8, 16, by us and by Plonky3's calculator.
#[test]
fn fewest_queries_for_blowups() {
    let fewest = |extension, grinding, bits| {
        let queries = [1, 2, 3, 4].map(|log_blowup| {
            // 200 openings over either extension.
            let shape = Shape { columns: 100 - extension, ..SHAPE };
            let parameters = Parameters { extension, log_blowup, grinding, ..Parameters::PROVEN_100 };
            assert_eq!(parameters.openings(&shape), 200);
            let ours = parameters.fewest_queries(&shape, bits).unwrap_or(0);
            (ours, fewest_of_plonky3(&parameters, &shape, bits).unwrap_or(0))
        });
        (queries.map(|(ours, _)| ours), queries.map(|(_, theirs)| theirs))
    };
    let everywhere = Grinding { lookups: 0, out_of_domain: 20, batching: 20, commit: 20, query: 20 };
    // Its theorem allows a larger m.
    assert_eq!(fewest(2, everywhere, 100), ([182, 88, 59, 44], [165, 82, 55, 42]));
    assert_eq!(fewest(2, everywhere, 128), ([0; 4], [0; 4]));
    let queries_only = Grinding { query: 16, ..Grinding::default() };
    assert_eq!(fewest(2, queries_only, 100), ([0; 4], [0; 4]));
    assert_eq!(fewest(3, queries_only, 100), ([169, 85, 57, 43], [169, 85, 57, 43]));
    assert_eq!(fewest(3, queries_only, 128), ([227, 113, 76, 57], [225, 113, 75, 57]));
    let default = Parameters::default().grinding;
    assert_eq!(fewest(3, default, 100), ([169, 85, 57, 43], [169, 85, 57, 43]));
    assert_eq!(fewest(3, default, 128), ([225, 113, 75, 57], [225, 113, 75, 57]));
}

#[test]
fn what_makes_security_impossible_is_named() {
    let binding = |parameters: &Parameters, shape, wanted| match parameters.fewest_queries(shape, wanted) {
        Err(SearchError::Unreachable { binding, .. }) => binding,
        other => panic!("{other:?}"),
    };
    let ground = |batching| Grinding { batching, ..Parameters::default().grinding };
    let quadratic = Parameters { extension: 2, grinding: ground(0), ..Parameters::default() };
    assert_eq!(binding(&quadratic, &SHAPE, 100).unwrap().round, Round::Batching);
    assert_eq!(
        quadratic.fewest_queries(&SHAPE, 100).unwrap_err().to_string(),
        "100 bits cannot be proven with any number of queries: batching has at most 97.3 bits; use a larger extension, more \
         grinding in front of batching, or fewer rows or columns"
    );
    // By unique decoding; the cubic extension takes 57 queries.
    let quadratic = Parameters { grinding: ground(16), ..quadratic };
    assert_eq!(quadratic.fewest_queries(&SHAPE, 100), Ok(102));
    assert_eq!(binding(&quadratic, &SHAPE, 128).unwrap().round, Round::Fold(1));
    let hash = binding(&Parameters::default(), &SHAPE, 129).unwrap();
    assert_eq!((hash.round, hash.bits), (Round::Hash, 128.0));
    let short = Parameters { digest_bits: 128, ..Parameters::default() };
    assert_eq!(security(&short, &SHAPE).best().unwrap().binding().round, Round::Hash);
    assert_eq!(short.fewest_queries(&SHAPE, 64), Ok(33));
    // Two points of two rows leave no room for errors.
    let tiny = Parameters { log_blowup: 1, ..Parameters::default() };
    let shape = Shape { log_rows: 1, columns: 1, constraints: 1, degree: 1 };
    assert_eq!(security(&tiny, &shape), Report { unique_decoding: None, johnson: None });
    assert_eq!(security(&tiny, &shape).bits(), 0.0);
    assert_eq!(binding(&tiny, &shape, 1), None);
    let failure = tiny.fewest_queries(&shape, 1).unwrap_err();
    assert!(failure.to_string().contains("too few rows"), "{failure}");
}

#[test]
fn security_is_monotone() {
    let base = Parameters::default();
    let bits = |parameters: Parameters, shape: Shape| security(&parameters, &shape).bits();
    let rises = |name: &str, values: Vec<f64>| {
        assert!(values.is_sorted(), "{name}: {values:?}");
        assert!(values.first() < values.last(), "{name}: {values:?}");
    };
    for extension in [2, 3] {
        let base = Parameters { extension, ..base };
        rises("queries", (1..150).map(|queries| bits(Parameters { queries, ..base }, SHAPE)).collect());
    }
    // A larger domain has more exceptional challenges: they do not bind here.
    let blowup = |log_blowup| bits(Parameters { log_blowup, queries: 20, ..base }, SHAPE);
    rises("blowup", (1..7).map(blowup).collect());
    let many = Parameters { queries: 1000, extension: 2, ..base };
    let ground = |grinding| bits(Parameters { grinding, ..many }, SHAPE);
    rises(
        "grinding",
        (0..40).map(|g| ground(Grinding { commit: g, batching: g, ..many.grinding })).collect(),
    );
    let few = Parameters { queries: 30, ..base };
    let query = |query| bits(Parameters { grinding: Grinding { query, ..few.grinding }, ..few }, SHAPE);
    rises("query grinding", (0..40).map(query).collect());
    rises("digest", (100..300).map(|digest_bits| bits(Parameters { digest_bits, ..base }, SHAPE)).collect());
    let wide = Parameters { extension: 2, queries: 1000, grinding: Grinding::default(), ..base };
    rises("rows", (8..29).rev().map(|log_rows| bits(wide, Shape { log_rows, ..SHAPE })).collect());
    rises("columns", (0..25).rev().map(|k| bits(wide, Shape { columns: 1_u32 << k, ..SHAPE })).collect());
    let constraints = |k| bits(wide, Shape { constraints: 1_u32 << k, ..SHAPE });
    assert!((0..30).rev().map(constraints).is_sorted());
    // What is found is enough, and one less is not.
    for wanted in 1..=128 {
        let queries = base.fewest_queries(&SHAPE, wanted).unwrap();
        assert!(bits(Parameters { queries, ..base }, SHAPE) >= f64::from(wanted));
        assert!(queries == 1 || bits(Parameters { queries: queries - 1, ..base }, SHAPE) < f64::from(wanted));
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let base = Parameters::default();
    let ground = |grinding| Parameters { grinding, ..base };
    let g = base.grinding;
    for (parameters, message) in [
        (Parameters { extension: 1, ..base }, "extension: expected 2 to 3, found 1"),
        (Parameters { extension: u32::MAX, ..base }, "extension: expected 2 to 3, found 4294967295"),
        (Parameters { log_blowup: 0, ..base }, "log_blowup: expected 1 to 32, found 0"),
        (Parameters { log_blowup: 33, ..base }, "log_blowup: expected 1 to 32, found 33"),
        (Parameters { log_arity: 0, ..base }, "log_arity: expected 1 to 32, found 0"),
        (Parameters { log_final_length: 33, ..base }, "log_final_length: expected 0 to 32, found 33"),
        (Parameters { queries: 0, ..base }, "queries: expected 1 to 65536, found 0"),
        (Parameters { queries: u32::MAX, ..base }, "queries: expected 1 to 65536, found 4294967295"),
        (ground(Grinding { out_of_domain: 61, ..g }), "grinding.out_of_domain: expected 0 to 60, found 61"),
        (ground(Grinding { batching: 61, ..g }), "grinding.batching: expected 0 to 60, found 61"),
        (ground(Grinding { commit: 61, ..g }), "grinding.commit: expected 0 to 60, found 61"),
        (ground(Grinding { query: u32::MAX, ..g }), "grinding.query: expected 0 to 60, found 4294967295"),
        (Parameters { digest_bits: 0, ..base }, "digest_bits: expected 1 to 1024, found 0"),
    ] {
        assert_eq!(parameters.security(&SHAPE).unwrap_err().to_string(), message);
        assert!(parameters.check().is_err());
    }
    for (shape, message) in [
        (Shape { log_rows: 30, ..SHAPE }, "log_rows: expected at most 29 for log_blowup 3, found 30"),
        (
            Shape { log_rows: u32::MAX, ..SHAPE },
            "log_rows: expected at most 29 for log_blowup 3, found 4294967295",
        ),
        (Shape { columns: 0, ..SHAPE }, "columns: expected 1 to 1073741824, found 0"),
        (Shape { constraints: u32::MAX, ..SHAPE }, "constraints: expected 1 to 1073741824, found 4294967295"),
        (Shape { degree: 0, ..SHAPE }, "degree: expected 1 to 65536, found 0"),
        (Shape { degree: 10, ..SHAPE }, "degree: expected at most 9 for log_blowup 3, found 10"),
        (Shape { degree: u32::MAX, ..SHAPE }, "degree: expected 1 to 65536, found 4294967295"),
    ] {
        let error: InvalidConfiguration = base.security(&shape).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(base.fewest_queries(&shape, 100), Err(SearchError::Invalid(error)));
    }
}

/// Nothing overflows, and no bits are negative or not a number, at the ends of every range.
#[test]
fn the_ends_of_ranges() {
    let mut seen = 0;
    for log_blowup in [1, 2, 16, 31, 32] {
        for log_rows in [0, 1, 2, 31, 30, 16] {
            for (columns, constraints, degree) in [(1, 1, 1), (1 << 30, 1 << 30, 3), (1 << 30, 1, 65536)] {
                for (log_arity, log_final_length) in [(1, 0), (32, 0), (1, 32), (32, 32)] {
                    for queries in [1, 1 << 16] {
                        let base = Parameters {
                            log_blowup,
                            log_arity,
                            log_final_length,
                            queries,
                            ..Parameters::default()
                        };
                        let shape = Shape { log_rows, columns, constraints, degree };
                        for extension in [2, 3] {
                            let Ok(report) = (Parameters { extension, ..base }).security(&shape) else {
                                continue;
                            };
                            for regime in [&report.unique_decoding, &report.johnson].into_iter().flatten() {
                                assert!(
                                    regime.terms.iter().all(|term| term.bits.is_finite() && term.bits >= 0.0)
                                );
                                seen += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
    let m = Regime::Johnson { m: u32::MAX };
    let report = Parameters::default().security_in(&Shape { log_rows: 29, ..SHAPE }, m).unwrap();
    assert_eq!(report, None);
    assert_eq!(Parameters::default().security_in(&SHAPE, Regime::Johnson { m: 2 }), Ok(None));
    assert_eq!(Parameters::default().security_in(&SHAPE, Regime::Johnson { m: 0 }), Ok(None));
}

#[test]
fn folds_have_their_arities() {
    let arities = |log_arity, log_final_length, log_rows| -> Vec<u32> {
        Parameters { log_arity, log_final_length, ..Parameters::default() }.log_arities(log_rows).collect()
    };
    assert_eq!(arities(3, 0, 20), [3, 3, 3, 3, 3, 3, 2]);
    assert_eq!(arities(3, 5, 20), [3; 5]);
    assert_eq!(arities(1, 0, 3), [1; 3]);
    assert!(arities(3, 4, 4).is_empty());
    assert!(arities(3, 9, 4).is_empty());
}

/// Proven bits of one table of 2^1 to 2^5 rows.
const OF_SHORT_TABLES: [(Parameters, [f64; 5]); 2] = [
    (Parameters::PROVEN_100, [54.65, 58.87, 91.81, 96.51, 98.97]),
    (Parameters::PROVEN_128, [67.5, 73.2, 117.1, 123.4, 126.6]),
];

/// A codeword has the rate of its own table, so that a short table has fewer bits, whatever tables it is next to.
#[test]
fn the_shortest_table_counts() {
    for (parameters, expected) in OF_SHORT_TABLES {
        for (log_rows, expected) in (1..).zip(expected) {
            let of = |log_rows| Shape { log_rows, columns: 2, constraints: 5, degree: 2 };
            let alone = security(&parameters, &of(log_rows)).bits();
            near(alone, expected, 0.05, log_rows);
            let tables = |least_log_rows| TablesShape {
                least_log_rows,
                tables: 2,
                quotient_chunks: 2,
                ..TablesShape::from(&Shape { columns: 4, constraints: 10, ..of(20) })
            };
            let together = parameters.security(tables(log_rows)).unwrap().bits();
            assert!(
                together <= alone,
                "2^{log_rows} rows: {together} bits with a long table, {alone} without"
            );
            // It is the short table that takes them.
            let without = parameters.security(tables(20)).unwrap().bits();
            assert!(together < without, "{together} and {without}");
        }
    }
    let wrong = TablesShape { least_log_rows: 21, ..TablesShape::from(&SHAPE) };
    let error = Parameters::PROVEN_100.security(wrong).unwrap_err();
    assert_eq!(error.to_string(), "least_log_rows: expected 0 to 20, found 21");
}

/// The search finds what all values of m together give.
#[test]
fn the_best_m_is_found() {
    for (parameters, shape) in grid() {
        let mut best: Option<RegimeReport> = None;
        for m in 3..=1000 {
            let next = parameters.security_in(&shape, Regime::Johnson { m }).unwrap();
            if next.as_ref().map(RegimeReport::bits) > best.as_ref().map(RegimeReport::bits) {
                best = next;
            }
        }
        assert_eq!(security(&parameters, &shape).johnson, best, "{parameters:?}, {shape:?}");
    }
}
