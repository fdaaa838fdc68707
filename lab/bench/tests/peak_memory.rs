//! Peak memory of a workload. The only test in its process, because other tests' memory would count too.
#![cfg(target_os = "linux")]

use proofmill_bench::{
    PreparedWorkload,
    sampler::{InProcess, Sampled},
};
use proofmill_memory::process_memory;
use std::sync::Arc;

const MEBIBYTE: u64 = 1 << 20;

/// Holds 8 MiB, and 32 MiB more while it runs.
struct Block(Vec<u8>);

impl PreparedWorkload for Block {
    fn run(&mut self, _: &mut dyn FnMut(&'static str)) -> Result<(), String> {
        drop(std::hint::black_box(vec![1_u8; 32 << 20]));
        Ok(())
    }

    fn output(&self) -> Vec<u8> {
        self.0.clone()
    }
}

#[test]
fn a_peak_is_that_of_the_workload() {
    // A higher peak from before must not count.
    drop(std::hint::black_box(vec![1_u8; 256 << 20]));
    assert!(
        process_memory::peak().unwrap() >= 256 * MEBIBYTE
            && process_memory::resident().unwrap() < 128 * MEBIBYTE
    );
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    let prepare = || Ok(Box::new(Block(vec![1; 8 << 20])) as Box<dyn PreparedWorkload>);
    let mut subject = InProcess::prepare("block".to_owned(), pool, None, prepare).unwrap();
    subject.answer().unwrap();
    let peak = subject.peak_memory().unwrap();
    // The kernel counts resident pages in batches.
    assert!((39 * MEBIBYTE..64 * MEBIBYTE).contains(&peak), "{peak}");
}
