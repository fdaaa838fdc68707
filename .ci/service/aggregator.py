#!/usr/bin/env python3
"""aggregator.py PROOFMILL: asks the aggregator's calls by Python's gRPC, with stubs made from aggregator.proto: status, proof of a batch,
final proof, get, cancel, wrong tokens. The proofs are verified by PROOFMILL."""

import json
import sys

import grpc

from server import CIRCUIT, PROTOCOL, serving

sys.path.insert(0, str(PROTOCOL))
messages, services = grpc.protos_and_services("aggregator.proto")


def pieces(header, field, content, kind):
    yield kind(header=header)
    for start in range(0, len(content), 100):
        yield kind(**{field: content[start : start + 100]})


def refused(call, *arguments, **more):
    """The code that a call is refused with."""
    try:
        call(*arguments, **more)
    except grpc.RpcError as error:
        return error.code()
    raise AssertionError("the call is not refused")


def check(server, channel):
    calls = services.AggregatorStub(channel)
    secret, other = (server.token(name, "submit", "keys") for name in ("aggregator", "other"))
    mine, others, wrong = ((("authorization", f"Bearer {token}"),) for token in (secret, other, secret[:-1] + "x"))

    def get(job, seconds, metadata=mine):
        return calls.GetProof(messages.GetProofRequest(id=job, timeout_s=seconds), metadata=metadata)

    status = calls.GetStatus(messages.GetStatusRequest(), metadata=mine)
    Status = messages.GetStatusResponse
    assert status.status in (Status.STATUS_IDLE, Status.STATUS_NO_WORKER), status
    assert refused(calls.GetStatus, messages.GetStatusRequest()) == grpc.StatusCode.UNAUTHENTICATED
    assert refused(calls.GetStatus, messages.GetStatusRequest(), metadata=wrong) == grpc.StatusCode.UNAUTHENTICATED

    server.run("stark", "workload", "fibonacci", "--log-rows", "6", "--out", "batch")
    [air], [trace], [public] = (list((server.folder / "batch").glob(f"*{word}*")) for word in ("air", "trace", "public.json"))
    server.add_key(air.read_bytes(), "air", secret)
    server.add_key((CIRCUIT / "groth16.zkey").read_bytes(), "circuit", secret)
    values = [int(value) for value in json.loads(public.read_text())]

    def batch(metadata=mine, **more):
        header = messages.GenBatchProofRequest.Header(air="air", public_values=values, **more)
        request = pieces(header, "trace", trace.read_bytes(), messages.GenBatchProofRequest)
        return calls.GenBatchProof(request, metadata=metadata).id

    def final(witness=(CIRCUIT / "witness.wtns").read_bytes(), metadata=mine, name=""):
        queueing = messages.Queueing(idempotency_key=name)
        header = messages.GenFinalProofRequest.Header(key="circuit", queueing=queueing)
        request = pieces(header, "input", witness, messages.GenFinalProofRequest)
        return calls.GenFinalProof(request, metadata=metadata).id

    proof = get(batch(), 60)
    assert proof.state == messages.GetProofResponse.STATE_DONE, proof.error
    (server.folder / "batch.proof").write_bytes(proof.proof)
    server.run("stark", "verify", air, public, "batch.proof")

    job = final(name="final-1")
    assert final(name="final-1") == job
    assert refused(final, witness=b"another", name="final-1") == grpc.StatusCode.ALREADY_EXISTS
    proof = get(job, 60)
    assert proof.state == messages.GetProofResponse.STATE_DONE, proof.error
    (server.folder / "proof.json").write_bytes(proof.proof)
    (server.folder / "public.json").write_bytes(proof.public)
    assert refused(get, job, 0, metadata=others) == grpc.StatusCode.NOT_FOUND
    server.run("--allow-insecure-setup", "groth16", "verify", CIRCUIT / "groth16.vk.json", "public.json", "proof.json")

    failed = get(final(witness=b"no witness"), 60)
    assert failed.state == messages.GetProofResponse.STATE_FAILED and failed.error, failed
    assert refused(final, metadata=others) == grpc.StatusCode.NOT_FOUND, "a key is its owner's"
    cancel = messages.CancelRequest(id=job)
    assert refused(calls.Cancel, cancel, metadata=mine) == grpc.StatusCode.FAILED_PRECONDITION
    assert refused(calls.Cancel, cancel, metadata=others) == grpc.StatusCode.NOT_FOUND
    assert refused(batch, hash="md5") == grpc.StatusCode.INVALID_ARGUMENT
    headless = iter([messages.GenFinalProofRequest(input=b"1")])
    assert refused(calls.GenFinalProof, headless, metadata=mine) == grpc.StatusCode.INVALID_ARGUMENT


def check_cancel(server, channel):
    """With a server that proves nothing: a job waits, and is cancelled."""
    calls, metadata = services.AggregatorStub(channel), (("authorization", f"Bearer {server.admin}"),)
    status = calls.GetStatus(messages.GetStatusRequest(), metadata=metadata)
    assert status.status == messages.GetStatusResponse.STATUS_NO_WORKER, status
    job = server.asked("POST", "/v1/jobs", {"type": "empty"})["id"]
    assert list(calls.GetStatus(messages.GetStatusRequest(), metadata=metadata).waiting) == [job]
    calls.Cancel(messages.CancelRequest(id=job), metadata=metadata)
    proof = calls.GetProof(messages.GetProofRequest(id=job, timeout_s=60), metadata=metadata)
    assert proof.state == messages.GetProofResponse.STATE_CANCELLED, proof


if __name__ == "__main__":
    for options, checked in [([], check), (["--no-worker"], check_cancel)]:
        with serving(sys.argv[1], *options) as server, grpc.insecure_channel(server.address) as channel:
            checked(server, channel)
    print("the aggregator's calls: passed")
