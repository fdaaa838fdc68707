//! The aggregator's face: gRPC calls as jobs of the [`Service`]. `aggregator.proto` describes them.

#[expect(missing_docs, reason = "generated")]
#[rustfmt::skip]
pub mod generated;

use crate::{
    access::{Identity, Scope},
    names::{IDEMPOTENCY_KEY, is_idempotency_key},
    objects::Staged,
    service::{Received, Service, ServiceError, Submission},
    state::State,
    store::StoreError,
};
use axum::http::{HeaderMap, header::CONTENT_TYPE};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use generated::{
    CancelRequest, CancelResponse, GenAggregatedProofRequest, GenBatchProofRequest, GenFinalProofRequest,
    GenProofResponse, GetProofRequest, GetProofResponse, GetStatusRequest, GetStatusResponse, Queueing,
    aggregator_server::{Aggregator, AggregatorServer},
    gen_batch_proof_request, gen_final_proof_request,
    get_proof_response::State as WireState,
    get_status_response,
};
use proofmill_job::{Input, Output, StarkHash, Task};
use sha2::{Digest, Sha256};
use std::{io::Write, sync::Arc, time::Duration};
use tokio::io::AsyncReadExt;
use tonic::{Request, Response, Status, Streaming, async_trait, service::Routes};

/// The longest message, in bytes: of a stream, one piece; otherwise the proofs of all batches.
const LONGEST_MESSAGE: usize = 16 << 20;
/// The longest time between two messages of a stream.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest wait of one call.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// The largest output that a call answers with, in bytes.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// What the calls may do.
#[derive(Clone)]
pub struct Settings {
    /// The largest input of a job, in bytes.
    pub largest_input: u64,
    /// Whether the server shuts down: it takes no more jobs.
    pub is_draining: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// The routes of the calls, to be merged into those of HTTP: they rely on its guard, which puts the caller's [`Identity`] into the request.
pub fn routes(service: Service, settings: Settings) -> axum::Router {
    let server = AggregatorServer::new(Face { service, settings }).max_decoding_message_size(LONGEST_MESSAGE);
    Routes::new(server).into_axum_router()
}

/// Whether a request with these headers is a call of gRPC.
pub fn is_call(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"application/grpc"))
}

struct Face {
    service: Service,
    settings: Settings,
}

#[async_trait]
impl Aggregator for Face {
    async fn get_status(
        &self,
        request: Request<GetStatusRequest>,
    ) -> Result<Response<GetStatusResponse>, Status> {
        let identity = identity(&request)?;
        identity.require(Scope::Submit).map_err(status)?;
        let of = async |state| {
            let jobs = self.service.jobs(&identity, Some(state), None, 1000).await.map_err(status)?;
            // The last one comes first.
            Ok::<_, Status>(jobs.into_iter().rev().map(|job| job.id).collect::<Vec<_>>())
        };
        let (running, waiting) = (of(State::Running).await?, of(State::Queued).await?);
        let queue = self.service.queue().await.map_err(status)?;
        let workers = self.service.workers().await.map_err(status)?;
        let all_waiting = queue.waiting.iter().map(|waiting| waiting.jobs).sum();
        let sees_all = identity.has(Scope::Observe);
        let state = match (workers.is_empty(), queue.running + all_waiting) {
            _ if (self.settings.is_draining)() => get_status_response::Status::Draining,
            (true, _) => get_status_response::Status::NoWorker,
            (false, 0) => get_status_response::Status::Idle,
            (false, _) => get_status_response::Status::Computing,
        };
        Ok(Response::new(GetStatusResponse {
            status: state.into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            running,
            waiting,
            all_waiting: if sees_all { all_waiting } else { 0 },
            threads: workers.iter().fold(0, |sum, (_, facts)| (facts.threads as u64).saturating_add(sum)),
            memory: workers.iter().fold(0, |sum, (_, facts)| facts.memory.saturating_add(sum)),
        }))
    }

    async fn gen_batch_proof(
        &self,
        request: Request<Streaming<GenBatchProofRequest>>,
    ) -> Result<Response<GenProofResponse>, Status> {
        use gen_batch_proof_request::Part;
        let (identity, parent) = (identity(&request)?, parent(&request));
        let mut stream = request.into_inner();
        let Some(Part::Header(header)) = next(&mut stream).await?.and_then(|first| first.part) else {
            return Err(Status::invalid_argument("the first message has no header"));
        };
        let gen_batch_proof_request::Header { queueing, air, hash, bits, public_values } = header;
        let task = Task::ProveStark { key: air, hash: stark_hash(&hash)?, bits: bits_or_default(bits) };
        let public = serde_json::to_vec(&public_values).expect("integers are JSON");
        let mut input = self.receive(&[&public])?;
        while let Some(message) = next(&mut stream).await? {
            let Some(Part::Trace(piece)) = message.part else {
                return Err(Status::invalid_argument("a message after the first one has no trace"));
            };
            input.add(&piece)?;
        }
        let public = self.service.staging().file_with(&public).map_err(|error| status(error.into()))?;
        let (trace, content) = input.end();
        self.submit(
            (&identity, parent),
            task,
            vec![(Input::Trace, trace), (Input::Public, public)],
            queueing,
            content,
        )
        .await
    }

