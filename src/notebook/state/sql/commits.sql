-- commits.sql: newest first, one row per event in a commit; a commit without events has one row.
SELECT c.number, c.hash, c.message, c.made_at, c.files, e.event_id
FROM (SELECT * FROM git_commit WHERE notebook = ?1 ORDER BY number DESC LIMIT ?2) c
LEFT JOIN git_commit_event e ON e.git_commit = c.number
ORDER BY c.number DESC, e.position;
