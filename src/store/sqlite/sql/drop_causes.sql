-- drop_causes.sql: causes of a queue that no event has any more.
DELETE FROM failure_cause WHERE queue = ?1 AND cause = ?2 AND n = 0;
