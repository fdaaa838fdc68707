//! Times in CPU time instead of wall time, since other processes disturb it less.

use cpu_time::ThreadTime;
use proofmill_cpu::Level;
use std::fmt::Display;

/// The number of rounds; the least time counts.
const ROUNDS: usize = 10;

/// [`assert_faster`] for levels against `portable`, by the factor given for each level's name. Levels that this CPU lacks are
/// reported and skipped.
///
/// # Panics
/// If a level is not as fast, or if the thread cannot be started.
pub fn assert_levels_win(factors: &[(&str, f64)], run: impl Fn(Level) + Sync) {
    let available = Level::available();
    let mut levels = vec![];
    for (name, factor) in factors {
        match available.iter().find(|level| level.name() == *name) {
            Some(level) => levels.push((*level, *factor)),
            None => println!("skipped: this CPU lacks level {name}"),
        }
    }
    assert_faster(available[0], &levels, run);
}

/// Checks that `run` on one thread is faster with each of the others than with the slowest, by the factor given. Compares the
/// least of several times each, taken in turn. This detects kernels that are not inlined into their level, which give right
/// answers tens of times slower.
///
/// # Panics
/// If it is not, or if the thread cannot be started.
pub fn assert_faster<K: Copy + Display + Sync>(slowest: K, others: &[(K, f64)], run: impl Fn(K) + Sync) {
    let seconds = |kernels| {
        let start = ThreadTime::now();
        run(kernels);
        start.elapsed().as_secs_f64()
    };
    crate::for_each_pool(&[1], |_| {
        let mut least = vec![f64::INFINITY; others.len()];
        let mut slow = f64::INFINITY;
        for _ in 0..ROUNDS {
            slow = slow.min(seconds(slowest));
            for (least, (kernels, _)) in least.iter_mut().zip(others) {
                *least = least.min(seconds(*kernels));
            }
        }
        for (time, (kernels, factor)) in least.iter().zip(others) {
            let ratio = slow / time;
            println!("{kernels} is {ratio:.1} times faster than {slowest}");
            assert!(
                ratio >= *factor,
                "{kernels} is {ratio:.2} times faster than {slowest}, not {factor} times"
            );
        }
    });
}
