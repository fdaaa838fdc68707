//! For each arithmetisation and lookup argument of PLONK, and for fflonk with several numbers of public inputs, writes
//! a Solidity verifier and a call with a valid proof to a folder: `NAME.sol` and `NAME.calldata`. The secret of the reference string is public: it is in this
//! file.
//!
//! ```sh
//! cargo run --package proofmill-plonk --example verifiers -- FOLDER
//! ```

use proofmill_circom::{BinFile, Ptau, PtauHeader, PtauPoints, PtauWriter, R1cs, R1csHeader, SparseMatrix};
use proofmill_cpu::Level;
use proofmill_curve::{Curve, bn254::G2, grumpkin::Grumpkin};
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, Circuit, FixedColumns, Layout, LookupArgument, Memory, ProveOptions, fflonk, prove,
    solidity,
};
use proofmill_run::Run;
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
    let key = FixedColumns::new(Run { memory: Some(Memory::Fast), ..level.into() }, layout)?
        .commit(level.into(), srs)?;
    let (proof, public) = prove(level.into(), &key, values, ProveOptions::default())?;
    let path = |ending: &str| PathBuf::from(folder).join(format!("{name}.{ending}"));
    fs::write(path("sol"), solidity::verifier(key.verifying_key())?)?;
    fs::write(path("calldata"), solidity::calldata(&proof, &public))?;
    Ok(())
}

/// fflonk's contract of the circuit `x_i^2 = x_(i + 1)` with public inputs `x_1` to `x_public`.
fn write_fflonk(folder: &str, srs: &Srs, public: u32) -> Result<()> {
    const CONSTRAINTS: u32 = 20;
    let level = Level::best();
    let header = R1csHeader {
        wires: CONSTRAINTS + 2,
        outputs: 0,
        public_inputs: public,
        private_inputs: CONSTRAINTS + 1 - public,
        labels: u64::from(CONSTRAINTS) + 2,
        constraints: CONSTRAINTS,
    };
    let wires =
        |first| SparseMatrix::from_rows((first..).map(|wire| [(wire, Fr::ONE)]).take(CONSTRAINTS as usize));
    let circuit = R1cs { header, a: wires(1), b: wires(1), c: wires(2) };
    let squares = std::iter::successors(Some(Fr::from(3)), |value| Some(*value * *value));
    let witness: Vec<Fr> = [Fr::ONE].into_iter().chain(squares.take(CONSTRAINTS as usize + 1)).collect();

    let (mut powers, mut key) = (Vec::new(), Vec::new());
    let mut file = <PtauWriter>::create(&mut powers, &PtauHeader { power: 9, ceremony_power: 9 }, 2)?;
    let (tau_g1, tau_g2) = (srs.powers(level, 0..1 << 10)?, [G2::GENERATOR, *srs.tau_g2()]);
    file.points(PtauPoints::TauG1, |out| out.points(&tau_g1))?;
    file.points(PtauPoints::TauG2, |out| out.points(&tau_g2))?;
    file.no_contributions()?;
    file.finish()?;
    let powers = Ptau::read(BinFile::from_bytes("powers", powers)?)?;
    fflonk::setup(level.into(), &circuit, &powers, &mut key)?;
    let key = fflonk::ProvingKey::read(BinFile::from_bytes("key", key)?)?;
    let (proof, public) = fflonk::prove(level.into(), &key, &witness, ProveOptions::default())?;
    let path = |ending: &str| PathBuf::from(folder).join(format!("fflonk-{}.{ending}", public.len()));
    fs::write(path("sol"), fflonk::solidity::verifier(key.verifying_key())?)?;
    fs::write(path("calldata"), fflonk::solidity::calldata(&proof, &public))?;
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
    [0, 1, 12].into_iter().try_for_each(|public| write_fflonk(&folder, &srs, public))
}
