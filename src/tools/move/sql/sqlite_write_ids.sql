-- sqlite_write_ids.sql: sets the last ids assigned: ?1 to events, ?2 to log entries.
UPDATE id_sequence SET last = CASE name WHEN 'event' THEN ?1 ELSE ?2 END;
