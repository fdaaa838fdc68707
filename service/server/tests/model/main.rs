//! The rules of `state.rs`, checked in all states that small systems can reach, and compared with the store in random traces.
//!
//! The checker visits every state once: 879,000 of one job with three workers, 720,000 of two jobs, 249,000 with a clock that jumps. There
//! are 87,000 of submissions, 60,000 of the deletion of inputs, and 97,000 of systems that are fair. Sixteen wrong variants of the rules
//! ([`rules::Flaw`]) are each found out, so the properties are not empty.

mod checks;
mod rules;
mod system;
mod traces;

use rules::{Flaw, Rules};
use stateright::{Checker, Expectation, HasDiscoveries, Model};
use system::{Left, START, Scope};

/// The most steps of a system that are checked.
const LIMIT: usize = 10_000_000;

/// One job and three workers.
const ONE_JOB: Scope = Scope {
    rules: Rules { flaw: None },
    clients: 1,
    workers: 3,
    most_attempts: 2,
    lease: 1,
    expires_at: Some(START + 1),
    end: Some(START + 3),
    left: Left { releases: 1, retries: 1, cancels: 1, failures: 1, jumps: 0, crashes: 0, outages: 0 },
    is_fair: false,
    has_submissions: false,
    has_cleaning: false,
    has_poison: false,
    has_outages: false,
};

/// The clock jumps twice, forwards or backwards.
const JUMPS: Scope = Scope {
    end: Some(START + 4),
    left: Left { releases: 1, retries: 0, failures: 0, jumps: 2, ..ONE_JOB.left },
    ..ONE_JOB
};

/// Two jobs and two workers.
const TWO_JOBS: Scope = Scope {
    clients: 2,
    workers: 2,
    end: Some(START + 2),
    left: Left { releases: 0, retries: 0, ..ONE_JOB.left },
    ..ONE_JOB
};

/// Two clients whose submissions arrive late, again or never, and so do the answers.
const SUBMISSIONS: Scope = Scope {
    clients: 2,
    workers: 1,
    most_attempts: 1,
    end: Some(START + 1),
    left: Left { releases: 0, retries: 0, failures: 0, ..ONE_JOB.left },
    has_submissions: true,
    ..ONE_JOB
};

/// Inputs are deleted while the owner retries the job.
const CLEANING: Scope = Scope {
    most_attempts: 1,
    left: Left { releases: 0, retries: 2, ..ONE_JOB.left },
    has_cleaning: true,
    ..ONE_JOB
};

/// Everything is done that can be done, and only so much goes wrong.
const FAIR: Scope = Scope {
    clients: 2,
    workers: 2,
    end: None,
    left: Left { releases: 1, retries: 0, cancels: 0, failures: 1, jumps: 0, crashes: 3, outages: 0 },
    is_fair: true,
    ..ONE_JOB
};

/// The same with a job that kills its workers.
const POISON: Scope =
    Scope { has_poison: true, expires_at: None, left: Left { retries: 1, crashes: 2, ..FAIR.left }, ..FAIR };

/// The same with submissions and a clock that jumps, for one job.
const FAIR_JUMPS: Scope =
    Scope { clients: 1, has_submissions: true, left: Left { jumps: 1, crashes: 2, ..FAIR.left }, ..FAIR };

/// Nobody reaches the store for longer than a lease, twice; the clock jumps.
const OUTAGES: Scope = Scope {
    clients: 1,
    lease: 2,
    expires_at: None,
    left: Left { releases: 0, failures: 0, jumps: 1, crashes: 1, outages: 2, ..FAIR.left },
    has_outages: true,
    ..FAIR
};

/// Checks a system with the right rules, and that it reaches what the names say.
fn check(name: &str, scope: Scope, reached: &[&str]) {
    let began = std::time::Instant::now();
    let checker = scope.checker().target_state_count(LIMIT).spawn_bfs().join();
    let (states, steps) = (checker.unique_state_count(), checker.state_count());
    println!("{name}: {states} states, {steps} steps, in {:.1?}", began.elapsed());
    assert!(steps < LIMIT, "{name} has more states than can be checked");
    let found = checker.discoveries();
    let properties = scope.properties();
    for property in &properties {
        let fails = property.expectation.discovery_is_failure();
        if let Some(path) = found.get(property.name).filter(|_| fails) {
            panic!("{name}: {} does not hold: {path}", property.name);
        }
    }
    for name in reached {
        let is_known =
            properties.iter().any(|known| known.name == *name && known.expectation == Expectation::Sometimes);
        assert!(is_known && found.contains_key(name), "it never happens that {name}");
    }
}

