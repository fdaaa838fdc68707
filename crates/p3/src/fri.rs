//! The commitment scheme with openings and folding in vectors.

use crate::{
    Dft,
    elements::{element, ours, theirs, words},
};
use p3_challenger::{CanObserve, FieldChallenger, GrindingChallenger};
use p3_commit::{
    CommitmentOpening, Mmcs, OpenedValues, OpeningRequest, Pcs, PeriodicLdeTable, UnivariateStarkPcs,
};
use p3_field::{
    ExtensionField, Field, PrimeCharacteristicRing, TwoAdicField, coset::TwoAdicMultiplicativeCoset,
};
use p3_fri::{
    FriFoldingStrategy, FriParameters, PcsProverTranscript, PcsShape, TwoAdicFriFolding,
    TwoAdicFriFoldingForMmcs, TwoAdicFriPcs, prover::prove_fri,
};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use proofmill_cpu::Level;
use proofmill_field::{
    Invert,
    goldilocks::{Extension, ExtensionField as OurExtension, Goldilocks as Element},
};
use proofmill_stark::openings::{Claim, Claimed, Coset, Opened, evaluate, fold, quotients};
use std::{collections::BTreeMap, fmt::Debug, marker::PhantomData};

/// `TwoAdicFriPcs<Goldilocks, _, InputMmcs, FriMmcs>` with [`Dft`], and with openings and folding in the vectors of the CPU: the
/// same commitments and proofs.
///
/// The fields of challenges with kernels are `BinomialExtensionField<Goldilocks, 2>` and
/// `CubicTrinomialExtensionField<Goldilocks>`; with others, openings are Plonky3's.
#[derive(Clone, Debug)]
pub struct FriPcs<InputMmcs, FriMmcs> {
    inner: TwoAdicFriPcs<Goldilocks, Dft, InputMmcs, FriMmcs>,
    mmcs: InputMmcs,
    fri: FriParameters<FriMmcs>,
    level: Level,
}

impl<InputMmcs: Clone, FriMmcs: Clone> FriPcs<InputMmcs, FriMmcs> {
    /// The scheme with the same parameters as `TwoAdicFriPcs::new`.
    pub fn new(mmcs: InputMmcs, fri: FriParameters<FriMmcs>) -> Self {
        Self::at(Level::best(), mmcs, fri)
    }

    /// The scheme with the kernels of a level.
    pub fn at(level: Level, mmcs: InputMmcs, fri: FriParameters<FriMmcs>) -> Self {
        let inner = TwoAdicFriPcs::new(Dft::at(level), mmcs.clone(), fri.clone());
        Self { inner, mmcs, fri, level }
    }
}

/// Plonky3's scheme, whose types are ours.
type Inner<InputMmcs, FriMmcs> = TwoAdicFriPcs<Goldilocks, Dft, InputMmcs, FriMmcs>;
type ProverData<InputMmcs> = <InputMmcs as Mmcs<Goldilocks>>::ProverData<RowMajorMatrix<Goldilocks>>;
type Opening<Pcs_, C, Challenger> =
    Result<(OpenedValues<C>, <Pcs_ as Pcs<C, Challenger>>::Proof), <Pcs_ as Pcs<C, Challenger>>::ProverError>;

/// Whether challenges are our extension of that degree: `x^2 = 7`, or `x^3 = x + 1`.
fn is_ours<C: ExtensionField<Goldilocks>>() -> bool {
    let x = C::from_basis_coefficients_fn(|i| Goldilocks::from_bool(i == 1));
    match C::DIMENSION {
        2 => x.square() == C::from_u64(7),
        3 => {
            let square = C::from_basis_coefficients_fn(|i| Goldilocks::from_bool(i == 2));
            x.square() == square && x.cube() == x + C::ONE
        }
        _ => false,
    }
}

fn generator() -> Element {
    element(Goldilocks::two_adic_generator(Goldilocks::TWO_ADICITY))
}

/// The matrices of one height, by round and place.
#[derive(Default)]
struct OfHeight<C> {
    places: Vec<(usize, usize)>,
    /// Each point once.
    points: Vec<C>,
}

/// The matrices that are opened, with their points.
struct Batch<'a, C> {
    /// The matrices of each round.
    matrices: Vec<Vec<&'a RowMajorMatrix<Goldilocks>>>,
    /// The points of each round and matrix.
    points: Vec<&'a [Vec<C>]>,
    /// The matrices by the base-2 logarithm of their height.
    heights: BTreeMap<u32, OfHeight<C>>,
    coset: Coset,
}

