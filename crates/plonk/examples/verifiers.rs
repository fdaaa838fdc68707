//! For each arithmetisation and lookup argument, writes a Solidity verifier and a call with a valid proof to
//! a folder: `NAME.sol` and `NAME.calldata`. The secret of the reference string is public: it is in this
//! file.
//!
//! ```sh
//! cargo run --package proofmill-plonk --example verifiers -- FOLDER
//! ```

use proofmill_cpu::Level;
use proofmill_curve::{Curve, grumpkin::Grumpkin};
use proofmill_field::bn254::Fr;
use proofmill_plonk::{
    Arithmetisation, Circuit, FixedColumns, Layout, LookupArgument, Memory, Progress, ProveOptions, prove,
    solidity,
};
use proofmill_srs::Srs;
use std::{env, error::Error, fs, path::PathBuf, sync::Arc};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of powers of tau.
const POWERS: usize = (1 << 14) + 8;

/// A circuit with every custom gate of the arithmetisation and two public inputs.
fn circuit(arithmetisation: Arithmetisation) -> Circuit {
    let mut circuit = Circuit::new(arithmetisation);
    if arithmetisation == Arithmetisation::Ultra {
        circuit.set_window_bits(4);
    }
    circuit.set_range_table_bits(8);
    circuit.set_logic_table_bits(4);
    let [a, b] = [0x1234u64, 0xabcd].map(|value| circuit.witness(Fr::from(value)));
    circuit.range(a, 16);
    let digits = circuit.xor(a, b, 16);
    circuit.publish(digits);
    let generator = circuit.constant_point(Grumpkin::GENERATOR);
    let hashes = [circuit.pedersen(digits, b), circuit.poseidon(&[a, b])];
    let [first, second] = hashes.map(|hash| circuit.mul_point(hash, generator));
    let sum = circuit.add_points(first, second);
    circuit.publish(sum.x);
    circuit
}

fn write(folder: &str, name: &str, srs: Arc<Srs>, layout: Layout, values: &[Fr]) -> Result<()> {
    let level = Level::best();
    let system: Vec<&str> = layout.gates.iter().map(|gate| gate.name()).collect();
    println!("{name}: {} rows; {}", layout.rows(), system.join(", "));
    let key =
        FixedColumns::new(level, layout, Memory::Fast, Progress::NONE)?.commit(level, srs, Progress::NONE)?;
    let (proof, public) = prove(level, &key, values, ProveOptions::default(), Progress::NONE)?;
    let path = |ending: &str| PathBuf::from(folder).join(format!("{name}.{ending}"));
    fs::write(path("sol"), solidity::verifier(key.verifying_key())?)?;
    fs::write(path("calldata"), solidity::calldata(&proof, &public))?;
    Ok(())
}

fn main() -> Result<()> {
    let folder = env::args().nth(1).ok_or("usage: verifiers FOLDER")?;
    fs::create_dir_all(&folder)?;
    let srs = Arc::new(Srs::insecure_from_known_tau(Level::best(), Fr::from(0x1234_5678_9abc), POWERS));
    for arithmetisation in Arithmetisation::ALL {
        let (layout, values) = circuit(arithmetisation).into_layout();
        if layout.lookup.is_none() {
            write(&folder, &arithmetisation.to_string(), srs.clone(), layout, &values)?;
            continue;
        }
        for argument in LookupArgument::ALL {
            let layout = Layout { lookup: Some(argument), ..layout.clone() };
            write(&folder, &format!("{arithmetisation}-{argument}"), srs.clone(), layout, &values)?;
        }
    }
    Ok(())
}
