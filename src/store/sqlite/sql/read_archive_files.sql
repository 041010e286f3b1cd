-- read_archive_files.sql: all files of removed events, ordered by name.
SELECT name, bytes FROM archive_file ORDER BY name;
