-- postgres_others.sql: how many connections of eventq there are beside this one.
SELECT count(*) FROM pg_catalog.pg_stat_activity
 WHERE datname = current_database() AND application_name = 'eventq' AND pid <> pg_backend_pid()
