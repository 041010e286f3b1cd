-- 0005_results.sql: new tables for what a worker may return with its report. Most reports return nothing, so an event
-- without a result, and a failure without a detail, has no row here. They are tables, not columns, because servers of
-- the previous version still send rows of event_log and event_archive without such columns.

-- JSON text that a worker returned when it completed the event.
CREATE TABLE eventq.event_result (
  id     bigint PRIMARY KEY,                           -- of the event
  result text COLLATE "C" NOT NULL
);

-- A stack trace, or the end of stderr.
CREATE TABLE eventq.event_log_detail (
  event_id bigint NOT NULL,
  id       bigint NOT NULL,                            -- event_log.id
  detail   text COLLATE "C" NOT NULL,
  PRIMARY KEY (event_id, id)
);

-- The payload of an on_complete event that was given without one, as the server makes it. It has at most 1 MiB, so it may
-- have the first results only. 27 bytes follow the results.
CREATE FUNCTION eventq.correlation_end(of_correlation text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  c eventq.correlation;
  head text;
  results text;
  listed bigint;
BEGIN
  SELECT * INTO c FROM correlation WHERE id = of_correlation;
  head := '{"correlation_id":' || to_json(c.id) || ',"total":' || c.total || ',"completed":' || c.completed ||
          ',"failed":' || c.failed || ',"results":[';
  SELECT string_agg(e.item, ',' ORDER BY e.id), count(*) INTO results, listed
    FROM (SELECT i.id, i.item, sum(octet_length(i.item) + 1) OVER (ORDER BY i.id) AS bytes
            FROM (SELECT b.id, '{"id":' || b.id || ',"event_id":' || to_json(b.event_id) || ',"status":"' || a.status ||
                               '","result":' || coalesce(r.result, 'null') || '}' AS item
                    FROM event_body AS b
                    JOIN event_archive AS a ON a.id = b.id
                    LEFT JOIN event_result AS r ON r.id = b.id
                   WHERE b.correlation_id = of_correlation AND b.correlation_id <> ''
                   ORDER BY b.id LIMIT 20971) AS i) AS e
   WHERE e.bytes <= 1048576 - octet_length(head) - 27;
  RETURN head || coalesce(results, '') || '],"results_complete":' || to_json(listed = c.total) || '}';
END $$;
REVOKE ALL ON FUNCTION eventq.correlation_end(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION eventq.count_correlated(b eventq.event_body, ended text, now_ms bigint) RETURNS void
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
  PERFORM publish_promised(promised::json, goes_to, b.event_id, now_ms, b.correlation_id);
END $$;

-- As before, with the payload of correlation_end() if there is none, and with max_attempts. The column `retry` has the
-- text of retry_to_text() in store/row_text.h.
CREATE FUNCTION eventq.publish_promised(event json, goes_to text, cause text, now_ms bigint, of_correlation text)
RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  b eventq.event_body;
  run_at bigint := floor(extract(epoch FROM (event ->> 'run_at')::timestamptz) * 1000);
  retry json := event -> 'retry';
  most text := event ->> 'max_attempts';
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
  b.retry := CASE WHEN retry IS NOT NULL
                  THEN concat_ws(' ', retry ->> 'kind', retry ->> 'baseMs', retry ->> 'capMs',
                                 round((retry ->> 'jitter')::numeric * 1000000), most)
                  WHEN most IS NOT NULL THEN 'fixed 300000 3600000 0 ' || most || ' queue' END;
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
  b.payload := CASE WHEN (event -> 'payload')::text = 'null' THEN correlation_end(of_correlation)
                    ELSE (event -> 'payload')::text END;
  PERFORM lock_names(eventq.names_of(b));
  PERFORM admit(b, greatest(now_ms + coalesce((event ->> 'delay_ms')::bigint, 0), coalesce(run_at, now_ms)), now_ms);
END $$;
REVOKE ALL ON FUNCTION eventq.publish_promised(json, text, text, bigint, text) FROM PUBLIC;
DROP FUNCTION eventq.publish_promised(json, text, text, bigint);
