-- drop_causes.sql: deletes a cause whose count is 0.
DELETE FROM failure_cause WHERE queue = ?1 AND cause = ?2 AND n = 0;
