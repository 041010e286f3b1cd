-- list_all.sql: up to $2 events behind $1 in the order of their ids, in the columns of read_event.sql.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       coalesce(q.status, a.status), coalesce(q.attempts, a.attempts), coalesce(q.retry_count, a.retry_count),
       coalesce(q.unreported, a.unreported), coalesce(q.worker_id, a.worker_id),
       coalesce(q.due_at, a.updated_at), coalesce(q.updated_at, a.updated_at), coalesce(q.ready, 0),
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, coalesce(q.turn, b.id),
       coalesce(q.picked_at, a.picked_at), a.superseded_by, a.cause, coalesce(a.holds_line, 0),
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, NULL::text, NULL::text
  FROM (SELECT * FROM eventq.event_body WHERE id > $1 ORDER BY id LIMIT $2) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id
 ORDER BY b.id;
