//! OpenTelemetry traces: a span for each job that ended. In it are a span for the time in the queue, one for the last attempt, and one for each
//! of the attempt's phases.
//!
//! Spans are made when the job ends, from the times in its row: so they are complete also when another machine proved. The clock is the
//! database's, as everywhere in the facts about a job. If the submission carried a `traceparent` (W3C Trace Context), the job's span is a child
//! of the caller's.

use crate::{service::JobObserver, state::JobState, store::JobRecord};
use opentelemetry::{
    Context, KeyValue, SpanId, TraceFlags, TraceId,
    trace::{Span, SpanBuilder, SpanContext, Status, TraceContextExt, TraceState, Tracer, TracerProvider},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracer, SdkTracerProvider},
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest phase that is believed.
const LONGEST_PHASE: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long the end of the process waits for the last spans to be sent.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// Sends spans of jobs that ended.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Sends spans by OTLP over gRPC to a collector such as `http://127.0.0.1:4317`. It need not be there yet.
    ///
    /// # Errors
    /// A line about a malformed address.
    pub fn new(collector: &str) -> Result<Self, String> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector).build();
        Ok(Self::of(SdkTracerProvider::builder().with_batch_exporter(exporter.map_err(|error| {
            format!("{collector}: {error}: expected an address such as http://127.0.0.1:4317")
        })?)))
    }

    fn of(builder: opentelemetry_sdk::trace::TracerProviderBuilder) -> Self {
        let resource = Resource::builder().with_service_name("proofmill");
        let resource =
            resource.with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))).build();
        let provider = builder.with_resource(resource).build();
        Self { tracer: provider.tracer("proofmill"), provider }
    }

    /// Sends the spans that were not sent yet.
    pub fn end(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }

    /// A span with these times, within another one.
    fn span(
        &self,
        name: &str,
        parent: &Context,
        times: (SystemTime, SystemTime),
        attributes: Vec<KeyValue>,
    ) -> (Context, impl FnOnce(Status) + use<>) {
        let builder =
            SpanBuilder::from_name(name.to_owned()).with_start_time(times.0).with_attributes(attributes);
        let span = self.tracer.build_with_context(builder, parent);
        let within = parent.with_remote_span_context(span.span_context().clone());
        let end = move |status| {
            let mut span = span;
            span.set_status(status);
            span.end_with_timestamp(times.1);
        };
        (within, end)
    }
}

impl JobObserver for Traces {
    fn ended(&self, job: &JobRecord) {
        let created = time(job.created_at);
        let ended = time(job.ended_at.unwrap_or(job.created_at));
        let attributes = vec![
            KeyValue::new("proofmill.job", job.id.clone()),
            KeyValue::new("proofmill.task", job.task.name()),
            KeyValue::new("proofmill.key", job.task.keys().first().copied().unwrap_or_default().to_owned()),
            KeyValue::new("proofmill.state", job.progress.state.name()),
            KeyValue::new("proofmill.attempts", i64::from(job.progress.attempts)),
            KeyValue::new("proofmill.worker", job.worker.clone().unwrap_or_default()),
        ];
        let caller = job.trace.as_deref().and_then(parent).unwrap_or_default();
        let (within, end_job) = self.span("job", &caller, (created, ended), attributes);
        let started = job.started_at.map_or(ended, time);
        self.span("queued", &within, (created, started), Vec::new()).1(Status::Unset);
        if job.started_at.is_some() {
            let attempt =
                vec![KeyValue::new("proofmill.fence", i64::try_from(job.progress.fence).unwrap_or(i64::MAX))];
            let (within, end_attempt) = self.span("attempt", &within, (started, ended), attempt);
            let mut began = started;
            for phase in job.finished.iter().flat_map(|finished| &finished.phases) {
                let took = Duration::try_from_secs_f64(phase.seconds).unwrap_or_default().min(LONGEST_PHASE);
                self.span(&phase.name, &within, (began, began + took), Vec::new()).1(Status::Unset);
                began += took;
            }
            end_attempt(Status::Unset);
        }
        end_job(match job.progress.state {
            JobState::Done => Status::Ok,
            JobState::Failed | JobState::Dead => Status::error(job.error.clone().unwrap_or_default()),
            _ => Status::Unset,
        });
    }
}

/// The database's milliseconds as a time.
fn time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

/// The context of a `traceparent` header: version, trace, span and flags in hexadecimal digits.
fn parent(header: &str) -> Option<Context> {
    let mut parts = header.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_valid = version.len() == 2 && trace.len() == 32 && span.len() == 16 && flags.len() == 2;
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::default());
    (is_valid && context.is_valid()).then(|| Context::new().with_remote_span_context(context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::JobProgress;
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SpanData};
    use proofmill_job::{Finished, Task, TaskPhase};

    fn spans(job: &JobRecord) -> Vec<SpanData> {
        let exporter = InMemorySpanExporter::default();
        let traces = Traces::of(SdkTracerProvider::builder().with_simple_exporter(exporter.clone()));
        traces.ended(job);
        exporter.get_finished_spans().expect("spans")
    }

    fn job() -> JobRecord {
        let phases = [("read", 0.5), ("sums", 1.25)]
            .map(|(name, seconds)| TaskPhase { name: name.to_owned(), seconds })
            .to_vec();
        JobRecord {
            id: "1".repeat(32),
            owner: "a".to_owned(),
            task: Task::Prove { key: "2".repeat(64), program: None },
            label: None,
            progress: JobProgress {
                state: JobState::Done,
                attempts: 1,
                fence: 1,
                ..JobProgress::new(3, None)
            },
            priority: 0,
            memory: 0,
            timeout_ms: 0,
            worker: Some("w".to_owned()),
            phase: None,
            error: None,
            finished: Some(Finished { phases, peak_memory: None }),
            created_at: 1_000,
            started_at: Some(3_000),
            ended_at: Some(5_000),
            inputs: crate::store::InputState::None,
            threads: 1,
            trace: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        }
    }

    #[test]
    fn a_job_is_a_tree_of_spans_within_its_callers() {
        let spans = spans(&job());
        let of = |name: &str| spans.iter().find(|span| span.name == name).expect("a span");
        assert!(spans.iter().all(|span| span.span_context.trace_id() == of("job").span_context.trace_id()));
        assert_eq!(of("job").span_context.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(of("job").parent_span_id.to_string(), "b7ad6b7169203331");
        for (name, parent) in
            [("queued", "job"), ("attempt", "job"), ("read", "attempt"), ("sums", "attempt")]
        {
            assert_eq!(of(name).parent_span_id, of(parent).span_context.span_id(), "{name}");
        }
        let times = |name| (of(name).start_time, of(name).end_time);
        assert_eq!(times("queued"), (time(1_000), time(3_000)));
        assert_eq!(times("sums"), (time(3_500), time(4_750)));
        assert_eq!(of("job").status, Status::Ok);
    }

    #[test]
    fn without_a_valid_parent_a_job_is_its_own_trace() {
        for trace in [
            None,
            Some("00-1-2-3"),
            Some("nonsense"),
            Some("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
        ] {
            let job =
                JobRecord { trace: trace.map(str::to_owned), started_at: None, finished: None, ..job() };
            let spans = spans(&job);
            let root = spans.iter().find(|span| span.name == "job").expect("a span");
            assert_eq!((root.parent_span_id, spans.len()), (SpanId::INVALID, 2), "{trace:?}");
        }
    }
}
