//! Proves in a loop within one process, as the yardstick of services around it (`service/figures.py`):
//!
//!     cargo run --release --example prove_loop -- KEY WITNESS
//!
//! Each line of standard input has a number of proofs, of machines side by side, and of threads for each machine. The answer is a line
//! with the seconds that all proofs took together. Each proof begins with reading the witness and ends with the proof as JSON.

use proofmill::{AnyProvingKey, Machine, circom::Witness};
use std::{
    collections::BTreeMap,
    env, io,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

fn main() -> proofmill::Result<()> {
    let [key, witness] =
        env::args().skip(1).collect::<Vec<_>>().try_into().expect("usage: prove_loop KEY WITNESS");
    let key = AnyProvingKey::open(key)?;
    let mut machines: BTreeMap<usize, Vec<Machine>> = BTreeMap::new();
    for line in io::stdin().lines() {
        let line = line.expect("standard input can be read");
        let numbers: Vec<usize> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [count, side_by_side, threads] = numbers[..] else { panic!("expected COUNT MACHINES THREADS") };
        let machines = machines.entry(threads).or_default();
        while machines.len() < side_by_side {
            // The keys of benchmarks are made by one party.
            machines.push(Machine::builder().threads(threads).allow_insecure_setup(|_| ()).build()?);
        }
        let (begun, began) = (AtomicUsize::new(0), Instant::now());
        let prove = |machine: &Machine| {
            while begun.fetch_add(1, Ordering::Relaxed) < count {
                let proof = machine.run(|| key.prove(&Witness::open(&witness)?))?;
                assert!(!proof.to_json().is_empty() && !proof.public().to_json().is_empty());
            }
            Ok(())
        };
        thread::scope(|scope| {
            let provers: Vec<_> =
                machines[..side_by_side].iter().map(|machine| scope.spawn(|| prove(machine))).collect();
            provers.into_iter().try_for_each(|prover| prover.join().expect("no panic"))
        })
        .inspect_err(|error: &proofmill::Error| eprintln!("{error}"))?;
        println!("{}", began.elapsed().as_secs_f64());
    }
    Ok(())
}
