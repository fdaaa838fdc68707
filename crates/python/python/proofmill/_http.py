"""Requests to a service: streamed bodies, bounded answers, retries, connections that are kept. Only the standard library is used.

A request is tried again if its answer was lost, or if the service says that it cannot answer now. So it must be one that may be repeated: all
of the client's are, because a submission has an idempotency key.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import os
import random
import selectors
import socket
import ssl
import stat
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from . import Error, __version__

__all__ = ["TEMPORARY", "Body", "File", "Refused", "Service", "ServiceError", "Unreachable", "file_piece", "refusal"]

T = TypeVar("T")

CONNECT_SECONDS = 10.0
# How long an answer may take, beyond the time that it was asked to wait.
ANSWER_SECONDS = 60.0
# Heartbeats of event streams come every ten seconds.
EVENT_SECONDS = 30.0
# An answer in transit when a caller's time is over is still taken.
GRACE_SECONDS = 1.0
# Connections without a request: the most, and how long they are used again. Servers close them later: proofmill's after 20 seconds, some
# proxies after five.
MOST_IDLE, IDLE_SECONDS = 4, 4.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
PIECE = 256 << 10
MOST_BYTES = 1 << 30
MOST_ERROR_BYTES = 64 << 10
# Statuses after which the same request may succeed: too slow, too many, errors of the server or of a proxy, a full disk.
TEMPORARY = frozenset([408, 429, 500, 502, 503, 504, 507])


class ServiceError(Error):
    """The service did not do what was asked. The base of all exceptions of ``proofmill.client``.

    ``answers`` is set by ``Client.submit_all``: for each job, in order, the ``Job``, or the exception that says why there is none.
    """

    answers: Sequence[Any] = ()


class Unreachable(ServiceError):
    """The service cannot be reached, or its answers were lost, also when tried again. Whether it has done what was asked is not known."""


class Refused(ServiceError):
    """The service refuses a request.

    ``status`` is the status of HTTP: 401 without a valid token, 404 for what is not there, 429 if the queue is full.
    ``repeated`` says whether an earlier try of the same request was sent, and its answer lost: the service may have done it then.
    """

    def __init__(self, detail: str, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.retry_after = retry_after
        self.repeated = False


class _Lost(Exception):
    """No answer, or a part of one."""


class _Broken(_Lost):
    """A kept connection broke before an answer came."""


@dataclass(frozen=True)
class File:
    """A file of this length."""

    path: str
    bytes: int


def file_piece(path: str | os.PathLike[str]) -> File:
    """A file to send. Raises OSError if it is not there, or is no regular file."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{os.fspath(path)}: expected a regular file")
    return File(os.fspath(path), found.st_size)


