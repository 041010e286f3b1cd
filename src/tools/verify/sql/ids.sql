-- ids.sql: sequences whose last id is lower than an existing id, so that ids would be reused.
SELECT 'the last id of the sequence ' || name || ' is lower than an existing id' FROM id_sequence
 WHERE last < (SELECT coalesce(max(id), 0) FROM event_body) AND name = 'event'
    OR last < (SELECT coalesce(max(id), 0) FROM event_log) AND name = 'log';
