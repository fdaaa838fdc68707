//! One test body for every level and number of threads.

use proofmill_simd::Level;
use std::env;

/// Names the levels, separated by commas, without which a test run must not pass.
const REQUIRED: &str = "PROOFMILL_REQUIRE_LEVELS";

/// Runs `body` at every level that this CPU has, slowest first.
///
/// # Panics
/// If the environment variable `PROOFMILL_REQUIRE_LEVELS` names a level that did not run, so that a skipped
/// test cannot look like a passed one.
pub fn for_each_level(mut body: impl FnMut(Level)) {
    let mut ran = Vec::new();
    for level in Level::available() {
        body(level);
        ran.push(level.name());
    }
    let required = env::var(REQUIRED).unwrap_or_default();
    let missing = missing(&required, &ran);
    assert!(missing.is_empty(), "{REQUIRED}: levels that did not run: {}", missing.join(", "));
}

/// Runs `body(threads)` inside a rayon pool of each given size.
///
/// # Panics
/// If a pool cannot be made.
pub fn for_each_pool(threads: &[usize], body: impl Fn(usize) + Sync) {
    for &threads in threads {
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(|| body(threads)),
            Err(error) => panic!("a pool of {threads} threads: {error}"),
        }
    }
}

fn missing<'a>(required: &'a str, ran: &[&str]) -> Vec<&'a str> {
    required.split(',').map(str::trim).filter(|name| !name.is_empty() && !ran.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_level_runs_once() {
        let mut names = Vec::new();
        for_each_level(|level| names.push(level.name()));
        assert_eq!(names, Level::available().iter().map(|level| level.name()).collect::<Vec<_>>());
    }

    #[test]
    fn a_required_level_that_did_not_run_is_named() {
        let ran = ["portable", "adx"];
        assert_eq!(missing("", &ran), [""; 0]);
        assert_eq!(missing("adx, portable", &ran), [""; 0]);
        assert_eq!(missing("adx,avx512ifma", &ran), ["avx512ifma"]);
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
