//! Counts iterations in a given time, on one thread or several, in this process or in programs of this
//! repository.

use super::{Context, Obstacle, Sample, failed};
use crate::process::Partner;
use cpu_time::ThreadTime;
use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// Seconds per iteration of the machine when each of `threads` threads repeats its own `work()` for `time`:
/// CPU time on one thread, wall time on more.
pub(super) fn seconds<W: FnMut() + Send>(threads: u32, time: Duration, work: impl Fn() -> W + Sync) -> f64 {
    if threads == 1 {
        let mut work = work();
        let (began, cpu) = (Instant::now(), ThreadTime::now());
        let count = repeat(&mut work, began, time);
        return cpu.elapsed().as_secs_f64() / count as f64;
    }
    let together = Barrier::new(threads as usize);
    let rate = |_| {
        let mut work = work();
        together.wait();
        let began = Instant::now();
        let count = repeat(&mut work, began, time);
        count as f64 / began.elapsed().as_secs_f64()
    };
    let rates: f64 = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || rate(thread))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).sum()
    });
    1.0 / rates
}

fn repeat(work: &mut impl FnMut(), began: Instant, time: Duration) -> u64 {
    let mut count = 0;
    loop {
        work();
        count += 1;
        if began.elapsed() >= time {
            return count;
        }
    }
}

/// A program's reply to `run NANOSECONDS`: `done COUNT WALL_NANOSECONDS CPU_NANOSECONDS ANSWER`. Times are
/// stored in seconds.
#[derive(Debug, PartialEq)]
pub(super) struct Done {
    count: f64,
    wall: f64,
    cpu: f64,
    pub(super) answer: String,
}

impl Done {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("done ")?.splitn(4, ' ');
        let mut number =
            || words.next()?.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
        let (count, wall, cpu) = (number()?, number()?, number()?);
        Some(Self {
            count,
            wall: wall * 1e-9,
            cpu: cpu * 1e-9,
            answer: words.next().unwrap_or_default().trim().to_owned(),
        })
    }
}

/// Takes a sample of partners that work in parallel. With `cpu`, for one partner with one thread, the rate is
/// per CPU time. Every partner must reply with `answer`.
pub(super) fn sample(
    partners: &mut [Partner],
    cpu: bool,
    answer: &str,
    program: &str,
    context: &Context<'_>,
) -> Result<Sample, Obstacle> {
    let from = context.mark();
    for partner in partners.iter_mut() {
        partner.send(&format!("run {}", context.options.time.as_nanos()));
    }
    let mut rate = 0.0;
    for partner in partners.iter_mut() {
        let line = partner.receive().map_err(failed(program))?;
        let done = Done::parse(&line)
            .ok_or_else(|| Obstacle::Failed(format!("{program}: expected done, found {line:?}")))?;
        if done.answer != answer {
            return Err(Obstacle::Failed(format!(
                "{program}: expected the answer {answer:?}, found {:?}",
                done.answer
            )));
        }
        rate += done.count / if cpu { done.cpu } else { done.wall };
    }
    let window = from.zip(context.mark());
    Ok(Sample { seconds: 1.0 / rate, window })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_parsed_and_others_refused() {
        let done = Done::parse("done 3 1500000000 1250000000 228 16").unwrap();
        assert_eq!(done, Done { count: 3.0, wall: 1.5, cpu: 1.25, answer: "228 16".to_owned() });
        assert_eq!(Done::parse("done 1 1 1").unwrap().answer, "");
        for line in [
            "",
            "done",
            "done 3 4",
            "done 0 1 1 x",
            "done 1 -1 1 x",
            "done 1 1 nan x",
            "error no",
            "done x 1 1",
        ] {
            assert_eq!(Done::parse(line), None, "{line}");
        }
    }

    #[test]
    fn known_times_are_measured() {
        let sleeping = || || thread::sleep(Duration::from_millis(10));
        let two = seconds(2, Duration::from_millis(100), sleeping);
        assert!((0.004..0.02).contains(&two), "{two}");
        let cpu = seconds(1, Duration::from_millis(100), sleeping);
        assert!(cpu < 0.005, "sleeping is no CPU time: {cpu}");
    }
}
