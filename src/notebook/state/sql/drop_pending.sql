-- drop_pending.sql: what waited up to ?2.
DELETE FROM pending WHERE notebook = ?1 AND number <= ?2;
