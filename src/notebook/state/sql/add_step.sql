-- add_step.sql: appends a step to the journal.
INSERT INTO step (notebook, kind, from_path, to_path, inode, size, modified_ns, executable, number)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, coalesce(max(number), 0) + 1
FROM step
WHERE notebook = ?1;
