//! Loops that run one test body at every level and number of threads.

use proofmill_cpu::Level;
use std::env;

/// Names levels, separated by commas, that this CPU must have for a test to pass.
const REQUIRED: &str = "PROOFMILL_REQUIRE_LEVELS";

/// Runs `body` at every level of this CPU with kernels for the big prime fields, slowest first.
///
/// # Panics
/// If the environment variable `PROOFMILL_REQUIRE_LEVELS` names a level that this CPU lacks, so that a skipped
/// test cannot look like a passed one.
pub fn for_each_level(body: impl FnMut(Level)) {
    for_each(proofmill_field::prime_field_levels(), body);
}

/// Runs `body` at every level of this CPU with kernels for the Goldilocks field, slowest first.
///
/// # Panics
/// As [`for_each_level`].
pub fn for_each_goldilocks_level(body: impl FnMut(Level)) {
    for_each(proofmill_field::goldilocks_levels(), body);
}

fn for_each(levels: Vec<Level>, body: impl FnMut(Level)) {
    let available: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
    let required = env::var(REQUIRED).unwrap_or_default();
    let missing = missing(&required, &available);
    assert!(missing.is_empty(), "{REQUIRED}: levels that this CPU lacks: {}", missing.join(", "));
    levels.into_iter().for_each(body);
}

/// Runs `body(threads)` inside a rayon pool of each given size.
///
/// # Panics
/// If a pool cannot be created.
pub fn for_each_pool(threads: &[usize], body: impl Fn(usize) + Sync) {
    for &threads in threads {
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(|| body(threads)),
            Err(error) => panic!("a pool of {threads} threads: {error}"),
        }
    }
}

fn missing<'a>(required: &'a str, available: &[&str]) -> Vec<&'a str> {
    required.split(',').map(str::trim).filter(|name| !name.is_empty() && !available.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_level_runs_once() {
        let mut names = Vec::new();
        for_each_level(|level| names.push(level.name()));
        assert_eq!(
            names,
            proofmill_field::prime_field_levels().iter().map(|level| level.name()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_required_level_that_is_missing_is_named() {
        let available = ["portable", "adx"];
        assert_eq!(missing("", &available), [""; 0]);
        assert_eq!(missing("adx, portable", &available), [""; 0]);
        assert_eq!(missing("adx,avx512ifma", &available), ["avx512ifma"]);
    }

    #[test]
    fn pools_have_the_size_asked_for() {
        let runs = AtomicUsize::new(0);
        for_each_pool(&[1, 2, 5], |threads| {
            assert_eq!(rayon::current_num_threads(), threads);
            runs.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(runs.into_inner(), 3);
    }
}
