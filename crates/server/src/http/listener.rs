//! Connections: TLS, their number, clients that do not read.

use super::{
    face::{Face, Stage},
    router,
};
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
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep_until},
};

/// The most bytes of a request's headers.
const MOST_HEADERS: usize = 64 << 10;

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
    /// If a file cannot be read, or they do not belong together.
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
        longest_unread: face.options.longest_unread,
    };
    let app = router(face).into_make_service_with_connect_info::<SocketAddr>();
    let mut server = axum_server::from_tcp(listener)?.handle(handle).first_request_timeout(headers);
    let http = server.http_builder();
    http.http1().header_read_timeout(headers).max_buf_size(MOST_HEADERS);
    http.http2()
        .max_header_list_size(MOST_HEADERS as u32)
        .max_concurrent_streams(128)
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
    longest_unread: Duration,
}

impl<S> Accept<TcpStream, S> for Admission {
    type Stream = Connection;
    type Service = S;
    type Future = Ready<io::Result<(Connection, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            return ready(Err(io::Error::other("too many connections")));
        };
        let connection =
            Connection { stream, _permit: permit, longest_unread: self.longest_unread, stalled: None };
        ready(connection.stream.set_nodelay(true).map(|()| (connection, service)))
    }
}

/// A connection that ends when its client reads nothing for some time.
struct Connection {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
    longest_unread: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// Passes on what a write answered, or an error if writes have waited too long.
    fn watched<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let most = self.longest_unread;
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
        Pin::new(&mut self.stream).poll_read(context, buffer)
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
