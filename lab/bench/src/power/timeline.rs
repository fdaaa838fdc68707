//! Power readings over time.

use super::SILENCE;

/// How long a single reading is valid, in seconds: sources have a new reading about once a second.
const LONE_READING: f64 = 2.0;

/// Readings as pairs of seconds since some moment and watts, in the order of their times.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    readings: Vec<(f64, f64)>,
}

impl Timeline {
    /// Adds a reading. Readings that are not later than the last one, or not finite, or negative, are
    /// dropped.
    pub(super) fn push(&mut self, seconds: f64, watts: f64) {
        let later = self.readings.last().is_none_or(|last| seconds > last.0);
        if later && seconds.is_finite() && watts.is_finite() && watts >= 0.0 {
            self.readings.push((seconds, watts));
        }
    }

    /// Energy in joules between two times: the integral of the linear interpolation. `None` if the readings
    /// do not cover the window.
    pub(super) fn joules(&self, from: f64, to: f64) -> Option<f64> {
        let (&first, &last) = (self.readings.first()?, self.readings.last()?);
        let due = match self.readings[..] {
            [.., before, last] => (2.0 * (last.0 - before.0)).min(SILENCE.as_secs_f64()),
            _ => LONE_READING,
        };
        if from < first.0 || to > last.0 + due || to < from {
            return None;
        }
        let standing = (to > last.0).then_some((to, last.1));
        let begin = self.readings.partition_point(|reading| reading.0 <= from) - 1;
        let points: Vec<_> = self.readings[begin..].iter().copied().chain(standing).collect();
        let mut joules = 0.0;
        for pair in points.windows(2) {
            let ((t0, w0), (t1, w1)) = (pair[0], pair[1]);
            let (left, right) = (from.max(t0), to.min(t1));
            if left >= right {
                continue;
            }
            if t1 - t0 > SILENCE.as_secs_f64() {
                return None;
            }
            let at = |t: f64| w0 + (w1 - w0) * (t - t0) / (t1 - t0);
            joules += (at(left) + at(right)) / 2.0 * (right - left);
        }
        Some(joules)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.readings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(readings: &[(f64, f64)]) -> Timeline {
        let mut timeline = Timeline::default();
        readings.iter().for_each(|&(seconds, watts)| timeline.push(seconds, watts));
        timeline
    }

    /// Areas of trapezoids, calculated by hand.
    #[test]
    fn power_is_interpolated_linearly() {
        let power = timeline(&[(0.0, 100.0), (1.0, 200.0), (3.0, 50.0)]);
        for (from, to, expected) in [
            (0.0, 1.0, 150.0),
            (0.0, 3.0, 400.0),
            (0.25, 0.75, 75.0),
            (0.5, 2.0, 250.0),
            (1.0, 1.0, 0.0),
            (2.0, 4.0, 137.5),
        ] {
            let found = power.joules(from, to).unwrap();
            assert!((found - expected).abs() < 1e-9, "{from}..{to}: {found}, expected {expected}");
        }
    }

    #[test]
    fn a_window_that_is_not_covered_has_no_energy() {
        let power = timeline(&[(0.0, 100.0), (1.0, 200.0), (100.0, 200.0), (101.0, 200.0)]);
        assert_eq!(power.joules(-0.1, 0.5), None, "before the first");
        assert_eq!(power.joules(0.5, 2.0), None, "within a silence");
        assert_eq!(power.joules(0.5, 101.0), None, "across a silence");
        assert_eq!(power.joules(100.5, 103.1), None, "after the next was due");
        assert_eq!(power.joules(101.0, 100.5), None, "backwards");
        assert_eq!(power.joules(100.5, 102.5), Some(400.0));
        assert_eq!(timeline(&[]).joules(0.0, 1.0), None);
        assert_eq!(timeline(&[(0.0, 7.0)]).joules(0.0, 2.0), Some(14.0));
        assert_eq!(timeline(&[(0.0, 7.0)]).joules(0.0, 2.1), None);
    }

    #[test]
    fn invalid_and_unordered_readings_are_dropped() {
        let power = timeline(&[
            (0.0, 10.0),
            (2.0, 10.0),
            (1.0, 1e9),
            (2.0, 1e9),
            (3.0, f64::NAN),
            (4.0, -1.0),
            (5.0, 10.0),
        ]);
        assert_eq!(power.joules(0.0, 5.0), Some(50.0));
    }
}
