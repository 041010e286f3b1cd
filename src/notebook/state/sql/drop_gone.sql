-- drop_gone.sql: forgets a deleted file, because it returned.
DELETE FROM gone WHERE notebook = ?1 AND id = ?2;
