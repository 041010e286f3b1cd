-- 0003_views_and_audit.sql: event_queue_state and queue_checkpoints become views for people and tools; their rows move to
-- tables with other names. A checkpoint that a caller made is kept until it is deleted. The totals of a queue store when
-- they last changed. The default settings of queues are stored, so that the views can show them. New tables store the
-- person that changed an event, and the changes of a queue.

DELETE FROM eventq.queue_checkpoints WHERE queue_id NOT IN (SELECT id FROM eventq.event_queue_state);

ALTER TABLE eventq.event_queue_state RENAME TO stored_queue;
ALTER INDEX eventq.event_queue_state_pkey RENAME TO event_queue_state_id_idx;

ALTER TABLE eventq.queue_checkpoints RENAME TO stored_checkpoint;
ALTER INDEX eventq.queue_checkpoints_pkey RENAME TO stored_checkpoint_pkey;
-- The key is checked at COMMIT, because a transaction may write a checkpoint before its new queue.
ALTER TABLE eventq.stored_checkpoint
  ADD COLUMN requested bigint NOT NULL DEFAULT 0,      -- 1: a caller made it, so it stays; 0: the server made it by time
  ADD CONSTRAINT stored_checkpoint_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES eventq.stored_queue (id)
      ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;

-- When an event of the queue last changed.
ALTER TABLE eventq.queue_total ADD COLUMN changed_at bigint NOT NULL DEFAULT 0;
UPDATE eventq.queue_total AS t
   SET changed_at = greatest((SELECT max(updated_at) FROM eventq.event_queue WHERE queue = t.queue),
                             (SELECT max(updated_at) FROM eventq.event_archive WHERE queue = t.queue), 0)
 WHERE slot = (SELECT min(slot) FROM eventq.queue_total WHERE queue = t.queue);

-- The settings of a queue that has none of its own. A server writes them when it starts.
CREATE TABLE eventq.queue_default (
  id     text COLLATE "C" PRIMARY KEY,                 -- a queue; empty: every queue without a row here
  config text COLLATE "C" NOT NULL                     -- JSON: every setting
);
INSERT INTO eventq.queue_default (id, config) VALUES
  ('', '{"maxQueueDepth":10000,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,"highWatermark":8000,"leaseMs":60000,"maxAttempts":20,"maxRetries":3,"retry":{"kind":"fixed","baseMs":300000,"capMs":3600000,"jitter":0},"durability":"strict","onFailure":"skip","retention":{"completedSeconds":86400,"failedSeconds":604800}}'),
  ('main', '{"maxQueueDepth":null,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,"highWatermark":null,"leaseMs":60000,"maxAttempts":20,"maxRetries":3,"retry":{"kind":"fixed","baseMs":300000,"capMs":3600000,"jitter":0},"durability":"strict","onFailure":"skip","retention":{"completedSeconds":86400,"failedSeconds":604800}}');

-- The person that caused a log entry, where the caller named one.
CREATE TABLE eventq.event_log_author (
  event_id bigint NOT NULL,
  id       bigint NOT NULL,                            -- event_log.id
  author   text COLLATE "C" NOT NULL,
  PRIMARY KEY (event_id, id)
);

-- Changes of queues: settings, status, replays, checkpoints.
CREATE TABLE eventq.queue_log (
  queue      text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,                -- UUIDv7, so ids ascend with time
  action     text COLLATE "C" NOT NULL,
  author     text COLLATE "C" NOT NULL,                -- the person, as the caller stated; empty: not stated
  reason     text COLLATE "C" NOT NULL,
  detail     text COLLATE "C" NOT NULL,                -- JSON object
  created_at bigint NOT NULL,
  PRIMARY KEY (queue, id)
);

-- The functions of the views below may be called by every role that may use the schema.
CREATE FUNCTION eventq.utc(ms bigint) RETURNS timestamp
LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT timestamp 'epoch' + ms * interval '1 millisecond' $$;

