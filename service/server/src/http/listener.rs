//! Connections: their TLS, their number, and their end if a client reads nothing or asks nothing.

use super::{
    face::{Face, Stage},
    router,
};
use axum::http::Request;
use axum_server::{
    Handle,
    accept::Accept,
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use std::{
    future::{Ready, ready},
    io,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep, sleep_until},
};
use tower_service::Service;

/// The most bytes of a request's headers.
const MOST_HEADERS: usize = 64 << 10;

/// The most bytes of an answer of HTTP/2 that are kept for a client that does not read them yet.
const MOST_UNSENT: usize = 64 << 10;

/// A certificate and its key, read again when [`Self::reload`] is called.
#[derive(Clone)]
pub struct Tls {
    config: RustlsConfig,
    certificate: PathBuf,
    key: PathBuf,
}

impl Tls {
    /// Reads them from PEM files.
    ///
    /// # Errors
    /// If a file cannot be read, or certificate and key do not belong together.
    pub async fn open(certificate: &Path, key: &Path) -> io::Result<Self> {
        let config = RustlsConfig::from_pem_file(certificate, key).await;
        let config = config.map_err(|error| of_files(certificate, key, &error))?;
        Ok(Self { config, certificate: certificate.to_owned(), key: key.to_owned() })
    }

    /// Reads the files again, for new connections.
    ///
    /// # Errors
    /// Those of [`Self::open`]; the old ones stay.
    pub async fn reload(&self) -> io::Result<()> {
        let Self { config, certificate, key } = self;
        config
            .reload_from_pem_file(certificate, key)
            .await
            .map_err(|error| of_files(certificate, key, &error))
    }
}

fn of_files(certificate: &Path, key: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}, {}: {error}", certificate.display(), key.display()))
}

/// Serves until the face closes; then answers the requests that it has, for so long at most.
///
/// # Errors
/// If the listener cannot be used.
pub async fn serve(
    face: Face,
    listener: TcpListener,
    tls: Option<Tls>,
    patience: Duration,
) -> io::Result<()> {
    let handle = Handle::<SocketAddr>::new();
    let stopper = handle.clone();
    let closing = face.clone();
    tokio::spawn(async move {
        closing.reaches(Stage::Closing).await;
        stopper.graceful_shutdown(Some(patience));
    });
    let headers = face.options.longest_headers;
    let admission = Admission {
        permits: Arc::new(Semaphore::new(face.options.most_connections)),
        longest_idle: face.options.longest_idle,
        longest_unread: face.options.longest_unread,
    };
    let app = router(face).into_make_service_with_connect_info::<SocketAddr>();
    let mut server = axum_server::from_tcp(listener)?.handle(handle).first_request_timeout(headers);
    let http = server.http_builder();
    http.http1().header_read_timeout(headers).max_buf_size(MOST_HEADERS);
    http.http2()
        .max_header_list_size(MOST_HEADERS as u32)
        .max_concurrent_streams(128)
        .max_send_buf_size(MOST_UNSENT)
        .keep_alive_interval(headers)
        .keep_alive_timeout(headers);
    match tls {
        Some(tls) => server.acceptor(RustlsAcceptor::new(tls.config).acceptor(admission)).serve(app).await,
        None => server.acceptor(admission).serve(app).await,
    }
}

/// Accepts a bounded number of connections.
#[derive(Clone)]
struct Admission {
    permits: Arc<Semaphore>,
    longest_idle: Duration,
    longest_unread: Duration,
}

impl<S> Accept<TcpStream, S> for Admission {
    type Stream = Connection;
    type Service = Marking<S>;
    type Future = Ready<io::Result<(Connection, Marking<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            return ready(Err(io::Error::other("too many connections")));
        };
        let Self { longest_idle, longest_unread, .. } = *self;
        let requests = Arc::default();
        let service = Marking { service, requests: Arc::downgrade(&requests) };
        let (idle, stalled) = (Box::pin(sleep(longest_idle)), None);
        let (begun, _permit) = (0, permit);
        let connection =
            Connection { stream, _permit, requests, begun, longest_idle, idle, longest_unread, stalled };
        ready(connection.stream.set_nodelay(true).map(|()| (connection, service)))
    }
}

/// Marks the requests of a connection as its own.
#[derive(Clone)]
struct Marking<S> {
    service: S,
    requests: Weak<AtomicU64>,
}

/// Held by a request while it is answered, so that its connection counts it.
#[derive(Clone)]
pub(super) struct OfConnection {
    _requests: Option<Arc<AtomicU64>>,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for Marking<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        let requests = self.requests.upgrade();
        if let Some(begun) = &requests {
            begun.fetch_add(1, Ordering::Relaxed);
        }
        request.extensions_mut().insert(OfConnection { _requests: requests });
        self.service.call(request)
    }
}

/// A connection that ends when its client reads nothing or asks nothing for some time.
struct Connection {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
    /// How many requests have begun; each holds this while it is answered.
    requests: Arc<AtomicU64>,
    /// How many requests had begun when `idle` was last over.
    begun: u64,
    longest_idle: Duration,
    idle: Pin<Box<Sleep>>,
    longest_unread: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// Whether there was a request since it was last asked.
    fn was_used(&mut self) -> bool {
        let begun = self.requests.load(Ordering::Relaxed);
        std::mem::replace(&mut self.begun, begun) != begun || Arc::strong_count(&self.requests) > 1
    }

    /// Passes on what a write answered, or an error if writes have waited too long.
    fn watched<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let most = self.longest_unread;
        // The time begins with the first write that waits, and any progress ends it.
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + most)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() {
            return polled;
        }
        // Without a request, nothing else ends a connection of HTTP/2 whose client answers pings.
        loop {
            ready!(self.idle.as_mut().poll(context));
            if !self.was_used() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            let next = Instant::now() + self.longest_idle;
            self.idle.as_mut().reset(next);
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watched(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.watched(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
