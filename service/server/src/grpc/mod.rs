//! The aggregator's face: gRPC calls as jobs of the [`Service`](crate::service::Service). `aggregator.proto` describes them.

#[expect(missing_docs, reason = "generated")]
#[rustfmt::skip]
pub mod generated;

use crate::{
    access::Scope,
    http::{
        Caller, Chunks, Face, Incoming, Problem, ProblemKind, RequestMemory, Stage, UploadWriter,
        UploadedFile,
    },
    service::Submission,
    state::JobState,
    store::JobRecord,
};
use axum::{
    Router,
    body::Body,
    extract::{Request as HttpRequest, State as Shared},
    http::{HeaderMap, header::CONTENT_TYPE},
    middleware::{Next, from_fn_with_state},
    response::Response as HttpResponse,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::stream;
use generated::{
    CancelRequest, CancelResponse, GenAggregatedProofRequest, GenBatchProofRequest, GenFinalProofRequest,
    GenProofResponse, GetProofRequest, GetProofResponse, GetStatusRequest, GetStatusResponse, Queueing,
    aggregator_server::{Aggregator, AggregatorServer},
    gen_batch_proof_request, gen_final_proof_request,
    get_proof_response::State as WireState,
    get_status_response,
};
use proofmill_job::{StarkHash, Task, TaskInput, TaskOutput};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tonic::{Request, Response, Status, Streaming, async_trait, service::Routes};

/// The longest message, in bytes: of a stream, one piece; otherwise the proofs of all batches.
const LONGEST_MESSAGE: usize = 16 << 20;
/// The largest output that a call answers with, in bytes.
const LARGEST_OUTPUT: u64 = 16 << 20;

/// The routes of the calls, to be merged into those of HTTP: they rely on its guard, which puts the [`Caller`] into the request.
pub(crate) fn routes(face: Face) -> Router<Face> {
    let server = AggregatorServer::new(Calls(face.clone())).max_decoding_message_size(LONGEST_MESSAGE);
    let calls = Routes::new(server).into_axum_router();
    calls.layer(from_fn_with_state(face, bounded)).with_state(())
}

/// Whether a request with these headers is a call of gRPC.
pub(crate) fn is_call(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"application/grpc"))
}

/// Bounds the body of a call as bodies of HTTP are bounded: in size, in time, and in memory.
async fn bounded(
    Shared(face): Shared<Face>,
    caller: Caller,
    mut request: HttpRequest,
    next: Next,
) -> HttpResponse {
    let limits = face.options.bodies;
    let memory = RequestMemory::new(face.memory.start(&caller.identity.token));
    request.extensions_mut().insert(memory.clone());
    let kept = memory.clone();
    let request = request.map(|body| {
        let chunks = Chunks::new(body, limits, limits.most_inputs);
        Body::from_stream(stream::try_unfold((chunks, memory), async |(mut chunks, memory)| {
            let Some(chunk) = chunks.next().await? else { return Ok::<_, Status>(None) };
            // The chunk is in memory twice: as bytes and as a message.
            memory.add(2 * chunk.len() as u64)?;
            Ok(Some((chunk, (chunks, memory))))
        }))
    });
    let mut response = next.run(request).await;
    response.extensions_mut().insert(kept);
    response
}

/// A call: who makes it, and what comes with it.
struct Call {
    caller: Caller,
    memory: RequestMemory,
    /// The caller's span.
    trace: Option<String>,
}

impl Call {
    /// The call, if its token allows it: before anything else of the request is read.
    fn admit<T>(request: &Request<T>, scope: Scope) -> Result<Self, Problem> {
        let extensions = request.extensions();
        let (Some(caller), Some(memory)) = (extensions.get::<Caller>(), extensions.get::<RequestMemory>())
        else {
            return Err(Problem::unauthorized());
        };
        caller.require(scope)?;
        let trace = request.metadata().get("traceparent").and_then(|value| value.to_str().ok());
        Ok(Self { caller: caller.clone(), memory: memory.clone(), trace: trace.map(str::to_owned) })
    }
}

struct Calls(Face);

#[async_trait]
impl Aggregator for Calls {
    async fn get_status(
        &self,
        request: Request<GetStatusRequest>,
    ) -> Result<Response<GetStatusResponse>, Status> {
        Ok(Response::new(self.status(&Call::admit(&request, Scope::Submit)?).await?))
    }

