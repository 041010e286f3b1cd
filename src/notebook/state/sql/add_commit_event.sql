-- add_commit_event.sql: an event whose change is in the commit.
INSERT INTO git_commit_event (git_commit, position, notebook, event_id) VALUES (?1, ?2, ?3, ?4);
