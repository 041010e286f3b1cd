-- applied.sql: in the order of ids.
SELECT event FROM applied WHERE notebook = ?1 ORDER BY event;