class Body:
    """The body of a request: bytes and files, which are read piece by piece each time that it is sent."""

    def __init__(self, pieces: Sequence[bytes | memoryview | File], media: str) -> None:
        self.pieces = pieces
        self.media = media
        self.bytes = sum(piece.bytes if isinstance(piece, File) else memoryview(piece).nbytes for piece in pieces)

    @classmethod
    def form(cls, parts: Mapping[str, bytes | memoryview | File]) -> Body:
        """A form with these parts."""
        boundary = f"proofmill{random.SystemRandom().getrandbits(128):032x}"
        pieces: list[bytes | memoryview | File] = []
        for name, content in parts.items():
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
            pieces += [head.encode(), content, b"\r\n"]
        pieces.append(f"--{boundary}--\r\n".encode())
        return cls(pieces, f"multipart/form-data; boundary={boundary}")

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Its content. Raises OSError for a file that cannot be read, or is shorter than before."""
        for piece in self.pieces:
            if not isinstance(piece, File):
                yield piece
                continue
            left = piece.bytes
            with open(piece.path, "rb") as file:
                while left:
                    chunk = file.read(min(left, PIECE))
                    if not chunk:
                        raise OSError(f"{piece.path}: the file became shorter while it was sent")
                    left -= len(chunk)
                    yield chunk


class Service:
    """A server and a token. A connection has one request at a time, so that threads can share a service."""

    def __init__(
        self,
        url: str,
        token: str,
        ca_cert: str | os.PathLike[str] | None,
        insecure_http: bool,
        retry_for: float,
    ) -> None:
        # What is before an @ may be a password.
        expected = f"url: expected http://HOST:PORT or https://HOST:PORT, found {url.rpartition('@')[2]!r}"
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            raise ValueError(expected) from None
        if parts.scheme not in ("http", "https") or not self._host or "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(expected)
        self.url = url.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._tls = ssl.create_default_context(cafile=ca_cert) if parts.scheme == "https" else None
        if not self._tls and not insecure_http and not is_loopback(self._host):
            raise ValueError(
                f"{self.url}: the token would be sent in plain text: use https://, or insecure_http=True in a network that you trust"
            )
        if not token or not all("!" <= character <= "~" for character in token):
            raise ValueError("token: expected visible ASCII characters without spaces")
        self._token = token
        self._idle = _Idle()
        self.retry_for = retry_for

    def close(self) -> None:
        """Closes connections without a request, now and after each request that still comes."""
        self._idle.close()

    def json(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        wait: float = 0,
        until: float | None = None,
    ) -> Any:
        """The JSON of the answer. ``wait`` is for how many seconds the service was asked to wait; after ``until`` (of the monotonic clock),
        nothing is tried again.
        """

        def read(connection: _Connection) -> Any:
            content = connection.content(MOST_BYTES)
            try:
                return json.loads(content)
            except (ValueError, RecursionError):
                kind = connection.answer.headers.get("Content-Type", "no type")
                raise ServiceError(f"{self.name}: expected JSON, found {len(content)} bytes of {kind}") from None

        return self._repeat(method, path, body, headers or {}, wait, until, read)

    def content(self, path: str) -> bytes:
        """The bytes of the answer."""
        return self._repeat("GET", path, None, {}, 0, None, lambda connection: connection.content(MOST_BYTES))

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of the answer while they come, until it ends or breaks off; neither is an error."""
        headers = {"Accept": "text/event-stream"}
        connection = self._repeat("GET", path, None, headers, 0, None, lambda connection: connection, is_stream=True)
        with contextlib.closing(connection), contextlib.suppress(_Lost):
            while line := connection.line():
                yield line

    @property
    def name(self) -> str:
        """Host and port, for messages."""
        port = self._port or (443 if self._tls else 80)
        return f"[{self._host}]:{port}" if ":" in self._host else f"{self._host}:{port}"

    def _repeat(
        self,
        method: str,
        path: str,
        body: Body | None,
        headers: Mapping[str, str],
        wait: float,
        until: float | None,
        read: Callable[[_Connection], T],
        *,
        is_stream: bool = False,
    ) -> T:
        """Sends a request until it has an answer, and what ``read`` makes of it."""
        limit, pause, repeated = float("inf") if until is None else until, FIRST_PAUSE, False
        last_try, is_broken = None, False
        while True:
            # After a broken one, the other idle ones may be broken as well.
            kept = None if is_broken else self._idle.take()
            connection = kept or _Connection(self._host, self._port, self._tls)
            is_broken = is_read = False
            try:
                connection.open(until)
                connection.send(method, self._prefix + path, body, {"Authorization": f"Bearer {self._token}", **headers})
                connection.receive(wait, until)
                result = read(connection)
                is_read = True
                return result
            except _Broken:
                # Servers close idle connections: no reason to wait or to give up.
                repeated, is_broken = repeated or connection.has_sent, True
                continue
            except _Lost as lost:
                problem: ServiceError = Unreachable(f"{self.name}: {lost}")
                repeated, delay = repeated or connection.has_sent, random.uniform(0.5, 1) * pause
            except Refused as refused:
                refused.repeated = repeated
                if refused.status not in TEMPORARY:
                    raise
                problem, delay = refused, random.uniform(0.5, 1) * pause if refused.retry_after is None else refused.retry_after
            except _Hopeless as error:
                raise Unreachable(f"{self.name}: {error}") from None
            finally:
                if connection.is_free:
                    self._idle.put(connection)
                elif not (is_stream and is_read):
                    connection.close()
            now = time.monotonic()
            if last_try is None:
                last_try = min(now + self.retry_for, limit)
            if now + delay > last_try:
                raise problem
            time.sleep(delay)
            pause = min(2 * pause, LONGEST_PAUSE)


class _Hopeless(Exception):
    """No connection, and it makes no sense to try again."""


