-- 0001_init.sql: the first schema.
--
-- Tables and columns are those of SQLite's schema 3, so that a store can be moved between the two table by table.
-- Comments name the differences. An event is written once (event_body). Its state is in a small row: in event_queue
-- while the event is live, in event_archive after it has ended. Times are milliseconds since 1970, UTC. Statuses and
-- actions are spelled as in the API. Texts are compared byte by byte, as everywhere in eventq.
--
-- Counters have a slot in their key: each connection writes slot pg_backend_pid() % 16 and readers sum the slots, so
-- that commits rarely wait for each other.

CREATE SCHEMA eventq;

CREATE TABLE eventq.schema_version (
  version    bigint PRIMARY KEY,
  applied_at bigint NOT NULL
);

-- Which shard of how many this database is: ids % "of" = place. One row; none until the position is stored.
CREATE TABLE eventq.shard (
  one    boolean PRIMARY KEY DEFAULT true CHECK (one),
  place  bigint NOT NULL,
  "of"   bigint NOT NULL,
  set_id text NOT NULL,      -- the same in all databases that belong together, and in no other
  whole  boolean NOT NULL,   -- in place 0: all other databases have stored theirs
  CHECK (0 <= place AND place < "of")
);

-- One row. The version increases with every change of event_queue_state, so that other servers notice the change.
CREATE TABLE eventq.queue_news (
  one     boolean PRIMARY KEY DEFAULT true CHECK (one),
  version bigint NOT NULL
);
INSERT INTO eventq.queue_news (version) VALUES (0);

