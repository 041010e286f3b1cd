-- forget_applied.sql: the queue has its report.
DELETE FROM applied WHERE notebook = ?1 AND event = ?2;
