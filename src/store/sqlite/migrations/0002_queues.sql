-- 0002_queues.sql: queues with a state of their own, order, superseding, correlation, retention.
--
-- Tables with new columns in the middle are rewritten. The payload stays last, so that reading other columns does not
-- read it.

CREATE TABLE new_body (
  id             INTEGER PRIMARY KEY,                -- from id_sequence, never reused
  event_id       TEXT NOT NULL UNIQUE,
  queue          TEXT NOT NULL,
  title          TEXT NOT NULL,
  tags           TEXT NOT NULL,                      -- comma separated
  correlation_id TEXT NOT NULL,                      -- empty: none; as all texts below
  ordering_key   TEXT NOT NULL,
  supersede_key  TEXT NOT NULL,
  priority       INTEGER NOT NULL,
  max_retries    INTEGER NOT NULL,
  retry          TEXT,                               -- a policy of its own: kind base cap jitter
  created_at     INTEGER NOT NULL,
  sequence       INTEGER,                            -- its place in its batch
  timestamp      INTEGER,                            -- null: created_at
  causation_id   TEXT NOT NULL,
  trace_id       TEXT NOT NULL,
  pattern        TEXT NOT NULL,
  version        TEXT NOT NULL,
  source_type    TEXT NOT NULL,
  source_id      TEXT NOT NULL,
  source_name    TEXT NOT NULL,
  attributes     TEXT NOT NULL,                      -- JSON object
  description    TEXT,
  payload        TEXT NOT NULL                       -- last, so that reading the rest never reads it
) STRICT;

CREATE TABLE new_queue (
  id          INTEGER PRIMARY KEY,
  queue       TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('PENDING', 'PROCESSING')),
  attempts    INTEGER NOT NULL,
  retry_count INTEGER NOT NULL,
  unreported  INTEGER NOT NULL,                      -- claims since the last report
  worker_id   TEXT NOT NULL,                         -- the holder; empty: none
  due_at      INTEGER NOT NULL,                      -- pending: may run; processing: the lease ends
  ready       INTEGER NOT NULL,                      -- 1: stands in event_ready; 2: behind another in event_line
  turn        INTEGER NOT NULL,                      -- its place in event_ready
  picked_at   INTEGER NOT NULL,                      -- when the current attempt was claimed
  updated_at  INTEGER NOT NULL,
  CHECK ((status = 'PROCESSING') = (worker_id <> ''))
) STRICT;

CREATE TABLE new_archive (
  id            INTEGER PRIMARY KEY,
  queue         TEXT NOT NULL,
  status        TEXT NOT NULL CHECK (status NOT IN ('PENDING', 'PROCESSING')),
  attempts      INTEGER NOT NULL,
  retry_count   INTEGER NOT NULL,
  unreported    INTEGER NOT NULL,
  worker_id     TEXT NOT NULL,                       -- who ended it; empty: nobody did
  picked_at     INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,                    -- when it ended
  holds_line    INTEGER NOT NULL,                    -- 1: failed, and those behind it in event_line wait
  superseded_by INTEGER,
  cause         TEXT                                 -- of a failure, for grouping
) STRICT;

INSERT INTO new_body
SELECT id, event_id, queue, title, tags, correlation_id, '', '', priority, max_retries, NULL, created_at, NULL, NULL,
       '', '', '', '', '', '', '', '', description, payload
  FROM event_body;

INSERT INTO new_queue
SELECT q.id, b.queue, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.ready, q.id,
       q.updated_at, q.updated_at
  FROM event_queue AS q
  JOIN event_body AS b ON b.id = q.id;

INSERT INTO new_archive
SELECT a.id, b.queue, a.status, a.attempts, a.retry_count, a.unreported, a.worker_id, a.updated_at, a.updated_at, 0, NULL,
       CASE WHEN a.status = 'FAILED' THEN 'no message' END
  FROM event_archive AS a
  JOIN event_body AS b ON b.id = a.id;

