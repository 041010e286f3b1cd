-- find_schema.sql: whether the schema is there, and whether the database is on the machine that asks: 0 or 1. Over a
-- socket neither of them has an address.
SELECT (to_regclass('eventq.schema_version') IS NOT NULL)::int::bigint,
       (inet_client_addr() IS NOT DISTINCT FROM inet_server_addr())::int::bigint
