-- all_events.sql: every event with its state, ordered by id. one_state.sql reports events with no state or two.
SELECT b.id, b.max_retries, coalesce(q.status, a.status), coalesce(q.attempts, a.attempts),
       coalesce(q.retry_count, a.retry_count), coalesce(q.unreported, a.unreported),
       coalesce(q.worker_id, a.worker_id)
  FROM event_body AS b
  LEFT JOIN event_queue AS q ON q.id = b.id
  LEFT JOIN event_archive AS a ON a.id = b.id
 ORDER BY b.id;
