-- sqlite_count_ready.sql: the rows of the ready index, without those for claims without tags: PostgreSQL has none.
SELECT count(*) FROM event_ready WHERE tag <> '';
