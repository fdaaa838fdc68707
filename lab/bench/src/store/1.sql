-- A run's facts, and columns made from them.
CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    -- The run as in an export, without its measurements.
    facts TEXT NOT NULL,
    label TEXT AS (facts ->> '$.label'),
    began TEXT AS (facts ->> '$.began'),
    ended TEXT AS (facts ->> '$.ended'),
    cpu TEXT AS (facts ->> '$.machine.cpu'),
    cpu_threads INTEGER AS (facts ->> '$.machine.threads'),
    instance TEXT AS (facts ->> '$.machine.instance'),
    power_source TEXT AS (facts ->> '$.power_source'),
    dollars_per_hour REAL AS (facts ->> '$.price.dollars_per_hour')
) STRICT;

-- A row with its outcome.
CREATE TABLE measurements (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    -- From 1, in the order in which a run's measurements ended.
    number INTEGER NOT NULL,
    -- Seconds of an iteration: the samples' median; null for what was not timed.
    median REAL,
    -- The measurement as in an export.
    measurement TEXT NOT NULL,
    suite TEXT AS (measurement ->> '$.row.suite'),
    family TEXT AS (measurement ->> '$.row.family'),
    benchmark TEXT AS (measurement ->> '$.row.benchmark'),
    size INTEGER AS (measurement ->> '$.row.size'),
    implementation TEXT AS (measurement ->> '$.row.implementation'),
    threads INTEGER AS (measurement ->> '$.row.threads'),
    version TEXT AS (measurement ->> '$.version'),
    ended TEXT AS (measurement ->> '$.ended'),
    status TEXT AS (measurement ->> '$.outcome.status'),
    unit TEXT AS (measurement ->> '$.outcome.unit'),
    per_second REAL AS ((measurement ->> '$.outcome.amount') / median),
    watts REAL AS (measurement ->> '$.outcome.watts'),
    PRIMARY KEY (run, number)
) STRICT;
