//! The prover of `p3_uni_stark` with constraints as a program.

use crate::{constraints::Captured, engine::layout, quotient::Rows};
use p3_air::{Air, symbolic::SymbolicAirBuilder};
use p3_challenger::GrindingChallenger;
use p3_commit::{OpeningRequest, Pcs, PolynomialSpace, UnivariateStarkPcs};
use p3_field::PrimeCharacteristicRing;
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{
    Com, Commitments, Domain, OpenedValues, PcsProverError, PreprocessedOpenedValues, PreprocessedProverData,
    Proof, ProvingError, StarkGenericConfig, StarkOpeningLayout, StarkProverTranscript, StarkShape,
    get_log_num_quotient_chunks_for_domain,
};

/// Proves a trace: [`p3_uni_stark::prove`] with constraints in the vectors of the CPU. The proof is the same.
///
/// # Errors
/// If the commitment scheme refuses.
///
/// # Panics
/// If the trace's height is not a power of two, if its width or the number of public values is not that of the AIR, if the AIR
/// has preprocessed columns, or if it has constraints over extensions. A trace that does not satisfy the AIR gives a
/// proof that no verifier accepts.
pub fn prove<SC, A>(
    config: &SC,
    air: &A,
    trace: RowMajorMatrix<Goldilocks>,
    public_values: &[Goldilocks],
) -> Result<Proof<SC>, ProvingError<PcsProverError<SC>>>
where
    SC: StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<SymbolicAirBuilder<Goldilocks>>,
{
    prove_with_preprocessed(config, air, trace, public_values, None)
}

/// [`p3_uni_stark::prove_with_preprocessed`] with constraints in the vectors of the CPU. The proof is the same.
///
/// # Errors
/// As [`prove`].
///
/// # Panics
/// As [`prove`], except that the preprocessed columns have to be those of the AIR.
pub fn prove_with_preprocessed<SC, A>(
    config: &SC,
    air: &A,
    trace: RowMajorMatrix<Goldilocks>,
    public_values: &[Goldilocks],
    preprocessed: Option<&PreprocessedProverData<SC>>,
) -> Result<Proof<SC>, ProvingError<PcsProverError<SC>>>
where
    SC: StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<SymbolicAirBuilder<Goldilocks>>,
{
    let prover = Prover::new(config, air, &trace, public_values, preprocessed);
    let mut challenger = config.initialise_challenger();
    let trace = config.pcs().commit([(prover.committed_domain, trace)]).map_err(at("trace commitment"))?;
    let mut transcript = Transcript::<SC>::new(&mut challenger, prover.shape());
    let alpha = transcript.constraint_phase::<Com<SC>>(
        trace.0.clone(),
        prover.preprocessed.map(|data| data.commitment.clone()),
        public_values,
    );
    let (quotient, random) = prover.commit_quotient(&trace.1, alpha, &mut transcript)?;
    let random_commitment = random.as_ref().map(|(commitment, _)| commitment.clone());
    let (zeta, witness) = transcript.ood_phase::<Com<SC>>(quotient.0.clone(), random_commitment);
    let committed = AllCommitted { trace, quotient, random };
    let (opened_values, opening_proof) = prover.open(&committed, zeta, transcript)?;
    Ok(Proof {
        commitments: Commitments {
            trace: committed.trace.0,
            quotient_chunks: committed.quotient.0,
            random: committed.random.map(|(commitment, _)| commitment),
        },
        opened_values,
        opening_proof,
        degree_bits: prover.log_committed(),
        ood_pow_witness: witness.unwrap_or(Goldilocks::ZERO),
    })
}

/// The data of a commitment.
pub(crate) type Data<SC> = <<SC as StarkGenericConfig>::Pcs as Pcs<
    <SC as StarkGenericConfig>::Challenge,
    <SC as StarkGenericConfig>::Challenger,
>>::ProverData;

/// A commitment and its data.
pub(crate) type Committed<SC> = (Com<SC>, Data<SC>);

/// The proof of openings.
pub(crate) type PcsProof<SC> = <<SC as StarkGenericConfig>::Pcs as Pcs<
    <SC as StarkGenericConfig>::Challenge,
    <SC as StarkGenericConfig>::Challenger,
>>::Proof;

