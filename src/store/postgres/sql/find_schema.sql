-- find_schema.sql: whether the schema exists, and whether client and server have the same address: 0 or 1. Over a Unix
-- socket neither has an address, so both count as the same.
SELECT (to_regclass('eventq.schema_version') IS NOT NULL)::int::bigint,
       (inet_client_addr() IS NOT DISTINCT FROM inet_server_addr())::int::bigint