class _Idle:
    """Open connections without a request, the last used at the end.

    Threads share it. The methods of a deque are atomic; a lock could stay locked in a child process.
    """

    def __init__(self) -> None:
        self._connections: deque[_Connection] = deque()
        self._is_closed = False
        weakref.finalize(self, drop, self._connections, 0)

    def __reduce__(self) -> tuple[type[_Idle], tuple[()]]:
        # A copy of a client in another process has connections of its own.
        return _Idle, ()

    def take(self) -> _Connection | None:
        """One that seems to be usable, if there is one."""
        with contextlib.suppress(IndexError):
            while not (connection := self._connections.pop()).is_usable():
                connection.close()
            return connection
        return None

    def put(self, connection: _Connection) -> None:
        connection.idle_since = time.monotonic()
        self._connections.append(connection)
        drop(self._connections, 0 if self._is_closed else MOST_IDLE)

    def close(self) -> None:
        self._is_closed = True
        drop(self._connections, 0)


def drop(connections: deque[_Connection], most: int) -> None:
    """Closes those that are too many or too old."""
    with contextlib.suppress(IndexError):
        while len(connections) > most or connections[0].is_old():
            connections.popleft().close()


# poll opens no file, and takes files of any number. Windows has only select.
Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


class _Connection:
    """A connection, and the request that it has."""

    answer: http.client.HTTPResponse

    def __init__(self, host: str, port: int | None, tls: ssl.SSLContext | None) -> None:
        proxy = proxy_for(host) if tls else None
        if tls:
            place = proxy or (host, port)
            self._http: http.client.HTTPConnection = http.client.HTTPSConnection(*place, timeout=CONNECT_SECONDS, context=tls)
        else:
            self._http = http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
        if proxy:
            self._http.set_tunnel(host, port or 443)
        self._deadline = 0.0
        self._process = os.getpid()
        # When its last request ended.
        self.idle_since: float | None = None
        # Whether the head of the request was sent, so that the server may have it, and whether all of it was.
        self.has_sent = self._has_sent_all = False
        # Whether it may have another request: this one was sent, its answer was read to the end, and the server leaves it open.
        self.is_free = False

    def is_old(self) -> bool:
        return self.idle_since is not None and time.monotonic() - self.idle_since > IDLE_SECONDS

    def is_usable(self) -> bool:
        """Whether it can have another request: it is of this process, was used a short time ago, and the server has not closed it."""
        if self._process != os.getpid() or self.is_old():
            return False
        with Selector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            # Readable is its end, or something that is no answer.
            return not selector.select(0)

    def open(self, until: float | None) -> None:
        """Connects, unless it is open."""
        if self.idle_since is not None:
            return
        if until is not None:
            self._http.timeout = min(CONNECT_SECONDS, max(until - time.monotonic(), 0) + GRACE_SECONDS)
        try:
            self._http.connect()
        except socket.gaierror as error:
            raise (_Lost if error.errno == socket.EAI_AGAIN else _Hopeless)(words(error)) from None
        except ssl.SSLCertVerificationError as error:
            raise _Hopeless(f"the certificate is not trusted: {error.verify_message}") from None
        except ssl.SSLEOFError as error:
            raise _Lost(words(error)) from None
        except ssl.SSLError as error:
            raise _Hopeless(f"no TLS: {words(error)}") from None
        except OSError as error:
            raise _Lost(words(error)) from None
        # A response that says `Connection: close` takes it away from the connection.
        self._socket = self._http.sock

    def send(self, method: str, path: str, body: Body | None, headers: Mapping[str, str]) -> None:
        """Sends a request. An answer may come before the end of the body: then the rest is not sent."""
        self.has_sent = self._has_sent_all = self.is_free = False
        request = self._http
        request.putrequest(method, path, skip_accept_encoding=True)
        request.putheader("User-Agent", f"proofmill-python/{__version__}")
        for name, value in headers.items():
            request.putheader(name, value)
        if body:
            request.putheader("Content-Type", body.media)
        if body or method in ("POST", "PUT"):
            request.putheader("Content-Length", str(body.bytes if body else 0))
        try:
            self._socket.settimeout(ANSWER_SECONDS)
            request.endheaders()
        except OSError as error:
            raise self._lost(error) from None
        self.has_sent = True
        for chunk in body.chunks() if body else ():
            try:
                request.send(chunk)
            except OSError:
                return
        self._has_sent_all = True

    def receive(self, wait: float, until: float | None) -> None:
        """Reads the answer's head. Raises Refused for an answer that is no success."""
        now = time.monotonic()
        self._deadline = now + wait + ANSWER_SECONDS
        if until is not None:
            self._deadline = min(self._deadline, max(until, now) + GRACE_SECONDS)
        try:
            self._socket.settimeout(self._deadline - now)
            self.answer = self._http.getresponse()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._lost(error) from None
        if not 200 <= self.answer.status < 300:
            try:
                content = self.content(MOST_ERROR_BYTES)
            except (_Lost, ServiceError):
                content = b""
            raise refusal_of(self.answer, content)

    def content(self, most: int) -> bytes:
        """The whole body. Raises _Lost if it breaks off or comes too late."""
        content = bytearray()
        if self.answer.length is None and not self.answer.chunked:
            # Its end would look like a connection that was lost.
            raise _Lost("the answer has no length")
        try:
            # Since Python 3.13, it is closed with the last byte, and the socket too if the server keeps it no longer.
            while not self.answer.isclosed():
                left = self._deadline - time.monotonic()
                if left <= 0:
                    raise _Lost("the answer comes too slowly")
                self._socket.settimeout(left)
                piece = self.answer.read1(PIECE)
                if not piece:
                    break
                content += piece
                if len(content) > most:
                    raise ServiceError(f"the answer has more than {most} bytes")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _Lost(words(error)) from None
        if self.answer.length:
            raise _Lost("the answer breaks off")
        self.answer.close()
        # After an informational answer, another one comes.
        self.is_free = self._has_sent_all and not self.answer.will_close and self.answer.status >= 200
        return bytes(content)

    def line(self) -> bytes:
        """The next line, nothing at the end."""
        try:
            self._socket.settimeout(EVENT_SECONDS)
            return self.answer.readline(1 << 20)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _Lost(words(error)) from None

    def close(self) -> None:
        if hasattr(self, "answer"):
            self.answer.close()
        self._http.close()

    def _lost(self, error: Exception) -> _Lost:
        """What an error means before an answer came."""
        has_broken = self.idle_since is not None and isinstance(error, (ConnectionError, ssl.SSLError))
        return (_Broken if has_broken else _Lost)(words(error))


