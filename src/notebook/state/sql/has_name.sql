-- has_name.sql: whether there is a notebook of that name.
SELECT EXISTS (SELECT 1 FROM notebook WHERE name = ?1);
