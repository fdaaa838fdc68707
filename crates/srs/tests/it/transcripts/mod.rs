//! The first powers of the Ignition ceremony, and transcripts made from them.

use ark_serialize::CanonicalDeserialize;
use blake2::{Blake2b512, Digest};
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field, Prime, SquareRoot,
    bn254::{Fq, Fq2, FqParams, Fr},
};
use proofmill_srs::{Srs, SrsError};
use std::ops::Range;

/// The first 1025 powers, and tau in G2.
pub(crate) struct Ceremony {
    pub(crate) ark_powers: Vec<ark_bn254::G1Affine>,
    pub(crate) powers: Vec<Affine<G1>>,
    pub(crate) tau_g2: Affine<G2>,
}

impl Ceremony {
    /// The real ceremony, from arkworks' serialisation of KZG10 parameters: the powers in G1, an empty map, the generator of
    /// G2, tau in G2, an empty map.
    pub(crate) fn real() -> Self {
        let mut bytes = &include_bytes!("../../data/aztec20-1024.bin")[..];
        let ark_powers = Vec::<ark_bn254::G1Affine>::deserialize_uncompressed(&mut bytes).unwrap();
        assert_eq!(u64::deserialize_uncompressed(&mut bytes).unwrap(), 0);
        let [one, tau_g2] =
            [0; 2].map(|_| g2(ark_bn254::G2Affine::deserialize_uncompressed(&mut bytes).unwrap()));
        assert_eq!(u64::deserialize_uncompressed(&mut bytes).unwrap(), 0);
        assert!(bytes.is_empty() && one == G2::GENERATOR);
        let powers = ark_powers.iter().copied().map(g1).collect();
        Self { ark_powers, powers, tau_g2 }
    }

    /// One file with points of G1, counted from the first power on; some other point of G2 stands for the last participant's
    /// factor.
    pub(crate) fn transcript(&self, points: Range<usize>) -> IgnitionTranscript {
        let [start, total_g1] = [points.start, points.end].map(|index| index as u32);
        let g1 = self.powers[1..][points].to_vec();
        let g2 = vec![self.tau_g2, G2::GENERATOR.mul_vartime(&Fr::from(77)).to_affine()];
        IgnitionTranscript { number: 0, files: 1, total_g1, total_g2: 1, start, g1, g2 }
    }

    /// Files that divide the points at these ends.
    pub(crate) fn parts(&self, ends: &[usize]) -> Vec<IgnitionTranscript> {
        let (files, total) = (ends.len() - 1, ends[ends.len() - 1]);
        let parts = ends.windows(2).zip(0..).map(|(ends, number)| {
            let mut part = self.transcript(ends[0]..ends[1]);
            (part.number, part.files, part.total_g1) = (number, files as u32, total as u32);
            if number > 0 {
                part.g2.clear();
            }
            part
        });
        parts.collect()
    }
}

/// The content of a file.
#[derive(Clone)]
pub(crate) struct IgnitionTranscript {
    pub(crate) number: u32,
    pub(crate) files: u32,
    pub(crate) total_g1: u32,
    pub(crate) total_g2: u32,
    pub(crate) start: u32,
    pub(crate) g1: Vec<Affine<G1>>,
    pub(crate) g2: Vec<Affine<G2>>,
}

impl IgnitionTranscript {
    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self { number, files, total_g1, total_g2, start, ref g1, ref g2 } = *self;
        let fields = [number, files, total_g1, total_g2, g1.len() as u32, g2.len() as u32, start];
        let mut bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_be_bytes()).collect();
        let g2 = g2.iter().flat_map(|point| [point.x.c0, point.x.c1, point.y.c0, point.y.c1]);
        for coordinate in g1.iter().flat_map(|point| [point.x, point.y]).chain(g2) {
            bytes.extend(coordinate.to_canonical().iter().flat_map(|word| word.to_be_bytes()));
        }
        bytes.extend([0; 64]);
        seal(&mut bytes);
        bytes
    }

    pub(crate) fn open(&self) -> Result<Srs, SrsError> {
        Srs::from_bytes("transcript00.dat", self.bytes())
    }
}

/// Corrects the checksum.
pub(crate) fn seal(bytes: &mut [u8]) {
    let (content, checksum) = bytes.split_at_mut(bytes.len() - 64);
    checksum.copy_from_slice(&Blake2b512::digest(content));
}

/// Adds the modulus to a coordinate.
pub(crate) fn add_modulus(bytes: &mut [u8]) {
    let mut carry = 0;
    for (bytes, word) in bytes.chunks_mut(8).zip(FqParams::MODULUS) {
        let sum = u128::from(u64::from_be_bytes(bytes.try_into().unwrap())) + u128::from(word) + carry;
        bytes.copy_from_slice(&(sum as u64).to_be_bytes());
        carry = sum >> 64;
    }
    assert_eq!(carry, 0, "twice the modulus is below 2^256");
}

/// A point of G2's curve; only one in about 2^254 of these is in the subgroup.
pub(crate) fn outside_the_subgroup() -> Affine<G2> {
    let xs = (1..).map(|x: u64| Fq2::new(Fq::from(x), Fq::ZERO));
    let mut points = xs.filter_map(|x| Some(Affine { x, y: (x * x * x + G2::B).sqrt_vartime()? }));
    points.find(|point| !point.is_in_subgroup()).unwrap()
}

fn fq(x: ark_bn254::Fq) -> Fq {
    Fq::from_canonical(ark_ff::PrimeField::into_bigint(x).0).unwrap()
}

pub(crate) fn ark_scalar(x: &Fr) -> ark_bn254::Fr {
    ark_ff::PrimeField::from_bigint(ark_ff::BigInt(x.to_canonical())).unwrap()
}

pub(crate) fn g1(point: ark_bn254::G1Affine) -> Affine<G1> {
    Affine { x: fq(point.x), y: fq(point.y) }
}

pub(crate) fn g2(point: ark_bn254::G2Affine) -> Affine<G2> {
    let fq2 = |x: ark_bn254::Fq2| Fq2::new(fq(x.c0), fq(x.c1));
    Affine { x: fq2(point.x), y: fq2(point.y) }
}
