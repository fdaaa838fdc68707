//! The prover of `p3_batch_stark` with constraints as programs.

use crate::{
    constraints::Captured,
    engine::layout,
    prove::{Committed, Data, Outcome, PcsProof, at},
    quotient::Rows,
};
use p3_air::{
    Air,
    symbolic::{AirLayout, SymbolicExpressionExt},
};
use p3_batch_stark::{
    BatchCommitments, BatchOpenedValues, BatchProof, BatchProverTranscript, BatchShape, ProverData,
    StarkInstance, proof::OpenedValuesWithLookups, symbolic::get_log_num_quotient_chunks_for_domain,
};
use p3_challenger::GrindingChallenger;
use p3_commit::{OpeningRequest, Pcs, PolynomialSpace, UnivariateStarkPcs};
use p3_field::{Algebra, BasedVectorSpace, PrimeCharacteristicRing};
use p3_goldilocks::Goldilocks;
use p3_lookup::{
    InteractionSymbolicBuilder, LogUpGadget, Lookup, LookupProtocol, LookupTerminal,
    check_multiplicity_height_bound,
};
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{
    Com, Domain, OpenedValues, PcsProverError, PreprocessedOpenedValues, ProvingError, StarkGenericConfig,
    StarkOpeningLayout,
};

/// The data that the prover derives from an instance.
struct Table<'a, SC: StarkGenericConfig> {
    lookups: &'a [Lookup<Goldilocks>],
    /// The place of the table's preprocessed columns in their commitment, if it has any.
    preprocessed: Option<usize>,
    layout: AirLayout,
    constraints: Captured,
    /// The base-2 logarithm of the height of the committed matrices.
    log_height: usize,
    trace_domain: Domain<SC>,
    committed_domain: Domain<SC>,
    log_chunks: usize,
    /// Whether the next row is opened of the trace, and of the preprocessed columns.
    next: [bool; 2],
}

/// Proves traces of several AIRs with their lookups: [`p3_batch_stark::prove_batch`] with constraints in the vectors of the CPU. The proof
/// is the same.
///
/// # Errors
/// If the commitment scheme refuses.
///
/// # Panics
/// If a trace's height is not a power of two; if `data` is not that of these AIRs and heights; if multiplicities of lookups could wrap around.
/// Traces that do not satisfy the AIRs and lookups give a proof that no verifier accepts.
pub fn prove_batch<SC, A>(
    config: &SC,
    instances: &[StarkInstance<'_, SC, A>],
    data: &ProverData<SC>,
) -> Result<BatchProof<SC>, ProvingError<PcsProverError<SC>>>
where
    SC: StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
{
    let heights: Vec<usize> = instances.iter().map(|instance| instance.trace.height()).collect();
    check_multiplicity_height_bound(&data.common.lookups, &heights)
        .expect("multiplicities that cannot wrap around");
    assert_eq!(data.common.lookups.len(), instances.len(), "lookups of as many AIRs as there are instances");
    let tables: Vec<_> =
        (0..instances.len()).map(|index| Table::new(config, &instances[index], index, data)).collect();
    let prover = Prover { config, instances, data, tables };

    let mut challenger = config.initialise_challenger();
    let mut transcript = Transcript::<SC>::new(&mut challenger, prover.shape());
    let degree_bits: Vec<usize> = prover.tables.iter().map(|table| table.log_height).collect();
    transcript.instance_bindings(&degree_bits);
    let main = prover.commit_traces(&mut transcript)?;
    let (sums, alpha) = prover.commit_sums(&mut transcript)?;
    let (quotient, random) = prover.commit_quotients(&main.1, &sums, alpha, &mut transcript)?;
    let (zeta, ood_pow_witness) = transcript.ood_phase();
    let committed = AllCommitted { main, sums: sums.committed, quotient, random };
    let (opened_values, opening_proof) = prover.open(&committed, zeta, transcript)?;
    Ok(BatchProof {
        commitments: BatchCommitments {
            main: committed.main.0,
            permutation: committed.sums.map(|(commitment, _)| commitment),
            quotient_chunks: committed.quotient.0,
            random: committed.random.map(|(commitment, _)| commitment),
        },
        opened_values,
        opening_proof,
        lookup_terminals: sums.terminals,
        degree_bits,
        lookup_pow_witness: sums.work,
        ood_pow_witness,
    })
}

/// The transcript of a proof.
type Transcript<'a, SC> = BatchProverTranscript<
    'a,
    <SC as StarkGenericConfig>::Challenger,
    Goldilocks,
    <SC as StarkGenericConfig>::Challenge,
    Com<SC>,
>;

/// The inputs of the phases of a proof.
struct Prover<'a, SC: StarkGenericConfig, A> {
    config: &'a SC,
    instances: &'a [StarkInstance<'a, SC, A>],
    data: &'a ProverData<SC>,
    tables: Vec<Table<'a, SC>>,
}

