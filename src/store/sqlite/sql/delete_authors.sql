-- delete_authors.sql: deletes the authors in the log of a removed event.
DELETE FROM event_log_author WHERE event_id = ?1;
