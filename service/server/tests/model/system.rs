//! The service as a system of clients, servers, a database, objects, workers and a network between them.
//!
//! Servers have no state of their own but requests that they are answering. Each transaction is one action. A server that crashes
//! between two of them is one that does not take the next. So is a worker that pauses: all others' actions may come before its next.
//! Messages from workers stay in the network: each may arrive at any time, again, or never. A worker's crash and its restart are one
//! action, and so is a worker that learns that the job is not its own any more.

use crate::rules::{Flaw, Rules};
use proofmill_server::state::{Contact, JobEvent, JobProgress, JobState};
use std::collections::BTreeMap;

/// What is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The rules.
    pub(crate) rules: Rules,
    /// Clients, with one idempotency key each.
    pub(crate) clients: usize,
    /// Workers.
    pub(crate) workers: usize,
    /// The most attempts of a job.
    pub(crate) most_attempts: u32,
    /// The length of leases.
    pub(crate) lease: u64,
    /// When the first client's job expires.
    pub(crate) expires_at: Option<u64>,
    /// The time at which exploration ends; for ever if none.
    pub(crate) end: Option<u64>,
    /// Events whose number is bounded.
    pub(crate) left: Left,
    /// Whether workers, servers and network do what they can before time goes on, and only what is counted in `left` goes wrong.
    pub(crate) is_fair: bool,
    /// Whether clients submit the jobs; otherwise they are acknowledged at the beginning.
    pub(crate) has_submissions: bool,
    /// Whether servers delete inputs.
    pub(crate) has_cleaning: bool,
    /// Whether every worker that begins the first client's job crashes.
    pub(crate) has_poison: bool,
    /// Whether the store may be out of reach, and leases end only after a contact that lasted.
    pub(crate) has_outages: bool,
}

/// How many more events of a kind may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Left {
    /// Jobs that are given back.
    pub(crate) releases: u8,
    /// Retries of dead jobs.
    pub(crate) retries: u8,
    /// Cancelled jobs.
    pub(crate) cancels: u8,
    /// Jobs that cannot be done.
    pub(crate) failures: u8,
    /// Jumps of the clock by [`JUMP`].
    pub(crate) jumps: u8,
    /// Crashes of workers. Of a system that is not fair, there is no end of them.
    pub(crate) crashes: u8,
    /// Times in which nobody reaches the store, of up to [`OUTAGE`].
    pub(crate) outages: u8,
}

/// How far the clock jumps: further than leases from before it are believed.
pub(crate) const JUMP: u64 = 4;
/// How long the store is out of reach at most: longer than a lease.
pub(crate) const OUTAGE: u64 = 4;
/// The longest pause between two looks of a server that is in touch with the store.
const GAP: u64 = 1;
/// The time at the beginning.
pub(crate) const START: u64 = JUMP;

/// A state of the system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct System {
    /// The database's clock.
    pub(crate) clock: u64,
    /// The jobs in the database, in the order of their commits. Their index is their id.
    pub(crate) jobs: Vec<Job>,
    /// The clients.
    pub(crate) clients: Vec<Client>,
    /// The workers, in any order.
    pub(crate) workers: Vec<Worker>,
    /// What workers have said, in order.
    pub(crate) network: Vec<Message>,
    /// What may still happen.
    pub(crate) left: Left,
    /// Whether the clock has jumped back.
    pub(crate) jumped_back: bool,
    /// Since when nobody reaches the store.
    pub(crate) away_since: Option<u64>,
    /// The servers' contact with the store. They look as often as time goes on.
    pub(crate) contact: Contact,
    /// What must not happen, and did.
    pub(crate) broken: Option<Broken>,
}

/// What no rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Broken {
    /// A job that had ended changed, and not by a retry.
    EndedChanged,
    /// A job changed by the word of a worker whose claim is not the last one.
    StaleChanged,
    /// A job was claimed before the lease of the claim before ended.
    ClaimedTooEarly,
    /// A claim got a fence that was given before.
    FenceRepeats,
    /// The lease of a worker that is alive ended.
    LivingLost,
}

