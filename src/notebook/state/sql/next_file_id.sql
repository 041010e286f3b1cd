-- next_file_id.sql: takes the next id of `file`; no later row gets it by itself.
UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'file' RETURNING seq;
