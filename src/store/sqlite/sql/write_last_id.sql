-- write_last_id.sql: once per transaction that gave ids.
UPDATE id_sequence SET last = ?2 WHERE name = ?1;
