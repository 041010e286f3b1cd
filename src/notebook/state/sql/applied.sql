-- applied.sql: applied events whose report the queue may not have, by id.
SELECT event FROM applied WHERE notebook = ?1 ORDER BY event;
