-- forget_applied.sql: removes an applied event, because the queue has its report.
DELETE FROM applied WHERE notebook = ?1 AND event = ?2;
