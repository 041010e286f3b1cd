-- begin_read.sql: begins a read transaction, so that several statements see one snapshot.
BEGIN;
