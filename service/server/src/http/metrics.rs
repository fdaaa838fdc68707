//! Metrics in the text format of Prometheus.

use crate::{service::JobObserver, store::JobRecord};
use axum::http::Method;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};

/// The most names of phases: they come from provers, and each is a series.
const MOST_PHASES: usize = 100;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRequest {
    method: &'static str,
    route: String,
    status: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRoute {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfJob {
    r#type: &'static str,
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfPhase {
    phase: String,
}

/// The metrics of one process.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<OfRequest, Counter>,
    request_seconds: Family<OfRoute, Histogram>,
    received: Counter,
    sent: Counter,
    jobs: Family<OfJob, Counter>,
    phase_seconds: Family<OfPhase, Histogram>,
    phases: Mutex<HashSet<String>>,
    waiting: Gauge,
    oldest: Gauge<f64, AtomicU64>,
    running: Gauge,
    workers: Gauge,
}

/// A histogram from 1 ms to 17 minutes.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 11))
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("proofmill"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds),
            received: Counter::default(),
            sent: Counter::default(),
            jobs: Family::default(),
            phase_seconds: Family::new_with_constructor(seconds),
            phases: Mutex::default(),
            waiting: Gauge::default(),
            oldest: Gauge::default(),
            running: Gauge::default(),
            workers: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let Self { registry, .. } = self;
        registry.register("http_requests", "Requests by method, route and status", self.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time until the answer begins",
            Unit::Seconds,
            self.request_seconds.clone(),
        );
        registry.register_with_unit(
            "http_received",
            "Bytes of bodies of requests, as their headers say",
            Unit::Bytes,
            self.received.clone(),
        );
        registry.register_with_unit(
            "http_sent",
            "Bytes of bodies of answers, as their headers say",
            Unit::Bytes,
            self.sent.clone(),
        );
        registry.register(
            "jobs_ended",
            "Jobs that ended in this process, by type and last state",
            self.jobs.clone(),
        );
        registry.register_with_unit(
            "phase_duration",
            "Time of phases of jobs that are done",
            Unit::Seconds,
            self.phase_seconds.clone(),
        );
        registry.register("queue_jobs", "Jobs that wait", self.waiting.clone());
        registry.register_with_unit(
            "queue_oldest",
            "How long the first of the waiting jobs has waited",
            Unit::Seconds,
            self.oldest.clone(),
        );
        registry.register("running_jobs", "Jobs that run", self.running.clone());
        registry.register("workers", "Workers that were heard of lately", self.workers.clone());
    }

    /// Notes a request.
    pub(super) fn request(
        &self,
        method: &Method,
        route: &str,
        status: String,
        elapsed: Duration,
        received: u64,
        sent: u64,
    ) {
        let labels = OfRequest { method: name(method), route: route.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        let labels = OfRoute { route: labels.route };
        self.request_seconds.get_or_create(&labels).observe(elapsed.as_secs_f64());
        self.received.inc_by(received);
        self.sent.inc_by(sent);
    }

    /// The name under which a phase is counted.
    fn phase(&self, name: &str) -> String {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        if phases.len() < MOST_PHASES && name.len() <= 64 {
            phases.insert(name.to_owned());
        }
        phases.get(name).cloned().unwrap_or_else(|| "other".to_owned())
    }
}

/// The method's name; clients can send any.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

impl JobObserver for Metrics {
    fn ended(&self, job: &JobRecord) {
        let labels = OfJob { r#type: job.task.name(), state: job.progress.state.name() };
        self.jobs.get_or_create(&labels).inc();
        for phase in job.finished.iter().flat_map(|finished| &finished.phases) {
            let labels = OfPhase { phase: self.phase(&phase.name) };
            self.phase_seconds.get_or_create(&labels).observe(phase.seconds);
        }
    }
}

/// The state of the queue at the time when metrics are read.
pub(super) struct Present {
    /// The number of jobs that wait.
    pub(super) waiting: u64,
    /// How long the first of them has waited.
    pub(super) oldest: Duration,
    /// The number of jobs that run.
    pub(super) running: u64,
    /// The number of workers.
    pub(super) workers: u64,
}

impl Metrics {
    /// All metrics, as text.
    pub(super) fn text(&self, present: &Present) -> String {
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.waiting.set(count(present.waiting));
        self.oldest.set(present.oldest.as_secs_f64());
        self.running.set(count(present.running));
        self.workers.set(count(present.workers));
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a text can be written");
        text
    }
}