impl<'a, C: ExtensionField<Goldilocks>> Batch<'a, C> {
    /// Groups the matrices by their heights.
    fn new(matrices: Vec<Vec<&'a RowMajorMatrix<Goldilocks>>>, points: Vec<&'a [Vec<C>]>) -> Self {
        let mut heights = BTreeMap::<u32, OfHeight<C>>::new();
        for (round, (points, matrices)) in points.iter().zip(&matrices).enumerate() {
            assert_eq!(points.len(), matrices.len(), "points for each matrix");
            for (index, (points, matrix)) in points.iter().zip(matrices).enumerate() {
                assert!(matrix.height().is_power_of_two(), "a power of two of rows");
                let height = heights
                    .entry(matrix.height().ilog2())
                    .or_insert_with(|| OfHeight { places: Vec::new(), points: Vec::new() });
                height.places.push((round, index));
                for point in points {
                    if !height.points.contains(point) {
                        height.points.push(*point);
                    }
                }
            }
        }
        let coset = Coset::new(generator(), element(Goldilocks::GENERATOR)).expect("a generator");
        Self { matrices, points, heights, coset }
    }

    /// The values of all columns at their points.
    fn values<const N: usize>(&self, level: Level, log_blowup: usize) -> OpenedValues<C>
    where
        Extension<Element, N>: OurExtension<N>,
    {
        let mut opened: OpenedValues<C> =
            self.matrices.iter().map(|matrices| vec![Vec::new(); matrices.len()]).collect();
        for (log_height, height) in &self.heights {
            let of_place = |(round, index): &(usize, usize)| {
                let matrix = self.matrices[*round][*index];
                let points = self.points[*round][*index].iter();
                Opened {
                    words: words(&matrix.values),
                    width: matrix.width,
                    points: points.map(|point| height.place(point)).collect(),
                }
            };
            let places: Vec<_> = height.places.iter().map(of_place).collect();
            let log_rows = log_height - log_blowup as u32;
            let values = evaluate(level, &self.coset, log_rows, &places, &height.our_points::<N>());
            for ((round, index), values) in height.places.iter().zip(values) {
                let values = values.into_iter().map(|values| values.into_iter().map(theirs).collect());
                opened[*round][*index] = values.collect();
            }
        }
        opened
    }

    /// The words that FRI folds, the longest first: for each height, the quotients of all columns, combined by the powers of `alpha`.
    fn quotients<const N: usize>(&self, level: Level, opened: &OpenedValues<C>, alpha: C) -> Vec<Vec<C>>
    where
        Extension<Element, N>: OurExtension<N>,
    {
        let width = self.matrices.iter().flatten().map(|matrix| matrix.width).max().unwrap_or(0);
        let powers: Vec<C> = alpha.powers().take(width).collect();
        let our_powers: Vec<_> = powers.iter().map(|power| ours::<C, N>(*power)).collect();
        let mut inputs = Vec::new();
        for (log_height, height) in self.heights.iter().rev() {
            let mut columns = 0;
            let mut of_place = |(round, index): &(usize, usize)| {
                let matrix = self.matrices[*round][*index];
                let claims = self.points[*round][*index].iter().zip(&opened[*round][*index]);
                let claim = |(point, values): (&C, &Vec<C>)| {
                    let factor = alpha.exp_u64(columns);
                    columns += matrix.width as u64;
                    let value: C = values.iter().zip(&powers).map(|(value, power)| *value * *power).sum();
                    Claim { point: height.place(point), value: ours(factor * value), factor: ours(factor) }
                };
                let claims = claims.map(claim).collect();
                Claimed { words: words(&matrix.values), width: matrix.width, powers: &our_powers, claims }
            };
            let places: Vec<_> = height.places.iter().map(&mut of_place).collect();
            let points = height.our_points::<N>();
            let sums = quotients(level, &self.coset, *log_height, &places, &points);
            inputs.push(sums.into_iter().map(theirs::<C, N>).collect::<Vec<_>>());
        }
        inputs
    }
}

