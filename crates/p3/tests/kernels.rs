//! Plonky3's traits with Proofmill's kernels against Plonky3's own implementations.

use p3_dft::{NaiveDft, Radix2Dit, TwoAdicSubgroupDft};
use p3_field::{Field, PackedValue, PrimeCharacteristicRing, PrimeField64};
use p3_goldilocks::{Goldilocks, Poseidon2Goldilocks};
use p3_matrix::{Matrix, bitrev::BitReversibleMatrix, dense::RowMajorMatrix};
use p3_poseidon2::ExternalLayerConstants;
use p3_symmetric::{
    CompressionFunctionFromHasher, CryptographicHasher, PaddingFreeSponge, Permutation,
    PseudoCompressionFunction, SerializingHasher, TruncatedPermutation,
};
use proofmill_p3::{Dft, KeccakF, Poseidon2};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use rand::{Rng, RngExt, SeedableRng, distr::StandardUniform, rngs::SmallRng};

/// Any words, of which those from p on represent elements too.
fn values(count: usize, seed: u64) -> Vec<Goldilocks> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let edges = [0, 1, Goldilocks::ORDER_U64 - 1, Goldilocks::ORDER_U64, Goldilocks::ORDER_U64 + 1, u64::MAX];
    (0..count)
        .map(|index| Goldilocks::new(if index % 3 == 0 { edges[index / 3 % 6] } else { rng.next_u64() }))
        .collect()
}

/// Words, not elements: outputs must have Plonky3's canonical representation.
fn words(values: &[Goldilocks]) -> Vec<u64> {
    values.iter().map(PrimeField64::as_canonical_u64).collect()
}

#[test]
fn transforms_are_plonky3s() {
    let shift = Goldilocks::GENERATOR * Goldilocks::from_u64(12);
    for (log_height, width) in [(0, 1), (0, 3), (1, 2), (3, 5), (4, 1), (6, 16), (7, 3), (10, 1), (12, 9)] {
        let matrix = RowMajorMatrix::new(values(width << log_height, 1), width);
        let natural = |matrix: RowMajorMatrix<_>| matrix.to_row_major_matrix().values;
        let theirs = Radix2Dit::default();
        for_each_goldilocks_level(|level| {
            let ours = Dft::at(level);
            let what = format!("{level}, 2^{log_height} x {width}");
            let dft = ours.dft_batch(matrix.clone()).to_row_major_matrix().values;
            assert_eq!(dft, natural(theirs.dft_batch(matrix.clone()).to_row_major_matrix()), "{what}");
            let idft = ours.idft_batch(matrix.clone()).values;
            assert_eq!(idft, theirs.idft_batch(matrix.clone()).values, "{what}, inverse");
            let coset = ours.coset_dft_batch(matrix.clone(), shift).to_row_major_matrix().values;
            let expected = theirs.coset_dft_batch(matrix.clone(), shift).to_row_major_matrix().values;
            assert_eq!(coset, expected, "{what}, coset");
            let inverse = ours.coset_idft_batch(matrix.clone(), shift).values;
            assert_eq!(
                inverse,
                theirs.coset_idft_batch(matrix.clone(), shift).values,
                "{what}, from a coset"
            );
            for added_bits in 0..=3 {
                let extension = ours.coset_lde_batch(matrix.clone(), added_bits, shift);
                let expected = theirs.coset_lde_batch(matrix.clone(), added_bits, shift).bit_reverse_rows();
                assert_eq!(
                    extension.bit_reverse_rows().values,
                    expected.to_row_major_matrix().values,
                    "{what}, extended by {added_bits} bits"
                );
            }
        });
    }
}

#[test]
fn transforms_are_the_definitions() {
    let matrix = RowMajorMatrix::new(values(3 * 32, 2), 3);
    let ours = Dft::default().dft_batch(matrix.clone()).to_row_major_matrix();
    assert_eq!(ours, NaiveDft.dft_batch(matrix));
}

