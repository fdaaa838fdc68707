//! Times, of the CPU and not of the clock: what other processes do disturbs them less.

use cpu_time::ThreadTime;
use proofmill_simd::Level;

/// The level whose kernels are vectors.
const VECTORS: &str = "avx512ifma";

/// Checks that `run` on one thread is at least `factor` times faster with vectors than at `portable`, by the
/// least of several times each: a kernel that is not inlined into its level still gives right answers, tens of
/// times slower. Says so and does nothing on a CPU without the vectors.
///
/// # Panics
/// If it is not, or if no thread can be made.
pub fn assert_vectors_win(factor: f64, run: impl Fn(Level) + Sync) {
    let (portable, vectors) = (Level::available()[0], Level::best());
    if vectors.name() != VECTORS {
        println!("skipped: this CPU lacks level {VECTORS}");
        return;
    }
    let seconds = |level| {
        let start = ThreadTime::now();
        run(level);
        start.elapsed().as_secs_f64()
    };
    crate::for_each_pool(&[1], |_| {
        let mut least = [f64::INFINITY; 2];
        for _ in 0..10 {
            for (least, level) in least.iter_mut().zip([portable, vectors]) {
                *least = least.min(seconds(level));
            }
        }
        let ratio = least[0] / least[1];
        println!("{vectors} is {ratio:.1} times faster than {portable}");
        assert!(ratio >= factor, "{vectors} is {ratio:.2} times faster than {portable}, not {factor} times");
    });
}
