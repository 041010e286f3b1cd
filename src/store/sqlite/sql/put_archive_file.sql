-- put_archive_file.sql: sets the committed length of a file of removed events.
INSERT OR REPLACE INTO archive_file (name, bytes) VALUES (?1, ?2);