#[test]
fn threads_do_not_change_transforms() {
    let matrix = RowMajorMatrix::new(values(6 << 12, 3), 6);
    let expected = Radix2Dit::default().coset_lde_batch(matrix.clone(), 1, Goldilocks::GENERATOR);
    let expected = expected.to_row_major_matrix();
    for_each_pool(&[1, 2, 5], |threads| {
        let extension = Dft::default().coset_lde_batch(matrix.clone(), 1, Goldilocks::GENERATOR);
        assert!(extension.to_row_major_matrix() == expected, "{threads} threads");
    });
}

fn states<T: PackedValue, const WIDTH: usize>(value: impl Fn(usize) -> T::Value) -> [T; WIDTH] {
    std::array::from_fn(|element| T::from_fn(|lane| value(element * T::WIDTH + lane)))
}

/// The packed permutation against that of single states.
fn permutes_as<T, const WIDTH: usize>(
    ours: &impl Permutation<[T; WIDTH]>,
    theirs: &impl Permutation<[T::Value; WIDTH]>,
    value: impl Fn(usize) -> T::Value,
) where
    T: PackedValue<Value: std::fmt::Debug + PartialEq>,
{
    let mut permuted = states::<T, WIDTH>(value);
    let before = permuted;
    ours.permute_mut(&mut permuted);
    for lane in 0..T::WIDTH {
        let expected = theirs.permute(before.map(|element| element.as_slice()[lane]));
        assert_eq!(permuted.map(|element| element.as_slice()[lane]), expected, "lane {lane} of {}", T::WIDTH);
    }
}

fn poseidon2_is_plonky3s<const WIDTH: usize>(drawn: Poseidon2<WIDTH>, theirs: Poseidon2Goldilocks<WIDTH>)
where
    proofmill_hash::Poseidon2<WIDTH>: proofmill_hash::poseidon2::Parameters,
    Poseidon2Goldilocks<WIDTH>: Permutation<[Goldilocks; WIDTH]>,
{
    // Those that `new_from_rng_128` draws.
    let mut rng = SmallRng::seed_from_u64(7);
    let external = ExternalLayerConstants::<Goldilocks, WIDTH>::new_from_rng(8, &mut rng);
    let internal: Vec<_> = (&mut rng).sample_iter(StandardUniform).take(22).collect();
    let inputs = values(64 * WIDTH, 4);
    let check = |ours: &Poseidon2<WIDTH>| {
        permutes_as::<Goldilocks, WIDTH>(ours, &theirs, |i| inputs[i]);
        permutes_as::<<Goldilocks as Field>::Packing, WIDTH>(ours, &theirs, |i| inputs[i]);
        permutes_as::<[Goldilocks; 4], WIDTH>(ours, &theirs, |i| inputs[i]);
        permutes_as::<[Goldilocks; 16], WIDTH>(ours, &theirs, |i| inputs[i]);
        permutes_as::<[Goldilocks; 33], WIDTH>(ours, &theirs, |i| inputs[i]);
    };
    check(&drawn);
    for_each_goldilocks_level(|level| check(&Poseidon2::at(level, &external, &internal)));
}

#[test]
fn poseidon2_with_drawn_constants_is_plonky3s() {
    let rng = || SmallRng::seed_from_u64(7);
    poseidon2_is_plonky3s::<8>(
        Poseidon2::new_from_rng_128(&mut rng()),
        Poseidon2Goldilocks::new_from_rng_128(&mut rng()),
    );
    poseidon2_is_plonky3s::<12>(
        Poseidon2::new_from_rng_128(&mut rng()),
        Poseidon2Goldilocks::new_from_rng_128(&mut rng()),
    );
}

