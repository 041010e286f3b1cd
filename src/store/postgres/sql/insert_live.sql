-- insert_live.sql: the state of events that are new or came back from the archive.
INSERT INTO eventq.event_queue SELECT * FROM unnest($1::eventq.event_queue[])
