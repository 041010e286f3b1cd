-- commit_of.sql: the newest commit with changes of event ?2.
SELECT c.hash
FROM git_commit_event e
JOIN git_commit c ON c.number = e.git_commit
WHERE e.notebook = ?1 AND e.event_id = ?2
ORDER BY e.git_commit DESC
LIMIT 1;
