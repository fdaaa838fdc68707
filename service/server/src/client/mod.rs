//! A client of the service's HTTP, for commands and for workers on other machines.

mod remote;

pub use remote::Remote;

use crate::{http::ProblemBody, names::is_loopback};
use reqwest::{
    Certificate, Method, RequestBuilder, Response, StatusCode, Url,
    header::{AUTHORIZATION, HeaderValue},
};
use serde::de::DeserializeOwned;
use std::{error::Error, time::Duration};
use tokio::io::AsyncWriteExt;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may pause; longer than any wait that a server grants.
const READ: Duration = Duration::from_secs(120);

/// A connection to a service, with a token.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    token: HeaderValue,
}

/// The reason why a request failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// The server or the token cannot be used at all.
    #[error("{0}")]
    Setup(String),
    /// The service cannot be reached, or its answer broke off.
    #[error("{0}")]
    Unreachable(String),
    /// The service refuses.
    #[error("{}", .0.detail)]
    Refused(ProblemBody),
}

impl ClientError {
    /// The status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(problem) => Some(problem.status),
            _ => None,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Setup(_) => false,
            Self::Unreachable(_) => true,
            Self::Refused(problem) => matches!(problem.status, 408 | 429 | 500..=504 | 507),
        }
    }
}

/// Whether the token would go to another machine without TLS.
pub fn is_readable_by_others(server: &str) -> bool {
    let url = server.parse::<Url>();
    url.is_ok_and(|url| url.scheme() == "http" && !url.host_str().is_some_and(is_loopback))
}

/// Whether two URLs name the same server.
pub fn is_same_server(a: &str, b: &str) -> bool {
    let place = |url: &str| {
        let url = url.parse::<Url>().ok()?;
        let host = url.host_str().filter(|host| !is_loopback(host)).unwrap_or("localhost").to_owned();
        Some((url.scheme().to_owned(), host, url.port_or_known_default()))
    };
    place(a).is_some() && place(a) == place(b)
}

impl Client {
    /// A client of the server at this URL. `ca_cert` is the certificate (PEM) of an authority to trust instead of the system's.
    ///
    /// # Errors
    /// [`ClientError::Setup`] for a malformed URL, secret or certificate.
    pub fn new(server: &str, token: &str, ca_cert: Option<&[u8]>) -> Result<Self, ClientError> {
        let setup = |problem: String| ClientError::Setup(problem);
        let base = server.parse().ok().filter(|url: &Url| matches!(url.scheme(), "http" | "https"));
        let base = base.ok_or_else(|| {
            setup(format!("{server:?} is no server: expected http://HOST:PORT or https://HOST:PORT"))
        })?;
        let mut token = HeaderValue::try_from(format!("Bearer {}", token.trim()))
            .map_err(|_| setup("the token has characters that no token has".to_owned()))?;
        token.set_sensitive(true);
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .read_timeout(READ)
            .redirect(reqwest::redirect::Policy::none());
        if base.host_str().is_some_and(is_loopback) {
            builder = builder.no_proxy();
        }
        if let Some(pem) = ca_cert {
            let certificates = Certificate::from_pem_bundle(pem)
                .map_err(|error| setup(format!("the authority's certificate: {error}")))?;
            if certificates.is_empty() {
                return Err(setup("the authority's file has no certificate: expected PEM".to_owned()));
            }
            builder = builder.tls_certs_only(certificates);
        }
        let http = builder.build().map_err(|error| setup(format!("{server}: {}", causes(&error))))?;
        Ok(Self { http, base, token })
    }

    /// A request. The path begins with `/`, and characters outside of ASCII are already encoded.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut url = self.base.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        self.http.request(method, url).header(AUTHORIZATION, self.token.clone())
    }

    /// Sends a request.
    ///
    /// # Errors
    /// [`ClientError::Refused`] for any answer but success.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.unwrap_or_default();
        Err(ClientError::Refused(serde_json::from_str(&text).unwrap_or_else(|_| plain(status))))
    }

    /// Sends a request whose answer is JSON.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    pub async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let response = self.send(request).await?;
        response.json().await.map_err(|error| self.unreachable(&error))
    }

    /// Writes the answer to a request to a file.
    ///
    /// # Errors
    /// Those of [`Self::send`]; [`ClientError::Setup`] for a file that cannot be written.
    pub async fn download(
        &self,
        request: RequestBuilder,
        mut file: tokio::fs::File,
    ) -> Result<(), ClientError> {
        let mut response = self.send(request).await?;
        let write = |error: std::io::Error| ClientError::Setup(format!("cannot write the file: {error}"));
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            file.write_all(&chunk).await.map_err(write)?;
        }
        file.sync_all().await.map_err(write)
    }

    fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        let (host, port) = (self.base.host_str().unwrap_or_default(), self.base.port_or_known_default());
        let port = port.unwrap_or_default();
        ClientError::Unreachable(format!("{host}:{port}: {}", causes(error)))
    }
}

/// An error with what caused it, without the URL.
fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        cause = error.source();
        // These words of a layer say only that there is a cause.
        if words == "client error (Connect)" && cause.is_some() {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&words);
    }
    if text.contains("InvalidContentType") {
        return "this is no TLS: a server without it has http:// in its URL".to_owned();
    }
    if text.is_empty() { error.to_string() } else { text }
}

/// A problem made from the status, for an answer without a problem.
fn plain(status: StatusCode) -> ProblemBody {
    ProblemBody {
        kind: "about:blank".to_owned(),
        title: status.canonical_reason().unwrap_or("Error").to_owned(),
        status: status.as_u16(),
        detail: format!("the server answers {status}"),
    }
}

/// The text, percent-encoded as a part of a path or query.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