/// A job in the database, with what only the checker knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    /// Its idempotency key.
    pub(crate) client: usize,
    /// What the service decides by.
    pub(crate) progress: JobProgress,
    /// Its inputs.
    pub(crate) inputs: Inputs,
    /// Whether a server has found it among the jobs whose inputs are to be deleted.
    pub(crate) is_listed: bool,
    /// Outputs by their place, with the claim that wrote them.
    pub(crate) outputs: BTreeMap<u64, u64>,
    /// The number of claims so far: the number of the last one.
    pub(crate) claims: u64,
    /// The attempts that count, since it was submitted or retried.
    pub(crate) attempts: u32,
    /// The claims whose results were accepted.
    pub(crate) accepted: Vec<u64>,
    /// Until when the worker was promised to have the job, unless it gave it up or the owner cancelled it.
    pub(crate) promised_until: Option<u64>,
    /// How long nothing was heard of the worker; counted in a fair system only.
    pub(crate) silence: u64,
}

/// Inputs of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Inputs {
    /// They are stored.
    Stored,
    /// They are to be deleted.
    GivenUp,
    /// They are deleted.
    Deleted,
}

/// A client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    /// Whether its submission is in the network, where it may arrive several times.
    pub(crate) has_sent: bool,
    /// An answer that is on its way.
    pub(crate) answer: Option<usize>,
    /// The job that it was told is accepted.
    pub(crate) acknowledged: Option<usize>,
}

/// A worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Worker {
    /// It has no job.
    Idle,
    /// It was given a job; the answer is on its way.
    Asked(Claim),
    /// It has a job; whether its outputs are stored.
    Busy(Claim, bool),
    /// It does nothing any more.
    Hangs,
}

/// What a worker knows of its claim, and the number of the claim, which only the checker knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Claim {
    /// The job.
    pub(crate) job: usize,
    /// The fence.
    pub(crate) fence: u64,
    /// The number.
    pub(crate) number: u64,
}

/// A message from a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Message {
    /// The claim that it is about.
    pub(crate) claim: Claim,
    /// What it says.
    pub(crate) word: Word,
}

/// What a worker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Word {
    /// It is alive.
    Beat,
    /// The job is done.
    Finish,
    /// The job cannot be done.
    Fail,
    /// The attempt is lost.
    Lose,
    /// It gives the job back.
    Release,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A client sends its submission, or sends it again after it lost the answer.
    Submit(usize),
    /// A client's submission arrives, perhaps again, and its transaction is committed.
    Commit(usize),
    /// The answer to a submission arrives.
    Acknowledge(usize),
    /// A job is given to a worker.
    Claim(usize),
    /// The answer to a worker's claim arrives.
    Receive(usize),
    /// A worker stores outputs.
    StoreOutputs(usize),
    /// A worker sends a message.
    Send(usize, Word),
    /// A message arrives, perhaps again.
    Deliver(Message),
    /// A worker crashes and starts again, or learns that it has lost the job.
    Restart(usize),
    /// The same, counted.
    Crash(usize),
    /// A worker hangs for ever.
    Hang(usize),
    /// A server ends the lease of a job.
    EndLease(usize),
    /// A server ends the waiting of a job.
    Expire(usize),
    /// The owner cancels a job.
    Cancel(usize),
    /// The owner retries a job.
    Retry(usize),
    /// A server finds a job among those whose inputs are to be deleted.
    List(usize),
    /// A server gives up the inputs of a job that it found.
    GiveUp(usize),
    /// A server deletes inputs.
    Delete(usize),
    /// Time goes on.
    Tick,
    /// The clock jumps forwards.
    JumpForward,
    /// The clock jumps backwards.
    JumpBack,
    /// The store gets out of reach.
    Outage,
    /// It can be reached again.
    Return,
}