/// The lookups of all tables.
struct Sums<SC: StarkGenericConfig> {
    /// The proof of work before the challenges of lookups.
    work: Option<Goldilocks>,
    /// The challenges of each table.
    challenges: Vec<Vec<SC::Challenge>>,
    /// The total of each table.
    terminals: Vec<Option<LookupTerminal<SC::Challenge>>>,
    committed: Option<Committed<SC>>,
}

/// The commitments that are opened besides preprocessed columns.
struct AllCommitted<SC: StarkGenericConfig> {
    main: Committed<SC>,
    sums: Option<Committed<SC>>,
    quotient: Committed<SC>,
    random: Option<Committed<SC>>,
}

impl<'a, SC, A> Prover<'a, SC, A>
where
    SC: StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
{
    /// The tables that have lookups.
    fn with_lookups(&self) -> impl Iterator<Item = &Table<'a, SC>> {
        self.tables.iter().filter(|table| !table.lookups.is_empty())
    }

    /// The shape of the transcript.
    fn shape(&self) -> BatchShape {
        let tables = &self.tables;
        BatchShape {
            trace_widths: tables.iter().map(|table| table.layout.main_width).collect(),
            public_value_counts: tables.iter().map(|table| table.layout.num_public_values).collect(),
            preprocessed_widths: tables.iter().map(|table| table.layout.preprocessed_width).collect(),
            has_preprocessed_commitment: self.data.common.preprocessed.is_some(),
            num_lookup_instances: self.with_lookups().count(),
            lookup_pow_bits: self.config.lookup_proof_of_work_bits(),
            has_randomization_commitment: SC::Pcs::ZK,
            ood_pow_bits: self.config.ood_proof_of_work_bits(),
        }
    }

    /// Commits to the traces.
    fn commit_traces(&self, transcript: &mut Transcript<'_, SC>) -> Outcome<SC, Committed<SC>> {
        let traces = self
            .tables
            .iter()
            .zip(self.instances)
            .map(|(table, instance)| (table.committed_domain, instance.trace.clone()));
        let main = self.config.pcs().commit(traces);
        // The transcript must be told that it ends early.
        let main = main.inspect_err(|_| transcript.abort()).map_err(at("trace commitment"))?;
        let public_values: Vec<&[Goldilocks]> =
            self.instances.iter().map(|instance| instance.public_values.as_slice()).collect();
        transcript.main_phase(main.0.clone(), &public_values);
        let fixed = self.data.common.preprocessed.as_ref();
        transcript.preprocessed_phase(fixed.map(|fixed| fixed.commitment.clone()));
        Ok(main)
    }

    /// Commits to the sums of lookups, and draws the challenge that combines constraints.
    fn commit_sums(&self, transcript: &mut Transcript<'_, SC>) -> Outcome<SC, (Sums<SC>, SC::Challenge)> {
        let gadget = LogUpGadget::new();
        let lookups: Vec<_> = self.tables.iter().map(|table| table.lookups).collect();
        let (challenges, work) = transcript.lookup_phase(&lookups, &gadget);
        let (mut sums, mut terminals) = (Vec::new(), Vec::new());
        for ((table, instance), challenges) in self.tables.iter().zip(self.instances).zip(&challenges) {
            let terminal = if table.lookups.is_empty() {
                None
            } else {
                let (trace, terminal) = gadget.generate_permutation::<Goldilocks, SC::Challenge>(
                    instance.trace,
                    &instance.air.preprocessed_trace(),
                    &instance.public_values,
                    table.lookups,
                    challenges,
                );
                sums.push((table.committed_domain, trace.flatten_to_base()));
                terminal
            };
            terminals.push(terminal);
        }
        let committed = if sums.is_empty() {
            None
        } else {
            let committed = self.config.pcs().commit(sums);
            Some(committed.inspect_err(|_| transcript.abort()).map_err(at("permutation commitment"))?)
        };
        let commitment = committed.as_ref().map(|(commitment, _)| commitment.clone());
        let totals: Vec<_> = terminals.iter().flatten().map(|LookupTerminal(value)| *value).collect();
        let alpha = transcript.permutation_phase(commitment, &totals);
        Ok((Sums { work, challenges, terminals, committed }, alpha))
    }

    /// Commits to the quotients, and to random polynomials if the proof is blinded.
    fn commit_quotients(
        &self,
        main: &Data<SC>,
        sums: &Sums<SC>,
        alpha: SC::Challenge,
        transcript: &mut Transcript<'_, SC>,
    ) -> Outcome<SC, (Committed<SC>, Option<Committed<SC>>)> {
        let pcs = self.config.pcs();
        let mut ldes = Vec::new();
        for index in 0..self.tables.len() {
            let of_table = self.quotient(index, main, sums, alpha);
            ldes.extend(of_table.inspect_err(|_| transcript.abort()).map_err(at("quotient evaluations"))?);
        }
        let quotient =
            pcs.commit_ldes(ldes).inspect_err(|_| transcript.abort()).map_err(at("quotient commitment"))?;
        let random = if SC::Pcs::ZK {
            pcs.get_opt_randomization_poly_commitment(self.tables.iter().map(|table| table.committed_domain))
                .inspect_err(|_| transcript.abort())
                .map_err(at("randomization commitment"))?
        } else {
            None
        };
        let random_commitment = random.as_ref().map(|(commitment, _)| commitment.clone());
        transcript.quotient_phase(quotient.0.clone(), random_commitment);
        Ok((quotient, random))
    }

    /// The quotient of a table, in parts.
    fn quotient(
        &self,
        index: usize,
        main: &Data<SC>,
        sums: &Sums<SC>,
        alpha: SC::Challenge,
    ) -> Result<Vec<RowMajorMatrix<Goldilocks>>, PcsProverError<SC>> {
        let (pcs, table, air) = (self.config.pcs(), &self.tables[index], self.instances[index].air);
        let quotient_domain =
            table.committed_domain.create_disjoint_domain(1 << (table.log_height + table.log_chunks));
        let main = pcs.get_evaluations_on_domain(main, index, quotient_domain);
        let fixed = table.preprocessed.map(|index| {
            let fixed = self.data.prover_only.preprocessed_prover_data.as_ref();
            let fixed = fixed.expect("data of preprocessed columns");
            pcs.get_evaluations_on_domain_no_random(fixed, index, quotient_domain)
        });
        let lookups = sums.committed.as_ref().filter(|_| !table.lookups.is_empty()).map(|(_, data)| {
            let index = self.tables[..index].iter().filter(|table| !table.lookups.is_empty()).count();
            pcs.get_evaluations_on_domain(data, index, quotient_domain)
        });
        let rows = Rows {
            main: &main,
            preprocessed: fixed.as_ref(),
            lookups: lookups.as_ref(),
            selectors: table.trace_domain.selectors_on_coset(quotient_domain),
            periodic: pcs.build_periodic_lde_table(
                &air.periodic_columns(),
                table.trace_domain,
                quotient_domain,
            ),
            periodic_columns: table.layout.num_periodic_columns,
            step: quotient_domain.size() / table.trace_domain.size(),
        };
        let quotient = rows.quotient(&table.constraints, &self.scalars(index, sums), alpha);
        let chunks = table.chunks(self.config);
        let evaluations = quotient_domain
            .split_domains(chunks)
            .into_iter()
            .zip(quotient_domain.split_evals(chunks, quotient));
        pcs.get_quotient_ldes(evaluations, chunks)
    }

    /// The scalars of a table's constraints: public values, then the scalars of lookups.
    fn scalars(&self, index: usize, sums: &Sums<SC>) -> Vec<Goldilocks> {
        let mut scalars: Vec<Goldilocks> = self.instances[index].public_values.clone();
        if let Some(LookupTerminal(terminal)) = &sums.terminals[index] {
            let challenges = &sums.challenges[index];
            // The challenges of each lookup: the base of its bus, and the challenge that combines values, which all lookups share.
            let bases = challenges.iter().step_by(LogUpGadget::new().num_challenges());
            let lookups = self.tables[index].lookups;
            let widths = lookups.iter().flat_map(|lookup| &lookup.elements).map(Vec::len);
            let powers = challenges[1].powers().skip(1).take(widths.max().unwrap_or(0).saturating_sub(1));
            for value in std::iter::once(*terminal).chain(powers).chain(bases.copied()) {
                scalars.extend(value.as_basis_coefficients_slice());
            }
        }
        scalars
    }

    /// Opens everything at zeta, and at the next row's point: the values of each table, and the proof.
    fn open(
        &self,
        committed: &AllCommitted<SC>,
        zeta: SC::Challenge,
        mut transcript: Transcript<'_, SC>,
    ) -> Outcome<SC, (BatchOpenedValues<SC::Challenge>, PcsProof<SC>)> {
        let points = |table: &Table<'_, SC>, next: bool| {
            let next =
                next.then(|| table.trace_domain.next_point(zeta).expect("a subgroup has a next point"));
            [zeta].into_iter().chain(next).collect::<Vec<_>>()
        };
        let (tables, pcs) = (&self.tables, self.config.pcs());
        let AllCommitted { main, sums, quotient, random } = committed;
        let mut requests: Vec<OpeningRequest<'_, Data<SC>, SC::Challenge>> = Vec::new();
        requests.extend(random.as_ref().map(|(_, data)| (data, vec![vec![zeta]; tables.len()]).into()));
        requests.push((&main.1, tables.iter().map(|table| points(table, table.next[0])).collect()).into());
        let chunks: usize = tables.iter().map(|table| table.chunks(self.config)).sum();
        requests.push((&quotient.1, vec![vec![zeta]; chunks]).into());
        if let Some(fixed) = &self.data.prover_only.preprocessed_prover_data {
            let with_fixed = tables.iter().filter(|table| table.preprocessed.is_some());
            requests.push((fixed, with_fixed.map(|table| points(table, table.next[1])).collect()).into());
        }
        let sums_round = requests.len();
        requests.extend(
            sums.as_ref().map(|(_, data)| {
                (data, self.with_lookups().map(|table| points(table, true)).collect()).into()
            }),
        );
        let opened = transcript.delegate(|challenger| {
            let layout = StarkOpeningLayout::new(SC::Pcs::ZK);
            let fixed = self.data.common.preprocessed.as_ref().map(|_| layout.preprocessed);
            pcs.open_with_preprocessing(requests, challenger, fixed)
        });
        let (values, opening_proof) = opened.inspect_err(|_| transcript.abort()).map_err(at("opening"))?;
        transcript.finish();
        Ok((self.of_tables(values, random.is_some(), sums_round), opening_proof))
    }

    /// The values of each table, from the values of each round, matrix by matrix.
    fn of_tables(
        &self,
        mut values: p3_commit::OpenedValues<SC::Challenge>,
        random: bool,
        sums_round: usize,
    ) -> BatchOpenedValues<SC::Challenge> {
        let layout = StarkOpeningLayout::new(SC::Pcs::ZK);
        let mut of_sums = values.get_mut(sums_round).map(std::mem::take).unwrap_or_default().into_iter();
        let mut of_fixed = match self.data.common.preprocessed {
            Some(_) => std::mem::take(&mut values[layout.preprocessed]),
            None => Vec::new(),
        }
        .into_iter();
        let mut of_quotient = std::mem::take(&mut values[layout.quotient]).into_iter();
        let mut of_main = std::mem::take(&mut values[layout.trace]).into_iter();
        let mut of_random = if random { std::mem::take(&mut values[0]) } else { Vec::new() }.into_iter();
        let opened = self.tables.iter().map(|table| {
            let mut main = of_main.next().unwrap_or_default().into_iter();
            let mut sums = of_sums.by_ref().take(usize::from(!table.lookups.is_empty())).flatten();
            let mut fixed = of_fixed.by_ref().take(usize::from(table.preprocessed.is_some())).flatten();
            let quotient = of_quotient.by_ref().take(table.chunks(self.config)).flatten();
            OpenedValuesWithLookups {
                base_opened_values: OpenedValues {
                    trace_local: main.next().unwrap_or_default(),
                    trace_next: main.next(),
                    preprocessed: fixed
                        .next()
                        .map(|local| PreprocessedOpenedValues { local, next: fixed.next() }),
                    quotient_chunks: quotient.collect(),
                    random: of_random.next().into_iter().flatten().next(),
                },
                permutation_local: sums.next().unwrap_or_default(),
                permutation_next: sums.next().unwrap_or_default(),
            }
        });
        BatchOpenedValues { instances: opened.collect() }
    }
}

