-- detail_without_entry.sql: details of failures that are not in the log.
SELECT 'event ' || d.event_id || ' has a detail of log entry ' || d.id || ', which is no failure'
  FROM event_log_detail AS d LEFT JOIN event_log AS l ON l.event_id = d.event_id AND l.id = d.id AND l.action = 'FAILED'
 WHERE l.id IS NULL;