impl Action {
    /// Whether this is a transaction.
    fn needs_store(self) -> bool {
        match self {
            Self::Submit(_) | Self::Acknowledge(_) | Self::Receive(_) | Self::StoreOutputs(_) => false,
            Self::Send(..) | Self::Restart(_) | Self::Crash(_) | Self::Hang(_) => false,
            Self::Tick | Self::JumpForward | Self::JumpBack | Self::Outage | Self::Return => false,
            Self::Commit(_) | Self::Claim(_) | Self::Deliver(_) | Self::EndLease(_) | Self::Expire(_) => true,
            Self::Cancel(_) | Self::Retry(_) | Self::List(_) | Self::GiveUp(_) | Self::Delete(_) => true,
        }
    }
}

impl System {
    /// The state at the beginning.
    pub(crate) fn new(scope: &Scope) -> Self {
        let client = |index| match scope.has_submissions {
            true => Client::default(),
            false => Client { acknowledged: Some(index), ..Client::default() },
        };
        let mut system = Self {
            clock: START,
            jobs: Vec::new(),
            clients: (0..scope.clients).map(client).collect(),
            workers: vec![Worker::Idle; scope.workers],
            network: Vec::new(),
            left: scope.left,
            jumped_back: false,
            away_since: None,
            contact: Contact::default(),
            broken: None,
        };
        if !scope.has_submissions {
            for client in 0..scope.clients {
                system.insert(scope, client);
            }
        }
        system
    }

    /// The state after an action; `None` if the action changes nothing or is not possible.
    pub(crate) fn after(&self, scope: &Scope, action: Action) -> Option<Self> {
        let mut next = self.clone();
        next.act(scope, action)?;
        // Workers are alike.
        next.workers.sort_unstable();
        (next != *self).then_some(next)
    }

    fn act(&mut self, scope: &Scope, action: Action) -> Option<()> {
        let clock = self.clock;
        if self.away_since.is_some() && action.needs_store() {
            return None;
        }
        match action {
            Action::Submit(client) => {
                self.clients[client].has_sent = true;
                self.clients[client].answer = None;
            }
            Action::Commit(client) => self.commit(scope, client)?,
            Action::Acknowledge(client) => {
                let client = &mut self.clients[client];
                client.acknowledged = Some(client.answer.take()?);
            }
            Action::Claim(job) => self.claim(scope, job)?,
            Action::Receive(worker) => {
                let Worker::Asked(claim) = self.workers[worker] else { return None };
                self.workers[worker] = Worker::Busy(claim, false);
            }
            Action::StoreOutputs(worker) => {
                let Worker::Busy(claim, _) = self.workers[worker] else { return None };
                self.workers[worker] = Worker::Busy(claim, true);
                let place = if scope.rules.have(Flaw::OutputsWithoutFence) { 0 } else { claim.fence };
                self.jobs[claim.job].outputs.insert(place, claim.number);
            }
            Action::Send(worker, word) => self.send(scope, worker, word)?,
            Action::Deliver(message) if scope.is_fair => {
                self.network.retain(|other| *other != message);
                // What is refused has arrived, too.
                let _ = self.deliver(scope, message);
            }
            Action::Deliver(message) => self.deliver(scope, message)?,
            Action::Restart(worker) => self.leave(scope, worker, Worker::Idle),
            Action::Crash(worker) => {
                self.left.crashes = self.left.crashes.checked_sub(1)?;
                self.leave(scope, worker, Worker::Idle);
            }
            Action::Hang(worker) => {
                self.left.crashes = self.left.crashes.checked_sub(1)?;
                self.leave(scope, worker, Worker::Hangs);
            }
            Action::EndLease(job) => {
                let is_in_touch = !scope.has_outages || self.contact.lasts(scope.lease);
                (is_in_touch || scope.rules.have(Flaw::LeaseEndsWithOutage)).then_some(())?;
                self.apply(scope, job, JobEvent::EndLease { now: clock, longest: scope.lease }, None)?;
                if scope.has_outages && self.is_alive(job) {
                    self.broken = Some(Broken::LivingLost);
                }
            }
            Action::Expire(job) => self.apply(scope, job, JobEvent::Expire { now: clock }, None)?,
            Action::Cancel(job) => {
                self.left.cancels = self.left.cancels.checked_sub(1)?;
                self.apply(scope, job, JobEvent::Cancel, None)?;
            }
            Action::Retry(job) => {
                let may =
                    self.jobs[job].inputs == Inputs::Stored || scope.rules.have(Flaw::RetryWithoutInputs);
                self.left.retries = self.left.retries.checked_sub(1)?;
                may.then_some(())?;
                self.apply(scope, job, JobEvent::Retry, None)?;
            }
            Action::List(job) => {
                let job = &mut self.jobs[job];
                job.is_listed = job.progress.state.has_ended() && job.inputs == Inputs::Stored;
            }
            Action::GiveUp(job) => {
                let job = &mut self.jobs[job];
                (job.is_listed && job.inputs == Inputs::Stored).then_some(())?;
                job.is_listed = false;
                if job.progress.state.has_ended() || scope.rules.have(Flaw::InputsDeletedUnasked) {
                    job.inputs = Inputs::GivenUp;
                }
            }
            Action::Delete(job) => {
                let inputs = &mut self.jobs[job].inputs;
                (*inputs == Inputs::GivenUp).then_some(())?;
                *inputs = Inputs::Deleted;
            }
            Action::Tick => {
                self.away_since.is_none_or(|since| clock < since + OUTAGE).then_some(())?;
                self.clock += 1;
                if scope.is_fair {
                    let running = self.jobs.iter_mut().filter(|job| job.progress.state == JobState::Running);
                    running.for_each(|job| job.silence += 1);
                }
            }
            Action::JumpForward => {
                self.left.jumps = self.left.jumps.checked_sub(1)?;
                self.clock += JUMP;
            }
            Action::JumpBack => {
                self.left.jumps = self.left.jumps.checked_sub(1)?;
                self.clock = self.clock.checked_sub(JUMP)?;
                self.jumped_back = true;
            }
            Action::Outage => {
                self.away_since.is_none().then_some(())?;
                self.left.outages = self.left.outages.checked_sub(1)?;
                self.away_since = Some(clock);
            }
            Action::Return => drop(self.away_since.take()?),
        }
        if scope.has_outages && self.away_since.is_none() {
            self.contact = self.contact.at(self.clock, GAP);
        }
        Some(())
    }

