-- list_rare.sql: ended events of status ?2 behind ?1, by the index that leaves the completed out.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at, s.updated_at, 0,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, b.id, s.picked_at, s.superseded_by, s.cause, s.holds_line,
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, NULL, NULL
  FROM event_archive AS s INDEXED BY event_archive_status
  JOIN event_body AS b ON b.id = s.id
 WHERE s.status <> 'COMPLETED' AND s.status = ?2 AND s.id > ?1
 ORDER BY s.id;
