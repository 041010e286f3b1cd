-- read_version.sql: the last migration that was run.
SELECT coalesce(max(version), 0)::bigint FROM eventq.schema_version
