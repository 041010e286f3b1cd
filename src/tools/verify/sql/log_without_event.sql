-- log_without_event.sql: what happened to events that are not there any more; those that retention removes take it along.
SELECT DISTINCT 'event ' || event_id || ' is in the log, and is not there' FROM event_log
 WHERE event_id NOT IN (SELECT id FROM event_body);
