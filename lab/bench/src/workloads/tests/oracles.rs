//! Other libraries read the inputs as `docs/bench.md` describes them and compute the definitions' answers.

use crate::workloads::{Workloads, definitions};
use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM, pairing::Pairing};
use ark_ff::{Field, PrimeField};
use ark_poly::{EvaluationDomain, GeneralEvaluationDomain};
use ark_serialize::CanonicalSerialize;
use blst::{BLST_ERROR, min_pk};
use proofmill_bench::catalogue::Catalogue;
use sha2::{Digest, Sha256};

type Problem = Box<dyn std::error::Error>;

/// Size, input and answer of a benchmark at its first size with an answer.
fn smallest(kernel: &str) -> Result<(usize, Vec<u8>, String), Problem> {
    let (family, name) = kernel.split_once('/').ok_or("a family and a name")?;
    let families = definitions()?;
    let family = families.iter().find(|known| known.name == family).ok_or("a family")?;
    let benchmark = family.benchmarks.iter().find(|known| known.name == name).ok_or("a benchmark")?;
    let size = benchmark.sizes.first().ok_or("a size")?;
    let answer = benchmark.answers.get(&size.to_string()).ok_or("an answer")?;
    Ok((size.0 as usize, Workloads::default().input(kernel, size.0)?, answer.clone()))
}

fn answer(output: &[u8]) -> String {
    hex::encode(&Sha256::digest(output)[..8])
}

/// arkworks' uncompressed encoding of field elements is Proofmill's: canonical, little-endian.
fn elements<F: Field>(bytes: &[u8]) -> Result<Vec<F>, Problem> {
    let each = bytes.chunks(F::zero().uncompressed_size());
    let elements = each.map(F::deserialize_uncompressed).collect::<Result<_, _>>();
    Ok(elements.map_err(|error| error.to_string())?)
}

fn bytes(elements: impl IntoIterator<Item: CanonicalSerialize>) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    for element in elements {
        element.serialize_uncompressed(&mut bytes).map_err(|error| error.to_string())?;
    }
    Ok(bytes)
}

/// The first `count` points, and the remaining bytes.
fn points<A: AffineRepr>(
    count: usize,
    bytes: &[u8],
    point: fn(A::BaseField, A::BaseField) -> A,
) -> Result<(Vec<A>, &[u8]), Problem> {
    let coordinates = 2 * count * A::BaseField::default().uncompressed_size();
    let (points, left) = bytes.split_at(coordinates);
    let coordinates = elements::<A::BaseField>(points)?;
    let points = coordinates.chunks(2).map(|pair| point(pair[0], pair[1]));
    Ok((points.collect(), left))
}

fn transform<F: PrimeField>(kernel: &str) -> Result<(), Problem> {
    let (size, input, expected) = smallest(kernel)?;
    let domain = GeneralEvaluationDomain::<F>::new(size).ok_or("a domain")?;
    let coefficients = elements::<F>(&input)?;
    assert_eq!(coefficients.len(), size);
    assert_eq!(answer(&bytes(domain.fft(&coefficients))?), expected, "{kernel}");
    Ok(())
}

#[test]
fn transforms_agree_with_arkworks() -> Result<(), Problem> {
    transform::<ark_bn254::Fr>("ntt/bn254-fr")?;
    transform::<ark_bls12_381::Fr>("ntt/bls12-381-fr")
}

fn sum<G: CurveGroup + VariableBaseMSM>(
    kernel: &str,
    point: fn(G::BaseField, G::BaseField) -> G::Affine,
) -> Result<(), Problem> {
    for kernel in [kernel.to_owned(), format!("{kernel}-equal"), format!("{kernel}-bits")] {
        let (size, input, expected) = smallest(&kernel)?;
        let (points, scalars) = points::<G::Affine>(size, &input, point)?;
        let scalars = elements::<G::ScalarField>(scalars)?;
        let sum = G::msm(&points, &scalars).map_err(|_| "as many scalars as points")?.into_affine();
        let (x, y) = sum.xy().ok_or("a point other than infinity")?;
        assert_eq!(answer(&bytes([x, y])?), expected, "{kernel}");
    }
    Ok(())
}

#[test]
fn sums_agree_with_arkworks() -> Result<(), Problem> {
    sum::<ark_bn254::G1Projective>("msm/bn254-g1", ark_bn254::G1Affine::new)?;
    sum::<ark_bn254::G2Projective>("msm/bn254-g2", ark_bn254::G2Affine::new)?;
    sum::<ark_bls12_381::G1Projective>("msm/bls12-381-g1", ark_bls12_381::G1Affine::new)?;
    sum::<ark_bls12_381::G2Projective>("msm/bls12-381-g2", ark_bls12_381::G2Affine::new)
}