/// The result of a phase of a proof.
pub(crate) type Outcome<SC, T> = Result<T, ProvingError<PcsProverError<SC>>>;

/// The error of a phase.
pub(crate) fn at<E>(phase: &'static str) -> impl FnOnce(E) -> ProvingError<E> {
    move |source| ProvingError::Pcs { phase, source }
}

/// The transcript of a proof.
type Transcript<'a, SC> = StarkProverTranscript<
    'a,
    <SC as StarkGenericConfig>::Challenger,
    Goldilocks,
    <SC as StarkGenericConfig>::Challenge,
>;

/// The inputs of the phases of a proof.
struct Prover<'a, SC: StarkGenericConfig, A> {
    config: &'a SC,
    air: &'a A,
    public_values: &'a [Goldilocks],
    /// The preprocessed columns, if there are some.
    preprocessed: Option<&'a PreprocessedProverData<SC>>,
    constraints: Captured,
    /// The base-2 logarithm of the trace's height.
    log_height: usize,
    trace_domain: Domain<SC>,
    committed_domain: Domain<SC>,
    log_chunks: usize,
}

/// The commitments that are opened besides preprocessed columns.
struct AllCommitted<SC: StarkGenericConfig> {
    trace: Committed<SC>,
    quotient: Committed<SC>,
    random: Option<Committed<SC>>,
}

