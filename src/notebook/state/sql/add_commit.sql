-- add_commit.sql: and its number.
INSERT INTO git_commit (notebook, hash, message, made_at, files) VALUES (?1, ?2, ?3, ?4, ?5);
