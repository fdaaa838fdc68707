-- A page of a list costs its length, whatever the history: each state's jobs in the order of their ids. Jobs that have ended are in these
-- indexes from their end on, so that the changes before cost nothing.
DROP INDEX jobs_waiting_of_owner;
CREATE INDEX jobs_waiting_of_owner ON jobs (owner, id) WHERE state = 'queued';
CREATE INDEX jobs_ended_of_owner ON jobs (owner, state, id) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_ended_in_state ON jobs (state, id) WHERE ended_at IS NOT NULL;
