//! Which rows a run has: definitions, narrowed down by what the user asks for.

use crate::{
    BenchError,
    definition::{Benchmark, Family, Size, Threads},
    workload::Catalogue,
};
use proofmill_cpu::Level;

/// What the user wants of all that is defined.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Texts one of which `family/benchmark/size` contains; without any, everything.
    pub patterns: Vec<String>,
    /// Which levels.
    pub levels: LevelChoice,
    /// Numbers of threads in place of the definitions'.
    pub threads: Option<Vec<Threads>>,
    /// The only sizes wanted.
    pub sizes: Option<Vec<Size>>,
    /// Whether only the smallest size of each benchmark is wanted.
    pub smallest: bool,
}

/// Which levels are wanted.
#[derive(Clone, Debug, Default)]
pub enum LevelChoice {
    /// All that this CPU has and at which a kernel differs, so far as the definition names them.
    #[default]
    All,
    /// The one that a kernel runs at when this one is chosen.
    At(Level),
    /// Those of the names.
    Named(Vec<String>),
}

/// Rows that are measured turn about: one benchmark at one size on so many threads.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Where it is defined.
    pub family: &'a Family,
    /// What is measured.
    pub benchmark: &'a Benchmark,
    /// How many things.
    pub size: Size,
    /// Threads that work together.
    pub threads: u32,
    /// Proofmill's levels, the slowest first.
    pub levels: Vec<Level>,
}

impl Group<'_> {
    /// The name by which workloads and peers know the kernel.
    pub fn kernel(&self) -> String {
        format!("{}/{}", self.family.name, self.benchmark.name)
    }

    /// The kernel and the size: `msm/bn254-g1/2^16`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.kernel(), self.size)
    }

    /// The digest that the definition names.
    pub fn answer(&self) -> Option<&str> {
        let answers = self.benchmark.answers.iter();
        let mut ours = answers.filter(|(size, _)| size.parse() == Ok(self.size));
        ours.next().map(|(_, answer)| answer.as_str())
    }
}

/// The groups of what is selected, in the definitions' order. `all` is how many threads the machine runs at once.
///
/// # Errors
/// A definition that names a kernel or a level that does not exist, and a selection that nothing fits.
pub fn plan<'a>(
    families: &'a [Family],
    catalogue: &dyn Catalogue,
    selection: &Selection,
    all: u32,
) -> Result<Vec<Group<'a>>, BenchError> {
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
                    let group = Group { family, benchmark, size, threads, levels };
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
                // Levels come in order: the kernel runs at the last one that is not above the chosen one.
                let rank = |level: Level| Level::available().iter().position(|other| *other == level);
                levels.retain(|level| rank(*level) <= rank(*chosen));
                levels = levels.split_off(levels.len().saturating_sub(1));
            }
            Self::Named(names) => levels.retain(|level| names.iter().any(|name| name == level.name())),
        }
        levels
    }
}
