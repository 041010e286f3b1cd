-- git_noted.sql: the files with this note; the condition on the empty text lets SQLite use the index file_git.
SELECT path FROM file WHERE notebook = ?1 AND git = ?2 AND git <> '' ORDER BY path LIMIT ?3;
