"""A server whose answers the test says, one for each request: for what a real one seldom does."""

import contextlib
import http.server
import json
import threading
import time


class Fake:
    """Answers are functions of a request's handler. When they are used up, the last one is used again. Connections stay open, unless the
    answer closes them. Of each request, ``connections`` has the client's address.
    """

    def __init__(self):
        self.requests, self.connections, self.answers = [], [], []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self):
                self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fake.requests.append((self.command, self.path, self.headers, self.body))
                fake.connections.append(self.client_address)
                next_one = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
                with contextlib.suppress(OSError):
                    next_one(self)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def says(content, status=200, **headers):
    """An answer with this content, as JSON if it is no bytes."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()

    def answer(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def problem(status, detail, **headers):
    body = {"type": "about:blank", "title": "", "status": status, "detail": detail}
    return says(body, status, Content_Type="application/problem+json", **headers)


def view(state="queued", **more):
    return {"id": "0" * 32, "task": {"type": "prove", "key": "k"}, "state": state, "attempts": 0, **more}


def job(state="queued", **more):
    return says(view(state, **more))


def batch(*statuses):
    """The answers to the jobs of a batch. The ids of the accepted ones count from 1."""
    refused = {"title": "", "detail": "it is wrong"}
    accepted = [{"status": status, "job": {**view(), "id": str(place)}} for place, status in enumerate(statuses, 1)]
    return says([one if one["status"] < 300 else {"status": one["status"], "problem": refused} for one in accepted])


def accepting(handler):
    """Accepts a job, or all of a batch."""
    (batch(*[202] * len(json.loads(handler.body))) if handler.path.endswith("/batch") else job())(handler)


def closing(answer):
    """An answer after which the connection ends, which it does not say."""

    def close(handler):
        handler.close_connection = True
        answer(handler)

    return close


@closing
def lost(handler):
    """No answer at all."""


def raw(content):
    """These bytes, whatever they are, and the end of the connection."""
    return closing(lambda handler: handler.wfile.write(content))


def slow(seconds, answer):
    def wait(handler):
        time.sleep(seconds)
        answer(handler)

    return wait


@closing
def dripping(handler):
    """An answer that takes minutes."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    for _ in range(1000):
        time.sleep(0.1)
        handler.wfile.write(b" ")
        handler.wfile.flush()