fn products<A: AffineRepr>(kernel: &str, point: fn(A::BaseField, A::BaseField) -> A) -> Result<(), Problem> {
    let (size, input, expected) = smallest(kernel)?;
    let (points, scalars) = points::<A>(size, &input, point)?;
    let scalars = elements::<A::ScalarField>(scalars)?;
    let products = points.iter().zip(scalars).map(|(point, scalar)| (*point * scalar).into_affine());
    let coordinates: Vec<_> = products.filter_map(|product| product.xy()).flat_map(|(x, y)| [x, y]).collect();
    assert_eq!(coordinates.len(), 2 * size);
    assert_eq!(answer(&bytes(coordinates)?), expected, "{kernel}");
    Ok(())
}

#[test]
fn products_agree_with_arkworks() -> Result<(), Problem> {
    products("products/bn254-g1", ark_bn254::G1Affine::new)?;
    products("products/bn254-g2", ark_bn254::G2Affine::new)?;
    products("products/bls12-381-g1", ark_bls12_381::G1Affine::new)?;
    products("products/bls12-381-g2", ark_bls12_381::G2Affine::new)
}

#[test]
fn pairings_agree_with_arkworks() -> Result<(), Problem> {
    use ark_bls12_381::Bls12_381;
    use ark_bn254::Bn254;
    let (size, input, expected) = smallest("pairing/bn254")?;
    let (p, left) = points(size, &input, ark_bn254::G1Affine::new)?;
    let (q, _) = points(size, left, ark_bn254::G2Affine::new)?;
    assert_eq!(answer(&bytes([Bn254::multi_pairing(p, q).0])?), expected);
    let (size, input, expected) = smallest("pairing/bls12-381")?;
    let (p, left) = points(size, &input, ark_bls12_381::G1Affine::new)?;
    let (q, _) = points(size, left, ark_bls12_381::G2Affine::new)?;
    assert_eq!(answer(&bytes([Bls12_381::multi_pairing(p, q).0])?), expected);
    Ok(())
}

#[test]
fn digests_agree_with_sha2() -> Result<(), Problem> {
    let (_, input, expected) = smallest("sha256/message")?;
    assert_eq!(answer(&Sha256::digest(input)), expected);
    let (_, input, expected) = smallest("sha256/pairs")?;
    let digests: Vec<u8> = input.chunks(64).flat_map(Sha256::digest).collect();
    assert_eq!(answer(&digests), expected);
    let (size, input, expected) = smallest("merkle/sha256")?;
    let mut layer: Vec<u8> = input.chunks(64).flat_map(Sha256::digest).collect();
    assert_eq!(layer.len(), 32 * size);
    while layer.len() > 32 {
        layer = layer.chunks(64).flat_map(Sha256::digest).collect();
    }
    assert_eq!(answer(&layer), expected);
    Ok(())
}

const DST: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

#[test]
fn signatures_agree_with_blst() -> Result<(), Problem> {
    let wrong = |error: BLST_ERROR| format!("{error:?}");
    let (_, input, expected) = smallest("bls/sign")?;
    let (secret, message) = input.split_at(32);
    let secret = min_pk::SecretKey::from_bytes(secret).map_err(wrong)?;
    assert_eq!(answer(&secret.sign(message, DST, &[]).to_bytes()), expected);

    let (_, secret, expected) = smallest("bls/public-key")?;
    let secret = min_pk::SecretKey::from_bytes(&secret).map_err(wrong)?;
    assert_eq!(answer(&secret.sk_to_pk().to_bytes()), expected);

    let verify = |key: &[u8], message: &[u8], signature: &[u8]| -> Result<(), Problem> {
        let key = min_pk::PublicKey::from_bytes(key).map_err(wrong)?;
        let signature = min_pk::Signature::from_bytes(signature).map_err(wrong)?;
        assert_eq!(signature.verify(true, message, DST, &[], &key, true), BLST_ERROR::BLST_SUCCESS);
        Ok(())
    };
    for kernel in ["bls/verify", "bls/batch-verify", "bls/batch-verify-one-message"] {
        let (size, input, expected) = smallest(kernel)?;
        assert_eq!((input.len(), expected), (176 * size, answer(&[1])), "{kernel}");
        input.chunks(176).try_for_each(|set| verify(&set[..48], &set[48..80], &set[80..]))?;
    }
    let (size, input, expected) = smallest("bls/fast-aggregate-verify")?;
    let (keys, rest) = input.split_at(48 * size);
    let keys = keys.chunks(48).map(min_pk::PublicKey::from_bytes).collect::<Result<Vec<_>, _>>();
    let keys = keys.map_err(wrong)?;
    let signature = min_pk::Signature::from_bytes(&rest[32..]).map_err(wrong)?;
    let verdict = signature.fast_aggregate_verify(true, &rest[..32], DST, &keys.iter().collect::<Vec<_>>());
    assert_eq!((verdict, expected), (BLST_ERROR::BLST_SUCCESS, answer(&[1])));
    Ok(())
}
