#!/usr/bin/env python3
"""load.py PROOFMILL: two hundred slow and aborting clients of HTTP and gRPC, and a token that fills the queue, while a client that behaves
well submits jobs: all of its jobs are done, before most of the other token's. Afterwards the server has no more files, memory and
unfinished uploads than before."""

import asyncio
import contextlib
import os
import socket
import struct
import subprocess
import sys
import time

import grpc

from server import CIRCUIT, PROTOCOL, serving

sys.path.insert(0, str(PROTOCOL))
messages, services = grpc.protos_and_services("aggregator.proto")

OF_EACH = 40
# The server closes connections without a request after 20 s, and bodies that pause or drip after 15 s; on a machine that does other things
# it may take longer.
MOST_SECONDS = 90
FLOOD, JOBS, PROOFS = 400, 40, 5
MOST_MORE_MEMORY = 64 << 20


class Clients:
    """The slow and the aborting ones; in a process of their own, which is killed in the end."""

    def __init__(self, address, token):
        self.host, self.port = address.split(":")
        self.address, self.token = address, token
        self.cut_off = 0

    @contextlib.asynccontextmanager
    async def connection(self):
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            yield reader, writer
        finally:
            # No polite end: the server is told by a reset.
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.close()

    def head(self, length, media="application/json"):
        return (
            f"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    async def drip(self, start, piece):
        """Sends one piece after the other until the server says no or ends the connection."""
        async with self.connection() as (reader, writer):
            answer = asyncio.create_task(reader.read(1 << 16))
            end = time.monotonic() + MOST_SECONDS
            with contextlib.suppress(OSError):
                writer.write(start)
                while not answer.done() and time.monotonic() < end:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.wait([answer], timeout=0.5)
            await asyncio.wait([answer], timeout=1)
            self.cut_off += answer.done()
            answer.cancel()

    async def slow_headers(self):
        await self.drip(b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n", b"x: 1\r\n")

    async def slow_body(self):
        await self.drip(self.head(1 << 19), b" ")

    async def cut_body(self):
        """Sends half of a form, and is gone; again and again."""
        part = b'--b\r\ncontent-disposition: form-data; name="witness"\r\n\r\n'
        while True:
            with contextlib.suppress(OSError):
                async with self.connection() as (_, writer):
                    writer.write(self.head(1 << 20, "multipart/form-data; boundary=b") + part + b"x" * (1 << 19))
                    await writer.drain()
            await asyncio.sleep(0.5)

    async def call(self, seconds):
        """Sends half of a witness in a stream, and then nothing for some seconds."""
        async def pieces():
            yield messages.GenFinalProofRequest(header=messages.GenFinalProofRequest.Header(key="circuit"))
            yield messages.GenFinalProofRequest(input=b"x" * (1 << 16))
            await asyncio.sleep(3600)

        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(self.address, options=options) as channel:
            metadata = (("authorization", f"Bearer {self.token}"),)
            call = services.AggregatorStub(channel).GenFinalProof(pieces(), metadata=metadata)
            try:
                await asyncio.wait_for(call, seconds)
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
                self.cut_off += 1
            except asyncio.TimeoutError:
                pass
            finally:
                call.cancel()

    async def abandoned_stream(self):
        await self.call(MOST_SECONDS)

    async def cancelled_streams(self):
        while True:
            await self.call(1)

    async def attack(self):
        """Prints how many of the slow ones were cut off, once they were or could have been, and goes on."""
        kinds = [self.slow_headers, self.slow_body, self.cut_body, self.abandoned_stream, self.cancelled_streams]
        clients = asyncio.gather(*(kind() for kind in kinds for _ in range(OF_EACH)))
        end = time.monotonic() + MOST_SECONDS
        while self.cut_off < 3 * OF_EACH and time.monotonic() < end:
            await asyncio.sleep(0.2)
        print(self.cut_off, flush=True)
        await clients


class Present:
    """What a server has."""

    def __init__(self, server):
        self.files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        with open(f"/proc/{server.process.pid}/status") as status:
            [line] = [line for line in status if line.startswith("VmRSS")]
        self.memory = int(line.split()[1]) * 1024
        self.staged = server.staged()

    def is_like(self, before):
        return (self.files <= before.files + 4 and self.staged <= before.staged and self.memory <= before.memory + MOST_MORE_MEMORY)

    def __repr__(self):
        return f"{self.files} files, {self.memory >> 20} MiB, {self.staged} uploads"


def form(parts):
    fields = [b'--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n' % part for part in parts]
    return b"".join(fields) + b"--b--", {"Content-Type": "multipart/form-data; boundary=b"}


def prove(server, token):
    """Proves one after the other."""
    witness = (CIRCUIT / "witness.wtns").read_bytes()
    body, headers = form([(b"job", b'{"type": "prove", "key": "circuit"}'), (b"witness", witness)])
    for _ in range(PROOFS):
        job = server.asked("POST", "/v1/jobs", body, token, headers)
        assert (view := server.ended(job["id"], token))["state"] == "done", view


def submit(server, token, count):
    answers = server.asked("POST", "/v1/jobs/batch", [{"type": "empty"}] * count, token)
    assert all(answer["status"] == 202 for answer in answers), answers
    return [answer["job"] for answer in answers]


def take_turns(server, good, bad):
    """How many jobs of a token that fills the queue are done while another one's few jobs wait."""
    flood, jobs = submit(server, bad, FLOOD), submit(server, good, JOBS)
    views = [server.ended(job["id"], good) for job in jobs]
    assert all(view["state"] == "done" for view in views), views
    begin, end = jobs[0]["created_at"], max(view["ended_at"] for view in views)
    others = [server.ended(job["id"], bad) for job in flood]
    assert all(view["state"] == "done" for view in others), others
    return sum(begin < view["ended_at"] < end for view in others)


def behave(server, good, bad):
    prove(server, good)
    between = take_turns(server, good, bad)
    assert between <= 2 * JOBS, f"{between} jobs of another token were done while {JOBS} waited"
    return between


def check(server):
    good, bad = (server.token(name, "submit", "keys") for name in ("good", "bad"))
    for token in (good, bad):
        server.add_key((CIRCUIT / "groth16.zkey").read_bytes(), "circuit", token)
    behave(server, good, bad)
    before = Present(server)
    command = [sys.executable, __file__, "attack", server.address, bad]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attack:
        try:
            time.sleep(3)
            during = Present(server)
            assert during.files >= before.files + 3 * OF_EACH, f"nobody attacks: {during}"
            between = behave(server, good, bad)
            cut_off = int(attack.stdout.readline())
            assert cut_off >= 3 * OF_EACH, f"only {cut_off} slow clients were cut off"
        finally:
            attack.kill()
    end = time.monotonic() + MOST_SECONDS
    while not (after := Present(server)).is_like(before):
        assert time.monotonic() < end, f"before: {before}; during: {during}; after: {after}"
        time.sleep(0.5)
    print(f"before: {before}; during: {during}; after: {after}; {cut_off} slow clients were cut off;")
    print(f"{between} jobs of the token that floods the queue were done while {JOBS} of the other waited")


if __name__ == "__main__":
    if sys.argv[1] == "attack":
        asyncio.run(Clients(*sys.argv[2:]).attack())
    # Fewer files than there are connections: the server takes what the system allows.
    with serving(sys.argv[1], files=128) as server:
        check(server)
    print("slow and aborting clients: passed")
