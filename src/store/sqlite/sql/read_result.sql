-- read_result.sql: the result of an event.
SELECT result FROM event_result WHERE id = ?1;
