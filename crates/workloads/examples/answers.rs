//! The answers of kernels whose names contain a pattern, at the sizes of their definitions, by the best level, as lines for
//! the definitions: `cargo run --release -p proofmill-workloads --example answers [PATTERN] [--portable]
//! [--smallest]`. With `--portable` they come from the plain kernels, which take longest and owe nothing to lanes; with
//! `--smallest` only those of the smallest sizes are computed.

use proofmill_bench::workload::Catalogue;
use proofmill_simd::{Level, Portable};
use proofmill_workloads::{Workloads, definitions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let smallest = arguments.iter().any(|word| word == "--smallest");
    let level = if arguments.iter().any(|word| word == "--portable") {
        Level::Portable(Portable)
    } else {
        Level::best()
    };
    let pattern = arguments.iter().find(|word| !word.starts_with("--")).map_or("", String::as_str);
    let workloads = Workloads::default();
    for family in definitions()? {
        for benchmark in &family.benchmarks {
            let kernel = format!("{}/{}", family.name, benchmark.name);
            if !kernel.contains(pattern) {
                continue;
            }
            println!("{kernel}");
            println!("[benchmark.answers]");
            for size in benchmark.sizes.iter().take(if smallest { 1 } else { usize::MAX }) {
                let mut workload = workloads.prepare(&kernel, size.0, level)?;
                workload.run(&mut |_| ())?;
                let digest = proofmill_sha256::digest(&workload.output());
                let digits: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
                println!("\"{size}\" = \"{digits}\"");
            }
        }
    }
    Ok(())
}
