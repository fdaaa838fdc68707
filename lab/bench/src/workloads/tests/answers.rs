//! Every kernel at its smallest size gives its definition's answer, at every level and on several numbers of
//! threads.

use crate::workloads::{Workloads, definitions};
use proofmill_bench::{PreparedWorkload, catalogue::Catalogue, sampler::digest};
use proofmill_cpu::Level;
use rayon::ThreadPoolBuilder;

type Problem = Box<dyn std::error::Error>;

fn run(workload: &mut dyn PreparedWorkload) -> Result<String, String> {
    workload.run(&mut |_| ())?;
    Ok(digest(&workload.output()))
}

#[test]
fn every_level_gives_the_answer_on_any_number_of_threads() -> Result<(), Problem> {
    let workloads = Workloads::default();
    let pools = [1, 2, 5].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
    let pools = pools.into_iter().collect::<Result<Vec<_>, _>>()?;
    for family in definitions()? {
        for benchmark in &family.benchmarks {
            let kernel = format!("{}/{}", family.name, benchmark.name);
            let size = benchmark.sizes.iter().min().ok_or("a benchmark without sizes")?;
            let expected =
                benchmark.answers.get(&size.to_string()).ok_or(format!("{kernel} {size}: no answer"))?;
            let levels = workloads.levels(&kernel).ok_or(format!("no kernel has the name {kernel}"))?;
            assert_eq!(levels[0], Level::Portable(proofmill_cpu::Portable), "{kernel}");
            for level in levels {
                let mut workload = workloads.prepare(&kernel, size.0, level)?;
                for pool in &pools {
                    workload.restart();
                    let found = pool.install(|| run(&mut *workload))?;
                    assert_eq!(&found, expected, "{kernel} {size} at {level}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn definitions_and_kernels_have_the_same_names() -> Result<(), Problem> {
    let families = definitions()?;
    let named = |family: &proofmill_bench::definition::Family| -> Vec<String> {
        family.benchmarks.iter().map(|benchmark| format!("{}/{}", family.name, benchmark.name)).collect()
    };
    let mut defined: Vec<String> = families.iter().flat_map(named).collect();
    let mut kernels: Vec<&str> = Workloads::names().collect();
    defined.sort_unstable();
    kernels.sort_unstable();
    assert_eq!(defined, kernels);
    kernels.dedup();
    assert_eq!(defined.len(), kernels.len());
    Ok(())
}

#[test]
fn sizes_ascend_and_answers_belong_to_them() -> Result<(), Problem> {
    for family in definitions()? {
        for benchmark in &family.benchmarks {
            let sizes: Vec<String> = benchmark.sizes.iter().map(ToString::to_string).collect();
            assert!(benchmark.sizes.is_sorted_by(|a, b| a < b), "{} {}", family.name, benchmark.name);
            for size in benchmark.answers.keys() {
                assert!(sizes.contains(size), "{} {}: {size}", family.name, benchmark.name);
            }
        }
    }
    Ok(())
}

#[test]
fn unknown_kernels_and_bad_sizes_are_refused() {
    let workloads = Workloads::default();
    let level = Level::best();
    assert!(workloads.levels("ntt/secp256k1").is_none());
    let refused = |kernel, size| workloads.prepare(kernel, size, level).err();
    assert_eq!(refused("ntt/secp256k1", 8).as_deref(), Some("no kernel has the name ntt/secp256k1"));
    assert_eq!(
        refused("ntt/bn254-fr", 1000).as_deref(),
        Some("ntt/bn254-fr of size 1000: expected a power of two from 2^1 to 2^28")
    );
    assert_eq!(
        refused("msm/bn254-g1", 1 << 30).as_deref(),
        Some("msm/bn254-g1 of size 1073741824: expected less than 2^30 points")
    );
    assert!(workloads.input("ntt/secp256k1", 8).is_err());
}

#[test]
fn work_in_place_can_be_restarted() -> Result<(), Problem> {
    let mut workload = Workloads::default().prepare("ntt/bn254-fr", 16, Level::best())?;
    let first = run(&mut *workload)?;
    assert_ne!(run(&mut *workload)?, first, "the transform of the transform");
    workload.restart();
    assert_eq!(run(&mut *workload)?, first);
    Ok(())
}
