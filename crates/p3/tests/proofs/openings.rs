//! The commitment scheme against Plonky3's: matrices of several heights, widths and points, both extensions.

use p3_challenger::{CanObserve, FieldChallenger, HashChallenger, SerializingChallenger64};
use p3_commit::{ExtensionMmcs, OpenedValues, OpeningRequest, Pcs, UnivariateStarkPcs};
use p3_field::{
    ExtensionField, PrimeField64,
    coset::TwoAdicMultiplicativeCoset,
    extension::{BinomialExtensionField, CubicTrinomialExtensionField},
};
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_goldilocks::Goldilocks;
use p3_keccak::Keccak256Hash;
use p3_matrix::dense::RowMajorMatrix;
use p3_merkle_tree::MerkleTreeMmcs;
use proofmill_p3::{Dft, FriPcs, KeccakF};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use rand::{Rng, SeedableRng, rngs::SmallRng};

type Mmcs = MerkleTreeMmcs<Goldilocks, u64, KeccakF, KeccakF, 2, 4>;
type Commitment = <Mmcs as p3_commit::Mmcs<Goldilocks>>::Commitment;
type Challenger = SerializingChallenger64<Goldilocks, HashChallenger<u8, Keccak256Hash, 32>>;

/// The logarithm of the rows, and the columns, of each matrix of each commitment.
const SHAPES: [&[(usize, usize)]; 3] = [&[(6, 1), (6, 9), (4, 2)], &[(6, 3)], &[(9, 1), (4, 40)]];

fn parameters<M>(log_final_poly_len: usize, max_log_arity: usize, mmcs: M) -> FriParameters<M> {
    FriParameters {
        log_blowup: 2,
        log_final_poly_len,
        max_log_arity,
        num_queries: 4,
        batch_proof_of_work_bits: 0,
        commit_proof_of_work_bits: 0,
        query_proof_of_work_bits: 0,
        mmcs,
    }
}

/// Opens low-degree extensions, some of whose elements are words above p, and verifies.
fn opened<C, P>(pcs: &P) -> String
where
    C: ExtensionField<Goldilocks>,
    P: UnivariateStarkPcs<C, Challenger>,
    P: Pcs<C, Challenger, Domain = TwoAdicMultiplicativeCoset<Goldilocks>, Commitment = Commitment>,
{
    let mut rng = SmallRng::seed_from_u64(5);
    let mut challenger = Challenger::from_hasher(vec![], Keccak256Hash);
    let mut committed = Vec::new();
    for shapes in SHAPES {
        let ldes = shapes.iter().map(|(log_rows, width)| {
            let words = (0..width << log_rows).map(|_| Goldilocks::new(rng.next_u64() | (0xffff_fff0 << 32)));
            let domain = pcs.natural_domain_for_degree(1 << log_rows);
            (domain, RowMajorMatrix::new(words.collect(), *width))
        });
        let ldes: Vec<_> = ldes.collect();
        let mut ldes = pcs.get_quotient_ldes(ldes, 1).expect("extensions");
        for value in ldes.iter_mut().flat_map(|lde| &mut lde.values) {
            // Another word for a small element.
            let word = value.as_canonical_u64();
            *value = Goldilocks::new(word.checked_add(0xffff_ffff_0000_0001).unwrap_or(word));
        }
        let (commitment, data) = pcs.commit_ldes(ldes).expect("a commitment");
        challenger.observe(commitment.clone());
        committed.push((commitment, data));
    }
    let points: [C; 3] = std::array::from_fn(|_| challenger.sample_algebra_element());
    let points_of = |round: usize, index: usize| match (round + index) % 3 {
        0 => vec![points[0], points[1]],
        1 => vec![points[0]],
        _ => vec![points[2], points[0]],
    };
    let of_round = |round: usize| (0..SHAPES[round].len()).map(move |index| points_of(round, index));
    let requests = committed
        .iter()
        .enumerate()
        .map(|(round, (_, data))| OpeningRequest { prover_data: data, points: of_round(round).collect() });
    let mut verifier = challenger.clone();
    let (values, proof): (OpenedValues<C>, _) =
        pcs.open(requests.collect(), &mut challenger).expect("a proof");
    let claims = committed.iter().zip(&values).enumerate().map(|(round, ((commitment, _), values))| {
        let matrices =
            of_round(round).zip(values).zip(SHAPES[round]).map(|((points, values), (log_rows, _))| {
                (
                    pcs.natural_domain_for_degree(1 << log_rows),
                    points.into_iter().zip(values.clone()).collect(),
                )
            });
        (commitment.clone(), matrices.collect::<Vec<_>>()).into()
    });
    assert!(pcs.verify(claims.collect(), &proof, &mut verifier).is_ok(), "a valid proof");
    serde_json::to_string(&(values, proof)).expect("JSON")
}

fn same<C: ExtensionField<Goldilocks>>() {
    let mmcs = Mmcs::new(KeccakF::default(), KeccakF::default(), 1);
    for (log_final_poly_len, max_log_arity) in [(0, 1), (1, 2), (0, 3), (0, 4)] {
        let fri =
            || parameters(log_final_poly_len, max_log_arity, ExtensionMmcs::<Goldilocks, C, _>::new(mmcs));
        let expected = opened::<C, _>(&TwoAdicFriPcs::new(Dft::default(), mmcs, fri()));
        for_each_goldilocks_level(|level| {
            let found = opened::<C, _>(&FriPcs::at(level, mmcs, fri()));
            assert!(found == expected, "arity 2^{max_log_arity}, {level}");
        });
    }
}

#[test]
fn quadratic_openings_are_plonky3s() {
    for_each_pool(&[1, 3], |_| same::<BinomialExtensionField<Goldilocks, 2>>());
}

#[test]
fn cubic_openings_are_plonky3s() {
    same::<CubicTrinomialExtensionField<Goldilocks>>();
}

/// An extension without kernels.
#[test]
fn quintic_openings_are_plonky3s() {
    same::<BinomialExtensionField<Goldilocks, 5>>();
}
