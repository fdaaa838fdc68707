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

/// Proves a trace: [`p3_uni_stark::prove`] with constraints in the vectors of the CPU, the same proof.
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

/// [`p3_uni_stark::prove_with_preprocessed`] with constraints in the vectors of the CPU, the same proof.
///
/// # Errors
/// As [`prove`].
///
/// # Panics
/// As [`prove`], but if the preprocessed columns are not those of the AIR.
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
    let height = trace.height();
    assert!(height.is_power_of_two(), "a trace of {height} rows: a power of two is needed");
    assert_eq!(trace.width(), air.width(), "columns of the trace, and of the AIR");
    assert_eq!(public_values.len(), air.num_public_values(), "public values, and those of the AIR");
    assert!(air.public_boundary_io().is_empty(), "public values can be bound by constraints only");
    let zk = config.is_zk();
    let log_height = height.ilog2() as usize;
    let preprocessed_width = preprocessed.map_or(0, |data| data.width);
    assert_eq!(preprocessed_width, air.preprocessed_width(), "preprocessed columns, and those of the AIR");
    if let Some(data) = preprocessed {
        assert_eq!(data.degree_bits, log_height + zk, "the logarithm of the preprocessed columns' height");
    }
    let layout = layout(air);
    let constraints = Captured::new(air, layout);

    let pcs = config.pcs();
    let trace_domain = pcs.natural_domain_for_degree(height);
    let committed_domain = pcs.natural_domain_for_degree(height << zk);
    let log_chunks = get_log_num_quotient_chunks_for_domain::<Goldilocks, A>(air, layout, trace_domain, zk);
    let chunks = 1 << (log_chunks + zk);
    let at = |phase| move |source| ProvingError::Pcs { phase, source };

    let mut challenger = config.initialise_challenger();
    let (trace_commitment, trace_data) =
        pcs.commit([(committed_domain, trace)]).map_err(at("trace commitment"))?;
    let shape = StarkShape::new::<Goldilocks, A>(
        air,
        preprocessed_width,
        log_height + zk,
        log_height,
        chunks,
        SC::Pcs::ZK,
        config.ood_proof_of_work_bits(),
    );
    let mut transcript =
        StarkProverTranscript::<SC::Challenger, Goldilocks, SC::Challenge>::new(&mut challenger, shape);
    let preprocessed = preprocessed.filter(|_| preprocessed_width > 0);
    let alpha = transcript.constraint_phase::<Com<SC>>(
        trace_commitment.clone(),
        preprocessed.map(|data| data.commitment.clone()),
        public_values,
    );

    let quotient_domain = committed_domain.create_disjoint_domain(1 << (log_height + zk + log_chunks));
    let quotient = {
        let main = pcs.get_evaluations_on_domain(&trace_data, 0, quotient_domain);
        let fixed = preprocessed
            .map(|data| pcs.get_evaluations_on_domain_no_random(&data.prover_data, 0, quotient_domain));
        let rows = Rows {
            main: &main,
            preprocessed: fixed.as_ref(),
            lookups: None,
            selectors: trace_domain.selectors_on_coset(quotient_domain),
            periodic: pcs.build_periodic_lde_table(&air.periodic_columns(), trace_domain, quotient_domain),
            periodic_columns: air.num_periodic_columns(),
            step: quotient_domain.size() / trace_domain.size(),
        };
        rows.quotient(&constraints, public_values, alpha)
    };
    // A transcript that ends early must be told.
    let (quotient_commitment, quotient_data) = pcs
        .commit_quotient(quotient_domain, quotient, chunks)
        .inspect_err(|_| transcript.abort())
        .map_err(at("quotient commitment"))?;
    let random = if SC::Pcs::ZK {
        pcs.get_opt_randomization_poly_commitment(std::iter::once(committed_domain))
            .inspect_err(|_| transcript.abort())
            .map_err(at("randomization commitment"))?
    } else {
        None
    };
    let (random_commitment, random_data) = random.unzip();

    let (zeta, witness) =
        transcript.ood_phase::<Com<SC>>(quotient_commitment.clone(), random_commitment.clone());
    let zeta_next = trace_domain.next_point(zeta).expect("a subgroup has a next point");
    let points = |next: bool| if next { vec![zeta, zeta_next] } else { vec![zeta] };
    let (main_next, preprocessed_next) =
        (!air.main_next_row_columns().is_empty(), !air.preprocessed_next_row_columns().is_empty());
    let openings = StarkOpeningLayout::new(SC::Pcs::ZK);
    let mut requests: Vec<OpeningRequest<'_, _, _>> = Vec::new();
    requests.extend(random_data.as_ref().map(|data| (data, vec![vec![zeta]]).into()));
    requests.push((&trace_data, vec![points(main_next)]).into());
    requests.push((&quotient_data, vec![vec![zeta]; chunks]).into());
    requests.extend(preprocessed.map(|data| (&data.prover_data, vec![points(preprocessed_next)]).into()));
    let opened = transcript.delegate(|challenger| {
        pcs.open_with_preprocessing(requests, challenger, preprocessed.map(|_| openings.preprocessed))
    });
    let (values, opening_proof) = opened.inspect_err(|_| transcript.abort()).map_err(at("opening"))?;
    transcript.finish();

    let opened = |round: usize, next: usize| values[round][0][next].clone();
    Ok(Proof {
        commitments: Commitments {
            trace: trace_commitment,
            quotient_chunks: quotient_commitment,
            random: random_commitment,
        },
        opened_values: OpenedValues {
            trace_local: opened(openings.trace, 0),
            trace_next: main_next.then(|| opened(openings.trace, 1)),
            preprocessed: preprocessed.map(|_| PreprocessedOpenedValues {
                local: opened(openings.preprocessed, 0),
                next: preprocessed_next.then(|| opened(openings.preprocessed, 1)),
            }),
            quotient_chunks: values[openings.quotient].iter().map(|points| points[0].clone()).collect(),
            random: random_data.map(|_| opened(0, 0)),
        },
        opening_proof,
        degree_bits: log_height + zk,
        ood_pow_witness: witness.unwrap_or(Goldilocks::ZERO),
    })
}
