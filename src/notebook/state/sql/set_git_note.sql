-- set_git_note.sql: why git does not have the content of a file; most files have no note, and keep none.
UPDATE file SET git = ?3 WHERE notebook = ?1 AND path = ?2 AND git <> ?3;