    async fn gen_batch_proof(
        &self,
        request: Request<Streaming<GenBatchProofRequest>>,
    ) -> Result<Response<GenProofResponse>, Status> {
        use gen_batch_proof_request::{Header, Part};
        let call = Call::admit(&request, Scope::Submit)?;
        let mut stream = request.into_inner();
        let Some(Part::Header(header)) = stream.message().await?.and_then(|first| first.part) else {
            return Err(Problem::invalid("the first message has no header").into());
        };
        let Header { queueing, air, hash, bits, public_values } = header;
        let task = Task::ProveStark { key: air, hash: stark_hash(&hash)?, bits: bits_or_default(bits) };
        let mut trace = self.writer(&call)?;
        while let Some(message) = stream.message().await? {
            let Some(Part::Trace(piece)) = message.part else {
                return Err(Problem::invalid("a message after the first one has no trace").into());
            };
            trace.write(&piece).await?;
            call.memory.clear();
        }
        let mut public = self.writer(&call)?;
        public.write(&json(&public_values)).await?;
        let inputs =
            vec![(TaskInput::Trace, trace.finish().await?), (TaskInput::Public, public.finish().await?)];
        self.submit(call, task, inputs, queueing).await
    }

    async fn gen_aggregated_proof(
        &self,
        request: Request<GenAggregatedProofRequest>,
    ) -> Result<Response<GenProofResponse>, Status> {
        let call = Call::admit(&request, Scope::Submit)?;
        let GenAggregatedProofRequest { queueing, air, key, bits, inner } = request.into_inner();
        let task = Task::Aggregate { key, air, bits: bits_or_default(bits) };
        // Proofs are larger as JSON, so they are converted and written one by one.
        let mut file = self.writer(&call)?;
        let mut before = "[";
        for inner in inner {
            file.write(before.as_bytes()).await?;
            let proof = STANDARD.encode(inner.proof);
            file.write(&json(&serde_json::json!({ "proof": proof, "public": inner.public_values }))).await?;
            before = ",";
        }
        file.write(if before == "[" { b"[]" } else { b"]" }).await?;
        let inputs = vec![(TaskInput::Inner, file.finish().await?)];
        self.submit(call, task, inputs, queueing).await
    }

    async fn gen_final_proof(
        &self,
        request: Request<Streaming<GenFinalProofRequest>>,
    ) -> Result<Response<GenProofResponse>, Status> {
        use gen_final_proof_request::{Header, Part};
        let call = Call::admit(&request, Scope::Submit)?;
        let mut stream = request.into_inner();
        let Some(Part::Header(header)) = stream.message().await?.and_then(|first| first.part) else {
            return Err(Problem::invalid("the first message has no header").into());
        };
        let Header { queueing, key, program } = header;
        let (input, program) =
            if program.is_empty() { (TaskInput::Witness, None) } else { (TaskInput::Signals, Some(program)) };
        let mut file = self.writer(&call)?;
        while let Some(message) = stream.message().await? {
            let Some(Part::Input(piece)) = message.part else {
                return Err(Problem::invalid("a message after the first one has no input").into());
            };
            file.write(&piece).await?;
            call.memory.clear();
        }
        let inputs = vec![(input, file.finish().await?)];
        self.submit(call, Task::Prove { key, program }, inputs, queueing).await
    }

    async fn get_proof(
        &self,
        request: Request<GetProofRequest>,
    ) -> Result<Response<GetProofResponse>, Status> {
        let call = Call::admit(&request, Scope::Submit)?;
        Ok(Response::new(self.proof(&call, request.into_inner()).await?))
    }

    async fn cancel(&self, request: Request<CancelRequest>) -> Result<Response<CancelResponse>, Status> {
        let call = Call::admit(&request, Scope::Submit)?;
        let id = request.into_inner().id;
        self.0.service.cancel(&call.caller.identity, &id).await.map_err(Problem::from)?;
        Ok(Response::new(CancelResponse {}))
    }
}

