-- 0004_views_and_audit.sql: event_queue_state and queue_checkpoints become views for people and tools; their rows move to
-- tables with other names. A checkpoint that a caller made is kept until it is deleted. The totals of a queue store when
-- they last changed. The default settings of queues are stored, so that the views can show them. New tables store the
-- person that changed an event, and the changes of a queue.

ALTER TABLE event_queue_state RENAME TO stored_queue;
CREATE UNIQUE INDEX event_queue_state_id_idx ON stored_queue (id);

-- The checkpoints that callers made before this step cannot be told from the others.
CREATE TABLE stored_checkpoint (
  id            TEXT PRIMARY KEY,                    -- UUID
  queue_id      TEXT NOT NULL REFERENCES stored_queue (id) ON DELETE CASCADE,
  checkpoint_id TEXT NOT NULL,                       -- event_id; empty: none
  event_count   INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  requested     INTEGER NOT NULL                     -- 1: a caller made it, so it stays; 0: the server made it by time
) STRICT, WITHOUT ROWID;

INSERT INTO stored_checkpoint
SELECT id, queue_id, checkpoint_id, event_count, created_at, 0
  FROM queue_checkpoints
 WHERE queue_id IN (SELECT id FROM stored_queue);

DROP TABLE queue_checkpoints;
CREATE INDEX queue_checkpoints_queue_id_idx ON stored_checkpoint (queue_id, created_at, event_count, id);
CREATE INDEX queue_checkpoints_created_at_idx ON stored_checkpoint (created_at);

-- When an event of the queue last changed.
ALTER TABLE queue_total ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
UPDATE queue_total
   SET changed_at = max(coalesce((SELECT max(updated_at) FROM event_queue WHERE queue = queue_total.queue), 0),
                        coalesce((SELECT max(updated_at) FROM event_archive WHERE queue = queue_total.queue), 0));

-- The settings of a queue that has none of its own. A server writes them when it starts.
CREATE TABLE queue_default (
  id     TEXT PRIMARY KEY,                           -- a queue; empty: every queue without a row here
  config TEXT NOT NULL                               -- JSON: every setting
) STRICT, WITHOUT ROWID;

INSERT INTO queue_default (id, config) VALUES
  ('', '{"maxQueueDepth":10000,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,"highWatermark":8000,"leaseMs":60000,"maxAttempts":20,"maxRetries":3,"retry":{"kind":"fixed","baseMs":300000,"capMs":3600000,"jitter":0},"durability":"strict","onFailure":"skip","retention":{"completedSeconds":86400,"failedSeconds":604800}}'),
  ('main', '{"maxQueueDepth":null,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,"highWatermark":null,"leaseMs":60000,"maxAttempts":20,"maxRetries":3,"retry":{"kind":"fixed","baseMs":300000,"capMs":3600000,"jitter":0},"durability":"strict","onFailure":"skip","retention":{"completedSeconds":86400,"failedSeconds":604800}}');

-- The person that caused a log entry, where the caller named one.
CREATE TABLE event_log_author (
  event_id INTEGER NOT NULL,
  id       INTEGER NOT NULL,                         -- event_log.id
  author   TEXT NOT NULL,
  PRIMARY KEY (event_id, id)
) STRICT, WITHOUT ROWID;

-- Changes of queues: settings, status, replays, checkpoints.
CREATE TABLE queue_log (
  queue      TEXT NOT NULL,
  id         TEXT NOT NULL,                          -- UUIDv7, so ids ascend with time
  action     TEXT NOT NULL,
  author     TEXT NOT NULL,                          -- the person, as the caller stated; empty: not stated
  reason     TEXT NOT NULL,
  detail     TEXT NOT NULL,                          -- JSON object
  created_at INTEGER NOT NULL,
  PRIMARY KEY (queue, id)
) STRICT, WITHOUT ROWID;

