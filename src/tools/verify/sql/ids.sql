-- ids.sql: sequences whose last id is lower than an existing id, so that ids would be reused.
SELECT 'ids of ' || name || ' are behind' FROM id_sequence
 WHERE last < (SELECT coalesce(max(id), 0) FROM event_body) AND name = 'event'
    OR last < (SELECT coalesce(max(id), 0) FROM event_log) AND name = 'log';
