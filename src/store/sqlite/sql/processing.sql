-- processing.sql: events in work, by the workers that hold them.
SELECT id FROM event_queue WHERE status = 'PROCESSING';
