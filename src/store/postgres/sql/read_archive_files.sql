-- read_archive_files.sql: all files of removed events, by name.
SELECT name, bytes FROM eventq.archive_file ORDER BY name;
