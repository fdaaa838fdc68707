//! Output of the programs that time peers outside the bench: a table, or with `--csv` rows in the format of
//! `lab/records`.

use cpu_time::ProcessTime;
use std::{
    collections::HashMap,
    env,
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

/// The number of timed runs, after one warm-up run; the median counts.
const RUNS: usize = 5;

/// The measurements of one program; each is printed immediately.
pub(crate) struct Records {
    csv: bool,
    /// Seconds on one thread, by benchmark and implementation.
    one_thread: HashMap<(String, String), f64>,
}

impl Records {
    /// Prints the header. With `--csv` among the arguments, records are printed.
    pub(crate) fn new() -> Self {
        let csv = env::args().any(|argument| argument == "--csv");
        if csv {
            println!("benchmark,implementation,threads,clock,median_ms,against,ratio");
        }
        Self { csv, one_thread: HashMap::new() }
    }

    /// Runs `body` on a pool of one thread, then on one of all cores if there are more. `body` receives the number of threads.
    ///
    /// # Panics
    /// If a pool cannot be created.
    #[allow(dead_code, reason = "one of the two programs measures on one core only")]
    pub(crate) fn for_one_and_all_cores(&mut self, mut body: impl FnMut(&mut Self, usize) + Send) {
        let all = thread::available_parallelism().map_or(1, usize::from);
        for threads in if all > 1 { vec![1, all] } else { vec![1] } {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| body(self, threads));
        }
    }

    /// Times `run` and prints its median seconds, which it also returns: CPU time of the process on one thread, since a busy
    /// machine disturbs it less, and wall time on more. The ratio is the speed-up over `against`, a name and its seconds;
    /// without `against`, or on more threads, it is the speed-up over one thread.
    pub(crate) fn record<T>(
        &mut self,
        benchmark: &str,
        implementation: &str,
        threads: usize,
        against: Option<(&str, f64)>,
        mut run: impl FnMut() -> T,
    ) -> f64 {
        let mut sample = || {
            let (cpu, wall) = (ProcessTime::now(), Instant::now());
            black_box(run());
            let elapsed: Duration = if threads == 1 { cpu.elapsed() } else { wall.elapsed() };
            elapsed.as_secs_f64()
        };
        sample();
        let mut seconds: Vec<f64> = (0..RUNS).map(|_| sample()).collect();
        seconds.sort_by(f64::total_cmp);
        let median = seconds[RUNS / 2];
        let key = (benchmark.to_owned(), implementation.to_owned());
        let alone = self.one_thread.get(&key).map(|seconds| ("1 thread", *seconds));
        let (against, ratio) = match against.or(alone) {
            Some((name, seconds)) => (name, format!("{:.2}", seconds / median)),
            None => ("", String::new()),
        };
        let clock = if threads == 1 { "cpu" } else { "wall" };
        let milliseconds = median * 1e3;
        if self.csv {
            println!("{benchmark},{implementation},{threads},{clock},{milliseconds:.4},{against},{ratio}");
        } else {
            let comparison =
                if against.is_empty() { String::new() } else { format!("{ratio:>7} x {against}") };
            println!(
                "{benchmark:<26} {implementation:<11} {threads:>2} threads {milliseconds:11.4} ms {clock:<4} {comparison}"
            );
        }
        if threads == 1 {
            self.one_thread.insert(key, median);
        }
        median
    }
}
