//! STARKs: proofs of the ready-made AIRs with the default parameters.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    inputs::logarithm,
};
use proofmill_cpu::Level;
use proofmill_merkle::Hash;
use proofmill_run::Progress;
use proofmill_stark::{
    Config, Constraints, Run,
    airs::{Execution, Workload},
};
use std::cell::RefCell;

/// Each AIR with the hashes that proofs of it are measured with: all on the narrowest one, where trees take most of the time.
const MEASURED: [(Workload, &[Hash]); 4] = [
    (Workload::Fibonacci, &[Hash::Keccak, Hash::Poseidon2Width8, Hash::Poseidon2NarrowNodes, Hash::Poseidon]),
    (Workload::Poseidon2, &[Hash::Keccak, Hash::Poseidon2Width8]),
    (Workload::KeccakF, &[Hash::Keccak, Hash::Poseidon2Width8]),
    (Workload::Blake3, &[Hash::Keccak, Hash::Poseidon2Width8]),
];

pub(crate) fn table() -> Vec<KernelEntry> {
    let entries =
        |(air, hashes): (Workload, &'static [Hash])| hashes.iter().map(move |hash| prove(air, *hash));
    MEASURED.into_iter().flat_map(entries).collect()
}

/// A proof of a trace of `size` rows, as bytes.
fn prove(air: Workload, hash: Hash) -> KernelEntry {
    KernelFunctions::new(
        move |_, size| {
            let log_rows = logarithm(size, air.least_log_rows(), 24)?;
            let example = air.example(Level::best(), log_rows).map_err(|error| error.to_string())?;
            let constraints = Constraints::new(&*example.air).map_err(|error| error.to_string())?;
            Ok((constraints, example.execution))
        },
        |_, _| Ok(Vec::new()),
        move |(constraints, execution): &(Constraints, Execution), proof, level, begin| {
            let begin = RefCell::new(begin);
            let observer = |phase| begin.borrow_mut()(phase);
            let run = Run { progress: Progress::new(&observer), ..level.into() };
            // The shortest traces, which are tests, prove fewer bits than the parameters promise.
            let config = Config { hash, bits: 0, ..Config::default() };
            let (trace, public_values) = ((&execution.trace).into(), &execution.public_values);
            *proof = config
                .prove(run, constraints, None, trace, public_values)
                .map_err(|error| error.to_string())?;
            Ok(())
        },
        Vec::clone,
    )
    .entry(format!("stark/{air}-{hash}"), KernelLevels::Goldilocks)
}
