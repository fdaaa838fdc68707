//! The constants of an AIR are in the transcript, so that nobody can choose them after a proof.

use crate::{
    transcript::chain::{CHAINS, Chain, Cubic},
    transcript::recorder::{Recorded, challenges, recorded},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, Goldilocks},
};
use proofmill_hash::Keccak;
use proofmill_stark::{
    AirDocument, Constraints, Parameters, Proof, StarkHash, Tables, TablesProof, VerifyError,
    air::{Air, Bus, Expression, Row},
    prove, prove_tables, verify, verify_tables,
};
use std::collections::HashSet;

const HASH: &dyn StarkHash = &Recorded(&Keccak);

const PARAMETERS: Parameters = Parameters::PROVEN_100;

/// The point out of the domain, which is drawn after the challenge of constraints.
fn zeta(challenges: &[u64]) -> Cubic {
    Extension(std::array::from_fn(|i| Goldilocks::new(challenges[3 + i])))
}

/// The verdict on an honest proof of a chain with constants that were chosen after it, where the public values are wrong.
fn verdict_on_other_constants(
    chain: Chain,
    of_chain: impl Fn(Chain) -> Constraints,
) -> Result<(), VerifyError> {
    let (level, public_values) = (Level::best(), chain.ends());
    let constraints = of_chain(chain);
    let proof: Proof<3> =
        prove(level.into(), HASH, &PARAMETERS, &constraints, None, chain.trace(), &public_values)
            .expect("a proof");
    let verdict = |constraints: &Constraints| {
        verify(level, HASH, &PARAMETERS, constraints, None, &public_values, &proof)
    };
    let (honest, events) = recorded(|| verdict(&constraints));
    honest.expect("valid");
    let other = chain.with(chain.chosen_after(zeta(&challenges(&events)), proof.opened.trace[0]));
    assert_ne!(other.ends(), public_values, "a false statement");
    verdict(&of_chain(other))
}

#[test]
fn constants_cannot_be_chosen_after_a_proof() {
    for chain in CHAINS {
        let verdict = verdict_on_other_constants(chain, Chain::constraints);
        assert!(matches!(verdict, Err(VerifyError::Rejected(_))), "{verdict:?}");
    }
}

/// Why such an AIR must be fixed before any proof is made. It is so in Plonky3, too, whose proofs these are.
#[test]
fn as_in_plonky3_they_can() {
    for chain in CHAINS {
        let as_in_plonky3 = |chain: Chain| chain.constraints().as_in_plonky3();
        assert_eq!(verdict_on_other_constants(chain, as_in_plonky3), Ok(()));
    }
}

/// The same of several tables.
fn verdict_on_other_tables(chains: [Chain; 2], table: usize, as_in_plonky3: bool) -> Result<(), VerifyError> {
    let level = Level::best();
    let tables = |chains: [Chain; 2]| {
        let of_chain = |chain: Chain| match as_in_plonky3 {
            true => chain.constraints().as_in_plonky3(),
            false => chain.constraints(),
        };
        Tables::new(chains.map(of_chain).into()).expect("tables")
    };
    let (traces, public_values) = (chains.map(Chain::trace), chains.map(Chain::ends));
    let public_values = public_values.each_ref().map(|ends| &ends[..]);
    let (honest, traces) = (tables(chains), traces.map(Into::into));
    let proof: TablesProof<3> =
        prove_tables(level.into(), HASH, &PARAMETERS, &honest, None, &traces, &public_values)
            .expect("a proof");
    let verdict =
        |tables: &Tables| verify_tables(level, HASH, &PARAMETERS, tables, None, &public_values, &proof);
    let (valid, events) = recorded(|| verdict(&honest));
    valid.expect("valid");
    let (zeta, mut other) = (zeta(&challenges(&events)), chains);
    let value = proof.opened[table].columns.trace[0];
    other[table] = chains[table].with(chains[table].chosen_after(zeta, value));
    assert_ne!(other[table].ends(), chains[table].ends(), "a false statement");
    verdict(&tables(other))
}

#[test]
fn constants_of_tables_cannot_be_chosen_after_a_proof() {
    for table in 0..2 {
        let verdict = verdict_on_other_tables(CHAINS, table, false);
        assert!(matches!(verdict, Err(VerifyError::Rejected(_))), "{verdict:?}");
        assert_eq!(verdict_on_other_tables(CHAINS, table, true), Ok(()));
    }
}

