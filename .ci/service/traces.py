#!/usr/bin/env python3
"""traces.py PROOFMILL: receives the traces of jobs as an OpenTelemetry collector that is not ours, by OpenTelemetry's own messages, and
checks that a job's spans are those that docs/service.md promises."""

import concurrent.futures
import sys

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from server import CIRCUIT, serving

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self):
        self.spans = []

    def Export(self, request, context):
        for of_resource in request.resource_spans:
            names = {fact.key: fact.value.string_value for fact in of_resource.resource.attributes}
            assert names["service.name"] == "proofmill", names
            self.spans += [span for of_scope in of_resource.scope_spans for span in of_scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


def submit(server, witness, trace):
    job = b'{"type": "prove", "key": "circuit"}'
    parts = [b'--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n' % part for part in [(b"job", job), (b"witness", witness)]]
    headers = {"Content-Type": "multipart/form-data; boundary=b", **({"traceparent": trace} if trace else {})}
    return server.asked("POST", "/v1/jobs", b"".join(parts) + b"--b--", headers=headers)["id"]


def check(spans, view, has_parent):
    """Checks the spans of a job, as it is seen in the end."""
    facts = {span.span_id: {fact.key: fact.value for fact in span.attributes} for span in spans}
    [root] = [span for span in spans if "proofmill.job" in facts[span.span_id] and facts[span.span_id]["proofmill.job"].string_value == view["id"]]
    of_job = [span for span in spans if span.trace_id == root.trace_id]
    assert root.name == "job" and facts[root.span_id]["proofmill.state"].string_value == view["state"], root
    assert root.status.code == {"done": 1, "failed": 2}[view["state"]], root.status
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == (TRACE, PARENT) if has_parent else not root.parent_span_id, root
    within = lambda parent: [span for span in of_job if span.parent_span_id == parent.span_id]
    assert sorted(span.name for span in within(root)) == ["attempt", "queued"], within(root)
    [attempt] = [span for span in within(root) if span.name == "attempt"]
    phases = [phase["name"] for phase in (view.get("finished") or {}).get("phases", [])]
    assert [span.name for span in within(attempt)] == phases, (within(attempt), phases)
    assert (len(phases) > 0) == (view["state"] == "done"), phases
    assert len(of_job) == 3 + len(phases)
    milliseconds = lambda time: time // 10**6
    assert milliseconds(root.start_time_unix_nano) == view["created_at"] and milliseconds(root.end_time_unix_nano) == view["ended_at"]
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in of_job)


if __name__ == "__main__":
    collector = Collector()
    listener = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, listener)
    port = listener.add_insecure_port("127.0.0.1:0")
    listener.start()
    with serving(sys.argv[1], "--otlp", f"http://127.0.0.1:{port}") as server:
        server.add_key((CIRCUIT / "groth16.zkey").read_bytes(), "circuit")
        witness = (CIRCUIT / "witness.wtns").read_bytes()
        jobs = [submit(server, witness, f"00-{TRACE}-{PARENT}-01"), submit(server, b"no witness", None)]
        views = [server.ended(job) for job in jobs]
        assert [view["state"] for view in views] == ["done", "failed"], views
        # The last spans are sent before the server ends.
        server.stop()
    listener.stop(None).wait()
    check(collector.spans, views[0], True)
    check(collector.spans, views[1], False)
    print(f"traces: passed with {len(collector.spans)} spans")