impl<'a, SC, A> Prover<'a, SC, A>
where
    SC: StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<SymbolicAirBuilder<Goldilocks>>,
{
    /// Checks the statement, and derives the rest of it.
    fn new(
        config: &'a SC,
        air: &'a A,
        trace: &RowMajorMatrix<Goldilocks>,
        public_values: &'a [Goldilocks],
        preprocessed: Option<&'a PreprocessedProverData<SC>>,
    ) -> Self {
        let (height, zk, pcs) = (trace.height(), config.is_zk(), config.pcs());
        assert!(height.is_power_of_two(), "a trace of {height} rows: a power of two is needed");
        assert_eq!(trace.width(), air.width(), "columns of the trace, and of the AIR");
        assert_eq!(public_values.len(), air.num_public_values(), "public values, and those of the AIR");
        assert!(air.public_boundary_io().is_empty(), "public values can be bound by constraints only");
        let log_height = height.ilog2() as usize;
        let preprocessed_width = preprocessed.map_or(0, |data| data.width);
        assert_eq!(
            preprocessed_width,
            air.preprocessed_width(),
            "preprocessed columns, and those of the AIR"
        );
        if let Some(data) = preprocessed {
            assert_eq!(
                data.degree_bits,
                log_height + zk,
                "the logarithm of the preprocessed columns' height"
            );
        }
        let layout = layout(air);
        let constraints = Captured::new(air, layout);
        let trace_domain = pcs.natural_domain_for_degree(height);
        Self {
            config,
            air,
            public_values,
            preprocessed: preprocessed.filter(|_| preprocessed_width > 0),
            constraints,
            log_height,
            trace_domain,
            committed_domain: pcs.natural_domain_for_degree(height << zk),
            log_chunks: get_log_num_quotient_chunks_for_domain::<Goldilocks, A>(
                air,
                layout,
                trace_domain,
                zk,
            ),
        }
    }

    /// The base-2 logarithm of the height of the committed matrices.
    fn log_committed(&self) -> usize {
        self.log_height + self.config.is_zk()
    }

    /// The number of polynomials into which the quotient is split.
    fn chunks(&self) -> usize {
        1 << (self.log_chunks + self.config.is_zk())
    }

    /// The shape of the transcript.
    fn shape(&self) -> StarkShape {
        StarkShape::new::<Goldilocks, A>(
            self.air,
            self.preprocessed.map_or(0, |data| data.width),
            self.log_committed(),
            self.log_height,
            self.chunks(),
            SC::Pcs::ZK,
            self.config.ood_proof_of_work_bits(),
        )
    }

    /// Commits to the quotient, and to a random polynomial if the proof is blinded.
    fn commit_quotient(
        &self,
        trace: &Data<SC>,
        alpha: SC::Challenge,
        transcript: &mut Transcript<'_, SC>,
    ) -> Outcome<SC, (Committed<SC>, Option<Committed<SC>>)> {
        let (pcs, chunks) = (self.config.pcs(), self.chunks());
        let quotient_domain =
            self.committed_domain.create_disjoint_domain(1 << (self.log_committed() + self.log_chunks));
        let quotient = self.quotient(trace, quotient_domain, alpha);
        // The transcript must be told that it ends early.
        let quotient = pcs
            .commit_quotient(quotient_domain, quotient, chunks)
            .inspect_err(|_| transcript.abort())
            .map_err(at("quotient commitment"))?;
        let random = if SC::Pcs::ZK {
            pcs.get_opt_randomization_poly_commitment(std::iter::once(self.committed_domain))
                .inspect_err(|_| transcript.abort())
                .map_err(at("randomization commitment"))?
        } else {
            None
        };
        Ok((quotient, random))
    }

    /// The quotient of the constraints.
    fn quotient(
        &self,
        trace: &Data<SC>,
        quotient_domain: Domain<SC>,
        alpha: SC::Challenge,
    ) -> RowMajorMatrix<Goldilocks> {
        let (pcs, air) = (self.config.pcs(), self.air);
        let main = pcs.get_evaluations_on_domain(trace, 0, quotient_domain);
        let fixed = self
            .preprocessed
            .map(|data| pcs.get_evaluations_on_domain_no_random(&data.prover_data, 0, quotient_domain));
        let rows = Rows {
            main: &main,
            preprocessed: fixed.as_ref(),
            lookups: None,
            selectors: self.trace_domain.selectors_on_coset(quotient_domain),
            periodic: pcs.build_periodic_lde_table(
                &air.periodic_columns(),
                self.trace_domain,
                quotient_domain,
            ),
            periodic_columns: air.num_periodic_columns(),
            step: quotient_domain.size() / self.trace_domain.size(),
        };
        rows.quotient(&self.constraints, self.public_values, alpha)
    }

    /// Opens everything at zeta, and at the next row's point.
    fn open(
        &self,
        committed: &AllCommitted<SC>,
        zeta: SC::Challenge,
        mut transcript: Transcript<'_, SC>,
    ) -> Outcome<SC, (OpenedValues<SC::Challenge>, PcsProof<SC>)> {
        let (pcs, air) = (self.config.pcs(), self.air);
        let zeta_next = self.trace_domain.next_point(zeta).expect("a subgroup has a next point");
        let points = |next: bool| if next { vec![zeta, zeta_next] } else { vec![zeta] };
        let (main_next, preprocessed_next) =
            (!air.main_next_row_columns().is_empty(), !air.preprocessed_next_row_columns().is_empty());
        let openings = StarkOpeningLayout::new(SC::Pcs::ZK);
        let AllCommitted { trace, quotient, random } = committed;
        let mut requests: Vec<OpeningRequest<'_, Data<SC>, SC::Challenge>> = Vec::new();
        requests.extend(random.as_ref().map(|(_, data)| (data, vec![vec![zeta]]).into()));
        requests.push((&trace.1, vec![points(main_next)]).into());
        requests.push((&quotient.1, vec![vec![zeta]; self.chunks()]).into());
        let preprocessed = self.preprocessed;
        requests.extend(preprocessed.map(|data| (&data.prover_data, vec![points(preprocessed_next)]).into()));
        let opened = transcript.delegate(|challenger| {
            pcs.open_with_preprocessing(requests, challenger, preprocessed.map(|_| openings.preprocessed))
        });
        let (values, opening_proof) = opened.inspect_err(|_| transcript.abort()).map_err(at("opening"))?;
        transcript.finish();

        let opened = |round: usize, next: usize| values[round][0][next].clone();
        let opened_values = OpenedValues {
            trace_local: opened(openings.trace, 0),
            trace_next: main_next.then(|| opened(openings.trace, 1)),
            preprocessed: preprocessed.map(|_| PreprocessedOpenedValues {
                local: opened(openings.preprocessed, 0),
                next: preprocessed_next.then(|| opened(openings.preprocessed, 1)),
            }),
            quotient_chunks: values[openings.quotient].iter().map(|points| points[0].clone()).collect(),
            random: random.as_ref().map(|_| opened(0, 0)),
        };
        Ok((opened_values, opening_proof))
    }
}