-- Fails unless a statement changed as many rows as it should. A missing row was changed without its lock.
CREATE FUNCTION eventq.demand_rows(changed bigint, wanted bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> wanted THEN
    RAISE EXCEPTION 'only % of % rows were as this transaction knew them; nothing was changed', changed, wanted
      USING ERRCODE = 'EQ500';
  END IF;
END $$;

-- The values that a row must still have for a statement to change it. Statements get rows as arrays of this type and of
-- the tables' row types. Before a table gets a new column, existing statements need a type of their own, because older
-- servers still send rows without that column.
CREATE TYPE eventq.guard AS (
  id        bigint,
  status    text COLLATE "C",
  attempts  bigint,
  worker_id text COLLATE "C"
);

-- An event's id is nextval * "of" + place of eventq.shard.
CREATE SEQUENCE eventq.event_number AS bigint;
CREATE SEQUENCE eventq.log_number AS bigint;

CREATE TABLE eventq.event_body (
  id             bigint PRIMARY KEY,
  event_id       text COLLATE "C" NOT NULL,
  queue          text COLLATE "C" NOT NULL,
  title          text COLLATE "C" NOT NULL,
  tags           text COLLATE "C" NOT NULL,            -- comma separated
  correlation_id text COLLATE "C" NOT NULL,            -- empty: none; also in the texts below
  ordering_key   text COLLATE "C" NOT NULL,
  supersede_key  text COLLATE "C" NOT NULL,
  priority       bigint NOT NULL,
  max_retries    bigint NOT NULL,
  retry          text COLLATE "C",                     -- a policy of its own: kind base cap jitter
  created_at     bigint NOT NULL,
  sequence       bigint,                               -- its place in its batch
  timestamp      bigint,                               -- null: created_at
  causation_id   text COLLATE "C" NOT NULL,
  trace_id       text COLLATE "C" NOT NULL,
  pattern        text COLLATE "C" NOT NULL,
  version        text COLLATE "C" NOT NULL,
  source_type    text COLLATE "C" NOT NULL,
  source_id      text COLLATE "C" NOT NULL,
  source_name    text COLLATE "C" NOT NULL,
  attributes     text COLLATE "C" NOT NULL,            -- JSON object
  description    text COLLATE "C",
  payload        text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE UNIQUE INDEX event_body_event_id ON eventq.event_body (event_id);
CREATE INDEX event_body_correlation ON eventq.event_body (correlation_id, id) WHERE correlation_id <> '';

-- The hot table: an event writes two or three versions of its row. The table is vacuumed often and without pauses. Its
-- fillfactor leaves space in each page for new versions.
CREATE TABLE eventq.event_queue (
  id          bigint PRIMARY KEY,
  queue       text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,               -- PENDING or PROCESSING; a CHECK is parsed in every statement
  attempts    bigint NOT NULL,
  retry_count bigint NOT NULL,
  unreported  bigint NOT NULL,                         -- claims since the last report
  worker_id   text COLLATE "C" NOT NULL,               -- the worker that holds it; empty: none
  due_at      bigint NOT NULL,                         -- pending: when it may run; processing: when the lease ends
  ready       bigint NOT NULL,                         -- 1: may be claimed; 2: behind another in event_line
  turn        bigint NOT NULL,                         -- its place in the ready order
  picked_at   bigint NOT NULL,                         -- when the current attempt was claimed
  updated_at  bigint NOT NULL,
  priority    bigint NOT NULL                          -- that of event_body
) WITH (fillfactor = 60, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.2, autovacuum_vacuum_cost_delay = 0);

-- For claims without tags. Claims with tags read event_ready.
CREATE INDEX event_queue_ready ON eventq.event_queue (queue, (-priority), turn) WHERE ready = 1;
-- Events that wait for a time: retries, delays and leases. Ready events are not in this index.
CREATE INDEX event_queue_due ON eventq.event_queue (due_at, id) WHERE ready = 0;
-- A queue's live events, oldest first.
CREATE INDEX event_queue_live ON eventq.event_queue (queue, id);
-- The events that a worker holds.
CREATE INDEX event_queue_holder ON eventq.event_queue (worker_id, queue) WHERE status = 'PROCESSING';

CREATE TABLE eventq.event_archive (
  id            bigint PRIMARY KEY,
  queue         text COLLATE "C" NOT NULL,
  status        text COLLATE "C" NOT NULL,             -- neither PENDING nor PROCESSING
  attempts      bigint NOT NULL,
  retry_count   bigint NOT NULL,
  unreported    bigint NOT NULL,
  worker_id     text COLLATE "C" NOT NULL,             -- the worker that ended it; empty: none
  picked_at     bigint NOT NULL,
  updated_at    bigint NOT NULL,                       -- when it ended
  holds_line    bigint NOT NULL,                       -- 1: failed, and the events behind it in event_line wait
  superseded_by bigint,
  cause         text COLLATE "C"                       -- of a failure, for grouping
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Finds the rare statuses without reading the completed events.
CREATE INDEX event_archive_status ON eventq.event_archive (status, id) WHERE status <> 'COMPLETED';
-- Events by the time of their end: for retention and replay.
CREATE INDEX event_archive_end ON eventq.event_archive (queue, status, updated_at, id);
CREATE INDEX event_archive_cause ON eventq.event_archive (queue, cause, updated_at, id) WHERE status = 'FAILED';
CREATE INDEX event_archive_holds ON eventq.event_archive (queue) WHERE holds_line = 1;

-- One row per tag of a ready event. Unlike in SQLite there is no row for claims without tags. All columns of the index
-- ascend, so that (rank, turn) >= (…) is one range.
CREATE TABLE eventq.event_ready (
  queue    text COLLATE "C" NOT NULL,
  tag      text COLLATE "C" NOT NULL,
  rank     bigint NOT NULL,                            -- -priority
  turn     bigint NOT NULL,
  id       bigint NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0.2, autovacuum_vacuum_cost_delay = 0);
-- Includes the id, so that a claim reads the index only.
CREATE UNIQUE INDEX event_ready_turn ON eventq.event_ready (queue, tag, rank, turn) INCLUDE (id);

-- Events with an ordering_key that are live, or that have failed and hold up their line.
CREATE TABLE eventq.event_line (
  queue        text COLLATE "C" NOT NULL,
  ordering_key text COLLATE "C" NOT NULL,
  head         bigint NOT NULL,                        -- 1: may run, or holds up the others; one per key
  id           bigint NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX event_line_order ON eventq.event_line (queue, ordering_key, head DESC, id);

-- Pending events with a supersede_key.
CREATE TABLE eventq.event_supersede (
  queue         text COLLATE "C" NOT NULL,
  supersede_key text COLLATE "C" NOT NULL,
  id            bigint NOT NULL,
  PRIMARY KEY (queue, supersede_key, id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Append-only: every action of a worker or a person.
CREATE TABLE eventq.event_log (
  id                bigint NOT NULL,
  event_id          bigint NOT NULL,                   -- event_body.id
  attempt           bigint NOT NULL,
  worker_id         text COLLATE "C" NOT NULL,         -- empty: no worker did it
  action            text COLLATE "C" NOT NULL,
  status_code       bigint,
  error_message     text COLLATE "C",
  execution_time_ms bigint,
  errors            text COLLATE "C",                  -- JSON array of strings
  reason            text COLLATE "C",
  retry_count       bigint NOT NULL,                   -- after this action
  next_retry_at     bigint,
  created_at        bigint NOT NULL,
  PRIMARY KEY (event_id, id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

-- How many events are in each status. Written with every change.
CREATE TABLE eventq.event_count (
  queue  text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  slot   bigint NOT NULL,
  n      bigint NOT NULL,
  PRIMARY KEY (queue, status, slot)
) WITH (fillfactor = 30, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 0);

CREATE TABLE eventq.idempotency_key (
  key         text COLLATE "C" PRIMARY KEY,
  fingerprint text COLLATE "C" NOT NULL,
  events      text COLLATE "C" NOT NULL,               -- ids, comma separated
  created_at  bigint NOT NULL
);
CREATE INDEX idempotency_key_age ON eventq.idempotency_key (created_at);

-- Counters of the events with one correlation_id. Written with every change.
CREATE TABLE eventq.correlation (
  id          text COLLATE "C" PRIMARY KEY,
  total       bigint NOT NULL,
  pending     bigint NOT NULL,
  completed   bigint NOT NULL,
  failed      bigint NOT NULL,
  kept        bigint NOT NULL,                         -- still in the store
  on_complete text COLLATE "C" NOT NULL,               -- JSON of an event; empty: none
  queue       text COLLATE "C" NOT NULL                -- the queue of that event
) WITH (fillfactor = 80);

-- A queue's own settings and status. Its events are those of event_queue, its counters those below.
CREATE TABLE eventq.event_queue_state (
  id            text COLLATE "C" PRIMARY KEY,
  config        text COLLATE "C" NOT NULL,             -- JSON: what differs from the defaults
  status        text COLLATE "C" NOT NULL CHECK (status IN ('active', 'paused', 'draining')),
  status_by     text COLLATE "C" NOT NULL,
  status_reason text COLLATE "C" NOT NULL,
  status_at     bigint,
  created_at    bigint NOT NULL,
  updated_at    bigint NOT NULL
);
CREATE INDEX event_queue_state_status_idx ON eventq.event_queue_state (status);

-- Counts of what happened to a queue's events since it was created.
CREATE TABLE eventq.queue_total (
  queue           text COLLATE "C" NOT NULL,
  published       bigint NOT NULL,
  deduplicated    bigint NOT NULL,
  claimed         bigint NOT NULL,
  completed       bigint NOT NULL,
  failed          bigint NOT NULL,
  failed_for_good bigint NOT NULL,
  retried         bigint NOT NULL,
  abandoned       bigint NOT NULL,
  superseded      bigint NOT NULL,
  cancelled       bigint NOT NULL,
  run_ms          bigint NOT NULL,
  runs            bigint NOT NULL,
  checkpoint_id   text COLLATE "C" NOT NULL,           -- event_id of the last event completed
  removed         bigint NOT NULL DEFAULT 0,           -- by retention
  slot            bigint NOT NULL,
  checkpoint_at   bigint NOT NULL,                     -- of checkpoint_id; the slot with the latest one counts
  PRIMARY KEY (queue, slot)
) WITH (fillfactor = 30, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 0);

CREATE TABLE eventq.queue_checkpoints (
  id            text COLLATE "C" PRIMARY KEY,          -- UUID
  queue_id      text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL,
  event_count   bigint NOT NULL,
  created_at    bigint NOT NULL
);
CREATE INDEX queue_checkpoints_queue_id_idx ON eventq.queue_checkpoints (queue_id, created_at, event_count, id);
CREATE INDEX queue_checkpoints_created_at_idx ON eventq.queue_checkpoints (created_at);

-- The result of each queue's recovery when the store was last opened.
CREATE TABLE eventq.queue_recovery (
  queue            text COLLATE "C" PRIMARY KEY,
  id               text COLLATE "C" NOT NULL,
  checkpoint_id    text COLLATE "C" NOT NULL,
  events_recovered bigint NOT NULL,
  started_at       bigint NOT NULL,
  completed_at     bigint NOT NULL,
  status           text COLLATE "C" NOT NULL
);

-- FAILED events by cause. Written with every change.
CREATE TABLE eventq.failure_cause (
  queue text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  slot  bigint NOT NULL,
  n     bigint NOT NULL,
  PRIMARY KEY (queue, cause, slot)
) WITH (fillfactor = 50);

-- Events that failed for good, by the hour.
CREATE TABLE eventq.failed_hour (
  hour bigint NOT NULL,                                -- hours since 1970
  slot bigint NOT NULL,
  n    bigint NOT NULL,
  PRIMARY KEY (hour, slot)
) WITH (fillfactor = 50);

CREATE TABLE eventq.worker (
  id         text COLLATE "C" PRIMARY KEY,
  first_seen bigint NOT NULL,
  last_seen  bigint NOT NULL,
  completed  bigint NOT NULL,
  failed     bigint NOT NULL
) WITH (fillfactor = 50);

-- Files of removed events, and how many of their bytes are valid.
CREATE TABLE eventq.archive_file (
  name  text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL
);

-- For people and tools: every event as one row.
CREATE VIEW eventq.event AS
SELECT b.id, b.event_id, b.queue, b.title, b.tags, s.status, s.attempts, s.retry_count, b.max_retries,
       s.worker_id, b.priority, b.correlation_id, b.ordering_key, b.supersede_key, b.pattern,
       to_timestamp(b.created_at / 1000.0) AS created_at, to_timestamp(s.updated_at / 1000.0) AS updated_at,
       b.description, b.payload
  FROM eventq.event_body AS b
  JOIN (SELECT id, status, attempts, retry_count, worker_id, updated_at FROM eventq.event_queue
        UNION ALL
        SELECT id, status, attempts, retry_count, worker_id, updated_at FROM eventq.event_archive) AS s
    ON s.id = b.id;
