//! Reads submissions: JSON with inputs in it, or a form with a file for each input.

use super::{
    body::{Chunks, InMemory, Quota, UploadWriter, UploadedFile},
    face::Face,
    identities::Caller,
    problem::{Problem, ProblemKind},
};
use crate::{
    names::{IDEMPOTENCY_KEY, is_idempotency_key},
    service::{Received, Submission},
    store::JobRecord,
};
use axum::{extract::Request, http::header};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use proofmill_job::{ContentKind, TaskInput};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

/// The most bytes of a form that may be neither a part's content nor be understood yet: boundaries and headers.
const MOST_FRAMING: u64 = 128 << 10;
/// A job with its inputs, as JSON.
#[derive(Debug, utoipa::ToSchema)]
#[allow(dead_code, reason = "describes what `parse` reads")]
pub(super) struct JobRequest {
    #[schema(inline)]
    #[serde(flatten)]
    submission: Submission,
    /// The inputs that are JSON, by name: `signals`, `public`, `proof`, `sets`, `inner`.
    #[schema(required = false)]
    inputs: BTreeMap<String, serde_json::Value>,
    /// The same as the header `Idempotency-Key`, for jobs of a batch.
    #[schema(pattern = "^[!-~]{1,255}$")]
    idempotency_key: Option<String>,
}

/// A job with its inputs, as a form: a part `job`, and one part for each input, in any order.
#[derive(Debug, utoipa::ToSchema)]
#[allow(dead_code, reason = "describes what `form` reads")]
pub(super) struct JobForm {
    /// The job without its inputs.
    job: Submission,
    /// A `.wtns` file.
    #[schema(value_type = Option<String>, format = Binary)]
    witness: Option<()>,
    /// An `input.json`.
    #[schema(value_type = Option<String>, format = Binary)]
    signals: Option<()>,
    /// Rows of little-endian 64-bit integers.
    #[schema(value_type = Option<String>, format = Binary)]
    trace: Option<()>,
    /// Public signals or public values, as a JSON array.
    #[schema(value_type = Option<String>, format = Binary)]
    public: Option<()>,
    /// A `proof.json`.
    #[schema(value_type = Option<String>, format = Binary)]
    proof: Option<()>,
    /// Signature sets, as a JSON array.
    #[schema(value_type = Option<String>, format = Binary)]
    sets: Option<()>,
    /// STARKs to aggregate, as a JSON array.
    #[schema(value_type = Option<String>, format = Binary)]
    inner: Option<()>,
}

/// A submission, and the quotas of its files while it is submitted.
pub(crate) struct Incoming {
    pub(crate) received: Received,
    pub(crate) quotas: Vec<Quota>,
}

impl Incoming {
    /// A submission with the files that came with it.
    pub(crate) fn new(submission: Submission, written: Vec<(TaskInput, UploadedFile)>) -> Self {
        let (mut inputs, mut quotas) = (Vec::new(), Vec::new());
        for (input, UploadedFile { file, digest, quota, .. }) in written {
            inputs.push((input, file, digest));
            quotas.push(quota);
        }
        Self { received: Received::new(submission, inputs), quotas }
    }

    /// Submits it: the job, and whether it is new.
    pub(crate) async fn submit(self, face: &Face, caller: &Caller) -> Result<(JobRecord, bool), Problem> {
        // The staged files and the request count until the store counts the inputs of the job, whether the caller waits or not.
        let held = (self.quotas, caller.clone());
        let answers = face.service.submit(&caller.identity, vec![self.received], held).await?;
        Ok(answers.into_iter().next().expect("an answer for each job")?)
    }

    /// Gives the submission its owner's name for it.
    pub(crate) fn set_key(&mut self, key: Option<String>) -> Result<(), Problem> {
        self.received.idempotency_key = key;
        check_key(self.received.idempotency_key.as_deref())
    }
}