const OUTCOMES: [&str; 8] = [
    "a job is done",
    "a job is dead",
    "a job fails",
    "a job is cancelled",
    "a job expires",
    "a lost job is done by another claim",
    "a worker that lost a job stores outputs, too",
    "a result comes too late",
];

#[test]
fn one_job_keeps_the_promises() {
    check("one job", ONE_JOB, &[&OUTCOMES[..], &["a dead job is retried and done"]].concat());
}

#[test]
fn jumps_of_the_clock_break_no_promise() {
    check(
        "jumps",
        JUMPS,
        &["a job is dead", "a lost job is done by another claim", "a result comes too late"],
    );
}

#[test]
fn two_jobs_keep_the_promises() {
    check("two jobs", TWO_JOBS, &[&OUTCOMES[..], &["all jobs are done"]].concat());
}

#[test]
fn lost_answers_lose_no_job() {
    check("submissions", SUBMISSIONS, &["a job is done", "a job is cancelled"]);
}

#[test]
fn inputs_are_deleted_only_if_they_are_not_needed() {
    check("cleaning", CLEANING, &["inputs are deleted", "a dead job is retried and done"]);
}

#[test]
fn every_job_ends() {
    check("fair", FAIR, &["a job whose worker crashed is claimed again"]);
    check("fair, poison", POISON, &["a job whose worker crashed is claimed again"]);
    check("fair, jumps", FAIR_JUMPS, &["a job whose worker crashed is claimed again"]);
    check("fair, outages", OUTAGES, &["a job whose worker crashed is claimed again"]);
}

/// Checks that the checker finds out these rules by this property.
fn finds(flaw: Flaw, scope: Scope, property: &'static str) {
    let scope = Scope { rules: Rules { flaw: Some(flaw) }, ..scope };
    let enough = HasDiscoveries::AnyOf([property].into());
    let checker = scope.checker().target_state_count(LIMIT).finish_when(enough).spawn_bfs().join();
    let path = checker.discovery(property).unwrap_or_else(|| panic!("{flaw:?} is not found by: {property}"));
    println!("{flaw:?}: not so after {:?}: {property}", path.into_actions());
}

#[test]
fn wrong_rules_are_found() {
    const STALE: &str = "a worker that lost a job changes nothing";
    const SERVED: &str = "the outputs that are served are those of the accepted result";
    const INPUTS: &str = "a job that may run has its inputs";
    finds(Flaw::SameFence, ONE_JOB, "no fence is given twice");
    finds(Flaw::SameFence, ONE_JOB, STALE);
    finds(Flaw::FinishOfAnyFence, ONE_JOB, STALE);
    finds(Flaw::FinishOfAnyFence, ONE_JOB, SERVED);
    finds(Flaw::LoseOfAnyFence, ONE_JOB, STALE);
    finds(Flaw::BeatOfAnyFence, ONE_JOB, STALE);
    finds(Flaw::AttemptsCountLate, ONE_JOB, "attempts are bounded");
    finds(Flaw::AttemptsCountLate, POISON, "a job that kills its workers is dead");
    finds(Flaw::FinishTwice, ONE_JOB, "one result is accepted");
    finds(Flaw::CancelOfEnded, ONE_JOB, "a job that has ended stays as it is");
    finds(Flaw::LeaseEndsEarly, ONE_JOB, "no job is claimed while a lease lasts");
    finds(Flaw::LeaseOutlivesJump, FAIR_JUMPS, "a lease ends soon after the last word");
    finds(Flaw::LeaseEndsWithOutage, OUTAGES, "an outage costs no worker that lives its job");
    finds(Flaw::OutputsAfterResult, ONE_JOB, SERVED);
    finds(Flaw::OutputsWithoutFence, ONE_JOB, SERVED);
    finds(Flaw::AnswerBeforeCommit, SUBMISSIONS, "an acknowledged job is there");
    finds(Flaw::NoIdempotency, SUBMISSIONS, "an idempotency key has one job");
    finds(Flaw::InputsDeletedUnasked, CLEANING, INPUTS);
    finds(Flaw::RetryWithoutInputs, CLEANING, INPUTS);
}
