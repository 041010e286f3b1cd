-- begin_migration.sql: a migration is all or nothing.
BEGIN