impl<InputMmcs, FriMmcs> FriPcs<InputMmcs, FriMmcs>
where
    InputMmcs: Mmcs<Goldilocks, MultiProof: Sync, Error: Sync>,
{
    /// Whether every matrix is high enough for the parameters; Plonky3's code refuses others.
    fn fits<C>(&self, requests: &[OpeningRequest<'_, ProverData<InputMmcs>, C>]) -> bool {
        let least = match self.fri.log_final_poly_len {
            0 => 1 << self.fri.log_blowup,
            log_len => 2 << (log_len + self.fri.log_blowup),
        };
        let mut matrices = requests.iter().flat_map(|request| self.mmcs.get_matrices(request.prover_data));
        matrices.all(|matrix| matrix.height() >= least && matrix.width() > 0)
    }

    fn open_with<C, Challenger, const N: usize>(
        &self,
        requests: &[OpeningRequest<'_, ProverData<InputMmcs>, C>],
        challenger: &mut Challenger,
    ) -> Opening<Inner<InputMmcs, FriMmcs>, C, Challenger>
    where
        C: ExtensionField<Goldilocks>,
        FriMmcs: Mmcs<C>,
        Challenger: FieldChallenger<Goldilocks>
            + CanObserve<FriMmcs::Commitment>
            + GrindingChallenger<Witness = Goldilocks>,
        Extension<Element, N>: OurExtension<N>,
    {
        let matrices: Vec<_> =
            requests.iter().map(|request| self.mmcs.get_matrices(request.prover_data)).collect();
        let points = requests.iter().map(|request| request.points.as_slice()).collect();
        let batch = Batch::new(matrices, points);
        let opened = batch.values::<N>(self.level, self.fri.log_blowup);

        let mut transcript = PcsProverTranscript::<Challenger, Goldilocks, C>::new(
            challenger,
            PcsShape::from_opened_values(&self.fri, &opened),
        );
        transcript.claimed_openings(&opened);
        let (alpha, witness) = transcript.batch_phase();
        let inputs = batch.quotients::<N>(self.level, &opened, alpha);

        let theirs: TwoAdicFriFoldingForMmcs<Goldilocks, InputMmcs> = TwoAdicFriFolding(PhantomData);
        let folding = Folding { level: self.level, theirs };
        let log_height = batch.heights.keys().next_back().map_or(0, |log_height| *log_height as usize);
        let proof = transcript.delegate(|challenger| {
            let witness = witness.unwrap_or(Goldilocks::ZERO);
            prove_fri(&folding, &self.fri, inputs, challenger, log_height, requests, &self.mmcs, witness)
        });
        // The transcript must be told that it ends early.
        match proof {
            Ok(proof) => {
                transcript.finish();
                Ok((opened, proof))
            }
            Err(error) => {
                transcript.abort();
                Err(error)
            }
        }
    }
}

impl<C: ExtensionField<Goldilocks>> OfHeight<C> {
    fn place(&self, point: &C) -> usize {
        self.points.iter().position(|each| each == point).expect("each point was added")
    }

    fn our_points<const N: usize>(&self) -> Vec<Extension<Element, N>> {
        self.points.iter().map(|point| ours(*point)).collect()
    }
}

/// Plonky3's folding, where whole matrices are folded in vectors.
struct Folding<T> {
    level: Level,
    theirs: T,
}

impl<C, InputProof: Sync, InputError: Debug + Sync> FriFoldingStrategy<Goldilocks, C>
    for Folding<TwoAdicFriFolding<InputProof, InputError>>
where
    C: ExtensionField<Goldilocks>,
{
    type InputProof = InputProof;
    type InputError = InputError;

    fn extra_query_index_bits(&self) -> usize {
        FriFoldingStrategy::<Goldilocks, C>::extra_query_index_bits(&self.theirs)
    }

    fn fold_row(
        &self,
        index: usize,
        log_height: usize,
        log_arity: usize,
        beta: C,
        evals: impl Iterator<Item = C>,
    ) -> C {
        self.theirs.fold_row(index, log_height, log_arity, beta, evals)
    }

    fn fold_matrix<M: Matrix<C>>(&self, beta: C, log_arity: usize, matrix: M) -> Vec<C> {
        if let Some(rows) = matrix.contiguous_rows(0..matrix.height())
            && let Some(values) = C::flatten_slice_to_base(&rows)
        {
            match C::DIMENSION {
                2 => return folded::<C, 2>(self.level, beta, log_arity, values),
                3 => return folded::<C, 3>(self.level, beta, log_arity, values),
                _ => {}
            }
        }
        self.theirs.fold_matrix(beta, log_arity, matrix)
    }
}

fn folded<C: ExtensionField<Goldilocks>, const N: usize>(
    level: Level,
    beta: C,
    log_arity: usize,
    values: &[Goldilocks],
) -> Vec<C>
where
    Extension<Element, N>: OurExtension<N>,
{
    let inverse = generator().invert_vartime().expect("a root of unity");
    let inverses = Coset::new(inverse, Element::new(1)).expect("a generator");
    let folded = fold(level, &inverses, log_arity as u32, ours::<C, N>(beta), words(values));
    folded.into_iter().map(theirs).collect()
}

impl<InputMmcs, FriMmcs, C, Challenger> Pcs<C, Challenger> for FriPcs<InputMmcs, FriMmcs>
where
    InputMmcs: Mmcs<Goldilocks, MultiProof: Sync, Error: Sync>,
    FriMmcs: Mmcs<C>,
    C: ExtensionField<Goldilocks>,
    Challenger: FieldChallenger<Goldilocks>
        + CanObserve<FriMmcs::Commitment>
        + GrindingChallenger<Witness = Goldilocks>,
{
    type Domain = TwoAdicMultiplicativeCoset<Goldilocks>;
    type Commitment = InputMmcs::Commitment;
    type ProverData = ProverData<InputMmcs>;
    type Proof = <Inner<InputMmcs, FriMmcs> as Pcs<C, Challenger>>::Proof;
    type Error = <Inner<InputMmcs, FriMmcs> as Pcs<C, Challenger>>::Error;
    type ProverError = <Inner<InputMmcs, FriMmcs> as Pcs<C, Challenger>>::ProverError;

    fn natural_domain_for_degree(&self, degree: usize) -> Self::Domain {
        Pcs::<C, Challenger>::natural_domain_for_degree(&self.inner, degree)
    }

    fn commit(
        &self,
        evaluations: impl IntoIterator<Item = (Self::Domain, RowMajorMatrix<Goldilocks>)>,
    ) -> Result<(Self::Commitment, Self::ProverData), Self::ProverError> {
        Pcs::<C, Challenger>::commit(&self.inner, evaluations)
    }

    fn open(
        &self,
        requests: Vec<OpeningRequest<'_, Self::ProverData, C>>,
        challenger: &mut Challenger,
    ) -> Result<(OpenedValues<C>, Self::Proof), Self::ProverError> {
        match C::DIMENSION {
            2 if is_ours::<C>() && self.fits(&requests) => {
                self.open_with::<C, Challenger, 2>(&requests, challenger)
            }
            3 if is_ours::<C>() && self.fits(&requests) => {
                self.open_with::<C, Challenger, 3>(&requests, challenger)
            }
            _ => self.inner.open(requests, challenger),
        }
    }

    fn verify(
        &self,
        claims: Vec<CommitmentOpening<C, Self::Commitment, Self::Domain>>,
        proof: &Self::Proof,
        challenger: &mut Challenger,
    ) -> Result<(), Self::Error> {
        self.inner.verify(claims, proof, challenger)
    }
}

impl<InputMmcs, FriMmcs, C, Challenger> UnivariateStarkPcs<C, Challenger> for FriPcs<InputMmcs, FriMmcs>
where
    InputMmcs: Mmcs<Goldilocks, MultiProof: Sync, Error: Sync>,
    FriMmcs: Mmcs<C>,
    C: ExtensionField<Goldilocks>,
    Challenger: FieldChallenger<Goldilocks>
        + CanObserve<FriMmcs::Commitment>
        + GrindingChallenger<Witness = Goldilocks>,
{
    type EvaluationsOnDomain<'a> =
        <Inner<InputMmcs, FriMmcs> as UnivariateStarkPcs<C, Challenger>>::EvaluationsOnDomain<'a>;

    const ZK: bool = false;

    fn log_max_trace_height(&self) -> usize {
        UnivariateStarkPcs::<C, Challenger>::log_max_trace_height(&self.inner)
    }

    fn log_min_trace_height(&self) -> usize {
        UnivariateStarkPcs::<C, Challenger>::log_min_trace_height(&self.inner)
    }

    fn get_quotient_ldes(
        &self,
        evaluations: impl IntoIterator<Item = (Self::Domain, RowMajorMatrix<Goldilocks>)>,
        num_chunks: usize,
    ) -> Result<Vec<RowMajorMatrix<Goldilocks>>, Self::ProverError> {
        UnivariateStarkPcs::<C, Challenger>::get_quotient_ldes(&self.inner, evaluations, num_chunks)
    }

    fn commit_ldes(
        &self,
        ldes: Vec<RowMajorMatrix<Goldilocks>>,
    ) -> Result<(Self::Commitment, Self::ProverData), Self::ProverError> {
        UnivariateStarkPcs::<C, Challenger>::commit_ldes(&self.inner, ldes)
    }

    fn get_evaluations_on_domain<'a>(
        &self,
        prover_data: &'a Self::ProverData,
        index: usize,
        domain: Self::Domain,
    ) -> Self::EvaluationsOnDomain<'a> {
        UnivariateStarkPcs::<C, Challenger>::get_evaluations_on_domain(
            &self.inner,
            prover_data,
            index,
            domain,
        )
    }

    fn build_periodic_lde_table(
        &self,
        columns: &[Vec<Goldilocks>],
        trace_domain: Self::Domain,
        quotient_domain: Self::Domain,
    ) -> PeriodicLdeTable<Goldilocks> {
        UnivariateStarkPcs::<C, Challenger>::build_periodic_lde_table(
            &self.inner,
            columns,
            trace_domain,
            quotient_domain,
        )
    }
}
