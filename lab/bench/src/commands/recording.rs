//! The recording of a run, shared by `run`, `provers` and `platform`: begin a run, store its rows as they
//! end, finish it.

use clap::Args;
use jiff::Timestamp;
use proofmill_bench::{
    BenchError, machine,
    power::{PowerMeter, PowerSource},
    record::{BenchRun, FORMAT, Measurement, Noise, RowOutcome},
    store::{self, RunStore},
};
use proofmill_console::{Failure, Outcome};
use proofmill_cost::price;
use proofmill_files::write_texts;
use serde_json::json;
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Location of the store.
#[derive(Args, Clone, Debug)]
pub(crate) struct Database {
    /// The store of results [default: proofmill/bench.db in the user's data directory]
    #[arg(long, env = "PROOFMILL_BENCH_DB", value_name = "FILE", hide_env_values = true)]
    db: Option<PathBuf>,
}

impl Database {
    /// Opens the store; creates it if it does not exist.
    pub(super) fn open(&self) -> Result<RunStore, Failure> {
        let path = self.db.clone().map_or_else(store::default_path, Ok)?;
        Ok(RunStore::open(&path)?)
    }
}

/// Options for a run's label, store, power source and price.
#[derive(Args, Debug)]
pub(crate) struct RecordingArguments {
    #[command(flatten)]
    database: Database,
    /// The run's label [default: the CPU's model]
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Source of power readings: auto (RAPL where it can be read), rapl, ipmitool, none
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = ["auto", "rapl", "ipmitool", "none"])]
    power: String,
    /// Power readings from a meter's file, `timestamp,watts` by line, which may still grow
    #[arg(long, value_name = "FILE", conflicts_with_all = ["power", "watts"])]
    power_csv: Option<PathBuf>,
    /// The machine's power in watts, if it is known and constant
    #[arg(long, value_name = "WATTS", conflicts_with = "power", allow_negative_numbers = true)]
    watts: Option<f64>,
    /// The machine's price in US dollars per hour
    #[arg(long, value_name = "DOLLARS", conflicts_with = "instance", allow_negative_numbers = true)]
    price_per_hour: Option<f64>,
    /// The cloud's name for this machine, for the table of prices
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,
    /// Print one JSON object, or write the run to a file that `bench import` and `bench report` take
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

/// A run in progress.
pub(super) struct Recording {
    store: RunStore,
    pub(super) run: BenchRun,
    pub(super) meter: Option<PowerMeter>,
    /// The reason why power is not measured, if `--power auto` found none.
    pub(super) without_power: Option<String>,
}

impl RecordingArguments {
    /// The file that the run will be written to.
    pub(super) fn json_file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Collects the machine's facts, starts the meter and begins the run in the store.
    pub(super) fn begin(&self) -> Result<Recording, Failure> {
        let store = self.database.open()?;
        let (meter, without_power) = self.meter()?;
        let mut run = BenchRun::begin(self.label.clone(), std::env::args().collect(), machine::facts())?;
        if let Some(name) = &self.instance {
            run.machine.instance = Some(name.clone());
        }
        run.power_source = meter.as_ref().map(PowerMeter::source);
        run.price = match (self.price_per_hour, &self.instance) {
            (Some(dollars), _) => Some(price::given(dollars).map_err(BenchError::from)?),
            (None, Some(name)) => Some(price::of_instance(name).map_err(BenchError::from)?),
            (None, None) => run.machine.instance.as_deref().and_then(|name| price::of_instance(name).ok()),
        };
        store.begin(&run)?;
        Ok(Recording { store, run, meter, without_power })
    }

    fn meter(&self) -> Result<(Option<PowerMeter>, Option<String>), Failure> {
        let source = match (&self.power_csv, self.watts, self.power.as_str()) {
            (Some(path), ..) => PowerSource::Csv(path.clone()),
            (None, Some(watts), _) => PowerSource::Constant(watts),
            (None, None, "ipmitool") => PowerSource::ipmitool(),
            (None, None, "none") => return Ok((None, None)),
            (None, None, "auto") => {
                return Ok(match PowerMeter::start(&PowerSource::rapl()) {
                    Ok(meter) => (Some(meter), None),
                    Err(error) => (None, Some(format!("watts: not measured: {error}"))),
                });
            }
            _ => PowerSource::rapl(),
        };
        Ok((Some(PowerMeter::start(&source)?), None))
    }
}

impl Recording {
    /// Adds a row; when this returns, it is in the store.
    pub(super) fn add(&mut self, measurement: Measurement) -> Result<(), proofmill_bench::BenchError> {
        self.store.add(&self.run.id, &measurement)?;
        self.run.measurements.push(measurement);
        Ok(())
    }

    /// Ends the run, writes it to `file` and returns a summary of its rows. The outcome is a failure if a row
    /// failed. `without` has a sentence for each figure that was not measured, with the reason.
    pub(super) fn finish(
        mut self,
        noise: Noise,
        without: &[String],
        file: Option<&Path>,
    ) -> Result<Outcome, Failure> {
        let ended = Timestamp::now();
        self.store.finish(&self.run.id, ended, &noise)?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        for sentence in without {
            let _ = write!(text, "\n{sentence}");
        }
        for warning in &noise.warnings {
            let _ = write!(text, "\nwarning: {warning}");
        }
        (self.run.ended, self.run.noise) = (Some(ended), noise);
        let run = self.run;
        let (mut failed, mut absent) = (Vec::new(), 0);
        for measurement in &run.measurements {
            match &measurement.outcome {
                RowOutcome::Failed { reason } => failed.push(reason),
                RowOutcome::Absent { .. } => absent += 1,
                RowOutcome::Measured(_) | RowOutcome::Checked { .. } => {}
            }
        }
        let rows = run.measurements.len();
        let _ = write!(text, "\n{rows} rows, {} right", rows - failed.len() - absent);
        if absent > 0 {
            let _ = write!(text, ", {absent} of programs that are not installed");
        }
        let _ = writeln!(text, "; run {}", &run.id[..8]);
        let failure = failed.first().map(|reason| {
            let all =
                if failed.len() > 1 { format!(" ({} rows in all)", failed.len()) } else { String::new() };
            Failure::Rejected(format!("{reason}{all}"))
        });
        let result = json!({ "format": FORMAT, "runs": [run] });
        if let Some(path) = file {
            write_texts(&[(path, &format!("{result}\n"))])?;
        }
        Ok(Outcome { text, failure, ..Outcome::done(result) })
    }
}
