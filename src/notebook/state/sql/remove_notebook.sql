-- remove_notebook.sql: deletes a notebook that could not be opened.
DELETE FROM notebook WHERE id = ?1;
