-- postgres_read_ids.sql: the last ids assigned to events and to log entries.
SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM eventq.event_number),
       (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM eventq.log_number)
