-- sqlite_read_ids.sql: the last ids given, of events and of the log.
SELECT (SELECT last FROM id_sequence WHERE name = 'event'), (SELECT last FROM id_sequence WHERE name = 'log');