DROP VIEW event;
DROP TABLE event_body;
DROP TABLE event_queue;
DROP TABLE event_archive;
ALTER TABLE new_body RENAME TO event_body;
ALTER TABLE new_queue RENAME TO event_queue;
ALTER TABLE new_archive RENAME TO event_archive;

CREATE INDEX event_body_correlation ON event_body (correlation_id, id) WHERE correlation_id <> '';

-- Events that wait for a time: retries, delays and leases. The index leaves out the ready events.
CREATE INDEX event_queue_due ON event_queue (due_at) WHERE ready = 0;
-- A queue's live events, oldest first.
CREATE INDEX event_queue_live ON event_queue (queue, id);

-- Finds events of the other ended statuses without a scan of the COMPLETED ones.
CREATE INDEX event_archive_status ON event_archive (status, id) WHERE status <> 'COMPLETED';
-- Ended events by the time of their end, for retention and replay.
CREATE INDEX event_archive_end ON event_archive (queue, status, updated_at, id);
CREATE INDEX event_archive_cause ON event_archive (queue, cause, updated_at, id) WHERE status = 'FAILED';

CREATE INDEX event_archive_holds ON event_archive (queue) WHERE holds_line = 1;

-- The ready index is rebuilt in the order of turns.
CREATE TABLE new_ready (
  queue    TEXT NOT NULL,
  tag      TEXT NOT NULL,
  priority INTEGER NOT NULL,
  turn     INTEGER NOT NULL,
  id       INTEGER NOT NULL,
  PRIMARY KEY (queue, tag, priority DESC, turn)
) STRICT, WITHOUT ROWID;
INSERT INTO new_ready SELECT queue, tag, priority, id, id FROM event_ready;
DROP TABLE event_ready;
ALTER TABLE new_ready RENAME TO event_ready;

-- Events with an ordering_key that are live, or have failed and block their line.
CREATE TABLE event_line (
  queue        TEXT NOT NULL,
  ordering_key TEXT NOT NULL,
  head         INTEGER NOT NULL,                     -- 1: may run, or holds up the others; one per key
  id           INTEGER NOT NULL,
  PRIMARY KEY (queue, ordering_key, head DESC, id)
) STRICT, WITHOUT ROWID;

-- Pending events with a supersede_key.
CREATE TABLE event_supersede (
  queue         TEXT NOT NULL,
  supersede_key TEXT NOT NULL,
  id            INTEGER NOT NULL,
  PRIMARY KEY (queue, supersede_key, id)
) STRICT, WITHOUT ROWID;

-- Counters of the events with one correlation_id; every change updates them.
CREATE TABLE correlation (
  id          TEXT PRIMARY KEY,
  total       INTEGER NOT NULL,
  pending     INTEGER NOT NULL,
  completed   INTEGER NOT NULL,
  failed      INTEGER NOT NULL,
  kept        INTEGER NOT NULL,                      -- still in the store
  on_complete TEXT NOT NULL,                         -- JSON of an event; empty: none
  queue       TEXT NOT NULL                          -- where that goes
) STRICT, WITHOUT ROWID;

INSERT INTO correlation
SELECT b.correlation_id, count(*), count(q.id), sum(coalesce(a.status LIKE 'COMPLETED%', 0)),
       sum(coalesce(a.status = 'FAILED', 0)), count(*), '', ''
  FROM event_body AS b
  LEFT JOIN event_queue AS q ON q.id = b.id
  LEFT JOIN event_archive AS a ON a.id = b.id
 WHERE b.correlation_id <> ''
 GROUP BY b.correlation_id;