-- A live event as GET /queues/{name} shows it.
CREATE VIEW live_event_json AS
SELECT s.queue, s.id, length(CAST(b.payload AS BLOB)) AS bytes,
       json_set(
         json_patch('{}', json_object(
           'id', b.id,
           'eventId', b.event_id,
           'pattern', nullif(b.pattern, ''),
           'version', nullif(b.version, ''),
           'source', CASE WHEN b.source_type || b.source_id || b.source_name <> ''
                          THEN json_object('type', nullif(b.source_type, ''), 'id', nullif(b.source_id, ''),
                                           'name', nullif(b.source_name, '')) END,
           'timestamp', strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(b.timestamp, b.created_at) / 1000.0, 'unixepoch'),
           'metadata', json_object(
             'correlationId', nullif(b.correlation_id, ''),
             'causationId', nullif(b.causation_id, ''),
             'traceId', nullif(b.trace_id, ''),
             'retryCount', s.retry_count,
             'lastError', (SELECT coalesce(nullif(l.error_message, ''), l.reason)
                             FROM event_log AS l
                            WHERE l.event_id = s.id AND l.action = 'FAILED'
                              AND (l.error_message <> '' OR l.reason <> '')
                            ORDER BY l.id DESC LIMIT 1),
             'lastErrorTime', (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', l.created_at / 1000.0, 'unixepoch')
                                 FROM event_log AS l
                                WHERE l.event_id = s.id AND l.action = 'FAILED'
                                  AND (l.error_message <> '' OR l.reason <> '')
                                ORDER BY l.id DESC LIMIT 1),
             'processingStartTime', CASE s.status WHEN 'PROCESSING'
                 THEN strftime('%Y-%m-%dT%H:%M:%fZ', s.picked_at / 1000.0, 'unixepoch') END))),
         '$.payload', json(b.payload)) AS event
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id;

-- For people and tools: every queue as one row, with its first 1000 live events, but at most 32 MiB of payloads.
CREATE VIEW event_queue_state AS
SELECT q.id,
       (SELECT json_group_array(json(f.event))
          FROM (SELECT c.event
                  FROM (SELECT e.id, e.event, sum(e.bytes) OVER (ORDER BY e.id) - e.bytes AS bytes_before
                          FROM (SELECT id, event, bytes FROM live_event_json
                                 WHERE queue = q.id ORDER BY id LIMIT 1000) AS e) AS c
                 WHERE c.bytes_before < 33554432
                 ORDER BY c.id) AS f) AS events,
       nullif(t.checkpoint_id, '') AS checkpoint_id,
       json_object('totalProcessed', coalesce(t.completed, 0), 'totalErrors', coalesce(t.failed, 0),
                   'avgProcessingTimeMs', CASE WHEN t.runs > 0 THEN CAST(round(1.0 * t.run_ms / t.runs) AS INTEGER) ELSE 0 END)
         AS queue_metrics,
       json_patch(
         json_patch(coalesce((SELECT d.config FROM queue_default AS d WHERE d.id = q.id),
                             (SELECT d.config FROM queue_default AS d WHERE d.id = '')),
                    CASE WHEN json_extract(q.config, '$.maxQueueDepth') IS NOT NULL
                         THEN json_object('highWatermark', max(1, json_extract(q.config, '$.maxQueueDepth') * 4 / 5))
                         ELSE '{}' END),
         q.config) AS config,
       q.status,
       strftime('%Y-%m-%dT%H:%M:%fZ', q.created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', max(q.updated_at, coalesce(t.changed_at, 0)) / 1000.0, 'unixepoch') AS updated_at
  FROM stored_queue AS q
  LEFT JOIN queue_total AS t ON t.queue = q.id;

-- For people and tools: the checkpoints of all queues.
CREATE VIEW queue_checkpoints AS
SELECT id, queue_id, nullif(checkpoint_id, '') AS checkpoint_id, event_count,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at
  FROM stored_checkpoint;
