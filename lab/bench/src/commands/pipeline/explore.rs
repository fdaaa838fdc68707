//! `pipeline explore`.

use super::{
    failure, pictures,
    setting::{self, DeviceArguments, FormulaArguments, MoreArguments, SettingArguments},
};
use crate::commands::{numbers, table::table};
use clap::Args;
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_pipeline::{
    Device,
    explore::{ExplorationQuestion, ExplorationRow, ExplorationTable, Found},
    pictures::Series,
    schedule::Compiler,
};
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Arguments of `explore`.
#[derive(Args, Debug)]
pub(crate) struct ExploreArguments {
    #[command(flatten)]
    formula: FormulaArguments,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    setting: SettingArguments,
    #[command(flatten)]
    more: MoreArguments,
    /// Devices to compare with, names or files [default: all that this program knows]
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    against: Vec<String>,
    /// The device of which the first one gets one part at a time
    #[arg(long, value_name = "DEVICE", default_value = "ideal")]
    wish: String,
    /// Write a page with pictures: network, places, times, throughput, limits
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the pictures as SVG files to a folder
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

impl ExploreArguments {
    pub(super) fn outputs(&self) -> Vec<&Path> {
        self.html.iter().map(PathBuf::as_path).collect()
    }
}

/// "Elliptic Curve ZK-Proof Acceleration on AMD Versal" (Ulvetanna, 2024): measured for 1 and 10 pipelines, and an estimate for 23.
const MEASURED: [[f64; 2]; 2] = [[1.0, (1u64 << 26) as f64 / 30.778], [10.0, (1u64 << 26) as f64 / 2.982]];
const ESTIMATED: [f64; 2] = [23.0, 51.7e6];

pub(super) fn run(arguments: &ExploreArguments, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|_| explore(arguments))
}

fn explore(arguments: &ExploreArguments) -> Result<Outcome, Failure> {
    let (formula, field) = arguments.formula.read()?;
    let device = arguments.device.read()?;
    let mut setting = arguments.setting.on(device)?;
    arguments.more.add_to(&mut setting)?;
    let known = Device::COMMITTED.iter().map(|(name, _)| *name);
    let given = arguments.against.iter().map(String::as_str);
    let against: Vec<_> = if arguments.against.is_empty() { known.collect() } else { given.collect() };
    let devices: Vec<_> = against.into_iter().map(setting::device).collect::<Result<_, _>>()?;
    let wish = setting::device(&arguments.wish)?;
    let question = ExplorationQuestion {
        formula: &formula,
        field: &field,
        base: &setting,
        devices: &devices,
        wish: &wish,
    };
    let exploration = question.explore().map_err(failure)?;
    if arguments.html.is_some() || arguments.pictures.is_some() {
        let mut compiler = Compiler::new(&field, &setting.device, setting.vectors);
        let built = setting.build(&formula, &mut compiler).map_err(failure)?;
        let series = |name: &str, points: &[[f64; 2]], measured| Series {
            name: name.to_owned(),
            points: points.to_vec(),
            measured,
        };
        let paper = [series("paper", &MEASURED, true), series("paper's estimate", &[ESTIMATED], false)];
        let is_papers = formula.name == "xyzz-plus-affine" && arguments.device.name == "vck5000";
        let published = if is_papers { &paper[..] } else { &[] };
        let mut all = pictures::of_setting(&built, &setting.device);
        all.extend(pictures::of_exploration(&built, &setting, &exploration, published));
        let title = format!("{} on {}", formula.name, setting.device.name);
        pictures::write(&title, &all, arguments.html.as_deref(), arguments.pictures.as_deref())?;
    }
    let mut text = format!("{} on {}, {}\n", formula.name, setting.device.name, setting.shape);
    for table in &exploration.tables {
        text += &lines(table);
    }
    let result = serde_json::to_value(&exploration).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(Outcome { text, ..Outcome::done(result) })
}

/// A table as text.
fn lines(answers: &ExplorationTable) -> String {
    let heading =
        ["", "from", "tiles", "pipelines", "results/s", "latency", "J/million", "$/million", "limited by"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    lines.extend(answers.rows.iter().map(cells));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{}", answers.title);
    text + &table(&lines)
}

fn cells(row: &ExplorationRow) -> Vec<String> {
    let mut cells = vec![row.label.clone(), row.supply.name().to_owned()];
    match &row.found {
        Found::Answer(answer) => {
            let [least, most] = answer.joules_per_million.map(numbers::three_digits);
            cells.extend([
                answer.tiles.to_string(),
                answer.pipelines.to_string(),
                numbers::scaled(answer.per_second),
                numbers::time(answer.latency),
                format!("{least}..{most}"),
                answer
                    .dollars_per_million
                    .map_or_else(String::new, |[least, most]| format!("{least:.1e}..{most:.1e}")),
                answer.limit.clone(),
            ]);
        }
        Found::Refused { refused } => {
            cells.extend([const { String::new() }; 6]);
            cells.push(refused.clone());
        }
    }
    cells
}
