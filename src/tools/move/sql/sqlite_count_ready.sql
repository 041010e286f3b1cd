-- sqlite_count_ready.sql: rows for polls that name no tags are this store's own affair.
SELECT count(*) FROM event_ready WHERE tag <> '';