impl<'a, SC> Table<'a, SC>
where
    SC: StarkGenericConfig,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
{
    fn new<A>(
        config: &SC,
        instance: &StarkInstance<'_, SC, A>,
        index: usize,
        data: &'a ProverData<SC>,
    ) -> Self
    where
        A: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>,
        SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
    {
        let StarkInstance { air, trace, public_values } = instance;
        let (height, zk, pcs) = (trace.height(), config.is_zk(), config.pcs());
        assert!(height.is_power_of_two(), "a trace of {height} rows: a power of two is needed");
        assert_eq!(trace.width(), air.width(), "columns of the trace, and of the AIR");
        assert_eq!(public_values.len(), air.num_public_values(), "public values, and those of the AIR");
        assert!(air.public_boundary_io().is_empty(), "public values can be bound by constraints only");
        let log_height = height.ilog2() as usize + zk;
        let fixed = data.common.preprocessed.as_ref().and_then(|fixed| fixed.instances[index].as_ref());
        if let Some(fixed) = fixed {
            assert_eq!(fixed.degree_bits, log_height, "the logarithm of the preprocessed columns' height");
        }
        let preprocessed_width = fixed.map_or(0, |fixed| fixed.width);
        let layout = AirLayout { preprocessed_width, ..layout(*air) };
        let lookups: &[Lookup<Goldilocks>] = &data.common.lookups[index];
        let trace_domain = pcs.natural_domain_for_degree(height);
        Self {
            lookups,
            preprocessed: fixed.map(|fixed| fixed.matrix_index),
            layout,
            constraints: Captured::with_lookups::<SC::Challenge, A>(air, layout, lookups),
            log_height,
            trace_domain,
            committed_domain: pcs.natural_domain_for_degree(height << zk),
            log_chunks: get_log_num_quotient_chunks_for_domain::<_, SC::Challenge, A, _>(
                *air,
                layout,
                trace_domain,
                lookups,
                zk,
                &LogUpGadget::new(),
            ),
            next: [!air.main_next_row_columns().is_empty(), !air.preprocessed_next_row_columns().is_empty()],
        }
    }

    /// The number of polynomials into which the quotient is split.
    fn chunks(&self, config: &SC) -> usize {
        1 << (self.log_chunks + config.is_zk())
    }
}
