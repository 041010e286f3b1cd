-- 0001_init.sql: the first schema.
--
-- The fixed part of an event is written once (event_body). Its state is a small row: in event_queue while the
-- event is live, in event_archive after its end. Times are milliseconds since 1970, UTC. Statuses and actions are
-- spelled as in the API.

CREATE TABLE event_body (
  id             INTEGER PRIMARY KEY,                -- from id_sequence, never reused
  event_id       TEXT NOT NULL UNIQUE,
  queue          TEXT NOT NULL,
  title          TEXT NOT NULL,
  tags           TEXT NOT NULL,                      -- comma separated
  correlation_id TEXT NOT NULL,                      -- empty: none
  priority       INTEGER NOT NULL,
  max_retries    INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  description    TEXT,
  payload        TEXT NOT NULL                       -- last, so that reading the rest never reads it
) STRICT;

CREATE TABLE event_queue (
  id          INTEGER PRIMARY KEY,
  status      TEXT NOT NULL CHECK (status IN ('PENDING', 'PROCESSING')),
  attempts    INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  unreported  INTEGER NOT NULL,                      -- claims since the last report
  worker_id   TEXT NOT NULL,                         -- the holder; empty: none
  due_at      INTEGER NOT NULL,                      -- pending: may run; processing: the lease ends
  ready       INTEGER NOT NULL,                      -- 1: stands in event_ready
  updated_at  INTEGER NOT NULL,
  CHECK ((status = 'PROCESSING') = (worker_id <> ''))
) STRICT;

-- Events that wait for a time: retries and leases. The index leaves out the ready events.
CREATE INDEX event_queue_due ON event_queue (due_at) WHERE ready = 0;

-- One row per tag of a ready event. In the queues of any_tag_queue there is also a row with the empty tag, for polls
-- without tags.
CREATE TABLE event_ready (
  queue    TEXT NOT NULL,
  tag      TEXT NOT NULL,
  priority INTEGER NOT NULL,
  id       INTEGER NOT NULL,
  PRIMARY KEY (queue, tag, priority DESC, id)
) STRICT, WITHOUT ROWID;

-- Queues that a worker has polled without tags. Other queues do not have the rows with the empty tag.
CREATE TABLE any_tag_queue (
  queue TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE event_archive (
  id          INTEGER PRIMARY KEY,
  status      TEXT NOT NULL CHECK (status NOT IN ('PENDING', 'PROCESSING')),
  attempts    INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  unreported  INTEGER NOT NULL,
  worker_id   TEXT NOT NULL,                         -- who ended it; empty: nobody did
  updated_at  INTEGER NOT NULL                       -- when it ended
) STRICT;

-- Finds events of the other ended statuses without a scan of the COMPLETED ones.
CREATE INDEX event_archive_status ON event_archive (status, id) WHERE status <> 'COMPLETED';

-- Append-only: every action of a worker or an operator.
CREATE TABLE event_log (
  id                INTEGER NOT NULL,                -- from id_sequence
  event_id          INTEGER NOT NULL,                -- event_body.id
  attempt           INTEGER NOT NULL,
  worker_id         TEXT NOT NULL,                   -- empty: no worker did it
  action            TEXT NOT NULL,
  status_code       INTEGER,
  error_message     TEXT,
  execution_time_ms INTEGER,
  errors            TEXT,                            -- JSON array of strings
  reason            TEXT,
  retry_count       INTEGER NOT NULL,                -- after this action
  next_retry_at     INTEGER,
  created_at        INTEGER NOT NULL,
  PRIMARY KEY (event_id, id)                         -- an event's entries lie together
) STRICT, WITHOUT ROWID;

-- The last id assigned, written in the same transaction. It has the guarantee of AUTOINCREMENT, but costs one write per
-- transaction instead of one per row.
CREATE TABLE id_sequence (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO id_sequence (name, last) VALUES ('event', 0), ('log', 0);

-- The number of events in each status; every transaction that changes a status updates it.
CREATE TABLE event_count (
  queue  TEXT NOT NULL,
  status TEXT NOT NULL,
  n      INTEGER NOT NULL,
  PRIMARY KEY (queue, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_key (
  key         TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  events      TEXT NOT NULL,                         -- ids, comma separated
  created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_age ON idempotency_key (created_at);

-- For people and tools: every event as one row.
CREATE VIEW event AS
SELECT b.id, b.event_id, b.queue, b.title, b.tags, s.status, s.attempts, s.retry_count, b.max_retries,
       s.worker_id, b.priority, b.correlation_id, b.created_at, s.updated_at, b.description, b.payload
  FROM event_body AS b
  JOIN (SELECT id, status, attempts, retry_count, worker_id, updated_at FROM event_queue
        UNION ALL
        SELECT id, status, attempts, retry_count, worker_id, updated_at FROM event_archive) AS s
    ON s.id = b.id;