    async fn gen_aggregated_proof(
        &self,
        request: Request<GenAggregatedProofRequest>,
    ) -> Result<Response<GenProofResponse>, Status> {
        let (identity, parent) = (identity(&request)?, parent(&request));
        let GenAggregatedProofRequest { queueing, air, key, bits, inner } = request.into_inner();
        let task = Task::Aggregate { key, air, bits: bits_or_default(bits) };
        let inner: Vec<_> = inner
            .into_iter()
            .map(|inner| serde_json::json!({ "proof": STANDARD.encode(inner.proof), "public": inner.public_values }))
            .collect();
        let mut input = self.receive(&[])?;
        input.add(&serde_json::to_vec(&inner).expect("it is JSON"))?;
        let (inner, content) = input.end();
        self.submit((&identity, parent), task, vec![(Input::Inner, inner)], queueing, content).await
    }

    async fn gen_final_proof(
        &self,
        request: Request<Streaming<GenFinalProofRequest>>,
    ) -> Result<Response<GenProofResponse>, Status> {
        use gen_final_proof_request::Part;
        let (identity, parent) = (identity(&request)?, parent(&request));
        let mut stream = request.into_inner();
        let Some(Part::Header(header)) = next(&mut stream).await?.and_then(|first| first.part) else {
            return Err(Status::invalid_argument("the first message has no header"));
        };
        let gen_final_proof_request::Header { queueing, key, program } = header;
        let (kind, program) =
            if program.is_empty() { (Input::Witness, None) } else { (Input::Signals, Some(program)) };
        let mut input = self.receive(&[])?;
        while let Some(message) = next(&mut stream).await? {
            let Some(Part::Input(piece)) = message.part else {
                return Err(Status::invalid_argument("a message after the first one has no input"));
            };
            input.add(&piece)?;
        }
        let (file, content) = input.end();
        self.submit((&identity, parent), Task::Prove { key, program }, vec![(kind, file)], queueing, content)
            .await
    }

    async fn get_proof(
        &self,
        request: Request<GetProofRequest>,
    ) -> Result<Response<GetProofResponse>, Status> {
        let identity = identity(&request)?;
        identity.require(Scope::Submit).map_err(status)?;
        let GetProofRequest { id, timeout_s } = request.into_inner();
        let time = Duration::from_secs(timeout_s).min(LONGEST_WAIT);
        let job = self.service.wait(&identity, &id, time).await.map_err(status)?;
        let mut response = GetProofResponse {
            id: id.clone(),
            state: wire_state(job.progress.state).into(),
            error: if job.progress.state == State::Done {
                String::new()
            } else {
                job.error.clone().unwrap_or_default()
            },
            ..GetProofResponse::default()
        };
        if job.progress.state == State::Done {
            for output in job.task.outputs() {
                let content = self.output(&identity, &id, *output).await?;
                match output {
                    Output::Proof => response.proof = content,
                    Output::Public => response.public = content,
                }
            }
        }
        Ok(Response::new(response))
    }

    async fn cancel(&self, request: Request<CancelRequest>) -> Result<Response<CancelResponse>, Status> {
        let identity = identity(&request)?;
        self.service.cancel(&identity, &request.into_inner().id).await.map_err(status)?;
        Ok(Response::new(CancelResponse {}))
    }
}

