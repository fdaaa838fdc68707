//! Wrapped proofs, honest and forged.

#[path = "../../../stark/tests/it/transcript/chain.rs"]
mod chain;
pub(crate) mod draws;
mod forgeries;
mod gadgets;
mod honest;
#[path = "../../../stark/tests/it/sequence/mod.rs"]
mod sequence;

use super::*;
use proofmill_field::bn254::Fr;
use proofmill_stark::{
    Grinding,
    air::{Air, Row},
    airs::Fibonacci,
    prove,
};
use sequence::Sequence;

/// A statement with honest proofs.
struct Case {
    statement: Statement,
    public_values: Vec<Vec<Goldilocks>>,
    proofs: Vec<InnerProof>,
}

impl Case {
    /// Proofs of an AIR's traces.
    fn new(
        air: &dyn Air,
        parameters: &Parameters,
        executions: &[(Vec<Goldilocks>, Vec<Goldilocks>)],
    ) -> Self {
        Self::of(air, &Constraints::new(air).expect("constraints"), parameters, executions)
    }

    /// Proofs of the traces of an AIR with these constraints.
    fn of(
        air: &dyn Air,
        constraints: &Constraints,
        parameters: &Parameters,
        executions: &[(Vec<Goldilocks>, Vec<Goldilocks>)],
    ) -> Self {
        let level = Level::best();
        let log_rows = (executions[0].0.len() / air.columns()).ilog2();
        let preprocessed = air.preprocessed();
        let statement =
            Statement::new(level, constraints, parameters, preprocessed.as_ref(), log_rows, executions.len());
        let key = preprocessed
            .map(|columns| PreprocessedKey::new(level, &PoseidonBn254Sponge, parameters, columns))
            .transpose()
            .expect("a key");
        let proofs = executions.iter().map(|(trace, public_values)| {
            prove(
                level.into(),
                &PoseidonBn254Sponge,
                parameters,
                constraints,
                key.as_ref(),
                trace,
                public_values,
            )
            .expect("a proof")
        });
        Self {
            proofs: proofs.collect(),
            public_values: executions.iter().map(|(_, public_values)| public_values.clone()).collect(),
            statement: statement.expect("a statement"),
        }
    }

    fn fibonacci(parameters: &Parameters, log_rows: u32, proofs: u64) -> Self {
        let executions = (1..=proofs).map(|i| {
            let execution = Fibonacci.trace(log_rows, [i, i + 1].map(Goldilocks::new));
            (execution.trace, execution.public_values)
        });
        Self::new(&Fibonacci, parameters, &executions.collect::<Vec<_>>())
    }

    fn inner(&self) -> Vec<Inner<'_>> {
        let pairs = self.public_values.iter().zip(&self.proofs);
        pairs.map(|(public_values, proof)| Inner { public_values, proof }).collect()
    }

    /// Whether the circuit's constraints hold for these proofs.
    fn accepts(&self, inner: &[Inner<'_>]) -> bool {
        self.statement.build(Level::best(), inner).check().is_ok()
    }
}

/// A proof of a sequence of so many rows.
fn sequence(parameters: &Parameters, rows: usize) -> Case {
    let air = Sequence { rows };
    Case::new(&air, parameters, &[air.trace()])
}

/// Few queries, small trees, every kind of work.
const SMALL: Parameters = Parameters {
    log_blowup: 1,
    log_arity: 2,
    log_final_length: 1,
    queries: 2,
    cap_height: 1,
    grinding: Grinding { lookups: 0, out_of_domain: 1, batching: 2, commit: 1, query: 3 },
    digest_bits: 253,
    ..Parameters::PROVEN_100
};
