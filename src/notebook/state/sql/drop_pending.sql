-- drop_pending.sql: removes pending changes up to number ?2.
DELETE FROM pending WHERE notebook = ?1 AND number <= ?2;
