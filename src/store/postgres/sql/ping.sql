-- ping.sql: whether the database answers.
SELECT 1::bigint
