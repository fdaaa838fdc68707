#!/usr/bin/env python3
"""openapi.py PROOFMILL: sends what schemathesis makes of the OpenAPI document to a server: no answer has a status, a type or a content
that the document does not say, or is an error of the server; nobody gets an answer without a token."""

import json
import subprocess
import sys
from pathlib import Path

from server import serving

CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "unsupported_method", "allow_header_conformance", "ignored_auth", "use_after_free",
]
# Streams that do not end, a call that takes the jobs, and one that could revoke the token of this check.
EXCLUDED = ["GET /v1/jobs/{id}/events", "POST /v1/work/claim", "DELETE /v1/tokens/{name}"]

if __name__ == "__main__":
    with serving(sys.argv[1], "--max-wait", "1s") as server:
        document = server.asked("GET", "/openapi.json")
        for operations in document["paths"].values():
            for operation in operations.values():
                # It would permit every status.
                operation["responses"].pop("default")
        (server.folder / "openapi.json").write_text(json.dumps(document))
        excluded = [word for name in EXCLUDED for word in ("--exclude-name", name)]
        command = [
            Path(sys.executable).with_name("schemathesis"), "run", "openapi.json", "--url", server.url,
            "--phases", "coverage,fuzzing", "--checks", ",".join(CHECKS), *excluded, "-H", f"Authorization: Bearer {server.admin}",
            "--max-examples", "20", "--seed", "1", "--workers", "1", "--warnings", "off", "--no-color",
            "--request-timeout", "30", "--continue-on-failure", "--suppress-health-check", "too_slow",
        ]
        status = subprocess.run(command, cwd=server.folder).returncode
        server.asked("GET", "/readyz")
    sys.exit(status)
