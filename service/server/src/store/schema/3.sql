-- The first tables of the service, in the SQL that SQLite and PostgreSQL share. Times are milliseconds since 1970 by the database's clock, from
-- the function now_ms(), which each database defines for itself.

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- SHA-256 of the secret, in hexadecimal digits.
    hash TEXT NOT NULL UNIQUE,
    -- Words, separated by spaces.
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    -- Start-time fair queueing: the turn of the owner's last job.
    last_turn BIGINT NOT NULL
);

-- The store's id, a random one, which its objects name. One row.
CREATE TABLE identity (
    id TEXT NOT NULL
);

-- The turn that is being served: the greatest of a job that was claimed. One row.
CREATE TABLE served (
    id BIGINT PRIMARY KEY,
    turn BIGINT NOT NULL
);
INSERT INTO served (id, turn) VALUES (1, 0);

CREATE TABLE keys (
    digest TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES tokens (id),
    name TEXT,
    bytes BIGINT NOT NULL,
    -- KeyFacts as JSON.
    facts TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (digest, owner),
    UNIQUE (owner, name)
);

CREATE TABLE jobs (
    -- A UUID of version 7: in the order of submission.
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES tokens (id),
    -- Task as JSON, with digests for keys.
    task TEXT NOT NULL,
    -- What the owner calls the key.
    label TEXT,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    most_attempts BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    expires_at BIGINT,
    -- The end of the pause after an attempt that was lost, or 0.
    not_before BIGINT NOT NULL,
    -- The longest time of an attempt, in milliseconds.
    timeout_ms BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    memory BIGINT NOT NULL,
    -- The threads that this memory suffices for.
    threads BIGINT NOT NULL,
    -- 1: several machines can divide it.
    divides BIGINT NOT NULL,
    worker TEXT,
    phase TEXT,
    error TEXT,
    -- Finished as JSON.
    result TEXT,
    -- SmallOutputs as JSON.
    outputs TEXT,
    idempotency_key TEXT,
    -- SHA-256 of what was submitted.
    request TEXT NOT NULL,
    -- 0: there are none, 1: they are stored, 2: they are to be deleted.
    inputs BIGINT NOT NULL,
    -- Their size.
    input_bytes BIGINT NOT NULL,
    -- The traceparent of the caller (W3C Trace Context).
    trace TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    UNIQUE (owner, idempotency_key)
);
CREATE INDEX jobs_queued ON jobs (priority DESC, turn, id) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE state = 'queued' AND expires_at IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_with_leftovers ON jobs (ended_at) WHERE ended_at IS NOT NULL AND inputs > 0;
CREATE INDEX jobs_with_inputs ON jobs (owner, input_bytes) WHERE inputs > 0;
CREATE INDEX jobs_owned ON jobs (owner, id);
CREATE INDEX jobs_waiting_of_owner ON jobs (owner) WHERE state = 'queued';

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    -- WorkerFacts as JSON.
    facts TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
