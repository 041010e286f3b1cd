-- author_without_entry.sql: authors of log entries that do not exist.
SELECT 'event ' || a.event_id || ' has an author of log entry ' || a.id || ', which does not exist'
  FROM event_log_author AS a LEFT JOIN event_log AS l ON l.event_id = a.event_id AND l.id = a.id
 WHERE l.id IS NULL;
