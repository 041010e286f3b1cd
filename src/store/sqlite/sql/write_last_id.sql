-- write_last_id.sql: sets the last id assigned; once per transaction that assigned ids.
UPDATE id_sequence SET last = ?2 WHERE name = ?1;
