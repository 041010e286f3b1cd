-- put_archive_file.sql: how many bytes of a file of removed events count.
INSERT OR REPLACE INTO archive_file (name, bytes) VALUES (?1, ?2);
