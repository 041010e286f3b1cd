-- postgres_others.sql: the number of other connections of eventq to this database.
SELECT count(*) FROM pg_catalog.pg_stat_activity
 WHERE datname = current_database() AND application_name = 'eventq' AND pid <> pg_backend_pid()
