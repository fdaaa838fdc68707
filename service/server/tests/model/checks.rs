//! What holds of the system, and what the checker finds when the rules are wrong.

use crate::{
    rules::Flaw,
    system::{Action, Broken, Inputs, Job, Message, OUTAGE, Scope, System, Word, Worker},
};
use proofmill_server::state::JobState;
use stateright::{Model, Property};

impl Model for Scope {
    type State = System;
    type Action = Action;

    fn init_states(&self) -> Vec<System> {
        vec![System::new(self)]
    }

    fn actions(&self, system: &System, actions: &mut Vec<Action>) {
        if self.is_fair { fair_actions(self, system, actions) } else { all_actions(self, system, actions) }
    }

    fn next_state(&self, system: &System, action: Action) -> Option<System> {
        system.after(self, action)
    }

    fn within_boundary(&self, system: &System) -> bool {
        let in_time = self.end.is_none_or(|end| system.clock <= end);
        // Rules under which jobs are tried without end.
        in_time && system.jobs.iter().all(|job| job.claims <= 8)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = always();
        if self.is_fair {
            properties.extend(eventually())
        } else {
            properties.extend(sometimes())
        }
        properties
    }
}

/// Everything that may happen.
fn all_actions(scope: &Scope, system: &System, actions: &mut Vec<Action>) {
    for (index, client) in system.clients.iter().enumerate() {
        if client.acknowledged.is_none() {
            actions.extend([Action::Submit(index), Action::Acknowledge(index)]);
        }
        actions.extend(scope.has_submissions.then_some(Action::Commit(index)));
    }
    for job in 0..system.jobs.len() {
        actions.extend([
            Action::Claim(job),
            Action::EndLease(job),
            Action::Expire(job),
            Action::Cancel(job),
            Action::Retry(job),
        ]);
        if scope.has_cleaning {
            actions.extend([Action::List(job), Action::GiveUp(job), Action::Delete(job)]);
        }
    }
    for (index, worker) in system.workers.iter().enumerate() {
        // Equal workers do the same.
        if index > 0 && system.workers[index - 1] == *worker {
            continue;
        }
        match worker {
            Worker::Idle | Worker::Hangs => {}
            Worker::Asked(_) => actions.extend([Action::Receive(index), Action::Restart(index)]),
            Worker::Busy(claim, are_stored) => {
                actions.extend([Action::StoreOutputs(index), Action::Restart(index)]);
                if *are_stored || scope.rules.have(Flaw::OutputsAfterResult) {
                    actions.push(Action::Send(index, Word::Finish));
                }
                actions.extend([Word::Fail, Word::Lose, Word::Release].map(|word| Action::Send(index, word)));
                actions.push(Action::Deliver(Message { claim: *claim, word: Word::Beat }));
            }
        }
    }
    actions.extend(system.network.iter().copied().map(Action::Deliver));
    // Time does not matter to what has ended for good.
    let ends = |job: &Job| job.progress.state.has_ended() && job.progress.state != JobState::Dead;
    if system.jobs.is_empty() || !system.jobs.iter().all(ends) {
        actions.extend([Action::Tick, Action::JumpForward, Action::JumpBack]);
    }
}