/// Reads a job of either media type.
pub(super) async fn job(face: &Face, caller: &Caller, request: Request) -> Result<Incoming, Problem> {
    let headers = request.headers();
    let key = super::reply::text(headers, "idempotency-key")?.map(str::to_owned);
    let parent = super::reply::text(headers, "traceparent")?.map(str::to_owned);
    let media = super::reply::text(headers, "content-type")?.unwrap_or_default().to_owned();
    let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let limits = face.options.bodies;
    face.service.staging().check_space()?;
    let mut incoming = match essence.as_str() {
        "application/json" => {
            let memory = face.memory.start(&caller.identity.token);
            let body = Chunks::new(request.into_body(), limits, limits.most_json).bytes(memory).await?;
            parse(face, caller, &body).await?
        }
        "multipart/form-data" => {
            let boundary = multer::parse_boundary(&media)
                .map_err(|error| Problem::invalid(format!("Content-Type: {error}")))?;
            let chunks = Chunks::new(request.into_body(), limits, limits.most_inputs);
            form(face, caller, chunks, boundary).await?
        }
        _ => {
            return Err(Problem::new(
                ProblemKind::MediaType,
                format!("{}: expected application/json or multipart/form-data", header::CONTENT_TYPE),
            ));
        }
    };
    let inside = &mut incoming.received.idempotency_key;
    if inside.is_some() && key.is_some() && *inside != key {
        return Err(Problem::invalid("the header Idempotency-Key and the field idempotency_key differ"));
    }
    let key = inside.take().or(key);
    incoming.set_key(key)?;
    incoming.received.trace = parent;
    Ok(incoming)
}

/// Refuses a text that cannot be an idempotency key.
pub(super) fn check_key(key: Option<&str>) -> Result<(), Problem> {
    match key {
        Some(key) if !is_idempotency_key(key) => Err(Problem::invalid(IDEMPOTENCY_KEY)),
        _ => Ok(()),
    }
}

/// The jobs of a batch, which is an array; at most so many. The others are not kept: they would take several times the memory of
/// the body.
pub(super) fn split(body: &[u8], most: usize) -> Result<Vec<&RawValue>, Problem> {
    struct Jobs(usize);
    impl<'de> Visitor<'de> for Jobs {
        type Value = Option<Vec<&'de RawValue>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of jobs")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut jobs = Vec::new();
            while let Some(job) = array.next_element()? {
                if jobs.len() == self.0 {
                    while array.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(None);
                }
                jobs.push(job);
            }
            Ok(Some(jobs))
        }
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let jobs = reader.deserialize_seq(Jobs(most)).and_then(|jobs| reader.end().map(|()| jobs));
    let jobs = jobs.map_err(|error| Problem::invalid(format!("the body: {error}")))?;
    jobs.ok_or_else(|| Problem::new(ProblemKind::TooLarge, format!("a batch has at most {most} jobs")))
}

/// The fields of a job that are not its submission.
#[derive(Deserialize)]
struct Extra<'a> {
    #[serde(borrow, default)]
    inputs: BTreeMap<TaskInput, &'a RawValue>,
    #[serde(default)]
    idempotency_key: Option<String>,
}

/// The submission, when the other fields are known.
#[derive(Deserialize)]
struct Rest {
    #[serde(flatten)]
    submission: Submission,
    #[serde(default, rename = "inputs")]
    _inputs: Option<IgnoredAny>,
    #[serde(default, rename = "idempotency_key")]
    _idempotency_key: Option<IgnoredAny>,
}

/// Reads a job with its inputs from JSON.
pub(super) async fn parse(face: &Face, caller: &Caller, json: &[u8]) -> Result<Incoming, Problem> {
    let invalid = |error: serde_json::Error| Problem::invalid(format!("the job: {error}"));
    let Extra { inputs, idempotency_key } = serde_json::from_slice(json).map_err(invalid)?;
    let Rest { submission, .. } = serde_json::from_slice(json).map_err(invalid)?;
    check_fields(json, &submission, &["inputs", "idempotency_key"])?;
    let mut written = Vec::with_capacity(inputs.len());
    for (input, value) in inputs {
        if input.content() != ContentKind::Json {
            return Err(Problem::invalid(format!(
                "the input {input} is no JSON: send it as multipart/form-data"
            )));
        }
        let mut writer =
            UploadWriter::new(face.service.staging(), face.quotas.start(&caller.identity.token))?;
        writer.write(value.get().as_bytes()).await?;
        written.push((input, writer.finish().await?));
    }
    let mut incoming = Incoming::new(submission, written);
    incoming.received.idempotency_key = idempotency_key;
    Ok(incoming)
}

