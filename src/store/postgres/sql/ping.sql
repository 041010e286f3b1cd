-- ping.sql: whether the database answers, and how many other servers listen to hints on it.
SELECT count(*)
  FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = 'eventq hints' AND pid <> pg_backend_pid()
