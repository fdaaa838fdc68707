"""A service in a folder of its own, for the checks beside this file."""

import contextlib
import hashlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = ROOT / "service/server/src/grpc"
# A circuit of three constraints.
CIRCUIT = ROOT / "crates/circom/tests/data"


class Server:
    def __init__(self, program, folder, process, url):
        self.program, self.folder, self.process, self.url = program, folder, process, url
        self.address = urlsplit(url).netloc
        self.admin = (folder / "data/token").read_text().strip()

    def ask(self, method, path, body=None, token=None, headers=()):
        """The status and the content of an answer, as JSON where it is JSON."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        with contextlib.closing(connection):
            if not isinstance(body, (bytes, type(None))):
                body, headers = json.dumps(body), {"Content-Type": "application/json", **dict(headers)}
            authorization = {"Authorization": f"Bearer {token or self.admin}"}
            connection.request(method, path, body, {**authorization, **dict(headers)})
            answer = connection.getresponse()
            content = answer.read()
            is_json = "json" in answer.headers.get("Content-Type", "")
            return answer.status, json.loads(content) if is_json else content

    def asked(self, *arguments, **more):
        """The content of an answer that is no error."""
        status, content = self.ask(*arguments, **more)
        assert status < 300, (arguments[:2], status, content)
        return content

    def token(self, name, *scopes):
        """A new token's secret."""
        return self.asked("POST", "/v1/tokens", {"name": name, "scopes": scopes})["secret"]

    def add_key(self, content, name, token=None):
        return self.asked("PUT", f"/v1/keys/{hashlib.sha256(content).hexdigest()}?name={name}", content, token)

    def ended(self, job, token=None, seconds=60):
        """The job when it has ended."""
        end = time.monotonic() + seconds
        while (view := self.asked("GET", f"/v1/jobs/{job}?wait=5", token=token))["state"] in ("queued", "running"):
            assert time.monotonic() < end, view
        return view

    def run(self, *arguments):
        """Runs a command of the prover."""
        subprocess.run([self.program, *arguments], check=True, cwd=self.folder, stdout=subprocess.DEVNULL)

    def staged(self):
        """The files that requests are writing."""
        return sum(path.is_file() for path in (self.folder / "data").glob("**/staging/**/*"))

    def stop(self):
        self.process.terminate()
        status = self.process.wait(60)
        assert status == 0, f"the server ended with {status}"


@contextlib.contextmanager
def serving(program, *options, files=None):
    """A server, which is stopped in the end; if something fails, its log is shown. It starts with a soft limit of so many open files."""
    program = Path(program).resolve()
    with tempfile.TemporaryDirectory(prefix="proofmill-") as folder:
        folder = Path(folder)
        command = [program.with_name("proofmill-server"), "serve", "--listen", "127.0.0.1:0", "--data", folder / "data", *options]
        with open(folder / "log", "wb") as log:
            environment = {**os.environ, "PROOFMILL_LOG": "warn"}
            limited = ["prlimit", f"--nofile={files}:"] if files else []
            process = subprocess.Popen(limited + command, stdout=subprocess.PIPE, stderr=log, cwd=folder, env=environment)
        try:
            url = process.stdout.readline().decode().strip()
            assert url, "the server does not start"
            server = Server(program, folder, process, url)
            yield server
            if process.poll() is None:
                server.stop()
        except BaseException:
            print((folder / "log").read_text(errors="replace")[-3000:], file=sys.stderr)
            raise
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
