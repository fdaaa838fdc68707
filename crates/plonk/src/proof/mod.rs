//! Proofs and verification keys.

pub(crate) mod json;

use crate::{Column, System, arithmetisation::permutation, transcript::KeccakTranscript};
use proofmill_circom::{PlonkProof, PlonkVerificationKey};
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};

/// A proof, in the order of the rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The commitments to the witness columns, by round: wires (and multiplicities), sorted columns, running
    /// products and sums.
    pub commitments: [Vec<Affine<G1>>; 3],
    /// Commitments to the parts of the quotient t.
    pub quotient: Vec<Affine<G1>>,
    /// The values of the opened cells, in the order of [`System::opened`].
    pub evaluations: Vec<Fr>,
    /// The opening proof at xi.
    pub opening: Affine<G1>,
    /// The opening proof at xi omega.
    pub shifted_opening: Affine<G1>,
}

/// A verification key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// The circuit's constraints.
    pub system: System,
    /// The logarithm of the domain's size.
    pub log_n: u32,
    /// The number of public inputs.
    pub public: u32,
    /// The multipliers that put the labels of the wires on disjoint cosets; the first is 1.
    pub multipliers: [Fr; 4],
    /// The commitments to the fixed columns, in the order of [`System::fixed`].
    pub fixed: Vec<Affine<G1>>,
    /// The secret of the reference string times the generator of G2.
    pub tau: Affine<G2>,
    /// Whether the key is marked as one from a reference string to which nobody contributed, or only beacons did.
    pub insecure_setup: bool,
}

/// Why anyone may forge proofs for a key with this mark and this tau in G2.
pub(crate) fn insecurity(marked: bool, tau: &Affine<G2>) -> Option<&'static str> {
    if marked {
        return Some("nobody contributed to its powers of tau, or only beacons, whose secrets are public");
    }
    let known = [G2::GENERATOR, -G2::GENERATOR, Affine::INFINITY].contains(tau);
    known.then_some("tau is known: nobody contributed to its powers of tau")
}

impl VerifyingKey {
    /// A hash of everything in the key. It includes the reference string through `tau`.
    pub fn digest(&self) -> Fr {
        // The mark says where tau comes from, which does not change the statement.
        let Self { system, log_n, public, multipliers, fixed, tau, insecure_setup: _ } = self;
        let mut transcript = KeccakTranscript::new();
        let names = system.gates().iter().map(|gate| gate.name()).collect::<Vec<_>>().join(",");
        let columns = system.fixed().iter().map(Column::to_string).collect::<Vec<_>>().join(",");
        let lookup = system.lookup().map_or_else(String::new, |lookup| lookup.to_string());
        transcript.absorb_bytes(
            format!("proofmill-plonk-1;{};{names};{lookup};{columns};", system.wires()).as_bytes(),
        );
        transcript.absorb_scalar(u64::from(*log_n).into());
        transcript.absorb_scalar(u64::from(*public).into());
        multipliers.iter().for_each(|multiplier| transcript.absorb_scalar(*multiplier));
        fixed.iter().for_each(|point| transcript.absorb_point(point));
        transcript.absorb_g2(tau);
        transcript.challenge()
    }

    /// Why anyone may forge proofs for this key, as far as the key shows it: `None` does not mean that tau is unknown.
    pub fn insecurity(&self) -> Option<&'static str> {
        insecurity(self.insecure_setup, &self.tau)
    }

    /// The key in snarkjs's format, or `None` if its system is not the standard one.
    pub fn snarkjs(&self) -> Option<PlonkVerificationKey> {
        if !self.system.is_standard() {
            return None;
        }
        let [_, k1, k2, _] = self.multipliers;
        let (selectors, sigma) = self.fixed.split_first_chunk()?;
        let (selectors, sigma) = (*selectors, sigma.try_into().ok()?);
        Some(PlonkVerificationKey {
            public: self.public,
            power: self.log_n,
            k1,
            k2,
            selectors,
            sigma,
            x_2: self.tau,
            insecure_setup: self.insecure_setup,
        })
    }

    /// The commitment to a fixed column. It is infinity for a column that is not in the key, which is zero.
    pub(crate) fn commitment(&self, column: Column) -> Affine<G1> {
        let mut columns = self.system.fixed().iter().zip(&self.fixed);
        columns.find(|(fixed, _)| **fixed == column).map_or(Affine::INFINITY, |(_, point)| *point)
    }
}

impl Proof {
    /// All points, in the order of the rounds.
    pub fn points(&self) -> Vec<Affine<G1>> {
        let before = self.commitments.iter().flatten().chain(&self.quotient);
        before.chain([&self.opening, &self.shifted_opening]).copied().collect()
    }

    /// The proof in snarkjs's format, or `None` if its system is not the standard one.
    pub fn snarkjs(&self) -> Option<PlonkProof> {
        let evaluations = self.evaluations.as_slice().try_into().ok()?;
        Some(PlonkProof { points: self.points().try_into().ok()?, evaluations })
    }
}

impl From<&PlonkProof> for Proof {
    fn from(file: &PlonkProof) -> Self {
        let [a, b, c, grand_product, t1, t2, t3, opening, shifted_opening] = file.points;
        Self {
            commitments: [vec![a, b, c], vec![], vec![grand_product]],
            quotient: vec![t1, t2, t3],
            evaluations: file.evaluations.to_vec(),
            opening,
            shifted_opening,
        }
    }
}

impl From<&PlonkVerificationKey> for VerifyingKey {
    fn from(file: &PlonkVerificationKey) -> Self {
        let PlonkVerificationKey { public, power: log_n, k1, k2, selectors, sigma, x_2: tau, insecure_setup } =
            *file;
        let [.., k3] = permutation::multipliers();
        Self {
            system: System::standard(),
            log_n,
            public,
            multipliers: [Fr::ONE, k1, k2, k3],
            fixed: [selectors.as_slice(), &sigma].concat(),
            tau,
            insecure_setup,
        }
    }
}
