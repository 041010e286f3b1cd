-- append_authors.sql: stores the persons that caused log entries $1.
INSERT INTO eventq.event_log_author SELECT * FROM unnest($1::eventq.event_log_author[])
