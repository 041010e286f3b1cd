-- add_commit.sql: stores a commit; its number is the new rowid.
INSERT INTO git_commit (notebook, hash, message, made_at, files) VALUES (?1, ?2, ?3, ?4, ?5);