impl Face {
    /// A file for an input; the request's digest also covers `others`.
    fn receive(&self, others: &[&[u8]]) -> Result<Receiver, Status> {
        let staging = self.service.staging();
        let file =
            staging.check_space().and_then(|()| staging.file()).map_err(|error| status(error.into()))?;
        let mut digest = Sha256::new();
        for part in others {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Ok(Receiver { file, digest, left: self.settings.largest_input })
    }

    async fn submit(
        &self,
        (identity, parent): (&Identity, Option<String>),
        task: Task,
        inputs: Vec<(Input, Staged)>,
        queueing: Option<Queueing>,
        content: Sha256,
    ) -> Result<Response<GenProofResponse>, Status> {
        let Queueing { idempotency_key, priority, timeout_s } = queueing.unwrap_or_default();
        let submission = Submission {
            task,
            priority,
            expires_in_s: None,
            timeout_s: (timeout_s > 0).then_some(timeout_s),
            attempts: None,
        };
        let header = serde_json::to_vec(&submission).expect("a submission is JSON");
        let request = hex::encode(content.chain_update(header).finalize());
        let idempotency_key = (!idempotency_key.is_empty()).then_some(idempotency_key);
        if idempotency_key.as_deref().is_some_and(|key| !is_idempotency_key(key)) {
            return Err(Status::invalid_argument(IDEMPOTENCY_KEY));
        }
        let received = Received { submission, inputs, idempotency_key, request, trace: parent };
        let answers = self.service.submit(identity, vec![received]).await.map_err(status)?;
        let (job, _) = answers.into_iter().next().expect("an answer").map_err(status)?;
        Ok(Response::new(GenProofResponse { id: job.id }))
    }

    /// The content of an output.
    async fn output(&self, identity: &Identity, id: &str, output: Output) -> Result<Vec<u8>, Status> {
        let (_, bytes, reader) = self.service.output(identity, id, output).await.map_err(status)?;
        if bytes > LARGEST_OUTPUT {
            let path = format!("/v1/jobs/{id}/{}", output.name());
            return Err(Status::out_of_range(format!(
                "{bytes} bytes are too many for a message: GET {path}"
            )));
        }
        let mut content = Vec::new();
        reader.take(LARGEST_OUTPUT).read_to_end(&mut content).await.map_err(|error| status(error.into()))?;
        Ok(content)
    }
}

/// The next message of a stream, which may not stop for long: its file waits.
async fn next<T>(stream: &mut Streaming<T>) -> Result<Option<T>, Status> {
    let message = tokio::time::timeout(LONGEST_PAUSE, stream.message()).await;
    message
        .map_err(|_| Status::deadline_exceeded(format!("nothing came for {} s", LONGEST_PAUSE.as_secs())))?
}

/// Who calls, as the guard of all routes found.
fn identity<T>(request: &Request<T>) -> Result<Identity, Status> {
    let identity = request.extensions().get::<Identity>().cloned();
    identity.ok_or_else(|| Status::unauthenticated("the token is missing or not valid"))
}

/// The caller's span.
fn parent<T>(request: &Request<T>) -> Option<String> {
    Some(request.metadata().get("traceparent")?.to_str().ok()?.to_owned())
}

/// An input as it arrives.
struct Receiver {
    file: Staged,
    digest: Sha256,
    /// The bytes that may still come.
    left: u64,
}

impl Receiver {
    fn add(&mut self, piece: &[u8]) -> Result<(), Status> {
        self.left = self.left.checked_sub(piece.len() as u64).ok_or_else(|| {
            Status::resource_exhausted("the input is larger than this server accepts: see --max-input")
        })?;
        self.digest.update(piece);
        self.file.as_file_mut().write_all(piece).map_err(|error| status(error.into()))
    }

    fn end(self) -> (Staged, Sha256) {
        (self.file, self.digest)
    }
}

fn bits_or_default(bits: u32) -> u32 {
    if bits == 0 { Task::DEFAULT_BITS } else { bits }
}

fn stark_hash(name: &str) -> Result<StarkHash, Status> {
    if name.is_empty() {
        return Ok(StarkHash::default());
    }
    serde_json::from_value(name.into()).map_err(|error| Status::invalid_argument(format!("hash: {error}")))
}

fn wire_state(state: State) -> WireState {
    match state {
        State::Queued => WireState::Queued,
        State::Running => WireState::Running,
        State::Done => WireState::Done,
        State::Failed => WireState::Failed,
        State::Dead => WireState::Dead,
        State::Cancelled => WireState::Cancelled,
        State::Expired => WireState::Expired,
    }
}

/// The status of an error. What goes wrong inside is logged, and not told.
fn status(error: ServiceError) -> Status {
    let text = error.to_string();
    match error {
        ServiceError::Invalid(_) => Status::invalid_argument(text),
        ServiceError::Forbidden(_) => Status::permission_denied(text),
        ServiceError::Store(StoreError::NotFound(_)) => Status::not_found(text),
        ServiceError::Store(StoreError::Refused(_)) => Status::failed_precondition(text),
        ServiceError::Store(StoreError::Idempotency(_) | StoreError::Taken(_)) => {
            Status::already_exists(text)
        }
        ServiceError::Store(StoreError::Full { .. }) => Status::resource_exhausted(text),
        ServiceError::Store(StoreError::Unavailable(_) | StoreError::Contended) | ServiceError::Io(_) => {
            tracing::error!(error = text, "a call failed");
            Status::unavailable("the server cannot do this now: try again")
        }
        ServiceError::Store(_) => {
            tracing::error!(error = text, "a call failed");
            Status::internal("the server's store is damaged: its log says more")
        }
    }
}