impl Calls {
    async fn status(&self, call: &Call) -> Result<GetStatusResponse, Problem> {
        let Self(face) = self;
        let identity = &call.caller.identity;
        let of = async |state| {
            let jobs = face.service.jobs(identity, Some(state), None, 1000).await?;
            // The service lists the last job first; the answer begins with the first one.
            Ok::<_, Problem>(jobs.into_iter().rev().map(|job| job.id).collect::<Vec<_>>())
        };
        let (running, waiting) = (of(JobState::Running).await?, of(JobState::Queued).await?);
        let queue = face.queue().await?.queue;
        let workers = face.service.workers().await?;
        let all_waiting = queue.waiting.iter().map(|waiting| waiting.jobs).sum();
        let state = match (workers.is_empty(), queue.running + all_waiting) {
            _ if face.has_reached(Stage::Draining) => get_status_response::Status::Draining,
            (true, _) => get_status_response::Status::NoWorker,
            (false, 0) => get_status_response::Status::Idle,
            (false, _) => get_status_response::Status::Computing,
        };
        Ok(GetStatusResponse {
            status: state.into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            running,
            waiting,
            all_waiting: if identity.has(Scope::Observe) { all_waiting } else { 0 },
            threads: workers.iter().fold(0, |sum, (_, facts)| (facts.threads as u64).saturating_add(sum)),
            memory: workers.iter().fold(0, |sum, (_, facts)| facts.memory.saturating_add(sum)),
        })
    }

    /// A file for an input.
    fn writer(&self, call: &Call) -> Result<UploadWriter, Problem> {
        let Self(face) = self;
        let staging = face.service.staging();
        staging.check_space()?;
        UploadWriter::new(staging, face.quotas.start(&call.caller.identity.token))
    }

    async fn submit(
        &self,
        call: Call,
        task: Task,
        inputs: Vec<(TaskInput, UploadedFile)>,
        queueing: Option<Queueing>,
    ) -> Result<Response<GenProofResponse>, Status> {
        let Queueing { idempotency_key, priority, timeout_s } = queueing.unwrap_or_default();
        let submission = Submission {
            task,
            priority,
            expires_in_s: None,
            timeout_s: (timeout_s > 0).then_some(timeout_s),
            attempts: None,
        };
        let mut incoming = Incoming::new(submission, inputs);
        incoming.set_key((!idempotency_key.is_empty()).then_some(idempotency_key))?;
        incoming.received.trace = call.trace;
        let (job, _) = incoming.submit(&self.0, &call.caller).await?;
        Ok(Response::new(GenProofResponse { id: job.id }))
    }

    async fn proof(&self, call: &Call, request: GetProofRequest) -> Result<GetProofResponse, Problem> {
        let GetProofRequest { id, timeout_s } = request;
        let has_ended = |job: &JobRecord| job.progress.state.has_ended();
        let job = self.0.wait(&call.caller, &id, Duration::from_secs(timeout_s), has_ended).await?;
        let mut response = GetProofResponse {
            id,
            state: wire_state(job.progress.state).into(),
            error: job.error.unwrap_or_default(),
            ..GetProofResponse::default()
        };
        if job.progress.state == JobState::Done {
            // A job that is done may still have the error of an earlier attempt that was lost.
            response.error.clear();
            for output in job.task.outputs() {
                let content = self.output(call, &response.id, *output).await?;
                match output {
                    TaskOutput::Proof => response.proof = content,
                    TaskOutput::Public => response.public = content,
                }
            }
        }
        Ok(response)
    }

    /// The content of an output.
    async fn output(&self, call: &Call, id: &str, output: TaskOutput) -> Result<Vec<u8>, Problem> {
        let (_, bytes, reader) = self.0.service.output(&call.caller.identity, id, output).await?;
        if bytes > LARGEST_OUTPUT {
            let path = format!("/v1/jobs/{id}/{}", output.name());
            let detail = format!("{bytes} bytes are too many for a message: GET {path}");
            return Err(Problem::new(ProblemKind::TooLarge, detail));
        }
        // The output is in memory twice: as a message and as bytes.
        call.memory.add(2 * bytes)?;
        let mut content = Vec::new();
        reader.take(LARGEST_OUTPUT).read_to_end(&mut content).await?;
        Ok(content)
    }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("it is JSON")
}

fn bits_or_default(bits: u32) -> u32 {
    if bits == 0 { Task::DEFAULT_BITS } else { bits }
}

fn stark_hash(name: &str) -> Result<StarkHash, Problem> {
    if name.is_empty() {
        return Ok(StarkHash::default());
    }
    serde_json::from_value(name.into()).map_err(|error| Problem::invalid(format!("hash: {error}")))
}

fn wire_state(state: JobState) -> WireState {
    match state {
        JobState::Queued => WireState::Queued,
        JobState::Running => WireState::Running,
        JobState::Done => WireState::Done,
        JobState::Failed => WireState::Failed,
        JobState::Dead => WireState::Dead,
        JobState::Cancelled => WireState::Cancelled,
        JobState::Expired => WireState::Expired,
    }
}
