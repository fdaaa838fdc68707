//! Plans the rows of a run: the definitions, filtered by the user's selection.

use crate::{
    BenchError,
    catalogue::Catalogue,
    definition::{Benchmark, Family, Size, Threads},
};
use proofmill_cpu::Level;

/// The user's selection among all definitions.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// A row is selected if one of these is part of its `family/benchmark/size`; if empty, all are.
    pub patterns: Vec<String>,
    /// The selected levels.
    pub levels: LevelChoice,
    /// Numbers of threads, instead of the definitions'.
    pub threads: Option<Vec<Threads>>,
    /// The selected sizes; if `None`, all.
    pub sizes: Option<Vec<Size>>,
    /// Whether to select only the smallest size of each benchmark.
    pub smallest: bool,
}

/// A selection of levels.
#[derive(Clone, Debug, Default)]
pub enum LevelChoice {
    /// All levels that this CPU has, at which the kernel differs, and that the definition names.
    #[default]
    All,
    /// The level at which the kernel runs when this level is chosen.
    At(Level),
    /// The levels with these names.
    Named(Vec<String>),
}

/// Rows that are measured in alternation: one benchmark at one size and number of threads.
#[derive(Clone, Debug)]
pub struct RowGroup<'a> {
    /// The family.
    pub family: &'a Family,
    /// The benchmark.
    pub benchmark: &'a Benchmark,
    /// Number of units in an iteration.
    pub size: Size,
    /// Number of threads.
    pub threads: u32,
    /// Proofmill's levels, slowest first.
    pub levels: Vec<Level>,
}

impl RowGroup<'_> {
    /// The kernel's name for workloads and peers: `family/benchmark`.
    pub fn kernel(&self) -> String {
        format!("{}/{}", self.family.name, self.benchmark.name)
    }

    /// The kernel and the size: `msm/bn254-g1/2^16`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.kernel(), self.size)
    }

    /// The expected digest in the definition, if there is one.
    pub fn answer(&self) -> Option<&str> {
        let answers = self.benchmark.answers.iter();
        let mut ours = answers.filter(|(size, _)| size.parse() == Ok(self.size));
        ours.next().map(|(_, answer)| answer.as_str())
    }
}

/// The groups of the selection, in the definitions' order. `all` is the machine's number of hardware threads.
///
/// # Errors
/// A definition that names an unknown kernel, and a selection without rows.
pub fn plan<'a>(
    families: &'a [Family],
    catalogue: &dyn Catalogue,
    selection: &Selection,
    all: u32,
) -> Result<Vec<RowGroup<'a>>, BenchError> {
    let mut groups = Vec::new();
    for family in families {
        for benchmark in &family.benchmarks {
            let kernel = format!("{}/{}", family.name, benchmark.name);
            let levels = catalogue.levels(&kernel).ok_or_else(|| BenchError::Definition {
                name: family.name.clone(),
                problem: format!("expected a kernel, found {}", benchmark.name),
            })?;
            let levels = selection.levels.of(benchmark, levels);
            let mut threads = selection.threads.clone().unwrap_or_else(|| benchmark.threads.clone());
            threads.sort_by_key(|threads| threads.count(all));
            threads.dedup_by_key(|threads| threads.count(all));
            for size in selection.sizes_of(benchmark) {
                for threads in &threads {
                    let (levels, threads) = (levels.clone(), threads.count(all));
                    let group = RowGroup { family, benchmark, size, threads, levels };
                    if !group.levels.is_empty() && selection.wants(&group.name()) {
                        groups.push(group);
                    }
                }
            }
        }
    }
    if groups.is_empty() {
        return Err(BenchError::Workload {
            name: format!("bench run {}", selection.patterns.join(" ")),
            problem: "no benchmark of this CPU's fits; `proofmill bench list` has them all".to_owned(),
        });
    }
    Ok(groups)
}

impl Selection {
    fn wants(&self, name: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| name.contains(pattern.as_str()))
    }

    fn sizes_of(&self, benchmark: &Benchmark) -> Vec<Size> {
        if self.smallest {
            return benchmark.sizes.iter().min().copied().into_iter().collect();
        }
        let wanted = |size: &&Size| self.sizes.as_ref().is_none_or(|sizes| sizes.contains(size));
        benchmark.sizes.iter().filter(wanted).copied().collect()
    }
}

impl LevelChoice {
    fn of(&self, benchmark: &Benchmark, levels: Vec<Level>) -> Vec<Level> {
        let defined = |level: &Level| {
            benchmark.levels.as_ref().is_none_or(|names| names.iter().any(|name| name == level.name()))
        };
        let mut levels: Vec<Level> = levels.into_iter().filter(defined).collect();
        match self {
            Self::All => {}
            Self::At(chosen) => {
                // Levels are in order: the kernel runs at the last one that is not above the chosen one.
                let rank = |level: Level| Level::available().iter().position(|other| *other == level);
                levels.retain(|level| rank(*level) <= rank(*chosen));
                levels = levels.split_off(levels.len().saturating_sub(1));
            }
            Self::Named(names) => levels.retain(|level| names.iter().any(|name| name == level.name())),
        }
        levels
    }
}