def is_loopback(host: str) -> bool:
    """Whether this is the name or an address of this machine's loopback."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(host: str) -> tuple[str, int | None] | None:
    """Host and port of the proxy for https:// that HTTPS_PROXY or the system names, unless this host needs none. It learns the host only."""
    if is_loopback(host):
        return None
    # Imported here, because it takes longer than all the rest.
    from urllib.request import getproxies, proxy_bypass

    url = getproxies().get("https")
    if not url or proxy_bypass(host):
        return None
    parts = urlsplit(url if "//" in url else f"//{url}")
    return (parts.hostname, parts.port) if parts.hostname else None


def words(error: Exception) -> str:
    """An error of the network in one line."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, http.client.RemoteDisconnected):
        return "the connection was closed without an answer"
    if isinstance(error, http.client.HTTPException):
        return f"no answer of HTTP ({type(error).__name__})"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return one_line(text)


def one_line(text: str) -> str:
    """The text without what could confuse a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)[:1000]


def refusal_of(answer: http.client.HTTPResponse, content: bytes) -> Refused:
    """The exception for an answer that is no success: of problem+json if it is that."""
    problem, seconds = None, None
    with contextlib.suppress(ValueError, RecursionError):
        problem = json.loads(content)
    if (text := answer.headers.get("Retry-After", "").strip()).isascii() and text.isdigit():
        seconds = float(text[:9])
    return refusal(problem, answer.status, answer.reason, seconds)


def refusal(problem: Any, status: int, reason: str = "", retry_after: float | None = None) -> Refused:
    """The exception for a refusal with this status, and with a problem of RFC 9457 if it is one."""
    detail = problem.get("detail") if isinstance(problem, dict) else None
    text = one_line(detail) if isinstance(detail, str) and detail else f"the server answers {status} {one_line(reason)}".rstrip()
    return Refused(text, status, retry_after)
