-- append_details.sql: stores the details of failures $1.
INSERT INTO eventq.event_log_detail SELECT * FROM unnest($1::eventq.event_log_detail[])
