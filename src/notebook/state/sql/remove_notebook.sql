-- remove_notebook.sql: forgets a notebook that could not be opened.
DELETE FROM notebook WHERE id = ?1;
