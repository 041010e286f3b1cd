-- put_archive_file.sql: how many bytes of a file of removed events count.
INSERT INTO eventq.archive_file (name, bytes) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes;
