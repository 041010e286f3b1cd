-- begin_read.sql: several statements that see the same moment.
BEGIN;
