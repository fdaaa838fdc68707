//! Networks in time: processes that take a while, and buffers between them.

use std::{cmp::Reverse, collections::BinaryHeap};

/// A process: it reads one buffer of each input, takes some cycles, and fills one buffer of each output. It holds all of these
/// buffers meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    /// How long it takes.
    pub(super) cycles: u64,
    /// The edges that it reads.
    pub(super) inputs: Vec<usize>,
    /// The edges that it fills.
    pub(super) outputs: Vec<usize>,
    /// The resource that only one process at a time can use.
    pub(super) resource: Option<usize>,
    /// How often it runs, if its inputs do not limit it.
    pub(super) runs: Option<u64>,
}

/// A timed network.
#[derive(Clone, Debug, Default)]
pub(super) struct Timed {
    pub(super) processes: Vec<Process>,
    /// The buffers of each edge, and how many of them are full at the beginning.
    pub(super) edges: Vec<(u64, u64)>,
    /// How many resources there are.
    pub(super) resources: usize,
}

/// How a process has spent its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// How often it ran.
    pub(super) runs: u64,
    /// Cycles in which it worked.
    pub(super) working: u64,
    /// Cycles in which an input was empty.
    pub(super) starved: u64,
    /// Cycles in which no input was empty, but no buffer of an output was free.
    pub(super) blocked: u64,
    /// Cycles in which it waited for its resource alone.
    pub(super) queued: u64,
    /// The cycle in which its first run ended.
    pub(super) first: u64,
    /// The cycle in which its last run ended.
    pub(super) last: u64,
}

/// Why a process waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Input,
    Room,
    Resource,
    /// It has done all its runs.
    End,
}

/// The state of an edge: its buffers are full, free, or held by its writer or its reader.
#[derive(Clone, Copy)]
struct Buffers {
    free: u64,
    full: u64,
}

impl Timed {
    /// Runs until nothing happens any more. Tells which process begins to run, when, and when it will have ended: in the order of
    /// time, so that a process begins after all processes that filled its inputs.
    pub(super) fn run(&self, mut begins: impl FnMut(usize, u64, u64)) -> Vec<Spent> {
        let count = self.processes.len();
        let mut edges: Vec<_> =
            self.edges.iter().map(|(all, full)| Buffers { free: all - full, full: *full }).collect();
        let mut spent = vec![Spent::default(); count];
        let mut waiting: Vec<Option<(Wait, u64)>> = vec![None; count];
        let mut busy = vec![false; count];
        let mut taken = vec![false; self.resources];
        let mut ends = BinaryHeap::new();
        let (readers, writers) = self.neighbours();
        let users = self.users();
        let mut looked_at: Vec<usize> = (0..count).collect();
        let mut time = 0;
        loop {
            // Processes that have waited longest come first.
            looked_at.sort_by_key(|index| (waiting[*index].map_or(time, |(_, since)| since), *index));
            looked_at.dedup();
            for index in looked_at.drain(..).filter(|index| !busy[*index]).collect::<Vec<_>>() {
                let wait = self.wait(index, &edges, &taken, &spent);
                if !spent[index].stops_waiting(&mut waiting[index], wait, time) {
                    continue;
                }
                let process = &self.processes[index];
                process.inputs.iter().for_each(|edge| edges[*edge].full -= 1);
                process.outputs.iter().for_each(|edge| edges[*edge].free -= 1);
                if let Some(resource) = process.resource {
                    taken[resource] = true;
                }
                busy[index] = true;
                begins(index, time, time + process.cycles);
                ends.push(Reverse((time + process.cycles, index)));
            }
            let Some(Reverse((end, _))) = ends.peek().copied() else { return spent };
            time = end;
            while let Some(Reverse((_, index))) = ends.peek().copied().filter(|Reverse((at, _))| *at == time)
            {
                ends.pop();
                let process = &self.processes[index];
                process.inputs.iter().for_each(|edge| edges[*edge].free += 1);
                process.outputs.iter().for_each(|edge| edges[*edge].full += 1);
                if let Some(resource) = process.resource {
                    taken[resource] = false;
                    looked_at.extend(&users[resource]);
                }
                looked_at.push(index);
                looked_at.extend(process.inputs.iter().map(|edge| writers[*edge]));
                looked_at.extend(process.outputs.iter().map(|edge| readers[*edge]));
                busy[index] = false;
                spent[index].ran(process.cycles, time);
            }
        }
    }

