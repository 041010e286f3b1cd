-- 0002_functions.sql: publishing and completing from within an application's own transaction.
--
-- eventq.publish() and eventq.complete() are for applications; the other functions are internal. They take the same
-- locks as a server in the same order: the gate (25968), then names (25969), by hash. They follow the same rules and
-- write the same rows. Their counters have slots 16 to 79, so that no server waits there for the end of an
-- application's transaction. The two functions set the search_path for all others.
--
-- Exceptions: EQ400 a value is not allowed. EQ404 no such event. EQ409 the queue is draining, the worker does not hold
-- the event, or a store is being moved into the database. EQ429 the queue is full.

CREATE FUNCTION eventq.clock_ms() RETURNS bigint
LANGUAGE sql VOLATILE AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE FUNCTION eventq.next_id() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS
$$
BEGIN
  RETURN (
  SELECT nextval('event_number') * s."of" + s.place FROM shard AS s);
END $$;

CREATE FUNCTION eventq.refuse(code text, message text) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message; END $$;

-- Raises EQ400 unless `fine`.
CREATE FUNCTION eventq.demand(fine boolean, message text) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN IF fine IS NOT TRUE THEN PERFORM eventq.refuse('EQ400', message); END IF; END $$;

-- The first slot that no other open transaction writes.
CREATE FUNCTION eventq.own_slot() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted constant int := pg_backend_pid() % 64;
BEGIN
  FOR i IN 0..63 LOOP
    IF pg_try_advisory_xact_lock(25971, (wanted + i) % 64) THEN
      RETURN 16 + (wanted + i) % 64;
    END IF;
  END LOOP;
  PERFORM pg_advisory_xact_lock(25971, wanted);
  RETURN 16 + wanted;
END $$;

