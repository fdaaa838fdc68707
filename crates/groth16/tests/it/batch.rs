//! Many proofs at once: refused is what the verifier of one refuses, however errors are arranged.

use proofmill_circom::{CircomCurve, Groth16Proof, Groth16VerificationKey};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, bls12_381, bn254};
use proofmill_field::{
    Algebra, Field, Invert, Quadratic, SquareRoot, bls12_381 as bls12_381_fields, bn254::Fq,
};
use proofmill_groth16::{Groth16Curve, Groth16Error, Statement, find_invalid, verify};
use proofmill_pairing::pairing_product_is_one;
use proofmill_testing::{directions, for_each_level, for_each_pool};

/// A key whose logarithms are known, with which one makes proofs of any signals.
struct Simulator<C: CircomCurve> {
    key: Groth16VerificationKey<C>,
    alpha: C::Scalar,
    beta: C::Scalar,
    gamma: C::Scalar,
    delta: C::Scalar,
    ic: [C::Scalar; 3],
}

/// Public signals and a proof.
type Case<C> = (Vec<<C as Curve>::Scalar>, Groth16Proof<C>);

fn scalar<C: CircomCurve>(value: u64) -> C::Scalar {
    C::Scalar::from(value)
}

fn point<G: Curve>(logarithm: G::Scalar) -> Affine<G> {
    G::GENERATOR.mul_vartime(&logarithm).to_affine()
}

fn sum<G: Curve>(a: Affine<G>, b: Affine<G>) -> Affine<G> {
    Jacobian::from(a).add_affine(&b).to_affine()
}

impl<C: Groth16Curve> Simulator<C> {
    fn new() -> Self {
        let [alpha, beta, gamma, delta] = [1_000_003, 29, 31, 1_299_709].map(scalar::<C>);
        let ic = [11, 13, 17].map(scalar::<C>);
        let key = Groth16VerificationKey {
            alpha_1: point(alpha),
            beta_2: point(beta),
            gamma_2: point(gamma),
            delta_2: point(delta),
            ic: ic.map(point).to_vec(),
        };
        Self { key, alpha, beta, gamma, delta, ic }
    }

    /// A valid proof with these logarithms of A and B.
    fn case(&self, public: [C::Scalar; 2], a: C::Scalar, b: C::Scalar) -> Case<C> {
        let inputs = self.ic[0] + self.ic[1] * public[0] + self.ic[2] * public[1];
        let c = (a * b - self.alpha * self.beta - inputs * self.gamma) * self.delta.invert_vartime().unwrap();
        (public.to_vec(), Groth16Proof { a: point(a), b: point(b), c: point(c) })
    }

    /// Valid proofs that differ in all parts.
    fn cases(&self, count: u64) -> Vec<Case<C>> {
        let case = |i| self.case([i, 5 * i + 7].map(scalar::<C>), scalar::<C>(3 * i + 2), scalar::<C>(i + 1));
        (0..count).map(case).collect()
    }

    /// Valid proofs with the same A and B.
    fn cases_with_same_a_and_b(&self, count: u64) -> Vec<Case<C>> {
        let case = |i| self.case([i, 5 * i + 7].map(scalar::<C>), scalar::<C>(101), scalar::<C>(103));
        (0..count).map(case).collect()
    }

    /// The indices that are refused, with the errors that the verifier of one proof has.
    #[track_caller]
    fn refused(&self, level: Level, cases: &[Case<C>]) -> Vec<usize> {
        let statements: Vec<_> = cases.iter().map(|(public, proof)| Statement { public, proof }).collect();
        let refused = find_invalid(level, &self.key, &statements).unwrap();
        let one_by_one = cases.iter().enumerate().filter_map(|(index, (public, proof))| {
            Some((index, verify(level, &self.key, public, proof).err()?.to_string()))
        });
        let with_texts: Vec<_> = refused.iter().map(|(index, error)| (*index, error.to_string())).collect();
        assert_eq!(with_texts, one_by_one.collect::<Vec<_>>());
        refused.into_iter().map(|(index, _)| index).collect()
    }

