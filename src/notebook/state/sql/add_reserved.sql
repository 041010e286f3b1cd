-- add_reserved.sql: stores that id ?2 was promised.
INSERT INTO reserved_file (notebook, id) VALUES (?1, ?2);
