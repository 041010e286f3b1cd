-- sqlite_write_ids.sql: the last ids given: ?1 of events, ?2 of the log.
UPDATE id_sequence SET last = CASE name WHEN 'event' THEN ?1 ELSE ?2 END;