    /// Whether the product of the equations, without factors, is right: then only the factors reveal the error.
    fn cancel(&self, cases: &[Case<C>]) -> bool {
        let Self { key, .. } = self;
        let pairs = cases.iter().flat_map(|(public, proof)| {
            let inputs = key.ic[1..].iter().zip(public);
            let inputs = inputs
                .fold(Jacobian::from(key.ic[0]), |sum, (point, signal)| sum.add(&point.mul_vartime(signal)));
            [
                (-proof.a, proof.b),
                (key.alpha_1, key.beta_2),
                (inputs.to_affine(), key.gamma_2),
                (proof.c, key.delta_2),
            ]
        });
        pairing_product_is_one(Level::best(), &pairs.collect::<Vec<_>>())
    }
}

#[test]
fn valid_proofs_are_accepted_and_wrong_ones_named() {
    fn check<C: Groth16Curve>() {
        let simulator = Simulator::<C>::new();
        let cases = simulator.cases(70);
        for_each_level(|level| {
            for_each_pool(&[1, 2, 5], |_| {
                for count in [0, 1, 2, 5, 6, 13] {
                    assert!(simulator.refused(level, &cases[..count]).is_empty(), "{count} at {level}");
                }
                for wrong in [vec![0], vec![12], vec![3, 4], vec![0, 5, 6, 11], (0..13).collect()] {
                    let mut cases = cases[..13].to_vec();
                    for index in &wrong {
                        cases[*index].0[1] += C::Scalar::ONE;
                    }
                    assert_eq!(simulator.refused(level, &cases), wrong, "{level}");
                }
            });
        });
        assert!(simulator.refused(Level::best(), &cases).is_empty());
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

#[test]
fn what_is_exchanged_between_proofs_is_refused() {
    fn check<C: Groth16Curve>() {
        let simulator = Simulator::<C>::new();
        let valid = simulator.cases(8);
        for [i, j] in [[0, 1], [2, 7], [6, 3]] {
            for part in 0..4 {
                let mut cases = valid.clone();
                let [one, other] = cases.get_disjoint_mut([i, j]).unwrap();
                match part {
                    0 => std::mem::swap(&mut one.0, &mut other.0),
                    1 => std::mem::swap(&mut one.1.a, &mut other.1.a),
                    2 => std::mem::swap(&mut one.1.b, &mut other.1.b),
                    _ => std::mem::swap(&mut one.1.c, &mut other.1.c),
                }
                assert_eq!(simulator.cancel(&cases), matches!(part, 0 | 3), "part {part}");
                let expected = [i.min(j), i.max(j)];
                assert_eq!(simulator.refused(Level::best(), &cases), expected, "part {part}");
            }
            // A whole proof for the signals of another, which is there twice then.
            let mut cases = valid.clone();
            cases[i].1 = valid[j].1;
            assert_eq!(simulator.refused(Level::best(), &cases), [i]);
            // Twice the same statement is no error.
            cases[i] = valid[j].clone();
            assert!(simulator.refused(Level::best(), &cases).is_empty());
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

/// All proofs moved in one direction of the space at a time, which is all directions.
#[test]
fn no_direction_is_blind() {
    fn check<C: Groth16Curve>() {
        const COUNT: usize = 8;
        let simulator = Simulator::<C>::new();
        let valid = simulator.cases_with_same_a_and_b(COUNT as u64);
        let root = C::root_of_unity(COUNT.ilog2()).unwrap();
        let step = scalar::<C>(1_000_003);
        for (number, weights) in directions(COUNT, root, C::Scalar::ONE).into_iter().enumerate() {
            for part in 0..5 {
                let mut cases = valid.clone();
                for ((public, proof), weight) in cases.iter_mut().zip(&weights) {
                    let step = step * *weight;
                    match part {
                        0 => public[0] += step,
                        1 => public[1] += step,
                        2 => proof.a = sum(proof.a, point(step)),
                        3 => proof.b = sum(proof.b, point(step)),
                        _ => proof.c = sum(proof.c, point(step)),
                    }
                }
                // All but the first direction are orthogonal to equal factors.
                assert_eq!(simulator.cancel(&cases), number > 0, "direction {number}, part {part}");
                let refused = simulator.refused(Level::best(), &cases);
                assert_eq!(refused, (0..COUNT).collect::<Vec<_>>(), "direction {number}, part {part}");
            }
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

/// The same change of two proofs, with opposite signs and with equal ones.
#[test]
fn changes_of_two_proofs_do_not_cancel() {
    fn check<C: Groth16Curve>() {
        let simulator = Simulator::<C>::new();
        let valid = simulator.cases_with_same_a_and_b(5);
        let step = scalar::<C>(7);
        for [i, j] in [[0, 1], [1, 4]] {
            for sign in [-C::Scalar::ONE, C::Scalar::ONE] {
                for part in 0..4 {
                    let mut cases = valid.clone();
                    for (index, step) in [(i, step), (j, sign * step)] {
                        let (public, proof) = &mut cases[index];
                        match part {
                            0 => public[1] += step,
                            1 => proof.a = sum(proof.a, point(step)),
                            2 => proof.b = sum(proof.b, point(step)),
                            _ => proof.c = sum(proof.c, point(step)),
                        }
                    }
                    assert_eq!(simulator.cancel(&cases), sign != C::Scalar::ONE);
                    assert_eq!(simulator.refused(Level::best(), &cases), [i, j], "part {part}");
                }
            }
            // An error of C against one of another proof's signals, or A.
            let mut cases = valid.clone();
            let of_delta = simulator.delta.invert_vartime().unwrap();
            cases[i].1.c = sum(cases[i].1.c, point(step * simulator.ic[1] * simulator.gamma * of_delta));
            cases[j].0[0] -= step;
            assert!(simulator.cancel(&cases));
            assert_eq!(simulator.refused(Level::best(), &cases), [i, j]);
            let mut cases = valid.clone();
            cases[i].1.c = sum(cases[i].1.c, point(step * scalar::<C>(103) * of_delta));
            cases[j].1.a = sum(cases[j].1.a, point(step));
            assert!(simulator.cancel(&cases));
            assert_eq!(simulator.refused(Level::best(), &cases), [i, j]);
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

/// Anyone can make another valid proof of one. A batch takes those that the verifier takes.
#[test]
fn other_proofs_of_the_same_signals_are_valid() {
    fn check<C: Groth16Curve>() {
        let simulator = Simulator::<C>::new();
        let mut cases = simulator.cases(6);
        cases[1].1 = Groth16Proof { a: -cases[1].1.a, b: -cases[1].1.b, ..cases[1].1 };
        let (proof, factor) = (cases[2].1, scalar::<C>(12345));
        let inverse = factor.invert_vartime().unwrap();
        cases[2].1.a = proof.a.mul_vartime(&factor).to_affine();
        cases[2].1.b = proof.b.mul_vartime(&inverse).to_affine();
        let proof = cases[3].1;
        cases[3].1.b = sum(proof.b, simulator.key.delta_2.mul_vartime(&factor).to_affine());
        cases[3].1.c = sum(proof.c, proof.a.mul_vartime(&factor).to_affine());
        assert!(simulator.refused(Level::best(), &cases).is_empty());
        // Half of such a change is none.
        cases[1].1.a = -cases[1].1.a;
        cases[2].1.b = -cases[2].1.b;
        cases[3].1.c = -cases[3].1.c;
        assert_eq!(simulator.refused(Level::best(), &cases), [1, 2, 3]);
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

#[test]
fn malformed_proofs_are_refused_and_the_others_verified() {
    fn check<C: Groth16Curve>() {
        let simulator = Simulator::<C>::new();
        for_each_level(|level| {
            let mut cases = simulator.cases(10);
            cases[0].0.pop();
            cases[1].0.push(C::Scalar::ZERO);
            cases[2].1.a.y = cases[2].1.a.y.double();
            cases[3].1.b.x = cases[3].1.b.x.double();
            cases[5].1.a = Affine::INFINITY;
            cases[6].1.b = Affine::INFINITY;
            cases[7].1.c = Affine::INFINITY;
            cases[9].0[0] += C::Scalar::ONE;
            assert_eq!(simulator.refused(level, &cases), [0, 1, 2, 3, 5, 6, 7, 9], "{level}");
        });
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

/// A point of BN254's twist of order 10069, the smallest factor of the cofactor `2 q - r`.
fn of_small_order() -> Affine<bn254::G2> {
    const R: [u64; 4] =
        [0x43e1_f593_f000_0001, 0x2833_e848_79b9_7091, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029];
    // (2 q - r) / 10069.
    const REST: [u64; 4] =
        [0x6c3c_d334_915f_1659, 0x2071_42f7_671a_f448, 0x9e28_bcf6_5b56_81da, 0x0001_3af7_a58f_ce69];
    let mut abscissas = (1u64..).map(|x| Quadratic::new(Fq::from(x), Fq::ZERO));
    let point = abscissas
        .find_map(|x| {
            let y = (x * x * x + bn254::G2::B).sqrt_vartime()?;
            let point = Affine::<bn254::G2> { x, y }.mul_words_vartime(&R).to_affine();
            Some(point.mul_words_vartime(&REST).to_affine()).filter(|point| !point.is_infinity())
        })
        .unwrap();
    assert!(point.is_on_curve() && point.mul_words_vartime(&[10069]).is_infinity());
    point
}

/// Points outside of their groups, alone, and two that cancel.
#[test]
fn points_outside_their_groups_are_refused() {
    let simulator = Simulator::<bn254::G1>::new();
    let outside = of_small_order();
    for (count, i, j) in [(1, 0, 0), (2, 0, 1), (13, 4, 12), (70, 0, 69)] {
        let mut cases = simulator.cases(count);
        cases[i].1.b = sum(cases[i].1.b, outside);
        assert_eq!(simulator.refused(Level::best(), &cases), [i]);
        if i != j {
            cases[j].1.b = sum(cases[j].1.b, -outside);
            assert_eq!(simulator.refused(Level::best(), &cases), [i, j]);
        }
    }
    // On BLS12-381 of order 3: a pairing with it is 1, so that without its check the equations would hold.
    let simulator = Simulator::<bls12_381::G1>::new();
    let outside = Affine { x: bls12_381_fields::Fq::ZERO, y: bls12_381_fields::Fq::from(2u64) };
    let cases = simulator.cases(9);
    for c in [false, true] {
        let mut cases = cases.clone();
        for (index, outside) in [(2, outside), (7, -outside)] {
            let proof = &mut cases[index].1;
            let moved = if c { &mut proof.c } else { &mut proof.a };
            *moved = sum(*moved, outside);
        }
        assert!(simulator.cancel(&cases));
        for_each_level(|level| assert_eq!(simulator.refused(level, &cases), [2, 7], "{level}"));
    }
}

#[test]
fn a_malformed_key_is_refused() {
    fn check<C: Groth16Curve>() {
        let simulator = Simulator::<C>::new();
        let cases = simulator.cases(3);
        let statements: Vec<_> = cases.iter().map(|(public, proof)| Statement { public, proof }).collect();
        for change in 0..6 {
            let mut key = simulator.key.clone();
            match change {
                0 => key.ic[1].x = key.ic[1].x.double(),
                1 => key.alpha_1.y = key.alpha_1.y.double(),
                2 => key.gamma_2 = Affine::INFINITY,
                3 => key.alpha_1 = Affine::INFINITY,
                4 => key.beta_2 = Affine::INFINITY,
                _ => key.delta_2.x = key.delta_2.x.double(),
            }
            let result = find_invalid(Level::best(), &key, &statements);
            assert!(matches!(result, Err(Groth16Error::Malformed(_))), "{result:?}");
        }
        // Another key's: all are refused.
        let mut key = simulator.key.clone();
        key.delta_2 = -key.delta_2;
        let refused = find_invalid(Level::best(), &key, &statements).unwrap();
        assert!(refused.iter().all(|(_, error)| matches!(error, Groth16Error::Rejected)));
        assert_eq!(refused.len(), 3);
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}
