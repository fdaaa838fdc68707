//! The order of a formula's steps for two vectors of elements at once: list scheduling by the longest path to the end (Graham,
//! 1969), with a random term, since the best order for a CPU is found by measuring.

use super::formula::{Factor, Formula, Step};

/// What the scheduler may vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    /// Instructions per cycle that are assumed.
    pub(crate) width: f64,
    /// Cycles by which a step may begin before its operands are ready: the CPU reorders.
    pub(crate) slack: f64,
    /// The largest random term of a priority, in cycles.
    pub(crate) noise: f64,
    pub(crate) seed: u64,
    /// Instructions within which a value that is read again is loaded into a register.
    pub(crate) near: usize,
}

impl Step {
    /// Instructions.
    fn instructions(&self) -> usize {
        match self {
            Self::Products { products, .. } => 4 * products.len() + 1,
            Self::Rest { .. } => 2,
            Self::Digit { .. } => 5,
            Self::Montgomery { .. } => 3,
            Self::Top { .. } | Self::Sum { .. } | Self::Column { .. } => 1,
            Self::Difference { .. } => 1,
            Self::Result { .. } => 0,
        }
    }

    /// Cycles until its results are ready.
    fn latency(&self) -> usize {
        match self {
            Self::Products { products, .. } => 4 * products.len() + if products.len() > 1 { 12 } else { 9 },
            Self::Rest { .. } => 6,
            Self::Digit { .. } => 7,
            Self::Montgomery { .. } => 11,
            Self::Top { .. } => 4,
            Self::Sum { .. } => 3,
            Self::Column { .. } | Self::Difference { .. } => 1,
            Self::Result { .. } => 0,
        }
    }

    /// The columns that have to be complete before.
    fn completes(&self) -> Vec<usize> {
        match self {
            Self::Digit { column, .. } | Self::Top { column, .. } => vec![*column],
            Self::Column { from, .. } => vec![*from],
            Self::Difference { from, less, .. } => vec![*from, *less],
            _ => vec![],
        }
    }

    /// The columns that it adds to.
    fn adds(&self) -> Vec<usize> {
        match self {
            Self::Products { column, .. } => vec![*column, column + 1],
            Self::Rest { column, .. } | Self::Digit { column, .. } => vec![column + 1],
            Self::Column { to, .. } | Self::Difference { to, .. } => vec![*to],
            _ => vec![],
        }
    }

    fn values_read(&self) -> Vec<usize> {
        let of = |factors: &[Factor]| -> Vec<usize> {
            let value = |factor: &Factor| match factor {
                Factor::Value(value) => Some(*value),
                _ => None,
            };
            factors.iter().filter_map(value).collect()
        };
        match self {
            Self::Products { products, .. } => of(products.as_flattened()),
            Self::Rest { product, .. } => of(product),
            Self::Sum { terms, .. } => of(terms),
            Self::Montgomery { digit, .. } => vec![*digit],
            Self::Result { value, .. } => vec![*value],
            _ => vec![],
        }
    }

    fn value_given(&self) -> Option<usize> {
        match self {
            Self::Digit { value, .. }
            | Self::Top { value, .. }
            | Self::Montgomery { value, .. }
            | Self::Sum { value, .. } => Some(*value),
            _ => None,
        }
    }
}

/// The steps of each vector, in order.
pub(crate) fn order(formula: &Formula, parameters: Parameters) -> Vec<(usize, &Step)> {
    let steps = &formula.steps;
    let before: Vec<Vec<usize>> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let (completes, reads) = (step.completes(), step.values_read());
            let precedes = |other: &Step| {
                other.adds().iter().any(|column| completes.contains(column))
                    || other.value_given().is_some_and(|value| reads.contains(&value))
            };
            (0..steps.len()).filter(|other| *other != index && precedes(&steps[*other])).collect()
        })
        .collect();
    let mut after = vec![Vec::new(); steps.len()];
    before.iter().enumerate().for_each(|(step, before)| before.iter().for_each(|b| after[*b].push(step)));
    let mut paths = vec![None; steps.len()];
    (0..steps.len()).for_each(|step| {
        longest_path(step, steps, &after, &mut paths);
    });

    let mut random = Random(parameters.seed);
    let nodes = formula.vectors * steps.len();
    let priorities: Vec<f64> = (0..nodes)
        .map(|node| paths[node % steps.len()].unwrap_or(0) as f64 + random.unit() * parameters.noise)
        .collect();
    let mut missing: Vec<usize> = (0..nodes).map(|node| before[node % steps.len()].len()).collect();
    let mut ready = vec![0f64; nodes];
    let mut available: Vec<usize> = (0..nodes).filter(|node| missing[*node] == 0).collect();
    let (mut time, mut order) = (0f64, Vec::new());
    while !available.is_empty() {
        let score = |node: usize| priorities[node] - 4.0 * (ready[node] - time - parameters.slack).max(0.0);
        let best = (0..available.len())
            .reduce(|best, i| if score(available[i]) > score(available[best]) { i } else { best })
            .unwrap_or(0);
        let node = available.remove(best);
        let (vector, step) = (node / steps.len(), node % steps.len());
        order.push((vector, &steps[step]));
        let begin = time.max(ready[node]);
        time += steps[step].instructions() as f64 / parameters.width;
        for next in &after[step] {
            let next = vector * steps.len() + next;
            ready[next] = ready[next].max(begin + steps[step].latency() as f64);
            missing[next] -= 1;
            if missing[next] == 0 {
                available.push(next);
            }
        }
    }
    order
}

/// Cycles from the beginning of a step to the end of all that depends on it.
fn longest_path(step: usize, steps: &[Step], after: &[Vec<usize>], paths: &mut [Option<usize>]) -> usize {
    if let Some(path) = paths[step] {
        return path;
    }
    let rest = after[step].iter().map(|next| longest_path(*next, steps, after, paths)).max();
    let path = steps[step].latency() + rest.unwrap_or(0);
    paths[step] = Some(path);
    path
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    /// A number of 0..1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / 2f64.powi(53)
    }
}
