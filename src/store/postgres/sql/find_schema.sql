-- find_schema.sql: whether the schema is there: 0 or 1.
SELECT (to_regclass('eventq.schema_version') IS NOT NULL)::int::bigint
