-- put_version.sql: records that a migration was run. $1: its number.
INSERT INTO eventq.schema_version (version, applied_at)
VALUES ($1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
