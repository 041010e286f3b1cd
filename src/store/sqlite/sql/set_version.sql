-- set_version.sql: the number of the migration just applied follows.
PRAGMA user_version =
