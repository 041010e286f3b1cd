-- processing.sql: ids of the events that workers hold.
SELECT id FROM event_queue WHERE status = 'PROCESSING';
