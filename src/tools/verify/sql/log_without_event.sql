-- log_without_event.sql: log entries without an event. Retention deletes an event together with its log.
SELECT DISTINCT 'event ' || event_id || ' has log entries, but does not exist' FROM event_log
 WHERE event_id NOT IN (SELECT id FROM event_body);
