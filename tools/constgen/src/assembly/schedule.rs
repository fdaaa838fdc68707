//! The order of a program's steps for several vectors at once: list scheduling by the longest path to the end (Graham, 1969), with a
//! random term, since the best order for a CPU is found by measuring.
//!
//! R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 17 (1969), 416-429.

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
}

/// A step, as far as the scheduler must know it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) instructions: usize,
    /// Cycles until its results are ready.
    pub(crate) latency: usize,
    /// The steps that have to come before; all of them are earlier ones.
    pub(crate) before: Vec<usize>,
}

/// The order of the steps of all vectors: vector and step.
pub(crate) fn order(steps: &[Step], vectors: usize, parameters: Parameters) -> Vec<(usize, usize)> {
    let mut after = vec![Vec::new(); steps.len()];
    for (index, step) in steps.iter().enumerate() {
        step.before.iter().for_each(|before| after[*before].push(index));
    }
    // Cycles from the beginning of a step to the end of all that depends on it.
    let mut paths = vec![0; steps.len()];
    for (index, step) in steps.iter().enumerate().rev() {
        paths[index] = step.latency + after[index].iter().map(|next| paths[*next]).max().unwrap_or(0);
    }
    let mut random = Random(parameters.seed);
    let nodes = vectors * steps.len();
    let priorities: Vec<f64> =
        (0..nodes).map(|node| paths[node % steps.len()] as f64 + random.unit() * parameters.noise).collect();
    let mut missing: Vec<usize> = (0..nodes).map(|node| steps[node % steps.len()].before.len()).collect();
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
        order.push((vector, step));
        let begin = time.max(ready[node]);
        time += steps[step].instructions as f64 / parameters.width;
        for next in &after[step] {
            let next = vector * steps.len() + next;
            ready[next] = ready[next].max(begin + steps[step].latency as f64);
            missing[next] -= 1;
            if missing[next] == 0 {
                available.push(next);
            }
        }
    }
    order
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_once_and_after_those_before_it() {
        for seed in 0..20 {
            let mut random = Random(seed);
            let mut below = |bound: usize| (random.unit() * bound as f64) as usize;
            let steps: Vec<Step> = (0..40)
                .map(|step| {
                    let before = (0..step).filter(|_| below(8) == 0).collect();
                    Step { instructions: 1 + below(5), latency: below(12), before }
                })
                .collect();
            let order = order(&steps, 2, Parameters { width: 4.0, slack: 0.0, noise: 6.0, seed });
            let place = |vector, step| order.iter().position(|placed| *placed == (vector, step));
            assert_eq!(order.len(), 2 * steps.len());
            for (vector, step) in
                [0, 1].into_iter().flat_map(|vector| (0..40).map(move |step| (vector, step)))
            {
                assert!(place(vector, step).is_some());
                assert!(steps[step].before.iter().all(|before| place(vector, *before) < place(vector, step)));
            }
        }
    }
}
