-- like_path.sql: a path that differs from ?2 only in the case of ASCII letters.
SELECT path FROM file INDEXED BY file_case WHERE notebook = ?1 AND lower(path) = lower(?2) AND path <> ?2 LIMIT 1;
