-- delete_details.sql: deletes the details in the log of a removed event.
DELETE FROM event_log_detail WHERE event_id = ?1;
