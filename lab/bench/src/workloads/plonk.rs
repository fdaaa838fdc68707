//! PLONK for built-in circuits, by arithmetisation and by the share of the key that is kept in memory.

use super::{
    adaptor::{Begin, KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::{Rng, elements},
};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, Circuit, FixedColumns, Layout, Memory, PlonkError, Progress, Proof, ProveOptions,
    ProvingKey, VerifyingKey, prove_with_rng, verify, workload,
};
use proofmill_run::Run;
use proofmill_srs::{SPARE, Srs};
use std::{cell::RefCell, fmt::Display, sync::Arc};

pub(crate) fn table() -> Vec<KernelEntry> {
    let arithmetisations = [Arithmetisation::Standard, Arithmetisation::Turbo, Arithmetisation::Ultra];
    let of_all = |memory| arithmetisations.map(|arithmetisation| arithmetic(arithmetisation, memory));
    let mut table: Vec<KernelEntry> = Memory::ALL.into_iter().flat_map(of_all).collect();
    table.extend([pedersen(Arithmetisation::Turbo), pedersen(Arithmetisation::Ultra), verifying()]);
    table
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// A circuit's layout, its witness, and a reference string of sufficient length.
struct Instance {
    rng: Rng,
    layout: Layout,
    values: Vec<Fr>,
    srs: Arc<Srs>,
}

impl Instance {
    fn new(rng: &mut Rng, circuit: Circuit) -> Self {
        let (layout, values) = circuit.into_layout();
        let powers = (1 << layout.log_n()) + SPARE;
        let [tau] = elements(rng, 1)[..] else { unreachable!("one element") };
        let srs = Arc::new(Srs::insecure_from_known_tau(Level::best(), tau, powers));
        Self { rng: rng.clone(), layout, values, srs }
    }

    fn key(&self, level: Level, memory: Memory) -> Result<ProvingKey, PlonkError> {
        let columns = FixedColumns::new(Run { memory: Some(memory), ..level.into() }, self.layout.clone())?;
        columns.commit(level.into(), self.srs.clone())
    }

    fn prove(
        &self,
        level: Level,
        key: &ProvingKey,
        begin: Begin<'_>,
    ) -> Result<(Proof, Vec<Fr>), PlonkError> {
        let begin = RefCell::new(begin);
        let observer = |phase| begin.borrow_mut()(phase);
        let (options, progress) = (ProveOptions::default(), Progress::new(&observer));
        prove_with_rng(Run { progress, ..level.into() }, key, &self.values, options, &mut self.rng.clone())
    }
}

/// A key, and the last proof with its public inputs.
struct Prover {
    key: ProvingKey,
    proof: Option<(Proof, Vec<Fr>)>,
}

/// A proof for a circuit, verified, with deterministic blinding.
fn proving(
    name: String,
    memory: Memory,
    circuit: impl Fn(usize) -> Result<Circuit, String> + Send + Sync + 'static,
) -> KernelEntry {
    KernelFunctions::new(
        move |rng, size| Ok(Instance::new(rng, circuit(size)?)),
        move |instance, level| Ok(Prover { key: instance.key(level, memory).map_err(text)?, proof: None }),
        |instance, Prover { key, proof }, level, begin| {
            *proof = Some(instance.prove(level, key, begin).map_err(text)?);
            Ok(())
        },
        |prover| prover.proof.as_ref().map_or_else(Vec::new, bytes),
    )
    .entry(format!("plonk_workloads/{name}"), KernelLevels::PrimeFields)
}

/// The public inputs, the points in the order of the rounds, the evaluations.
fn bytes((proof, public): &(Proof, Vec<Fr>)) -> Vec<u8> {
    [encoded(&public[..]), encoded(&proof.points()[..]), encoded(&proof.evaluations[..])].concat()
}

/// The greatest number of gates or hashes.
const LARGEST: usize = 1 << 24;

fn checked(size: usize) -> Result<u64, String> {
    if (1..=LARGEST).contains(&size) { Ok(size as u64) } else { Err("expected 1 to 2^24".to_owned()) }
}

/// A chain of `size` gates: three products, then a sum.
fn arithmetic(arithmetisation: Arithmetisation, memory: Memory) -> KernelEntry {
    proving(format!("{arithmetisation}-{memory}"), memory, move |size| {
        let mut circuit = Circuit::new(arithmetisation);
        workload::arithmetic(&mut circuit, checked(size)?);
        Ok(circuit)
    })
}

/// Below this number of hashes, tables with [`FEW_BITS`] window bits fit the rows better than those of
/// [`workload::window_bits`].
const FEW_HASHES: u64 = 64;
const FEW_BITS: u32 = 6;

/// A chain of `size` Pedersen hashes.
fn pedersen(arithmetisation: Arithmetisation) -> KernelEntry {
    proving(format!("pedersen-{arithmetisation}"), Memory::default(), move |size| {
        let hashes = checked(size)?;
        let mut circuit = Circuit::new(arithmetisation);
        if arithmetisation == Arithmetisation::Ultra {
            circuit.set_window_bits(if hashes < FEW_HASHES {
                FEW_BITS
            } else {
                workload::window_bits(hashes)
            });
        }
        workload::pedersen(&mut circuit, hashes);
        Ok(circuit)
    })
}

/// A proof for a small chain.
struct Claim {
    key: VerifyingKey,
    proof: Proof,
    public: Vec<Fr>,
}

/// The verification of one proof with the turbo arithmetisation.
fn verifying() -> KernelEntry {
    KernelFunctions::new(
        |rng, size| {
            if size != 1 {
                return Err("expected 1".to_owned());
            }
            let mut circuit = Circuit::new(Arithmetisation::Turbo);
            circuit.public_input(Fr::ONE);
            workload::arithmetic(&mut circuit, 16);
            let (level, instance) = (Level::best(), Instance::new(rng, circuit));
            let key = instance.key(level, Memory::default()).map_err(text)?;
            let (proof, public) = instance.prove(level, &key, &mut |_| ()).map_err(text)?;
            Ok(Claim { key: key.verifying_key().clone(), proof, public })
        },
        |_, _| Ok(()),
        |Claim { key, proof, public }, (), level, _| verify(level, key, public, proof).map_err(text),
        |()| vec![1],
    )
    .entry("plonk_workloads/verify", KernelLevels::PrimeFields)
}
