//! Times in CPU time instead of wall time, since other processes disturb it less.

use cpu_time::ThreadTime;
use proofmill_cpu::Level;

/// The number of rounds; the least time counts.
const ROUNDS: usize = 10;

/// Checks that `run` on one thread is faster than at `portable` by the factor given for each level's name. Compares the least
/// of several times each, taken in turn. This detects kernels that are not inlined into their level, which give right answers
/// tens of times slower. Levels that this CPU lacks are reported and skipped.
///
/// # Panics
/// If it is not, or if the thread cannot be started.
pub fn assert_levels_win(factors: &[(&str, f64)], run: impl Fn(Level) + Sync) {
    let available = Level::available();
    let mut levels = vec![(available[0], 1.0)];
    for (name, factor) in factors {
        match available.iter().find(|level| level.name() == *name) {
            Some(level) => levels.push((*level, *factor)),
            None => println!("skipped: this CPU lacks level {name}"),
        }
    }
    let seconds = |level| {
        let start = ThreadTime::now();
        run(level);
        start.elapsed().as_secs_f64()
    };
    crate::for_each_pool(&[1], |_| {
        let mut least = vec![f64::INFINITY; levels.len()];
        for _ in 0..ROUNDS {
            for (least, (level, _)) in least.iter_mut().zip(&levels) {
                *least = least.min(seconds(*level));
            }
        }
        for (time, (level, factor)) in least.iter().zip(&levels).skip(1) {
            let ratio = least[0] / time;
            println!("{level} is {ratio:.1} times faster than portable");
            assert!(ratio >= *factor, "{level} is {ratio:.2} times faster than portable, not {factor} times");
        }
    });
}
