//! Transforms agree with arkworks at every level and thread count.

use ark_ff::{BigInt, PrimeField};
use ark_poly::{EvaluationDomain, GeneralEvaluationDomain};
use proofmill_cpu::Level;
use proofmill_field::{
    Field, Fp, LANES,
    bn254::{Fr, FrParams},
};
use proofmill_ntt::Domain;
use proofmill_testing::{for_each_level, for_each_pool, rng};
use std::ops::Range;

fn to_ark(values: &[Fr]) -> Vec<ark_bn254::Fr> {
    values.iter().map(|value| ark_bn254::Fr::from_bigint(BigInt(value.to_canonical())).unwrap()).collect()
}

fn from_ark(values: &[ark_bn254::Fr]) -> Vec<Fr> {
    values.iter().map(|value| Fr::from_canonical(value.into_bigint().0).unwrap()).collect()
}

fn inputs(len: usize) -> Vec<Vec<Fr>> {
    let mut rng = rng(len as u64);
    let mut spike = vec![Fr::ZERO; len];
    spike[len - 1] = -Fr::ONE;
    vec![(0..len).map(|_| Fr::random(&mut rng)).collect(), vec![-Fr::ONE; len], spike]
}

fn check(log_n: u32) {
    let ours = Domain::new(log_n).unwrap();
    let theirs = GeneralEvaluationDomain::<ark_bn254::Fr>::new(1 << log_n).unwrap();
    let shift = Fr::generator();
    let coset = theirs.get_coset(to_ark(&[shift])[0]).unwrap();
    for input in inputs(ours.len()) {
        let expected = from_ark(&theirs.fft(&to_ark(&input)));
        let expected_coset = from_ark(&coset.fft(&to_ark(&input)));
        for_each_level(|level| {
            let mut values = input.clone();
            ours.ntt(level, &mut values);
            assert!(values == expected, "ntt 2^{log_n} {level}");
            ours.intt(level, &mut values);
            assert!(values == input, "intt 2^{log_n} {level}");
            ours.coset_ntt(level, &mut values, shift);
            assert!(values == expected_coset, "coset_ntt 2^{log_n} {level}");
            ours.coset_intt(level, &mut values, shift);
            assert!(values == input, "coset_intt 2^{log_n} {level}");
            values.clone_from(&expected);
            ours.intt_scaled(level, &mut values, shift);
            ours.ntt(level, &mut values);
            assert!(values == expected_coset, "intt_scaled 2^{log_n} {level}");
            for machines in [1, 2, 3].into_iter().filter(|_| log_n >= 6) {
                let values = divided(level, &ours, machines, shift, &expected);
                assert!(values == expected_coset, "2^{log_n} divided among {machines} {level}");
            }
        });
    }
}

/// From values to those on a coset, in steps of as many machines.
fn divided(level: Level, domain: &Domain<FrParams>, machines: usize, shift: Fr, values: &[Fr]) -> Vec<Fr> {
    let (there, back) = (domain.divided_intt(shift), domain.divided_ntt());
    let (rows, columns) = (there.rows(), there.columns());
    assert_eq!((back.rows(), back.columns(), rows * columns), (columns, rows, values.len()));
    let columns_of = |part: Range<usize>| -> Vec<Fr> {
        values.chunks(columns).flat_map(|row| &row[part.clone()]).copied().collect()
    };
    let rows_of = |matrix: &[Fr], width: usize, part: Range<usize>| {
        matrix[part.start * width..part.end * width].to_vec()
    };
    let first = each_part(columns, machines, |part| there.first(level, part.clone(), &columns_of(part)));
    let middle = each_part(rows, machines, |part| {
        let coefficients = there.second(level, part.clone(), &rows_of(&first, columns, part.clone()));
        back.first(level, part, &coefficients)
    });
    each_part(columns, machines, |part| back.second(level, part.clone(), &rows_of(&middle, rows, part)))
}

/// The matrix of `width` columns of which each machine yields some.
fn each_part(width: usize, machines: usize, step: impl Fn(Range<usize>) -> Vec<Fr>) -> Vec<Fr> {
    let bound = |machine| width / LANES * machine / machines * LANES;
    let parts =
        (0..machines).map(|machine| bound(machine)..bound(machine + 1)).filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(|part| (part.len(), step(part))).collect();
    let rows = parts[0].1.len() / parts[0].0;
    (0..rows)
        .flat_map(|row| parts.iter().flat_map(move |(len, values)| &values[row * len..][..*len]))
        .copied()
        .collect()
}

#[test]
fn every_size_up_to_2_13() {
    (0..=13).for_each(check);
}

#[test]
fn threads() {
    for_each_pool(&[1, 2, 5], |_| [6, 9, 12].into_iter().for_each(check));
}

#[test]
fn large() {
    check(17);
}

#[test]
fn no_domain_beyond_two_adicity() {
    assert!(Domain::<proofmill_field::bn254::FrParams>::new(29).is_none());
    assert!(Domain::<proofmill_field::bn254::FqParams>::new(2).is_none());
    assert_eq!(
        Domain::<proofmill_field::bn254::FrParams>::new(5).unwrap().root(),
        Fp::root_of_unity(5).unwrap()
    );
}
