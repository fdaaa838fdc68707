//! `pipeline msm`.

use super::{
    failure,
    setting::{self, SettingArguments},
};
use crate::commands::{numbers, table::table};
use clap::Args;
use proofmill_bench::definition::Size;
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_curve::{Affine, Jacobian, bn254::G1};
use proofmill_field::bn254::Fr;
use proofmill_pipeline::{
    Device,
    execute::Arithmetic,
    explore::Setting,
    formulas,
    limbs::LANES,
    msm::{MsmStatistics, Plan, msm},
    samples,
    schedule::Compiler,
};
use proofmill_run::Run;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::{Value, json};
use std::time::Instant;

/// Arguments of `msm`.
#[derive(Args, Debug)]
pub(crate) struct MsmArguments {
    /// Random points, a number or 2^K
    #[arg(long, value_name = "COUNT", default_value = "2^14")]
    points: Size,
    /// The seed of points and scalars
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Devices, names or files
    #[arg(long, value_name = "DEVICE", value_delimiter = ',', default_value = "vck5000,ideal,aie-ml")]
    device: Vec<String>,
    /// Bits of a digit of scalars, 2 to 20 [default: what takes the least time]
    #[arg(long, value_name = "BITS")]
    digit_bits: Option<u32>,
    #[command(flatten)]
    setting: SettingArguments,
}

/// Bytes of a bucket that is read and written, and of a point.
const BUCKET_BYTES: f64 = 128.0;
const POINT_BYTES: f64 = 64.0;

pub(super) fn run(arguments: &MsmArguments, machine: &mut Machine) -> Result<Outcome, Failure> {
    let count = setting::count(arguments.points)?;
    let mut rng = ChaCha20Rng::seed_from_u64(arguments.seed);
    let points = samples::points(count, &mut rng);
    let scalars: Vec<_> = (0..count).map(|_| Fr::random(&mut rng)).collect();
    let threads = machine.threads();
    let (level, expected, seconds) = machine.run(|Run { level, .. }| {
        let start = Instant::now();
        let sum = proofmill_curve::msm(level, &points, &scalars);
        (level, sum, start.elapsed().as_secs_f64())
    });
    let heading = [
        "device",
        "pipelines",
        "additions/s",
        "digit bits",
        "additions",
        "full calls %",
        "waited",
        "same x",
        "tiles",
        "memory",
        "host",
        "all",
        "of this CPU's time",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    let mut rows = Vec::new();
    for name in &arguments.device {
        let setting = arguments.setting.on(setting::device(name)?)?;
        let answer = on_device(&setting, arguments.digit_bits, level, &points, &scalars, &expected)?;
        lines.push(answer.cells(&setting.device, seconds));
        rows.push(answer.json(&setting.device, seconds));
    }
    let text = format!(
        "{count} points; this CPU: {} at {}, {threads} threads; every sum is equal to this CPU's\n\n{}",
        numbers::time(seconds),
        level.name(),
        table(&lines)
    );
    let result = json!({ "points": count, "seconds": seconds, "level": level.name(), "threads": threads, "devices": rows });
    Ok(Outcome { text, ..Outcome::done(result) })
}

/// A multiplication on a device.
struct Answer {
    pipelines: usize,
    per_second: f64,
    plan: Plan,
    work: MsmStatistics,
    /// Seconds of the tiles, of the card's memory if it holds the buckets, and of the host.
    seconds: [f64; 3],
}

fn on_device(
    setting: &Setting,
    digit_bits: Option<u32>,
    level: proofmill_cpu::Level,
    points: &[Affine<G1>],
    scalars: &[Fr],
    expected: &Jacobian<G1>,
) -> Result<Answer, Failure> {
    let unknown = || Failure::Input("xyzz-plus-affine is not known".to_owned());
    let formula = formulas::graph("xyzz-plus-affine").ok_or_else(unknown)?;
    let field = formulas::field("xyzz-plus-affine").ok_or_else(unknown)?;
    let mut compiler = Compiler::new(&field, &setting.device, setting.vectors);
    let built = setting.build(&formula, &mut compiler).map_err(failure)?;
    let (per_second, latency) = (built.outcome.per_second, built.outcome.latency);
    let mut plan = Plan::new(points.len(), setting.vectors, per_second, latency);
    plan.digit_bits = digit_bits.unwrap_or(plan.digit_bits);
    let (sum, work) = msm(&built.graph, Arithmetic::Level(level), points, scalars, &plan).map_err(failure)?;
    if sum != *expected {
        return Err(Failure::Rejected(format!("{}: the sum is not this CPU's", setting.device.name)));
    }
    let calls = work.calls as f64 * (setting.vectors * LANES) as f64;
    let buckets = (work.additions + work.first) as f64 * 2.0 * BUCKET_BYTES;
    let moved = buckets + points.len() as f64 * POINT_BYTES;
    let seconds =
        [calls / per_second + latency, moved / setting.device.memory.bytes_per_second, work.host_seconds];
    Ok(Answer { pipelines: built.placements.len(), per_second, plan, work, seconds })
}

impl Answer {
    /// Tiles and memory work at the same time, then the host.
    fn all(&self) -> f64 {
        let [tiles, memory, host] = self.seconds;
        tiles.max(memory) + host
    }

    fn full(&self) -> f64 {
        self.work.additions as f64 / (self.work.calls * self.plan.vectors * LANES).max(1) as f64
    }

    fn cells(&self, device: &Device, cpu: f64) -> Vec<String> {
        let MsmStatistics { additions, waited, exceptional, .. } = self.work;
        let mut cells = vec![
            device.name.clone(),
            self.pipelines.to_string(),
            numbers::scaled(self.per_second),
            self.plan.digit_bits.to_string(),
            additions.to_string(),
            format!("{:.0}", 100.0 * self.full()),
            waited.to_string(),
            exceptional.to_string(),
        ];
        cells.extend(self.seconds.map(numbers::time));
        cells.extend([numbers::time(self.all()), format!("{:.2}", self.all() / cpu)]);
        cells
    }

    fn json(&self, device: &Device, cpu: f64) -> Value {
        let [tiles, memory, host] = self.seconds;
        json!({
            "device": device.name,
            "pipelines": self.pipelines,
            "additions_per_second": self.per_second,
            "digit_bits": self.plan.digit_bits,
            "work": self.work,
            "seconds": { "tiles": tiles, "memory": memory, "host": host, "all": self.all() },
            "times_this_cpu": self.all() / cpu,
        })
    }
}
