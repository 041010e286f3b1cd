-- log_without_event.sql: log entries without an event. Retention deletes an event together with its log.
SELECT DISTINCT 'event ' || event_id || ' is in the log, and is not there' FROM event_log
 WHERE event_id NOT IN (SELECT id FROM event_body);