CREATE FUNCTION eventq.lock_names(names text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(25969, h)
     FROM (SELECT DISTINCT hashtext(name COLLATE "C") AS h FROM unnest(names) AS name ORDER BY h OFFSET 0) AS sorted;
END $$;

-- Every transaction that writes calls this first. Rows are read again after each wait for a lock, which needs READ
-- COMMITTED.
CREATE FUNCTION eventq.enter() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM eventq.refuse('EQ400', 'The transaction is ' || upper(current_setting('transaction_isolation')) ||
                          '; eventq.publish and eventq.complete need READ COMMITTED.');
  END IF;
  PERFORM pg_advisory_xact_lock_shared(25968, 0);
  IF to_regclass('eventq.move') IS NOT NULL THEN
    PERFORM eventq.refuse('EQ409', 'The database holds part of a store that is being moved into it. Run the same ' ||
                          '`eventq move` again, then this.');
  END IF;
END $$;

CREATE FUNCTION eventq.count_events(of_queue text, of_status text, change bigint, of_slot bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO event_count AS c (queue, status, slot, n) VALUES (of_queue, of_status, of_slot, change)
      ON CONFLICT (queue, status, slot) DO UPDATE SET n = c.n + excluded.n;
END $$;

-- Adds to the totals of a queue.
CREATE FUNCTION eventq.add_totals(change eventq.queue_total) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO queue_total AS t (queue, published, deduplicated, claimed, completed, failed, failed_for_good, retried,
                                abandoned, superseded, cancelled, run_ms, runs, checkpoint_id, slot, checkpoint_at)
  VALUES (change.queue, coalesce(change.published, 0), coalesce(change.deduplicated, 0), 0,
          coalesce(change.completed, 0), 0, 0, 0, 0, coalesce(change.superseded, 0), 0, coalesce(change.run_ms, 0),
          coalesce(change.runs, 0), coalesce(change.checkpoint_id, ''), eventq.own_slot(),
          coalesce(change.checkpoint_at, 0))
      ON CONFLICT (queue, slot) DO UPDATE
     SET published = t.published + excluded.published,
         deduplicated = t.deduplicated + excluded.deduplicated,
         completed = t.completed + excluded.completed,
         superseded = t.superseded + excluded.superseded,
         run_ms = t.run_ms + excluded.run_ms,
         runs = t.runs + excluded.runs,
         checkpoint_id = CASE excluded.checkpoint_id WHEN '' THEN t.checkpoint_id ELSE excluded.checkpoint_id END,
         checkpoint_at = CASE excluded.checkpoint_id WHEN '' THEN t.checkpoint_at ELSE excluded.checkpoint_at END;
END $$;

-- Writes the rows of a live event in event_ready, or deletes them if `stands` is false.
CREATE FUNCTION eventq.set_ready(live eventq.event_queue, stands boolean) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF stands THEN
    INSERT INTO event_ready (queue, tag, rank, turn, id)
    SELECT live.queue, tag, -live.priority, live.turn, live.id
      FROM event_body AS b, unnest(string_to_array(b.tags, ',')) AS tag
     WHERE b.id = live.id;
  ELSE
    DELETE FROM event_ready AS r
     USING event_body AS b, unnest(string_to_array(b.tags, ',')) AS t (tag)
     WHERE b.id = live.id AND r.queue = live.queue AND r.tag = t.tag AND r.rank = -live.priority
       AND r.turn = live.turn;
  END IF;
END $$;

-- If a line has no head, its first event becomes the head, with a turn after all events that are ready now.
CREATE FUNCTION eventq.realign(of_queue text, of_key text, now_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  behind bigint;
  live eventq.event_queue;
BEGIN
  PERFORM 1 FROM event_line AS l WHERE l.queue = of_queue AND l.ordering_key = of_key AND l.head = 1;
  IF FOUND THEN RETURN; END IF;
  SELECT l.id INTO behind FROM event_line AS l
   WHERE l.queue = of_queue AND l.ordering_key = of_key AND l.head = 0 ORDER BY l.id LIMIT 1;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE event_line SET head = 1 WHERE queue = of_queue AND ordering_key = of_key AND head = 0 AND id = behind;
  UPDATE event_queue SET turn = next_id(), ready = CASE WHEN due_at <= now_ms THEN 1 ELSE 0 END
   WHERE id = behind RETURNING * INTO live;
  IF live.ready = 1 THEN PERFORM set_ready(live, true); END IF;
END $$;

-- Adds an event to its correlation, or counts its end. The last end publishes the event that was promised.
CREATE FUNCTION eventq.count_correlated(b eventq.event_body, ended text, now_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  left_over bigint;
  promised text;
  goes_to text;
BEGIN
  IF b.correlation_id = '' THEN RETURN; END IF;
  PERFORM lock_names(ARRAY['correlation:' || b.correlation_id]);
  IF ended IS NULL THEN
    INSERT INTO correlation AS c (id, total, pending, completed, failed, kept, on_complete, queue)
    VALUES (b.correlation_id, 1, 1, 0, 0, 1, '', '')
        ON CONFLICT (id) DO UPDATE SET total = c.total + 1, pending = c.pending + 1, kept = c.kept + 1;
    RETURN;
  END IF;
  UPDATE correlation
     SET pending = pending - 1, completed = completed + CASE WHEN ended LIKE 'COMPLETED%' THEN 1 ELSE 0 END
   WHERE id = b.correlation_id
  RETURNING pending, on_complete, queue INTO left_over, promised, goes_to;
  IF left_over > 0 OR promised = '' THEN RETURN; END IF;
  UPDATE correlation SET on_complete = '' WHERE id = b.correlation_id;
  PERFORM publish_promised(promised::json, goes_to, b.event_id, now_ms);
END $$;

-- Moves a live event to the archive, and updates its log, line, correlation and counters.
CREATE FUNCTION eventq.end_event(live eventq.event_queue, b eventq.event_body, to_status text, entry eventq.event_log,
                                 by_event bigint, now_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  of_slot constant bigint := own_slot();
BEGIN
  IF b.ordering_key <> '' THEN
    PERFORM lock_names(ARRAY['line:' || b.queue || ':' || b.ordering_key]);
    DELETE FROM event_line WHERE queue = b.queue AND ordering_key = b.ordering_key AND id = b.id;
  END IF;
  IF live.ready = 1 THEN PERFORM set_ready(live, false); END IF;
  IF b.supersede_key <> '' AND live.status = 'PENDING' THEN
    DELETE FROM event_supersede WHERE queue = b.queue AND supersede_key = b.supersede_key AND id = b.id;
  END IF;
  DELETE FROM event_queue WHERE id = b.id;
  INSERT INTO event_archive (id, queue, status, attempts, retry_count, unreported, worker_id, picked_at, updated_at,
                             holds_line, superseded_by, cause)
  VALUES (b.id, b.queue, to_status, live.attempts, live.retry_count,
          CASE WHEN to_status = 'SUPERSEDED' THEN live.unreported ELSE 0 END, live.worker_id, live.picked_at, now_ms,
          0, by_event, NULL);
  INSERT INTO event_log (id, event_id, attempt, worker_id, action, status_code, execution_time_ms, errors, reason,
                         retry_count, created_at)
  VALUES (nextval('log_number'), b.id, live.attempts, live.worker_id, entry.action, entry.status_code,
          entry.execution_time_ms, entry.errors, entry.reason, live.retry_count, now_ms);
  PERFORM count_events(b.queue, live.status, -1, of_slot), count_events(b.queue, to_status, 1, of_slot);
  PERFORM count_correlated(b, to_status, now_ms);
  IF b.ordering_key <> '' THEN PERFORM realign(b.queue, b.ordering_key, now_ms); END IF;
END $$;

-- Stores a new event, at its place in its line, and supersedes older ones. All of `b` is set except its id.
CREATE FUNCTION eventq.admit(b eventq.event_body, due bigint, now_ms bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  is_head boolean := true;
  live eventq.event_queue;
  older eventq.event_queue;
  older_body eventq.event_body;
  entry eventq.event_log;
  change eventq.queue_total;
BEGIN
  INSERT INTO event_queue_state (id, config, status, status_by, status_reason, status_at, created_at, updated_at)
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

-- Publishes the event that was promised for the end of a correlation. A full or draining queue does not refuse it,
-- because the event that ended made room.
CREATE FUNCTION eventq.publish_promised(event json, goes_to text, cause text, now_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  b eventq.event_body;
  run_at bigint := floor(extract(epoch FROM (event ->> 'run_at')::timestamptz) * 1000);
  retry json := event -> 'retry';
BEGIN
  b.event_id := coalesce(event ->> 'event_id', new_event_id(now_ms));
  b.queue := goes_to;
  b.title := event ->> 'title';
  b.tags := event ->> 'tags';
  b.correlation_id := coalesce(event ->> 'correlation_id', '');
  b.ordering_key := coalesce(event ->> 'ordering_key', '');
  b.supersede_key := coalesce(event ->> 'supersede_key', '');
  b.priority := (event ->> 'priority')::bigint;
  b.max_retries := coalesce((event ->> 'max_retries')::bigint, default_retries(goes_to));
  b.retry := CASE WHEN retry IS NOT NULL THEN concat_ws(' ', retry ->> 'kind', retry ->> 'baseMs', retry ->> 'capMs',
                                                        round((retry ->> 'jitter')::numeric * 1000000)) END;
  b.created_at := now_ms;
  b.timestamp := nullif(floor(extract(epoch FROM (event ->> 'timestamp')::timestamptz) * 1000)::bigint, now_ms);
  b.causation_id := cause;
  b.trace_id := coalesce(event ->> 'trace_id', '');
  b.pattern := coalesce(event ->> 'pattern', '');
  b.version := coalesce(event ->> 'version', '');
  b.source_type := coalesce(event -> 'source' ->> 'type', '');
  b.source_id := coalesce(event -> 'source' ->> 'id', '');
  b.source_name := coalesce(event -> 'source' ->> 'name', '');
  b.attributes := coalesce((event -> 'attributes')::text, '');
  b.description := event ->> 'description';
  b.payload := (event -> 'payload')::text;
  PERFORM lock_names(eventq.names_of(b));
  PERFORM admit(b, greatest(now_ms + coalesce((event ->> 'delay_ms')::bigint, 0), coalesce(run_at, now_ms)), now_ms);
END $$;

CREATE FUNCTION eventq.new_event_id(now_ms bigint) RETURNS text
LANGUAGE sql VOLATILE AS $$
  SELECT 'evt_' || (lpad(to_hex(now_ms), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- The queue's own setting, or 3. A server's --max-retries is not known here.
CREATE FUNCTION eventq.default_retries(of_queue text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
  SELECT coalesce((SELECT (config::json ->> 'maxRetries')::bigint FROM event_queue_state WHERE id = of_queue), 3));
END $$;

-- How many live events of a queue this database may hold; null: no limit. The shards divide a limit between them.
CREATE FUNCTION eventq.depth_limit(of_queue text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
  SELECT l.most / s."of" + CASE WHEN s.place < l.most % s."of" THEN 1 ELSE 0 END
    FROM shard AS s,
         (SELECT coalesce((SELECT (config::json ->> 'maxQueueDepth')::bigint FROM event_queue_state WHERE id = of_queue),
                          CASE WHEN of_queue <> 'main' THEN 10000 END) AS most) AS l);
END $$;

-- The names to lock for publishing an event, with those of the events that it supersedes.
CREATE FUNCTION eventq.names_of(b eventq.event_body) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
  SELECT array_agg(name)
    FROM (SELECT 'event_id:' || b.event_id AS name
          UNION ALL SELECT 'limit:' || b.queue WHERE depth_limit(b.queue) IS NOT NULL
          UNION ALL SELECT 'correlation:' || b.correlation_id WHERE b.correlation_id <> ''
          UNION ALL SELECT 'line:' || b.queue || ':' || b.ordering_key WHERE b.ordering_key <> ''
          UNION ALL SELECT 'supersede:' || b.queue || ':' || b.supersede_key WHERE b.supersede_key <> ''
          UNION ALL
          SELECT n FROM event_supersede AS s
            JOIN event_body AS o ON o.id = s.id,
                 LATERAL (VALUES ('correlation:' || nullif(o.correlation_id, '')),
                                 ('line:' || o.queue || ':' || nullif(o.ordering_key, ''))) AS names (n)
           WHERE b.supersede_key <> '' AND s.queue = b.queue AND s.supersede_key = b.supersede_key
             AND n IS NOT NULL) AS all_names);
END $$;

-- Checks the limits of docs/api.md.
CREATE FUNCTION eventq.check_event(b eventq.event_body) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
  field text;
  value text;
BEGIN
  PERFORM demand(char_length(b.title) >= 1, 'title is missing or empty; it needs 1 to 200 characters.'),
          demand(char_length(b.title) <= 200,
                 'title has ' || char_length(b.title) || ' characters; at most 200 are allowed.'),
          demand(coalesce(octet_length(b.description), 0) <= 16384,
                 'description has ' || octet_length(b.description) || ' bytes; at most 16384 are allowed.'),
          demand(b.queue <> '', 'queue is empty.'),
          demand(char_length(b.queue) <= 128,
                 'queue has ' || char_length(b.queue) || ' characters; at most 128 are allowed.'),
          demand(b.queue ~ '^[A-Za-z0-9._:/@-]*$', 'queue has a character outside A-Z a-z 0-9 . _ : / @ -'),
          demand(b.priority BETWEEN -1000000 AND 1000000,
                 'priority is ' || b.priority || '; it must be from -1000000 to 1000000.'),
          demand(b.max_retries BETWEEN 0 AND 1000,
                 'max_retries is ' || b.max_retries || '; it must be from 0 to 1000.'),
          demand(octet_length(b.payload) <= 1048576,
                 'payload has ' || octet_length(b.payload) || ' bytes; at most 1048576 are allowed.');
  FOR field, value IN VALUES ('event_id', b.event_id), ('correlation_id', b.correlation_id),
                             ('causation_id', b.causation_id), ('trace_id', b.trace_id) LOOP
    PERFORM demand(char_length(value) <= 128,
                   field || ' has ' || char_length(value) || ' characters; at most 128 are allowed.'),
            demand(value COLLATE "C" ~ '^[!-~]*$', field || ' must be visible ASCII without spaces.');
  END LOOP;
  FOR field, value IN VALUES ('ordering_key', b.ordering_key), ('supersede_key', b.supersede_key) LOOP
    PERFORM demand(octet_length(value) <= 512,
                   field || ' has ' || octet_length(value) || ' bytes; at most 512 are allowed.'),
            demand(value COLLATE "C" !~ '[\x01-\x1f\x7f]', field || ' holds a control character.');
  END LOOP;
END $$;

-- The tags trimmed, each once, separated by commas.
CREATE FUNCTION eventq.clean_tags(tags text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  cleaned text[] := '{}';
  tag text;
BEGIN
  FOREACH tag IN ARRAY coalesce(tags, '{}') LOOP
    tag := btrim(tag, E' \t');
    PERFORM demand(tag <> '', 'A tag is empty; each tag needs 1 to 64 characters.'),
            demand(tag COLLATE "C" ~ '^[A-Za-z0-9._:/@-]*$',
                   'The tag "' || left(tag, 64) || '" has a character outside A-Z a-z 0-9 . _ : / @ -'),
            demand(char_length(tag) <= 64,
                   'The tag "' || left(tag, 64) || '..." has ' || char_length(tag) || ' characters; a tag may have 64.');
    IF NOT tag = ANY (cleaned) THEN cleaned := cleaned || tag; END IF;
  END LOOP;
  PERFORM demand(cardinality(cleaned) >= 1, 'There are no tags; 1 to 32 are needed, such as ARRAY[''email''].'),
          demand(cardinality(cleaned) <= 32, 'There are more than 32 tags; at most 32 are allowed.');
  RETURN array_to_string(cleaned, ',');
END $$;

-- Refuses the event if its queue is draining or full. An event that supersedes another one always fits.
CREATE FUNCTION eventq.check_room(b eventq.event_body) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  most constant bigint := depth_limit(b.queue);
  older bigint;
  depth bigint;
BEGIN
  PERFORM 1 FROM event_queue_state WHERE id = b.queue AND status = 'draining';
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

-- Publishes an event when the calling transaction commits. Returns its id, or the id of the existing event with this
-- event_id.
CREATE FUNCTION eventq.publish(
  title          text,
  tags           text[],
  payload        jsonb DEFAULT 'null',
  queue          text DEFAULT 'main',
  priority       bigint DEFAULT 0,
  description    text DEFAULT NULL,
  event_id       text DEFAULT NULL,      -- null: none; also below
  correlation_id text DEFAULT NULL,
  causation_id   text DEFAULT NULL,
  trace_id       text DEFAULT NULL,
  ordering_key   text DEFAULT NULL,
  supersede_key  text DEFAULT NULL,
  max_retries    bigint DEFAULT NULL,    -- null: the queue's setting
  run_at         timestamptz DEFAULT NULL,
  delay          interval DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = eventq, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  b eventq.event_body;
  known eventq.event_body;
  change eventq.queue_total;
  now_ms bigint;
  delay_ms constant bigint := floor(extract(epoch FROM coalesce(publish.delay, interval '0')) * 1000);
BEGIN
  PERFORM demand(publish.event_id IS DISTINCT FROM '', 'event_id is empty; leave it out to have one made.'),
          demand(delay_ms BETWEEN 0 AND 31536000000,
                 'delay is ' || delay_ms || ' ms; it must be from 0 to 31536000000.'),
          demand(publish.delay IS NULL OR publish.run_at IS NULL,
                 'delay and run_at both say when the event may run; give one of them.'),
          demand(coalesce(isfinite(publish.run_at) AND publish.run_at < '10000-01-01 00:00Z', true),
                 'run_at is not a time up to the year 9999.'),
          demand(NOT coalesce(publish.payload, 'null') @? 'strict $.**{63} ? (@.type() == "object" || @.type() == "array")',
                 'payload is nested more than 63 deep.');
  b.tags := clean_tags(publish.tags);
  b.title := publish.title;
  b.description := publish.description;
  b.payload := coalesce(publish.payload, 'null')::text;
  b.queue := coalesce(publish.queue, 'main');
  b.priority := coalesce(publish.priority, 0);
  b.max_retries := coalesce(publish.max_retries, default_retries(b.queue));
  b.event_id := coalesce(publish.event_id, new_event_id(clock_ms()));
  b.correlation_id := coalesce(publish.correlation_id, '');
  b.causation_id := coalesce(publish.causation_id, '');
  b.trace_id := coalesce(publish.trace_id, '');
  b.ordering_key := coalesce(publish.ordering_key, '');
  b.supersede_key := coalesce(publish.supersede_key, '');
  b.pattern := '';
  b.version := '';
  b.source_type := '';
  b.source_id := '';
  b.source_name := '';
  b.attributes := '';
  PERFORM check_event(b);

  PERFORM enter();
  PERFORM lock_names(names_of(b));
  SELECT e.* INTO known FROM event_body AS e WHERE e.event_id = b.event_id;
  IF FOUND THEN
    change.queue := known.queue;
    change.deduplicated := 1;
    PERFORM add_totals(change);
    RETURN known.id;
  END IF;
  PERFORM check_room(b);
  now_ms := clock_ms();
  b.created_at := now_ms;
  RETURN admit(b, greatest(now_ms + delay_ms,
                           coalesce(floor(extract(epoch FROM publish.run_at) * 1000)::bigint, now_ms)), now_ms);
END $$;

-- Completes an event when the calling transaction commits. Unlike over HTTP a repeated report is refused, because the
-- other writes of the transaction must not happen twice.
CREATE FUNCTION eventq.complete(
  id                bigint,
  worker_id         text,
  attempt           bigint,
  errors            text[] DEFAULT NULL,   -- not empty: COMPLETED_WITH_ERRORS
  status_code       bigint DEFAULT NULL,
  execution_time_ms bigint DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = eventq, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  b eventq.event_body;
  live eventq.event_queue;
  entry eventq.event_log;
  change eventq.queue_total;
  now_ms bigint;
  name constant text := 'Event ' || complete.id;
BEGIN
  PERFORM demand(complete.id IS NOT NULL, 'id is missing; give that of the claimed event.'),
          demand(complete.worker_id <> '', 'worker_id is missing or empty; give the one that claimed the event.'),
          demand(char_length(complete.worker_id) <= 255,
                 'worker_id has ' || char_length(complete.worker_id) || ' characters; at most 255 are allowed.'),
          demand(complete.attempt >= 1, 'attempt is missing; give the attempts of the claimed event.'),
          demand(coalesce(complete.status_code, 0) BETWEEN 0 AND 999,
                 'status_code is ' || complete.status_code || '; it must be from 0 to 999.'),
          demand(coalesce(complete.execution_time_ms, 0) BETWEEN 0 AND 31536000000,
                 'execution_time_ms is ' || complete.execution_time_ms || '; it must be from 0 to 31536000000.'),
          demand(coalesce(cardinality(complete.errors), 0) <= 100,
                 'errors has ' || cardinality(complete.errors) || ' entries; at most 100 are allowed.');
  PERFORM demand(error <> '', 'errors holds an empty string; say what went wrong.'),
          demand(octet_length(error) <= 16384,
                 'errors has ' || octet_length(error) || ' bytes; at most 16384 are allowed.')
     FROM unnest(complete.errors) AS error;

  PERFORM enter();
  SELECT e.* INTO b FROM event_body AS e WHERE e.id = complete.id;
  IF NOT FOUND THEN PERFORM refuse('EQ404', 'There is no event ' || complete.id || '.'); END IF;
  PERFORM lock_names(array_remove(ARRAY['correlation:' || nullif(b.correlation_id, ''),
                                        'line:' || b.queue || ':' || nullif(b.ordering_key, '')], NULL));
  SELECT q.* INTO live FROM event_queue AS q WHERE q.id = b.id FOR UPDATE;
  IF live.status IS DISTINCT FROM 'PROCESSING' OR live.worker_id <> complete.worker_id
     OR live.attempts <> complete.attempt THEN
    PERFORM 1 FROM event_log AS l WHERE l.event_id = b.id AND l.action = 'COMPLETED'
        AND l.worker_id = complete.worker_id AND l.attempt = complete.attempt;
    IF FOUND THEN
      PERFORM refuse('EQ409', name || ' was completed by ' || complete.worker_id || ' as attempt ' ||
                     complete.attempt || ' already. Nothing was changed.');
    END IF;
    PERFORM refuse('EQ409', name || ' is ' ||
                   coalesce(live.status, (SELECT a.status FROM event_archive AS a WHERE a.id = b.id)) ||
                   CASE WHEN live.status = 'PROCESSING'
                        THEN ', held by ' || live.worker_id || ' as attempt ' || live.attempts ELSE '' END ||
                   '; ' || complete.worker_id || ' with attempt ' || complete.attempt ||
                   ' does not hold it. Nothing was changed.');
  END IF;

  now_ms := clock_ms();
  entry.action := 'COMPLETED';
  entry.status_code := complete.status_code;
  entry.execution_time_ms := complete.execution_time_ms;
  entry.errors := CASE WHEN cardinality(complete.errors) > 0 THEN to_json(complete.errors)::text END;
  PERFORM end_event(live, b, CASE WHEN entry.errors IS NULL THEN 'COMPLETED' ELSE 'COMPLETED_WITH_ERRORS' END, entry,
                    NULL, now_ms);
  change.queue := b.queue;
  change.completed := 1;
  change.runs := 1;
  change.run_ms := coalesce(complete.execution_time_ms, greatest(0, now_ms - live.picked_at));
  change.checkpoint_id := b.event_id;
  change.checkpoint_at := now_ms;
  PERFORM add_totals(change);
  INSERT INTO worker AS w (id, first_seen, last_seen, completed, failed) VALUES (live.worker_id, now_ms, now_ms, 1, 0)
      ON CONFLICT ON CONSTRAINT worker_pkey DO UPDATE
     SET last_seen = greatest(w.last_seen, excluded.last_seen), completed = w.completed + 1;
END $$;

-- GRANT says which roles may call them; see docs/transactional.md.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA eventq FROM PUBLIC;
