-- uncommitted.sql: the number of files with each note.
SELECT git, count(*) FROM file WHERE notebook = ?1 AND git <> '' GROUP BY git ORDER BY git;
