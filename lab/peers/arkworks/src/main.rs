//! The runner of arkworks' kernels.

#![forbid(unsafe_code)]

mod encoding;

use ark_ec::{
    CurveGroup, VariableBaseMSM,
    pairing::Pairing,
    short_weierstrass::{Affine, Projective, SWCurveConfig},
};
use ark_ff::{FftField, PrimeField};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use encoding::{Encoding, decode_point, encode_point, encoded};
use peer_protocol::{Bytes, Task, Work, locked_version, serve, work};
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(locked_version(include_str!("../../Cargo.lock"), "ark-ec"), prepare)
}

fn prepare(task: &Task) -> Result<Box<dyn Work>, String> {
    // The distribution of the scalars does not change the function that is called.
    let sum = task.kernel.strip_suffix("-equal").or(task.kernel.strip_suffix("-bits"));
    match sum.unwrap_or(&task.kernel) {
        "msm/bn254-g1" => msm::<ark_bn254::g1::Config>(task),
        "msm/bn254-g2" => msm::<ark_bn254::g2::Config>(task),
        "msm/bls12-381-g1" => msm::<ark_bls12_381::g1::Config>(task),
        "msm/bls12-381-g2" => msm::<ark_bls12_381::g2::Config>(task),
        "products/bn254-g1" => products::<ark_bn254::g1::Config>(task),
        "products/bn254-g2" => products::<ark_bn254::g2::Config>(task),
        "products/bls12-381-g1" => products::<ark_bls12_381::g1::Config>(task),
        "products/bls12-381-g2" => products::<ark_bls12_381::g2::Config>(task),
        "ntt/bn254-fr" => ntt::<ark_bn254::Fr>(task),
        "ntt/bls12-381-fr" => ntt::<ark_bls12_381::Fr>(task),
        "pairing/bn254" => pairing::<ark_bn254::Bn254, ark_bn254::g1::Config, ark_bn254::g2::Config>(task),
        "pairing/bls12-381" => {
            use ark_bls12_381::{Bls12_381, g1, g2};
            pairing::<Bls12_381, g1::Config, g2::Config>(task)
        }
        kernel => Err(format!("no kernel {kernel}")),
    }
}

/// The sum of scalars times points.
fn msm<C: SWCurveConfig<BaseField: Encoding, ScalarField: Encoding>>(
    task: &Task,
) -> Result<Box<dyn Work>, String> {
    let (points, scalars) = points_and_scalars::<C>(task)?;
    let sum = move || Projective::<C>::msm_unchecked(&points, &scalars).into_affine();
    Ok(work(sum, encode_point))
}

/// The product of each point and its scalar.
fn products<C: SWCurveConfig<BaseField: Encoding, ScalarField: Encoding>>(
    task: &Task,
) -> Result<Box<dyn Work>, String> {
    let (points, scalars) = points_and_scalars::<C>(task)?;
    let products = move || {
        let products: Vec<_> = points.iter().zip(&scalars).map(|(point, scalar)| *point * scalar).collect();
        Projective::<C>::normalize_batch(&products)
    };
    Ok(work(products, |products| products.iter().flat_map(encode_point).collect()))
}

fn points_and_scalars<C: SWCurveConfig<BaseField: Encoding, ScalarField: Encoding>>(
    task: &Task,
) -> Result<(Vec<Affine<C>>, Vec<C::ScalarField>), String> {
    let mut input = Bytes::new(&task.input);
    let points = input.take(task.size, 2 * C::BaseField::LEN, decode_point::<C>)?;
    let scalars = input.take(task.size, C::ScalarField::LEN, C::ScalarField::decode)?;
    input.end()?;
    Ok((points, scalars))
}

/// The product of the pairings of points of G1 with points of G2.
fn pairing<E, G1, G2>(task: &Task) -> Result<Box<dyn Work>, String>
where
    E: Pairing<G1Affine = Affine<G1>, G2Affine = Affine<G2>, TargetField: Encoding>,
    G1: SWCurveConfig<BaseField: Encoding>,
    G2: SWCurveConfig<BaseField: Encoding>,
{
    let mut input = Bytes::new(&task.input);
    let of_g1 = input.take(task.size, 2 * G1::BaseField::LEN, decode_point::<G1>)?;
    let of_g2 = input.take(task.size, 2 * G2::BaseField::LEN, decode_point::<G2>)?;
    input.end()?;
    Ok(work(move || E::multi_pairing(&of_g1, &of_g2).0, |product| encoded(&[*product])))
}

/// Coefficients to values, both in natural order, in place: each run transforms the values of the previous
/// one.
fn ntt<F: FftField + PrimeField + Encoding>(task: &Task) -> Result<Box<dyn Work>, String> {
    let mut input = Bytes::new(&task.input);
    let values = input.take(task.size, F::LEN, F::decode)?;
    input.end()?;
    let domain = Radix2EvaluationDomain::<F>::new(task.size).ok_or("expected a power of two")?;
    Ok(Box::new(Transform { domain, values }))
}

struct Transform<F: FftField> {
    domain: Radix2EvaluationDomain<F>,
    values: Vec<F>,
}

impl<F: FftField + Encoding> Work for Transform<F> {
    fn run(&mut self) {
        self.domain.fft_in_place(&mut self.values);
    }

    fn output(&self) -> Vec<u8> {
        encoded(&self.values)
    }
}