#[test]
fn the_default_poseidon2_is_plonky3s() {
    let inputs = values(16 * 12, 5);
    permutes_as::<[Goldilocks; 16], 8>(
        &proofmill_p3::default_goldilocks_poseidon2_8(),
        &p3_goldilocks::default_goldilocks_poseidon2_8(),
        |i| inputs[i],
    );
    permutes_as::<[Goldilocks; 16], 12>(
        &proofmill_p3::default_goldilocks_poseidon2_12(),
        &p3_goldilocks::default_goldilocks_poseidon2_12(),
        |i| inputs[i],
    );
}

#[test]
fn keccak_is_plonky3s() {
    let inputs = words(&values(64 * 25, 6));
    for_each_goldilocks_level(|level| {
        let (ours, theirs) = (KeccakF::at(level), p3_keccak::KeccakF);
        permutes_as::<u64, 25>(&ours, &theirs, |i| inputs[i]);
        permutes_as::<[u64; 2], 25>(&ours, &theirs, |i| inputs[i]);
        permutes_as::<[u64; 16], 25>(&ours, &theirs, |i| inputs[i]);
        permutes_as::<[u64; 33], 25>(&ours, &theirs, |i| inputs[i]);
    });
}

/// The hash of rows and the compression of pairs, in numbers around those of vectors and blocks.
fn hashes_as<W: Copy + Default + std::fmt::Debug + PartialEq>(
    ours: &(impl CryptographicHasher<Goldilocks, [W; 4]> + PseudoCompressionFunction<[W; 4], 2>),
    hash: &impl CryptographicHasher<Goldilocks, [W; 4]>,
    compression: &impl PseudoCompressionFunction<[W; 4], 2>,
) {
    // Nothing is read for no digests.
    CryptographicHasher::<_, [W; 4]>::hash_many(ours, &[Goldilocks::ONE], &mut []);
    for (rows, columns) in [(1, 1), (1, 30), (2, 4), (3, 0), (9, 17), (16, 18), (63, 5), (65, 8), (130, 3)] {
        let values = values(rows * columns, 8);
        let (mut found, mut expected) = (vec![[W::default(); 4]; rows], vec![[W::default(); 4]; rows]);
        ours.hash_many(&values, &mut found);
        hash.hash_many(&values, &mut expected);
        assert_eq!(found, expected, "{rows} rows of {columns}");
        let row = &values[..columns];
        assert_eq!(ours.hash_iter(row.iter().copied()), hash.hash_iter(row.iter().copied()), "{columns}");
        let pairs: Vec<_> = found.iter().map(|digest| [*digest, found[0]]).collect();
        let mut parents = [vec![[W::default(); 4]; rows], vec![[W::default(); 4]; rows]];
        ours.compress_many(&pairs, &mut parents[0]);
        compression.compress_many(&pairs, &mut parents[1]);
        assert_eq!(parents[0], parents[1], "{rows} pairs");
        assert_eq!(ours.compress(pairs[0]), compression.compress(pairs[0]));
    }
}

#[test]
fn hashes_of_trees_are_plonky3s() {
    let theirs_8 = p3_goldilocks::default_goldilocks_poseidon2_8();
    hashes_as(
        &proofmill_p3::default_goldilocks_poseidon2_8(),
        &PaddingFreeSponge::<_, 8, 4, 4>::new(theirs_8.clone()),
        &TruncatedPermutation::<_, 2, 4, 8>::new(theirs_8),
    );
    let theirs_12 = p3_goldilocks::default_goldilocks_poseidon2_12();
    hashes_as(
        &proofmill_p3::default_goldilocks_poseidon2_12(),
        &PaddingFreeSponge::<_, 12, 8, 4>::new(theirs_12.clone()),
        &TruncatedPermutation::<_, 2, 4, 12>::new(theirs_12),
    );
    for_each_goldilocks_level(|level| {
        let sponge = PaddingFreeSponge::<_, 25, 17, 4>::new(p3_keccak::KeccakF);
        let compression = CompressionFunctionFromHasher::<_, 2, 4>::new(sponge);
        hashes_as::<u64>(&KeccakF::at(level), &SerializingHasher::new(sponge), &compression);
    });
}
