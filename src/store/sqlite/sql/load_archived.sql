-- load_archived.sql: an ended event, in the columns of load_live.sql.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at, s.updated_at, 0,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, b.id, s.picked_at, s.superseded_by, s.cause, s.holds_line,
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, b.description, b.payload
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
