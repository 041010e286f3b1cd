-- add_commit_event.sql: stores that commit ?1 contains changes of event ?4.
INSERT INTO git_commit_event (git_commit, position, notebook, event_id) VALUES (?1, ?2, ?3, ?4);
