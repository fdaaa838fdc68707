//! Writes the input of a kernel as peers' runners read it, to try one by hand:
//! `cargo run -p proofmill-workloads --example input msm/bn254-g1 2^10 FILE`.

use proofmill_bench::{definition::Size, workload::Catalogue};
use proofmill_workloads::Workloads;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, size, path] = &arguments[..] else { return Err("expected KERNEL SIZE FILE".into()) };
    std::fs::write(path, Workloads::default().input(kernel, size.parse::<Size>()?.0)?)?;
    Ok(())
}
