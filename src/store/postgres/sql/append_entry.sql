-- append_entry.sql: what happened to events.
INSERT INTO eventq.event_log (id, event_id, attempt, worker_id, action, status_code, error_message, execution_time_ms,
                              errors, reason, retry_count, next_retry_at, created_at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[],
                     $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[])