/// Refuses fields that no submission has: for types without fields, serde takes any.
fn check_fields(json: &[u8], submission: &Submission, others: &[&str]) -> Result<(), Problem> {
    let fields: BTreeMap<String, IgnoredAny> =
        serde_json::from_slice(json).map_err(|error| Problem::invalid(format!("the job: {error}")))?;
    let known = serde_json::to_value(submission).expect("it is JSON");
    // Optional fields of a task that are `null`.
    let is_known = |field: &str| known.get(field).is_some() || others.contains(&field) || field == "program";
    match fields.keys().find(|field| !is_known(field)) {
        Some(field) => Err(Problem::invalid(format!("the job: unknown field {field:?}"))),
        None => Ok(()),
    }
}

/// Reads a form.
async fn form(face: &Face, caller: &Caller, chunks: Chunks, boundary: String) -> Result<Incoming, Problem> {
    let outstanding = Arc::new(AtomicU64::new(0));
    let mut form = multer::Multipart::new(one_at_a_time(chunks, outstanding.clone()), boundary);
    let limits = face.options.bodies;
    let mut submission: Option<Submission> = None;
    let mut written: Vec<(TaskInput, UploadedFile)> = Vec::new();
    while let Some(mut field) = form.next_field().await.map_err(of_form)? {
        // A form with other parts, or with one twice, ends here: their number is bounded.
        let name = field.name().unwrap_or_default().to_owned();
        if name == "job" && submission.is_none() {
            let mut json = InMemory::new(face.memory.start(&caller.identity.token));
            while let Some(chunk) = next(&mut field, &outstanding).await? {
                json.extend(&chunk)?;
                if json.len() as u64 > limits.most_json {
                    return Err(Problem::too_large(limits.most_json));
                }
            }
            let parsed = serde_json::from_slice(&json);
            let parsed = parsed.map_err(|error| Problem::invalid(format!("the part job: {error}")))?;
            check_fields(&json, &parsed, &[])?;
            submission = Some(parsed);
            continue;
        }
        let input = TaskInput::of_name(&name).filter(|input| written.iter().all(|(other, _)| other != input));
        let Some(input) = input else {
            let name = name.chars().take(40).collect::<String>();
            return Err(Problem::invalid(format!(
                "the part {name:?} is there twice, or no input has this name"
            )));
        };
        let mut writer =
            UploadWriter::new(face.service.staging(), face.quotas.start(&caller.identity.token))?;
        while let Some(chunk) = next(&mut field, &outstanding).await? {
            writer.write(&chunk).await?;
        }
        written.push((input, writer.finish().await?));
    }
    let submission = submission.ok_or_else(|| Problem::invalid("the part job is missing"))?;
    Ok(Incoming::new(submission, written))
}

/// The next piece of a part.
async fn next(field: &mut multer::Field<'_>, outstanding: &AtomicU64) -> Result<Option<Bytes>, Problem> {
    let chunk = field.chunk().await.map_err(of_form)?;
    // The rest is boundaries and headers, which are small, and bytes that were read ahead.
    let read = chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
    let subtract = |before: u64| Some(before.saturating_sub(read));
    let _ = outstanding.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
    Ok(chunk)
}

/// The pieces of a body, one each time that the reader asks: otherwise it would take all that have arrived into its memory. No more
/// come once too many bytes are `outstanding`. The reader subtracts from that number what it has read.
fn one_at_a_time(
    chunks: Chunks,
    outstanding: Arc<AtomicU64>,
) -> impl Stream<Item = Result<Bytes, Problem>> + Send + 'static {
    let pieces = stream::try_unfold(chunks, move |mut chunks| {
        let outstanding = outstanding.clone();
        async move {
            let Some(chunk) = chunks.next().await? else { return Ok(None) };
            let length = chunk.len() as u64;
            if outstanding.fetch_add(length, Ordering::Relaxed) > MOST_FRAMING + length {
                return Err(Problem::invalid("the form has too many bytes outside its parts"));
            }
            Ok(Some((chunk, chunks)))
        }
    });
    let mut pieces = Box::pin(pieces);
    let mut pauses = false;
    stream::poll_fn(move |context| {
        if std::mem::take(&mut pauses) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = pieces.poll_next_unpin(context);
        pauses = matches!(polled, Poll::Ready(Some(Ok(_))));
        polled
    })
}

fn of_form(error: multer::Error) -> Problem {
    match error {
        multer::Error::StreamReadFailed(error) => match error.downcast::<Problem>() {
            Ok(problem) => *problem,
            Err(error) => Problem::invalid(format!("the form: {error}")),
        },
        error => Problem::invalid(format!("the form: {error}")),
    }
}