CREATE FUNCTION eventq.iso_time(ms bigint) RETURNS text
LANGUAGE sql STABLE STRICT AS $$ SELECT to_char(eventq.utc(ms), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- A payload as JSONB. A payload that JSONB cannot hold (\u0000, a number of any size) becomes a JSON string with its text,
-- because an error would hide the whole queue.
CREATE FUNCTION eventq.payload_jsonb(payload text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN payload::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN to_jsonb(payload);
END $$;

-- For people and tools: every queue as one row, with its first 1000 live events, but at most 32 MiB of payloads.
CREATE VIEW eventq.event_queue_state AS
SELECT q.id::varchar(255) AS id,
       coalesce((
         SELECT jsonb_agg(
                  jsonb_strip_nulls(jsonb_build_object(
                    'id', b.id,
                    'eventId', b.event_id,
                    'pattern', nullif(b.pattern, ''),
                    'version', nullif(b.version, ''),
                    'source', CASE WHEN b.source_type || b.source_id || b.source_name <> ''
                                   THEN jsonb_build_object('type', nullif(b.source_type, ''), 'id', nullif(b.source_id, ''),
                                                           'name', nullif(b.source_name, '')) END,
                    'timestamp', eventq.iso_time(coalesce(b.timestamp, b.created_at)),
                    'metadata', jsonb_build_object(
                      'correlationId', nullif(b.correlation_id, ''),
                      'causationId', nullif(b.causation_id, ''),
                      'traceId', nullif(b.trace_id, ''),
                      'retryCount', s.retry_count,
                      'lastError', f.message,
                      'lastErrorTime', eventq.iso_time(f.created_at),
                      'processingStartTime', CASE s.status WHEN 'PROCESSING' THEN eventq.iso_time(s.picked_at) END)))
                  || jsonb_build_object('payload', eventq.payload_jsonb(b.payload))
                ORDER BY b.id)
           FROM (SELECT p.id, sum(octet_length(p.payload)) OVER (ORDER BY p.id) - octet_length(p.payload) AS bytes_before
                   FROM (SELECT id FROM eventq.event_queue WHERE queue = q.id ORDER BY id LIMIT 1000) AS n
                   JOIN eventq.event_body AS p ON p.id = n.id) AS c
           JOIN eventq.event_queue AS s ON s.id = c.id
           JOIN eventq.event_body AS b ON b.id = c.id
           LEFT JOIN LATERAL (SELECT coalesce(nullif(l.error_message, ''), l.reason) AS message, l.created_at
                                FROM eventq.event_log AS l
                               WHERE l.event_id = c.id AND l.action = 'FAILED'
                                 AND (l.error_message <> '' OR l.reason <> '')
                               ORDER BY l.id DESC LIMIT 1) AS f ON true
          WHERE c.bytes_before < 33554432), '[]'::jsonb) AS events,
       nullif(t.checkpoint_id, '')::varchar(255) AS checkpoint_id,
       jsonb_build_object('totalProcessed', t.completed, 'totalErrors', t.failed,
                          'avgProcessingTimeMs', coalesce(round(t.run_ms::numeric / nullif(t.runs, 0)), 0)) AS queue_metrics,
       d.config
         || CASE WHEN o.own ->> 'maxQueueDepth' IS NOT NULL
                 THEN jsonb_build_object('highWatermark', greatest(1, (o.own ->> 'maxQueueDepth')::bigint * 4 / 5))
                 ELSE '{}'::jsonb END
         || o.own
         || jsonb_build_object('retention', (d.config -> 'retention') || coalesce(o.own -> 'retention', '{}'::jsonb)) AS config,
       q.status::varchar(50) AS status,
       eventq.utc(q.created_at) AS created_at,
       eventq.utc(greatest(q.updated_at, t.changed_at)) AS updated_at
  FROM eventq.stored_queue AS q
 CROSS JOIN LATERAL (SELECT q.config::jsonb AS own) AS o
  LEFT JOIN LATERAL (SELECT x.config::jsonb AS config FROM eventq.queue_default AS x
                      WHERE x.id IN (q.id, '') ORDER BY x.id DESC LIMIT 1) AS d ON true
 CROSS JOIN LATERAL (SELECT coalesce(sum(completed), 0)::bigint AS completed, coalesce(sum(failed), 0)::bigint AS failed,
                            coalesce(sum(run_ms), 0)::bigint AS run_ms, coalesce(sum(runs), 0)::bigint AS runs,
                            max(changed_at) AS changed_at,
                            (array_agg(x.checkpoint_id ORDER BY x.checkpoint_at DESC, x.slot))[1] AS checkpoint_id
                       FROM eventq.queue_total AS x WHERE x.queue = q.id) AS t;

-- For people and tools: the checkpoints of all queues.
CREATE VIEW eventq.queue_checkpoints AS
SELECT id::uuid AS id, queue_id::varchar(255) AS queue_id, nullif(checkpoint_id, '')::varchar(255) AS checkpoint_id,
       least(event_count, 2147483647)::integer AS event_count, eventq.utc(created_at) AS created_at
  FROM eventq.stored_checkpoint;

-- The functions of 0002_functions.sql that name the tables. OR REPLACE keeps the rights that were granted on them.

-- Adds to the totals of a queue.
CREATE OR REPLACE FUNCTION eventq.add_totals(change eventq.queue_total) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO queue_total AS t (queue, published, deduplicated, claimed, completed, failed, failed_for_good, retried,
                                abandoned, superseded, cancelled, run_ms, runs, checkpoint_id, slot, checkpoint_at,
                                changed_at)
  VALUES (change.queue, coalesce(change.published, 0), coalesce(change.deduplicated, 0), 0,
          coalesce(change.completed, 0), 0, 0, 0, 0, coalesce(change.superseded, 0), 0, coalesce(change.run_ms, 0),
          coalesce(change.runs, 0), coalesce(change.checkpoint_id, ''), eventq.own_slot(),
          coalesce(change.checkpoint_at, 0), clock_ms())
      ON CONFLICT (queue, slot) DO UPDATE
     SET published = t.published + excluded.published,
         deduplicated = t.deduplicated + excluded.deduplicated,
         completed = t.completed + excluded.completed,
         superseded = t.superseded + excluded.superseded,
         run_ms = t.run_ms + excluded.run_ms,
         runs = t.runs + excluded.runs,
         checkpoint_id = CASE excluded.checkpoint_id WHEN '' THEN t.checkpoint_id ELSE excluded.checkpoint_id END,
         checkpoint_at = CASE excluded.checkpoint_id WHEN '' THEN t.checkpoint_at ELSE excluded.checkpoint_at END,
         changed_at = greatest(t.changed_at, excluded.changed_at);
END $$;

-- Stores a new event, at its place in its line, and supersedes older ones. All of `b` is set except its id.
CREATE OR REPLACE FUNCTION eventq.admit(b eventq.event_body, due bigint, now_ms bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  is_head boolean := true;
  live eventq.event_queue;
  older eventq.event_queue;
  older_body eventq.event_body;
  entry eventq.event_log;
  change eventq.queue_total;
BEGIN
  INSERT INTO stored_queue (id, config, status, status_by, status_reason, status_at, created_at, updated_at)
  VALUES (b.queue, '{}', 'active', '', '', NULL, now_ms, now_ms) ON CONFLICT (id) DO NOTHING;
  IF FOUND THEN UPDATE queue_news SET version = version + 1; END IF;

  b.id := next_id();
  INSERT INTO event_body VALUES (b.*);
  IF b.ordering_key <> '' THEN
    PERFORM 1 FROM event_line AS l WHERE l.queue = b.queue AND l.ordering_key = b.ordering_key AND l.head = 1;
    is_head := NOT FOUND;
    INSERT INTO event_line (queue, ordering_key, head, id)
    VALUES (b.queue, b.ordering_key, CASE WHEN is_head THEN 1 ELSE 0 END, b.id);
  END IF;
  INSERT INTO event_queue (id, queue, status, attempts, retry_count, unreported, worker_id, due_at, ready, turn,
                           picked_at, updated_at, priority)
  VALUES (b.id, b.queue, 'PENDING', 0, 0, 0, '', due,
          CASE WHEN NOT is_head THEN 2 WHEN due <= now_ms THEN 1 ELSE 0 END, b.id, 0, now_ms, b.priority)
  RETURNING * INTO live;
  IF live.ready = 1 THEN PERFORM set_ready(live, true); END IF;
  PERFORM count_events(b.queue, 'PENDING', 1, own_slot());
  change.queue := b.queue;
  change.published := 1;
  PERFORM count_correlated(b, NULL, now_ms);

  IF b.supersede_key <> '' THEN
    INSERT INTO event_supersede (queue, supersede_key, id) VALUES (b.queue, b.supersede_key, b.id);
    change.superseded := 0;
    entry.action := 'SUPERSEDED';
    entry.reason := 'By event ' || b.id || '.';
    FOR older IN
      SELECT q.* FROM event_queue AS q
       WHERE q.id IN (SELECT s.id FROM event_supersede AS s
                       WHERE s.queue = b.queue AND s.supersede_key = b.supersede_key AND s.id <> b.id)
         AND q.status = 'PENDING'
       ORDER BY q.id FOR UPDATE
    LOOP
      SELECT * INTO older_body FROM event_body WHERE id = older.id;
      -- Read again, because the end of an earlier one may have made it the head of their line.
      SELECT * INTO older FROM event_queue WHERE id = older.id;
      PERFORM end_event(older, older_body, 'SUPERSEDED', entry, b.id, now_ms);
      change.superseded := change.superseded + 1;
    END LOOP;
  END IF;
  PERFORM add_totals(change);
  RETURN b.id;
END $$;

-- The queue's own setting, or that of the server that started last.
CREATE OR REPLACE FUNCTION eventq.default_retries(of_queue text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
  SELECT coalesce((SELECT (config::json ->> 'maxRetries')::bigint FROM stored_queue WHERE id = of_queue),
                  (SELECT (config::json ->> 'maxRetries')::bigint FROM queue_default
                    WHERE id IN (of_queue, '') ORDER BY id DESC LIMIT 1)));
END $$;

-- How many live events of a queue this database may hold; null: no limit. The shards divide a limit between them.
CREATE OR REPLACE FUNCTION eventq.depth_limit(of_queue text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
  SELECT l.most / s."of" + CASE WHEN s.place < l.most % s."of" THEN 1 ELSE 0 END
    FROM shard AS s,
         (SELECT coalesce((SELECT (config::json ->> 'maxQueueDepth')::bigint FROM stored_queue WHERE id = of_queue),
                          CASE WHEN of_queue <> 'main' THEN 10000 END) AS most) AS l);
END $$;

-- Refuses the event if its queue is draining or full. An event that supersedes another one always fits.
CREATE OR REPLACE FUNCTION eventq.check_room(b eventq.event_body) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  most constant bigint := depth_limit(b.queue);
  older bigint;
  depth bigint;
BEGIN
  PERFORM 1 FROM stored_queue WHERE id = b.queue AND status = 'draining';
  IF FOUND THEN
    PERFORM refuse('EQ409', 'Queue "' || b.queue || '" is draining and takes no events. Resume it to publish again.');
  END IF;
  IF most IS NULL THEN RETURN; END IF;
  SELECT count(*) INTO older FROM event_supersede
   WHERE b.supersede_key <> '' AND queue = b.queue AND supersede_key = b.supersede_key;
  SELECT coalesce(sum(n), 0) INTO depth FROM event_count
   WHERE queue = b.queue AND status IN ('PENDING', 'PROCESSING');
  IF older = 0 AND depth + 1 > most THEN
    PERFORM refuse('EQ429', 'Queue "' || b.queue || '" is full: it holds ' || depth || ' live events of at most ' ||
                   most || ' (maxQueueDepth). Nothing was changed; try again later.');
  END IF;
END $$;