#[test]
fn tables_are_all_as_in_plonky3_or_none() {
    let [first, second] = CHAINS.map(Chain::constraints);
    let error = Tables::new(vec![first, second.as_in_plonky3()]).expect_err("a refusal");
    let expected = "AIR: table 1: expected constraints as in Plonky3 for all tables, or for none";
    assert_eq!(error.to_string(), expected);
}

/// An AIR of a few parts.
struct Parts {
    columns: usize,
    public_values: usize,
    periodic: Vec<Vec<u64>>,
    constrain: fn(Row),
}

impl Air for Parts {
    fn columns(&self) -> usize {
        self.columns
    }

    fn public_values(&self) -> usize {
        self.public_values
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        self.periodic.iter().map(|column| column.iter().copied().map(Goldilocks::new).collect()).collect()
    }

    fn constrain(&self, row: Row) {
        (self.constrain)(row);
    }
}

/// Each of them differs from another one in a single part.
#[test]
fn airs_that_differ_have_different_digests() {
    let bodies: [fn(Row); 24] = [
        |_| {},
        |row| row.column(0).must_vanish(),
        |row| row.column(1).must_vanish(),
        |row| row.next(0).must_vanish(),
        |row| row.is_first().must_vanish(),
        |row| row.is_last().must_vanish(),
        |row| row.is_transition().must_vanish(),
        |row| row.periodic(0).must_vanish(),
        |row| row.public_value(0).must_vanish(),
        |row| (row.column(0) + row.column(1)).must_vanish(),
        |row| (row.column(0) - row.column(1)).must_vanish(),
        |row| (row.column(1) - row.column(0)).must_vanish(),
        |row| (row.column(0) * row.column(1)).must_vanish(),
        |row| (row.column(0) + Goldilocks::new(7).into()).must_vanish(),
        |row| (row.column(0) + Goldilocks::new(8).into()).must_vanish(),
        |row| [row.column(0), row.column(1)].into_iter().for_each(Expression::must_vanish),
        |row| [row.column(1), row.column(0)].into_iter().for_each(Expression::must_vanish),
        |row| [row.column(0), row.column(0)].into_iter().for_each(Expression::must_vanish),
        |row| Bus("a").look_up(&[row.column(0)], Goldilocks::ONE, 1),
        |row| Bus("b").look_up(&[row.column(0)], Goldilocks::ONE, 1),
        |row| Bus("a").look_up(&[row.column(0)], Goldilocks::ONE, 2),
        |row| Bus("a").look_up(&[row.column(0)], Goldilocks::new(2), 1),
        |row| Bus("a").look_up(&[row.column(0)], row.column(0), 1),
        |row| Bus("a").look_up(&[row.column(0), row.column(0)], Goldilocks::ONE, 1),
    ];
    let numbers: [(usize, usize, &[&[u64]]); 6] = [
        (2, 1, &[&[1, 2]]),
        (3, 1, &[&[1, 2]]),
        (2, 2, &[&[1, 2]]),
        (2, 1, &[&[1, 3]]),
        (2, 1, &[&[1], &[2]]),
        (2, 1, &[&[1, 2, 1, 2]]),
    ];
    let mut digests = HashSet::new();
    for (columns, public_values, periodic) in numbers {
        let periodic: Vec<_> = periodic.iter().map(|column| column.to_vec()).collect();
        for constrain in bodies {
            let air = Parts { columns, public_values, periodic: periodic.clone(), constrain };
            digests.insert(*Constraints::new(&air).expect("constraints").digest().expect("a digest"));
        }
    }
    assert_eq!(digests.len(), numbers.len() * bodies.len());
    // Next rows that are opened and not read.
    let constraints = Constraints::new(&CHAINS[0]).expect("constraints");
    for opens_next in [[true, false], [true, true]] {
        let periodic = constraints.periodic().to_vec();
        let graph = constraints.graph().clone();
        let again = Constraints::from_graph(graph, 1, 0, 2, periodic, opens_next).expect("constraints");
        assert_eq!(again.digest() == constraints.digest(), !opens_next[1]);
    }
}

/// An AIR has one digest, whether it comes from Rust or from its file.
#[test]
fn an_air_that_is_saved_and_opened_has_the_same_digest() {
    for chain in CHAINS {
        let constraints = chain.constraints();
        let text = AirDocument::new(&constraints, None).text();
        let read = AirDocument::parse(text.as_bytes()).expect("a document").constraints().expect("an AIR");
        assert!(read.digest().is_some());
        assert_eq!(read.digest(), constraints.digest());
        let other = chain.with([1, 2, 3, 5].map(Goldilocks::new)).constraints();
        assert_ne!(other.digest(), constraints.digest());
    }
}