    /// Whether the worker with the last claim of the job works on it, or has said how it ended.
    fn is_alive(&self, index: usize) -> bool {
        let is_last = |claim: &Claim| claim.job == index && claim.number == self.jobs[index].claims;
        let works = self.workers.iter().any(|worker| match worker {
            Worker::Asked(claim) | Worker::Busy(claim, _) => is_last(claim),
            Worker::Idle | Worker::Hangs => false,
        });
        works || self.network.iter().any(|message| is_last(&message.claim))
    }

    /// Commits a submission, or finds the job that it made before.
    fn commit(&mut self, scope: &Scope, client: usize) -> Option<()> {
        let Client { has_sent: true, .. } = self.clients[client] else { return None };
        let earlier = self.jobs.iter().position(|job| job.client == client);
        let job = match earlier.filter(|_| !scope.rules.have(Flaw::NoIdempotency)) {
            Some(job) => job,
            None if self.jobs.len() > scope.clients => return None,
            None => self.insert(scope, client),
        };
        self.clients[client].answer = Some(job);
        if scope.rules.have(Flaw::AnswerBeforeCommit) {
            self.jobs.truncate(job);
        }
        Some(())
    }

    fn insert(&mut self, scope: &Scope, client: usize) -> usize {
        let expires_at = scope.expires_at.filter(|_| client == 0);
        self.jobs.push(Job {
            client,
            progress: JobProgress::new(scope.most_attempts, expires_at),
            inputs: Inputs::Stored,
            is_listed: false,
            outputs: BTreeMap::new(),
            claims: 0,
            attempts: 0,
            accepted: Vec::new(),
            promised_until: None,
            silence: 0,
        });
        self.jobs.len() - 1
    }