/// What a system does that does what it can, and what goes wrong as often as the scope says. Time goes on when there is nothing to do. So
/// every run ends: each action but a tick uses up a message, a claim, or something that the scope counts, and ticks end with the leases.
fn fair_actions(scope: &Scope, system: &System, actions: &mut Vec<Action>) {
    for (index, client) in system.clients.iter().enumerate() {
        actions.extend(match (client.has_sent, client.answer, client.acknowledged) {
            (false, ..) => Some(Action::Submit(index)),
            (_, Some(_), _) => Some(Action::Acknowledge(index)),
            (_, _, None) => Some(Action::Commit(index)),
            _ => None,
        });
    }
    for job in 0..system.jobs.len() {
        actions.extend([Action::Claim(job), Action::EndLease(job), Action::Expire(job)]);
    }
    for (index, worker) in system.workers.iter().enumerate() {
        actions.extend(match worker {
            Worker::Idle | Worker::Hangs => None,
            Worker::Asked(_) => Some(Action::Receive(index)),
            Worker::Busy(claim, _) if is_poison(scope, system, claim.job) => Some(Action::Restart(index)),
            Worker::Busy(_, false) => Some(Action::StoreOutputs(index)),
            Worker::Busy(_, true) => Some(Action::Send(index, Word::Finish)),
        });
    }
    actions.extend(system.network.iter().copied().map(Action::Deliver));
    let has_to_do = actions.iter().any(|action| system.after(scope, *action).is_some());
    if !has_to_do && !all_have_ended(system) {
        actions.push(Action::Tick);
    }
    // Two outages without a word between them are one.
    match system.away_since {
        Some(_) => actions.push(Action::Return),
        None => actions.extend(system.network.is_empty().then_some(Action::Outage)),
    }
    let able = system.workers.iter().filter(|worker| **worker != Worker::Hangs).count();
    for (index, worker) in system.workers.iter().enumerate() {
        let (Worker::Asked(claim) | Worker::Busy(claim, _)) = worker else { continue };
        actions.push(Action::Crash(index));
        actions.extend((able > 1).then_some(Action::Hang(index)));
        if !is_poison(scope, system, claim.job) {
            actions.extend([Word::Fail, Word::Lose, Word::Release].map(|word| Action::Send(index, word)));
        }
    }
    for job in 0..system.jobs.len() {
        actions.extend([Action::Cancel(job), Action::Retry(job)]);
    }
    actions.extend([Action::JumpForward, Action::JumpBack]);
}

/// Whether every worker that begins this job crashes.
fn is_poison(scope: &Scope, system: &System, job: usize) -> bool {
    scope.has_poison && system.jobs[job].client == 0
}

/// Whether the jobs of all clients have ended.
fn all_have_ended(system: &System) -> bool {
    let has_ended = |job: usize| system.jobs.get(job).is_some_and(|job| job.progress.state.has_ended());
    system.clients.iter().all(|client| client.acknowledged.is_some_and(has_ended))
}

/// Whether this holds of some job.
fn any_job(system: &System, holds: impl Fn(&Job) -> bool) -> bool {
    system.jobs.iter().any(holds)
}

/// A property that holds of every job.
macro_rules! every_job {
    ($name:literal, $holds:expr) => {
        Property::always($name, |_, system: &System| system.jobs.iter().all($holds))
    };
}

/// A property that holds of some job at some time.
macro_rules! some_job {
    ($name:literal, $holds:expr) => {
        Property::sometimes($name, |_, system: &System| any_job(system, $holds))
    };
}

/// What always holds.
fn always() -> Vec<Property<Scope>> {
    vec![
        Property::always("an acknowledged job is there", |_, system: &System| {
            let is_there =
                |(client, id): (usize, usize)| system.jobs.get(id).is_some_and(|job| job.client == client);
            let clients = system.clients.iter().enumerate();
            clients.filter_map(|(index, client)| Some((index, client.acknowledged?))).all(is_there)
        }),
        Property::always("an idempotency key has one job", |scope: &Scope, system: &System| {
            (0..scope.clients)
                .all(|client| system.jobs.iter().filter(|job| job.client == client).count() <= 1)
        }),
        every_job!("one result is accepted", |job| {
            job.accepted.len() <= 1 && (job.progress.state == JobState::Done) == (job.accepted.len() == 1)
        }),
        every_job!("the outputs that are served are those of the accepted result", |job| {
            let place = |fence| job.outputs.get(&fence).or_else(|| job.outputs.get(&0));
            job.progress.state != JobState::Done || place(job.progress.fence) == job.accepted.first()
        }),
        every_job!("attempts are bounded", |job| {
            job.attempts <= job.progress.most_attempts && job.progress.attempts <= job.progress.most_attempts
        }),
        every_job!("a job that may run has its inputs", |job| {
            !matches!(job.progress.state, JobState::Queued | JobState::Running)
                || job.inputs == Inputs::Stored
        }),
        never("a job that has ended stays as it is", Broken::EndedChanged),
        never("a worker that lost a job changes nothing", Broken::StaleChanged),
        never("no job is claimed while a lease lasts", Broken::ClaimedTooEarly),
        never("no fence is given twice", Broken::FenceRepeats),
        never("an outage costs no worker that lives its job", Broken::LivingLost),
    ]
}