-- A queue's settings and status. Its events are in event_queue, its counters in the tables below.
CREATE TABLE event_queue_state (
  id            TEXT PRIMARY KEY,
  config        TEXT NOT NULL,                       -- JSON: what differs from the defaults
  status        TEXT NOT NULL CHECK (status IN ('active', 'paused', 'draining')),
  status_by     TEXT NOT NULL,
  status_reason TEXT NOT NULL,
  status_at     INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX event_queue_state_status_idx ON event_queue_state (status);

INSERT INTO event_queue_state
SELECT queue, '{}', 'active', '', '', NULL, min(created_at), min(created_at) FROM event_body GROUP BY queue;

-- Totals of a queue since it was created.
CREATE TABLE queue_total (
  queue           TEXT PRIMARY KEY,
  published       INTEGER NOT NULL,
  deduplicated    INTEGER NOT NULL,
  claimed         INTEGER NOT NULL,
  completed       INTEGER NOT NULL,
  failed          INTEGER NOT NULL,
  failed_for_good INTEGER NOT NULL,
  retried         INTEGER NOT NULL,
  abandoned       INTEGER NOT NULL,
  superseded      INTEGER NOT NULL,
  cancelled       INTEGER NOT NULL,
  run_ms          INTEGER NOT NULL,
  runs            INTEGER NOT NULL,
  checkpoint_id   TEXT NOT NULL                      -- event_id of the last event completed
) STRICT, WITHOUT ROWID;

INSERT INTO queue_total
SELECT b.queue, count(*), 0, sum(coalesce(q.attempts, a.attempts, 0)), sum(coalesce(a.status LIKE 'COMPLETED%', 0)),
       sum(coalesce(q.retry_count, a.retry_count, 0)), sum(coalesce(a.status = 'FAILED', 0)), 0, 0, 0,
       sum(coalesce(a.status = 'CANCELLED', 0)), 0, 0, ''
  FROM event_body AS b
  LEFT JOIN event_queue AS q ON q.id = b.id
  LEFT JOIN event_archive AS a ON a.id = b.id
 GROUP BY b.queue;

CREATE TABLE queue_checkpoints (
  id            TEXT PRIMARY KEY,                    -- UUID
  queue_id      TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  event_count   INTEGER NOT NULL,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX queue_checkpoints_queue_id_idx ON queue_checkpoints (queue_id, created_at, id);
CREATE INDEX queue_checkpoints_created_at_idx ON queue_checkpoints (created_at);

-- The state in which the last start found each queue.
CREATE TABLE queue_recovery (
  queue            TEXT PRIMARY KEY,
  id               TEXT NOT NULL,
  checkpoint_id    TEXT NOT NULL,
  events_recovered INTEGER NOT NULL,
  started_at       INTEGER NOT NULL,
  completed_at     INTEGER NOT NULL,
  status           TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- FAILED events by cause; every change updates the counters.
CREATE TABLE failure_cause (
  queue TEXT NOT NULL,
  cause TEXT NOT NULL,
  n     INTEGER NOT NULL,
  PRIMARY KEY (queue, cause)
) STRICT, WITHOUT ROWID;

INSERT INTO failure_cause
SELECT queue, cause, count(*) FROM event_archive WHERE status = 'FAILED' GROUP BY queue, cause;

-- Events that failed for good, by the hour.
CREATE TABLE failed_hour (
  hour INTEGER PRIMARY KEY,                          -- hours since 1970
  n    INTEGER NOT NULL
) STRICT;

CREATE TABLE worker (
  id         TEXT PRIMARY KEY,
  first_seen INTEGER NOT NULL,
  last_seen  INTEGER NOT NULL,
  completed  INTEGER NOT NULL,
  failed     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Files of removed events, with their committed lengths.
CREATE TABLE archive_file (
  name  TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For people and tools: every event as one row.
CREATE VIEW event AS
SELECT b.id, b.event_id, b.queue, b.title, b.tags, s.status, s.attempts, s.retry_count, b.max_retries,
       s.worker_id, b.priority, b.correlation_id, b.ordering_key, b.supersede_key, b.pattern, b.created_at,
       s.updated_at, b.description, b.payload
  FROM event_body AS b
  JOIN (SELECT id, status, attempts, retry_count, worker_id, updated_at FROM event_queue
        UNION ALL
        SELECT id, status, attempts, retry_count, worker_id, updated_at FROM event_archive) AS s
    ON s.id = b.id;
