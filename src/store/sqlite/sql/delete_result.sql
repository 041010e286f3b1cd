-- delete_result.sql: deletes the result of an event that is removed or that leaves the archive.
DELETE FROM event_result WHERE id = ?1;
