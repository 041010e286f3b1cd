-- insert_result.sql: stores the result of an event that ends.
INSERT INTO event_result (id, result) VALUES (?1, ?2);
