-- record_types.sql: the schema's types of rows, for arrays of them.
SELECT typname::text, oid::bigint FROM pg_type WHERE typnamespace = 'eventq'::regnamespace AND typtype = 'c'