    /// The reader and the writer of each edge.
    fn neighbours(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut readers, mut writers) = (vec![0; self.edges.len()], vec![0; self.edges.len()]);
        for (index, process) in self.processes.iter().enumerate() {
            process.inputs.iter().for_each(|edge| readers[*edge] = index);
            process.outputs.iter().for_each(|edge| writers[*edge] = index);
        }
        (readers, writers)
    }

    /// The processes that share each resource.
    fn users(&self) -> Vec<Vec<usize>> {
        let mut users = vec![Vec::new(); self.resources];
        for (index, process) in self.processes.iter().enumerate() {
            process.resource.into_iter().for_each(|resource| users[resource].push(index));
        }
        users
    }

    fn wait(&self, index: usize, edges: &[Buffers], taken: &[bool], spent: &[Spent]) -> Option<Wait> {
        let process = &self.processes[index];
        if process.runs.is_some_and(|runs| spent[index].runs == runs) {
            Some(Wait::End)
        } else if process.inputs.iter().any(|edge| edges[*edge].full == 0) {
            Some(Wait::Input)
        } else if process.outputs.iter().any(|edge| edges[*edge].free == 0) {
            Some(Wait::Room)
        } else {
            process.resource.filter(|resource| taken[*resource]).map(|_| Wait::Resource)
        }
    }
}

impl Spent {
    fn ran(&mut self, cycles: u64, time: u64) {
        self.runs += 1;
        self.working += cycles;
        self.last = time;
        if self.runs == 1 {
            self.first = time;
        }
    }

    /// Notes the reason why the process waits from now on. Returns whether there is none, so that it begins.
    fn stops_waiting(&mut self, waiting: &mut Option<(Wait, u64)>, wait: Option<Wait>, time: u64) -> bool {
        match (*waiting, wait) {
            (Some((before, _)), Some(now)) if before == now => false,
            (before, now) => {
                if let Some((before, since)) = before {
                    self.waited(before, time - since);
                }
                *waiting = now.map(|now| (now, time));
                now.is_none()
            }
        }
    }

    fn waited(&mut self, wait: Wait, cycles: u64) {
        match wait {
            Wait::Input => self.starved += cycles,
            Wait::Room => self.blocked += cycles,
            Wait::Resource => self.queued += cycles,
            Wait::End => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of processes with buffers of one depth between them.
    fn chain(cycles: &[u64], depth: u64, runs: u64) -> Vec<Spent> {
        let processes = cycles.iter().enumerate().map(|(index, time)| Process {
            cycles: *time,
            inputs: index.checked_sub(1).into_iter().collect(),
            outputs: Some(index).filter(|_| index + 1 < cycles.len()).into_iter().collect(),
            resource: None,
            runs: Some(runs),
        });
        let processes = processes.collect();
        Timed { processes, edges: vec![(depth, 0); cycles.len()], resources: 0 }.run(|_, _, _| ())
    }

    #[test]
    fn double_buffers_let_the_slowest_process_set_the_pace() {
        let spent = chain(&[3, 7, 5], 2, 100);
        // The slowest starts after the first, and then works without a pause.
        assert_eq!(spent[1].last, 3 + 7 * 100);
        assert_eq!(spent[2].last, 3 + 7 * 100 + 5);
        assert_eq!((spent[1].starved, spent[1].blocked), (3, 0));
        assert_eq!(spent[2].starved, 3 + 7 + 99 * 2);
        // It fills both buffers, and waits whenever the next has none for it.
        assert_eq!(spent[0].blocked, (7 - 3) * 98);
    }

    #[test]
    fn single_buffers_make_neighbours_take_turns() {
        let spent = chain(&[3, 7], 1, 100);
        assert_eq!(spent[1].last, (3 + 7) * 100);
        assert_eq!(spent[1].starved, 3 * 100);
    }

    #[test]
    fn a_resource_serves_one_process_at_a_time() {
        let process = Process { cycles: 4, resource: Some(0), runs: Some(10), ..Process::default() };
        let spent = Timed { processes: vec![process.clone(), process], edges: vec![], resources: 1 }
            .run(|_, _, _| ());
        assert_eq!(spent.iter().map(|spent| spent.last).max(), Some(80));
        assert_eq!(spent.iter().map(|spent| spent.working + spent.queued).max(), Some(80));
    }

    #[test]
    fn edges_that_are_full_at_the_beginning_let_a_circle_run() {
        let first =
            Process { cycles: 2, inputs: vec![1], outputs: vec![0], runs: Some(5), ..Process::default() };
        let second = Process { cycles: 3, inputs: vec![0], outputs: vec![1], ..Process::default() };
        let run = |full| {
            Timed {
                processes: vec![first.clone(), second.clone()],
                edges: vec![(2, 0), (2, full)],
                resources: 0,
            }
            .run(|_, _, _| ())
        };
        assert_eq!(run(0)[1].runs, 0);
        assert_eq!(run(1)[1].last, 5 * (2 + 3));
        assert_eq!(run(2)[1].last, 2 + 5 * 3);
    }
}