/// A property that never breaks.
fn never(name: &'static str, broken: Broken) -> Property<Scope> {
    let condition: fn(&Scope, &System) -> bool = match broken {
        Broken::EndedChanged => |_, system| system.broken != Some(Broken::EndedChanged),
        Broken::StaleChanged => |_, system| system.broken != Some(Broken::StaleChanged),
        Broken::ClaimedTooEarly => |_, system| system.broken != Some(Broken::ClaimedTooEarly),
        Broken::FenceRepeats => |_, system| system.broken != Some(Broken::FenceRepeats),
        Broken::LivingLost => |_, system| system.broken != Some(Broken::LivingLost),
    };
    Property::always(name, condition)
}

/// What can happen if anything may.
fn sometimes() -> Vec<Property<Scope>> {
    vec![
        some_job!("a job is done", |job| job.progress.state == JobState::Done),
        some_job!("a job is dead", |job| job.progress.state == JobState::Dead),
        some_job!("a job fails", |job| job.progress.state == JobState::Failed),
        some_job!("a job is cancelled", |job| job.progress.state == JobState::Cancelled),
        some_job!("a job expires", |job| job.progress.state == JobState::Expired),
        some_job!("inputs are deleted", |job| job.inputs == Inputs::Deleted),
        some_job!("a lost job is done by another claim", |job| job
            .accepted
            .first()
            .is_some_and(|&claim| claim > 1)),
        some_job!("a worker that lost a job stores outputs, too", |job| {
            job.progress.state == JobState::Done && job.outputs.len() > 1
        }),
        Property::sometimes("a dead job is retried and done", |scope: &Scope, system: &System| {
            let is_done = any_job(system, |job| job.progress.state == JobState::Done);
            scope.clients == 1 && system.left.retries < scope.left.retries && is_done
                || scope.left.retries == 0
        }),
        Property::sometimes("a result comes too late", |_, system: &System| {
            let is_late = |message: &Message| {
                let job = &system.jobs[message.claim.job];
                message.word == Word::Finish
                    && job.accepted.first().is_some_and(|&claim| claim != message.claim.number)
            };
            system.network.iter().any(is_late)
        }),
        Property::sometimes("all jobs are done", |_, system: &System| {
            let is_done =
                |id: usize| system.jobs.get(id).is_some_and(|job| job.progress.state == JobState::Done);
            system.clients.iter().all(|client| client.acknowledged.is_some_and(is_done))
        }),
    ]
}

/// What happens in the end if the system is fair.
fn eventually() -> Vec<Property<Scope>> {
    vec![
        Property::eventually("every job ends", |_, system: &System| all_have_ended(system)),
        Property::always("nothing rests before every job has ended", |scope: &Scope, system: &System| {
            !scope.next_states(system).is_empty() || all_have_ended(system)
        }),
        Property::eventually("a job that kills its workers is dead", |scope: &Scope, system: &System| {
            !scope.has_poison
                || any_job(system, |job| job.client == 0 && job.progress.state == JobState::Dead)
        }),
        Property::always("a lease ends soon after the last word", |scope: &Scope, system: &System| {
            let outages = u64::from(scope.left.outages) * (OUTAGE + scope.lease);
            system.jobs.iter().all(|job| job.silence <= 3 * scope.lease + outages)
        }),
        some_job!("a job whose worker crashed is claimed again", |job| job.attempts > 1),
    ]
}
