-- append_entry.sql: appends one log entry; entries are never changed.
INSERT INTO event_log (id, event_id, attempt, worker_id, action, status_code, error_message,
                       execution_time_ms, errors, reason, retry_count, next_retry_at, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);
