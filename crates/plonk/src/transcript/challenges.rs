//! The verifier's challenges and the inputs of their hashes.
//!
//! | challenge | Keccak-256 of |
//! |---|---|
//! | eta | with lookups: as beta; otherwise there is no eta |
//! | beta | the key; public inputs; commitments of the first round. With lookups: eta, commitments of the second round |
//! | gamma | beta |
//! | delta, epsilon | with lookups: the previous challenge |
//! | alpha | beta, gamma (delta, epsilon); commitments of the third round |
//! | xi | alpha, the parts of the quotient |
//! | v | xi, the values of the opened cells |
//! | u | v, Wxi, Wxiw |
//!
//! snarkjs hashes only the commitments of the key, and does not hash v for u. Deployed Solidity verifiers
//! compute the same hashes, so nothing can be added in proofs of standard circuits. This is sound there: the
//! domain's size, the multipliers and the reference string come from the verifier's own key, and the
//! commitments depend on them. u must only be unpredictable until Wxi and Wxiw are fixed, and it hashes both.
//! For all other circuits the whole key is hashed, as its [digest](VerifyingKey::digest).
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Proof, VerifyingKey, arithmetisation::summand::Challenges, transcript::KeccakTranscript};
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::bn254::Fr;

impl Challenges {
    /// The challenges of a complete proof.
    pub(crate) fn of(key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Self {
        let mut challenges = Self::default();
        let [first, second, third] = &proof.commitments;
        challenges.after_first_round(key, public, first);
        challenges.after_second_round(key, second);
        challenges.after_third_round(key, third);
        challenges.after_quotient(&proof.quotient);
        challenges.after_evaluations(&proof.evaluations);
        challenges.after_openings(key, &proof.opening, &proof.shifted_opening);
        challenges
    }

    /// Draws eta, or beta if there is no eta.
    pub(crate) fn after_first_round(
        &mut self,
        key: &VerifyingKey,
        public: &[Fr],
        commitments: &[Affine<G1>],
    ) {
        let mut transcript = KeccakTranscript::new();
        if key.system.is_standard() {
            key.fixed.iter().for_each(|point| transcript.absorb_point(point));
        } else {
            transcript.absorb_scalar(key.digest());
        }
        public.iter().for_each(|input| transcript.absorb_scalar(*input));
        commitments.iter().for_each(|point| transcript.absorb_point(point));
        let challenge = transcript.challenge();
        if key.system.lookup().is_some() {
            self.eta = challenge;
        } else {
            self.beta = challenge;
        }
    }

    /// Draws beta if there is an eta, then gamma, delta and epsilon.
    pub(crate) fn after_second_round(&mut self, key: &VerifyingKey, commitments: &[Affine<G1>]) {
        let has_lookups = key.system.lookup().is_some();
        if has_lookups {
            self.beta = next(&[self.eta], commitments);
        }
        // Nothing is sent between these, so each is a hash of the one before.
        self.gamma = next(&[self.beta], &[]);
        if has_lookups {
            self.delta = next(&[self.gamma], &[]);
            self.epsilon = next(&[self.delta], &[]);
        }
    }

    /// Draws alpha.
    pub(crate) fn after_third_round(&mut self, key: &VerifyingKey, commitments: &[Affine<G1>]) {
        self.alpha = if key.system.lookup().is_some() {
            next(&[self.beta, self.gamma, self.delta, self.epsilon], commitments)
        } else {
            next(&[self.beta, self.gamma], commitments)
        };
    }

    /// Draws xi.
    pub(crate) fn after_quotient(&mut self, parts: &[Affine<G1>]) {
        self.xi = next(&[self.alpha], parts);
    }

    /// Draws v.
    pub(crate) fn after_evaluations(&mut self, evaluations: &[Fr]) {
        let mut transcript = KeccakTranscript::new();
        // xi depends on all messages before it, so only the values are new.
        transcript.absorb_scalar(self.xi);
        evaluations.iter().for_each(|value| transcript.absorb_scalar(*value));
        self.v = transcript.challenge();
    }

    /// Draws u.
    fn after_openings(&mut self, key: &VerifyingKey, opening: &Affine<G1>, shifted: &Affine<G1>) {
        // snarkjs does not hash v for u (see above).
        let before: &[Fr] = if key.system.is_standard() { &[] } else { &[self.v] };
        self.u = next(before, &[*opening, *shifted]);
    }
}

/// The hash of earlier challenges and points.
fn next(before: &[Fr], points: &[Affine<G1>]) -> Fr {
    let mut transcript = KeccakTranscript::new();
    before.iter().for_each(|challenge| transcript.absorb_scalar(*challenge));
    points.iter().for_each(|point| transcript.absorb_point(point));
    transcript.challenge()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::{Arithmetisation, Circuit, FixedColumns, Layout, LookupArgument, Memory};
    use proofmill_cpu::Level;
    use proofmill_curve::Curve;
    use proofmill_field::Field;
    use proofmill_run::Run;
    use proofmill_srs::Srs;
    use std::sync::Arc;

    /// The challenges in the order in which they are drawn. Those that a system does not have are zero.
    fn listed(challenges: &Challenges) -> [Fr; 9] {
        let &Challenges { eta, beta, gamma, delta, epsilon, alpha, xi, v, u } = challenges;
        [eta, beta, gamma, delta, epsilon, alpha, xi, v, u]
    }

    const ETA: usize = 0;
    const BETA: usize = 1;
    const ALPHA: usize = 5;
    const XI: usize = 6;
    const V: usize = 7;
    const U: usize = 8;

    /// For each system: a key, public inputs, and a proof of the right shape in which all points and values
    /// differ.
    fn cases() -> Vec<(VerifyingKey, Vec<Fr>, Proof)> {
        let level = Level::best();
        let srs = Arc::new(Srs::insecure_from_known_tau(level, Fr::from(12345), 1 << 7));
        let layouts = Arithmetisation::ALL.into_iter().flat_map(|arithmetisation| {
            let mut circuit = Circuit::new(arithmetisation);
            circuit.set_range_table_bits(4);
            let x = circuit.public_input(Fr::from(9));
            circuit.range(x, 8);
            let layout = circuit.layout();
            match layout.lookup {
                None => vec![layout],
                Some(_) => LookupArgument::ALL
                    .map(|argument| Layout { lookup: Some(argument), ..layout.clone() })
                    .to_vec(),
            }
        });
        let subject = |layout: Layout| {
            let columns =
                FixedColumns::new(Run { memory: Some(Memory::Low), ..level.into() }, layout).unwrap();
            let key = columns.commit(level.into(), srs.clone()).unwrap();
            let key = key.verifying_key().clone();
            let mut next = 1;
            let mut point = || {
                next += 1;
                G1::GENERATOR.mul_words_vartime(&[next]).to_affine()
            };
            let rounds = key.system.rounds();
            let proof = Proof {
                commitments: rounds.map(|columns| columns.iter().map(|_| point()).collect()),
                quotient: (0..key.system.parts()).map(|_| point()).collect(),
                evaluations: (1..).map(Fr::from).take(key.system.opened().len()).collect(),
                opening: point(),
                shifted_opening: point(),
            };
            (key, vec![Fr::from(9)], proof)
        };
        layouts.map(subject).collect()
    }

    /// Asserts that a change changes the challenges from `first` on, and none before.
    fn assert_from(
        (key, public, proof): &(VerifyingKey, Vec<Fr>, Proof),
        first: usize,
        change: impl FnOnce(&mut VerifyingKey, &mut Vec<Fr>, &mut Proof),
    ) {
        let before = listed(&Challenges::of(key, public, proof));
        let (mut changed_key, mut public, mut proof) = (key.clone(), public.clone(), proof.clone());
        change(&mut changed_key, &mut public, &mut proof);
        let after = listed(&Challenges::of(&changed_key, &public, &proof));
        for (index, (before, after)) in before.into_iter().zip(after).enumerate() {
            let absent = before.is_zero();
            // The standard protocol's u is a hash of the openings alone.
            let only_openings = index == U && first != U && key.system.is_standard();
            assert_eq!(
                before != after,
                index >= first && !absent && !only_openings,
                "challenge {index}, {first}"
            );
        }
    }

    #[test]
    fn every_message_changes_all_later_challenges_and_no_earlier_one() {
        for subject in cases() {
            let (_, _, proof) = &subject;
            assert_from(&subject, ETA, |_, public, _| public[0] += Fr::ONE);
            for (round, first) in [ETA, BETA, ALPHA].into_iter().enumerate() {
                for index in 0..proof.commitments[round].len() {
                    assert_from(&subject, first, |_, _, proof| {
                        let point = &mut proof.commitments[round][index];
                        *point = -*point;
                    });
                }
            }
            for index in 0..proof.quotient.len() {
                assert_from(&subject, XI, |_, _, proof| proof.quotient[index] = -proof.quotient[index]);
            }
            for index in 0..proof.evaluations.len() {
                assert_from(&subject, V, |_, _, proof| proof.evaluations[index] = Fr::ZERO);
            }
            assert_from(&subject, U, |_, _, proof| proof.opening = -proof.opening);
            assert_from(&subject, U, |_, _, proof| proof.shifted_opening = -proof.shifted_opening);
        }
    }

    #[test]
    fn the_key_changes_every_challenge() {
        let all = cases();
        for (number, subject) in all.iter().enumerate() {
            let (key, ..) = subject;
            for index in 0..key.fixed.len() {
                assert_from(subject, ETA, |key, _, _| key.fixed[index] = G1::GENERATOR);
            }
            if key.system.is_standard() {
                continue;
            }
            assert_from(subject, ETA, |key, _, _| key.log_n += 1);
            assert_from(subject, ETA, |key, _, _| key.public += 1);
            for wire in 0..4 {
                assert_from(subject, ETA, |key, _, _| key.multipliers[wire] += Fr::ONE);
            }
            assert_from(subject, ETA, |key, _, _| key.tau = -key.tau);
            for (other, ..) in &all[..number] {
                let mut renamed = key.clone();
                renamed.system = other.system.clone();
                assert_ne!(renamed.digest(), key.digest());
            }
        }
    }
}
