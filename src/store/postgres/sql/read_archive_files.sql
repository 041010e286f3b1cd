-- read_archive_files.sql: by name.
SELECT name, bytes FROM eventq.archive_file ORDER BY name;
