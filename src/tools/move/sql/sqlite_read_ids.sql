-- sqlite_read_ids.sql: the last ids assigned to events and to log entries.
SELECT (SELECT last FROM id_sequence WHERE name = 'event'), (SELECT last FROM id_sequence WHERE name = 'log');
