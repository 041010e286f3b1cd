-- put_default.sql: stores the settings of the queue ?1, or of all queues without a row, that has none of its own.
INSERT OR REPLACE INTO queue_default (id, config) VALUES (?1, ?2);