    fn claim(&mut self, scope: &Scope, index: usize) -> Option<()> {
        let worker = self.workers.iter().position(|worker| *worker == Worker::Idle)?;
        let clock = self.clock;
        let before = self.jobs[index].progress.fence;
        // The server knows the state only from the transaction.
        self.apply(scope, index, JobEvent::Claim { lease_until: clock + scope.lease }, None)?;
        let job = &mut self.jobs[index];
        if job.promised_until.is_some_and(|until| until > clock) && !self.jumped_back {
            self.broken = Some(Broken::ClaimedTooEarly);
        }
        if job.progress.fence <= before {
            self.broken = Some(Broken::FenceRepeats);
        }
        job.claims += 1;
        job.attempts += 1;
        job.promised_until = Some(job.progress.lease_until);
        job.silence = 0;
        let claim = Claim { job: index, fence: job.progress.fence, number: job.claims };
        self.workers[worker] = Worker::Asked(claim);
        Some(())
    }

    fn send(&mut self, scope: &Scope, worker: usize, word: Word) -> Option<()> {
        let Worker::Busy(claim, _) = self.workers[worker] else { return None };
        let budget = match word {
            Word::Fail => Some(&mut self.left.failures),
            Word::Release => Some(&mut self.left.releases),
            Word::Lose if scope.is_fair => Some(&mut self.left.crashes),
            _ => None,
        };
        if let Some(budget) = budget {
            *budget = budget.checked_sub(1)?;
        }
        self.leave(scope, worker, Worker::Idle);
        self.put(Message { claim, word });
        Some(())
    }

    /// A worker does nothing more with its job. It has sent beats all the time, so that one is still on its way.
    fn leave(&mut self, scope: &Scope, worker: usize, then: Worker) {
        let before = std::mem::replace(&mut self.workers[worker], then);
        if let (Worker::Busy(claim, _), false) = (before, scope.is_fair) {
            self.put(Message { claim, word: Word::Beat });
        }
    }

    fn put(&mut self, message: Message) {
        if let Err(place) = self.network.binary_search(&message) {
            self.network.insert(place, message);
        }
    }

    fn deliver(&mut self, scope: &Scope, message: Message) -> Option<()> {
        let Claim { job: index, fence, number } = message.claim;
        let lease_until = self.clock + scope.lease;
        let event = match message.word {
            Word::Beat => JobEvent::Beat { fence, lease_until },
            Word::Finish => JobEvent::Finish { fence },
            Word::Fail => JobEvent::Fail { fence },
            Word::Lose => JobEvent::Lose { fence },
            Word::Release => JobEvent::Release { fence },
        };
        self.apply(scope, index, event, Some(number))?;
        let job = &mut self.jobs[index];
        match message.word {
            Word::Beat => {
                job.promised_until = Some(job.progress.lease_until);
                job.silence = 0;
            }
            _ => job.promised_until = None,
        }
        match message.word {
            // More than two are no worse than two.
            Word::Finish if job.accepted.len() < 2 => job.accepted.push(number),
            Word::Release => job.attempts = job.attempts.saturating_sub(1),
            _ => {}
        }
        Some(())
    }

    /// Applies an event to a job, by the word of the worker with the claim of this number, if any.
    fn apply(&mut self, scope: &Scope, index: usize, event: JobEvent, number: Option<u64>) -> Option<()> {
        let job = &mut self.jobs[index];
        let before = job.progress;
        let after = scope.rules.after(before, event).ok()?;
        let changes = before != after || matches!(event, JobEvent::Finish { .. });
        if before.state.has_ended() && changes && event != JobEvent::Retry {
            self.broken = Some(Broken::EndedChanged);
        }
        if changes && number.is_some_and(|number| number != job.claims) {
            self.broken = Some(Broken::StaleChanged);
        }
        match event {
            JobEvent::Cancel => job.promised_until = None,
            JobEvent::Retry => job.attempts = 0,
            _ => {}
        }
        job.progress = after;
        // In the same transaction.
        if after.state.has_ended() && !after.state.needs_inputs() && job.inputs == Inputs::Stored {
            job.inputs = Inputs::GivenUp;
        }
        Some(())
    }
}
