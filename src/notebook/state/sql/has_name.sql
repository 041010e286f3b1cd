-- has_name.sql: whether a notebook has this name.
SELECT EXISTS (SELECT 1 FROM notebook WHERE name = ?1);
