-- put_archive_file.sql: stores how many bytes of a file of removed events are valid.
INSERT INTO eventq.archive_file (name, bytes) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes;
