-- record_types.sql: the oids of the schema's row types, for arrays of rows.
SELECT typname::text, oid::bigint FROM pg_type WHERE typnamespace = 'eventq'::regnamespace AND typtype = 'c'
